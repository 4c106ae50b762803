// Collectives of one rank, and of a root that has its part in place.
// 1: right, 1 ranks
// 2: right, 1 ranks
// 3: right
// 4: right, 1 ranks
#include "cases.h"
#include <assert.h>

static void run(void) {
  int mine[4] = {10 * rank, 10 * rank + 1, 10 * rank + 2, 10 * rank + 3}, got[4] = {-1, -1, -1, -1};
  int counts[] = {2, 2}, displs[] = {1, 3}, bytes[] = {4, 12};
  MPI_Datatype types[] = {MPI_INT, MPI_INT};
  MPI_Request request;
  MPI_Comm grid;
  switch (which) {
    case 1:
      MPI_Ialltoallv(mine, counts, displs, MPI_INT, got, counts, displs, MPI_INT, world, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      assert(got[0] == -1 && got[1] == 1 && got[2] == 2 && got[3] == -1);
      break;
    case 2:
      MPI_Alltoallw(mine, counts, bytes, types, got, counts, bytes, types, world);
      assert(got[0] == -1 && got[1] == 1 && got[2] == 2 && got[3] == -1);
      break;
    case 3:
      if (rank == 0) MPI_Iscatter(mine, 2, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, 0, world, &request);
      else MPI_Iscatter(NULL, 0, MPI_DATATYPE_NULL, got, 2, MPI_INT, 0, world, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      assert(rank == 0 || (got[0] == 2 && got[1] == 3));
      break;
    case 4:
      MPI_Dims_create(1, 0, counts);
      MPI_Cart_create(world, 0, NULL, NULL, 0, &grid);
      MPI_Comm_free(&grid);
      break;
  }
}
