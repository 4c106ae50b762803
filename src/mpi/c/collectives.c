/* Collectives.
 *
 * A rank enters with a *description* of what all have to agree on (the function, the operator, the signature; the root goes
 * beside it) and with what it gives: one block of data, or one for each rank. It leaves with the blocks of those whose entry
 * it needs, and takes what is its own. So reductions are computed by each rank that gets their result, with the program's
 * own operators. The blocks carry signatures, since the ranks need not agree on all of them beforehand. */
#include "rank.h"

/* As in `CollectiveKind` of the verifier. */
enum { NO_ROOT = INT32_MIN };
enum shape { BARRIER, BCAST, SCATTER, GATHER, REDUCE, ALLREDUCE, ALLGATHER, ALLTOALL, SCAN, EXSCAN, REDUCE_SCATTER };

/* Some elements of a buffer for each rank: `counts` and `displs` for each, or `count` for each, one behind the other. */
struct parts {
  void *base;
  int count;
  const int *counts, *displs;
  struct type *type;
  const MPI_Datatype *types; /* of MPI_Alltoallw, where displacements are in bytes */
};

struct collective {
  enum shape shape;
  struct comm *comm;
  int root; /* NO_ROOT if it has none */
  MPI_Op op;
  MPI_Datatype handle; /* of a reduction */
  struct parts send, recv;
  bool is_in_place;
};

/* One rank's part. */
struct part {
  void *at;
  size_t count;
  struct type *type;
};

static struct part part_of(const struct parts *parts, int rank) {
  struct type *type = parts->types ? type_for(parts->types[rank], "datatype") : parts->type;
  size_t count = (size_t)(parts->counts ? parts->counts[rank] : parts->count);
  ptrdiff_t at = parts->displs ? parts->displs[rank] : (ptrdiff_t)rank * parts->count;
  return (struct part){(char *)parts->base + (parts->types ? at : at * type->extent), count, type};
}

static bool has_many_given(const struct collective *of) {
  return of->shape == ALLTOALL || (of->shape == SCATTER && of->comm->rank == of->root);
}

static bool gives(const struct collective *of) {
  bool is_root = of->comm->rank == of->root;
  return of->shape != BARRIER && !((of->shape == BCAST || of->shape == SCATTER) && !is_root);
}

/* Does this rank get a part of each rank? */
static bool gets_many(const struct collective *of) {
  return of->shape == ALLTOALL || of->shape == ALLGATHER || (of->shape == GATHER && of->comm->rank == of->root);
}

static bool is_reduction(const struct collective *of) {
  return of->shape == REDUCE || of->shape == ALLREDUCE || of->shape == SCAN || of->shape == EXSCAN ||
         of->shape == REDUCE_SCATTER;
}

/* All elements of a reduction. */
static size_t total(const struct collective *of) {
  if (of->shape != REDUCE_SCATTER) return (size_t)of->send.count;
  size_t all = 0;
  for (int i = 0; i < of->comm->group->size; i++) all += part_of(&of->recv, i).count;
  return all;
}

static void check_parts(const struct collective *of, const struct parts *parts, bool are_many, const char *name) {
  int ranks = are_many ? of->comm->group->size : 1;
  for (int i = 0; i < ranks && parts->base != MPI_IN_PLACE; i++) {
    if (parts->counts) require((void *)parts->counts, "the array of counts");
    check_count(parts->counts ? parts->counts[i] : parts->count);
    struct part part = part_of(parts, i);
    check_buffer(parts->base, part.count, part.type, name);
    /* Of a reduction that is scattered, a rank gets one part. */
    if (of->shape != REDUCE_SCATTER) check_memory(parts->base, part.at, part.count, part.type, name);
  }
}

static void check(const struct collective *of) {
  int size = of->comm->group->size;
  bool has_root = of->shape == BCAST || of->shape == SCATTER || of->shape == GATHER || of->shape == REDUCE;
  if (has_root && (of->root < 0 || of->root >= size))
    fail("invalid root", "the root is %d, but %s has %d ranks", of->root, of->comm->title, size);
  bool is_root = of->comm->rank == of->root;
  if (of->send.type || of->send.types)
    if (gives(of) && !of->is_in_place) check_parts(of, &of->send, has_many_given(of), "the send buffer");
  if (is_reduction(of)) {
    if (of->op == MPI_REPLACE || of->op == MPI_NO_OP) fail("invalid operator", "it is for one-sided communication only");
    op_for(of->op, of->send.type);
    if (of->op == MPI_REPLACE || of->op == MPI_NO_OP) fail("invalid operator", "%s is for windows only", op_get(of->op)->name);
    if (of->shape == REDUCE_SCATTER) check_parts(of, &of->recv, true, "the receive buffer");
    else if (of->shape != REDUCE || is_root) check_parts(of, &of->recv, false, "the receive buffer");
  } else if (gets_many(of) || of->shape == SCATTER || (of->shape == BCAST && !is_root)) {
    check_parts(of, &of->recv, gets_many(of), "the receive buffer");
  }
}

