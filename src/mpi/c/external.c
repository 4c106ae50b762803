/* Packing in the representation "external32" (MPI 4.1, 5.3). */
#include "represent.h"
#include "twins.h"

static void check_form(const char *form) {
  if (strcmp(text_in(form, "the representation"), "external32") != 0)
    fail("invalid argument", "%s is no representation that data is packed in", form);
}

FUNCTION(TWIN(Pack_external_size), (const char *form, Count count, MPI_Datatype type, Far *size)) {
  CALL(NAMED(Pack_external_size));
  check_form(form);
  *OUT(size) = (Far)external_bytes(count, type_for(type, "datatype"));
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Pack_external), (const char *form, const void *in, Count count, MPI_Datatype type, void *out, Far size, Far *position)) {
  CALL(NAMED(Pack_external));
  check_form(form);
  const struct type *of = type_for(type, "datatype");
  size_t length = external_bytes(count, of);
  memory_use_values(in, (size_t)count, of, READS, "the input buffer");
  Far from = *OUT(position);
  if (from < 0 || from > size || length > (size_t)(size - from))
    fail("truncation", "%zu bytes do not fit behind byte %ld of %ld", length, (long)from, (long)size);
  if (length > 0) external_convert((char *)in, memory_use((char *)out + from, length, WRITES, "the output buffer"), (size_t)count, of, true);
  *position = from + (Far)length;
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Unpack_external), (const char *form, const void *in, Far size, Far *position, void *out, Count count, MPI_Datatype type)) {
  CALL(NAMED(Unpack_external));
  check_form(form);
  const struct type *of = type_for(type, "datatype");
  size_t length = external_bytes(count, of);
  memory_use_values(out, (size_t)count, of, WRITES, "the output buffer");
  Far from = *OUT(position);
  if (from < 0 || from > size || length > (size_t)(size - from))
    fail("truncation", "there are no %zu bytes from byte %ld on of %ld", length, (long)from, (long)size);
  if (length > 0) external_convert(out, memory_use((char *)in + from, length, READS, "the input buffer"), (size_t)count, of, false);
  *position = from + (Far)length;
  return MPI_SUCCESS;
}
