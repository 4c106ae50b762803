// What is made and never freed.
// 1, 2, 3: right
// 4: communicator leak
// 5: datatype leak
// 6: group leak
// 7: operator leak
// 8: window leak
// 9: communicator leak
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
  }
}
