/* Files of MPI (MPI 4.1, chapter 14), which belong to an execution.
 *
 * The content of a file is what it was on the disk at the start, and the changes of ranks since. As
 * with windows, a change is written once, to a cell of its own, and the number of changes that a
 * rank knows travels with its messages (changes.c). So a rank reads what comes before in the
 * execution. Two accesses that conflict, and that nothing orders, are a mistake (io_records.c); so
 * their order need not be explored, unless the file is in atomic mode (io_atomic.c). On the disk
 * nothing changes. */
#ifndef MAZURKA_IO_H
#define MAZURKA_IO_H

#include "windows.h"

#define file_get mazurka_file_get
#define file_at_once mazurka_file_at_once
#define file_at_own mazurka_file_at_own
#define file_at_place mazurka_file_at_place
#define file_at_shared mazurka_file_at_shared
#define file_begin mazurka_file_begin
#define file_hold mazurka_file_hold
#define file_let_go mazurka_file_let_go
#define file_end mazurka_file_end
#define file_in_order mazurka_file_in_order
#define file_prepare mazurka_file_prepare
#define file_with_request mazurka_file_with_request
#define file_error mazurka_file_error
#define content_end mazurka_content_end
#define content_of mazurka_content_of
#define content_now mazurka_content_now
#define content_known mazurka_content_known
#define content_replace mazurka_content_replace
#define own_copy_becomes mazurka_own_copy_becomes
#define own_place mazurka_own_place
#define file_records_add_own mazurka_file_records_add_own
#define file_records_have_own mazurka_file_records_have_own
#define file_records_complete_own mazurka_file_records_complete_own
#define content_write mazurka_content_write
#define content_set mazurka_content_set
#define file_records_add mazurka_file_records_add
#define file_records_add_open mazurka_file_records_add_open
#define file_records_complete mazurka_file_records_complete
#define file_size mazurka_file_size
#define file_shared_byte mazurka_file_shared_byte
#define file_shared_lock mazurka_file_shared_lock
#define file_shared_unlock mazurka_file_shared_unlock

/* What is known of the file with a name. */
struct content {
  char *path;           /* the canonical name */
  struct window window; /* under its name changes are kept: changes.c */
  uint8_t *start;       /* what is on the disk */
  size_t start_size;
  bool was_there;
  /* the same after all changes that have acted so far */
  struct copy copy;
  size_t size, room;
  bool is_there;
  /* io_own.c */
  int times_open;      /* the handles of this rank */
  bool is_own_changed; /* the rank has changed its own copy, without MPI */
  struct {             /* what that copy shows */
    size_t acted;
    uint32_t version;
  } shown;
};

/* What a rank has opened. */
struct file {
  struct object object;
  struct content *of;
  struct comm *comm; /* with a name of its own */
  int mode;
  bool is_atomic;
  MPI_Errhandler errhandler;
  /* the view: where it begins, its unit, the bytes that belong to it, again and again, and whether
   * values have the representation "external32" */
  uint64_t from;
  MPI_Datatype unit_handle, type_handle;
  const struct type *unit, *type;
  bool is_external;
  uint64_t position; /* the rank's own pointer, in units */
  struct {           /* a split collective: its first half, and what the second one tells */
    const char *name;
    const void *buffer;
    uint32_t owned;
    MPI_Status status;
  } split;
};

struct file *file_get(MPI_File file);
/* An error that is not a mistake; returns the code. MPI_FILE_NULL: while a file is opened. */
int file_error(MPI_File file, int code);

/* The content of the file at this path, which the rank uses by MPI; NULL if there cannot be one. */
struct content *content_of(const char *path);
/* The one with this canonical name, if the rank has used it by MPI. */
struct content *content_known(const char *path);
/* The size, which the rank observes. */
uint64_t file_size(struct file *file);
/* Brings it up to date: at `copy.at`, `size` bytes. */
void content_now(struct content *content);
/* Changes: these parts are the bytes that are given, one part after the other; or the size ('t'), the
 * least size ('p'), whether it is there ('o', 'x'). */
