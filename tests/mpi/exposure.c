// MPI_Win_test: whether the origins of an epoch are done.
// 1: right, 3 ranks
// 2: missing epoch
// 3: missing epoch
// 4: right
// 5: abort
#include "cases.h"

static void run(void) {
  int part[2] = {0}, value = 10 + rank, flag = 0;
  MPI_Win win;
  MPI_Group all, others;
  MPI_Win_create(part, sizeof part, sizeof(int), MPI_INFO_NULL, world, &win);
  MPI_Comm_group(world, &all);
  MPI_Group_excl(all, 1, &(int){0}, &others);
  if (rank == 0) {
    if (which != 2) MPI_Win_post(others, 0, win); // wrong 3
    switch (which) {
      case 1:
        while (!flag) MPI_Win_test(win, &flag);
        break;
      case 2:
        MPI_Win_test(win, &flag); // wrong 2
        break;
      case 3:
        break;
      case 4:
        /* One poll, and then a wait for what is left. */
        MPI_Win_test(win, &flag);
        if (!flag) MPI_Win_wait(win);
        break;
      case 5:
        MPI_Win_test(win, &flag);
        if (!flag) abort(); // wrong 5
        break;
    }
    if (which != 3 && (part[0] != 11 || (size > 2 && part[1] != 12))) abort();
  } else {
    MPI_Group target;
    MPI_Group_incl(all, 1, &(int){0}, &target);
    MPI_Win_start(target, 0, win);
    MPI_Put(&value, 1, MPI_INT, 0, rank - 1, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Group_free(&target);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&others);
  MPI_Win_free(&win); // wrong 3
}
