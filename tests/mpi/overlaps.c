// Memory that one call names twice, memory that goes too early, and arrays that are not there.
// 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12: invalid buffer
// 13, 14, 15, 16, 17: invalid datatype
// 18, 19, 20, 21: local concurrency
// 22: invalid buffer
// 23, 24, 25: invalid argument
// 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43: right
// 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56: right
#include "cases.h"

static int v[16], w[16], two[] = {2, 2}, near[] = {0, 1}, far[] = {0, 2};
static char bytes[8];
static MPI_Request request;

static void wait(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

static char room[1000];
static void late(void) { room[0] = 3; }

/* Space for buffered sends belongs to MPI until it is detached, or until the end. */
static void attached(int mistake) {
  char *at = mistake == 18 ? malloc(1000) : room;
  int size;
  MPI_Buffer_attach(at, 1000); // wrong 18, 19
  MPI_Bsend(v, 1, MPI_INT, rank, 0, world);
  if (mistake == 18) free(at); // wrong 18
  if (mistake == 19) at[0] = 1; // wrong 19
  MPI_Recv(w, 1, MPI_INT, rank, 0, world, MPI_STATUS_IGNORE);
  if (mistake == 56) atexit(late);
  else MPI_Buffer_detach(&at, &size), at[0] = 2;
}

/* Each case from 1 on is wrong, and the one that is 30 later is right. */
static void run(void) {
  int is_wrong = which < 30, at = 0, here = is_wrong ? 0 : 8, size;
  int places[] = {0, is_wrong ? 4 : 8}, *displs = is_wrong ? near : far, *heap;
  void *found;
  MPI_Datatype types[] = {MPI_INT, MPI_INT}, twice;
  MPI_Win win;
  MPI_Type_create_hvector(2, 2, is_wrong ? 1 : 2, MPI_BYTE, &twice);
  MPI_Type_commit(&twice);
  switch (which % 30) {
    case 1: MPI_Allreduce(v, v + here, 1, MPI_INT, MPI_SUM, world); break; // wrong 1
    case 2: MPI_Reduce(v, v + here, 1, MPI_INT, MPI_SUM, 0, world); break; // wrong 2
    case 3: MPI_Scan(v, v + 1 + here, 2, MPI_INT, MPI_SUM, world); break; // wrong 3
    case 4: MPI_Reduce_scatter(v, v + here, two, MPI_INT, MPI_SUM, world); break; // wrong 4
    case 5: MPI_Alltoall(v, 1, MPI_INT, v + 1 + here, 1, MPI_INT, world); break; // wrong 5
    case 6: MPI_Scatter(v, 1, MPI_INT, v + here, 1, MPI_INT, 0, world); break; // wrong 6
    case 7: MPI_Gatherv(w, 2, MPI_INT, v, two, displs, MPI_INT, 0, world); break; // wrong 7
    case 8: MPI_Alltoallv(v, two, near, MPI_INT, w, two, displs, MPI_INT, world); break; // wrong 8
    case 9: MPI_Alltoallw(v, two, (int[]){0, 8}, types, w, two, places, types, world); break; // wrong 9
    case 10:
      MPI_Iallgather(v + 1, 1, MPI_INT, v + here, 1, MPI_INT, world, &request); // wrong 10
      wait();
      break;
    case 11:
      MPI_Allreduce_init(v, v + here, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &request);
      MPI_Start(&request); // wrong 11
      wait();
      MPI_Request_free(&request);
      break;
    case 12: MPI_Reduce_local(v, v + here, 1, MPI_INT, MPI_SUM); break; // wrong 12
    case 13:
      if (rank == 0) MPI_Send(v, 4, MPI_BYTE, 1, 0, world);
      else MPI_Recv(bytes, 1, twice, 0, 0, world, MPI_STATUS_IGNORE); // wrong 13
      break;
    case 14:
      MPI_Recv_init(bytes, 1, twice, rank, 0, world, &request);
      MPI_Start(&request); // wrong 14
      MPI_Send(v, 4, MPI_BYTE, rank, 0, world);
      wait();
      MPI_Request_free(&request);
      break;
    case 15:
      MPI_Sendrecv(v, 4, MPI_BYTE, 1 - rank, 0, bytes, 1, twice, 1 - rank, 0, world, MPI_STATUS_IGNORE); // wrong 15
      break;
    case 16: MPI_Sendrecv_replace(bytes, 1, twice, 1 - rank, 0, 1 - rank, 0, world, MPI_STATUS_IGNORE); break; // wrong 16
    case 17: MPI_Unpack(v, 4, &at, bytes, 1, twice, world); break; // wrong 17
    case 18:
    case 19:
    case 26: attached(which); break;
    case 20: // The buffer of a persistent buffered send is in use until the wait.
      MPI_Buffer_attach(w, sizeof w);
      MPI_Bsend_init(v, 1, MPI_INT, rank, 0, world, &request);
      v[0] = 1;
      MPI_Start(&request); // wrong 20
      if (!is_wrong) wait();
      v[0] = 2; // wrong 20
      MPI_Recv(v + 4, 1, MPI_INT, rank, 0, world, MPI_STATUS_IGNORE);
      if (is_wrong) wait();
      MPI_Request_free(&request);
      MPI_Buffer_detach(&found, &size);
      break;
    case 21: // Memory that grows may go to another place.
      heap = malloc(40);
      MPI_Irecv(heap, 1, MPI_INT, 1 - rank, 0, world, &request); // wrong 21
      MPI_Send(v, 1, MPI_INT, 1 - rank, 0, world);
      if (!is_wrong) wait();
      heap = realloc(heap, 4000); // wrong 21
      if (is_wrong) wait();
      free(heap);
      break;
    case 22: // A window is there as long as it is not freed.
      heap = malloc(40);
      MPI_Win_create(heap, 40, 1, MPI_INFO_NULL, world, &win); // wrong 22
      if (is_wrong) free(heap); // wrong 22
      MPI_Win_free(&win);
      if (!is_wrong) free(heap);
      break;
    case 23: MPI_Allgatherv(v, 2, MPI_INT, w, is_wrong ? NULL : two, far, MPI_INT, world); break; // wrong 23
    case 24: MPI_Gatherv(v, 2, MPI_INT, w, two, is_wrong || rank ? NULL : far, MPI_INT, 0, world); break; // wrong 24
    case 25: MPI_Alltoallv(is_wrong ? v : MPI_IN_PLACE, NULL, NULL, MPI_INT, w, two, far, MPI_INT, world); break; // wrong 25
  }
  MPI_Type_free(&twice);
}
