/* Generalised requests: operations of the program, which says itself when they are complete. */
#include "generalized.h"

struct generalized {
  MPI_Grequest_query_function *query;
  MPI_Grequest_free_function *free;
  MPI_Grequest_cancel_function *cancel;
  void *extra;
  bool is_over;
};

bool generalized_is_over(const struct request *request) { return request->functions->is_over; }

/* Calls a function of the program, which may call MPI. */
#define CALLED(function, ...)                                                                            \
  do {                                                                                                   \
    struct call before = call;                                                                           \
    int code = request->functions->function(__VA_ARGS__);                                                \
    call = before;                                                                                       \
    if (code != MPI_SUCCESS)                                                                             \
      fail("unsupported", "the " #function " function of the request made at {@%lx} returns error %d",  \
           request->object.made_at, code);                                                               \
  } while (0)

void generalized_query(struct request *request) {
  CALLED(query, request->functions->extra, &request->status);
}
void generalized_free(struct request *request) { CALLED(free, request->functions->extra); }
void generalized_cancel(struct request *request) {
  CALLED(cancel, request->functions->extra, request->functions->is_over);
}

FUNCTION(Grequest_start, (MPI_Grequest_query_function *query, MPI_Grequest_free_function *free, MPI_Grequest_cancel_function *cancel,
                          void *extra, MPI_Request *request)) {
  CALL("MPI_Grequest_start");
  if (!query || !free || !cancel) fail("invalid argument", "a function is a null pointer");
  OUT(request);
  MPI_Request handle = request_new('g');
  struct generalized *functions = allocate(sizeof *functions);
  *functions = (struct generalized){query, free, cancel, extra, false};
  request_get(handle)->functions = functions;
  *request = handle;
  return MPI_SUCCESS;
}

/* The program may have freed the request already; then its functions live until now. */
FUNCTION(Grequest_complete, (MPI_Request request)) {
  CALL("MPI_Grequest_complete");
  struct request *of = (struct request *)handle_get(REQUEST, request);
  if (!of || !of->functions) fail("invalid request", "%p is no generalised request", (void *)request);
  if (of->functions->is_over) fail("invalid request", "the request made at {@%lx} is complete already", of->object.made_at);
  of->functions->is_over = true;
  if (of->object.is_freed) generalized_free(of);
  return MPI_SUCCESS;
}
