/* The memory behind a buffer: a variable in the debug information, or a block of the heap.
 *
 * Variables come as a table from the verifier (src/mpi/variables.rs describes it). Locals are found
 * by unwinding the stack, with the tables that compilers write for exceptions. A heap block has the
 * type of the program's own pointers to it, if they agree. Memory that is not found is not
 * judged. */
#include "turns.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

/* The kind of a value; the numbers are those of `Kind` in src/mpi/variables.rs. */
enum value { UNKNOWN, SIGNED, UNSIGNED, FLOATING, CHARACTER, TRUTH, COMPLEX, POINTER };

struct value_run {
  uint64_t offset, kind, size, count;
};
struct layout {
  uint64_t first, count;
};
struct global {
  uint64_t at, size, layout, name;
};
struct pointer {
  struct global to;
  uint64_t is_sure; /* it never points to memory that was freed */
};
struct function {
  uint64_t first, behind, first_local, count;
};
/* The numbers are those of `Form` in src/mpi/variables.rs. */
enum form { VARIABLE, POINTER_THERE, POINTER_IN_REGISTER, DESCRIPTOR_BEHIND };
struct local {
  uint64_t form;
  int64_t place;
  uint64_t size, layout, name, first, behind, is_sure;
};
static struct {
  uint64_t runs, layouts, globals, pointers, functions, locals, names;
} count;
static const struct value_run *runs;
static const struct layout *layouts;
static const struct global *globals;
static const struct pointer *pointers;
static const struct function *functions;
static const struct local *locals;
static const char *names;

void variables_read(const char *path) {
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  struct stat about;
  if (file < 0) return;
  if (fstat(file, &about) == 0 && (size_t)about.st_size >= sizeof count) {
    const char *at = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (at != MAP_FAILED) {
      memcpy(&count, at, sizeof count);
      runs = (const struct value_run *)(at + sizeof count);
      layouts = (const struct layout *)(runs + count.runs);
      globals = (const struct global *)(layouts + count.layouts);
      pointers = (const struct pointer *)(globals + count.globals);
      functions = (const struct function *)(pointers + count.pointers);
      locals = (const struct local *)(functions + count.functions);
      names = (const char *)(locals + count.locals);
    }
  }
  close(file);
}

/* A variable or a heap block. */
struct memory {
  uintptr_t start;
  size_t size;
  const struct layout *layout; /* NULL for the heap */
  const char *name;
};

static bool find_global(uintptr_t at, struct memory *found) {
  uint64_t place = at - wire_bias(), low = 0, high = count.globals;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (globals[middle].at <= place)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0 || place >= globals[low - 1].at + globals[low - 1].size) return false;
  const struct global *global = &globals[low - 1];
  *found = (struct memory){global->at + wire_bias(), global->size, &layouts[global->layout], names + global->name};
  return true;
}

static const struct function *function_at(uint64_t place) {
  uint64_t low = 0, high = count.functions;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (functions[middle].first <= place)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && place < functions[low - 1].behind ? &functions[low - 1] : NULL;
}

/* A stack frame: the address where its function continues, its beginning, and the callee-saved
 * registers. */
enum { REGISTERS = 32 };
#if defined(__x86_64__)
static const int kept[] = {3, 6, 12, 13, 14, 15};
#else
static const int kept[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#endif
struct frame {
  uint64_t place; /* 0 before the first frame */
  uintptr_t base;
  uintptr_t registers[REGISTERS];
};

/* A function that is called with each frame, the innermost first, until there are no more or it
 * returns false. */
struct visitor {
  bool (*visit)(const struct frame *frame, void *with);
  void *with;
  struct frame frame;
};

/* A frame begins at the stack pointer of its caller: so each frame is visited when its caller is
 * known. */
static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *of) {
  struct visitor *visitor = of;
  struct frame *frame = &visitor->frame;
  frame->base = _Unwind_GetCFA(context);
  if (frame->place && !visitor->visit(frame, visitor->with)) return _URC_END_OF_STACK;
  frame->place = _Unwind_GetIP(context) - wire_bias() - 1;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) frame->registers[kept[i]] = _Unwind_GetGR(context, kept[i]);
  return _URC_NO_REASON;
}

