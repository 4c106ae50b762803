/* Shared code: each program has several cases, and its argument is the number of one. The lines at
 * its head give the expected result of each case. `wrong N` marks the lines of which a report of
 * case N must name at least one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, which;
static MPI_Comm world = MPI_COMM_WORLD;
static void run(void);

int main(int argc, char **argv) {
  which = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  run();
  MPI_Finalize();
  return 0;
}
