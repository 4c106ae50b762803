// Threads in a rank. Only one order of them is explored, so nothing with a second thread is
// verified.
// 1, 2: right
// 3, 4, 5, 7, 8, 10, 14, 15, 17, 18, 19: unsupported
// 20: call order
// 6, 9: threads
// 11: assertion
// 12: crash
// 13: local concurrency
// 16: abort
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

enum { THREADS = 8 };
static int which, rank, peer, shared, mine[4] = {1, 2, 3, 4}, theirs[4];
static atomic_int sum;
static pthread_barrier_t ready;
static MPI_Comm world = MPI_COMM_WORLD;

static void *compute(void *unused) {
  shared++;
  return unused;
}

static int compute_too(void *unused) {
  shared++;
  return unused != NULL;
}

static void *size_of_world(void *unused) {
  int size;
  MPI_Comm_size(world, &size); // wrong 6, 9
  return unused;
}

static void *hammer(void *tag) {
  int got[4], number = (int)(long)tag;
  pthread_barrier_wait(&ready);
  for (int i = 0; i < 20; i++) {
    MPI_Request request;
    MPI_Irecv(got, 4, MPI_INT, peer, number, world, &request); // wrong 9
    MPI_Send(mine, 4, MPI_INT, peer, number, world);           // wrong 9
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void *work(void *unused) {
  pthread_barrier_wait(&ready);
  for (int i = 0; i < 2000; i++) {
    char *text = malloc((size_t)i % 100 + 1);
    text[0] = (char)i;
    sum += i % 2;
    text = realloc(text, 300);
    free(text);
    if (i % 20 == 0) access("/tmp", F_OK);
  }
  return unused;
}

static void *fail_here(void *unused) {
  assert(unused); // wrong 11
  return unused;
}

static void *crash_here(void *nowhere) {
  return (void *)(long)*(volatile int *)nowhere; // wrong 12
}

static void *overwrite(void *unused) {
  theirs[1] = 7; // wrong 13
  return unused;
}

static void *ask(void *unused) {
  int flag, level, version, subversion;
  MPI_Initialized(&flag);
  assert(flag);
  MPI_Finalized(&flag);
  assert(!flag);
  MPI_Query_thread(&level);
  assert(level == MPI_THREAD_FUNNELED);
  MPI_Is_thread_main(&flag);
  assert(!flag);
  MPI_Get_version(&version, &subversion);
  return unused;
}

static void *count(void *unused) {
  for (int i = 0; i < 100000; i++) shared++;
  return unused;
}

static void *send_to_itself(void *unused) {
  for (int i = 0; i < 50000000; i++) shared++;
  MPI_Send(mine, 1, MPI_INT, rank, 0, world);
  return unused;
}

static void exchange(void) {
  MPI_Sendrecv(mine, 4, MPI_INT, peer, 99, theirs, 4, MPI_INT, peer, 99, world, MPI_STATUS_IGNORE);
}

static void together(void *(*body)(void *)) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&ready, NULL, THREADS + 1);
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, body, (void *)i);
  pthread_barrier_wait(&ready);
  for (int round = 0; round < 50 && which != 9; round++) exchange();
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void *all_of_it(void *unused) {
  int level, is_main;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(world, &rank);
  peer = 1 - rank;
  MPI_Is_thread_main(&is_main);
  assert(is_main);
  exchange();
  MPI_Finalize();
  return unused;
}

int main(int argc, char **argv) {
  which = argc > 1 ? atoi(argv[1]) : 0;
  int provided, wanted = which == 3 ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
  pthread_t thread;
  thrd_t other;
  MPI_Request request;
  if (which == 6 || which == 9 || which == 15 || which == 20) wanted = MPI_THREAD_FUNNELED;
  if (which == 14) {
    pthread_create(&thread, NULL, all_of_it, NULL);
    return pthread_join(thread, NULL);
  }
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(world, &rank);
  peer = 1 - rank;
  switch (which) {
    case 1: exchange(); break;
    case 2: // What it asks for matters only with a second thread.
      if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(world, 1);
      break;
    case 3: // Calls are not explored, even one at a time.
      pthread_create(&thread, NULL, size_of_world, NULL);
      pthread_join(thread, NULL);
      break;
    case 4: // Nor what a thread does that calls nothing.
      pthread_create(&thread, NULL, compute, NULL);
      exchange();
      pthread_join(thread, NULL);
      break;
    case 5:
      pthread_create(&thread, NULL, compute, NULL);
      pthread_join(thread, NULL);
      assert(shared == 1);
      break;
    case 6:
    case 7:
      pthread_create(&thread, NULL, size_of_world, NULL);
      pthread_join(thread, NULL);
      break;
    case 8:
    case 9: together(hammer); break;
    case 10:
      together(work);
      assert(sum == THREADS * 1000);
      break;
    case 11:
      pthread_create(&thread, NULL, fail_here, NULL);
      pthread_join(thread, NULL);
      break;
    case 12:
      pthread_create(&thread, NULL, crash_here, NULL);
      pthread_join(thread, NULL);
      break;
    case 13:
      MPI_Irecv(theirs, 4, MPI_INT, peer, 0, world, &request); // wrong 13
      pthread_create(&thread, NULL, overwrite, NULL);
      pthread_join(thread, NULL);
      MPI_Send(mine, 4, MPI_INT, peer, 0, world);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 15:
      pthread_create(&thread, NULL, ask, NULL);
      pthread_join(thread, NULL);
      break;
    case 16:
      exchange();
      MPI_Abort(world, 1); // wrong 16
      break;
    case 17: // What is asked depends on how fast the other thread is.
      pthread_create(&thread, NULL, count, NULL);
      for (int i = 0; i < 4; i++) {
        static int seen;
        seen = *(volatile int *)&shared;
        if (rank) MPI_Send(&seen, 1, MPI_INT, 0, seen % 1000, world);
        else MPI_Recv(&seen, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
      }
      pthread_join(thread, NULL);
      break;
    case 18:
      thrd_create(&other, compute_too, NULL);
      thrd_join(other, NULL);
      break;
    case 19: // The other thread sends, sooner or later.
      pthread_create(&thread, NULL, send_to_itself, NULL);
      MPI_Recv(theirs, 1, MPI_INT, rank, 0, world, MPI_STATUS_IGNORE);
      pthread_join(thread, NULL);
      break;
    case 20: // It may not.
      pthread_create(&thread, NULL, compute, NULL);
      MPI_Recv(theirs, 1, MPI_INT, rank, 0, world, MPI_STATUS_IGNORE); // wrong 20
      pthread_join(thread, NULL);
      break;
  }
  MPI_Finalize();
  return 0;
}
