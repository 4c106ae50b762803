// MPI_Waitsome and the like complete several requests at once.
// 1, 2: assertion, 3 ranks
// 3: assertion, 4 ranks
// 11, 12, 13, 14, 15, 16: right, 3 ranks
// 17: right, 4 ranks
#include "cases.h"
#include <assert.h>

enum { MOST = 3 };
static MPI_Request requests[MOST];
static MPI_Status statuses[MOST];
static int got[MOST], indices[MOST], done, sum, waits;

static void take_first(void) { sum += got[indices[0]]; }

static void take_all(void) {
  for (int i = 0; i < done; i++) {
    assert(i == 0 || indices[i - 1] < indices[i]);
    assert(statuses[i].MPI_SOURCE == indices[i] + 1);
    sum += got[indices[i]];
  }
}

static void know(int which_one) {
  int is_complete = 0;
  while (!is_complete) MPI_Request_get_status(requests[which_one], &is_complete, MPI_STATUS_IGNORE);
}

static void run(void) {
  int all = size - 1, flag;
  if (rank > 0) {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, world);
    return;
  }
  for (int i = 0; i < all; i++) MPI_Irecv(&got[i], 1, MPI_INT, i + 1, 0, world, &requests[i]);
  switch (which) {
    case 1: // It forgets all but the first.
      for (int left = all; left > 0; left -= done) {
        MPI_Waitsome(all, requests, &done, indices, statuses);
        take_first();
      }
      assert(sum == 3); // wrong 1
      break;
    case 2:
      for (int left = all; left > 0; left -= done) {
        MPI_Testsome(all, requests, &done, indices, statuses);
        if (done > 0) take_first();
      }
      assert(sum == 3); // wrong 2
      break;
    case 3: // Any set of them may be complete, also all but the one in the middle.
      MPI_Waitsome(all, requests, &done, indices, statuses);
      assert(done != 2 || indices[0] != 0 || indices[1] != 2); // wrong 3
      MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
      break;
    case 11: case 17:
      for (; done != MPI_UNDEFINED; waits++) {
        MPI_Waitsome(all, requests, &done, indices, statuses);
        take_all();
      }
      assert(sum == size * (size - 1) / 2 && waits >= 2 && waits <= size);
      break;
    case 12:
      for (int left = all; left > 0; left -= done) {
        MPI_Testsome(all, requests, &done, indices, statuses);
        take_all();
      }
      assert(sum == 3);
      break;
    case 13: // What is known to be complete is there.
      know(0), know(1);
      MPI_Waitsome(all, requests, &done, indices, statuses);
      assert(done == 2);
      break;
    case 14:
      know(0), know(1);
      MPI_Testsome(all, requests, &done, indices, statuses);
      assert(done == 2);
      break;
    case 15: // The request before it may be complete, too.
      know(1);
      MPI_Request_get_status_some(all, requests, &done, indices, statuses);
      assert(done == 2 || (done == 1 && indices[0] == 1));
      MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
      assert(flag || done == 1);
      MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
      break;
    case 16: // Nothing is there to wait for.
      MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
      MPI_Waitsome(all, requests, &done, indices, statuses);
      assert(done == MPI_UNDEFINED);
      MPI_Testsome(all, requests, &done, indices, statuses);
      assert(done == MPI_UNDEFINED);
      break;
  }
}
