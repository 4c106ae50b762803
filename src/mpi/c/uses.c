/* The uses of files by a rank, as far as other ranks could notice them.
 *
 * If a rank changes a file, what another one sees of it depends on which of them is first. That is
 * communication whose orders are not explored. So each rank reports its uses with its next
 * question, and the verifier stops with a sentence if two ranks could notice each other:
 * src/mpi/uses.rs.
 *
 * Ranks that only append to a file (O_APPEND) do not notice each other, unless some rank reads it.
 * Asking for its length counts as reading. System calls do not show that, because the C library
 * makes them for itself, too. So the functions for it are replaced at the end of this file. */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>

enum { SITES = 12, BUCKETS = 1024 };

static struct used {
  enum use use;
  char *path;
  size_t next; /* in its bucket, counted from 1 */
  size_t count;
  uintptr_t sites[SITES];
} *uses;
static size_t count_of_uses, reported, buckets[BUCKETS];

static size_t bucket_of(enum use use, const char *path) {
  size_t hash = (size_t)use;
  for (; *path; path++) hash = 31 * hash + (uint8_t)*path;
  return hash % BUCKETS;
}

static bool was_used(enum use use, const char *path) {
  for (size_t i = buckets[bucket_of(use, path)]; i; i = uses[i - 1].next)
    if (uses[i - 1].use == use && strcmp(uses[i - 1].path, path) == 0) return true;
  return false;
}

void file_use(enum use use, const char *path) {
  if (!*path) path = "/";
  if (own_use(use, path)) return;
  if (was_used(use, path)) return;
  size_t bucket = bucket_of(use, path);
  if ((count_of_uses & (count_of_uses - 1)) == 0) uses = grow(uses, (2 * count_of_uses + 1) * sizeof *uses);
  struct used *made = &uses[count_of_uses++];
  *made = (struct used){.use = use, .path = text_of("%s", path), .next = buckets[bucket]};
  made->count = sites_now(made->sites, SITES);
  buckets[bucket] = count_of_uses;
}

int file_uses_of(const char *path) {
  return (was_used(READING, path) ? 1 : 0) | (was_used(CHANGING, path) || was_used(APPENDING, path) ? 2 : 0);
}

void files_put_uses(struct bytes *to) {
  put_u32(to, (uint32_t)(count_of_uses - reported));
  for (; reported < count_of_uses; reported++) {
    const struct used *used = &uses[reported];
    put_u8(to, (uint8_t)used->use);
    put_text(to, used->path);
    put_u32(to, (uint32_t)used->count);
    for (size_t i = 0; i < used->count; i++) put_u64(to, used->sites[i]);
  }
}

void descriptor_use(enum use use, long descriptor) {
  char *path = path_of_descriptor(descriptor);
  if (path) file_use(use, path);
  release(path);
}

static void tell_length(int descriptor) {
  if (is_verified && raw(SYS_fcntl, descriptor, F_GETFL) & O_APPEND) descriptor_use(READING, descriptor);
}

WEAK off_t lseek(int descriptor, off_t offset, int whence) {
  tell_length(descriptor);
  long result = raw(SYS_lseek, descriptor, offset, whence);
  if (result < 0) errno = (int)-result;
  return result < 0 ? -1 : result;
}
off_t lseek64(int descriptor, off_t offset, int whence) __attribute__((weak, alias("lseek")));

static int status_of(int descriptor, struct stat *to) {
  tell_length(descriptor);
  long result = raw(SYS_fstat, descriptor, to);
  if (result < 0) errno = (int)-result;
  return result < 0 ? -1 : 0;
}
WEAK int fstat(int descriptor, struct stat *to) { return status_of(descriptor, to); }
WEAK int fstat64(int descriptor, struct stat64 *to) { return status_of(descriptor, (struct stat *)to); }

WEAK off_t ftello(FILE *file) {
  tell_length(fileno(file));
  fpos_t at;
  return fgetpos(file, &at) ? -1 : at.__pos;
}
off_t ftello64(FILE *file) __attribute__((weak, alias("ftello")));
WEAK long ftell(FILE *file) {
  tell_length(fileno(file));
  fpos_t at;
  return fgetpos(file, &at) ? -1 : at.__pos;
}
