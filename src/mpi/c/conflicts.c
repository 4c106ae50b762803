/* Concurrent accesses to windows.
 *
 * Each rank records its operations, and the reads and writes of its private copies. When all
 * ranks of a window meet (at a fence, or when it is freed), each of them compares the accesses to
 * its own part. The order of accesses follows from vector clocks, which travel with messages and
 * collectives once there is a window, and with changes by atomic operations to who is told of
 * them; and from exclusive locks. Operations of one epoch are not ordered until they are
 * complete. */
#include "windows.h"

struct record {
  const struct window *window;
  int target;
  /* of an operation; 'R', 'W': the program reads or writes a private copy; 'L': a lock that asserts
   * that no rank has another one */
  char kind;
  enum hold hold;
  size_t from, to;
  struct spans spans; /* the touched bytes, if not all */
  MPI_Op op;
  uint32_t element; /* the basic type of its elements */
  const char *name;
  uintptr_t site;
  uint32_t owner;     /* of 'R' and 'W': the operation that makes the access, if one does */
  uint32_t completed; /* the rank's own time at its completion, or NEVER */
  uint32_t *clock;    /* at its start */
  /* of an operation in the epoch of a group, the number of this one at the target; in that of a
   * fence, the number of the fence */
  uint32_t epoch;
};
enum { NEVER = UINT32_MAX };

static struct record *records;
static size_t count_of_records, room_of_records;
static size_t complete_before; /* all records before this one are complete */
static size_t count_of_owned; /* accesses by pending operations */

/* The epochs in which a rank exposes its part to another one, or after a fence that is no barrier
 * to all, in the order in which they begin. What the origin does there comes after all that the
 * rank knew when it exposed its part, also if the origin does not know that; and it is complete
 * there when the rank has waited for it. */
struct exposure {
  const struct window *window;
  int origin; /* or ALL */
  uint32_t epoch, ended; /* its number; the rank's own time at its end, or NEVER */
  uint32_t *clock;       /* at its start */
};
enum { ALL = -1 };
static struct exposure *exposures;
static size_t count_of_exposures;

/* The vector clock: the times of all ranks, and for each target the number of earlier changes by
 * each writer (changes.c). */
static uint32_t *clock_of_rank;

static size_t times(void) { return (size_t)world_size; }
static size_t changes(void) { return (size_t)world_size * (size_t)world_size * LANES; }

static uint32_t *clock_get(void) {
  if (!clock_of_rank) {
    clock_of_rank = allocate((times() + changes()) * sizeof *clock_of_rank);
    clock_of_rank[world_rank] = 1;
  }
  return clock_of_rank;
}

uint32_t clock_now(void) { return clock_get()[world_rank]; }
uint32_t clock_tick(void) { return ++clock_get()[world_rank]; }
bool clock_knows(int world, uint32_t time) { return clock_get()[world] >= time; }
uint32_t *clock_changes(int target) { return clock_get() + times() + (size_t)target * times() * LANES; }

static void join(uint32_t *clock, struct reader other) {
  for (; other.at < other.end; clock++) {
    uint32_t theirs = take_u32(&other);
    if (theirs > *clock) *clock = theirs;
  }
}

/* The clocks of processes that were started apart from this one: they mean nothing here, but go on
 * with its messages. */
static struct elsewhere {
  int base;
  size_t length;
  uint32_t *clock;
} *elsewhere;
static size_t count_of_elsewhere;

static uint32_t *clock_of_world(int base, size_t length) {
  if (base == world_base) return clock_get();
  for (size_t i = 0; i < count_of_elsewhere; i++)
    if (elsewhere[i].base == base) return elsewhere[i].clock;
  elsewhere = grow(elsewhere, (count_of_elsewhere + 1) * sizeof *elsewhere);
  elsewhere[count_of_elsewhere] = (struct elsewhere){base, length, allocate(length * sizeof(uint32_t))};
  return elsewhere[count_of_elsewhere++].clock;
}

static void put_clock_of_world(struct bytes *to, int base, const uint32_t *clock, size_t length) {
  put_i32(to, base);
  put_block(to, clock, length * sizeof *clock);
}

