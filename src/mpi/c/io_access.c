/* Reads and writes of files of MPI, and the pointers where they begin. */
#include "io.h"

#include "collectives.h"
#include "represent.h"

/* A place in the data of a view: of the pieces of its type, the bytes that come first are the first
 * ones. Calls `each` with the parts of the file in which `length` bytes from `at` on are. */
static void each_part(const struct file *file, uint64_t at, uint64_t length, void each(void *, struct span), void *with) {
  const struct type *type = file->type;
  if (type->size == 0) return;
  uint64_t turn = at / type->size, skipped = at % type->size;
  for (; length > 0; turn++)
    for (size_t p = 0; p < type->pieces && length > 0; p++) {
      const struct piece *piece = &type->piece[p];
      uint64_t size = piece->run.count * basic_size(piece->run.basic);
      if (skipped >= size) {
        skipped -= size;
        continue;
      }
      uint64_t here = size - skipped < length ? size - skipped : length;
      uint64_t from = file->from + turn * (uint64_t)type->extent + (uint64_t)piece->at + skipped;
      each(with, (struct span){from, from + here});
      length -= here;
      skipped = 0;
    }
}

/* The parts as a list, where neighbours are joined. */
struct parts_list {
  struct spans spans;
  size_t room;
};
static void add_part(void *to, struct span part) {
  struct parts_list *list = to;
  struct spans *spans = &list->spans;
  if (spans->count > 0 && spans->span[spans->count - 1].to == part.from) {
    spans->span[spans->count - 1].to = part.to;
    return;
  }
  if (spans->count == list->room) {
    list->room = 2 * list->room + 2;
    spans->span = grow(spans->span, list->room * sizeof *spans->span);
  }
  spans->span[spans->count++] = part;
}
static struct spans parts_of(const struct file *file, uint64_t at, uint64_t length) {
  struct parts_list list = {0};
  each_part(file, at, length, add_part, &list);
  return list.spans;
}

/* The byte of the file at this place of the data. */
static void keep_first(void *to, struct span part) { *(uint64_t *)to = part.from; }
static uint64_t byte_at(const struct file *file, uint64_t at) {
  uint64_t found = file->from;
  each_part(file, at, 1, keep_first, &found);
  return found;
}

/* The number of units of the view that begin within a file of this size. */
static uint64_t units_in(const struct file *file, uint64_t size) {
  uint64_t low = 0, high = size + 1;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (byte_at(file, middle * file->unit->size) < size) low = middle + 1;
    else high = middle;
  }
  return low;
}

struct transfer file_prepare(const struct file *file, enum way way, const void *buffer, MPI_Count count, MPI_Datatype type) {
  check_count(count);
  struct transfer made = {.way = way, .buffer = (void *)buffer, .count = (size_t)count, .type = type_for(type, "datatype")};
  if (way == READ ? file->mode & MPI_MODE_WRONLY : file->mode & MPI_MODE_RDONLY)
    fail("invalid argument", "the file opened at {@%lx} is %s", file->object.made_at, way == READ ? "only written" : "only read");
  if (made.type->size % file->unit->size != 0)
    fail("invalid datatype", "the datatype has %zu bytes, which are not a number of units of %zu", made.type->size, file->unit->size);
  if (file->is_external) external_check(made.type);
  return made;
}

static uint64_t units_of(const struct file *file, const struct transfer *transfer) {
  return transfer->count * transfer->type->size / file->unit->size;
}

/* In atomic mode, what does not end at once takes no locks: see io_records.c. */
static bool is_locked(const struct file *file, const struct transfer *transfer) { return file->is_atomic && !transfer->owned; }

