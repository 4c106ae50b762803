/* Accesses to files of MPI that conflict.
 *
 * Each rank records what it reads and writes, with its vector clock (conflicts.c). When all ranks
 * meet in MPI_Finalize, they compare their records: two accesses of different ranks to one byte, of
 * which one is a write, are a mistake unless one comes before the other. (It is none that several
 * ranks create a file that may be there already: it is there in any order.) A read comes before what
 * other ranks do once it has returned its data. A write does so only after MPI_File_sync or
 * MPI_File_close (MPI 4.1, 14.6.1). In atomic mode it does at once, and accesses may be concurrent:
 * io_atomic.c orders those that end at once. When the others act is not explored, so where nothing
 * orders them the search ends undecided. */
#include "io.h"

struct record {
  const char *path;
  const struct file *by; /* of a write: NULL once it is complete */
  uint32_t owner;        /* the operation, or 0 once that has ended */
  bool is_write, is_atomic;
  bool is_lasting; /* it does not end at once */
  bool is_own;     /* without MPI: io_own.c */
  bool is_open;    /* it opens the file, and does the same if others create that before */
  struct spans spans;
  const char *name;
  uintptr_t site;
  uint32_t completed, *clock;
};
enum { NEVER = UINT32_MAX };

static struct record *records;
static size_t count, room;
static size_t compared; /* all before this one are */

void file_records_add(const struct content *content, const struct file *by, uint32_t owner, bool is_write, struct spans spans) {
  if (spans.count == 0) return;
  if (count == room) {
    room = 2 * room + 16;
    records = grow(records, room * sizeof *records);
  }
  bool is_atomic = by && by->is_atomic;
  struct record *made = &records[count++];
  *made = (struct record){.path = content->path, .is_write = is_write, .is_atomic = is_atomic, .is_lasting = owner != 0,
                          .spans = spans, .name = call.name, .site = call.site, .completed = NEVER, .clock = clock_copy()};
  if (is_write && !is_atomic) made->by = by;
  made->owner = owner;
  /* What comes later has a later time. */
  uint32_t now = clock_tick();
  if (!made->by && owner == 0) made->completed = now;
}

void file_records_add_open(const struct content *content, bool creates, bool is_any_fine, struct spans spans) {
  file_records_add(content, NULL, 0, creates, spans);
  records[count - 1].is_open = is_any_fine;
}

static bool is_own_of(const struct record *record, const struct content *content) {
  return record->is_own && record->completed == NEVER && strcmp(record->path, content->path) == 0;
}

void file_records_add_own(const struct content *content, bool is_write, uintptr_t site) {
  for (size_t i = 0; i < count; i++)
    if (is_own_of(&records[i], content) && records[i].is_write == is_write) return;
  struct span all = {0, UINT64_MAX};
  struct spans spans = {1, memcpy(allocate(sizeof all), &all, sizeof all)};
  file_records_add(content, NULL, 0, is_write, spans);
  struct record *made = &records[count - 1];
  made->is_own = true;
  made->name = "a use without MPI";
  made->completed = NEVER;
  if (site == 0) memset(made->clock, 0, (size_t)world_size * sizeof *made->clock);
}

bool file_records_have_own(const struct content *content) {
  bool is_one = false;
  for (size_t i = 0; i < count; i++) is_one |= is_own_of(&records[i], content);
  return is_one;
}

void file_records_complete_own(const struct content *content) {
  uint32_t now = clock_tick();
  for (size_t i = 0; i < count; i++)
    if (is_own_of(&records[i], content)) records[i].completed = now;
}

void file_records_complete(const struct file *by) {
  uint32_t now = clock_tick();
  for (size_t i = 0; i < count; i++) {
    if (records[i].by != by) continue;
    /* Operations have to be complete before (MPI 4.1, 14.6.1). */
    if (records[i].owner) fail("invalid request", "%s at {@%lx} is not complete", records[i].name, records[i].site);
    records[i].by = NULL;
    records[i].completed = now;
  }
}

void file_records_disown(uint32_t owner) {
  for (size_t i = 0; i < count; i++) {
    if (owner == 0 || records[i].owner != owner) continue;
    records[i].owner = 0;
    if (!records[i].by) records[i].completed = clock_tick();
  }
}

