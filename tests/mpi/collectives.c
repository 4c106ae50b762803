// Collectives whose calls disagree: roots, operators, datatypes, counts.
// 1, 2, 3, 10, 11, 12, 13: right, 3 ranks
// 4: root mismatch
// 5: root mismatch, 3 ranks
// 6: operator mismatch
// 7: datatype mismatch
// 8: count mismatch
// 9: truncation
// 14: datatype mismatch
// 15: operator mismatch, 3 ranks
// 16: count mismatch
// 17: root mismatch
// 18: operator mismatch
// 19, 20, 21: count mismatch
#include "cases.h"

static void first(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] = ((int *)in)[i];
}

static void run(void) {
  int mine = rank + 1, sum = 0, all[8] = {0}, some[3] = {0}, counts[] = {1, 2, 3}, displs[] = {0, 1, 3};
  float number = (float)rank;
  double wide[2] = {0};
  MPI_Op op;
  MPI_Request request;
  switch (which) {
    case 1:
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, world);
      if (sum != size * (size + 1) / 2) abort();
      MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_PROD, world);
      if (sum != (rank == 0 ? 1 : rank == 1 ? 2 : 6)) abort();
      break;
    case 2:
      MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 2, world);
      if (rank == 2 && (all[0] != 1 || all[2] != 3)) abort();
      MPI_Scatter(all, 1, MPI_INT, &sum, 1, MPI_INT, 2, world);
      if (sum != rank + 1) abort();
      break;
    case 3:
      MPI_Op_create(first, 0, &op);
      MPI_Reduce(&mine, &sum, 1, MPI_INT, op, 0, world);
      if (rank == 0 && sum != 1) abort();
      MPI_Op_free(&op);
      break;
    case 4: MPI_Bcast(&mine, 1, MPI_INT, rank, world); break; // wrong 4
    case 5: MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, rank / 2, world); break; // wrong 5
    case 6: MPI_Allreduce(&mine, &sum, 1, MPI_INT, rank ? MPI_MAX : MPI_SUM, world); break; // wrong 6
    case 7:
      if (rank) MPI_Bcast(&mine, 1, MPI_INT, 0, world); // wrong 7
      else MPI_Bcast(&number, 1, MPI_FLOAT, 0, world);  // wrong 7
      break;
    case 8: MPI_Bcast(all, rank + 1, MPI_INT, 0, world); break; // wrong 8
    case 9:
      if (rank) MPI_Recv(all, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); // wrong 9
      else MPI_Send(all, 2, MPI_INT, 1, 0, world); // wrong 9
      break;
    case 10:
      MPI_Allgatherv(some, counts[rank], MPI_INT, all + 1, counts, displs, MPI_INT, world);
      break;
    case 11:
      MPI_Ibcast(&mine, 1, MPI_INT, 1, world, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (mine != 2) abort();
      break;
    case 12:
      MPI_Exscan(&mine, &sum, 1, MPI_INT, MPI_SUM, world);
      if (rank > 0 && sum != rank * (rank + 1) / 2) abort();
      MPI_Reduce_scatter_block(counts, &sum, 1, MPI_INT, MPI_SUM, world);
      if (sum != size * (rank + 1)) abort();
      break;
    case 13:
      MPI_Alltoall(counts, 1, MPI_INT, all, 1, MPI_INT, world);
      if (all[0] != rank + 1 || all[2] != rank + 1) abort();
      break;
    case 14:
      if (rank) MPI_Recv(&mine, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); // wrong 14
      else MPI_Send(wide, 1, MPI_DOUBLE, 1, 0, world); // wrong 14
      break;
    case 15: MPI_Scan(&mine, &sum, 1, MPI_INT, rank == 1 ? MPI_MIN : MPI_MAX, world); break; // wrong 15
    case 16: MPI_Allreduce(counts, all, 1 + rank, MPI_INT, MPI_SUM, world); break; // wrong 16
    case 17: MPI_Ibcast(&mine, 1, MPI_INT, rank, world, &request); MPI_Wait(&request, MPI_STATUS_IGNORE); break; // wrong 17
    case 18: MPI_Ireduce(&mine, &sum, 1, MPI_INT, rank ? MPI_BAND : MPI_BOR, 0, world, &request); MPI_Wait(&request, MPI_STATUS_IGNORE); break; // wrong 18
    // What is sent must not be shorter than what is received, unlike a message.
    case 19: MPI_Allgather(&mine, 1, MPI_INT, all, 2, MPI_INT, world); break; // wrong 19
    case 20: MPI_Allgatherv(some, 1, MPI_INT, all, counts, displs, MPI_INT, world); break; // wrong 20
    case 21: MPI_Gather(some, rank ? 2 : 1, MPI_INT, all, 2, MPI_INT, 0, world); break; // wrong 21
  }
}
