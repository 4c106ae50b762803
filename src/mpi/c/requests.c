/* Requests: operations that were started and are not over. A request of the program corresponds to
 * one of the verifier (a send, a receive, the entry of a collective), or to none if there is
 * nothing to wait for. */
#include "rank.h"

MPI_Request request_new(char what) {
  struct request *made = allocate(sizeof *made);
  made->what = what;
  made->state = ACTIVE;
  made->is_started = true;
  made->name = call.name;
  status_empty(&made->status);
  return (MPI_Request)handle_new(REQUEST, &made->object);
}

struct request *request_get(MPI_Request request) {
  struct request *found = (struct request *)handle_get(REQUEST, request);
  if (!found) fail("invalid request", "%p is no request", (void *)request);
  if (found->object.is_freed) fail("invalid request", "the request made at {@%lx} is over", found->object.made_at);
  return found;
}

void status_empty(MPI_Status *status) {
  *status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};
}

/* A status contains the number of bytes of a message, and whether it was cancelled. */
void status_set_bytes(MPI_Status *status, size_t bytes) { memcpy(status->MPI_internal, &bytes, sizeof bytes); }
size_t status_bytes(const MPI_Status *status) {
  size_t bytes;
  memcpy(&bytes, status->MPI_internal, sizeof bytes);
  return bytes;
}
void status_set(MPI_Status *status, int source, int tag, size_t bytes) {
  status_empty(status);
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  status_set_bytes(status, bytes);
}

/* The request is complete; `value` is the result. */
void request_complete(struct request *request, struct reader *value) {
  memory_release(request->owned);
  request->owned = 0;
  request->state = COMPLETE;
  if (request->what == 'r' && !request->is_cancelled) receive_end(request, value);
  if (request->what == 'c') collective_end(request, value);
}

/* Reports a completed request to the program: sets its status, and frees it or makes it
 * inactive. */
static void retire(MPI_Request *handle, MPI_Status *status) {
  struct request *request = request_get(*handle);
  if (status) *status = request->status;
  if (request->is_persistent) {
    request->state = INACTIVE;
    status_empty(&request->status);
    return;
  }
  request->object.is_freed = true;
  *handle = MPI_REQUEST_NULL;
}

/* Whether there is something to wait for. There is not for a persistent request that is not started
 * (MPI 4.1, 3.7.3 and 3.9). */
static bool is_open(MPI_Request handle) {
  return handle != MPI_REQUEST_NULL && request_get(handle)->state != INACTIVE;
}

/* Whether the request is complete without asking the verifier. */
static bool is_ready(struct request *request) {
  if (request->state == ACTIVE && !request->is_posted) {
    struct reader nothing = {0};
    request_complete(request, &nothing);
  }
  return request->state == COMPLETE;
}

/* Asks for the first active request that is complete, and completes it; returns -1 if a test finds
 * none. `places` are their indices in the program's list. */
static int ask_any(char kind, int count, MPI_Request *handles, const int *places) {
  struct bytes *to = question(kind);
  size_t arguments = to->length;
  put_u32(to, (uint32_t)count);
  for (int i = 0; i < count; i++) put_u32(to, request_get(handles[places[i]])->posted);
  struct reader answer = kind == 'T' ? ask_poll(to, arguments) : ask();
  if (take_u8(&answer) != 'K') return -1;
  int place = places[take_u32(&answer)];
  request_complete(request_get(handles[place]), &answer);
  return place;
}

/* Asks whether a request was cancelled in time. */
static void settle_cancelled(struct request *request) {
  put_u32(question('c'), request->posted);
  struct reader answer = ask();
  take_u8(&answer);
  request->is_cancelled = take_u8(&answer) == 'b' && take_u8(&answer);
  request->wants_cancel = false;
  if (request->is_cancelled) {
    struct reader nothing = {0};
    request->status.MPI_internal[2] = 1;
    request_complete(request, &nothing);
  }
}

static void wait_for(MPI_Request *handle) {
  struct request *request = request_get(*handle);
  if (request->wants_cancel && request->state == ACTIVE) settle_cancelled(request);
  int only = 0;
  if (!is_ready(request)) ask_any('W', 1, handle, &only);
}

void request_wait(MPI_Request *handle, MPI_Status *status) {
  if (status) status_empty(OUT(status));
  if (!is_open(*handle)) return;
  wait_for(handle);
  retire(handle, status);
}

/* Checks a list of requests; some may be MPI_REQUEST_NULL. */
static void check_requests(int count, const MPI_Request *requests) {
  check_count(count);
  if (count > 0) OUTS(requests, count);
}

