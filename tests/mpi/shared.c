// Files that several ranks use. If one rank could notice another one by that, the program is not
// decided.
// 1, 2, 3, 4: right
// 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15: unsupported
#define _GNU_SOURCE
#include "cases.h"
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *here = "/tmp/mazurka-test-shared";

static void put(const char *name, const char *mode) {
  FILE *file = fopen(name, mode); // wrong 5, 6, 7, 10, 11, 14, 15
  if (file) fprintf(file, "from %d\n", rank), fclose(file);
}

static void run(void) {
  char own[100], text[10] = "";
  snprintf(own, sizeof own, "%s-%d", here, rank);
  switch (which) {
    case 1: // Each has its own.
      put(own, "w");
      remove(own);
      mkdir(own, 0700);
      break;
    case 2: // All read the same.
      fclose(fopen("/etc/passwd", "r"));
      assert(access(here, F_OK));
      break;
    case 3: // All write to the end of one, which nobody reads.
      put(here, "a");
      MPI_Barrier(world);
      put(here, "a");
      break;
    case 4: { // One rank makes a file and says what is in it.
      if (rank == 0) {
        put(here, "w");
        FILE *file = fopen(here, "r");
        assert(fread(text, 1, 6, file) == 6);
        fclose(file);
      }
      MPI_Bcast(text, 6, MPI_CHAR, 0, world);
      assert(strcmp(text, "from 0") == 0);
      break;
    }
    case 5: // What one writes another one reads, although they have met between.
      if (rank == 0) put(here, "w");
      MPI_Barrier(world);
      if (rank == 1) assert(!access(here, F_OK));
      break;
    case 6: // Whose is it?
      put(here, "w");
      break;
    case 7: // What all append one reads.
      put(here, "a");
      MPI_Barrier(world);
      if (rank == 0) assert(access(here, R_OK) == 0);
      break;
    case 8: { // How long a file is that all append to is read, too.
      FILE *file = fopen(here, "a");
      fputs("x", file);
      if (ftell(file) > 1) abort(); // wrong 8
      fclose(file);
      break;
    }
    case 9: // Only one can make it.
      if (mkdir(here, 0700)) abort(); // wrong 9
      break;
    case 10: // One makes the folder for the files of all.
      if (rank == 0) mkdir(here, 0700);
      MPI_Barrier(world);
      snprintf(own, sizeof own, "%s/%d", here, rank);
      put(own, "w");
      break;
    case 11: // A folder is listed in which another rank makes something.
      if (rank == 0) put(own, "w");
      MPI_Barrier(world);
      if (rank == 1) {
        DIR *folder = opendir("/tmp");
        while (readdir(folder)) {}
        closedir(folder);
      }
      break;
    case 12: { // A lock.
      int file = open("/etc/passwd", O_RDONLY);
      flock(file, LOCK_EX); // wrong 12
      close(file);
      break;
    }
    case 13: { // Shared memory with a name.
      int memory = shm_open("/mazurka-test-shared", O_CREAT | O_RDWR, 0600); // wrong 13
      close(memory);
      break;
    }
    case 14: { // The same file by two names.
      if (rank == 0) put(here, "w");
      MPI_Barrier(world);
      snprintf(own, sizeof own, "/tmp/../tmp/./mazurka-test-shared");
      if (rank == 1) access(own, F_OK);
      break;
    }
    case 15: // By something else than a name.
      if (rank == 0) put(here, "w");
      MPI_Barrier(world);
      if (rank == 1) {
        int folder = open("/tmp", O_RDONLY);
        faccessat(folder, "mazurka-test-shared", F_OK, 0);
        close(folder);
      }
      break;
  }
}
