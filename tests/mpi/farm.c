// A master takes results from any worker and believes that the first one is that of rank 1. It
// fails long after that.
// 1, 2, 5, 6: message race, 3 ranks
// 3: buffering hazard, 3 ranks
// 4: assertion, 3 ranks
#include "cases.h"
#include <assert.h>

static int take(void) {
  int got;
  MPI_Status status;
  if (which != 2) {
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status); // wrong 1
  } else {
    MPI_Probe(MPI_ANY_SOURCE, 2, world, &status); // wrong 2
    MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 2, world, MPI_STATUS_IGNORE);
  }
  return got;
}

/* Before the farm, both workers send. */
static void meet(void) {
  int got;
  MPI_Send(&rank, 1, MPI_INT, 3 - rank, 7, world); // wrong 3
  MPI_Recv(&got, 1, MPI_INT, 3 - rank, 7, world, MPI_STATUS_IGNORE);
}

/* Whose message comes first has nothing to do with whether another one is there yet. */
static void ask(void) {
  int got = 0, flag = 0;
  MPI_Request request;
  if (rank != 0) {
    MPI_Send(&rank, 1, MPI_INT, 0, 1, world);
    if (rank == 2) MPI_Send(&rank, 1, MPI_INT, 0, 2, world);
    return;
  }
  for (int i = 0; i < 2; i++) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE);
  MPI_Irecv(&got, 1, MPI_INT, 2, 2, world, &request);
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  assert(!flag); // wrong 4
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Who asks only once may ask too soon, or too late. */
static void ask_once(void) {
  int got = 0, flag = 0;
  if (rank == 1) MPI_Send(&rank, 1, MPI_INT, 0, 2, world); // sent to who asks once
  if (rank != 0) return;
  MPI_Iprobe(MPI_ANY_SOURCE, 2, world, &flag, MPI_STATUS_IGNORE); // asked once
  if (flag == (which == 6)) MPI_Abort(world, 3); // wrong 5, 6
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, world, MPI_STATUS_IGNORE);
}

static void run(void) {
  if (which == 4) return ask();
  if (which >= 5) return ask_once();
  if (which == 3 && rank > 0) meet();
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
  if (rank == 0 && which < 3) assert(first == 10); // wrong 1, 2
}
