// Uncaught exceptions.
#include <mpi.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

static void check(int rank) {
  if (rank == 1) throw std::runtime_error("rank 1 has no input"); // wrong 1
}

int main(int argc, char **argv) {
  int rank, which = std::atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> three(3);
  try {
    throw 5;
  } catch (int) {
    if (which == 5) std::abort(); // wrong 5
  }
  if (which == 1) check(rank);
  if (which == 2 && rank == 1) return three.at(argc + 5); // wrong 2
  if (which == 3 && rank == 1) throw 7; // wrong 3
  if (which == 4 && rank == 1) {
    try {
      std::stoi("seven"); // wrong 4
    } catch (const std::exception &) {
      throw;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
