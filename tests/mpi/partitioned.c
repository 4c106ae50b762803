// Partitioned communication.
// 1, 2, 3, 4, 5, 11, 16, 17, 18, 22: right
// 6: local concurrency
// 7, 8: invalid request
// 9, 10: invalid argument
// 19: count mismatch
// 20: unsupported
// 21: local concurrency
// 12: call order
// 13: warning: missing start
// 14: assertion
// 15: missing wait
#include "cases.h"
#include <assert.h>

static int data[4], got[4];

static void run(void) {
  int flag, peer = 1 - rank, token = 0, partitions[2] = {3, 1};
  MPI_Request request, back;
  switch (which) {
    case 1: // In three rounds, in any order of partitions.
      if (rank == 0) MPI_Psend_init(data, 4, 1, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
      else MPI_Precv_init(got, 4, 1, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
      for (int round = 0; round < 3; round++) {
        MPI_Start(&request);
        for (int i = 3; rank == 0 && i >= 0; i--) {
          data[i] = 10 * round + i;
          MPI_Pready(i, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; rank == 1 && i < 4; i++) assert(got[i] == 10 * round + i);
      }
      MPI_Request_free(&request);
      break;
    case 2: // A partition that has arrived may be read before the others.
      if (rank == 0) {
        MPI_Psend_init(data, 2, 2, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        data[2] = 7;
        MPI_Pready_range(1, 1, request);
        MPI_Recv(&token, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
        MPI_Pready(0, request);
      } else {
        MPI_Precv_init(got, 2, 2, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (flag = 0; !flag;) MPI_Parrived(request, 1, &flag);
        assert(got[2] == 7);
        MPI_Send(&token, 1, MPI_INT, 0, 0, world);
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Parrived(request, 0, &flag);
      MPI_Request_free(&request);
      break;
    case 3: // Each with the other, and with messages of the same tag.
      data[0] = rank;
      MPI_Psend_init_c(data, 2, 1, MPI_INT, peer, 5, world, MPI_INFO_NULL, &request);
      MPI_Precv_init_c(got, 2, 1, MPI_INT, peer, 5, world, MPI_INFO_NULL, &back);
      MPI_Startall(2, (MPI_Request[]){request, back});
      MPI_Sendrecv(&rank, 1, MPI_INT, peer, 5, &token, 1, MPI_INT, peer, 5, world, MPI_STATUS_IGNORE);
      MPI_Pready_list(1, &partitions[1], request);
      MPI_Pready(0, request);
      MPI_Waitall(2, (MPI_Request[]){request, back}, MPI_STATUSES_IGNORE);
      assert(got[0] == peer && token == peer);
      MPI_Request_free(&request);
      MPI_Request_free(&back);
      break;
    case 4: // The first with the first, the second with the second.
      data[0] = 1, data[1] = 2;
      if (rank == 0) {
        MPI_Psend_init(&data[0], 1, 1, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
        MPI_Psend_init(&data[1], 1, 1, MPI_INT, 1, 5, world, MPI_INFO_NULL, &back);
      } else {
        MPI_Precv_init(&got[0], 1, 1, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
        MPI_Precv_init(&got[1], 1, 1, MPI_INT, 0, 5, world, MPI_INFO_NULL, &back);
      }
      MPI_Start(&back);
      MPI_Start(&request);
      if (rank == 0) MPI_Pready(0, back), MPI_Pready(0, request);
      MPI_Waitall(2, (MPI_Request[]){request, back}, MPI_STATUSES_IGNORE);
      assert(rank == 0 || (got[0] == 1 && got[1] == 2));
      MPI_Request_free(&request);
      MPI_Request_free(&back);
      break;
    case 5:
      MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 5, world, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      MPI_Pready_range(0, 1, request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      break;
    case 6:
      MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 5, world, MPI_INFO_NULL, &back);
      if (rank == 0) MPI_Psend_init(data, 2, 1, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
      else MPI_Precv_init(got, 2, 1, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      if (rank == 0) {
        MPI_Pready(0, request); // wrong 6
        data[1] = 5;
        MPI_Pready(1, request);
        data[0] = 5; // wrong 6
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 7: // Partition 1 is never ready.
      MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 5, world, MPI_INFO_NULL, &request); // wrong 7
      MPI_Start(&request);
      MPI_Pready(0, request);
      MPI_Wait(&request, MPI_STATUS_IGNORE); // wrong 7
      break;
    case 8:
      MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 5, world, MPI_INFO_NULL, &request);
      MPI_Pready(0, request); // wrong 8
      break;
    case 9:
      MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 5, world, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      MPI_Pready(0, request);
      MPI_Pready(0, request); // wrong 9
      break;
    case 10:
      MPI_Precv_init(got, 2, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, MPI_INFO_NULL, &request); // wrong 10
      break;
    case 11: // Other numbers of partitions.
      if (rank == 0) MPI_Psend_init(data, 4, 1, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
      else MPI_Precv_init(got, 2, 2, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      if (rank == 0) MPI_Pready_range(0, 3, request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      break;
    case 16: // The sender has more, and waits until the last one was seen; twice.
      if (rank == 0) MPI_Psend_init(data, 4, 1, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
      else MPI_Precv_init(got, 2, 2, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
      for (int round = 0; round < 2; round++) {
        MPI_Start(&request);
        if (rank == 0) {
          for (int i = 0; i < 4; i++) data[i] = 10 * round + i;
          MPI_Pready_range(2, 3, request);
          MPI_Recv(&token, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
          MPI_Pready_range(0, 1, request);
        } else {
          for (flag = 0; !flag;) MPI_Parrived(request, 1, &flag);
          assert(got[2] == 10 * round + 2 && got[3] == 10 * round + 3);
          MPI_Send(&token, 1, MPI_INT, 0, 0, world);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        assert(rank == 0 || got[0] == 10 * round);
      }
      MPI_Request_free(&request);
      break;
    case 17: // The receiver has more, and none alike: 6 bytes are a half and a whole of 4.
      if (rank == 0) {
        short all[12];
        for (int i = 0; i < 12; i++) all[i] = (short)i;
        MPI_Psend_init(all, 3, 4, MPI_SHORT, 1, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        MPI_Pready(2, request);
        MPI_Pready(1, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        short all[12] = {0};
        MPI_Precv_init(all, 4, 3, MPI_SHORT, 0, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (flag = 0; !flag;) MPI_Parrived(request, 0, &flag);
        assert(all[2] == 2);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < 12; i++) assert(all[i] == i);
      }
      MPI_Request_free(&request);
      break;
    case 18: { // Into every other number; with another request.
      int spread[8] = {0}, other;
      MPI_Datatype type;
      MPI_Type_vector(4, 1, 2, MPI_INT, &type);
      MPI_Type_commit(&type);
      for (int i = 0; i < 4; i++) data[i] = i;
      if (rank == 0) {
        MPI_Psend_init(data, 2, 2, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Send(&rank, 1, MPI_INT, 1, 1, world);
        MPI_Pready_range(0, 1, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        MPI_Request both[2];
        MPI_Precv_init(spread, 1, 1, type, 0, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        both[0] = request;
        MPI_Irecv(&other, 1, MPI_INT, 0, 1, world, &both[1]);
        MPI_Waitany(2, both, &flag, MPI_STATUS_IGNORE);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 8; i++) assert(spread[i] == (i % 2 ? 0 : i / 2));
      }
      MPI_Request_free(&request);
      MPI_Type_free(&type);
      break;
    }
    case 22: // When all have arrived, the receive is over.
      if (rank == 0) MPI_Psend_init(data, 2, 1, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
      else MPI_Precv_init(got, 1, 2, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
      for (int round = 0; round < 3; round++) {
        MPI_Start(&request);
        if (rank == 0) {
          data[0] = data[1] = round;
          MPI_Pready_range(0, 1, request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
          for (flag = 0; !flag;) MPI_Parrived(request, 0, &flag);
          MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
          assert(flag && got[0] == round && got[1] == round);
        }
      }
      MPI_Request_free(&request);
      break;
    case 19: // Less is sent than received.
    case 20: // A partition ends within a number.
    case 21: // The buffer belongs to the receive before anything comes.
      if (rank == 0) {
        if (which == 20) MPI_Psend_init(data, 8, 2, MPI_BYTE, 1, 5, world, MPI_INFO_NULL, &request);
        else MPI_Psend_init(data, which == 19 ? 3 : 4, 1, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, which == 19 ? 2 : which == 20 ? 7 : 3, request);
      } else {
        MPI_Precv_init(got, 2, 2, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        if (which == 21) got[1] = 4; // wrong 21
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE); // wrong 19, 20
      break;
    case 12: // Both are ready only when the other one is.
      MPI_Psend_init(data, 1, 1, MPI_INT, peer, 5, world, MPI_INFO_NULL, &request);
      MPI_Precv_init(got, 1, 1, MPI_INT, peer, 5, world, MPI_INFO_NULL, &back);
      MPI_Start(&request);
      MPI_Start(&back);
      MPI_Wait(&back, MPI_STATUS_IGNORE); // wrong 12
      MPI_Pready(0, request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 13:
      MPI_Psend_init(data, 1, 1, MPI_INT, peer, 5, world, MPI_INFO_NULL, &request); // wrong 13
      break;
    case 14: // Partitions may arrive in any order.
      if (rank == 0) {
        MPI_Psend_init(data, 2, 1, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, 1, request);
      } else {
        MPI_Precv_init(got, 2, 1, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (flag = 0; !flag;) MPI_Parrived(request, 1, &flag);
        MPI_Parrived(request, 0, &flag);
        assert(flag); // wrong 14
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      break;
    case 15:
      MPI_Precv_init(got, 2, 1, MPI_INT, peer, 5, world, MPI_INFO_NULL, &request); // wrong 15
      MPI_Start(&request);
      break;
  }
}
