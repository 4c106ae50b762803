/* Groups and communicators.
 *
 * A communicator is made by a collective call. Its name consists of the name of its parent and the
 * number of the call, so all members use the same name without any communication. */
#include "collectives.h"
#include "dynamic.h"
#include "sessions.h"

void check_count(MPI_Count count) {
  if (count < 0) fail("invalid count", "the count is %ld", (long)count);
}

void check_buffer(const void *buffer, size_t count, const struct type *type, const char *parameter) {
  size_t span = type->extent < 0 ? (size_t)-type->extent : (size_t)type->extent;
  if (count > PTRDIFF_MAX / ((span > type->size ? span : type->size) + 1))
    fail("invalid count", "%zu elements do not fit into memory", count);
  if (count > 0 && type->size > 0 && buffer == MPI_IN_PLACE) fail("invalid buffer", "%s is MPI_IN_PLACE", parameter);
  if (count > 0 && type->size > 0 && !buffer && !(type->pieces > 0 && type->piece->at > 4096))
    fail("invalid buffer", "%s is a null pointer, but %zu elements are to be communicated", parameter, count);
}

struct group *group_new(int size) {
  struct group *made = allocate(sizeof *made);
  made->size = size;
  made->ranks = allocate((size_t)size * sizeof *made->ranks);
  return made;
}

/* Error handlers are inherited (MPI 4.1, 9.3). */
struct comm *comm_new(struct group *group, char *name, const struct comm *from) {
  struct comm *made = allocate(sizeof *made);
  made->group = group;
  made->name = name;
  made->title = call.name;
  made->errhandler = from ? from->errhandler : MPI_ERRORS_ARE_FATAL;
  made->session = from ? from->session : NULL;
  made->request = MPI_REQUEST_NULL;
  made->rank = -1;
  for (int i = 0; i < group->size; i++)
    if (group->ranks[i] == process_number()) made->rank = i;
  return made;
}

/* A predefined communicator. */
static struct comm *predefined(struct group *group, char *name, const char *title) {
  struct comm *made = comm_new(group, name, NULL);
  made->object.kind = COMM;
  made->object.is_predefined = true;
  made->object.name = made->title = title;
  return made;
}

static struct comm *world(void) {
  static struct comm *known;
  if (!known) {
    struct group *all = group_new(world_size);
    for (int i = 0; i < world_size; i++) all->ranks[i] = world_base + i;
    char *name = world_base ? text_of("MPI_COMM_WORLD of %d", world_base) : "MPI_COMM_WORLD";
    known = predefined(all, name, "MPI_COMM_WORLD");
  }
  return known;
}

static struct comm *self(void) {
  static struct comm *known;
  if (!known) {
    struct group *alone = group_new(1);
    alone->ranks[0] = process_number();
    known = predefined(alone, text_of("MPI_COMM_SELF of %d", process_number()), "MPI_COMM_SELF");
  }
  return known;
}

struct comm *comm_get(MPI_Comm comm) {
  if ((comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) && !env_has_world())
    fail("invalid communicator", "the rank uses sessions, and has not called MPI_Init");
  if (comm == MPI_COMM_WORLD) return world();
  if (comm == MPI_COMM_SELF) return self();
  if (comm == MPI_COMM_NULL) fail("invalid communicator", "the communicator is MPI_COMM_NULL");
  struct comm *found = (struct comm *)handle_get(COMM, comm);
  if (!found) fail("invalid communicator", "%p is no communicator", (void *)comm);
  if (found->object.is_freed)
    fail("invalid communicator", "the communicator made at {@%lx} was freed", found->object.made_at);
  const struct request *making = (const struct request *)handle_get(REQUEST, found->request);
  if (making && !making->object.is_freed && making->state == ACTIVE)
    fail("invalid communicator", "%s at {@%lx} still makes the communicator", making->name, found->object.made_at);
  return found;
}

