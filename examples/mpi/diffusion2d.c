// Ghost exchange on a periodic grid of ranks: in each step each rank sends its value to its four neighbours, then receives from
// each by source and side, and takes the mean. Only buffers save it from a deadlock.
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int size, rank, dims[2] = {0}, periods[2] = {1, 1}, side[4], steps = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Comm grid;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_shift(grid, 0, 1, &side[0], &side[1]);
  MPI_Cart_shift(grid, 1, 1, &side[2], &side[3]);
  int u = rank == 0 ? 4000 : 0, all;
  for (int step = 0; step < steps; step++) {
    int sum = 0, value;
    for (int d = 0; d < 4; d++) MPI_Send(&u, 1, MPI_INT, side[d], d ^ 1, grid);
    for (int d = 0; d < 4; d++) {
      MPI_Recv(&value, 1, MPI_INT, side[d], d, grid, MPI_STATUS_IGNORE);
      sum += value;
    }
    u = sum / 4;
  }
  MPI_Reduce(&u, &all, 1, MPI_INT, MPI_SUM, 0, grid);
  assert(rank != 0 || all == 4000);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
