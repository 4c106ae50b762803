/* Datatypes, packing, and signatures.
 *
 * A type is a list of pieces: an offset, a basic type, and a number of consecutive values. Packing
 * goes through this list. A *signature* is the list without the offsets: what MPI compares between
 * sender and receiver. */
#include "rank.h"

#include <complex.h>
#include <stdbool.h>
#include <wchar.h>

/* The basic types. The number of a basic type is its handle minus 0x200. */
struct basic {
  const char *name;
  size_t size, alignment;
  uint32_t first, then; /* of a pair: the types of its two values */
  ptrdiff_t second;     /* the offset of the second one; 0 if this is not a pair */
};
#define BASIC(handle, of) [(uintptr_t)handle - 0x200] = {#handle, sizeof(of), _Alignof(of)}
/* Two values: they are sent one by one, so a pair fits a struct or two values of these types. */
#define PAIR(handle, of, first, then)                                                                           \
  [(uintptr_t)handle - 0x200] = {#handle, sizeof(struct of), _Alignof(struct of), (uintptr_t)first - 0x200, \
                                 (uintptr_t)then - 0x200, offsetof(struct of, b)}
struct float_int { float a; int b; };
struct double_int { double a; int b; };
struct long_int { long a; int b; };
struct short_int { short a; int b; };
struct long_double_int { long double a; int b; };
struct int_int { int a; int b; };
struct float_float { float a; float b; };
struct double_double { double a; double b; };
/* Values of Fortran for which C has no type everywhere. */
struct bytes_16 { _Alignas(16) char at[16]; };
struct bytes_32 { _Alignas(16) char at[32]; };
static const struct basic basics[] = {
    BASIC(MPI_AINT, MPI_Aint),
    BASIC(MPI_COUNT, MPI_Count),
    BASIC(MPI_OFFSET, MPI_Offset),
    BASIC(MPI_PACKED, char),
    BASIC(MPI_SHORT, short),
    BASIC(MPI_INT, int),
    BASIC(MPI_LONG, long),
    BASIC(MPI_LONG_LONG, long long),
    BASIC(MPI_UNSIGNED_SHORT, unsigned short),
    BASIC(MPI_UNSIGNED, unsigned),
    BASIC(MPI_UNSIGNED_LONG, unsigned long),
    BASIC(MPI_UNSIGNED_LONG_LONG, unsigned long long),
    BASIC(MPI_FLOAT, float),
    BASIC(MPI_C_FLOAT_COMPLEX, float _Complex),
    BASIC(MPI_CXX_FLOAT_COMPLEX, float _Complex),
    BASIC(MPI_DOUBLE, double),
    BASIC(MPI_C_DOUBLE_COMPLEX, double _Complex),
    BASIC(MPI_CXX_DOUBLE_COMPLEX, double _Complex),
    BASIC(MPI_LONG_DOUBLE, long double),
    BASIC(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex),
    BASIC(MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex),
    PAIR(MPI_FLOAT_INT, float_int, MPI_FLOAT, MPI_INT),
    PAIR(MPI_DOUBLE_INT, double_int, MPI_DOUBLE, MPI_INT),
    PAIR(MPI_LONG_INT, long_int, MPI_LONG, MPI_INT),
    PAIR(MPI_2INT, int_int, MPI_INT, MPI_INT),
    PAIR(MPI_SHORT_INT, short_int, MPI_SHORT, MPI_INT),
    PAIR(MPI_LONG_DOUBLE_INT, long_double_int, MPI_LONG_DOUBLE, MPI_INT),
    BASIC(MPI_C_BOOL, bool),
    BASIC(MPI_CXX_BOOL, bool),
    BASIC(MPI_WCHAR, wchar_t),
    BASIC(MPI_INT8_T, int8_t),
    BASIC(MPI_UINT8_T, uint8_t),
    BASIC(MPI_CHAR, char),
    BASIC(MPI_SIGNED_CHAR, signed char),
    BASIC(MPI_UNSIGNED_CHAR, unsigned char),
    BASIC(MPI_BYTE, char),
    BASIC(MPI_INT16_T, int16_t),
    BASIC(MPI_UINT16_T, uint16_t),
    BASIC(MPI_INT32_T, int32_t),
    BASIC(MPI_UINT32_T, uint32_t),
    BASIC(MPI_INT64_T, int64_t),
    BASIC(MPI_UINT64_T, uint64_t),
    /* Fortran, as common compilers have it */
    BASIC(MPI_LOGICAL, int),
    BASIC(MPI_INTEGER, int),
    BASIC(MPI_REAL, float),
    BASIC(MPI_COMPLEX, float _Complex),
    BASIC(MPI_DOUBLE_PRECISION, double),
    BASIC(MPI_DOUBLE_COMPLEX, double _Complex),
    BASIC(MPI_CHARACTER, char),
    PAIR(MPI_2REAL, float_float, MPI_REAL, MPI_REAL),
    PAIR(MPI_2DOUBLE_PRECISION, double_double, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION),
    PAIR(MPI_2INTEGER, int_int, MPI_INTEGER, MPI_INTEGER),
    BASIC(MPI_LOGICAL1, int8_t),
    BASIC(MPI_INTEGER1, int8_t),
    BASIC(MPI_LOGICAL2, int16_t),
    BASIC(MPI_INTEGER2, int16_t),
    BASIC(MPI_REAL2, int16_t),
    BASIC(MPI_LOGICAL4, int32_t),
    BASIC(MPI_INTEGER4, int32_t),
    BASIC(MPI_REAL4, float),
    BASIC(MPI_COMPLEX4, int32_t),
    BASIC(MPI_LOGICAL8, int64_t),
    BASIC(MPI_INTEGER8, int64_t),
    BASIC(MPI_REAL8, double),
    BASIC(MPI_COMPLEX8, float _Complex),
    BASIC(MPI_LOGICAL16, struct bytes_16),
    BASIC(MPI_INTEGER16, struct bytes_16),
    BASIC(MPI_REAL16, struct bytes_16),
    BASIC(MPI_COMPLEX16, double _Complex),
    BASIC(MPI_COMPLEX32, struct bytes_32),
};
enum { BASICS = sizeof basics / sizeof *basics };