/* What all ranks have to agree on. The blocks of the others are compared when they come. */
static char *describe(const struct collective *of) {
  struct signature signature = {0};
  bool is_root = of->comm->rank == of->root;
  const struct parts *of_one = NULL;
  if (is_reduction(of) || of->shape == BCAST) of_one = &of->send;
  else if (of->shape == GATHER) of_one = is_root ? &of->recv : &of->send;
  else if (of->shape == SCATTER) of_one = is_root ? &of->send : &of->recv;
  else if (of->shape == ALLGATHER || of->shape == ALLTOALL) of_one = &of->recv;
  if (of_one && of_one->base == MPI_IN_PLACE && !is_reduction(of)) of_one = NULL;
  bool may_vary = call.name[strlen(call.name) - 1] == 'v'; /* MPI_Gatherv: each rank has a count of its own */
  bool is_same = of_one && !of_one->counts && !of_one->types && !may_vary;
  if (is_same) signature_add(&signature, is_reduction(of) ? total(of) : (size_t)of_one->count, of_one->type);
  char *text = text_of("%s\t%s\t%s", call.name, is_reduction(of) ? op_get(of->op)->name : "",
                       is_same ? signature_text(&signature) : "");
  signature_free(&signature);
  return text;
}

static void give(struct bytes *to, const struct collective *of) {
  int blocks = !gives(of) ? 0 : has_many_given(of) ? of->comm->group->size : 1;
  put_u64(to, call.site);
  put_u32(to, (uint32_t)blocks);
  for (int i = 0; i < blocks; i++) {
    struct part part;
    if (is_reduction(of))
      part = (struct part){of->is_in_place ? of->recv.base : of->send.base, total(of), of->send.type};
    else if (!has_many_given(of))
      part = of->is_in_place ? part_of(&of->recv, of->comm->rank)
                             : (struct part){of->send.base, (size_t)of->send.count, of->send.type};
    else
      part = part_of(of->is_in_place ? &of->recv : &of->send, i);
    put_data(to, part.at, part.count, part.type);
  }
}

/* Asks to enter: returns the number of the request. */
static uint32_t enter(struct comm *comm, enum shape shape, int root, const char *description, const struct bytes *given) {
  windows_publish();
  struct bytes *to = question('E');
  put_text(to, comm->name);
  put_u32(to, (uint32_t)comm->group->size);
  put_u32(to, (uint32_t)comm->rank);
  put_u8(to, (uint8_t)shape);
  put_i32(to, root);
  put_text(to, description);
  struct bytes whole = {0};
  clock_put(&whole);
  put(&whole, given->at, given->length);
  put_block(to, whole.at, whole.length);
  release(whole.at);
  return ask_posted();
}

struct contributions take_contributions(struct reader *value) {
  struct contributions read = {0};
  if (take_u8(value) != 'g') return read;
  read.count = (int)take_u32(value);
  read.of = allocate((size_t)read.count * sizeof *read.of);
  for (int i = 0; i < read.count; i++) {
    take_u8(value);
    read.of[i] = take_block(value);
    clock_join(&read.of[i]);
  }
  return read;
}

/* What the rank gave; if only one gave something, that was the root. */
const struct reader *contribution(const struct contributions *from, int rank) {
  return from->count == 1 ? &from->of[0] : &from->of[rank];
}

struct contributions exchange(struct comm *comm, const char *description, const struct bytes *given) {
  uint32_t posted = enter(comm, ALLGATHER, NO_ROOT, description, given);
  struct bytes *to = question('W');
  put_u32(to, 1);
  put_u32(to, posted);
  struct reader told = ask();
  take_u8(&told);
  take_u32(&told);
  return take_contributions(&told);
}

/* Block number `block` of what a rank gave goes into this part. */
static void take_part(const struct contributions *all, int rank, int block, struct part part) {
  struct reader given = *contribution(all, rank);
  uintptr_t site = take_u64(&given);
  int blocks = (int)take_u32(&given);
  for (int i = 0; i < block && i < blocks; i++) {
    struct signature passed = signature_take(&given);
    signature_free(&passed);
    take_block(&given);
  }
  char who[32];
  snprintf(who, sizeof who, "rank %d", rank);
  if (block < blocks) take_data(&given, part.at, part.count, part.type, who, site, call.site);
}

