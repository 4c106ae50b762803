// Windows to which ranks attach memory (MPI_Win_create_dynamic).
// 1, 2, 3, 4, 5, 6, 7, 8, 21: right
// 3: right, 3 ranks
// 9, 10, 11, 12: invalid argument
// 13, 14: global concurrency
// 15: invalid buffer
// 16: invalid window
// 17: invalid argument
// 18: global concurrency
// 19, 20: assertion
#include "cases.h"
#include <assert.h>
#include <string.h>

static MPI_Win win;
static int memory[4] = {10, 11, 12, 13};

static MPI_Aint address_of(void *at) {
  MPI_Aint address;
  MPI_Get_address(at, &address);
  return address;
}

/* Tells all ranks the address of this memory of each. */
static MPI_Aint at[8];
static void tell(void *own) {
  MPI_Aint address = address_of(own);
  MPI_Allgather(&address, 1, MPI_AINT, at, 1, MPI_AINT, world);
}

static void attach(void) {
  MPI_Win_attach(win, memory, sizeof memory);
  tell(memory);
}

static void put(const int *value, int target, MPI_Aint place) {
  MPI_Put(value, 1, MPI_INT, target, place, 1, MPI_INT, win); // wrong 9, 10, 11, 12, 13, 14, 18
}

static void right(void) {
  int peer = (rank + 1) % size, before = (rank + size - 1) % size, value = 100 + rank, got = 0, one = 1;
  int *made, *flavor, flag, *unit;
  void *base;
  MPI_Aint *bytes;
  switch (which) {
    case 1:
      attach();
      MPI_Win_fence(0, win);
      put(&value, peer, at[peer] + 4);
      MPI_Win_fence(0, win);
      assert(memory[1] == 100 + before && memory[0] == 10 && memory[2] == 12);
      MPI_Win_detach(win, memory);
      break;
    case 2: // Several pieces; with a lock; at addresses that are computed.
      made = malloc(40);
      for (int i = 0; i < 10; i++) made[i] = i;
      MPI_Win_attach(win, made, 40);
      attach();
      tell(made);
      if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        put(&value, 1, MPI_Aint_add(at[1], 12));
        MPI_Get(&got, 1, MPI_INT, 1, MPI_Aint_add(at[1], 16), 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
        assert(got == 4);
      }
      MPI_Barrier(world);
      assert(rank == 0 || (made[3] == 100 && made[4] == 4 && memory[3] == 13));
      MPI_Win_detach(win, made);
      free(made);
      break;
    case 3: // Accumulations, in all orders.
      attach();
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      MPI_Fetch_and_op(&one, &got, MPI_INT, 0, at[0], MPI_SUM, win);
      MPI_Win_unlock(0, win);
      assert(got >= 10 && got < 10 + size);
      MPI_Barrier(world);
      assert(rank > 0 || memory[0] == 10 + size);
      break;
    case 4: // Memory that is attached again; what it had before does not return.
      for (int i = 0; i < 2; i++) {
        memory[0] = 20 + i;
        attach();
        if (rank == 0) {
          MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
          MPI_Get(&got, 1, MPI_INT, 1, at[1], 1, MPI_INT, win);
          MPI_Win_flush(1, win);
          assert(got == 20 + i);
          put(&value, 1, at[1]);
          MPI_Win_unlock(1, win);
        }
        MPI_Barrier(world);
        MPI_Win_detach(win, memory);
        assert(rank == 0 || memory[0] == 100);
      }
      break;
    case 5: // The end of the window detaches what is left.
      attach();
      break;
    case 6:
      MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
      assert(flag && base == MPI_BOTTOM);
      MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
      assert(flag && *bytes == 0);
      MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
      assert(flag && *unit == 1);
      MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
      assert(flag && *flavor == MPI_WIN_FLAVOR_DYNAMIC);
      break;
    case 7: // A list: the address of an element is found in the window itself.
      if (rank == 1) {
        MPI_Aint *first = malloc(16), *second = malloc(16);
        MPI_Win_attach(win, first, 16), MPI_Win_attach(win, second, 16);
        first[0] = address_of(second), second[0] = 77;
        tell(first);
      } else {
        MPI_Aint next = 0, found = 0;
        tell(&next);
        MPI_Win_lock_all(0, win);
        MPI_Get(&next, 1, MPI_AINT, 1, at[1], 1, MPI_AINT, win);
        MPI_Win_flush(1, win);
        MPI_Get(&found, 1, MPI_AINT, 1, next, 1, MPI_AINT, win);
        MPI_Win_unlock_all(win);
        assert(found == 77);
      }
      break;
    case 21: // Neighbours that were attached each on its own, in any order, are one range.
      MPI_Win_attach(win, memory + 2, 8);
      MPI_Win_attach(win, memory, 4);
      MPI_Win_attach(win, memory + 1, 4);
      tell(memory);
      MPI_Win_fence(0, win);
      MPI_Put((int[]){1, 2, 3, 4}, 4, MPI_INT, peer, at[peer], 4, MPI_INT, win);
      MPI_Win_fence(0, win);
      MPI_Win_detach(win, memory + 1);
      assert(memory[0] == 1 && memory[1] == 2 && memory[2] == 3 && memory[3] == 4);
      MPI_Barrier(world);
      if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Get(&got, 1, MPI_INT, 1, at[1] + 12, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
        assert(got == 4);
      }
      break;
    case 8: // Nothing is attached, and nothing is touched.
      MPI_Win_attach(win, memory, 0);
      MPI_Win_fence(0, win);
      MPI_Put(&value, 0, MPI_INT, peer, 0, 0, MPI_INT, win);
      MPI_Win_fence(0, win);
      break;
  }
}

