// Buffers of sends, and memory that an operation still uses.
// 1, 2, 3, 10: right
// 4: buffering hazard
// 5: buffering hazard, 3 ranks
// 6: buffering hazard
// 7: local concurrency
// 8: local concurrency
// 9: local concurrency
// 11: invalid buffer
// 12: local concurrency
#include "cases.h"
#include <assert.h>

static void run(void) {
  int mine = rank, other = -1, peer = 1 - rank, all[4] = {0};
  MPI_Request request = MPI_REQUEST_NULL;
  static char room[2 * (MPI_BSEND_OVERHEAD + sizeof(int))];
  void *attached;
  int bytes;
  switch (which) {
    case 1:
      MPI_Buffer_attach(room, sizeof room);
      MPI_Bsend(&mine, 1, MPI_INT, peer, 0, world);
      MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      MPI_Buffer_detach(&attached, &bytes);
      assert(other == peer && attached == room);
      break;
    case 2:
      if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, 0, world);
      MPI_Recv(&other, 1, MPI_INT, rank == 0 ? 1 : 0, 0, world, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(&mine, 1, MPI_INT, 0, 0, world);
      break;
    case 3:
      MPI_Isend(&mine, 1, MPI_INT, peer, 0, world, &request);
      other = mine + 1;
      MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      mine = 9;
      break;
    case 4:
      MPI_Send(&mine, 1, MPI_INT, peer, 0, world); // wrong 4
      MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      break;
    case 5:
      MPI_Send(&mine, 1, MPI_INT, (rank + 1) % size, 0, world); // wrong 5
      MPI_Recv(&other, 1, MPI_INT, (rank + size - 1) % size, 0, world, MPI_STATUS_IGNORE);
      break;
    case 6:
      if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, 0, world); // wrong 6
      MPI_Barrier(world);
      if (rank == 1) MPI_Recv(&other, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
      break;
    case 7:
      MPI_Isend(&mine, 1, MPI_INT, peer, 0, world, &request);
      mine = 3; // wrong 7
      MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 8:
      MPI_Irecv(&other, 1, MPI_INT, peer, 0, world, &request);
      if (other > 5) mine++; // wrong 8
      MPI_Send(&mine, 1, MPI_INT, peer, 0, world);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 9:
      MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, world, &request);
      mine = 4; // wrong 9
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 10:
      MPI_Isend(all, 2, MPI_INT, peer, 0, world, &request);
      all[2] = 1;
      mine = all[0];
      MPI_Recv(all + 2, 2, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 11:
      MPI_Bsend(&mine, 1, MPI_INT, peer, 0, world); // wrong 11
      break;
    case 12:
      MPI_Irecv(all, 2, MPI_INT, peer, 0, world, &request);
      MPI_Send(all + 1, 1, MPI_INT, peer, 0, world); // wrong 12
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
  }
}
