/* The place where ranks run: a server that forks them, in a namespace that ends with it.
 *
 * The process that the verifier starts is a *guard*. It makes a PID namespace (pid_namespaces(7))
 * and starts the server there, as process 1. When process 1 ends, the kernel ends all other
 * processes in the namespace. So nothing that a rank starts outlives the search, even if the
 * verifier is killed: the server ends when its wire is closed. Signals of ranks do not reach the
 * server, and cannot reach the guard.
 *
 * The guard has its own session: Ctrl-C on a terminal is for the verifier. When the server has
 * ended, all ranks are gone, and the guard deletes what they have left in the folder of the search.
 *
 * Some systems do not allow namespaces. There a rank may not start processes (processes.c), so it
 * is enough to end the rank itself. */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool is_boxed;

static void write_to(const char *path, const char *text) {
  long file = raw(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
  raw(SYS_write, file, text, strlen(text));
  raw(SYS_close, file);
}

/* A user who may not make a PID namespace may make a user namespace, be the same user there, and
 * then make a PID namespace in it. */
static bool unshare_as_user(void) {
  unsigned user = getuid(), group = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID)) return false;
  char text[40];
  snprintf(text, sizeof text, "%u %u 1", user, user);
  write_to("/proc/self/uid_map", text);
  write_to("/proc/self/setgroups", "deny");
  snprintf(text, sizeof text, "%u %u 1", group, group);
  write_to("/proc/self/gid_map", text);
  return true;
}

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *walk) {
  (void)what, (void)kind, (void)walk;
  return remove(path), 0;
}
static int open_one(const char *path, const struct stat *what, int kind, struct FTW *walk) {
  (void)what, (void)walk;
  return kind == FTW_D || kind == FTW_DNR ? (void)chmod(path, 0700), 0 : 0;
}

void remove_all(const char *folder) {
  if (access(folder, F_OK)) return;
  nftw(folder, open_one, 16, FTW_PHYS);
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void __attribute__((noreturn)) guard(pid_t server) {
  int status = 0;
  while (waitpid(server, &status, 0) < 0 && errno == EINTR) {}
  if (WIFSIGNALED(status)) _exit(128 + WTERMSIG(status));
  if (WEXITSTATUS(status) == 0) remove_all(verifier_folder());
  _exit(WEXITSTATUS(status));
}

void server_begin(void) {
  setsid();
  raw(SYS_close_range, STDERR_FILENO + 1, ~0u, 0); /* descriptors that the verifier inherited */
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  write_to("/proc/self/oom_score_adj", "1000"); /* if memory ends, ranks go first (proc(5)) */
  is_boxed = unshare(CLONE_NEWPID) == 0 || unshare_as_user();
  pid_t server = fork();
  if (server < 0) give_up("cannot start a process");
  if (server > 0) guard(server);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* The wait status of a rank; -1 if it had to be killed, even if it seemed to have ended by itself
 * (`has_ended`). Processes that it has started are ended, too. */
int server_end(pid_t rank, bool has_ended) {
  int status = 0;
  pid_t found = waitpid(rank, &status, WNOHANG);
  for (int milliseconds = 0; has_ended && found == 0 && milliseconds < 1000; milliseconds++) {
    raw(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL);
    found = waitpid(rank, &status, WNOHANG);
  }
  kill(-rank, SIGKILL);
  if (found == 0) waitpid(rank, &status, 0);
  while (waitpid(-rank, NULL, 0) > 0) {}
  files_remove(rank);
  return has_ended && found == 0 ? -1 : status;
}
