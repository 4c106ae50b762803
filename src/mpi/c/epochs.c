/* Epochs: when operations on a window may start, and when they are complete. */
#include "windows.h"

bool window_is_locked(const struct window *window) {
  for (int rank = 0; rank < window->comm->group->size; rank++)
    if (window->holds[rank] != FREE) return true;
  return window->exposed != NULL;
}

void assertion_check(int assertion, int allowed) {
  if (assertion & ~allowed) fail("invalid argument", "%d is no assertion of %s", assertion, call.name);
}

/* All ranks must assert these, or none. So they are a part of what the ranks agree on. */
static const char *fence_called(int assertion) {
  static const char *const called[] = {"MPI_Win_fence", "MPI_Win_fence\tMPI_MODE_NOPRECEDE", "MPI_Win_fence\tMPI_MODE_NOSUCCEED",
                                       "MPI_Win_fence\tMPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED"};
  return called[!!(assertion & MPI_MODE_NOPRECEDE) + 2 * !!(assertion & MPI_MODE_NOSUCCEED)];
}

/* A fence before which no epoch ends need not be a barrier (MPI 4.1, 12.5.1). What is started
 * behind it acts when the target has called it, at the next fence at the latest: here it is carried
 * out there. Returns whether the epoch before it was used. */
static bool pass_fence(struct window *window, int assertion) {
  const char *called = fence_called(assertion);
  window->fences++;
  if (!(assertion & MPI_MODE_NOPRECEDE)) return operations_exchange(window, called);
  records_expose_to_all(window);
  collective_meet(window->comm, called);
  return false;
}

FUNCTION(Win_fence, (int assertion, MPI_Win win)) {
  CALL("MPI_Win_fence");
  struct window *window = window_of(win);
  assertion_check(assertion, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);
  if (window_is_locked(window)) fail("double epoch", "a fence in the epoch that was opened at {@%lx}", window->opened_at);
  if (assertion & MPI_MODE_NOPRECEDE && window->length > 0)
    fail("invalid argument", "MPI_MODE_NOPRECEDE, but %s at {@%lx} comes before it", window->operations[0].name,
         window->operations[0].site);
  if (window->inner_at && !(assertion & MPI_MODE_NOPRECEDE))
    fail("double epoch", "the epoch that was opened at {@%lx} is in the one from the fence at {@%lx} to this one", window->inner_at,
         window->fenced_at);
  if (assertion & MPI_MODE_NOSTORE) records_check_stores(window, "before it");
  bool was_used = pass_fence(window, assertion);
  window->no_put_at = assertion & MPI_MODE_NOPUT ? call.site : 0;
  windows_pull();
  window->has_fenced = !(assertion & MPI_MODE_NOSUCCEED);
  /* A fence that completes operations is usually the last one of its epoch. It opens another epoch
   * only if that is used. */
  window->is_fenced = window->has_fenced && !was_used;
  window->synchronized = clock_tick();
  window->opened_at = window->fenced_at = call.site;
  window->inner_at = 0;
  return MPI_SUCCESS;
}

/* Opens an epoch at one target. */
static void take_lock(struct window *window, int target, enum hold hold, int assertion) {
  if (assertion & MPI_MODE_NOCHECK) records_add_lock(window, target, hold);
  window->holds[target] = hold;
  locks_take(window, target);
}

static void give_back(struct window *window, int target) {
  locks_give_back(window, target);
  window->synchronized = clock_tick();
  window->holds[target] = FREE;
}

/* A fence opens an epoch only if another one follows (MPI 4.1, 12.5.1), so that one finds the
 * mistake, unless there are operations of the epoch already. */
void epoch_check_fence(struct window *window) {
  if (!window->is_fenced) return;
  if (window->length > 0) fail("double epoch", "another epoch in that of the fence at {@%lx}", window->fenced_at);
  window->inner_at = call.site;
}