/* A rank without windows forwards what it received. */
void clock_put(struct bytes *to) {
  struct bytes all = {0};
  if (count_of_windows > 0 || clock_of_rank) {
    put_clock_of_world(&all, world_base, clock_get(), times() + changes());
    clock_get()[world_rank]++;
  }
  for (size_t i = 0; i < count_of_elsewhere; i++) put_clock_of_world(&all, elsewhere[i].base, elsewhere[i].clock, elsewhere[i].length);
  put_block(to, all.at, all.length);
  release(all.at);
}

void clock_join(struct reader *from) {
  struct reader all = take_block(from);
  while (all.at < all.end) {
    int base = take_i32(&all);
    struct reader clock = take_block(&all);
    join(clock_of_world(base, (size_t)(clock.end - clock.at) / sizeof(uint32_t)), clock);
  }
}

void clock_put_changes(struct bytes *to) { put_block(to, clock_changes(0), changes() * sizeof *clock_of_rank); }
void clock_join_changes(int target, struct reader other) { join(clock_changes(target), other); }

uint32_t *clock_copy(void) {
  size_t size = times() * sizeof *clock_of_rank;
  return memcpy(allocate(size), clock_get(), size);
}

void clock_join_times(uint32_t *clock, const uint32_t *of) {
  const uint8_t *from = (const uint8_t *)of;
  join(clock ? clock : clock_get(), (struct reader){from, from + times() * sizeof *of});
}

static struct record *add(const struct window *window, int target, char kind, enum hold hold, size_t from, size_t to) {
  if (count_of_records == room_of_records) {
    room_of_records = 2 * room_of_records + 16;
    records = grow(records, room_of_records * sizeof *records);
  }
  struct record *made = &records[count_of_records++];
  *made = (struct record){.window = window, .target = target, .kind = kind, .hold = hold, .from = from, .to = to,
                          .op = MPI_OP_NULL, .element = SEVERAL, .name = call.name, .site = call.site,
                          .completed = NEVER, .clock = clock_copy()};
  return made;
}

/* Begins a record: later actions of the rank have a later time. */
static struct record *begin(struct record *record, uint32_t owner) {
  record->owner = owner;
  count_of_owned += owner != 0;
  clock_get()[world_rank]++;
  return record;
}

size_t records_add(const struct window *window, const struct operation *of, enum hold hold, size_t from, size_t to, struct spans spans) {
  struct record *made = begin(add(window, of->target, of->kind, hold, from, to), 0);
  made->spans = spans;
  made->epoch = hold == STARTED ? window->epochs[of->target] : window->fences;
  made->op = of->op;
  made->element = of->type->element;
  return count_of_records - 1;
}

void records_add_lock(const struct window *window, int target, enum hold hold) {
  begin(add(window, target, 'L', hold, 0, SIZE_MAX), 0);
}

void records_check_stores(const struct window *window, const char *when) {
  for (size_t i = 0; i < count_of_records; i++) {
    const struct record *record = &records[i];
    if (record->window == window && record->kind == 'W' && record->clock[world_rank] >= window->synchronized)
      fail("invalid argument", "MPI_MODE_NOSTORE, but %s at {@%lx} changes this rank's part of the window %s", record->name,
           record->site, when);
  }
}

void records_own(size_t record, uint32_t owner) {
  records[record].owner = owner;
  count_of_owned += owner != 0;
}

static void add_exposure(const struct window *window, int origin, uint32_t epoch) {
  exposures = grow(exposures, (count_of_exposures + 1) * sizeof *exposures);
  exposures[count_of_exposures++] = (struct exposure){window, origin, epoch, NEVER, clock_copy()};
}

void records_expose(const struct window *window, int origin) { add_exposure(window, origin, ++window->exposures[origin]); }
void records_expose_to_all(const struct window *window) { add_exposure(window, ALL, window->fences); }

void records_end_exposure(const struct window *window) {
  for (size_t i = 0; i < count_of_exposures; i++)
    if (exposures[i].window == window && exposures[i].ended == NEVER) exposures[i].ended = clock_now();
}

static bool is_read(char kind) { return kind == 'g' || kind == 'f' || kind == 'c'; }