/* The reduction of what ranks `first` to `last` gave, into a buffer. */
static void reduce(const struct collective *of, const struct contributions *all, int first, int last, void *into) {
  size_t count = total(of);
  const struct type *type = of->send.type;
  size_t span = count * (size_t)(type->extent > 0 ? type->extent : 1) + 64;
  char *other = allocate(span);
  struct part whole = {into, count, of->send.type};
  take_part(all, last, 0, whole);
  for (int rank = last - 1; rank >= first; rank--) {
    whole.at = other - type->lb;
    take_part(all, rank, 0, whole);
    op_apply(of->op, whole.at, into, count, of->handle);
  }
  release(other);
}

static void finish_reduction(const struct collective *of, const struct contributions *all) {
  int size = of->comm->group->size, rank = of->comm->rank;
  if (of->shape == REDUCE && rank != of->root) return;
  if (of->shape == EXSCAN && rank == 0) return;
  if (of->shape != REDUCE_SCATTER) {
    int last = of->shape == SCAN ? rank : of->shape == EXSCAN ? rank - 1 : size - 1;
    reduce(of, all, 0, last, of->recv.base);
    return;
  }
  const struct type *type = of->send.type;
  char *whole = allocate(total(of) * (size_t)type->extent + 64);
  reduce(of, all, 0, size - 1, whole);
  size_t before = 0;
  for (int i = 0; i < rank; i++) before += part_of(&of->recv, i).count;
  memcpy(of->recv.base, whole + before * (size_t)type->extent, part_of(&of->recv, rank).count * (size_t)type->extent);
  release(whole);
}

void collective_end(struct request *request, struct reader *value) {
  const struct collective *of = request->collective;
  struct contributions all = take_contributions(value);
  int size = of->comm->group->size, rank = of->comm->rank;
  struct part mine = {of->recv.base, (size_t)of->recv.count, of->recv.type};
  if (is_reduction(of)) {
    finish_reduction(of, &all);
  } else if (of->shape == BCAST) {
    if (rank != of->root) take_part(&all, of->root, 0, mine);
  } else if (of->shape == SCATTER) {
    if (of->recv.base != MPI_IN_PLACE) take_part(&all, of->root, rank, mine);
  } else if (gets_many(of)) {
    for (int i = 0; i < size; i++) take_part(&all, i, of->shape == ALLTOALL ? rank : 0, part_of(&of->recv, i));
  }
  release(all.of);
  windows_pull();
}

static const int *copied(const int *from, int count) {
  if (!from) return NULL;
  int *made = allocate((size_t)count * sizeof *made);
  memcpy(made, from, (size_t)count * sizeof *made);
  return made;
}

static void own(struct request *request, const struct collective *of) {
  int size = of->comm->group->size;
  bool is_root = of->comm->rank == of->root;
  if (gives(of) && !of->is_in_place && !is_reduction(of))
    for (int i = 0; i < (has_many_given(of) ? size : 1); i++) {
      struct part part = has_many_given(of) ? part_of(&of->send, i)
                                            : (struct part){of->send.base, (size_t)of->send.count, of->send.type};
      memory_own_more(&request->owned, part.at, part.count, part.type, READS);
    }
  if (is_reduction(of) && !of->is_in_place)
    memory_own_more(&request->owned, of->send.base, total(of), of->send.type, READS);
  bool gets = gets_many(of) || (is_reduction(of) && (of->shape != REDUCE || is_root)) ||
              (of->shape == SCATTER && of->recv.base != MPI_IN_PLACE) || (of->shape == BCAST && !is_root);
  if (gets)
    for (int i = 0; i < (gets_many(of) ? size : 1); i++) {
      struct part part = gets_many(of)                  ? part_of(&of->recv, i)
                         : of->shape == REDUCE_SCATTER ? part_of(&of->recv, of->comm->rank)
                                                       : (struct part){of->recv.base, (size_t)of->recv.count, of->recv.type};
      if (of->shape == REDUCE_SCATTER) part.at = of->recv.base;
      memory_own_more(&request->owned, part.at, part.count, part.type, READS | WRITES);
    }
}

