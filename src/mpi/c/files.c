/* Files: each rank sees the files of the machine and its own changes, which no other rank sees.
 *
 * The behaviour of a rank is a function of its observations, and so are the files that only this
 * rank uses. So a rank changes copies in a folder of its own (tree.c), which is deleted with its
 * process. When the rank is run again, for another execution, it makes them again. Reading needs no
 * copy. So executions are independent of each other, and the files of the user do not change.
 *
 * If several ranks use one file, and one of them changes it, this does not hold: see uses.c. A lock
 * on a file counts as a change. A rank gets it at once, because other ranks that want it would be
 * detected.
 *
 * With `--files real` there are no copies.
 *
 * What is not preserved: inode numbers, and the times of written files. */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Finds a file that exists. If it does not exist, the rank has observed that. */
static long find(long in, long path, bool follows, struct place *found) {
  long error = place_find(in, path, follows, found);
  if (error || found->is_foreign) return error;
  bool is_folder = found->is_there && S_ISDIR(found->is.st_mode);
  error = !found->is_there ? -ENOENT : found->wants_folder && !is_folder ? -ENOTDIR : 0;
  if (error) {
    file_use(READING, found->path);
    place_forget(found);
  }
  return error;
}

/* The path of a file in /proc or /sys that is to be changed. */
static const char *changed_in_kernel(const struct place *at) {
  if (strncmp(at->path, "/proc/self/", 11)) refuse("the rank changes %s, which belongs to the system", at->path);
  return at->path;
}

/* Bytes that look random, the same in each run. */
static long open_random(void) {
  enum { LENGTH = 1 << 20 };
  long opened = raw(SYS_memfd_create, "random", MFD_CLOEXEC);
  uint8_t *bytes = allocate(LENGTH);
  random_fill(bytes, LENGTH);
  raw(SYS_write, opened, bytes, LENGTH);
  raw(SYS_lseek, opened, 0, SEEK_SET);
  release(bytes);
  return opened;
}

static long open_special(const struct place *at, long flags) {
  enum { MEMORY = 1, RANDOM = 8, URANDOM = 9 };
  unsigned device = minor(at->is.st_rdev);
  if (S_ISLNK(at->is.st_mode) || S_ISSOCK(at->is.st_mode)) return raw(SYS_openat, AT_FDCWD, at->real, flags);
  if (!S_ISCHR(at->is.st_mode) || major(at->is.st_rdev) != MEMORY)
    refuse("the rank opens %s, a pipe or a device: what is there is not the same in each run", at->path);
  if (device == RANDOM || device == URANDOM) return open_random();
  return raw(SYS_openat, AT_FDCWD, at->real, flags);
}

static enum use use_of(long flags) {
  bool appends = (flags & O_APPEND) && (flags & O_ACCMODE) == O_WRONLY && !(flags & (O_TRUNC | O_EXCL));
  return appends ? APPENDING : CHANGING;
}

static long open_new(struct place *at, long flags, long mode) {
  long error = !(flags & O_CREAT) ? -ENOENT : at->wants_folder ? -EISDIR : place_new(at);
  file_use(error ? READING : use_of(flags), at->path);
  return error ? error : raw(SYS_openat, AT_FDCWD, at->real, flags, mode);
}

static long open_old(struct place *at, long flags) {
  bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC), is_folder = S_ISDIR(at->is.st_mode);
  long error = (flags & O_CREAT) && (flags & O_EXCL) ? -EEXIST : at->wants_folder && !is_folder ? -ENOTDIR : 0;
  bool is_data = S_ISREG(at->is.st_mode) && !(flags & O_PATH);
  if (!error && is_data && writes) error = place_may_write(at, false);
  file_use(!error && is_data && writes ? use_of(flags) : READING, at->path);
  if (error) return error;
  flags &= ~(long)(O_CREAT | O_EXCL);
  if (is_folder && !writes && place_is_changed(at)) return snapshot_open(at, (int)flags);
  if (!is_data && !is_folder && !(flags & O_PATH)) return open_special(at, flags);
  if (is_data && writes) place_own(at, flags & O_TRUNC);
  return raw(SYS_openat, AT_FDCWD, at->real, flags);
}

