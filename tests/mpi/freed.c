// Types and operators that are freed while an operation uses them, or a persistent one will.
// 1, 2, 3, 4: right
// 5: invalid datatype
// 6: invalid operator
#include "cases.h"
#include <assert.h>

/* The handle of the type can be asked while the operator runs. */
static void add(void *in, void *inout, int *length, MPI_Datatype *type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *length * (int)(extent / sizeof(int)); i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void run(void) {
  int mine[4] = {1, 2, 3, 4}, all[4] = {0};
  MPI_Datatype pair, freed;
  MPI_Op op, over;
  MPI_Request request;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(add, 1, &op);
  freed = pair;
  over = op;
  switch (which) {
    case 1: MPI_Iallreduce(mine, all, 2, pair, op, world, &request); break;
    case 2: MPI_Allreduce_init(mine, all, 2, pair, op, world, MPI_INFO_NULL, &request); break;
    case 3:
    case 4: // The receiver may have other partitions than the sender.
      if (rank == 0) MPI_Psend_init(mine, 2, 1, pair, 1, 0, world, MPI_INFO_NULL, &request);
      else if (which == 3) MPI_Precv_init(all, 2, 1, pair, 0, 0, world, MPI_INFO_NULL, &request);
      else MPI_Precv_init(all, 1, 2, pair, 0, 0, world, MPI_INFO_NULL, &request);
      break;
  }
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
  if (which == 2 || which == 3 || which == 4) MPI_Start(&request);
  if ((which == 3 || which == 4) && rank == 0) MPI_Pready_range(0, 1, request);
  if (which <= 4) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (which == 2 || which == 3 || which == 4) MPI_Request_free(&request);
  for (int i = 0; i < 4; i++) assert(which <= 2 ? all[i] == 2 * (i + 1) : which > 4 || rank == 0 || all[i] == i + 1);
  if (which == 5) MPI_Bcast(all, 1, freed, 0, world); // wrong 5
  if (which == 6) MPI_Allreduce(mine, all, 4, MPI_INT, over, world); // wrong 6
}