/* Enters; waits, too, unless there is a request for the program. */
static int run(struct collective given, MPI_Request *request) {
  given.is_in_place = given.send.base == MPI_IN_PLACE;
  check(&given);
  int size = given.comm->group->size;
  struct collective *of = allocate(sizeof *of);
  *of = given;
  of->recv.counts = copied(given.recv.counts, size);
  of->recv.displs = copied(given.recv.displs, size);
  struct bytes bytes = {0};
  give(&bytes, of);
  char *description = describe(of);
  MPI_Request handle = request_new('c');
  struct request *made = request_get(handle);
  made->posted = enter(of->comm, of->shape, of->root, description, &bytes);
  made->is_posted = true;
  made->collective = of;
  if (request) own(made, of);
  release(bytes.at);
  release(description);
  if (request)
    *request = handle;
  else
    request_wait(&handle, NULL);
  return MPI_SUCCESS;
}

/* Arguments that mean something to the root only. */
static struct type *type_if(bool matters, MPI_Datatype type, const char *name) {
  return matters ? type_for(type, name) : NULL;
}

static bool is_at(const struct comm *comm, int root) { return comm->rank == root; }

static int barrier(MPI_Comm comm, MPI_Request *request) {
  return run((struct collective){.shape = BARRIER, .comm = comm_get(comm), .root = NO_ROOT}, request);
}

static int bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request) {
  struct comm *in = comm_get(comm);
  check_count(count);
  struct parts all = {.base = buf, .count = count, .type = type_for(type, "datatype")};
  return run((struct collective){.shape = BCAST, .comm = in, .root = root, .send = all, .recv = all}, request);
}

static int gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  const int *recvcounts, const int *displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request *request) {
  struct comm *in = comm_get(comm);
  bool is_root = is_at(in, root), sends = sendbuf != MPI_IN_PLACE;
  struct parts send = {(void *)sendbuf, sends ? sendcount : 0, NULL, NULL, type_if(sends, sendtype, "send type"), NULL};
  struct parts recv = {recvbuf, is_root ? recvcount : 0, is_root ? recvcounts : NULL, is_root ? displs : NULL,
                       type_if(is_root, recvtype, "receive type"), NULL};
  return run((struct collective){.shape = GATHER, .comm = in, .root = root, .send = send, .recv = recv}, request);
}

static int scatter(const void *sendbuf, int sendcount, const int *sendcounts, const int *displs, MPI_Datatype sendtype,
                   void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
  struct comm *in = comm_get(comm);
  bool is_root = is_at(in, root), receives = recvbuf != MPI_IN_PLACE;
  struct parts send = {(void *)sendbuf, is_root ? sendcount : 0, is_root ? sendcounts : NULL, is_root ? displs : NULL,
                       type_if(is_root, sendtype, "send type"), NULL};
  struct parts recv = {recvbuf, receives ? recvcount : 0, NULL, NULL, type_if(receives, recvtype, "receive type"), NULL};
  return run((struct collective){.shape = SCATTER, .comm = in, .root = root, .send = send, .recv = recv}, request);
}

static int allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                     const int *recvcounts, const int *displs, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request) {
  struct comm *in = comm_get(comm);
  bool sends = sendbuf != MPI_IN_PLACE;
  struct parts send = {(void *)sendbuf, sends ? sendcount : 0, NULL, NULL, type_if(sends, sendtype, "send type"), NULL};
  struct parts recv = {recvbuf, recvcount, recvcounts, displs, type_for(recvtype, "receive type"), NULL};
  return run((struct collective){.shape = ALLGATHER, .comm = in, .root = NO_ROOT, .send = send, .recv = recv}, request);
}

static int alltoall(struct parts send, struct parts recv, MPI_Comm comm, MPI_Request *request) {
  return run((struct collective){.shape = ALLTOALL, .comm = comm_get(comm), .root = NO_ROOT, .send = send, .recv = recv}, request);
}

static int reduction(enum shape shape, const void *sendbuf, void *recvbuf, int count, const int *recvcounts,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request) {
  struct comm *in = comm_get(comm);
  check_count(count);
  struct type *of = type_for(type, "datatype");
  struct parts send = {.base = (void *)sendbuf, .count = count, .type = of};
  struct parts recv = {.base = recvbuf, .count = count, .counts = recvcounts, .type = of};
  return run((struct collective){.shape = shape, .comm = in, .root = root, .op = op, .handle = type, .send = send, .recv = recv},
             request);
}

