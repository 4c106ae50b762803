/* The making of a datatype: the function and its arguments. */
#include "rank.h"

void contents_start(struct type *of, int combiner, const struct type *old) {
  of->contents.combiner = combiner;
  if (old) contents_add_types(of, 1, &old);
}

void contents_add(struct type *of, int count, const int *integers) {
  struct contents *to = &of->contents;
  to->integer = grow(to->integer, (size_t)(to->integers + count) * sizeof *to->integer);
  if (count > 0) memcpy(to->integer + to->integers, integers, (size_t)count * sizeof *integers);
  to->integers += count;
}

void contents_add_addresses(struct type *of, int count, const MPI_Aint *addresses) {
  struct contents *to = &of->contents;
  to->address = grow(to->address, (size_t)(to->addresses + count) * sizeof *to->address);
  if (count > 0) memcpy(to->address + to->addresses, addresses, (size_t)count * sizeof *addresses);
  to->addresses += count;
}

void contents_add_types(struct type *of, int count, const struct type *const *types) {
  struct contents *to = &of->contents;
  to->type = grow(to->type, (size_t)(to->types + count) * sizeof *to->type);
  if (count > 0) memcpy(to->type + to->types, types, (size_t)count * sizeof *types);
  to->types += count;
}

FUNCTION(Type_get_envelope, (MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner)) {
  CALL("MPI_Type_get_envelope");
  const struct type *of = type_get(type);
  *OUT(integers) = of->contents.integers;
  *OUT(addresses) = of->contents.addresses;
  *OUT(types) = of->contents.types;
  *OUT(combiner) = of->object.is_predefined ? MPI_COMBINER_NAMED : of->contents.combiner;
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

FUNCTION(Type_get_contents, (MPI_Datatype type, int integers, int addresses, int types, int integer[], MPI_Aint address[], MPI_Datatype made[])) {
  CALL("MPI_Type_get_contents");
  const struct type *of = type_get(type);
  const struct contents *from = &of->contents;
  if (of->object.is_predefined) fail("invalid datatype", "%s was not made", of->title);
  if (integers < from->integers || addresses < from->addresses || types < from->types)
    fail("invalid count", "room for %d integers, %d addresses and %d types of %d, %d and %d", integers, addresses, types,
         from->integers, from->addresses, from->types);
  OUTS(integer, from->integers);
  OUTS(address, from->addresses);
  OUTS(made, from->types);
  for (int i = 0; i < from->integers; i++) integer[i] = from->integer[i];
  for (int i = 0; i < from->addresses; i++) address[i] = from->address[i];
  for (int i = 0; i < from->types; i++) made[i] = handle_of(from->type[i]);
  return MPI_SUCCESS;
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
