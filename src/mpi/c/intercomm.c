/* Intercommunicators: two groups, where each rank communicates with those of the other group
 * (MPI 4.1, 7.6).
 *
 * Where all ranks are counted, in mailboxes and collectives, those of one group come before those
 * of the other: first the group with the smallest rank of the world. */
#include "dynamic.h"
#include "sessions.h"

/* A group and the name of its communicator, as the leader tells them. */
void side_put(struct bytes *to, const struct comm *local) {
  put_i32(to, local->group->size);
  for (int i = 0; i < local->group->size; i++) put_i32(to, local->group->ranks[i]);
  char *name = comm_next_name((struct comm *)local, 0);
  put_text(to, name);
  release(name);
}

struct side {
  struct group *group;
  char *name;
};

static struct side take_side(struct reader *from) {
  int size = take_i32(from);
  if (size < 0) return (struct side){NULL, NULL};
  struct group *group = group_new(size);
  for (int i = 0; i < size; i++) group->ranks[i] = take_i32(from);
  struct reader name = take_block(from);
  return (struct side){group, text_of("%.*s", (int)(name.end - name.at), (const char *)name.at)};
}

void mail_send(const char *mailbox, int place, int number, int from, int tag, const struct bytes *told) {
  struct bytes *to = question('S');
  put_text(to, mailbox);
  put_i32(to, place);
  put_u32(to, (uint32_t)number);
  put_i32(to, from);
  put_i32(to, tag);
  put_u8(to, 2); /* It ends at once. */
  summary_put(to, &(struct summary){0});
  put_block(to, told->at, told->length);
  ask_posted();
}

struct reader mail_receive(const char *mailbox, int place, int from, int tag) {
  struct bytes *to = question('R');
  put_text(to, mailbox);
  put_i32(to, place);
  put_i32(to, from);
  put_i32(to, tag);
  uint32_t posted = ask_posted(), found;
  struct reader answer = wait_for_any(&posted, 1, &found);
  take_u8(&answer);
  return take_block(&answer);
}

/* Sends what the leader of a group tells to that of the other group, and returns what that one
 * tells. Their messages are apart from those of the program. */
static struct reader meet_leader(const struct comm *peers, int other, int tag, const struct bytes *told) {
  char *name = text_of("%s/leaders", peers->name);
  mail_send(name, comm_place_of(peers, other), comm_peers(peers)->ranks[other], comm_place(peers), tag, told);
  struct reader answer = mail_receive(name, comm_place(peers), comm_place_of(peers, other), tag);
  release(name);
  return answer;
}

static int smallest(const struct group *of) {
  int found = of->ranks[0];
  for (int i = 1; i < of->size; i++)
    if (of->ranks[i] < found) found = of->ranks[i];
  return found;
}

static void check_apart(const struct group *one, const struct group *other) {
  for (int i = 0; i < one->size; i++)
    for (int j = 0; j < other->size; j++)
      if (one->ranks[i] == other->ranks[j])
        fail("invalid group", "rank %d of the first group is in both groups", i);
}

struct comm *intercomm_between(struct comm *own, struct reader *told) {
  struct side other = take_side(told);
  check_apart(own->group, other.group);
  char *name = comm_next_name(own, 0);
  own->made++;
  bool is_remote_first = smallest(other.group) < smallest(own->group);
  char *both = is_remote_first ? text_of("%s|%s", other.name, name) : text_of("%s|%s", name, other.name);
  struct comm *to = comm_new(group_copy(own->group), both, own);
  to->session = own->session;
  to->remote = other.group;
  to->is_remote_first = is_remote_first;
  release(name);
  release(other.name);
  return to;
}

/* The leader has got this from that of the other group. */
static struct comm *join(struct comm *own, int leader, const struct bytes *told) {
  struct contributions all = exchange(own, call.name, told);
  struct reader said = *contribution(&all, leader);
  return intercomm_between(own, &said);
}

/* The leader tells that of the other group about its own, and appends what it is told. */
static void exchange_sides(const struct comm *own, const struct comm *peers, int remote, int tag, struct bytes *told) {
  struct bytes mine = {0};
  side_put(&mine, own);
  struct reader side = meet_leader(peers, remote, tag, &mine);
  release(mine.at);
  put(told, side.at, (size_t)(side.end - side.at));
}

