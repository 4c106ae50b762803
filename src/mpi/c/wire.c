/* The wire to the verifier: frames over a local socket. A frame is a length and a body, in the byte
 * order of the machine.
 *
 * `mazurka mpirun` starts the program once for each rank. Before `main` the library takes over:
 * from then on this process is a *server*, which forks a new rank whenever it gets the order. The
 * order comes before the rank is needed, so that no search waits for the fork. The rank first reads
 * a list of answers (its history so far), runs, and asks questions; the answer is the next element
 * of the list, or comes over the wire.
 *
 *   verifier to server   'R' id key: run a rank   'S' pid: how did it end?   'K' pid: end it
 *   server to verifier   hello: 's' rank bias     after S: status as of waitpid, -1 if it had not
 *                        ended
 *   rank to verifier     hello: 'r' id pid, then questions
 *   verifier to rank     lists of answers: the first one comes before the first question, and
 *                        another one when all answers of the last one are used up
 *
 * A question consists of the key, its kind, the name of the call, addresses (the first one in the
 * program is its place), the output since the last question, the uses of files (uses.c), and data
 * that depends on its kind: 'S'end, 'R'eceive, 'P'robe, 'E'nter a collective, 'W'ait for one of
 * some requests, 'T'est them, 'C'ancel a receive, 'c' whether it was cancelled, 'B'egin the
 * receive of a message that a probe has reserved, 'O' about the content or the lock of a part of a
 * window, 'X' start a process, 'Z' a number below this one, 'V' nothing: the rank has nothing to do
 * in this execution, 'D'one and its remarks, 'F'ailed. The highest bit of the kind says that if the rank waits for ever there, the execution is explored
 * elsewhere, with another 'Z' (threads.c). Polls (polls.c) end with the number of outcomes since the rank was in this state, or 0. An answer begins with a
 * letter as well. All answers of a list but the last one are known to the verifier from an earlier
 * run: it needs nothing of those questions but that they are the same. src/mpi/wire.rs and
 * src/mpi/ranks.rs read and write the same. */
#include "calls.h"
#include "dynamic.h"
#include "sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int world_rank, world_size, world_base;
bool is_verified, is_preloaded;
uint64_t time_tick = 1000;

static const char *address;
static off_t printed; /* the bytes of PRINTED that were sent */
extern void *__libc_stack_end;
static struct bytes frame;  /* the question that is being written */
/* The answers that are still to be used, and the frame that they are in. */
static struct reader answers, list;
static uint32_t count_of_answers;
static const uint8_t *vain_from; /* from here on, the list contains only unsuccessful polls */
/* Each question begins with it. What the program itself writes to the wire does not. */
static uint64_t key;
static _Thread_local bool is_silent; /* the rank has ended */
static bool are_files_own;

void process_exit(int status) {
  for (;;) raw(SYS_exit_group, status);
}

/* A fault of the library or of its environment, not of the program. If even that cannot be
 * reported, the rank ends as after a system call that cannot be followed. */
void give_up(const char *what) {
  static bool has_failed;
  if (key && !has_failed) {
    has_failed = true;
    fail("unsupported", "%s: %s", what, strerror(errno));
  }
  if (key) raw(SYS_kill, raw(SYS_getpid), SIGSYS);
  dprintf(STDERR_FILENO, "mazurka: rank %d: %s: %s\n", world_rank, what, strerror(errno));
  process_exit(3);
}

/* The most bytes of a frame. */
static const size_t most_at_once = (size_t)1 << 30;