struct group *group_get(MPI_Group group) {
  static struct group empty = {.object = {.is_predefined = true}};
  if (group == MPI_GROUP_EMPTY) return &empty;
  if (group == MPI_GROUP_NULL) fail("invalid group", "the group is MPI_GROUP_NULL");
  struct group *found = (struct group *)handle_get(GROUP, group);
  if (!found) fail("invalid group", "%p is no group", (void *)group);
  if (found->object.is_freed) fail("invalid group", "the group made at {@%lx} was freed", found->object.made_at);
  return found;
}

/* The name of the next communicator made from this one; `part` distinguishes parts of a split. */
char *comm_next_name(struct comm *comm, int part) {
  return text_of("%s/%u.%d", comm->name, comm->made, part);
}

MPI_Comm comm_publish(struct comm *made) { return (MPI_Comm)handle_new(COMM, &made->object); }

struct comm *comm_get_intra(MPI_Comm comm) {
  struct comm *found = comm_get(comm);
  if (found->remote) fail("invalid communicator", "%s is an intercommunicator", found->title);
  return found;
}

const struct group *comm_peers(const struct comm *comm) { return comm->remote ? comm->remote : comm->group; }

int comm_size(const struct comm *comm) { return comm->group->size + (comm->remote ? comm->remote->size : 0); }

int comm_place(const struct comm *comm) { return comm->rank + (comm->is_remote_first ? comm->remote->size : 0); }

int comm_place_of(const struct comm *comm, int peer) {
  return comm->remote && !comm->is_remote_first ? comm->group->size + peer : peer;
}

FUNCTION(Comm_size, (MPI_Comm comm, int *size)) {
  LOOK("MPI_Comm_size");
  *OUT(size) = comm_get(comm)->group->size;
  return MPI_SUCCESS;
}

FUNCTION(Comm_rank, (MPI_Comm comm, int *rank)) {
  LOOK("MPI_Comm_rank");
  *OUT(rank) = comm_get(comm)->rank;
  return MPI_SUCCESS;
}

static int compare(const struct group *one, const struct group *other) {
  if (one->size != other->size) return MPI_UNEQUAL;
  int result = MPI_IDENT;
  for (int i = 0; i < one->size; i++) {
    if (one->ranks[i] == other->ranks[i]) continue;
    result = MPI_SIMILAR;
    bool is_there = false;
    for (int j = 0; j < other->size; j++) is_there |= one->ranks[i] == other->ranks[j];
    if (!is_there) return MPI_UNEQUAL;
  }
  return result;
}

FUNCTION(Comm_compare, (MPI_Comm one, MPI_Comm other, int *result)) {
  CALL("MPI_Comm_compare");
  struct comm *a = comm_get(one), *b = comm_get(other);
  int found = !a->remote == !b->remote ? compare(a->group, b->group) : MPI_UNEQUAL;
  int remote = a->remote && b->remote ? compare(a->remote, b->remote) : found;
  if (remote == MPI_UNEQUAL || (remote == MPI_SIMILAR && found != MPI_UNEQUAL)) found = remote;
  *OUT(result) = found == MPI_IDENT && a != b ? MPI_CONGRUENT : found;
  return MPI_SUCCESS;
}

struct group *group_first(const struct group *from, int size) {
  struct group *made = group_new(size);
  memcpy(made->ranks, from->ranks, (size_t)size * sizeof *made->ranks);
  return made;
}
struct group *group_copy(const struct group *from) { return group_first(from, from->size); }

uint32_t times_made(const char *name) {
  static struct made {
    char *name;
    uint32_t times;
  } *all;
  static size_t length;
  for (size_t i = 0; i < length; i++)
    if (strcmp(all[i].name, name) == 0) return all[i].times++;
  all = grow(all, (length + 1) * sizeof *all);
  all[length++] = (struct made){text_of("%s", name), 1};
  return 0;
}

