// Requests: waits that are missing, starts that are missing, and what is never freed.
// 1, 2, 3, 4, 10, 14, 15: right
// 5: missing wait
// 6: missing wait
// 7: missing wait
// 8: warning: missing start
// 9: warning: request leak
// 13: local concurrency
// 11: warning: missing start
// 12: warning: request leak
#include "cases.h"

static void run(void) {
  static int mine, other;
  int peer = 1 - rank, flag = 0, index;
  MPI_Request request, both[2];
  MPI_Status statuses[2];
  mine = rank, other = -1;
  switch (which) {
    case 1:
      MPI_Send_init(&mine, 1, MPI_INT, peer, 0, world, &both[0]);
      MPI_Recv_init(&other, 1, MPI_INT, peer, 0, world, &both[1]);
      for (int round = 0; round < 2; round++) {
        MPI_Startall(2, both);
        MPI_Waitall(2, both, statuses);
        if (other != peer || statuses[1].MPI_SOURCE != peer) abort();
      }
      MPI_Request_free(&both[0]);
      MPI_Request_free(&both[1]);
      break;
    case 2:
      MPI_Isend(&mine, 1, MPI_INT, peer, 0, world, &both[0]);
      MPI_Irecv(&other, 1, MPI_INT, peer, 0, world, &both[1]);
      MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
      MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
      MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
      if (index != MPI_UNDEFINED || other != peer) abort();
      break;
    case 3:
      MPI_Irecv(&other, 1, MPI_INT, peer, 0, world, &request);
      MPI_Send(&mine, 1, MPI_INT, peer, 0, world);
      while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      if (other != peer || request != MPI_REQUEST_NULL) abort();
      break;
    case 4:
      MPI_Irecv(&other, 1, MPI_INT, peer, 5, world, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, statuses);
      MPI_Test_cancelled(statuses, &flag);
      if (!flag) abort();
      break;
    case 5:
      MPI_Isend(&mine, 1, MPI_INT, peer, 0, world, &request); // wrong 5
      MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      break;
    case 6:
      MPI_Irecv(&other, 1, MPI_INT, peer, 0, world, &request); // wrong 6
      MPI_Send(&mine, 1, MPI_INT, peer, 0, world);
      break;
    case 7: MPI_Ibarrier(world, &request); break; // wrong 7
    case 8:
      MPI_Send_init(&mine, 1, MPI_INT, peer, 0, world, &request); // wrong 8
      MPI_Wait(&request, MPI_STATUS_IGNORE); // wrong 8
      break;
    case 9:
      MPI_Send_init(&mine, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request); // wrong 9
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 10:
      MPI_Irecv(&other, 1, MPI_INT, peer, 0, world, &request);
      MPI_Request_free(&request);
      MPI_Send(&mine, 1, MPI_INT, peer, 0, world);
      break;
    case 13: // Nobody can know when it is over.
      MPI_Irecv(&other, 1, MPI_INT, peer, 0, world, &request); // wrong 13
      MPI_Request_free(&request);
      MPI_Send(&mine, 1, MPI_INT, peer, 0, world);
      MPI_Barrier(world);
      if (other != peer) printf("early\n"); // wrong 13
      break;
    case 11: MPI_Recv_init(&other, 1, MPI_INT, peer, 0, world, &request); break; // wrong 11
    case 12:
      MPI_Recv_init(&other, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request); // wrong 12
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 14: // A test completes what was cancelled, too.
      MPI_Irecv(MPI_BOTTOM, 0, MPI_INT, MPI_ANY_SOURCE, 5, world, &request);
      MPI_Cancel(&request);
      while (!flag) MPI_Test(&request, &flag, statuses);
      MPI_Test_cancelled(statuses, &flag);
      if (!flag) abort();
      break;
    case 15: // The message may come before it is cancelled.
      MPI_Irecv(&other, 1, MPI_INT, peer, 0, world, &both[0]);
      MPI_Isend(&mine, 1, MPI_INT, peer, 0, world, &both[1]);
      MPI_Cancel(&both[0]);
      while (!flag) MPI_Testany(1, both, &index, &flag, statuses);
      MPI_Test_cancelled(statuses, &flag);
      if (flag) MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      MPI_Wait(&both[1], MPI_STATUS_IGNORE);
      if (other != peer) abort();
      break;
  }
}