static void check_no_epoch(struct window *window, int target) {
  epoch_check_fence(window);
  bool is_taken = target < 0 ? window_is_locked(window) : window->holds[target] != FREE;
  if (is_taken) fail("double epoch", "a lock in the epoch that was opened at {@%lx}", window->opened_at);
}

/* MPI_PROC_NULL is a valid target of operations (MPI 4.1, 12.3), so programs lock it as well. The
 * standard does not allow this explicitly; nothing is locked. */
FUNCTION(Win_lock, (int type, int rank, int assertion, MPI_Win win)) {
  CALL("MPI_Win_lock");
  assertion_check(assertion, MPI_MODE_NOCHECK);
  struct window *window = window_of(win);
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE) fail("invalid argument", "%d is no type of lock", type);
  window_check_rank(window, rank);
  check_no_epoch(window, rank);
  take_lock(window, rank, type == MPI_LOCK_SHARED ? SHARED : EXCLUSIVE, assertion);
  window->has_fenced = false;
  window->opened_at = call.site;
  windows_publish();
  windows_pull();
  return MPI_SUCCESS;
}

FUNCTION(Win_unlock, (int rank, MPI_Win win)) {
  CALL_OF_EPOCH("MPI_Win_unlock");
  struct window *window = window_of(win);
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  window_check_rank(window, rank);
  if (!lock_is_postponed(window, rank)) locks_settle();
  if (window->holds[rank] != SHARED && window->holds[rank] != EXCLUSIVE)
    fail("missing epoch", "rank %d of the window is not locked", rank);
  windows_publish();
  give_back(window, rank);
  operations_forget(window);
  windows_pull();
  return MPI_SUCCESS;
}

FUNCTION(Win_lock_all, (int assertion, MPI_Win win)) {
  CALL("MPI_Win_lock_all");
  assertion_check(assertion, MPI_MODE_NOCHECK);
  struct window *window = window_of(win);
  check_no_epoch(window, -1);
  for (int rank = 0; rank < window->comm->group->size; rank++) take_lock(window, rank, EVERYBODY, assertion);
  window->has_fenced = false;
  window->opened_at = call.site;
  windows_publish();
  windows_pull();
  return MPI_SUCCESS;
}

FUNCTION(Win_unlock_all, (MPI_Win win)) {
  CALL_OF_EPOCH("MPI_Win_unlock_all");
  struct window *window = window_of(win);
  locks_settle();
  if (window->holds[0] != EVERYBODY) fail("missing epoch", "the window is not locked by MPI_Win_lock_all");
  windows_publish();
  for (int rank = 0; rank < window->comm->group->size; rank++) give_back(window, rank);
  operations_forget(window);
  windows_pull();
  return MPI_SUCCESS;
}

enum { ALL = INT32_MIN };

static int flush(MPI_Win win, int only, bool is_local) {
  struct window *window = window_of(win);
  if (only == MPI_PROC_NULL) return MPI_SUCCESS;
  if (only != ALL) window_check_rank(window, only);
  if (only != ALL ? window->holds[only] == FREE : !window_is_locked(window))
    fail("missing epoch", "a flush outside of the epoch of a lock");
  windows_publish();
  for (int rank = 0; rank < window->comm->group->size; rank++)
    if (only == ALL || rank == only) operations_complete(window, rank, is_local);
  locks_pass();
  operations_forget(window);
  windows_pull();
  return MPI_SUCCESS;
}

FUNCTION(Win_flush, (int rank, MPI_Win win)) {
  CALL_OF_EPOCH("MPI_Win_flush");
  return flush(win, rank, false);
}
FUNCTION(Win_flush_all, (MPI_Win win)) {
  CALL_OF_EPOCH("MPI_Win_flush_all");
  return flush(win, ALL, false);
}
FUNCTION(Win_flush_local, (int rank, MPI_Win win)) {
  CALL_OF_EPOCH("MPI_Win_flush_local");
  return flush(win, rank, true);
}
FUNCTION(Win_flush_local_all, (MPI_Win win)) {
  CALL_OF_EPOCH("MPI_Win_flush_local_all");
  return flush(win, ALL, true);
}
