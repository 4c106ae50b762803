/* The making of a datatype: the function and its arguments. */
#include "rank.h"

void contents_start(struct type *of, int combiner, const struct type *old) {
  of->contents.combiner = combiner;
  if (old) contents_add_types(of, 1, &old);
}

void contents_add(struct type *of, MPI_Count count, const int *integers) {
  struct contents *to = &of->contents;
  to->integer = grow(to->integer, (size_t)(to->integers + count) * sizeof *to->integer);
  if (count > 0) memcpy(to->integer + to->integers, integers, (size_t)count * sizeof *integers);
  to->integers += count;
}

void contents_add_addresses(struct type *of, MPI_Count count, const MPI_Aint *addresses) {
  struct contents *to = &of->contents;
  to->address = grow(to->address, (size_t)(to->addresses + count) * sizeof *to->address);
  if (count > 0) memcpy(to->address + to->addresses, addresses, (size_t)count * sizeof *addresses);
  to->addresses += count;
}

void contents_add_large(struct type *of, MPI_Count count, const MPI_Count *counts) {
  struct contents *to = &of->contents;
  to->large = grow(to->large, (size_t)(to->counts + count) * sizeof *to->large);
  if (count > 0) memcpy(to->large + to->counts, counts, (size_t)count * sizeof *counts);
  to->counts += count;
}

void contents_add_types(struct type *of, MPI_Count count, const struct type *const *types) {
  struct contents *to = &of->contents;
  to->type = grow(to->type, (size_t)(to->types + count) * sizeof *to->type);
  if (count > 0) memcpy(to->type + to->types, types, (size_t)count * sizeof *types);
  to->types += count;
}

/* Types of MPI have names, but for those that are made for Fortran. */
static bool is_named(const struct type *of) { return of->object.is_predefined && !of->contents.combiner; }
static int combiner_of(const struct type *of) { return is_named(of) ? MPI_COMBINER_NAMED : of->contents.combiner; }

/* Whether the numbers of a type fit into integers is not told by MPI. */
static const struct type *without_large(MPI_Datatype type) {
  const struct type *of = type_get(type);
  if (of->contents.counts > 0)
    fail("unsupported", "the datatype made at {@%lx} has large counts, which %s_c tells", of->object.made_at, call.name);
  return of;
}

FUNCTION(Type_get_envelope, (MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner)) {
  CALL("MPI_Type_get_envelope");
  const struct type *of = without_large(type);
  *OUT(integers) = (int)of->contents.integers;
  *OUT(addresses) = (int)of->contents.addresses;
  *OUT(types) = (int)of->contents.types;
  *OUT(combiner) = combiner_of(of);
  return MPI_SUCCESS;
}

FUNCTION(Type_get_envelope_c, (MPI_Datatype type, MPI_Count *integers, MPI_Count *addresses, MPI_Count *counts, MPI_Count *types, int *combiner)) {
  CALL("MPI_Type_get_envelope_c");
  const struct type *of = type_get(type);
  *OUT(integers) = of->contents.integers;
  *OUT(addresses) = of->contents.addresses;
  *OUT(counts) = of->contents.counts;
  *OUT(types) = of->contents.types;
  *OUT(combiner) = combiner_of(of);
  return MPI_SUCCESS;
}

/* A derived type is returned as a new handle, which the program frees. */
static MPI_Datatype handle_of(const struct type *type) {
  if (is_named(type)) return (MPI_Datatype)(uintptr_t)(0x200 + type->element);
  struct type *made = allocate(sizeof *made);
  *made = *type;
  made->object = (struct object){0};
  return (MPI_Datatype)handle_new(DATATYPE, &made->object);
}

/* Room for the numbers of integers, addresses, large counts and types. */
struct room {
  MPI_Count integers, addresses, counts, types;
};

static int tell(const struct type *of, struct room room, int *integer, MPI_Aint *address, MPI_Count *large, MPI_Datatype *made) {
  const struct contents *from = &of->contents;
  if (is_named(of)) fail("invalid datatype", "%s was not made", of->title);
  if (room.integers < from->integers || room.addresses < from->addresses || room.counts < from->counts || room.types < from->types)
    fail("invalid count", "room for %ld integers, %ld addresses, %ld large counts and %ld types of %ld, %ld, %ld and %ld",
         (long)room.integers, (long)room.addresses, (long)room.counts, (long)room.types, (long)from->integers,
         (long)from->addresses, (long)from->counts, (long)from->types);
  OUTS(integer, from->integers);
  OUTS(address, from->addresses);
  OUTS(large, from->counts);
  OUTS(made, from->types);
  for (MPI_Count i = 0; i < from->integers; i++) integer[i] = from->integer[i];
  for (MPI_Count i = 0; i < from->addresses; i++) address[i] = from->address[i];
  for (MPI_Count i = 0; i < from->counts; i++) large[i] = from->large[i];
  for (MPI_Count i = 0; i < from->types; i++) made[i] = handle_of(from->type[i]);
  return MPI_SUCCESS;
}

FUNCTION(Type_get_contents, (MPI_Datatype type, int integers, int addresses, int types, int integer[], MPI_Aint address[], MPI_Datatype made[])) {
  CALL("MPI_Type_get_contents");
  return tell(without_large(type), (struct room){integers, addresses, 0, types}, integer, address, NULL, made);
}

