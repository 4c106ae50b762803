/* The functions of POSIX for threads: their steps, and what they order. The C library does the rest:
 * its own functions are called when they need not wait. */
#include "turns.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

static bool is_outside(void) { return !is_verified || is_child; }

WEAK int pthread_create(pthread_t *made, const pthread_attr_t *how, void *(*body)(void *), void *with) {
  CALLED("pthread_create");
  return thread_start(made, how, body, with);
}

static bool has_ended(const struct thread *thread) { return ((const struct thread *)thread->next.about)->state == HAS_ENDED; }

WEAK int pthread_join(pthread_t handle, void **result) {
  CALLED("pthread_join");
  struct thread *other = is_outside() ? NULL : thread_of(handle);
  if (other == thread_self()) return EDEADLK;
  if (other && !other->is_detached) thread_waits(has_ended, other, 0);
  int error = REAL(pthread_join)(handle, result);
  if (other && !error) thread_join(other);
  return error;
}

WEAK int pthread_detach(pthread_t handle) {
  struct thread *other = is_outside() ? NULL : thread_of(handle);
  int error = REAL(pthread_detach)(handle);
  if (other && !error) other->is_detached = true, other->is_joined = other->state == HAS_ENDED;
  return error;
}

/* Functions whose effects are not explored. */
#define NOT_EXPLORED(result, name, parameters)                                  \
  WEAK result name parameters {                                                 \
    CALLED(#name);                                                              \
    refuse("what " #name " does to a thread is not explored");                  \
  }
NOT_EXPLORED(int, pthread_cancel, (pthread_t handle __attribute__((unused))))
NOT_EXPLORED(int, pthread_tryjoin_np, (pthread_t handle __attribute__((unused)), void **result __attribute__((unused))))
NOT_EXPLORED(int, pthread_timedjoin_np, (pthread_t handle __attribute__((unused)), void **result __attribute__((unused)),
                                         const struct timespec *until __attribute__((unused))))

/* Mutexes. `holder` is known beside what the C library knows. */
bool is_lock_free(const struct thread *thread) {
  const struct sync *sync = thread->next.about;
  return !sync->holder && !sync->shared;
}

static void step_at(const void *object, const struct sync *sync, bool (*is_enabled)(const struct thread *), enum access access,
                    bool is_try, bool may_time_out) {
  if (threads_are_many() || is_enabled)
    thread_step((struct operation){IN_ORDER, (uintptr_t)object, (uintptr_t)object + 1, access, is_try, may_time_out, is_enabled, NULL, sync, 0});
}

/* The lock is given. */
static void take_lock(struct sync *sync) {
  sync->holder = thread_self();
  sync->changes += sync->last != sync->holder;
  sync->last = sync->holder;
  sync->depth++;
  sync_acquire(&sync->order);
  sync_acquire(&sync->readers);
}

static bool is_recursive(pthread_mutex_t *mutex) { return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP; }
static bool is_checked(pthread_mutex_t *mutex) { return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP; }

static int lock(pthread_mutex_t *mutex, bool may_time_out) {
  if (is_outside()) return REAL(pthread_mutex_lock)(mutex);
  struct sync *sync = sync_of(mutex);
  struct thread *own = thread_self();
  bool is_again = sync->holder == own;
  if (is_again && is_checked(mutex)) return EDEADLK;
  if (!is_again || !is_recursive(mutex)) {
    step_at(mutex, sync, is_lock_free, WRITES, false, may_time_out);
    if (own->has_timed_out) return ETIMEDOUT;
    thread_saw(OF_LOCK, sync->changes);
  }
  __typeof__(pthread_mutex_lock) *real = REAL(pthread_mutex_lock);
  int error = real ? real(mutex) : 0;
  if (!error || error == EOWNERDEAD) take_lock(sync);
  return error;
}

WEAK int pthread_mutex_lock(pthread_mutex_t *mutex) {
  CALLED("pthread_mutex_lock");
  return lock(mutex, false);
}

WEAK int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
  CALLED("pthread_mutex_timedlock");
  (void)until;
  return lock(mutex, true);
}
WEAK int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t which, const struct timespec *until) {
  CALLED("pthread_mutex_clocklock");
  (void)which, (void)until;
  return lock(mutex, true);
}

