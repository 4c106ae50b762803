// What is legal although it looks wrong, and similar mistakes.
// 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 21, 22, 23: right
// 12: invalid request
// 13: unsupported
// 14: invalid request
// 15: invalid argument
// 16: invalid request
// 17: invalid communicator
// 18: invalid request
// 19: unsupported
// 20: missing epoch
#include "cases.h"
#include <assert.h>
#include <string.h>

static void add(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void run(void) {
  int peer = 1 - rank, mine[4] = {rank, 10, 20, 30}, other[4] = {-1, -1, -1, -1}, flag, length, index, count;
  char name[MPI_MAX_OBJECT_NAME], given[200];
  MPI_Request request, twin;
  MPI_Status status;
  MPI_Datatype column;
  MPI_Comm made;
  MPI_Group all, none;
  MPI_Op own;
  int counts[2];
  MPI_Win win;
  switch (which) {
    case 1: // A send that nobody waits for is known to be over when it was answered.
      MPI_Isend(mine, 1, MPI_INT, peer, 0, world, &request);
      MPI_Request_free(&request);
      MPI_Recv(other, 1, MPI_INT, peer, 0, world, &status);
      MPI_Barrier(world);
      mine[0] = 7;
      assert(other[0] == peer);
      break;
    case 2: // A persistent request need not be started: nothing is waited for.
      MPI_Send_init(mine, 1, MPI_INT, peer, 0, world, &request);
      MPI_Wait(&request, &status);
      assert(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
      MPI_Test(&request, &flag, &status);
      MPI_Waitany(1, &request, &index, &status);
      assert(flag && index == MPI_UNDEFINED);
      MPI_Request_get_status(request, &flag, &status);
      MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
      assert(flag);
      MPI_Request_free(&request);
      MPI_Bcast_init(mine, 1, MPI_INT, 0, world, MPI_INFO_NULL, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      break;
    case 3: // Null handles have names, and objects have none but those that they are given.
      MPI_Comm_get_name(MPI_COMM_NULL, name, &length);
      assert(strcmp(name, "MPI_COMM_NULL") == 0 && length == 13);
      MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length);
      assert(strcmp(name, "MPI_DATATYPE_NULL") == 0);
      MPI_Win_get_name(MPI_WIN_NULL, name, &length);
      assert(strcmp(name, "MPI_WIN_NULL") == 0);
      MPI_Comm_dup(world, &made);
      MPI_Comm_get_name(made, name, &length);
      assert(length == 0 && name[0] == 0);
      memset(given, 'x', sizeof given);
      given[199] = 0;
      MPI_Comm_set_name(made, given);
      MPI_Comm_get_name(made, name, &length);
      assert(length == MPI_MAX_OBJECT_NAME - 1 && strlen(name) == MPI_MAX_OBJECT_NAME - 1);
      MPI_Comm_free(&made);
      MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
      assert(strcmp(name, "MPI_COMM_SELF") == 0);
      MPI_Type_contiguous(2, MPI_INT, &column);
      MPI_Type_get_name(column, name, &length);
      assert(length == 0);
      MPI_Type_set_name(column, "a name that is longer than it might be");
      MPI_Type_get_name(column, name, &length);
      assert(strcmp(name, "a name that is longer than it might be") == 0);
      MPI_Type_free(&column);
      break;
    case 4: // A group without members is MPI_GROUP_EMPTY.
      MPI_Comm_group(world, &all);
      MPI_Group_excl(all, 2, (int[]){0, 1}, &none);
      assert(none == MPI_GROUP_EMPTY);
      MPI_Group_free(&none);
      MPI_Group_difference(all, all, &none);
      assert(none == MPI_GROUP_EMPTY);
      MPI_Group_size(none, &length);
      assert(length == 0);
      MPI_Group_free(&all);
      break;
    case 5: // Everything of an inactive buffer: with oneself, with nobody, and with holes.
      MPI_Sendrecv_replace(mine, 1, MPI_INT, rank, 3, rank, 3, world, &status);
      assert(mine[0] == rank && status.MPI_SOURCE == rank && status.MPI_TAG == 3);
      MPI_Sendrecv_replace(mine, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, world, &status);
      assert(mine[0] == rank && status.MPI_SOURCE == MPI_PROC_NULL);
      MPI_Sendrecv_replace(mine, 0, MPI_INT, peer, 0, peer, 0, world, MPI_STATUS_IGNORE);
      MPI_Type_vector(2, 1, 3, MPI_INT, &column);
      MPI_Type_commit(&column);
      mine[3] = 30 + rank;
      MPI_Sendrecv_replace(mine, 1, column, peer, 1, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
      assert(mine[0] == peer && mine[1] == 10 && mine[2] == 20 && mine[3] == 30 + peer);
      MPI_Get_count(&status, column, &count);
      assert(count == 1 && status.MPI_TAG == 1);
      MPI_Type_free(&column);
      MPI_Sendrecv_replace(mine, 4, MPI_INT, rank == 0 ? 1 : MPI_PROC_NULL, 0, rank == 1 ? 0 : MPI_PROC_NULL, 0, world, &status);
      assert(mine[1] == 10);
      break;
    case 6: // Where nothing is sent, nothing is cancelled.
      MPI_Isend(mine, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &flag);
      assert(!flag);
      break;
    case 7: // Nobody is locked.
      MPI_Win_create(mine, sizeof mine, sizeof(int), MPI_INFO_NULL, world, &win);
      MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win);
      MPI_Put(other, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
      MPI_Win_flush(MPI_PROC_NULL, win);
      MPI_Win_unlock(MPI_PROC_NULL, win);
      MPI_Win_free(&win);
      break;
    case 8: // What lies between the parts of a target is not touched.
      MPI_Type_vector(2, 1, 2, MPI_INT, &column);
      MPI_Type_commit(&column);
      MPI_Win_create(mine, sizeof mine, sizeof(int), MPI_INFO_NULL, world, &win);
      MPI_Win_fence(0, win);
      if (rank == 0) MPI_Put(other, 2, MPI_INT, 1, 0, 1, column, win);
      else mine[1] = 99;
      MPI_Win_fence(0, win);
      assert(rank == 0 || (mine[0] == -1 && mine[1] == 99 && mine[2] == -1));
      MPI_Win_free(&win);
      MPI_Type_free(&column);
      break;
    case 9: // Nor where nothing is received.
      MPI_Irecv(other, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &flag);
      assert(!flag);
      break;
    case 10: // A persistent receive that is cancelled may be started again.
      MPI_Recv_init(other, 1, MPI_INT, peer, 0, world, &request);
      MPI_Start(&request);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &flag);
      assert(flag);
      MPI_Barrier(world);
      MPI_Start(&request);
      MPI_Send(mine, 1, MPI_INT, peer, 0, world);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      assert(other[0] == peer);
      MPI_Request_free(&request);
      break;
    case 11: // An active persistent one may be freed as well.
      MPI_Send_init(mine, 1, MPI_INT, peer, 0, world, &request);
      MPI_Start(&request);
      MPI_Request_free(&request);
      MPI_Recv(other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      break;
    case 12:
      MPI_Ibarrier(world, &request);
      MPI_Request_free(&request); // wrong 12
      break;
    case 13: // It may be received or not.
      if (rank == 0) {
        MPI_Isend(mine, 1, MPI_INT, 1, 0, world, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        if (flag) MPI_Send(mine, 1, MPI_INT, 1, 0, world);
      } else {
        MPI_Recv(other, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
      }
      break;
    case 14:
      MPI_Recv_init(other, 1, MPI_INT, peer, 0, world, &request);
      MPI_Cancel(&request); // wrong 14
      MPI_Request_free(&request);
      break;
    case 15: MPI_Comm_set_name(world, NULL); break; // wrong 15
    case 16:
      MPI_Isend(mine, 1, MPI_INT, peer, 0, world, &request);
      twin = request;
      MPI_Request_free(&request);
      MPI_Recv(other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      MPI_Wait(&twin, MPI_STATUS_IGNORE); // wrong 16
      break;
    case 17: MPI_Comm_set_name(MPI_COMM_NULL, "nothing"); break; // wrong 17
    case 18: // Of windows they must be waited for.
      MPI_Win_create(mine, sizeof mine, sizeof(int), MPI_INFO_NULL, world, &win);
      MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
      MPI_Rget(other, 1, MPI_INT, peer, 0, 1, MPI_INT, win, &request);
      MPI_Request_free(&request); // wrong 18
      MPI_Win_unlock(peer, win);
      MPI_Win_free(&win);
      break;
    case 19: // A buffered one is complete, but it may be cancelled.
      MPI_Buffer_attach(given, sizeof given);
      MPI_Ibsend(mine, 1, MPI_INT, rank, 0, world, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      break;
    case 20:
      MPI_Win_create(mine, sizeof mine, sizeof(int), MPI_INFO_NULL, world, &win);
      MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win);
      MPI_Put(other, 1, MPI_INT, peer, 0, 1, MPI_INT, win); // wrong 20
      MPI_Win_unlock(MPI_PROC_NULL, win);
      MPI_Win_free(&win);
      break;
    case 21: // The buffer takes the answer of its own detaching.
      MPI_Buffer_attach(given, sizeof given);
      MPI_Buffer_detach(given, &length);
      assert(length == sizeof given);
      break;
    case 22: // What is given may be where the result goes.
      counts[0] = counts[1] = 1;
      MPI_Reduce_scatter(MPI_IN_PLACE, mine, counts, MPI_INT, MPI_SUM, world);
      assert(mine[0] == (rank ? 20 : 1));
      other[0] = other[1] = rank;
      MPI_Reduce_scatter_block(MPI_IN_PLACE, other, 1, MPI_INT, MPI_SUM, world);
      assert(other[0] == 1);
      break;
    case 23: // An operator goes when what has begun with it is over.
      MPI_Op_create(add, 1, &own);
      MPI_Iallreduce(mine, other, 2, MPI_INT, own, world, &request);
      MPI_Op_free(&own);
      MPI_Wait(&request, &status);
      assert(other[0] == 1 && other[1] == 20);
      break;
  }
}
