/* Point to point: sends, receives, probes.
 *
 * A message consists of the place of its send (the address of the call), the sender and the tag,
 * its signature, and its data. */
#include "p2p.h"
#include "partitioned.h"

static void check_peer(const struct comm *comm, int rank, bool may_be_any, const char *parameter) {
  if (rank == MPI_PROC_NULL || (may_be_any && rank == MPI_ANY_SOURCE)) return;
  int size = comm_peers(comm)->size;
  const char *which = comm->remote ? " in the other group" : "";
  if (rank < 0 || rank >= size)
    fail("invalid rank", "the %s is %d, but %s has %d ranks%s", parameter, rank, comm->title, size, which);
}

static void check_tag(int tag, bool may_be_any) {
  if (tag < 0 && !(may_be_any && tag == MPI_ANY_TAG)) fail("invalid tag", "the tag is %d", tag);
}

/* Checks the arguments, and makes a request that is not started. */
MPI_Request message_new(char what, const void *buffer, MPI_Count count, MPI_Datatype type, int peer, int tag,
                        struct comm *in, enum mode mode) {
  check_count(count);
  struct type *of = type_for(type, "datatype");
  check_buffer(buffer, (size_t)count, of, "the buffer");
  check_memory(buffer, buffer, (size_t)count, of, "the buffer");
  check_peer(in, peer, what == 'r', what == 'r' ? "source" : "destination");
  check_tag(tag, what == 'r');
  MPI_Request handle = request_new(what);
  struct request *made = request_get(handle);
  made->state = INACTIVE;
  made->buffer = (void *)buffer;
  made->count = (size_t)count;
  made->type = of;
  made->comm = in;
  made->peer = peer;
  made->tag = tag;
  made->mode = mode;
  return handle;
}

MPI_Request message_prepare(char what, const void *buffer, MPI_Count count, MPI_Datatype type, int peer, int tag,
                            MPI_Comm comm, enum mode mode) {
  return message_new(what, buffer, count, type, peer, tag, comm_get(comm), mode);
}

/* Of a buffered send, the program only waits when it empties the buffer: as for a standard one. */
static uint8_t on_wire(enum mode mode) { return mode == BUFFERED ? 0 : mode == EARLY ? 2 : (uint8_t)mode; }

static void start_send(struct request *request) {
  thread_sends(request->comm, request->peer);
  windows_publish();
  request->owned = memory_own(request->buffer, request->count, request->type, READS);
  struct bytes message = {0};
  put_site(&message, request->object.made_at);
  put_i32(&message, request->comm->rank);
  put_i32(&message, request->tag);
  put_data(&message, request->buffer, request->count, request->type);
  clock_put(&message);
  if (request->mode == BUFFERED) buffer_check(request->comm, request->count * request->type->size);
  struct bytes *to = question('S');
  put_text(to, request->comm->name);
  put_i32(to, comm_place_of(request->comm, request->peer));
  put_u32(to, (uint32_t)comm_peers(request->comm)->ranks[request->peer]);
  put_i32(to, comm_place(request->comm));
  put_i32(to, request->tag);
  put_u8(to, on_wire(request->mode));
  struct summary shown = {0};
  summary_add(&shown, request->buffer, request->count, request->type);
  summary_put(to, &shown);
  put_block(to, message.at, message.length);
  release(message.at);
  request->posted = ask_posted();
  if (request->mode != BUFFERED) return;
  buffer_keep(request);
  request->is_posted = false;
}

/* Gives the memory of a receive to its request. */
static void own_receive(struct request *request) {
  request->owned = memory_own(request->buffer, request->count, request->type, READS | WRITES);
  if (memory_overlaps(request->owned)) fail("invalid datatype", "what is received goes to the same memory twice");
}

static int source_place(const struct comm *comm, int source) {
  return source == MPI_ANY_SOURCE ? source : comm_place_of(comm, source);
}

static void start_receive(struct request *request) {
  thread_receives(request->comm, request->tag);
  own_receive(request);
  struct bytes *to = question('R');
  put_text(to, request->comm->name);
  put_i32(to, comm_place(request->comm));
  put_i32(to, source_place(request->comm, request->peer));
  put_i32(to, request->tag);
  request->posted = ask_posted();
}

void message_start(struct request *request) {
  request->state = ACTIVE;
  request->is_started = true;
  request->is_posted = request->peer != MPI_PROC_NULL;
  request->is_cancelled = request->wants_cancel = false;
  if (!request->is_posted)
    status_set(&request->status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  else if (request->what == 's')
    start_send(request);
  else
    start_receive(request);
}

void receive_end(struct request *request, struct reader *value) {
  if (!request->is_posted) return;
  memory_learn();
  struct reader message = (take_u8(value), take_block(value));
  uintptr_t site = take_u64(&message);
  int source = take_i32(&message), tag = take_i32(&message);
  char who[64];
  snprintf(who, sizeof who, "rank %d", source);
  size_t bytes = take_data(&message, request->buffer, request->count, request->type, who, site,
                           request->object.made_at);
  status_set(&request->status, source, tag, bytes);
  clock_join(&message);
  windows_pull();
}

/* Starts a persistent request. */
static void start_again(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL) fail("invalid request", "the request is MPI_REQUEST_NULL");
  struct request *request = request_get(handle);
  if (!request->is_persistent) fail("invalid request", "the request of %s is not persistent", request->name);
  if (request->state != INACTIVE)
    fail("invalid request", "the request made at {@%lx} is active already", request->object.made_at);
  if (request->what == 'p') return partitioned_start(request);
  if (request->what != 'c') return message_start(request);
  request->state = ACTIVE;
  request->is_started = true;
  collective_start(request);
}