/* Opens a file of the kernel. What has no name (a pipe, the output of the rank) stays behind its
 * descriptor. */
static long open_of_kernel(const struct place *at, long flags, long mode) {
  const char *descriptors = "/proc/self/fd/";
  size_t length = strlen(descriptors);
  bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_TRUNC | O_CREAT));
  if (strncmp(at->path, descriptors, length) == 0 && at->path[length]) {
    long descriptor = atol(at->path + length);
    char *name = path_of_descriptor(descriptor);
    release(name);
    if (!name) return raw(SYS_fcntl, descriptor, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  }
  return raw(SYS_openat, AT_FDCWD, writes ? changed_in_kernel(at) : at->path, flags, mode);
}

static long open_file(const long *a) {
  long flags = a[2];
  struct place at;
  bool is_new = (flags & O_CREAT) && (flags & O_EXCL);
  long result = place_find(a[0], a[1], !(flags & O_NOFOLLOW) && !is_new, &at);
  if (result) return result;
  if (at.is_foreign) {
    result = open_of_kernel(&at, flags, a[3]);
  } else if ((flags & O_TMPFILE) == O_TMPFILE) {
    /* A file without a name. */
    file_use(READING, at.path);
    result = at.is_there ? raw(SYS_openat, AT_FDCWD, folder_of_rank(), flags, a[3]) : -ENOENT;
  } else {
    result = at.is_there ? open_old(&at, flags) : open_new(&at, flags, a[3]);
  }
  place_forget(&at);
  return result;
}

/* Asks the kernel about the file behind a path: `CALL` has the place `at`. */
#define ASK(IN, PATH, FOLLOWS, CALL)                            \
  do {                                                          \
    struct place at;                                            \
    long result = find(IN, PATH, FOLLOWS, &at);                 \
    if (result) return result;                                  \
    if (!at.is_foreign) file_use(READING, at.path);             \
    result = (CALL);                                            \
    place_forget(&at);                                          \
    return result;                                              \
  } while (0)

/* Whether the call means the descriptor itself. */
static bool means_descriptor(long path, long flags) { return (flags & AT_EMPTY_PATH) && (!path || !*(const char *)path); }

static long get_status(const long *a) {
  if (means_descriptor(a[1], a[3])) return raw(SYS_newfstatat, a[0], a[1], a[2], a[3]);
  ASK(a[0], a[1], !(a[3] & AT_SYMLINK_NOFOLLOW), raw(SYS_newfstatat, AT_FDCWD, at.real, a[2], a[3]));
}
static long get_extended_status(const long *a) {
  if (means_descriptor(a[1], a[2])) return raw(SYS_statx, a[0], a[1], a[2], a[3], a[4]);
  ASK(a[0], a[1], !(a[2] & AT_SYMLINK_NOFOLLOW), raw(SYS_statx, AT_FDCWD, at.real, a[2], a[3], a[4]));
}
static long get_access(const long *a) { ASK(a[0], a[1], true, raw(SYS_faccessat, AT_FDCWD, at.real, a[2])); }
#ifdef SYS_faccessat2
static long get_access_2(const long *a) {
  if (means_descriptor(a[1], a[3])) return raw(SYS_faccessat2, a[0], a[1], a[2], a[3]);
  ASK(a[0], a[1], !(a[3] & AT_SYMLINK_NOFOLLOW), raw(SYS_faccessat2, AT_FDCWD, at.real, a[2], a[3]));
}
#endif
static long get_system(const long *a) { ASK(AT_FDCWD, a[0], true, raw(SYS_statfs, at.real, a[1])); }
static long get_attribute(const long *a) { ASK(AT_FDCWD, a[0], true, raw(SYS_getxattr, at.real, a[1], a[2], a[3])); }
static long get_link_attribute(const long *a) { ASK(AT_FDCWD, a[0], false, raw(SYS_lgetxattr, at.real, a[1], a[2], a[3])); }
static long list_attributes(const long *a) { ASK(AT_FDCWD, a[0], true, raw(SYS_listxattr, at.real, a[1], a[2])); }
static long list_link_attributes(const long *a) { ASK(AT_FDCWD, a[0], false, raw(SYS_llistxattr, at.real, a[1], a[2])); }

