/* Processes: the process number of a rank, the signals that it sends, and the processes that it
 * starts.
 *
 * Process numbers differ from run to run, so the rank only sees made-up ones: the same in each run,
 * and greater than all numbers of the kernel, so that none of them denotes another process. A rank
 * may send signals to itself. Signals to others are refused, because it is unknown when they would
 * arrive.
 *
 * A rank may start processes that work for it: each is a copy without a connection to the verifier.
 * It may compute, use pipes and shared memory, and print. Everything else is refused, as for a
 * rank: this is recorded in memory that all of them share, and the rank reports it when it ends. */
#include "calls.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SITES = 24, MOST = 256, FIRST = 1 << 23, STEP = 512, PATIENCE = 1000 };

bool is_child;

/* Memory shared by a rank and the processes that it has started. */
static struct family {
  uint32_t count; /* the number of started processes */
  uint32_t is_refused, is_reported;
  char why[512];
  size_t sites;
  uintptr_t site[SITES];
} *family;

static int number, parent;       /* made up */

/* Where the numbers of this rank begin. */
static int first_number(void) { return FIRST + 1 + world_rank + (world_base ? MOST * STEP + (world_base - (1 << 30)) / 2 : 0); }

static struct child {
  pid_t real;
  int number;
} children[MOST];
static size_t count_of_children;

static pid_t real_number(void) { return (pid_t)raw(SYS_getpid); }

