/* The changes of ranks in windows, and which ranks know them.
 *
 * Each rank keeps lists of its changes, one for each target: operations, and stores by its program.
 * In a dynamic window, that memory is attached or detached is a change, too. A change is written once, to a cell of its own, and only by this rank. So changes of
 * several ranks commute. The number of changes of each list that come before an action of a rank
 * travels with vector clocks, with locks, and with the changes themselves. The rank reads these
 * changes when it needs the content of a part. It does not see any others: a program that could see
 * them has a race, which is reported (conflicts.c).
 *
 * Operations that must see the accumulations on their bytes look for them while they hold locks
 * (grains.c): operations that return the previous value, and those that replace it. These *ordered*
 * operations have a total order where they overlap, and each of them knows a change or does not.
 * What an ordered operation writes is its result: the content of its bytes with all that it knows.
 *
 * The order in which changes act on a byte:
 *
 *   1. A change acts after all changes that it knows.
 *   2. A change that an ordered operation on the byte does not know acts after that one.
 *   3. Otherwise the order does not matter: the changes are accumulations with one operator, or
 *      touch different bytes, or there is a race. It is the same for all ranks, so sums of
 *      floating-point numbers are the same, too.
 *
 * So the changes act in the order of the number of changes that they know, which is rule 1. Where
 * the result of an ordered operation is stored, the changes before it in this order that it does
 * not know act again, on its bytes only. */
#include "windows.h"

struct change {
  const char *window;
  uint32_t writer; /* the owner of the list: see writer_of */
  uint32_t index;  /* in the list */
  bool is_ordered;
  uint32_t *known; /* the changes of each list before it and itself, counted */
  uint64_t weight; /* the sum of these; changes that it knows have less */
  uint32_t *times; /* the times of all ranks before it; zeros if it changes nothing */
  struct reader operations;
};

/* The changes of one target that this rank has read. The first `sorted` are in order. */
struct list {
  size_t count, sorted, room;
  struct change *change;
  uint32_t *read; /* by writer */
  uint32_t version; /* changes when the order of the sorted ones does */
};
static struct list *lists; /* by target, of all ranks */

static int writers(void) { return world_size * LANES; }
static uint32_t writer_of(int world, enum lane lane) { return (uint32_t)(world * LANES) + lane; }

static struct list *list_of(int target) {
  if (!lists) lists = allocate((size_t)world_size * sizeof *lists);
  struct list *list = &lists[target];
  if (!list->read) list->read = allocate((size_t)writers() * sizeof *list->read);
  return list;
}

static bool knows(const struct change *one, const struct change *other) { return one->known[other->writer] > other->index; }

struct bytes cell_read(char *name) {
  put_text(window_question('r'), name);
  release(name);
  struct reader answer = ask();
  struct bytes content = {0};
  if (take_u8(&answer) == 'V' && take_u8(&answer) == 'o') {
    struct reader data = take_block(&answer);
    put(&content, data.at, (size_t)(data.end - data.at));
  }
  return content;
}

void cell_write(char *name, const struct bytes *content) {
  struct bytes *to = window_question('w');
  put_text(to, name);
  put_block(to, content->at, content->length);
  release(name);
  ask();
}

static char *cell_of(int target, uint32_t writer, uint32_t index) {
  return text_of("change %d/%u/%u", target, writer, index);
}

/* Adds a change, given as the content of its cell. */
static void note(int target, uint32_t writer, struct bytes content) {
  struct list *list = list_of(target);
  if (list->count == list->room) {
    list->room = 2 * list->room + 16;
    list->change = grow(list->change, list->room * sizeof *list->change);
  }
  struct reader from = {content.at, content.at + content.length};
  struct change *made = &list->change[list->count++];
  *made = (struct change){.writer = writer, .index = list->read[writer]++};
  struct reader name = take_block(&from);
  made->window = text_of("%.*s", (int)(name.end - name.at), (const char *)name.at);
  made->is_ordered = take_u8(&from);
  struct reader known = take_block(&from);
  size_t row = (size_t)writers() * sizeof *made->known;
  made->known = memcpy(allocate(row), known.at + (size_t)target * row, row);
  for (int i = 0; i < writers(); i++) made->weight += made->known[i];
  struct reader times = take_block(&from);
  made->times = memcpy(allocate((size_t)world_size * sizeof *made->times), times.at, (size_t)(times.end - times.at));
  made->operations = take_block(&from);
  clock_join_changes(0, known);
}

