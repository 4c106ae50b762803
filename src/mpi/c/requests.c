/* Requests: operations that were started and are not over. A request of the program corresponds to
 * one of the verifier (a send, a receive, the entry of a collective), or to none if there is
 * nothing to wait for. */
#include "generalized.h"
#include "partitioned.h"

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

/* The error code stays as it is (MPI 4.1, 3.2.5). */
static void status_copy(MPI_Status *to, const MPI_Status *from) {
  int error = to->MPI_ERROR;
  *to = *from;
  to->MPI_ERROR = error;
}

void status_clear(MPI_Status *status) {
  MPI_Status nothing;
  status_empty(&nothing);
  status_copy(status, &nothing);
}

/* A status contains the number of bytes of a message, and whether it was cancelled. */
void status_set_bytes(MPI_Status *status, size_t bytes) { memcpy(status->MPI_internal, &bytes, sizeof bytes); }
size_t status_bytes(const MPI_Status *status) {
  size_t bytes;
  memcpy(&bytes, status->MPI_internal, sizeof bytes);
  return bytes;
}
void status_set(MPI_Status *status, int source, int tag, size_t bytes) {
  status_clear(status);
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
  if (request->functions) generalized_query(request);
  if (status) status_copy(status, &request->status);
  if (request->functions) generalized_free(request);
  for (size_t i = 0; i < request->parts; i++) request->part[i]->object.is_freed = true;
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

/* The part of an active request that the verifier is asked about next: of MPI_Isendrecv the send
 * comes before the receive. NULL if only the program can complete it. */
static struct request *next_part(struct request *request) {
  for (size_t i = 0; i < request->parts; i++)
    if (request->part[i]->state == ACTIVE) return request->part[i];
  if (request->partitions) return partitioned_next(request);
  return request->functions ? NULL : request;
}

/* Whether the request is complete without asking the verifier. */
bool request_is_ready(struct request *request) {
  for (size_t i = 0; i < request->parts; i++)
    if (!request_is_ready(request->part[i])) return false;
  bool is_pending = request->is_posted || (request->functions && !generalized_is_over(request)) ||
                    (request->partitions && !partitioned_is_over(request));
  if (request->state == ACTIVE && !is_pending) {
    struct reader nothing = {0};
    request_complete(request, &nothing);
  }
  return request->state == COMPLETE;
}

static bool has_polled; /* whether the verifier was asked for a test */

/* Whether one of these requests of the verifier is complete. */
static bool poll_any(const uint32_t *posted, int count, uint32_t *found, struct reader *answer) {
  thread_polls();
  has_polled = true;
  struct bytes *to = question('T');
  size_t arguments = to->length;
  put_u32(to, (uint32_t)count);
  for (int i = 0; i < count; i++) put_u32(to, posted[i]);
  *answer = ask_poll(to, arguments);
  if (take_u8(answer) != 'K') return false;
  *found = take_u32(answer);
  return true;
}

/* Asks for the first of these requests of which a part is complete, and completes the part; returns
 * false if a test finds none. `places` are their indices in the program's list. The kind is 'V' for
 * a wait of which the verifier knows that it may be in vain. */
static bool ask_for(char kind, int count, const MPI_Request *handles, const int *places) {
  uint32_t *posted = allocate((size_t)count * sizeof *posted), found;
  for (int i = 0; i < count; i++) posted[i] = next_part(request_get(handles[places[i]]))->posted;
  struct reader answer;
  is_in_vain = kind == 'V';
  bool is_found = kind == 'T' ? poll_any(posted, count, &found, &answer) : (answer = wait_for_any(posted, count, &found), true);
  release(posted);
  if (is_found) request_complete(next_part(request_get(handles[places[found]])), &answer);
  return is_found;
}

/* Ends the rank: it waits for what only the program can complete. */
static void __attribute__((noreturn)) is_stuck(const struct request *request) {
  if (env_lets_threads_call())
    fail("unsupported", "whether another thread completes the request made at {@%lx} is not explored", request->object.made_at);
  fail("invalid request", "the request made at {@%lx} is waited for, but it can only be completed before the wait", request->object.made_at);
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
  } else {
    uint32_t found;
    answer = wait_for_any(&request->posted, 1, &found);
    request_complete(request, &answer);
  }
}

/* The index of a complete request; MPI_UNDEFINED if none is active, -1 if a test finds none. */
int request_any(char kind, int count, const MPI_Request *requests) {
  int *places = allocate((size_t)count * sizeof *places), found = MPI_UNDEFINED;
  for (bool goes_on = true; goes_on;) {
    int asked = 0, open = -1;
    for (int i = 0; i < count && found == MPI_UNDEFINED; i++) {
      if (!is_open(requests[i])) continue;
      open = i;
      struct request *request = request_get(requests[i]);
      if (request->wants_cancel && request->state == ACTIVE) settle_cancelled(request);
      if (request_is_ready(request)) found = i;
      else if (next_part(request)) places[asked++] = i;
    }
    goes_on = found == MPI_UNDEFINED && open >= 0;
    if (goes_on && asked == 0 && kind == 'W') is_stuck(request_get(requests[open]));
    /* Another thread may complete it meanwhile. */
    if (goes_on && asked == 0) thread_polls(), thread_polled();
    if (goes_on && (asked == 0 || !ask_for(kind, asked, requests, places))) found = -1, goes_on = false;
    if (kind == 'T' && count == 1 && thread_is_alone()) kind = 'V'; /* as in request_all */
  }
  release(places);
  return found;
}

