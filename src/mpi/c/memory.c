/* The memory accesses of the program. `mazurka mpicc` compiles with -fsanitize=thread, so each
 * access calls one of these functions. While an operation owns memory (for example, a receive owns
 * its buffer), the program must not access it, or not write it, and neither must other operations
 * and calls. At any time there are only a few such ranges, and usually none. */
#include "turns.h"

struct range {
  uint32_t owner;
  uintptr_t from, to;
  enum access by_operation;
  const char *name;
  uintptr_t site;
  /* no call waits for the operation any more; it is over at the latest when the rank learns
   * something */
  bool is_forgotten;
  bool is_abandoned; /* its end will not be observed */
};
static struct range *ranges;
static size_t count_of_ranges, room_of_ranges;
static uint32_t owners;
/* All ranges lie between these. */
static uintptr_t lowest = UINTPTR_MAX, highest;
/* All windows lie between these. */
static uintptr_t lowest_watched = UINTPTR_MAX, highest_watched;

static bool is_watched(uintptr_t from, size_t length) {
  return from < highest_watched && from + length > lowest_watched;
}

static void add_range(uint32_t owner, uintptr_t from, size_t length, enum access by_operation) {
  if (count_of_ranges == room_of_ranges) {
    room_of_ranges = 2 * room_of_ranges + 8;
    ranges = grow(ranges, room_of_ranges * sizeof *ranges);
  }
  ranges[count_of_ranges++] = (struct range){owner, from, from + length, by_operation, call.name, call.site, false, false};
  if (from < lowest) lowest = from;
  if (from + length > highest) highest = from + length;
  if (is_watched(from, length)) windows_own(owner, from, length, by_operation);
}

/* An operation or call accesses this memory, as the present thread. */
static void see_call(uintptr_t from, size_t length, enum access access, uintptr_t site, const char *name) {
  if (races_matter) races_see(from, length, access & WRITES ? WRITES : READS, false, site, name);
}

/* One of the first ranges that overlaps this memory, if the range or the access writes. */
static const struct range *rival(size_t first_ones, uintptr_t from, uintptr_t to, enum access access) {
  for (size_t i = 0; i < first_ones; i++) {
    const struct range *range = &ranges[i];
    bool overlap = from < range->to && range->from < to;
    if (overlap && ((access | range->by_operation) & WRITES)) return range;
  }
  return NULL;
}

static void check_rivals(size_t first_ones, uintptr_t from, size_t length, enum access access, const char *parameter) {
  const struct range *range = rival(first_ones, from, from + length, access);
  if (range)
    fail("local concurrency", "%s is still in use by %s at {@%lx}", parameter, range->name, range->site);
}

/* The number of ranges of other operations. The ranges of one operation are consecutive, since it
 * gets all of them before another one begins. */
static size_t of_others(uint32_t owner) {
  size_t others = count_of_ranges;
  while (others > 0 && ranges[others - 1].owner == owner) others--;
  return others;
}

/* The first of its ranges. */
static size_t of_owner(uint32_t owner) {
  size_t first = 0;
  while (first < count_of_ranges && ranges[first].owner != owner) first++;
  return first;
}

static void own(uint32_t owner, uintptr_t from, size_t length, enum access by_operation) {
  if (length == 0) return;
  size_t others = of_others(owner);
  check_rivals(others, from, length, by_operation, "its buffer");
  see_call(from, length, by_operation, call.site, call.name);
  if (count_of_ranges > others) {
    struct range *last = &ranges[count_of_ranges - 1];
    bool is_same = last->by_operation == by_operation && last->to == from && !is_watched(from, length);
    if (is_same) last->to = from + length;
    if (is_same && last->to > highest) highest = last->to;
    if (is_same) return;
  }
  add_range(owner, from, length, by_operation);
}

static int by_start(const void *one, const void *other) {
  uintptr_t a = ((const struct range *)one)->from, b = ((const struct range *)other)->from;
  return a < b ? -1 : a > b;
}

bool memory_overlaps(uint32_t owned) {
  size_t first = of_others(owned), count = count_of_ranges - first;
  if (!owned || count < 2) return false;
  size_t size = count * sizeof *ranges;
  struct range *sorted = memcpy(allocate(size), &ranges[first], size);
  qsort(sorted, count, sizeof *sorted, by_start);
  /* Of the ranges before: the greatest end, and the greatest end of those that are written. */
  uintptr_t read = 0, written = 0;
  bool overlaps = false;
  for (size_t i = 0; i < count; i++) {
    bool writes = sorted[i].by_operation & WRITES;
    overlaps |= sorted[i].from < written || (writes && sorted[i].from < read);
    if (sorted[i].to > read) read = sorted[i].to;
    if (writes && sorted[i].to > written) written = sorted[i].to;
  }
  release(sorted);
  return overlaps;
}

