// A master takes results from any worker and believes that the first one is that of rank 1. It
// fails long after that.
// 1, 2: message race, 3 ranks
#include "cases.h"
#include <assert.h>

static int take(void) {
  int got;
  MPI_Status status;
  if (which == 1) {
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status); // wrong 1
  } else {
    MPI_Probe(MPI_ANY_SOURCE, 2, world, &status); // wrong 2
    MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 2, world, MPI_STATUS_IGNORE);
  }
  return got;
}

static void run(void) {
  int first = 0, mine = 10 * rank;
  double half = rank + 0.5, sum = 0;
  char text[8] = "farm";
  if (rank == 0) {
    first = take();
    take();
  } else if (rank == 1) {
    MPI_Send(&mine, 1, MPI_INT, 0, 2, world); // sent by 1
  } else {
    MPI_Send(&mine, 1, MPI_INT, 0, 2, world); // sent by 2
  }
  MPI_Barrier(world);
  MPI_Bcast(text, 8, MPI_CHAR, 0, world);
  MPI_Allreduce(&half, &sum, 1, MPI_DOUBLE, MPI_SUM, world);
  if (rank == 0) assert(first == 10); // wrong 1, 2
}
