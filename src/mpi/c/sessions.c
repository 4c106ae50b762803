/* Sessions: a rank may use MPI between MPI_Session_init and MPI_Session_finalize, as often as it wants,
 * with MPI_Init or without. It makes groups of the sets of processes that a session knows, and
 * communicators of groups. */
#include "sessions.h"

#include <strings.h>

struct session {
  struct object object;
  MPI_Errhandler errhandler;
};
static int count_of_open;

bool sessions_are_open(void) { return count_of_open > 0; }

static struct session *get(MPI_Session session) {
  struct session *found = (struct session *)handle_get(SESSION, session);
  if (session == MPI_SESSION_NULL) fail("invalid argument", "the session is MPI_SESSION_NULL");
  if (!found) fail("invalid argument", "%p is no session", (void *)session);
  if (found->object.is_freed) fail("invalid argument", "the session made at {@%lx} is over", found->object.made_at);
  return found;
}
struct object *session_get(MPI_Session session) { return &get(session)->object; }
MPI_Errhandler *session_errhandler(MPI_Session session) { return &get(session)->errhandler; }

FUNCTION(Session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session *session)) {
  ANYWHERE("MPI_Session_init");
  env_begin();
  if (env_is_over()) thread_is_main();
  OUT(session);
  struct session *made = allocate(sizeof *made);
  errhandler_attach(&made->errhandler, handler, "sessions");
  *session = (MPI_Session)handle_new(SESSION, &made->object);
  count_of_open++;
  const char *level = info_find(info, "thread_level");
  if (level) env_ask_for(level);
  python_begin();
  return MPI_SUCCESS;
}

/* Ranks need not meet here. When all use of MPI is over, the rank is checked for leaks. */
FUNCTION(Session_finalize, (MPI_Session *session)) {
  CALL("MPI_Session_finalize");
  struct session *of = get(*OUT(session));
  bool is_last = count_of_open == 1 && !env_has_world();
  if (is_last) {
    if (world_size > 1 && file_records_are_left())
      fail("unsupported", "accesses to files are compared in MPI_Finalize, which does not come after those of the rank");
    windows_check_end();
    handles_check_left();
  }
  of->object.is_freed = true;
  count_of_open--;
  *session = MPI_SESSION_NULL;
  return MPI_SUCCESS;
}

/* The names are URIs: upper and lower case do not differ. */
static const char *const sets[] = {"mpi://WORLD", "mpi://SELF"};
enum { SETS = sizeof sets / sizeof *sets };

static int set_of(const char *name) {
  text_in(name, "the name");
  for (int i = 0; i < SETS; i++)
    if (strcasecmp(sets[i], name) == 0) return i;
  fail("invalid argument", "there is no set of processes %s", name);
}

FUNCTION(Session_get_num_psets, (MPI_Session session, MPI_Info info, int *count)) {
  CALL("MPI_Session_get_num_psets");
  get(session);
  (void)info;
  *OUT(count) = SETS;
  return MPI_SUCCESS;
}

/* With room for nothing, only the length is returned (MPI 4.1, 11.3.2). It counts the zero at the
 * end. */
FUNCTION(Session_get_nth_pset, (MPI_Session session, MPI_Info info, int n, int *length, char *name)) {
  CALL("MPI_Session_get_nth_pset");
  get(session);
  (void)info;
  if (n < 0 || n >= SETS) fail("invalid argument", "set %d of %d", n, SETS);
  int room = *OUT(length);
  check_count(room);
  if (room > 0) {
    char *cut = text_of("%.*s", room - 1, sets[n]);
    text_out(name, cut);
    release(cut);
  }
  *length = (int)strlen(sets[n]) + 1;
  return MPI_SUCCESS;
}

FUNCTION(Session_get_pset_info, (MPI_Session session, const char *name, MPI_Info *info)) {
  CALL("MPI_Session_get_pset_info");
  get(session);
  int size = set_of(name) == 0 ? world_size : 1;
  OUT(info);
  *info = info_new();
  char text[16];
  snprintf(text, sizeof text, "%d", size);
  info_put(*info, "mpi_size", text);
  return MPI_SUCCESS;
}

/* There is one hint. */
FUNCTION(Session_get_info, (MPI_Session session, MPI_Info *info)) {
  CALL("MPI_Session_get_info");
  get(session);
  *OUT(info) = info_new();
  info_put(*info, "thread_level", env_level());
  return MPI_SUCCESS;
}

FUNCTION(Group_from_session_pset, (MPI_Session session, const char *name, MPI_Group *made)) {
  CALL("MPI_Group_from_session_pset");
  const struct object *of = session_get(session);
  bool is_world = set_of(name) == 0;
  OUT(made);
  int size = is_world ? world_size : 1, *ranks = allocate((size_t)size * sizeof *ranks);
  for (int i = 0; i < size; i++) ranks[i] = is_world ? world_base + i : process_number();
  *made = group_publish(of, ranks, size);
  release(ranks);
  return MPI_SUCCESS;
}

/* The text distinguishes calls at the same time; calls with the same text match in their order. */
FUNCTION(Comm_create_from_group, (MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *made)) {
  CALL("MPI_Comm_create_from_group");
  (void)info;
  const struct group *members = group_get(group);
  if (strlen(text_in(tag, "the text")) >= MPI_MAX_STRINGTAG_LEN) fail("invalid argument", "the text has %zu characters", strlen(tag));
  OUT(made);
  if (members->size > 0) {
    bool is_member = false;
    for (int i = 0; i < members->size; i++) is_member |= members->ranks[i] == process_number();
    if (!is_member) fail("invalid group", "the rank is not in the group");
  }
  char *name = text_of("session %s", tag);
  struct comm *to;
  *made = comm_of_group(NULL, members, name, &to);
  release(name);
  return *made == MPI_COMM_NULL ? MPI_SUCCESS : errhandler_attach(&to->errhandler, handler, "communicators");
}