FUNCTION(Type_get_contents_c, (MPI_Datatype type, MPI_Count integers, MPI_Count addresses, MPI_Count counts, MPI_Count types,
                               int integer[], MPI_Aint address[], MPI_Count large[], MPI_Datatype made[])) {
  CALL("MPI_Type_get_contents_c");
  return tell(type_get(type), (struct room){integers, addresses, counts, types}, integer, address, large, made);
}

FUNCTION(Type_match_size, (int kind, int size, MPI_Datatype *type)) {
  CALL("MPI_Type_match_size");
  static const struct {
    int kind;
    MPI_Datatype type;
  } known[] = {{MPI_TYPECLASS_INTEGER, MPI_SIGNED_CHAR}, {MPI_TYPECLASS_INTEGER, MPI_SHORT}, {MPI_TYPECLASS_INTEGER, MPI_INT},
               {MPI_TYPECLASS_INTEGER, MPI_LONG},        {MPI_TYPECLASS_REAL, MPI_FLOAT},    {MPI_TYPECLASS_REAL, MPI_DOUBLE},
               {MPI_TYPECLASS_REAL, MPI_LONG_DOUBLE},    {MPI_TYPECLASS_COMPLEX, MPI_C_FLOAT_COMPLEX},
               {MPI_TYPECLASS_COMPLEX, MPI_C_DOUBLE_COMPLEX}, {MPI_TYPECLASS_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].kind == kind && type_get(known[i].type)->size == (size_t)size) {
      *OUT(type) = known[i].type;
      return MPI_SUCCESS;
    }
  fail("invalid argument", "there is no type of class %d with %d bytes", kind, size);
}

/* A type of Fortran with these properties: always the same one, which is never freed (MPI 4.1,
 * 19.1.5). */
static int of_fortran(int combiner, int count, const int *integers, MPI_Datatype is, MPI_Datatype *made) {
  static struct known {
    int combiner, integers[2];
    MPI_Datatype type;
  } *knowns;
  static size_t length;
  OUT(made);
  struct known wanted = {combiner, {integers[0], count > 1 ? integers[1] : 0}, MPI_DATATYPE_NULL};
  for (size_t i = 0; i < length; i++) {
    bool is_same = knowns[i].combiner == combiner && memcmp(knowns[i].integers, wanted.integers, sizeof wanted.integers) == 0;
    if (is_same) return *made = knowns[i].type, MPI_SUCCESS;
  }
  const struct type *from = type_get(is);
  struct type *type = type_new();
  type_add(type, 0, 1, from);
  type->is_committed = type->object.is_predefined = true;
  type->title = from->title;
  contents_start(type, combiner, NULL);
  contents_add(type, count, integers);
  type_done(type, made);
  wanted.type = *made;
  knowns = grow(knowns, (length + 1) * sizeof *knowns);
  knowns[length++] = wanted;
  return MPI_SUCCESS;
}

/* The first type that has so many decimal digits and such a range. */
static MPI_Datatype real_with(int precision, int range, const MPI_Datatype *types) {
  static const int digits[] = {6, 15, 33}, ranges[] = {37, 307, 4931};
  for (int i = 0; i < 3; i++)
    if ((precision == MPI_UNDEFINED || precision <= digits[i]) && (range == MPI_UNDEFINED || range <= ranges[i])) return types[i];
  fail("invalid argument", "there is no type with %d digits and a range of %d", precision, range);
}

static void check_real(int precision, int range) {
  if (precision == MPI_UNDEFINED && range == MPI_UNDEFINED) fail("invalid argument", "neither precision nor range is given");
}

FUNCTION(Type_create_f90_real, (int precision, int range, MPI_Datatype *made)) {
  CALL("MPI_Type_create_f90_real");
  check_real(precision, range);
  static const MPI_Datatype types[] = {MPI_REAL4, MPI_REAL8, MPI_REAL16};
  return of_fortran(MPI_COMBINER_F90_REAL, 2, (int[]){precision, range}, real_with(precision, range, types), made);
}

FUNCTION(Type_create_f90_complex, (int precision, int range, MPI_Datatype *made)) {
  CALL("MPI_Type_create_f90_complex");
  check_real(precision, range);
  static const MPI_Datatype types[] = {MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32};
  return of_fortran(MPI_COMBINER_F90_COMPLEX, 2, (int[]){precision, range}, real_with(precision, range, types), made);
}

FUNCTION(Type_create_f90_integer, (int range, MPI_Datatype *made)) {
  CALL("MPI_Type_create_f90_integer");
  static const MPI_Datatype types[] = {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16};
  static const int ranges[] = {2, 4, 9, 18, 38};
  for (int i = 0; i < 5; i++)
    if (range <= ranges[i]) return of_fortran(MPI_COMBINER_F90_INTEGER, 1, &range, types[i], made);
  fail("invalid argument", "there is no type with a range of %d", range);
}

/* The pair of a value and an index, if MPI has a name for it (MPI 4.1, 6.9.4). */
FUNCTION(Type_get_value_index, (MPI_Datatype value, MPI_Datatype index, MPI_Datatype *made)) {
  CALL("MPI_Type_get_value_index");
  static const MPI_Datatype pairs[][3] = {
      {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT}, {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT}, {MPI_LONG, MPI_INT, MPI_LONG_INT},
      {MPI_INT, MPI_INT, MPI_2INT},        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},   {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
      {MPI_REAL, MPI_REAL, MPI_2REAL},     {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
      {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION}};
  type_get(value), type_get(index);
  *OUT(made) = MPI_DATATYPE_NULL;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (pairs[i][0] == value && pairs[i][1] == index) *made = pairs[i][2];
  return MPI_SUCCESS;
}