FUNCTION(Wait, (MPI_Request *request, MPI_Status *status)) {
  CALL("MPI_Wait");
  request_wait(OUT(request), status);
  return MPI_SUCCESS;
}

FUNCTION(Waitall, (int count, MPI_Request requests[], MPI_Status *statuses)) {
  CALL("MPI_Waitall");
  check_requests(count, requests);
  for (int i = 0; i < count; i++) request_wait(&requests[i], statuses ? &statuses[i] : NULL);
  return MPI_SUCCESS;
}

/* The index of a complete request; MPI_UNDEFINED if none is active, -1 if a test finds none. */
static int any(char kind, int count, MPI_Request *requests) {
  int *places = allocate((size_t)count * sizeof *places), active = 0, found = MPI_UNDEFINED;
  for (int i = 0; i < count && found == MPI_UNDEFINED; i++) {
    if (!is_open(requests[i])) continue;
    if (is_ready(request_get(requests[i]))) found = i;
    places[active++] = i;
  }
  if (found == MPI_UNDEFINED && active > 0) found = ask_any(kind, active, requests, places);
  release(places);
  return found;
}

FUNCTION(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status)) {
  CALL("MPI_Waitany");
  check_requests(count, requests);
  if (status) status_empty(OUT(status));
  OUT(index);
  *index = any('W', count, requests);
  if (*index >= 0) retire(&requests[*index], status);
  return MPI_SUCCESS;
}

/* MPI allows to complete one request at a time. */
FUNCTION(Waitsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status *statuses)) {
  CALL("MPI_Waitsome");
  check_requests(count, requests);
  OUT(done);
  if (count > 0) OUTS(indices, count);
  if (count > 0 && statuses) OUTS(statuses, count);
  int found = any('W', count, requests);
  *done = found >= 0 ? 1 : MPI_UNDEFINED;
  if (found < 0) return MPI_SUCCESS;
  indices[0] = found;
  retire(&requests[found], statuses);
  return MPI_SUCCESS;
}

FUNCTION(Test, (MPI_Request *request, int *flag, MPI_Status *status)) {
  CALL("MPI_Test");
  OUT(request);
  if (status) status_empty(OUT(status));
  int found = any('T', 1, request);
  *OUT(flag) = found != -1;
  if (found >= 0) retire(request, status);
  return MPI_SUCCESS;
}

FUNCTION(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)) {
  CALL("MPI_Testany");
  check_requests(count, requests);
  if (status) status_empty(OUT(status));
  OUT(index);
  int found = any('T', count, requests);
  *OUT(flag) = found != -1;
  *index = found == -1 ? MPI_UNDEFINED : found;
  if (found >= 0) retire(&requests[found], status);
  return MPI_SUCCESS;
}

FUNCTION(Testsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status *statuses)) {
  CALL("MPI_Testsome");
  check_requests(count, requests);
  OUT(done);
  if (count > 0) OUTS(indices, count);
  if (count > 0 && statuses) OUTS(statuses, count);
  int found = any('T', count, requests);
  *done = found >= 0 ? 1 : found == -1 ? 0 : MPI_UNDEFINED;
  if (found < 0) return MPI_SUCCESS;
  indices[0] = found;
  retire(&requests[found], statuses);
  return MPI_SUCCESS;
}

/* Requests that a test finds complete stay complete, and are reported when all are. */
FUNCTION(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status *statuses)) {
  CALL("MPI_Testall");
  check_requests(count, requests);
  if (count > 0 && statuses) OUTS(statuses, count);
  *OUT(flag) = 0;
  for (int i = 0; i < count; i++) {
    int only = i;
    if (is_open(requests[i]) && !is_ready(request_get(requests[i])) && ask_any('T', 1, requests, &only) < 0)
      return MPI_SUCCESS;
  }
  *flag = 1;
  for (int i = 0; i < count; i++) {
    if (statuses) status_empty(&statuses[i]);
    if (is_open(requests[i])) retire(&requests[i], statuses ? &statuses[i] : NULL);
  }
  return MPI_SUCCESS;
}

/* Tests whether the request is complete, without freeing it. */
FUNCTION(Request_get_status, (MPI_Request handle, int *flag, MPI_Status *status)) {
  CALL("MPI_Request_get_status");
  if (status) status_empty(OUT(status));
  *OUT(flag) = 1;
  if (!is_open(handle)) return MPI_SUCCESS;
  int only = 0;
  struct request *request = request_get(handle);
  *flag = is_ready(request) || ask_any('T', 1, &handle, &only) == 0;
  if (*flag && status) *status = request->status;
  return MPI_SUCCESS;
}

