/* The threads of a rank. The kernel schedules them: only one order of their interaction is
 * explored, and the verifier says so. MPI is called by one of them, the one that has called
 * MPI_Init.
 *
 * All of them use this library, whether they call MPI or not: they allocate memory, access memory
 * that an operation owns, make intercepted system calls, or crash. So they take turns: a thread has
 * its turn for at most a call of MPI, but not while it waits for the verifier. A thread that fails
 * keeps its turn for ever, so that nothing is sent after that. */
#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>

_Thread_local struct call call;

static _Thread_local char self; /* its address identifies the thread */
static const char *has_turn, *calls_mpi;
static unsigned depth; /* the nesting of its turns */

char turn_take(void) {
  const char *nobody = NULL;
  if (__atomic_load_n(&has_turn, __ATOMIC_RELAXED) != &self)
    while (!__atomic_compare_exchange_n(&has_turn, &nobody, &self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      nobody = NULL;
      raw(SYS_sched_yield);
    }
  depth++;
  return 0;
}

void turn_give(const char *unused) {
  (void)unused;
  if (--depth == 0) __atomic_store_n(&has_turn, NULL, __ATOMIC_RELEASE);
}

unsigned turn_pause(void) {
  if (__atomic_load_n(&has_turn, __ATOMIC_RELAXED) != &self) return 0;
  unsigned before = depth;
  depth = 0;
  __atomic_store_n(&has_turn, NULL, __ATOMIC_RELEASE);
  return before;
}

void turn_resume(unsigned before) {
  if (!before) return;
  turn_take();
  depth = before;
}

void thread_is_main(void) { calls_mpi = &self; }
bool is_thread_main(void) { return calls_mpi == &self; }

/* The functions that start threads. */
static void note_start(void) {
  enum { MOST = 1000 };
  static uint32_t count;
  if (!is_verified) return;
  if (__atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) > MOST) refuse("the rank starts more than %d threads", MOST);
  file_use(STARTING_THREADS, "");
}

#pragma weak dlsym
static void *own_of_library(const char *name) {
  void *found = dlsym ? dlsym(RTLD_NEXT, name) : NULL;
  if (!found) refuse("the rank starts a thread");
  return found;
}

WEAK int pthread_create(pthread_t *made, const pthread_attr_t *how, void *(*body)(void *), void *with) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  *(void **)&real = own_of_library("pthread_create");
  note_start();
  return real(made, how, body, with);
}

WEAK int thrd_create(thrd_t *made, thrd_start_t body, void *with) {
  int (*real)(thrd_t *, thrd_start_t, void *);
  *(void **)&real = own_of_library("thrd_create");
  note_start();
  return real(made, body, with);
}
