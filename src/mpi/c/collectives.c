/* Collectives.
 *
 * A rank enters with a *description* of what all ranks must agree on (the function, the operator,
 * the signature; the root goes beside it) and with its contribution: one block of data, or one for
 * each rank. It leaves with the blocks of the ranks whose entry it needs, and takes its own share.
 * So each rank that gets the result of a reduction computes it, with the program's own operators.
 * The blocks carry signatures, since ranks need not agree on all of them beforehand.
 *
 * Where no data comes from a rank, nobody waits for it (MPI 4.1, 6.1): its count is 0, or it is no
 * neighbour. So each rank says which ranks it gets data from; and which it gives data to, because a
 * rank that expects none does not see what comes.
 *
 * On an intercommunicator, data goes from each group to the other, or between the root and the
 * other group: the root passes MPI_ROOT, and the other ranks of its group, which neither give nor
 * get anything, MPI_PROC_NULL (MPI 4.1, 6.2.3). They enter all the same, so calls that do not fit
 * are found. */
#include "collectives.h"

/* The part of one rank. */
struct part {
  void *at;
  size_t count;
  struct type *type;
};

static MPI_Count count_of(const struct parts *parts, int rank) {
  if (!parts->counts) return parts->count;
  return parts->are_large ? ((const MPI_Count *)parts->counts)[rank] : ((const int *)parts->counts)[rank];
}

static ptrdiff_t displ_of(const struct parts *parts, int rank) {
  return parts->are_large ? ((const MPI_Aint *)parts->displs)[rank] : ((const int *)parts->displs)[rank];
}

/* The sizes of elements of the arrays. */
static size_t width_of_count(const struct parts *parts) { return parts->are_large ? sizeof(MPI_Count) : sizeof(int); }
static size_t width_of_displ(const struct parts *parts) { return parts->are_large ? sizeof(MPI_Aint) : sizeof(int); }

static struct part part_of(const struct parts *parts, int rank) {
  struct type *type = parts->types ? parts->types[rank] : parts->type;
  size_t count = (size_t)count_of(parts, rank);
  ptrdiff_t at = parts->places   ? parts->places[rank]
                 : parts->displs ? displ_of(parts, rank)
                                 : (ptrdiff_t)rank * parts->count;
  return (struct part){(char *)parts->base + (parts->types ? at : at * type->extent), count, type};
}

/* The number of parts that the rank contributes (1 if it is the same for all), and gets. */
static int sends(const struct collective *of) { return of->around ? of->around->out : comm_peers(of->comm)->size; }
static int receives(const struct collective *of) {
  if (of->shape == REDUCE_SCATTER) return of->comm->group->size;
  return of->around ? of->around->in : comm_peers(of->comm)->size;
}

static bool has_root(const struct collective *of) {
  return of->shape == BCAST || of->shape == SCATTER || of->shape == GATHER || of->shape == REDUCE;
}

/* Whether this rank is the root; whether it is beside the root, in a group that communicates with
 * another one. */
static bool is_root(const struct collective *of) {
  return of->comm->remote ? of->root == MPI_ROOT : of->comm->rank == of->root;
}
static bool is_beside(const struct collective *of) {
  return of->comm->remote && has_root(of) && of->root == MPI_PROC_NULL;
}

/* The place of the root among all ranks, as far as this rank knows it. */
static int place_of_root(const struct collective *of) {
  if (!has_root(of) || is_beside(of)) return NO_ROOT;
  return is_root(of) ? comm_place(of->comm) : comm_place_of(of->comm, of->root);
}

/* A grid has no neighbour beyond its edge. */
static bool is_nowhere(const struct collective *of, const struct parts *parts, int part) {
  if (!of->around) return false;
  return (parts == &of->recv ? of->around->sources : of->around->destinations)[part] == MPI_PROC_NULL;
}

static bool has_many_given(const struct collective *of) {
  return of->shape == ALLTOALL || (of->shape == SCATTER && is_root(of));
}

