/* The space for buffered sends: of a communicator, of the session that it belongs to, or of all. It
 * belongs to MPI as long as it is attached. */
#include "p2p.h"

struct buffer {
  const struct object *of; /* NULL: of all communicators */
  void *at;
  size_t size;
  uint32_t owned;
};
static struct buffer *buffers;
static size_t count_of_buffers;

static struct buffer *find(const struct object *of) {
  for (size_t i = 0; i < count_of_buffers; i++)
    if (buffers[i].of == of) return &buffers[i];
  return NULL;
}

/* Earlier buffered messages may have been received; how much more space is needed depends on the
 * implementation. */
void buffer_check(const struct comm *comm, size_t needed) {
  const struct buffer *space = find(&comm->object);
  if (!space && comm->session) space = find(comm->session);
  if (!space) space = find(NULL);
  if (space && space->at == MPI_BUFFER_AUTOMATIC) return;
  size_t room = space ? space->size : 0;
  if (!space || needed > room) fail("invalid buffer", "a buffered send needs %zu bytes, but %zu are attached", needed, room);
}

void buffer_attach(const struct object *to, void *at, MPI_Count size) {
  if (find(to)) fail("invalid buffer", "a buffer is attached already");
  if (size < 0) fail("invalid argument", "the size is %ld", (long)size);
  struct buffer made = {to, at, (size_t)size, 0};
  if (at == MPI_BUFFER_AUTOMATIC) {
    made.size = 0;
  } else {
    memory_use(at, made.size, WRITES, "the buffer");
    made.owned = memory_own(at, made.size, type_get(MPI_BYTE), READS | WRITES);
  }
  buffers = grow(buffers, (count_of_buffers + 1) * sizeof *buffers);
  buffers[count_of_buffers++] = made;
}

/* From then on the buffer belongs to the program, which may use it for the answer. */
MPI_Count buffer_detach(const struct object *from, void *at) {
  struct buffer *space = find(from);
  struct buffer was = space ? *space : (struct buffer){0};
  memory_release(was.owned);
  *OUT((void **)at) = was.at;
  if (space) *space = buffers[--count_of_buffers];
  return (MPI_Count)was.size;
}
