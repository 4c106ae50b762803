// What an atomic operation returns says what comes before it.
// 1, 2, 3, 8: right
// 4, 5, 6, 7: global concurrency
#include "cases.h"
#include <assert.h>

enum { DATA, FLAG };
static int memory[2];
static MPI_Win win;

static void put(int value) {
  static int kept;
  kept = value;
  MPI_Put(&kept, 1, MPI_INT, 0, DATA, 1, MPI_INT, win); // wrong 4, 5, 6, 7
}
static int get(void) {
  int got;
  MPI_Get(&got, 1, MPI_INT, 0, DATA, 1, MPI_INT, win); // wrong 4, 5, 6, 7
  MPI_Win_flush(0, win);
  return got;
}
static void flush(void) { MPI_Win_flush(0, win); }
static void raise(MPI_Op op) {
  int one = 1;
  MPI_Accumulate(&one, 1, MPI_INT, 0, FLAG, 1, MPI_INT, op, win);
  flush();
}
static int fetch(int value, MPI_Op op) {
  int got;
  MPI_Fetch_and_op(&value, &got, MPI_INT, 0, FLAG, op, win);
  flush();
  return got;
}
static int swap(int old, int new) {
  int got;
  MPI_Compare_and_swap(&new, &old, &got, MPI_INT, 0, FLAG, win);
  flush();
  return got;
}

static void run(void) {
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, world, &win);
  MPI_Barrier(world);
  MPI_Win_lock_all(0, win);
  switch (which) {
    case 1: /* who comes second comes behind the first */
      if (rank == 0) put(5), flush();
      if (fetch(1, MPI_SUM) == 1 && rank == 1) assert(get() == 5);
      break;
    case 2: /* the same, where only one of them looks */
      if (rank == 0) put(5), flush(), raise(MPI_SUM);
      else if (fetch(0, MPI_NO_OP) == 1) assert(get() == 5);
      break;
    case 3: /* a critical region, for who gets in */
      if (swap(0, 1) == 0) put(get() + 1), flush(), swap(1, 0);
      break;
    case 8: /* a value that replaces another one */
      if (rank == 0) put(5), flush(), raise(MPI_REPLACE);
      else if (fetch(2, MPI_SUM) == 1) assert(get() == 5);
      break;
    case 4: /* but not if it is not looked at, */
      if (rank == 0) put(5), flush(), raise(MPI_SUM);
      else fetch(0, MPI_NO_OP), get();
      break;
    case 5: /* or if what comes before is not complete, */
      if (rank == 0) put(5), raise(MPI_SUM);
      else if (fetch(0, MPI_NO_OP) == 1) get();
      break;
    case 6: /* or if the value is not read, */
      if (rank == 0) put(5), flush(), raise(MPI_REPLACE);
      else raise(MPI_REPLACE), get();
      break;
    case 7: /* or not written. */
      if (rank == 0) put(5), flush(), fetch(0, MPI_NO_OP);
      else fetch(0, MPI_NO_OP), get();
      break;
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}
