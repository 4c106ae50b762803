/* Races between threads of a rank: two accesses to the same memory, one of which is a write, and
 * nothing orders them.
 *
 * Each thread counts its releases. A vector clock (`order`) says which releases of others a thread
 * knows of: an access is ordered before the present one if it came before a release that is known.
 * Releases and acquisitions are those of the constructs that threads use: mutexes, barriers, atomic
 * operations with their memory orders, the start and the end of a thread, and so on.
 *
 * For each 8 bytes of memory the accesses are kept that may still race with another one. An access
 * that is ordered before a later one is not needed any more, if everything that races with it races
 * with the later one as well. */
#include "turns.h"

bool races_matter;

static uint32_t entry(const struct order *order, unsigned thread) { return thread < order->length ? order->at[thread] : 0; }

static void lengthen(struct order *order, uint32_t length) {
  if (order->length >= length) return;
  uint32_t room = 8;
  while (room < length) room *= 2;
  order->at = grow(order->at, room * sizeof *order->at);
  memset(order->at + order->length, 0, (length - order->length) * sizeof *order->at);
  order->length = length;
}

bool order_knows(const struct order *order, unsigned thread, uint32_t clock) { return entry(order, thread) >= clock; }

void order_join(struct order *to, const struct order *from) {
  lengthen(to, from->length);
  for (uint32_t i = 0; i < from->length; i++)
    if (from->at[i] > to->at[i]) to->at[i] = from->at[i];
}

void order_copy(struct order *to, const struct order *from) {
  if (to->length) memset(to->at, 0, to->length * sizeof *to->at);
  order_join(to, from);
}

void order_advance(struct order *order, unsigned thread) {
  lengthen(order, thread + 1);
  order->at[thread]++;
}

void sync_acquire(const struct order *from) { order_join(&thread_self()->order, from); }

void sync_release(struct order *to) {
  struct thread *own = thread_self();
  lengthen(&own->order, own->number + 1);
  order_join(to, &own->order);
  order_advance(&own->order, own->number);
}

/* A table by address. */
static struct sync **syncs;
static size_t room_for_syncs, count_of_syncs;

static size_t hash(uintptr_t at) { return (size_t)(at * 0x9e3779b97f4a7c15u >> 24); }

static struct sync **place_of(uintptr_t at) {
  size_t place = hash(at) & (room_for_syncs - 1);
  while (syncs[place] && syncs[place]->at != at) place = (place + 1) & (room_for_syncs - 1);
  return &syncs[place];
}

struct sync *sync_of(const void *object) {
  if (2 * count_of_syncs >= room_for_syncs) {
    struct sync **old = syncs;
    size_t before = room_for_syncs;
    room_for_syncs = before ? 2 * before : 64;
    syncs = allocate(room_for_syncs * sizeof *syncs);
    for (size_t i = 0; i < before; i++)
      if (old[i]) *place_of(old[i]->at) = old[i];
    release(old);
  }
  struct sync **place = place_of((uintptr_t)object);
  if (*place) return *place;
  count_of_syncs++;
  *place = allocate(sizeof **place);
  (*place)->at = (uintptr_t)object;
  return *place;
}

/* An entry that is forgotten stays, empty. */
static void empty(struct sync *sync) {
  release(sync->order.at);
  release(sync->readers.at);
  *sync = (struct sync){.at = sync->at};
}

void sync_forget(const void *object) {
  if (room_for_syncs && *place_of((uintptr_t)object)) empty(*place_of((uintptr_t)object));
}

/* Accesses to the 8 bytes of a grain, in a table by address. */
struct seen {
  struct seen *next;
  uintptr_t site;
  const char *by; /* a function of MPI, if it makes the access */
  uint32_t thread, clock;
  uint8_t bytes; /* a bit for each */
  bool writes, is_atomic;
};
struct grain {
  uintptr_t number; /* 0: no grain */
  struct seen *seen;
};
static struct grain *grains;
static size_t room_for_grains, count_of_grains;
enum { MOST_GRAINS = 1 << 22 };
static struct seen *unused;

static struct grain *grain_at(uintptr_t number) {
  size_t place = hash(number) & (room_for_grains - 1);
  while (grains[place].number && grains[place].number != number) place = (place + 1) & (room_for_grains - 1);
  return &grains[place];
}

