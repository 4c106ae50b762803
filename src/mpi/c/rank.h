/* Declarations shared by the parts of the library that `mazurka mpicc` links to a program.
 *
 * A rank is a process. It does by itself what does not depend on other ranks (types, groups,
 * requests, packing), and asks the verifier for everything else, as described in wire.c. The
 * answers are all that it learns of other ranks, so its behaviour is a function of them. */
#ifndef MAZURKA_RANK_H
#define MAZURKA_RANK_H

#define _GNU_SOURCE
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"

/* The names shared by the parts, renamed so that they do not clash with names of the program. A
 * test finds missing ones. */
#define allocate mazurka_allocate
#define ask mazurka_ask
#define wipe_stack mazurka_wipe_stack
#define ask_unseen mazurka_ask_unseen
#define is_in_vain mazurka_is_in_vain
#define attribute_get mazurka_attribute_get
#define attributes_copy mazurka_attributes_copy
#define attributes_remove mazurka_attributes_remove
#define error_last_code mazurka_error_last_code
#define error_raise mazurka_error_raise
#define give_up mazurka_give_up
#define release mazurka_release
#define remark mazurka_remark
#define text_of mazurka_text_of
#define summary_add mazurka_summary_add
#define summary_put mazurka_summary_put
#define text_with mazurka_text_with
#define ask_posted mazurka_ask_posted
#define ask_poll mazurka_ask_poll
#define asks_anew mazurka_asks_anew
#define questions_asked mazurka_questions_asked
#define only_vain_answers_follow mazurka_only_vain_answers_follow
#define nanoseconds mazurka_nanoseconds
#define store_stretches mazurka_store_stretches
#define unseen mazurka_unseen
#define basic_name mazurka_basic_name
#define basic_size mazurka_basic_size
#define call mazurka_call
#define check_buffer mazurka_check_buffer
#define check_memory mazurka_check_memory
#define heap_free mazurka_heap_free
#define is_beyond_heap mazurka_is_beyond_heap
#define variables_read mazurka_variables_read
#define wire_bias mazurka_wire_bias
#define program_range mazurka_program_range
#define call_from mazurka_call_from
#define python_begin mazurka_python_begin
#define python_code mazurka_python_code
#define is_python mazurka_is_python
#define is_preloaded mazurka_is_preloaded
#define check_count mazurka_check_count
#define collective_end mazurka_collective_end
#define collective_meet mazurka_collective_meet
#define collective_pass mazurka_collective_pass
#define collective_start mazurka_collective_start
#define comm_get mazurka_comm_get
#define comm_get_intra mazurka_comm_get_intra
#define comm_new mazurka_comm_new
#define comm_next_name mazurka_comm_next_name
#define comm_peers mazurka_comm_peers
#define comm_place mazurka_comm_place
#define comm_place_of mazurka_comm_place_of
#define comm_publish mazurka_comm_publish
#define comm_size mazurka_comm_size
#define group_copy mazurka_group_copy
#define group_first mazurka_group_first
#define group_new mazurka_group_new
#define group_publish mazurka_group_publish
#define cart_shift mazurka_cart_shift
#define comm_split mazurka_comm_split
#define comm_of_known mazurka_comm_of_known
#define contribution mazurka_contribution
#define env_ask_for mazurka_env_ask_for
#define env_check mazurka_env_check
#define locks_settle mazurka_locks_settle
#define locks_pass mazurka_locks_pass
#define env_check_caller mazurka_env_check_caller
#define env_check_single mazurka_env_check_single
#define env_check_thread mazurka_env_check_thread
#define env_is_over mazurka_env_is_over
#define env_lets_threads_call mazurka_env_lets_threads_call
#define env_level mazurka_env_level
#define exchange mazurka_exchange
#define fail mazurka_fail
#define file_get_handler mazurka_file_get_handler
#define file_records_are_left mazurka_file_records_are_left
#define file_records_compare mazurka_file_records_compare
#define file_records_disown mazurka_file_records_disown
#define file_records_put mazurka_file_records_put
#define files_put_uses mazurka_files_put_uses
#define files_remove mazurka_files_remove
#define clock_of_program mazurka_clock_of_program
#define fail_somewhere mazurka_fail_somewhere
#define random_fill mazurka_random_fill
#define verifier_folder mazurka_verifier_folder
#define fail_at mazurka_fail_at
#define object_name mazurka_object_name
#define object_set_name mazurka_object_set_name
#define group_get mazurka_group_get
#define grow mazurka_grow
#define handle_get mazurka_handle_get
#define handle_new mazurka_handle_new
#define handles_check_left mazurka_handles_check_left
#define is_thread_main mazurka_is_thread_main
#define in_first_copy mazurka_in_first_copy
#define is_verified mazurka_is_verified
#define memory_ends mazurka_memory_ends
#define memory_own mazurka_memory_own
#define memory_own_more mazurka_memory_own_more
#define memory_release mazurka_memory_release
#define memory_overlaps mazurka_memory_overlaps
#define memory_forget mazurka_memory_forget
#define memory_see mazurka_memory_see
#define memory_learn mazurka_memory_learn
#define memory_use mazurka_memory_use
#define memory_check_gone mazurka_memory_check_gone
#define op_apply mazurka_op_apply
#define op_check_window mazurka_op_check_window
#define op_apply_window mazurka_op_apply_window
#define op_find mazurka_op_find
#define op_for mazurka_op_for
#define op_get mazurka_op_get
#define pack mazurka_pack
#define put mazurka_put
#define put_block mazurka_put_block
#define put_data mazurka_put_data
#define put_i32 mazurka_put_i32
#define put_site mazurka_put_site
#define put_text mazurka_put_text
#define put_u32 mazurka_put_u32
#define put_u64 mazurka_put_u64
#define put_u8 mazurka_put_u8
#define question mazurka_question
#define receive_end mazurka_receive_end
#define request_any mazurka_request_any
#define request_all mazurka_request_all
#define request_complete mazurka_request_complete
#define request_is_ready mazurka_request_is_ready
#define request_get mazurka_request_get
#define request_new mazurka_request_new
#define request_wait mazurka_request_wait
#define text_in mazurka_text_in
#define text_out mazurka_text_out
#define memory_use_values mazurka_memory_use_values
#define signature_add mazurka_signature_add
#define signature_fits mazurka_signature_fits
#define signature_free mazurka_signature_free
#define signature_put mazurka_signature_put
#define signature_size mazurka_signature_size
#define signature_take mazurka_signature_take
#define signature_text mazurka_signature_text
#define status_empty mazurka_status_empty
#define status_clear mazurka_status_clear
#define status_set mazurka_status_set
#define status_bytes mazurka_status_bytes
#define status_elements mazurka_status_elements
#define status_set_elements mazurka_status_set_elements
#define status_set_bytes mazurka_status_set_bytes
#define take mazurka_take
#define take_block mazurka_take_block
#define take_contributions mazurka_take_contributions
#define take_data mazurka_take_data
#define take_i32 mazurka_take_i32
#define take_u32 mazurka_take_u32
#define take_u64 mazurka_take_u64
#define take_u8 mazurka_take_u8
#define type_for mazurka_type_for
#define type_get mazurka_type_get
#define unpack mazurka_unpack
#define contents_add mazurka_contents_add
#define contents_add_large mazurka_contents_add_large
#define contents_add_addresses mazurka_contents_add_addresses
#define contents_add_types mazurka_contents_add_types
#define contents_start mazurka_contents_start
#define info_find mazurka_info_find
#define info_new mazurka_info_new
#define info_put mazurka_info_put
#define type_add mazurka_type_add
#define type_done mazurka_type_done
#define type_new mazurka_type_new
#define type_reach mazurka_type_reach
#define type_set_bounds mazurka_type_set_bounds
#define windows_check_end mazurka_windows_check_end
#define windows_check_gone mazurka_windows_check_gone
#define windows_publish mazurka_windows_publish
#define windows_pull mazurka_windows_pull
#define windows_see mazurka_windows_see
#define windows_own mazurka_windows_own
#define windows_disown mazurka_windows_disown
#define windows_check_atomic mazurka_windows_check_atomic
#define clock_put mazurka_clock_put
#define clock_join mazurka_clock_join
#define comm_group mazurka_comm_group
#define memory_see_atomic mazurka_memory_see_atomic
#define memory_watch mazurka_memory_watch
#define world_base mazurka_world_base
#define world_rank mazurka_world_rank
#define world_size mazurka_world_size
#define thread_is_main mazurka_thread_is_main
#define threads_begin mazurka_threads_begin
#define times_made mazurka_times_made
#define time_tick mazurka_time_tick
#define thread_enters mazurka_thread_enters
#define thread_choose mazurka_thread_choose
#define thread_knows_last mazurka_thread_knows_last
#define thread_polls mazurka_thread_polls
#define thread_receives mazurka_thread_receives
#define thread_sends mazurka_thread_sends
#define thread_calls_mpi mazurka_thread_calls_mpi
#define thread_ends_all mazurka_thread_ends_all
#define thread_is_alone mazurka_thread_is_alone
#define thread_polled mazurka_thread_polled
#define thread_learns mazurka_thread_learns
#define thread_will_wait mazurka_thread_will_wait
#define wait_for_any mazurka_wait_for_any

