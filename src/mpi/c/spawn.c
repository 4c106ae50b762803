/* Processes that a program starts while it runs (MPI 4.1, 11.8).
 *
 * The root of MPI_Comm_spawn looks for the programs, starts one process after another, and tells
 * the others of its group. Then all of them meet the new processes, which are in MPI_Init: neither
 * side may go on without the other. Hints about the place of a process have no effect, as there is
 * one machine only. */
#include "calls.h"
#include "collectives.h"
#include "dynamic.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* Numbers of spawned processes begin here; the greatest number of processes of one call. */
enum { FIRST_SPAWNED = 1 << 30, MOST_SPAWNED = 1 << 16, MORE = 2 };

int application_number, universe_size;
static struct comm *parent;
static MPI_Comm handle_of_parent = MPI_COMM_NULL;
static struct group *parents;

/* The text has numbers: that of the first process spawned by the call, of the program in the call,
 * the size of the universe, and the processes that have made the call. Programs may start at least
 * a few processes. */
void spawn_read(const char *told) {
  universe_size = world_size + MORE;
  if (!told) return;
  char *at = (char *)told;
  world_base = (int)strtol(at, &at, 10);
  application_number = (int)strtol(at, &at, 10);
  universe_size = (int)strtol(at, &at, 10);
  parents = group_new((int)strtol(at, &at, 10));
  for (int i = 0; i < parents->size; i++) parents->ranks[i] = (int)strtol(at, &at, 10);
}

/* The communicator of those who have spawned and those who were. */
static struct comm *between(struct group *own, struct group *other, int base, const struct comm *from) {
  struct comm *made = comm_new(own, text_of("spawn %d", base), from);
  made->remote = other;
  made->is_remote_first = !from;
  exchange(made, "MPI_Comm_spawn", &(struct bytes){0});
  return made;
}

void spawn_join(void) {
  if (!parents) return;
  parent = between(group_copy(comm_get(MPI_COMM_WORLD)->group), parents, world_base, NULL);
  parent->object.name = parent->title = "MPI_COMM_PARENT";
  /* The program has not made it: that it is not freed is no leak. */
  parent->object.is_predefined = true;
  handle_of_parent = comm_publish(parent);
}

const struct comm *spawn_parent(void) { return parent; }

FUNCTION(Comm_get_parent, (MPI_Comm *parent_of)) {
  CALL("MPI_Comm_get_parent");
  *OUT(parent_of) = parent && !parent->object.is_freed ? handle_of_parent : MPI_COMM_NULL;
  return MPI_SUCCESS;
}

/* A program to be started, and how often. */
struct program {
  const char *command;
  char **arguments;
  int count;
  MPI_Info info;
  char *folder, *path; /* where it begins, and its file; NULL if there is none */
};

static char *joined(const char *folder, const char *name) {
  return *name == '/' ? text_of("%s", name) : text_of("%s/%s", folder, name);
}

