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
 * changes them, else together. Any other call of MPI ends the postponement, and so does an epoch
 * with more than a few grains: then the lock is taken as described above. A flush with nothing to
 * read is postponed, too. At most one lock is postponed. The lock of memory that the program itself
 * may access (its own part, and all parts of a shared window) is never postponed.
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
#include "windows.h"

static struct {
  struct window *window; /* NULL: no lock is postponed */
  int target;
  struct call at;
} postponed;

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

void locks_take(struct window *window, int target) {
  bool is_mapped = target == window->comm->rank || window->flavor == MPI_WIN_FLAVOR_SHARED;
  if (is_alone(window, target) && !is_mapped) {
    postponed.window = window;
    postponed.target = target;
    postponed.at = call;
  } else enter(window, target);
}

bool lock_is_postponed(const struct window *window, int target) { return postponed.window == window && postponed.target == target; }

static bool has_flushed(const struct window *window, int target) {
  for (size_t i = 0; i < window->length; i++) {
    const struct operation *of = &window->operations[i];
    if (of->target == target && of->is_over && !of->is_applied) return true;
  }
  return false;
}

void locks_settle(void) {
  struct window *window = postponed.window;
  if (!window) return;
  struct call before = call;
  call = postponed.at;
  postponed.window = NULL;
  enter(window, postponed.target);
  /* What the rank has flushed, it may now tell others about. */
  if (has_flushed(window, postponed.target)) operations_apply(window, postponed.target);
  call = before;
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
  if (lock_is_postponed(window, target)) operations_touch(window, target, &grains);
  if (!lock_is_postponed(window, target) || grains.are_many) {
    locks_settle();
    leave(window, target);
  } else {
    postponed.window = NULL;
    catch_up(window, target, &grains);
  }
}

void locks_learn(const struct window *window, int target, const struct grains *grains) {
  if (target == window->comm->rank) return;
  if (grains->are_many) learn_from_others(window, target, "postponed");
  for (size_t i = 0; i < grains->count && !grains->are_many; i++)
    changes_learn(window, target, cell_of(window, target, "grain", (long)grains->grain[i]));
}
