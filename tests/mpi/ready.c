// Sends in ready mode: is the receive posted in every execution?
// 1, 2, 3, 4, 5, 6, 7, 8: right
// 9, 10: right, 3 ranks
// 11, 12, 13, 14, 15, 16: ready mode
// 17: ready mode, 3 ranks
// 18: message race, 3 ranks
// 19, 20: ready mode
#include "cases.h"

static int data[2], got[2];
static MPI_Request request, other;

static void receive(void) { MPI_Irecv(got, 1, MPI_INT, 0, 0, world, &request); }
static void wait(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
static void send(void) { MPI_Rsend(data, 1, MPI_INT, 1, 0, world); } // wrong 11, 12, 13, 14, 15, 17
static void say(int to) { MPI_Send(NULL, 0, MPI_INT, to, 1, world); }
static void hear(int from) { MPI_Recv(NULL, 0, MPI_INT, from, 1, world, MPI_STATUS_IGNORE); }

static void run(void) {
  int flag = 0;
  switch (which) {
    case 1: // All know of it.
      if (rank == 1) receive();
      MPI_Barrier(world);
      if (rank == 0) send();
      else wait();
      break;
    case 11: // The barrier comes too early.
      MPI_Barrier(world);
      if (rank == 1) receive();
      if (rank == 0) send();
      else wait();
      break;
    case 2: // A message says so.
    case 12:
      if (rank == 1) {
        if (which == 12) say(0);
        receive();
        if (which == 2) say(0);
        wait();
      } else {
        hear(1);
        send();
      }
      break;
    case 3: // So does a probe that finds one.
      if (rank == 1) {
        receive();
        say(0);
        wait();
      } else {
        MPI_Probe(1, 1, world, MPI_STATUS_IGNORE);
        send();
        hear(1);
      }
      break;
    case 4: // A synchronous send ends when it is received, after earlier posts.
    case 13:
      if (rank == 1) {
        if (which == 4) receive();
        hear(0);
        if (which == 13) receive();
        wait();
      } else {
        MPI_Ssend(NULL, 0, MPI_INT, 1, 1, world);
        send();
      }
      break;
    case 14: // A standard send says nothing.
      if (rank == 1) {
        receive();
        hear(0);
        wait();
      } else {
        say(1);
        send();
      }
      break;
    case 5: // A broadcast says something of its root only.
    case 15:
      if (rank == 1) receive();
      MPI_Bcast(data, 1, MPI_INT, which == 5, world);
      if (rank == 0) send();
      else wait();
      break;
    case 6: // To itself.
      MPI_Irecv(got, 1, MPI_INT, rank, 0, world, &request);
      MPI_Rsend(data, 1, MPI_INT, rank, 0, world);
      wait();
      break;
    case 7: // Persistent, with a request, and to nobody.
    case 16:
      if (rank == 1) receive();
      if (which == 7) MPI_Barrier(world);
      if (rank == 0) {
        MPI_Rsend_init(data, 1, MPI_INT, 1, 0, world, &request);
        MPI_Start(&request); // wrong 16
        wait();
        MPI_Request_free(&request);
        MPI_Rsend(data, 1, MPI_INT, MPI_PROC_NULL, 0, world);
      } else {
        wait();
      }
      break;
    case 8: // The flag of a test says that it was received.
      if (rank == 1) {
        receive();
        hear(0);
        wait();
      } else {
        MPI_Issend(NULL, 0, MPI_INT, 1, 1, world, &other);
        MPI_Test(&other, &flag, MPI_STATUS_IGNORE);
        if (flag) send();
        else MPI_Wait(&other, MPI_STATUS_IGNORE), send();
      }
      break;
    case 9: // A third one says so, or says it too early.
    case 17:
      if (rank == 1) {
        if (which == 9) receive();
        say(2);
        if (which == 17) receive();
        wait();
      } else if (rank == 2) {
        hear(1);
        say(0);
      } else {
        hear(2);
        send();
      }
      break;
    case 10: // Whichever of two receives it gets, both are posted.
      if (rank == 1) {
        MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 0, world, &request);
        MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 0, world, &other);
      }
      MPI_Barrier(world);
      if (rank != 1) send();
      else wait(), MPI_Wait(&other, MPI_STATUS_IGNORE);
      break;
    case 18: // The one that is posted may go to another message.
      if (rank == 1) {
        MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 0, world, &request); // wrong 18
        say(0);
        wait();
        MPI_Recv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 0, world, MPI_STATUS_IGNORE); // wrong 18
      } else if (rank == 0) {
        hear(1);
        send();
      } else {
        MPI_Send(data, 1, MPI_INT, 1, 0, world);
      }
      break;
    case 19: // The receive of MPI_Sendrecv may be posted later than the send.
      if (rank == 1) {
        MPI_Sendrecv(data, 1, MPI_INT, 0, 0, got, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); // wrong 19
      } else {
        MPI_Recv(got, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
        MPI_Rsend(data, 1, MPI_INT, 1, 0, world); // wrong 19
      }
      break;
    case 20: // A probe takes only what is there.
      if (rank == 1) {
        MPI_Message message;
        MPI_Mprobe(0, 0, world, &message, MPI_STATUS_IGNORE); // wrong 20
        MPI_Mrecv(got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
      } else {
        MPI_Irsend(data, 1, MPI_INT, 1, 0, world, &request); // wrong 20
        wait();
      }
      break;
  }
}