static void each_frame(bool (*visit)(const struct frame *frame, void *with), void *with) {
  struct visitor visitor = {.visit = visit, .with = with};
  _Unwind_Backtrace(step, &visitor);
}

static bool is_in_scope(const struct local *local, const struct frame *frame) {
  return frame->place >= local->first && frame->place < local->behind;
}

/* The variable at an address. If there are two, the compiler has put both at the same place, and it
 * is unknown which of them is meant. */
struct search {
  uintptr_t at;
  struct memory *found;
  size_t count;
};

static bool find_in_frame(const struct frame *frame, void *with) {
  struct search *search = with;
  const struct function *function = function_at(frame->place);
  for (uint64_t i = 0; function && i < function->count; i++) {
    const struct local *local = &locals[function->first_local + i];
    uintptr_t start = frame->base + (uintptr_t)local->place;
    bool is_there = local->form == VARIABLE && search->at >= start && search->at < start + local->size;
    if (!is_there || !is_in_scope(local, frame)) continue;
    *search->found = (struct memory){start, local->size, &layouts[local->layout], names + local->name};
    search->count++;
  }
  return search->count == 0;
}

static bool find_local(uintptr_t at, struct memory *found) {
  extern void *__libc_stack_end;
  struct search search = {at, found, 0};
  bool is_on_stack = at > (uintptr_t)__builtin_frame_address(0) && at < (uintptr_t)__libc_stack_end;
  if (is_on_stack && count.locals) each_frame(find_in_frame, &search);
  return search.count == 1;
}

/* The heap: a table of its blocks by their addresses. Freed ones stay, since there may still be
 * pointers to them. */
struct heap_piece {
  uintptr_t start; /* 0: an empty entry */
  size_t size, freed; /* `freed`: of the largest block that was freed there */
  bool is_there;
};
static struct heap_piece *heap;
static size_t heap_room, heap_used;
/* In a larger heap, only blocks that begin at the buffer are found. */
enum { SEARCHED = 1 << 16 };

/* The entry of a block in the table, or the entry for a new one. */
static struct heap_piece *heap_slot(uintptr_t start) {
  size_t slot = (start >> 4) * 0x9e3779b97f4a7c15u >> 20 & (heap_room - 1);
  while (heap[slot].start && heap[slot].start != start) slot = (slot + 1) & (heap_room - 1);
  return &heap[slot];
}

static void heap_add(void *start, size_t size) {
  if (!start || !is_verified) return;
  if (2 * heap_used >= heap_room) {
    struct heap_piece *old = heap, *end = old + heap_room;
    heap_room = heap_room ? 2 * heap_room : 256;
    heap = allocate(heap_room * sizeof *heap);
    for (struct heap_piece *piece = old; piece < end; piece++)
      if (piece->start) *heap_slot(piece->start) = *piece;
    release(old);
  }
  struct heap_piece *piece = heap_slot((uintptr_t)start);
  if (!piece->start) heap_used++;
  piece->start = (uintptr_t)start;
  piece->size = size;
  piece->is_there = true;
}

static struct heap_piece *heap_find(uintptr_t start) {
  struct heap_piece *piece = heap_room ? heap_slot(start) : NULL;
  return piece && piece->is_there ? piece : NULL;
}

static bool find_on_heap(uintptr_t at, struct memory *found) {
  struct heap_piece *piece = heap_find(at);
  for (size_t i = 0; !piece && heap_room <= SEARCHED && i < heap_room; i++)
    if (heap[i].is_there && at >= heap[i].start && at - heap[i].start < heap[i].size) piece = &heap[i];
  if (piece) *found = (struct memory){piece->start, piece->size, NULL, NULL};
  return piece;
}

/* Whether a block was ever freed here. */
static bool was_freed(uintptr_t at) {
  for (size_t i = 0; i < heap_room; i++)
    if (at >= heap[i].start && at - heap[i].start < heap[i].freed) return true;
  return false;
}

