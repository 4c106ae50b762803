/* Ports, where processes without a common communicator meet, and names of ports (MPI 4.1, 11.9).
 *
 * A port is a mailbox: the root of MPI_Comm_connect sends what it has to tell, and the root of
 * MPI_Comm_accept takes the next such message, whoever sent it, and answers. A cell says that the
 * port is closed. A published name is a cell as well, which contains the name of the port. */
#include "collectives.h"
#include "dynamic.h"
#include "sessions.h"

/* A rank may look for names that are not there so often. More often is a loop that waits for
 * another rank, and the search would not end. */
enum { MOST_IN_VAIN = 32 };

static struct port {
  char *name;
  bool is_closed;
} *ports;
static size_t count_of_ports;

static struct service {
  char *name, *port;
  uintptr_t site;
} *services;
static size_t count_of_services;

/* Requests about cells, which the verifier keeps under these names. */
static struct bytes *cell_question(char form, const char *kind, const char *name) {
  struct bytes *to = question('O');
  char *cell = text_of("%s %s", kind, name);
  put_u8(to, (uint8_t)form);
  put_text(to, cell);
  release(cell);
  return to;
}

/* The content of a cell; NULL if there is none. */
static char *cell_text(const char *kind, const char *name) {
  cell_question('r', kind, name);
  struct reader answer = ask();
  if (take_u8(&answer) != 'V' || take_u8(&answer) != 'o') return NULL;
  struct reader text = take_block(&answer);
  return text_of("%.*s", (int)(text.end - text.at), (const char *)text.at);
}

static void put_optional(struct bytes *to, const char *text) {
  put_u8(to, text != NULL);
  put_text(to, text ? text : "");
}

/* Whether the content was `from`, and is now `to`; either may be NULL. */
static bool cell_change(const char *kind, const char *name, const char *from, const char *to) {
  struct bytes *asked = cell_question('s', kind, name);
  put_optional(asked, from);
  put_optional(asked, to);
  struct reader answer = ask();
  return take_u8(&answer) == 'V' && take_u8(&answer) == 'b' && take_u8(&answer);
}

/* The name tells which process has opened the port. */
static const char start_of_name[] = "mazurka port ";

FUNCTION(Open_port, (MPI_Info info, char *name)) {
  CALL("MPI_Open_port");
  (void)info;
  char *made = text_of("%s%d.%zu", start_of_name, process_number(), count_of_ports);
  text_out(name, made);
  ports = grow(ports, (count_of_ports + 1) * sizeof *ports);
  ports[count_of_ports++] = (struct port){made, false};
  return MPI_SUCCESS;
}

/* The process that has opened the port; -1 if there never was a port with this name. */
static int opener_of(const char *name) {
  size_t length = sizeof start_of_name - 1;
  return strncmp(name, start_of_name, length) == 0 ? atoi(name + length) : -1;
}

/* A port that this rank has opened. */
static struct port *own_port(const char *name) {
  for (size_t i = 0; i < count_of_ports; i++)
    if (strcmp(ports[i].name, name) == 0) {
      if (ports[i].is_closed) fail("invalid argument", "the port is closed");
      return &ports[i];
    }
  if (opener_of(name) < 0) fail("invalid argument", "\"%s\" is no port", name);
  fail("unsupported", "%s is called with a port that another rank has opened", call.name);
}

FUNCTION(Close_port, (const char *name)) {
  CALL("MPI_Close_port");
  struct port *closed = own_port(text_in(name, "the name"));
  for (size_t i = 0; i < count_of_services; i++)
    if (services[i].name && strcmp(services[i].port, name) == 0)
      fail("invalid argument", "the name %s of the port, published at {@%lx}, was not taken back", services[i].name, services[i].site);
  closed->is_closed = true;
  struct bytes *to = cell_question('w', "closed", name);
  put_text(to, "closed");
  ask();
  return MPI_SUCCESS;
}

/* The root tells the others of its group what the other root has told; nothing, if there is no
 * such port. */
static int meet(MPI_Comm handle, int root, const struct bytes *told, MPI_Comm *made) {
  struct comm *comm = comm_get_intra(handle);
  struct bytes given = {0};
  put_i32(&given, root);
  put(&given, told->at, told->length);
  struct contributions all = exchange(comm, call.name, &given);
  release(given.at);
  struct reader said = root_told(&all, comm, root);
  *made = MPI_COMM_NULL;
  if (said.at == said.end) return error_raise(&comm->object, handle, MPI_ERR_PORT, "MPI_Comm_connect (the port is closed, or never was)");
  *made = comm_publish(intercomm_between(comm, &said));
  return MPI_SUCCESS;
}

