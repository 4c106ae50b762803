// What is made and never freed: that does no harm, so the search goes on.
// 1, 2, 3: right
// 4: warning: communicator leak
// 5: warning: datatype leak
// 6: warning: group leak
// 7: warning: operator leak
// 8: warning: window leak
// 9: warning: communicator leak
// 10: message race, 3 ranks
// 11: missing wait
#include "cases.h"

static void sum(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void run(void) {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Group group;
  MPI_Op op;
  MPI_Win win;
  static int memory[4];
  MPI_Request request;
  switch (which) {
    case 1: MPI_Comm_split(world, rank % 2, 0, &comm); MPI_Comm_free(&comm); break;
    case 2: MPI_Comm_group(world, &group); MPI_Group_free(&group); break;
    case 3: MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, world, &win); MPI_Win_free(&win); break;
    case 4: MPI_Comm_dup(world, &comm); break; // wrong 4
    case 5: MPI_Type_vector(2, 1, 2, MPI_INT, &type); MPI_Type_commit(&type); break; // wrong 5
    case 6: MPI_Comm_group(world, &group); break; // wrong 6
    case 7: MPI_Op_create(sum, 1, &op); break; // wrong 7
    case 8: MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, world, &win); break; // wrong 8
    case 9: MPI_Comm_split(world, 0, rank, &comm); break; // wrong 9
    case 10: // In one execution there is more than a leak.
      MPI_Type_contiguous(2, MPI_INT, &type);
      if (rank > 0) MPI_Send(&rank, 1, MPI_INT, 0, 0, world);
      for (int i = 1; i < size && rank == 0; i++) MPI_Recv(&memory[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, world, MPI_STATUS_IGNORE);
      if (memory[1] == 2) abort(); // wrong 10
      break;
    case 11: // What is worse is told.
      MPI_Comm_dup(world, &comm);
      MPI_Ibarrier(world, &request); // wrong 11
      break;
  }
}
