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

static int combiner_of(const struct type *of) { return of->object.is_predefined ? MPI_COMBINER_NAMED : of->contents.combiner; }

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
  if (type->object.is_predefined) return (MPI_Datatype)(uintptr_t)(0x200 + type->element);
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
  if (of->object.is_predefined) fail("invalid datatype", "%s was not made", of->title);
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
