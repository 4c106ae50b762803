// Interprets a script for each rank (tests/mpi/atomic.rs writes them) on a file in atomic mode, and
// fails with all that the ranks have read and with what the file contains then. So each outcome is a
// violation with its own message.
//
// The first argument says how many bytes two places are apart. A step is a letter and digits:
//   w p v   writes v at place p          r p   reads place p
//   W p v   writes v at many places      R p   reads many places from p on
//   o       reads at the rank's pointer  s     asks for the size
// What a read does not find, because the file ends, counts as 8.
#include "outcome.h"

enum { MANY = 200, MOST = 16 };
static int rank, apart, got[MOST], count;
static MPI_File file;

static void note(MPI_Status *status, const int *values, int wanted) {
  int there, sum = 0;
  MPI_Get_count(status, MPI_INT, &there);
  for (int i = 0; i < wanted; i++) sum += i < there ? values[i] : 8;
  got[count++] = sum;
}

static void carry_out(const char *step) {
  MPI_Status status;
  MPI_Offset end;
  int values[MANY], wanted = step[0] == 'W' || step[0] == 'R' ? MANY : 1;
  MPI_Offset place = step[1] ? (step[1] - '0') * apart : 0;
  for (int i = 0; i < wanted; i++) values[i] = step[1] && step[2] ? step[2] - '0' : 0;
  switch (step[0]) {
    case 'w': case 'W': MPI_File_write_at(file, place, values, wanted, MPI_INT, MPI_STATUS_IGNORE); return;
    case 'r': case 'R': MPI_File_read_at(file, place, values, wanted, MPI_INT, &status), note(&status, values, wanted); return;
    case 'o': MPI_File_read(file, values, 1, MPI_INT, &status), note(&status, values, 1); return;
    case 's': MPI_File_get_size(file, &end), got[count++] = (int)end; return;
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  apart = atoi(argv[1]);
  MPI_File_open(MPI_COMM_WORLD, "atomic.dat", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  MPI_File_set_atomicity(file, 1);
  for (char *step = strtok(argv[2 + rank], " "); step; step = strtok(NULL, " ")) carry_out(step);
  MPI_Barrier(MPI_COMM_WORLD);
  carry_out("s");
  carry_out("R0");
  MPI_File_close(&file);
  fail_with(got, count, MOST);
  return 0;
}