static bool gives(const struct collective *of) {
  if (of->shape == BARRIER || is_beside(of)) return false;
  if (of->shape == BCAST || of->shape == SCATTER) return is_root(of);
  return !(of->comm->remote && is_root(of));
}

/* Whether this rank gets a part from each rank. */
static bool gets_many(const struct collective *of) {
  return of->shape == ALLTOALL || of->shape == ALLGATHER || (of->shape == GATHER && is_root(of));
}

static bool is_reduction(const struct collective *of) {
  return of->shape == REDUCE || of->shape == ALLREDUCE || of->shape == SCAN || of->shape == EXSCAN ||
         of->shape == REDUCE_SCATTER;
}

/* Whether this rank gets anything. In MPI_Exscan the first one does not (MPI 4.1, 6.11.2). */
static bool gets(const struct collective *of) {
  if (is_beside(of)) return false;
  bool gets_result = of->shape == EXSCAN ? of->comm->rank > 0 : of->shape != REDUCE || is_root(of);
  return gets_many(of) || (of->shape == SCATTER && !(of->comm->remote && is_root(of))) ||
         (of->shape == BCAST && !is_root(of)) || (is_reduction(of) && gets_result);
}

/* Whether the receive buffer of a rank matters: also if the rank only gives what is there. */
static bool has_recv(const struct collective *of) {
  return gets(of) || (is_reduction(of) && gives(of) && of->is_in_place);
}

/* The number of all elements of a reduction. */
static size_t total(const struct collective *of) {
  if (of->shape != REDUCE_SCATTER) return (size_t)of->send.count;
  size_t all = 0;
  for (int i = 0; i < receives(of); i++) all += part_of(&of->recv, i).count;
  return all;
}

/* Arrays that are passed must exist, and no operation may use them. */
static void check_arrays(const struct collective *of, const struct parts *parts, int all) {
  size_t length = (size_t)all;
  if (!parts->is_counted || parts->base == MPI_IN_PLACE) return;
  memory_use(parts->counts, length * width_of_count(parts), READS, "the array of counts");
  if (of->shape == REDUCE_SCATTER) return;
  if (of->around && parts->types) memory_use(parts->places, length * sizeof *parts->places, READS, "the array of displacements");
  else memory_use(parts->displs, length * width_of_displ(parts), READS, "the array of displacements");
}

static void check_parts(const struct collective *of, const struct parts *parts, bool are_many, const char *name) {
  int all = !are_many ? 1 : parts == &of->recv ? receives(of) : sends(of);
  check_arrays(of, parts, are_many ? all : 0);
  for (int i = 0; i < all && parts->base != MPI_IN_PLACE; i++) {
    if (are_many && is_nowhere(of, parts, i)) continue;
    check_count(count_of(parts, i));
    struct part part = part_of(parts, i);
    /* With types for each part, displacements may be addresses. */
    bool is_address = parts->types && (uintptr_t)part.at > 4096;
    check_buffer(is_address ? part.at : parts->base, part.count, part.type, name);
    /* In a reduction that is scattered, a rank gets one part. */
    if (of->shape != REDUCE_SCATTER) check_memory(parts->base, part.at, part.count, part.type, name);
  }
}

/* MPI_IN_PLACE replaces the contribution of a rank that also gets the result, and the part that the
 * root of a scatter keeps (MPI 4.1, 6.2.1). */
static void check_in_place(const struct collective *of) {
  bool may_be = !of->around && !of->comm->remote;
  bool may_give = may_be && (gets(of) || of->shape == EXSCAN) && of->shape != BCAST && of->shape != SCATTER;
  bool may_keep = may_be && of->shape == SCATTER && is_root(of);
  if (gives(of) && of->is_in_place && !may_give) fail("invalid buffer", "the send buffer is MPI_IN_PLACE");
  if (has_recv(of) && of->recv.base == MPI_IN_PLACE && !may_keep) fail("invalid buffer", "the receive buffer is MPI_IN_PLACE");
}