/* If nothing orders the last unlock before this thread, the lock may as well have been held. */
static bool may_be_held(const struct sync *sync) {
  const struct order *own = &thread_self()->order;
  for (uint32_t i = 0; i < sync->order.length; i++)
    if (!order_knows(own, i, sync->order.at[i])) return true;
  for (uint32_t i = 0; i < sync->readers.length; i++)
    if (!order_knows(own, i, sync->readers.at[i])) return true;
  return false;
}

/* Whether a function that tries to get a free lock finds it held: explored, if both are possible.
 * In a loop, a few times are enough for each unlock. */
static bool finds_held(struct sync *sync) {
  struct thread *own = thread_self();
  bool was_held = own->failed_at == sync && own->failed_before == sync->unlocks && thread_goes_round();
  if (!threads_are_many() || was_held || !may_be_held(sync) || !thread_choose(2)) return false;
  own->failed_at = sync;
  own->failed_before = sync->unlocks;
  return true;
}

WEAK int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  CALLED("pthread_mutex_trylock");
  if (is_outside()) return REAL(pthread_mutex_trylock)(mutex);
  struct sync *sync = sync_of(mutex);
  step_at(mutex, sync, NULL, WRITES, true, false);
  bool is_held = sync->holder && !(sync->holder == thread_self() && is_recursive(mutex));
  if (is_held || (!sync->holder && finds_held(sync))) {
    thread_saw(OF_VALUE, 0);
    return EBUSY;
  }
  __typeof__(pthread_mutex_trylock) *real = REAL(pthread_mutex_trylock);
  int error = real ? real(mutex) : 0;
  if (!error || error == EOWNERDEAD) take_lock(sync);
  return error;
}

WEAK int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  CALLED("pthread_mutex_unlock");
  __typeof__(pthread_mutex_unlock) *real = REAL(pthread_mutex_unlock);
  if (is_outside()) return real(mutex);
  struct sync *sync = sync_of(mutex);
  bool is_own = sync->holder == thread_self();
  int error = real ? real(mutex) : is_own ? 0 : EPERM;
  if (!is_own && !error) fail("threads", "the mutex is not locked by the thread that unlocks it");
  if (error || --sync->depth > 0) return error;
  sync->holder = NULL;
  sync->unlocks++;
  sync_release(&sync->order);
  thread_frees(mutex);
  return 0;
}

WEAK int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *how) {
  sync_forget(mutex);
  __typeof__(pthread_mutex_init) *real = REAL(pthread_mutex_init);
  if (real) return real(mutex, how);
  *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  int kind = PTHREAD_MUTEX_NORMAL;
  if (how) pthread_mutexattr_gettype(how, &kind);
  mutex->__data.__kind = kind;
  return 0;
}

WEAK int pthread_mutex_destroy(pthread_mutex_t *mutex) {
  CALLED("pthread_mutex_destroy");
  if (!is_outside() && sync_of(mutex)->holder) fail("threads", "a mutex is destroyed that is locked");
  sync_forget(mutex);
  __typeof__(pthread_mutex_destroy) *real = REAL(pthread_mutex_destroy);
  return real ? real(mutex) : 0;
}

/* Condition variables. A thread waits from one step to another one, in which it has the mutex. It
 * is woken by a signal, or its time is over; it does not wake for no reason. */
static bool is_woken_and_free(const struct thread *thread) { return thread->is_woken && is_lock_free(thread); }