bool is_beyond_heap(const void *base, size_t size) {
  struct memory memory;
  uintptr_t at = (uintptr_t)base;
  return find_on_heap(at, &memory) && size > memory.size - (at - memory.start);
}

#if defined(__GLIBC__)
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* If there is no memory, that is due to the limit for ranks, unless no process can have so much. */
static void *heap_new(void *made, size_t size, void *site) {
  const size_t most = (size_t)1 << 47;
  if (!made && size > 0 && size < most && is_verified && !is_child) memory_ends((uintptr_t)site);
  heap_add(made, size);
  if (races_matter && made) races_forget((uintptr_t)made, (uintptr_t)made + size);
  return made;
}
#define NEW(made, size) heap_new(made, size, __builtin_return_address(0))

WEAK void *malloc(size_t size) { return NEW(__libc_malloc(size), size); }

WEAK void *calloc(size_t number, size_t size) {
  size_t all;
  if (__builtin_mul_overflow(number, size, &all)) all = SIZE_MAX;
  return NEW(__libc_calloc(number, size), all);
}

/* The program frees a block of the heap. */
static void heap_remove(struct heap_piece *piece) {
  if (piece->size > piece->freed) piece->freed = piece->size;
  piece->is_there = false;
}

/* The block at this address, which the program frees: nothing may use it. */
static struct heap_piece *heap_release(void *start, uintptr_t site) {
  struct heap_piece *piece = start ? heap_find((uintptr_t)start) : NULL;
  if (piece && races_matter) races_free(piece->start, piece->size, site);
  if (piece) memory_check_gone(piece->start, piece->start + piece->size, site, "frees this memory");
  return piece;
}

WEAK void *realloc(void *old, size_t size) {
  struct heap_piece *piece = heap_release(old, (uintptr_t)__builtin_return_address(0));
  void *made = __libc_realloc(old, size);
  /* A block that only grows is still the same. */
  if (piece && made != old && (made || size == 0)) heap_remove(piece);
  return NEW(made, size);
}

WEAK void *memalign(size_t alignment, size_t size) { return NEW(__libc_memalign(alignment, size), size); }

WEAK void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

WEAK int posix_memalign(void **made, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || alignment & (alignment - 1)) return 22; /* EINVAL */
  *made = memalign(alignment, size);
  return *made ? 0 : 12; /* ENOMEM */
}

WEAK void free(void *piece) { heap_free(piece, (uintptr_t)__builtin_return_address(0)); }
void heap_free(void *piece, uintptr_t site) {
  struct heap_piece *known = heap_release(piece, site);
  if (known) heap_remove(known);
  __libc_free(piece);
}
#else
void heap_free(void *piece, uintptr_t site) { (void)site, free(piece); }
#endif

/* The kind of a value of a basic type; UNKNOWN fits everything. */
static enum value value_of(uint32_t basic) {
  switch (basic + 0x200) {
    case (uintptr_t)MPI_SHORT: case (uintptr_t)MPI_INT: case (uintptr_t)MPI_LONG: case (uintptr_t)MPI_LONG_LONG:
    case (uintptr_t)MPI_INT16_T: case (uintptr_t)MPI_INT32_T: case (uintptr_t)MPI_INT64_T: case (uintptr_t)MPI_INTEGER:
    case (uintptr_t)MPI_INTEGER1: case (uintptr_t)MPI_INTEGER2: case (uintptr_t)MPI_INTEGER4: case (uintptr_t)MPI_INTEGER8:
    case (uintptr_t)MPI_LOGICAL:
      return SIGNED;
    case (uintptr_t)MPI_UNSIGNED_SHORT: case (uintptr_t)MPI_UNSIGNED: case (uintptr_t)MPI_UNSIGNED_LONG:
    case (uintptr_t)MPI_UNSIGNED_LONG_LONG: case (uintptr_t)MPI_UINT16_T: case (uintptr_t)MPI_UINT32_T:
    case (uintptr_t)MPI_UINT64_T:
      return UNSIGNED;
    case (uintptr_t)MPI_FLOAT: case (uintptr_t)MPI_DOUBLE: case (uintptr_t)MPI_LONG_DOUBLE: case (uintptr_t)MPI_REAL:
    case (uintptr_t)MPI_DOUBLE_PRECISION: case (uintptr_t)MPI_REAL4: case (uintptr_t)MPI_REAL8:
      return FLOATING;
    default:
      return UNKNOWN;
  }
}

