// Memory that an operation still uses: what the program and other calls do with it.
// 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32: right
// 1, 3, 5, 7, 9, 11, 13: local concurrency
// 15, 17, 19: global concurrency
// 21, 23, 31: local concurrency
// 25, 33, 34: invalid buffer
// 27: invalid buffer
// 29: invalid datatype
#include "cases.h"

static int window[8], mine[2], got[2];
static MPI_Win win;
static MPI_Request request, other;

static void lock(void) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win); }
static void unlock(void) { MPI_Win_unlock(1, win); }
static void wait(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

/* A receive of a message for itself. */
static void receive(void *to) { MPI_Irecv(to, 1, MPI_INT, rank, 0, world, &request); } // wrong 23
static void send(void) { MPI_Send(&rank, 1, MPI_INT, rank, 0, world); }

__attribute__((noinline)) static void leaves(int waits) {
  int local = 0;
  receive(&local);
  MPI_Isend(&rank, 1, MPI_INT, rank, 0, world, &other);
  if (waits) wait();
} // wrong 23

__attribute__((noinline)) static void exposes(int frees) {
  int local[2];
  MPI_Win_free(&win);
  MPI_Win_create(local, sizeof local, 1, MPI_INFO_NULL, world, &win); // wrong 25
  if (frees) MPI_Win_free(&win);
  if (frees) MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, world, &win);
} // wrong 25

static void pass(int at) {
  MPI_Win_fence(0, win);
  if (rank == 0) {
    MPI_Put(mine, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // wrong 15
    MPI_Send(mine, 1, MPI_INT, 1, 0, world);
  } else {
    MPI_Recv(&window[at], 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); // wrong 15
  }
  MPI_Win_fence(0, win);
}

static void share(int at) {
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Put(mine, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // wrong 17
  MPI_Bcast(rank == 1 ? &window[at] : got, 1, MPI_INT, 0, world);  // wrong 17
  MPI_Win_fence(0, win);
}

static void show(int at) {
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Put(mine, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // wrong 19
  if (rank == 1) MPI_Send(&window[at], 1, MPI_INT, 0, 0, world);   // wrong 19
  else MPI_Recv(got, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
  MPI_Win_fence(0, win);
}

static void run(void) {
  int *heap = malloc(sizeof *heap), here = 0;
  MPI_Datatype type;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, world, &win);
  MPI_Barrier(world);
  if (rank == 0 && which < 10) lock();
  switch (which) {
    case 1: // The origin of an operation with a request is in use until the wait.
    case 2:
      if (rank) break;
      MPI_Rput(mine, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); // wrong 1
      if (which == 2) wait();
      mine[0] = 5; // wrong 1
      if (which == 1) wait();
      break;
    case 3:
    case 4:
      if (rank) break;
      MPI_Rget(got, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); // wrong 3
      if (which == 4) wait();
      here = got[0]; // wrong 3
      if (which == 3) wait();
      break;
    case 5:
    case 6:
      if (rank) break;
      MPI_Rget_accumulate(mine, 1, MPI_INT, got, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win, &request); // wrong 5
      if (which == 6) wait();
      got[0] = 2; // wrong 5
      if (which == 5) wait();
      break;
    case 7: // So is that of another operation that was started before: only a flush gives it back.
    case 8:
      if (rank) break;
      MPI_Put(mine, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // wrong 7
      MPI_Raccumulate(got, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_SUM, win, &request);
      wait();
      if (which == 8) MPI_Win_flush_local(1, win);
      mine[0] = 4; // wrong 7
      break;
    case 9: // Calls that wait use memory, too.
      receive(got); // wrong 9
      MPI_Allreduce(mine, got, 1, MPI_INT, MPI_SUM, world); // wrong 9
      send();
      wait();
      break;
    case 10:
      receive(got);
      MPI_Allreduce(mine, &got[1], 1, MPI_INT, MPI_SUM, world);
      send();
      wait();
      break;
    case 11:
    case 12:
      receive(got); // wrong 11
      MPI_Comm_rank(world, &got[which == 12]); // wrong 11
      send();
      wait();
      break;
    case 13:
    case 14:
      MPI_Buffer_attach(malloc(1000), 1000);
      MPI_Ibsend(mine, 1, MPI_INT, rank, 0, world, &request); // wrong 13
      if (which == 14) wait();
      mine[0] = 3; // wrong 13
      if (which == 13) wait();
      MPI_Recv(got, 1, MPI_INT, rank, 0, world, MPI_STATUS_IGNORE);
      break;
    case 15: // Receives, collectives and sends touch the memory of a window.
    case 16: pass(which - 15); break;
    case 17:
    case 18: share(which - 17); break;
    case 19:
    case 20: show(which - 19); break;
    case 21: // Memory goes while it is in use.
    case 22:
      receive(heap); // wrong 21
      send();
      if (which == 22) wait();
      free(heap); // wrong 21
      if (which == 21) wait();
      heap = NULL;
      break;
    case 23:
    case 24:
      leaves(which == 24);
      if (which == 23) wait();
      MPI_Wait(&other, MPI_STATUS_IGNORE);
      break;
    case 25:
    case 26: exposes(which == 26); break;
    case 27: MPI_Allreduce(mine, mine, 1, MPI_INT, MPI_SUM, world); break; // wrong 27
    case 28: MPI_Allreduce(MPI_IN_PLACE, mine, 2, MPI_INT, MPI_SUM, world); break;
    case 29: // What is sent may overlap, what is received must not.
    case 30:
      MPI_Type_create_hvector(2, 2, 1, MPI_BYTE, &type);
      MPI_Type_commit(&type);
      if (rank == 0) MPI_Send(mine, 1, type, 1, 0, world);
      else if (which == 30) MPI_Recv(got, 4, MPI_BYTE, 0, 0, world, MPI_STATUS_IGNORE);
      else MPI_Recv(got, 1, type, 0, 0, world, MPI_STATUS_IGNORE); // wrong 29
      MPI_Type_free(&type);
      break;
    case 31: // A send whose request is freed is over when the rank knows so from others.
    case 32:
      if (rank == 0) {
        MPI_Isend(mine, 1, MPI_INT, 1, 0, world, &request); // wrong 31
        MPI_Request_free(&request);
        if (which == 32) MPI_Recv(got, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
        mine[0] = 1; // wrong 31
        if (which == 31) MPI_Recv(got, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(got, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
        MPI_Send(got, 1, MPI_INT, 0, 0, world);
      }
      break;
    case 33: MPI_Gather(mine, 1, MPI_INT, mine, 1, MPI_INT, 0, world); break; // wrong 33
    case 34: {
      int counts[] = {1, 1}, displs[] = {0, 0};
      MPI_Allgatherv(mine, 1, MPI_INT, got, counts, displs, MPI_INT, world); // wrong 34
      break;
    }
  }
  if (rank == 0 && which < 10) unlock();
  if (here) printf("%d\n", here);
  MPI_Win_free(&win);
  free(heap);
}
