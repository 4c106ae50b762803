/* The system calls of a rank: which ones are intercepted, and what is done instead. */
#ifndef MAZURKA_CALLS_H
#define MAZURKA_CALLS_H

#include "rank.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#define raw mazurka_raw
#define refuse mazurka_refuse
#define calls_follow mazurka_calls_follow
#define file_use mazurka_file_use
#define descriptor_use mazurka_descriptor_use
#define file_uses_of mazurka_file_uses_of
#define own_copy_follows mazurka_own_copy_follows
#define own_use mazurka_own_use
#define file_calls mazurka_file_calls
#define file_call_count mazurka_file_call_count
#define place_find mazurka_place_find
#define place_forget mazurka_place_forget
#define place_hide mazurka_place_hide
#define path_in_tree mazurka_path_in_tree
#define exception_check mazurka_exception_check
#define sites_now mazurka_sites_now
#define place_own mazurka_place_own
#define place_new mazurka_place_new
#define place_remove mazurka_place_remove
#define place_may_write mazurka_place_may_write
#define place_is_changed mazurka_place_is_changed
#define place_shows_lower mazurka_place_shows_lower
#define place_each mazurka_place_each
#define folder_now mazurka_folder_now
#define folder_of_rank mazurka_folder_of_rank
#define path_of_descriptor mazurka_path_of_descriptor
#define is_descriptor_own mazurka_is_descriptor_own
#define mapped_add mazurka_mapped_add
#define snapshot_open mazurka_snapshot_open
#define raw_in_the_open mazurka_raw_in_the_open
#define starts_program mazurka_starts_program
#define process_calls mazurka_process_calls
#define process_call_count mazurka_process_call_count
#define processes_begin mazurka_processes_begin
#define process_refused mazurka_process_refused
#define processes_check mazurka_processes_check
#define processes_wait mazurka_processes_wait
#define is_child mazurka_is_child
#define is_boxed mazurka_is_boxed
#define is_server mazurka_is_server
#define server_begin mazurka_server_begin
#define server_end mazurka_server_end
#define remove_all mazurka_remove_all
#define wire_leave mazurka_wire_leave
#define rank_exits mazurka_rank_exits
#define process_exit mazurka_process_exit

/* A system call with up to six arguments that is never intercepted. Returns its result, or the
 * negative error number. */
long raw(long number, ...);
/* Such a call that may wait, made by the handler of an intercepted call: other threads run and
 * signals are handled meanwhile. */
long raw_in_the_open(long number, long a, long b, long c, long d, long e);

/* A system call that is intercepted, and its replacement. It is intercepted only if `value` is the
 * bitwise AND of argument `of` and `mask`. */
struct watched {
  long number;
  long (*instead)(const long *arguments);
  int of;
  uint32_t mask, value;
};

/* The intercepted calls about files, and about processes. */
extern const struct watched file_calls[], process_calls[];
extern const size_t file_call_count, process_call_count;