/* The target of a link. Links of the kernel may name the folder of the rank. */
static long read_link(const struct place *at, char *to, long size) {
  long length = raw(SYS_readlinkat, AT_FDCWD, at->real, to, size);
  if (!at->is_foreign || length <= 0) return length;
  char *whole = text_of("%.*s", (int)length, to);
  const char *shown = path_in_tree(whole);
  length = (long)strlen(shown);
  memcpy(to, shown, (size_t)length);
  release(whole);
  return length;
}
static long get_link(const long *a) {
  if (a[1] && !*(const char *)a[1]) return raw(SYS_readlinkat, a[0], a[1], a[2], a[3]);
  ASK(a[0], a[1], false, read_link(&at, (char *)a[2], a[3]));
}

static long remove_name(const long *a) {
  struct place at;
  long error = find(a[0], a[1], false, &at);
  if (error) return error;
  bool is_folder = S_ISDIR(at.is.st_mode), wants_folder = a[2] & AT_REMOVEDIR;
  if (at.is_foreign) changed_in_kernel(&at);
  error = at.is_foreign ? -EPERM : is_folder == wants_folder ? 0 : wants_folder ? -ENOTDIR : -EISDIR;
  file_use(error ? READING : CHANGING, at.path);
  if (!error) error = place_remove(&at);
  place_forget(&at);
  return error;
}

/* Finds the place for a new file, where nothing may exist. */
static long find_new(long in, long path, struct place *at) {
  long error = place_find(in, path, false, at);
  if (error) return error;
  if (at->is_foreign) changed_in_kernel(at);
  error = at->is_there ? -EEXIST : place_new(at);
  file_use(error ? READING : CHANGING, at->path);
  if (error) place_forget(at);
  return error;
}

/* Makes a new file: `CALL` has the place `at`. */
#define MAKE(IN, PATH, CALL)                     \
  do {                                           \
    struct place at;                             \
    long result = find_new(IN, PATH, &at);       \
    if (result) return result;                   \
    result = (CALL);                             \
    place_forget(&at);                           \
    return result;                               \
  } while (0)

static long make_folder(const long *a) { MAKE(a[0], a[1], raw(SYS_mkdirat, AT_FDCWD, at.real, a[2])); }
static long make_link(const long *a) { MAKE(a[1], a[2], raw(SYS_symlinkat, a[0], AT_FDCWD, at.real)); }
static long make_node(const long *a) {
  if ((a[2] & S_IFMT) && !S_ISREG(a[2])) refuse("the rank makes a pipe or a device, through which ranks may reach each other");
  MAKE(a[0], a[1], raw(SYS_mknodat, AT_FDCWD, at.real, a[2], a[3]));
}

static long make_name(const long *a) {
  struct place from;
  if (means_descriptor(a[1], a[4])) refuse("the rank gives a name to a file without one");
  long error = find(a[0], a[1], a[4] & AT_SYMLINK_FOLLOW, &from);
  if (error) return error;
  if (from.is_foreign) changed_in_kernel(&from);
  struct place at = {0};
  error = S_ISDIR(from.is.st_mode) ? -EPERM : find_new(a[2], a[3], &at);
  file_use(error ? READING : CHANGING, from.path);
  if (!error) {
    place_own(&from, false);
    error = raw(SYS_linkat, AT_FDCWD, from.real, AT_FDCWD, at.real, 0);
  }
  place_forget(&from);
  place_forget(&at);
  return error;
}

static bool is_any(const char *path, const char *name, void *found) {
  (void)path, (void)name;
  return *(bool *)found = true, false;
}