size_t basic_size(uint32_t basic) { return basic < BASICS ? basics[basic].size : 0; }
const char *basic_name(uint32_t basic) { return basic < BASICS && basics[basic].name ? basics[basic].name : "?"; }

enum { MOST_PIECES = 1 << 26 };

static void add_piece(struct type *to, struct piece piece) {
  if (piece.run.count == 0) return;
  if (to->pieces == MOST_PIECES) fail("unsupported", "a datatype of more than %d pieces is too large", MOST_PIECES);
  size_t size = basic_size(piece.run.basic);
  if (to->pieces > 0) {
    struct piece *last = &to->piece[to->pieces - 1];
    if (last->run.basic == piece.run.basic && last->at + (ptrdiff_t)(last->run.count * size) == piece.at) {
      last->run.count += piece.run.count;
      return;
    }
  }
  if ((to->pieces & (to->pieces - 1)) == 0) to->piece = grow(to->piece, (2 * to->pieces + 1) * sizeof *to->piece);
  to->piece[to->pieces++] = piece;
}

static size_t alignment_of(const struct type *of) {
  size_t most = 1;
  for (size_t p = 0; p < of->pieces; p++)
    if (basics[of->piece[p].run.basic].alignment > most) most = basics[of->piece[p].run.basic].alignment;
  return most;
}

void type_reach(const struct type *of, size_t count, ptrdiff_t *from, ptrdiff_t *to) {
  *from = *to = 0;
  if (count == 0) return;
  for (size_t p = 0; p < of->pieces; p++) {
    const struct piece *piece = &of->piece[p];
    ptrdiff_t end = piece->at + (ptrdiff_t)(piece->run.count * basic_size(piece->run.basic));
    if (p == 0 || piece->at < *from) *from = piece->at;
    if (p == 0 || end > *to) *to = end;
  }
  ptrdiff_t further = (ptrdiff_t)(count - 1) * of->extent;
  if (of->pieces > 0) *(further > 0 ? to : from) += further;
}

