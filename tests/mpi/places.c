// MPI_IN_PLACE, where it may stand and where it may not; and buffers that overlap in
// MPI_Reduce_local.
// 1, 2, 3, 14: right
// 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16: invalid buffer
// 17: local concurrency
#include "cases.h"
#include <assert.h>

static void run(void) {
  int is_root = rank == 0, mine[2] = {rank, rank + 2}, all[3] = {rank, rank, 0}, ones[2] = {1, 1}, places[2] = {0, 1};
  void *in_place = MPI_IN_PLACE;
  MPI_Request request;
  switch (which) {
    case 1: // The root has its part there already, or leaves it there.
      MPI_Gather(is_root ? in_place : mine, 1, MPI_INT, all, 1, MPI_INT, 0, world);
      assert(!is_root || (all[0] == 0 && all[1] == 1));
      MPI_Scatter(all, 1, MPI_INT, is_root ? in_place : mine, 1, MPI_INT, 0, world);
      assert(is_root || mine[0] == 1);
      MPI_Reduce(is_root ? in_place : mine, mine, 1, MPI_INT, MPI_SUM, 0, world);
      assert(!is_root || mine[0] == 1);
      break;
    case 2: // Everybody has.
      MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_SUM, world);
      assert(all[0] == 1 && all[1] == 1);
      MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, mine, 1, MPI_INT, world);
      assert(mine[0] == 2 * rank && mine[1] == 2 * rank + 1);
      all[rank] = rank;
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, world);
      assert(all[0] == 0 && all[1] == 1);
      MPI_Exscan(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, world);
      break;
    case 3: // What has no meaning at a rank may be anything.
      MPI_Gather(mine, 1, MPI_INT, is_root ? all : in_place, 1, MPI_INT, 0, world);
      MPI_Scatter(is_root ? all : in_place, 1, MPI_INT, mine, 1, MPI_INT, 0, world);
      MPI_Reduce_local(&mine[0], &mine[1], 1, MPI_INT, MPI_SUM);
      break;
    case 4: MPI_Bcast(in_place, 1, MPI_INT, 0, world); break;                        // wrong 4
    case 5: MPI_Gather(in_place, 1, MPI_INT, all, 1, MPI_INT, 0, world); break;      // wrong 5
    case 6: MPI_Scatterv(all, ones, places, MPI_INT, in_place, 1, MPI_INT, 0, world); break; // wrong 6
    case 7: MPI_Reduce(in_place, all, 1, MPI_INT, MPI_SUM, 0, world); break;         // wrong 7
    case 8: MPI_Allreduce(all, in_place, 1, MPI_INT, MPI_SUM, world); break;         // wrong 8
    case 9: MPI_Alltoall(all, 1, MPI_INT, in_place, 1, MPI_INT, world); break;       // wrong 9
    case 10: MPI_Send(in_place, 1, MPI_INT, 1 - rank, 0, world); break;              // wrong 10
    case 11: MPI_Reduce_local(in_place, all, 1, MPI_INT, MPI_SUM); break;            // wrong 11
    case 12: MPI_Reduce_local(all, all, 2, MPI_INT, MPI_SUM); break;                 // wrong 12
    case 13: MPI_Reduce_local(&all[0], &all[1], 1, MPI_INT, MPI_SUM), MPI_Reduce_local(all, all + 1, 2, MPI_INT, MPI_SUM); break; // wrong 13
    case 14: // The first rank gets nothing, but others do.
      MPI_Exscan(mine, is_root ? NULL : all, 1, MPI_INT, MPI_SUM, world);
      MPI_Iexscan(mine, is_root ? mine : all, 1, MPI_INT, MPI_SUM, world, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      assert(mine[0] == rank && (is_root || all[0] == 0));
      break;
    case 15: MPI_Exscan(mine, is_root ? all : NULL, 1, MPI_INT, MPI_SUM, world); break; // wrong 15
    case 16: MPI_Exscan(in_place, is_root ? in_place : all, 1, MPI_INT, MPI_SUM, world); break; // wrong 16
    case 17: // It gives what is in its receive buffer.
      MPI_Iexscan(in_place, all, 1, MPI_INT, MPI_SUM, world, &request);
      if (is_root) all[0] = 7; // wrong 17
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
  }
}
