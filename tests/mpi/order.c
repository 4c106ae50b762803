// Deadlocks, and calls that do not meet.
// 1, 2, 3, 11: right
// 4: call order
// 5: call order
// 6: call order, 3 ranks
// 7: call order
// 8: tag mismatch
// 9: communicator mismatch
// 10: call order
#include "cases.h"

static void run(void) {
  int mine = rank, other = -1, peer = 1 - rank;
  MPI_Request request;
  MPI_Comm twin;
  switch (which) {
    case 1:
      MPI_Sendrecv(&mine, 1, MPI_INT, peer, 0, &other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      if (other != peer) abort();
      break;
    case 2:
      MPI_Irecv(&other, 1, MPI_INT, peer, 0, world, &request);
      MPI_Send(&mine, 1, MPI_INT, peer, 0, world);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (other != peer) abort();
      break;
    case 3:
      MPI_Barrier(world);
      MPI_Bcast(&mine, 1, MPI_INT, 1, world);
      if (mine != 1) abort();
      break;
    case 4:
      MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE); // wrong 4
      MPI_Send(&mine, 1, MPI_INT, peer, 0, world);
      break;
    case 5:
      if (rank == 0) MPI_Barrier(world);                          // wrong 5
      else MPI_Allreduce(&mine, &other, 1, MPI_INT, MPI_SUM, world); // wrong 5
      break;
    case 6:
      MPI_Recv(&other, 1, MPI_INT, (rank + 1) % size, 0, world, MPI_STATUS_IGNORE); // wrong 6
      MPI_Send(&mine, 1, MPI_INT, (rank + size - 1) % size, 0, world);
      break;
    case 7:
      if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, 0, world);
      else MPI_Recv(&other, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE), MPI_Recv(&other, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); // wrong 7
      break;
    case 8:
      if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, 7, world);                 // wrong 8
      else MPI_Recv(&other, 1, MPI_INT, 0, 8, world, MPI_STATUS_IGNORE);      // wrong 8
      break;
    case 9:
      MPI_Comm_dup(world, &twin);
      if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, 7, world);                 // wrong 9
      else MPI_Recv(&other, 1, MPI_INT, 0, 7, twin, MPI_STATUS_IGNORE);       // wrong 9
      MPI_Comm_free(&twin);
      break;
    case 10:
      if (rank == 0) MPI_Isend(&mine, 1, MPI_INT, 1, 0, world, &request), MPI_Wait(&request, MPI_STATUS_IGNORE); // wrong 10
      break;
    case 11:
      MPI_Comm_dup(world, &twin);
      if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, 7, twin), MPI_Send(&mine, 1, MPI_INT, 1, 7, world);
      else MPI_Recv(&other, 1, MPI_INT, 0, 7, twin, MPI_STATUS_IGNORE), MPI_Recv(&other, 1, MPI_INT, 0, 7, world, MPI_STATUS_IGNORE);
      MPI_Comm_free(&twin);
      break;
  }
}