/* A function of MPI: PMPI_F, and a weak MPI_F, which the program may replace. */
#define FUNCTION_OF(result, name, parameters)                                                       \
  result PMPI_##name parameters;                                                                    \
  result MPI_##name parameters __attribute__((weak, alias("PMPI_" #name)));                         \
  result PMPI_##name parameters
#define FUNCTION(name, parameters) FUNCTION_OF(int, name, parameters)

/* The body of a function that refuses a call (functions.rs). */
#define REFUSE(function, kind) \
  HERE(function);              \
  fail("unsupported", "%s (%s) is not among the functions that can be verified", call.name, kind)

/* A function that replaces one of the C library, unless the program defines its own. */
#define WEAK __attribute__((weak))

struct stretch {
  uintptr_t from, to;
};

/* The present call of the program. Each function begins with HERE or CALL. */
struct call {
  const char *name;
  uintptr_t site; /* its place: the return address, or a line of Python */
  uintptr_t back; /* the return address */
};
extern _Thread_local struct call call;
/* python.c: the call of this function that returns to this address. */
struct call call_from(const char *function, const void *address);
size_t python_code(struct stretch *code, size_t room);
bool is_python(void); /* whether the process is an interpreter that runs */
/* If the program is in Python: exceptions that it does not catch are failures from now on. */
void python_begin(void);
/* HERE, for functions that any thread may call. */
#define ANYWHERE(function) call = call_from(function, __builtin_return_address(0)), unseen++
/* Where the entries for Fortran are (fortran.h), if there are any. */
extern const char __start_mazurka_fortran[] __attribute__((weak)), __stop_mazurka_fortran[] __attribute__((weak));
static inline bool is_fortran(void) { return (uintptr_t)__start_mazurka_fortran != (uintptr_t)__stop_mazurka_fortran; }
#define HERE(function) ANYWHERE(function); env_check_thread()
/* HERE, for functions that are allowed only between MPI_Init and MPI_Finalize. */
#define CALL(function) CALL_OF_EPOCH(function); locks_pass(); locks_settle()
/* CALL, for functions whose questions let other threads go on first. */
#define CALL_IN_STEPS(function) ANYWHERE(function); env_check_caller(); env_check(); locks_pass(); locks_settle()
/* CALL, for operations on windows: a lock may stay postponed (locks.c). */
#define CALL_OF_EPOCH(function) HERE(function); env_check()
void locks_settle(void); /* takes the lock that is postponed, if any */
void locks_pass(void);   /* notes that the rank goes on without the locks that it may take late */
/* CALL, for functions that change only what the program sees: polls.c */
#define LOOK(function) CALL_IN_STEPS(function); unseen--