void put(struct bytes *to, const void *data, size_t length) {
  if (length > most_at_once - to->length)
    fail("unsupported", "more than 1 GiB of data is sent at once");
  if (to->room - to->length < length) {
    to->room = 2 * to->room + length + 64;
    to->at = grow(to->at, to->room);
  }
  if (length) memcpy(to->at + to->length, data, length);
  to->length += length;
}
void put_u8(struct bytes *to, uint8_t value) { put(to, &value, sizeof value); }
void put_u32(struct bytes *to, uint32_t value) { put(to, &value, sizeof value); }
void put_i32(struct bytes *to, int32_t value) { put(to, &value, sizeof value); }
void put_u64(struct bytes *to, uint64_t value) { put(to, &value, sizeof value); }
/* The number of this program, before the digits of an address. */
static uint64_t program_mark;
void put_site(struct bytes *to, uintptr_t site) { put_u64(to, site >> 48 ? site : site | program_mark); }
void put_block(struct bytes *to, const void *data, size_t length) {
  put_u32(to, (uint32_t)length);
  put(to, data, length);
}
void put_text(struct bytes *to, const char *text) { put_block(to, text, strlen(text)); }

const void *take(struct reader *from, size_t length) {
  if ((size_t)(from->end - from->at) < length) {
    errno = EPROTO;
    give_up("a frame is too short");
  }
  from->at += length;
  return from->at - length;
}
#define TAKE(name, type)                                 \
  type take_##name(struct reader *from) {                \
    type value;                                          \
    memcpy(&value, take(from, sizeof value), sizeof value); \
    return value;                                        \
  }
TAKE(u8, uint8_t)
TAKE(u32, uint32_t)
TAKE(i32, int32_t)
TAKE(u64, uint64_t)
struct reader take_block(struct reader *from) {
  uint32_t length = take_u32(from);
  const uint8_t *at = take(from, length);
  return (struct reader){at, at + length};
}

/* What was read from the wire ahead of its use: mostly a whole frame. */
static struct incoming {
  size_t from, to;
  uint8_t at[4096];
} incoming;

/* Reads exactly `length` bytes; false at the end of the stream. System calls are made by number
 * here: the program may have a function `read` or `send` of its own. */
static bool read_all(void *to, size_t length) {
  for (uint8_t *at = to; length > 0;) {
    size_t ready = incoming.to - incoming.from;
    if (ready > 0) {
      if (ready > length) ready = length;
      memcpy(at, incoming.at + incoming.from, ready);
      incoming.from += ready;
      at += ready;
      length -= ready;
      continue;
    }
    bool is_long = length >= sizeof incoming.at;
    ssize_t got = syscall(SYS_read, WIRE, is_long ? at : incoming.at, is_long ? length : sizeof incoming.at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    if (is_long) {
      at += got;
      length -= (size_t)got;
    } else {
      incoming.from = 0;
      incoming.to = (size_t)got;
    }
  }
  return true;
}

static bool write_all(int fd, const void *from, size_t length) {
  for (const uint8_t *at = from; length > 0;) {
    ssize_t sent = syscall(SYS_sendto, fd, at, length, MSG_NOSIGNAL, NULL, 0);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    length -= (size_t)sent;
  }
  return true;
}

/* The next frame; the caller frees it. At the end of the stream the process ends, since its results
 * are no longer needed. */
static struct reader receive(void) {
  uint32_t length;
  if (!read_all(&length, sizeof length)) process_exit(0);
  uint8_t *body = allocate(length);
  if (!read_all(body, length)) process_exit(0);
  return (struct reader){body, body + length};
}

/* Reads a list of answers. */
static void receive_answers(void) {
  struct reader next = receive();
  release(list.at);
  list = answers = next;
  vain_from = next.at;
  for (count_of_answers = 0; next.at < next.end; count_of_answers++) {
    struct reader answer = take_block(&next);
    if (*answer.at != 'I') vain_from = next.at;
  }
}

static void reply(int fd, struct bytes *body) {
  uint32_t length = (uint32_t)body->length;
  struct bytes whole = {0};
  put_u32(&whole, length);
  put(&whole, body->at, body->length);
  if (!write_all(fd, whole.at, whole.length)) process_exit(0);
  release(whole.at);
}

const char *verifier_folder(void) {
  static char *folder;
  if (!folder) {
    folder = text_of("%s", address);
    *strrchr(folder, '/') = 0;
  }
  return folder;
}

static void move_to(int fd, int number) {
  if (fd < 0 || dup3(fd, number, O_CLOEXEC) < 0) give_up("too few files may be open (ulimit -n)");
  if (fd != number) syscall(SYS_close, fd);
}

/* Connects to the verifier, with a descriptor that the program does not use. */
static void dial(void) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  snprintf(to.sun_path, sizeof to.sun_path, "%s", address);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && syscall(SYS_connect, fd, &to, sizeof to)) give_up("cannot reach the verifier");
  move_to(fd, WIRE);
  incoming.from = incoming.to = 0; /* it was for the server that has forked this process */
}

