// Files that ranks use by MPI and without it.
// 1, 2, 4, 5, 6, 11, 13, 14, 15, 16: right
// 3, 7, 8, 9, 10: unsupported
// 12: abort
// 17, 18: unsupported
#include "cases.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(condition)                                         \
  if (!(condition)) {                                            \
    fprintf(stderr, "rank %d: %s is false\n", rank, #condition); \
    abort();                                                     \
  }

static const char *const NAME = "mixed.dat";
static MPI_File file;

static void by_hand(const char *mode, const char *text) {
  FILE *own = fopen(NAME, mode);
  fputs(text, own);
  fclose(own);
}

static int is_by_hand(const char *text) {
  char got[32] = "";
  FILE *own = fopen(NAME, "r");
  if (!own) return 0;
  fgets(got, sizeof got, own);
  fclose(own);
  return strcmp(got, text) == 0;
}

static int open_by_mpi(MPI_Comm comm, int mode) { return MPI_File_open(comm, NAME, mode, MPI_INFO_NULL, &file); }

static void write_by_mpi(MPI_Comm comm, int at, const char *text) {
  CHECK(open_by_mpi(comm, MPI_MODE_CREATE | MPI_MODE_RDWR) == MPI_SUCCESS);
  MPI_File_write_at(file, at, text, (int)strlen(text), MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

static int is_by_mpi(MPI_Comm comm, const char *text) {
  char got[32] = "";
  MPI_Status status;
  int count;
  CHECK(open_by_mpi(comm, MPI_MODE_RDONLY) == MPI_SUCCESS);
  MPI_File_read_at(file, 0, got, sizeof got - 1, MPI_CHAR, &status);
  MPI_Get_count(&status, MPI_CHAR, &count);
  MPI_File_close(&file);
  return count == (int)strlen(text) && strcmp(got, text) == 0;
}

static void run(void) {
  const char *own = rank == 0 ? "a" : "b";
  struct stat is;
  FILE *open;
  switch (which) {
    case 1:
      if (rank == 0) by_hand("w", "hello");
      MPI_Barrier(world);
      CHECK(is_by_mpi(world, "hello"));
      break;
    case 2:
      /* Everything is before MPI_File_open, which is collective. */
      if (rank == 0) by_hand("w", "one"), by_hand("a", " two");
      CHECK(is_by_mpi(world, "one two"));
      break;
    case 3:
      if (rank == 0) {
        by_hand("w", "hello");
        is_by_mpi(MPI_COMM_SELF, "hello");
      } else {
        write_by_mpi(MPI_COMM_SELF, 0, "other");
      }
      break;
    case 4:
      write_by_mpi(world, rank, own);
      CHECK(is_by_hand("ab"));
      break;
    case 5:
      if (rank == 0) {
        by_hand("w", "old");
        unlink(NAME);
      }
      write_by_mpi(world, rank, own);
      if (rank == 0) unlink(NAME);
      MPI_Barrier(world);
      CHECK(open_by_mpi(world, MPI_MODE_RDONLY) == MPI_ERR_NO_SUCH_FILE);
      break;
    case 6:
      write_by_mpi(world, rank, own);
      if (rank == 0) by_hand("w", "new");
      CHECK(is_by_mpi(world, "new"));
      break;
    case 7:
      /* Whether rank 0 reads what rank 1 writes is open. */
      write_by_mpi(world, rank, own);
      if (rank == 0) is_by_hand("ab");
      else write_by_mpi(MPI_COMM_SELF, 0, "c");
      break;
    case 8:
      open = rank == 0 ? fopen(NAME, "w") : NULL;
      is_by_mpi(world, "");
      if (open) fclose(open);
      break;
    case 9:
      open_by_mpi(world, MPI_MODE_CREATE | MPI_MODE_RDWR);
      if (rank == 0) is_by_hand("");
      MPI_File_close(&file);
      break;
    case 10:
      if (rank == 0) by_hand("w", "hello");
      MPI_Barrier(world);
      if (rank == 1) is_by_mpi(MPI_COMM_SELF, "hello");
      break;
    case 11:
      write_by_mpi(world, rank, own);
      MPI_Finalize();
      CHECK(is_by_hand("ab"));
      exit(0);
    case 12:
      CHECK(open_by_mpi(world, MPI_MODE_CREATE | MPI_MODE_RDWR) == MPI_SUCCESS);
      MPI_File_write_shared(file, own, 1, MPI_CHAR, MPI_STATUS_IGNORE);
      MPI_File_close(&file);
      if (rank == 0 && is_by_hand("ba")) abort(); // wrong 12
      break;
    case 13:
      write_by_mpi(world, 3 * rank, own);
      CHECK(stat(NAME, &is) == 0 && is.st_size == 4);
      break;
    case 14: {
      char first;
      CHECK(stat("/etc/passwd", &is) == 0);
      MPI_Offset size_now;
      MPI_File_open(world, "/etc/passwd", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
      MPI_File_get_size(file, &size_now);
      MPI_File_read_all(file, &first, 1, MPI_CHAR, MPI_STATUS_IGNORE);
      MPI_File_close(&file);
      FILE *same = fopen("/etc/passwd", "r");
      CHECK(size_now == is.st_size && fgetc(same) == first);
      fclose(same);
      break;
    }
    case 15:
      write_by_mpi(world, rank, own);
      CHECK(is_by_hand("ab"));
      write_by_mpi(world, 2 + rank, own);
      CHECK(is_by_hand("abab"));
      break;
    case 16:
      /* Messages order what they do. */
      if (rank == 0) {
        by_hand("w", "hello");
        is_by_mpi(MPI_COMM_SELF, "hello");
        MPI_Send(NULL, 0, MPI_INT, 1, 0, world);
      } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
        CHECK(is_by_mpi(MPI_COMM_SELF, "hello") && is_by_hand("hello"));
      }
      break;
    case 17:
      /* Rank 0 writes before rank 1 reads, but makes it known only later. */
      if (rank == 0) {
        by_hand("w", "hello");
        MPI_Send(NULL, 0, MPI_INT, 1, 0, world);
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
        is_by_mpi(MPI_COMM_SELF, "hello");
      } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
        if (open_by_mpi(MPI_COMM_SELF, MPI_MODE_RDONLY) == MPI_SUCCESS) MPI_File_close(&file);
        MPI_Send(NULL, 0, MPI_INT, 0, 0, world);
      }
      break;
    case 18:
      /* Rank 0 may make the file before rank 1 looks whether it is there. (A barrier between would
       * help, but when ranks did something before they used the file by MPI is not kept.) */
      stat(NAME, &is);
      write_by_mpi(world, rank, own);
      break;
  }
}
