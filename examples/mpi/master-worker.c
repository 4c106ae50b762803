// A master hands a task to each worker, then collects their results in any order: (N - 1)! classes of executions.
#include <assert.h>
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, size, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    for (int worker = 1; worker < size; worker++) MPI_Send(&worker, 1, MPI_INT, worker, 0, MPI_COMM_WORLD);
    for (int i = 1; i < size; i++) {
      int result;
      MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += result;
    }
    assert(sum == size * (size - 1));
  } else {
    int task;
    MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    task *= 2;
    MPI_Send(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
