// Receives from any source.
// 1, 2, 3: right, 3 ranks
// 4: message race, 3 ranks
// 5: message race, 3 ranks
// 6: message race, 3 ranks
// 7: message race, 4 ranks
#include "cases.h"
#include <assert.h>

static void run(void) {
  int mine = rank, got = -1, sum = 0, flag = 0;
  MPI_Status status;
  if (rank > 0 && which != 6) MPI_Send(&mine, 1, MPI_INT, 0, rank, world);
  switch (which) {
    case 1:
      for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
        if (got != status.MPI_SOURCE || got != status.MPI_TAG) abort();
        sum += got;
      }
      assert(rank != 0 || sum == 3);
      break;
    case 2:
      for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
        MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, MPI_STATUS_IGNORE);
        if (got != status.MPI_SOURCE) abort();
      }
      break;
    case 3:
      for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, i, world, &status);
        assert(got == i);
      }
      break;
    case 4:
      if (rank > 0) break;
      MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status); // wrong 4
      MPI_Recv(&sum, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status); // wrong 4
      assert(got < sum); // wrong 4
      break;
    case 5:
      if (rank > 0) break;
      MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status); // wrong 5
      MPI_Recv(&got, 1, MPI_INT, 2, MPI_ANY_TAG, world, &status); // wrong 5
      break;
    case 6:
      if (rank > 0) {
        MPI_Send(&mine, rank, MPI_BYTE, 0, 0, world); // wrong 6
        break;
      }
      MPI_Recv(&got, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, world, &status); // wrong 6
      MPI_Recv(&got, 2, MPI_BYTE, MPI_ANY_SOURCE, 0, world, &status); // wrong 6
      break;
    case 7:
      if (rank > 0) break;
      for (int i = 1; i < size; i++) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status); // wrong 7
      assert(got == 3); // wrong 7
      break;
  }
  (void)flag;
}