static bool fits(const struct value_run *run, uint32_t basic) {
  enum value wanted = value_of(basic);
  /* Arrays of characters are often used as raw memory. */
  if (wanted == UNKNOWN || run->kind == UNKNOWN || run->kind == CHARACTER) return true;
  size_t size = basic_size(basic);
  /* A complex number consists of two others. */
  if (run->kind == COMPLEX) return wanted == FLOATING && run->size == 2 * size;
  if (run->size != size) return false;
  if (run->kind == POINTER) return wanted != FLOATING;
  /* In Fortran, truth values are as large as integers, and programs send them as such. */
  if (run->kind == TRUTH && size > 1) return wanted == SIGNED;
  return run->kind == wanted;
}

/* The run of values that has this offset in a layout, or NULL. */
static const struct value_run *run_at(const struct layout *layout, uint64_t offset) {
  for (uint64_t i = 0; i < layout->count; i++) {
    const struct value_run *run = &runs[layout->first + i];
    if (offset >= run->offset && offset < run->offset + run->size * run->count) return run;
  }
  return NULL;
}

static const char *value_name(const struct value_run *run) {
  static char text[40];
  static const char *const kinds[] = {"value",     "signed integer", "unsigned integer", "floating-point number",
                                      "character", "bool",           "complex number",   "pointer"};
  snprintf(text, sizeof text, "%s of %lu bytes", kinds[run->kind <= POINTER ? run->kind : 0], (unsigned long)run->size);
  return text;
}

/* The number of elements whose types are compared. */
enum { LOOKED_AT = 64 };

/* How elements differ from the contents of memory; NULL if they fit. Memory beyond the block or
 * variable is not judged. */
static char *misfit(const struct memory *memory, uintptr_t at, size_t number, const struct type *type) {
  for (size_t i = 0; i < number && i < LOOKED_AT; i++)
    for (size_t p = 0; p < type->pieces && p < LOOKED_AT; p++) {
      const struct piece *piece = &type->piece[p];
      uint64_t offset = at - memory->start + (uintptr_t)((ptrdiff_t)i * type->extent + piece->at);
      if (offset >= memory->size) continue;
      const struct value_run *run = run_at(memory->layout, offset);
      bool is_within = run && (offset - run->offset) % run->size != 0 && run->kind != CHARACTER && run->kind != COMPLEX;
      if (value_of(piece->run.basic) == UNKNOWN || (run && !is_within && fits(run, piece->run.basic))) continue;
      return text_of("%s %s is, but it is said to be %s", is_within ? "the middle of a" : run ? "a" : "no",
                     run ? value_name(run) : "value", basic_name(piece->run.basic));
    }
  return NULL;
}

static void check_values(const struct memory *memory, uintptr_t at, size_t number, const struct type *type, const char *parameter) {
  const char *wrong = misfit(memory, at, number, type);
  if (wrong) fail("datatype mismatch", "%s is in `%s`, where %s", parameter, memory->name, wrong);
}

/* Heap memory has no type of its own: it is inferred from the program's variables that point there.
 * A pointer describes only one value, since others may follow it. If pointers disagree, or one of
 * them points to anything (`void`, unions), the type that was stored last is unknown. */
struct pointing {
  uintptr_t at;
  size_t number;
  const struct type *type;
  struct memory values; /* of a pointer that does not fit */
  const char *wrong;
  bool may_fit, is_sure;
};

static void judge_pointer(struct pointing *of, uintptr_t to, const struct layout *layout, uint64_t size, const char *name,
                          bool is_sure) {
  if (to > of->at || of->at - to >= size) return;
  struct memory values = {to, size, layout, name};
  char *wrong = misfit(&values, of->at, of->number, of->type);
  if (wrong) of->values = values, of->wrong = wrong, of->is_sure |= is_sure;
  else of->may_fit = true;
}