MPI_Comm comm_of_known(struct comm *from, struct group *members, int number, struct comm **result) {
  collective_meet(from, call.name);
  char *name = comm_next_name(from, number);
  from->made++;
  *result = comm_new(members, name, from);
  return (*result)->rank < 0 ? MPI_COMM_NULL : comm_publish(*result);
}

/* May wait for the other ranks; or returns a request. The attributes are those at the time of the
 * call. */
static int dup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
  struct comm *from = comm_get(comm);
  OUT(made);
  struct comm *to = comm_new(group_copy(from->group), comm_next_name(from, 0), from);
  from->made++;
  if (from->remote) to->remote = group_copy(from->remote);
  to->is_remote_first = from->is_remote_first;
  to->ndims = from->ndims;
  to->dims = from->dims;
  to->periods = from->periods;
  to->graph = from->graph;
  if (request) {
    collective_run((struct collective){.shape = BARRIER, .comm = from, .root = NO_ROOT}, (struct ending){request, false});
    to->request = *request;
  } else {
    collective_meet(from, call.name);
  }
  *made = comm_publish(to);
  int code = attributes_copy(&from->object, comm, &to->object, *made);
  to->object.is_freed = code != MPI_SUCCESS;
  if (code != MPI_SUCCESS) *made = MPI_COMM_NULL;
  return code;
}

FUNCTION(Comm_dup, (MPI_Comm comm, MPI_Comm *made)) {
  CALL("MPI_Comm_dup");
  return dup(comm, made, NULL);
}

FUNCTION(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made)) {
  CALL("MPI_Comm_dup_with_info");
  (void)info;
  return dup(comm, made, NULL);
}

FUNCTION(Comm_idup, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request)) {
  CALL("MPI_Comm_idup");
  OUT(request);
  return dup(comm, made, request);
}

FUNCTION(Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request)) {
  CALL("MPI_Comm_idup_with_info");
  (void)info;
  OUT(request);
  return dup(comm, made, request);
}

MPI_Comm comm_of_group(const struct comm *from, const struct group *members, const char *start, struct comm **result) {
  char *name = text_of("%s", start);
  for (int i = 0; i < members->size; i++) {
    char *longer = text_of("%s,%d", name, members->ranks[i]);
    release(name);
    name = longer;
  }
  char *numbered = text_of("%s/%u", name, times_made(name));
  release(name);
  struct comm *to = *result = comm_new(group_copy(members), numbered, from);
  if (to->rank < 0) return MPI_COMM_NULL;
  if (members->session) to->session = members->session;
  collective_meet(to, call.name);
  return comm_publish(to);
}

/* Only the members of the group make this call. */
FUNCTION(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)) {
  CALL("MPI_Comm_create_group");
  struct comm *from = comm_get_intra(comm), *to;
  struct group *members = group_get(group);
  OUT(made);
  char *name = text_of("%s/group %d", from->name, tag);
  *OUT(made) = comm_of_group(from, members, name, &to);
  release(name);
  return MPI_SUCCESS;
}

/* The group that the ranks at these places have passed to the call. The members pass it; on an
 * intercommunicator, all ranks of their group do. */
static struct group *group_passed(const struct contributions *all, int first, int count) {
  struct group *found = group_new(0);
  for (int place = first; place < first + count && found->size == 0; place++) {
    struct reader said = *contribution(all, place);
    found = group_new(take_i32(&said));
    for (int i = 0; i < found->size; i++) found->ranks[i] = take_i32(&said);
  }
  return found;
}

