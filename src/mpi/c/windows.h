/* What the parts of the library share that are about windows.
 *
 * A window has two copies, as in MPI's separate memory model: the private one is the program's own
 * memory, and the public one is what all changes come to that are known (changes.c). The owner
 * makes them equal whenever it synchronizes (`windows_publish`, `windows_pull`). */
#ifndef MAZURKA_WINDOWS_H
#define MAZURKA_WINDOWS_H

#include "rank.h"

#define windows mazurka_windows
#define count_of_windows mazurka_count_of_windows
#define window_of mazurka_window_of
#define window_is_locked mazurka_window_is_locked
#define window_check_rank mazurka_window_check_rank
#define window_lock_content mazurka_window_lock_content
#define window_unlock_content mazurka_window_unlock_content
#define window_question mazurka_window_question
#define window_ask mazurka_window_ask
#define changes_add mazurka_changes_add
#define changes_content mazurka_changes_content
#define changes_count mazurka_changes_count
#define changes_find mazurka_changes_find
#define changes_lock mazurka_changes_lock
#define changes_unlock mazurka_changes_unlock
#define operations_act mazurka_operations_act
#define operations_apply mazurka_operations_apply
#define operation_changes mazurka_operation_changes
#define operation_is_ordered mazurka_operation_is_ordered
#define operations_complete mazurka_operations_complete
#define operations_exchange mazurka_operations_exchange
#define operations_forget mazurka_operations_forget
#define records_add mazurka_records_add
#define records_add_lock mazurka_records_add_lock
#define records_check_stores mazurka_records_check_stores
#define assertion_check mazurka_assertion_check
#define records_own mazurka_records_own
#define records_complete mazurka_records_complete
#define records_exchange mazurka_records_exchange
#define records_see mazurka_records_see
#define clock_changes mazurka_clock_changes
#define clock_join_changes mazurka_clock_join_changes
#define clock_put_changes mazurka_clock_put_changes
#define clock_tick mazurka_clock_tick
#define clock_knows mazurka_clock_knows
#define clock_now mazurka_clock_now

/* The part of a window that a rank has. */
struct side {
  size_t size;
  int unit;
};

/* How the rank may access a target. */
enum hold { FREE, SHARED, EXCLUSIVE, EVERYBODY, STARTED };

/* Bytes from the first to behind the last, in order and apart; none: all are meant. */
struct span {
  uint64_t from, to;
};
struct spans {
  size_t count;
  struct span *span;
};

/* An operation that is not complete. */
struct operation {
  char kind; /* 'p'ut, 'g'et, 'a'ccumulate, 'f'etch and accumulate, 'c'ompare and swap */
  int target;
  MPI_Aint disp;
  size_t count; /* at the target */
  const struct type *type;
  MPI_Op op;
  struct bytes data;   /* what is written, as put_data wrote it; for 'c' the compared value, then the new one */
  void *result;        /* where what is read goes */
  size_t result_count;
  const struct type *result_type;
  uint32_t owned; /* memory of the program */
  size_t record;  /* only until another one is made */
  const char *name;
  uintptr_t site;
  bool is_applied, is_over; /* at the target; for the program's memory here */
};

/* What all changes come to that have acted so far on the part of a rank. */
struct copy {
  uint8_t *at; /* NULL: zeros */
  size_t acted;
  uint32_t version, changes; /* see changes.c; this rank's own ones when it got the lock */
};

struct window {
  struct object object;
  char *name;
  struct comm *comm;
  MPI_Errhandler errhandler;
  void *base;
  bool is_allocated;
  bool is_made; /* by all its ranks */
  struct side *sides;
  uint8_t *snapshot; /* the private copy when both were equal last */
  size_t pulled;     /* how many changes were known then */
  struct copy *copies; /* the public ones, by target, as this rank knows them */
  bool *are_contended; /* by target: see records_exchange */
  bool is_fenced;    /* a fence has opened an epoch that no fence has closed */
  bool has_fenced;   /* the last fence may have opened an epoch */
  bool is_shared;    /* the owner has made a call with others since the window was made */
  enum hold *holds;  /* by target */
  uint32_t *locks;   /* requests for the locks, by target */
  struct group *exposed, *started; /* the epochs of groups: active.c */
  uintptr_t opened_at;
  uint32_t synchronized; /* the rank's own time then */
  uintptr_t no_put_at; /* the call that asserts that nobody changes this part until the next one */
  size_t length, room;
  struct operation *operations;
};
extern struct window **windows;
extern size_t count_of_windows;

