/* The threads of a rank: how the parts that follow them work together. */
#ifndef MAZURKA_TURNS_H
#define MAZURKA_TURNS_H

#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>

#define call_restore mazurka_call_restore
#define order_advance mazurka_order_advance
#define order_copy mazurka_order_copy
#define order_join mazurka_order_join
#define order_knows mazurka_order_knows
#define races_free mazurka_races_free
#define races_forget mazurka_races_forget
#define races_matter mazurka_races_matter
#define races_see mazurka_races_see
#define sync_acquire mazurka_sync_acquire
#define sync_forget mazurka_sync_forget
#define sync_of mazurka_sync_of
#define sync_release mazurka_sync_release
#define thread_at mazurka_thread_at
#define thread_frees mazurka_thread_frees
#define thread_goes_round mazurka_thread_goes_round
#define thread_gives_way mazurka_thread_gives_way
#define thread_hire mazurka_thread_hire
#define thread_join mazurka_thread_join
#define thread_locks mazurka_thread_locks
#define thread_tries mazurka_thread_tries
#define thread_unlocks mazurka_thread_unlocks
#define is_lock_free mazurka_is_lock_free
#define real_function mazurka_real_function
#define thread_lives mazurka_thread_lives
#define thread_of mazurka_thread_of
#define thread_saw mazurka_thread_saw
#define thread_self mazurka_thread_self
#define thread_start mazurka_thread_start
#define thread_step mazurka_thread_step
#define thread_waits mazurka_thread_waits
#define threads_live mazurka_threads_live

enum { MOST_THREADS = 1000 };

/* clocks.c: how many releases of each thread are known (a vector clock) */
struct order {
  uint32_t length, *at;
};
bool order_knows(const struct order *order, unsigned thread, uint32_t clock);
void order_join(struct order *to, const struct order *from);
void order_copy(struct order *to, const struct order *from);
/* The thread's own entry: from now on, what it does is not known to those that know the rest. */
void order_advance(struct order *order, unsigned thread);

/* What threads synchronize at, by its address: a mutex, an atomic variable, .. */
struct thread;
struct sync {
  uintptr_t at;
  struct order order;    /* of what was released there */
  struct order readers;  /* by those that share it */
  struct thread *holder; /* of a lock */
  uint32_t shared;       /* the number of those that share it */
  uint32_t depth;        /* how often the holder has locked it */
  const struct thread *last; /* holder */
  uint32_t changes, unlocks; /* how often another thread has got it than before; how often it was unlocked */
  uint32_t count, round; /* of a barrier: those that are needed, and the rounds that are over */
  uint32_t arrived;
};
struct sync *sync_of(const void *at);
/* It is made anew, or gone. */
void sync_forget(const void *at);
void sync_acquire(const struct order *from);
void sync_release(struct order *to);

/* The next operation of a thread, as far as others may notice it. */
struct operation {
  enum { AT_ONCE, IN_ORDER, IN_MPI } when; /* AT_ONCE: it commutes with all that others may do */
  uintptr_t from, to;                     /* the object */
  enum access access;                     /* reads of one object commute */
  bool is_try;                            /* it may find the object locked */
  bool may_time_out;                      /* if nothing else can move */
  /* Whether it can be carried out; NULL: always. */
  bool (*is_enabled)(const struct thread *thread);
  /* Whether it commutes with everything by now; NULL: it does not. */
  bool (*is_settled)(const struct thread *thread);
  const void *about; /* for is_enabled */
  uint64_t number;
};

/* A thread looks at something that others may change: where, and what it sees. A loop that does
 * nothing but such looks is followed for so many rounds before others go first: a loop that locks a
 * mutex may do something there. */
struct look {
  uint64_t where, seen;
  enum { OF_VALUE = 3, OF_LOCK = 10, OF_TIME = 4, OF_POLL = 2 } kind;
};
enum { LOOKS = 32, FEWEST_ROUNDS = 2 };