/* The type for a basic type, made on demand. */
static struct type *basic_type(uint32_t basic) {
  static struct type *known[BASICS];
  if (!known[basic]) {
    struct type *made = allocate(sizeof *made);
    made->object.is_predefined = true;
    made->object.kind = DATATYPE;
    made->object.name = made->title = basics[basic].name;
    made->extent = (ptrdiff_t)basics[basic].size;
    made->element = basic;
    made->is_committed = true;
    if (basics[basic].second) {
      add_piece(made, (struct piece){0, {basics[basic].first, 1}});
      add_piece(made, (struct piece){basics[basic].second, {basics[basic].then, 1}});
      made->size = basics[basics[basic].first].size + basics[basics[basic].then].size;
    } else {
      add_piece(made, (struct piece){0, {basic, 1}});
      made->size = basics[basic].size;
    }
    known[basic] = made;
  }
  return known[basic];
}

struct type *type_get(MPI_Datatype type) {
  uintptr_t number = (uintptr_t)type - 0x200;
  if (number < BASICS && basics[number].name) return basic_type((uint32_t)number);
  struct type *found = (struct type *)handle_get(DATATYPE, type);
  if (type == MPI_DATATYPE_NULL) fail("invalid datatype", "the datatype is MPI_DATATYPE_NULL");
  if (!found) fail("invalid datatype", "%p is no datatype", (void *)type);
  if (found->object.is_freed) fail("invalid datatype", "the datatype made at {@%lx} was freed", found->object.made_at);
  return found;
}

struct type *type_for(MPI_Datatype type, const char *parameter) {
  struct type *found = type_get(type);
  if (!found->is_committed)
    fail("invalid datatype", "the %s made at {@%lx} is not committed", parameter, found->object.made_at);
  return found;
}

void pack(struct bytes *to, const void *from, size_t count, const struct type *type) {
  if (type->pieces == 1 && type->piece->at == 0 && (ptrdiff_t)type->size == type->extent) {
    put(to, from, count * type->size);
    return;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t p = 0; p < type->pieces; p++) {
      const struct piece *piece = &type->piece[p];
      put(to, (const char *)from + (ptrdiff_t)i * type->extent + piece->at, piece->run.count * basic_size(piece->run.basic));
    }
}

void unpack(void *to, const uint8_t *from, size_t bytes, const struct type *type) {
  if (type->size == 0) return;
  for (size_t i = 0; bytes > 0; i++)
    for (size_t p = 0; p < type->pieces && bytes > 0; p++) {
      const struct piece *piece = &type->piece[p];
      size_t length = piece->run.count * basic_size(piece->run.basic);
      if (length > bytes) length = bytes;
      memcpy((char *)to + (ptrdiff_t)i * type->extent + piece->at, from, length);
      from += length;
      bytes -= length;
    }
}

static void add_run(struct signature *to, struct run run) {
  if (run.count == 0) return;
  if (to->length > 0 && to->run[to->length - 1].basic == run.basic) {
    to->run[to->length - 1].count += run.count;
    return;
  }
  if (to->length == to->room) {
    to->room = 2 * to->room + 4;
    to->run = grow(to->run, to->room * sizeof *to->run);
  }
  to->run[to->length++] = run;
}

void signature_add(struct signature *to, size_t count, const struct type *type) {
  if (type->pieces == 1) {
    add_run(to, (struct run){type->piece->run.basic, count * type->piece->run.count});
    return;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t p = 0; p < type->pieces; p++) add_run(to, type->piece[p].run);
}

void signature_put(struct bytes *to, const struct signature *from) {
  put_u32(to, (uint32_t)from->length);
  for (size_t i = 0; i < from->length; i++) {
    put_u32(to, from->run[i].basic);
    put_u64(to, from->run[i].count);
  }
}

struct signature signature_take(struct reader *from) {
  struct signature read = {0};
  for (uint32_t left = take_u32(from); left > 0; left--) {
    uint32_t basic = take_u32(from);
    add_run(&read, (struct run){basic, take_u64(from)});
  }
  return read;
}

size_t signature_size(const struct signature *signature) {
  size_t size = 0;
  for (size_t i = 0; i < signature->length; i++) size += signature->run[i].count * basic_size(signature->run[i].basic);
  return size;
}

void signature_free(struct signature *signature) {
  release(signature->run);
  *signature = (struct signature){0};
}