static bool is_folder(const char *path) {
  long opened = raw(SYS_openat, AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (opened >= 0) raw(SYS_close, opened);
  return opened >= 0;
}

/* Looks for a program in these folders, which are separated by colons. */
static char *found_in(const char *folders, const char *now, const char *name) {
  while (folders) {
    size_t length = strcspn(folders, ":");
    char *folder = text_of("%.*s", (int)length, folders), *whole = joined(now, folder), *path = joined(whole, name);
    bool is_there = raw(SYS_faccessat, AT_FDCWD, path, X_OK) == 0 && !is_folder(path);
    release(folder);
    release(whole);
    if (is_there) return path;
    release(path);
    folders = folders[length] ? folders + length + 1 : NULL;
  }
  return NULL;
}

/* The folder of this program. */
static char *own_folder(void) {
  char *path = allocate(PATH_MAX);
  long length = raw(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, PATH_MAX - 1);
  char *end = length > 0 ? strrchr(path, '/') : NULL;
  if (end) *end = 0;
  return path;
}

/* A name without a slash is looked for in the folders of `path`, beside this program, in the folder
 * where the new one begins, and in PATH; another name is relative to that folder. */
static void look_for(struct program *program) {
  char now[PATH_MAX];
  if (!getcwd(now, sizeof now)) fail("unsupported", "the working directory is not known");
  const char *folder = info_find(program->info, "wdir"), *path = info_find(program->info, "path");
  program->folder = folder ? joined(now, folder) : text_of("%s", now);
  if (!is_folder(program->folder)) return;
  const char *name = program->command;
  if (strchr(name, '/')) {
    program->path = found_in("", program->folder, name);
    char *own = joined(program->folder, name);
    if (!program->path && access(own, X_OK) == 0) fail("unsupported", "the rank starts a program that it has made itself: %s", own);
    release(own);
    return;
  }
  if (path) program->path = found_in(path, now, name);
  char *own = own_folder();
  if (!program->path) program->path = found_in(own, now, name);
  release(own);
  if (!program->path) program->path = found_in("", program->folder, name);
  if (!program->path) program->path = found_in(getenv("PATH"), now, name);
}

/* Describes how a program is started. */
static void put_program(struct bytes *to, const struct program *program) {
  put_text(to, program->path);
  put_text(to, program->folder);
  uint32_t count = 0;
  while (program->arguments && program->arguments[count]) count++;
  put_u32(to, count);
  for (uint32_t i = 0; i < count; i++) put_text(to, program->arguments[i]);
}

/* The number of the first process: a hash (FNV-1a) of the call, which differs from all other calls
 * of the execution. */
static int base_of(const struct comm *comm, uint32_t call_number, const struct program *programs, int count) {
  struct bytes all = {0};
  put_i32(&all, process_number());
  put_u32(&all, call_number);
  put_text(&all, comm->name);
  for (int i = 0; i < count; i++) {
    put_program(&all, &programs[i]);
    put_i32(&all, programs[i].count);
  }
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < all.length; i++) hash = (hash ^ all.at[i]) * 0x100000001b3u;
  release(all.at);
  return FIRST_SPAWNED + (int)(hash % (FIRST_SPAWNED - MOST_SPAWNED));
}

/* Starts all processes: an operation for each. */
static int start(const struct comm *comm, const struct program *programs, int count, int total) {
  static uint32_t calls;
  int base = base_of(comm, ++calls, programs, count), rank = 0;
  struct bytes whom = {0};
  for (int i = 0; i < comm->group->size; i++) {
    char *number = text_of(" %d", comm->group->ranks[i]);
    put(&whom, number, strlen(number));
    release(number);
  }
  put_u8(&whom, 0);
  for (int i = 0; i < count; i++) {
    char *told = text_of("%d %d %d %d%s", base, i, universe_size, comm->group->size, (const char *)whom.at);
    for (int j = 0; j < programs[i].count; j++, rank++) {
      struct bytes *to = question('X');
      put_u32(to, (uint32_t)(base + rank));
      put_u32(to, (uint32_t)rank);
      put_u32(to, (uint32_t)total);
      put_u32(to, calls);
      put_program(to, &programs[i]);
      put_text(to, told);
      ask();
    }
    release(told);
  }
  release(whom.at);
  return base;
}

/* Checks the arguments that matter at the root only, and looks for the programs. Returns the number
 * of processes. */
static int prepare(struct program *programs, int count) {
  long total = 0;
  for (int i = 0; i < count; i++) {
    struct program *program = &programs[i];
    text_in(program->command, "the command");
    if (program->count < 1) fail("invalid count", "%d processes are to be started", program->count);
    for (char **argument = program->arguments; argument && *argument; argument++) text_in(*argument, "the argument");
    look_for(program);
    total += program->count;
  }
  if (total >= MOST_SPAWNED) fail("unsupported", "%ld processes are to be started", total);
  return (int)total;
}