/* The error if one of these cannot be renamed to the other; 0 if it can. */
static long objection(const struct place *from, const struct place *to, unsigned flags) {
  bool is_folder = S_ISDIR(from->is.st_mode), is_filled = false;
  size_t length = strlen(from->path);
  if (flags & ~1u) refuse("the rank exchanges two files");
  if (to->is_there && (flags & 1)) return -EEXIST;
  if (is_folder && strncmp(to->path, from->path, length) == 0 && to->path[length] == '/') return -EINVAL;
  if (to->is_there && is_folder != S_ISDIR(to->is.st_mode)) return is_folder ? -ENOTDIR : -EISDIR;
  if (to->is_there && is_folder) place_each(to, is_any, &is_filled);
  if (is_filled) return -ENOTEMPTY;
  long error = place_may_write(from, true);
  return error ? error : place_may_write(to, true);
}

static long move(struct place *from, struct place *to) {
  if (S_ISDIR(from->is.st_mode)) {
    if (place_shows_lower(from)) refuse("the rank renames the folder %s, of which no copy is made", from->path);
    if (to->is_there) place_remove(to);
  } else {
    place_own(from, false);
  }
  long error = place_new(to);
  if (!error) error = raw(SYS_renameat2, AT_FDCWD, from->real, AT_FDCWD, to->real, 0);
  if (error) return error;
  place_hide(from);
  size_t length = strlen(from->path);
  if (strncmp(folder_now, from->path, length) == 0 && strchr("/", folder_now[length]))
    folder_now = text_of("%s%s", to->path, folder_now + length);
  return 0;
}

static long rename_at(long from_in, long from_path, long to_in, long to_path, unsigned flags) {
  struct place from, to;
  long error = find(from_in, from_path, false, &from);
  if (error) return error;
  error = place_find(to_in, to_path, false, &to);
  if (error) return place_forget(&from), error;
  if (from.is_foreign || to.is_foreign) refuse("the rank renames a file of the system");
  bool is_same = strcmp(from.path, to.path) == 0;
  if (!is_same) error = objection(&from, &to, flags);
  enum use use = error || is_same ? READING : CHANGING;
  file_use(use, from.path);
  file_use(use, to.path);
  if (use == CHANGING) error = move(&from, &to);
  place_forget(&from);
  place_forget(&to);
  return error;
}
static long rename_file(const long *a) { return rename_at(a[0], a[1], a[2], a[3], 0); }
static long rename_file_2(const long *a) { return rename_at(a[0], a[1], a[2], a[3], (unsigned)a[4]); }

static bool may_change(const struct place *at) {
  uid_t own = (uid_t)raw(SYS_geteuid);
  return own == 0 || own == at->is.st_uid;
}

/* Changes the file behind a path: `CALL` has the place `at`. */
#define CHANGE(IN, PATH, FOLLOWS, ALLOWED, CALL)                     \
  do {                                                               \
    struct place at;                                                 \
    long result = find(IN, PATH, FOLLOWS, &at);                      \
    if (result) return result;                                       \
    if (at.is_foreign) changed_in_kernel(&at);                       \
    if (!at.is_foreign) result = (ALLOWED);                          \
    if (!at.is_foreign) file_use(result ? READING : CHANGING, at.path); \
    if (!at.is_foreign && !result) place_own(&at, false);            \
    if (!result) result = (CALL);                                    \
    place_forget(&at);                                               \
    return result;                                                   \
  } while (0)
#define OWNER (may_change(&at) ? 0 : -EPERM)

static long truncate_file(const long *a) {
  CHANGE(AT_FDCWD, a[0], true, S_ISDIR(at.is.st_mode) ? -EISDIR : place_may_write(&at, false), raw(SYS_truncate, at.real, a[1]));
}
static long change_mode(const long *a) { CHANGE(a[0], a[1], true, OWNER, raw(SYS_fchmodat, AT_FDCWD, at.real, a[2])); }
static long change_attribute(const long *a) {
  CHANGE(AT_FDCWD, a[0], true, OWNER, raw(SYS_setxattr, at.real, a[1], a[2], a[3], a[4]));
}
static long change_link_attribute(const long *a) {
  CHANGE(AT_FDCWD, a[0], false, OWNER, raw(SYS_lsetxattr, at.real, a[1], a[2], a[3], a[4]));
}
static long remove_attribute(const long *a) { CHANGE(AT_FDCWD, a[0], true, OWNER, raw(SYS_removexattr, at.real, a[1])); }
static long remove_link_attribute(const long *a) { CHANGE(AT_FDCWD, a[0], false, OWNER, raw(SYS_lremovexattr, at.real, a[1])); }

