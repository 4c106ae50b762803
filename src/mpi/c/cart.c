/* Cartesian topologies: ranks in a grid whose last dimension is contiguous. */
#include "rank.h"

static struct comm *cart_get(MPI_Comm comm) {
  struct comm *found = comm_get_intra(comm);
  if (!found->dims) fail("invalid communicator", "%s has no cartesian topology", found->title);
  return found;
}

static int cells(int ndims, const int *dims) {
  int all = 1;
  for (int d = 0; d < ndims; d++) all *= dims[d];
  return all;
}

static void coords_of(const struct comm *cart, int rank, int *coords) {
  for (int d = cart->ndims - 1; d >= 0; d--) {
    coords[d] = rank % cart->dims[d];
    rank /= cart->dims[d];
  }
}

/* The rank at these coordinates; MPI_PROC_NULL beyond an edge. */
static int rank_at(const struct comm *cart, const int *coords) {
  int rank = 0;
  for (int d = 0; d < cart->ndims; d++) {
    int size = cart->dims[d], at = coords[d];
    if (at < 0 || at >= size) {
      if (!cart->periods[d]) return MPI_PROC_NULL;
      at = ((at % size) + size) % size;
    }
    rank = rank * size + at;
  }
  return rank;
}

static int *copy(int n, const int *from) {
  int *made = allocate((size_t)n * sizeof *made);
  memcpy(made, from, (size_t)n * sizeof *made);
  return made;
}

static void check_grid(int ndims, const int *dims, const int *periods) {
  if (ndims < 0) fail("invalid argument", "%d dimensions", ndims);
  INS(dims, ndims);
  INS(periods, ndims);
}

FUNCTION(Cart_create, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *made)) {
  CALL("MPI_Cart_create");
  (void)reorder;
  struct comm *from = comm_get_intra(comm), *to;
  OUT(made);
  check_grid(ndims, dims, periods);
  for (int d = 0; d < ndims; d++)
    if (dims[d] < 1) fail("invalid argument", "dimension %d is %d", d, dims[d]);
  int size = cells(ndims, dims);
  if (size > from->group->size) fail("invalid argument", "a grid of %d ranks, but there are %d", size, from->group->size);
  *OUT(made) = comm_of_known(from, group_first(from->group, size), 0, &to);
  if (*made == MPI_COMM_NULL) return MPI_SUCCESS;
  to->ndims = ndims;
  to->dims = copy(ndims, dims);
  to->periods = copy(ndims, periods);
  return MPI_SUCCESS;
}

FUNCTION(Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])) {
  CALL("MPI_Cart_get");
  const struct comm *cart = cart_get(comm);
  if (maxdims < cart->ndims) fail("invalid argument", "room for %d dimensions of %d", maxdims, cart->ndims);
  memcpy(OUTS(dims, cart->ndims), cart->dims, (size_t)cart->ndims * sizeof *dims);
  memcpy(OUTS(periods, cart->ndims), cart->periods, (size_t)cart->ndims * sizeof *periods);
  coords_of(cart, cart->rank, OUTS(coords, cart->ndims));
  return MPI_SUCCESS;
}

FUNCTION(Cart_rank, (MPI_Comm comm, const int coords[], int *rank)) {
  CALL("MPI_Cart_rank");
  const struct comm *cart = cart_get(comm);
  *OUT(rank) = rank_at(cart, INS(coords, cart->ndims));
  if (*rank == MPI_PROC_NULL) fail("invalid argument", "the coordinates are beyond the grid");
  return MPI_SUCCESS;
}

FUNCTION(Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[])) {
  CALL("MPI_Cart_coords");
  const struct comm *cart = cart_get(comm);
  if (rank < 0 || rank >= cart->group->size) fail("invalid rank", "rank %d of %d", rank, cart->group->size);
  if (maxdims < cart->ndims) fail("invalid argument", "room for %d dimensions of %d", maxdims, cart->ndims);
  coords_of(cart, rank, OUTS(coords, cart->ndims));
  return MPI_SUCCESS;
}

void cart_shift(const struct comm *cart, int direction, int disp, int *source, int *dest) {
  int *coords = allocate((size_t)cart->ndims * sizeof *coords);
  coords_of(cart, cart->rank, coords);
  coords[direction] -= disp;
  *source = rank_at(cart, coords);
  coords[direction] += 2 * disp;
  *dest = rank_at(cart, coords);
  release(coords);
}

