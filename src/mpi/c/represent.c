/* The representation "external32": big-endian, with sizes that do not depend on the machine (MPI
 * 4.1, 14.5.2). */
#include "represent.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "external32 is written for little-endian machines"
#endif

size_t external_size(uint32_t basic) {
  switch (basic + 0x200) {
    case (uintptr_t)MPI_LONG: case (uintptr_t)MPI_UNSIGNED_LONG: return 4;
    case (uintptr_t)MPI_WCHAR: return 2;
    case (uintptr_t)MPI_PACKED: case (uintptr_t)MPI_LONG_DOUBLE: case (uintptr_t)MPI_C_LONG_DOUBLE_COMPLEX:
    case (uintptr_t)MPI_CXX_LONG_DOUBLE_COMPLEX: case (uintptr_t)MPI_REAL16: case (uintptr_t)MPI_COMPLEX32:
      fail("unsupported", "%s is not converted to \"external32\"", basic_name(basic));
    default: return basic_size(basic);
  }
}

/* The number of equal parts of a value whose bytes are turned round. */
static size_t parts_of(uint32_t basic) {
  switch (basic + 0x200) {
    case (uintptr_t)MPI_C_FLOAT_COMPLEX: case (uintptr_t)MPI_CXX_FLOAT_COMPLEX: case (uintptr_t)MPI_C_DOUBLE_COMPLEX:
    case (uintptr_t)MPI_CXX_DOUBLE_COMPLEX: case (uintptr_t)MPI_COMPLEX: case (uintptr_t)MPI_DOUBLE_COMPLEX:
    case (uintptr_t)MPI_COMPLEX4: case (uintptr_t)MPI_COMPLEX8: case (uintptr_t)MPI_COMPLEX16:
      return 2;
    default: return 1;
  }
}

static bool is_signed(uint32_t basic) { return basic + 0x200 == (uintptr_t)MPI_LONG; }

/* Copies a part of a value and turns its bytes round. A longer one gets its sign, or zeros, in front;
 * of a longer one the front is left out. */
static void turn(uint8_t *to, size_t to_size, const uint8_t *from, size_t from_size, bool is_external, bool has_sign) {
  const uint8_t *last = is_external ? from : from + from_size - 1; /* the most significant byte */
  uint8_t fill = has_sign && (*last & 0x80) ? 0xff : 0;
  for (size_t i = 0; i < to_size; i++) {
    size_t there = is_external ? i : to_size - 1 - i;         /* where byte i from the least significant one goes */
    size_t here = is_external ? from_size - 1 - i : i;
    to[there] = i < from_size ? from[here] : fill;
  }
}

size_t external_convert(char *memory, uint8_t *external, size_t count, const struct type *type, bool is_out) {
  uint8_t *at = external;
  for (size_t i = 0; i < count; i++)
    for (size_t p = 0; p < type->pieces; p++) {
      const struct piece *piece = &type->piece[p];
      size_t parts = parts_of(piece->run.basic), size = basic_size(piece->run.basic) / parts;
      size_t outside = external_size(piece->run.basic) / parts;
      uint8_t *value = (uint8_t *)memory + (ptrdiff_t)i * type->extent + piece->at;
      for (uint64_t v = 0; v < piece->run.count * parts; v++, value += size, at += outside) {
        if (is_out) turn(at, outside, value, size, false, false);
        else turn(value, size, at, outside, true, is_signed(piece->run.basic));
      }
    }
  return (size_t)(at - external);
}

size_t external_bytes(MPI_Count count, const struct type *type) {
  check_count(count);
  size_t bytes = 0;
  for (size_t p = 0; p < type->pieces; p++) bytes += type->piece[p].run.count * external_size(type->piece[p].run.basic);
  if (bytes > 0 && (size_t)count > PTRDIFF_MAX / bytes) fail("invalid count", "%ld elements do not fit into memory", (long)count);
  return (size_t)count * bytes;
}

void external_check(const struct type *type) {
  for (size_t p = 0; p < type->pieces; p++) {
    uint32_t basic = type->piece[p].run.basic;
    if (external_size(basic) != basic_size(basic))
      fail("unsupported", "a file with %s in \"external32\", where it has another size, is not modelled", basic_name(basic));
  }
}

void external_turn(uint8_t *packed, size_t length, const struct type *type) {
  for (size_t done = 0; done < length;)
    for (size_t p = 0; p < type->pieces; p++) {
      size_t parts = parts_of(type->piece[p].run.basic), size = basic_size(type->piece[p].run.basic) / parts;
      for (uint64_t v = 0; v < type->piece[p].run.count * parts && done + size <= length; v++, done += size)
        for (size_t i = 0; i < size / 2; i++) {
          uint8_t front = packed[done + i];
          packed[done + i] = packed[done + size - 1 - i];
          packed[done + size - 1 - i] = front;
        }
    }
}