/* Reads the next change of a list. Returns whether there is one. */
static bool take_next(int target, uint32_t writer) {
  struct bytes content = cell_read(cell_of(target, writer, list_of(target)->read[writer]));
  if (content.at) note(target, writer, content);
  return content.at;
}

/* Reads all changes that come before the next action of the rank, and the changes that these
 * know. */
static void read_known(int target) {
  const struct list *list = list_of(target);
  for (bool is_any = true; is_any;) {
    is_any = false;
    for (int writer = 0; writer < writers(); writer++)
      while (list->read[writer] < clock_changes(target)[writer]) {
        if (!take_next(target, (uint32_t)writer)) give_up("a change of a window is missing");
        is_any = true;
      }
  }
}

static int world_of(const struct window *window, int rank) { return window->comm->group->ranks[rank] - world_base; }

void changes_find(const struct window *window, int rank) {
  int target = world_of(window, rank);
  read_known(target);
  for (int world = 0; world < world_size; world++)
    if (world != world_rank)
      while (take_next(target, writer_of(world, ATOMIC))) {}
  read_known(target);
}

const uint32_t *changes_read(const struct window *window, int rank, int by, uint32_t index) {
  int target = world_of(window, rank);
  uint32_t writer = writer_of(world_of(window, by), ATOMIC), *known = &clock_changes(target)[writer];
  if (*known <= index) *known = index + 1;
  read_known(target);
  const struct change *change = list_of(target)->change;
  while (change->writer != writer || change->index != index) change++;
  return change->times;
}

uint32_t changes_add(const struct window *window, int rank, enum lane lane, bool is_ordered, const struct bytes *operations) {
  int target = world_of(window, rank);
  uint32_t writer = writer_of(world_rank, lane), index = clock_changes(target)[writer]++;
  struct bytes content = {0};
  put_text(&content, window->name);
  put_u8(&content, is_ordered);
  clock_put_changes(&content);
  uint32_t *times = clock_copy();
  put_block(&content, times, operations->length > 0 ? (size_t)world_size * sizeof *times : 0);
  release(times);
  put_block(&content, operations->at, operations->length);
  cell_write(cell_of(target, writer, index), &content);
  note(target, writer, content);
  return index;
}

static bool is_before(const struct change *a, const struct change *b) {
  if (a->weight != b->weight) return a->weight < b->weight;
  return a->writer < b->writer;
}

/* Sorts the new changes into the sorted ones. Most are in order already, and qsort would leave data
 * in the program's heap. */
static void sort(struct list *list) {
  size_t lowest = list->count;
  for (size_t i = list->sorted; i < list->count; i++) {
    struct change moved = list->change[i];
    size_t place = i;
    for (; place > 0 && is_before(&moved, &list->change[place - 1]); place--) list->change[place] = list->change[place - 1];
    list->change[place] = moved;
    if (place < lowest) lowest = place;
  }
  list->version += lowest < list->sorted;
  list->sorted = list->count;
}

/* Lets a change act on the content, after those before it in the list. */
static void act_next(const struct window *window, int rank, const struct change *first, const struct change *next, struct copy *copy) {
  operations_act(window, rank, next->operations, copy);
  for (const struct change *change = first; next->is_ordered && change < next; change++)
    if (!knows(next, change) && strcmp(change->window, window->name) == 0)
      operations_act_again(window, rank, change->operations, next->operations, copy);
}

size_t changes_count(const struct window *window, int rank) {
  int target = world_of(window, rank);
  read_known(target);
  return list_of(target)->count;
}