void records_complete(const struct window *window, int target, bool is_local) {
  uint32_t now = ++clock_get()[world_rank];
  size_t first_open = count_of_records;
  for (size_t i = complete_before; i < count_of_records; i++) {
    struct record *record = &records[i];
    if (record->completed != NEVER) continue;
    bool is_meant = record->window == window && record->target == target && (!is_local || is_read(record->kind));
    if (is_meant) record->completed = now;
    else if (first_open == count_of_records) first_open = i;
  }
  complete_before = first_open;
}

/* Whether the access continues the program's last one, or is next to it. Several arrays may be
 * traversed at the same time. */
static bool goes_on(const struct window *window, int target, char kind, struct span range) {
  enum { LOOKED_AT = 16 };
  size_t end = count_of_records > LOOKED_AT ? count_of_records - LOOKED_AT : 0;
  for (size_t i = count_of_records; i > end; i--) {
    struct record *before = &records[i - 1];
    if (before->completed != clock_now()) return false;
    bool is_alike = before->window == window && before->target == target && before->kind == kind && !before->owner;
    if (!is_alike || range.from < before->from || range.from > before->to) continue;
    if (range.to > before->to) before->to = range.to;
    return true;
  }
  return false;
}

/* The part of a range of memory that is in a private copy, as a range of the target's part. */
static struct span range_in(const struct mapped *mapped, uintptr_t from, size_t length) {
  uintptr_t base = (uintptr_t)mapped->private, end = base + mapped->size, to = from + length;
  if (from >= end || to <= base) return (struct span){0, 0};
  return (struct span){mapped->from + (from > base ? from - base : 0), mapped->from + ((to < end ? to : end) - base)};
}

/* Calls `each` for the windows that have this memory, with the ranges there. Accesses before the
 * first call with others count as a part of making the window. */
static void each_range(uintptr_t from, size_t length, void each(const struct window *, int, struct span, const struct record *),
                       const struct record *with) {
  for (size_t w = 0; w < count_of_windows; w++) {
    const struct window *window = windows[w];
    if (window->object.is_freed || !window->is_known) continue;
    for (size_t i = 0; i < window->count_of_mapped; i++) {
      struct span range = range_in(&window->mapped[i], from, length);
      if (range.from < range.to) each(window, window->mapped[i].target, range, with);
    }
  }
}

static void see_range(const struct window *window, int target, struct span range, const struct record *with) {
  if (goes_on(window, target, with->kind, range)) return;
  struct record *made = add(window, target, with->kind, window->holds[target], range.from, range.to);
  made->name = with->name;
  made->site = with->site;
  made->completed = clock_now();
}

void windows_see(uintptr_t from, size_t length, enum access access, uintptr_t site) {
  bool is_write = access == WRITES;
  each_range(from, length, see_range, &(struct record){.kind = is_write ? 'W' : 'R', .name = is_write ? "a write" : "a read", .site = site});
}

static void own_range(const struct window *window, int target, struct span range, const struct record *with) {
  begin(add(window, target, with->kind, window->holds[target], range.from, range.to), with->owner);
}

void windows_own(uint32_t owner, uintptr_t from, size_t length, enum access access) {
  each_range(from, length, own_range, &(struct record){.kind = access & WRITES ? 'W' : 'R', .owner = owner});
}

void records_add_detach(const struct window *window, struct span range) {
  struct record *made = begin(add(window, window->comm->rank, 'W', FREE, range.from, range.to), 0);
  made->completed = clock_now();
}

/* An operation that changes the memory of another rank has done so only after a flush. A call that
 * reads, and waits for nothing but itself, has read before any other rank knows of it. */
void windows_disown(uint32_t owner) {
  if (count_of_owned == 0) return;
  uint32_t now = ++clock_get()[world_rank];
  for (size_t i = 0; i < count_of_records; i++) {
    struct record *record = &records[i];
    if (record->owner != owner) continue;
    record->owner = 0;
    count_of_owned--;
    bool is_same_call = record->site == call.site && record->name == call.name;
    bool is_local = record->kind == 'p' || record->kind == 'a';
    if (record->completed == NEVER && !is_local)
      record->completed = record->kind == 'R' && is_same_call ? record->clock[world_rank] : now;
  }
}