/* Ends a call that has looked for a complete request, and has found this one, if any. */
static void finish(int found, MPI_Request *requests, MPI_Status *status) {
  if (found >= 0) retire(&requests[found], status);
  else if (found == MPI_UNDEFINED && status) status_empty(status);
}

void request_wait(MPI_Request *handle, MPI_Status *status) {
  if (status) status_clear(OUT(status));
  finish(request_any('W', 1, handle), handle, status);
}

/* Checks a list of requests; some may be MPI_REQUEST_NULL. */
static void check_requests(int count, const MPI_Request *requests) {
  check_count(count);
  if (count > 0) OUTS(requests, count);
}

FUNCTION(Wait, (MPI_Request *request, MPI_Status *status)) {
  CALL_IN_STEPS("MPI_Wait");
  request_wait(OUT(request), status);
  return MPI_SUCCESS;
}

FUNCTION(Waitall, (int count, MPI_Request requests[], MPI_Status *statuses)) {
  CALL_IN_STEPS("MPI_Waitall");
  check_requests(count, requests);
  for (int i = 0; i < count; i++) request_wait(&requests[i], statuses ? &statuses[i] : NULL);
  return MPI_SUCCESS;
}

FUNCTION(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status)) {
  CALL_IN_STEPS("MPI_Waitany");
  check_requests(count, requests);
  if (status) status_clear(OUT(status));
  OUT(index);
  *index = request_any('W', count, requests);
  finish(*index, requests, status);
  return MPI_SUCCESS;
}

/* The indices of the requests that are complete as far as the rank knows, and of any others that may
 * be. If it knows of none, one is waited for or tested, and others only if they come after it: so
 * each set of complete requests is found once. What was found is in the memory of the program before
 * the next is asked for, since a poll depends on it (polls.c). */
static void request_some(char kind, int count, const MPI_Request *requests, int *done, int *indices) {
  bool is_known = false;
  for (int i = 0; i < count; i++) is_known = is_known || (is_open(requests[i]) && request_is_ready(request_get(requests[i])));
  int first = is_known ? 0 : request_any(kind, count, requests);
  if (first == MPI_UNDEFINED) *done = MPI_UNDEFINED;
  if (first < 0) return;
  for (int i = first; i < count; i++)
    if (is_open(requests[i]) && request_any('T', 1, &requests[i]) == 0) indices[(*done)++] = i;
}

static void retire_some(MPI_Request *requests, int done, const int *indices, MPI_Status *statuses) {
  for (int i = 0; i < done; i++) retire(&requests[indices[i]], statuses ? &statuses[i] : NULL);
}

FUNCTION(Waitsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status *statuses)) {
  CALL_IN_STEPS("MPI_Waitsome");
  check_requests(count, requests);
  *OUT(done) = 0;
  if (count > 0) OUTS(indices, count);
  if (count > 0 && statuses) OUTS(statuses, count);
  request_some('W', count, requests, done, indices);
  retire_some(requests, *done, indices, statuses);
  return MPI_SUCCESS;
}

/* What a poll returns is set before it is asked. Old values will be overwritten in any case, so they
 * are not part of the state (polls.c). In vain, statuses are undefined. */
FUNCTION(Test, (MPI_Request *request, int *flag, MPI_Status *status)) {
  CALL_IN_STEPS("MPI_Test");
  OUT(request);
  *OUT(flag) = 0;
  if (status) status_clear(OUT(status));
  int found = request_any('T', 1, request);
  *flag = found != -1;
  finish(found, request, status);
  return MPI_SUCCESS;
}

FUNCTION(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)) {
  CALL_IN_STEPS("MPI_Testany");
  check_requests(count, requests);
  if (status) status_clear(OUT(status));
  *OUT(index) = MPI_UNDEFINED;
  *OUT(flag) = 0;
  int found = request_any('T', count, requests);
  *flag = found != -1;
  *index = found == -1 ? MPI_UNDEFINED : found;
  finish(found, requests, status);
  return MPI_SUCCESS;
}

FUNCTION(Testsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status *statuses)) {
  CALL_IN_STEPS("MPI_Testsome");
  check_requests(count, requests);
  *OUT(done) = 0;
  if (count > 0) OUTS(indices, count);
  if (count > 0 && statuses) OUTS(statuses, count);
  request_some('T', count, requests, done, indices);
  retire_some(requests, *done, indices, statuses);
  return MPI_SUCCESS;
}

static void statuses_clear(int count, MPI_Status *statuses) {
  if (count > 0) OUTS(statuses, count);
  for (int i = 0; i < count; i++) status_clear(&statuses[i]);
}