/* The first program that was not found. */
static const char *missing(const struct program *programs, int count) {
  for (int i = 0; i < count; i++)
    if (!programs[i].path) return programs[i].command;
  return NULL;
}

struct reader root_told(const struct contributions *said, const struct comm *comm, int root) {
  for (int rank = 0; rank < comm->group->size; rank++) {
    struct reader other = *contribution(said, rank);
    int its = take_i32(&other);
    if (its != root) fail("root mismatch", "the root is %d here, and %d at rank %d", root, its, rank);
  }
  struct reader told = *contribution(said, root);
  take_i32(&told);
  return told;
}

bool root_is_here(MPI_Comm handle, int root) {
  const struct comm *comm = comm_get_intra(handle);
  if (root < 0 || root >= comm->group->size)
    fail("invalid root", "the root is %d, but %s has %d ranks", root, comm->title, comm->group->size);
  return comm->rank == root;
}

/* The root knows the programs; the others, only who calls. */
static int spawn(struct program *programs, int count, int root, MPI_Comm handle, MPI_Comm *made, int *codes) {
  struct comm *comm = comm_get_intra(handle);
  struct bytes given = {0};
  put_i32(&given, root);
  if (comm->rank == root) {
    int total = prepare(programs, count);
    if (codes != MPI_ERRCODES_IGNORE) OUTS(codes, total);
    const char *lacking = missing(programs, count);
    put_i32(&given, total);
    put_i32(&given, lacking ? 0 : start(comm, programs, count, total));
    put_text(&given, lacking ? lacking : "");
  }
  struct contributions said = exchange(comm, call.name, &given);
  release(given.at);
  struct reader told = root_told(&said, comm, root);
  int all = take_i32(&told), base = take_i32(&told);
  if (codes != MPI_ERRCODES_IGNORE) OUTS(codes, all);
  for (int i = 0; i < all && codes != MPI_ERRCODES_IGNORE; i++) codes[i] = base ? MPI_SUCCESS : MPI_ERR_SPAWN;
  *made = MPI_COMM_NULL;
  if (!base) {
    struct reader lacking = take_block(&told);
    char *who = text_of("%s (there is no program %.*s)", call.name, (int)(lacking.end - lacking.at), (const char *)lacking.at);
    return error_raise(&comm->object, handle, MPI_ERR_SPAWN, who);
  }
  struct group *children = group_new(all);
  for (int i = 0; i < all; i++) children->ranks[i] = base + i;
  *made = comm_publish(between(group_copy(comm->group), children, base, comm));
  return MPI_SUCCESS;
}

FUNCTION(Comm_spawn, (const char *command, char *argv[], int count, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made, int codes[])) {
  CALL("MPI_Comm_spawn");
  OUT(made);
  struct program one = {.command = command, .arguments = argv, .count = count, .info = info};
  return spawn(&one, root_is_here(comm, root), root, comm, made, codes);
}

FUNCTION(Comm_spawn_multiple, (int count, char *commands[], char **argvs[], const int counts[], const MPI_Info infos[], int root,
                               MPI_Comm comm, MPI_Comm *made, int codes[])) {
  CALL("MPI_Comm_spawn_multiple");
  OUT(made);
  if (!root_is_here(comm, root)) return spawn(NULL, 0, root, comm, made, codes);
  if (count < 1) fail("invalid count", "%d programs are to be started", count);
  INS(commands, count);
  INS(counts, count);
  INS(infos, count);
  if (argvs != MPI_ARGVS_NULL) INS(argvs, count);
  struct program *programs = allocate((size_t)count * sizeof *programs);
  for (int i = 0; i < count; i++)
    programs[i] = (struct program){.command = commands[i], .arguments = argvs ? argvs[i] : NULL, .count = counts[i], .info = infos[i]};
  return spawn(programs, count, root, comm, made, codes);
}
