/* The threads of C and C++. Those of C are threads of POSIX, with other names and numbers; the
 * library of C++ calls the functions of POSIX, but for the initialization of static variables. */
#include "turns.h"

#include <errno.h>
#include <threads.h>
#include <time.h>

static int result_of(int error) {
  switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    case ENOMEM: return thrd_nomem;
    default: return thrd_error;
  }
}

/* A thread of C returns an integer. */
struct start {
  thrd_start_t body;
  void *with;
};
static void *start_in(void *given) {
  struct start start = *(struct start *)given;
  release(given);
  return (void *)(intptr_t)start.body(start.with);
}

WEAK int thrd_create(thrd_t *made, thrd_start_t body, void *with) {
  CALLED("thrd_create");
  struct start *start = allocate(sizeof *start);
  *start = (struct start){body, with};
  return result_of(thread_start(made, NULL, start_in, start));
}
WEAK int thrd_join(thrd_t thread, int *result) {
  CALLED("thrd_join");
  void *returned = NULL;
  int error = pthread_join(thread, &returned);
  if (result) *result = (int)(intptr_t)returned;
  return result_of(error);
}
WEAK int thrd_detach(thrd_t thread) { return result_of(pthread_detach(thread)); }
WEAK void thrd_exit(int result) { pthread_exit((void *)(intptr_t)result); }
WEAK void thrd_yield(void) { thread_gives_way((uintptr_t)__builtin_return_address(0)); }
WEAK int thrd_sleep(const struct timespec *time, struct timespec *left) { return nanosleep(time, left); }

#define SAME(name, type, other, its)          \
  WEAK int name(type *object) {               \
    CALLED(#name);                            \
    return result_of(other((its *)object));   \
  }
SAME(mtx_lock, mtx_t, pthread_mutex_lock, pthread_mutex_t)
SAME(mtx_trylock, mtx_t, pthread_mutex_trylock, pthread_mutex_t)
SAME(mtx_unlock, mtx_t, pthread_mutex_unlock, pthread_mutex_t)
SAME(cnd_signal, cnd_t, pthread_cond_signal, pthread_cond_t)
SAME(cnd_broadcast, cnd_t, pthread_cond_broadcast, pthread_cond_t)
WEAK int mtx_timedlock(mtx_t *mutex, const struct timespec *until) {
  return result_of(pthread_mutex_timedlock((pthread_mutex_t *)mutex, until));
}
WEAK void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy((pthread_mutex_t *)mutex); }
WEAK int cnd_wait(cnd_t *condition, mtx_t *mutex) {
  return result_of(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}
WEAK int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) {
  return result_of(pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}
WEAK void call_once(once_flag *flag, void (*body)(void)) { pthread_once((pthread_once_t *)flag, body); }

/* The guard of a static variable: its first byte says whether the variable is there, the second one
 * whether a thread makes it. */
static bool is_made_or_free(const struct thread *thread) { return !((const char *)thread->next.about)[1]; }
WEAK int __cxa_guard_acquire(char *guard) {
  CALLED("a static variable");
  struct sync *sync = sync_of(guard);
  if (!guard[0]) STEP(guard, 1, WRITES);
  while (guard[1]) thread_waits(is_made_or_free, guard, 0);
  if (guard[0]) return sync_acquire(&sync->order), 0;
  return guard[1] = 1;
}
WEAK void __cxa_guard_release(char *guard) {
  guard[0] = 1;
  guard[1] = 0;
  sync_release(&sync_of(guard)->order);
}
WEAK void __cxa_guard_abort(char *guard) { guard[1] = 0; }
