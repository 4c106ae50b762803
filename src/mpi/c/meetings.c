/* The functions of MPI in which all ranks of a communicator meet. Each of them exists in three
 * forms: blocking, with a request, and with a persistent request. */
#include "collectives.h"

/* Arguments that are significant only at the root. */
static struct type *type_if(bool matters, MPI_Datatype type, const char *name) {
  return matters ? type_for(type, name) : NULL;
}

/* The types of all parts, unless they are given for the other buffer. */
static struct type *const *types_if(const void *buffer, MPI_Comm comm, const MPI_Datatype *types) {
  if (buffer == MPI_IN_PLACE) return NULL;
  int size = comm_peers(comm_get(comm))->size;
  INS(types, size);
  struct type **made = allocate((size_t)size * sizeof *made);
  for (int i = 0; i < size; i++) made[i] = type_for(types[i], "datatype");
  return made;
}

static bool is_at(const struct comm *comm, int root) {
  return comm->remote ? root == MPI_ROOT : comm->rank == root;
}

/* On an intercommunicator: whether this rank is in the group of the root; whether it is beside it,
 * where only the root and the communicator matter. */
static bool is_with(const struct comm *comm, int root) { return comm->remote && root < 0; }
static bool is_beside(const struct comm *comm, int root) { return comm->remote && root == MPI_PROC_NULL; }

static int barrier(MPI_Comm comm, struct ending ending) {
  return collective_run((struct collective){.shape = BARRIER, .comm = comm_get(comm), .root = NO_ROOT}, ending);
}

static int bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm, struct ending ending) {
  struct comm *in = comm_get(comm);
  struct parts all = {0};
  if (!is_beside(in, root)) {
    check_count(count);
    all = (struct parts){.base = buf, .count = count, .type = type_for(type, "datatype")};
  }
  return collective_run((struct collective){.shape = BCAST, .comm = in, .root = root, .send = all, .recv = all}, ending);
}

/* Parts with equal counts, and parts with a count and a displacement each. */
static struct parts equal(const void *base, int count, struct type *type) {
  return (struct parts){.base = (void *)base, .count = count, .type = type};
}
static struct parts with_types(struct parts parts, struct type *const *types) { return parts.types = types, parts; }
static struct parts counted(const void *base, const int *counts, const int *displs, struct type *type) {
  return (struct parts){.base = (void *)base, .is_counted = true, .counts = counts, .displs = displs, .type = type};
}

/* The contribution or result of one rank. The type is not significant if the data is in the other
 * buffer. */
static struct parts alone(const void *base, int count, MPI_Datatype type, const char *name) {
  bool is_here = base != MPI_IN_PLACE;
  return equal(base, is_here ? count : 0, type_if(is_here, type, name));
}

static int gather(struct parts send, struct parts recv, int root, MPI_Comm comm, struct ending ending) {
  return collective_run((struct collective){.shape = GATHER, .comm = comm_get(comm), .root = root, .send = send, .recv = recv}, ending);
}

static int scatter(struct parts send, struct parts recv, int root, MPI_Comm comm, struct ending ending) {
  return collective_run((struct collective){.shape = SCATTER, .comm = comm_get(comm), .root = root, .send = send, .recv = recv}, ending);
}

static int to_all(enum shape shape, struct parts send, struct parts recv, MPI_Comm comm, struct ending ending) {
  return collective_run((struct collective){.shape = shape, .comm = comm_get(comm), .root = NO_ROOT, .send = send, .recv = recv}, ending);
}

static int reduction(enum shape shape, const void *sendbuf, void *recvbuf, int count, bool is_counted, const int *recvcounts,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, struct ending ending) {
  struct comm *in = comm_get(comm);
  bool matters = shape != REDUCE || !is_beside(in, root);
  if (matters) check_count(count);
  struct type *of = type_if(matters, type, "datatype");
  struct parts send = {.base = (void *)sendbuf, .count = count, .type = of};
  struct parts recv = {.base = recvbuf, .is_counted = is_counted, .count = count, .counts = recvcounts, .type = of};
  return collective_run((struct collective){.shape = shape, .comm = in, .root = root, .op = op, .handle = type, .send = send, .recv = recv},
             ending);
}

#define REDUCED const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op

FUNCTION(Barrier, (MPI_Comm comm)) {
  CALL("MPI_Barrier");
  return barrier(comm, (struct ending){NULL, false});
}
FUNCTION(Ibarrier, (MPI_Comm comm, MPI_Request *request)) {
  CALL("MPI_Ibarrier");
  return barrier(comm, (struct ending){OUT(request), false});
}
FUNCTION(Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request *request)) {
  CALL("MPI_Barrier_init");
  (void)info;
  return barrier(comm, (struct ending){OUT(request), true});
}
MEETING(Bcast, Ibcast, (void *buf, int count, MPI_Datatype type, int root), bcast(buf, count, type, root, comm, ending))
/* The value at the root, an empty one elsewhere; the value at all ranks, but of two groups only in
 * the one without the root. */
