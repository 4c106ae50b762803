// Accumulations: those with one operator commute; operations that can observe the order are
// explored in each order.
// 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13: right
// 14: assertion
// 15: right
// 16: assertion
// 17: right
// 18: assertion
// 19: right
// 20: assertion
// 21: right
// 22: assertion
// 23: right
// 24: global concurrency
// 25: right
// 26: right
// 27: assertion
// 28: right
// 29: assertion
// 30: right
// 31: assertion
// 32: right
// 33: right, 3 ranks
// 34: right
// 35: right
// 36: datatype mismatch
// 37: right, 3 ranks
#include "cases.h"
#include <assert.h>

static int memory[4] = {10, 11, 12, 13};
static struct pair {
  double value;
  int place;
} pair = {5, 5};
static MPI_Win win;

static int kept[16], used;
static int *keep(int value) { return kept[used] = value, &kept[used++]; }

static void accumulate(int value, MPI_Op op, int place) {
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Accumulate(keep(value), 1, MPI_INT, 0, place, 1, MPI_INT, op, win); // wrong 24
  MPI_Win_unlock(0, win);
}

static int fetch(int value, MPI_Op op, int place) {
  int got;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Fetch_and_op(&value, &got, MPI_INT, 0, place, op, win);
  MPI_Win_unlock(0, win);
  return got;
}

static int swap(int old, int new, int place) {
  int got;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Compare_and_swap(&new, &old, &got, MPI_INT, 0, place, win);
  MPI_Win_unlock(0, win);
  return got;
}

static int get(int place) {
  int got;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Get(&got, 1, MPI_INT, 0, place, 1, MPI_INT, win);
  MPI_Win_unlock(0, win);
  return got;
}

static int at_last(int place) {
  MPI_Barrier(world);
  return get(place);
}

/* Each rank accumulates three times: one class of executions. */
static void each_operator(MPI_Op op) {
  int expected = memory[0];
  for (int i = 0; i < 3; i++) accumulate(2 + 3 * rank, op, 0);
  for (int r = 0; r < size; r++)
    for (int i = 0; i < 3; i++) {
      int value = 2 + 3 * r;
      MPI_Reduce_local(&value, &expected, 1, MPI_INT, op);
    }
  assert(at_last(0) == expected);
}

static void pairs(MPI_Op op) {
  struct pair mine = {op == MPI_MINLOC ? 1 : 9, rank};
  MPI_Win at;
  MPI_Win_create(&pair, sizeof pair, 1, MPI_INFO_NULL, world, &at);
  for (int i = 0; i < 3; i++) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, at);
    MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, op, at);
    MPI_Win_unlock(0, at);
  }
  MPI_Win_free(&at);
  assert(rank > 0 || (pair.value == mine.value && pair.place == 0));
}

/* In each pair of cases, the even one accepts any order; the odd one asserts that one order does
 * not happen. */
static void orders(void) {
  int got;
  switch (which) {
    case 14:
    case 15:
      accumulate(20 + rank, MPI_REPLACE, 0);
      got = at_last(0);
      assert(got == 20 || (which == 15 && got == 21)); // wrong 14
      break;
    case 16:
    case 17:
      if (rank == 0) accumulate(5, MPI_SUM, 0), accumulate(5, MPI_SUM, 0);
      else assert((got = fetch(0, MPI_NO_OP, 0)) == 10 || got == 20 || (which == 17 && got == 15)); // wrong 16
      break;
    case 18:
    case 19:
      got = fetch(1, MPI_SUM, 0);
      assert(rank == 0 || got == 10 || which == 19); // wrong 18
      break;
    case 20:
    case 21:
      if (rank == 0) accumulate(5, MPI_SUM, 0);
      else swap(15, 40, 0);
      got = at_last(0);
      assert(got == 15 || (which == 21 && got == 40)); // wrong 20
      break;
    case 22:
    case 23: /* a flag is set before or behind what it is for */
      if (rank == 0) accumulate(1, MPI_SUM, which == 22), accumulate(1, MPI_SUM, which == 23);
      else if (fetch(0, MPI_NO_OP, 1) == 12) assert(fetch(0, MPI_NO_OP, 0) == 11); // wrong 22
      break;
  }
}