/* threads.c */
/* Makes this thread the one that calls MPI; asks whether it is. */
void threads_begin(void); /* before the program begins */
void thread_is_main(void);
bool is_thread_main(void);
/* Before a call of MPI, or a question of this kind: other threads may go on first. */
struct comm;
void thread_calls_mpi(void);
void thread_sends(const struct comm *comm, int peer);
void thread_receives(const struct comm *comm, int tag);
void thread_enters(const struct comm *comm);
void thread_polls(void);
/* A call by some thread. Whether the last one is ordered before the present one, which is the last
 * one from now on. */
struct last_call {
  uint32_t thread, clock;
};
bool thread_knows_last(struct last_call *last);
/* Whether it is the only thread of the rank; it has polled in vain. */
bool thread_is_alone(void);
void thread_polled(void);
/* Before a question that waits for other ranks: other threads go on meanwhile. */
void thread_will_wait(void);
/* One of so many numbers: each is explored. */
uint32_t thread_choose(uint32_t count);
/* Waits for one of these requests of the verifier. Returns what follows its index in the answer. */
struct reader wait_for_any(const uint32_t *posted, int count, uint32_t *found);
/* What the answer to a question says about the order of what threads do. */
void thread_learns(char answer);
/* Before the end of the process: other threads may go on first. */
void thread_ends_all(void);

