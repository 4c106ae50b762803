/* Operators of reductions: the predefined ones, on every type that MPI allows for them, and those
 * of the program. */
#include "rank.h"

#include <complex.h>
#include <limits.h>

/* The classes of basic types that an operator accepts. */
enum class { INTEGER = 1, FLOATING = 2, LOGICAL = 4, COMPLEX = 8, BYTES = 16, PAIR = 32 };

static enum class class_of(MPI_Datatype type) {
  switch ((uintptr_t)type) {
    case 0x201: case 0x202: case 0x203: case 0x208: case 0x209: case 0x20a: case 0x20b: case 0x20c: case 0x20d:
    case 0x20e: case 0x20f: case 0x240: case 0x241: case 0x244: case 0x245: case 0x248: case 0x249: case 0x250:
    case 0x251: case 0x258: case 0x259:
      return INTEGER;
    case 0x219: case 0x2c1: case 0x2c9: case 0x2d1: case 0x2d9: case 0x2e1: return INTEGER;
    case 0x210: case 0x214: case 0x220: case 0x21a: case 0x21c: case 0x2ca: case 0x2d2: case 0x2da: case 0x2e2: return FLOATING;
    case 0x238: case 0x239: case 0x218: case 0x2c0: case 0x2c8: case 0x2d0: case 0x2d8: case 0x2e0: return LOGICAL;
    case 0x212: case 0x213: case 0x216: case 0x217: case 0x224: case 0x225: case 0x21b: case 0x21d: case 0x2d3: case 0x2db:
    case 0x2e3: case 0x2eb:
      return COMPLEX;
    case 0x247: return BYTES;
    case 0x228: case 0x229: case 0x22a: case 0x22b: case 0x22c: case 0x22d: case 0x230: case 0x231: case 0x232: return PAIR;
    default: return 0;
  }
}

/* Whether values of this type cannot be computed with: C has no such type everywhere. */
static bool is_of_fortran_only(MPI_Datatype type) {
  return type == MPI_REAL2 || type == MPI_COMPLEX4 || type == MPI_LOGICAL16 || type == MPI_INTEGER16 || type == MPI_REAL16 ||
         type == MPI_COMPLEX32;
}

struct known {
  MPI_Op op;
  const char *name;
  int classes;
};
static const struct known knowns[] = {
    {MPI_SUM, "MPI_SUM", INTEGER | FLOATING | COMPLEX},
    {MPI_PROD, "MPI_PROD", INTEGER | FLOATING | COMPLEX},
    {MPI_MIN, "MPI_MIN", INTEGER | FLOATING},
    {MPI_MAX, "MPI_MAX", INTEGER | FLOATING},
    {MPI_BAND, "MPI_BAND", INTEGER | BYTES},
    {MPI_BOR, "MPI_BOR", INTEGER | BYTES},
    {MPI_BXOR, "MPI_BXOR", INTEGER | BYTES},
    {MPI_LAND, "MPI_LAND", INTEGER | LOGICAL},
    {MPI_LOR, "MPI_LOR", INTEGER | LOGICAL},
    {MPI_LXOR, "MPI_LXOR", INTEGER | LOGICAL},
    {MPI_MINLOC, "MPI_MINLOC", PAIR},
    {MPI_MAXLOC, "MPI_MAXLOC", PAIR},
    {MPI_REPLACE, "MPI_REPLACE", ~0},
    {MPI_NO_OP, "MPI_NO_OP", ~0},
};
enum { KNOWNS = sizeof knowns / sizeof *knowns };

struct op *op_find(MPI_Op op) {
  static struct op predefined[KNOWNS];
  for (size_t i = 0; i < KNOWNS; i++)
    if (knowns[i].op == op) {
      snprintf(predefined[i].name, sizeof predefined[i].name, "%s", knowns[i].name);
      predefined[i].object.is_predefined = predefined[i].commutes = true;
      return &predefined[i];
    }
  struct op *found = (struct op *)handle_get(OP, op);
  if (op == MPI_OP_NULL) fail("invalid operator", "the operator is MPI_OP_NULL");
  if (!found) fail("invalid operator", "%p is no operator", (void *)op);
  return found;
}

struct op *op_get(MPI_Op op) {
  struct op *found = op_find(op);
  if (found->object.is_freed) fail("invalid operator", "the operator made at {@%lx} was freed", found->object.made_at);
  return found;
}

/* The basic type of all values. */
static MPI_Datatype element_of(const struct type *type) { return (MPI_Datatype)(uintptr_t)(0x200 + type->element); }