bool request_all(int count, const MPI_Request *requests) {
  bool may_wait = thread_is_alone();
  for (int i = 0; i < count; i++) may_wait = may_wait && (!is_open(requests[i]) || !request_get(requests[i])->functions);
  has_polled = false;
  for (int i = 0; i < count; i++)
    if (request_any(may_wait && has_polled ? 'V' : 'T', 1, &requests[i]) == -1) return false;
  return true;
}

FUNCTION(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status *statuses)) {
  CALL_IN_STEPS("MPI_Testall");
  check_requests(count, requests);
  if (statuses) statuses_clear(count, statuses);
  *OUT(flag) = 0;
  *flag = request_all(count, requests);
  for (int i = 0; i < count && *flag; i++) finish(is_open(requests[i]) ? 0 : MPI_UNDEFINED, &requests[i], statuses ? &statuses[i] : NULL);
  return MPI_SUCCESS;
}

/* The status of a request that is complete or not open. It stays as it is. */
static void tell(MPI_Request handle, MPI_Status *status) {
  if (status && !is_open(handle)) status_empty(status);
  if (!is_open(handle)) return;
  struct request *request = request_get(handle);
  if (request->functions) generalized_query(request);
  if (status) status_copy(status, &request->status);
}

FUNCTION(Request_get_status, (MPI_Request handle, int *flag, MPI_Status *status)) {
  CALL("MPI_Request_get_status");
  if (status) status_clear(OUT(status));
  *OUT(flag) = 0;
  *flag = request_all(1, &handle);
  if (*flag) tell(handle, status);
  return MPI_SUCCESS;
}

static void check_given(int count, const MPI_Request *requests) {
  check_count(count);
  if (count > 0) INS(requests, count);
}

FUNCTION(Request_get_status_all, (int count, const MPI_Request requests[], int *flag, MPI_Status *statuses)) {
  CALL("MPI_Request_get_status_all");
  check_given(count, requests);
  if (statuses) statuses_clear(count, statuses);
  *OUT(flag) = 0;
  *flag = request_all(count, requests);
  for (int i = 0; i < count && *flag; i++) tell(requests[i], statuses ? &statuses[i] : NULL);
  return MPI_SUCCESS;
}

FUNCTION(Request_get_status_any, (int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status)) {
  CALL("MPI_Request_get_status_any");
  check_given(count, requests);
  if (status) status_clear(OUT(status));
  *OUT(index) = MPI_UNDEFINED;
  *OUT(flag) = 0;
  int found = request_any('T', count, requests);
  *flag = found != -1;
  *index = found == -1 ? MPI_UNDEFINED : found;
  if (found >= 0) tell(requests[found], status);
  else if (found == MPI_UNDEFINED && status) status_empty(status);
  return MPI_SUCCESS;
}

FUNCTION(Request_get_status_some, (int count, const MPI_Request requests[], int *done, int indices[], MPI_Status *statuses)) {
  CALL("MPI_Request_get_status_some");
  check_given(count, requests);
  *OUT(done) = 0;
  if (count > 0) OUTS(indices, count);
  if (count > 0 && statuses) OUTS(statuses, count);
  request_some('T', count, requests, done, indices);
  for (int i = 0; i < *done; i++) tell(requests[indices[i]], statuses ? &statuses[i] : NULL);
  return MPI_SUCCESS;
}

/* Sends and receives may continue after that: a send until the rank infers from other messages that
 * it is over (MPI 4.1, 3.7.3). For a receive this cannot be inferred, so its memory must not be
 * used any more. */
FUNCTION(Request_free, (MPI_Request *request)) {
  CALL("MPI_Request_free");
  struct request *freed = request_get(*OUT(request));
  bool is_of_window = freed->what == 'o'; /* MPI 4.1, 12.3.5 */
  if (freed->state == ACTIVE && freed->what == 'p') fail("unsupported", "partitioned communication that is freed is not explored");
  if (is_of_window || (freed->state == ACTIVE && freed->what == 'c'))
    fail("invalid request", "a request of %s cannot be freed", freed->name);
  memory_forget(freed->owned, freed->what == 's');
  if (freed->functions && generalized_is_over(freed)) generalized_free(freed);
  for (size_t i = 0; i < freed->parts; i++) {
    memory_forget(freed->part[i]->owned, true);
    freed->part[i]->object.is_freed = true;
  }
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
  if (cancelled->functions) return generalized_cancel(cancelled), MPI_SUCCESS;
  if (cancelled->parts > 0) fail("unsupported", "whether %s that is cancelled has an effect is not explored", cancelled->name);
  if (cancelled->what != 's' && cancelled->what != 'r') fail("invalid request", "a request of %s cannot be cancelled", cancelled->name);
  if (cancelled->state == INACTIVE) fail("invalid request", "the request made at {@%lx} is not active", cancelled->object.made_at);
  if (cancelled->state == COMPLETE || cancelled->peer == MPI_PROC_NULL || cancelled->wants_cancel) return MPI_SUCCESS;
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
