/* What the program reads and writes. `mazurka mpicc` compiles with -fsanitize=thread, which calls a function at each access;
 * these are they. While an operation owns memory (a receive its buffer, say), the program must not touch it, or must not
 * write it. There are few such ranges at a time, and mostly none. */
#include "rank.h"

struct range {
  uint32_t owner;
  uintptr_t from, to;
  enum access by_operation;
  const char *name;
  uintptr_t site;
};
static struct range *ranges;
static size_t count_of_ranges, room_of_ranges;
static uint32_t owners;
/* All ranges lie between these. */
static uintptr_t lowest = UINTPTR_MAX, highest;
/* So do all windows. */
static uintptr_t lowest_watched = UINTPTR_MAX, highest_watched;

static void add_range(uint32_t owner, uintptr_t from, size_t length, enum access by_operation) {
  if (length == 0) return;
  if (count_of_ranges == room_of_ranges) {
    room_of_ranges = 2 * room_of_ranges + 8;
    ranges = grow(ranges, room_of_ranges * sizeof *ranges);
  }
  ranges[count_of_ranges++] = (struct range){owner, from, from + length, by_operation, call.name, call.site};
  if (from < lowest) lowest = from;
  if (from + length > highest) highest = from + length;
}

/* Two operations that own the same memory, one of them to write it. */
static void check_operations(uintptr_t from, uintptr_t to, enum access by_operation) {
  for (size_t i = 0; i < count_of_ranges; i++) {
    const struct range *range = &ranges[i];
    bool overlap = from < range->to && range->from < to;
    if (overlap && ((by_operation | range->by_operation) & WRITES))
      fail("local concurrency", "its buffer is still in use by %s at {@%lx}", range->name, range->site);
  }
}

void memory_own_more(uint32_t *owned, const void *base, size_t count, const struct type *type, enum access by_operation) {
  if (!base || count == 0) return;
  if (!*owned) *owned = ++owners;
  if (type->pieces == 1 && (ptrdiff_t)type->size == type->extent) {
    uintptr_t from = (uintptr_t)base + (uintptr_t)type->piece->at;
    check_operations(from, from + count * type->size, by_operation);
    add_range(*owned, from, count * type->size, by_operation);
    return;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t p = 0; p < type->pieces; p++) {
      uintptr_t from = (uintptr_t)base + i * (uintptr_t)type->extent + (uintptr_t)type->piece[p].at;
      add_range(*owned, from, type->piece[p].run.count * basic_size(type->piece[p].run.basic), by_operation);
    }
}

uint32_t memory_own(const void *base, size_t count, const struct type *type, enum access by_operation) {
  uint32_t owned = 0;
  memory_own_more(&owned, base, count, type, by_operation);
  return owned;
}

void memory_release(uint32_t owned) {
  if (!owned) return;
  size_t kept = 0;
  lowest = UINTPTR_MAX, highest = 0;
  for (size_t i = 0; i < count_of_ranges; i++) {
    if (ranges[i].owner == owned) continue;
    ranges[kept++] = ranges[i];
    if (ranges[i].from < lowest) lowest = ranges[i].from;
    if (ranges[i].to > highest) highest = ranges[i].to;
  }
  count_of_ranges = kept;
}

void memory_watch(const void *base, size_t size) {
  uintptr_t from = (uintptr_t)base;
  if (from < lowest_watched) lowest_watched = from;
  if (from + size > highest_watched) highest_watched = from + size;
}

static void __attribute__((noinline)) look(uintptr_t from, size_t length, enum access access, uintptr_t site) {
  if (from < highest_watched && from + length > lowest_watched) windows_see(from, length, access, site);
  for (size_t i = 0; i < count_of_ranges; i++) {
    const struct range *range = &ranges[i];
    if (from >= range->to || from + length <= range->from) continue;
    if (!((access | range->by_operation) & WRITES)) continue;
    fail_at(site, "local concurrency", "the program %s memory that %s at {@%lx} still uses",
            access == WRITES ? "writes" : "reads", range->name, range->site);
  }
}

static inline void see(const void *at, size_t length, enum access access, void *site) {
  uintptr_t from = (uintptr_t)at;
  bool is_owned = from < highest && from + length > lowest;
  bool is_watched = from < highest_watched && from + length > lowest_watched;
  if (is_owned || is_watched) look(from, length, access, (uintptr_t)site);
}
#define SITE __builtin_return_address(0)