/* Regions are sorted, and their content is in the same order without gaps: so memory that was
 * attached piece by piece is one piece there. */
void copy_attach(struct copy *copy, uint64_t from, uint64_t size) {
  size_t place = 0, offset = 0;
  for (; place < copy->regions && copy->region[place].from < from; place++) offset += copy->region[place].to - copy->region[place].from;
  copy->region = grow(copy->region, (copy->regions + 1) * sizeof *copy->region);
  memmove(&copy->region[place + 1], &copy->region[place], (copy->regions++ - place) * sizeof *copy->region);
  copy->region[place] = (struct span){from, from + size};
  copy->at = grow(copy->at, copy->size + size);
  memmove(copy->at + offset + size, copy->at + offset, copy->size - offset);
  memset(copy->at + offset, 0, size);
  copy->size += size;
}

void copy_detach(struct copy *copy, uint64_t from) {
  size_t place = 0, offset = 0;
  for (; copy->region[place].from != from; place++) offset += copy->region[place].to - copy->region[place].from;
  size_t size = copy->region[place].to - from;
  copy->size -= size;
  memmove(copy->at + offset, copy->at + offset + size, copy->size - offset);
  copy->regions--;
  memmove(&copy->region[place], &copy->region[place + 1], (copy->regions - place) * sizeof *copy->region);
}

uint8_t *copy_at(const struct window *window, const struct copy *copy, struct span range) {
  if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC) return copy->at + range.from;
  size_t place = 0, offset = 0;
  for (; place < copy->regions && copy->region[place].to <= range.from; place++) offset += copy->region[place].to - copy->region[place].from;
  if (place == copy->regions || copy->region[place].from > range.from) return NULL;
  uint8_t *found = copy->at + offset + (range.from - copy->region[place].from);
  while (copy->region[place].to < range.to) {
    uint64_t end = copy->region[place++].to;
    if (place == copy->regions || copy->region[place].from != end) return NULL;
  }
  return found;
}

struct copy *changes_content(struct window *window, int rank) {
  int target = world_of(window, rank);
  struct list *list = list_of(target);
  read_known(target);
  sort(list);
  struct copy *copy = &window->copies[rank];
  if (!copy->at) copy->at = allocate(copy->size = window->sides[rank].size);
  if (copy->version != list->version) {
    if (copy->regions > 0) copy->regions = copy->size = 0;
    memset(copy->at, 0, copy->size);
    copy->acted = 0;
  }
  copy->version = list->version;
  for (; copy->acted < list->count; copy->acted++) {
    const struct change *change = &list->change[copy->acted];
    if (strcmp(change->window, window->name) == 0) act_next(window, rank, list->change, change, copy);
  }
  return copy;
}

bool changes_next(const struct window *window, int rank, struct copy *copy, struct reader *operations, bool *is_anew) {
  int target = world_of(window, rank);
  struct list *list = list_of(target);
  read_known(target);
  sort(list);
  if (copy->version != list->version) copy->acted = 0, *is_anew = true;
  copy->version = list->version;
  while (copy->acted < list->count) {
    const struct change *change = &list->change[copy->acted++];
    if (strcmp(change->window, window->name) == 0) return *operations = change->operations, true;
  }
  return false;
}

uint32_t changes_own(const struct window *window, int rank) {
  const uint32_t *known = clock_changes(world_of(window, rank));
  return known[writer_of(world_rank, PLAIN)] + known[writer_of(world_rank, ATOMIC)];
}

void changes_learn(const struct window *window, int rank, char *cell) {
  struct bytes content = cell_read(cell);
  clock_join_changes(world_of(window, rank), (struct reader){content.at, content.at + content.length});
  release(content.at);
}

void changes_tell(const struct window *window, int rank, char *cell) {
  struct bytes known = {0};
  put(&known, clock_changes(world_of(window, rank)), (size_t)writers() * sizeof(uint32_t));
  cell_write(cell, &known);
  release(known.at);
}
