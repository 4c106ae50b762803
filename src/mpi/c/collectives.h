/* A collective as the functions of MPI describe it: what each rank gives, and where what it gets
 * goes. */
#ifndef MAZURKA_COLLECTIVES_H
#define MAZURKA_COLLECTIVES_H

#include "rank.h"

#define collective_run mazurka_collective_run
#define graph_around mazurka_graph_around
#define label_in mazurka_label_in
#define label_out mazurka_label_out

/* As in `CollectiveKind` of the verifier. */
enum { NO_ROOT = INT32_MIN };
enum shape { BARRIER, BCAST, SCATTER, GATHER, REDUCE, ALLREDUCE, ALLGATHER, ALLTOALL, SCAN, EXSCAN, REDUCE_SCATTER };

/* Some elements of a buffer for each rank or neighbour: `counts` and `displs` for each, or `count`
 * for each, one behind the other. */
struct parts {
  void *base;
  bool is_counted; /* are there arrays of counts and displacements? */
  int count;
  const int *counts, *displs;
  struct type *type;
  struct type *const *types; /* each part has its own, and displacements are in bytes */
  const MPI_Aint *places;    /* displacements that may be longer */
};

struct collective {
  enum shape shape;
  struct comm *comm;
  int root; /* NO_ROOT if it has none */
  MPI_Op op;
  MPI_Datatype handle; /* of a reduction */
  struct parts send, recv;
  bool is_in_place;
  const char *name; /* of the communicator; persistent ones have each their own, since they may be started in any order */
  const struct graph *around; /* ALLGATHER and ALLTOALL among neighbours; NULL: among all */
};

/* How a function ends: with the collective, with a request for it, or with one that may be started
 * again and again. */
struct ending {
  MPI_Request *request;
  bool is_persistent;
};
int collective_run(struct collective of, struct ending ending);

/* neighbors.c: the neighbours of the rank. Of several edges to the same rank, labels tell which is
 * which at the other end. */
const struct graph *graph_around(struct comm *comm);
int label_in(const struct graph *graph, int edge);
int label_out(const struct graph *graph, int edge);

/* MPI_F waits, MPI_If gives a request, and MPI_F_init one that is not started. */
#define ARGUMENTS(...) __VA_ARGS__
#define MEETING(name, iname, parameters, start)                                                      \
  FUNCTION(name, (ARGUMENTS parameters, MPI_Comm comm)) {                                            \
    CALL("MPI_" #name);                                                                              \
    struct ending ending = {NULL, false};                                                            \
    return start;                                                                                    \
  }                                                                                                  \
  FUNCTION(iname, (ARGUMENTS parameters, MPI_Comm comm, MPI_Request *request)) {                     \
    CALL("MPI_" #iname);                                                                             \
    struct ending ending = {OUT(request), false};                                     \
    return start;                                                                                    \
  }                                                                                                  \
  FUNCTION(name##_init, (ARGUMENTS parameters, MPI_Comm comm, MPI_Info info, MPI_Request *request)) { \
    CALL("MPI_" #name "_init");                                                                      \
    (void)info;                                                                                      \
    struct ending ending = {OUT(request), true};                                      \
    return start;                                                                                    \
  }
#define SEND const void *sendbuf, int sendcount, MPI_Datatype sendtype
#define SENDV const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype
#define RECV void *recvbuf, int recvcount, MPI_Datatype recvtype
#define RECVV void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype

#endif
