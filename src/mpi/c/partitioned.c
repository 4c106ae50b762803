/* Partitioned communication (MPI 4.1, chapter 4): a send whose partitions the program marks as ready,
 * one by one, and a receive whose partitions it asks for.
 *
 * Each partition is a message of its own, and has its number as tag. Calls of MPI_Psend_init and
 * MPI_Precv_init match in their order, for each pair of ranks and tag, and not with other messages.
 * So each pair of them has a channel of its own: a communicator with a name that both ranks know.
 * Sender and receiver must have the same number of partitions: others are refused when a partition
 * comes that has not the size of one. */
#include "p2p.h"
#include "partitioned.h"

struct partitions {
  bool is_send;
  int count;
  MPI_Request *part;
  bool *is_ready; /* of a send: since the start */
};

static struct comm *channel_of(const struct comm *in, bool is_send, int peer, int tag) {
  int from = is_send ? in->rank : peer, to = is_send ? peer : in->rank;
  char *name = text_of("%s/partitioned %d, %d>%d", in->name, tag, from, to);
  /* A rank may be both ends of it. */
  char *end = text_of("%s %s", name, is_send ? "send" : "receive");
  struct comm *made = allocate(sizeof *made);
  *made = *in;
  made->name = text_of("%s/%u", name, times_made(end));
  release(name);
  release(end);
  return made;
}

MPI_Request partitioned_init(char what, const void *buf, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag,
                             MPI_Comm comm) {
  if (partitions < 1) fail("invalid argument", "%d partitions", partitions);
  if (peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) fail("invalid argument", "a partitioned receive names its source and its tag");
  if (tag < 0) fail("invalid tag", "the tag is %d", tag);
  if (comm_get(comm)->remote) fail("unsupported", "partitioned communication between two groups is not modelled");
  struct comm *channel = channel_of(comm_get(comm), what == 's', peer, tag);
  MPI_Request handle = request_new('p');
  struct partitions *made = allocate(sizeof *made);
  *made = (struct partitions){what == 's', partitions, allocate((size_t)partitions * sizeof *made->part),
                              allocate((size_t)partitions * sizeof *made->is_ready)};
  ptrdiff_t apart = count * type_for(type, "datatype")->extent;
  for (int i = 0; i < partitions; i++) {
    made->part[i] = message_new(what, buf ? (const char *)buf + i * apart : NULL, count, type, peer, i, channel, STANDARD);
    request_get(made->part[i])->is_partition = what == 'r';
  }
  struct request *request = request_get(handle);
  request->partitions = made;
  request->is_persistent = true;
  request->is_started = false;
  request->state = INACTIVE;
  return handle;
}

/* A receive begins with all its partitions, a send with none. */
void partitioned_start(struct request *request) {
  struct partitions *of = request->partitions;
  request->state = ACTIVE;
  request->is_started = true;
  for (int i = 0; i < of->count; i++) {
    of->is_ready[i] = false;
    request_get(of->part[i])->state = INACTIVE;
    if (!of->is_send) message_start(request_get(of->part[i]));
  }
}

bool partitioned_is_over(struct request *request) {
  const struct partitions *of = request->partitions;
  for (int i = 0; i < of->count; i++)
    if (!request_is_ready(request_get(of->part[i]))) return false;
  return true;
}

struct request *partitioned_next(struct request *request) {
  const struct partitions *of = request->partitions;
  for (int i = 0; i < of->count; i++)
    if (request_get(of->part[i])->state == ACTIVE) return request_get(of->part[i]);
  return NULL;
}

static struct partitions *partitions_of(MPI_Request handle, bool is_send) {
  if (handle == MPI_REQUEST_NULL) fail("invalid request", "the request is MPI_REQUEST_NULL");
  struct request *request = request_get(handle);
  if (!request->partitions || request->partitions->is_send != is_send)
    fail("invalid request", "the request of %s is no partitioned %s", request->name, is_send ? "send" : "receive");
  return request->partitions;
}

static void check_partition(const struct partitions *of, int partition) {
  if (partition < 0 || partition >= of->count) fail("invalid argument", "partition %d of %d", partition, of->count);
}

static void mark_ready(MPI_Request handle, int partition) {
  struct partitions *of = partitions_of(handle, true);
  check_partition(of, partition);
  if (request_get(handle)->state != ACTIVE)
    fail("invalid request", "the request made at {@%lx} is not active", request_get(handle)->object.made_at);
  if (of->is_ready[partition]) fail("invalid argument", "partition %d is ready already", partition);
  of->is_ready[partition] = true;
  struct request *part = request_get(of->part[partition]);
  part->object.made_at = call.site;
  part->name = call.name;
  message_start(part);
}

FUNCTION(Pready, (int partition, MPI_Request request)) {
  CALL("MPI_Pready");
  mark_ready(request, partition);
  return MPI_SUCCESS;
}

FUNCTION(Pready_range, (int from, int to, MPI_Request request)) {
  CALL("MPI_Pready_range");
  if (from > to) fail("invalid argument", "partitions from %d to %d", from, to);
  for (int i = from; i <= to; i++) mark_ready(request, i);
  return MPI_SUCCESS;
}

FUNCTION(Pready_list, (int length, const int partitions[], MPI_Request request)) {
  CALL("MPI_Pready_list");
  check_count(length);
  INS(partitions, length);
  for (int i = 0; i < length; i++) mark_ready(request, partitions[i]);
  return MPI_SUCCESS;
}

/* Of a request that is not active, all have arrived. */
FUNCTION(Parrived, (MPI_Request request, int partition, int *flag)) {
  CALL("MPI_Parrived");
  *OUT(flag) = 0;
  const struct partitions *of = partitions_of(request, false);
  check_partition(of, partition);
  *flag = request_get(request)->state != ACTIVE || request_any('T', 1, &of->part[partition]) != -1;
  return MPI_SUCCESS;
}
