/* Declarations shared by the parts of the library that deal with windows.
 *
 * A window has two copies, as in MPI's separate memory model: the private one is memory of the
 * program, and the public one is the result of all known changes (changes.c). A rank makes them
 * equal whenever it synchronizes (`windows_publish`, `windows_pull`).
 *
 * A rank has private copies of its own part; in a *shared* window, of all parts. A part of a
 * *dynamic* window consists of what its rank has attached: there, a place is an address. */
#ifndef MAZURKA_WINDOWS_H
#define MAZURKA_WINDOWS_H

#include "rank.h"

#define windows mazurka_windows
#define count_of_windows mazurka_count_of_windows
#define window_of mazurka_window_of
#define window_is_locked mazurka_window_is_locked
#define window_check_base mazurka_window_check_base
#define epoch_check_fence mazurka_epoch_check_fence
#define window_check_rank mazurka_window_check_rank
#define window_make mazurka_window_make
#define window_new mazurka_window_new
#define window_share mazurka_window_share
#define window_find_shared mazurka_window_find_shared
#define window_check_size mazurka_window_check_size
#define window_meet mazurka_window_meet
#define window_map mazurka_window_map
#define window_publish mazurka_window_publish
#define window_pull mazurka_window_pull
#define operation_start mazurka_operation_start
#define operation_writes mazurka_operation_writes
#define operation_reads mazurka_operation_reads
#define operation_request mazurka_operation_request
#define window_question mazurka_window_question
#define window_ask mazurka_window_ask
#define put_store mazurka_put_store
#define cell_read mazurka_cell_read
#define cell_write mazurka_cell_write
#define grains_add mazurka_grains_add
#define grains_lock mazurka_grains_lock
#define grains_unlock mazurka_grains_unlock
#define grains_find mazurka_grains_find
#define grains_announce mazurka_grains_announce
#define changes_add mazurka_changes_add
#define changes_content mazurka_changes_content
#define copy_at mazurka_copy_at
#define copy_attach mazurka_copy_attach
#define copy_detach mazurka_copy_detach
#define changes_count mazurka_changes_count
#define changes_next mazurka_changes_next
#define clock_copy mazurka_clock_copy
#define changes_read mazurka_changes_read
#define changes_find mazurka_changes_find
#define changes_learn mazurka_changes_learn
#define changes_tell mazurka_changes_tell
#define changes_own mazurka_changes_own
#define locks_take mazurka_locks_take
#define locks_give_back mazurka_locks_give_back
#define lock_hides mazurka_lock_hides
#define lock_is_postponed mazurka_lock_is_postponed
#define lock_need mazurka_lock_need
#define locks_learn mazurka_locks_learn
#define operations_touch mazurka_operations_touch
#define operations_act mazurka_operations_act
#define operations_act_again mazurka_operations_act_again
#define operations_apply mazurka_operations_apply
#define operation_changes mazurka_operation_changes
#define operation_is_ordered mazurka_operation_is_ordered
#define operations_change mazurka_operations_change
#define operations_hand_over mazurka_operations_hand_over
#define exposure_await mazurka_exposure_await
#define records_expose mazurka_records_expose
#define records_expose_to_all mazurka_records_expose_to_all
#define records_end_exposure mazurka_records_end_exposure
#define operations_complete mazurka_operations_complete
#define operations_exchange mazurka_operations_exchange
#define operations_forget mazurka_operations_forget
#define records_add mazurka_records_add
#define records_add_lock mazurka_records_add_lock
#define records_add_detach mazurka_records_add_detach
#define records_check_stores mazurka_records_check_stores
#define assertion_check mazurka_assertion_check
#define records_own mazurka_records_own
#define records_complete mazurka_records_complete
#define records_exchange mazurka_records_exchange
#define records_see mazurka_records_see
#define clock_changes mazurka_clock_changes
#define clock_join_times mazurka_clock_join_times
#define clock_join_changes mazurka_clock_join_changes
#define clock_put_changes mazurka_clock_put_changes
#define clock_tick mazurka_clock_tick
#define clock_knows mazurka_clock_knows
#define clock_now mazurka_clock_now

/* The part of a window at one rank. */
struct side {
  size_t size;
  int unit;
};

/* How the rank may access a target. */
enum hold { FREE, SHARED, EXCLUSIVE, EVERYBODY, STARTED };
/* When it takes a lock that it need not have at once: see locks.c. */
enum choice { NO_CHOICE, TAKEN_EARLY, TO_TAKE_LATE, TAKEN_LATE };

