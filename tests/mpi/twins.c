// Functions with large counts.
// 1, 2, 3, 4, 5, 6, 7, 14: right
// 8: truncation
// 9, 10: invalid count
// 11: datatype mismatch
// 12: unsupported
// 13: count mismatch
#include "cases.h"
#include <assert.h>

static void add(void *in, void *inout, MPI_Count *length, MPI_Datatype *type) {
  (void)type;
  for (MPI_Count i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void run(void) {
  int mine = rank + 1, all[4] = {-1, -1, -1, -1}, peer = 1 - rank, flag, integers[8];
  MPI_Count counts[2] = {1, 1}, number, bytes, sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 1}, large[8];
  MPI_Count lb, extent, integer_count, addresses, large_count, types;
  MPI_Aint places[2] = {0, 1}, address[4];
  MPI_Datatype type, other, made[2];
  MPI_Request request;
  MPI_Status status;
  MPI_Message message;
  MPI_Op op;
  MPI_Win win;
  switch (which) {
    case 1: // A twin and its sibling are the same for others.
      if (rank == 0) MPI_Send_c(&mine, 1, MPI_INT, 1, 0, world);
      else MPI_Recv(&all, 4, MPI_INT, 0, 0, world, &status);
      if (rank == 1) MPI_Isend(&mine, 1, MPI_INT, 0, 0, world, &request);
      else MPI_Irecv_c(&all, 4, MPI_INT, 1, 0, world, &request);
      MPI_Wait(&request, &status);
      MPI_Get_count_c(&status, MPI_INT, &number);
      MPI_Get_elements_c(&status, MPI_INT, &bytes);
      assert(rank == 1 || (number == 1 && bytes == 1));
      assert(all[0] == peer + 1);
      if (rank == 0) MPI_Bcast_c(&mine, 1, MPI_INT, 0, world);
      else MPI_Bcast(&mine, 1, MPI_INT, 0, world);
      if (rank == 0) MPI_Allgatherv(&mine, 1, MPI_INT, all, (int[]){1, 1}, (int[]){0, 2}, MPI_INT, world);
      else MPI_Allgatherv_c(&mine, 1, MPI_INT, all, counts, (MPI_Aint[]){0, 2}, MPI_INT, world);
      assert(mine == 1 && all[0] == 1 && all[2] == 1);
      break;
    case 2: // What the arrays hold later has no meaning.
      MPI_Ialltoallv_c((int[]){rank, rank + 5}, counts, places, MPI_INT, all, counts, places, MPI_INT, world, &request);
      counts[0] = counts[1] = places[1] = 7;
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      assert(all[0] == (rank ? 5 : 0) && all[1] == (rank ? 6 : 1));
      break;
    case 3:
      MPI_Allreduce_init_c(&mine, all, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      assert(all[0] == 3);
      MPI_Reduce_scatter_c((int[]){mine, mine}, all, counts, MPI_INT, MPI_MAX, world);
      assert(all[0] == 2);
      MPI_Op_create_c(add, 1, &op);
      MPI_Reduce_c((int[]){mine, 1}, all, 2, MPI_INT, op, 1, world);
      assert(rank == 0 || (all[0] == 3 && all[1] == 2));
      MPI_Reduce_local_c(&mine, all, 1, MPI_INT, op);
      MPI_Op_free(&op);
      break;
    case 4: // How a type was made is told with its large counts.
      MPI_Type_vector_c(2, 1, 3, MPI_INT, &type);
      MPI_Type_get_envelope_c(type, &integer_count, &addresses, &large_count, &types, &flag);
      assert(integer_count == 0 && addresses == 0 && large_count == 3 && types == 1 && flag == MPI_COMBINER_VECTOR);
      MPI_Type_get_contents_c(type, 0, 0, 3, 1, integers, address, large, made);
      assert(large[0] == 2 && large[1] == 1 && large[2] == 3 && made[0] == MPI_INT);
      MPI_Type_get_extent_c(type, &lb, &extent);
      assert(lb == 0 && extent == 16);
      MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &other);
      MPI_Type_get_envelope_c(other, &integer_count, &addresses, &large_count, &types, &flag);
      assert(integer_count == 2 && large_count == 6);
      MPI_Type_get_contents_c(other, 2, 0, 6, 1, integers, address, large, made);
      assert(integers[0] == 2 && integers[1] == MPI_ORDER_C && large[1] == 6 && large[3] == 3 && large[5] == 1);
      MPI_Type_size_c(other, &number);
      MPI_Type_get_true_extent_c(other, &lb, &extent);
      assert(number == 24 && lb == 28 && extent == 36);
      MPI_Type_free(&type);
      MPI_Type_free(&other);
      MPI_Type_contiguous_c(3000000000, MPI_DOUBLE, &type);
      MPI_Type_size_c(type, &number);
      MPI_Type_size(type, &flag);
      assert(number == 24000000000 && flag == MPI_UNDEFINED);
      MPI_Type_free(&type);
      break;
    case 5: // Types made in either way are the same.
      MPI_Type_create_struct_c(2, counts, (MPI_Count[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_INT}, &type);
      MPI_Type_create_resized_c(type, 0, 16, &other);
      MPI_Type_commit(&other);
      MPI_Sendrecv_c((int[]){5, 6, 7, 8}, 1, other, peer, 0, all, 2, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
      assert(all[0] == 5 && all[1] == 7);
      MPI_Type_free(&type);
      MPI_Type_free(&other);
      break;
    case 6: {
      char packed[16];
      MPI_Pack_size_c(2, MPI_INT, world, &bytes);
      number = 0;
      MPI_Pack_c((int[]){3, 4}, 2, MPI_INT, packed, 16, &number, world);
      assert(number == 8 && bytes == 8);
      number = 4;
      MPI_Unpack_c(packed, 8, &number, all, 1, MPI_INT, world);
      assert(number == 8 && all[0] == 4);
      MPI_Isend_c(&mine, 1, MPI_INT, rank, 0, world, &request);
      MPI_Mprobe(rank, 0, world, &message, &status);
      MPI_Mrecv_c(all, 1, MPI_INT, &message, &status);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      void *attached = malloc(4096);
      MPI_Buffer_attach_c(attached, 4096);
      MPI_Bsend_c(&mine, 1, MPI_INT, MPI_PROC_NULL, 0, world);
      MPI_Buffer_detach_c(&attached, &number);
      assert(number == 4096 && all[0] == mine);
      free(attached);
      break;
    }
    case 7: {
      int *base, got = -1;
      MPI_Win_allocate_c(sizeof(int), sizeof(int), MPI_INFO_NULL, world, &base, &win);
      *base = rank;
      MPI_Win_fence(0, win);
      MPI_Get_c(&got, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
      MPI_Win_fence(0, win);
      MPI_Accumulate_c(&mine, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_fence(0, win);
      assert(got == peer && *base == rank + peer + 1);
      MPI_Win_free(&win);
      break;
    }
    case 8:
      if (rank == 0) MPI_Send_c(all, 2, MPI_INT, 1, 0, world); // wrong 8
      else MPI_Recv_c(all, 1, MPI_INT, 0, 0, world, &status); // wrong 8
      break;
    case 9: MPI_Bcast_c(&mine, -1, MPI_INT, 0, world); break; // wrong 9
    case 10: MPI_Isend_c(&mine, 1ll << 62, MPI_INT, peer, 0, world, &request); break; // wrong 10
    case 11: // 9: the count is wider than an int.
      MPI_Type_contiguous_c(4, MPI_INT, &type);
      MPI_Type_commit(&type);
      if (rank == 0) MPI_Send_c(all, 1, type, 1, 0, world); // wrong 11
      else MPI_Recv_c((float[4]){0}, 4, MPI_FLOAT, 0, 0, world, &status); // wrong 11
      MPI_Type_free(&type);
      break;
    case 12: // It cannot be told without large counts.
      MPI_Type_contiguous_c(4, MPI_INT, &type);
      MPI_Type_get_envelope(type, integers, integers + 1, integers + 2, integers + 3); // wrong 12
      break;
    case 13: // wrong 13
      if (rank == 0) MPI_Bcast(&all, 4, MPI_INT, 0, world); // wrong 13
      else MPI_Bcast_c(&all, 2, MPI_INT, 0, world); // wrong 13
      break;
    case 14: // Neighbours.
      {
        MPI_Comm ring;
        MPI_Cart_create(world, 1, (int[]){2}, (int[]){1}, 0, &ring);
        MPI_Neighbor_alltoallw_c((int[]){mine, mine}, counts, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_INT, MPI_INT}, all, counts,
                                 (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_INT, MPI_INT}, ring);
        MPI_Neighbor_allgatherv_c(&mine, 1, MPI_INT, all + 2, counts, places, MPI_INT, ring);
        assert(all[0] == peer + 1 && all[1] == peer + 1 && all[3] == peer + 1);
        MPI_Comm_free(&ring);
      }
      break;
  }
}
