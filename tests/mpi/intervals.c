// Accesses to windows that touch the same bytes, and others. How many classes of executions each
// right case has is in intervals.rs.
// 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12: right, 3 ranks
// 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23: right, 3 ranks
// 24, 25, 26, 27, 28, 29, 30, 45, 46, 48, 51, 57, 58: right, 3 ranks
// 31, 32, 33, 34, 38, 39, 49, 50, 52, 53, 54, 55, 56: assertion, 3 ranks
// 35, 36, 47: call order, 3 ranks
// 37: global concurrency, 3 ranks
// 40: call order, 2 ranks
// 41, 42, 43: right, 3 ranks
// 44: missing epoch, 3 ranks
#include "cases.h"
#include <assert.h>
#include <stdbool.h>

enum { MOST = 4, LONG = 20 };
static int memory[MOST * LONG];
static MPI_Win win;

static void lock(int kind) { MPI_Win_lock(kind, 0, 0, win); } // wrong 44
static void unlock(void) { MPI_Win_unlock(0, win); }

/* One operation on rank 0's part, in an epoch of its own. */
static void put(int kind, int value, int place) {
  lock(kind);
  MPI_Put(&value, 1, MPI_INT, 0, place, 1, MPI_INT, win); // wrong 37
  unlock();
}

static int get(int kind, int place) {
  int got;
  lock(kind);
  MPI_Get(&got, 1, MPI_INT, 0, place, 1, MPI_INT, win);
  unlock();
  return got;
}

static void accumulate(int value, MPI_Op op, int place) {
  lock(MPI_LOCK_SHARED);
  MPI_Accumulate(&value, 1, MPI_INT, 0, place, 1, MPI_INT, op, win);
  unlock();
}

static int fetch(int value, MPI_Op op, int place) {
  int got;
  lock(MPI_LOCK_SHARED);
  MPI_Fetch_and_op(&value, &got, MPI_INT, 0, place, op, win);
  unlock();
  return got;
}

/* Adds 1 to several numbers, and returns the sum of what was there. */
static int fetch_all(int place, int count) {
  int ones[MOST * LONG], got[MOST * LONG], sum = 0;
  for (int i = 0; i < count; i++) ones[i] = 1;
  lock(MPI_LOCK_SHARED);
  MPI_Get_accumulate(ones, count, MPI_INT, got, count, MPI_INT, 0, place, count, MPI_INT, MPI_SUM, win);
  unlock();
  for (int i = 0; i < count; i++) sum += got[i];
  return sum;
}

static int swap(int old, int new, int place) {
  int got;
  lock(MPI_LOCK_SHARED);
  MPI_Compare_and_swap(&new, &old, &got, MPI_INT, 0, place, win);
  unlock();
  return got;
}

/* Replaces the numbers of a column (or a row) of a matrix with four rows. */
static void replace_line(bool is_column, int line) {
  int ones[] = {1, 1, 1, 1};
  MPI_Datatype type;
  MPI_Type_vector(4, 1, is_column ? 4 : 1, MPI_INT, &type);
  MPI_Type_commit(&type);
  lock(MPI_LOCK_SHARED);
  MPI_Accumulate(ones, 4, MPI_INT, 0, is_column ? line : 4 * line, 1, type, MPI_REPLACE, win);
  unlock();
  MPI_Type_free(&type);
}

