// Arguments that are wrong.
// 1, 2, 3: right
// 4: invalid rank
// 5: invalid tag
// 6: invalid count
// 7: invalid datatype
// 8: invalid communicator
// 9: invalid operator
// 10: invalid root
// 11: invalid buffer
// 12: invalid datatype
// 13: invalid argument
// 14: invalid communicator
// 15: invalid group
// 16: invalid request
#include "cases.h"

static void run(void) {
  int mine = rank, sum = 0, dims[] = {2}, wrong_dims[] = {-1}, periods[] = {1}, beyond[] = {9};
  MPI_Datatype pair;
  MPI_Comm other;
  MPI_Group group, part;
  MPI_Request request;
  switch (which) {
    case 1: MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, world); break;
    case 2:
      MPI_Type_contiguous(2, MPI_INT, &pair);
      MPI_Type_commit(&pair);
      MPI_Type_size(pair, &sum);
      if (sum != 8) abort();
      MPI_Type_free(&pair);
      break;
    case 3:
      MPI_Cart_create(world, 1, dims, periods, 0, &other);
      MPI_Cart_shift(other, 0, 1, &mine, &sum);
      if (mine != 1 - rank || sum != 1 - rank) abort();
      MPI_Comm_free(&other);
      break;
    case 4: MPI_Send(&mine, 1, MPI_INT, size, 0, world); break; // wrong 4
    case 5: MPI_Send(&mine, 1, MPI_INT, 0, -7, world); break; // wrong 5
    case 6: MPI_Bcast(&mine, -1, MPI_INT, 0, world); break; // wrong 6
    case 7: MPI_Bcast(&mine, 1, MPI_DATATYPE_NULL, 0, world); break; // wrong 7
    case 8: MPI_Barrier(MPI_COMM_NULL); break; // wrong 8
    case 9: MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_OP_NULL, world); break; // wrong 9
    case 10: MPI_Bcast(&mine, 1, MPI_INT, size, world); break; // wrong 10
    case 11: MPI_Bcast(NULL, 1, MPI_INT, 0, world); break; // wrong 11
    case 12:
      MPI_Type_contiguous(2, MPI_INT, &pair);
      MPI_Bcast(&mine, 1, pair, 0, world); // wrong 12
      break;
    case 13: MPI_Cart_create(world, 1, wrong_dims, periods, 0, &other); break; // wrong 13
    case 14:
      MPI_Comm_dup(world, &other);
      part = MPI_GROUP_NULL;
      MPI_Comm twin = other;
      MPI_Comm_free(&other);
      MPI_Barrier(twin); // wrong 14
      break;
    case 15:
      MPI_Comm_group(world, &group);
      MPI_Group gone = group;
      MPI_Group_free(&group);
      MPI_Group_incl(gone, 1, beyond, &part); // wrong 15
      break;
    case 16:
      MPI_Isend(&mine, 1, MPI_INT, 1 - rank, 0, world, &request);
      MPI_Recv(&sum, 1, MPI_INT, 1 - rank, 0, world, MPI_STATUS_IGNORE);
      MPI_Request again = request;
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Wait(&again, MPI_STATUS_IGNORE); // wrong 16
      break;
  }
}