/* A process that the rank has started must not keep the connection open. */
void wire_leave(void) { raw(SYS_close, WIRE); }

/* The output since the last question, or the end of it. Of a question that is known, as is the next
 * one, it was told before. */
enum { MOST_PRINTED = 1 << 16 };
static void put_printed(struct bytes *to) {
  if (count_of_answers > 1) return put_u32(to, 0);
  struct stat now = {0};
  raw(SYS_fstat, PRINTED, &now);
  if (count_of_answers == 1 || now.st_size == printed) {
    printed = now.st_size;
    return put_u32(to, 0);
  }
  off_t length = now.st_size > printed ? now.st_size - printed : 0, sent = length < MOST_PRINTED ? length : MOST_PRINTED;
  struct bytes text = {0};
  if (sent < length) {
    char *before = text_of("[%lld more bytes]\n", (long long)(length - sent));
    put(&text, before, strlen(before));
    release(before);
  }
  void *last = allocate((size_t)sent + 1);
  long got = raw(SYS_pread64, PRINTED, last, sent, now.st_size - sent);
  put(&text, last, got < 0 ? 0 : (size_t)got);
  release(last);
  put_block(to, text.at, text.length);
  release(text.at);
  printed = now.st_size;
}

/* Of the next question: whether it may wait in vain. */
bool is_in_vain;
enum { IN_VAIN = 0x80 };

/* Starts a question about a call at the first of these addresses that is in the program. */
static struct bytes *question_at(char kind, const uintptr_t *sites, size_t count) {
  if (is_child) refuse("a process that the rank has started calls %s", call.name);
  fflush(stdout);
  fflush(stderr);
  frame.length = 0;
  put_u32(&frame, 0); /* the length of the frame, set by send_question */
  put_u64(&frame, key);
  put_u8(&frame, (uint8_t)(kind | (is_in_vain ? IN_VAIN : 0)));
  is_in_vain = false;
  put_text(&frame, call.name ? call.name : "");
  put_u32(&frame, (uint32_t)count);
  for (size_t i = 0; i < count; i++) put_u64(&frame, sites[i]);
  put_printed(&frame);
  files_put_uses(&frame);
  return &frame;
}

struct bytes *question(char kind) { return question_at(kind, &call.site, 1); }

/* Clears the stack below. Otherwise a program may find data of the library in variables that it has
 * not set. */
void __attribute__((noinline)) wipe_stack(void) {
  volatile char used[16384];
  memset((char *)used, 0, sizeof used);
  __asm__ volatile("" : : "r"(used) : "memory");
}

/* Sends a question at once; or, while answers come from the history, later together with others, as
 * no answer is awaited. */
static void send_question(bool is_waited_for) {
  questions_asked++;
  static struct bytes batch;
  static uint64_t begun;
  uint32_t length = (uint32_t)frame.length - 4;
  memcpy(frame.at, &length, sizeof length);
  if (is_waited_for && batch.length == 0) {
    if (!write_all(WIRE, frame.at, frame.length)) process_exit(0);
    return;
  }
  put(&batch, frame.at, frame.length);
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  uint64_t milliseconds = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
  if (batch.length == frame.length) begun = milliseconds;
  if (!is_waited_for && batch.length < 1 << 16 && milliseconds < begun + 100) return;
  if (!write_all(WIRE, batch.at, batch.length)) process_exit(0);
  batch.length = 0;
}

