// One-sided communication: its effects, its epochs, and concurrent accesses.
// 1, 2, 3, 4, 5, 6, 7, 22, 23: right
// 8: missing epoch
// 9: missing epoch
// 10: missing epoch
// 11: double epoch
// 12: double epoch
// 13: double epoch
// 14: global concurrency
// 15: global concurrency, 3 ranks
// 16: global concurrency
// 17: local concurrency
// 18: local concurrency
// 19: local concurrency
// 20: invalid buffer
// 21: invalid argument
// 24: missing epoch
// 25: missing epoch
// 26, 27: unsupported
// 28, 30: right
// 29: double epoch
#include "cases.h"
#include <assert.h>

static int memory[4] = {10, 11, 12, 13};
static MPI_Win win;

static int kept;
static void put(int value, int target, int place) {
  kept = value;
  MPI_Put(&kept, 1, MPI_INT, target, place, 1, MPI_INT, win);
}

static void right(void) {
  int peer = 1 - rank, value = 100 + rank, got = 0, one = 1;
  switch (which) {
    case 1:
      MPI_Win_fence(0, win);
      MPI_Put(&value, 1, MPI_INT, peer, 2, 1, MPI_INT, win);
      MPI_Win_fence(0, win);
      assert(memory[2] == 100 + peer && memory[1] == 11);
      break;
    case 2:
      MPI_Win_fence(0, win);
      MPI_Get(&got, 1, MPI_INT, peer, 3, 1, MPI_INT, win);
      MPI_Win_fence(0, win);
      assert(got == 13);
      break;
    case 3:
      MPI_Win_fence(0, win);
      MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_fence(0, win);
      assert(rank == 1 || memory[0] == 10 + 100 + 101);
      break;
    case 4:
      if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
      }
      MPI_Barrier(world);
      assert(rank == 0 || memory[0] == 100);
      break;
    case 5:
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 1, MPI_SUM, win);
      MPI_Win_unlock(0, win);
      MPI_Barrier(world);
      assert((got == 11 || got == 12) && (rank == 1 || memory[1] == 13));
      break;
    case 6:
      MPI_Win_lock_all(0, win);
      MPI_Put(&value, 1, MPI_INT, peer, rank, 1, MPI_INT, win);
      MPI_Win_flush(peer, win);
      MPI_Win_unlock_all(win);
      MPI_Barrier(world);
      assert(memory[peer] == 100 + peer);
      break;
    case 7:
      if (rank == 0) {
        memory[0] = 7;
        MPI_Send(&one, 1, MPI_INT, 1, 0, world);
      } else {
        MPI_Recv(&one, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
        assert(got == 7);
      }
      break;
    case 22: {
      MPI_Group all, other;
      MPI_Comm_group(world, &all);
      MPI_Group_incl(all, 1, &peer, &other);
      if (rank == 0) {
        MPI_Win_start(other, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
        MPI_Win_complete(win);
      } else {
        MPI_Win_post(other, 0, win);
        MPI_Win_wait(win);
        assert(memory[2] == 100 && memory[3] == 13);
      }
      MPI_Group_free(&all);
      MPI_Group_free(&other);
      break;
    }
    case 23: {
      MPI_Request request;
      MPI_Win_lock_all(0, win);
      MPI_Rput(&value, 1, MPI_INT, peer, rank, 1, MPI_INT, win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Rget(&got, 1, MPI_INT, peer, 2, 1, MPI_INT, win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Win_unlock_all(win);
      MPI_Barrier(world);
      assert(got == 12 && memory[peer] == 100 + peer);
      break;
    }
  }
}

static void run(void) {
  int value = rank, peer = 1 - rank;
  if (which == 20) {
    MPI_Win_create(NULL, 16, 4, MPI_INFO_NULL, world, &win); // wrong 20
    return;
  }
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, world, &win);
  right();
  switch (which) {
    case 8: MPI_Put(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win); break; // wrong 8
    case 9:
      MPI_Win_fence(0, win);
      MPI_Get(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win); // wrong 9
      break;
    case 10: MPI_Win_unlock(peer, win); break; // wrong 10
    case 11:
      MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
      MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win); // wrong 11
      break;
    case 12:
    case 28: // A fence opens no epoch if no other one follows.
      MPI_Win_fence(0, win);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win); // wrong 12
      put(5, peer, 0);
      MPI_Win_unlock(peer, win);
      if (which == 12) MPI_Win_fence(0, win); // wrong 12
      break;
    case 29:
      MPI_Win_fence(0, win);
      put(5, peer, 0);
      MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win); // wrong 29
      break;
    case 30:
      MPI_Win_fence(0, win);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win);
      put(5, peer, 0);
      MPI_Win_unlock(peer, win);
      MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
      break;
    case 13:
      MPI_Win_lock_all(0, win);
      MPI_Win_fence(0, win); // wrong 13
      break;
    case 14:
      MPI_Win_fence(0, win);
      if (rank == 0) put(5, 1, 0);
      else memory[0] = 6; // wrong 14
      MPI_Win_fence(0, win);
      break;
    case 15:
      MPI_Win_fence(0, win);
      if (rank > 0) MPI_Put(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, win); // wrong 15
      MPI_Win_fence(0, win);
      break;
    case 16:
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      MPI_Put(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, win); // wrong 16
      MPI_Win_unlock(0, win);
      break;
    case 17:
      MPI_Win_fence(0, win);
      MPI_Put(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
      value = 7; // wrong 17
      MPI_Win_fence(0, win);
      break;
    case 18:
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win);
      MPI_Get(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
      if (value) value = 2; // wrong 18
      MPI_Win_unlock(peer, win);
      break;
    case 19:
      MPI_Win_fence(0, win);
      MPI_Get(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
      MPI_Get(&value, 1, MPI_INT, peer, 1, 1, MPI_INT, win); // wrong 19
      MPI_Win_fence(0, win);
      break;
    case 24: MPI_Win_complete(win); break; // wrong 24
    case 25: MPI_Win_flush(peer, win); break; // wrong 25
    case 26: // One waits in a loop until the other one has put something.
    case 27:
      MPI_Win_lock_all(0, win);
      if (rank == 1) put(77, 0, 2);
      else
        while (*(volatile int *)&memory[2] != 77)
          if (which == 26) MPI_Win_sync(win);
      MPI_Win_unlock_all(win);
      break;
    case 21:
      MPI_Win_fence(0, win);
      MPI_Put(&value, 1, MPI_INT, peer, 4, 1, MPI_INT, win); // wrong 21
      MPI_Win_fence(0, win);
      break;
  }
  MPI_Win_free(&win);
}