#define AT_ROOT(all) (is_at(comm_get(comm), root) ? (all) : (struct parts){0})
#define AWAY_FROM_ROOT(all) (is_with(comm_get(comm), root) ? (struct parts){0} : (all))
MEETING(Gather, Igather, (SEND, RECV, int root),
        gather(AWAY_FROM_ROOT(alone(sendbuf, sendcount, sendtype, "send type")),
               AT_ROOT(equal(recvbuf, recvcount, type_for(recvtype, "receive type"))), root, comm, ending))
MEETING(Gatherv, Igatherv, (SEND, RECVV, int root),
        gather(AWAY_FROM_ROOT(alone(sendbuf, sendcount, sendtype, "send type")),
               AT_ROOT(counted(recvbuf, recvcounts, rdispls, type_for(recvtype, "receive type"))), root, comm, ending))
MEETING(Scatter, Iscatter, (SEND, RECV, int root),
        scatter(AT_ROOT(equal(sendbuf, sendcount, type_for(sendtype, "send type"))),
                AWAY_FROM_ROOT(alone(recvbuf, recvcount, recvtype, "receive type")), root, comm, ending))
MEETING(Scatterv, Iscatterv, (SENDV, RECV, int root),
        scatter(AT_ROOT(counted(sendbuf, sendcounts, sdispls, type_for(sendtype, "send type"))),
                AWAY_FROM_ROOT(alone(recvbuf, recvcount, recvtype, "receive type")), root, comm, ending))
MEETING(Allgather, Iallgather, (SEND, RECV),
        to_all(ALLGATHER, alone(sendbuf, sendcount, sendtype, "send type"),
               equal(recvbuf, recvcount, type_for(recvtype, "receive type")), comm, ending))
MEETING(Allgatherv, Iallgatherv, (SEND, RECVV),
        to_all(ALLGATHER, alone(sendbuf, sendcount, sendtype, "send type"),
               counted(recvbuf, recvcounts, rdispls, type_for(recvtype, "receive type")), comm, ending))
MEETING(Alltoall, Ialltoall, (SEND, RECV),
        to_all(ALLTOALL, equal(sendbuf, sendcount, type_if(sendbuf != MPI_IN_PLACE, sendtype, "send type")),
               equal(recvbuf, recvcount, type_for(recvtype, "receive type")), comm, ending))
MEETING(Alltoallv, Ialltoallv, (SENDV, RECVV),
        to_all(ALLTOALL, counted(sendbuf, sendcounts, sdispls, type_if(sendbuf != MPI_IN_PLACE, sendtype, "send type")),
               counted(recvbuf, recvcounts, rdispls, type_for(recvtype, "receive type")), comm, ending))
MEETING(Alltoallw, Ialltoallw,
        (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
         const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[]),
        to_all(ALLTOALL, with_types(counted(sendbuf, sendcounts, sdispls, NULL), types_if(sendbuf, comm, sendtypes)),
               with_types(counted(recvbuf, recvcounts, rdispls, NULL), types_if(recvbuf, comm, recvtypes)), comm, ending))
MEETING(Reduce, Ireduce, (REDUCED, int root),
        reduction(REDUCE, sendbuf, recvbuf, count, false, NULL, type, op, root, comm, ending))
MEETING(Allreduce, Iallreduce, (REDUCED),
        reduction(ALLREDUCE, sendbuf, recvbuf, count, false, NULL, type, op, NO_ROOT, comm, ending))
MEETING(Scan, Iscan, (REDUCED), reduction(SCAN, sendbuf, recvbuf, count, false, NULL, type, op, NO_ROOT, comm, ending))
MEETING(Exscan, Iexscan, (REDUCED), reduction(EXSCAN, sendbuf, recvbuf, count, false, NULL, type, op, NO_ROOT, comm, ending))
MEETING(Reduce_scatter, Ireduce_scatter,
        (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype type, MPI_Op op),
        reduction(REDUCE_SCATTER, sendbuf, recvbuf, 0, true, recvcounts, type, op, NO_ROOT, comm, ending))
MEETING(Reduce_scatter_block, Ireduce_scatter_block,
        (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op),
        reduction(REDUCE_SCATTER, sendbuf, recvbuf, recvcount, false, NULL, type, op, NO_ROOT, comm, ending))
