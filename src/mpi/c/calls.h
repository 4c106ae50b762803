/* The system calls of a rank: which of them are looked at, and what is done instead. */
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
#define server_begin mazurka_server_begin
#define server_end mazurka_server_end
#define remove_all mazurka_remove_all
#define wire_leave mazurka_wire_leave

/* A system call with up to six arguments that is never looked at; the result or the negative number
 * of an error. */
long raw(long number, ...);
/* The same from within a call that is looked at, for one that may wait: other threads and signals
 * go on meanwhile. */
long raw_in_the_open(long number, long a, long b, long c, long d, long e);

/* A call that a rank makes, and what is done instead. It is looked at only if argument `of` and
 * `mask` is `value`. */
struct watched {
  long number;
  long (*instead)(const long *arguments);
  int of;
  uint32_t mask, value;
};

/* Those about files, and about processes. */
extern const struct watched file_calls[], process_calls[];
extern const size_t file_call_count, process_call_count;

/* Ends the rank: what it does now cannot be followed. */
void refuse(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
long starts_program(const long *arguments) __attribute__((noreturn));
/* The addresses in the program from which the call is made that is looked at, the innermost one
 * first. Returns how many. */
size_t sites_now(uintptr_t *sites, size_t room);
/* Is this an address in the code of the program, and in none of a library? */
static inline bool is_in_program(uintptr_t site) {
  extern char __executable_start[], etext[];
  return site > (uintptr_t)__executable_start && site < (uintptr_t)etext;
}
/* exceptions.c: if the program ends because nobody catches an exception, fails there. */
void exception_check(void);
/* From now on the calls of this process are looked at. */
void calls_follow(bool files_too);

/* How a rank uses a file: what others can notice, and what of others it can notice. Or that it
 * starts threads, and lets them call MPI. */
enum use { READING = 'r', LISTING = 'l', APPENDING = 'a', CHANGING = 'w', STARTING_THREADS = 't', LETTING_THREADS_CALL = 'm' };
/* The rank uses the file of this name; the verifier gets to know it with the next question. */
void file_use(enum use use, const char *path);
/* The same for the file behind a descriptor, if it has a name. */
void descriptor_use(enum use use, long descriptor);

/* The descriptors of the library: they are not there for the program. */
enum { WIRE = 500, PRINTED };
/* wire.c: this process has no connection to the verifier any more. */
void wire_leave(void);

/* server.c: goes on as the server, in a place of its own. */
void server_begin(void);
int server_end(int rank, bool has_ended);
void remove_all(const char *folder);
extern bool is_boxed; /* does all that ranks start end with the server? */

/* processes.c */
extern bool is_child; /* is this a process that a rank has started? */
void processes_begin(void);
/* A process that the rank has started does what cannot be followed. It ends, and the rank says
 * so. */
void process_refused(const char *why, const uintptr_t *sites, size_t count) __attribute__((noreturn));
/* Has one of them done so? Then the rank fails. */
void processes_check(void);
/* The same when all of them have ended. */
void processes_wait(void);

/* tree.c: where files are */
struct place {
  char *path;      /* the one name of the file: from the root, without links */
  char *real;      /* where it is now: there, or in the folder of the rank */
  struct stat is;  /* without links */
  bool is_there;
  bool is_own;     /* in the folder of the rank */
  bool is_foreign; /* in /proc or /sys: looked for by the kernel */
  bool wants_folder; /* it was written with a slash at its end */
};
/* Finds what this path from this folder means. Returns 0, also if nothing is there but the folder
 * that it would be in; or the negative number of an error. */
long place_find(long folder, long path, bool follows, struct place *found);
void place_forget(struct place *place);
/* Makes the rank's own copy, empty if it `starts_empty`. */
void place_own(struct place *place, bool starts_empty);
/* Makes room for something new in the folder of the rank, or returns an error. */
long place_new(struct place *place);
/* Nothing is there any more; or an error. */
long place_remove(struct place *place);
/* What was there before is not there any more. */
void place_hide(const struct place *place);
/* The name in the world of a file in the folder of the rank. */
const char *path_in_tree(const char *real);
/* May the rank change it, or what is in a folder? 0 or an error. */
long place_may_write(const struct place *place, bool in_folder);
/* Is a folder other than it was? */
bool place_is_changed(const struct place *place);
/* Is it a folder that was there before? */
bool place_shows_lower(const struct place *place);
/* Calls `visit` with the names in a folder, until it returns false. */
void place_each(const struct place *folder, bool (*visit)(const char *path, const char *name, void *with), void *with);
/* A folder with the same names, opened. */
long snapshot_open(const struct place *folder, int flags);
char *path_of_descriptor(long descriptor); /* NULL if it is none of a file */
bool is_descriptor_own(long descriptor);
void mapped_add(long descriptor);
extern char *folder_now; /* where relative paths start */
const char *folder_of_rank(void);

#endif
