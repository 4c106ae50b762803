/* The files that a rank sees: those of the machine, overlaid by those that it has changed.
 *
 * Changed files are in a folder of the rank, below their canonical name: FOLDER/tree/home/me/log is
 * the present content of /home/me/log. A list, `gone`, has the files that were there at the start
 * and are removed. So a path denotes
 *
 *   the file in the tree, if it exists; else nothing, if the file or a folder above it is gone;
 *   else the file of the machine.
 *
 * A folder in the tree contains only its changed files, as long as there is such a folder on the
 * machine that is not gone: then the program sees both together. So a folder that the program has
 * made, or made again, shows nothing of the machine.
 *
 * Paths are followed here, name by name, because the kernel would follow links of the machine only.
 * A name is canonical: from the root, without links. Two names count as two files. So a file with
 * several names is not changed but refused, and so is everything that cannot be done on a copy:
 * renaming folders of the machine or changing their attributes, special files.
 *
 * A descriptor that was opened for reading before the file is copied is redirected to the copy. */
#include "calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

enum { LINKS = 40, BLOCK = 1 << 16 };

char *folder_now;
static char *folder; /* NULL until something is changed */
static char **gone;
static size_t count_of_gone;

/* A folder of names that represents a folder of the rank. */
static struct snapshot {
  char *real, *path;
} *snapshots;
static size_t count_of_snapshots;

/* Files of the machine that are mapped into the memory of the rank. */
static struct mapped {
  dev_t device;
  ino_t number;
} *mapped;
static size_t count_of_mapped;

/* The list, with room for one more. */
static void *with_room(void *list, size_t count, size_t size) {
  return (count & (count - 1)) == 0 ? grow(list, (2 * count + 1) * size) : list;
}

static char *copy_of(const char *text) { return text_of("%s", text); }

const char *folder_of_rank(void) {
  if (!folder) {
    folder = text_of("%s/files-%d-%ld", verifier_folder(), process_number(), raw(SYS_getpid));
    char *tree = text_of("%s/tree", folder);
    bool is_made = raw(SYS_mkdirat, AT_FDCWD, folder, 0700) == 0 && raw(SYS_mkdirat, AT_FDCWD, tree, 0700) == 0;
    release(tree);
    if (!is_made) give_up("cannot make a folder for files");
  }
  return folder;
}

void files_remove(long pid) {
  char *of_rank = text_of("%s/files-%d-%ld", verifier_folder(), process_number(), pid);
  remove_all(of_rank);
  release(of_rank);
}

static char *in_tree(const char *path) { return text_of("%s/tree%s", folder_of_rank(), path); }

/* Whether `path` is `above`, or below it. */
static bool is_within(const char *path, const char *above) {
  size_t length = strlen(above);
  return strncmp(path, above, length) == 0 && (path[length] == 0 || path[length] == '/');
}

const char *path_in_tree(const char *real) {
  size_t length = folder ? strlen(folder) : 0;
  bool is_inside = folder && is_within(real, folder) && is_within(real + length, "/tree");
  return is_inside ? real + length + strlen("/tree") : real;
}

static bool is_gone(const char *path) {
  for (size_t i = 0; i < count_of_gone; i++)
    if (is_within(path, gone[i])) return true;
  return false;
}

static void add_gone(const char *path) {
  if (is_gone(path)) return;
  gone = with_room(gone, count_of_gone, sizeof *gone);
  gone[count_of_gone++] = copy_of(path);
}

static const char *or_root(const char *path) { return *path ? path : "/"; }

static long status(const char *path, struct stat *is) {
  return raw(SYS_newfstatat, AT_FDCWD, or_root(path), is, AT_SYMLINK_NOFOLLOW);
}

/* Looks up the file with this name; 0 or an error. */
static long look(struct place *place) {
  long in_world = is_gone(place->path) ? -ENOENT : status(place->path, &place->is);
  place->is_own = false;
  release(place->real);
  place->real = copy_of(or_root(place->path));
  if (!folder) return in_world;
  struct stat own;
  char *real = in_tree(place->path);
  bool is_in_tree = status(real, &own) == 0;
  bool is_shown = is_in_tree && (in_world || !S_ISDIR(own.st_mode) || !S_ISDIR(place->is.st_mode));
  if (!is_shown) return release(real), in_world;
  release(place->real);
  place->real = real;
  place->is = own;
  place->is_own = true;
  return 0;
}