static int wait(pthread_cond_t *condition, pthread_mutex_t *mutex, bool may_time_out) {
  struct thread *own = thread_self();
  struct sync *sync = sync_of(mutex);
  if (sync->holder != own) fail("threads", "the thread waits at a condition variable with a mutex that it has not locked");
  STEP(condition, 1, WRITES);
  own->waits_at = condition;
  own->is_woken = false;
  uint32_t depth = sync->depth;
  for (uint32_t i = 0; i < depth; i++) pthread_mutex_unlock(mutex);
  step_at(mutex, sync, is_woken_and_free, WRITES, false, may_time_out);
  bool has_timed_out = own->has_timed_out && !own->is_woken;
  own->waits_at = NULL;
  if (has_timed_out) step_at(mutex, sync, is_lock_free, WRITES, false, false);
  for (uint32_t i = 0; i < depth; i++) {
    REAL(pthread_mutex_lock)(mutex);
    take_lock(sync);
  }
  return has_timed_out ? ETIMEDOUT : 0;
}

WEAK int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  CALLED("pthread_cond_wait");
  return is_outside() ? REAL(pthread_cond_wait)(condition, mutex) : wait(condition, mutex, false);
}
WEAK int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
  CALLED("pthread_cond_timedwait");
  return is_outside() ? REAL(pthread_cond_timedwait)(condition, mutex, until) : wait(condition, mutex, true);
}
WEAK int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t which, const struct timespec *until) {
  CALLED("pthread_cond_clockwait");
  (void)which, (void)until;
  return wait(condition, mutex, true);
}

/* Wakes one of those who wait, each of which is explored, or all of them. */
static void wake(const pthread_cond_t *condition, bool all) {
  STEP(condition, 1, WRITES);
  struct thread *woken[MOST_THREADS];
  uint32_t count = 0;
  struct thread *thread;
  for (unsigned i = 0; (thread = thread_at(i)); i++)
    if (thread->waits_at == condition && !thread->is_woken && thread->state == IS_AT) woken[count++] = thread;
  if (count == 0) return;
  uint32_t one = all ? 0 : thread_choose(count);
  for (uint32_t i = 0; i < count; i++)
    if (all || i == one) woken[i]->is_woken = true, woken[i]->sleeps = false;
}

WEAK int pthread_cond_signal(pthread_cond_t *condition) {
  CALLED("pthread_cond_signal");
  if (is_outside()) return REAL(pthread_cond_signal)(condition);
  return wake(condition, false), 0;
}
WEAK int pthread_cond_broadcast(pthread_cond_t *condition) {
  CALLED("pthread_cond_broadcast");
  if (is_outside()) return REAL(pthread_cond_broadcast)(condition);
  return wake(condition, true), 0;
}

/* Locks for one writer or several readers. */
static bool is_free_to_read(const struct thread *thread) { return !((const struct sync *)thread->next.about)->holder; }

static void take_shared(struct sync *sync) {
  sync->shared++;
  sync_acquire(&sync->order);
}

static int lock_shared(pthread_rwlock_t *lock, bool may_time_out) {
  if (is_outside()) return REAL(pthread_rwlock_rdlock)(lock);
  struct sync *sync = sync_of(lock);
  if (sync->holder == thread_self()) return EDEADLK;
  step_at(lock, sync, is_free_to_read, READS, false, may_time_out);
  if (thread_self()->has_timed_out) return ETIMEDOUT;
  thread_saw(OF_LOCK, sync->changes);
  int error = REAL(pthread_rwlock_rdlock)(lock);
  if (!error) take_shared(sync);
  return error;
}
static int lock_alone(pthread_rwlock_t *lock, bool may_time_out) {
  if (is_outside()) return REAL(pthread_rwlock_wrlock)(lock);
  struct sync *sync = sync_of(lock);
  if (sync->holder == thread_self()) return EDEADLK;
  step_at(lock, sync, is_lock_free, WRITES, false, may_time_out);
  if (thread_self()->has_timed_out) return ETIMEDOUT;
  thread_saw(OF_LOCK, sync->changes);
  int error = REAL(pthread_rwlock_wrlock)(lock);
  if (!error) take_lock(sync);
  return error;
}

WEAK int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  CALLED("pthread_rwlock_rdlock");
  return lock_shared(lock, false);
}
WEAK int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until) {
  CALLED("pthread_rwlock_timedrdlock");
  (void)until;
  return lock_shared(lock, true);
}
WEAK int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  CALLED("pthread_rwlock_wrlock");
  return lock_alone(lock, false);
}
WEAK int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until) {
  CALLED("pthread_rwlock_timedwrlock");
  (void)until;
  return lock_alone(lock, true);
}