FUNCTION(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made)) {
  CALL("MPI_Comm_create");
  struct comm *from = comm_get(comm);
  struct group *members = group_get(group);
  OUT(made);
  /* The groups of one call do not overlap, so the first member identifies a group. */
  if (!from->remote) {
    struct comm *to;
    *OUT(made) = comm_of_known(from, group_copy(members), members->size > 0 ? members->ranks[0] : -1, &to);
    return MPI_SUCCESS;
  }
  struct bytes given = {0};
  put_i32(&given, members->size);
  for (int i = 0; i < members->size; i++) put_i32(&given, members->ranks[i]);
  struct contributions all = exchange(from, call.name, &given);
  struct group *remote = group_passed(&all, comm_place_of(from, 0), from->remote->size);
  /* There is one group of each side. */
  char *name = comm_next_name(from, -1);
  from->made++;
  struct comm *to = comm_new(group_copy(members), name, from);
  to->remote = remote;
  to->is_remote_first = from->is_remote_first;
  bool is_there = to->rank >= 0 && remote->size > 0;
  *OUT(made) = is_there ? comm_publish(to) : MPI_COMM_NULL;
  return MPI_SUCCESS;
}

/* The contribution of a rank to a split. */
struct place {
  int color, key, rank;
};

static int by_key(const void *one, const void *other) {
  const struct place *a = one, *b = other;
  return a->key != b->key ? (a->key < b->key ? -1 : 1) : (a->rank > b->rank) - (a->rank < b->rank);
}

/* The members of a group, whose ranks have these places, that said this color. */
static struct group *members_of_color(const struct group *from, int first, const struct contributions *all, int color) {
  struct place *places = allocate(((size_t)from->size + 1) * sizeof *places);
  int size = 0;
  for (int rank = 0; rank < from->size; rank++) {
    struct reader said = *contribution(all, first + rank);
    struct place place = {take_i32(&said), take_i32(&said), rank};
    if (place.color == color) places[size++] = place;
  }
  qsort(places, (size_t)size, sizeof *places, by_key);
  struct group *members = group_new(size);
  for (int i = 0; i < size; i++) members->ranks[i] = from->ranks[places[i].rank];
  release(places);
  return members;
}

MPI_Comm comm_split(struct comm *from, int color, int key, struct comm **result) {
  struct bytes given = {0};
  put_i32(&given, color);
  put_i32(&given, key);
  struct contributions all = exchange(from, call.name, &given);
  char *name = comm_next_name(from, color);
  from->made++;
  if (color == MPI_UNDEFINED) return MPI_COMM_NULL;
  int first = comm_place(from) - from->rank;
  *result = comm_new(members_of_color(from->group, first, &all, color), name, from);
  if (from->remote) {
    (*result)->remote = members_of_color(from->remote, comm_place_of(from, 0), &all, color);
    (*result)->is_remote_first = from->is_remote_first;
    if ((*result)->remote->size == 0) return MPI_COMM_NULL;
  }
  return comm_publish(*result);
}

FUNCTION(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made)) {
  CALL("MPI_Comm_split");
  struct comm *from = comm_get(comm), *to;
  OUT(made);
  if (color < 0 && color != MPI_UNDEFINED) fail("invalid argument", "the color is %d", color);
  *OUT(made) = comm_split(from, color, key, &to);
  return MPI_SUCCESS;
}

/* All ranks are on one machine, whose memory they share. Nothing is known of its parts, so a rank
 * that asks for one gets no communicator (MPI 4.1, 7.4.2). */
static int color_of_type(int type, MPI_Info info) {
  const char *part = info_find(info, "mpi_hw_resource_type");
  bool is_all = part && strcmp(part, "mpi_shared_memory") == 0;
  switch (type) {
    case MPI_COMM_TYPE_SHARED: return 0;
    case MPI_COMM_TYPE_HW_GUIDED: case MPI_COMM_TYPE_RESOURCE_GUIDED: return is_all ? 0 : MPI_UNDEFINED;
    case MPI_COMM_TYPE_HW_UNGUIDED: case MPI_UNDEFINED: return MPI_UNDEFINED;
    default: fail("invalid argument", "%d is no type of a split", type);
  }
}

