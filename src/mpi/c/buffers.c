/* The space for buffered sends: of a communicator, of the session that it belongs to, or of all. It
 * belongs to MPI as long as it is attached. A buffered send is complete at once, but its message
 * leaves the buffer as a standard send completes: perhaps only when it is received. */
#include "p2p.h"
#include "sessions.h"

struct buffer {
  const struct object *of; /* NULL: of all communicators */
  void *at;
  size_t size;
  uint32_t owned;
  size_t length;
  struct request **kept; /* messages that may still be here */
};
static struct buffer *buffers;
static size_t count_of_buffers;

static struct buffer *find(const struct object *of) {
  for (size_t i = 0; i < count_of_buffers; i++)
    if (buffers[i].of == of) return &buffers[i];
  return NULL;
}

static struct buffer *find_for(const struct comm *comm) {
  struct buffer *space = find(&comm->object);
  if (!space && comm->session) space = find(comm->session);
  return space ? space : find(NULL);
}

/* Earlier buffered messages may have been received; how much more space is needed depends on the
 * implementation. */
void buffer_check(const struct comm *comm, size_t needed) {
  const struct buffer *space = find_for(comm);
  if (space && space->at == MPI_BUFFER_AUTOMATIC) return;
  size_t room = space ? space->size : 0;
  if (!space || needed > room) fail("invalid buffer", "a buffered send needs %zu bytes, but %zu are attached", needed, room);
}

void buffer_attach(const struct object *to, void *at, MPI_Count size) {
  if (find(to)) fail("invalid buffer", "a buffer is attached already");
  if (size < 0) fail("invalid argument", "the size is %ld", (long)size);
  struct buffer made = {.of = to, .at = at, .size = (size_t)size};
  if (at == MPI_BUFFER_AUTOMATIC) {
    made.size = 0;
  } else {
    memory_use(at, made.size, WRITES, "the buffer");
    made.owned = memory_own(at, made.size, type_get(MPI_BYTE), READS | WRITES);
  }
  buffers = grow(buffers, (count_of_buffers + 1) * sizeof *buffers);
  buffers[count_of_buffers++] = made;
}

void buffer_keep(const struct request *sent) {
  struct buffer *space = find_for(sent->comm);
  struct request *kept = allocate(sizeof *kept);
  *kept = (struct request){.object = sent->object, .what = 's', .state = ACTIVE, .is_posted = true, .posted = sent->posted, .name = sent->name};
  space->kept = grow(space->kept, (space->length + 1) * sizeof *space->kept);
  space->kept[space->length++] = kept;
}

/* A request that is over when all that is in the buffer now has left it. */
static MPI_Request flush(const struct object *of) {
  MPI_Request handle = request_new('f');
  struct request *made = request_get(handle);
  struct buffer *space = find(of);
  if (!space) return handle;
  made->part = allocate((space->length + 1) * sizeof *made->part);
  size_t left = 0;
  for (size_t i = 0; i < space->length; i++)
    if (space->kept[i]->state == ACTIVE) made->part[made->parts++] = space->kept[left++] = space->kept[i];
  space->length = left;
  return handle;
}

/* From then on the buffer belongs to the program, which may use it for the answer. */
MPI_Count buffer_detach(const struct object *from, void *at) {
  MPI_Request all = flush(from);
  request_wait(&all, NULL);
  struct buffer *space = find(from);
  struct buffer was = space ? *space : (struct buffer){0};
  memory_release(was.owned);
  *OUT((void **)at) = was.at;
  if (space) *space = buffers[--count_of_buffers];
  return (MPI_Count)was.size;
}

#define FLUSH(name, iname, parameters, and, object)                  \
  FUNCTION(name, (parameters)) {                                     \
    CALL("MPI_" #name);                                              \
    MPI_Request all = flush(object);                                 \
    request_wait(&all, NULL);                                        \
    return MPI_SUCCESS;                                              \
  }                                                                  \
  FUNCTION(iname, (and MPI_Request *request)) {                      \
    CALL("MPI_" #iname);                                             \
    OUT(request);                                                    \
    *request = flush(object);                                        \
    return MPI_SUCCESS;                                              \
  }
#define ARGUMENTS(...) __VA_ARGS__
FLUSH(Buffer_flush, Buffer_iflush, void, , NULL)
FLUSH(Comm_flush_buffer, Comm_iflush_buffer, MPI_Comm comm, ARGUMENTS(MPI_Comm comm, ), &comm_get(comm)->object)
FLUSH(Session_flush_buffer, Session_iflush_buffer, MPI_Session session, ARGUMENTS(MPI_Session session, ), session_get(session))