/* wire.c: bytes to and from the verifier */
struct bytes {
  uint8_t *at;
  size_t length, room;
};
void put(struct bytes *to, const void *data, size_t length);
void put_u8(struct bytes *to, uint8_t value);
void put_u32(struct bytes *to, uint32_t value);
void put_i32(struct bytes *to, int32_t value);
void put_u64(struct bytes *to, uint64_t value);
void put_site(struct bytes *to, uintptr_t site); /* for other ranks, which may run other programs */
void put_text(struct bytes *to, const char *text);
void put_block(struct bytes *to, const void *data, size_t length);

/* Bytes that are read from the front. */
struct reader {
  const uint8_t *at, *end;
};
const void *take(struct reader *from, size_t length);
uint8_t take_u8(struct reader *from);
uint32_t take_u32(struct reader *from);
int32_t take_i32(struct reader *from);
uint64_t take_u64(struct reader *from);
struct reader take_block(struct reader *from);

/* Starts a question of this kind about the current call; ask() sends it, and returns the answer. */
struct bytes *question(char kind);
void wipe_stack(void); /* what is below it is the same in each run */
struct reader ask(void);
struct reader ask_unseen(void); /* which another thread will see */
extern bool is_in_vain; /* the next question may wait for ever: then another choice leads on */
/* Sends a question whose answer is only that it happened, or the number of a request. */
uint32_t ask_posted(void);
/* Whether the next answer is not yet known to the verifier from an earlier run. */
extern bool asks_anew;
extern uint64_t questions_asked; /* their number */
/* Whether all known answers from here on are unsuccessful polls. */
bool only_vain_answers_follow(void);
/* Ends the rank with a violation: `class` is a name in src/mpi/slip.rs. An address in the message
 * is written as "{@%lx}" and shown as a file and line. */