static void check_root(const struct collective *of) {
  int size = comm_peers(of->comm)->size;
  bool is_named = of->comm->remote && (of->root == MPI_ROOT || of->root == MPI_PROC_NULL);
  if (!is_named && (of->root < 0 || of->root >= size))
    fail("invalid root", "the root is %d, but %s has %d ranks%s", of->root, of->comm->title, size,
         of->comm->remote ? " in the other group" : "");
}

static void check_reduction(const struct collective *of) {
  if (of->op == MPI_REPLACE || of->op == MPI_NO_OP) fail("invalid operator", "it is for one-sided communication only");
  if (is_beside(of)) return;
  op_for(of->op, of->send.type);
  if (of->shape == REDUCE_SCATTER) {
    check_parts(of, &of->recv, true, "the receive buffer");
    if (!of->is_in_place) check_buffer(of->send.base, total(of), of->send.type, "the send buffer");
    if (!of->is_in_place) check_memory(of->send.base, of->send.base, total(of), of->send.type, "the send buffer");
  } else if (has_recv(of)) check_parts(of, &of->recv, false, "the receive buffer");
}

static void check(const struct collective *of) {
  if (of->comm->remote && (of->shape == SCAN || of->shape == EXSCAN || of->around))
    fail("invalid communicator", "%s is an intercommunicator", of->comm->title);
  if (has_root(of)) check_root(of);
  check_in_place(of);
  if (of->send.type || of->send.types)
    if (gives(of) && !of->is_in_place) check_parts(of, &of->send, has_many_given(of), "the send buffer");
  if (is_reduction(of)) check_reduction(of);
  else if (gets(of)) check_parts(of, &of->recv, gets_many(of), "the receive buffer");
}

/* Ranks may differ in whether they call MPI_F or MPI_F_c. */
static void name_without_twin(char *to, size_t room, const char *name) {
  size_t length = strlen(name);
  if (length > 2 && strcmp(name + length - 2, "_c") == 0) length -= 2;
  snprintf(to, room, "%.*s", (int)length, name);
}

/* The description: what all ranks must agree on. Blocks are compared when they arrive. */
static char *describe(const char *called, const struct collective *of) {
  char name[64];
  name_without_twin(name, sizeof name, called);
  struct signature signature = {0};
  const struct parts *of_one = NULL;
  if (is_reduction(of) || of->shape == BCAST) of_one = &of->send;
  else if (of->shape == GATHER) of_one = is_root(of) ? &of->recv : &of->send;
  else if (of->shape == SCATTER) of_one = is_root(of) ? &of->send : &of->recv;
  else if (of->shape == ALLGATHER || of->shape == ALLTOALL) of_one = &of->recv;
  if (of_one && of_one->base == MPI_IN_PLACE && !is_reduction(of)) of_one = NULL;
  /* In MPI_Gatherv each rank has its own count; among neighbours, only pairs must agree; of two
   * groups, each may give other data, and ranks beside the root give none. */
  bool may_vary = strstr(name, "v_init") || name[strlen(name) - 1] == 'v' || of->around || of->comm->remote;
  bool is_same = of_one && !of_one->counts && !of_one->types && !may_vary;
  if (is_same) signature_add(&signature, is_reduction(of) ? total(of) : (size_t)of_one->count, of_one->type);
  bool all_say_operator = is_reduction(of) && !(of->comm->remote && has_root(of));
  char *text = text_of("%s\t%s\t%s", name, all_say_operator ? op_find(of->op)->name : "",
                       is_same ? signature_text(&signature) : "");
  signature_free(&signature);
  return text;
}

/* The rank that each edge leads to, and which of the edges to that rank it is. */
static void put_edges(struct bytes *to, const struct graph *graph) {
  put_u32(to, (uint32_t)graph->out);
  for (int edge = 0; edge < graph->out; edge++) {
    put_i32(to, graph->destinations[edge]);
    put_i32(to, label_out(graph, edge));
  }
}