/* A record of some rank, for the comparison. */
struct seen {
  int rank, world; /* the rank in the window, and in the world */
  size_t place;    /* the index among all records */
  int ender;       /* the rank in the world whose time at the completion is known */
  struct record is;
};

static bool is_private(char kind) { return kind == 'R' || kind == 'W'; }

static bool is_of_own_part(const struct record *record) {
  return is_private(record->kind) && record->target == record->window->comm->rank;
}

/* Sends records to others. The program's accesses to its own part concern only itself. */
static void put_records(struct bytes *to, const struct window *window) {
  put_u32(to, (uint32_t)world_rank);
  for (size_t i = 0; i < count_of_records; i++) {
    const struct record *record = &records[i];
    if (record->window != window || is_of_own_part(record)) continue;
    put_u32(to, (uint32_t)record->target);
    put_u8(to, (uint8_t)record->kind);
    put_u8(to, (uint8_t)record->hold);
    put_u64(to, record->from);
    put_u64(to, record->to);
    put_block(to, record->spans.span, record->spans.count * sizeof *record->spans.span);
    put_u64(to, (uint64_t)(uintptr_t)record->op);
    put_u32(to, record->element);
    put_text(to, record->name);
    put_site(to, record->site);
    put_u32(to, record->completed);
    put_block(to, record->clock, (size_t)world_size * sizeof *record->clock);
    put_u32(to, record->epoch);
  }
}

static struct seen take_record(struct reader *from, int rank, int world, size_t place) {
  struct seen seen = {.rank = rank, .world = world, .place = place};
  struct record *is = &seen.is;
  is->target = (int)take_u32(from);
  is->kind = (char)take_u8(from);
  is->hold = (enum hold)take_u8(from);
  is->from = take_u64(from);
  is->to = take_u64(from);
  struct reader spans = take_block(from);
  size_t size = (size_t)(spans.end - spans.at);
  is->spans = (struct spans){size / sizeof *is->spans.span, size ? memcpy(allocate(size), spans.at, size) : NULL};
  is->op = (MPI_Op)(uintptr_t)take_u64(from);
  is->element = take_u32(from);
  struct reader name = take_block(from);
  is->name = text_of("%.*s", (int)(name.end - name.at), (const char *)name.at);
  is->site = take_u64(from);
  is->completed = take_u32(from);
  struct reader clock = take_block(from);
  is->clock = memcpy(allocate((size_t)(clock.end - clock.at)), clock.at, (size_t)(clock.end - clock.at));
  is->epoch = take_u32(from);
  return seen;
}

static bool is_reading(const struct record *record) {
  return record->kind == 'g' || record->kind == 'R' || (record->kind == 'f' && record->op == MPI_NO_OP);
}
static bool is_accumulating(char kind) { return kind == 'a' || kind == 'f' || kind == 'c'; }

/* Accumulations are atomic for each element if both have the same elements. Those of several ranks
 * must have one operator, unless all their orders are explored: see MPI 4.1, 12.2.1,
 * `accumulate_ops`. */
static bool are_atomic(const struct seen *one, const struct seen *other) {
  const struct record *a = &one->is, *b = &other->is;
  if (!is_accumulating(a->kind) || !is_accumulating(b->kind) || a->element != b->element) return false;
  bool is_any_order = operation_is_ordered(a->kind, a->op) || operation_is_ordered(b->kind, b->op);
  if (one->rank != other->rank && a->op != b->op && !is_any_order) return false;
  size_t size = basic_size(a->element), apart = a->from > b->from ? a->from - b->from : b->from - a->from;
  return size > 0 && apart % size == 0;
}

static bool is_before(const struct seen *one, const struct seen *other) {
  return one->is.completed != NEVER && other->is.clock[one->ender] >= one->is.completed;
}

/* Takes into account that the operation acts while this rank exposes its part. */
static struct seen in_exposure(const struct window *window, struct seen seen) {
  seen.ender = seen.world;
  for (size_t i = 0; i < count_of_exposures; i++) {
    const struct exposure *in = &exposures[i];
    bool is_open = seen.is.hold == STARTED ? in->origin == seen.rank : seen.is.hold == FREE && in->origin == ALL;
    bool is_it = is_open && in->window == window && in->epoch == seen.is.epoch;
    if (!is_it || seen.is.target != window->comm->rank || is_private(seen.is.kind)) continue;
    size_t size = times() * sizeof *in->clock;
    seen.is.clock = memcpy(allocate(size), seen.is.clock, size);
    clock_join_times(seen.is.clock, in->clock);
    if (is_reading(&seen.is) || in->origin == ALL) continue;
    seen.ender = world_rank;
    seen.is.completed = in->ended;
  }
  return seen;
}

