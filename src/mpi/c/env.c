/* The environment: MPI_Init to MPI_Finalize, errors, time. Everything that could differ between
 * runs is fixed. */
#include "calls.h"
#include "dynamic.h"
#include "sessions.h"
#include "turns.h"

#include <link.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct object;
static enum { BEFORE, INSIDE, AFTER } phase;

/* Programs get the highest level of threads that they ask for. */
static int thread_level = MPI_THREAD_SINGLE;

static const char *level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE: return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED: return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED: return "MPI_THREAD_SERIALIZED";
    default: return "MPI_THREAD_MULTIPLE";
  }
}

const char *env_level(void) { return level_name(thread_level); }

/* The level that a session asks for, by its name, is that of the whole rank, if it is the highest. */
void env_ask_for(const char *name) {
  static const int levels[] = {MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  for (int i = 0; i < 3; i++)
    if (levels[i] > thread_level && strcmp(name, level_name(levels[i])) == 0) thread_level = levels[i];
}

bool env_has_world(void) { return phase == INSIDE; }
bool env_is_over(void) { return phase != INSIDE && !sessions_are_open(); }
bool env_lets_threads_call(void) { return thread_level > MPI_THREAD_FUNNELED; }

void env_check(void) {
  if (sessions_are_open()) return;
  if (phase == BEFORE) fail("missing init", "%s is called before MPI_Init", call.name);
  if (phase == AFTER) fail("missing init", "%s is called after MPI_Finalize", call.name);
}

void env_check_caller(void) {
  static struct last_call last;
  if (!is_verified) return;
  if (thread_level <= MPI_THREAD_FUNNELED && !is_thread_main())
    fail("threads", "%s is called by a second thread, but the rank has asked for %s", call.name, level_name(thread_level));
  if (!thread_knows_last(&last) && thread_level == MPI_THREAD_SERIALIZED)
    fail("threads", "another thread may call MPI at the same time as %s, but the rank has asked for %s", call.name, level_name(thread_level));
}

/* Many programs have threads all the same, and implementations do not mind. */
void env_check_single(void) {
  static bool is_remarked;
  if (phase == INSIDE && thread_level == MPI_THREAD_SINGLE && !is_remarked) remark(call.site, "threads");
  is_remarked = phase == INSIDE;
}

void env_check_thread(void) {
  env_check_caller();
  thread_calls_mpi();
}

void env_begin(void) {
  if (is_verified) return;
  fprintf(stderr, "This program was made by `mazurka mpicc`: start it with `mazurka mpirun -n RANKS PROGRAM`.\n");
  exit(2);
}

/* What was compiled for another implementation may have loaded that, too: its handles are others. */
static int refuse_other(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (strstr(info->dlpi_name, "/libmpi.so") || strstr(info->dlpi_name, "/libmpich.so"))
    fail("unsupported", "the program has loaded another implementation of MPI: %s", info->dlpi_name);
  return 0;
}

static int init(int level) {
  env_begin();
  if (is_preloaded) dl_iterate_phdr(refuse_other, NULL);
  if (phase != BEFORE) fail("missing init", "%s is called a second time", call.name);
  phase = INSIDE;
  thread_is_main();
  if (level > thread_level) thread_level = level;
  if (!thread_is_alone()) env_check_single();
  python_begin();
  spawn_join();
  return MPI_SUCCESS;
}

FUNCTION(Init, (int *argc, char ***argv)) {
  ANYWHERE("MPI_Init");
  (void)argc, (void)argv;
  return init(MPI_THREAD_SINGLE);
}

FUNCTION(Init_thread, (int *argc, char ***argv, int required, int *provided)) {
  ANYWHERE("MPI_Init_thread");
  (void)argc, (void)argv;
  if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE) fail("invalid argument", "%d is no level of threads", required);
  *OUT(provided) = required > thread_level ? required : thread_level;
  return init(required);
}

FUNCTION(Query_thread, (int *provided)) {
  ANYWHERE("MPI_Query_thread");
  env_check();
  *OUT(provided) = thread_level;
  return MPI_SUCCESS;
}

FUNCTION(Is_thread_main, (int *flag)) {
  ANYWHERE("MPI_Is_thread_main");
  env_check();
  *OUT(flag) = is_thread_main();
  return MPI_SUCCESS;
}

FUNCTION(Initialized, (int *flag)) {
  ANYWHERE("MPI_Initialized");
  *OUT(flag) = phase != BEFORE;
  return MPI_SUCCESS;
}

FUNCTION(Finalized, (int *flag)) {
  ANYWHERE("MPI_Finalized");
  *OUT(flag) = phase == AFTER;
  return MPI_SUCCESS;
}

/* Attributes of MPI_COMM_SELF are deleted first, the newest before the others (MPI 4.1, 11.2.4):
 * functions of the program may still call MPI then. All ranks meet in MPI_Finalize. Only after that
 * this rank is checked for leaks: in an execution that gets stuck, the standstill is the
 * mistake. */
FUNCTION(Finalize, (void)) {
  CALL("MPI_Finalize");
  if (!is_thread_main()) fail("threads", "MPI_Finalize is called by another thread than MPI_Init");
  int code = attributes_remove(&comm_get(MPI_COMM_SELF)->object, MPI_COMM_SELF);
  if (code != MPI_SUCCESS) return code;
  windows_check_end();
  ports_check_end();
  struct bytes accesses = {0};
  file_records_put(&accesses);
  struct contributions all = exchange(comm_get(MPI_COMM_WORLD), "MPI_Finalize", &accesses);
  file_records_compare(&all);
  /* What belongs to a session may be used until that ends. */
  if (!sessions_are_open()) handles_check_left();
  phase = AFTER;
  return MPI_SUCCESS;
}

