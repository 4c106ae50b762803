/* Numbers of elements and bytes: of messages, of datatypes, and of what is packed. */
#include "twins.h"

#include <limits.h>

/* A number that does not fit is undefined (MPI 4.1, 5.1.5 and 5.1.11). */
static Count told(MPI_Count number) { return (Count)number == number ? (Count)number : MPI_UNDEFINED; }

FUNCTION(TWIN(Get_count), (const MPI_Status *status, MPI_Datatype type, Count *count)) {
  LOOK(NAMED(Get_count));
  size_t bytes = status_bytes(INS(status, 1)), size = type_for(type, "datatype")->size;
  *OUT(count) = size == 0 ? 0 : bytes % size ? MPI_UNDEFINED : told((MPI_Count)(bytes / size));
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Get_elements), (const MPI_Status *status, MPI_Datatype type, Count *count)) {
  CALL(NAMED(Get_elements));
  *OUT(count) = told(status_elements(status, type));
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Status_set_elements), (MPI_Status *status, MPI_Datatype type, Count count)) {
  CALL(NAMED(Status_set_elements));
  return status_set_elements(status, type, count);
}

FUNCTION(TWIN(Type_size), (MPI_Datatype type, Count *size)) {
  CALL(NAMED(Type_size));
  *OUT(size) = told((MPI_Count)type_get(type)->size);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Type_get_extent), (MPI_Datatype type, Far *lb, Far *extent)) {
  CALL(NAMED(Type_get_extent));
  const struct type *of = type_get(type);
  *OUT(lb) = of->lb;
  *OUT(extent) = of->extent;
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Type_get_true_extent), (MPI_Datatype type, Far *lb, Far *extent)) {
  CALL(NAMED(Type_get_true_extent));
  ptrdiff_t low, high;
  type_reach(type_get(type), 1, &low, &high);
  *OUT(lb) = low;
  *OUT(extent) = high - low;
  return MPI_SUCCESS;
}

static size_t bytes_of(Count count, const struct type *of) {
  check_count(count);
  if (of->size > 0 && (size_t)count > PTRDIFF_MAX / of->size) fail("invalid count", "%ld elements do not fit into memory", (long)count);
  return (size_t)count * of->size;
}

/* Packs behind `*position`; returns the new position. */
static MPI_Count pack_at(const void *in, Count count, MPI_Datatype type, void *out, MPI_Count size, MPI_Count position) {
  const struct type *of = type_for(type, "datatype");
  size_t length = bytes_of(count, of);
  memory_use_values(in, (size_t)count, of, READS, "the input buffer");
  if (position < 0 || position > size || length > (size_t)(size - position))
    fail("truncation", "%zu bytes do not fit behind byte %ld of %ld", length, (long)position, (long)size);
  struct bytes packed = {0};
  pack(&packed, in, (size_t)count, of);
  if (length > 0) memcpy(memory_use((char *)out + position, length, WRITES, "the output buffer"), packed.at, length);
  release(packed.at);
  return position + (MPI_Count)length;
}

static MPI_Count unpack_at(const void *in, MPI_Count size, MPI_Count position, void *out, Count count, MPI_Datatype type) {
  const struct type *of = type_for(type, "datatype");
  size_t length = bytes_of(count, of);
  memory_use_values(out, (size_t)count, of, WRITES, "the output buffer");
  if (position < 0 || position > size || length > (size_t)(size - position))
    fail("truncation", "there are no %zu bytes from byte %ld on of %ld", length, (long)position, (long)size);
  if (length > 0) unpack(out, memory_use((const uint8_t *)in + position, length, READS, "the input buffer"), length, of);
  return position + (MPI_Count)length;
}

FUNCTION(TWIN(Pack_size), (Count count, MPI_Datatype type, MPI_Comm comm, Count *size)) {
  CALL(NAMED(Pack_size));
  comm_get(comm);
  *OUT(size) = told((MPI_Count)bytes_of(count, type_get(type)));
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Pack), (const void *in, Count count, MPI_Datatype type, void *out, Count size, Count *position, MPI_Comm comm)) {
  CALL(NAMED(Pack));
  comm_get(comm);
  *OUT(position) = (Count)pack_at(in, count, type, out, size, *OUT(position));
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Unpack), (const void *in, Count size, Count *position, void *out, Count count, MPI_Datatype type, MPI_Comm comm)) {
  CALL(NAMED(Unpack));
  comm_get(comm);
  *OUT(position) = (Count)unpack_at(in, size, *OUT(position), out, count, type);
  return MPI_SUCCESS;
}
