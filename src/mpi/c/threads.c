/* The threads of a rank, one at a time.
 *
 * A thread is a thread of the kernel, but runs only when it has the turn. It keeps the turn until
 * its next *step*: an operation that others may notice, such as to lock a mutex, an atomic access,
 * or a call of MPI. Then the others run to theirs, in a fixed order. When all of them are at steps
 * or wait, the verifier chooses who goes on (question 'Z'). So the behaviour of the rank is a
 * function of its answers, and all orders of steps are explored.
 *
 * What commutes with everything that others can do at that time is no step: to unlock, to arrive at
 * a barrier, to start a thread or to end. (What else an unlock is for a `trylock` is explored
 * there.) Accesses to memory are no steps, either: if their order matters, they are a race, and
 * that is found in any order that is explored (clocks.c).
 *
 * Orders that differ only in steps that commute lead to the same. Therefore a thread *sleeps* that
 * was offered and passed over, until a step is taken that does not commute with its own (sleep sets:
 * P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, LNCS 1032, 1996).
 * If all that can move sleep, the execution is explored elsewhere, and ends there in vain.
 *
 * A thread that waits in MPI may be chosen before others that can move: then the whole rank waits.
 * If that is for ever, it is in vain as well, because another choice lets the others go on. If all
 * threads wait in MPI, it is a standstill of the rank. What others learn of this rank may be needed
 * for such a wait to end, so it does not commute with calls of MPI; with everything else it does.
 *
 * A thread that looks at the same again and again, in a loop, gives way: it is not chosen before
 * another one has moved. If it would leave the loop all the same, that is not decided. */
#include "turns.h"

#include <limits.h>
#include <linux/futex.h>
#include <unistd.h>

_Thread_local struct call call;

unsigned threads_live = 1;
static struct thread first = {.state = RUNS, .handle = 0};
static struct thread *threads[MOST_THREADS] = {&first};
static unsigned count_of_threads = 1;
static _Thread_local struct thread *self;
static const struct thread *calls_mpi = &first;
/* How often those who look in vain were let go on, since something has happened; and how often that
 * may be before they are taken to wait for ever: while others wait in MPI, and else. */
static unsigned idle;

/* Where calls of MPI act, as if that was memory: sends of one communicator to one rank have a place,
 * receives with one tag, and collectives. */
static const uintptr_t mpi_from = (uintptr_t)1 << 62, mpi_to = (uintptr_t)1 << 63, receives_from = (uintptr_t)5 << 60,
                       collectives_from = (uintptr_t)6 << 60;
enum { MOST_IDLE_IN_MPI = 100, MOST_IDLE = 10000 };

struct thread *thread_self(void) { return self ? self : &first; }
struct thread *thread_at(unsigned number) { return threads[number]; }
struct thread *thread_of(pthread_t handle) {
  for (unsigned i = 0; i < count_of_threads; i++) {
    struct thread *thread = threads[i];
    if (thread->state != ABSENT && !thread->is_joined && thread->handle == handle) return thread;
  }
  return NULL;
}

void thread_is_main(void) { calls_mpi = thread_self(); }
bool is_thread_main(void) { return calls_mpi == thread_self(); }
void call_restore(struct call *before) { call = *before; }

/* The length of the round in which the thread has looked at the same again and again; 0 if it has
 * not. */
static unsigned round_of(const struct thread *own) {
  for (unsigned length = 1; length <= LOOKS / FEWEST_ROUNDS; length++) {
    unsigned rounds = 0, same = 0;
    for (unsigned i = 0; i < length; i++)
      if ((unsigned)own->looks[i].kind > rounds) rounds = (unsigned)own->looks[i].kind;
    if (length * rounds > own->looked) continue;
    const struct look *look = own->looks;
    while (same < length * (rounds - 1) && look[same].where == look[same + length].where && look[same].seen == look[same + length].seen)
      same++;
    if (same == length * (rounds - 1)) return length;
  }
  return 0;
}

/* The turn of this thread, if it has been given. */
static void await_turn(struct thread *own) {
  while (!__atomic_load_n(&own->has_turn, __ATOMIC_ACQUIRE)) raw(SYS_futex, &own->has_turn, FUTEX_WAIT_PRIVATE, 0, NULL);
  own->has_turn = 0;
  /* What a thread does at its very end must not interfere. */
  while (own->before && raw(SYS_tgkill, raw(SYS_getpid), own->before->kernel, 0) == 0) raw(SYS_sched_yield);
  own->before = NULL;
  wipe_stack();
}