static bool judge_pointers_of(const struct frame *frame, void *with) {
  struct pointing *of = with;
  const struct function *function = function_at(frame->place);
  for (uint64_t i = 0; function && i < function->count; i++) {
    const struct local *local = &locals[function->first_local + i];
    if (local->form == VARIABLE || !is_in_scope(local, frame)) continue;
    uintptr_t to = 0;
    if (local->form == POINTER_IN_REGISTER) to = local->place < REGISTERS ? frame->registers[local->place] : 0;
    else memcpy(&to, (const void *)(frame->base + (uintptr_t)local->place), sizeof to);
    /* The descriptor of an array begins with the address of its values. */
    if (local->form == DESCRIPTOR_BEHIND && to) memcpy(&to, (const void *)to, sizeof to);
    judge_pointer(of, to, &layouts[local->layout], local->size, names + local->name, local->is_sure);
  }
  return !of->may_fit;
}

static void check_heap_values(uintptr_t at, size_t number, const struct type *type, const char *parameter) {
  struct pointing of = {.at = at, .number = number, .type = type};
  for (uint64_t i = 0; i < count.pointers && !of.may_fit; i++) {
    const struct global *to = &pointers[i].to;
    judge_pointer(&of, *(const uintptr_t *)(to->at + wire_bias()), &layouts[to->layout], to->size, names + to->name,
                  pointers[i].is_sure);
  }
  if (!of.may_fit && count.locals) each_frame(judge_pointers_of, &of);
  /* A pointer may be older than the present contents. */
  if (of.may_fit || !of.wrong || (!of.is_sure && was_freed(of.values.start))) return;
  fail("datatype mismatch", "%s is on the heap, where `%s` points, and %s", parameter, of.values.name, of.wrong);
}

/* Whether a type with addresses leads from this memory to other memory that is known, with each of
 * its pieces: a program may compute its places as differences of addresses. */
static bool leads_elsewhere(uintptr_t at, const struct type *type) {
  bool has_addresses = type->contents.combiner == MPI_COMBINER_STRUCT || type->contents.combiner == MPI_COMBINER_HINDEXED ||
                       type->contents.combiner == MPI_COMBINER_HINDEXED_BLOCK;
  for (size_t p = 0; p < type->pieces; p++) {
    const struct piece *piece = &type->piece[p];
    uintptr_t first = at + (uintptr_t)piece->at, size = piece->run.count * basic_size(piece->run.basic);
    struct memory memory;
    bool is_known = find_global(first, &memory) || find_local(first, &memory) || find_on_heap(first, &memory);
    if (!has_addresses || !is_known || first + size > memory.start + memory.size) return false;
  }
  return true;
}

void check_memory(const void *buffer, const void *part, size_t number, const struct type *type, const char *parameter) {
  struct memory memory;
  uintptr_t start = (uintptr_t)buffer, at = (uintptr_t)part;
  if (number == 0 || type->pieces == 0 || !buffer) return;
  if (!find_global(start, &memory) && !find_local(start, &memory) && !find_on_heap(start, &memory)) return;
  ptrdiff_t low, high;
  type_reach(type, number, &low, &high);
  ptrdiff_t first = (ptrdiff_t)(at - memory.start) + low, behind = (ptrdiff_t)(at - memory.start) + high;
  bool is_beyond = first < 0 || (size_t)behind > memory.size;
  if (is_beyond && number == 1 && leads_elsewhere(at, type)) return;
  if (is_beyond)
    fail("invalid buffer", "%s needs bytes %td to %td of %s%s%s, which has %zu", parameter, first, behind - 1,
         memory.name ? "`" : "", memory.name ? memory.name : "a piece of the heap", memory.name ? "`" : "", memory.size);
  if (!memory.layout) check_heap_values(at, number, type, parameter);
  else if (memory.layout->count > 0) check_values(&memory, at, number, type, parameter);
}
