/* The system calls by which a rank interacts with the rest of the machine.
 *
 * A rank is run many times, alone, and not in the order of one execution. So its effects on the
 * machine must be suppressed, and what it reads must be the same in each run. Replacing functions
 * of the C library is not enough for that: there are many ways to open a file. Instead the kernel
 * stops at these system calls (seccomp(2)), wherever they are made: in the program, in the C
 * library, in that of C++, or in inline assembly. Instead of the call there is the signal SIGSYS;
 * its handler does something else and writes the result into the register where the program expects
 * it. The handler makes its own calls from one address, at which the kernel does not stop.
 *
 *   about files          files.c: each rank changes copies of its own
 *   random numbers       the same in each run
 *   time of processes    that of the clock of the rank
 *   processes, signals   processes.c: numbers are made up; a rank may start processes, and send
 *                        signals to itself
 *   the end              the verifier is told, also by a rank that calls _exit or quick_exit
 *   sockets, shared memory, other programs
 *                        the rank is ended: the effects are unknown, so nothing can be said about
 *                        the program
 *
 * What is not caught: time that is read without a system call by means other than the functions in
 * env.c (instructions, the page of the kernel), and threads that are not started by pthread_create.
 *
 * A filter is inherited, and to install one takes longer than a fork. So the server has it as well,
 * and its own calls are made as they are.
 *
 * A blocked signal cannot be handled: the kernel ends the rank, and the verifier reports it like a
 * refused call. So SIGSYS stays unblocked, as long as the program blocks signals by sigprocmask. */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/times.h>
#include <sys/un.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
__asm__(
    ".text\n"
    ".globl mazurka_raw\n"
    ".type mazurka_raw, @function\n"
    "mazurka_raw:\n"
    "  movq %rdi, %rax\n"
    "  movq %rsi, %rdi\n"
    "  movq %rdx, %rsi\n"
    "  movq %rcx, %rdx\n"
    "  movq %r8, %r10\n"
    "  movq %r9, %r8\n"
    "  movq 8(%rsp), %r9\n"
    "  syscall\n"
    ".globl mazurka_raw_end\n"
    "mazurka_raw_end:\n"
    "  ret\n"
    ".size mazurka_raw, . - mazurka_raw\n");
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
__asm__(
    ".text\n"
    ".globl mazurka_raw\n"
    ".type mazurka_raw, %function\n"
    "mazurka_raw:\n"
    "  mov x8, x0\n"
    "  mov x0, x1\n"
    "  mov x1, x2\n"
    "  mov x2, x3\n"
    "  mov x3, x4\n"
    "  mov x4, x5\n"
    "  mov x5, x6\n"
    "  svc #0\n"
    ".globl mazurka_raw_end\n"
    "mazurka_raw_end:\n"
    "  ret\n"
    ".size mazurka_raw, . - mazurka_raw\n");
#else
#error "the system calls of this machine are not known here"
#endif

extern const char mazurka_raw_end[];

enum { MOST_WRITTEN = 128 << 20 }; /* bytes in one file */

bool is_server;
/* Where the rank makes the intercepted call. A thread that begins makes some beside others. */
static _Thread_local ucontext_t *interrupted;