struct window *window_of(MPI_Win win);
void window_check_rank(const struct window *window, int rank);
bool window_is_locked(const struct window *window); /* has this rank locked any part? */

/* A question about objects of windows. 'q', 'Q': asks for the lock of a target, shared or
 * exclusively; 'W' waits for it; 'x' gives it back; 'l', 'm', 'u': the same for a mutex; 'r' and
 * 'w' read and write a cell. */
struct bytes *window_question(char form);
uint32_t window_ask(char form, const struct window *window, int target, uint32_t number);
void window_lock_content(const struct window *window, int target, uint32_t *request);
void window_unlock_content(const struct window *window, int target, uint32_t request);

/* changes.c: the changes of a target's part. Who wrote them: memory, or atomic operations. */
enum lane { PLAIN, ATOMIC, LANES };
/* Adds one. Is it made by who has the mutex? */
void changes_add(const struct window *window, int target, enum lane lane, bool is_ordered, const struct bytes *operations);
/* Gets to know all that atomic operations have made: for who has the mutex. */
void changes_find(const struct window *window, int target);
/* The part, with all changes that are known; how many those are, at whatever window. */
uint8_t *changes_content(struct window *window, int target);
size_t changes_count(const struct window *window, int target);
/* Gets to know what came before this rank got the lock; says what it adds to that, before it gives
 * the lock back. */
void changes_lock(struct window *window, int target);
void changes_unlock(const struct window *window, int target);

/* onesided.c: carries out operations that were put, on a target's part; what the rank has started
 * there so far; the same, and they are complete (if only the origin needs to know that, nothing
 * orders what they write before what comes later); of all ranks, at a fence (returns whether there
 * were any); drops those that are complete. */
void operations_act(const struct window *window, int target, struct reader operations, uint8_t *content);
void operations_apply(struct window *window, int target);
bool operation_changes(const struct operation *of); /* the target's part */
/* Does it tell what came before it, or undo that? */
bool operation_is_ordered(char kind, MPI_Op op);
void operations_complete(struct window *window, int target, bool is_local);
bool operations_exchange(struct window *window, int assertion);
void operations_forget(struct window *window);

/* conflicts.c: accesses to windows, and which of them nothing orders. Returns the number of the
 * record. */
size_t records_add(const struct window *window, const struct operation *of, enum hold hold, size_t from, size_t to,
                   struct spans spans);
/* A lock with MPI_MODE_NOCHECK. */
void records_add_lock(const struct window *window, int target, enum hold hold);
/* Fails if the rank has changed its own part since it was synchronized. */
void records_check_stores(const struct window *window, const char *when);
/* The operation with this record goes on until it is disowned. */
void records_own(size_t record, uint32_t owner);
/* Compares what all ranks of the window have recorded, and notes at which targets it matters which
 * of the accumulations is first: a collective call. */
void records_exchange(struct window *window);
/* The operations of this rank on that part are complete; locally: those that read. */
void records_complete(const struct window *window, int target, bool is_local);
/* How many changes of a target there are that come before what the rank does now, by writer; those
 * of all targets, to and from others, beginning with this target. */
uint32_t *clock_changes(int target);
void clock_put_changes(struct bytes *to);
void clock_join_changes(int target, struct reader from);
uint32_t clock_now(void);
uint32_t clock_tick(void);
/* Does this rank know that the other one has sent what had this time on it? */
bool clock_knows(int world, uint32_t time);

/* epochs.c: an assertion has no bits but these. */
void assertion_check(int assertion, int allowed);

#endif