/* Makes the rank's own copy of an open file. */
static void own_descriptor(long descriptor) {
  struct stat is;
  bool is_file = raw(SYS_fstat, descriptor, &is) == 0 && (S_ISREG(is.st_mode) || S_ISDIR(is.st_mode));
  char *path = is_file && !is_descriptor_own(descriptor) ? path_of_descriptor(descriptor) : NULL;
  if (!path) return;
  struct place at;
  if (place_find(AT_FDCWD, (long)path, false, &at) || !at.is_there) refuse("the rank changes %s, which has lost its name", path);
  release(path);
  file_use(CHANGING, at.path);
  place_own(&at, false);
  place_forget(&at);
}
#define CHANGE_OPEN(name, ...)             \
  static long name(const long *a) {        \
    own_descriptor(a[0]);                  \
    return raw(__VA_ARGS__);               \
  }
CHANGE_OPEN(change_open_mode, SYS_fchmod, a[0], a[1])
CHANGE_OPEN(change_open_owner, SYS_fchown, a[0], a[1], a[2])
CHANGE_OPEN(change_open_attribute, SYS_fsetxattr, a[0], a[1], a[2], a[3], a[4])
CHANGE_OPEN(remove_open_attribute, SYS_fremovexattr, a[0], a[1])
CHANGE_OPEN(change_open_times, SYS_utimensat, a[0], a[1], a[2], a[3])

static long change_owner(const long *a) {
  if (means_descriptor(a[1], a[4])) return change_open_owner((long[]){a[0], a[2], a[3]});
  CHANGE(a[0], a[1], !(a[4] & AT_SYMLINK_NOFOLLOW), OWNER, raw(SYS_fchownat, AT_FDCWD, at.real, a[2], a[3], a[4]));
}
static long change_times(const long *a) {
  if (!a[1] || means_descriptor(a[1], a[3])) return change_open_times(a);
  CHANGE(a[0], a[1], !(a[3] & AT_SYMLINK_NOFOLLOW), may_change(&at) ? 0 : a[2] ? -EPERM : place_may_write(&at, false),
         raw(SYS_utimensat, AT_FDCWD, at.real, a[2], a[3]));
}

static long set_folder(char *path) {
  folder_now = path;
  return 0;
}
static long change_folder(const long *a) {
  ASK(AT_FDCWD, a[0], true,
      at.is_foreign ? (refuse("the rank works in a folder of the system"), 0)
      : !S_ISDIR(at.is.st_mode) ? -ENOTDIR
      : raw(SYS_faccessat, AT_FDCWD, at.real, X_OK) ? -EACCES
                                                    : set_folder(text_of("%s", at.path)));
}
static long change_to_open_folder(const long *a) {
  struct stat is;
  long error = raw(SYS_fstat, a[0], &is);
  if (error) return error;
  char *path = S_ISDIR(is.st_mode) ? path_of_descriptor(a[0]) : NULL;
  return path ? set_folder(path) : -ENOTDIR;
}
static long get_folder(const long *a) {
  const char *path = *folder_now ? folder_now : "/";
  size_t length = strlen(path) + 1;
  if ((size_t)a[1] < length) return -ERANGE;
  memcpy((char *)a[0], path, length);
  return (long)length;
}

/* Before its first question, Python lists the folders that it looks for modules in. No rank makes
 * modules, so what others do there makes no difference to it. */
static void note_listing(long folder) {
  if (!is_python() || questions_asked > 0) descriptor_use(LISTING, folder);
}

