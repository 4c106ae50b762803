// Collectives in which no data comes from some ranks: nobody waits for those, so nothing of theirs
// comes first for sure.
// 1, 2, 3, 4, 5, 6, 7, 8: message race, 4 ranks
// 11, 12, 13, 14, 15, 16, 17, 18: right, 4 ranks
// 21, 22, 23, 24, 25: count mismatch, 4 ranks
// 31: call order, 4 ranks
#include "cases.h"
#include <assert.h>

// Whether rank 0 gets data from rank 3.
static int more, zero[8], got[8], counts[4] = {1, 1, 1, 1}, displs[4] = {0, 1, 2, 3};

static MPI_Comm line(void) {
  int dims[1] = {4}, periods[1] = {0};
  MPI_Comm made;
  MPI_Cart_create(world, 1, dims, periods, 0, &made);
  return made;
}

static void meet(MPI_Comm grid) {
  int gives = rank < 3 || more;
  MPI_Request request;
  switch (which % 10) {
    case 1: MPI_Bcast(zero, more, MPI_INT, 3, world); break;
    case 2: MPI_Allreduce(zero, got, more, MPI_INT, MPI_SUM, world); break;
    case 3:
      counts[3] = more;
      MPI_Gatherv(zero, gives, MPI_INT, got, counts, displs, MPI_INT, 0, world);
      break;
    case 4:
      counts[3] = more;
      MPI_Allgatherv(zero, gives, MPI_INT, got, counts, displs, MPI_INT, world);
      break;
    case 5:
      if (rank == 0) counts[3] = more;
      if (rank == 3) counts[0] = more;
      MPI_Alltoallv(zero, counts, displs, MPI_INT, got, counts, displs, MPI_INT, world);
      break;
    case 6: // Of the sum, rank 0 gets no part.
      counts[0] = more;
      MPI_Ireduce_scatter(zero, got, counts, MPI_INT, MPI_SUM, world, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 7:
      if (more) MPI_Barrier(world);
      else MPI_Neighbor_allgather(zero, 1, MPI_INT, got, 1, MPI_INT, grid);
      break;
    case 8:
      counts[0] = more;
      MPI_Scatterv(zero, counts, displs, MPI_INT, got, rank > 0 || more, MPI_INT, 3, world);
      break;
  }
}

// The calls of two ranks do not fit, and the one that expects nothing does not wait.
static void disagree(void) {
  switch (which) {
    case 21:
      counts[3] = 0;
      MPI_Gatherv(zero, 1, MPI_INT, got, counts, displs, MPI_INT, 0, world); // wrong 21
      break;
    case 22:
      if (rank == 0) counts[3] = 0;
      MPI_Allgatherv(zero, 1, MPI_INT, got, counts, displs, MPI_INT, world); // wrong 22
      break;
    case 23:
      MPI_Scatterv(zero, counts, displs, MPI_INT, got, rank > 0, MPI_INT, 3, world); // wrong 23
      break;
    case 24: {
      int fewer[4] = {1, 1, 1, rank > 0};
      MPI_Alltoallv(zero, counts, displs, MPI_INT, got, fewer, displs, MPI_INT, world); // wrong 24
      break;
    }
    case 25: // This one is waited for.
      MPI_Gatherv(zero, rank < 3, MPI_INT, got, counts, displs, MPI_INT, 0, world); // wrong 25
      break;
  }
}

static void run(void) {
  MPI_Comm grid = line();
  MPI_Status status;
  int token = rank;
  more = which > 10;
  if (which > 30) { // Without data nobody need wait, but anybody may.
    if (rank == 0) MPI_Bcast(zero, 0, MPI_INT, 3, world), MPI_Send(&token, 1, MPI_INT, 3, 0, world);
    if (rank == 3) MPI_Recv(&token, 1, MPI_INT, 0, 0, world, &status);
    if (rank > 0) MPI_Bcast(zero, 0, MPI_INT, 3, world);
  } else if (which > 20) {
    disagree();
  } else {
    if (rank == 3) MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, &status), assert(status.MPI_SOURCE == 2);
    if (rank == 2) MPI_Send(&token, 1, MPI_INT, 3, 0, world);
    meet(grid);
    if (rank == 0) MPI_Send(&token, 1, MPI_INT, 3, 0, world);
    if (rank == 3) MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, &status);
  }
  MPI_Comm_free(&grid);
}