static size_t write_at(struct file *file, const struct transfer *transfer, struct spans parts) {
  struct bytes data = {0};
  pack(&data, transfer->buffer, transfer->count, transfer->type);
  if (file->is_external) external_turn(data.at, data.length, transfer->type);
  struct held held;
  if (is_locked(file, transfer)) held = file_hold(file->of, WRITE, parts, false);
  file_records_add(file->of, file, transfer->owned, true, parts);
  content_write(file->of, parts, data.at);
  if (is_locked(file, transfer)) file_let_go(&held);
  release(data.at);
  return data.length;
}

/* Whether not all of these parts are in the file. */
static bool is_short(const struct content *content, struct spans parts) {
  return parts.count > 0 && parts.span[parts.count - 1].to > content->size;
}

/* Ends at the end of the file. Whether that is reached is known only after the read. */
static size_t read_at(struct file *file, const struct transfer *transfer, struct spans parts) {
  struct content *of = file->of;
  struct held held;
  if (is_locked(file, transfer)) held = file_hold(of, READ, parts, false);
  content_now(of);
  if (is_locked(file, transfer) && is_short(of, parts)) {
    file_let_go(&held);
    held = file_hold(of, READ, parts, true);
    content_now(of);
  }
  file_records_add(of, file, transfer->owned, false, parts);
  if (is_short(of, parts)) file_records_add(of, file, transfer->owned, false, content_end(of->size));
  if (is_locked(file, transfer)) file_let_go(&held);
  struct bytes data = {0};
  for (size_t i = 0; i < parts.count; i++) {
    uint64_t end = parts.span[i].to < of->size ? parts.span[i].to : of->size;
    if (end > parts.span[i].from) put(&data, of->copy.at + parts.span[i].from, (size_t)(end - parts.span[i].from));
    if (end < parts.span[i].to) break;
  }
  if (file->is_external) external_turn(data.at, data.length, transfer->type);
  unpack(transfer->buffer, data.at, data.length, transfer->type);
  release(data.at);
  return data.length;
}

/* Reads or writes from this unit of the view on. */
static size_t carry_out(struct file *file, uint64_t at, const struct transfer *transfer) {
  size_t unit = file->unit->size;
  struct spans parts = parts_of(file, at * unit, transfer->count * transfer->type->size);
  size_t bytes = transfer->way == WRITE ? write_at(file, transfer, parts) : read_at(file, transfer, parts);
  if (transfer->moves_own) file->position = at + (bytes + unit - 1) / unit;
  return bytes;
}

static enum access of_memory(enum way way) { return way == WRITE ? READS : WRITES; }

static void tell(MPI_Status *status, size_t bytes) {
  if (status) status_set(OUT(status), MPI_ANY_SOURCE, MPI_ANY_TAG, bytes);
}

int file_at_once(struct file *file, uint64_t at, const struct transfer *transfer, MPI_Status *status) {
  if (status) OUT(status);
  memory_use_values(transfer->buffer, transfer->count, transfer->type, of_memory(transfer->way), "the buffer");
  tell(status, carry_out(file, at, transfer));
  return MPI_SUCCESS;
}

static uint32_t own(const struct transfer *transfer) {
  check_buffer(transfer->buffer, transfer->count, transfer->type, "the buffer");
  check_memory(transfer->buffer, transfer->buffer, transfer->count, transfer->type, "the buffer");
  return memory_own(transfer->buffer, transfer->count, transfer->type, transfer->way == WRITE ? READS : READS | WRITES);
}

int file_with_request(struct file *file, uint64_t at, struct transfer *transfer, MPI_Request *handle) {
  OUT(handle);
  transfer->owned = own(transfer);
  *handle = request_new('f');
  struct request *request = request_get(*handle);
  request->owned = transfer->owned;
  status_set(&request->status, MPI_ANY_SOURCE, MPI_ANY_TAG, carry_out(file, at, transfer));
  return MPI_SUCCESS;
}