FUNCTION(Cart_shift, (MPI_Comm comm, int direction, int disp, int *source, int *dest)) {
  CALL("MPI_Cart_shift");
  const struct comm *cart = cart_get(comm);
  if (direction < 0 || direction >= cart->ndims) fail("invalid argument", "dimension %d of %d", direction, cart->ndims);
  cart_shift(cart, direction, disp, OUT(source), OUT(dest));
  return MPI_SUCCESS;
}

/* A topology does not renumber ranks. */
static int map(MPI_Comm comm, int size, int *rank) {
  struct comm *of = comm_get_intra(comm);
  if (size > of->group->size) fail("invalid argument", "a topology of %d ranks, but there are %d", size, of->group->size);
  *rank = of->rank < size ? of->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

FUNCTION(Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *rank)) {
  CALL("MPI_Cart_map");
  check_grid(ndims, dims, periods);
  return map(comm, cells(ndims, dims), OUT(rank));
}

FUNCTION(Graph_map, (MPI_Comm comm, int nodes, const int index[], const int edges[], int *rank)) {
  CALL("MPI_Graph_map");
  check_count(nodes);
  INS(index, nodes);
  INS(edges, nodes > 0 ? index[nodes - 1] : 0);
  return map(comm, nodes, OUT(rank));
}

FUNCTION(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made)) {
  CALL("MPI_Cart_sub");
  struct comm *cart = cart_get(comm), *to;
  INS(remain, cart->ndims);
  int *coords = allocate((size_t)cart->ndims * sizeof *coords);
  coords_of(cart, cart->rank, coords);
  int color = 0, ndims = 0;
  int *dims = allocate((size_t)cart->ndims * sizeof *dims), *periods = allocate((size_t)cart->ndims * sizeof *periods);
  for (int d = 0; d < cart->ndims; d++) {
    if (remain[d]) {
      dims[ndims] = cart->dims[d];
      periods[ndims++] = cart->periods[d];
    } else {
      color = color * cart->dims[d] + coords[d];
    }
  }
  release(coords);
  *OUT(made) = comm_split(cart, color, cart->rank, &to);
  to->ndims = ndims;
  to->dims = dims;
  to->periods = periods;
  return MPI_SUCCESS;
}

FUNCTION(Cartdim_get, (MPI_Comm comm, int *ndims)) {
  CALL("MPI_Cartdim_get");
  *OUT(ndims) = cart_get(comm)->ndims;
  return MPI_SUCCESS;
}

FUNCTION(Topo_test, (MPI_Comm comm, int *status)) {
  CALL("MPI_Topo_test");
  const struct comm *of = comm_get(comm);
  *OUT(status) = of->dims ? MPI_CART : of->graph ? of->graph->kind : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

/* Finds dimensions for this number of nodes, in descending order, each as small as possible and at
 * most `most`. */
static bool balance(int nodes, int count, int most, int *dims) {
  if (count == 0) return nodes == 1;
  for (int d = 1; d <= nodes && d <= most; d++)
    if (nodes % d == 0 && balance(nodes / d, count - 1, d, dims + 1)) {
      *dims = d;
      return true;
    }
  return false;
}

/* Fills in the dimensions that are 0: they are as close to each other as possible, in descending
 * order (MPI 4.1, 8.5.2). */
FUNCTION(Dims_create, (int nodes, int ndims, int dims[])) {
  CALL("MPI_Dims_create");
  int left = nodes, open = 0;
  if (ndims < 0 || nodes < 1) fail("invalid argument", "%d nodes in %d dimensions", nodes, ndims);
  OUTS(dims, ndims);
  for (int d = 0; d < ndims; d++) {
    open += dims[d] == 0;
    if (dims[d] < 0 || (dims[d] > 0 && left % dims[d])) fail("invalid argument", "dimension %d is %d", d, dims[d]);
    if (dims[d] > 0) left /= dims[d];
  }
  int *found = allocate((size_t)open * sizeof *found), next = 0;
  if (!balance(left, open, left, found)) fail("invalid argument", "the dimensions do not hold %d nodes", nodes);
  for (int d = 0; d < ndims; d++)
    if (dims[d] == 0) dims[d] = found[next++];
  release(found);
  return MPI_SUCCESS;
}
