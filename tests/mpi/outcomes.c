// Interprets a script for each rank (tests/mpi/outcomes.rs writes them), frees the window, and
// fails with all values that the ranks have read and have in memory then. So each outcome is a
// violation with its own message.
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 2, MOST = 24 };
static int rank, size, memory[PLACES], got[MOST], count, given[2 * MOST], used;
static MPI_Win win;

static MPI_Op op_of(char digit) {
  MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_BXOR, MPI_REPLACE, MPI_NO_OP};
  return ops[digit - '0'];
}

static int *give(char digit) { return given[used] = digit - '0', &given[used++]; }

static void carry_out(const char *step) {
  int target = step[1] ? step[1] - '0' : 0, place = step[1] ? step[2] - '0' : 0, none = 0;
  switch (step[0]) {
    case 's': MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win); break;
    case 'x': MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win); break;
    case 'u': MPI_Win_unlock(target, win); break;
    case 'S': MPI_Win_lock_all(0, win); break;
    case 'U': MPI_Win_unlock_all(win); break;
    case 'f': MPI_Win_flush(target, win); break;
    case 'n': MPI_Win_fence(0, win); break;
    case 'N': MPI_Win_fence(MPI_MODE_NOSUCCEED, win); break;
    case 'b': MPI_Barrier(MPI_COMM_WORLD); break;
    case '!': MPI_Send(&none, 1, MPI_INT, target, 0, MPI_COMM_WORLD); break;
    case '?': MPI_Recv(&none, 1, MPI_INT, target, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    case 'p': MPI_Put(give(step[3]), 1, MPI_INT, target, place, 1, MPI_INT, win); break;
    case 'g': MPI_Get(&got[count++], 1, MPI_INT, target, place, 1, MPI_INT, win); break;
    case 'a': MPI_Accumulate(give(step[4]), 1, MPI_INT, target, place, 1, MPI_INT, op_of(step[3]), win); break;
    case 'F': MPI_Fetch_and_op(give(step[4]), &got[count++], MPI_INT, target, place, op_of(step[3]), win); break;
    case 'c': {
      int *compared = give(step[3]);
      MPI_Compare_and_swap(give(step[4]), compared, &got[count++], MPI_INT, target, place, win);
      break;
    }
    case 'w': memory[target] = step[2] - '0'; break;
    case 'r': got[count++] = memory[target]; break;
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < PLACES; i++) memory[i] = 2 + rank + i;
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (char *step = strtok(argv[1 + rank], " "); step; step = strtok(NULL, " ")) carry_out(step);
  MPI_Win_free(&win);
  for (int i = 0; i < PLACES; i++) got[count++] = memory[i];
  int all[8 * MOST], counts[8];
  MPI_Gather(got, MOST, MPI_INT, all, MOST, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
  char text[2000] = "";
  for (int r = 0; rank == 0 && r < size; r++) {
    for (int i = 0; i < counts[r]; i++) sprintf(text + strlen(text), "%d ", all[r * MOST + i]);
    strcat(text, "/ ");
  }
  MPI_Finalize();
  if (rank == 0) __assert_fail(text, __FILE__, __LINE__, __func__);
  return 0;
}