void place_forget(struct place *place) {
  release(place->path);
  release(place->real);
  *place = (struct place){0};
}

/* The name that the kernel has for the file behind a descriptor; NULL if it has no name. */
static char *name_of_descriptor(long descriptor) {
  char link[48];
  snprintf(link, sizeof link, "/proc/self/fd/%ld", descriptor);
  char *found = allocate(PATH_MAX + 1);
  long length = raw(SYS_readlinkat, AT_FDCWD, link, found, PATH_MAX);
  if (length > 0 && *found == '/' && strncmp(found, "/memfd:", 7)) return found;
  release(found);
  return NULL;
}

bool is_descriptor_own(long descriptor) {
  char *name = folder ? name_of_descriptor(descriptor) : NULL;
  bool is_own = name && is_within(name, folder);
  release(name);
  return is_own;
}

char *path_of_descriptor(long descriptor) {
  char *name = name_of_descriptor(descriptor);
  if (!name || !folder) return name;
  for (size_t i = 0; i < count_of_snapshots; i++)
    if (strcmp(snapshots[i].real, name) == 0) return release(name), copy_of(snapshots[i].path);
  char *inside = copy_of(path_in_tree(name));
  release(name);
  return inside;
}

/* Where a path starts: a canonical name, "" for the root. */
static long start_of(long in, const char *text, char **start) {
  *start = NULL;
  if (*text == '/') *start = copy_of("");
  else if ((int)in == AT_FDCWD) *start = copy_of(folder_now);
  else if (!(*start = path_of_descriptor(in))) return -EBADF;
  if (strcmp(*start, "/") == 0) **start = 0;
  return 0;
}

static void go_up(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = 0;
}

static void set_path(struct place *place, char *path) {
  release(place->path);
  place->path = path;
}

/* Replaces the name that was found by `target`, followed by `behind`. */
static long go_on(struct place *place, char **rest, const char *target, const char *behind) {
  const char *slash = *behind || place->wants_folder ? "/" : "";
  char *joined = text_of("%s%s%s", target, slash, behind);
  release(*rest);
  *rest = joined;
  if (*target == '/') *place->path = 0;
  else go_up(place->path);
  return 0;
}

static long follow(struct place *place, char **rest, const char *behind) {
  file_use(READING, place->path);
  char *target = allocate(PATH_MAX + 1);
  long length = raw(SYS_readlinkat, AT_FDCWD, place->real, target, PATH_MAX);
  if (length > 0) go_on(place, rest, target, behind);
  release(target);
  return length > 0 ? 0 : length ? length : -ENOENT;
}

/* The target of a kernel link to a file of this process, and the rest of the path; NULL for every
 * other path. */
static char *link_of_kernel(const char *path, const char **behind) {
  const char *own = "/proc/self/";
  if (strncmp(path, own, strlen(own))) return NULL;
  const char *name = path + strlen(own);
  *behind = name + strcspn(name, "/");
  if (strncmp(name, "cwd", 3) == 0 && *behind == name + 3) return copy_of(folder_now);
  if (strncmp(name, "root", 4) == 0 && *behind == name + 4) return copy_of("/");
  if (strncmp(name, "fd/", 3) || !name[3]) return NULL;
  *behind = name + 3 + strcspn(name + 3, "/");
  char *found = path_of_descriptor(atol(name + 3));
  struct place there = {.path = found};
  bool is_there = found && look(&there) == 0 && (S_ISREG(there.is.st_mode) || S_ISDIR(there.is.st_mode));
  release(there.real);
  return is_there ? found : (release(found), NULL);
}

static bool is_of_kernel(const char *path, const char *name) {
  return *path == 0 && (strcmp(name, "proc") == 0 || strcmp(name, "sys") == 0);
}

/* A path in /proc or /sys: the kernel follows it, unless it leads back to files. Returns whether it
 * does. */
