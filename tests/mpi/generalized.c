// Generalised requests, requests of two parts, statuses of requests, and buffers of communicators.
// 1, 2, 3, 4, 5, 6, 7: right
// 8, 9, 12: invalid request
// 10: missing wait
// 11: local concurrency
// 13: invalid buffer
// 14: unsupported
// 15: call order
#include "cases.h"
#include <assert.h>

static int freed, cancelled, kept[2];
static int query(void *extra, MPI_Status *status) {
  status->MPI_SOURCE = *(int *)extra;
  status->MPI_TAG = 5;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, cancelled);
  return MPI_SUCCESS;
}
static int release(void *extra) { return (void)extra, freed++, MPI_SUCCESS; }
static int cancel(void *extra, int is_complete) { return (void)extra, cancelled = !is_complete, MPI_SUCCESS; }

static void run(void) {
  int extra = 42, count, flag, index, indices[2], peer = 1 - rank, mine = rank, got = -1;
  MPI_Request request, both[2];
  MPI_Status status, statuses[2];
  MPI_Comm comm;
  void *space;
  switch (which) {
    case 1:
      MPI_Grequest_start(query, release, cancel, &extra, &request);
      MPI_Test(&request, &flag, &status);
      assert(!flag && !freed);
      MPI_Grequest_complete(request);
      MPI_Request_get_status(request, &flag, &status);
      assert(flag && status.MPI_SOURCE == 42 && !freed);
      MPI_Wait(&request, &status);
      MPI_Get_elements(&status, MPI_INT, &count);
      assert(freed == 1 && request == MPI_REQUEST_NULL && status.MPI_TAG == 5 && count == 3);
      break;
    case 2: // It is freed when it is complete.
      MPI_Grequest_start(query, release, cancel, &extra, &request);
      both[0] = request;
      MPI_Request_free(&request);
      assert(!freed);
      MPI_Grequest_complete(both[0]);
      assert(freed == 1);
      break;
    case 3:
      MPI_Grequest_start(query, release, cancel, &extra, &request);
      MPI_Cancel(&request);
      MPI_Grequest_complete(request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &flag);
      assert(flag);
      break;
    case 4: // The other one is waited for.
      MPI_Grequest_start(query, release, cancel, &extra, &both[0]);
      MPI_Isend(&mine, 1, MPI_INT, peer, 0, world, &both[1]);
      MPI_Recv(&got, 1, MPI_INT, peer, 0, world, &status);
      MPI_Waitany(2, both, &index, &status);
      assert(index == 1);
      MPI_Grequest_complete(both[0]);
      MPI_Waitall(2, both, statuses);
      assert(statuses[0].MPI_TAG == 5);
      break;
    case 5: // Both ranks send first, which does not matter.
      MPI_Isendrecv(&mine, 1, MPI_INT, peer, 3, &got, 1, MPI_INT, peer, 3, world, &request);
      MPI_Wait(&request, &status);
      assert(got == peer && status.MPI_SOURCE == peer && status.MPI_TAG == 3);
      MPI_Isendrecv_replace_c(&mine, 1, MPI_INT, peer, 4, peer, 4, world, &request);
      for (flag = 0; !flag;) MPI_Test(&request, &flag, &status);
      assert(mine == peer);
      MPI_Isendrecv(&mine, 1, MPI_INT, MPI_PROC_NULL, 3, &got, 1, MPI_INT, MPI_PROC_NULL, 3, world, &request);
      MPI_Wait(&request, &status);
      assert(status.MPI_SOURCE == MPI_PROC_NULL);
      break;
    case 6: // The requests stay as they are.
      MPI_Isend(&mine, 1, MPI_INT, peer, 0, world, &both[0]);
      MPI_Irecv(&got, 1, MPI_INT, peer, 0, world, &both[1]);
      for (flag = 0; !flag;) MPI_Request_get_status_all(2, both, &flag, statuses);
      assert(statuses[1].MPI_SOURCE == peer && both[1] != MPI_REQUEST_NULL);
      MPI_Request_get_status_any(2, both, &index, &flag, &status);
      MPI_Request_get_status_some(2, both, &count, indices, statuses);
      assert(flag && index == 0 && count == 2 && indices[0] == 0 && indices[1] == 1);
      MPI_Waitall(2, both, statuses);
      MPI_Request_get_status_any(2, both, &index, &flag, &status);
      MPI_Request_get_status_some(2, both, &count, indices, statuses);
      assert(flag && index == MPI_UNDEFINED && count == MPI_UNDEFINED);
      break;
    case 7: // The buffer of the communicator is used.
      MPI_Comm_dup(world, &comm);
      space = malloc(2000);
      MPI_Comm_attach_buffer(comm, space, 2000);
      MPI_Bsend(&mine, 1, MPI_INT, peer, 0, comm);
      MPI_Recv(&got, 1, MPI_INT, peer, 0, comm, &status);
      MPI_Comm_detach_buffer(comm, &space, &count);
      assert(count == 2000);
      free(space);
      MPI_Comm_free(&comm);
      break;
    case 8:
      MPI_Grequest_start(query, release, cancel, &extra, &request);
      MPI_Wait(&request, &status); // wrong 8
      break;
    case 9:
      MPI_Grequest_start(query, release, cancel, &extra, &request);
      MPI_Grequest_complete(request);
      MPI_Grequest_complete(request); // wrong 9
      break;
    case 10:
      MPI_Isendrecv(&kept[0], 1, MPI_INT, peer, 3, &kept[1], 1, MPI_INT, peer, 3, world, &request); // wrong 10
      break;
    case 11:
      MPI_Isendrecv(&mine, 1, MPI_INT, peer, 3, &got, 1, MPI_INT, peer, 3, world, &request); // wrong 11
      got = 1; // wrong 11
      MPI_Wait(&request, &status);
      break;
    case 12:
      MPI_Isend(&mine, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request);
      MPI_Grequest_complete(request); // wrong 12
      break;
    case 13: // A buffer of another communicator.
      MPI_Comm_dup(world, &comm);
      MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
      MPI_Bsend(&mine, 1, MPI_INT, peer, 0, world); // wrong 13
      break;
    case 14: MPI_Comm_join(0, &comm); break; // wrong 14
    case 15: // The receive is never over.
      MPI_Isendrecv(&mine, 1, MPI_INT, MPI_PROC_NULL, 3, &got, 1, MPI_INT, peer, 3, world, &request); // wrong 15
      MPI_Wait(&request, &status); // wrong 15
      break;
  }
}
