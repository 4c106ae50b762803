/* Datatypes that are made of others. */
#include "twins.h"

FUNCTION(TWIN(Type_contiguous), (Count count, MPI_Datatype old, MPI_Datatype *made)) {
  CALL(NAMED(Type_contiguous));
  check_count(count);
  struct type *type = type_new();
  type_add(type, 0, (size_t)count, type_get(old));
  contents_start(type, MPI_COMBINER_CONTIGUOUS, type_get(old));
  contents_add_counts(type, 1, &count);
  return type_done(type, made);
}

static struct type *vector(Count count, Count length, ptrdiff_t stride, const struct type *old) {
  check_count(count);
  check_count(length);
  struct type *type = type_new();
  for (Count i = 0; i < count; i++) type_add(type, (ptrdiff_t)i * stride, (size_t)length, old);
  return type;
}

FUNCTION(TWIN(Type_vector), (Count count, Count blocklength, Count stride, MPI_Datatype old, MPI_Datatype *made)) {
  CALL(NAMED(Type_vector));
  const struct type *from = type_get(old);
  struct type *type = vector(count, blocklength, stride * from->extent, from);
  contents_start(type, MPI_COMBINER_VECTOR, from);
  contents_add_counts(type, 3, (Count[]){count, blocklength, stride});
  return type_done(type, made);
}

FUNCTION(TWIN(Type_create_hvector), (Count count, Count blocklength, Far stride, MPI_Datatype old, MPI_Datatype *made)) {
  CALL(NAMED(Type_create_hvector));
  struct type *type = vector(count, blocklength, stride, type_get(old));
  contents_start(type, MPI_COMBINER_HVECTOR, type_get(old));
  contents_add_counts(type, 2, (Count[]){count, blocklength});
  contents_add_far(type, 1, &stride);
  return type_done(type, made);
}

FUNCTION(TWIN(Type_indexed), (Count count, const Count lengths[], const Count displs[], MPI_Datatype old, MPI_Datatype *made)) {
  CALL(NAMED(Type_indexed));
  check_count(count);
  INS(lengths, count);
  INS(displs, count);
  const struct type *from = type_get(old);
  struct type *type = type_new();
  for (Count i = 0; i < count; i++) {
    check_count(lengths[i]);
    type_add(type, displs[i] * from->extent, (size_t)lengths[i], from);
  }
  contents_start(type, MPI_COMBINER_INDEXED, from);
  contents_add_counts(type, 1, &count);
  contents_add_counts(type, count, lengths);
  contents_add_counts(type, count, displs);
  return type_done(type, made);
}

FUNCTION(TWIN(Type_create_hindexed), (Count count, const Count lengths[], const Far displs[], MPI_Datatype old, MPI_Datatype *made)) {
  CALL(NAMED(Type_create_hindexed));
  check_count(count);
  INS(lengths, count);
  INS(displs, count);
  const struct type *from = type_get(old);
  struct type *type = type_new();
  for (Count i = 0; i < count; i++) {
    check_count(lengths[i]);
    type_add(type, displs[i], (size_t)lengths[i], from);
  }
  contents_start(type, MPI_COMBINER_HINDEXED, from);
  contents_add_counts(type, 1, &count);
  contents_add_counts(type, count, lengths);
  contents_add_far(type, count, displs);
  return type_done(type, made);
}

FUNCTION(TWIN(Type_create_indexed_block), (Count count, Count length, const Count displs[], MPI_Datatype old, MPI_Datatype *made)) {
  CALL(NAMED(Type_create_indexed_block));
  check_count(count);
  INS(displs, count);
  check_count(length);
  const struct type *from = type_get(old);
  struct type *type = type_new();
  for (Count i = 0; i < count; i++) type_add(type, displs[i] * from->extent, (size_t)length, from);
  contents_start(type, MPI_COMBINER_INDEXED_BLOCK, from);
  contents_add_counts(type, 2, (Count[]){count, length});
  contents_add_counts(type, count, displs);
  return type_done(type, made);
}

FUNCTION(TWIN(Type_create_hindexed_block), (Count count, Count length, const Far displs[], MPI_Datatype old, MPI_Datatype *made)) {
  CALL(NAMED(Type_create_hindexed_block));
  check_count(count);
  INS(displs, count);
  check_count(length);
  const struct type *from = type_get(old);
  struct type *type = type_new();
  for (Count i = 0; i < count; i++) type_add(type, displs[i], (size_t)length, from);
  contents_start(type, MPI_COMBINER_HINDEXED_BLOCK, from);
  contents_add_counts(type, 2, (Count[]){count, length});
  contents_add_far(type, count, displs);
  return type_done(type, made);
}

FUNCTION(TWIN(Type_create_struct), (Count count, const Count lengths[], const Far displs[], const MPI_Datatype types[], MPI_Datatype *made)) {
  CALL(NAMED(Type_create_struct));
  check_count(count);
  INS(lengths, count);
  INS(displs, count);
  INS(types, count);
  struct type *type = type_new();
  for (Count i = 0; i < count; i++) {
    const struct type *part = type_get(types[i]);
    check_count(lengths[i]);
    type_add(type, displs[i], (size_t)lengths[i], part);
    contents_add_types(type, 1, &part);
  }
  contents_start(type, MPI_COMBINER_STRUCT, NULL);
  contents_add_counts(type, 1, &count);
  contents_add_counts(type, count, lengths);
  contents_add_far(type, count, displs);
  return type_done(type, made);
}

FUNCTION(TWIN(Type_create_resized), (MPI_Datatype old, Far lb, Far extent, MPI_Datatype *made)) {
  CALL(NAMED(Type_create_resized));
  struct type *type = type_new();
  type_add(type, 0, 1, type_get(old));
  type_set_bounds(type, lb, extent);
  contents_start(type, MPI_COMBINER_RESIZED, type_get(old));
  contents_add_far(type, 2, (Far[]){lb, extent});
  return type_done(type, made);
}