bool asks_anew;
uint64_t questions_asked;

bool only_vain_answers_follow(void) { return answers.at >= vain_from; }

struct reader ask_unseen(void) {
  send_question(count_of_answers == 0);
  unseen++;
  if (count_of_answers == 0) receive_answers();
  struct reader answer = take_block(&answers);
  count_of_answers--;
  asks_anew = count_of_answers == 0;
  wipe_stack();
  return answer;
}

struct reader ask(void) {
  struct reader answer = ask_unseen();
  thread_learns((char)*answer.at);
  return answer;
}

uint32_t ask_posted(void) {
  struct reader answer = ask();
  return take_u8(&answer) == 'H' ? take_u32(&answer) : 0;
}

/* Sends a last question, which has no answer. */
static void __attribute__((noreturn)) last_words(void) {
  is_silent = true;
  send_question(true);
  uint8_t rest;
  while (syscall(SYS_read, WIRE, &rest, 1) > 0 || errno == EINTR) {}
  process_exit(0);
}

static void __attribute__((noreturn)) fail_with(const uintptr_t *sites, size_t count, const char *class, const char *format,
                                                va_list values) {
  char *message = text_with(format, values);
  if (!is_verified || is_child) {
    dprintf(STDERR_FILENO, "mazurka: %s: %s: %s\n", call.name ? call.name : "the program", class, message);
    if (is_child) raw(SYS_kill, raw(SYS_getpid), SIGABRT);
    process_exit(1);
  }
  processes_check();
  struct bytes *to = question_at('F', sites, count);
  put_text(to, class);
  put_text(to, message);
  last_words();
}

void fail(const char *class, const char *format, ...) {
  va_list values;
  va_start(values, format);
  fail_with(&call.site, 1, class, format, values);
}

void fail_at(uintptr_t site, const char *class, const char *format, ...) {
  va_list values;
  va_start(values, format);
  fail_with(&site, 1, class, format, values);
}

void fail_somewhere(const uintptr_t *sites, size_t count, const char *class, const char *format, ...) {
  va_list values;
  va_start(values, format);
  fail_with(sites, count, class, format, values);
}

static struct bytes remarks;
static uint32_t count_of_remarks;

void remark(uintptr_t site, const char *class) {
  count_of_remarks++;
  put_text(&remarks, class);
  put_u64(&remarks, site);
}

/* The rank has come to its end: main returned, or exit was called. Files of a program in Fortran
 * would be written later. An interpreter that cannot run the program says so by its status. */
extern void _gfortran_flush_i4(int *unit) __attribute__((weak));
static void at_end(int status, void *unused) {
  (void)unused;
  if (is_silent || !is_verified || is_child) return;
  if (_gfortran_flush_i4) _gfortran_flush_i4(NULL);
  thread_ends_all();
  processes_wait();
  call = (struct call){.name = "the end"};
  if (env_has_world()) {
    /* The runtime library of Fortran ends a program where an error is. */
    uintptr_t sites[24] = {0};
    size_t count = is_fortran() ? sites_now(sites, sizeof sites / sizeof *sites) : 1;
    fail_somewhere(sites, count, "missing finalize", "the rank ends without MPI_Finalize");
  }
  if (!env_is_over()) fail("missing finalize", "the rank ends without MPI_Session_finalize");
  if (is_preloaded && questions_asked == 0) {
    if (status != 0) fail("exit", "the rank ends with exit code %d before it calls MPI", status);
    fail("unsupported", "the rank ends and has not called MPI: it was not made by `mazurka mpicc`, and may use another implementation of MPI");
  }
  if (status & 0xff) remark(0, text_of("exit code %d", status & 0xff));
  struct bytes *to = question('D');
  put_u32(to, count_of_remarks);
  put(to, remarks.at, remarks.length);
  last_words();
}

