// A message that MPI_Mprobe has matched is not received yet: a send may wait until its receive
// begins.
// 1, 2, 3: call order
// 4: buffering hazard
// 5, 6: call order
// 11, 12, 13, 14, 15: right
// 16: right, 3 ranks
#include "cases.h"
#include <assert.h>

static int got[2], flag;
static MPI_Message message, other;
static MPI_Request requests[2];

static void take(MPI_Message *made, int tag) {
  MPI_Mprobe(1, tag, world, made, MPI_STATUS_IGNORE); // wrong 3
}
static void receive(MPI_Message *made, int *to) {
  MPI_Mrecv(to, 1, MPI_INT, made, MPI_STATUS_IGNORE);
}
static void get(int tag) {
  MPI_Recv(got, 1, MPI_INT, 1, tag, world, MPI_STATUS_IGNORE); // wrong 1, 2, 4
}

// What rank 0 does with the messages of rank 1, which sends one with tag 0, and later one with tag 1.
static void take_up(void) {
  switch (which) {
    case 1: case 4: // The second send is behind the first, which waits.
      take(&message, 0);
      get(1);
      receive(&message, got);
      break;
    case 2:
      do MPI_Improbe(1, 0, world, &flag, &message, MPI_STATUS_IGNORE);
      while (!flag);
      get(1);
      receive(&message, got);
      break;
    case 3: // There is no second message: the first send waits.
      take(&message, MPI_ANY_TAG);
      take(&other, MPI_ANY_TAG);
      receive(&other, got);
      receive(&message, got);
      break;
    case 5: // Never received.
      take(&message, 0);
      break;
    case 6:
      take(&message, 0);
      MPI_Barrier(world); // wrong 6
      receive(&message, got);
      break;
    case 11: case 14:
      take(&message, 0);
      receive(&message, got);
      get(1);
      break;
    case 12: // It begins, and need not be over.
      take(&message, 0);
      MPI_Imrecv(got, 1, MPI_INT, &message, &requests[0]);
      MPI_Recv(got + 1, 1, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      assert(got[0] == 1 && got[1] == 2);
      break;
    case 13: // Nobody else gets it.
      take(&message, 0);
      MPI_Barrier(world), MPI_Barrier(world);
      MPI_Iprobe(1, 0, world, &flag, MPI_STATUS_IGNORE);
      assert(!flag);
      receive(&message, got);
      break;
    case 15: // Two are reserved; each receive completes its own send.
      take(&message, 0), take(&other, 1);
      receive(&other, got);
      MPI_Barrier(world);
      receive(&message, got);
      break;
    case 16: // The receives begin in any order.
      for (int i = 0; i < 2; i++) MPI_Mprobe(MPI_ANY_SOURCE, 0, world, i ? &other : &message, MPI_STATUS_IGNORE);
      receive(&other, got), receive(&message, got);
      break;
  }
}

static void give(void) {
  int one = 1, two = 2;
  switch (which) {
    case 4: case 14:
      MPI_Send(&one, 1, MPI_INT, 0, 0, world); // wrong 4
      MPI_Send(&two, 1, MPI_INT, 0, 1, world);
      break;
    case 5:
      MPI_Send(&one, 1, MPI_INT, 0, 0, world); // wrong 5
      break;
    case 6:
      MPI_Ssend(&one, 1, MPI_INT, 0, 0, world); // wrong 6
      MPI_Barrier(world);
      break;
    case 13: // A test finds nothing before the receive begins.
      MPI_Issend(&one, 1, MPI_INT, 0, 0, world, &requests[0]);
      MPI_Barrier(world);
      MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
      assert(!flag);
      MPI_Barrier(world);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      break;
    case 15:
      for (int i = 0; i < 2; i++) MPI_Issend(&one, 1, MPI_INT, 0, i, world, &requests[i]);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
      assert(!flag);
      MPI_Barrier(world);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      break;
    case 16: MPI_Ssend(&one, 1, MPI_INT, 0, 0, world); break;
    default:
      MPI_Ssend(&one, 1, MPI_INT, 0, 0, world); // wrong 1, 2, 3
      MPI_Ssend(&two, 1, MPI_INT, 0, 1, world);
      break;
  }
}

static void run(void) {
  if (rank == 0) take_up();
  else give();
}