/* Ends the rank: the present call cannot be followed. */
void refuse(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
long starts_program(const long *arguments) __attribute__((noreturn));
/* The addresses in the program from which the intercepted call is made, innermost first. Returns
 * their number. */
size_t sites_now(uintptr_t *sites, size_t room);
/* Whether this address is in the program, not in a shared library. */
static inline bool is_in_program(uintptr_t site) { return site - program_range.from < program_range.to - program_range.from; }
/* exceptions.c: if the program is ended by an uncaught exception, fails there. */
void exception_check(void);
/* From now on, calls of this process, and of all that it forks, are intercepted. */
void calls_follow(bool files_too);
extern bool is_server; /* not a rank: intercepted calls are made */

/* How a rank uses a file: what other ranks can notice, and what it can notice of others; what it
 * does by MPI (io.h) others may, too. More uses are about threads (it starts them, leaves a loop that
 * was taken to wait, or waits in several of them in ways that are not followed), about memory that
 * it shares with other ranks, about files that its places name (python.c), and about locks of
 * windows (locks.c): then the path is the window's part. */
enum use {
  READING = 'r',
  LISTING = 'l',
  APPENDING = 'a',
  CHANGING = 'w',
  SHARING = 'i',
  JOINING = 'j',
  STARTING_THREADS = 't',
  LEAVING_LOOP = 'g',
  WAITING_APART = 'p',
  SHARING_MEMORY = 's',
  NEEDING_LATE = 'h',
  EXCLUDING = 'x',
  NAMING = 'n'
};
/* Records that the rank uses the file with this name. The next question reports it to the
 * verifier. */
void file_use(enum use use, const char *path);
/* The kinds of use of this file so far, each as its bit: 1 reading, 2 changing or appending. */
int file_uses_of(const char *path);
/* Records a use of the file behind a descriptor, if it has a name. */
void descriptor_use(enum use use, long descriptor);

/* The descriptors of the library. The program cannot use them. */
enum { WIRE = 500, PRINTED };
/* wire.c: closes the connection of this process to the verifier. */
void wire_leave(void);
/* The program ends the rank at once; the library does it, and nobody is told. */
void rank_exits(int status) __attribute__((noreturn));
void process_exit(int status) __attribute__((noreturn));

/* server.c: continues as the server, in its own namespace. */
void server_begin(void);
int server_end(int rank, bool has_ended);
void remove_all(const char *folder);
extern bool is_boxed; /* whether everything that ranks start ends with the server */

/* processes.c */
extern bool is_child; /* whether this is a process that a rank has started */
void processes_begin(void);
/* Ends a process that the rank has started and that did what cannot be followed. The rank reports
 * it. */
void process_refused(const char *why, const uintptr_t *sites, size_t count) __attribute__((noreturn));
/* Fails if a process of the rank has done what cannot be followed. */
void processes_check(void);
/* Waits until all processes of the rank have ended, and then does the same check. */
void processes_wait(void);

/* tree.c: the places of files */
struct place {
  char *path;      /* the canonical name: from the root, without links */
  char *real;      /* its actual name: the canonical one, or one in the folder of the rank */
  struct stat is;  /* its status; links are not followed */
  bool is_there;
  bool is_own;     /* in the folder of the rank */
  bool is_foreign; /* in /proc or /sys: the kernel follows the path */
  bool wants_folder; /* it was written with a slash at its end */
};
/* Finds the place of this path, relative to this folder. Returns 0, also if there is no such file
 * in an existing folder; or the negative number of an error. */
long place_find(long folder, long path, bool follows, struct place *found);
void place_forget(struct place *place);
/* Makes the rank's own copy, empty if it `starts_empty`. */
void place_own(struct place *place, bool starts_empty);
/* Prepares the creation of a file in the folder of the rank, or returns an error. */
long place_new(struct place *place);
/* Removes what is at this place, or returns an error. */
long place_remove(struct place *place);
/* Hides what was at this place at the start. */
void place_hide(const struct place *place);
/* The canonical name of a file in the folder of the rank. */
const char *path_in_tree(const char *real);
/* Whether the rank may change the file, or the contents of the folder: 0 or an error. */
long place_may_write(const struct place *place, bool in_folder);
/* Whether a folder differs from its contents at the start. */
bool place_is_changed(const struct place *place);
/* Whether it is a folder that existed at the start. */
bool place_shows_lower(const struct place *place);
/* Calls `visit` with the names in a folder, until it returns false. */
void place_each(const struct place *folder, bool (*visit)(const char *path, const char *name, void *with), void *with);
/* Opens a folder with the same names. */
long snapshot_open(const struct place *folder, int flags);
char *path_of_descriptor(long descriptor); /* NULL if it is not the descriptor of a file */
bool is_descriptor_own(long descriptor);
void mapped_add(long descriptor);
/* io_own.c: makes the rank's own copy equal to a file of MPI, if there is one at this place. Returns
 * whether the copy has changed. Records a use without MPI of such a file; returns whether it is
 * one. */
bool own_copy_follows(struct place *place);
bool own_use(enum use use, const char *path);
extern char *folder_now; /* where relative paths start */
const char *folder_of_rank(void);

#endif
