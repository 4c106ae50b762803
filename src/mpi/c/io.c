/* Files of MPI: what they contain, how they are opened and closed, and their views. */
#include "io.h"

#include "calls.h"
#include "collectives.h"
#include "represent.h"

#include <fcntl.h>

/* The changes of all files are kept as those of a part of rank 0, of a window that has only this. */
enum { KEEPER = 0 };
static int keeper = KEEPER;
static struct group keepers = {.size = 1, .ranks = &keeper};
static struct comm keeping = {.group = &keepers};

static struct content **contents;
static size_t count_of_contents;

static void read_start(struct content *content, const char *real) {
  long opened = raw(SYS_openat, AT_FDCWD, real, O_RDONLY | O_CLOEXEC);
  struct stat is;
  if (opened < 0 || raw(SYS_fstat, opened, &is) < 0) fail("unsupported", "%s cannot be read", content->path);
  if (!S_ISREG(is.st_mode)) fail("unsupported", "%s is no file of the usual kind", content->path);
  content->was_there = true;
  content->start_size = (size_t)is.st_size;
  content->start = allocate(content->start_size + 1);
  for (size_t at = 0; at < content->start_size;) {
    long length = raw(SYS_read, opened, content->start + at, content->start_size - at);
    if (length <= 0) fail("unsupported", "%s cannot be read", content->path);
    at += (size_t)length;
  }
  raw(SYS_close, opened);
}

struct content *content_known(const char *path) {
  for (size_t i = 0; i < count_of_contents; i++)
    if (strcmp(contents[i]->path, path) == 0) return contents[i];
  return NULL;
}

static struct content *content_new(const char *path) {
  struct content *made = allocate(sizeof *made);
  made->path = text_of("%s", path);
  made->window.name = text_of("file %s", made->path);
  keeper = world_base + KEEPER;
  made->window.comm = &keeping;
  int uses = file_uses_of(path);
  if (uses & 1) file_records_add_own(made, false, 0);
  if (uses & 2) file_records_add_own(made, true, 0);
  if (uses) file_use(JOINING, made->path);
  struct stat is;
  if (raw(SYS_newfstatat, AT_FDCWD, path, &is, AT_SYMLINK_NOFOLLOW) == 0) read_start(made, path);
  contents = grow(contents, (count_of_contents + 1) * sizeof *contents);
  return contents[count_of_contents++] = made;
}

/* Reports that it is used by MPI, after the ranks that open it have met. */
static void content_shared(const struct content *content) { file_use(SHARING, content->path); }

struct content *content_of(const char *path) {
  struct place place;
  if (own_place(path, &place)) return NULL;
  struct content *found = content_known(place.path);
  bool is_changed = found && found->is_own_changed;
  if (!found) {
    found = content_new(place.path);
    is_changed = place.is_own || place.is_there != found->was_there;
  }
  own_copy_becomes(found, &place, is_changed);
  place_forget(&place);
  return found;
}

static void resize(struct content *content, uint64_t size) {
  if (size > content->room) {
    size_t more = content->room > size / 2 ? 2 * content->room : (size_t)size;
    content->copy.at = grow(content->copy.at, more);
    memset(content->copy.at + content->room, 0, more - content->room);
    content->room = more;
  }
  if (size < content->size) memset(content->copy.at + size, 0, content->size - (size_t)size);
  content->size = (size_t)size;
}

static void act(struct content *content, struct reader changes) {
  while (changes.at < changes.end) {
    char what = (char)take_u8(&changes);
    uint64_t at = take_u64(&changes);
    struct reader bytes = take_block(&changes);
    uint64_t end = what == 'w' ? at + (uint64_t)(bytes.end - bytes.at) : at;
    if (what == 't' || (what != 'x' && end > content->size)) resize(content, end);
    if (what == 'w') memcpy(content->copy.at + at, bytes.at, (size_t)(bytes.end - bytes.at));
    if (what == 'x') resize(content, 0);
    content->is_there = what != 'x';
  }
}