/* What a rank has done since it asked for a shared lock: the count of other calls then, and whether
 * it has started operations and has needed the lock for them. */
struct sharing {
  uint32_t calls;
  bool is_used, is_needed;
};

/* A range of bytes: the first, and the one behind the last. Lists are sorted and without overlap;
 * an empty list means all bytes. */
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
  size_t count; /* of elements at the target */
  const struct type *type;
  MPI_Op op;
  /* what is written, as put_data wrote it; for 'c' the compared value, then the new one */
  struct bytes data;
  void *result;        /* the place for what is read */
  size_t result_count;
  const struct type *result_type;
  uint32_t owned; /* the program's memory that it owns */
  size_t record;  /* valid only until another one is made */
  const char *name;
  uintptr_t site;
  bool is_applied, is_over; /* at the target; for the program's memory here */
  bool is_flushed;          /* the program may say that it is complete at the target */
};

/* The part of a rank after all changes that have acted so far. */
struct copy {
  uint8_t *at; /* NULL: zeros */
  size_t size;
  size_t acted;
  uint32_t version, changes; /* changes.c; this rank's own changes when it got the lock */
  size_t regions;
  struct span *region; /* what is attached, in a dynamic window */
};

/* A private copy: memory of the program. */
struct mapped {
  int target;    /* whose part it belongs to */
  uint64_t from; /* its place there */
  uint8_t *private, *snapshot; /* as it is; and as it was when both copies were last equal */
  size_t size;
  size_t pulled; /* the number of changes known then */
  uintptr_t attached_at;
};

struct window {
  struct object object;
  char *name;
  struct comm *comm;
  MPI_Errhandler errhandler;
  int flavor;
  void *base;      /* of the rank's own part */
  void *allocated; /* memory that goes with the window */
  size_t size;     /* of the memory that ranks share */
  bool is_made; /* by all its ranks */
  struct side *sides;
  uint64_t asked, times_synchronized; /* the count of questions at the last MPI_Win_sync; how often since then */
  size_t count_of_mapped;
  struct mapped *mapped;
  size_t found_length, found_room;
  struct found *found; /* what other ranks have announced: grains.c */
  struct copy *copies; /* the public copies by target, as far as this rank knows them */
  bool *are_contended; /* by target: see records_exchange */
  bool is_fenced;    /* a fence has opened an epoch that no fence has closed */
  bool has_fenced;   /* the last fence may have opened an epoch */
  uintptr_t fenced_at, inner_at; /* the last fence; an epoch that was opened in the one that it may have opened */
  bool is_known;     /* whether others may know what the rank has done since the window was made */
  enum hold *holds;  /* by target */
  enum choice *choices; /* by target */
  struct sharing *sharings; /* by target: locks.c */
  uint32_t *locks;   /* requests for the gates, by target and rank: locks.c */
  struct group *exposed, *started; /* the epochs of groups: active.c */
  int exposed_with, started_with; /* what they assert */
  int done;          /* the number of origins that have said so to this rank */
  uint32_t *awaited; /* the requests for what they say */
  uint32_t *exposures, *epochs; /* by origin and by target: how many there were of them */
  uint32_t fences;   /* how many there were */
  uint32_t *posts;   /* by target: the request for what the post says */
  bool *are_exposed; /* by target: whether this rank knows of the post */
  uintptr_t opened_at;
  uint32_t synchronized; /* the rank's own time at the last synchronization */
  uintptr_t no_put_at; /* the call that asserts that this part is not changed until the next one */
  size_t length, room;
  struct operation *operations;
};
extern struct window **windows;
extern size_t count_of_windows;

struct window *window_of(MPI_Win win);
void window_check_rank(const struct window *window, int rank);
bool window_is_locked(const struct window *window); /* whether this rank has locked any part */

/* A question about objects of windows. 'q', 'Q': requests a lock, shared or exclusive; 'W' waits for
 * it; 'x' releases it; 'l', 'm', 'u': the same three for a mutex; 'r' and 'w' read and write a
 * cell. */