void processes_begin(void) {
  family = mmap(NULL, sizeof *family, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (family == MAP_FAILED) give_up("no memory");
  parent = FIRST;
  number = first_number();
}

void process_refused(const char *why, const uintptr_t *sites, size_t count) {
  if (!__atomic_exchange_n(&family->is_refused, 1, __ATOMIC_SEQ_CST)) {
    snprintf(family->why, sizeof family->why, "%s", why);
    family->sites = count < SITES ? count : SITES;
    memcpy(family->site, sites, family->sites * sizeof *sites);
    __atomic_store_n(&family->is_reported, 1, __ATOMIC_SEQ_CST);
  }
  process_exit(1);
}

void processes_check(void) {
  if (!family || is_child || !__atomic_exchange_n(&family->is_reported, 0, __ATOMIC_SEQ_CST)) return;
  fail_somewhere(family->site, family->sites, "unsupported", "%s", family->why);
}

void processes_wait(void) {
  if (!family || !family->count) return;
  for (int milliseconds = 0; milliseconds < PATIENCE; milliseconds++) {
    while (raw(SYS_wait4, -1, NULL, WNOHANG, NULL) > 0) {}
    if (raw(SYS_wait4, -1, NULL, WNOHANG, NULL) < 0) return processes_check();
    raw(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL);
  }
  refuse("a process that the rank has started goes on when the rank has ended");
}

static long forks(const long *a) {
  if (a[0] & CLONE_VM) return starts_program(a);
  const long plain = SIGCHLD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID;
  if (a[1] || (a[0] & ~plain)) refuse("the rank starts a process in an unusual way");
  if (!is_boxed) refuse("the rank starts a process, and this system has no namespace to keep it in (pid_namespaces(7))");
  uint32_t count = __atomic_add_fetch(&family->count, 1, __ATOMIC_SEQ_CST);
  if (count > MOST) refuse("the rank starts more than %d processes", MOST);
  if (!is_child) raw(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
  long made = raw(SYS_clone, a[0], a[1], a[2], a[3], a[4]);
  int its = first_number() + (int)count * STEP;
  if (made == 0) {
    wire_leave();
    is_child = true;
    parent = number;
    number = its;
    count_of_children = 0;
  } else if (made > 0) {
    children[count_of_children++] = (struct child){(pid_t)made, its};
    made = its;
  }
  return made;
}

#ifdef SYS_fork
static long forks_as_before(const long *a) {
  (void)a;
  return forks((long[6]){SIGCHLD});
}
#endif

/* The child with this number, which is made up or that of the kernel. */
static const struct child *child_of(long made_up, long real) {
  for (size_t i = count_of_children; i-- > 0;)
    if (children[i].number == made_up || children[i].real == real) return &children[i];
  return NULL;
}

/* Waits for children, by the numbers of the kernel. An unknown number is a grandchild whose parent
 * ended before. */
static long waits(const long *a) {
  pid_t named = (pid_t)a[0];
  const struct child *wanted = named > 0 ? child_of(named, 0) : NULL;
  if (named > 0 && !wanted) return -ECHILD;
  long found;
  do {
    found = raw_in_the_open(SYS_wait4, wanted ? wanted->real : -1, a[1], a[2], a[3], 0);
    wanted = found > 0 ? child_of(0, found) : NULL;
  } while (found > 0 && !wanted);
  return wanted ? wanted->number : found;
}

static long waits_for_state(const long *a) {
  const struct child *wanted = a[0] == P_PID ? child_of(a[1], 0) : NULL;
  if (!wanted && a[0] != P_ALL) return -ECHILD;
  siginfo_t *info = (siginfo_t *)a[2];
  long result = raw_in_the_open(SYS_waitid, a[0], wanted ? wanted->real : 0, a[2], a[3], a[4]);
  const struct child *found = info && !result ? child_of(0, info->si_pid) : NULL;
  if (found) info->si_pid = found->number;
  return result;
}

static long own_number(const long *a) {
  (void)a;
  return number;
}
static long number_of_parent(const long *a) {
  (void)a;
  return parent;
}
static long number_of_thread(const long *a) {
  (void)a;
  long thread = raw(SYS_gettid);
  return thread == real_number() ? number : thread;
}

/* A signal to the process itself is delivered when the call is over, at the place of the call:
 * there the program's own mask is in force. SIGKILL is reported here: the system sends it, too, when
 * there is no memory left, and that is no fault of the program. */
static void check_target(long process, long signal) {
  if (process != number) refuse("the rank sends a signal to another process, and when that arrives is not known");
  uintptr_t sites[SITES];
  if (signal == SIGKILL && !is_child) {
    size_t count = sites_now(sites, SITES);
    fail_somewhere(sites, count, "crash", "the rank ends itself by signal %d (%s)", SIGKILL, strsignal(SIGKILL));
  }
  uint64_t all = ~0ull;
  raw(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all);
}
static long real_thread(long thread) { return thread == number ? real_number() : thread; }

static long sends_signal(const long *a) {
  check_target(a[0], a[1]);
  return raw(SYS_kill, real_number(), a[1]);
}
static long sends_signal_with_value(const long *a) {
  check_target(a[0], a[1]);
  return raw(SYS_rt_sigqueueinfo, real_number(), a[1], a[2]);
}
static long signals_thread(const long *a) {
  check_target(a[0], a[2]);
  return raw(SYS_tgkill, real_number(), real_thread(a[1]), a[2]);
}
static long signals_thread_with_value(const long *a) {
  check_target(a[0], a[2]);
  return raw(SYS_rt_tgsigqueueinfo, real_number(), real_thread(a[1]), a[2], a[3]);
}
static long signals_any_thread(const long *a) {
  bool is_own = raw(SYS_tgkill, real_number(), real_thread(a[0]), 0) == 0;
  return signals_thread((long[]){is_own ? number : 0, a[0], a[1]});
}
static long signals_others(const long *a) {
  (void)a;
  check_target(-1, 0);
  return 0;
}

static long leaves(const long *a) {
  (void)a;
  refuse("the rank makes a session or a group of processes of its own, and may go on there when it has ended");
}

static long ignores(const long *a) {
  (void)a;
  return 0;
}

/* The program cannot see or close the connection to the verifier. */
static long is_not_open(const long *a) {
  (void)a;
  return -EBADF;
}
static long closes_all(const long *a) {
  unsigned first = (unsigned)a[0], last = (unsigned)a[1];
  if (first > last) return -EINVAL;
  long result = 0;
  if (first < WIRE) result = raw(SYS_close_range, first, last < WIRE ? last : WIRE - 1, a[2]);
  if (result == 0 && last > PRINTED) result = raw(SYS_close_range, first > PRINTED ? first : PRINTED + 1, last, a[2]);
  return result;
}

enum { EXACTLY = UINT32_MAX, NO_THREAD = CLONE_VM | CLONE_THREAD, BOTH = ~(WIRE ^ PRINTED) };

const struct watched process_calls[] = {
    /* posix_spawn: a process that shares the memory but is not a thread */
    {.number = SYS_clone, .instead = forks, .of = 0, .mask = NO_THREAD, .value = CLONE_VM},
    {.number = SYS_clone, .instead = forks, .of = 0, .mask = CLONE_VM, .value = 0},
#ifdef SYS_fork
    {.number = SYS_fork, .instead = forks_as_before},
#endif
    {.number = SYS_wait4, .instead = waits},
    {.number = SYS_waitid, .instead = waits_for_state},
    {.number = SYS_getpid, .instead = own_number},
    {.number = SYS_getppid, .instead = number_of_parent},
    {.number = SYS_gettid, .instead = number_of_thread},
    {.number = SYS_kill, .instead = sends_signal},
    {.number = SYS_rt_sigqueueinfo, .instead = sends_signal_with_value},
    {.number = SYS_tgkill, .instead = signals_thread},
    {.number = SYS_rt_tgsigqueueinfo, .instead = signals_thread_with_value},
    {.number = SYS_tkill, .instead = signals_any_thread},
    {.number = SYS_pidfd_open, .instead = signals_others},
    {.number = SYS_pidfd_send_signal, .instead = signals_others},
    {.number = SYS_setsid, .instead = leaves},
    {.number = SYS_setpgid, .instead = leaves},
    {.number = SYS_prctl, .instead = ignores, .of = 0, .mask = EXACTLY, .value = PR_SET_PDEATHSIG},
    {.number = SYS_close, .instead = is_not_open, .of = 0, .mask = BOTH, .value = WIRE},
    {.number = SYS_dup3, .instead = is_not_open, .of = 1, .mask = BOTH, .value = WIRE},
#ifdef SYS_dup2
    {.number = SYS_dup2, .instead = is_not_open, .of = 1, .mask = BOTH, .value = WIRE},
#endif
    {.number = SYS_close_range, .instead = closes_all},
};
const size_t process_call_count = sizeof process_calls / sizeof *process_calls;
