/* Locks of windows: which epochs exclude one another, and what a rank knows when it has a lock.
 *
 * Each target has a *gate* for each rank: a reader-writer lock of the model.
 *
 *     epoch of rank i                its own gate    the gates of the others
 *     with a shared lock             alone           -
 *     with an exclusive lock         alone           together with others
 *     the same, postponed            -               together with others
 *
 * So shared locks exclude no shared locks, and all else excludes them: rank j has to enter gate i,
 * too, together with others. An exclusive lock excludes everything. Gates are entered in ascending
 * order, so that no ranks wait for one another in a circle.
 *
 * Exclusive locks at several ranks have an order, although nobody may be able to observe it: the
 * epochs may touch different bytes. Therefore an exclusive lock of another rank's part is
 * *postponed*. If the rank unlocks that part before it calls any function of MPI but operations on
 * windows, nobody can tell that it held the lock between these calls: the operations are carried
 * out at the unlock, and the rank waits for nothing in between. Then only the grains (grains.c)
 * that the operations touch are locked, behind the gates of the others: alone if an operation
 * changes them, else together. A flush with nothing to read is postponed, too. An epoch with more
 * than a few grains needs the lock as described above.
 *
 * At any other call of MPI an implementation may have the lock, or not yet (MPI 4.1, 12.5.3): the
 * rank chooses. If it takes the lock, others wait for it. If it does not, the lock stays postponed
 * until it is needed: at the unlock, where it is as above, or at an operation that must be complete
 * before, where the lock is taken. Each order of epochs that is possible with the lock taken early
 * is possible with it taken late, so calls in between make no difference but for deadlocks, and for
 * these it is best to hold all that may be held. Therefore the rank chooses once for all locks that
 * it has at the same time. What is flushed before such a call may be known to others behind it, so
 * then the lock is taken. The lock of memory that the program itself may access (its own part, and
 * all parts of a shared window) is never postponed.
 *
 * A shared lock may be taken late as well. That makes a difference only if another rank locks the
 * same part alone in between, which is not explored: it is taken at once. So a rank notes which part
 * it locks alone, and for which part it has a shared lock that it needs only after other calls; a
 * search in which two ranks do so for one part is not complete (src/mpi/ranks.rs).
 *
 * What a rank with the lock has to know travels in cells. Who has changed something writes them
 * before it gives back the lock:
 *
 *     cell                           written by                     read by
 *     of the target                  exclusive locks                all
 *     of the rank, shared            shared locks                   exclusive and postponed locks
 *     of the rank, postponed         postponed locks                exclusive locks; shared locks of
 *                                                                   the own part, or of many grains
 *     of a grain                     postponed locks that change    postponed locks that touch it;
 *                                    it                             operations with shared locks */
#include "calls.h"
#include "windows.h"

/* The lock that is postponed until the next call, at the latest. */
static struct {
  struct window *window; /* NULL: there is none */
  int target;
  struct call at;
} postponed;

/* Of the locks for which the rank has chosen: their number, and whether it takes them late. */
static unsigned chosen;
static bool are_late;

/* The number of calls that do not need all locks. */
static uint32_t calls;

static int size_of(const struct window *window) { return window->comm->group->size; }

static bool is_alone(const struct window *window, int target) { return window->holds[target] == EXCLUSIVE; }

static char *cell_of(const struct window *window, int target, const char *whose, long number) {
  return text_of("lock %s/%d/%s %ld", window->name, target, whose, number);
}

static void enter_gates(struct window *window, int target, bool is_own, bool are_others) {
  for (int rank = 0; rank < size_of(window); rank++) {
    bool is_mine = rank == window->comm->rank;
    if (is_mine ? !is_own : !are_others) continue;
    window_ask(is_mine ? 'Q' : 'q', window, target, "gate", rank, &window->locks[target * size_of(window) + rank]);
  }
}

static void leave_gates(struct window *window, int target, bool is_own, bool are_others) {
  for (int rank = 0; rank < size_of(window); rank++)
    if (rank == window->comm->rank ? is_own : are_others)
      window_ask('x', window, target, "gate", rank, &window->locks[target * size_of(window) + rank]);
}

static void learn_from_others(const struct window *window, int target, const char *whose) {
  for (int rank = 0; rank < size_of(window); rank++)
    if (rank != window->comm->rank) changes_learn(window, target, cell_of(window, target, whose, rank));
}

static void enter(struct window *window, int target) {
  enter_gates(window, target, true, is_alone(window, target));
  changes_learn(window, target, cell_of(window, target, "alone", 0));
  if (is_alone(window, target)) learn_from_others(window, target, "shared");
  if (is_alone(window, target) || target == window->comm->rank) learn_from_others(window, target, "postponed");
  window->copies[target].changes = changes_own(window, target);
}

static bool has_changed(const struct window *window, int target) {
  return window->copies[target].changes != changes_own(window, target);
}

static void leave(struct window *window, int target) {
  operations_complete(window, target, false);
  bool is_only = is_alone(window, target);
  if (has_changed(window, target))
    changes_tell(window, target, cell_of(window, target, is_only ? "alone" : "shared", is_only ? 0 : window->comm->rank));
  leave_gates(window, target, true, is_only);
}