FUNCTION(Intercomm_create, (MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *made)) {
  CALL("MPI_Intercomm_create");
  OUT(made);
  struct comm *own = comm_get_intra(local);
  if (leader < 0 || leader >= own->group->size)
    fail("invalid rank", "the leader is %d, but %s has %d ranks", leader, own->title, own->group->size);
  struct bytes told = {0};
  if (own->rank == leader) {
    /* These arguments matter at the leader only. */
    const struct comm *peers = comm_get(peer);
    if (remote < 0 || remote >= comm_peers(peers)->size)
      fail("invalid rank", "the remote leader is %d, but %s has %d ranks", remote, peers->title, comm_peers(peers)->size);
    if (comm_peers(peers)->ranks[remote] == process_number()) fail("invalid rank", "the remote leader is the rank itself");
    if (tag < 0) fail("invalid tag", "the tag is %d", tag);
    exchange_sides(own, peers, remote, tag, &told);
  }
  struct comm *to = join(own, leader, &told);
  release(told.at);
  *made = comm_publish(to);
  return MPI_SUCCESS;
}

/* Those who meet have no communicator yet: there is one of the local group, and one of the two
 * leaders. */
FUNCTION(Intercomm_create_from_groups, (MPI_Group local, int leader, MPI_Group remote, int remote_leader, const char *tag,
                                        MPI_Info info, MPI_Errhandler handler, MPI_Comm *made)) {
  CALL("MPI_Intercomm_create_from_groups");
  (void)info;
  OUT(made);
  const struct group *members = group_get(local);
  if (strlen(text_in(tag, "the text")) >= MPI_MAX_STRINGTAG_LEN) fail("invalid argument", "the text has %zu characters", strlen(tag));
  if (leader < 0 || leader >= members->size)
    fail("invalid rank", "the leader is %d, but its group has %d ranks", leader, members->size);
  char *name = text_of("session %s/half", tag);
  struct comm *own, *peers;
  comm_of_group(NULL, members, name, &own);
  if (own->rank < 0) fail("invalid group", "the rank is not in the group");
  release(name);
  struct bytes told = {0};
  if (own->rank == leader) {
    const struct group *others = group_get(remote);
    if (remote_leader < 0 || remote_leader >= others->size)
      fail("invalid rank", "the remote leader is %d, but its group has %d ranks", remote_leader, others->size);
    check_apart(members, others);
    int other = others->ranks[remote_leader];
    struct group *pair = group_new(2);
    pair->ranks[0] = other < process_number() ? other : process_number();
    pair->ranks[1] = other < process_number() ? process_number() : other;
    name = text_of("session %s/leaders", tag);
    comm_of_group(NULL, pair, name, &peers);
    release(name);
    peers->object.is_freed = true;
    exchange_sides(own, peers, 1 - peers->rank, 0, &told);
  }
  struct comm *to = join(own, leader, &told);
  release(told.at);
  /* The program does not know of that communicator. */
  own->object.is_freed = true;
  *made = comm_publish(to);
  return errhandler_attach(&to->errhandler, handler, "communicators");
}

/* The value of `high` that the ranks at these places pass: the same for all. */
static bool is_high(const struct contributions *all, int first, int size) {
  bool found = false;
  for (int place = first; place < first + size; place++) {
    struct reader said = *contribution(all, place);
    bool here = take_u8(&said);
    if (place > first && here != found) fail("invalid argument", "ranks of one group pass different values of `high`");
    found = here;
  }
  return found;
}

FUNCTION(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made)) {
  CALL("MPI_Intercomm_merge");
  OUT(made);
  struct comm *from = comm_get(comm);
  if (!from->remote) fail("invalid communicator", "%s is no intercommunicator", from->title);
  struct bytes given = {0};
  put_u8(&given, high != 0);
  struct contributions all = exchange(from, call.name, &given);
  bool own = is_high(&all, comm_place(from) - from->rank, from->group->size);
  bool other = is_high(&all, comm_place_of(from, 0), from->remote->size);
  bool is_remote_first = own == other ? from->is_remote_first : own;
  const struct group *first = is_remote_first ? from->remote : from->group;
  const struct group *then = is_remote_first ? from->group : from->remote;
  struct group *members = group_new(first->size + then->size);
  memcpy(members->ranks, first->ranks, (size_t)first->size * sizeof *members->ranks);
  memcpy(members->ranks + first->size, then->ranks, (size_t)then->size * sizeof *members->ranks);
  struct comm *to = comm_new(members, comm_next_name(from, 0), from);
  from->made++;
  *made = comm_publish(to);
  return MPI_SUCCESS;
}