static void give_turn(struct thread *to) {
  __atomic_store_n(&to->has_turn, 1, __ATOMIC_RELEASE);
  raw(SYS_futex, &to->has_turn, FUTEX_WAKE_PRIVATE, 1);
}

static bool is_enabled(const struct thread *thread) {
  return thread->state == IS_AT && (!thread->next.is_enabled || thread->next.is_enabled(thread));
}

static bool commute(const struct operation *one, const struct operation *other) {
  bool are_apart = one->to <= other->from || other->to <= one->from;
  return are_apart || !((one->access | other->access) & WRITES);
}

/* Those who sleep at what does not commute with this wake up. */
static void wake_for(const struct thread *by) {
  for (unsigned i = 0; i < count_of_threads; i++)
    if (threads[i] != by && !commute(&threads[i]->next, &by->next)) threads[i]->sleeps = false;
}

void thread_frees(const volatile void *object) {
  for (unsigned i = 0; i < count_of_threads; i++)
    if (threads[i]->next.is_try && threads[i]->next.from == (uintptr_t)object) threads[i]->sleeps = false;
}

/* Those who look in vain may look again. */
static void unpark(const struct thread *by) {
  for (unsigned i = 0; i < count_of_threads; i++)
    if (threads[i] != by) threads[i]->is_parked = false;
}

uint32_t thread_choose(uint32_t count) {
  if (count < 2) return 0;
  put_u32(question('Z'), count);
  struct reader answer = ask();
  return take_u8(&answer) == 'C' ? take_u32(&answer) : 0;
}

/* This execution is explored elsewhere. */
static void __attribute__((noreturn)) end_in_vain(void) {
  is_in_vain = true;
  question('V');
  ask();
  process_exit(0);
}

static void __attribute__((noreturn)) fail_all_wait(void) {
  uintptr_t sites[24];
  size_t count = 0;
  struct bytes text = {0};
  unsigned waiting = 0;
  for (unsigned i = 0; i < count_of_threads; i++) {
    const struct thread *thread = threads[i];
    if (thread->state != IS_AT || thread->rests) continue;
    if (count < sizeof sites / sizeof *sites) sites[count++] = thread->call.site;
    char *one = text_of("%s%s at {@%lx}", waiting++ ? ", " : "", thread->call.name, thread->call.site);
    put(&text, one, strlen(one));
  }
  put_u8(&text, 0);
  fail_somewhere(sites, count, "deadlock", "no thread of the rank can go on: %s", (const char *)text.at);
}

/* What the verifier may choose among. */
struct ways {
  struct thread *of[MOST_THREADS];
  size_t count;
};

static void find(struct ways *found, bool (*fits)(const struct thread *)) {
  found->count = 0;
  for (unsigned i = 0; i < count_of_threads; i++)
    if (fits(threads[i])) found->of[found->count++] = threads[i];
}
static bool waits_in_mpi(const struct thread *thread) { return is_enabled(thread) && thread->next.when == IN_MPI; }
static bool waits_for_requests(const struct thread *thread) { return waits_in_mpi(thread) && thread->posted; }
static bool waits_awake(const struct thread *thread) { return waits_for_requests(thread) && !thread->sleeps; }
static bool waits_otherwise(const struct thread *thread) { return waits_in_mpi(thread) && !thread->posted && !thread->sleeps; }
static bool waits_asleep(const struct thread *thread) { return waits_in_mpi(thread) && !thread->posted && thread->sleeps; }
static bool may_move(const struct thread *thread) {
  return is_enabled(thread) && thread->next.when == IN_ORDER && !thread->is_parked;
}
static bool can_move(const struct thread *thread) { return may_move(thread) && !thread->sleeps; }
static bool may_end(const struct thread *thread) {
  return thread->state == IS_AT && !is_enabled(thread) && thread->next.may_time_out;
}
static bool may_time_out(const struct thread *thread) { return may_end(thread) && !thread->sleeps; }
static bool is_asleep(const struct thread *thread) { return (may_move(thread) || may_end(thread)) && thread->sleeps; }
static bool is_waiting_parked(const struct thread *thread) { return thread->is_parked && is_enabled(thread) && !thread->sleeps; }

