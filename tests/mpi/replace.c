// What is sent from the buffer in which something is received.
// 1, 2, 3: right
// 4: local concurrency
// 5: local concurrency
// 6: local concurrency
#include "cases.h"
#include <assert.h>

static void run(void) {
  int peer = 1 - rank, mine[4] = {rank, 10, 20, 30}, other[4] = {0};
  MPI_Request request;
  MPI_Datatype column;
  switch (which) {
    case 1:
      MPI_Sendrecv_replace(mine, 4, MPI_INT, peer, 0, peer, 0, world, MPI_STATUS_IGNORE);
      assert(mine[0] == peer && mine[3] == 30);
      mine[0] = 7;
      break;
    case 2: // In parts, with a hole.
      MPI_Type_vector(2, 1, 2, MPI_INT, &column);
      MPI_Type_commit(&column);
      MPI_Sendrecv_replace(mine, 1, column, peer, 0, peer, 0, world, MPI_STATUS_IGNORE);
      assert(mine[0] == peer && mine[1] == 10);
      MPI_Type_free(&column);
      break;
    case 3: // Another send reads the same memory, and is complete before.
      MPI_Isend(mine, 4, MPI_INT, peer, 1, world, &request);
      MPI_Recv(other, 4, MPI_INT, peer, 1, world, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Sendrecv_replace(mine, 4, MPI_INT, peer, 0, rank == 0 ? MPI_PROC_NULL : peer, 0, world, MPI_STATUS_IGNORE);
      if (rank == 0) MPI_Recv(other, 4, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      break;
    case 4: // The same, but that send still reads.
      MPI_Isend(mine, 4, MPI_INT, peer, 1, world, &request);
      MPI_Sendrecv_replace(mine, 4, MPI_INT, peer, 0, peer, 0, world, MPI_STATUS_IGNORE); // wrong 4
      MPI_Recv(other, 4, MPI_INT, peer, 1, world, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 5: // A receive still writes what is sent.
      MPI_Irecv(mine, 4, MPI_INT, peer, 1, world, &request);
      MPI_Sendrecv_replace(mine + 1, 1, MPI_INT, peer, 0, peer, 0, world, MPI_STATUS_IGNORE); // wrong 5
      MPI_Send(other, 4, MPI_INT, peer, 1, world);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 6: // A receive that is under way afterwards owns the buffer, as always.
      MPI_Sendrecv_replace(mine, 4, MPI_INT, peer, 0, peer, 0, world, MPI_STATUS_IGNORE);
      MPI_Irecv(mine, 4, MPI_INT, peer, 1, world, &request);
      mine[2] = 5; // wrong 6
      MPI_Send(other, 4, MPI_INT, peer, 1, world);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
  }
}