/* The edge at the neighbour that corresponds to this rank's edge. */
static int take_edge(struct reader *from, const struct collective *of, int edge) {
  int found = -1, label = label_in(of->around, edge);
  uint32_t edges = take_u32(from);
  for (uint32_t i = 0; i < edges; i++) {
    int destination = take_i32(from), label_there = take_i32(from);
    if (destination == of->comm->rank && label_there == label) found = (int)i;
  }
  if (found < 0)
    fail("invalid argument", "rank %d is a source of this rank, but has no edge to it", of->around->sources[edge]);
  return found;
}

/* A part that this rank gives: that for a rank, or the one for all. */
static struct part part_given(const struct collective *of, int to) {
  if (is_reduction(of)) return (struct part){of->is_in_place ? of->recv.base : of->send.base, total(of), of->send.type};
  if (has_many_given(of)) return part_of(of->is_in_place ? &of->recv : &of->send, to);
  return of->is_in_place ? part_of(&of->recv, of->comm->rank)
                         : (struct part){of->send.base, (size_t)of->send.count, of->send.type};
}

/* A part that this rank gets: that from a rank, or the only one. */
static struct part part_got(const struct collective *of, int from) {
  if (gets_many(of)) return part_of(&of->recv, from);
  size_t count = of->shape == REDUCE_SCATTER ? part_of(&of->recv, of->comm->rank).count : (size_t)of->recv.count;
  return (struct part){of->recv.base, count, of->recv.type};
}

static void give(struct bytes *to, struct summary *shown, const struct collective *of) {
  int blocks = !gives(of) ? 0 : has_many_given(of) ? sends(of) : 1;
  if (of->around) put_edges(to, of->around);
  put_site(to, call.site);
  put_u32(to, (uint32_t)blocks);
  for (int i = 0; i < blocks; i++) {
    struct part part = part_given(of, i);
    if (has_many_given(of) && is_nowhere(of, &of->send, i)) part.count = 0;
    put_data(to, part.at, part.count, part.type);
    summary_add(shown, part.at, part.count, part.type);
  }
}

static bool has_data(struct part part) { return part.count > 0 && part.type->size > 0; }

/* Whether this rank gets data from that one. */
static bool expects_from(const struct collective *of, int peer) {
  int rank = of->comm->rank;
  if (of->shape == BARRIER) return true;
  if (!gets(of)) return false;
  if (of->around) {
    for (int edge = 0; edge < of->around->in; edge++)
      if (of->around->sources[edge] == peer && has_data(part_got(of, edge))) return true;
    return false;
  }
  if ((of->shape == BCAST || of->shape == SCATTER) && peer != of->root) return false;
  if (of->shape == SCATTER && of->recv.base == MPI_IN_PLACE) return false;
  if ((of->shape == SCAN && peer > rank) || (of->shape == EXSCAN && peer >= rank)) return false;
  return has_data(part_got(of, peer));
}

/* Whether this rank gives data to that one. */
static bool gives_to(const struct collective *of, int peer) {
  if (of->shape == BARRIER) return true;
  if (!gives(of)) return false;
  if (of->around) {
    for (int edge = 0; edge < of->around->out; edge++)
      if (of->around->destinations[edge] == peer && has_data(part_given(of, edge))) return true;
    return false;
  }
  if ((of->shape == GATHER || of->shape == REDUCE) && peer != of->root) return false;
  if ((of->shape == SCAN || of->shape == EXSCAN) && peer <= of->comm->rank) return false;
  /* The other group of an intercommunicator has counts of its own. */
  if (of->shape == REDUCE_SCATTER) return !of->comm->remote && part_of(&of->recv, peer).count > 0 && has_data(part_given(of, peer));
  return has_data(part_given(of, peer));
}

/* Where ranks meet: all ranks of a communicator, or those of the groups of an intercommunicator. If
 * there is no collective, they give each other what they have to say; in a gather, nothing. */
struct meeting {
  const char *name;
  enum shape shape;
  int size, place, root;
  const struct collective *of;
};