/* In the epoch of a fence. */
static void fenced(void) {
  int one = 1, got = 0;
  MPI_Win_fence(0, win);
  if (which < 29) MPI_Fetch_and_op(&one, &got, MPI_INT, 0, rank * (which == 26), MPI_SUM, win);
  else if (which < 31) MPI_Accumulate(keep(20 + rank), 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
  else MPI_Put(keep(20 + rank), 1, MPI_INT, 0, rank, 1, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  if (which == 26) assert(got == 10 + rank);
  if (which == 27 || which == 28) assert(got == 10 + rank || (which == 28 && got == 11 - rank)); // wrong 27
  if (which == 29 || which == 30) assert(rank > 0 || memory[0] == 20 || which == 30);            // wrong 29
  if (which == 32) assert(get(0) == 20 && get(1) == 21);
}

static void others(void) {
  int none = 0, got = 0;
  MPI_Request request;
  switch (which) {
    case 13:
      MPI_Win_lock_all(0, win);
      for (int i = 0; i < 3; i++) {
        MPI_Accumulate(keep(1), 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_flush(0, win);
      }
      MPI_Barrier(world);
      assert(rank > 0 || memory[0] == 10 + 3 * size);
      MPI_Win_unlock_all(win);
      break;
    case 24: accumulate(2, rank == 0 ? MPI_SUM : MPI_PROD, 0); break;
    case 25: /* ordered by a message */
      if (rank == 0) {
        accumulate(2, MPI_SUM, 0);
        MPI_Send(&none, 1, MPI_INT, 1, 0, world);
      } else {
        MPI_Recv(&none, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
        accumulate(3, MPI_PROD, 0);
      }
      assert(at_last(0) == 36);
      break;
    case 31:
    case 34: /* exclusive locks allow both orders */
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
      MPI_Accumulate(keep(2), 1, MPI_INT, 0, 0, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_PROD, win);
      MPI_Win_unlock(0, win);
      got = at_last(0);
      assert(got == 24 || (which == 34 && got == 22)); // wrong 31
      break;
    case 35:
      memory[0] = 7;
      MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
      MPI_Rget(&got, 1, MPI_INT, rank, 0, 1, MPI_INT, win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Win_unlock(rank, win);
      assert(got == 7);
      break;
    case 36:
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      MPI_Put(keep(1), 1, MPI_INT, 0, 0, 1, MPI_FLOAT, win); // wrong 36
      MPI_Win_unlock(0, win);
      break;
    case 37: /* rank 2 has seen no fetch, and later knows both that and what was there before it */
      if (rank == 0) fetch(100, MPI_REPLACE, 0), MPI_Send(&none, 1, MPI_INT, 2, 0, world);
      else if (rank == 1) accumulate(1, MPI_SUM, 0), MPI_Send(&none, 1, MPI_INT, 2, 1, world);
      else {
        MPI_Recv(&none, 1, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);
        assert(get(2) == 12);
        MPI_Recv(&none, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
        got = get(0);
        assert(got == 100 || got == 101);
      }
      assert(at_last(0) == (rank == 2 ? got : get(0)));
      break;
  }
}

/* Rank 2 has no part of the window, and passes on what rank 0 says. */
static void relayed(void) {
  MPI_Comm two;
  int none = 0;
  MPI_Comm_split(world, rank == 2, rank, &two);
  if (rank < 2) MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, two, &win);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Put(keep(5), 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_unlock(1, win);
  }
  if (rank != 0) MPI_Recv(&none, 1, MPI_INT, rank == 2 ? 0 : 2, 0, world, MPI_STATUS_IGNORE);
  if (rank != 1) MPI_Send(&none, 1, MPI_INT, rank == 2 ? 1 : 2, 0, world);
  if (rank == 1) assert(memory[0] == 5);
  if (rank < 2) MPI_Win_free(&win);
  MPI_Comm_free(&two);
}

static void run(void) {
  MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
  if (which == 33) {
    relayed();
    return;
  }
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, world, &win);
  if (which <= 10) each_operator(ops[which - 1]);
  else if (which <= 12) pairs(which == 11 ? MPI_MINLOC : MPI_MAXLOC);
  else if (which >= 14 && which <= 23) orders();
  else if ((which >= 26 && which <= 30) || which == 32) fenced();
  else others();
  MPI_Win_free(&win);
}