static uintptr_t place_of_call(void) {
#if defined(__x86_64__)
  return (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
#else
  return interrupted->uc_mcontext.pc;
#endif
}

/* The calls that the rank is in, innermost first, without those in libraries. */
struct calls {
  uintptr_t *sites;
  size_t count, room;
  bool has_begun; /* before that, the calls are our own */
};
static _Unwind_Reason_Code add_call(struct _Unwind_Context *at, void *with) {
  struct calls *calls = with;
  uintptr_t site = _Unwind_GetIP(at);
  if (interrupted && site == place_of_call()) calls->has_begun = true;
  if (calls->has_begun && is_in_program(site)) calls->sites[calls->count++] = site;
  return calls->count < calls->room ? _URC_NO_REASON : _URC_END_OF_STACK;
}

size_t sites_now(uintptr_t *sites, size_t room) {
  struct calls calls = {sites, 0, room, !interrupted};
  _Unwind_Backtrace(add_call, &calls);
  return calls.count;
}

void refuse(const char *format, ...) {
  va_list values;
  va_start(values, format);
  char *message = text_with(format, values);
  uintptr_t sites[24] = {0};
  size_t count = sites_now(sites, sizeof sites / sizeof *sites);
  if (is_child) process_refused(message, sites, count);
  fail_somewhere(sites, count, "unsupported", "%s", message);
}

long starts_program(const long *a) {
  (void)a;
  refuse("the rank starts another program, which would be started again in each run");
}

/* To the kernel, these look like a copy of the process whose caller is unknown. */
WEAK int system(const char *command) {
  if (command) refuse("the rank starts another program, which would be started again in each run");
  return 1;
}
WEAK FILE *popen(const char *command, const char *mode) {
  (void)command, (void)mode;
  refuse("the rank starts another program, which would be started again in each run");
}

static long reaches_processes(const long *a) {
  (void)a;
  refuse("the rank uses memory or messages of the operating system, through which ranks may reach each other without MPI");
}

static long changes_system(const long *a) {
  (void)a;
  refuse("the rank changes the system that it runs on");
}

static long opens_socket(const long *a) {
  if (a[0] != AF_UNIX && a[0] != AF_NETLINK)
    refuse("the rank opens a socket, through which ranks may reach each other without MPI");
  return raw(SYS_socket, a[0], a[1], a[2]);
}

/* The C library asks a service for names of users, if there is one. */
static long connects(const long *a) {
  const struct sockaddr_un *to = (const struct sockaddr_un *)a[1];
  if (to && a[2] >= 2 && to->sun_family == AF_NETLINK) return raw(SYS_bind, a[0], a[1], a[2]);
  bool is_service = to && a[2] > 2 && to->sun_family == AF_UNIX && strncmp(to->sun_path, "/var/run/nscd/", 14) == 0;
  if (!is_service) refuse("the rank connects a socket, through which ranks may reach each other without MPI");
  return -ENOENT;
}

/* Numbers that look random, different in each rank. */
static long random_bytes(const long *a) {
  static uint64_t state;
  unseen++;
  if (!state) state = 0x9e3779b97f4a7c15u * (uint64_t)(process_number() + 1);
  for (long i = 0; i < a[1]; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    ((uint8_t *)a[0])[i] = (uint8_t)(state >> 32);
  }
  return a[1];
}
void random_fill(void *to, size_t length) { random_bytes((long[]){(long)to, (long)length}); }

static long process_times(const long *a) {
  long ticks = (long)(clock_of_program() / (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK)));
  if (a[0]) *(struct tms *)a[0] = (struct tms){.tms_utime = ticks};
  return ticks;
}

static long resource_use(const long *a) {
  uint64_t now = clock_of_program();
  struct timeval used = {(time_t)(now / 1000000000u), (suseconds_t)(now % 1000000000u / 1000)};
  *(struct rusage *)a[1] = (struct rusage){.ru_utime = used};
  return 0;
}

/* Changes the blocked signals; those that the library needs are never blocked. */
static long blocks_signals(const long *a) {
  if (a[3] != sizeof(uint64_t)) return -EINVAL;
  uint64_t *blocked = (uint64_t *)&interrupted->uc_sigmask, old = *blocked;
  if (a[1]) {
    uint64_t given = *(const uint64_t *)a[1];
    if (a[0] == SIG_BLOCK) *blocked |= given;
    else if (a[0] == SIG_UNBLOCK) *blocked &= ~given;
    else if (a[0] == SIG_SETMASK) *blocked = given;
    else return -EINVAL;
    *blocked &= ~(1ull << (SIGSYS - 1) | 1ull << (SIGXFSZ - 1));
  }
  if (a[2]) *(uint64_t *)a[2] = old;
  return 0;
}

static long ends(const long *a) {
  if (!is_child) rank_exits((int)a[0] & 0xff);
  process_exit((int)a[0]);
}

static long ignores(const long *a) {
  (void)a;
  return 0;
}

static long is_absent(const long *a) {
  (void)a;
  return -ENOSYS;
}

