// What threads of a rank do with memory, and with locks and the like of POSIX and C.
// 2, 4, 5, 7, 8, 9, 10, 11, 12, 14, 15, 17, 18, 21, 22, 24, 26, 27: right, 1 ranks
// 1, 13, 16, 20, 28: data race, 1 ranks
// 3, 6, 19: deadlock, 1 ranks
// 23: assertion, 1 ranks
// 25: threads, 1 ranks
// 29: incomplete, 1 ranks
// 30: local concurrency
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_key_t key;
static sem_t semaphore;
static atomic_int flag, turns;
static int x, y, ready, buffer[4];
static mtx_t mutex;
static cnd_t condition;

static void *add(void *unused) {
  x++; // wrong 1
  return unused;
}
static void *add_safely(void *unused) {
  pthread_mutex_lock(&one);
  x++;
  pthread_mutex_unlock(&one);
  return unused;
}
static void *one_other(void *unused) {
  pthread_mutex_lock(&one);
  pthread_mutex_lock(&other); // wrong 3
  x++;
  pthread_mutex_unlock(&other);
  pthread_mutex_unlock(&one);
  return unused;
}
static void *other_one(void *unused) {
  pthread_mutex_lock(&other);
  pthread_mutex_lock(&one); // wrong 3
  x++;
  pthread_mutex_unlock(&one);
  pthread_mutex_unlock(&other);
  return unused;
}
static void *await(void *unused) {
  pthread_mutex_lock(&one);
  while (!ready) pthread_cond_wait(&changed, &one);
  ready--;
  pthread_mutex_unlock(&one);
  return unused;
}
static void *await_once(void *unused) {
  pthread_mutex_lock(&one);
  pthread_cond_wait(&changed, &one); // wrong 6
  pthread_mutex_unlock(&one);
  return unused;
}
static void *meet(void *number) {
  buffer[(long)number] = 1;
  pthread_barrier_wait(&barrier);
  assert(buffer[0] + buffer[1] == 2);
  return number;
}
static void *read_shared(void *unused) {
  pthread_rwlock_rdlock(&shared);
  y = 0;
  assert(x == 0 || x == 2);
  pthread_rwlock_unlock(&shared);
  return unused;
}
static void *look(void *unused) {
  pthread_rwlock_rdlock(&shared);
  assert(x == 0 || x == 2);
  pthread_rwlock_unlock(&shared);
  return unused;
}
static void make(void) { x++; }
static void *make_once(void *unused) {
  pthread_once(&once, make);
  assert(x == 1);
  return unused;
}
static void *publish(void *unused) {
  x = 5;
  atomic_store_explicit(&flag, 1, memory_order_release);
  return unused;
}
static void *publish_weakly(void *unused) {
  x = 5; // wrong 13
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return unused;
}
static void *fence(void *unused) {
  x = 5;
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return unused;
}
static void *post(void *unused) {
  x = 7;
  sem_post(&semaphore);
  return unused;
}
static void *take_both(void *unused) {
  while (pthread_mutex_trylock(&one)) sched_yield();
  x++;
  pthread_mutex_unlock(&one);
  return unused;
}
static void *set(void *piece) {
  *(int *)piece = 1; // wrong 20
  return NULL;
}
static void leave(void *value) { *(int *)value += 1; }
static void *with_key(void *value) {
  pthread_setspecific(key, value);
  return NULL;
}
static int of_c(void *unused) {
  mtx_lock(&mutex);
  while (!ready) cnd_wait(&condition, &mutex);
  mtx_unlock(&mutex);
  return unused ? 0 : 42;
}
static void *add_twice(void *unused) {
  int seen = turns;
  turns = seen + 1;
  return unused;
}
static void *never(void *unused) {
  for (int i = 0; i < 40 && !flag; i++) usleep(10);
  return unused;
}
static void *receive(void *unused) {
  buffer[1] = 1; // wrong 30
  return unused;
}

