// Threads in a rank, and who may call MPI.
// 1, 2, 3, 4, 5, 7, 8, 10, 14, 15, 18, 19: right
// 17: data race
// 20: call order
// 6, 9, 21, 23, 24: threads
// 22: warning: threads
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

enum { THREADS = 2 };
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
  MPI_Comm_size(world, &size); // wrong 6, 9, 21
  return unused;
}

static void *hammer(void *tag) {
  int got[4], number = (int)(long)tag;
  pthread_barrier_wait(&ready);
  for (int i = 0; i < 1; i++) {
    MPI_Request request;
    MPI_Irecv(got, 4, MPI_INT, peer, number, world, &request); // wrong 9
    MPI_Send(mine, 4, MPI_INT, peer, number, world);           // wrong 9
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void *work(void *unused) {
  pthread_barrier_wait(&ready);
  for (int i = 0; i < 100; i++) {
    char *text = malloc((size_t)i % 100 + 1);
    text[0] = (char)i;
    if (i % 50 == 0) sum++;
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

static void *enter(void *unused) {
  MPI_Barrier(world); // wrong 23
  return unused;
}

static void *finish(void *unused) {
  MPI_Finalize(); // wrong 24
  return unused;
}

static void *count(void *unused) {
  for (int i = 0; i < 1000; i++) shared++; // wrong 17
  return unused;
}

static void *send_to_itself(void *unused) {
  for (int i = 0; i < 50000; i++) shared++;
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
  if (which != 8 && which != 9) exchange();
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
  int provided, wanted = which == 3 || which == 21 ? MPI_THREAD_SERIALIZED : which == 22 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
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
    case 3: // One at a time.
      pthread_create(&thread, NULL, size_of_world, NULL);
      pthread_join(thread, NULL);
      break;
    case 4: // A thread that calls nothing.
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
      assert(sum == THREADS * 2);
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
    case 17: // What is sent depends on how fast the other thread is.
      pthread_create(&thread, NULL, count, NULL);
      for (int i = 0; i < 4; i++) {
        static int seen;
        seen = *(volatile int *)&shared; // wrong 17
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
    case 21: // Nothing orders the two calls.
      pthread_create(&thread, NULL, size_of_world, NULL);
      exchange(); // wrong 21
      pthread_join(thread, NULL);
      break;
    case 22: // There may be one thread only.
      pthread_create(&thread, NULL, compute, NULL); // wrong 22
      pthread_join(thread, NULL);
      break;
    case 23: // Two collectives of one communicator at the same time.
      pthread_create(&thread, NULL, enter, NULL);
      MPI_Barrier(world); // wrong 23
      pthread_join(thread, NULL);
      break;
    case 24:
      pthread_create(&thread, NULL, finish, NULL);
      pthread_join(thread, NULL);
      return 0;
    case 20: // It may not.
      pthread_create(&thread, NULL, compute, NULL);
      MPI_Recv(theirs, 1, MPI_INT, rank, 0, world, MPI_STATUS_IGNORE); // wrong 20
      pthread_join(thread, NULL);
      break;
  }
  MPI_Finalize();
  return 0;
}
