/* The memory behind a buffer: a variable that the debug information tells of, or a piece of the heap.
 *
 * Variables come as a table from the verifier (src/mpi/variables.rs says what is in it). Locals are found by going through the
 * frames on the stack: each begins with the frame pointer of the caller and the address to return to. The program and this library are
 * compiled so. What is not found is not judged. */
#include "rank.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a value is; the numbers are those of `Kind` in src/mpi/variables.rs. */
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
struct function {
  uint64_t first, behind, first_local, count;
};
struct local {
  int64_t offset;
  uint64_t size, layout, name, first, behind;
};
static struct {
  uint64_t runs, layouts, globals, functions, locals, names;
} count;
static const struct value_run *runs;
static const struct layout *layouts;
static const struct global *globals;
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
      functions = (const struct function *)(globals + count.globals);
      locals = (const struct local *)(functions + count.functions);
      names = (const char *)(locals + count.locals);
    }
  }
  close(file);
}

/* Memory that belongs together. */
struct memory {
  uintptr_t start;
  size_t size;
  const struct layout *layout; /* NULL on the heap */
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

#if defined(__x86_64__)
extern void *__libc_stack_end;

static bool find_local(uintptr_t at, struct memory *found) {
  const uintptr_t *frame = __builtin_frame_address(0);
  uintptr_t end = (uintptr_t)__libc_stack_end;
  for (int depth = 0; depth < 1000; depth++) {
    uintptr_t place = frame[1] - wire_bias() - 1;
    const uintptr_t *outer = (const uintptr_t *)frame[0];
    /* The frame of the function that this one returns to begins behind two words. */
    if (outer <= frame || (uintptr_t)outer + 16 > end || (uintptr_t)outer % sizeof *outer) return false;
    const struct function *function = function_at(place);
    uintptr_t base = (uintptr_t)outer + 16;
    for (uint64_t i = 0; function && i < function->count; i++) {
      const struct local *local = &locals[function->first_local + i];
      uintptr_t start = base + (uintptr_t)local->offset;
      if (at < start || at >= start + local->size || place < local->first || place >= local->behind) continue;
      *found = (struct memory){start, local->size, &layouts[local->layout], names + local->name};
      return true;
    }
    frame = outer;
  }
  return false;
}
#else
/* Where a frame begins is known there only with more than the frame pointer. */
static bool find_local(uintptr_t at, struct memory *found) {
  (void)at, (void)found;
  return false;
}
#endif

/* The heap: a table of its pieces by where they start. */
struct heap_piece {
  uintptr_t start; /* 0: free; 1: was taken */
  size_t size;
};
static struct heap_piece *heap;
static size_t heap_room, heap_taken, heap_used;
/* In a larger heap only pieces that begin at the buffer are found. */
enum { SEARCHED = 1 << 16 };

static size_t heap_slot(uintptr_t start) { return (start >> 4) * 0x9e3779b97f4a7c15u >> 20 & (heap_room - 1); }

static void heap_put(uintptr_t start, size_t size) {
  size_t slot = heap_slot(start);
  while (heap[slot].start > 1) slot = (slot + 1) & (heap_room - 1);
  if (heap[slot].start == 0) heap_used++;
  heap[slot] = (struct heap_piece){start, size};
  heap_taken++;
}

static void heap_add(void *start, size_t size) {
  if (!start || !is_verified) return;
  TURN;
  if (2 * heap_used >= heap_room) {
    struct heap_piece *old = heap;
    size_t room = heap_room;
    while (heap_room == 0 || 4 * heap_taken >= heap_room) heap_room = heap_room ? 2 * heap_room : 256;
    heap = allocate(heap_room * sizeof *heap);
    heap_taken = heap_used = 0;
    for (size_t i = 0; i < room; i++)
      if (old[i].start > 1) heap_put(old[i].start, old[i].size);
    release(old);
  }
  heap_put((uintptr_t)start, size);
}

static struct heap_piece *heap_find(uintptr_t start) {
  if (!heap_room) return NULL;
  for (size_t slot = heap_slot(start); heap[slot].start; slot = (slot + 1) & (heap_room - 1))
    if (heap[slot].start == start) return &heap[slot];
  return NULL;
}

static bool find_on_heap(uintptr_t at, struct memory *found) {
  struct heap_piece *piece = heap_find(at);
  for (size_t i = 0; !piece && heap_room <= SEARCHED && i < heap_room; i++)
    if (heap[i].start > 1 && at >= heap[i].start && at - heap[i].start < heap[i].size) piece = &heap[i];
  if (piece) *found = (struct memory){piece->start, piece->size, NULL, NULL};
  return piece;
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

WEAK void *malloc(size_t size) {
  void *made = __libc_malloc(size);
  heap_add(made, size);
  return made;
}

WEAK void *calloc(size_t number, size_t size) {
  void *made = __libc_calloc(number, size);
  heap_add(made, number * size);
  return made;
}

/* The program gives up a piece of the heap. */
static void heap_remove(void *start, uintptr_t site) {
  if (!start || !is_verified) return;
  TURN;
  struct heap_piece *piece = heap_find((uintptr_t)start);
  if (!piece) return;
  memory_check_gone(piece->start, piece->start + piece->size, site, "frees this memory");
  piece->start = 1;
  heap_taken--;
}

WEAK void *realloc(void *old, size_t size) {
  heap_remove(old, (uintptr_t)__builtin_return_address(0));
  void *made = __libc_realloc(old, size);
  heap_add(made, size);
  return made;
}

WEAK void *memalign(size_t alignment, size_t size) {
  void *made = __libc_memalign(alignment, size);
  heap_add(made, size);
  return made;
}

WEAK void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

WEAK int posix_memalign(void **made, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || alignment & (alignment - 1)) return 22; /* EINVAL */
  *made = memalign(alignment, size);
  return *made ? 0 : 12; /* ENOMEM */
}

WEAK void free(void *piece) { heap_free(piece, (uintptr_t)__builtin_return_address(0)); }
void heap_free(void *piece, uintptr_t site) {
  heap_remove(piece, site);
  __libc_free(piece);
}
#else
void heap_free(void *piece, uintptr_t site) { (void)site, free(piece); }
#endif

/* What a value of a basic type is; UNKNOWN fits everything. */
static enum value value_of(uint32_t basic) {
  switch (basic + 0x200) {
    case (uintptr_t)MPI_SHORT: case (uintptr_t)MPI_INT: case (uintptr_t)MPI_LONG: case (uintptr_t)MPI_LONG_LONG:
    case (uintptr_t)MPI_INT16_T: case (uintptr_t)MPI_INT32_T: case (uintptr_t)MPI_INT64_T:
      return SIGNED;
    case (uintptr_t)MPI_UNSIGNED_SHORT: case (uintptr_t)MPI_UNSIGNED: case (uintptr_t)MPI_UNSIGNED_LONG:
    case (uintptr_t)MPI_UNSIGNED_LONG_LONG: case (uintptr_t)MPI_UINT16_T: case (uintptr_t)MPI_UINT32_T:
    case (uintptr_t)MPI_UINT64_T:
      return UNSIGNED;
    case (uintptr_t)MPI_FLOAT: case (uintptr_t)MPI_DOUBLE: case (uintptr_t)MPI_LONG_DOUBLE:
      return FLOATING;
    default:
      return UNKNOWN;
  }
}

static bool fits(const struct value_run *run, uint32_t basic) {
  enum value wanted = value_of(basic);
  /* Arrays of characters are used for raw memory. */
  if (wanted == UNKNOWN || run->kind == UNKNOWN || run->kind == CHARACTER) return true;
  size_t size = basic_size(basic);
  /* A complex number is two others. */
  if (run->kind == COMPLEX) return wanted == FLOATING && run->size == 2 * size;
  if (run->size != size) return false;
  if (run->kind == POINTER) return wanted != FLOATING;
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

/* Of so many elements the types are looked at. */
enum { LOOKED_AT = 64 };

static void check_values(const struct memory *memory, uintptr_t at, size_t number, const struct type *type, const char *parameter) {
  for (size_t i = 0; i < number && i < LOOKED_AT; i++)
    for (size_t p = 0; p < type->pieces && p < LOOKED_AT; p++) {
      const struct piece *piece = &type->piece[p];
      uint64_t offset = at - memory->start + (uintptr_t)((ptrdiff_t)i * type->extent + piece->at);
      const struct value_run *run = run_at(memory->layout, offset);
      bool is_within = run && (offset - run->offset) % run->size != 0 && run->kind != CHARACTER && run->kind != COMPLEX;
      if (value_of(piece->run.basic) == UNKNOWN || (run && !is_within && fits(run, piece->run.basic))) continue;
      fail("datatype mismatch", "%s is in `%s`, where %s %s is, but it is said to be %s", parameter, memory->name,
           is_within ? "the middle of a" : run ? "a" : "no", run ? value_name(run) : "value", basic_name(piece->run.basic));
    }
}

void check_memory(const void *buffer, const void *part, size_t number, const struct type *type, const char *parameter) {
  struct memory memory;
  uintptr_t start = (uintptr_t)buffer, at = (uintptr_t)part;
  if (number == 0 || type->pieces == 0 || !buffer) return;
  if (!find_global(start, &memory) && !find_local(start, &memory) && !find_on_heap(start, &memory)) return;
  ptrdiff_t low = PTRDIFF_MAX, high = PTRDIFF_MIN;
  for (size_t p = 0; p < type->pieces; p++) {
    const struct piece *piece = &type->piece[p];
    ptrdiff_t end = piece->at + (ptrdiff_t)(piece->run.count * basic_size(piece->run.basic));
    if (piece->at < low) low = piece->at;
    if (end > high) high = end;
  }
  ptrdiff_t further = (ptrdiff_t)(number - 1) * type->extent;
  if (further > 0) high += further; else low += further;
  ptrdiff_t first = (ptrdiff_t)(at - memory.start) + low, behind = (ptrdiff_t)(at - memory.start) + high;
  if (first < 0 || (size_t)behind > memory.size)
    fail("invalid buffer", "%s needs bytes %td to %td of %s%s%s, which has %zu", parameter, first, behind - 1,
         memory.name ? "`" : "", memory.name ? memory.name : "a piece of the heap", memory.name ? "`" : "", memory.size);
  if (memory.layout && memory.layout->count > 0) check_values(&memory, at, number, type, parameter);
}