/* Waits for one of the requests of these threads. Returns the thread that gets it. */
static struct thread *wait_in_mpi(const struct ways *waiting, bool in_vain) {
  struct call own = call;
  call = waiting->of[0]->call;
  is_in_vain = in_vain;
  struct bytes *to = question('W');
  uint32_t all = 0;
  for (size_t i = 0; i < waiting->count; i++) all += (uint32_t)waiting->of[i]->requests;
  put_u32(to, all);
  for (size_t i = 0; i < waiting->count; i++)
    for (int k = 0; k < waiting->of[i]->requests; k++) put_u32(to, waiting->of[i]->posted[k]);
  struct reader answer = ask_unseen();
  call = own;
  take_u8(&answer);
  uint32_t found = take_u32(&answer);
  size_t i = 0;
  for (; found >= (uint32_t)waiting->of[i]->requests; i++) found -= (uint32_t)waiting->of[i]->requests;
  waiting->of[i]->found = found;
  waiting->of[i]->answer = answer;
  return waiting->of[i];
}

static bool looks_for(const struct thread *thread, int kind) {
  bool is_one = false;
  for (unsigned k = 0; k < round_of(thread); k++) is_one |= (int)thread->looks[k].kind == kind;
  return is_one;
}

/* Whether those who look in vain may do so once more. What a loop does that locks or sleeps is not
 * known, so it is not taken to wait for ever; and polls have a limit of their own. */
static bool may_look_again(bool others_are_in_mpi) {
  if (++idle <= (others_are_in_mpi ? MOST_IDLE_IN_MPI : MOST_IDLE)) return true;
  for (unsigned i = 0; i < count_of_threads; i++) {
    const struct thread *thread = threads[i];
    bool may_end = looks_for(thread, OF_POLL) || (!others_are_in_mpi && !looks_for(thread, OF_VALUE));
    if (is_waiting_parked(thread) && may_end) return true;
  }
  return false;
}

static struct ways waiting, awake, others, movers, parked, asleep, sleepers;

/* One of those who can move, chosen by the verifier; the ones before it sleep. First come those
 * that wait for requests, together; then those that wait in MPI for something else. NULL: again.
 *
 * Whether a wait for requests can end is not known when it is passed over. So those who sleep there
 * take part when others wait. If it is one of them that goes on, that was explored before. */
static struct thread *choose(void) {
  find(&waiting, waits_for_requests);
  find(&awake, waits_awake);
  find(&others, waits_otherwise);
  find(&movers, can_move);
  find(&parked, is_waiting_parked);
  find(&asleep, is_asleep);
  find(&sleepers, waits_asleep);
  if (movers.count == 0 && parked.count > 0 && may_look_again(waiting.count + others.count > 0)) {
    unpark(NULL);
    return NULL;
  }
  bool is_late = movers.count == 0;
  if (is_late) find(&movers, may_time_out);
  bool go_others_on = movers.count > 0 || asleep.count > 0;
  for (size_t i = 0; !go_others_on && i < sleepers.count; i++) sleepers.of[i]->sleeps = false;
  if (!go_others_on && sleepers.count > 0) return NULL;
  size_t together = awake.count > 0, count = together + others.count + movers.count;
  if (count == 0 && asleep.count > 0) end_in_vain();
  if (count == 0 && waiting.count == 0) fail_all_wait();
  /* They cannot wait together: each is tried, and whether all of them wait for ever is not known. */
  bool are_apart = !go_others_on && others.count > 0 && waiting.count + others.count > 1;
  if (are_apart) file_use(WAITING_APART, "");
  go_others_on |= are_apart;
  size_t chosen = thread_choose((uint32_t)count);
  for (size_t i = 0; chosen > 0 && i < awake.count; i++) awake.of[i]->sleeps = true;
  for (size_t i = together; i < chosen; i++)
    (i - together < others.count ? others.of[i - together] : movers.of[i - together - others.count])->sleeps = true;
  if (count == 0 || (together && chosen == 0)) {
    struct thread *found = wait_in_mpi(&waiting, go_others_on);
    if (found->sleeps) end_in_vain();
    return found;
  }
  chosen -= together;
  if (chosen >= others.count) {
    struct thread *mover = movers.of[chosen - others.count];
    mover->has_timed_out = is_late;
    return mover;
  }
  is_in_vain = go_others_on;
  return others.of[chosen];
}