void memory_own_more(uint32_t *owned, const void *base, size_t count, const struct type *type, enum access by_operation) {
  if (!base || count == 0) return;
  if (!*owned) *owned = ++owners;
  if (type->pieces == 1 && (ptrdiff_t)type->size == type->extent) {
    own(*owned, (uintptr_t)base + (uintptr_t)type->piece->at, count * type->size, by_operation);
    return;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t p = 0; p < type->pieces; p++) {
      uintptr_t from = (uintptr_t)base + i * (uintptr_t)type->extent + (uintptr_t)type->piece[p].at;
      own(*owned, from, type->piece[p].run.count * basic_size(type->piece[p].run.basic), by_operation);
    }
}

uint32_t memory_own(const void *base, size_t count, const struct type *type, enum access by_operation) {
  uint32_t owned = 0;
  memory_own_more(&owned, base, count, type, by_operation);
  return owned;
}

static void release_if(bool (*is_over)(const struct range *range, uint32_t owner), uint32_t owner) {
  size_t kept = 0;
  lowest = UINTPTR_MAX, highest = 0;
  for (size_t i = 0; i < count_of_ranges; i++) {
    if (is_over(&ranges[i], owner)) continue;
    ranges[kept++] = ranges[i];
    if (ranges[i].from < lowest) lowest = ranges[i].from;
    if (ranges[i].to > highest) highest = ranges[i].to;
  }
  count_of_ranges = kept;
}

static bool is_of(const struct range *range, uint32_t owner) { return range->owner == owner; }
static bool is_forgotten(const struct range *range, uint32_t owner) { return (void)owner, range->is_forgotten; }

void memory_release(uint32_t owned) {
  if (!owned) return;
  for (size_t i = of_owner(owned); races_matter && i < count_of_ranges && ranges[i].owner == owned; i++)
    see_call(ranges[i].from, ranges[i].to - ranges[i].from, ranges[i].by_operation, ranges[i].site, ranges[i].name);
  release_if(is_of, owned);
  if (highest_watched) windows_disown(owned);
  file_records_disown(owned);
}

void memory_forget(uint32_t owned, bool is_over_soon) {
  for (size_t i = 0; i < count_of_ranges; i++) {
    if (ranges[i].owner != owned) continue;
    ranges[i].is_forgotten = is_over_soon;
    ranges[i].is_abandoned = !is_over_soon;
  }
}

void memory_learn(void) {
  if (count_of_ranges) release_if(is_forgotten, 0);
}

void *memory_use(const void *at, size_t size, enum access access, const char *parameter) {
  uintptr_t from = (uintptr_t)at;
  if (size == 0) return (void *)at;
  if (!at) fail("invalid argument", "%s is a null pointer", parameter);
  check_rivals(count_of_ranges, from, size, access, parameter);
  see_call(from, size, access, call.site, call.name);
  if (is_watched(from, size)) windows_see(from, size, access, call.site);
  return (void *)at;
}

void memory_use_values(const void *base, size_t count, const struct type *type, enum access access, const char *parameter) {
  check_buffer(base, count, type, parameter);
  check_memory(base, base, count, type, parameter);
  uint32_t owned = memory_own(base, count, type, access);
  if (memory_overlaps(owned)) fail("invalid datatype", "%s has some memory twice", parameter);
  memory_release(owned);
}

const char *text_in(const char *text, const char *parameter) {
  return memory_use(text, text ? strlen(text) + 1 : 1, READS, parameter);
}

int text_out(char *to, const char *text) {
  size_t length = strlen(text);
  memcpy(memory_use(to, length + 1, WRITES, "the text"), text, length + 1);
  return (int)length;
}

void memory_check_gone(uintptr_t from, uintptr_t to, uintptr_t site, const char *how) {
  if (from < highest_watched && to > lowest_watched) windows_check_gone(from, to, site, how);
  for (size_t i = 0; i < count_of_ranges; i++) {
    const struct range *range = &ranges[i];
    bool is_known = !range->is_forgotten && !range->is_abandoned;
    if (range->from < to && from < range->to && is_known && !env_is_over())
      fail_at(site, "local concurrency", "the program %s while %s at {@%lx} still uses it%s", how, range->name, range->site,
              is_fortran() && range->site == call.site ? " (a compiler copies a section of an array for a call, and frees the copy behind it)" : "");
  }
}