int file_begin(struct file *file, uint64_t at, struct transfer *transfer) {
  if (file->split.name) fail("invalid argument", "%s is not ended", file->split.name);
  file->split.owned = transfer->owned = own(transfer);
  size_t length = strlen(call.name);
  bool is_large = length > 2 && strcmp(call.name + length - 2, "_c") == 0;
  file->split.name = text_of("%.*s", (int)(is_large ? length - 2 : length), call.name);
  file->split.buffer = transfer->buffer;
  status_set(&file->split.status, MPI_ANY_SOURCE, MPI_ANY_TAG, carry_out(file, at, transfer));
  return MPI_SUCCESS;
}

int file_end(MPI_File handle, const void *buffer, MPI_Status *status, const char *first) {
  struct file *file = file_get(handle);
  if (status) OUT(status);
  if (!file->split.name || strcmp(file->split.name, first) != 0) fail("invalid argument", "there is no %s that it ends", first);
  if (file->split.buffer != buffer) fail("invalid buffer", "the buffer is not that of %s", first);
  memory_release(file->split.owned);
  file->split.name = NULL;
  if (status) *status = file->split.status;
  return MPI_SUCCESS;
}

uint64_t file_at_place(const struct file *file, MPI_Offset at) {
  if (at < 0) fail("invalid argument", "the place is %ld", (long)at);
  if (file->mode & MPI_MODE_SEQUENTIAL) fail("invalid argument", "the file opened at {@%lx} is sequential", file->object.made_at);
  return (uint64_t)at;
}

uint64_t file_at_own(const struct file *file, struct transfer *transfer) {
  if (file->mode & MPI_MODE_SEQUENTIAL) fail("invalid argument", "the file opened at {@%lx} is sequential", file->object.made_at);
  transfer->moves_own = true;
  return file->position;
}

static char *shared_name(const struct file *file) { return text_of("pointer %s", file->comm->name); }

static const struct window *shared_window(const struct file *file, struct window *made) {
  *made = (struct window){.name = file->comm->name};
  return made;
}

uint64_t file_shared_lock(struct file *file, uint32_t *lock) {
  struct window window;
  window_ask('l', shared_window(file, &window), 0, "pointer", 0, lock);
  struct bytes content = cell_read(shared_name(file));
  struct reader from = {content.at, content.at + content.length};
  uint64_t position = content.at ? take_u64(&from) : 0;
  release(content.at);
  return position;
}

void file_shared_unlock(struct file *file, uint32_t lock, uint64_t position) {
  struct bytes content = {0};
  put_u64(&content, position);
  cell_write(shared_name(file), &content);
  release(content.at);
  struct window window;
  window_ask('u', shared_window(file, &window), 0, "pointer", 0, &lock);
}

uint64_t file_at_shared(struct file *file, const struct transfer *transfer) {
  /* Nobody notices how nothing is read or written. */
  if (units_of(file, transfer) == 0) return 0;
  uint32_t lock;
  uint64_t at = file_shared_lock(file, &lock);
  file_shared_unlock(file, lock, at + units_of(file, transfer));
  return at;
}

/* The first rank looks at the shared pointer, moves it by this, and tells all where it was. */
static uint64_t shared_for_all(struct file *file, uint64_t move) {
  struct bytes told = {0};
  if (file->comm->rank == 0) {
    uint32_t lock;
    uint64_t at = file_shared_lock(file, &lock);
    file_shared_unlock(file, lock, at + move);
    put_u64(&told, at);
  }
  struct contributions all = exchange(file->comm, call.name, &told);
  release(told.at);
  struct reader said = *contribution(&all, 0);
  return take_u64(&said);
}

uint64_t file_shared_byte(struct file *file) { return byte_at(file, shared_for_all(file, 0) * file->unit->size); }

uint64_t file_in_order(struct file *file, const struct transfer *transfer) {
  struct bytes given = {0};
  put_u64(&given, units_of(file, transfer));
  struct contributions all = exchange(file->comm, call.name, &given);
  release(given.at);
  uint64_t before = 0, sum = 0;
  for (int rank = 0; rank < file->comm->group->size; rank++) {
    struct reader said = *contribution(&all, rank);
    uint64_t units = take_u64(&said);
    if (rank < file->comm->rank) before += units;
    sum += units;
  }
  return shared_for_all(file, sum) + before;
}