static struct grain *grain_of(uintptr_t number) {
  if (2 * count_of_grains >= room_for_grains) {
    struct grain *old = grains;
    size_t before = room_for_grains;
    room_for_grains = before ? 2 * before : 1024;
    if (room_for_grains > 2 * MOST_GRAINS) refuse("the threads of the rank use more than %d MiB of memory", MOST_GRAINS >> 17);
    grains = allocate(room_for_grains * sizeof *grains);
    for (size_t i = 0; i < before; i++)
      if (old[i].number) *grain_at(old[i].number) = old[i];
    release(old);
  }
  struct grain *found = grain_at(number);
  if (!found->number) count_of_grains++;
  found->number = number;
  return found;
}

static void drop(struct grain *grain) {
  for (struct seen *seen = grain->seen, *next; seen; seen = next) {
    next = seen->next;
    seen->next = unused;
    unused = seen;
  }
  grain->seen = NULL;
}

void races_forget(uintptr_t from, uintptr_t to) {
  bool are_few = (to - from) >> 3 < room_for_grains;
  for (uintptr_t number = from >> 3; are_few && number < (to + 7) >> 3; number++) drop(grain_at(number));
  for (size_t i = 0; !are_few && i < room_for_grains; i++)
    if (grains[i].number >= from >> 3 && grains[i].number < (to >> 3) + 1) drop(&grains[i]);
  for (size_t i = 0; i < room_for_syncs && to < UINTPTR_MAX; i++)
    if (syncs[i] && syncs[i]->at >= from && syncs[i]->at < to && !syncs[i]->holder && !syncs[i]->shared) empty(syncs[i]);
}

static void __attribute__((noreturn)) fail_race(const struct seen *before, const struct seen *now) {
  const char *how = now->writes ? "writes" : "reads", *was = before->writes ? "writes" : "reads";
  const char *who = now->by ? now->by : "one thread", *other = before->by ? before->by : "another one";
  const char *said = "%s %s memory here that %s %s at {@%lx}, and nothing orders the two threads";
  if (now->by || before->by) fail_at(now->site, "local concurrency", said, who, how, other, was, before->site);
  fail_at(now->site, "data race", said, who, how, other, was, before->site);
}

/* Whether the access before is needed no more, because of this one. It is ordered before. */
static bool replaces(const struct seen *now, const struct seen *before) {
  return !(before->bytes & ~now->bytes) && (now->writes || !before->writes) && (before->is_atomic || !now->is_atomic);
}

static void see_grain(struct grain *grain, struct seen now, const struct thread *own) {
  for (struct seen **at = &grain->seen; *at;) {
    struct seen *before = *at;
    bool is_ordered = before->thread == own->number || order_knows(&own->order, before->thread, before->clock);
    if (before->thread == own->number && before->clock == now.clock && replaces(before, &now)) return;
    bool conflicts = (before->bytes & now.bytes) && (before->writes || now.writes) && !(before->is_atomic && now.is_atomic);
    if (!is_ordered && conflicts) fail_race(before, &now);
    if (is_ordered && replaces(&now, before)) {
      *at = before->next;
      before->next = unused;
      unused = before;
      continue;
    }
    at = &before->next;
  }
  struct seen *made = unused;
  if (made) unused = made->next;
  else made = allocate(sizeof *made);
  *made = now;
  made->next = grain->seen;
  grain->seen = made;
}

/* A thread that only reads the same place gives way: it waits for a change. */
enum { SPINS = 10000 };
static void spin(struct thread *own, uintptr_t from, uintptr_t site) {
  bool is_again = own->spins_at == site && own->spins_on == from;
  own->spins = is_again ? own->spins + 1 : 0;
  own->spins_at = site, own->spins_on = from;
  if (own->spins > SPINS) thread_gives_way(site);
}

void races_see(uintptr_t from, size_t length, enum access access, bool is_atomic, uintptr_t site, const char *by) {
  struct thread *own = thread_self();
  if (length == 0 || is_child) return;
  if (access == READS && !is_atomic) spin(own, from, site);
  else own->spins = 0;
  lengthen(&own->order, own->number + 1);
  struct seen now = {.site = site, .by = by, .thread = own->number, .clock = own->order.at[own->number], .writes = access & WRITES, .is_atomic = is_atomic};
  for (uintptr_t at = from & ~(uintptr_t)7; at < from + length; at += 8) {
    size_t first = at < from ? from - at : 0, end = from + length - at < 8 ? from + length - at : 8;
    now.bytes = (uint8_t)((0xff << first) & (0xff >> (8 - end)));
    see_grain(grain_of(at >> 3), now, own);
  }
}

void races_free(uintptr_t from, size_t length, uintptr_t site) {
  races_see(from, length, WRITES, false, site, NULL);
  races_forget(from, from + length);
  races_see(from, length, WRITES, false, site, NULL);
}