void memory_watch(const void *base, size_t size) {
  uintptr_t from = (uintptr_t)base;
  if (from < lowest_watched) lowest_watched = from;
  if (from + size > highest_watched) highest_watched = from + size;
}

static void __attribute__((noinline)) look(uintptr_t from, size_t length, enum access access, uintptr_t site) {
  if (is_watched(from, length)) {
    unseen++;
    windows_see(from, length, access, site);
  }
  const struct range *range = rival(count_of_ranges, from, from + length, access);
  if (range && !env_is_over())
    fail_at(site, "local concurrency", "the program %s memory that %s at {@%lx} still uses",
            access == WRITES ? "writes" : "reads", range->name, range->site);
}

static inline void see(const void *at, size_t length, enum access access, bool is_atomic, void *site) {
  uintptr_t from = (uintptr_t)at;
  if (races_matter) races_see(from, length, access, is_atomic, (uintptr_t)site, NULL);
  bool is_owned = from < highest && from + length > lowest;
  if (is_owned || is_watched(from, length)) look(from, length, access, (uintptr_t)site);
}
#define SITE __builtin_return_address(0)
void memory_see(const void *at, size_t length, enum access access, const void *site) { see(at, length, access, false, (void *)site); }

void memory_see_atomic(const void *at, size_t length, enum access access, uintptr_t site) {
  if (is_watched((uintptr_t)at, length)) windows_check_atomic((uintptr_t)at, length, site);
  see(at, length, access, true, (void *)site);
}

#define see_plain(at, length, access, site) see(at, length, access, false, site)
#define SIZED(size)                                                                           \
  void __tsan_read##size(void *at) { see_plain(at, size, READS, SITE); }                            \
  void __tsan_write##size(void *at) { see_plain(at, size, WRITES, SITE); }                          \
  void __tsan_unaligned_read##size(void *at) { see_plain(at, size, READS, SITE); }                  \
  void __tsan_unaligned_write##size(void *at) { see_plain(at, size, WRITES, SITE); }                \
  void __tsan_read_write##size(void *at) { see_plain(at, size, WRITES, SITE); }                     \
  void __tsan_unaligned_read_write##size(void *at) { see_plain(at, size, WRITES, SITE); }           \
  void __tsan_volatile_read##size(void *at) { see_plain(at, size, READS, SITE); }                   \
  void __tsan_volatile_write##size(void *at) { see_plain(at, size, WRITES, SITE); }                 \
  void __tsan_unaligned_volatile_read##size(void *at) { see_plain(at, size, READS, SITE); }         \
  void __tsan_unaligned_volatile_write##size(void *at) { see_plain(at, size, WRITES, SITE); }
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)
void __tsan_read_range(void *at, long length) { see_plain(at, (size_t)length, READS, SITE); }
void __tsan_write_range(void *at, long length) { see_plain(at, (size_t)length, WRITES, SITE); }
void __tsan_vptr_read(void **at) { (void)at; }
void __tsan_vptr_update(void **at, void *value) { (void)at, (void)value; }
void __tsan_func_entry(void *from) { (void)from; }
/* A function returns, and its frame ends. A frame begins with the caller's frame pointer and the
 * return address; locals are below these, or on AArch64 above. Functions that the program does not
 * call itself (main) are not judged. */
void __attribute__((noinline)) __tsan_func_exit(void) {
  if (count_of_ranges == 0 && highest_watched == 0) return;
  const uintptr_t *own = __builtin_frame_address(0), *frame = (const uintptr_t *)own[0];
  bool is_called = is_in_program(frame[1]);
#if defined(__x86_64__)
  uintptr_t end = (uintptr_t)(frame + 2);
#else
  uintptr_t end = frame[0];
#endif
  if (is_called) memory_check_gone((uintptr_t)own, end, (uintptr_t)SITE, "leaves the function with this memory");
}
void __tsan_init(void) {}
void *__tsan_memcpy(void *to, const void *from, size_t length) {
  see_plain(from, length, READS, SITE);
  see_plain(to, length, WRITES, SITE);
  return memcpy(to, from, length);
}
void *__tsan_memmove(void *to, const void *from, size_t length) {
  see_plain(from, length, READS, SITE);
  see_plain(to, length, WRITES, SITE);
  return memmove(to, from, length);
}
void *__tsan_memset(void *to, int value, size_t length) {
  see_plain(to, length, WRITES, SITE);
  return memset(to, value, length);
}