static int try_lock(pthread_rwlock_t *lock, bool alone) {
  struct sync *sync = sync_of(lock);
  step_at(lock, sync, NULL, WRITES, true, false);
  bool is_held = sync->holder || (alone && sync->shared);
  if (is_held || finds_held(sync)) {
    thread_saw(OF_VALUE, 0);
    return EBUSY;
  }
  int error = alone ? REAL(pthread_rwlock_trywrlock)(lock) : REAL(pthread_rwlock_tryrdlock)(lock);
  if (!error && alone) take_lock(sync);
  if (!error && !alone) take_shared(sync);
  return error;
}
WEAK int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
  CALLED("pthread_rwlock_tryrdlock");
  return is_outside() ? REAL(pthread_rwlock_tryrdlock)(lock) : try_lock(lock, false);
}
WEAK int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
  CALLED("pthread_rwlock_trywrlock");
  return is_outside() ? REAL(pthread_rwlock_trywrlock)(lock) : try_lock(lock, true);
}
WEAK int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  CALLED("pthread_rwlock_unlock");
  if (is_outside()) return REAL(pthread_rwlock_unlock)(lock);
  struct sync *sync = sync_of(lock);
  if (!sync->holder && !sync->shared) fail("threads", "a lock is unlocked that is not locked");
  int error = REAL(pthread_rwlock_unlock)(lock);
  sync->unlocks++;
  if (sync->holder) sync->holder = NULL, sync->depth = 0, sync_release(&sync->order);
  else sync->shared--, sync_release(&sync->readers);
  thread_frees(lock);
  return error;
}
WEAK int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *how) {
  sync_forget(lock);
  return REAL(pthread_rwlock_init)(lock, how);
}

/* Locks that only this library knows. */
void thread_locks(const void *at) {
  struct sync *sync = sync_of(at);
  step_at(at, sync, is_lock_free, WRITES, false, false);
  thread_saw(OF_LOCK, sync->changes);
  take_lock(sync);
}
bool thread_tries(const void *at) {
  struct sync *sync = sync_of(at);
  step_at(at, sync, NULL, WRITES, true, false);
  bool is_held = sync->holder || finds_held(sync);
  if (is_held) thread_saw(OF_VALUE, 0);
  else take_lock(sync);
  return !is_held;
}
void thread_unlocks(const void *at) {
  struct sync *sync = sync_of(at);
  if (sync->holder != thread_self()) fail("threads", "a lock is unlocked by a thread that has not locked it");
  if (--sync->depth > 0) return;
  sync->holder = NULL;
  sync->unlocks++;
  sync_release(&sync->order);
  thread_frees(at);
}

/* Spin locks. */
WEAK int pthread_spin_init(pthread_spinlock_t *lock, int shared) {
  sync_forget((const void *)lock);
  return REAL(pthread_spin_init)(lock, shared);
}
WEAK int pthread_spin_lock(pthread_spinlock_t *lock) {
  CALLED("pthread_spin_lock");
  if (!is_outside()) thread_locks((const void *)lock);
  return REAL(pthread_spin_lock)(lock);
}
WEAK int pthread_spin_trylock(pthread_spinlock_t *lock) {
  CALLED("pthread_spin_trylock");
  if (!is_outside() && !thread_tries((const void *)lock)) return EBUSY;
  return REAL(pthread_spin_trylock)(lock);
}
WEAK int pthread_spin_unlock(pthread_spinlock_t *lock) {
  CALLED("pthread_spin_unlock");
  if (!is_outside()) thread_unlocks((const void *)lock);
  return REAL(pthread_spin_unlock)(lock);
}