static bool leads_back(struct place *place, char **rest, bool follows) {
  const char *behind;
  char *target = link_of_kernel(place->path, &behind);
  bool leads = target && (*behind || follows);
  place->wants_folder = false;
  if (leads) go_on(place, rest, target, behind + strspn(behind, "/"));
  release(target);
  if (leads) return true;
  place->is_foreign = true;
  release(place->real);
  place->real = copy_of(place->path);
  return false;
}

enum { NOTHING_THERE = 1 };

/* Follows a path whose beginning is in place->path and whose rest is `rest`. */
static long walk(struct place *place, char **rest, bool follows) {
  char *at = *rest;
  for (int links = 0; links <= LINKS;) {
    while (*at == '/') at++;
    if (!*at) return look(place);
    size_t length = strcspn(at, "/");
    char *name = text_of("%.*s", (int)length, at);
    at += length;
    const char *behind = at + strspn(at, "/");
    place->wants_folder = *at == '/';
    bool is_step = strcmp(name, ".") == 0 || strcmp(name, "..") == 0, is_foreign = is_of_kernel(place->path, name);
    if (is_step && name[1]) go_up(place->path);
    if (!is_step) set_path(place, text_of(is_foreign && *behind ? "%s/%s/%s" : "%s/%s", place->path, name, behind));
    release(name);
    if (is_step) continue;
    if (is_foreign) {
      if (!leads_back(place, rest, follows)) return 0;
      at = *rest;
      links++;
      continue;
    }
    long error = look(place);
    if (error == -ENOENT && !*behind) return NOTHING_THERE;
    bool is_link = !error && S_ISLNK(place->is.st_mode) && (*behind || follows || place->wants_folder);
    if (!error && !is_link && !*behind) return 0;
    if (!error && !is_link && !S_ISDIR(place->is.st_mode)) error = -ENOTDIR;
    if (error) file_use(READING, place->path);
    if (is_link) {
      error = follow(place, rest, behind);
      at = *rest;
      links++;
    }
    if (error) return error;
  }
  return -ELOOP;
}

long place_find(long in, long path, bool follows, struct place *found) {
  *found = (struct place){0};
  const char *text = (const char *)path;
  /* The kernel checks whether it is a path at all. */
  long error = raw(SYS_faccessat, AT_FDCWD, text, F_OK);
  if (error == -EFAULT || error == -ENAMETOOLONG) return error;
  if (!*text) return -ENOENT;
  error = start_of(in, text, &found->path);
  if (error) return error;
  char *rest = copy_of(text);
  error = walk(found, &rest, follows);
  release(rest);
  found->is_there = !error;
  if (error < 0) place_forget(found);
  if (error < 0 || found->is_foreign || !own_copy_follows(found)) return error < 0 ? error : 0;
  place_forget(found);
  return place_find(in, path, follows, found);
}

bool place_shows_lower(const struct place *place) { return place->is_there && !place->is_own; }

long place_may_write(const struct place *place, bool in_folder) {
  if (!in_folder) return raw(SYS_faccessat, AT_FDCWD, place->real, W_OK);
  struct place above = {.path = copy_of(place->path)};
  go_up(above.path);
  long error = look(&above);
  if (!error) error = raw(SYS_faccessat, AT_FDCWD, above.real, W_OK | X_OK);
  place_forget(&above);
  return error;
}

/* Makes the folders above a name in the tree. */
static void make_folders(const char *path) {
  for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    char *above = text_of("%.*s", (int)(slash - path), path), *real = in_tree(above);
    if (raw(SYS_mkdirat, AT_FDCWD, real, 0700) == 0) raw(SYS_fchmodat, AT_FDCWD, real, 0700);
    release(above);
    release(real);
  }
}

static void move_into_tree(struct place *place) {
  make_folders(place->path);
  release(place->real);
  place->real = in_tree(place->path);
  place->is_own = true;
}

long place_new(struct place *place) {
  long error = place_may_write(place, true);
  if (!error) move_into_tree(place);
  return error;
}