/* Sends and receives may continue after that: a send until the rank infers from other messages that
 * it is over (MPI 4.1, 3.7.3). For a receive this cannot be inferred, so its memory must not be
 * used any more. */
FUNCTION(Request_free, (MPI_Request *request)) {
  CALL("MPI_Request_free");
  struct request *freed = request_get(*OUT(request));
  bool is_of_window = freed->what == 'o'; /* MPI 4.1, 12.3.5 */
  if (is_of_window || (freed->state == ACTIVE && freed->what == 'c'))
    fail("invalid request", "a request of %s cannot be freed", freed->name);
  memory_forget(freed->owned, freed->what == 's');
  freed->object.is_freed = true;
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

/* A wait for a cancelled operation returns whatever other ranks do, and the message arrives or does
 * not (MPI 4.1, 3.8.4). Only for receives both cases are explored. At the cancellation of a send,
 * which MPI 4 deprecates, the search ends undecided. */
FUNCTION(Cancel, (MPI_Request *request)) {
  CALL("MPI_Cancel");
  struct request *cancelled = request_get(*INS(request, 1));
  if (cancelled->what != 's' && cancelled->what != 'r') fail("invalid request", "a request of %s cannot be cancelled", cancelled->name);
  if (cancelled->state == INACTIVE) fail("invalid request", "the request made at {@%lx} is not active", cancelled->object.made_at);
  if (cancelled->state == COMPLETE || !cancelled->is_posted || cancelled->wants_cancel) return MPI_SUCCESS;
  if (cancelled->what == 's') fail("unsupported", "whether a send that is cancelled arrives is not explored");
  put_u32(question('C'), cancelled->posted);
  ask();
  cancelled->wants_cancel = true;
  return MPI_SUCCESS;
}

FUNCTION(Test_cancelled, (const MPI_Status *status, int *flag)) {
  CALL("MPI_Test_cancelled");
  *OUT(flag) = INS(status, 1)->MPI_internal[2] == 1;
  return MPI_SUCCESS;
}

/* The number of basic values in one element. */
static size_t values_of(const struct type *of) {
  size_t values = 0;
  for (size_t p = 0; p < of->pieces; p++) values += of->piece[p].run.count;
  return values;
}

/* The number of bytes as basic values. The last element may be incomplete, but not the last
 * value. */
MPI_Count status_elements(const MPI_Status *status, MPI_Datatype type) {
  const struct type *of = type_for(type, "datatype");
  size_t bytes = status_bytes(INS(status, 1)), whole = of->size > 0 ? bytes / of->size : 0;
  MPI_Count count = (MPI_Count)(whole * values_of(of));
  bytes -= whole * of->size;
  for (size_t p = 0; of->size > 0 && bytes > 0; p = (p + 1) % of->pieces) {
    size_t size = basic_size(of->piece[p].run.basic), here = of->piece[p].run.count * size;
    if (here > bytes) here = bytes - bytes % size;
    if (here == 0) break;
    count += (MPI_Count)(here / size);
    bytes -= here;
  }
  return of->size > 0 && bytes > 0 ? MPI_UNDEFINED : count;
}

FUNCTION(Get_elements_x, (const MPI_Status *status, MPI_Datatype type, MPI_Count *count)) {
  CALL("MPI_Get_elements_x");
  *OUT(count) = status_elements(status, type);
  return MPI_SUCCESS;
}

int status_set_elements(MPI_Status *status, MPI_Datatype type, MPI_Count count) {
  const struct type *of = type_for(type, "datatype");
  if (count < 0) fail("invalid count", "the count is %ld", (long)count);
  size_t values = values_of(of), whole = values > 0 ? (size_t)count / values : 0;
  size_t bytes = whole * of->size, left = (size_t)count - whole * values;
  for (size_t p = 0; of->size > 0 && left > 0; p = (p + 1) % of->pieces) {
    size_t here = of->piece[p].run.count < left ? of->piece[p].run.count : left;
    bytes += here * basic_size(of->piece[p].run.basic);
    left -= here;
  }
  status_set_bytes(OUT(status), bytes);
  return MPI_SUCCESS;
}

FUNCTION(Status_set_elements_x, (MPI_Status *status, MPI_Datatype type, MPI_Count count)) {
  CALL("MPI_Status_set_elements_x");
  return status_set_elements(status, type, count);
}

FUNCTION(Status_set_cancelled, (MPI_Status *status, int flag)) {
  CALL("MPI_Status_set_cancelled");
  OUT(status)->MPI_internal[2] = flag != 0;
  return MPI_SUCCESS;
}
