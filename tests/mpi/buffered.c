// Buffers for sends: they are emptied by MPI_Buffer_flush and MPI_Buffer_detach, as standard sends
// complete.
// 1, 2, 3, 4, 5: right
// 6, 7, 8: buffering hazard
// 9: missing wait
// 10: unsupported
#include "cases.h"
#include <assert.h>

static char room[4096], other[1024];
static int value = 7, got;

static void send(int tag) { MPI_Bsend(&value, 1, MPI_INT, 1 - rank, tag, world); }
static void receive(int tag) { MPI_Recv(&got, 1, MPI_INT, 1 - rank, tag, world, MPI_STATUS_IGNORE); }

static void detach(void) {
  void *at;
  int bytes;
  MPI_Buffer_detach(&at, &bytes); // wrong 6
  assert(at == room && bytes == sizeof room);
}

static void run(void) {
  MPI_Request request;
  int flag = 0;
  void *at;
  MPI_Buffer_attach(room, sizeof room);
  switch (which) {
    case 1: // Both receive before they need the buffer.
      send(1);
      receive(1);
      break;
    case 2:
      if (rank == 0) send(1), MPI_Buffer_flush(), send(2), MPI_Buffer_flush();
      else receive(1), receive(2);
      break;
    case 3: // A flush of what is there now, while more is sent.
      send(1);
      MPI_Buffer_iflush(&request);
      send(2);
      receive(1);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      receive(2);
      break;
    case 4: // A loop that waits for it.
      if (rank == 0) {
        send(1);
        for (MPI_Buffer_iflush(&request); !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      } else receive(1);
      break;
    case 5: // The buffer of another communicator is empty.
      send(1);
      MPI_Comm_attach_buffer(MPI_COMM_SELF, other, sizeof other);
      MPI_Comm_flush_buffer(MPI_COMM_SELF);
      MPI_Comm_detach_buffer(MPI_COMM_SELF, &at, &flag);
      receive(1);
      break;
    case 6: // Each waits until the other one has received.
      send(1);
      detach();
      receive(1);
      return;
    case 7:
      send(1);
      MPI_Buffer_flush(); // wrong 7
      receive(1);
      break;
    case 8: // What the receiver waits for first comes after the flush.
      if (rank == 0) {
        send(1);
        MPI_Buffer_iflush(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); // wrong 8
        send(2);
      } else receive(2), receive(1);
      break;
    case 9:
      if (rank == 0) send(1), MPI_Buffer_iflush(&request); // wrong 9
      else receive(1);
      break;
    case 10:
      if (rank == 0) MPI_Ibsend(&value, 1, MPI_INT, 1, 1, world, &request), MPI_Cancel(&request), MPI_Wait(&request, MPI_STATUS_IGNORE); // wrong 10
      else receive(1);
      break;
  }
  detach();
}
