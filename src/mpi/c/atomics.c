/* The atomic operations of the program, which `mazurka mpicc` compiles to calls. Each is a step of
 * its thread. Memory is sequentially consistent, but an operation orders only what its memory order
 * says: a race is found if a weaker order allows it.
 *
 * What was released is kept for each place until the next store: a store that releases nothing ends
 * that, and an operation that replaces the value goes on with it (a release sequence). */
#include "turns.h"

static bool acquires(int order) { return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST; }
static bool releases(int order) { return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST; }

static void step(const volatile void *at, size_t size, enum access access) {
  STEP(at, size, access);
  memory_see_atomic((const void *)at, size, access, call.site);
}

static void acquire(const volatile void *at, int order) {
  if (!races_matter) return;
  struct sync *sync = sync_of((const void *)at);
  if (acquires(order)) sync_acquire(&sync->order);
  else order_join(&thread_self()->to_learn, &sync->order);
}

static void release_at(const volatile void *at, int order, bool goes_on) {
  if (!races_matter) return;
  struct sync *sync = sync_of((const void *)at);
  static const struct order nothing;
  if (!goes_on) order_copy(&sync->order, &nothing);
  if (releases(order)) sync_release(&sync->order);
  else order_join(&sync->order, &thread_self()->to_publish);
}

static void looked(uint64_t value) {
  if (threads_are_many()) thread_saw(OF_VALUE, value);
}

#define ATOMIC(bits, type)                                                                                   \
  type __tsan_atomic##bits##_load(const volatile type *at, int order) {                                       \
    CALLED("an atomic load");                                                                                 \
    step(at, sizeof(type), READS);                                                                            \
    type value = __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                       \
    looked((uint64_t)value);                                                                                  \
    return acquire(at, order), value;                                                                         \
  }                                                                                                           \
  void __tsan_atomic##bits##_store(volatile type *at, type value, int order) {                                \
    CALLED("an atomic store");                                                                                \
    step(at, sizeof(type), WRITES);                                                                           \
    release_at(at, order, false);                                                                             \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                            \
  }                                                                                                           \
  type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order) {                             \
    CALLED("an atomic exchange");                                                                             \
    CHANGES(at, order);                                                                                       \
    type old = __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                              \
    if (old == value) looked((uint64_t)value);                                                                \
    return old;                                                                                               \
  }                                                                                                           \
  CHANGE(bits, type, add) CHANGE(bits, type, sub) CHANGE(bits, type, and)                                     \
  CHANGE(bits, type, or) CHANGE(bits, type, xor) CHANGE(bits, type, nand)                                     \
  static bool replace##bits(volatile type *at, type *old, type new, int one, int two) {                       \
    step(at, sizeof(type), WRITES);                                                                           \
    bool is_done = __atomic_compare_exchange_n(at, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
    acquire(at, is_done ? one : two);                                                                         \
    if (is_done) release_at(at, one, true);                                                                   \
    else looked((uint64_t)*old);                                                                              \
    return is_done;                                                                                           \
  }                                                                                                           \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *old, type new, int one, int two) { \
    CALLED("an atomic compare and exchange");                                                                 \
    return replace##bits(at, old, new, one, two);                                                             \
  }                                                                                                           \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *old, type new, int one, int two) { \
    CALLED("an atomic compare and exchange");                                                                 \
    return replace##bits(at, old, new, one, two);                                                             \
  }                                                                                                           \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type old, type new, int one, int two) {  \
    CALLED("an atomic compare and exchange");                                                                 \
    replace##bits(at, &old, new, one, two);                                                                   \
    return old;                                                                                               \
  }
#define CHANGES(at, order) step(at, sizeof *(at), WRITES), acquire(at, order), release_at(at, order, true)
#define CHANGE(bits, type, name)                                                                              \
  type __tsan_atomic##bits##_fetch_##name(volatile type *at, type value, int order) {                         \
    CALLED("an atomic operation");                                                                            \
    CHANGES(at, order);                                                                                       \
    return __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST);                                                \
  }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

/* What a fence releases, later stores publish; what earlier loads saw, it acquires. */
void __tsan_atomic_thread_fence(int order) {
  struct thread *own = thread_self();
  if (!races_matter) return;
  if (acquires(order)) sync_acquire(&own->to_learn);
  if (releases(order)) order_copy(&own->to_publish, &(struct order){0}), sync_release(&own->to_publish);
}
void __tsan_atomic_signal_fence(int order) { (void)order; }
