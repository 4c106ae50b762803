/* Neighbours: topologies that are graphs, and collectives in which each rank exchanges data with
 * its neighbours only.
 *
 * All ranks of the communicator must call them, so they meet as in any collective. */
#include "collectives.h"

static int *copy(const int *from, int count) {
  return count > 0 ? memcpy(allocate((size_t)count * sizeof *from), from, (size_t)count * sizeof *from) : NULL;
}

/* In a grid: for each dimension the neighbour before, then the one behind. */
static struct graph *around_in_grid(const struct comm *cart) {
  struct graph *made = allocate(sizeof *made);
  made->kind = MPI_CART;
  made->in = made->out = 2 * cart->ndims;
  made->sources = allocate((size_t)made->in * sizeof *made->sources);
  for (int d = 0; d < cart->ndims; d++) cart_shift(cart, d, 1, &made->sources[2 * d], &made->sources[2 * d + 1]);
  made->destinations = made->sources;
  return made;
}

const struct graph *graph_around(struct comm *comm) {
  if (!comm->graph && comm->dims) comm->graph = around_in_grid(comm);
  if (!comm->graph) fail("invalid communicator", "%s has no topology", comm->title);
  return comm->graph;
}

/* The number of earlier edges to the same rank. */
static int times_before(const int *ranks, int edge) {
  int times = 0;
  for (int i = 0; i < edge; i++) times += ranks[i] == ranks[edge];
  return times;
}

int label_in(const struct graph *graph, int edge) {
  return graph->kind == MPI_CART ? edge : times_before(graph->sources, edge);
}

/* In a grid, the neighbour behind a rank has that rank before it. */
int label_out(const struct graph *graph, int edge) {
  return graph->kind == MPI_CART ? edge ^ 1 : times_before(graph->destinations, edge);
}

static void check_ranks(const int *ranks, int count, int size) {
  check_count(count);
  INS(ranks, count);
  for (int i = 0; i < count; i++)
    if (ranks[i] < 0 || ranks[i] >= size) fail("invalid rank", "neighbour %d is rank %d of %d", i, ranks[i], size);
}

FUNCTION(Graph_create, (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *made)) {
  CALL("MPI_Graph_create");
  (void)reorder;
  struct comm *from = comm_get_intra(comm), *to;
  OUT(made);
  if (nodes < 0 || nodes > from->group->size)
    fail("invalid argument", "a graph of %d nodes, but there are %d ranks", nodes, from->group->size);
  INS(index, nodes);
  for (int node = 0; node < nodes; node++)
    if (index[node] < (node > 0 ? index[node - 1] : 0)) fail("invalid argument", "index %d is %d", node, index[node]);
  check_ranks(edges, nodes > 0 ? index[nodes - 1] : 0, nodes);
  *OUT(made) = comm_of_known(from, group_first(from->group, nodes), 0, &to);
  if (*made == MPI_COMM_NULL) return MPI_SUCCESS;
  struct graph *graph = to->graph = allocate(sizeof *graph);
  graph->kind = MPI_GRAPH;
  graph->nodes = nodes;
  graph->index = copy(index, nodes);
  graph->edges = copy(edges, index[nodes - 1]);
  int first = to->rank > 0 ? index[to->rank - 1] : 0;
  graph->in = graph->out = index[to->rank] - first;
  graph->sources = graph->destinations = graph->edges + first;
  return MPI_SUCCESS;
}

static const struct graph *plain_graph(MPI_Comm comm) {
  struct comm *of = comm_get_intra(comm);
  if (!of->graph || of->graph->kind != MPI_GRAPH) fail("invalid communicator", "%s has no graph", of->title);
  return of->graph;
}

FUNCTION(Graphdims_get, (MPI_Comm comm, int *nodes, int *edges)) {
  CALL("MPI_Graphdims_get");
  const struct graph *graph = plain_graph(comm);
  *OUT(nodes) = graph->nodes;
  *OUT(edges) = graph->index[graph->nodes - 1];
  return MPI_SUCCESS;
}