FUNCTION(Abort, (MPI_Comm comm, int code)) {
  HERE("MPI_Abort");
  (void)comm;
  fail("abort", "the rank calls MPI_Abort with code %d", code);
}

/* Functions that are called by assert() when it fails, and abort(). */
WEAK void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
  (void)function;
  ANYWHERE("assert");
  (void)file, (void)line;
  fail("assertion", "%s", assertion);
}

WEAK void abort(void) {
  ANYWHERE("abort");
  exception_check();
  fail("abort", "the program calls abort()");
}

FUNCTION(Get_processor_name, (char *name, int *length)) {
  CALL("MPI_Get_processor_name");
  *OUT(length) = text_out(name, "mazurka");
  return MPI_SUCCESS;
}

FUNCTION(Get_version, (int *version, int *subversion)) {
  ANYWHERE("MPI_Get_version");
  *OUT(version) = MPI_VERSION;
  *OUT(subversion) = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

FUNCTION(Get_library_version, (char *version, int *length)) {
  ANYWHERE("MPI_Get_library_version");
  *OUT(length) = text_out(version, "Mazurka");
  return MPI_SUCCESS;
}

FUNCTION(Alloc_mem, (MPI_Aint size, MPI_Info info, void *base)) {
  CALL("MPI_Alloc_mem");
  (void)info;
  *OUT((void **)base) = calloc(1, size > 0 ? (size_t)size : 1);
  return MPI_SUCCESS;
}

FUNCTION(Free_mem, (void *base)) {
  CALL("MPI_Free_mem");
  heap_free(base, call.site);
  return MPI_SUCCESS;
}

FUNCTION(Pcontrol, (const int level, ...)) {
  HERE("MPI_Pcontrol");
  (void)level;
  return MPI_SUCCESS;
}

/* Time advances by a tick whenever it is read, and while a rank sleeps. These functions replace
 * those of the C library; a program may have its own, or other things with these names. */
uint64_t nanoseconds = 1000000000ull * 1000000000ull;
static uint64_t go_on(uint64_t time) { return __atomic_add_fetch(&nanoseconds, time, __ATOMIC_RELAXED); }
static uint64_t tick(void) {
  unseen++;
  return go_on(time_tick);
}
uint64_t clock_of_program(void) { return tick() - 1000000000ull * 1000000000ull; }

FUNCTION_OF(double, Wtime, (void)) { return (double)clock_of_program() * 1e-9; }
FUNCTION_OF(double, Wtick, (void)) { return (double)time_tick * 1e-9; }

WEAK time_t time(time_t *to) {
  time_t now = (time_t)(tick() / 1000000000);
  if (to) *to = now;
  return now;
}

WEAK int gettimeofday(struct timeval *restrict to, void *restrict zone) {
  (void)zone;
  uint64_t now = tick();
  *to = (struct timeval){(time_t)(now / 1000000000), (suseconds_t)(now % 1000000000 / 1000)};
  return 0;
}

WEAK int clock_gettime(clockid_t which, struct timespec *to) {
  (void)which;
  uint64_t now = tick();
  *to = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
  return 0;
}

WEAK clock_t clock(void) { return (clock_t)(clock_of_program() / 1000); }
WEAK int gethostname(char *name, size_t length) { return snprintf(name, length, "mazurka") < 0; }

/* Sleeping takes no real time: other ranks are observed in calls of MPI only. */
#define SLEEPS(time) (thread_gives_way((uintptr_t)__builtin_return_address(0)), go_on(time), 0)
WEAK unsigned sleep(unsigned seconds) { return SLEEPS(seconds * 1000000000ull); }
WEAK int usleep(useconds_t time) { return SLEEPS(time * 1000ull); }
WEAK int nanosleep(const struct timespec *wanted, struct timespec *left) {
  (void)left;
  return SLEEPS((uint64_t)wanted->tv_sec * 1000000000ull + (uint64_t)wanted->tv_nsec);
}
/* Until a time, or for a time. */
WEAK int clock_nanosleep(clockid_t which, int flags, const struct timespec *wanted, struct timespec *left) {
  (void)which;
  if (!(flags & TIMER_ABSTIME)) return nanosleep(wanted, left);
  uint64_t end = (uint64_t)wanted->tv_sec * 1000000000ull + (uint64_t)wanted->tv_nsec, now = go_on(0);
  if (end > now) go_on(end - now);
  return 0;
}

WEAK int timespec_get(struct timespec *to, int base) { return clock_gettime(CLOCK_REALTIME, to) ? 0 : base; }

WEAK ssize_t getrandom(void *to, size_t length, unsigned flags) {
  (void)flags;
  random_fill(to, length);
  return (ssize_t)length;
}
WEAK int getentropy(void *to, size_t length) { return random_fill(to, length), 0; }

/* std::random_device of C++ reads a number from the processor. */
WEAK unsigned _ZNSt13random_device9_M_getvalEv(void *device) {
  (void)device;
  unsigned made;
  random_fill(&made, sizeof made);
  return made;
}