#define SIZED(size)                                                                           \
  void __tsan_read##size(void *at) { see(at, size, READS, SITE); }                            \
  void __tsan_write##size(void *at) { see(at, size, WRITES, SITE); }                          \
  void __tsan_unaligned_read##size(void *at) { see(at, size, READS, SITE); }                  \
  void __tsan_unaligned_write##size(void *at) { see(at, size, WRITES, SITE); }                \
  void __tsan_read_write##size(void *at) { see(at, size, WRITES, SITE); }                     \
  void __tsan_unaligned_read_write##size(void *at) { see(at, size, WRITES, SITE); }           \
  void __tsan_volatile_read##size(void *at) { see(at, size, READS, SITE); }                   \
  void __tsan_volatile_write##size(void *at) { see(at, size, WRITES, SITE); }                 \
  void __tsan_unaligned_volatile_read##size(void *at) { see(at, size, READS, SITE); }         \
  void __tsan_unaligned_volatile_write##size(void *at) { see(at, size, WRITES, SITE); }
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)
void __tsan_read_range(void *at, long length) { see(at, (size_t)length, READS, SITE); }
void __tsan_write_range(void *at, long length) { see(at, (size_t)length, WRITES, SITE); }
void __tsan_vptr_read(void **at) { (void)at; }
void __tsan_vptr_update(void **at, void *value) { (void)at, (void)value; }
void __tsan_func_entry(void *from) { (void)from; }
void __tsan_func_exit(void) {}
void __tsan_init(void) {}
void *__tsan_memcpy(void *to, const void *from, size_t length) {
  see(from, length, READS, SITE);
  see(to, length, WRITES, SITE);
  return memcpy(to, from, length);
}
void *__tsan_memmove(void *to, const void *from, size_t length) {
  see(from, length, READS, SITE);
  see(to, length, WRITES, SITE);
  return memmove(to, from, length);
}
void *__tsan_memset(void *to, int value, size_t length) {
  see(to, length, WRITES, SITE);
  return memset(to, value, length);
}

/* Atomics of the program: one thread runs, so they are plain accesses. */
#define ATOMIC(bits, type)                                                                                    \
  type __tsan_atomic##bits##_load(const volatile type *at, int order) {                                       \
    return (void)order, see((void *)at, sizeof(type), READS, SITE), *at;                                      \
  }                                                                                                           \
  void __tsan_atomic##bits##_store(volatile type *at, type value, int order) {                                \
    (void)order, see((void *)at, sizeof(type), WRITES, SITE), *at = value;                                    \
  }                                                                                                           \
  type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order) {                             \
    type old = *at;                                                                                           \
    return (void)order, see((void *)at, sizeof(type), WRITES, SITE), *at = value, old;                        \
  }                                                                                                           \
  CHANGE(bits, type, add, old + value) CHANGE(bits, type, sub, old - value) CHANGE(bits, type, and, old & value) \
  CHANGE(bits, type, or, old | value) CHANGE(bits, type, xor, old ^ value) CHANGE(bits, type, nand, ~(old & value)) \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *old, type new, int one, int two) { \
    (void)one, (void)two, see((void *)at, sizeof(type), WRITES, SITE);                                        \
    if (*at == *old) return *at = new, 1;                                                                     \
    return *old = *at, 0;                                                                                     \
  }                                                                                                           \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *old, type new, int one, int two) { \
    return __tsan_atomic##bits##_compare_exchange_strong(at, old, new, one, two);                             \
  }                                                                                                           \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type old, type new, int one, int two) {  \
    __tsan_atomic##bits##_compare_exchange_strong(at, &old, new, one, two);                                   \
    return old;                                                                                               \
  }
#define CHANGE(bits, type, name, result)                                                                      \
  type __tsan_atomic##bits##_fetch_##name(volatile type *at, type value, int order) {                         \
    type old = *at;                                                                                           \
    return (void)order, see((void *)at, sizeof(type), WRITES, SITE), *at = (type)(result), old;               \
  }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
void __tsan_atomic_thread_fence(int order) { (void)order; }
void __tsan_atomic_signal_fence(int order) { (void)order; }
