/* Datatypes for parts of arrays: a block of an array, and a rank's share of a distributed one. */
#include "twins.h"

/* The indices of a part in each dimension. */
struct places {
  Count count, *at;
};

/* A type of all elements whose index in every dimension belongs to the part, in their order in
 * memory. */
static struct type *part_of_array(int ndims, const Count *sizes, const struct places *part, int order, const struct type *old) {
  struct type *made = type_new();
  size_t rows = 1, whole = 1;
  /* In C order, the last dimension is contiguous. */
  int fastest = order == MPI_ORDER_C ? ndims - 1 : 0;
  for (int d = 0; d < ndims; d++) {
    whole *= (size_t)sizes[d];
    if (d != fastest) rows *= (size_t)part[d].count;
  }
  for (size_t row = 0; row < rows; row++) {
    size_t left = row;
    ptrdiff_t begin = 0, stride = (ptrdiff_t)sizes[fastest];
    for (int k = 1; k < ndims; k++) {
      int d = order == MPI_ORDER_C ? ndims - 1 - k : k;
      begin += part[d].at[left % (size_t)part[d].count] * stride;
      left /= (size_t)part[d].count;
      stride *= sizes[d];
    }
    const struct places *run = &part[fastest];
    for (Count i = 0, length; i < run->count; i += length) {
      for (length = 1; i + length < run->count && run->at[i + length] == run->at[i] + length;) length++;
      type_add(made, (begin + run->at[i]) * old->extent, (size_t)length, old);
    }
  }
  type_set_bounds(made, 0, (ptrdiff_t)whole * old->extent);
  return made;
}

static void check_array(int ndims, int order) {
  if (ndims < 1) fail("invalid argument", "%d dimensions", ndims);
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) fail("invalid argument", "%d is no order", order);
}

static void free_places(int ndims, struct places *part) {
  for (int d = 0; d < ndims; d++) release(part[d].at);
  release(part);
}

FUNCTION(TWIN(Type_create_subarray), (int ndims, const Count sizes[], const Count subsizes[], const Count starts[], int order, MPI_Datatype old, MPI_Datatype *made)) {
  CALL(NAMED(Type_create_subarray));
  const struct type *from = type_get(old);
  check_array(ndims, order);
  INS(sizes, ndims);
  INS(subsizes, ndims);
  INS(starts, ndims);
  struct places *part = allocate((size_t)ndims * sizeof *part);
  for (int d = 0; d < ndims; d++) {
    if (sizes[d] < 1 || subsizes[d] < 1 || starts[d] < 0 || starts[d] + subsizes[d] > sizes[d])
      fail("invalid argument", "dimension %d: %ld elements from %ld on of %ld", d, (long)subsizes[d], (long)starts[d], (long)sizes[d]);
    part[d] = (struct places){subsizes[d], allocate((size_t)subsizes[d] * sizeof(Count))};
    for (Count i = 0; i < subsizes[d]; i++) part[d].at[i] = starts[d] + i;
  }
  struct type *type = part_of_array(ndims, sizes, part, order, from);
  free_places(ndims, part);
  contents_start(type, MPI_COMBINER_SUBARRAY, from);
  contents_add(type, 1, &ndims);
  contents_add_counts(type, ndims, sizes);
  contents_add_counts(type, ndims, subsizes);
  contents_add_counts(type, ndims, starts);
  contents_add(type, 1, &order);
  return type_done(type, made);
}

/* The indices of process `coord` of `processes` in a dimension. */
static struct places distributed(int d, Count size, int how, int argument, int processes, int coord) {
  Count block = argument;
  if (how == MPI_DISTRIBUTE_NONE && processes != 1) fail("invalid argument", "dimension %d is not distributed, but has %d processes", d, processes);
  if (how == MPI_DISTRIBUTE_NONE) block = size;
  else if (argument == MPI_DISTRIBUTE_DFLT_DARG) block = how == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
  else if (how != MPI_DISTRIBUTE_BLOCK && how != MPI_DISTRIBUTE_CYCLIC) fail("invalid argument", "%d is no distribution", how);
  if (block < 1) fail("invalid argument", "dimension %d has blocks of %ld", d, (long)block);
  if (how == MPI_DISTRIBUTE_BLOCK && (int64_t)block * processes < size)
    fail("invalid argument", "dimension %d: %d blocks of %ld for %ld elements", d, processes, (long)block, (long)size);
  struct places made = {0, allocate((size_t)size * sizeof(Count))};
  for (Count i = 0; i < size; i++)
    if (i / block % processes == coord) made.at[made.count++] = i;
  return made;
}

FUNCTION(TWIN(Type_create_darray), (int size, int rank, int ndims, const Count sizes[], const int distributions[], const int arguments[], const int processes[], int order, MPI_Datatype old, MPI_Datatype *made)) {
  CALL(NAMED(Type_create_darray));
  const struct type *from = type_get(old);
  check_array(ndims, order);
  INS(sizes, ndims);
  INS(distributions, ndims);
  INS(arguments, ndims);
  INS(processes, ndims);
  if (rank < 0 || rank >= size) fail("invalid rank", "rank %d of %d", rank, size);
  int all = 1;
  for (int d = 0; d < ndims; d++) {
    if (sizes[d] < 1 || processes[d] < 1) fail("invalid argument", "dimension %d: %ld elements, %d processes", d, (long)sizes[d], processes[d]);
    all *= processes[d];
  }
  if (all != size) fail("invalid argument", "a grid of %d processes, but there are %d", all, size);
  struct places *part = allocate((size_t)ndims * sizeof *part);
  /* Processes form a grid whose last dimension is contiguous, whatever the order of the array
   * is. */
  for (int d = 0, left = rank; d < ndims; d++) {
    all /= processes[d];
    part[d] = distributed(d, sizes[d], distributions[d], arguments[d], processes[d], left / all);
    left %= all;
  }
  struct type *type = part_of_array(ndims, sizes, part, order, from);
  free_places(ndims, part);
  contents_start(type, MPI_COMBINER_DARRAY, from);
  contents_add(type, 3, (int[]){size, rank, ndims});
  contents_add_counts(type, ndims, sizes);
  contents_add(type, ndims, distributions);
  contents_add(type, ndims, arguments);
  contents_add(type, ndims, processes);
  contents_add(type, 1, &order);
  return type_done(type, made);
}