/* The place at this distance from the start, from a pointer, or from the end. */
static uint64_t sought(struct file *file, MPI_Offset offset, int whence, uint64_t pointer) {
  uint64_t base = 0;
  switch (whence) {
    case MPI_SEEK_SET: break;
    case MPI_SEEK_CUR: base = pointer; break;
    case MPI_SEEK_END: base = units_in(file, file_size(file)); break;
    default: fail("invalid argument", "%d is no way to seek", whence);
  }
  if ((MPI_Offset)base + offset < 0) fail("invalid argument", "the place is before the file");
  return base + (uint64_t)offset;
}

FUNCTION(File_seek, (MPI_File file, MPI_Offset offset, int whence)) {
  CALL("MPI_File_seek");
  struct file *of = file_get(file);
  if (of->mode & MPI_MODE_SEQUENTIAL) fail("invalid argument", "the file opened at {@%lx} is sequential", of->object.made_at);
  of->position = sought(of, offset, whence, of->position);
  return MPI_SUCCESS;
}

FUNCTION(File_get_position, (MPI_File file, MPI_Offset *at)) {
  CALL("MPI_File_get_position");
  OUT(at);
  *at = (MPI_Offset)file_get(file)->position;
  return MPI_SUCCESS;
}

FUNCTION(File_get_byte_offset, (MPI_File file, MPI_Offset at, MPI_Offset *disp)) {
  CALL("MPI_File_get_byte_offset");
  OUT(disp);
  const struct file *of = file_get(file);
  *disp = (MPI_Offset)byte_at(of, file_at_place(of, at) * of->unit->size);
  return MPI_SUCCESS;
}

/* All ranks move the pointer that they share. */
FUNCTION(File_seek_shared, (MPI_File file, MPI_Offset at, int whence)) {
  CALL("MPI_File_seek_shared");
  struct file *of = file_get(file);
  struct bytes given = {0};
  put_u64(&given, (uint64_t)at);
  put_i32(&given, whence);
  struct contributions all = exchange(of->comm, call.name, &given);
  release(given.at);
  for (int rank = 0; rank < of->comm->group->size; rank++) {
    struct reader said = *contribution(&all, rank);
    bool is_same = take_u64(&said) == (uint64_t)at;
    if (!is_same || take_i32(&said) != whence) fail("invalid argument", "the place differs from that of rank %d", rank);
  }
  if (of->comm->rank == 0) {
    uint32_t lock;
    uint64_t now = file_shared_lock(of, &lock);
    file_shared_unlock(of, lock, sought(of, at, whence, now));
  }
  struct bytes nothing = {0};
  exchange(of->comm, call.name, &nothing);
  return MPI_SUCCESS;
}

FUNCTION(File_get_position_shared, (MPI_File file, MPI_Offset *at)) {
  CALL("MPI_File_get_position_shared");
  OUT(at);
  struct file *of = file_get(file);
  uint32_t lock;
  uint64_t found = file_shared_lock(of, &lock);
  file_shared_unlock(of, lock, found);
  *at = (MPI_Offset)found;
  return MPI_SUCCESS;
}

#define SECOND_HALF(name, data)                                     \
  FUNCTION(name##_end, (MPI_File file, data, MPI_Status *status)) { \
    CALL("MPI_" #name "_end");                                      \
    return file_end(file, buf, status, "MPI_" #name "_begin");           \
  }
SECOND_HALF(File_read_all, void *buf)
SECOND_HALF(File_read_at_all, void *buf)
SECOND_HALF(File_read_ordered, void *buf)
SECOND_HALF(File_write_all, const void *buf)
SECOND_HALF(File_write_at_all, const void *buf)
SECOND_HALF(File_write_ordered, const void *buf)