static bool op_is_own(const struct op *op) { return op->function || op->large; }

struct op *op_for(MPI_Op op, const struct type *type) {
  struct op *found = op_get(op);
  if (op_is_own(found)) return found;
  if (!type->object.is_predefined) fail("invalid operator", "%s is not for derived datatypes", found->name);
  for (size_t i = 0; i < KNOWNS; i++) {
    MPI_Datatype basic = element_of(type);
    if (knowns[i].op == op && !(knowns[i].classes & (int)class_of(basic)))
      fail("invalid operator", "%s is not for %s", found->name, type->title);
    if (knowns[i].op == op && is_of_fortran_only(basic) && op != MPI_REPLACE && op != MPI_NO_OP)
      fail("unsupported", "%s of %s is not computed", found->name, type->title);
  }
  return found;
}

/* Operators of windows accept any types that consist of one basic type. */
void op_check_window(MPI_Op op, const struct type *type) {
  if (op_is_own(op_get(op))) fail("invalid operator", "windows take predefined operators only");
  if (type->pieces == 0) return;
  if (type->element == SEVERAL) fail("invalid operator", "%s is not for values of several types", op_get(op)->name);
  op_for(op, type_get(element_of(type)));
}

/* Integer arithmetic is unsigned, so that it may wrap. */
#define EACH(type, expression)                  \
  do {                                          \
    const type *a = in;                         \
    type *b = inout;                            \
    for (size_t i = 0; i < count; i++) {        \
      type x = a[i], y = b[i];                  \
      b[i] = (type)(expression);                \
    }                                           \
  } while (0); return
#define INTEGERS(type)                                                  \
  switch ((uintptr_t)op) {                                              \
    case 0x21: EACH(type, (uint64_t)x + (uint64_t)y);                   \
    case 0x22: EACH(type, x < y ? x : y);                               \
    case 0x23: EACH(type, x > y ? x : y);                               \
    case 0x24: EACH(type, (uint64_t)x * (uint64_t)y);                   \
    case 0x28: EACH(type, x & y);                                       \
    case 0x29: EACH(type, x | y);                                       \
    case 0x2a: EACH(type, x ^ y);                                       \
    case 0x30: EACH(type, x && y);                                      \
    case 0x31: EACH(type, x || y);                                      \
    case 0x32: EACH(type, !x != !y);                                    \
    default: return;                                                    \
  }
#define FLOATINGS(type)                         \
  switch ((uintptr_t)op) {                      \
    case 0x21: EACH(type, x + y);               \
    case 0x22: EACH(type, x < y ? x : y);       \
    case 0x23: EACH(type, x > y ? x : y);       \
    case 0x24: EACH(type, x * y);               \
    default: return;                            \
  }
#define COMPLEXES(type)                         \
  switch ((uintptr_t)op) {                      \
    case 0x21: EACH(type, x + y);               \
    case 0x24: EACH(type, x * y);               \
    default: return;                            \
  }
#define PAIRS(of, at)                                                                        \
  {                                                                                        \
    struct pair { of value; at place; } const *a = in;                                    \
    struct pair *b = inout;                                                                \
    for (size_t i = 0; i < count; i++) {                                                   \
      bool is_better = op == MPI_MINLOC ? a[i].value < b[i].value : a[i].value > b[i].value; \
      if (is_better || (a[i].value == b[i].value && a[i].place < b[i].place)) b[i] = a[i]; \
    }                                                                                      \
    return;                                                                                \
  }