FUNCTION(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)) {
  CALL("MPI_Comm_split_type");
  struct comm *from = comm_get(comm), *to;
  *OUT(made) = comm_split(from, color_of_type(type, info), key, &to);
  return MPI_SUCCESS;
}

static int comm_free(MPI_Comm *comm) {
  struct comm *freed = comm_get(*OUT(comm));
  if (freed->object.is_predefined && freed != spawn_parent()) fail("invalid communicator", "%s cannot be freed", freed->title);
  int code = attributes_remove(&freed->object, *comm);
  if (code != MPI_SUCCESS) return code;
  freed->object.is_freed = true;
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

FUNCTION(Comm_free, (MPI_Comm *comm)) {
  CALL("MPI_Comm_free");
  struct comm *freed = comm_get(*OUT(comm));
  int code = comm_free(comm);
  if (code == MPI_SUCCESS) collective_meet(freed, call.name);
  return code;
}

/* All ranks meet, since each waits for its communication to end. */
FUNCTION(Comm_disconnect, (MPI_Comm *comm)) {
  CALL("MPI_Comm_disconnect");
  struct comm *left = comm_get(*OUT(comm));
  if (!left->object.is_predefined || left == spawn_parent()) exchange(left, call.name, &(struct bytes){0});
  return comm_free(comm);
}

FUNCTION(Comm_set_info, (MPI_Comm comm, MPI_Info info)) {
  CALL("MPI_Comm_set_info");
  collective_meet(comm_get(comm), call.name);
  (void)info;
  return MPI_SUCCESS;
}

/* No hints are used. */
FUNCTION(Comm_get_info, (MPI_Comm comm, MPI_Info *info)) {
  CALL("MPI_Comm_get_info");
  comm_get(comm);
  *OUT(info) = info_new();
  return MPI_SUCCESS;
}

/* Without members it is MPI_GROUP_EMPTY (MPI 4.1, 7.3.2). */
static MPI_Group publish_group(struct group *made) {
  return made->size == 0 ? MPI_GROUP_EMPTY : (MPI_Group)handle_new(GROUP, &made->object);
}

static const struct group *remote_of(MPI_Comm comm) {
  const struct comm *found = comm_get(comm);
  if (!found->remote) fail("invalid communicator", "%s is no intercommunicator", found->title);
  return found->remote;
}

FUNCTION(Comm_test_inter, (MPI_Comm comm, int *flag)) {
  CALL("MPI_Comm_test_inter");
  *OUT(flag) = comm_get(comm)->remote != NULL;
  return MPI_SUCCESS;
}

FUNCTION(Comm_remote_size, (MPI_Comm comm, int *size)) {
  LOOK("MPI_Comm_remote_size");
  OUT(size);
  *size = remote_of(comm)->size;
  return MPI_SUCCESS;
}

FUNCTION(Comm_remote_group, (MPI_Comm comm, MPI_Group *group)) {
  CALL("MPI_Comm_remote_group");
  OUT(group);
  *group = publish_group(group_copy(remote_of(comm)));
  return MPI_SUCCESS;
}

FUNCTION(Comm_get_name, (MPI_Comm comm, char *name, int *length)) {
  CALL("MPI_Comm_get_name");
  *OUT(length) = text_out(name, comm == MPI_COMM_NULL ? "MPI_COMM_NULL" : object_name(&comm_get(comm)->object));
  return MPI_SUCCESS;
}

FUNCTION(Comm_set_name, (MPI_Comm comm, const char *name)) {
  CALL("MPI_Comm_set_name");
  struct comm *of = comm_get(comm);
  object_set_name(&of->object, name);
  of->title = of->object.name;
  return MPI_SUCCESS;
}

static int attribute(MPI_Comm comm, int key, void *value, int *flag) {
  static int tag_limit = 2147483647, io = MPI_ANY_SOURCE, host = MPI_PROC_NULL, is_global = 1;
  comm_get(comm);
  OUT((void **)value);
  *OUT(flag) = 1;
  switch (key) {
    case MPI_TAG_UB: *(int **)value = &tag_limit; break;
    case MPI_IO: *(int **)value = &io; break;
    case MPI_HOST: *(int **)value = &host; break;
    case MPI_WTIME_IS_GLOBAL: *(int **)value = &is_global; break;
    case MPI_APPNUM: *(int **)value = &application_number; break;
    case MPI_UNIVERSE_SIZE: *(int **)value = &universe_size; break;
    case MPI_LASTUSEDCODE: *(int **)value = error_last_code(); break;
    default: *flag = attribute_get(&comm_get(comm)->object, key, value);
  }
  return MPI_SUCCESS;
}

FUNCTION(Comm_get_attr, (MPI_Comm comm, int key, void *value, int *flag)) {
  CALL("MPI_Comm_get_attr");
  return attribute(comm, key, value, flag);
}

FUNCTION(Attr_get, (MPI_Comm comm, int key, void *value, int *flag)) {
  CALL("MPI_Attr_get");
  return attribute(comm, key, value, flag);
}

MPI_Group comm_group(const struct comm *comm) { return publish_group(group_copy(comm->group)); }

MPI_Group group_publish(const struct object *session, const int *ranks, int size) {
  struct group *made = group_new(size);
  made->session = session;
  memcpy(made->ranks, ranks, (size_t)size * sizeof *ranks);
  return publish_group(made);
}

FUNCTION(Comm_group, (MPI_Comm comm, MPI_Group *group)) {
  CALL("MPI_Comm_group");
  *OUT(group) = comm_group(comm_get(comm));
  return MPI_SUCCESS;
}

FUNCTION(Group_size, (MPI_Group group, int *size)) {
  CALL("MPI_Group_size");
  *OUT(size) = group_get(group)->size;
  return MPI_SUCCESS;
}

static int place_in(const struct group *group, int rank) {
  for (int i = 0; i < group->size; i++)
    if (group->ranks[i] == rank) return i;
  return MPI_UNDEFINED;
}

FUNCTION(Group_rank, (MPI_Group group, int *rank)) {
  CALL("MPI_Group_rank");
  *OUT(rank) = place_in(group_get(group), process_number());
  return MPI_SUCCESS;
}

static void check_rank_in(const struct group *group, int rank) {
  if (rank < 0 || rank >= group->size) fail("invalid rank", "rank %d in a group of %d", rank, group->size);
}

FUNCTION(Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *made)) {
  CALL("MPI_Group_incl");
  check_count(n);
  INS(ranks, n);
  const struct group *from = group_get(group);
  struct group *to = group_new(n);
  for (int i = 0; i < n; i++) {
    check_rank_in(from, ranks[i]);
    to->ranks[i] = from->ranks[ranks[i]];
  }
  *OUT(made) = publish_group(to);
  return MPI_SUCCESS;
}

