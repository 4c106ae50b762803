/* The space for buffered sends. It belongs to MPI as long as it is attached. */
#include "p2p.h"

static struct {
  void *at;
  size_t size;
  uint32_t owned;
} buffer;

/* Earlier buffered messages may have been received; how much more space is needed depends on the
 * implementation. */
void buffer_check(size_t needed) {
  if (!buffer.at || needed > buffer.size)
    fail("invalid buffer", "a buffered send needs %zu bytes, but %zu are attached", needed, buffer.size);
}

void buffer_attach(void *at, MPI_Count size) {
  if (buffer.at) fail("invalid buffer", "a buffer is attached already");
  if (size < 0) fail("invalid argument", "the size is %ld", (long)size);
  memory_use(at, (size_t)size, WRITES, "the buffer");
  buffer.at = at;
  buffer.size = (size_t)size;
  buffer.owned = memory_own(at, buffer.size, type_get(MPI_BYTE), READS | WRITES);
}

/* From then on the buffer belongs to the program, which may use it for the answer. */
MPI_Count buffer_detach(void *at) {
  memory_release(buffer.owned);
  MPI_Count size = (MPI_Count)buffer.size;
  *OUT((void **)at) = buffer.at;
  buffer.at = NULL;
  buffer.size = 0;
  return size;
}