static bool is_mapped(const struct window *window, int target) {
  return target == window->comm->rank || window->flavor == MPI_WIN_FLAVOR_SHARED;
}

static void note(const struct window *window, int target, enum use use) {
  char *part = text_of("%s/%d", window->name, target);
  file_use(use, part);
  release(part);
}

void locks_take(struct window *window, int target) {
  window->sharings[target] = (struct sharing){.calls = calls};
  if (is_alone(window, target)) note(window, target, EXCLUDING);
  if (is_alone(window, target) && !is_mapped(window, target)) {
    postponed.window = window;
    postponed.target = target;
    postponed.at = call;
  } else enter(window, target);
}

static bool is_undecided(const struct window *window, int target) { return postponed.window == window && postponed.target == target; }

bool lock_is_postponed(const struct window *window, int target) {
  return is_undecided(window, target) || window->choices[target] == TO_TAKE_LATE;
}

bool lock_hides(const struct window *window, int target, bool is_local) {
  return is_undecided(window, target) || (lock_is_postponed(window, target) && is_local);
}

static bool has_flushed(const struct window *window, int target) {
  for (size_t i = 0; i < window->length; i++) {
    const struct operation *of = &window->operations[i];
    if (of->target == target && of->is_flushed && !of->is_applied) return true;
  }
  return false;
}

/* Takes the lock at the call that asked for it. */
static void take_there(void) {
  struct window *window = postponed.window;
  struct call before = call;
  call = postponed.at;
  postponed.window = NULL;
  enter(window, postponed.target);
  /* What the rank has flushed, it may now tell others about. */
  if (has_flushed(window, postponed.target)) operations_apply(window, postponed.target);
  call = before;
}

void locks_settle(void) {
  struct window *window = postponed.window;
  if (!window) return;
  if (!has_flushed(window, postponed.target)) {
    if (chosen++ == 0) are_late = thread_choose(2) == 1;
    window->choices[postponed.target] = are_late ? TO_TAKE_LATE : TAKEN_EARLY;
  }
  if (window->choices[postponed.target] == TO_TAKE_LATE) postponed.window = NULL;
  else take_there();
}

void locks_pass(void) { calls++; }

static void need_shared(struct window *window, int target) {
  struct sharing *sharing = &window->sharings[target];
  bool is_late = sharing->is_used && !sharing->is_needed && sharing->calls != calls;
  if (is_late && !is_mapped(window, target)) note(window, target, NEEDING_LATE);
  sharing->is_needed |= sharing->is_used;
}

void lock_need(struct window *window, int target) {
  if (window->holds[target] == SHARED || window->holds[target] == EVERYBODY) need_shared(window, target);
  if (is_undecided(window, target)) take_there();
  if (window->choices[target] != TO_TAKE_LATE) return;
  window->choices[target] = TAKEN_LATE;
  enter(window, target);
}

/* Does all that a postponed lock is for. */
static void catch_up(struct window *window, int target, struct grains *grains) {
  enter_gates(window, target, false, true);
  for (size_t i = 0; i < grains->count; i++)
    window_ask(grains->is_changed[i] ? 'Q' : 'q', window, target, "epoch", (long)grains->grain[i], &grains->lock[i]);
  changes_learn(window, target, cell_of(window, target, "alone", 0));
  learn_from_others(window, target, "shared");
  for (size_t i = 0; i < grains->count; i++) changes_learn(window, target, cell_of(window, target, "grain", (long)grains->grain[i]));
  window->copies[target].changes = changes_own(window, target);
  operations_complete(window, target, false);
  bool is_told = has_changed(window, target);
  if (is_told) changes_tell(window, target, cell_of(window, target, "postponed", window->comm->rank));
  for (size_t i = 0; i < grains->count; i++) {
    if (is_told && grains->is_changed[i]) changes_tell(window, target, cell_of(window, target, "grain", (long)grains->grain[i]));
    window_ask('x', window, target, "epoch", (long)grains->grain[i], &grains->lock[i]);
  }
  leave_gates(window, target, false, true);
}

void locks_give_back(struct window *window, int target) {
  struct grains grains = {0};
  bool is_postponed = lock_is_postponed(window, target);
  if (is_postponed) operations_touch(window, target, &grains);
  if (is_postponed && !grains.are_many) {
    if (is_undecided(window, target)) postponed.window = NULL;
    else window->choices[target] = TAKEN_LATE;
    catch_up(window, target, &grains);
  } else {
    lock_need(window, target);
    leave(window, target);
  }
  chosen -= window->choices[target] != NO_CHOICE;
  window->choices[target] = NO_CHOICE;
}

void locks_learn(const struct window *window, int target, const struct grains *grains) {
  if (target == window->comm->rank) return;
  if (grains->are_many) learn_from_others(window, target, "postponed");
  for (size_t i = 0; i < grains->count && !grains->are_many; i++)
    changes_learn(window, target, cell_of(window, target, "grain", (long)grains->grain[i]));
}