int main(int argc, char **argv) {
  int which = atoi(argv[1]), provided, value = 0;
  void *result;
  pthread_t a, b;
  thrd_t c;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#define START(thread, body) pthread_create(&thread, NULL, body, NULL)
#define JOIN(thread) pthread_join(thread, NULL)
  switch (which) {
    case 1: START(a, add), add(NULL), JOIN(a); break;
    case 2: START(a, add_safely), START(b, add_safely), add_safely(NULL), JOIN(a), JOIN(b), assert(x == 3); break;
    case 3: START(a, one_other), other_one(NULL), JOIN(a); break;
    case 4: START(a, one_other), one_other(NULL), JOIN(a), assert(x == 2); break;
    case 5:
      START(a, await), START(b, await);
      pthread_mutex_lock(&one);
      ready = 2;
      pthread_cond_broadcast(&changed);
      pthread_mutex_unlock(&one);
      JOIN(a), JOIN(b);
      break;
    case 6: // The wake-up may come too early.
      START(a, await_once);
      pthread_mutex_lock(&one);
      pthread_cond_signal(&changed);
      pthread_mutex_unlock(&one);
      JOIN(a); // wrong 6
      break;
    case 7:
      pthread_barrier_init(&barrier, NULL, 2);
      START(a, meet), meet((void *)1), JOIN(a);
      pthread_barrier_destroy(&barrier);
      break;
    case 8: // Those who read do not exclude each other.
      START(a, look), START(b, look);
      pthread_rwlock_wrlock(&shared);
      x++, x++;
      pthread_rwlock_unlock(&shared);
      JOIN(a), JOIN(b);
      break;
    case 9: START(a, make_once), make_once(NULL), JOIN(a); break;
    case 10: // It waits in a loop.
      START(a, publish);
      while (!atomic_load_explicit(&flag, memory_order_acquire)) {}
      assert(x == 5), JOIN(a);
      break;
    case 11:
      sem_init(&semaphore, 0, 0);
      START(a, post);
      sem_wait(&semaphore);
      assert(x == 7), JOIN(a);
      break;
    case 12: START(a, take_both), take_both(NULL), JOIN(a), assert(x == 2); break;
    case 13:
      START(a, publish_weakly);
      while (!atomic_load_explicit(&flag, memory_order_relaxed)) {}
      assert(x == 5), JOIN(a); // wrong 13
      break;
    case 14:
      START(a, fence);
      while (!atomic_load_explicit(&flag, memory_order_relaxed)) {}
      atomic_thread_fence(memory_order_acquire);
      assert(x == 5), JOIN(a);
      break;
    case 15:
      pthread_key_create(&key, leave);
      pthread_create(&a, NULL, with_key, &value), JOIN(a), assert(value == 1);
      break;
    case 16: // Two who read write another variable.
      START(a, read_shared), START(b, read_shared), JOIN(a), JOIN(b);
      break;
    case 17:
      mtx_init(&mutex, mtx_plain), cnd_init(&condition);
      thrd_create(&c, of_c, NULL);
      mtx_lock(&mutex), ready = 1, cnd_signal(&condition), mtx_unlock(&mutex);
      thrd_join(c, &value), assert(value == 42);
      break;
    case 18: {
      pthread_mutex_t recursive;
      pthread_mutexattr_t how;
      pthread_mutexattr_init(&how), pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
      pthread_mutex_init(&recursive, &how);
      START(a, add_safely);
      pthread_mutex_lock(&recursive), pthread_mutex_lock(&recursive), pthread_mutex_unlock(&recursive), pthread_mutex_unlock(&recursive);
      JOIN(a);
      break;
    }
    case 19:
      pthread_mutex_lock(&one);
      pthread_mutex_lock(&one); // wrong 19
      break;
    case 20: { // Nothing orders the free and the access.
      int *piece = malloc(sizeof *piece);
      pthread_create(&a, NULL, set, piece);
      free(piece); // wrong 20
      JOIN(a);
      break;
    }
    case 21: // The stacks of threads that have ended are used again.
      for (int i = 0; i < 5; i++) START(a, add), JOIN(a);
      assert(x == 5);
      break;
    case 22: // It is over when its time is.
      pthread_mutex_lock(&one);
      assert(pthread_cond_timedwait(&changed, &one, &(struct timespec){1, 0}) != 0);
      pthread_mutex_unlock(&one);
      break;
    case 23: START(a, add_twice), add_twice(NULL), JOIN(a), assert(turns == 2); break; // wrong 23
    case 24: // A detached thread may run until the end of the process.
      START(a, add_safely), pthread_detach(a);
      break;
    case 25: START(a, add_safely), JOIN(a), pthread_mutex_unlock(&one); break; // wrong 25
    case 26:
      START(a, add_safely);
      if (pthread_mutex_trylock(&one) == 0) x++, pthread_mutex_unlock(&one);
      JOIN(a), assert(x == 1 || x == 2);
      break;
    case 27:
      pthread_spin_init(&spin, 0);
      pthread_spin_lock(&spin), pthread_spin_unlock(&spin);
      assert(pthread_join(pthread_self(), &result) != 0);
      break;
    case 28: // A flag that is no atomic variable.
      START(a, add);
      while (*(volatile int *)&x == 0) {} // wrong 28
      JOIN(a);
      break;
    case 29: // When it gives up is not explored.
      START(a, never), JOIN(a);
      break;
    case 30:
      START(a, receive);
      if (value == 0) MPI_Bcast(buffer, 4, MPI_INT, 0, MPI_COMM_WORLD); // wrong 30
      JOIN(a);
      break;
  }
  MPI_Finalize();
  return 0;
}
