/* The functions of MPI in which all ranks of a communicator meet. Each of them exists in three
 * forms: blocking, with a request, and with a persistent request. (That of MPI_Barrier, which takes
 * no data, is in collectives.c.) */
#include "collectives.h"
#include "twins.h"

/* MPI_F waits, MPI_If returns a request, and MPI_F_init returns a persistent one that is not
 * started. */
#define ARGUMENTS(...) __VA_ARGS__
#define MEETING(name, iname, parameters, start)                                                      \
  FUNCTION(TWIN(name), (ARGUMENTS parameters, MPI_Comm comm)) {                                      \
    CALL_IN_STEPS(NAMED(name));                                                                               \
    struct ending ending = {NULL, false};                                                            \
    return start;                                                                                    \
  }                                                                                                  \
  FUNCTION(TWIN(iname), (ARGUMENTS parameters, MPI_Comm comm, MPI_Request *request)) {               \
    CALL_IN_STEPS(NAMED(iname));                                                                              \
    struct ending ending = {OUT(request), false};                                     \
    return start;                                                                                    \
  }                                                                                                  \
  FUNCTION(TWIN(name##_init), (ARGUMENTS parameters, MPI_Comm comm, MPI_Info info, MPI_Request *request)) { \
    CALL_IN_STEPS(NAMED(name##_init));                                                                        \
    (void)info;                                                                                      \
    struct ending ending = {OUT(request), true};                                      \
    return start;                                                                                    \
  }
#define SEND const void *sendbuf, Count sendcount, MPI_Datatype sendtype
#define SENDV const void *sendbuf, const Count sendcounts[], const Place sdispls[], MPI_Datatype sendtype
#define RECV void *recvbuf, Count recvcount, MPI_Datatype recvtype
#define RECVV void *recvbuf, const Count recvcounts[], const Place rdispls[], MPI_Datatype recvtype

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

static int bcast(void *buf, Count count, MPI_Datatype type, int root, MPI_Comm comm, struct ending ending) {
  struct comm *in = comm_get(comm);
  struct parts all = {0};
  if (!is_beside(in, root)) {
    check_count(count);
    all = (struct parts){.base = buf, .count = count, .type = type_for(type, "datatype")};
  }
  return collective_run((struct collective){.shape = BCAST, .comm = in, .root = root, .send = all, .recv = all}, ending);
}

/* Parts with equal counts, and parts with a count and a displacement each. */
static struct parts equal(const void *base, Count count, struct type *type) {
  return (struct parts){.base = (void *)base, .count = count, .type = type};
}
static struct parts with_types(struct parts parts, struct type *const *types) { return parts.types = types, parts; }
static struct parts counted(const void *base, const Count *counts, const Place *displs, struct type *type) {
  return (struct parts){.base = (void *)base, .is_counted = true, .are_large = ARE_LARGE, .counts = counts, .displs = displs, .type = type};
}

/* The contribution or result of one rank. The type is not significant if the data is in the other
 * buffer. */
static struct parts alone(const void *base, Count count, MPI_Datatype type, const char *name) {
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

static int reduction(enum shape shape, const void *sendbuf, void *recvbuf, Count count, bool is_counted, const Count *recvcounts,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, struct ending ending) {
  struct comm *in = comm_get(comm);
  bool matters = shape != REDUCE || !is_beside(in, root);
  if (matters) check_count(count);
  struct type *of = type_if(matters, type, "datatype");
  struct parts send = {.base = (void *)sendbuf, .count = count, .type = of};
  struct parts recv = {.base = recvbuf, .is_counted = is_counted, .are_large = ARE_LARGE, .count = count, .counts = recvcounts, .type = of};
  return collective_run((struct collective){.shape = shape, .comm = in, .root = root, .op = op, .handle = type, .send = send, .recv = recv},
             ending);
}

#define REDUCED const void *sendbuf, void *recvbuf, Count count, MPI_Datatype type, MPI_Op op

MEETING(Bcast, Ibcast, (void *buf, Count count, MPI_Datatype type, int root), bcast(buf, count, type, root, comm, ending))
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
        (const void *sendbuf, const Count sendcounts[], const Place sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
         const Count recvcounts[], const Place rdispls[], const MPI_Datatype recvtypes[]),
        to_all(ALLTOALL, with_types(counted(sendbuf, sendcounts, sdispls, NULL), types_if(sendbuf, comm, sendtypes)),
               with_types(counted(recvbuf, recvcounts, rdispls, NULL), types_if(recvbuf, comm, recvtypes)), comm, ending))
MEETING(Reduce, Ireduce, (REDUCED, int root),
        reduction(REDUCE, sendbuf, recvbuf, count, false, NULL, type, op, root, comm, ending))
MEETING(Allreduce, Iallreduce, (REDUCED),
        reduction(ALLREDUCE, sendbuf, recvbuf, count, false, NULL, type, op, NO_ROOT, comm, ending))
MEETING(Scan, Iscan, (REDUCED), reduction(SCAN, sendbuf, recvbuf, count, false, NULL, type, op, NO_ROOT, comm, ending))
MEETING(Exscan, Iexscan, (REDUCED), reduction(EXSCAN, sendbuf, recvbuf, count, false, NULL, type, op, NO_ROOT, comm, ending))
MEETING(Reduce_scatter, Ireduce_scatter,
        (const void *sendbuf, void *recvbuf, const Count recvcounts[], MPI_Datatype type, MPI_Op op),
        reduction(REDUCE_SCATTER, sendbuf, recvbuf, 0, true, recvcounts, type, op, NO_ROOT, comm, ending))
MEETING(Reduce_scatter_block, Ireduce_scatter_block,
        (const void *sendbuf, void *recvbuf, Count recvcount, MPI_Datatype type, MPI_Op op),
        reduction(REDUCE_SCATTER, sendbuf, recvbuf, recvcount, false, NULL, type, op, NO_ROOT, comm, ending))

static int meet(enum shape shape, struct parts send, struct parts recv, MPI_Comm comm, struct ending ending) {
  struct comm *in = comm_get_intra(comm);
  return collective_run((struct collective){.shape = shape, .comm = in, .root = NO_ROOT, .send = send, .recv = recv, .around = graph_around(in)}, ending);
}

/* The types of this number of parts. */
static struct type *const *types_of(const MPI_Datatype *types, int count) {
  INS(types, count);
  struct type **made = allocate((size_t)count * sizeof *made);
  for (int i = 0; i < count; i++) made[i] = type_for(types[i], "datatype");
  return made;
}

static struct parts given(const void *buffer, Count count, bool is_counted, const Count *counts, const Place *displs, MPI_Datatype type) {
  return (struct parts){.base = (void *)buffer, .is_counted = is_counted, .are_large = ARE_LARGE, .count = count, .counts = counts, .displs = displs,
                        .type = buffer == MPI_IN_PLACE ? NULL : type_for(type, "datatype")};
}

MEETING(Neighbor_allgather, Ineighbor_allgather, (SEND, RECV),
        meet(ALLGATHER, given(sendbuf, sendcount, false, NULL, NULL, sendtype), given(recvbuf, recvcount, false, NULL, NULL, recvtype), comm, ending))
MEETING(Neighbor_allgatherv, Ineighbor_allgatherv, (SEND, RECVV),
        meet(ALLGATHER, given(sendbuf, sendcount, false, NULL, NULL, sendtype), given(recvbuf, 0, true, recvcounts, rdispls, recvtype), comm, ending))
MEETING(Neighbor_alltoall, Ineighbor_alltoall, (SEND, RECV),
        meet(ALLTOALL, given(sendbuf, sendcount, false, NULL, NULL, sendtype), given(recvbuf, recvcount, false, NULL, NULL, recvtype), comm, ending))
MEETING(Neighbor_alltoallv, Ineighbor_alltoallv, (SENDV, RECVV),
        meet(ALLTOALL, given(sendbuf, 0, true, sendcounts, sdispls, sendtype), given(recvbuf, 0, true, recvcounts, rdispls, recvtype), comm, ending))
MEETING(Neighbor_alltoallw, Ineighbor_alltoallw,
        (const void *sendbuf, const Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
         const Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[]),
        meet(ALLTOALL,
             (struct parts){.base = (void *)sendbuf, .is_counted = true, .are_large = ARE_LARGE, .counts = sendcounts, .places = sdispls,
                            .types = types_of(sendtypes, graph_around(comm_get_intra(comm))->out)},
             (struct parts){.base = recvbuf, .is_counted = true, .are_large = ARE_LARGE, .counts = recvcounts, .places = rdispls,
                            .types = types_of(recvtypes, graph_around(comm_get_intra(comm))->in)},
             comm, ending))

FUNCTION(TWIN(Reduce_local), (const void *in, void *inout, Count count, MPI_Datatype type, MPI_Op op)) {
  CALL_IN_STEPS(NAMED(Reduce_local));
  check_count(count);
  struct type *of = type_for(type, "datatype");
  op_for(op, of);
  memory_use_values(in, (size_t)count, of, READS, "the input buffer");
  memory_use_values(inout, (size_t)count, of, WRITES, "the buffer");
  uint32_t owned = memory_own(in, (size_t)count, of, READS);
  memory_own_more(&owned, inout, (size_t)count, of, READS | WRITES);
  if (memory_overlaps(owned)) fail("invalid buffer", "the result goes where the other operand is");
  memory_release(owned);
  op_apply(op, in, inout, (size_t)count, of, type);
  return MPI_SUCCESS;
}