void content_write(struct content *content, struct spans parts, const uint8_t *bytes);
void content_set(struct content *content, char what, uint64_t size);
void content_replace(struct content *content, const uint8_t *bytes, size_t length);

/* The bytes that a change of the size affects, if it was this before. */
struct spans content_end(uint64_t size);

/* io_records.c: this call reads or writes these bytes, until the operation `owner` ends, if there
 * is one. The last byte that there can be stands for whether there is a file at all. */
enum { EXISTENCE = 1 };
void file_records_add(const struct content *content, const struct file *by, uint32_t owner, bool is_write, struct spans spans);
/* The file is opened, and created if it is not there. `is_any_fine`: the call does the same if other
 * ranks create the file before. */
void file_records_add_open(const struct content *content, bool creates, bool is_any_fine, struct spans spans);
/* What the rank does without MPI: it may have begun at any time if `site` is 0. One of each kind is
 * kept until it is complete. */
void file_records_add_own(const struct content *content, bool is_write, uintptr_t site);
bool file_records_have_own(const struct content *content);
void file_records_complete_own(const struct content *content);
/* What was written by this handle comes before what other ranks do from now on. */
void file_records_complete(const struct file *by);

/* io_own.c: what the rank has done without MPI becomes a change of the file, if it is one; the place
 * of the rank's own copy. */
struct place;
void own_copy_becomes(struct content *content, const struct place *place, bool is_changed);
long own_place(const char *path, struct place *place);

enum way { READ, WRITE };

/* What a call wants to do, and with which memory. */
struct transfer {
  enum way way;
  void *buffer;
  size_t count;
  const struct type *type;
  uint32_t owned; /* the memory, until the operation ends; 0 if it ends at once */
  bool moves_own; /* whether the rank's own pointer goes on */
};

/* io_atomic.c: the locks that an access in atomic mode holds. */
enum { FEW_BLOCKS = 8 };
struct held {
  struct content *of;
  enum way way;
  bool are_all; /* all of the file; otherwise these blocks */
  size_t count;
  uint64_t block[FEW_BLOCKS];
  uint32_t lock[FEW_BLOCKS], *gates; /* requests; the latter by rank */
};
/* Takes the locks for an access to these parts, or to all of the file; and gives them back. */
struct held file_hold(struct content *content, enum way way, struct spans spans, bool is_all);
void file_let_go(struct held *held);

/* io_access.c: checks the arguments of a call. */
struct transfer file_prepare(const struct file *file, enum way way, const void *buffer, MPI_Count count, MPI_Datatype type);
/* Where it begins, in units of the view: at a place that the program names; at the rank's own
 * pointer, which goes on; at the pointer that ranks share, which goes on, for one rank after another
 * in any order, or in that of their numbers. */
uint64_t file_at_place(const struct file *file, MPI_Offset at);
uint64_t file_at_own(const struct file *file, struct transfer *transfer);
uint64_t file_at_shared(struct file *file, const struct transfer *transfer);
uint64_t file_in_order(struct file *file, const struct transfer *transfer);
/* Ways to end: at once; with a request; in the second half of a split collective. Until then the
 * memory belongs to the operation. */
int file_at_once(struct file *file, uint64_t at, const struct transfer *transfer, MPI_Status *status);
int file_with_request(struct file *file, uint64_t at, struct transfer *transfer, MPI_Request *handle);
int file_begin(struct file *file, uint64_t at, struct transfer *transfer);
int file_end(MPI_File handle, const void *buffer, MPI_Status *status, const char *first);

/* The pointer that ranks share, in units: takes it, and gives it back with a new value. */
uint64_t file_shared_lock(struct file *file, uint32_t *lock);
void file_shared_unlock(struct file *file, uint32_t lock, uint64_t position);
/* All ranks ask for the byte where it is. */
uint64_t file_shared_byte(struct file *file);

#endif
