// Streams and files of C++ are files.
#include <mpi.h>

#include <cassert>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::string line;
    std::ofstream("log", std::ios::app) << "more\n";
    std::ifstream in("log");
    assert(std::getline(in, line) && line == "zero" && std::getline(in, line) && line == "more");
    std::filesystem::rename("log", "renamed");
    assert(!std::ifstream("log") && std::filesystem::file_size("renamed") == 10);
    std::filesystem::create_directories("new/folder");
    std::filesystem::copy_file("renamed", "new/folder/copy");
    std::ofstream("new/folder/copy", std::ios::in | std::ios::out) << "Z";
    std::ifstream("new/folder/copy") >> line;
    assert(line == "Zero");
    assert(std::filesystem::remove_all("new") == 3 && !std::filesystem::exists("new"));
    std::filesystem::remove("cut");
    std::random_device numbers;
    long number = numbers();
    MPI_Sendrecv_replace(&number, 1, MPI_LONG, 0, 0, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (argc > 1) {
    // Another rank reads what the first one has changed.
    std::ifstream("log").get(); // wrong 1
  }
  MPI_Finalize();
}