/* MPI_F and MPI_If: the same but for the request. */
#define ARGUMENTS(...) __VA_ARGS__
#define BOTH(name, iname, parameters, start)                                          \
  FUNCTION(name, (ARGUMENTS parameters, MPI_Comm comm)) {                             \
    CALL("MPI_" #name);                                                               \
    MPI_Request *request = NULL;                                                      \
    return start;                                                                     \
  }                                                                                   \
  FUNCTION(iname, (ARGUMENTS parameters, MPI_Comm comm, MPI_Request *request)) {      \
    CALL("MPI_" #iname);                                                              \
    require(request, "request");                                                      \
    return start;                                                                     \
  }
#define SEND const void *sendbuf, int sendcount, MPI_Datatype sendtype
#define SENDV const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype
#define RECV void *recvbuf, int recvcount, MPI_Datatype recvtype
#define RECVV void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype
#define REDUCED const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op

FUNCTION(Barrier, (MPI_Comm comm)) {
  CALL("MPI_Barrier");
  return barrier(comm, NULL);
}
FUNCTION(Ibarrier, (MPI_Comm comm, MPI_Request *request)) {
  CALL("MPI_Ibarrier");
  return barrier(comm, require(request, "request"));
}
BOTH(Bcast, Ibcast, (void *buf, int count, MPI_Datatype type, int root), bcast(buf, count, type, root, comm, request))
BOTH(Gather, Igather, (SEND, RECV, int root),
     gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, NULL, NULL, recvtype, root, comm, request))
BOTH(Gatherv, Igatherv, (SEND, RECVV, int root),
     gather(sendbuf, sendcount, sendtype, recvbuf, 0, recvcounts, rdispls, recvtype, root, comm, request))
BOTH(Scatter, Iscatter, (SEND, RECV, int root),
     scatter(sendbuf, sendcount, NULL, NULL, sendtype, recvbuf, recvcount, recvtype, root, comm, request))
BOTH(Scatterv, Iscatterv, (SENDV, RECV, int root),
     scatter(sendbuf, 0, sendcounts, sdispls, sendtype, recvbuf, recvcount, recvtype, root, comm, request))
BOTH(Allgather, Iallgather, (SEND, RECV),
     allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, NULL, NULL, recvtype, comm, request))
BOTH(Allgatherv, Iallgatherv, (SEND, RECVV),
     allgather(sendbuf, sendcount, sendtype, recvbuf, 0, recvcounts, rdispls, recvtype, comm, request))
BOTH(Alltoall, Ialltoall, (SEND, RECV),
     alltoall((struct parts){(void *)sendbuf, sendcount, NULL, NULL,
                             type_if(sendbuf != MPI_IN_PLACE, sendtype, "send type"), NULL},
              (struct parts){recvbuf, recvcount, NULL, NULL, type_for(recvtype, "receive type"), NULL}, comm, request))
BOTH(Alltoallv, Ialltoallv, (SENDV, RECVV),
     alltoall((struct parts){(void *)sendbuf, 0, sendcounts, sdispls,
                             type_if(sendbuf != MPI_IN_PLACE, sendtype, "send type"), NULL},
              (struct parts){recvbuf, 0, recvcounts, rdispls, type_for(recvtype, "receive type"), NULL}, comm, request))
BOTH(Alltoallw, Ialltoallw,
     (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
      const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[]),
     alltoall((struct parts){(void *)sendbuf, 0, sendcounts, sdispls, NULL, sendtypes},
              (struct parts){recvbuf, 0, recvcounts, rdispls, NULL, recvtypes}, comm, request))
BOTH(Reduce, Ireduce, (REDUCED, int root),
     reduction(REDUCE, sendbuf, recvbuf, count, NULL, type, op, root, comm, request))
BOTH(Allreduce, Iallreduce, (REDUCED), reduction(ALLREDUCE, sendbuf, recvbuf, count, NULL, type, op, NO_ROOT, comm, request))
BOTH(Scan, Iscan, (REDUCED), reduction(SCAN, sendbuf, recvbuf, count, NULL, type, op, NO_ROOT, comm, request))
BOTH(Exscan, Iexscan, (REDUCED), reduction(EXSCAN, sendbuf, recvbuf, count, NULL, type, op, NO_ROOT, comm, request))
BOTH(Reduce_scatter, Ireduce_scatter,
     (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype type, MPI_Op op),
     reduction(REDUCE_SCATTER, sendbuf, recvbuf, 0, recvcounts, type, op, NO_ROOT, comm, request))
BOTH(Reduce_scatter_block, Ireduce_scatter_block,
     (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op),
     reduction(REDUCE_SCATTER, sendbuf, recvbuf, recvcount, NULL, type, op, NO_ROOT, comm, request))