void content_now(struct content *content) {
  struct reader changes;
  bool is_any, is_anew = !content->copy.at;
  do {
    is_any = changes_next(&content->window, KEEPER, &content->copy, &changes, &is_anew);
    if (is_anew) {
      resize(content, 0);
      resize(content, content->start_size);
      if (!content->copy.at) content->copy.at = allocate(1);
      if (content->start_size > 0) memcpy(content->copy.at, content->start, content->start_size);
      content->is_there = content->was_there;
      is_anew = false;
    }
    if (is_any) act(content, changes);
  } while (is_any);
}

static void put_change(struct bytes *to, char what, uint64_t at, const uint8_t *bytes, size_t length) {
  put_u8(to, (uint8_t)what);
  put_u64(to, at);
  put_block(to, bytes, length);
}

static void change(struct content *content, struct bytes *made) {
  if (made->length > 0) changes_add(&content->window, KEEPER, PLAIN, false, made);
  release(made->at);
}

void content_write(struct content *content, struct spans parts, const uint8_t *bytes) {
  struct bytes made = {0};
  for (size_t i = 0; i < parts.count; i++) {
    size_t length = (size_t)(parts.span[i].to - parts.span[i].from);
    put_change(&made, 'w', parts.span[i].from, bytes, length);
    bytes += length;
  }
  change(content, &made);
}

void content_set(struct content *content, char what, uint64_t size) {
  struct bytes made = {0};
  put_change(&made, what, size, NULL, 0);
  change(content, &made);
}

void content_replace(struct content *content, const uint8_t *bytes, size_t length) {
  struct bytes made = {0};
  put_change(&made, 't', 0, NULL, 0);
  if (length > 0) put_change(&made, 'w', 0, bytes, length);
  change(content, &made);
}

static struct spans range(uint64_t from, uint64_t to) {
  struct spans made = {1, allocate(sizeof *made.span)};
  *made.span = (struct span){from, to};
  return made;
}
struct spans content_end(uint64_t size) { return range(size, UINT64_MAX - EXISTENCE); }
static struct spans existence(void) { return range(UINT64_MAX - EXISTENCE, UINT64_MAX); }

struct file *file_get(MPI_File file) {
  if (file == MPI_FILE_NULL) fail("invalid argument", "the file is MPI_FILE_NULL");
  struct file *found = (struct file *)handle_get(OPENED, file);
  if (!found) fail("invalid argument", "%p is no file", (void *)file);
  if (found->object.is_freed) fail("invalid argument", "the file opened at {@%lx} was closed", found->object.made_at);
  return found;
}

/* All ranks of the file meet. */
static void meet(struct file *file) {
  struct bytes nothing = {0};
  exchange(file->comm, call.name, &nothing);
}