static bool is_at_once(const struct thread *thread) {
  return thread->next.when == AT_ONCE || (thread->state == IS_AT && thread->next.is_settled && thread->next.is_settled(thread));
}

/* Who has the next turn. */
static struct thread *next_thread(void) {
  for (unsigned i = count_of_threads; i-- > 0;)
    if (threads[i]->state == RUNS) return threads[i];
  for (unsigned i = 0; i < count_of_threads; i++)
    if (is_at_once(threads[i]) && is_enabled(threads[i])) return threads[i];
  struct thread *chosen;
  while (!(chosen = choose())) {}
  /* What a wait finds, it finds whatever others do before. */
  if (chosen->next.when != IN_MPI) wake_for(chosen);
  unpark(chosen);
  if (!chosen->was_parked) idle = 0;
  return chosen;
}

/* Passes the turn on, and waits for the next one. */
static void pass_turn(struct thread *own) {
  struct thread *next = next_thread();
  next->state = RUNS;
  next->sleeps = false;
  if (next == own) return;
  if (own->state == HAS_ENDED && own != &first) next->before = own;
  give_turn(next);
  if (own->state != HAS_ENDED) await_turn(own);
}

static uint64_t where_of(uintptr_t site, uintptr_t at) { return (site * 0x9e3779b97f4a7c15u) ^ (at << 20 | at >> 44); }

static void add_look(struct thread *own, struct look look) {
  memmove(own->looks + 1, own->looks, sizeof own->looks - sizeof *own->looks);
  own->looks[0] = look;
  if (own->looked < LOOKS) own->looked++;
  own->has_acted = false;
}

void thread_saw(int kind, uint64_t seen) {
  struct thread *own = thread_self();
  if (threads_are_many()) add_look(own, (struct look){where_of(own->call.site, own->next.from), seen, kind});
}

void thread_polled(void) { thread_saw(OF_POLL, 0); }
bool thread_is_alone(void) { return !threads_are_many(); }

bool thread_goes_round(void) { return round_of(thread_self()); }

void thread_gives_way(uintptr_t site) {
  struct thread *own = thread_self();
  if (!threads_are_many() || is_child) return;
  if (own->has_acted) own->looked = 0;
  CALLED_AT("a wait", site);
  if (round_of(own)) thread_step((struct operation){.when = IN_ORDER, .from = 1, .to = 1});
  add_look(own, (struct look){where_of(site, 1), 0, OF_TIME});
}

/* Before a step: those who go round a loop of looks give way. If a loop is left after that, though
 * nothing has changed, it may be left earlier as well, and those orders were not explored. */
static void look_round(struct thread *own, const struct operation *next) {
  if (own->has_acted) own->looked = 0, own->was_parked = false;
  unsigned length = round_of(own);
  bool goes_on = length && next->when == IN_ORDER && own->looks[length - 1].where == where_of(call.site, next->from);
  if (goes_on) own->is_parked = own->was_parked = true;
  else if (length && own->was_parked) file_use(LEAVING_LOOP, "");
  own->has_acted = true;
  if (!goes_on) own->was_parked = false;
}

static bool is_never(const struct thread *thread) { return (void)thread, false; }

void thread_step(struct operation next) {
  struct thread *own = thread_self();
  if (is_child || !is_verified) return;
  own->has_timed_out = false;
  look_round(own, &next);
  own->next = next;
  own->call = call;
  own->state = IS_AT;
  own->sleeps = false;
  if (!threads_are_many() && is_enabled(own) && !own->is_parked) {
    own->state = RUNS;
    return;
  }
  pass_turn(own);
}

void thread_waits(bool (*is_over)(const struct thread *), const void *about, uint64_t number) {
  thread_step((struct operation){.when = AT_ONCE, .is_enabled = is_over ? is_over : is_never, .about = about, .number = number});
}

/* Passes the turn on at the end of a thread. The C library runs the destructors of keys in several
 * rounds; this is the last one. */
static pthread_key_t at_end;
static void end(void *thread) {
  struct thread *own = thread;
  if (++own->rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(at_end, own);
    return;
  }
  look_round(own, &(struct operation){.when = AT_ONCE});
  own->end = own->order.at[own->number];
  own->state = HAS_ENDED;
  own->is_joined = own->is_detached;
  threads_live--;
  if (own != &first) races_forget(own->stack, own->stack_end);
  if (threads_live > 0) pass_turn(own);
}

