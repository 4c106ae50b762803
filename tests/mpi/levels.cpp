// A program in C++ that insists on a level of threads, and has options of its own.
#include <mpi.h>

#include <cassert>
#include <string>
#include <vector>

int main(int argc, char **argv) {
  int level, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  assert(argc == 4 && argv[1] == std::string("-n") && argv[3] == std::string("--all"));
  std::vector<double> all(size), mine(1, rank + std::stod(argv[2]));
  MPI_Allgather(mine.data(), 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
  assert(all[size - 1] == size - 1 + 0.5);
  double begun = MPI_Wtime();
  for (int looks = 1; MPI_Wtime() - begun < 30; looks++) assert(looks < 100);
  MPI_Finalize();
}