enum { OLDER = 0x40000000 };

static const struct watched other_calls[] = {
    {.number = SYS_execve, .instead = starts_program},
    {.number = SYS_execveat, .instead = starts_program},
#ifdef SYS_vfork
    {.number = SYS_vfork, .instead = starts_program},
#endif
    {.number = SYS_clone3, .instead = is_absent},
    {.number = SYS_exit_group, .instead = ends},
    {.number = SYS_socket, .instead = opens_socket},
    {.number = SYS_connect, .instead = connects},
    {.number = SYS_bind, .instead = connects},
    {.number = SYS_shmget, .instead = reaches_processes},
    {.number = SYS_shmat, .instead = reaches_processes},
    {.number = SYS_msgget, .instead = reaches_processes},
    {.number = SYS_semget, .instead = reaches_processes},
    {.number = SYS_mq_open, .instead = reaches_processes},
    {.number = SYS_ptrace, .instead = reaches_processes},
    {.number = SYS_process_vm_readv, .instead = reaches_processes},
    {.number = SYS_process_vm_writev, .instead = reaches_processes},
    {.number = SYS_io_uring_setup, .instead = is_absent},
    {.number = SYS_mount, .instead = changes_system},
    {.number = SYS_umount2, .instead = changes_system},
    {.number = SYS_chroot, .instead = changes_system},
    {.number = SYS_pivot_root, .instead = changes_system},
    {.number = SYS_unshare, .instead = changes_system},
    {.number = SYS_setns, .instead = changes_system},
    {.number = SYS_sethostname, .instead = changes_system},
    {.number = SYS_reboot, .instead = changes_system},
    {.number = SYS_swapon, .instead = changes_system},
    {.number = SYS_settimeofday, .instead = changes_system},
    {.number = SYS_clock_settime, .instead = changes_system},
    {.number = SYS_getrandom, .instead = random_bytes},
    {.number = SYS_times, .instead = process_times},
    {.number = SYS_getrusage, .instead = resource_use},
    {.number = SYS_rt_sigprocmask, .instead = blocks_signals},
    {.number = SYS_rt_sigaction, .instead = ignores, .of = 0, .mask = UINT32_MAX, .value = SIGSYS},
    {.number = SYS_rt_sigaction, .instead = ignores, .of = 0, .mask = UINT32_MAX, .value = SIGXFSZ},
};
enum { OTHER_CALLS = sizeof other_calls / sizeof *other_calls };

static const struct watched *find(const struct watched *in, size_t count, long number) {
  for (size_t i = 0; i < count; i++)
    if (in[i].number == number) return &in[i];
  return NULL;
}

static void arguments_of(const ucontext_t *at, long *a) {
#if defined(__x86_64__)
  const greg_t *r = at->uc_mcontext.gregs;
  const long in_order[] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
  memcpy(a, in_order, sizeof in_order);
#else
  for (int i = 0; i < 6; i++) a[i] = (long)at->uc_mcontext.regs[i];
#endif
}

static void set_result(ucontext_t *at, long result) {
#if defined(__x86_64__)
  at->uc_mcontext.gregs[REG_RAX] = result;
#else
  at->uc_mcontext.regs[0] = (unsigned long)result;
#endif
}

static void enter(ucontext_t *at) {
  interrupted = at;
}
static void leave(void) {
  interrupted = NULL;
}

long raw_in_the_open(long number, long a, long b, long c, long d, long e) {
  ucontext_t *at = interrupted;
  uint64_t blocked;
  leave();
  raw(SYS_rt_sigprocmask, SIG_SETMASK, &at->uc_sigmask, &blocked, sizeof blocked);
  long result = raw(number, a, b, c, d, e);
  raw(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof blocked);
  enter(at);
  return result;
}

