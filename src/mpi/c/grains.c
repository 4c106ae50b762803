/* Grains: where atomic operations on a part of a window meet.
 *
 * A part is divided into grains of 8 bytes (of 4, if its displacement unit is no multiple of 8). An
 * operation *touches* the grains of its bytes, so operations that overlap touch a common grain. Two
 * operations that touch no common grain are independent: there is no object of the model that both
 * of them act on. Neighbours within a grain are ordered though they do not overlap, which adds
 * classes of executions and loses none.
 *
 * An ordered operation (changes.c) holds the mutexes of its grains, in ascending order, so that no
 * rank waits in a circle. Each grain has a list for each rank that changes it: the indices of these
 * changes. The operation reads these lists to their end. A change that is no ordered operation is
 * announced in the lists without a mutex, after its content is written.
 *
 *     content of change 7 --> list of grain 2: .. 7     an ordered operation on grain 2 finds 7
 *                         \-> list of grain 3: .. 7     before or after this, on its own
 *
 * An operation that touches more than a few grains counts as one on the *whole* part. If it is
 * ordered, it excludes all other ordered operations, and looks at the changes themselves instead of
 * the lists. In any case, it is announced in one more list, which every ordered operation reads.
 * Parts that have only a few grains do not need this.
 *
 * Ordered operations on a grain know more and more: each of them is announced before it gives back
 * the mutex, even if it has changed nothing. That matters for changes that touch several grains,
 * and that somebody has found in only one of the lists so far. */
#include "windows.h"

#define WHOLE UINT64_MAX

/* The lists of a grain: the number of their entries that this rank has read or, in the list of its
 * own changes, written. */
struct found {
  int target;
  uint64_t grain;
  uint32_t *entries; /* by rank */
  uint32_t *times;   /* of all ranks before the changes that it has read */
};

static size_t size_of_grains(const struct window *window, int target) { return window->sides[target].unit % 8 == 0 ? 8 : 4; }

static bool may_be_many(const struct window *window, int target) {
  bool is_dynamic = window->flavor == MPI_WIN_FLAVOR_DYNAMIC;
  return is_dynamic || window->sides[target].size > FEW_GRAINS * size_of_grains(window, target);
}

static void add(struct grains *grains, uint64_t grain, bool is_change) {
  size_t place = grains->count;
  while (place > 0 && grains->grain[place - 1] > grain) place--;
  if (place > 0 && grains->grain[place - 1] == grain) {
    grains->is_changed[place - 1] |= is_change;
    return;
  }
  grains->are_many |= grains->count == FEW_GRAINS;
  if (grains->are_many) return;
  for (size_t i = grains->count++; i > place; i--) {
    grains->grain[i] = grains->grain[i - 1];
    grains->is_changed[i] = grains->is_changed[i - 1];
  }
  grains->grain[place] = grain;
  grains->is_changed[place] = is_change;
}

void grains_add(struct grains *grains, const struct window *window, int target, struct span touched, bool is_change) {
  size_t size = size_of_grains(window, target);
  for (uint64_t grain = touched.from / size; grain * size < touched.to && !grains->are_many; grain++) add(grains, grain, is_change);
}

void grains_lock(struct grains *grains, const struct window *window, int target) {
  if (may_be_many(window, target)) window_ask(grains->are_many ? 'Q' : 'q', window, target, "grain", (long)WHOLE, &grains->whole);
  for (size_t i = 0; i < grains->count && !grains->are_many; i++)
    window_ask('l', window, target, "grain", (long)grains->grain[i], &grains->lock[i]);
}

void grains_unlock(struct grains *grains, const struct window *window, int target) {
  for (size_t i = 0; i < grains->count && !grains->are_many; i++)
    window_ask('u', window, target, "grain", (long)grains->grain[i], &grains->lock[i]);
  if (may_be_many(window, target)) window_ask('x', window, target, "grain", (long)WHOLE, &grains->whole);
}

static struct found *found_at(struct window *window, int target, uint64_t grain) {
  for (size_t i = 0; i < window->found_length; i++)
    if (window->found[i].target == target && window->found[i].grain == grain) return &window->found[i];
  if (window->found_length == window->found_room) {
    window->found_room = 2 * window->found_room + 8;
    window->found = grow(window->found, window->found_room * sizeof *window->found);
  }
  uint32_t *entries = allocate((size_t)window->comm->group->size * sizeof *entries);
  uint32_t *times = allocate((size_t)world_size * sizeof *times);
  window->found[window->found_length] = (struct found){target, grain, entries, times};
  return &window->found[window->found_length++];
}

/* The cell of the next entry in the list of rank `by`. */
static char *next_entry(const struct window *window, const struct found *found, int by) {
  return text_of("found %s/%d/%ld/%d/%u", window->name, found->target, (long)found->grain, by, found->entries[by]);
}

static struct found *find_at(struct window *window, int target, uint64_t grain) {
  struct found *found = found_at(window, target, grain);
  for (int by = 0; by < window->comm->group->size; by++)
    for (struct bytes entry; by != window->comm->rank && (entry = cell_read(next_entry(window, found, by))).at; found->entries[by]++) {
      struct reader from = {entry.at, entry.at + entry.length};
      clock_join_times(found->times, changes_read(window, target, by, take_u32(&from)));
      release(entry.at);
    }
  return found;
}

void grains_find(const struct grains *grains, struct window *window, int target, bool is_fetching) {
  changes_count(window, target);
  if (grains->are_many) {
    changes_find(window, target);
    return;
  }
  for (size_t i = 0; i < grains->count; i++) {
    const struct found *found = find_at(window, target, grains->grain[i]);
    if (is_fetching) clock_join_times(NULL, found->times);
  }
  if (may_be_many(window, target)) find_at(window, target, WHOLE);
}

static void announce_at(struct window *window, int target, uint64_t grain, uint32_t index) {
  struct found *found = found_at(window, target, grain);
  struct bytes entry = {0};
  put_u32(&entry, index);
  cell_write(next_entry(window, found, window->comm->rank), &entry);
  found->entries[window->comm->rank]++;
  release(entry.at);
}

void grains_announce(const struct grains *grains, struct window *window, int target, uint32_t index) {
  if (grains->are_many) announce_at(window, target, WHOLE, index);
  for (size_t i = 0; i < grains->count && !grains->are_many; i++) announce_at(window, target, grains->grain[i], index);
}