FUNCTION(Graph_get, (MPI_Comm comm, int nodes, int count, int index[], int edges[])) {
  CALL("MPI_Graph_get");
  const struct graph *graph = plain_graph(comm);
  int all = graph->index[graph->nodes - 1];
  if (nodes < graph->nodes || count < all) fail("invalid argument", "room for %d nodes and %d edges of %d and %d", nodes, count, graph->nodes, all);
  memcpy(OUTS(index, graph->nodes), graph->index, (size_t)graph->nodes * sizeof *index);
  if (all > 0) memcpy(OUTS(edges, all), graph->edges, (size_t)all * sizeof *edges);
  return MPI_SUCCESS;
}

/* The neighbours of a node. */
static const int *neighbors(const struct graph *graph, int rank, int *count) {
  if (rank < 0 || rank >= graph->nodes) fail("invalid rank", "rank %d of %d", rank, graph->nodes);
  int first = rank > 0 ? graph->index[rank - 1] : 0;
  *count = graph->index[rank] - first;
  return graph->edges + first;
}

FUNCTION(Graph_neighbors_count, (MPI_Comm comm, int rank, int *count)) {
  CALL("MPI_Graph_neighbors_count");
  neighbors(plain_graph(comm), rank, OUT(count));
  return MPI_SUCCESS;
}

FUNCTION(Graph_neighbors, (MPI_Comm comm, int rank, int room, int ranks[])) {
  CALL("MPI_Graph_neighbors");
  int count;
  const int *found = neighbors(plain_graph(comm), rank, &count);
  if (room < count) fail("invalid argument", "room for %d neighbours of %d", room, count);
  if (count > 0) memcpy(OUTS(ranks, count), found, (size_t)count * sizeof *ranks);
  return MPI_SUCCESS;
}

static void check_weights(const int *weights, int count, const char *parameter) {
  if (weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY && count > 0)
    memory_use(weights, (size_t)count * sizeof *weights, READS, parameter);
}

/* Weights are hints for numbering ranks; here they are only stored. */
static int *weights_of(const int *weights, int count) { return weights == MPI_WEIGHTS_EMPTY ? NULL : copy(weights, count); }

/* A new communicator of the same ranks, which meet to make it. */
static struct comm *with_graph(struct comm *from, MPI_Comm *made) {
  struct comm *to;
  *made = comm_split(from, 0, from->rank, &to);
  to->graph = allocate(sizeof *to->graph);
  to->graph->kind = MPI_DIST_GRAPH;
  return to;
}

