// Calls that open or close an epoch and need not wait for other ranks.
// 1, 5, 6, 9: right, 3 ranks
// 7, 14, 15: right
// 2, 3, 13: message race, 3 ranks
// 4, 11, 16: call order
// 8, 10, 18: global concurrency, 3 ranks
// 17: global concurrency
// 12, 19: invalid argument
#include "cases.h"
#include <assert.h>

static int memory[4], value = 7, got;
static MPI_Win win;
static MPI_Group group;

static void post(int assertion) { MPI_Win_post(group, assertion, win); } // wrong 12
static void start(void) { MPI_Win_start(group, 0, win); } // wrong 4, 11
static void put(int target, int place) { MPI_Put(&value, 1, MPI_INT, target, place, 1, MPI_INT, win); } // wrong 8, 10, 17, 18
static void get(int target, int place) { MPI_Get(&got, 1, MPI_INT, target, place, 1, MPI_INT, win); }
static void complete(void) { MPI_Win_complete(win); }
static void await(void) { MPI_Win_wait(win); }
static void send(int to) { MPI_Send(NULL, 0, MPI_INT, to, 0, world); }
static void receive(int from) { MPI_Recv(NULL, 0, MPI_INT, from, 0, world, MPI_STATUS_IGNORE); }

/* The message of rank 2 is not always the first one. */
static void receive_any(int expected) {
  MPI_Status status;
  MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, world, &status); // wrong 2, 3, 13
  assert(expected < 0 || status.MPI_SOURCE == expected);
}

/* Rank 0 has epochs at rank 1. */
static void two(void) {
  switch (which) {
    case 1: /* what is put is there behind the wait, and what was stored before the post is not */
      memory[0] = 1, memory[1] = 2;
      if (rank == 0) start(), put(1, 0), get(1, 1), complete(), assert(got == 2);
      if (rank == 1) memory[1] = 2, post(0), await(), assert(memory[0] == 7 && memory[1] == 2);
      break;
    case 2:
      if (rank == 0) start(), send(1), put(1, 0), complete();
      if (rank == 1) receive_any(2), post(0), receive_any(-1), await();
      if (rank == 2) send(1);
      break;
    case 3: /* what is put is kept until the part is exposed */
      if (rank == 0) start(), put(1, 0), complete(), send(1);
      if (rank == 1) receive_any(2), post(0), await(), receive_any(-1), assert(memory[0] == 7);
      if (rank == 2) send(1);
      break;
    case 5: /* what is read is not */
      if (rank == 0) start(), get(1, 0), complete(), send(1);
      if (rank == 1) receive_any(2), post(0), await(), receive_any(0);
      if (rank == 2) send(1);
      break;
    case 4: /* but it may also wait */
      if (rank == 0) start(), send(1), complete();
      if (rank == 1) receive(0), post(0), await(); // wrong 4
      break;
    case 11:
      if (rank == 0) start(), put(1, 0), complete(), send(1);
      if (rank == 1) receive(0), post(0), await();
      break;
    case 7: /* one after another; the messages say nothing of the puts */
      for (int i = 0; i < 3; i++) {
        if (rank == 0) value = 7 + i, start(), put(1, i), complete();
        if (rank == 1) memory[0]++, post(0), await(), assert(memory[i] == 7 + i), memory[i]++;
      }
      if (rank == 1) assert(memory[0] == 10 && memory[1] == 9);
      break;
    case 12: /* only one of them says so */
      if (rank == 1) post(MPI_MODE_NOCHECK);
      MPI_Barrier(world);
      if (rank == 0) start(), complete();
      if (rank == 1) await();
      break;
  }
}

/* Ranks 0 and 2 have epochs at rank 1. */
static void three(void) {
  switch (which) {
    case 6: /* own places, and one for both */
      if (rank == 1) post(0), await(), assert(memory[0] == 7 && memory[2] == 7 && memory[3] == 2);
      else start(), put(1, rank), MPI_Accumulate(&(int){1}, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_SUM, win), complete();
      break;
    case 8: /* the end of the first epoch is not the end at the target */
      if (rank == 0) start(), put(1, 0), complete(), send(2);
      if (rank == 1) post(0), await();
      if (rank == 2) receive(0), start(), put(1, 0), complete();
      break;
    case 9: /* the wait is */
    case 10:
      if (rank == 1) post(0), await(), which == 9 ? send(2) : (void)0, post(0), await();
      if (rank == 0) start(), put(1, 0), complete(), start(), put(1, 1), complete();
      if (rank == 2) start(), complete(), which == 9 ? receive(1) : (void)0, start(), put(1, which == 9 ? 0 : 1), complete();
      break;
  }
}

/* A fence with MPI_MODE_NOPRECEDE is no barrier. */
static void fence(void) { MPI_Win_fence(MPI_MODE_NOPRECEDE, win); } // wrong 16, 19
static void last_fence(void) { MPI_Win_fence(MPI_MODE_NOSUCCEED, win); }
static void put_locked(int target) {
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
  put(target, 0);
  MPI_Win_unlock(target, win);
}

static void fences(void) {
  switch (which) {
    case 13:
      if (rank == 1) receive_any(2);
      if (rank == 2) send(1);
      fence();
      if (rank == 0) send(1);
      if (rank == 1) receive_any(-1);
      last_fence();
      break;
    case 14: /* but operations act when the target has called it */
      memory[1] = 5 + rank;
      fence();
      put(1 - rank, 0), get(1 - rank, 1);
      last_fence();
      assert(memory[0] == 7 && got == 6 - rank);
      break;
    case 15: /* which is all that is needed, also if the origin is told */
      if (rank == 1) memory[0] = 1, memory[0]++;
      fence();
      if (rank == 0) MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
      last_fence();
      assert(rank == 0 || memory[0] == 9);
      break;
    case 16: /* it may be one */
      if (rank == 1) receive(0); // wrong 16
      fence();
      if (rank == 0) send(1);
      last_fence();
      break;
    case 17:
      if (rank == 0) put_locked(1);
      fence();
      if (rank == 1 && memory[0] == 8) printf("eight\n"); // wrong 17
      last_fence();
      break;
    case 18: /* the target does not know of what rank 2 puts */
      if (rank == 2) put_locked(1);
      fence();
      if (rank == 0) put(1, 0);
      last_fence();
      break;
    case 19:
      if (rank == 0) fence();
      else last_fence();
      break;
  }
}

static void run(void) {
  MPI_Group all;
  MPI_Comm_group(world, &all);
  if (rank == 1 && (which == 6 || which >= 8) && which <= 10) MPI_Group_excl(all, 1, &(int){1}, &group);
  else MPI_Group_incl(all, 1, &(int){rank == 1 ? 0 : 1}, &group);
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, world, &win);
  MPI_Barrier(world);
  two();
  three();
  fences();
  MPI_Group_free(&all);
  MPI_Group_free(&group);
  MPI_Win_free(&win);
}
