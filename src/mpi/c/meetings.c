/* The functions of MPI in which all ranks of a communicator meet: each is there to wait, with a request, and as a persistent
 * request. */
#include "collectives.h"

/* Arguments that mean something to the root only. */
static struct type *type_if(bool matters, MPI_Datatype type, const char *name) {
  return matters ? type_for(type, name) : NULL;
}

/* The types of all parts, unless they are in the other buffer. */
static struct type *const *types_if(const void *buffer, MPI_Comm comm, const MPI_Datatype *types) {
  if (buffer == MPI_IN_PLACE) return NULL;
  int size = comm_get(comm)->group->size;
  struct type **made = allocate((size_t)size * sizeof *made);
  for (int i = 0; i < size; i++) made[i] = type_for(types[i], "datatype");
  return made;
}

static bool is_at(const struct comm *comm, int root) { return comm->rank == root; }

static int barrier(MPI_Comm comm, struct ending ending) {
  return collective_run((struct collective){.shape = BARRIER, .comm = comm_get(comm), .root = NO_ROOT}, ending);
}

static int bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm, struct ending ending) {
  struct comm *in = comm_get(comm);
  check_count(count);
  struct parts all = {.base = buf, .count = count, .type = type_for(type, "datatype")};
  return collective_run((struct collective){.shape = BCAST, .comm = in, .root = root, .send = all, .recv = all}, ending);
}

static int gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  const int *recvcounts, const int *displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  struct ending ending) {
  struct comm *in = comm_get(comm);
  bool is_root = is_at(in, root), sends = sendbuf != MPI_IN_PLACE;
  struct parts send = {(void *)sendbuf, sends ? sendcount : 0, NULL, NULL, type_if(sends, sendtype, "send type"), NULL};
  struct parts recv = {recvbuf, is_root ? recvcount : 0, is_root ? recvcounts : NULL, is_root ? displs : NULL,
                       type_if(is_root, recvtype, "receive type"), NULL};
  return collective_run((struct collective){.shape = GATHER, .comm = in, .root = root, .send = send, .recv = recv}, ending);
}

static int scatter(const void *sendbuf, int sendcount, const int *sendcounts, const int *displs, MPI_Datatype sendtype,
                   void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, struct ending ending) {
  struct comm *in = comm_get(comm);
  bool is_root = is_at(in, root), receives = recvbuf != MPI_IN_PLACE;
  struct parts send = {(void *)sendbuf, is_root ? sendcount : 0, is_root ? sendcounts : NULL, is_root ? displs : NULL,
                       type_if(is_root, sendtype, "send type"), NULL};
  struct parts recv = {recvbuf, receives ? recvcount : 0, NULL, NULL, type_if(receives, recvtype, "receive type"), NULL};
  return collective_run((struct collective){.shape = SCATTER, .comm = in, .root = root, .send = send, .recv = recv}, ending);
}

static int allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                     const int *recvcounts, const int *displs, MPI_Datatype recvtype, MPI_Comm comm,
                     struct ending ending) {
  struct comm *in = comm_get(comm);
  bool sends = sendbuf != MPI_IN_PLACE;
  struct parts send = {(void *)sendbuf, sends ? sendcount : 0, NULL, NULL, type_if(sends, sendtype, "send type"), NULL};
  struct parts recv = {recvbuf, recvcount, recvcounts, displs, type_for(recvtype, "receive type"), NULL};
  return collective_run((struct collective){.shape = ALLGATHER, .comm = in, .root = NO_ROOT, .send = send, .recv = recv}, ending);
}

static int alltoall(struct parts send, struct parts recv, MPI_Comm comm, struct ending ending) {
  return collective_run((struct collective){.shape = ALLTOALL, .comm = comm_get(comm), .root = NO_ROOT, .send = send, .recv = recv}, ending);
}

static int reduction(enum shape shape, const void *sendbuf, void *recvbuf, int count, const int *recvcounts,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, struct ending ending) {
  struct comm *in = comm_get(comm);
  check_count(count);
  struct type *of = type_for(type, "datatype");
  struct parts send = {.base = (void *)sendbuf, .count = count, .type = of};
  struct parts recv = {.base = recvbuf, .count = count, .counts = recvcounts, .type = of};
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
MEETING(Gather, Igather, (SEND, RECV, int root),
     gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, NULL, NULL, recvtype, root, comm, ending))
MEETING(Gatherv, Igatherv, (SEND, RECVV, int root),
     gather(sendbuf, sendcount, sendtype, recvbuf, 0, recvcounts, rdispls, recvtype, root, comm, ending))
MEETING(Scatter, Iscatter, (SEND, RECV, int root),
     scatter(sendbuf, sendcount, NULL, NULL, sendtype, recvbuf, recvcount, recvtype, root, comm, ending))
MEETING(Scatterv, Iscatterv, (SENDV, RECV, int root),
     scatter(sendbuf, 0, sendcounts, sdispls, sendtype, recvbuf, recvcount, recvtype, root, comm, ending))
MEETING(Allgather, Iallgather, (SEND, RECV),
     allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, NULL, NULL, recvtype, comm, ending))
MEETING(Allgatherv, Iallgatherv, (SEND, RECVV),
     allgather(sendbuf, sendcount, sendtype, recvbuf, 0, recvcounts, rdispls, recvtype, comm, ending))
MEETING(Alltoall, Ialltoall, (SEND, RECV),
     alltoall((struct parts){(void *)sendbuf, sendcount, NULL, NULL,
                             type_if(sendbuf != MPI_IN_PLACE, sendtype, "send type"), NULL},
              (struct parts){recvbuf, recvcount, NULL, NULL, type_for(recvtype, "receive type"), NULL}, comm, ending))
MEETING(Alltoallv, Ialltoallv, (SENDV, RECVV),
     alltoall((struct parts){(void *)sendbuf, 0, sendcounts, sdispls,
                             type_if(sendbuf != MPI_IN_PLACE, sendtype, "send type"), NULL},
              (struct parts){recvbuf, 0, recvcounts, rdispls, type_for(recvtype, "receive type"), NULL}, comm, ending))
MEETING(Alltoallw, Ialltoallw,
     (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
      const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[]),
     alltoall((struct parts){(void *)sendbuf, 0, sendcounts, sdispls, NULL, types_if(sendbuf, comm, sendtypes), NULL},
              (struct parts){recvbuf, 0, recvcounts, rdispls, NULL, types_if(recvbuf, comm, recvtypes), NULL}, comm, ending))
MEETING(Reduce, Ireduce, (REDUCED, int root),
     reduction(REDUCE, sendbuf, recvbuf, count, NULL, type, op, root, comm, ending))
MEETING(Allreduce, Iallreduce, (REDUCED), reduction(ALLREDUCE, sendbuf, recvbuf, count, NULL, type, op, NO_ROOT, comm, ending))
MEETING(Scan, Iscan, (REDUCED), reduction(SCAN, sendbuf, recvbuf, count, NULL, type, op, NO_ROOT, comm, ending))
MEETING(Exscan, Iexscan, (REDUCED), reduction(EXSCAN, sendbuf, recvbuf, count, NULL, type, op, NO_ROOT, comm, ending))
MEETING(Reduce_scatter, Ireduce_scatter,
     (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype type, MPI_Op op),
     reduction(REDUCE_SCATTER, sendbuf, recvbuf, 0, recvcounts, type, op, NO_ROOT, comm, ending))
MEETING(Reduce_scatter_block, Ireduce_scatter_block,
     (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op),
     reduction(REDUCE_SCATTER, sendbuf, recvbuf, recvcount, NULL, type, op, NO_ROOT, comm, ending))