static void wrong(void) {
  int value = 5;
  switch (which) {
    case 9: // Behind the end.
      attach();
      MPI_Win_fence(0, win);
      put(&value, 1 - rank, at[1 - rank] + 16);
      MPI_Win_fence(0, win);
      break;
    case 10: // Nothing was attached.
      tell(memory);
      MPI_Win_fence(0, win);
      put(&value, 1 - rank, at[1 - rank]);
      MPI_Win_fence(0, win);
      break;
    case 11: // The address is known before the memory is attached.
      tell(memory);
      MPI_Win_lock_all(0, win);
      if (rank == 1) MPI_Win_attach(win, memory, sizeof memory);
      else put(&value, 1, at[1]);
      MPI_Win_unlock_all(win);
      break;
    case 12: // It is detached.
      attach();
      MPI_Win_detach(win, memory);
      MPI_Win_fence(0, win);
      put(&value, 1 - rank, at[1 - rank]);
      MPI_Win_fence(0, win);
      break;
    case 13: // It is detached meanwhile.
      attach();
      MPI_Win_lock_all(0, win);
      if (rank == 0) put(&value, 1, at[1]); // wrong 13
      else MPI_Win_detach(win, memory);     // wrong 13
      MPI_Win_unlock_all(win);
      break;
    case 14: // The owner reads it meanwhile.
      attach();
      MPI_Win_lock_all(0, win);
      if (rank == 0) put(&value, 1, at[1]);     // wrong 14
      else memory[3] = memory[0];               // wrong 14
      MPI_Win_unlock_all(win);
      break;
    case 15: {
      int *made = malloc(16);
      MPI_Win_attach(win, made, 16); // wrong 15
      free(made);                    // wrong 15
      break;
    }
    case 16: {
      MPI_Win other;
      MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, world, &other);
      MPI_Win_attach(other, memory, 16); // wrong 16
      break;
    }
    case 17:
      MPI_Win_attach(win, memory, 16);
      MPI_Win_attach(win, memory + 1, 4); // wrong 17
      break;
    case 18:
      attach();
      MPI_Win_fence(0, win);
      put(&value, 1, at[1]);
      MPI_Win_fence(0, win);
      break;
    case 19: // A change of many grains is seen at one of them, or not.
    case 20: {
      static int many[24], ones[24], got;
      for (int i = 0; i < 24; i++) ones[i] = 1;
      MPI_Win_attach(win, many, sizeof many);
      tell(many);
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      if (rank == 0) MPI_Accumulate(ones, 24, MPI_INT, 0, at[0], 24, MPI_INT, MPI_SUM, win);
      else MPI_Fetch_and_op(NULL, &got, MPI_INT, 0, at[0] + 48, MPI_NO_OP, win);
      MPI_Win_unlock(0, win);
      assert(rank == 0 || got == which - 19); // wrong 19, 20
      break;
    }
  }
}

static void run(void) {
  MPI_Win_create_dynamic(MPI_INFO_NULL, world, &win);
  if (which <= 8 || which == 21) right();
  else wrong();
  MPI_Win_free(&win);
}