/* Where exit would be right, so are _exit and quick_exit: before MPI_Init and after
 * MPI_Finalize. */
void rank_exits(int status) {
  if (!is_silent && env_is_over()) at_end(status, NULL);
  if (is_silent) process_exit(status);
  uintptr_t sites[24] = {0};
  size_t count = sites_now(sites, sizeof sites / sizeof *sites);
  fail_somewhere(sites, count, "exit", "the rank ends by _exit(%d)", status);
}

/* A rank crashes, in the program or in a library function. The innermost address on the stack that
 * is in the program is the place of the crash or of the call; several addresses are sent, since
 * some are in our own library. */
static void crash(int signal, siginfo_t *what, void *context) {
  (void)what, (void)context;
  if (is_silent) process_exit(1);
  if (is_child) {
    raw(SYS_kill, raw(SYS_getpid), signal);
    return;
  }
  uintptr_t sites[24] = {0};
  size_t count = 1;
  const uintptr_t *stack = NULL, *end = __libc_stack_end;
#if defined(__x86_64__)
  const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  sites[0] = (uintptr_t)registers[REG_RIP] + 1;
  stack = (const uintptr_t *)registers[REG_RSP];
#elif defined(__aarch64__)
  sites[0] = ((ucontext_t *)context)->uc_mcontext.pc + 4;
  stack = (const uintptr_t *)((ucontext_t *)context)->uc_mcontext.sp;
#endif
  bool is_stack = stack && stack < end && (uintptr_t)end - (uintptr_t)stack < 1 << 23;
  for (; is_stack && stack < end && count < sizeof sites / sizeof *sites; stack++)
    if (is_in_program(*stack)) sites[count++] = *stack;
  fail_somewhere(sites, count, "crash", "the rank ends by signal %d (%s)", signal, strsignal(signal));
}

/* Signals that the library handles have a stack of their own. */
static void stack_for_signals(void) {
  static uint8_t room[65536];
  stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
  sigaltstack(&stack, NULL);
}

static void catch_crashes(void) {
  struct sigaction action = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND};
  int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
}

/* The limit of the program's memory. What the library needs to report that it is reached does not
 * count. */
static rlim_t most_memory;
static void limit_memory(rlim_t most) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit)) return;
  limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
  setrlimit(RLIMIT_DATA, &limit);
}

void memory_ends(uintptr_t site) {
  limit_memory(RLIM_INFINITY);
  fail_at(site, "unsupported", "the rank needs more than %llu MB of memory (--rank-memory)", (unsigned long long)most_memory / 1000000);
}

/* Begins a rank that was just forked: prepares everything, and then waits for its history. `main`
 * begins when this returns. */
static void begin_rank(uint32_t id, uint64_t its_key) {
  raw(SYS_setpgid, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dial();
  struct bytes hello = {0};
  put_u8(&hello, 'r');
  put_u32(&hello, id);
  put_u32(&hello, (uint32_t)syscall(SYS_getpid));
  reply(WIRE, &hello);
  release(hello.at);
  key = its_key;
  move_to(memfd_create("printed", 0), PRINTED);
  fcntl(PRINTED, F_SETFL, O_APPEND);
  dup2(PRINTED, STDOUT_FILENO);
  dup2(PRINTED, STDERR_FILENO);
  catch_crashes();
  limit_memory(most_memory);
  thread_is_main();
  on_exit(at_end, NULL);
  processes_begin();
  is_server = false;
  receive_answers();
  wipe_stack();
}

struct stretch program_range;
static uintptr_t bias;
uintptr_t wire_bias(void) { return bias; }

/* The first object is the program. */
static int measure_program(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  bias = info->dlpi_addr;
  program_range = (struct stretch){UINTPTR_MAX, 0};
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    uintptr_t from = bias + part->p_vaddr, to = from + part->p_memsz;
    if (from < program_range.from) program_range.from = from;
    if (to > program_range.to) program_range.to = to;
  }
  return 1;
}

