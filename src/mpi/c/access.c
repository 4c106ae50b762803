/* One-sided communication with numbers of elements, and the windows for it. */
#include "windows.h"
#include "twins.h"

FUNCTION(TWIN(Win_create), (void *base, MPI_Aint size, Place unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)) {
  CALL(NAMED(Win_create));
  (void)info;
  window_check_base(base, size, unit);
  return window_make(base, size, unit, comm, MPI_WIN_FLAVOR_CREATE, win);
}

FUNCTION(TWIN(Win_allocate), (MPI_Aint size, Place unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)) {
  CALL(NAMED(Win_allocate));
  (void)info;
  void *memory = calloc(1, size > 0 ? (size_t)size : 1);
  window_check_base(memory, size, unit);
  *OUT((void **)base) = memory;
  return window_make(memory, size, unit, comm, MPI_WIN_FLAVOR_ALLOCATE, win);
}

FUNCTION(TWIN(Win_allocate_shared), (MPI_Aint size, Place unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)) {
  CALL(NAMED(Win_allocate_shared));
  if (is_preloaded) fail("unsupported", "stores to memory that ranks share are seen only in programs that `mazurka mpicc` compiles");
  return window_share(size, unit, info, comm, base, win);
}

FUNCTION(TWIN(Win_shared_query), (MPI_Win win, int rank, MPI_Aint *size, Place *unit, void *base)) {
  CALL(NAMED(Win_shared_query));
  const struct mapped *found = window_find_shared(win, rank);
  *OUT(size) = found ? (MPI_Aint)found->size : 0;
  *OUT(unit) = found ? (Place)window_of(win)->sides[found->target].unit : 0;
  *OUT((void **)base) = found ? found->private : NULL;
  return MPI_SUCCESS;
}

#define ORIGIN const void *origin, Count count, MPI_Datatype type
#define TARGET int target, MPI_Aint disp, Count target_count, MPI_Datatype target_type

static bool is_nowhere(int target) { return target == MPI_PROC_NULL; }

/* Starts the operation, unless the target is MPI_PROC_NULL. */
static struct operation *put_to(ORIGIN, TARGET, MPI_Win win) {
  if (is_nowhere(target)) return NULL;
  struct operation *of = operation_start(win, 'p', target, disp, target_count, target_type, MPI_REPLACE);
  operation_writes(of, origin, count, type);
  return of;
}

static struct operation *get_from(void *origin, Count count, MPI_Datatype type, TARGET, MPI_Win win) {
  if (is_nowhere(target)) return NULL;
  struct operation *of = operation_start(win, 'g', target, disp, target_count, target_type, MPI_NO_OP);
  operation_reads(of, origin, count, type);
  return of;
}

static struct operation *accumulate(ORIGIN, TARGET, MPI_Op op, MPI_Win win) {
  op_check_window(op, type_for(target_type, "target datatype"));
  if (is_nowhere(target)) return NULL;
  struct operation *of = operation_start(win, 'a', target, disp, target_count, target_type, op);
  operation_writes(of, origin, count, type);
  return of;
}

static struct operation *fetch(ORIGIN, void *result, Count result_count, MPI_Datatype result_type, TARGET, MPI_Op op, MPI_Win win) {
  op_check_window(op, type_for(target_type, "target datatype"));
  if (is_nowhere(target)) return NULL;
  struct operation *of = operation_start(win, 'f', target, disp, target_count, target_type, op);
  if (op != MPI_NO_OP) operation_writes(of, origin, count, type);
  operation_reads(of, result, result_count, result_type);
  return of;
}

FUNCTION(TWIN(Put), (ORIGIN, TARGET, MPI_Win win)) {
  CALL_OF_EPOCH(NAMED(Put));
  put_to(origin, count, type, target, disp, target_count, target_type, win);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Get), (void *origin, Count count, MPI_Datatype type, TARGET, MPI_Win win)) {
  CALL_OF_EPOCH(NAMED(Get));
  get_from(origin, count, type, target, disp, target_count, target_type, win);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Accumulate), (ORIGIN, TARGET, MPI_Op op, MPI_Win win)) {
  CALL_OF_EPOCH(NAMED(Accumulate));
  accumulate(origin, count, type, target, disp, target_count, target_type, op, win);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Get_accumulate), (ORIGIN, void *result, Count result_count, MPI_Datatype result_type, TARGET, MPI_Op op, MPI_Win win)) {
  CALL_OF_EPOCH(NAMED(Get_accumulate));
  fetch(origin, count, type, result, result_count, result_type, target, disp, target_count, target_type, op, win);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Rput), (ORIGIN, TARGET, MPI_Win win, MPI_Request *request)) {
  CALL_OF_EPOCH(NAMED(Rput));
  return operation_request(win, put_to(origin, count, type, target, disp, target_count, target_type, win), request);
}

FUNCTION(TWIN(Rget), (void *origin, Count count, MPI_Datatype type, TARGET, MPI_Win win, MPI_Request *request)) {
  CALL_OF_EPOCH(NAMED(Rget));
  return operation_request(win, get_from(origin, count, type, target, disp, target_count, target_type, win), request);
}

FUNCTION(TWIN(Raccumulate), (ORIGIN, TARGET, MPI_Op op, MPI_Win win, MPI_Request *request)) {
  CALL_OF_EPOCH(NAMED(Raccumulate));
  return operation_request(win, accumulate(origin, count, type, target, disp, target_count, target_type, op, win), request);
}

FUNCTION(TWIN(Rget_accumulate), (ORIGIN, void *result, Count result_count, MPI_Datatype result_type, TARGET, MPI_Op op, MPI_Win win,
                           MPI_Request *request)) {
  CALL_OF_EPOCH(NAMED(Rget_accumulate));
  struct operation *of =
      fetch(origin, count, type, result, result_count, result_type, target, disp, target_count, target_type, op, win);
  return operation_request(win, of, request);
}