static long list_folder(const long *a) {
  note_listing(a[0]);
  return raw(SYS_getdents64, a[0], a[1], a[2]);
}
static long lock_file(const long *a) {
  descriptor_use(CHANGING, a[0]);
  return 0;
}
static long control_file(const long *a) {
  if (a[1] == F_SETLEASE || a[1] == F_NOTIFY) refuse("the rank watches what others do with a file");
  descriptor_use(CHANGING, a[0]);
  if (a[1] == F_GETLK || a[1] == F_OFD_GETLK) ((struct flock *)a[2])->l_type = F_UNLCK;
  return 0;
}
static long map_file(const long *a) {
  mapped_add(a[4]);
  return raw(SYS_mmap, a[0], a[1], a[2], a[3], a[4], a[5]);
}
static long watches_files(const long *a) {
  (void)a;
  refuse("the rank watches what others do with files");
}
static long is_absent(const long *a) {
  (void)a;
  return -ENOSYS;
}

/* Older calls, without a folder. */
#ifdef SYS_open
static long old_open(const long *a) { return open_file((long[]){AT_FDCWD, a[0], a[1], a[2]}); }
static long old_creat(const long *a) { return open_file((long[]){AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC, a[1]}); }
static long old_stat(const long *a) { return get_status((long[]){AT_FDCWD, a[0], a[1], 0}); }
static long old_lstat(const long *a) { return get_status((long[]){AT_FDCWD, a[0], a[1], AT_SYMLINK_NOFOLLOW}); }
static long old_access(const long *a) { return get_access((long[]){AT_FDCWD, a[0], a[1]}); }
static long old_readlink(const long *a) { return get_link((long[]){AT_FDCWD, a[0], a[1], a[2]}); }
static long old_unlink(const long *a) { return remove_name((long[]){AT_FDCWD, a[0], 0}); }
static long old_rmdir(const long *a) { return remove_name((long[]){AT_FDCWD, a[0], AT_REMOVEDIR}); }
static long old_mkdir(const long *a) { return make_folder((long[]){AT_FDCWD, a[0], a[1]}); }
static long old_symlink(const long *a) { return make_link((long[]){a[0], AT_FDCWD, a[1]}); }
static long old_link(const long *a) { return make_name((long[]){AT_FDCWD, a[0], AT_FDCWD, a[1], 0}); }
static long old_mknod(const long *a) { return make_node((long[]){AT_FDCWD, a[0], a[1], a[2]}); }
static long old_rename(const long *a) { return rename_at(AT_FDCWD, a[0], AT_FDCWD, a[1], 0); }
static long old_chmod(const long *a) { return change_mode((long[]){AT_FDCWD, a[0], a[1]}); }
static long old_chown(const long *a) { return change_owner((long[]){AT_FDCWD, a[0], a[1], a[2], 0}); }
static long old_lchown(const long *a) { return change_owner((long[]){AT_FDCWD, a[0], a[1], a[2], AT_SYMLINK_NOFOLLOW}); }
static long old_utime(const long *a) { CHANGE(AT_FDCWD, a[0], true, OWNER, raw(SYS_utime, at.real, a[1])); }
static long old_utimes(const long *a) { CHANGE(AT_FDCWD, a[0], true, OWNER, raw(SYS_utimes, at.real, a[1])); }
static long old_futimesat(const long *a) { CHANGE(a[0], a[1], true, OWNER, raw(SYS_utimes, at.real, a[2])); }
static long old_getdents(const long *a) {
  note_listing(a[0]);
  return raw(SYS_getdents, a[0], a[1], a[2]);
}
#endif