static void check_mode(int mode) {
  int ways = !!(mode & MPI_MODE_RDONLY) + !!(mode & MPI_MODE_WRONLY) + !!(mode & MPI_MODE_RDWR);
  if (ways != 1) fail("invalid argument", "the mode has not exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR");
  if ((mode & MPI_MODE_RDONLY) && (mode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
    fail("invalid argument", "the mode has MPI_MODE_RDONLY, and MPI_MODE_CREATE or MPI_MODE_EXCL");
  if ((mode & MPI_MODE_RDWR) && (mode & MPI_MODE_SEQUENTIAL)) fail("invalid argument", "the mode has MPI_MODE_RDWR and MPI_MODE_SEQUENTIAL");
}

/* The first rank looks whether the file is there, and makes it. Returns a code. */
static int open_first(struct content *content, int mode) {
  if (!content) return MPI_ERR_NO_SUCH_FILE;
  content_now(content);
  bool may_create = mode & MPI_MODE_CREATE, is_any_fine = content->is_there || (may_create && !(mode & MPI_MODE_EXCL));
  file_records_add_open(content, may_create && !content->is_there, is_any_fine, existence());
  if (content->is_there) return mode & MPI_MODE_EXCL ? MPI_ERR_FILE_EXISTS : MPI_SUCCESS;
  if (!(mode & MPI_MODE_CREATE)) return MPI_ERR_NO_SUCH_FILE;
  content_set(content, 'o', 0);
  return MPI_SUCCESS;
}

FUNCTION(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)) {
  CALL("MPI_File_open");
  OUT(file);
  text_in(name, "the name");
  (void)info;
  struct comm *in = comm_get_intra(comm);
  check_mode(mode);
  struct content *content = content_of(name);
  struct bytes given = {0};
  put_i32(&given, mode);
  put_text(&given, content ? content->path : name);
  put_i32(&given, in->rank == 0 ? open_first(content, mode) : 0);
  struct contributions all = exchange(in, call.name, &given);
  release(given.at);
  if (content) content_shared(content);
  int code = MPI_SUCCESS;
  for (int rank = 0; rank < in->group->size; rank++) {
    struct reader said = *contribution(&all, rank);
    if (take_i32(&said) != mode) fail("invalid argument", "the mode differs from that of rank %d", rank);
    struct reader path = take_block(&said);
    const char *own = content ? content->path : name;
    if ((size_t)(path.end - path.at) != strlen(own) || memcmp(path.at, own, strlen(own)) != 0)
      fail("invalid argument", "the file is not that of rank %d", rank);
    if (rank == 0) code = take_i32(&said);
  }
  char *own = comm_next_name(in, 0);
  in->made++;
  if (code != MPI_SUCCESS) return *file = MPI_FILE_NULL, file_error(MPI_FILE_NULL, code);
  struct file *made = allocate(sizeof *made);
  made->of = content;
  content->times_open++;
  made->comm = comm_new(group_copy(in->group), own, in);
  made->mode = mode;
  file_get_handler(MPI_FILE_NULL, &made->errhandler);
  made->unit_handle = made->type_handle = MPI_BYTE;
  made->unit = made->type = type_get(MPI_BYTE);
  if (mode & MPI_MODE_APPEND) {
    made->position = file_size(made);
    if (in->rank == 0) {
      uint32_t lock;
      file_shared_lock(made, &lock);
      file_shared_unlock(made, lock, made->position);
    }
    meet(made);
  }
  *file = (MPI_File)handle_new(OPENED, &made->object);
  return MPI_SUCCESS;
}

FUNCTION(File_close, (MPI_File *file)) {
  CALL("MPI_File_close");
  struct file *closed = file_get(*OUT(file));
  if (closed->split.name) fail("invalid argument", "%s is not ended", closed->split.name);
  bool deletes = (closed->mode & MPI_MODE_DELETE_ON_CLOSE) && closed->comm->rank == 0;
  file_records_complete(closed);
  meet(closed);
  if (deletes) file_records_add(closed->of, NULL, 0, true, range(0, UINT64_MAX));
  if (deletes) content_set(closed->of, 'x', 0);
  if (closed->mode & MPI_MODE_DELETE_ON_CLOSE) meet(closed);
  closed->of->times_open--;
  closed->object.is_freed = true;
  *file = MPI_FILE_NULL;
  return MPI_SUCCESS;
}

FUNCTION(File_delete, (const char *name, MPI_Info info)) {
  CALL("MPI_File_delete");
  text_in(name, "the name");
  (void)info;
  struct content *content = content_of(name);
  if (content) content_shared(content), content_now(content);
  if (content) file_records_add(content, NULL, 0, content->is_there, content->is_there ? range(0, UINT64_MAX) : existence());
  if (!content || !content->is_there) return file_error(MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE);
  content_set(content, 'x', 0);
  return MPI_SUCCESS;
}

/* Whoever writes behind the end changes the size. */
uint64_t file_size(struct file *file) {
  struct held held;
  if (file->is_atomic) held = file_hold(file->of, READ, (struct spans){0}, true);
  content_now(file->of);
  file_records_add(file->of, file, 0, false, content_end(file->of->size));
  if (file->is_atomic) file_let_go(&held);
  return file->of->size;
}

FUNCTION(File_get_size, (MPI_File file, MPI_Offset *size)) {
  CALL("MPI_File_get_size");
  OUT(size);
  struct file *of = file_get(file);
  *size = (MPI_Offset)file_size(of);
  return MPI_SUCCESS;
}

/* All ranks change the size. */
static int set_size(MPI_File file, MPI_Offset size, char what) {
  struct file *of = file_get(file);
  if (size < 0) fail("invalid argument", "the size is %ld", (long)size);
  if (of->mode & (MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL)) fail("invalid argument", "the mode of the file opened at {@%lx} does not allow it", of->object.made_at);
  struct bytes given = {0};
  put_u64(&given, (uint64_t)size);
  struct contributions all = exchange(of->comm, call.name, &given);
  release(given.at);
  for (int rank = 0; rank < of->comm->group->size; rank++) {
    struct reader said = *contribution(&all, rank);
    if (take_u64(&said) != (uint64_t)size) fail("invalid argument", "the size differs from that of rank %d", rank);
  }
  if (of->comm->rank == 0) {
    content_now(of->of);
    uint64_t first = of->of->size < (uint64_t)size ? of->of->size : (uint64_t)size;
    if ((uint64_t)size < of->of->size ? what == 't' : (uint64_t)size > of->of->size) {
      /* All ranks do it, so it need not be synchronized. */
      file_records_add(of->of, NULL, 0, true, content_end(first));
      content_set(of->of, what, (uint64_t)size);
    }
  }
  meet(of);
  return MPI_SUCCESS;
}

FUNCTION(File_set_size, (MPI_File file, MPI_Offset size)) {
  CALL("MPI_File_set_size");
  return set_size(file, size, 't');
}

FUNCTION(File_preallocate, (MPI_File file, MPI_Offset size)) {
  CALL("MPI_File_preallocate");
  return set_size(file, size, 'p');
}

FUNCTION(File_get_group, (MPI_File file, MPI_Group *group)) {
  CALL("MPI_File_get_group");
  OUT(group);
  *group = comm_group(file_get(file)->comm);
  return MPI_SUCCESS;
}

FUNCTION(File_get_amode, (MPI_File file, int *amode)) {
  CALL("MPI_File_get_amode");
  OUT(amode);
  *amode = file_get(file)->mode;
  return MPI_SUCCESS;
}

/* No hints are used. */
FUNCTION(File_set_info, (MPI_File file, MPI_Info info)) {
  CALL("MPI_File_set_info");
  (void)info;
  meet(file_get(file));
  return MPI_SUCCESS;
}

FUNCTION(File_get_info, (MPI_File file, MPI_Info *info)) {
  CALL("MPI_File_get_info");
  OUT(info);
  file_get(file);
  *info = info_new();
  return MPI_SUCCESS;
}

/* Where pieces of a type are: not before the start of the file, and one behind the other. */
static void check_places(const struct type *type) {
  ptrdiff_t end = 0;
  for (size_t p = 0; p < type->pieces; p++) {
    const struct piece *piece = &type->piece[p];
    if (piece->at < end) fail("invalid datatype", "the file type has places before the file, or goes back");
    end = piece->at + (ptrdiff_t)(piece->run.count * basic_size(piece->run.basic));
  }
  if (type->pieces > 0 && end > type->piece->at + type->extent)
    fail("unsupported", "a file type that does not end before it begins again is not modelled");
}

static const char NATIVE[] = "native", EXTERNAL[] = "external32";

FUNCTION(File_set_view, (MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype type, const char *form, MPI_Info info)) {
  CALL("MPI_File_set_view");
  (void)info;
  text_in(form, "the representation");
  struct file *of = file_get(file);
  bool is_sequential = of->mode & MPI_MODE_SEQUENTIAL;
  if (is_sequential != (at == MPI_DISPLACEMENT_CURRENT) || (at < 0 && !is_sequential))
    fail("invalid argument", "the displacement is %ld, and the file is %ssequential", (long)at, is_sequential ? "" : "not ");
  const struct type *units = type_for(unit, "unit"), *types = type_for(type, "file type");
  if (units->size == 0 || types->size % units->size != 0)
    fail("invalid datatype", "the file type has %zu bytes, which are not a number of units of %zu", types->size, units->size);
  check_places(types);
  bool is_external = strcmp(form, EXTERNAL) == 0;
  bool is_known = is_external || strcmp(form, NATIVE) == 0 || strcmp(form, "internal") == 0;
  if (is_external) external_check(units), external_check(types);
  struct bytes given = {0};
  put_u64(&given, (uint64_t)units->extent);
  put_u8(&given, is_external);
  struct contributions all = exchange(of->comm, call.name, &given);
  release(given.at);
  for (int rank = 0; rank < of->comm->group->size; rank++) {
    struct reader said = *contribution(&all, rank);
    if (take_u64(&said) != (uint64_t)units->extent) fail("invalid datatype", "the extent of the unit differs from that of rank %d", rank);
    if (take_u8(&said) != is_external) fail("invalid argument", "the representation differs from that of rank %d", rank);
  }
  if (!is_known) return file_error(file, MPI_ERR_UNSUPPORTED_DATAREP);
  of->from = is_sequential ? file_shared_byte(of) : (uint64_t)at;
  of->unit_handle = unit;
  of->type_handle = type;
  of->unit = units;
  of->type = types;
  of->is_external = is_external;
  of->position = 0;
  if (of->comm->rank == 0) {
    uint32_t lock;
    file_shared_lock(of, &lock);
    file_shared_unlock(of, lock, 0);
  }
  meet(of);
  return MPI_SUCCESS;
}

/* A handle of the program's own, unless the type is MPI's. */
static MPI_Datatype handle_of(MPI_Datatype handle, const struct type *type) {
  if (type->object.is_predefined || type->contents.combiner == MPI_COMBINER_NAMED) return handle;
  struct type *copy = memcpy(allocate(sizeof *copy), type, sizeof *copy);
  copy->object = (struct object){.name = type->object.name};
  return (MPI_Datatype)handle_new(DATATYPE, &copy->object);
}

FUNCTION(File_get_view, (MPI_File file, MPI_Offset *disp, MPI_Datatype *unit, MPI_Datatype *type, char *form)) {
  CALL("MPI_File_get_view");
  OUT(disp), OUT(unit), OUT(type);
  const struct file *of = file_get(file);
  text_out(form, of->is_external ? EXTERNAL : NATIVE);
  *disp = (MPI_Offset)of->from;
  *unit = handle_of(of->unit_handle, of->unit);
  *type = handle_of(of->type_handle, of->type);
  return MPI_SUCCESS;
}

FUNCTION(File_set_atomicity, (MPI_File file, int flag)) {
  CALL("MPI_File_set_atomicity");
  struct file *of = file_get(file);
  meet(of);
  of->is_atomic = flag != 0;
  return MPI_SUCCESS;
}

FUNCTION(File_get_atomicity, (MPI_File file, int *flag)) {
  CALL("MPI_File_get_atomicity");
  OUT(flag);
  *flag = file_get(file)->is_atomic;
  return MPI_SUCCESS;
}

FUNCTION(File_sync, (MPI_File file)) {
  CALL("MPI_File_sync");
  struct file *of = file_get(file);
  collective_meet(of->comm, call.name);
  file_records_complete(of);
  return MPI_SUCCESS;
}
