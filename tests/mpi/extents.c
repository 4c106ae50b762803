// What a buffer has room for, and what is in it.
// 1, 2, 3, 14: right
// 4: invalid buffer
// 5: invalid buffer
// 6: invalid buffer
// 7: invalid buffer
// 8: invalid buffer
// 9: datatype mismatch
// 10: datatype mismatch
// 11: datatype mismatch
// 12: invalid operator
// 13: invalid buffer
// 15: invalid buffer
#include "cases.h"
#include <complex.h>
#include <stddef.h>

#if defined(__x86_64__)
#define LOCAL
#else
#define LOCAL static /* where locals are is not known there */
#endif

struct reading {
  int place;
  double value[2];
};
static struct {
  long before;
  int numbers[4];
} global;

static MPI_Datatype reading_type(ptrdiff_t second) {
  MPI_Datatype made;
  int lengths[] = {1, 2};
  MPI_Aint displs[] = {offsetof(struct reading, place), second};
  MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, displs, types, &made);
  MPI_Type_commit(&made);
  return made;
}

static void run(void) {
  LOCAL int one = 1, four[4] = {0};
  LOCAL double numbers[3];
  LOCAL struct reading readings[2];
  LOCAL double complex waves[2];
  static char raw[64];
  int *heap = calloc(6, sizeof *heap);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  switch (which) {
    case 1:
      MPI_Bcast(&one, 1, MPI_INT, 0, world);
      MPI_Bcast(four + 1, 3, MPI_INT, 0, world);
      MPI_Bcast(global.numbers, 4, MPI_INT, 0, world);
      MPI_Bcast(&global.before, 1, MPI_LONG, 0, world);
      MPI_Bcast(heap + 2, 4, MPI_INT, 0, world);
      MPI_Allgather(&one, 1, MPI_INT, four, 1, MPI_INT, world);
      break;
    case 2:
      type = reading_type(offsetof(struct reading, value));
      MPI_Bcast(readings, 2, type, 0, world);
      MPI_Bcast(readings, sizeof readings, MPI_BYTE, 0, world);
      break;
    case 3:
      MPI_Bcast(raw, 16, MPI_INT, 0, world);
      MPI_Bcast(waves, 4, MPI_DOUBLE, 0, world);
      MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &type);
      MPI_Type_commit(&type);
      MPI_Bcast(numbers, 1, type, 0, world);
      break;
    case 4: MPI_Bcast(&one, 2, MPI_INT, 0, world); break; // wrong 4
    case 5:
      if (rank == 0) MPI_Send(global.numbers, 4, MPI_INT, 1, 0, world);
      else MPI_Recv(four + 1, 4, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); // wrong 5
      break;
    case 6: MPI_Bcast(heap + 3, 4, MPI_INT, 0, world); break; // wrong 6
    case 7: MPI_Allgather(four, 3, MPI_INT, heap + 1, 3, MPI_INT, world); break; // wrong 7
    case 8:
      MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &type);
      MPI_Type_commit(&type);
      MPI_Bcast(numbers, 1, type, 0, world); // wrong 8
      break;
    case 9: MPI_Bcast(numbers, 3, MPI_LONG, 0, world); break; // wrong 9
    case 10: MPI_Bcast(&one, 1, MPI_UNSIGNED, 0, world); break; // wrong 10
    case 11:
      type = reading_type(sizeof(int));
      MPI_Bcast(readings, 1, type, 0, world); // wrong 11
      break;
    case 12: MPI_Reduce(&one, four, 1, MPI_INT, MPI_REPLACE, 0, world); break; // wrong 12
    case 13: {
      int counts[] = {2, 1}, displs[] = {0, 4};
      MPI_Gatherv(four, 2 - rank, MPI_INT, four, counts, displs, MPI_INT, 0, world); // wrong 13
      break;
    }
    case 14:
    case 15: { // Differences of addresses lead to another array; or behind its end.
      int *other = calloc(6, sizeof *other), lengths[] = {2, 2};
      MPI_Aint from, displs[2];
      MPI_Get_address(heap, &from);
      MPI_Get_address(heap + 1, &displs[0]);
      MPI_Get_address(other + (which == 15 ? 5 : 4), &displs[1]);
      for (int i = 0; i < 2; i++) displs[i] -= from;
      MPI_Type_create_hindexed(2, lengths, displs, MPI_INT, &type);
      MPI_Type_commit(&type);
      MPI_Bcast(heap, 1, type, 0, world); // wrong 15
      free(other);
      break;
    }
  }
  if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  free(heap);
}