static void shared(void) {
  int value = rank + 1, got = 0, all[MOST] = {0};
  switch (which) {
    case 1: put(MPI_LOCK_SHARED, value, rank); break;
    case 2:
      MPI_Win_lock_all(0, win);
      MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
      MPI_Win_flush(0, win);
      MPI_Win_unlock_all(win);
      break;
    case 3: assert(fetch(1, MPI_SUM, rank) == 0); break;
    case 4: got = fetch(1, MPI_SUM, 0); break;
    case 5: /* one rank looks at what the others do not change */
      if (rank == 0) got = fetch(1, MPI_SUM, 0);
      else accumulate(1, MPI_SUM, rank);
      break;
    case 6:
      if (rank == 0) got = fetch(1, MPI_SUM, 0);
      else accumulate(1, MPI_SUM, 0);
      break;
    case 7: accumulate(value, MPI_REPLACE, rank); break;
    case 8: accumulate(value, MPI_REPLACE, 0); break;
    case 9: got = swap(0, value, rank); break;
    case 10: got = swap(0, value, 0); break;
    case 11: got = fetch_all(rank, 2); break; /* only neighbours overlap, in one number */
    case 12: got = fetch_all(2 * rank, 2); break;
    case 13: got = fetch_all(LONG * rank, LONG); break; /* many grains count as all */
    case 14: got = rank == 0 ? fetch(1, MPI_SUM, LONG) : fetch_all(rank == 1 ? 0 : 2 * LONG, LONG); break;
    case 15: replace_line(true, rank); break;
    case 16: replace_line(rank != 1, rank); break; /* rank 1 crosses the others */
    case 17: /* disjoint halves, and then all of it */
      MPI_Win_lock_all(0, win);
      if (rank > 0) MPI_Put(&(int[]){value, value}, 2, MPI_INT, 0, 2 * (rank - 1), 2, MPI_INT, win);
      MPI_Win_flush_all(win);
      MPI_Barrier(world);
      MPI_Get(all, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
      MPI_Win_unlock_all(win);
      assert(all[0] == 2 && all[1] == 2 && all[2] == 3 && all[3] == 3);
      break;
    case 18: /* the first and the last number, or what is between them */
      if (rank == 0) got = fetch_all(1, 2);
      else got = fetch(1, MPI_SUM, rank == 1 ? 0 : 3);
      break;
    case 45: got = fetch(0, MPI_NO_OP, 0); break;
    case 51: /* rank 1 looks at one place, then at the other: what it sees there, rank 2 sees later */
      if (rank == 0) {
        lock(MPI_LOCK_SHARED);
        MPI_Accumulate((int[]){1, 1}, 2, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win);
        unlock();
      }
      if (rank == 1) fetch(0, MPI_NO_OP, 0), got = fetch(0, MPI_NO_OP, 1);
      if (rank == 2) got = fetch(10, MPI_SUM, 1);
      MPI_Gather(&got, 1, MPI_INT, all, 1, MPI_INT, 0, world);
      if (rank == 0) assert(all[1] != 1 || all[2] == 1);
      break;
  }
  if (which == 11) assert(got <= 2);
}

static void exclusive(void) {
  int value = rank + 1, got = 0;
  switch (which) {
    case 19: if (rank > 0) put(MPI_LOCK_EXCLUSIVE, value, rank); break;
    case 20: put(MPI_LOCK_EXCLUSIVE, value, rank); break; /* the owner's lock is not postponed */
    case 21: put(MPI_LOCK_EXCLUSIVE, value, 0); break;
    case 22: if (rank > 0) got = get(MPI_LOCK_EXCLUSIVE, 0); break;
    case 23: /* the flush needs the content */
      lock(MPI_LOCK_EXCLUSIVE);
      MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
      MPI_Win_flush(0, win);
      got++;
      MPI_Put(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
      unlock();
      break;
    case 24: /* this flush does not */
      if (rank == 0) break;
      lock(MPI_LOCK_EXCLUSIVE);
      MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
      MPI_Win_flush(0, win);
      MPI_Put(&value, 1, MPI_INT, 0, rank + 4, 1, MPI_INT, win);
      unlock();
      break;
    case 25: /* exclusive and shared locks have an order */
      if (rank == 1) put(MPI_LOCK_EXCLUSIVE, 7, 1);
      if (rank == 2) got = get(MPI_LOCK_SHARED, 1), assert(got == 0 || got == 7);
      break;
    case 26: /* the owner changes its memory */
      lock(MPI_LOCK_EXCLUSIVE);
      if (rank == 0) memory[0]++;
      else MPI_Accumulate(&(int){1}, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
      unlock();
      MPI_Barrier(world);
      assert(get(MPI_LOCK_SHARED, 0) == size);
      break;
    case 27: /* many grains: postponed only until the unlock */
      if (rank == 0) break;
      lock(MPI_LOCK_EXCLUSIVE);
      MPI_Put(memory, LONG, MPI_INT, 0, LONG * rank, LONG, MPI_INT, win);
      unlock();
      break;
    case 28: /* what a shared lock protects is seen by later exclusive ones, and the other way round */
      if (rank == 0) break;
      if (rank == 1) {
        put(MPI_LOCK_SHARED, 5, 1);
        put(MPI_LOCK_EXCLUSIVE, 6, 2);
        MPI_Send(&value, 1, MPI_INT, 2, 0, world);
      } else {
        MPI_Recv(&value, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
        assert(get(MPI_LOCK_EXCLUSIVE, 1) == 5 && get(MPI_LOCK_SHARED, 2) == 6 && get(MPI_LOCK_EXCLUSIVE, 2) == 6);
      }
      break;
    case 29: /* another grain of the same rank is known with the first */
      if (rank == 1) put(MPI_LOCK_EXCLUSIVE, 5, 1), put(MPI_LOCK_EXCLUSIVE, 6, 2);
      if (rank == 2 && get(MPI_LOCK_EXCLUSIVE, 2) == 6) assert(get(MPI_LOCK_EXCLUSIVE, 1) == 5);
      break;
    case 30: /* the same for a shared lock, and the owner's memory */
      if (rank == 1) put(MPI_LOCK_EXCLUSIVE, 5, 0), put(MPI_LOCK_EXCLUSIVE, 6, 1);
      if (rank == 0) {
        lock(MPI_LOCK_SHARED);
        got = memory[1];
        assert(got == 0 || (got == 6 && memory[0] == 5));
        unlock();
      }
      break;
    case 48: /* a message says that the flush is over */
      if (rank == 1) {
        lock(MPI_LOCK_EXCLUSIVE);
        MPI_Put(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        MPI_Send(&value, 1, MPI_INT, 0, 0, world);
        unlock();
      }
      if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
        assert(memory[1] == 2);
      }
      break;
    case 46: /* a rank that is stopped in the epoch has the lock */
    case 35:
      if (rank == 1) {
        lock(MPI_LOCK_EXCLUSIVE);
        if (which == 35) MPI_Recv(&value, 1, MPI_INT, 2, 0, world, MPI_STATUS_IGNORE); // wrong 35
        unlock();
      }
      if (rank == 2) {
        put(MPI_LOCK_EXCLUSIVE, 1, 1); // wrong 35
        if (which == 35) MPI_Send(&value, 1, MPI_INT, 1, 0, world);
      }
      break;
    case 57: /* a rank has the lock at the barrier, or takes it later: nobody notices */
      if (rank == 2) lock(MPI_LOCK_EXCLUSIVE), MPI_Put(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, win);
      MPI_Barrier(world);
      if (rank == 2) unlock();
      break;
    case 58: /* the same, where another one has the lock before or after it */
      if (rank == 2) lock(MPI_LOCK_EXCLUSIVE), MPI_Put(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, win);
      MPI_Barrier(world);
      if (rank == 2) unlock();
      if (rank == 1) got = get(MPI_LOCK_EXCLUSIVE, 2), assert(got == 0 || got == 3);
      break;
    case 36: /* two locks in opposite orders */
    case 47: /* rank 1 has its own lock first, for that of rank 0 may be taken by the unlock */
      if (rank == 2) break;
      for (int i = 0; i < 2; i++) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, which == 36 && rank == 1 ? 1 - i : i, 0, win); // wrong 36, 47
      for (int i = 0; i < 2; i++) MPI_Win_unlock(i, win); // wrong 36, 47
      break;
  }
}

/* Each assertion excludes something that happens in one order. */
static void wrong(void) {
  int got = 0;
  switch (which) {
    case 31: assert(rank != 1 || fetch_all(rank, 2) < 2); if (rank != 1) fetch_all(rank, 2); break; // wrong 31
    case 32: /* the last byte of one is the first of the other */
      if (rank == 1) got = fetch_all(0, 2);
      if (rank == 2) got = fetch_all(1, 2);
      assert(rank != 1 || got == 0); // wrong 32
      break;
    case 33:
      if (rank == 1) put(MPI_LOCK_EXCLUSIVE, 1, 1);
      if (rank == 2) assert(get(MPI_LOCK_EXCLUSIVE, 1) == 0); // wrong 33
      break;
    case 34:
      if (rank == 1) put(MPI_LOCK_EXCLUSIVE, 1, 1);
      if (rank == 2) assert(get(MPI_LOCK_SHARED, 1) == 0); // wrong 34
      break;
    case 38:
      if (rank == 1) put(MPI_LOCK_EXCLUSIVE, 1, 1);
      if (rank == 0) lock(MPI_LOCK_EXCLUSIVE), got = memory[1], unlock(), assert(got == 0); // wrong 38
      break;
    case 39: /* one of two ranks sees what the third one changes at both their places */
      if (rank == 1) fetch_all(0, 3);
      else got = fetch(1, MPI_SUM, rank);
      MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_INT, MPI_SUM, world);
      assert(got != 1); // wrong 39
      break;
    case 49: /* the lock of rank 2 is not postponed */
      if (rank == 1) put(MPI_LOCK_EXCLUSIVE, 1, 1);
      if (rank == 2) {
        lock(MPI_LOCK_EXCLUSIVE);
        MPI_Get(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        unlock();
        assert(got == 0); // wrong 49
      }
      break;
    case 50: /* one place, and many */
      if (rank == 1) fetch_all(0, LONG);
      if (rank == 2) assert(fetch(1, MPI_SUM, 3) == 0); // wrong 50
      break;
    case 52: /* the other way round */
      if (rank == 1) fetch(1, MPI_SUM, 3);
      if (rank == 2) assert(fetch_all(0, LONG) == 0); // wrong 52
      break;
    case 53: /* the owner shares the lock of its own part */
      if (rank == 1) put(MPI_LOCK_EXCLUSIVE, 1, 1);
      if (rank == 0) lock(MPI_LOCK_SHARED), got = memory[1], unlock(), assert(got == 0); // wrong 53
      break;
    case 54: /* the lock of rank 2 may be taken by the unlock, before or behind the barrier */
    case 55:
      if (rank == 2) {
        lock(MPI_LOCK_EXCLUSIVE);
        if (which == 54) MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
      }
      MPI_Barrier(world);
      if (which == 55 && rank == 2) MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
      if (rank == 2) unlock();
      if (rank == 1) assert(get(MPI_LOCK_EXCLUSIVE, 0) == 2); // wrong 54, 55
      break;
    case 56: /* this flush takes the lock, behind the barrier */
      if (rank == 2) lock(MPI_LOCK_EXCLUSIVE);
      MPI_Barrier(world);
      if (rank == 2) MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_Win_flush(0, win);
      MPI_Barrier(world);
      if (rank == 2) unlock();
      if (rank == 1) put(MPI_LOCK_EXCLUSIVE, 1, 0);
      MPI_Barrier(world);
      assert(get(MPI_LOCK_SHARED, 0) != 1); // wrong 56
      break;
    case 37: put(MPI_LOCK_SHARED, 5, rank == 0 ? 4 : 0); break;
    case 40: /* both wait for the message of the other, with the lock of the other */
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rank, 0, win);
      MPI_Put(&rank, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
      MPI_Recv(&got, 1, MPI_INT, 1 - rank, 0, world, MPI_STATUS_IGNORE); // wrong 40
      MPI_Win_unlock(1 - rank, win);
      break;
    case 44:
      if (rank == 1) lock(MPI_LOCK_EXCLUSIVE);
      break;
  }
}

/* Other units: halves of 4 bytes, where grains have 8; numbers of 4 bytes, and single bytes. */
static void units(void) {
  MPI_Win other;
  signed char one = 1, got;
  MPI_Win_create(memory, sizeof memory, which == 41 ? 8 : 1, MPI_INFO_NULL, world, &other);
  if (rank > 0) {
    MPI_Datatype half;
    MPI_Type_indexed(1, &(int){1}, &(int){rank - 1}, MPI_INT, &half);
    MPI_Type_commit(&half);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, other);
    if (which < 43) MPI_Accumulate(&rank, 1, MPI_INT, 0, 0, 1, half, MPI_REPLACE, other);
    else MPI_Fetch_and_op(&one, &got, MPI_SIGNED_CHAR, 0, 3 + rank, MPI_SUM, other); /* bytes 4 and 5 */
    MPI_Win_unlock(0, other);
    MPI_Type_free(&half);
  }
  MPI_Win_free(&other);
  if (rank == 0) assert(which < 43 ? memory[0] == 1 && memory[1] == 2 : memory[1] == 0x101);
}

static void run(void) {
  if (which >= 41 && which <= 43) {
    units();
    return;
  }
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, world, &win);
  shared();
  exclusive();
  wrong();
  MPI_Win_free(&win);
  if (which == 3 || which == 7 || which == 19) assert(rank > 0 || (memory[1] != 0 && memory[2] != 0));
  if (which == 4 || which == 6 || which == 23) assert(rank > 0 || memory[0] == size);
}
