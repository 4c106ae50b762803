// Further functions that programs use.
// 1, 2, 3, 4, 5, 6, 7, 11, 12: right
// 8: unsupported
// 9, 13: invalid argument
// 10: nondeterminism, 3 ranks
#include "cases.h"
#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void run(void) {
  int mine = rank, other = -1, peer = 1 - rank, flag = 0, key, length;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Group all;
  MPI_Comm comm;
  MPI_Message message;
  MPI_Status status;
  MPI_Request request;
  MPI_Aint low, extent;
  MPI_Datatype type;
  void *value;
  switch (which) {
    case 1:
      MPI_Comm_group(world, &all);
      MPI_Comm_create_group(world, all, 3, &comm);
      MPI_Comm_set_name(comm, "ours");
      MPI_Comm_get_name(comm, name, &length);
      assert(strcmp(name, "ours") == 0 && length == 4);
      MPI_Barrier(comm);
      MPI_Comm_free(&comm);
      MPI_Group_free(&all);
      break;
    case 2:
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
      MPI_Comm_set_attr(world, key, &mine);
      MPI_Comm_get_attr(world, key, &value, &flag);
      assert(flag && value == &mine);
      MPI_Comm_delete_attr(world, key);
      MPI_Comm_get_attr(world, key, &value, &flag);
      assert(!flag);
      MPI_Comm_free_keyval(&key);
      break;
    case 3:
      MPI_Isend(&mine, 1, MPI_INT, peer, 4, world, &request);
      MPI_Mprobe(peer, 4, world, &message, &status);
      MPI_Get_count(&status, MPI_INT, &length);
      assert(length == 1);
      MPI_Mrecv(&other, 1, MPI_INT, &message, &status);
      assert(other == peer && message == MPI_MESSAGE_NULL);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 4:
      MPI_Isend(&mine, 1, MPI_INT, peer, 4, world, &request);
      while (!flag) MPI_Improbe(peer, 4, world, &flag, &message, &status);
      MPI_Mrecv(&other, 1, MPI_INT, &message, &status);
      assert(other == peer);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 5: {
      struct pair { char letter; double number; } sent = {'a' + rank, rank}, got;
      int lengths[] = {1, 1};
      MPI_Aint places[] = {offsetof(struct pair, letter), offsetof(struct pair, number)};
      MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE};
      MPI_Type_create_struct(2, lengths, places, types, &type);
      MPI_Type_commit(&type);
      MPI_Type_get_true_extent(type, &low, &extent);
      assert(low == 0 && extent == sizeof sent);
      MPI_Sendrecv(&sent, 1, type, peer, 0, &got, 1, type, peer, 0, world, MPI_STATUS_IGNORE);
      assert(got.letter == 'a' + peer && got.number == peer);
      MPI_Type_free(&type);
      break;
    }
    case 6: {
      int rows[3][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, column[3] = {0};
      MPI_Type_vector(3, 1, 4, MPI_INT, &type);
      MPI_Type_commit(&type);
      if (rank == 0) MPI_Send(&rows[0][1], 1, type, 1, 0, world);
      else MPI_Recv(column, 3, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
      assert(rank == 0 || (column[0] == 1 && column[1] == 5 && column[2] == 9));
      MPI_Type_free(&type);
      break;
    }
    case 7: {
      char packed[64];
      int place = 0;
      if (rank == 0) {
        MPI_Pack(&mine, 1, MPI_INT, packed, sizeof packed, &place, world);
        MPI_Pack(&peer, 1, MPI_INT, packed, sizeof packed, &place, world);
        MPI_Send(packed, place, MPI_PACKED, 1, 0, world);
      } else {
        MPI_Recv(packed, sizeof packed, MPI_PACKED, 0, 0, world, MPI_STATUS_IGNORE);
        MPI_Unpack(packed, sizeof packed, &place, &other, 1, MPI_INT, world);
        MPI_Unpack(packed, sizeof packed, &place, &mine, 1, MPI_INT, world);
        assert(other == 0 && mine == 1);
      }
      break;
    }
    case 8: MPI_Register_datarep("own", NULL, NULL, NULL, NULL); break; // wrong 8
    case 9: MPI_Comm_set_attr(world, 77, &mine); break; // wrong 9
    case 10:
      /* What only the operating system knows differs between processes. */
      if (rank == 0) {
        struct timespec now;
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
        mine = (int)now.tv_nsec;
        MPI_Send(&mine, 1, MPI_INT, 1, 0, world); // wrong 10
        MPI_Recv(&mine, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE);
        MPI_Recv(&mine, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE);
      } else {
        if (rank == 1) MPI_Recv(&other, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
        MPI_Send(&mine, 1, MPI_INT, 0, 1, world);
      }
      break;
    case 11: { // A walk through the parts of the machine comes to an end.
      MPI_Comm part = world, whole;
      for (; part != MPI_COMM_NULL; part = comm) {
        MPI_Comm_split_type(part, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_NULL, &comm);
        if (part != world) MPI_Comm_free(&part);
      }
      MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &whole);
      MPI_Comm_size(whole, &length);
      MPI_Comm_rank(whole, &mine);
      assert(length == size && mine == size - 1 - rank);
      MPI_Comm_free(&whole);
      break;
    }
    case 12: { // A kind of parts has to be named.
      MPI_Info info;
      MPI_Comm_split_type(world, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &comm);
      assert(comm == MPI_COMM_NULL);
      MPI_Info_create(&info);
      MPI_Comm_split_type(world, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm);
      assert(comm == MPI_COMM_NULL);
      MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
      MPI_Comm_split_type(world, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm);
      MPI_Comm_size(comm, &length);
      assert(length == size);
      MPI_Comm_free(&comm);
      MPI_Info_free(&info);
      break;
    }
    case 13: MPI_Comm_split_type(world, MPI_CART, 0, MPI_INFO_NULL, &comm); break; // wrong 13
  }
}