/* The places of the ranks that data comes from, or goes to. */
static void put_partners(struct bytes *to, const struct meeting *in, bool (*is_one)(const struct collective *, int)) {
  int peers = in->of ? comm_peers(in->of->comm)->size : in->shape == GATHER ? 0 : in->size;
  uint32_t count = 0;
  for (int peer = 0; peer < peers; peer++) count += !in->of || is_one(in->of, peer);
  put_u32(to, count);
  for (int peer = 0; peer < peers; peer++)
    if (!in->of || is_one(in->of, peer)) put_i32(to, in->of ? comm_place_of(in->of->comm, peer) : peer);
}

/* Enters a collective. Returns the number of the request. */
static uint32_t enter(struct meeting in, const char *description, struct summary shown, const struct bytes *given) {
  windows_publish();
  struct bytes *to = question('E');
  put_text(to, in.name);
  put_u32(to, (uint32_t)in.size);
  put_u32(to, (uint32_t)in.place);
  put_u8(to, (uint8_t)in.shape);
  put_i32(to, in.root);
  put_partners(to, &in, expects_from);
  put_partners(to, &in, gives_to);
  put_text(to, description);
  summary_put(to, &shown);
  struct bytes whole = {0};
  clock_put(&whole);
  put(&whole, given->at, given->length);
  put_block(to, whole.at, whole.length);
  release(whole.at);
  return ask_posted();
}