void fail(const char *class, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
void fail_at(uintptr_t site, const char *class, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
/* fail() at the first of these addresses that is in the program. */
void fail_somewhere(const uintptr_t *sites, size_t count, const char *class, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
/* Gives up the rank, which needs more memory than it may have. */
void memory_ends(uintptr_t site) __attribute__((noreturn));
/* Records a defect that is not a violation. It is reported when the rank has ended. */
void remark(uintptr_t site, const char *class);
const char *verifier_folder(void); /* a folder of this search for temporary files */
/* The distance between the address where the program was loaded and the address where it was
 * linked; and where it is. */
uintptr_t wire_bias(void);
extern struct stretch program_range;
extern int world_rank, world_size, world_base; /* world_base: dynamic.h */
static inline int process_number(void) { return world_base + world_rank; }
extern uint64_t time_tick; /* the advance of the clock whenever it is read, in nanoseconds */
bool *in_first_copy(void);
extern bool is_verified;  /* whether the program was started by `mazurka mpirun` */
extern bool is_preloaded; /* whether it was not made by `mazurka mpicc`: its accesses to memory are not seen */
void give_up(const char *what) __attribute__((noreturn));

/* polls.c */
/* The number of events outside of the program's memory that may affect its behaviour: calls of MPI,
 * observations, reads of the clock. */
extern uint64_t unseen;
/* ask() for a poll: `question` is complete, and its bytes from `arguments` on describe what is
 * polled. */
struct reader ask_poll(struct bytes *question, size_t arguments);

/* store.c: memory that is not the program's heap */
/* The ranges of this memory. NULL if not all of them are known. */
const struct stretch *store_stretches(size_t *count);
void *allocate(size_t size); /* zeroed */
void *grow(void *old, size_t size);
void release(const void *piece);
char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *text_with(const char *format, va_list values);

/* env.c */
uint64_t clock_of_program(void); /* nanoseconds since the rank began */
extern uint64_t nanoseconds;     /* the time; code that reads it for the program adds a tick */
void env_check(void);
void env_check_thread(void);
void env_check_caller(void); /* that it may call MPI now */
void env_check_single(void); /* that there may be a second thread */
bool env_is_over(void);
bool env_lets_threads_call(void); /* whether other threads may call MPI */
const char *env_level(void); /* the level of threads */
void env_ask_for(const char *level);

/* handles.c: objects behind handles */
enum kind { COMM = 1, GROUP, DATATYPE, OP, REQUEST, WIN, INFO, MESSAGE, ERRHANDLER, SESSION, OPENED, KINDS };
/* The attributes of an object, the newest last. */
struct attributes {
  size_t length;
  struct attribute {
    int key;
    void *value;
  } *at;
};
/* The head of every object. */
struct object {
  enum kind kind;
  bool is_freed;      /* by the program */
  bool is_predefined; /* or a part of another object: never a leak */
  uintptr_t made_at;  /* the place of the call that made it */
  const char *made_by;
  const char *name; /* given by the program, or by MPI */
  struct attributes attributes;
};
uintptr_t handle_new(enum kind kind, struct object *object);
struct object *handle_get(enum kind kind, const void *handle); /* NULL if it was never a handle */
/* At the end of the rank: fails if a request is active, and remarks other objects that were not
 * freed. */
void handles_check_left(void);
void object_set_name(struct object *object, const char *name);
const char *object_name(const struct object *object);

/* types.c: datatypes */
struct run { /* consecutive values of a basic type; it is sent as it is, so nothing lies between */
  uint64_t basic, count;
};
struct piece { /* a run at an offset */
  ptrdiff_t at;
  struct run run;
};
enum { SEVERAL = 0xffff };
struct contents { /* how the type was made: contents.c */
  int combiner;
  MPI_Count integers, addresses, counts, types;
  int *integer;
  MPI_Aint *address;
  MPI_Count *large; /* numbers that were given to MPI_F_c */
  const struct type **type;
};
struct type {
  struct object object;
  const char *title; /* its name in messages */
  size_t size;
  ptrdiff_t lb, extent;
  bool has_bounds; /* whether these were given by the program, here or for a part */
  size_t pieces;
  struct piece *piece;
  uint32_t element; /* the basic type of all its values (a pair counts as one), or SEVERAL */
  bool is_committed;
  struct contents contents;
};
/* A new empty type; appends `count` elements of another type at an offset; the handle of a type */
struct type *type_new(void);
/* The bytes of this many elements, counted from the place of the first one: from the first byte with
 * a value to behind the last one. */
void type_reach(const struct type *of, size_t count, ptrdiff_t *from, ptrdiff_t *to);
/* The program gives the bounds. */
void type_set_bounds(struct type *of, ptrdiff_t lb, ptrdiff_t extent);
void type_add(struct type *to, ptrdiff_t at, size_t count, const struct type *old);
int type_done(struct type *made, MPI_Datatype *handle);
void contents_start(struct type *of, int combiner, const struct type *old);
void contents_add(struct type *of, MPI_Count count, const int *integers);
void contents_add_addresses(struct type *of, MPI_Count count, const MPI_Aint *addresses);
void contents_add_large(struct type *of, MPI_Count count, const MPI_Count *counts);
void contents_add_types(struct type *of, MPI_Count count, const struct type *const *types);
struct type *type_get(MPI_Datatype type);                         /* any type */
struct type *type_for(MPI_Datatype type, const char *parameter);  /* one that may be communicated */
size_t basic_size(uint32_t basic);
const char *basic_name(uint32_t basic);
void pack(struct bytes *to, const void *from, size_t count, const struct type *type);
void unpack(void *to, const uint8_t *from, size_t bytes, const struct type *type);
/* The signature of `count` elements: runs, where neighbours of one basic type are joined. */
struct signature {
  size_t length, room;
  struct run *run;
};
void signature_add(struct signature *to, size_t count, const struct type *type);
void signature_put(struct bytes *to, const struct signature *from);
struct summary { /* what reports show of data: summary.c */
  size_t bytes, values;
  struct bytes text;
  bool is_long; /* no values are shown */
};
void summary_add(struct summary *to, const void *from, size_t count, const struct type *type);
void summary_put(struct bytes *to, struct summary *summary);
struct signature signature_take(struct reader *from);
/* Whether data fits a receive of this signature. A shorter message fits. */
enum fit { FITS, TOO_LONG, OTHER_TYPES };
enum fit signature_fits(const struct signature *sent, const struct signature *wanted);
const char *signature_text(const struct signature *signature);
size_t signature_size(const struct signature *signature);
void signature_free(struct signature *signature);
/* Appends `count` elements as the sender has them: signature, then data. */
void put_data(struct bytes *to, const void *from, size_t count, const struct type *type);
/* Reads what put_data wrote at `site` into a buffer for `count` elements, given at `own_site`.
 * `who` describes the sender. Returns the number of bytes. */
size_t take_data(struct reader *from, void *to, size_t count, const struct type *type, const char *who, uintptr_t site,
                 uintptr_t own_site);

/* comm.c: groups, communicators, topologies */
struct group {
  struct object object;
  int size;
  int *ranks; /* the numbers of processes: dynamic.h */
  const struct object *session; /* that it comes from, if any */
};
struct comm {
  struct object object;
  char *name;  /* unique, and the same for all its members */
  const char *title; /* its name in messages */
  struct group *group;
  int rank;
  /* Of an intercommunicator: the other group; and whether that comes first where all ranks are
   * counted. */
  struct group *remote;
  bool is_remote_first;
  MPI_Errhandler errhandler;
  const struct object *session; /* that it belongs to, if any */
  MPI_Request request; /* of the MPI_Comm_idup that makes it, or MPI_REQUEST_NULL */
  uint32_t made;       /* the number of communicators and windows made from it */
  uint32_t persistent; /* the number of its persistent collectives */
  struct last_call entered; /* its last collective */
  int ndims, *dims, *periods; /* a grid, if it is one; `dims` is NULL otherwise */
  struct graph *graph;        /* another topology, or the neighbours in the grid */
};
/* The neighbours of a rank: incoming edges, and outgoing ones. */
struct graph {
  int kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
  int in, out, *sources, *destinations;
  bool is_weighted;
  int *in_weights, *out_weights;
  int nodes, *index, *edges; /* the arguments of MPI_Graph_create */
};
/* cart.c: the ranks `disp` steps before and behind this one */
void cart_shift(const struct comm *cart, int direction, int disp, int *source, int *dest);
struct comm *comm_get(MPI_Comm comm);
/* One that is no intercommunicator. */
struct comm *comm_get_intra(MPI_Comm comm);
/* The ranks with which it communicates: of the other group, if it is an intercommunicator. */
const struct group *comm_peers(const struct comm *comm);
/* The number of all its ranks, and the places of this rank and of a peer among them: those of one
 * group come before those of the other. */
int comm_size(const struct comm *comm);
int comm_place(const struct comm *comm);
int comm_place_of(const struct comm *comm, int peer);
/* The communicator of the ranks with this color, in the order of the keys: a collective call. */
MPI_Comm comm_split(struct comm *from, int color, int key, struct comm **result);
/* Makes a communicator of these ranks of another one. All know them, so they need not wait for each
 * other (MPI 4.1, 7.4). Those that are made in one call have different numbers. */
MPI_Comm comm_of_known(struct comm *from, struct group *members, int number, struct comm **result);
struct group *group_get(MPI_Group group);
struct group *group_new(int size);
struct group *group_copy(const struct group *from);
struct group *group_first(const struct group *from, int size); /* its first ranks */
/* The number of communicators and channels with this name that were made before. */
uint32_t times_made(const char *name);
/* A communicator of this group, with the error handler of another one; the name of the next one
 * made from this one, where `part` distinguishes those of one call; its handle. */
struct comm *comm_new(struct group *group, char *name, const struct comm *from);
char *comm_next_name(struct comm *comm, int part);
MPI_Comm comm_publish(struct comm *made);
/* A new handle for its group. */
MPI_Group comm_group(const struct comm *comm);
void check_count(MPI_Count count);
void check_buffer(const void *buffer, size_t count, const struct type *type, const char *parameter);

/* variables.c: the memory behind buffers */
void variables_read(const char *path);
/* Fails if the elements of a part are not all in the variable or heap block in which the buffer
 * begins, or have other types. */
void check_memory(const void *buffer, const void *part, size_t count, const struct type *type, const char *parameter);
/* Whether this is in a heap block that ends before `size` bytes. */
bool is_beyond_heap(const void *base, size_t size);
/* The program frees this block at `site`. */
void heap_free(void *piece, uintptr_t site);

/* requests.c */
enum state { INACTIVE, ACTIVE, COMPLETE };
struct request {
  struct object object;
  enum state state;
  bool is_persistent, is_started, is_cancelled, wants_cancel;
  char what; /* 's'end, 'r'eceive, 'c'ollective, 'o'ne-sided, 'g'eneralised, 'p'artitioned, 'f'lush */
  bool is_posted;   /* whether there is a request of the model */
  uint32_t posted;  /* its number */
  MPI_Status status;
  /* the arguments of its start */
  const char *name;
  void *buffer;
  size_t count;
  struct type *type;
  struct comm *comm;
  int peer, tag;
  char mode; /* of a send: 0 standard, 1 synchronous, 2 buffered, 3 ready */
  struct collective *collective;
  uint32_t owned; /* the memory that it owns while active: memory.c */
  size_t parts;
  struct request **part; /* it is over only if these are: the send of MPI_Isendrecv, or what is in a buffer */
  struct generalized *functions; /* of MPI_Grequest_start: generalized.c */
  struct partitions *partitions; /* of MPI_Psend_init and MPI_Precv_init: partitioned.c */
};
bool request_is_ready(struct request *request);
/* The index of a complete request after a 'W'ait or 'T'est: see requests.c. */
int request_any(char kind, int count, const MPI_Request *requests);
/* Whether all requests are complete. Those that a test finds complete stay complete.
 *
 * The first one that may be incomplete is tested. If it is complete, the rank waits for the others.
 * So the program does not observe which of them are complete when not all are, and there is one
 * execution instead of one for each order in which they are completed. The rank may wait in vain.
 * That is no execution of the program; it is explored as the one in which the first test finds
 * nothing. */
bool request_all(int count, const MPI_Request *requests);
MPI_Request request_new(char what);
struct request *request_get(MPI_Request request);
/* Waits for the request and frees it unless it is persistent. */
void request_wait(MPI_Request *request, MPI_Status *status);
void status_empty(MPI_Status *status);
/* The same but for the error code: of a status that a call is about to set. */
void status_clear(MPI_Status *status);
void status_set(MPI_Status *status, int source, int tag, size_t bytes);
size_t status_bytes(const MPI_Status *status);
void status_set_bytes(MPI_Status *status, size_t bytes);
MPI_Count status_elements(const MPI_Status *status, MPI_Datatype type);
int status_set_elements(MPI_Status *status, MPI_Datatype type, MPI_Count count);
void request_complete(struct request *request, struct reader *value);
/* p2p.c, collectives.c: the data of a request that is complete */
void receive_end(struct request *request, struct reader *value);
void collective_end(struct request *request, struct reader *value);
/* Enters the collective; from then on the operation owns the memory. */
void collective_start(struct request *request);

/* collectives.c */
struct contributions {
  int count;
  struct reader *of;
};
/* All ranks of the communicator meet in a call with this `description`: each contributes bytes, and
 * gets the contributions of all. */
struct contributions exchange(struct comm *comm, const char *description, const struct bytes *given);
const struct reader *contribution(const struct contributions *from, int rank);
/* A call that all ranks of the communicator make: it waits for nobody, or until all have made it,
 * and tells nothing of the others. collective_pass does not wait; it returns the number of the
 * request. */
void collective_meet(struct comm *comm, const char *description);
uint32_t collective_pass(struct comm *comm, const char *description);
/* Reads the next value of a list of observations; it may be absent. */
struct contributions take_contributions(struct reader *value);

/* info.c */
MPI_Info info_new(void);
void info_put(MPI_Info info, const char *key, const char *value);
const char *info_find(MPI_Info info, const char *key); /* NULL if there is no such key */

/* attributes.c: an attribute of the program; false if there is none */
bool attribute_get(const struct object *of, int key, void *value);
/* Copies or removes all attributes of an object with this handle, calling the functions of the
 * program for that. Returns the error of a function that fails; then nothing is copied, and older
 * attributes stay. */
int attributes_copy(const struct object *from, void *handle, struct object *to, void *made);
int attributes_remove(struct object *of, void *handle);

/* errors.c: an error that is not a mistake, for an object with this handle; returns the code */
int error_raise(const struct object *of, void *handle, int code, const char *who);
/* The error handler of a file; of MPI_FILE_NULL, that of files to be opened. */
void file_get_handler(MPI_File file, MPI_Errhandler *handler);
int *error_last_code(void); /* the greatest code in use */

/* ops.c */
struct op {
  struct object object;
  char name[24];
  MPI_User_function *function;
  MPI_User_function_c *large; /* one for large counts */
  bool commutes;
};
struct op *op_for(MPI_Op op, const struct type *type);
struct op *op_get(MPI_Op op);
struct op *op_find(MPI_Op op); /* possibly a freed one: pending operations may still use it (MPI 4.1, 2.5.1) */
void op_apply(MPI_Op op, const void *in, void *inout, size_t count, struct type *type, MPI_Datatype handle);
void op_check_window(MPI_Op op, const struct type *type);
void op_apply_window(MPI_Op op, const void *in, void *inout, size_t count, const struct type *type);

/* memory.c: the memory accesses of the program */
enum access { READS = 1, WRITES = 2 };
/* From now on an operation reads, or reads and writes, this memory. Fails if this conflicts with
 * another operation. */
uint32_t memory_own(const void *base, size_t count, const struct type *type, enum access by_operation);
void memory_own_more(uint32_t *owned, const void *base, size_t count, const struct type *type, enum access by_operation);
void memory_release(uint32_t owned);
/* Whether the latest operation writes some of its memory twice, or also reads what it writes. */
bool memory_overlaps(uint32_t owned);
/* No call waits for the operation any more: it is over at the latest when the rank learns something
 * of others (`is_over_soon`), or never. */
void memory_forget(uint32_t owned, bool is_over_soon);
void memory_learn(void);
/* The program accesses this memory, by a call that returns to `site`. */
void memory_see(const void *at, size_t length, enum access access, const void *site);
/* Checks a pointer through which the present call reads or writes memory of the program: the memory
 * must exist, and no operation may own it. Returns the pointer. */
void *memory_use(const void *at, size_t size, enum access access, const char *parameter);
#define OUT(pointer) OUTS(pointer, 1)
#define OUTS(pointer, count) \
  ((__typeof__(pointer))memory_use(pointer, (size_t)(count) * sizeof *(pointer), WRITES, "`" #pointer "`"))
#define INS(pointer, count) \
  ((__typeof__(pointer))memory_use(pointer, (size_t)(count) * sizeof *(pointer), READS, "`" #pointer "`"))
/* memory_use() for values, which must also fit the variable or heap block. */
void memory_use_values(const void *base, size_t count, const struct type *type, enum access access, const char *parameter);
const char *text_in(const char *text, const char *parameter);
int text_out(char *to, const char *text); /* returns the length */
/* The program frees this memory at `site`, in the way `how`: fails if an operation owns it, or a
 * window is there. */
void memory_check_gone(uintptr_t from, uintptr_t to, uintptr_t site, const char *how);
/* An atomic access of the program. */
void memory_see_atomic(const void *at, size_t length, enum access access, uintptr_t site);
/* From now on, accesses to this memory call windows_see. */
void memory_watch(const void *base, size_t size);

/* io_records.c: accesses to files of MPI, sent to all ranks at the end; and their comparison, which
 * finds those that conflict. */
void file_records_put(struct bytes *to);
void file_records_compare(const struct contributions *all);
bool file_records_are_left(void); /* whether there are some that were not compared */
/* This operation is complete. */
void file_records_disown(uint32_t owner);

/* uses.c: the uses of files since the last call */
void files_put_uses(struct bytes *to);
/* tree.c: deletes the files that the rank with this process number has written. */
void files_remove(long pid);

/* calls.c: numbers that look random, different in each rank */
void random_fill(void *to, size_t length);

/* windows.c */
void windows_check_end(void);
/* memory_check_gone() for windows. */
void windows_check_gone(uintptr_t from, uintptr_t to, uintptr_t site, const char *how);
/* Makes both copies of this rank's parts of windows equal: before it sends something to others, and
 * after it has received something. */
void windows_publish(void);
void windows_pull(void);

/* conflicts.c: the rank's vector clock is sent with its messages; it is empty while there is no
 * window. */
void clock_put(struct bytes *to);
void clock_join(struct reader *from);
void windows_see(uintptr_t from, size_t length, enum access access, uintptr_t site);
/* shared.c: gives up if these bytes are in memory that ranks share: an atomic operation of the
 * program orders what they do there. */
void windows_check_atomic(uintptr_t from, size_t length, uintptr_t site);
/* An access by an operation that is pending until windows_disown. */
void windows_own(uint32_t owner, uintptr_t from, size_t length, enum access access);
void windows_disown(uint32_t owner);

#endif