static void apply_known(MPI_Op op, const void *in, void *inout, size_t count, MPI_Datatype type, size_t size) {
  if (op == MPI_NO_OP) return;
  if (op == MPI_REPLACE) {
    memcpy(inout, in, count * size);
    return;
  }
  switch ((uintptr_t)type) {
    case 0x201: case 0x202: case 0x203: case 0x20a: case 0x20b: case 0x258: case 0x2d8: case 0x2d9: INTEGERS(int64_t)
    case 0x20e: case 0x20f: case 0x259: INTEGERS(uint64_t)
    case 0x209: case 0x250: case 0x218: case 0x219: case 0x2d0: case 0x2d1: INTEGERS(int32_t)
    case 0x20d: case 0x251: INTEGERS(uint32_t)
    case 0x208: case 0x248: case 0x2c8: case 0x2c9: INTEGERS(int16_t)
    case 0x20c: case 0x249: INTEGERS(uint16_t)
    case 0x244: case 0x240: case 0x2c0: case 0x2c1: INTEGERS(int8_t)
    case 0x245: case 0x241: case 0x247: INTEGERS(uint8_t)
    case 0x238: case 0x239: INTEGERS(uint8_t)
    case 0x210: case 0x21a: case 0x2d2: FLOATINGS(float)
    case 0x214: case 0x21c: case 0x2da: FLOATINGS(double)
    case 0x220: FLOATINGS(long double)
    case 0x212: case 0x213: case 0x21b: case 0x2db: COMPLEXES(float _Complex)
    case 0x216: case 0x217: case 0x21d: case 0x2e3: COMPLEXES(double _Complex)
    case 0x224: case 0x225: COMPLEXES(long double _Complex)
    case 0x228: PAIRS(float, int)
    case 0x229: PAIRS(double, int)
    case 0x22a: PAIRS(long, int)
    case 0x22b: PAIRS(int, int)
    case 0x22c: PAIRS(short, int)
    case 0x22d: PAIRS(long double, int)
    case 0x230: PAIRS(float, float)
    case 0x231: PAIRS(double, double)
    case 0x232: PAIRS(int, int)
    default: return;
  }
}

/* A function of the program takes a number of elements that fits into an integer. */
static void apply_own(MPI_User_function *function, const void *in, void *inout, size_t count, ptrdiff_t extent, MPI_Datatype type) {
  for (size_t from = 0; from < count || from == 0; from += INT_MAX) {
    int length = (int)(count - from < INT_MAX ? count - from : INT_MAX);
    ptrdiff_t at = (ptrdiff_t)from * extent;
    function((char *)in + at, (char *)inout + at, &length, &type);
  }
}

void op_apply(MPI_Op op, const void *in, void *inout, size_t count, struct type *type, MPI_Datatype handle) {
  struct op *found = op_find(op);
  struct call before = call;
  /* The function may ask for the extent of a type that was freed meanwhile. */
  bool was_freed = type->object.is_freed;
  type->object.is_freed = false;
  if (found->large)
    found->large((void *)in, inout, &(MPI_Count){(MPI_Count)count}, &handle);
  else if (found->function)
    apply_own(found->function, in, inout, count, type->extent, handle);
  else
    apply_known(op, in, inout, count, element_of(type), type->size);
  type->object.is_freed |= was_freed;
  call = before; /* because the function may have called MPI */
}

void op_apply_window(MPI_Op op, const void *in, void *inout, size_t count, const struct type *type) {
  if (type->pieces == 0) return;
  MPI_Datatype element = element_of(type);
  const struct type *of = type_get(element);
  /* a pair of two types is two pieces; a pair of ints is one piece, or a part of one */
  size_t step = of->pieces;
  for (size_t i = 0; i < count; i++)
    for (size_t p = 0; p < type->pieces; p += step) {
      const struct piece *piece = &type->piece[p];
      ptrdiff_t at = (ptrdiff_t)i * type->extent + piece->at;
      size_t values = step > 1 ? 1 : piece->run.count / of->piece->run.count;
      apply_known(op, (const char *)in + at, (char *)inout + at, values, element, (size_t)of->extent);
    }
}

static int op_new(struct op given, bool has_function, MPI_Op *op) {
  if (!has_function) fail("invalid argument", "the function is a null pointer");
  struct op *made = allocate(sizeof *made);
  *made = given;
  snprintf(made->name, sizeof made->name, "an operator");
  *OUT(op) = (MPI_Op)handle_new(OP, &made->object);
  return MPI_SUCCESS;
}

FUNCTION(Op_create, (MPI_User_function *function, int commute, MPI_Op *op)) {
  CALL("MPI_Op_create");
  return op_new((struct op){.function = function, .commutes = commute}, function, op);
}

FUNCTION(Op_create_c, (MPI_User_function_c *function, int commute, MPI_Op *op)) {
  CALL("MPI_Op_create_c");
  return op_new((struct op){.large = function, .commutes = commute}, function, op);
}

FUNCTION(Op_free, (MPI_Op *op)) {
  CALL("MPI_Op_free");
  struct op *freed = op_get(*OUT(op));
  if (freed->object.is_predefined) fail("invalid operator", "%s cannot be freed", freed->name);
  freed->object.is_freed = true;
  *OUT(op) = MPI_OP_NULL;
  return MPI_SUCCESS;
}

FUNCTION(Op_commutative, (MPI_Op op, int *commute)) {
  CALL("MPI_Op_commutative");
  *OUT(commute) = op_get(op)->commutes;
  return MPI_SUCCESS;
}
