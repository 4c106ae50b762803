// Windows whose memory all ranks of a machine share (MPI_Win_allocate_shared): loads and stores.
// 1, 2, 3, 4, 5, 6, 7, 8, 9, 10: right
// 4, 5: right, 3 ranks
// 11, 12, 13, 14, 15, 24, 25: global concurrency
// 16, 17, 18, 23: unsupported
// 19: invalid rank
// 20: missing epoch
// 21: right, 3 ranks
// 22: global concurrency, 3 ranks
#include "cases.h"
#include <assert.h>
#include <string.h>

static MPI_Win win;
static MPI_Info info = MPI_INFO_NULL;

/* The part of a rank, of `count` numbers each. */
static int *own, *others[8];
static void share(int count) {
  MPI_Win_allocate_shared(count * (MPI_Aint)sizeof(int), sizeof(int), info, world, &own, &win);
  for (int r = 0; r < size; r++) {
    MPI_Aint bytes;
    int unit;
    MPI_Win_shared_query(win, r, &bytes, &unit, &others[r]);
    assert(bytes == count * (MPI_Aint)sizeof(int) && unit == sizeof(int));
  }
  assert(others[rank] == own);
}

static void right(void) {
  int peer = (rank + 1) % size, before = (rank + size - 1) % size, got = -1;
  MPI_Aint bytes;
  int unit, *there, *flavor, flag;
  switch (which) {
    case 1: // Fences order loads and stores.
      share(2);
      MPI_Win_fence(0, win);
      others[peer][0] = 10 + rank;
      MPI_Win_fence(0, win);
      assert(own[0] == 10 + before);
      break;
    case 2: // So do barriers.
      share(2);
      MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
      others[peer][1] = 10 + rank;
      MPI_Win_sync(win);
      MPI_Barrier(world);
      MPI_Win_sync(win);
      assert(own[1] == 10 + before && others[peer][1] == 10 + rank);
      MPI_Win_unlock_all(win);
      break;
    case 3: // And messages.
      share(1);
      if (rank == 0) {
        others[1][0] = 7;
        own[0] = 8;
        MPI_Send(&got, 1, MPI_INT, 1, 0, world);
        MPI_Recv(&got, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
        assert(own[0] == 9);
      } else {
        MPI_Recv(&got, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
        assert(own[0] == 7 && others[0][0] == 8);
        others[0][0] = 9;
        MPI_Send(&got, 1, MPI_INT, 0, 0, world);
      }
      break;
    case 4: // Exclusive locks make a sum of what all add.
      share(1);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
      others[0][0] += rank + 1;
      MPI_Win_unlock(0, win);
      MPI_Barrier(world);
      assert(others[0][0] == size * (size + 1) / 2);
      break;
    case 5: // The parts of all ranks are next to each other.
      share(3);
      for (int i = 0; i < 3; i++) own[i] = 3 * rank + i;
      MPI_Win_fence(0, win);
      for (int i = 0; i < 3 * size; i++) assert(others[0][i] == i);
      MPI_Win_fence(0, win);
      break;
    case 6: // Unless that is not asked for.
      MPI_Info_create(&info);
      MPI_Info_set(info, "alloc_shared_noncontig", "true");
      share(3);
      MPI_Info_free(&info);
      assert(others[1] - others[0] > 3);
      break;
    case 7: // Operations and loads of what one rank holds alone.
      share(2);
      if (rank == 0) {
        int value = 5;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        assert(others[1][0] == 5);
        others[1][1] = 6;
        MPI_Get(&got, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
        assert(got == 6);
      }
      MPI_Barrier(world);
      assert(rank == 0 || (own[0] == 5 && own[1] == 6));
      break;
    case 8: // Only one rank has memory; MPI_PROC_NULL finds it.
      MPI_Win_allocate_shared(rank == 1 ? 8 : 0, 1, MPI_INFO_NULL, world, &own, &win);
      MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &there);
      assert(bytes == 8 && unit == 1);
      MPI_Win_fence(0, win);
      if (rank == 0) there[0] = 3;
      MPI_Win_fence(0, win);
      assert(there[0] == 3);
      MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
      assert(flag && *flavor == MPI_WIN_FLAVOR_SHARED);
      break;
    case 9: // Whoever is first: an update under a lock loses nothing.
      share(1);
      for (int i = 0; i < 2; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        others[1][0] = 2 * others[1][0] + 1;
        MPI_Win_unlock(1, win);
      }
      MPI_Win_fence(0, win);
      assert(others[1][0] == 15);
      MPI_Win_fence(0, win);
      break;
    case 10: // A library function stores, and a message is received there.
      share(4);
      if (rank == 0) memset(others[1], 1, 8), MPI_Send(others[1], 2, MPI_INT, 1, 0, world);
      else MPI_Recv(own + 2, 2, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
      MPI_Barrier(world);
      assert(others[1][0] == 0x01010101 && others[1][3] == 0x01010101);
      break;
    case 21: // Each rank stores in the parts of two others.
      share(4);
      MPI_Win_fence(0, win);
      for (int r = 0; r < size; r++) others[r][rank] = 10 * rank + r;
      MPI_Win_fence(0, win);
      for (int r = 0; r < size; r++) assert(own[r] == 10 * r + rank);
      MPI_Win_fence(0, win);
      break;
  }
}

static void wrong(void) {
  int got = 0;
  switch (which) {
    case 11:
      share(1);
      MPI_Win_fence(0, win);
      others[1][0] = rank; // wrong 11
      MPI_Win_fence(0, win);
      break;
    case 12:
      share(1);
      if (rank == 0) others[1][0] = 1; // wrong 12
      else got = own[0];               // wrong 12
      MPI_Barrier(world);
      break;
    case 13: // The lock of another part.
      share(1);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
      others[0][0] += 1; // wrong 13
      MPI_Win_unlock(rank, win);
      break;
    case 14: // Shared locks exclude nothing.
      share(1);
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      others[0][0] = rank; // wrong 14
      MPI_Win_unlock(0, win);
      break;
    case 15: // A store, and an operation.
      share(1);
      MPI_Win_fence(0, win);
      if (rank == 0) MPI_Put(&which, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // wrong 15
      else others[1][0] = 3;                                            // wrong 15
      MPI_Win_fence(0, win);
      break;
    case 16: // A loop that waits for a store, and synchronizes.
      share(1);
      MPI_Win_lock_all(0, win);
      if (rank == 0) *(volatile int *)others[1] = 1;
      else while (*(volatile int *)own == 0) MPI_Win_sync(win); // wrong 16
      MPI_Win_unlock_all(win);
      break;
    case 17: // Such a loop that does not.
      share(1);
      if (rank == 0) *(volatile int *)others[1] = 1;
      else while (*(volatile int *)own == 0) {}
      MPI_Barrier(world);
      break;
    case 18:
      share(1);
      __atomic_fetch_add(others[0], 1, __ATOMIC_SEQ_CST); // wrong 18
      MPI_Barrier(world);
      break;
    case 19:
      share(1);
      MPI_Win_shared_query(win, 2, &(MPI_Aint){0}, &got, &own); // wrong 19
      break;
    case 20:
      share(1);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); // wrong 20
      others[0][0] = 1;
      break;
    case 23: // Another window of this memory.
      share(1);
      MPI_Win_create(own, sizeof(int), 1, MPI_INFO_NULL, world, &(MPI_Win){0}); // wrong 23
      break;
    case 24: // The window is never freed; and one of the usual kind.
      share(1);
      others[1][0] = rank; // wrong 24
      break;
    case 25: {
      static int mine;
      MPI_Win_create(&mine, sizeof mine, 1, MPI_INFO_NULL, world, &win);
      MPI_Win_lock_all(0, win);
      MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // wrong 25
      MPI_Win_unlock_all(win);
      break;
    }
    case 22: // The owner takes no part.
      share(1);
      if (rank != 1) others[1][0] = rank; // wrong 22
      break;
  }
}

static void run(void) {
  if (which <= 10 || which == 21) right();
  else wrong();
  if (which < 24) MPI_Win_free(&win);
}
