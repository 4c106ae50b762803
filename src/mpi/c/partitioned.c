/* Partitioned communication (MPI 4.1, chapter 4): a send whose partitions the program marks as ready,
 * one by one, and a receive whose partitions it asks for.
 *
 * Calls of MPI_Psend_init and MPI_Precv_init match in their order, for each pair of ranks and tag,
 * and not with other messages. So each pair of them has a channel of its own: a communicator with a
 * name that both ranks know.
 *
 * Each partition of a send is a message of its own, with its number as tag, counted from 1. Before
 * the first one in each round, a *plan* is sent with tag 0: how many partitions there are, and how
 * large they are. The send is complete as a standard send of the plan is: so it may have to wait
 * until the receive has begun. The receiver may have another number of partitions. When it knows the
 * plan, it receives the partitions of the sender, and one of its own has arrived when all of the
 * sender's have that share a byte with it. */
#include "p2p.h"
#include "partitioned.h"

struct partitions {
  bool is_send;
  int count;         /* of this side's partitions */
  size_t size;       /* of each, in bytes */
  int messages;      /* the number of the sender's partitions; of a receive 0, until it knows */
  MPI_Request *part; /* a request for each of these */
  bool *is_ready;    /* of a send: since the start */
  int64_t planned[2]; /* the sender's plan */
  MPI_Request plan;
  bool is_planned;    /* whether the plan was sent in this round */
  /* the arguments */
  void *buffer;
  MPI_Count each;
  struct type *type;
  int peer;
  struct comm *channel;
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

/* A request that belongs to another one. */
static MPI_Request hidden(const void *buffer, MPI_Count count, MPI_Datatype type, const struct partitions *of, int tag) {
  enum mode mode = tag == 0 ? STANDARD : EARLY;
  MPI_Request made = message_new(of->is_send ? 's' : 'r', buffer, count, type, of->peer, tag, of->channel, mode);
  request_get(made)->object.is_predefined = true;
  return made;
}

/* Makes the requests for the messages, if they are this side's partitions. */
static void make_parts(struct partitions *of, MPI_Datatype type) {
  ptrdiff_t apart = of->each * of->type->extent;
  of->messages = of->count;
  of->part = allocate((size_t)of->count * sizeof *of->part);
  for (int i = 0; i < of->count; i++)
    of->part[i] = hidden(of->buffer ? (char *)of->buffer + i * apart : NULL, of->each, type, of, i + 1);
}

MPI_Request partitioned_init(char what, const void *buf, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag,
                             MPI_Comm comm) {
  if (partitions < 1) fail("invalid argument", "%d partitions", partitions);
  if (peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) fail("invalid argument", "a partitioned receive names its source and its tag");
  if (tag < 0) fail("invalid tag", "the tag is %d", tag);
  if (comm_get(comm)->remote) fail("unsupported", "partitioned communication between two groups is not modelled");
  check_count(count);
  MPI_Request handle = request_new('p');
  struct partitions *made = allocate(sizeof *made);
  struct type *of = type_for(type, "datatype");
  *made = (struct partitions){.is_send = what == 's', .count = partitions, .size = (size_t)count * of->size,
                              .buffer = (void *)buf, .each = count, .type = of, .peer = peer,
                              .channel = channel_of(comm_get(comm), what == 's', peer, tag)};
  make_parts(made, type);
  made->is_ready = allocate((size_t)partitions * sizeof *made->is_ready);
  if (made->is_send) made->planned[0] = partitions, made->planned[1] = (int64_t)made->size;
  made->plan = hidden(made->planned, 2, MPI_INT64_T, made, 0);
  if (!made->is_send && peer != MPI_PROC_NULL) made->messages = 0;
  struct request *request = request_get(handle);
  request->partitions = made;
  request->is_persistent = true;
  request->is_started = false;
  request->state = INACTIVE;
  return handle;
}

/* Appends values of a basic type at an offset. */
static void append(struct type *to, ptrdiff_t at, uint32_t basic, size_t count) {
  struct piece *last = to->pieces > 0 ? &to->piece[to->pieces - 1] : NULL;
  if (last && last->run.basic == basic && last->at + (ptrdiff_t)(last->run.count * basic_size(basic)) == at) {
    last->run.count += count;
    return;
  }
  to->piece = grow(to->piece, (to->pieces + 1) * sizeof *to->piece);
  to->piece[to->pieces++] = (struct piece){at, {basic, count}};
}

/* Some bytes of the data of many elements, as one element of a new type. */
static MPI_Datatype some_of(const struct type *type, size_t from, size_t to) {
  struct type *made = type_new();
  made->title = type->title;
  made->element = type->element;
  made->size = to - from;
  made->is_committed = made->object.is_predefined = true;
  for (size_t i = from / type->size, at = i * type->size; at < to; i++)
    for (size_t p = 0; p < type->pieces; p++) {
      const struct piece *piece = &type->piece[p];
      size_t unit = basic_size(piece->run.basic), behind = at + piece->run.count * unit;
      size_t first = at > from ? at : from, last = behind < to ? behind : to;
      if (first < last) {
        if ((first - at) % unit || (last - at) % unit) fail("unsupported", "a partition of the sender ends within a value of the receiver");
        append(made, (ptrdiff_t)i * type->extent + piece->at + (ptrdiff_t)(first - at), piece->run.basic, (last - first) / unit);
      }
      at = behind;
    }
  MPI_Datatype handle;
  type_done(made, &handle);
  return handle;
}

/* A receive learns the plan of the sender. */
static void learn_plan(struct partitions *of) {
  int messages = (int)of->planned[0];
  size_t size = (size_t)of->planned[1], all = (size_t)of->count * of->size;
  if ((size_t)messages * size != all)
    fail("count mismatch", "%d partitions of %zu bytes are sent, but %d of %zu are received", messages, size, of->count, of->size);
  of->messages = messages;
  if (messages == of->count) return;
  of->part = allocate((size_t)messages * sizeof *of->part);
  for (int i = 0; i < messages; i++) {
    MPI_Datatype type = size > 0 ? some_of(of->type, (size_t)i * size, ((size_t)i + 1) * size) : MPI_BYTE;
    of->part[i] = hidden(of->buffer, size > 0, type, of, i + 1);
  }
}

static void receive_parts(const struct partitions *of) {
  for (int i = 0; i < of->messages; i++) message_start(request_get(of->part[i]));
}

/* Begins the next round. A send begins with the first partition that is ready. The first round of a
 * receive begins with the plan, and it has its whole buffer until it knows the messages. In later
 * rounds these are the same, and nothing waits for the plan: it may still come when the round is
 * over. */
void partitioned_start(struct request *request) {
  struct partitions *of = request->partitions;
  request->state = ACTIVE;
  request->is_started = true;
  of->is_planned = false;
  for (int i = 0; i < of->count; i++) of->is_ready[i] = false;
  for (int i = 0; i < of->messages; i++) request_get(of->part[i])->state = INACTIVE;
  if (of->is_send) return;
  struct request *plan = request_get(of->plan);
  memory_release(plan->owned);
  message_start(plan);
  receive_parts(of);
  if (of->messages == 0)
    request->owned = memory_own(of->buffer, (size_t)of->count * (size_t)of->each, of->type, READS | WRITES);
}

/* Whether a receive knows its messages. Then it receives them. */
static bool has_plan(struct request *request) {
  struct partitions *of = request->partitions;
  if (of->messages > 0) return true;
  if (!request_is_ready(request_get(of->plan))) return false;
  memory_release(request->owned);
  request->owned = 0;
  learn_plan(of);
  receive_parts(of);
  return true;
}

bool partitioned_is_over(struct request *request) {
  const struct partitions *of = request->partitions;
  for (int i = 0; i < of->count && of->is_send; i++)
    if (!of->is_ready[i]) return false;
  if (of->is_send ? !request_is_ready(request_get(of->plan)) : !has_plan(request)) return false;
  for (int i = 0; i < of->messages; i++)
    if (!request_is_ready(request_get(of->part[i]))) return false;
  return true;
}

struct request *partitioned_next(struct request *request) {
  const struct partitions *of = request->partitions;
  struct request *plan = request_get(of->plan);
  for (int i = 0; i < of->messages && !of->is_send; i++)
    if (request_get(of->part[i])->state == ACTIVE) return request_get(of->part[i]);
  bool is_awaited = of->is_send || of->messages == 0;
  return is_awaited && plan->state == ACTIVE && !request_is_ready(plan) ? plan : NULL;
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
  if (!of->is_planned) message_start(request_get(of->plan));
  of->is_planned = true;
  struct request *part = request_get(of->part[partition]);
  part->object.made_at = call.site;
  part->name = call.name;
  message_start(part);
  /* It is over when the plan is. */
  part->is_posted = false;
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

/* Whether polls find that a partition of the receiver has arrived. */
static bool has_arrived(struct request *request, size_t partition) {
  const struct partitions *of = request->partitions;
  if (of->messages == 0 && !request_all(1, &of->plan)) return false;
  has_plan(request);
  size_t size = (size_t)of->count * of->size / (size_t)of->messages, from = partition * of->size, to = from + of->size;
  if (size == 0 || of->size == 0) from = to = 0;
  size_t first = from == to ? 0 : from / size, behind = from == to ? 0 : (to + size - 1) / size;
  return request_all((int)(behind - first), of->part + first);
}

/* Of a request that is not active, all have arrived. */
FUNCTION(Parrived, (MPI_Request request, int partition, int *flag)) {
  CALL("MPI_Parrived");
  *OUT(flag) = 0;
  check_partition(partitions_of(request, false), partition);
  *flag = request_get(request)->state != ACTIVE || has_arrived(request_get(request), (size_t)partition);
  return MPI_SUCCESS;
}
