// Calls of MPI by several threads of a rank.
// 1, 2, 3, 5, 6, 9: right
// 4, 7: call order
// 10: message race
// 8: incomplete
// 11: unsupported
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static int rank, peer, got[2], value = 7;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm world = MPI_COMM_WORLD, twin;

static void *sends(void *tag) {
  int number = (int)(long)tag;
  MPI_Send(&number, 1, MPI_INT, peer, number, world);
  return NULL;
}
static void *receives(void *tag) {
  int number, wanted = (int)(long)tag;
  MPI_Recv(&number, 1, MPI_INT, peer, wanted, world, MPI_STATUS_IGNORE); // wrong 4, 7
  assert(number == wanted);
  return NULL;
}
static void *receives_any(void *to) {
  MPI_Recv(to, 1, MPI_INT, peer, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
  return NULL;
}
static void *sends_to_itself(void *unused) {
  MPI_Ssend(&value, 1, MPI_INT, rank, 5, world);
  return unused;
}
static void *meets(void *comm) {
  MPI_Barrier(*(MPI_Comm *)comm);
  return NULL;
}
static void *polls(void *unused) {
  MPI_Request request;
  int number, is_there = 0;
  MPI_Irecv(&number, 1, MPI_INT, peer, 1, world, &request);
  while (!is_there) MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
  return unused;
}
static void *probes(void *unused) {
  MPI_Probe(peer, 1, world, MPI_STATUS_IGNORE);
  return receives((void *)1), unused;
}
static void *puts_value(void *window) {
  pthread_mutex_lock(&mutex);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, *(MPI_Win *)window);
  MPI_Accumulate(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, *(MPI_Win *)window);
  MPI_Win_unlock(peer, *(MPI_Win *)window);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(int argc, char **argv) {
  int which = atoi(argv[1]), provided;
  pthread_t a, b;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(world, &rank);
  peer = 1 - rank;
#define START(thread, body, with) pthread_create(&thread, NULL, body, (void *)(long)(with))
#define JOIN(thread) pthread_join(thread, NULL)
  switch (which) {
    case 1: START(a, rank ? sends : receives, 1), (rank ? receives : sends)((void *)2), JOIN(a); break;
    case 2: START(a, sends_to_itself, 0), MPI_Recv(got, 1, MPI_INT, rank, 5, world, MPI_STATUS_IGNORE), JOIN(a); break;
    case 3: MPI_Comm_dup(world, &twin), START(a, meets, &twin), meets(&world), JOIN(a), MPI_Comm_free(&twin); break;
    case 4: START(a, receives, 1), receives((void *)2), JOIN(a); break;
    case 5: // Each thread gets one of two messages.
      if (rank) sends((void *)1), sends((void *)2);
      else START(a, receives_any, &got[0]), receives_any(&got[1]), JOIN(a), assert(got[0] + got[1] == 3);
      break;
    case 6: // Each rank sends if it gets there.
      START(a, receives, 1), START(b, sends, 1), JOIN(a), JOIN(b);
      break;
    case 7: // The mutex is locked by the one that waits for the other rank.
      pthread_mutex_lock(&mutex);
      START(a, receives, 1), JOIN(a); // wrong 7
      pthread_mutex_unlock(&mutex);
      sends((void *)1);
      break;
    case 8: START(a, polls, 0), sends((void *)1), JOIN(a); break;
    case 9: {
      int *memory;
      MPI_Win window;
      MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, world, &memory, &window);
      *memory = 0;
      MPI_Barrier(world);
      if (rank) START(a, puts_value, &window), puts_value(&window), JOIN(a);
      MPI_Barrier(world);
      MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
      assert(*memory == (rank ? 0 : 14));
      MPI_Win_unlock(rank, window);
      MPI_Win_free(&window);
      break;
    }
    case 10: // The first message may be either of two.
      if (rank) sends((void *)1);
      else START(a, sends_to_itself, 0), MPI_Recv(got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE), // wrong 10
          MPI_Recv(got + 1, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE), JOIN(a), assert(got[0] == 7);
      break;
    case 11: value = 1, START(a, probes, 0), MPI_Ssend(&value, 1, MPI_INT, peer, 1, world), JOIN(a); break;
  }
  MPI_Finalize();
  return 0;
}