/* The clock of a rank goes with what it tells. */
static void put_told(struct bytes *to, const struct comm *comm) {
  windows_publish();
  clock_put(to);
  side_put(to, comm);
}

static void take_told(struct bytes *to, struct reader from) {
  memory_learn();
  clock_join(&from);
  windows_pull();
  put(to, from.at, (size_t)(from.end - from.at));
}

FUNCTION(Comm_accept, (const char *name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made)) {
  CALL("MPI_Comm_accept");
  (void)info;
  OUT(made);
  struct comm *own = comm_get_intra(comm);
  struct bytes told = {0};
  if (root_is_here(comm, root)) {
    own_port(text_in(name, "the name"));
    struct reader came = mail_receive(name, 0, MPI_ANY_SOURCE, 0);
    int client = take_i32(&came);
    struct reader mailbox = take_block(&came);
    char *answers = text_of("%.*s", (int)(mailbox.end - mailbox.at), (const char *)mailbox.at);
    take_told(&told, came);
    struct bytes mine = {0};
    put_told(&mine, own);
    mail_send(answers, 0, client, 1, 0, &mine);
    release(mine.at);
    release(answers);
  }
  int code = meet(comm, root, &told, made);
  release(told.at);
  return code;
}

FUNCTION(Comm_connect, (const char *name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made)) {
  CALL("MPI_Comm_connect");
  (void)info;
  OUT(made);
  static int times;
  struct comm *own = comm_get_intra(comm);
  struct bytes told = {0};
  if (root_is_here(comm, root)) {
    int opener = opener_of(text_in(name, "the name"));
    char *closed = opener < 0 ? NULL : cell_text("closed", name);
    if (opener >= 0 && !closed) {
      char *answers = text_of("%s, answers to %d.%d", name, process_number(), times++);
      struct bytes mine = {0};
      put_i32(&mine, process_number());
      put_text(&mine, answers);
      put_told(&mine, own);
      /* Place 0 at the port is the opener's, and only it may send from there. */
      mail_send(name, 0, opener, process_number() + 1, 0, &mine);
      release(mine.at);
      take_told(&told, mail_receive(answers, 0, 1, 0));
      release(answers);
    }
    release(closed);
  }
  int code = meet(comm, root, &told, made);
  release(told.at);
  return code;
}

/* Errors that have no communicator belong to MPI_COMM_SELF (MPI 4.1, 9.3). */
static int name_error(int code, const char *service, const char *why) {
  char *who = text_of("%s (the name %s is %s)", call.name, service, why);
  return error_raise(&comm_get(MPI_COMM_SELF)->object, MPI_COMM_SELF, code, who);
}

FUNCTION(Publish_name, (const char *service, MPI_Info info, const char *port)) {
  CALL("MPI_Publish_name");
  (void)info;
  text_in(service, "the name");
  text_in(port, "the port");
  if (!cell_change("name", service, NULL, port)) return name_error(MPI_ERR_SERVICE, service, "published already");
  services = grow(services, (count_of_services + 1) * sizeof *services);
  services[count_of_services++] = (struct service){text_of("%s", service), text_of("%s", port), call.site};
  return MPI_SUCCESS;
}

FUNCTION(Unpublish_name, (const char *service, MPI_Info info, const char *port)) {
  CALL("MPI_Unpublish_name");
  (void)info;
  text_in(service, "the name");
  text_in(port, "the port");
  for (size_t i = 0; i < count_of_services; i++) {
    if (!services[i].name || strcmp(services[i].name, service) != 0 || strcmp(services[i].port, port) != 0) continue;
    cell_change("name", service, port, NULL);
    services[i].name = NULL;
    return MPI_SUCCESS;
  }
  char *known = cell_text("name", service);
  if (known && strcmp(known, port) == 0) fail("unsupported", "the name %s was published by another rank", service);
  fail("invalid argument", "the name %s is not published for this port", service);
}

FUNCTION(Lookup_name, (const char *service, MPI_Info info, char *port)) {
  CALL("MPI_Lookup_name");
  (void)info;
  static int in_vain;
  text_in(service, "the name");
  OUT(port);
  char *found = cell_text("name", service);
  if (!found && ++in_vain > MOST_IN_VAIN)
    fail("unsupported", "the rank looks for names that are not published again and again, and such loops cannot be followed");
  if (!found) return name_error(MPI_ERR_NAME, service, "not published");
  text_out(port, found);
  release(found);
  return MPI_SUCCESS;
}

/* Names must be taken back before the rank ends (MPI 4.1, 11.9.4). */
void ports_check_end(void) {
  for (size_t i = 0; i < count_of_services; i++)
    if (services[i].name) fail_at(services[i].site, "invalid argument", "the name %s is published here, and never taken back", services[i].name);
}
