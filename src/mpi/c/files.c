/* Files: what a rank writes is written in a folder of its own, which goes when the rank ends. What it reads is what it has
 * written, or else what is there. So no execution sees what another one has written. */
#include "rank.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *folder; /* NULL while nothing was written */

static int raw_open(const char *path, int flags, mode_t mode) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *walk) {
  (void)what, (void)kind, (void)walk;
  return remove(path);
}

void files_end(void) {
  if (folder) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  folder = NULL;
}

/* Where this file is when it is written; NULL if it is none of the program's data. */
static char *written_path(const char *path, bool is_written) {
  if (!is_verified || strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0) return NULL;
  if (!folder) {
    if (!is_written) return NULL;
    folder = text_of("%s/files-%ld", verifier_folder(), (long)syscall(SYS_getpid));
    if (mkdir(folder, 0700)) give_up("cannot make a folder for files");
  }
  char *made = text_of("%s/%s", folder, path);
  for (char *at = made + strlen(folder) + 1; *at; at++)
    if (*at == '/') *at = '\\';
  return made;
}

static int open_at(const char *path, int flags, mode_t mode) {
  bool is_written = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
  if (flags & O_DIRECTORY) return raw_open(path, flags, mode);
  char *instead = written_path(path, is_written);
  if (!instead || (!is_written && access(instead, F_OK))) {
    release(instead);
    return raw_open(path, flags, mode);
  }
  /* A file that is changed starts as it is. */
  if (is_written && !(flags & O_TRUNC) && access(instead, F_OK)) {
    int from = raw_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (from < 0 && !(flags & O_CREAT)) return release(instead), -1;
    if (from >= 0 && (flags & O_CREAT) && (flags & O_EXCL)) {
      close(from);
      release(instead);
      errno = EEXIST;
      return -1;
    }
    if (from >= 0) {
      int to = raw_open(instead, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
      static char block[65536];
      for (long got; (got = syscall(SYS_read, from, block, sizeof block)) > 0;) syscall(SYS_write, to, block, (size_t)got);
      close(from);
      close(to);
    }
  }
  int opened = raw_open(instead, flags, mode ? mode : 0600);
  release(instead);
  return opened;
}

WEAK int open(const char *path, int flags, ...) {
  va_list values;
  va_start(values, flags);
  mode_t mode = flags & O_CREAT ? (mode_t)va_arg(values, int) : 0;
  va_end(values);
  return open_at(path, flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((weak, alias("open")));
WEAK int creat(const char *path, mode_t mode) { return open_at(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

WEAK FILE *fopen(const char *path, const char *mode) {
  bool is_both = strchr(mode, '+') != NULL;
  int flags = is_both ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
  if (mode[0] == 'w') flags |= O_CREAT | O_TRUNC;
  if (mode[0] == 'a') flags |= O_CREAT | O_APPEND;
  if (strchr(mode, 'x')) flags |= O_EXCL;
  if (strchr(mode, 'e')) flags |= O_CLOEXEC;
  int opened = open_at(path, flags, 0666);
  return opened < 0 ? NULL : fdopen(opened, mode);
}
FILE *fopen64(const char *path, const char *mode) __attribute__((weak, alias("fopen")));
