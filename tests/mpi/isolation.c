// What one execution does is not seen in another one.
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, first, second;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("first from %d\n", first);
    assert(fopen("written", "r") == NULL);
    FILE *file = fopen("written", "w");
    fprintf(file, "%d", first);
    fclose(file);
    MPI_Recv(&second, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("second from %d\n", second);
    file = fopen("written", "r");
    int kept = 0;
    assert(fscanf(file, "%d", &kept) == 1 && kept == first);
    fclose(file);
    assert(first == 1);
  }
  MPI_Finalize();
  return 0;
}
