// Calls that all ranks make, and that may wait for all or for nobody.
// 1, 2: right
// 3: communicator mismatch
// 4, 7, 8, 9: call order
// 5, 10, 11, 12, 13: message race, 3 ranks
// 6: call order
#include "cases.h"
#include <assert.h>

static MPI_Comm one, other;
static MPI_File file;

static void send(void) { MPI_Send(NULL, 0, MPI_INT, 1, 0, world); }
static void receive(int from) { MPI_Recv(NULL, 0, MPI_INT, from, 0, world, MPI_STATUS_IGNORE); } // wrong 4, 7, 8, 9

static void groups(void) {
  MPI_Status status;
  MPI_Comm_dup(world, &one);
  MPI_Comm_dup(world, &other);
  switch (which) {
    case 1: {
      MPI_Comm pair, alone;
      MPI_Comm_split(world, rank, 0, &alone);
      MPI_Intercomm_create(alone, 0, world, 1 - rank, 0, &pair);
      MPI_Comm_free(&alone);
      MPI_Comm_free(&pair);
      MPI_Comm_free(&one);
      MPI_Comm_free(&other);
      break;
    }
    case 3:
      MPI_Comm_free(rank == 0 ? &one : &other); // wrong 3
      MPI_Comm_free(rank == 0 ? &other : &one);
      break;
    case 4:
      if (rank == 1) receive(0);
      MPI_Comm_free(&one); // wrong 4
      if (rank == 0) send();
      MPI_Comm_free(&other);
      break;
    case 5:
      if (rank == 1) MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, world, &status), assert(status.MPI_SOURCE == 2); // wrong 5
      if (rank == 2) send();
      MPI_Comm_free(&one);
      if (rank == 0) send();
      if (rank == 1) MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, world, &status); // wrong 5
      MPI_Comm_free(&other);
      break;
    case 6:
      if (rank == 0) MPI_Comm_free(&one); // wrong 6
      else MPI_Barrier(one); // wrong 6
      MPI_Comm_free(&other);
      break;
  }
}

/* Communicators of which all ranks know the members. */
static void make(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group all;
  MPI_Comm_group(world, &all);
  if (which == 9 || which == 10) MPI_Comm_dup(world, &made); // wrong 9
  if (which == 11) MPI_Comm_create(world, all, &made);
  if (which == 12) MPI_Comm_create_group(world, all, 0, &made);
  if (which == 13) MPI_Cart_create(world, 1, &size, &(int){0}, 0, &made);
  MPI_Group_free(&all);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

static void makes(void) {
  MPI_Status status;
  if (rank == 1 && which == 9) receive(0);
  if (rank == 1 && which > 9) MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, world, &status), assert(status.MPI_SOURCE == 2); // wrong 10, 11, 12, 13
  if (rank == 2) send();
  make();
  if (rank == 0) send();
  if (rank == 1 && which > 9) MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, world, &status); // wrong 10, 11, 12, 13
}

static void files(void) {
  MPI_File_open(world, "late", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  switch (which) {
    case 2: {
      MPI_Request request;
      MPI_File_iwrite_at_all(file, 4 * rank, &rank, 1, MPI_INT, &request); /* this waits for nobody */
      if (rank == 0) send();
      else receive(0);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    }
    case 7:
      if (rank == 1) receive(0);
      MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE); // wrong 7
      if (rank == 0) send();
      break;
    case 8:
      if (rank == 1) receive(0);
      MPI_File_sync(file); // wrong 8
      if (rank == 0) send();
      break;
  }
  MPI_File_close(&file);
}

static void run(void) {
  if (which >= 9) makes();
  else if (which == 2 || which >= 7) files();
  else groups();
}