const char *signature_text(const struct signature *signature) {
  static char texts[4][160];
  static int next;
  char *text = texts[next++ % 4];
  size_t length = 0;
  snprintf(text, sizeof texts[0], "nothing");
  for (size_t i = 0; i < signature->length && length < sizeof texts[0]; i++) {
    const char *before = i == 0 ? "" : ", ";
    if (i == 4) {
      snprintf(text + length, sizeof texts[0] - length, ", ..");
      break;
    }
    length += (size_t)snprintf(text + length, sizeof texts[0] - length, "%s%lu %s", before,
                               (unsigned long)signature->run[i].count, basic_name(signature->run[i].basic));
  }
  return text;
}

enum { PACKED = 7 };

enum fit signature_fits(const struct signature *sent, const struct signature *wanted) {
  size_t room = signature_size(wanted), needed = signature_size(sent);
  enum fit otherwise = needed > room ? TOO_LONG : FITS;
  bool is_packed = (sent->length && sent->run[0].basic == PACKED) || (wanted->length && wanted->run[0].basic == PACKED);
  if (is_packed) return otherwise;
  for (size_t i = 0; i < sent->length && i < wanted->length; i++) {
    if (sent->run[i].basic != wanted->run[i].basic) return OTHER_TYPES;
    if (sent->run[i].count < wanted->run[i].count) return i + 1 == sent->length ? otherwise : OTHER_TYPES;
    if (sent->run[i].count > wanted->run[i].count) return i + 1 == wanted->length ? TOO_LONG : OTHER_TYPES;
  }
  return otherwise;
}

void put_data(struct bytes *to, const void *from, size_t count, const struct type *type) {
  struct signature signature = {0};
  signature_add(&signature, count, type);
  signature_put(to, &signature);
  signature_free(&signature);
  struct bytes data = {0};
  pack(&data, from, count, type);
  put_block(to, data.at, data.length);
  release(data.at);
}

size_t take_data(struct reader *from, void *to, size_t count, const struct type *type, const char *who, uintptr_t site,
                 uintptr_t own_site) {
  struct signature sent = signature_take(from), wanted = {0};
  struct reader data = take_block(from);
  signature_add(&wanted, count, type);
  switch (signature_fits(&sent, &wanted)) {
    case FITS: break;
    case TOO_LONG:
      fail("truncation", "%s sends %s at {@%lx}, but at {@%lx} there is room for %s only", who, signature_text(&sent),
           site, own_site, signature_text(&wanted));
    case OTHER_TYPES:
      fail("datatype mismatch", "%s sends %s at {@%lx}, but what is received at {@%lx} is %s", who,
           signature_text(&sent), site, own_site, signature_text(&wanted));
  }
  signature_free(&sent);
  signature_free(&wanted);
  size_t length = (size_t)(data.end - data.at);
  if (length > 0) unpack(to, data.at, length, type);
  return length;
}

/* A new, empty type. */
struct type *type_new(void) {
  struct type *made = allocate(sizeof *made);
  made->title = call.name;
  return made;
}

/* Bounds that were given stay in all types that are made of such a type: where there are any, only
 * they count (MPI 4.1, 5.1.6). */
static void widen(struct type *to, ptrdiff_t low, ptrdiff_t high, bool are_given) {
  if (to->has_bounds && !are_given) return;
  bool is_first = are_given ? !to->has_bounds : to->size == 0;
  ptrdiff_t upper = to->lb + to->extent;
  to->lb = is_first || low < to->lb ? low : to->lb;
  to->extent = (is_first || high > upper ? high : upper) - to->lb;
  to->has_bounds = are_given;
}

void type_set_bounds(struct type *of, ptrdiff_t lb, ptrdiff_t extent) {
  of->lb = lb;
  of->extent = extent;
  of->has_bounds = true;
}

/* Appends `count` elements of a type, the first one at this offset. */
void type_add(struct type *to, ptrdiff_t at, size_t count, const struct type *old) {
  size_t span = old->extent < 0 ? (size_t)-old->extent : (size_t)old->extent;
  if (count > PTRDIFF_MAX / ((span > old->size ? span : old->size) + 1))
    fail("invalid count", "%zu elements do not fit into memory", count);
  if (count > 0 && old->pieces > 0) to->element = to->pieces == 0 || to->element == old->element ? old->element : SEVERAL;
  bool is_dense = old->pieces == 1 && (ptrdiff_t)(old->piece->run.count * basic_size(old->piece->run.basic)) == old->extent;
  for (size_t i = 0; i < (is_dense ? 1 : count); i++) {
    for (size_t p = 0; p < old->pieces; p++) {
      struct piece piece = old->piece[p];
      if (is_dense) piece.run.count *= count;
      piece.at += at + (ptrdiff_t)i * old->extent;
      add_piece(to, piece);
    }
  }
  if (count == 0) return;
  ptrdiff_t low, high, further = (ptrdiff_t)(count - 1) * old->extent;
  type_reach(old, count, &low, &high);
  if (old->has_bounds) {
    low = old->lb + (further < 0 ? further : 0);
    high = old->lb + old->extent + (further > 0 ? further : 0);
  }
  if (old->has_bounds || old->size > 0) widen(to, at + low, at + high, old->has_bounds);
  to->size += count * old->size;
}

