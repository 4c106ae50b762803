// Collectives that are started again and again.
// 1, 2, 3, 7, 10: right
// 4: warning: missing start
// 5: invalid request
// 6: local concurrency
// 8: call order
// 9: warning: request leak
#include "cases.h"
#include <assert.h>

static void run(void) {
  int mine = rank, sum = -1, all[2] = {-1, -1}, counts[2] = {1, 1}, places[2] = {0, 1};
  MPI_Request request, others[2];
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  switch (which) {
    case 1: // Each start sends what is there then.
      MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &request);
      for (int round = 0; round < 3; round++) {
        mine = rank + 10 * round;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        assert(sum == 1 + 20 * round);
      }
      MPI_Request_free(&request);
      break;
    case 2: // What the arrays hold later has no meaning.
      MPI_Gatherv_init(&mine, 1, MPI_INT, all, counts, places, MPI_INT, 0, world, MPI_INFO_NULL, &others[0]);
      MPI_Barrier_init(world, MPI_INFO_NULL, &others[1]);
      counts[0] = counts[1] = places[1] = 7;
      MPI_Startall(2, others);
      MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
      assert(rank == 1 || (all[0] == 0 && all[1] == 1));
      MPI_Request_free(&others[0]);
      MPI_Request_free(&others[1]);
      break;
    case 3: // Types may be freed while they are in use.
      MPI_Type_contiguous(1, MPI_INT, &types[0]);
      MPI_Type_commit(&types[0]);
      types[1] = types[0];
      places[1] = sizeof(int);
      MPI_Ialltoallw((int[]){rank, rank + 5}, (int[]){1, 1}, places, types, all, counts, places, types, world, &request);
      MPI_Type_free(&types[0]);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      assert(all[0] == (rank ? 5 : 0) && all[1] == (rank ? 6 : 1));
      break;
    case 4:
      MPI_Bcast_init(&mine, 1, MPI_INT, 0, world, MPI_INFO_NULL, &request); // wrong 4
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 5:
      MPI_Bcast_init(&mine, 1, MPI_INT, 0, world, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      MPI_Start(&request); // wrong 5
      break;
    case 6:
      MPI_Bcast_init(&mine, 1, MPI_INT, 0, world, MPI_INFO_NULL, &request);
      MPI_Start(&request); // wrong 6
      mine = 9;            // wrong 6
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 7: // Between its starts the memory is the program's.
      MPI_Scan_init(&mine, &sum, 1, MPI_INT, MPI_MAX, world, MPI_INFO_NULL, &request);
      sum = mine = rank + 3;
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      assert(sum++ == rank + 3);
      MPI_Request_free(&request);
      break;
    case 8: // Each has to be started by all.
      MPI_Bcast_init(&mine, 1, MPI_INT, 0, world, MPI_INFO_NULL, &others[0]);
      MPI_Barrier_init(world, MPI_INFO_NULL, &others[1]);
      MPI_Start(&others[rank]); // wrong 8
      MPI_Wait(&others[rank], MPI_STATUS_IGNORE);
      break;
    case 10: // They match in the order in which they were made.
      MPI_Bcast_init(&mine, 1, MPI_INT, 0, world, MPI_INFO_NULL, &others[0]);
      MPI_Barrier_init(world, MPI_INFO_NULL, &others[1]);
      MPI_Start(&others[rank]);
      MPI_Start(&others[1 - rank]);
      MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
      assert(mine == 0);
      MPI_Request_free(&others[0]);
      MPI_Request_free(&others[1]);
      break;
    case 9:
      MPI_Barrier_init(world, MPI_INFO_NULL, &request); // wrong 9
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
  }
}