static void serve(void) {
  server_begin();
  is_server = true;
  stack_for_signals();
  calls_follow(are_files_own);
  dial();
  struct bytes hello = {0};
  put_u8(&hello, 's');
  put_u32(&hello, (uint32_t)world_rank);
  put_u64(&hello, wire_bias());
  reply(WIRE, &hello);
  for (;;) {
    struct reader order = receive(), all = order;
    uint8_t kind = take_u8(&order);
    uint32_t number = take_u32(&order);
    uint64_t its_key = kind == 'R' ? take_u64(&order) : 0;
    release(all.at);
    if (kind == 'R') {
      pid_t child = fork();
      if (child < 0) give_up("cannot fork");
      if (child == 0) {
        begin_rank(number, its_key);
        return;
      }
      continue;
    }
    int status = server_end((int)number, kind == 'S');
    if (kind == 'K') continue;
    struct bytes answer = {0};
    put_i32(&answer, status);
    reply(WIRE, &answer);
    release(answer.at);
  }
}

static long long number_of(const char *variable) {
  const char *text = getenv(variable);
  return text ? atoll(text) : 0;
}

/* Build systems link the library to the shared libraries of a program, too. All of them call the
 * functions of one copy, that of the program. */
static bool in_this_copy;
bool *in_first_copy(void) { return &in_this_copy; }

/* Runs before main, and before the constructors of the program. */
__attribute__((constructor(101))) static void start(int argc, char **argv, char **environment) {
  (void)argc;
  address = getenv("MAZURKA_SOCKET");
  if (!address || in_first_copy() != &in_this_copy) return;
  /* Addresses are the same in every run. */
  int persona = personality(0xffffffff);
  if (persona >= 0 && !(persona & ADDR_NO_RANDOMIZE) && personality((unsigned long)persona | ADDR_NO_RANDOMIZE) >= 0) {
    execve("/proc/self/exe", argv, environment);
    give_up("cannot start again with fixed addresses");
  }
  address = text_of("%s", address);
  dl_iterate_phdr(measure_program, NULL);
  threads_begin();
  is_preloaded = number_of("MAZURKA_PRELOADED");
  unsetenv("MAZURKA_PRELOADED");
  const char *preloaded = is_preloaded ? getenv("LD_PRELOAD") : NULL, *others = preloaded ? strchr(preloaded, ':') : NULL;
  if (others) setenv("LD_PRELOAD", text_of("%s", others + 1), 1);
  else if (preloaded) unsetenv("LD_PRELOAD");
  world_rank = (int)number_of("MAZURKA_RANK");
  world_size = (int)number_of("MAZURKA_SIZE");
  time_tick = (uint64_t)number_of("MAZURKA_TICK");
  program_mark = (uint64_t)number_of("MAZURKA_PROGRAM") << 48;
  unsetenv("MAZURKA_PROGRAM");
  spawn_read(getenv("MAZURKA_WORLD"));
  unsetenv("MAZURKA_WORLD");
  is_verified = true;
  variables_read(getenv("MAZURKA_VARIABLES"));
  unsetenv("MAZURKA_VARIABLES");
  unsetenv("MAZURKA_SOCKET");
  unsetenv("MAZURKA_RANK");
  unsetenv("MAZURKA_SIZE");
  most_memory = (rlim_t)number_of("MAZURKA_MEMORY");
  unsetenv("MAZURKA_MEMORY");
  are_files_own = number_of("MAZURKA_FILES");
  unsetenv("MAZURKA_TICK");
  unsetenv("GFORTRAN_UNBUFFERED_PRECONNECTED");
  unsetenv("MAZURKA_FILES");
  serve();
}