static void *begin(void *thread) {
  struct thread *own = self = thread;
  own->kernel = raw(SYS_gettid);
  pthread_attr_t how;
  void *stack;
  size_t size;
  pthread_getattr_np(pthread_self(), &how);
  pthread_attr_getstack(&how, &stack, &size);
  pthread_attr_destroy(&how);
  own->stack = (uintptr_t)stack;
  own->stack_end = own->stack + size;
  pthread_setspecific(at_end, own);
  __atomic_store_n(&own->is_ready, 1, __ATOMIC_RELEASE);
  await_turn(own);
  return own->body(own->with);
}

/* The entry for a new thread. That of an ended one is used again if this thread knows its end. */
static struct thread *entry(const struct thread *by) {
  unsigned i = 1;
  while (i < count_of_threads && !(threads[i]->state == HAS_ENDED && threads[i]->is_joined && order_knows(&by->order, i, threads[i]->end))) i++;
  if (i == MOST_THREADS) refuse("the rank has more than %d threads", MOST_THREADS);
  if (i == count_of_threads) threads[count_of_threads++] = allocate(sizeof(struct thread));
  return threads[i];
}

/* The verifier must know that there are threads, before one of them hangs. */
static void tell_start(void) {
  static bool is_told;
  if (is_told) return;
  is_told = true;
  file_use(STARTING_THREADS, "");
  put_u32(question('Z'), 1);
  ask();
}

/* Shared libraries of the program may contain this library, too (in_first_copy): then its functions
 * come next, and not those of the C library. */
#pragma weak dlopen
#pragma weak dlsym
static void *library;
void threads_begin(void) {
  if (dlopen) library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
}
void *real_function(const char *name) {
  if (!dlsym) return NULL;
  void *found = library ? dlsym(library, name) : NULL;
  return found ? found : dlsym(RTLD_NEXT, name);
}

int thread_start(pthread_t *made, const pthread_attr_t *how, void *(*body)(void *), void *with) {
  __typeof__(pthread_create) *real = REAL(pthread_create);
  if (!real) refuse("the rank starts a thread");
  if (!is_verified || is_child) return real(made, how, body, with);
  static bool is_key_made;
  struct thread *own = thread_self(), *new = entry(own);
  if (!is_key_made) is_key_made = pthread_key_create(&at_end, end) == 0;
  first.handle = first.handle ? first.handle : pthread_self();
  if (own == &first) pthread_setspecific(at_end, own);
  tell_start();
  env_check_single();
  unseen++;
  unsigned number = 0;
  while (threads[number] != new) number++;
  struct order order = new->order;
  *new = (struct thread){.number = number, .order = order, .body = body, .with = with, .state = ABSENT};
  order_copy(&new->order, &own->order);
  order_advance(&new->order, number);
  order_advance(&own->order, own->number);
  int detached = PTHREAD_CREATE_JOINABLE;
  if (how) pthread_attr_getdetachstate(how, &detached);
  new->is_detached = detached == PTHREAD_CREATE_DETACHED;
  int error = real(made, how, begin, new);
  if (error) return error;
  new->handle = *made;
  while (!__atomic_load_n(&new->is_ready, __ATOMIC_ACQUIRE)) raw(SYS_sched_yield);
  new->state = RUNS;
  threads_live++;
  races_matter = true;
  return 0;
}

void thread_join(struct thread *ended) {
  struct thread *own = thread_self();
  order_join(&own->order, &ended->order);
  ended->is_joined = ended->state == HAS_ENDED;
  /* If the ends of all others are known, so is all that they have done. */
  bool are_known = threads_live == 1;
  for (unsigned i = 0; i < count_of_threads; i++)
    are_known &= threads[i] == own || threads[i]->state == ABSENT || order_knows(&own->order, i, threads[i]->end);
  if (are_known) races_matter = false, races_forget(0, UINTPTR_MAX);
}

/* Those that were hired. */
static bool has_job(const struct thread *thread) { return thread->job; }
static void *work(void *unused) {
  struct thread *own = thread_self();
  for (;; thread_waits(has_job, NULL, 0)) {
    own->job(own->with);
    own->job = NULL;
    own->rests = true;
    /* Its last release is the end of the job. */
    own->end = own->order.at[own->number] - 1;
    threads_live--;
  }
  return unused;
}