/* Whether two records touch the same bytes. */
static bool do_overlap(const struct record *a, const struct record *b) {
  if (a->to <= b->from || b->to <= a->from) return false;
  struct span all_a = {a->from, a->to}, all_b = {b->from, b->to};
  struct spans of_a = a->spans.count ? a->spans : (struct spans){1, &all_a};
  struct spans of_b = b->spans.count ? b->spans : (struct spans){1, &all_b};
  for (size_t i = 0, j = 0; i < of_a.count && j < of_b.count;) {
    struct span one = of_a.span[i], other = of_b.span[j];
    if (one.from < other.to && other.from < one.to) return true;
    if (one.to <= other.to) i++; else j++;
  }
  return false;
}

/* Whether one is a lock that asserts that there are no conflicting ones, and the other such a
 * lock. */
static bool are_asserted_apart(const struct record *a, const struct record *b) {
  bool are_locked = a->hold != FREE && b->hold != FREE && a->hold != STARTED && b->hold != STARTED;
  return (a->kind == 'L' || b->kind == 'L') && are_locked && (a->hold == EXCLUSIVE || b->hold == EXCLUSIVE) &&
         !is_private(a->kind) && !is_private(b->kind);
}

static bool are_in_conflict(const struct seen *a, const struct seen *b) {
  if (a->is.kind == 'L' || b->is.kind == 'L')
    return a->rank != b->rank && are_asserted_apart(&a->is, &b->is) && !is_before(a, b) && !is_before(b, a);
  if (!do_overlap(&a->is, &b->is)) return false;
  if (is_reading(&a->is) && is_reading(&b->is)) return false;
  if (a->rank == b->rank && is_private(a->is.kind) && is_private(b->is.kind)) return false;
  if (are_atomic(a, b)) return false;
  if (a->rank == b->rank && is_private(a->is.kind) != is_private(b->is.kind) && is_before(a, b)) return false;
  bool are_locked = a->is.hold != FREE && b->is.hold != FREE && a->is.hold != STARTED && b->is.hold != STARTED;
  bool is_exclusive = a->is.hold == EXCLUSIVE || b->is.hold == EXCLUSIVE;
  if (are_locked && is_exclusive && a->rank != b->rank) return false;
  return !is_before(a, b) && !is_before(b, a);
}

struct seen_list {
  size_t length, room;
  struct seen *of;
};

static void see(struct seen_list *list, struct seen one) {
  if (list->length == list->room) {
    list->room = 2 * list->room + 16;
    list->of = grow(list->of, list->room * sizeof *list->of);
  }
  list->of[list->length++] = one;
}

/* The first two records in conflict. */
struct pair {
  const struct seen *one, *other;
};

static void consider(struct pair *found, const struct window *window, const struct seen *one, const struct seen *other) {
  const struct seen *first = one->place < other->place ? one : other, *last = first == one ? other : one;
  if (first->is.target != window->comm->rank || last->is.target != window->comm->rank) return;
  if (found->other && last->place >= found->other->place) return;
  if (are_in_conflict(first, last)) *found = (struct pair){first, last};
}

/* Programs may have made many accesses. So they are searched in blocks with known bounds. */
enum { BLOCK = 64 };

static void consider_all(struct pair *found, const struct window *window, const struct seen_list *accesses, const struct seen_list *others) {
  for (size_t from = 0; from < accesses->length; from += BLOCK) {
    size_t behind = from + BLOCK < accesses->length ? from + BLOCK : accesses->length, low = SIZE_MAX, high = 0;
    for (size_t i = from; i < behind; i++) {
      if (accesses->of[i].is.from < low) low = accesses->of[i].is.from;
      if (accesses->of[i].is.to > high) high = accesses->of[i].is.to;
    }
    for (size_t j = 0; j < others->length; j++) {
      const struct seen *other = &others->of[j];
      if (other->is.from >= high || other->is.to <= low) continue;
      for (size_t i = from; i < behind; i++) consider(found, window, &accesses->of[i], other);
    }
  }
}

