/* A collective as MPI functions describe it: what each rank contributes, and where its result
 * goes. */
#ifndef MAZURKA_COLLECTIVES_H
#define MAZURKA_COLLECTIVES_H

#include "rank.h"

#define collective_run mazurka_collective_run
#define graph_around mazurka_graph_around
#define label_in mazurka_label_in
#define label_out mazurka_label_out

/* The values are those of `CollectiveKind` in the verifier. */
enum { NO_ROOT = INT32_MIN };
enum shape { BARRIER, BCAST, SCATTER, GATHER, REDUCE, ALLREDUCE, ALLGATHER, ALLTOALL, SCAN, EXSCAN, REDUCE_SCATTER };

/* The elements of a buffer for each rank or neighbour: with `counts` and `displs` for each, or one
 * part of `count` after another. */
struct parts {
  void *base;
  bool is_counted; /* whether there are arrays of counts and displacements */
  bool are_large;  /* whether these are arrays of MPI_Count and MPI_Aint, not of integers */
  MPI_Count count;
  const void *counts, *displs;
  struct type *type;
  struct type *const *types; /* one for each part; displacements are in bytes */
  const MPI_Aint *places;    /* displacements of a larger type */
};

struct collective {
  enum shape shape;
  struct comm *comm;
  int root; /* NO_ROOT if it has none */
  MPI_Op op;
  MPI_Datatype handle; /* of a reduction */
  struct parts send, recv;
  bool is_in_place;
  /* of the communicator; each persistent one has its own, since they may be started in any order */
  const char *name;
  const struct graph *around; /* ALLGATHER and ALLTOALL among neighbours; NULL: among all */
};

/* What a function does after the start: it waits, returns a request, or returns a persistent
 * request. */
struct ending {
  MPI_Request *request;
  bool is_persistent;
};
int collective_run(struct collective of, struct ending ending);

/* neighbors.c: the neighbours of the rank. If there are several edges between two ranks, labels
 * identify them at both ends. */
const struct graph *graph_around(struct comm *comm);
int label_in(const struct graph *graph, int edge);
int label_out(const struct graph *graph, int edge);

#endif