FUNCTION(Dist_graph_create_adjacent, (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out, const int destinations[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm *made)) {
  CALL("MPI_Dist_graph_create_adjacent");
  (void)info, (void)reorder;
  struct comm *from = comm_get_intra(comm);
  OUT(made);
  check_ranks(sources, in, from->group->size);
  check_ranks(destinations, out, from->group->size);
  if ((in_weights == MPI_UNWEIGHTED) != (out_weights == MPI_UNWEIGHTED))
    fail("invalid argument", "either both ways have weights, or none");
  check_weights(in_weights, in, "sourceweights");
  check_weights(out_weights, out, "destweights");
  struct comm *to = with_graph(from, made);
  struct graph *graph = to->graph;
  graph->in = in;
  graph->out = out;
  graph->sources = copy(sources, in);
  graph->destinations = copy(destinations, out);
  graph->is_weighted = in_weights != MPI_UNWEIGHTED;
  if (graph->is_weighted) {
    graph->in_weights = weights_of(in_weights, in);
    graph->out_weights = weights_of(out_weights, out);
  }
  /* Both ends of an edge describe it. */
  struct bytes given = {0};
  for (int i = 0; i < out; i++) put_i32(&given, destinations[i]);
  struct contributions all = exchange(to, call.name, &given);
  for (int rank = 0; rank < to->group->size; rank++) {
    int there = 0, here = 0;
    for (struct reader said = *contribution(&all, rank); said.at < said.end;) there += take_i32(&said) == to->rank;
    for (int i = 0; i < in; i++) here += sources[i] == rank;
    if (there != here)
      fail("invalid argument", "rank %d has %d edges to this rank, which knows of %d", rank, there, here);
  }
  release(given.at);
  release(all.of);
  return MPI_SUCCESS;
}

static void add_edge(int **ranks, int **weights, int *count, int rank, int weight) {
  *ranks = grow(*ranks, (size_t)(*count + 1) * sizeof **ranks);
  *weights = grow(*weights, (size_t)(*count + 1) * sizeof **weights);
  (*ranks)[*count] = rank;
  (*weights)[(*count)++] = weight;
}

/* Any rank may describe any edge. Each rank keeps its own edges, in the order of the ranks that
 * describe them. */
FUNCTION(Dist_graph_create, (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm *made)) {
  CALL("MPI_Dist_graph_create");
  (void)info, (void)reorder;
  struct comm *from = comm_get_intra(comm);
  OUT(made);
  check_ranks(sources, n, from->group->size);
  bool is_weighted = weights != MPI_UNWEIGHTED;
  int all_edges = 0;
  INS(degrees, n);
  for (int i = 0; i < n; i++) {
    check_count(degrees[i]);
    all_edges += degrees[i];
  }
  check_ranks(destinations, all_edges, from->group->size);
  check_weights(weights, all_edges, "weights");
  struct bytes given = {0};
  put_u8(&given, is_weighted);
  for (int i = 0, edge = 0; i < n; i++)
    for (int k = 0; k < degrees[i]; k++, edge++) {
      put_i32(&given, sources[i]);
      put_i32(&given, destinations[edge]);
      put_i32(&given, is_weighted && weights != MPI_WEIGHTS_EMPTY ? weights[edge] : 1);
    }
  struct comm *to = with_graph(from, made);
  struct graph *graph = to->graph;
  graph->is_weighted = is_weighted;
  struct contributions all = exchange(to, call.name, &given);
  for (int rank = 0; rank < to->group->size; rank++) {
    struct reader said = *contribution(&all, rank);
    if (take_u8(&said) != is_weighted) fail("invalid argument", "rank %d says otherwise whether there are weights", rank);
    while (said.at < said.end) {
      int source = take_i32(&said), destination = take_i32(&said), weight = take_i32(&said);
      if (destination == to->rank) add_edge(&graph->sources, &graph->in_weights, &graph->in, source, weight);
      if (source == to->rank) add_edge(&graph->destinations, &graph->out_weights, &graph->out, destination, weight);
    }
  }
  release(given.at);
  release(all.of);
  return MPI_SUCCESS;
}

static const struct graph *distributed_graph(MPI_Comm comm) {
  struct comm *of = comm_get_intra(comm);
  if (!of->graph || of->graph->kind != MPI_DIST_GRAPH) fail("invalid communicator", "%s has no distributed graph", of->title);
  return of->graph;
}

FUNCTION(Dist_graph_neighbors_count, (MPI_Comm comm, int *in, int *out, int *weighted)) {
  CALL("MPI_Dist_graph_neighbors_count");
  const struct graph *graph = distributed_graph(comm);
  *OUT(in) = graph->in;
  *OUT(out) = graph->out;
  *OUT(weighted) = graph->is_weighted;
  return MPI_SUCCESS;
}

static void tell_edges(int room, int count, const int *ranks, const int *weights, bool is_weighted, int *to, int *to_weights) {
  int returned = room < count ? room : count;
  bool has_weights = is_weighted && weights && to_weights != MPI_UNWEIGHTED;
  OUTS(to, returned);
  if (has_weights) OUTS(to_weights, returned);
  for (int i = 0; i < returned; i++) {
    to[i] = ranks[i];
    if (has_weights) to_weights[i] = weights[i];
  }
}

FUNCTION(Dist_graph_neighbors, (MPI_Comm comm, int in, int sources[], int in_weights[], int out, int destinations[], int out_weights[])) {
  CALL("MPI_Dist_graph_neighbors");
  const struct graph *graph = distributed_graph(comm);
  tell_edges(in, graph->in, graph->sources, graph->in_weights, graph->is_weighted, sources, in_weights);
  tell_edges(out, graph->out, graph->destinations, graph->out_weights, graph->is_weighted, destinations, out_weights);
  return MPI_SUCCESS;
}
