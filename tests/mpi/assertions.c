// What a program asserts about its epochs must be true.
// 1, 2, 3, 4, 5, 6, 7: right
// 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21: invalid argument
// 8: right, 3 ranks
// 10: global concurrency, 3 ranks
#include "cases.h"

static int memory[8], value;
static MPI_Win win;
static MPI_Group group;

static void put(void) { MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); } // wrong 11, 14

/* Rank 0 has an epoch at rank 1. */
static void expose(int posted, int started, int is_ordered) {
  int other = 1 - rank;
  MPI_Group all;
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 1, &other, &group);
  if (rank == 1) MPI_Win_post(group, posted, win); // wrong 18, 19
  if (is_ordered) MPI_Barrier(world);
  if (rank == 0) {
    MPI_Win_start(group, started, win); // wrong 16, 17
    put();
    MPI_Win_complete(win);
  } else {
    MPI_Win_wait(win);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&all);
}

static void locked(int assertion, int is_ordered) {
  if (is_ordered && rank == 1) MPI_Recv(NULL, 0, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, assertion, win); // wrong 20
  if (rank == 0) put();
  else MPI_Put(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
  MPI_Win_unlock(1, win);
  if (is_ordered && rank == 0) MPI_Send(NULL, 0, MPI_INT, 1, 0, world);
}

/* Two ranks put every second number, with holes in between. */
static void every_second(int of_rank_2) {
  MPI_Datatype type;
  int numbers[4] = {0};
  MPI_Type_vector(4, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Put(numbers, 4, MPI_INT, 1, 0, 1, type, win); // wrong 10
  if (rank == 2) MPI_Put(numbers, 4, MPI_INT, 1, of_rank_2, 1, type, win);
  MPI_Win_fence(0, win);
  MPI_Type_free(&type);
}

static void run(void) {
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, world, &win);
  MPI_Barrier(world);
  switch (which) {
    case 1:
      MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE, win);
      if (rank == 0) put();
      MPI_Win_fence(rank == 0 ? MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED : MPI_MODE_NOSUCCEED, win);
      break;
    case 2: // Who is put to does not assert it, and who stores asserts nothing about stores.
      MPI_Win_fence(rank == 0 ? MPI_MODE_NOPUT : 0, win);
      if (rank == 0) put();
      if (rank == 0) memory[3] = 1;
      MPI_Win_fence(rank == 1 ? MPI_MODE_NOSTORE : 0, win);
      MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win);
      break;
    case 3: expose(0, 0, 0); break;
    case 4: expose(MPI_MODE_NOCHECK, MPI_MODE_NOCHECK, 1); break;
    case 5: expose(MPI_MODE_NOSTORE, 0, 0); break;
    case 6: locked(MPI_MODE_NOCHECK, 1); break;
    case 7: locked(0, 0); break;
    case 11: // Something precedes it.
      MPI_Win_fence(0, win);
      if (rank == 0) put();
      MPI_Win_fence(MPI_MODE_NOPRECEDE, win); // wrong 11
      break;
    case 12: // Only one rank says so.
      MPI_Win_fence(rank == 0 ? MPI_MODE_NOPRECEDE : 0, win); // wrong 12
      break;
    case 13:
      MPI_Win_fence(0, win);
      memory[rank] = 3; // wrong 13
      MPI_Win_fence(MPI_MODE_NOSTORE, win); // wrong 13
      break;
    case 14:
      MPI_Win_fence(MPI_MODE_NOPUT, win); // wrong 14
      if (rank == 0) put();
      MPI_Win_fence(0, win);
      break;
    case 15: MPI_Win_fence(1 << 20, win); break; // wrong 15
    case 16: expose(MPI_MODE_NOCHECK, MPI_MODE_NOCHECK, 0); break; // It may not be posted.
    case 17: expose(0, MPI_MODE_NOCHECK, 1); break;
    case 18: expose(MPI_MODE_NOPUT, 0, 0); break;
    case 19:
      memory[0] = 1;
      expose(MPI_MODE_NOSTORE, 0, 0);
      break;
    case 20: locked(MPI_MODE_NOCHECK, 0); break; // Another lock may be taken at the same time.
    case 21: MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOPUT, win); break; // wrong 21
    case 8: // Holes are not touched.
      every_second(1);
      break;
    case 10: every_second(0); break;
  }
  MPI_Win_free(&win);
}