struct bytes *window_question(char form);
/* Requests one of the locks of a target ('q', 'Q', 'l') and waits for it, or releases it. */
void window_ask(char form, const struct window *window, int target, const char *kind, long number, uint32_t *request);
/* The content of a cell; empty if it was never written. Both release the name. */
struct bytes cell_read(char *name);
void cell_write(char *name, const struct bytes *content);
/* A change of a part that is no operation: 'w', a store by a program, or the result of an ordered
 * operation; 't' and 'd': memory is attached or detached. */
void put_store(struct bytes *to, char kind, uint64_t place, const void *data, size_t length);

/* grains.c: the grains of a part that atomic operations touch. */
enum { FEW_GRAINS = 8 };
struct grains {
  bool are_many; /* more than FEW_GRAINS; then they count as all */
  size_t count;
  uint64_t grain[FEW_GRAINS]; /* in ascending order */
  bool is_changed[FEW_GRAINS];
  uint32_t whole, lock[FEW_GRAINS]; /* requests */
};
void grains_add(struct grains *grains, const struct window *window, int target, struct span touched, bool is_change);
void grains_lock(struct grains *grains, const struct window *window, int target);
void grains_unlock(struct grains *grains, const struct window *window, int target);
/* Reads the changes by atomic operations on these grains. The rank has locked them. `is_fetching`:
 * it is told what they have changed, so what comes before them comes before what it does next. */
void grains_find(const struct grains *grains, struct window *window, int target, bool is_fetching);
/* Lets others find the change with this index. */
void grains_announce(const struct grains *grains, struct window *window, int target, uint32_t index);

/* changes.c: the changes of a target's part. They are made by stores to memory or by atomic
 * operations. */
enum lane { PLAIN, ATOMIC, LANES };
/* Adds a change, and returns its index. `is_ordered`: the rank holds the locks of its grains. */
uint32_t changes_add(const struct window *window, int target, enum lane lane, bool is_ordered, const struct bytes *operations);
/* Reads the change by an atomic operation of rank `by` with this index, and all that it knows.
 * Returns the times of all ranks before it. */
const uint32_t *changes_read(const struct window *window, int target, int by, uint32_t index);
/* Reads all changes by atomic operations. */
void changes_find(const struct window *window, int target);
/* The part with all known changes; the number of these changes, at all windows. */
struct copy *changes_content(struct window *window, int target);
/* Where a range of the part is in that content; NULL if this memory is not attached. */
uint8_t *copy_at(const struct window *window, const struct copy *copy, struct span range);
void copy_attach(struct copy *copy, uint64_t from, uint64_t size);
void copy_detach(struct copy *copy, uint64_t from);
/* For a window whose content is kept elsewhere: its next change that has not acted yet, if there is
 * one. `is_anew`: all changes have to act again. */
bool changes_next(const struct window *window, int target, struct copy *copy, struct reader *change, bool *is_anew);
size_t changes_count(const struct window *window, int target);
/* Reads numbers of changes of the target from a cell, or writes those that the rank knows there;
 * releases the name. */
void changes_learn(const struct window *window, int target, char *cell);
void changes_tell(const struct window *window, int target, char *cell);
uint32_t changes_own(const struct window *window, int target); /* the number of this rank's own changes */

/* locks.c: takes the lock that window->holds says, at once or later; completes the operations at the
 * target, and gives the lock back. */
void locks_take(struct window *window, int target);
void locks_give_back(struct window *window, int target);
bool lock_is_postponed(const struct window *window, int target);
/* Takes the lock, if it is postponed; notes whether a shared one might have been. */
void lock_need(struct window *window, int target);
/* Whether the lock is postponed, and a flush of what reads nothing (`is_local`: only at the origin)
 * needs none. */
bool lock_hides(const struct window *window, int target, bool is_local);
/* Reads the changes of these grains by epochs with postponed locks. The rank shares the lock. */
void locks_learn(const struct window *window, int target, const struct grains *grains);

/* onesided.c: operations_act carries out operations that were put, on a target's part;
 * operations_act_again does so only on the bytes of these stores.
 * operations_apply does so with what the rank has started there so far; operations_complete also
 * completes it. (If only the origin needs to know that, nothing orders what they write before what
 * comes later.) operations_exchange does it for all ranks at a fence, and returns whether there
 * were any. operations_forget drops those that are complete. */
void operations_act(const struct window *window, int target, struct reader operations, struct copy *copy);
void operations_act_again(const struct window *window, int target, struct reader operations, struct reader stores,
                          struct copy *copy);