/* An extent that was not given is rounded up, as that of a struct in C. */
int type_done(struct type *made, MPI_Datatype *handle) {
  ptrdiff_t align = (ptrdiff_t)alignment_of(made);
  if (!made->has_bounds) made->extent = (made->extent + align - 1) / align * align;
  *OUT(handle) = (MPI_Datatype)handle_new(DATATYPE, &made->object);
  return MPI_SUCCESS;
}

FUNCTION(Type_dup, (MPI_Datatype old, MPI_Datatype *made)) {
  CALL("MPI_Type_dup");
  OUT(made);
  const struct type *from = type_get(old);
  struct type *type = type_new();
  type_add(type, 0, 1, from);
  type->is_committed = from->is_committed;
  contents_start(type, MPI_COMBINER_DUP, from);
  type_done(type, made);
  int code = attributes_copy(&from->object, old, &type->object, *made);
  type->object.is_freed = code != MPI_SUCCESS;
  if (code != MPI_SUCCESS) *made = MPI_DATATYPE_NULL;
  return code;
}

FUNCTION(Type_commit, (MPI_Datatype *type)) {
  CALL("MPI_Type_commit");
  type_get(*OUT(type))->is_committed = true;
  return MPI_SUCCESS;
}

FUNCTION(Type_free, (MPI_Datatype *type)) {
  CALL("MPI_Type_free");
  struct type *freed = type_get(*OUT(type));
  if (freed->object.is_predefined) fail("invalid datatype", "%s cannot be freed", freed->title);
  int code = attributes_remove(&freed->object, *type);
  if (code != MPI_SUCCESS) return code;
  freed->object.is_freed = true;
  *OUT(type) = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

FUNCTION(Type_get_true_extent_x, (MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)) {
  CALL("MPI_Type_get_true_extent_x");
  ptrdiff_t low, high;
  type_reach(type_get(type), 1, &low, &high);
  *OUT(lb) = low;
  *OUT(extent) = high - low;
  return MPI_SUCCESS;
}

FUNCTION(Type_size_x, (MPI_Datatype type, MPI_Count *size)) {
  CALL("MPI_Type_size_x");
  *OUT(size) = (MPI_Count)type_get(type)->size;
  return MPI_SUCCESS;
}

FUNCTION(Type_get_extent_x, (MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)) {
  CALL("MPI_Type_get_extent_x");
  const struct type *of = type_get(type);
  *OUT(lb) = of->lb;
  *OUT(extent) = of->extent;
  return MPI_SUCCESS;
}

FUNCTION(Type_set_name, (MPI_Datatype type, const char *name)) {
  CALL("MPI_Type_set_name");
  struct type *of = type_get(type);
  object_set_name(&of->object, name);
  of->title = of->object.name;
  return MPI_SUCCESS;
}

/* Null handles have names (MPI 4.1, 7.8). */
FUNCTION(Type_get_name, (MPI_Datatype type, char *name, int *length)) {
  CALL("MPI_Type_get_name");
  *OUT(length) = text_out(name, type == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : object_name(&type_get(type)->object));
  return MPI_SUCCESS;
}

FUNCTION(Get_address, (const void *location, MPI_Aint *address)) {
  HERE("MPI_Get_address");
  *OUT(address) = (MPI_Aint)location;
  return MPI_SUCCESS;
}

FUNCTION_OF(MPI_Aint, Aint_add, (MPI_Aint base, MPI_Aint disp)) { return base + disp; }
FUNCTION_OF(MPI_Aint, Aint_diff, (MPI_Aint one, MPI_Aint other)) { return one - other; }