#define OF_CONTROL(command) {.number = SYS_fcntl, .instead = control_file, .of = 1, .mask = UINT32_MAX, .value = command}
const struct watched file_calls[] = {
    {.number = SYS_openat, .instead = open_file},
    {.number = SYS_newfstatat, .instead = get_status},
    {.number = SYS_statx, .instead = get_extended_status},
    {.number = SYS_faccessat, .instead = get_access},
#ifdef SYS_faccessat2
    {.number = SYS_faccessat2, .instead = get_access_2},
#endif
    {.number = SYS_statfs, .instead = get_system},
    {.number = SYS_getxattr, .instead = get_attribute},
    {.number = SYS_lgetxattr, .instead = get_link_attribute},
    {.number = SYS_listxattr, .instead = list_attributes},
    {.number = SYS_llistxattr, .instead = list_link_attributes},
    {.number = SYS_readlinkat, .instead = get_link},
    {.number = SYS_unlinkat, .instead = remove_name},
    {.number = SYS_mkdirat, .instead = make_folder},
    {.number = SYS_symlinkat, .instead = make_link},
    {.number = SYS_mknodat, .instead = make_node},
    {.number = SYS_linkat, .instead = make_name},
#ifdef SYS_renameat
    {.number = SYS_renameat, .instead = rename_file},
#endif
    {.number = SYS_renameat2, .instead = rename_file_2},
    {.number = SYS_truncate, .instead = truncate_file},
    {.number = SYS_fchmodat, .instead = change_mode},
    {.number = SYS_fchownat, .instead = change_owner},
    {.number = SYS_utimensat, .instead = change_times},
    {.number = SYS_setxattr, .instead = change_attribute},
    {.number = SYS_lsetxattr, .instead = change_link_attribute},
    {.number = SYS_removexattr, .instead = remove_attribute},
    {.number = SYS_lremovexattr, .instead = remove_link_attribute},
    {.number = SYS_fchmod, .instead = change_open_mode},
    {.number = SYS_fchown, .instead = change_open_owner},
    {.number = SYS_fsetxattr, .instead = change_open_attribute},
    {.number = SYS_fremovexattr, .instead = remove_open_attribute},
    {.number = SYS_chdir, .instead = change_folder},
    {.number = SYS_fchdir, .instead = change_to_open_folder},
    {.number = SYS_getcwd, .instead = get_folder},
    {.number = SYS_getdents64, .instead = list_folder},
    {.number = SYS_flock, .instead = lock_file},
    OF_CONTROL(F_SETLK),
    OF_CONTROL(F_SETLKW),
    OF_CONTROL(F_GETLK),
    OF_CONTROL(F_OFD_SETLK),
    OF_CONTROL(F_OFD_SETLKW),
    OF_CONTROL(F_OFD_GETLK),
    OF_CONTROL(F_SETLEASE),
    OF_CONTROL(F_NOTIFY),
    {.number = SYS_mmap, .instead = map_file, .of = 3, .mask = MAP_SHARED | MAP_ANONYMOUS, .value = MAP_SHARED},
    {.number = SYS_inotify_add_watch, .instead = watches_files},
    {.number = SYS_fanotify_mark, .instead = watches_files},
    {.number = SYS_open_by_handle_at, .instead = watches_files},
#ifdef SYS_openat2
    {.number = SYS_openat2, .instead = is_absent},
#endif
#ifdef SYS_fchmodat2
    {.number = SYS_fchmodat2, .instead = is_absent},
#endif
#ifdef SYS_open
    {.number = SYS_open, .instead = old_open},
    {.number = SYS_creat, .instead = old_creat},
    {.number = SYS_stat, .instead = old_stat},
    {.number = SYS_lstat, .instead = old_lstat},
    {.number = SYS_access, .instead = old_access},
    {.number = SYS_readlink, .instead = old_readlink},
    {.number = SYS_unlink, .instead = old_unlink},
    {.number = SYS_rmdir, .instead = old_rmdir},
    {.number = SYS_mkdir, .instead = old_mkdir},
    {.number = SYS_symlink, .instead = old_symlink},
    {.number = SYS_link, .instead = old_link},
    {.number = SYS_mknod, .instead = old_mknod},
    {.number = SYS_rename, .instead = old_rename},
    {.number = SYS_chmod, .instead = old_chmod},
    {.number = SYS_chown, .instead = old_chown},
    {.number = SYS_lchown, .instead = old_lchown},
    {.number = SYS_utime, .instead = old_utime},
    {.number = SYS_utimes, .instead = old_utimes},
    {.number = SYS_futimesat, .instead = old_futimesat},
    {.number = SYS_getdents, .instead = old_getdents},
#endif
};
const size_t file_call_count = sizeof file_calls / sizeof *file_calls;