/* The members whose `wanted` is true. */
static MPI_Group some_of(const struct group *from, const bool *wanted) {
  struct group *to = group_new(from->size);
  to->size = 0;
  for (int i = 0; i < from->size; i++)
    if (wanted[i]) to->ranks[to->size++] = from->ranks[i];
  return publish_group(to);
}

FUNCTION(Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *made)) {
  CALL("MPI_Group_excl");
  check_count(n);
  INS(ranks, n);
  const struct group *from = group_get(group);
  bool *wanted = allocate((size_t)from->size + 1);
  memset(wanted, 1, (size_t)from->size);
  for (int i = 0; i < n; i++) {
    check_rank_in(from, ranks[i]);
    wanted[ranks[i]] = false;
  }
  *OUT(made) = some_of(from, wanted);
  release(wanted);
  return MPI_SUCCESS;
}

/* Calls of a range: from, to, step. */
#define EACH_IN_RANGES(rank)                                                                   \
  for (int r = 0; r < n; r++)                                                                  \
    for (int rank = ranges[r][0], step = ranges[r][2];                                         \
         step > 0 ? rank <= ranges[r][1] : step < 0 && rank >= ranges[r][1]; rank += step)

FUNCTION(Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *made)) {
  CALL("MPI_Group_range_incl");
  check_count(n);
  INS(ranges, n);
  const struct group *from = group_get(group);
  struct group *to = group_new(from->size);
  to->size = 0;
  EACH_IN_RANGES(rank) {
    check_rank_in(from, rank);
    if (to->size == from->size) fail("invalid argument", "the ranges overlap");
    to->ranks[to->size++] = from->ranks[rank];
  }
  *OUT(made) = publish_group(to);
  return MPI_SUCCESS;
}