/* The handler of the signal that replaces a call. */
static void on_call(int signal, siginfo_t *what, void *context) {
  (void)signal;
  int before = errno;
  long a[6];
  arguments_of(context, a);
  if (is_server && what->si_syscall != SYS_rt_sigprocmask) {
    set_result(context, raw(what->si_syscall, a[0], a[1], a[2], a[3], a[4], a[5]));
    return;
  }
  unseen++;
  enter(context);
  const struct watched *call = find(other_calls, OTHER_CALLS, what->si_syscall);
  if (!call) call = find(process_calls, process_call_count, what->si_syscall);
  if (!call) {
    call = find(file_calls, file_call_count, what->si_syscall);
    bool is_open = what->si_syscall == SYS_newfstatat && (a[3] & AT_EMPTY_PATH);
    if (call && is_child && !is_open) refuse("a process that the rank has started uses files");
  }
  if (!call) refuse("the rank makes system call %d", what->si_syscall);
  set_result(context, call->instead(a));
  leave();
  errno = before;
}

/* Limits the size of files and of output: a rank that does not end would fill the disk. */
static void on_too_much(int signal) {
  (void)signal;
  refuse("the rank prints or writes a file of more than %d MiB", MOST_WRITTEN >> 20);
}

/* A filter is a program for a small machine with one register. Its jumps count instructions. */
static struct sock_filter filter[2048];
static unsigned short filter_length;

static void instruction(uint16_t code, uint32_t value, size_t if_true, size_t if_false) {
  filter[filter_length++] = (struct sock_filter){code, (uint8_t)if_true, (uint8_t)if_false, value};
}
#define LOAD(part) instruction(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, part), 0, 0)
#define SKIP_UNLESS(value, count) instruction(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, count)
#define RETURN(action) instruction(BPF_RET | BPF_K, action, 0, 0)

/* Stops at the call, unless the library itself makes it. */
static void stop_here(void) {
  uint64_t own = (uint64_t)(uintptr_t)mazurka_raw_end;
  LOAD(instruction_pointer);
  SKIP_UNLESS(own, 3);
  instruction(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, instruction_pointer) + 4, 0, 0);
  SKIP_UNLESS(own >> 32, 1);
  RETURN(SECCOMP_RET_ALLOW);
  RETURN(SECCOMP_RET_TRAP);
}
enum { STOP_LENGTH = 6 };

static void watch(const struct watched *calls, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!calls[i].mask) {
      SKIP_UNLESS(calls[i].number, STOP_LENGTH);
      stop_here();
      continue;
    }
    SKIP_UNLESS(calls[i].number, STOP_LENGTH + 4);
    instruction(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)calls[i].of), 0, 0);
    instruction(BPF_ALU | BPF_AND | BPF_K, calls[i].mask, 0, 0);
    SKIP_UNLESS(calls[i].value, STOP_LENGTH);
    stop_here();
    LOAD(nr);
  }
}

void calls_follow(bool files_too) {
  folder_now = allocate(PATH_MAX);
  raw(SYS_getcwd, folder_now, PATH_MAX);
  LOAD(arch);
  SKIP_UNLESS(MACHINE, 1);
  instruction(BPF_JMP | BPF_JA, 1, 0, 0);
  RETURN(SECCOMP_RET_TRAP);
  LOAD(nr);
#if defined(__x86_64__)
  /* On this machine, calls of 32-bit programs have other numbers. */
  instruction(BPF_JMP | BPF_JGE | BPF_K, OLDER, 0, 1);
  RETURN(SECCOMP_RET_TRAP);
#endif
  watch(other_calls, OTHER_CALLS);
  watch(process_calls, process_call_count);
  if (files_too) watch(file_calls, file_call_count);
  RETURN(SECCOMP_RET_ALLOW);
  struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  /* Other signals are handled when the call is over. */
  sigfillset(&action.sa_mask);
  const int own[] = {SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&action.sa_mask, own[i]);
  sigaction(SIGSYS, &action, NULL);
  struct rlimit most = {MOST_WRITTEN, MOST_WRITTEN};
  setrlimit(RLIMIT_FSIZE, &most);
  struct sigaction too_much = {.sa_handler = on_too_much, .sa_flags = SA_ONSTACK};
  sigaction(SIGXFSZ, &too_much, NULL);
  struct sock_fprog program = {filter_length, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
    give_up("the system calls of the rank cannot be followed (seccomp)");
}