struct contributions take_contributions(struct reader *value) {
  memory_learn();
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

const struct reader *contribution(const struct contributions *from, int rank) { return &from->of[rank]; }

/* Two threads must not enter collectives of one communicator at the same time (MPI 4.1, 6.14). */
static void check_alone(struct comm *comm) {
  bool is_known = thread_knows_last(&comm->entered);
  /* Windows and files of one communicator have no collectives of their own here. */
  if (!is_known && (strncmp(call.name, "MPI_Win_", 8) == 0 || strncmp(call.name, "MPI_File_", 9) == 0))
    fail("unsupported", "which of the threads that may call %s at the same time is first is not explored", call.name);
  if (!is_known)
    fail("threads", "another thread may enter a collective of %s at the same time as %s", comm->title, call.name);
}

/* Also on an intercommunicator, all ranks meet: there under a name of its own. */
static uint32_t enter_together(struct comm *comm, enum shape shape, const char *called, const struct bytes *given) {
  char description[64];
  name_without_twin(description, sizeof description, called);
  struct meeting in = {comm->name, shape, comm_size(comm), comm_place(comm), NO_ROOT, NULL};
  char *name = comm->remote ? text_of("%s/both", comm->name) : NULL;
  if (name) in.name = name;
  uint32_t posted = enter(in, description, (struct summary){0}, given);
  release(name);
  return posted;
}

struct contributions exchange(struct comm *comm, const char *called, const struct bytes *given) {
  check_alone(comm);
  uint32_t posted = enter_together(comm, ALLGATHER, called, given), found;
  struct reader answer = wait_for_any(&posted, 1, &found);
  return take_contributions(&answer);
}

uint32_t collective_pass(struct comm *comm, const char *called) {
  return enter_together(comm, GATHER, called, &(struct bytes){0});
}

void collective_meet(struct comm *comm, const char *called) {
  if (comm_size(comm) == 1) return;
  check_alone(comm);
  uint32_t posted = collective_pass(comm, called), found;
  wait_for_any(&posted, 1, &found);
}

/* Takes block number `block` of a rank's contribution into this part. Unlike a message, it must not
 * be shorter (MPI 4.1, 6.1). */
static void take_block_of(struct reader given, int rank, int block, struct part part) {
  uintptr_t site = take_u64(&given);
  int blocks = (int)take_u32(&given);
  for (int i = 0; i < block && i < blocks; i++) {
    struct signature passed = signature_take(&given);
    signature_free(&passed);
    take_block(&given);
  }
  char who[32];
  snprintf(who, sizeof who, "rank %d", rank);
  if (block >= blocks) return;
  size_t sent = take_data(&given, part.at, part.count, part.type, who, site, call.site);
  size_t wanted = part.count * part.type->size;
  if (sent < wanted)
    fail("count mismatch", "%s sends %zu bytes at {@%lx}, but at {@%lx} %zu are expected", who, sent, site, call.site, wanted);
}

/* The contribution of a peer. If this rank has left late, there are those of all ranks, otherwise
 * of those that it gets data from. */
static const struct reader *given_by(const struct collective *of, const struct contributions *all, int peer) {
  if (all->count == comm_size(of->comm)) return contribution(all, comm_place_of(of->comm, peer));
  int at = 0;
  for (int other = 0; other < peer; other++) at += expects_from(of, other);
  return contribution(all, at);
}

static void take_part(const struct collective *of, const struct contributions *all, int rank, int block, struct part part) {
  take_block_of(*given_by(of, all, rank), rank, block, part);
}

/* Takes a part from each edge. */
static void take_from_neighbors(const struct collective *of, const struct contributions *all) {
  for (int edge = 0; edge < of->around->in; edge++) {
    int source = of->around->sources[edge];
    if (source == MPI_PROC_NULL || !expects_from(of, source)) continue;
    struct reader given = *given_by(of, all, source);
    int there = take_edge(&given, of, edge);
    take_block_of(given, source, of->shape == ALLTOALL ? there : 0, part_of(&of->recv, edge));
  }
}

/* Memory for the elements of a reduction, and where the first of them is. */
struct room {
  char *memory, *first;
};

/* Operators may also copy whole elements, with what lies between and behind the values. Elements are
 * aligned as in memory of the program. */
static struct room room_for(const struct collective *of) {
  enum { ALIGN = 64 };
  const struct type *type = of->send.type;
  size_t count = total(of);
  ptrdiff_t from, to, further = count > 0 ? (ptrdiff_t)(count - 1) * type->extent : 0;
  type_reach(type, count, &from, &to);
  ptrdiff_t low = type->lb + (further < 0 ? further : 0), high = type->lb + type->extent + (further > 0 ? further : 0);
  if (low < from) from = low;
  if (high > to) to = high;
  from &= -ALIGN;
  char *memory = allocate((size_t)(to - from) + ALIGN), *aligned = memory + (-(uintptr_t)memory & (ALIGN - 1));
  return (struct room){memory, aligned - from};
}

/* Reduces the contributions of ranks `first` to `last` into a buffer. */
static void reduce(const struct collective *of, const struct contributions *all, int first, int last, void *into) {
  struct part whole = {into, total(of), of->send.type};
  take_part(of, all, last, 0, whole);
  struct room other = room_for(of);
  whole.at = other.first;
  for (int rank = last - 1; rank >= first; rank--) {
    take_part(of, all, rank, 0, whole);
    op_apply(of->op, whole.at, into, whole.count, whole.type, of->handle);
  }
  release(other.memory);
}

static void finish_reduction(const struct collective *of, const struct contributions *all) {
  int size = comm_peers(of->comm)->size, rank = of->comm->rank;
  if (!gets(of) || !has_data(part_got(of, rank))) return;
  if (of->shape != REDUCE_SCATTER) {
    int last = of->shape == SCAN ? rank : of->shape == EXSCAN ? rank - 1 : size - 1;
    reduce(of, all, 0, last, of->recv.base);
    return;
  }
  struct room whole = room_for(of);
  reduce(of, all, 0, size - 1, whole.first);
  ptrdiff_t before = 0;
  for (int i = 0; i < rank; i++) before += (ptrdiff_t)part_of(&of->recv, i).count;
  struct part own = part_of(&of->recv, rank);
  struct bytes values = {0};
  pack(&values, whole.first + before * own.type->extent, own.count, own.type);
  unpack(of->recv.base, values.at, values.length, own.type);
  release(values.at);
  release(whole.memory);
}

void collective_end(struct request *request, struct reader *value) {
  const struct collective *of = request->collective;
  struct contributions all = take_contributions(value);
  if (of->around) {
    take_from_neighbors(of, &all);
  } else if (is_reduction(of)) {
    finish_reduction(of, &all);
  } else if (of->shape != BARRIER) {
    int block = of->shape == ALLTOALL || of->shape == SCATTER ? of->comm->rank : 0;
    for (int i = 0; i < comm_peers(of->comm)->size; i++)
      if (expects_from(of, i)) take_part(of, &all, i, block, part_got(of, i));
  }
  release(all.of);
  windows_pull();
}

static const void *copied(const void *from, int count, size_t size) {
  return from ? memcpy(allocate((size_t)count * size), from, (size_t)count * size) : NULL;
}

/* Copies arrays, because the program may change them while the operation is pending. */
static void keep(struct parts *parts, int count) {
  parts->counts = copied(parts->counts, count, width_of_count(parts));
  parts->displs = copied(parts->displs, count, width_of_displ(parts));
  parts->places = copied(parts->places, count, sizeof *parts->places);
}

/* Until the operation ends, it owns the memory of all parts. */
static void own(struct request *request, const struct collective *of) {
  /* In place, a rank that gets nothing gives what is in its receive buffer. */
  bool is_same = of->is_in_place && (gets(of) || !is_reduction(of));
  for (int i = 0; gives(of) && !is_same && i < (has_many_given(of) ? sends(of) : 1); i++) {
    if (has_many_given(of) && is_nowhere(of, &of->send, i)) continue;
    struct part part = part_given(of, i);
    memory_own_more(&request->owned, part.at, part.count, part.type, READS);
  }
  for (int i = 0; gets(of) && of->recv.base != MPI_IN_PLACE && i < (gets_many(of) ? receives(of) : 1); i++) {
    if (gets_many(of) && is_nowhere(of, &of->recv, i)) continue;
    struct part part = part_got(of, i);
    memory_own_more(&request->owned, part.at, part.count, part.type, READS | WRITES);
  }
  if (memory_overlaps(request->owned))
    fail("invalid buffer", "what comes goes where other parts are sent from or go to");
}

void collective_start(struct request *request) {
  const struct collective *of = request->collective;
  thread_enters(of->comm);
  check_alone(of->comm);
  own(request, of);
  struct bytes bytes = {0};
  struct summary shown = {0};
  give(&bytes, &shown, of);
  char *description = describe(request->name, of);
  const struct comm *comm = of->comm;
  struct meeting in = {of->name, of->shape, comm_size(comm), comm_place(comm), place_of_root(of), of};
  request->posted = enter(in, description, shown, &bytes);
  request->is_posted = true;
  release(bytes.at);
  release(description);
}

/* Enters now, or when it is started; waits, unless the program gets a request. */
int collective_run(struct collective given, struct ending ending) {
  given.is_in_place = given.send.base == MPI_IN_PLACE;
  check(&given);
  struct collective *of = allocate(sizeof *of);
  *of = given;
  bool are_many = has_many_given(of) || of->send.counts;
  if (are_many && !of->is_in_place) keep(&of->send, sends(of));
  keep(&of->recv, receives(of));
  MPI_Request handle = request_new('c');
  struct request *made = request_get(handle);
  made->collective = of;
  of->name = given.comm->name;
  if (ending.is_persistent) {
    of->name = text_of("%s/persistent %u", given.comm->name, given.comm->persistent++);
    made->state = INACTIVE;
    made->is_persistent = true;
    made->is_started = false;
  } else {
    collective_start(made);
  }
  if (ending.request)
    *ending.request = handle;
  else
    request_wait(&handle, NULL);
  return MPI_SUCCESS;
}

static int barrier(MPI_Comm comm, struct ending ending) {
  return collective_run((struct collective){.shape = BARRIER, .comm = comm_get(comm), .root = NO_ROOT}, ending);
}

FUNCTION(Barrier, (MPI_Comm comm)) {
  CALL_IN_STEPS("MPI_Barrier");
  return barrier(comm, (struct ending){NULL, false});
}
FUNCTION(Ibarrier, (MPI_Comm comm, MPI_Request *request)) {
  CALL_IN_STEPS("MPI_Ibarrier");
  return barrier(comm, (struct ending){OUT(request), false});
}
FUNCTION(Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request *request)) {
  CALL("MPI_Barrier_init");
  (void)info;
  return barrier(comm, (struct ending){OUT(request), true});
}
