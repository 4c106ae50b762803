// Shared locks of a window, which MPI may take only when they are needed. The verifier takes them at
// once: beside the exclusive lock of another rank that is not all.
// 1, 3, 4, 5, 8, 9: right, 3 ranks
// 2, 6, 7, 10: incomplete, 3 ranks
#include "cases.h"
#include <assert.h>
#include <stdbool.h>

static int memory[2], value = 7, got;
static MPI_Win win;

static void put(int target, int place) { MPI_Put(&value, 1, MPI_INT, target, place, 1, MPI_INT, win); }
static void get(void) { MPI_Get(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, win); }
static void send(int to) { MPI_Send(NULL, 0, MPI_INT, to, 0, world); }
static void receive(int from) { MPI_Recv(NULL, 0, MPI_INT, from, 0, world, MPI_STATUS_IGNORE); }
static void share(void) { MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win); }
static void unlock(int target) { MPI_Win_unlock(target, win); }

static void change(int type, int target) {
  MPI_Win_lock(type, target, 0, win);
  put(target, which == 1);
  unlock(target);
}

/* Rank 0 tells rank 2 when to go on. */
static void begin(void) {
  if (which == 5 || which == 6) MPI_Win_lock_all(0, win);
  else share();
  if (which == 5 || which == 6) put(2, 1);
  if (which == 9) return;
  if (which == 10) put(1, 1), MPI_Win_flush_local(1, win);
  else get();
  if (which == 3 || which == 8) MPI_Win_flush(1, win); /* now it has the lock */
}

static void end(void) {
  if (which == 8) put(1, 1);
  if (which == 5 || which == 6) MPI_Win_unlock_all(win);
  else unlock(1);
  assert(got == 0);
}

static void run(void) {
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, world, &win);
  MPI_Barrier(world);
  bool ends_before = which == 5 || which == 7;
  if (rank == 0) {
    begin();
    if (which == 7) MPI_Comm_rank(world, &rank); /* any call */
    if (ends_before) end();
    send(2);
    if (!ends_before) end();
  }
  if (rank == 2) receive(0), change(which == 1 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, which == 4 ? 0 : 1);
  MPI_Barrier(world);
  MPI_Win_free(&win);
}