struct thread {
  unsigned number;
  enum { ABSENT, RUNS, IS_AT, HAS_ENDED } state;
  struct operation next; /* if it IS_AT one */
  struct call call;      /* which makes it */
  bool sleeps;           /* this operation was offered before, where it would lead to the same */
  bool is_parked;        /* it has looked in vain, and others go first */
  bool has_timed_out, is_woken;
  struct look looks[LOOKS]; /* since it has last done something else, the newest first */
  unsigned looked;
  bool has_acted, was_parked;
  const void *waits_at; /* a condition variable */
  const struct sync *failed_at; /* where it has found a lock held, before this unlock */
  uint32_t failed_before;
  /* A wait for one of these requests, and its outcome. */
  const uint32_t *posted;
  int requests;
  uint32_t found;
  struct reader answer;
  struct order order;
  uint32_t end; /* its clock when it has ended */
  uint32_t spins; /* reads of one place, one after the other */
  uintptr_t spins_at, spins_on;
  struct order to_publish, to_learn; /* by fences */
  /* Of pthread_create. */
  pthread_t handle;
  long kernel;
  void *(*body)(void *);
  void *with;
  uint32_t is_ready, has_turn, rounds;
  bool is_detached, is_joined;
  void (*job)(void *); /* of a thread that was hired; NULL: it rests */
  bool rests;
  struct thread *before; /* which has ended, and has passed its turn on */
  uintptr_t stack, stack_end;
  void *member; /* of a team of OpenMP */
};

extern unsigned threads_live;
struct thread *thread_self(void);
struct thread *thread_at(unsigned number);
struct thread *thread_of(pthread_t handle); /* NULL if the library has not started it */
static inline bool threads_are_many(void) { return threads_live > 1; }

/* The operation comes next. Returns when it is its turn, and it can be carried out. */
void thread_step(struct operation next);
/* thread_step() for an operation on the object at `at`. */
#define STEP(object, size, how)                                                                        \
  (threads_are_many() ? thread_step((struct operation){.when = IN_ORDER, .from = (uintptr_t)(object),     \
                                                       .to = (uintptr_t)(object) + (size), .access = how}) \
                      : (void)0)
/* Waits until this holds. That commutes with what others do. */
void thread_waits(bool (*is_over)(const struct thread *), const void *about, uint64_t number);
/* The last step of the thread was a look, which has seen this. */
void thread_saw(int kind, uint64_t seen);
/* Whether it has looked at the same again and again. */
bool thread_goes_round(void);
/* It sleeps or the like. */
void thread_gives_way(uintptr_t site);
/* A lock is free again: who tries to get it may find that. */
void thread_frees(const volatile void *object);
/* Starts a thread. Returns an error number. */
int thread_start(pthread_t *made, const pthread_attr_t *how, void *(*body)(void *), void *with);
/* The end of a thread is known to this one. */
void thread_join(struct thread *ended);
/* A thread that carries out a job, and then rests until the next one. */
struct thread *thread_hire(void (*job)(void *), void *with);

/* pthreads.c: locks at any address */
bool is_lock_free(const struct thread *thread);
void thread_locks(const void *at);
bool thread_tries(const void *at);
void thread_unlocks(const void *at);

/* clocks.c: accesses to memory. Races are looked for while there may be some. */
extern bool races_matter;
/* An access to memory; by this function of MPI, if it is one. */
void races_see(uintptr_t from, size_t length, enum access access, bool is_atomic, uintptr_t site, const char *by);
/* This memory is freed, and later given to others. */
void races_free(uintptr_t from, size_t length, uintptr_t site);
void races_forget(uintptr_t from, uintptr_t to);

/* This call, for as long as the block lasts. */
void call_restore(struct call *before);
#define CALLED(name) CALLED_AT(name, (uintptr_t)__builtin_return_address(0))
#define CALLED_AT(name, site)                                                 \
  struct call before_it __attribute__((cleanup(call_restore), unused)) = call; \
  call = (struct call){name, site, site}

/* A function of the C library; NULL in a static program. */
void *real_function(const char *name);
#define REAL(name)                                          \
  ({                                                        \
    static __typeof__(name) *real;                          \
    if (!real) *(void **)&real = real_function(#name);      \
    real;                                                   \
  })

#endif
