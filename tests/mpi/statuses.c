// The error code of a status: calls leave it alone, but that of an empty status is MPI_SUCCESS.
// 1, 2, 3: right
#include "cases.h"
#include <assert.h>

enum { OLD = 77 };
static MPI_Status status, some[2];

static void prepare(void) { status.MPI_ERROR = some[0].MPI_ERROR = some[1].MPI_ERROR = OLD; }

/* The status of a message from the other rank. */
static void check(const MPI_Status *of) {
  int count;
  MPI_Get_count(of, MPI_INT, &count);
  assert(of->MPI_SOURCE == 1 - rank && of->MPI_TAG == 5 && count == 1 && of->MPI_ERROR == OLD);
  prepare();
}

static void check_empty(const MPI_Status *of) {
  int count;
  MPI_Get_count(of, MPI_INT, &count);
  assert(of->MPI_SOURCE == MPI_ANY_SOURCE && of->MPI_TAG == MPI_ANY_TAG && count == 0 && of->MPI_ERROR == MPI_SUCCESS);
  prepare();
}

static void run(void) {
  int peer = 1 - rank, got[2], index, flag = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  prepare();
  switch (which) {
    case 1:
      MPI_Sendrecv(&rank, 1, MPI_INT, peer, 5, got, 1, MPI_INT, peer, 5, world, &status);
      check(&status);
      for (int turn = 0; turn < 4; turn++) MPI_Isend(&rank, 1, MPI_INT, peer, 5, world, &requests[0]), MPI_Request_free(&requests[0]);
      MPI_Probe(peer, 5, world, &status);
      check(&status);
      MPI_Recv(got, 1, MPI_INT, peer, 5, world, &status);
      check(&status);
      MPI_Irecv(got, 1, MPI_INT, peer, 5, world, &requests[0]);
      MPI_Wait(&requests[0], &status);
      check(&status);
      MPI_Irecv(got, 1, MPI_INT, peer, 5, world, &requests[1]);
      MPI_Waitany(2, requests, &index, &status);
      assert(index == 1);
      check(&status);
      MPI_Irecv(got, 1, MPI_INT, peer, 5, world, &requests[1]);
      while (!flag) MPI_Test(&requests[1], &flag, &status);
      check(&status);
      MPI_Recv(got, 1, MPI_INT, MPI_PROC_NULL, 5, world, &status);
      assert(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_ERROR == OLD);
      break;
    case 2:
      MPI_Wait(&requests[0], &status);
      check_empty(&status);
      MPI_Waitany(2, requests, &index, &status);
      assert(index == MPI_UNDEFINED);
      check_empty(&status);
      MPI_Test(&requests[0], &flag, &status);
      check_empty(&status);
      MPI_Testany(2, requests, &index, &flag, &status);
      check_empty(&status);
      MPI_Request_get_status(requests[0], &flag, &status);
      check_empty(&status);
      MPI_Request_get_status_any(2, requests, &index, &flag, &status);
      check_empty(&status);
      break;
    case 3: // One of both.
      for (int turn = 0; turn < 3; turn++) {
        MPI_Send_init(&rank, 1, MPI_INT, peer, 5, world, &requests[0]);
        MPI_Irecv(got, 1, MPI_INT, peer, 5, world, &requests[1]);
        MPI_Send(&rank, 1, MPI_INT, peer, 5, world);
        MPI_Request received = requests[1];
        if (turn == 0) MPI_Waitall(2, requests, some);
        for (flag = 0; turn == 1 && !flag;) MPI_Testall(2, requests, &flag, some);
        for (flag = 0; turn == 2 && !flag;) MPI_Request_get_status_all(2, requests, &flag, some);
        assert(some[0].MPI_ERROR == MPI_SUCCESS && some[1].MPI_ERROR == OLD && some[1].MPI_SOURCE == peer);
        prepare();
        if (turn == 2) MPI_Wait(&received, &some[1]), check(&some[1]);
        MPI_Request_free(&requests[0]);
      }
      break;
  }
}