FUNCTION(Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *made)) {
  CALL("MPI_Group_range_excl");
  check_count(n);
  INS(ranges, n);
  const struct group *from = group_get(group);
  bool *wanted = allocate((size_t)from->size + 1);
  memset(wanted, 1, (size_t)from->size);
  EACH_IN_RANGES(rank) {
    check_rank_in(from, rank);
    wanted[rank] = false;
  }
  *OUT(made) = some_of(from, wanted);
  release(wanted);
  return MPI_SUCCESS;
}

FUNCTION(Group_union, (MPI_Group one, MPI_Group other, MPI_Group *made)) {
  CALL("MPI_Group_union");
  const struct group *a = group_get(one), *b = group_get(other);
  struct group *to = group_new(a->size + b->size);
  memcpy(to->ranks, a->ranks, (size_t)a->size * sizeof *to->ranks);
  to->size = a->size;
  for (int i = 0; i < b->size; i++)
    if (place_in(a, b->ranks[i]) < 0) to->ranks[to->size++] = b->ranks[i];
  *OUT(made) = publish_group(to);
  return MPI_SUCCESS;
}

static MPI_Group members_of(const struct group *from, const struct group *other, bool are_in_other) {
  bool *wanted = allocate((size_t)from->size + 1);
  for (int i = 0; i < from->size; i++) wanted[i] = (place_in(other, from->ranks[i]) >= 0) == are_in_other;
  MPI_Group made = some_of(from, wanted);
  release(wanted);
  return made;
}

FUNCTION(Group_intersection, (MPI_Group one, MPI_Group other, MPI_Group *made)) {
  CALL("MPI_Group_intersection");
  *OUT(made) = members_of(group_get(one), group_get(other), true);
  return MPI_SUCCESS;
}

FUNCTION(Group_difference, (MPI_Group one, MPI_Group other, MPI_Group *made)) {
  CALL("MPI_Group_difference");
  *OUT(made) = members_of(group_get(one), group_get(other), false);
  return MPI_SUCCESS;
}

FUNCTION(Group_compare, (MPI_Group one, MPI_Group other, int *result)) {
  CALL("MPI_Group_compare");
  *OUT(result) = compare(group_get(one), group_get(other));
  return MPI_SUCCESS;
}

FUNCTION(Group_translate_ranks, (MPI_Group one, int n, const int ranks[], MPI_Group other, int result[])) {
  CALL("MPI_Group_translate_ranks");
  check_count(n);
  INS(ranks, n);
  OUTS(result, n);
  const struct group *a = group_get(one), *b = group_get(other);
  for (int i = 0; i < n; i++) {
    if (ranks[i] != MPI_PROC_NULL) check_rank_in(a, ranks[i]);
    result[i] = ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : place_in(b, a->ranks[ranks[i]]);
  }
  return MPI_SUCCESS;
}

FUNCTION(Group_free, (MPI_Group *group)) {
  CALL("MPI_Group_free");
  struct group *freed = group_get(*OUT(group));
  freed->object.is_freed = !freed->object.is_predefined;
  *OUT(group) = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}