/* Barriers. The last thread to arrive is the one that is told so. */
WEAK int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *how, unsigned count) {
  sync_forget(barrier);
  int error = REAL(pthread_barrier_init)(barrier, how, count);
  if (!error) sync_of(barrier)->count = count;
  return error;
}
static bool is_round_over(const struct thread *thread) { return ((const struct sync *)thread->next.about)->round != thread->next.number; }
WEAK int pthread_barrier_wait(pthread_barrier_t *barrier) {
  CALLED("pthread_barrier_wait");
  if (is_outside()) return REAL(pthread_barrier_wait)(barrier);
  struct sync *sync = sync_of(barrier);
  if (sync->count == 0) fail("threads", "the barrier is not initialized");
  /* What is released in the next round must not be known in this one. */
  struct order *round = sync->round % 2 ? &sync->readers : &sync->order;
  sync_release(round);
  uint32_t now = sync->round;
  bool is_last = ++sync->arrived == sync->count;
  if (is_last) {
    sync->round++;
    sync->arrived = 0;
  } else {
    thread_waits(is_round_over, sync, now);
  }
  sync_acquire(round);
  return is_last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

/* Code that runs once. */
static bool is_once_over(const struct thread *thread) { return ((const struct sync *)thread->next.about)->count != 1; }
WEAK int pthread_once(pthread_once_t *control, void (*body)(void)) {
  CALLED("pthread_once");
  if (is_outside()) return REAL(pthread_once)(control, body);
  struct sync *sync = sync_of(control);
  if (sync->count != 2) STEP(control, 1, WRITES);
  while (sync->count == 1) thread_waits(is_once_over, sync, 0);
  if (sync->count == 0) {
    sync->count = 1;
    int error = REAL(pthread_once)(control, body);
    sync->count = 2;
    sync_release(&sync->order);
    return error;
  }
  sync_acquire(&sync->order);
  return 0;
}

/* Semaphores. To post one is a step, since others may look at its value. */
static int value_of(sem_t *semaphore) {
  int value = 0;
  REAL(sem_getvalue)(semaphore, &value);
  return value;
}
static bool is_positive(const struct thread *thread) { return value_of((sem_t *)(uintptr_t)thread->next.from) > 0; }

static int wait_at(sem_t *semaphore, bool may_time_out) {
  struct sync *sync = sync_of(semaphore);
  step_at(semaphore, sync, is_positive, WRITES, false, may_time_out);
  if (thread_self()->has_timed_out) return errno = ETIMEDOUT, -1;
  sync_acquire(&sync->order);
  return REAL(sem_wait)(semaphore);
}
WEAK int sem_wait(sem_t *semaphore) {
  CALLED("sem_wait");
  return is_outside() ? REAL(sem_wait)(semaphore) : wait_at(semaphore, false);
}
WEAK int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
  CALLED("sem_timedwait");
  return is_outside() ? REAL(sem_timedwait)(semaphore, until) : wait_at(semaphore, true);
}
WEAK int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
  CALLED("sem_clockwait");
  return is_outside() ? REAL(sem_clockwait)(semaphore, clock, until) : wait_at(semaphore, true);
}
WEAK int sem_trywait(sem_t *semaphore) {
  CALLED("sem_trywait");
  if (is_outside()) return REAL(sem_trywait)(semaphore);
  STEP(semaphore, 1, WRITES);
  int result = REAL(sem_trywait)(semaphore);
  if (result == 0) sync_acquire(&sync_of(semaphore)->order);
  else thread_saw(OF_VALUE, 0);
  return result;
}
WEAK int sem_post(sem_t *semaphore) {
  CALLED("sem_post");
  if (is_outside()) return REAL(sem_post)(semaphore);
  STEP(semaphore, 1, WRITES);
  sync_release(&sync_of(semaphore)->order);
  return REAL(sem_post)(semaphore);
}
WEAK int sem_getvalue(sem_t *semaphore, int *value) {
  CALLED("sem_getvalue");
  if (!is_outside()) STEP(semaphore, 1, READS);
  int result = REAL(sem_getvalue)(semaphore, value);
  if (!is_outside()) thread_saw(OF_VALUE, (uint64_t)*value);
  return result;
}

/* To sleep is no step, but in a loop others go first. */
WEAK int sched_yield(void) {
  thread_gives_way((uintptr_t)__builtin_return_address(0));
  return 0;
}