/* Calls `visit` with each name in an actual folder. */
static void each_name(const char *real, bool (*visit)(const char *name, unsigned char type, void *with), void *with) {
  struct {
    uint64_t number;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
  } *entry;
  long opened = raw(SYS_openat, AT_FDCWD, real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  char *block = allocate(BLOCK);
  bool goes_on = true;
  for (long got; goes_on && (got = raw(SYS_getdents64, opened, block, BLOCK)) > 0;)
    for (long at = 0; goes_on && at < got; at += entry->length) {
      entry = (void *)(block + at);
      bool is_entry = strcmp(entry->name, ".") && strcmp(entry->name, "..");
      if (is_entry) goes_on = visit(entry->name, entry->type, with);
    }
  release(block);
  raw(SYS_close, opened);
}

/* Makes descriptors of the file that is copied refer to the copy, at the same position. */
struct copied {
  const struct stat *from;
  const char *to;
};
static bool move_descriptor(const char *name, unsigned char type, void *with) {
  (void)type;
  const struct copied *copied = with;
  long descriptor = atol(name);
  struct stat is;
  if (raw(SYS_fstat, descriptor, &is) || is.st_dev != copied->from->st_dev || is.st_ino != copied->from->st_ino) return true;
  long flags = raw(SYS_fcntl, descriptor, F_GETFL), closing = raw(SYS_fcntl, descriptor, F_GETFD);
  long opened = raw(SYS_openat, AT_FDCWD, copied->to, flags & ~(O_CREAT | O_EXCL | O_TRUNC));
  if (opened < 0) refuse("the rank changes %s, which it has opened, and the copy cannot be opened", copied->to);
  raw(SYS_lseek, opened, raw(SYS_lseek, descriptor, 0, SEEK_CUR), SEEK_SET);
  raw(SYS_dup3, opened, descriptor, closing & FD_CLOEXEC ? O_CLOEXEC : 0);
  raw(SYS_close, opened);
  return true;
}

void mapped_add(long descriptor) {
  struct stat is;
  if (raw(SYS_fstat, descriptor, &is) || !S_ISREG(is.st_mode) || is_descriptor_own(descriptor)) return;
  mapped = with_room(mapped, count_of_mapped, sizeof *mapped);
  mapped[count_of_mapped++] = (struct mapped){is.st_dev, is.st_ino};
}

static bool is_mapped(const struct stat *is) {
  for (size_t i = 0; i < count_of_mapped; i++)
    if (mapped[i].device == is->st_dev && mapped[i].number == is->st_ino) return true;
  return false;
}

static void copy_content(const char *from, long to) {
  long opened = raw(SYS_openat, AT_FDCWD, from, O_RDONLY | O_CLOEXEC);
  if (opened < 0) refuse("the rank changes %s, which cannot be read to make a copy of it", from);
  char *block = allocate(BLOCK);
  for (long got; (got = raw(SYS_read, opened, block, BLOCK)) != 0;)
    if (got < 0 || raw(SYS_write, to, block, got) != got) refuse("%s cannot be copied before the rank changes it", from);
  release(block);
  raw(SYS_close, opened);
}

static void copy_link(const char *from, const char *to) {
  char *target = allocate(PATH_MAX + 1);
  raw(SYS_readlinkat, AT_FDCWD, from, target, PATH_MAX);
  raw(SYS_symlinkat, target, AT_FDCWD, to);
  release(target);
}

void place_own(struct place *place, bool starts_empty) {
  if (place->is_own) return;
  const struct stat was = place->is;
  if (S_ISDIR(was.st_mode)) refuse("the rank changes the folder %s itself, of which no copy is made", place->path);
  if (!S_ISREG(was.st_mode) && !S_ISLNK(was.st_mode)) refuse("the rank changes %s, which is no file of data", place->path);
  if (was.st_nlink > 1) refuse("the rank changes %s, which has other names (hard links)", place->path);
  if (is_mapped(&was)) refuse("the rank changes %s, which is mapped into its memory", place->path);
  char *from = copy_of(place->real);
  move_into_tree(place);
  if (S_ISLNK(was.st_mode)) {
    copy_link(from, place->real);
  } else {
    long made = raw(SYS_openat, AT_FDCWD, place->real, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made < 0) refuse("%s cannot be copied before the rank changes it", place->path);
    if (!starts_empty) copy_content(from, made);
    raw(SYS_fchown, made, was.st_uid, was.st_gid);
    raw(SYS_fchmod, made, was.st_mode & 07777);
    struct timespec times[] = {was.st_atim, was.st_mtim};
    raw(SYS_utimensat, made, NULL, times, 0);
    raw(SYS_close, made);
    struct copied copied = {&was, place->real};
    each_name("/proc/self/fd", move_descriptor, &copied);
  }
  status(place->real, &place->is);
  release(from);
}

/* Visits every name in a folder, of the machine and of the tree. */
struct visit {
  const char *path;
  bool (*visit)(const char *path, const char *name, void *with);
  void *with;
  bool is_in_world, goes_on;
};
static bool visit_one(const char *name, unsigned char type, void *with) {
  (void)type;
  struct visit *visit = with;
  struct place place = {.path = text_of("%s/%s", visit->path, name)};
  struct stat in_world;
  /* First those of the machine that are not gone, then the others. */
  bool is_first = !is_gone(place.path) && status(place.path, &in_world) == 0;
  if (is_first == visit->is_in_world && look(&place) == 0) visit->goes_on = visit->visit(place.path, name, visit->with);
  place_forget(&place);
  return visit->goes_on;
}

void place_each(const struct place *place, bool (*visit)(const char *path, const char *name, void *with), void *with) {
  struct visit each = {place->path, visit, with, true, true};
  if (!is_gone(place->path)) each_name(or_root(place->path), visit_one, &each);
  each.is_in_world = false;
  if (!folder || !each.goes_on) return;
  char *real = in_tree(place->path);
  each_name(real, visit_one, &each);
  release(real);
}

static bool is_any(const char *path, const char *name, void *found) {
  (void)path, (void)name;
  *(bool *)found = true;
  return false;
}

long place_remove(struct place *place) {
  long error = place_may_write(place, true);
  if (error) return error;
  bool is_filled = false;
  if (S_ISDIR(place->is.st_mode)) place_each(place, is_any, &is_filled);
  if (is_filled) return -ENOTEMPTY;
  char *real = in_tree(place->path);
  error = raw(SYS_unlinkat, AT_FDCWD, real, S_ISDIR(place->is.st_mode) ? AT_REMOVEDIR : 0);
  release(real);
  if (error && place->is_own) return error;
  place_hide(place);
  return 0;
}

void place_hide(const struct place *place) {
  struct stat in_world;
  if (!is_gone(place->path) && status(place->path, &in_world) == 0) add_gone(place->path);
}

bool place_is_changed(const struct place *place) {
  if (!folder || place->is_own) return false;
  struct stat own;
  char *real = in_tree(place->path);
  bool is_changed = status(real, &own) == 0;
  release(real);
  size_t length = strlen(place->path);
  for (size_t i = 0; i < count_of_gone && !is_changed; i++)
    is_changed = is_within(gone[i], place->path) && !strchr(gone[i] + length + 1, '/');
  return is_changed;
}

static bool add_name(const char *path, const char *name, void *with) {
  struct place place = {.path = copy_of(path)};
  look(&place);
  char *made = text_of("%s/%s", (const char *)with, name);
  if (S_ISDIR(place.is.st_mode)) raw(SYS_mkdirat, AT_FDCWD, made, 0700);
  else if (S_ISLNK(place.is.st_mode)) raw(SYS_symlinkat, "", AT_FDCWD, made);
  else raw(SYS_mknodat, AT_FDCWD, made, S_IFREG | 0600, 0);
  release(made);
  place_forget(&place);
  return true;
}

long snapshot_open(const struct place *place, int flags) {
  char *real = text_of("%s/names-%zu", folder_of_rank(), count_of_snapshots);
  raw(SYS_mkdirat, AT_FDCWD, real, 0700);
  place_each(place, add_name, real);
  snapshots = with_room(snapshots, count_of_snapshots, sizeof *snapshots);
  snapshots[count_of_snapshots++] = (struct snapshot){real, copy_of(place->path)};
  return raw(SYS_openat, AT_FDCWD, real, flags);
}
