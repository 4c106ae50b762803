// Bounds of datatypes that are not where the values begin and end.
// 1, 2, 3, 4, 5, 6, 7, 8, 9, 10: right
// 11: invalid argument
// 12: invalid buffer
#include "cases.h"
#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { N = 64 };

/* Sums columns of a matrix; integers that stand in reverse order, behind 400 bytes, or in every
 * second place. */
static void add_columns(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int k = 0; k < *length; k++)
    for (int i = 0; i < N; i++) ((int *)inout)[i * N + k] += ((int *)in)[i * N + k];
}
static void add_reverse(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[-i] += ((int *)in)[-i];
}
static void add_behind(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i + 100] += ((int *)in)[i + 100];
}
static void add_every_second(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[2 * i] += ((int *)in)[2 * i];
}

/* Copies whole elements, with what lies behind their values. */
struct wide {
  char letter, unused[999];
};
static void first(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  memcpy(inout, in, (size_t)*length * sizeof(struct wide));
}

static MPI_Op operator(MPI_User_function *function) {
  MPI_Op made;
  MPI_Op_create(function, 1, &made);
  return made;
}

static MPI_Datatype resized(MPI_Datatype old, MPI_Aint lb, MPI_Aint extent) {
  MPI_Datatype made;
  MPI_Type_create_resized(old, lb, extent, &made);
  MPI_Type_commit(&made);
  return made;
}

static MPI_Datatype structure(int count, const MPI_Aint *displs, const MPI_Datatype *types) {
  MPI_Datatype made;
  MPI_Type_create_struct(count, (int[]){1, 1}, displs, types, &made);
  MPI_Type_commit(&made);
  return made;
}

static void check(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent) {
  MPI_Aint first, length;
  MPI_Type_get_extent(type, &first, &length);
  assert(first == lb && length == extent);
}

static void run(void) {
  static int from[N * N], to[N * N], few[2] = {-7, -8};
  static struct wide wide[2], one[2];
  static char records[10] = {1, 0, 0, 0, 'x', 2, 0, 0, 0, 'y'}, copies[10];
  MPI_Datatype types[3] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  MPI_Op op = MPI_OP_NULL;
  MPI_Win win;
  for (int i = 0; i < N * N; i++) from[i] = i;
  switch (which) {
    case 1: // Columns overlap: their extent is smaller than they are.
      op = operator(add_columns);
      MPI_Type_vector(N, 1, N, MPI_INT, &types[0]);
      types[1] = resized(types[0], 0, sizeof(int));
      MPI_Allreduce(from, to, 2, types[1], op, world);
      for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) assert(to[i * N + k] == (k < 2 ? 2 * (i * N + k) : 0));
      memset(to, 0, sizeof to);
      MPI_Reduce_scatter_block(from, to, 2, types[1], op, world);
      for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) assert(to[i * N + k] == (k < 2 ? 2 * (i * N + k + 2 * rank) : 0));
      break;
    case 2:
      op = operator(add_reverse);
      types[0] = resized(MPI_INT, 0, -(MPI_Aint)sizeof(int));
      MPI_Allreduce(from + N - 1, to + N - 1, N, types[0], op, world);
      for (int i = 0; i < N; i++) assert(to[i] == 2 * i);
      MPI_Reduce_scatter_block(from + 3, to + 1, 2, types[0], op, world);
      assert(to[1] == 2 * (3 - 2 * rank) && to[0] == 2 * (2 - 2 * rank) && to[2] == 4);
      break;
    case 3:
      op = operator(add_behind);
      MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]){400}, MPI_INT, &types[0]);
      MPI_Type_commit(&types[0]);
      MPI_Reduce_scatter_block(from, to, 1, types[0], op, world);
      assert(to[100] == 2 * (100 + rank));
      MPI_Scan(from, to, 2, types[0], op, world);
      assert(to[100] == (rank + 1) * 100 && to[101] == (rank + 1) * 101);
      break;
    case 4: // What lies between values stays as it is.
      op = operator(add_every_second);
      types[0] = resized(MPI_INT, 0, 2 * sizeof(int));
      MPI_Reduce_scatter_block(from, few, 1, types[0], op, world);
      assert(few[0] == 4 * rank && few[1] == -8);
      break;
    case 5:
      op = operator(first);
      types[0] = resized(MPI_CHAR, 0, sizeof(struct wide));
      wide[0].letter = wide[1].letter = (char)('a' + rank);
      MPI_Allreduce(wide, one, 2, types[0], op, world);
      assert(one[0].letter == 'a' && one[1].letter == 'a');
      break;
    case 6: // Given bounds stay, and others do not count beside them.
      types[0] = resized(MPI_INT, 4, 4);
      types[1] = structure(2, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, types[0]});
      check(types[1], 12, 4);
      MPI_Type_contiguous(3, types[1], &types[2]);
      check(types[2], 12, 12);
      break;
    case 7: // Nor are they rounded up.
      types[0] = structure(2, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_INT, MPI_CHAR});
      check(types[0], 0, 8);
      types[1] = resized(types[0], 0, 5);
      types[2] = structure(1, (MPI_Aint[]){0}, &types[1]);
      check(types[2], 0, 5);
      MPI_Sendrecv(records, 2, types[2], rank, 0, copies, 2, types[2], rank, 0, world, MPI_STATUS_IGNORE);
      assert(memcmp(records, copies, sizeof records) == 0);
      break;
    case 8: // Otherwise they are those of the values, rounded up once.
      types[0] = structure(2, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_INT, MPI_CHAR});
      types[1] = structure(2, (MPI_Aint[]){0, 1}, (MPI_Datatype[]){MPI_CHAR, types[0]});
      check(types[1], 0, 8);
      MPI_Type_create_hvector(2, 1, 5, MPI_INT, &types[2]);
      check(types[2], 0, 12);
      break;
    case 9: // Of an array, a part has the bounds of the whole.
      MPI_Type_create_subarray(1, (int[]){6}, (int[]){2}, (int[]){3}, MPI_ORDER_C, MPI_SHORT, &types[0]);
      types[1] = structure(2, (MPI_Aint[]){0, 16}, (MPI_Datatype[]){types[0], MPI_LONG});
      check(types[1], 0, 12);
      MPI_Type_dup(types[1], &types[2]);
      check(types[2], 0, 12);
      break;
    case 10:
    case 11: // Elements that lie before the first one, in a window: also before its begin.
      types[0] = resized(MPI_INT, 0, -(MPI_Aint)sizeof(int));
      MPI_Win_create(to, sizeof to, sizeof(int), MPI_INFO_NULL, world, &win);
      MPI_Win_fence(0, win);
      MPI_Put(from, 2, MPI_INT, 1 - rank, 11 - which, 2, types[0], win); // wrong 11
      MPI_Win_fence(0, win);
      assert(to[0] == 1 && to[1] == 0);
      MPI_Win_free(&win);
      break;
    case 12:
      types[0] = resized(MPI_INT, 0, -(MPI_Aint)sizeof(int));
      MPI_Bcast(few, 2, types[0], 0, world); // wrong 12
      break;
  }
  for (int i = 0; i < 3; i++)
    if (types[i] != MPI_DATATYPE_NULL) MPI_Type_free(&types[i]);
  if (op != MPI_OP_NULL) MPI_Op_free(&op);
}
