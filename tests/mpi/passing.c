// Interprets a script for each rank (tests/mpi/passing.rs writes them) on one file, which ranks use
// by MPI and without it, and fails with all that the ranks have read. So each outcome is a violation
// with its own message.
//
//   w v  writes v, without MPI      W v  writes v by MPI, for itself     C v  rank v writes v, all open it
//   r    reads without MPI          R    reads by MPI, for itself        A    all read by MPI
//   u    removes it without MPI     D    removes it by MPI               b    a barrier
//   s r  sends to that rank         g r  gets a message of that rank
// A read of a file that is not there counts as 8, one of an empty file as 9.
#include "outcome.h"

#include <unistd.h>

enum { MOST = 16 };
static int rank, got[MOST], count;
static const char *const NAME = "passing.dat";
static MPI_Comm world = MPI_COMM_WORLD;

static void by_hand(const char *mode, int value) {
  FILE *file = fopen(NAME, mode);
  if (mode[0] == 'w') fputc('0' + value, file);
  else got[count++] = file ? fgetc(file) : '8';
  if (mode[0] != 'w') got[count - 1] = got[count - 1] == EOF ? 9 : got[count - 1] - '0';
  if (file) fclose(file);
}

static void by_mpi(MPI_Comm comm, int writes, int value) {
  MPI_File file;
  MPI_Status status;
  int mode = writes >= 0 ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY, there;
  char byte = (char)('0' + value);
  if (MPI_File_open(comm, NAME, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    got[count++] = 8;
    return;
  }
  if (writes == rank) MPI_File_write_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE);
  if (writes < 0) {
    MPI_File_read_at(file, 0, &byte, 1, MPI_CHAR, &status);
    MPI_Get_count(&status, MPI_CHAR, &there);
    got[count++] = there ? byte - '0' : 9;
  }
  MPI_File_close(&file);
}

static void carry_out(const char *step) {
  int value = step[1] ? step[1] - '0' : 0;
  switch (step[0]) {
    case 'w': by_hand("w", value); return;
    case 'r': by_hand("r", 0); return;
    case 'u': unlink(NAME); return;
    case 'W': by_mpi(MPI_COMM_SELF, rank, value); return;
    case 'R': by_mpi(MPI_COMM_SELF, -1, 0); return;
    case 'C': by_mpi(world, value, value); return;
    case 'A': by_mpi(world, -1, 0); return;
    case 'D': MPI_File_delete(NAME, MPI_INFO_NULL); return;
    case 'b': MPI_Barrier(world); return;
    case 's': MPI_Send(NULL, 0, MPI_INT, value, 0, world); return;
    case 'g': MPI_Recv(NULL, 0, MPI_INT, value, 0, world, MPI_STATUS_IGNORE); return;
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  for (char *step = strtok(argv[1 + rank], " "); step; step = strtok(NULL, " ")) carry_out(step);
  fail_with(got, count, MOST);
  return 0;
}