/* Adds the grains of operations that are not carried out. */
void operations_touch(const struct window *window, int target, struct grains *grains);
void operations_apply(struct window *window, int target);
/* If all that is started there only puts, completes it at the origin, appends it for the target,
 * and returns true. */
bool operations_hand_over(struct window *window, int target, struct bytes *to);
bool operations_change(const struct window *window, int target); /* whether some of them change that part */
bool operation_changes(const struct operation *of); /* whether it changes the target's part */
/* Whether it returns the previous value, or overwrites it. */
bool operation_is_ordered(char kind, MPI_Op op);
void operations_complete(struct window *window, int target, bool is_local);
bool operations_exchange(struct window *window, const char *called);
void operations_forget(struct window *window);

/* conflicts.c: accesses to windows, and which of them are concurrent. Returns the number of the
 * record. */
size_t records_add(const struct window *window, const struct operation *of, enum hold hold, size_t from, size_t to,
                   struct spans spans);
/* Memory is detached: that is an access to all of it. */
void records_add_detach(const struct window *window, struct span range);
/* A lock with MPI_MODE_NOCHECK. */
void records_add_lock(const struct window *window, int target, enum hold hold);
/* Fails if the rank has changed its own part since it was last synchronized. */
void records_check_stores(const struct window *window, const char *when);
/* The rank exposes its part to all others by a fence that is no barrier; to this one, in another
 * epoch of it; it has waited for the end of these epochs. */
void records_expose_to_all(const struct window *window);
void records_expose(const struct window *window, int origin);
void records_end_exposure(const struct window *window);
/* The operation with this record is pending until windows_disown. */
void records_own(size_t record, uint32_t owner);
/* Compares the records of all ranks of the window, and finds the targets where the order of
 * accumulations matters: a collective call. */
void records_exchange(struct window *window);
/* The operations of this rank on that part are complete; with `is_local`, only those that read. */
void records_complete(const struct window *window, int target, bool is_local);
/* For each writer, the number of changes of a target that come before the next action of the rank;
 * these numbers for all targets from this one on, sent to and received from others. */
uint32_t *clock_changes(int target);
void clock_put_changes(struct bytes *to);
void clock_join_changes(int target, struct reader from);
uint32_t *clock_copy(void); /* the times of all ranks */
/* Joins such times to the first ones; or to those of this rank, if these are NULL. */
void clock_join_times(uint32_t *clock, const uint32_t *times);
uint32_t clock_now(void);
uint32_t clock_tick(void);
/* Whether this rank knows that the other one has sent something at this time or later. */
bool clock_knows(int world, uint32_t time);

/* active.c: waits for the post that belongs to the epoch at this target. */
void exposure_await(struct window *window, int target);

/* shared.c */
int window_share(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win);
const struct mapped *window_find_shared(MPI_Win win, int rank);
/* Gives up a program that waits for a store of another rank. */

/* epochs.c: an assertion has no bits but these. */
void assertion_check(int assertion, int allowed);

/* windows.c: checks the size of a part, and its memory; makes a window of the parts of all ranks */
void window_check_size(MPI_Aint size, MPI_Aint unit);
void window_check_base(const void *base, MPI_Aint size, MPI_Aint unit);
int window_make(void *base, MPI_Aint size, MPI_Aint unit, MPI_Comm comm, int flavor, MPI_Win *win);
/* The same in steps: a window of which nobody else knows; memory for it; the window of all ranks. */
struct window *window_new(MPI_Aint size, MPI_Aint unit, MPI_Comm comm, int flavor);
struct mapped *window_map(struct window *window, int target, uint64_t from, void *private, size_t size);
void window_meet(struct window *window);
void epoch_check_fence(struct window *window);
/* Makes both copies equal: as windows_publish and windows_pull do. */
void window_publish(struct window *window);
void window_pull(struct window *window);

/* onesided.c: starts an operation, whose kind is 'p'ut, 'g'et, 'a'ccumulate, 'f'etch, 'c'ompare */
struct operation *operation_start(MPI_Win win, char kind, int target, MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Op op);
/* What it sends, and where it puts what it reads. */
void operation_writes(struct operation *of, const void *origin, MPI_Count count, MPI_Datatype type);
void operation_reads(struct operation *of, void *result, MPI_Count count, MPI_Datatype type);
/* Makes a request for it; NULL: for nothing. */
int operation_request(MPI_Win win, const struct operation *of, MPI_Request *handle);

#endif