/* One that rests does it if this thread knows what it has done before. */
struct thread *thread_hire(void (*job)(void *), void *with) {
  struct thread *own = thread_self(), *hired = NULL;
  for (unsigned i = 1; !hired && i < count_of_threads; i++)
    if (threads[i]->rests && order_knows(&own->order, i, threads[i]->end)) hired = threads[i];
  if (!hired) {
    pthread_t made;
    if (thread_start(&made, NULL, work, with)) refuse("the stacks of the threads need more memory than a rank may have (--rank-memory)");
    hired = thread_of(made);
    hired->job = job;
    return hired;
  }
  order_copy(&hired->order, &own->order);
  order_advance(&hired->order, hired->number);
  order_advance(&own->order, own->number);
  env_check_single();
  hired->rests = false;
  hired->job = job;
  hired->with = with;
  threads_live++;
  races_matter = true;
  return hired;
}

static bool may_others_call(void) { return threads_are_many() && env_lets_threads_call() && !is_child; }

struct reader wait_for_any(const uint32_t *posted, int count, uint32_t *found) {
  struct thread *own = thread_self();
  if (!may_others_call()) {
    struct bytes *to = question('W');
    put_u32(to, (uint32_t)count);
    for (int i = 0; i < count; i++) put_u32(to, posted[i]);
    struct reader answer = ask();
    take_u8(&answer);
    *found = take_u32(&answer);
    return answer;
  }
  own->posted = posted;
  own->requests = count;
  thread_step((struct operation){.when = IN_MPI, .from = mpi_from, .to = mpi_to, .access = READS});
  own->posted = NULL;
  *found = own->found;
  thread_learns('K');
  return own->answer;
}

void thread_will_wait(void) {
  if (may_others_call()) thread_step((struct operation){.when = IN_MPI, .from = mpi_from, .to = mpi_to, .access = READS});
}

void thread_ends_all(void) {
  if (!threads_are_many()) return;
  CALLED_AT("the end", 0);
  thread_step((struct operation){.when = IN_ORDER, .from = 0, .to = UINTPTR_MAX, .access = WRITES});
}

static void call_mpi(uintptr_t from, uintptr_t to, enum access access) {
  if (may_others_call()) thread_step((struct operation){.when = IN_ORDER, .from = from, .to = to, .access = access});
}

void thread_calls_mpi(void) { call_mpi(mpi_from, mpi_to, WRITES); }
void thread_polls(void) { call_mpi(mpi_from, mpi_to, READS); }

static uintptr_t place_of(const struct comm *comm, int number) {
  return ((uintptr_t)comm * 0x9e3779b97f4a7c15u >> 24) + (uintptr_t)(number + 2) * 0x9e3779b1u;
}

void thread_sends(const struct comm *comm, int peer) {
  uintptr_t at = mpi_from + place_of(comm, peer) % ((uintptr_t)1 << 59);
  call_mpi(at, at + 1, WRITES);
}

void thread_receives(const struct comm *comm, int tag) {
  const uintptr_t tags = 1 << 20;
  uintptr_t from = receives_from + place_of(comm, 0) % tags * tags;
  if (tag == MPI_ANY_TAG) return call_mpi(from, from + tags, WRITES);
  call_mpi(from + (uintptr_t)tag % tags, from + (uintptr_t)tag % tags + 1, WRITES);
}

void thread_enters(const struct comm *comm) {
  uintptr_t at = collectives_from + place_of(comm, 0) % ((uintptr_t)1 << 59);
  call_mpi(at, at + 1, WRITES);
}

bool thread_knows_last(struct last_call *last) {
  struct thread *own = thread_self();
  bool is_known = !races_matter || order_knows(&own->order, last->thread, last->clock);
  *last = (struct last_call){own->number, own->number < own->order.length ? own->order.at[own->number] : 0};
  return is_known;
}

/* What other ranks have told is known to come after what threads of this one have told them. If it
 * does not, another order of these is explored. */
void thread_learns(char answer) {
  static struct order told;
  struct thread *own = thread_self();
  if (!threads_are_many()) return;
  if (answer == 'K' || answer == 'P' || answer == 'V') order_join(&own->order, &told);
  if (answer != 'H' && answer != 'U') return;
  order_join(&told, &own->order);
  order_advance(&own->order, own->number);
}