void file_records_put(struct bytes *to) {
  for (size_t i = 0; i < count; i++) {
    const struct record *record = &records[i];
    put_text(to, record->path);
    put_u8(to, record->is_write);
    put_u8(to, record->is_atomic);
    put_u8(to, record->is_lasting);
    put_u8(to, record->is_own);
    put_u8(to, record->is_open);
    put_block(to, record->spans.span, record->spans.count * sizeof *record->spans.span);
    put_text(to, record->name);
    put_site(to, record->site);
    put_u32(to, record->completed);
    put_block(to, record->clock, (size_t)world_size * sizeof *record->clock);
  }
}

static const char *take_name(struct reader *from) {
  struct reader name = take_block(from);
  return text_of("%.*s", (int)(name.end - name.at), (const char *)name.at);
}

static struct record take_record(struct reader *from) {
  struct record taken = {.path = take_name(from)};
  taken.is_write = take_u8(from);
  taken.is_atomic = take_u8(from);
  taken.is_lasting = take_u8(from);
  taken.is_own = take_u8(from);
  taken.is_open = take_u8(from);
  struct reader spans = take_block(from);
  taken.spans = (struct spans){(size_t)(spans.end - spans.at) / sizeof *taken.spans.span, (struct span *)spans.at};
  taken.name = take_name(from);
  taken.site = take_u64(from);
  taken.completed = take_u32(from);
  taken.clock = (uint32_t *)take_block(from).at;
  return taken;
}

static struct span span_of(const struct spans *spans, size_t index) {
  struct span span;
  memcpy(&span, (const uint8_t *)spans->span + index * sizeof span, sizeof span);
  return span;
}

static bool do_overlap(const struct spans *a, const struct spans *b) {
  for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
    struct span one = span_of(a, i), other = span_of(b, j);
    if (one.from < other.to && other.from < one.to) return true;
    if (one.to <= other.to) i++;
    else j++;
  }
  return false;
}

static uint32_t time_of(const struct record *record, int rank) {
  uint32_t time;
  memcpy(&time, (const uint8_t *)record->clock + (size_t)rank * sizeof time, sizeof time);
  return time;
}

/* Whether an access by this rank of the world comes before another one; whether it would if the
 * file had been synchronized. */
static bool is_before(const struct record *one, int rank, const struct record *other) {
  return one->completed != NEVER && time_of(other, rank) >= one->completed;
}
static bool has_begun_before(const struct record *one, int rank, const struct record *other) {
  return time_of(other, rank) > time_of(one, rank);
}

static void compare(const struct record *own, const struct record *other, int rank) {
  bool are_atomic = own->is_atomic && other->is_atomic, is_either_lasting = own->is_lasting || other->is_lasting;
  bool is_fine = !(own->is_write || other->is_write) || (own->is_open && other->is_open) || (are_atomic && !is_either_lasting) || strcmp(own->path, other->path) != 0 || !do_overlap(&own->spans, &other->spans) ||
                 is_before(own, world_rank, other) || is_before(other, rank, own);
  if (is_fine) return;
  if (own->is_own || other->is_own) {
    const char *where = other->site ? text_of(" at {@%lx}", other->site) : "";
    fail_at(own->site, "unsupported", "%s is used here and by rank %d%s, not always by MPI, and nothing says which is first", own->path, rank,
            where);
  }
  if (are_atomic)
    fail_at(own->site, "unsupported", "when an access in atomic mode acts that does not end at once, here or by rank %d at {@%lx}, is not explored",
            rank, other->site);
  bool are_ordered = has_begun_before(own, world_rank, other) || has_begun_before(other, rank, own);
  const char *lacking = are_ordered ? "no MPI_File_sync or MPI_File_close comes after the first of them" : "nothing orders them";
  fail_at(own->site, "global concurrency", "%s of rank %d at {@%lx} and %s of rank %d at {@%lx} access the same part of %s, and %s",
          own->name, world_rank, own->site, other->name, rank, other->site, own->path, lacking);
}

bool file_records_are_left(void) { return count > compared; }

void file_records_compare(const struct contributions *all) {
  compared = count;
  for (int rank = 0; rank < world_size; rank++) {
    struct reader said = *contribution(all, rank);
    while (rank != world_rank && said.at < said.end) {
      struct record other = take_record(&said);
      for (size_t i = 0; i < count; i++) compare(&records[i], &other, rank);
    }
  }
}
