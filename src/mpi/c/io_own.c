/* What a rank does without MPI with a file that it also uses by MPI.
 *
 * A rank has files of its own (tree.c), and files of MPI belong to all ranks. If a rank uses one
 * file in both ways, one passes into the other:
 *
 * - When the rank opens (or deletes) the file by MPI, what it has done to its own copy becomes a
 *   change of the file of MPI, as if it was written then.
 * - When the rank names the file without MPI after that, its own copy becomes what it knows of the
 *   file of MPI.
 *
 * This is so in a real execution, too, if the ranks are synchronized. So these uses are recorded as
 * accesses to all of the file, and compared with what other ranks do (io_records.c). One that
 * conflicts with nothing is exact. The search ends undecided if one conflicts. When a use ends is not
 * known, because descriptors outlive their names; it is over when the rank opens the file by MPI, and
 * has no descriptor of it then. What it has done before it used the file by MPI may have been at any
 * time before. */
#include "io.h"

#include "calls.h"

#include <errno.h>
#include <fcntl.h>

static bool is_within; /* the library itself looks for a place */

static bool is_open_without_mpi(const char *path) {
  enum { FIRST = 3, MOST = 1024 };
  for (long descriptor = FIRST; descriptor < MOST; descriptor++) {
    if (descriptor == WIRE || descriptor == PRINTED || raw(SYS_fcntl, descriptor, F_GETFD) < 0) continue;
    char *name = path_of_descriptor(descriptor);
    bool is_it = name && strcmp(name, path) == 0;
    release(name);
    if (is_it) return true;
  }
  return false;
}

static void write_copy(const struct content *content, struct place *place) {
  if (place->is_there) place_own(place, true);
  else if (place_new(place)) refuse("%s cannot be copied", content->path);
  long made = raw(SYS_openat, AT_FDCWD, place->real, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  for (size_t at = 0; at < content->size;) {
    long written = made < 0 ? -1 : raw(SYS_write, made, content->copy.at + at, content->size - at);
    if (written <= 0) refuse("%s cannot be copied", content->path);
    at += (size_t)written;
  }
  raw(SYS_close, made);
}

static bool is_shown(const struct content *content) {
  return content->shown.acted == content->copy.acted && content->shown.version == content->copy.version;
}
static void note_shown(struct content *content) {
  content->shown.acted = content->copy.acted;
  content->shown.version = content->copy.version;
}

bool own_copy_follows(struct place *place) {
  struct content *content = is_within ? NULL : content_known(place->path);
  if (!content || content->is_own_changed) return false;
  if (content->times_open > 0 && !env_is_over()) refuse("the rank uses %s without MPI while it is open by MPI", content->path);
  if (!thread_is_alone()) refuse("a rank with threads uses %s by MPI and without it", content->path);
  is_within = true;
  content_now(content);
  bool is_new = !is_shown(content) && (content->is_there || place->is_there);
  if (is_new && content->is_there) write_copy(content, place);
  else if (is_new && place_remove(place)) refuse("%s cannot be removed", content->path);
  note_shown(content);
  is_within = false;
  return is_new;
}

bool own_use(enum use use, const char *path) {
  struct content *content = content_known(path);
  if (!content || (use != READING && use != CHANGING && use != APPENDING)) return false;
  content->is_own_changed |= use != READING;
  /* After MPI_Finalize, everything by MPI is over, and ranks have only the files of their own. */
  if (env_is_over()) return false;
  file_records_add_own(content, use != READING, call.site);
  return true;
}

/* Reads the rank's own copy. */
static struct bytes own_copy(const struct content *content, const struct place *place) {
  struct bytes made = {0};
  long opened = raw(SYS_openat, AT_FDCWD, place->real, O_RDONLY | O_CLOEXEC), got = opened;
  uint8_t *block = allocate(1 << 16);
  while (opened >= 0 && (got = raw(SYS_read, opened, block, 1 << 16)) > 0) put(&made, block, (size_t)got);
  if (got < 0) fail("unsupported", "%s cannot be read", content->path);
  raw(SYS_close, opened);
  release(block);
  return made;
}

void own_copy_becomes(struct content *content, const struct place *place, bool is_changed) {
  bool has_uses = file_records_have_own(content);
  if (!is_changed && !has_uses) return;
  if (is_open_without_mpi(content->path))
    fail("unsupported", "the rank uses %s by MPI while it is open without MPI", content->path);
  if (is_changed && place->is_there) {
    struct bytes all = own_copy(content, place);
    content_replace(content, all.at, all.length);
    release(all.at);
  } else if (is_changed) {
    content_set(content, 'x', 0);
  }
  content->is_own_changed = false;
  file_records_complete_own(content);
  content_now(content);
  note_shown(content);
}

long own_place(const char *path, struct place *place) {
  is_within = true;
  long error = place_find(AT_FDCWD, (long)path, true, place);
  is_within = false;
  return error;
}