static void report(const struct pair *found) {
  const struct seen *one = found->one, *other = found->other;
  bool is_first = one->is.kind == 'L';
  if (is_first || other->is.kind == 'L') {
    const struct seen *asserted = is_first ? one : other, *rival = is_first ? other : one;
    fail_at(asserted->is.site, "invalid argument", "MPI_MODE_NOCHECK, but nothing orders it and the lock of rank %d for %s at {@%lx}",
            rival->world, rival->is.name, rival->is.site);
  }
  fail("global concurrency", "%s of rank %d at {@%lx} and %s of rank %d at {@%lx} touch the same memory of rank %d", one->is.name,
       one->world, one->is.site, other->is.name, other->world, other->is.site, world_rank);
}

/* Finds the targets where accumulations of this rank and others overlap, so that their order
 * matters. */
static void find_contended(struct window *window, const struct seen_list *seen) {
  for (int rank = 0; rank < window->comm->group->size; rank++) window->are_contended[rank] = false;
  for (size_t i = 0; i < seen->length; i++) {
    const struct seen *own = &seen->of[i];
    if (own->rank != window->comm->rank || !is_accumulating(own->is.kind)) continue;
    for (size_t j = 0; j < seen->length; j++) {
      const struct seen *other = &seen->of[j];
      bool are_two = other->rank != own->rank && is_accumulating(other->is.kind) && other->is.target == own->is.target;
      bool is_seen = operation_is_ordered(own->is.kind, own->is.op) || operation_is_ordered(other->is.kind, other->is.op);
      if (are_two && is_seen && do_overlap(&own->is, &other->is)) window->are_contended[own->is.target] = true;
    }
  }
}

void records_exchange(struct window *window) {
  struct bytes given = {0};
  put_records(&given, window);
  struct contributions all = exchange(window->comm, call.name, &given);
  release(given.at);
  int ranks = window->comm->group->size;
  struct seen_list operations = {0}, *accesses = allocate((size_t)ranks * sizeof *accesses); /* by rank */
  size_t place = 0;
  for (int rank = 0; rank < ranks; rank++) {
    struct reader said = *contribution(&all, rank);
    int world = (int)take_u32(&said);
    for (size_t i = 0; rank == window->comm->rank && i < count_of_records; i++)
      if (records[i].window == window)
        see(is_private(records[i].kind) ? &accesses[rank] : &operations, in_exposure(window, (struct seen){.rank = rank, .world = world, .place = place++, .is = records[i]}));
    while (rank != window->comm->rank && said.at < said.end) {
      struct seen seen = in_exposure(window, take_record(&said, rank, world, place++));
      see(is_private(seen.is.kind) ? &accesses[rank] : &operations, seen);
    }
  }
  find_contended(window, &operations);
  struct pair found = {0};
  for (size_t j = 0; j < operations.length; j++)
    for (size_t i = 0; i < j; i++) consider(&found, window, &operations.of[i], &operations.of[j]);
  for (int rank = 0; rank < ranks; rank++) {
    consider_all(&found, window, &accesses[rank], &operations);
    for (int other = 0; other < rank; other++) consider_all(&found, window, &accesses[rank], &accesses[other]);
  }
  if (found.one) report(&found);
  for (int rank = 0; rank < ranks; rank++) release(accesses[rank].of);
  release(accesses);
  release(operations.of);
  /* Operations of messages stay pending. */
  size_t kept = 0;
  for (size_t i = 0; i < count_of_records; i++) {
    bool is_kept = records[i].window != window || (records[i].owner && is_private(records[i].kind));
    if (is_kept) records[kept++] = records[i];
    else count_of_owned -= records[i].owner != 0;
  }
  count_of_records = kept;
  complete_before = 0;
  kept = 0;
  for (size_t i = 0; i < count_of_exposures; i++) {
    if (exposures[i].window != window) exposures[kept++] = exposures[i];
    else release(exposures[i].clock);
  }
  count_of_exposures = kept;
}