FUNCTION(Start, (MPI_Request *request)) {
  CALL("MPI_Start");
  start_again(*INS(request, 1));
  return MPI_SUCCESS;
}

FUNCTION(Startall, (int count, MPI_Request requests[])) {
  CALL("MPI_Startall");
  check_count(count);
  if (count > 0) INS(requests, count);
  for (int i = 0; i < count; i++) start_again(requests[i]);
  return MPI_SUCCESS;
}

/* A message that a probe has matched and reserved. A send may wait until its receive begins (MPI
 * 4.1, 3.8.2). */
struct message {
  struct object object;
  struct request request;
};

/* Looks for a message; returns false if there is none. If the form takes messages, the message goes
 * to `taken`. */
static bool probe(char form, int source, int tag, MPI_Comm comm, MPI_Status *status, struct request *taken) {
  struct comm *in = comm_get(comm);
  if (status) status_clear(OUT(status));
  check_peer(in, source, true, "source");
  check_tag(tag, true);
  if (source == MPI_PROC_NULL) {
    if (status) status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    if (taken) taken->peer = MPI_PROC_NULL;
    return true;
  }
  struct bytes *to = question('P');
  size_t arguments = to->length;
  put_text(to, in->name);
  put_i32(to, comm_place(in));
  put_i32(to, source_place(in, source));
  put_i32(to, tag);
  put_u8(to, (uint8_t)form);
  struct reader answer = form == 't' ? ask_poll(to, arguments) : ask();
  if (take_u8(&answer) != 'P') return false;
  uint32_t posted = take_u32(&answer);
  struct reader message = (take_u8(&answer), take_block(&answer));
  take_u64(&message);
  int from = take_i32(&message), with = take_i32(&message);
  struct signature sent = signature_take(&message);
  if (status) status_set(status, from, with, signature_size(&sent));
  signature_free(&sent);
  if (taken) {
    taken->posted = posted;
    taken->is_posted = true;
    taken->peer = from;
    taken->comm = in;
  }
  return true;
}

FUNCTION(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status)) {
  CALL_IN_STEPS("MPI_Probe");
  thread_will_wait();
  probe('w', source, tag, comm, status, NULL);
  return MPI_SUCCESS;
}

FUNCTION(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)) {
  CALL_IN_STEPS("MPI_Iprobe");
  thread_polls();
  *OUT(flag) = 0;
  *flag = probe('t', source, tag, comm, status, NULL);
  return MPI_SUCCESS;
}

/* Takes a message, and makes a handle for it. */
static void take_message(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
  struct message *made = allocate(sizeof *made);
  probe('m', source, tag, comm, status, &made->request);
  *message = made->request.peer == MPI_PROC_NULL ? MPI_MESSAGE_NO_PROC : (MPI_Message)handle_new(MESSAGE, &made->object);
}

FUNCTION(Improbe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)) {
  CALL("MPI_Improbe");
  OUT(message);
  *OUT(flag) = 0;
  *flag = probe('t', source, tag, comm, status, NULL);
  /* There is a message, so one can be taken: the same one, unless others match as well. */
  if (*flag) take_message(source, tag, comm, message, status);
  return MPI_SUCCESS;
}

FUNCTION(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)) {
  CALL_IN_STEPS("MPI_Mprobe");
  thread_will_wait();
  take_message(source, tag, comm, OUT(message), status);
  return MPI_SUCCESS;
}

/* The receive of a message that was taken. */
MPI_Request message_receive(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message) {
  MPI_Message handle = *OUT(message);
  struct message *taken = (struct message *)handle_get(MESSAGE, handle);
  bool is_there = handle == MPI_MESSAGE_NO_PROC || (taken && !taken->object.is_freed);
  if (!is_there) fail("invalid argument", "%p is no message", (void *)handle);
  check_count(count);
  MPI_Request made = request_new('r');
  struct request *request = request_get(made);
  request->buffer = buf;
  request->count = (size_t)count;
  request->type = type_for(type, "datatype");
  check_buffer(buf, request->count, request->type, "the buffer");
  check_memory(buf, buf, request->count, request->type, "the buffer");
  *message = MPI_MESSAGE_NULL;
  if (handle == MPI_MESSAGE_NO_PROC) {
    status_set(&request->status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return made;
  }
  put_u32(question('B'), taken->request.posted);
  ask();
  request->is_posted = true;
  request->posted = taken->request.posted;
  request->comm = taken->request.comm;
  taken->object.is_freed = true;
  own_receive(request);
  return made;
}
