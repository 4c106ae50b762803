/* Windows: how they are made and freed, and their two copies. */
#include "calls.h"
#include "windows.h"

#include <limits.h>

struct window **windows;
size_t count_of_windows;

struct window *window_of(MPI_Win win) {
  if (win == MPI_WIN_NULL) fail("invalid window", "the window is MPI_WIN_NULL");
  struct window *found = (struct window *)handle_get(WIN, win);
  if (!found) fail("invalid window", "%p is no window", (void *)win);
  if (found->object.is_freed) fail("invalid window", "the window made at {@%lx} was freed", found->object.made_at);
  return found;
}

void window_check_rank(const struct window *window, int rank) {
  if (rank < 0 || rank >= window->comm->group->size)
    fail("invalid rank", "the target is %d, but the window has %d ranks", rank, window->comm->group->size);
}

struct bytes *window_question(char form) {
  struct bytes *to = question('O');
  put_u8(to, (uint8_t)form);
  return to;
}

static uint32_t ask_lock(char form, const char *name, uint32_t request) {
  struct bytes *to = window_question(form);
  put_text(to, name);
  put_u32(to, request);
  return ask_posted();
}

void window_ask(char form, const struct window *window, int target, const char *kind, long number, uint32_t *request) {
  char *name = text_of("%s %s/%d/%ld", kind, window->name, target, number);
  bool is_release = form == 'x' || form == 'u';
  if (!is_release) *request = ask_lock(form, name, 0), form = form == 'l' ? 'm' : 'W', thread_will_wait();
  ask_lock(form, name, *request);
  release(name);
}

void put_store(struct bytes *to, char kind, uint64_t place, const void *data, size_t length) {
  put_u8(to, (uint8_t)kind);
  put_u64(to, place);
  put_block(to, data, length);
}

/* Adds the program's changes of its memory: all of it while the window is made, and later only the
 * bytes that it has changed. */
static void put_stores(struct bytes *to, const struct window *window, struct mapped *mapped) {
  size_t size = mapped->size;
  const uint8_t *private = mapped->private;
  if (size == 0 || memcmp(private, mapped->snapshot, size) == 0) return;
  if (!window->is_made) put_store(to, 'w', mapped->from, private, size);
  for (size_t from = 0, behind; window->is_made && from < size; from = behind) {
    behind = from + 1;
    if (private[from] == mapped->snapshot[from]) continue;
    while (behind < size && private[behind] != mapped->snapshot[behind]) behind++;
    put_store(to, 'w', mapped->from + from, private + from, behind - from);
  }
  memcpy(mapped->snapshot, private, size);
}

void window_publish(struct window *window) {
  for (size_t i = 0; i < window->count_of_mapped; i++) {
    struct bytes stores = {0};
    put_stores(&stores, window, &window->mapped[i]);
    if (stores.length > 0) changes_add(window, window->mapped[i].target, PLAIN, false, &stores);
    release(stores.at);
  }
}

/* Copies changes of others to the program's memory, unless the program has written the same place
 * itself. */
static void pull(struct window *window, struct mapped *mapped) {
  if (mapped->size == 0) return;
  size_t known = changes_count(window, mapped->target);
  if (known == mapped->pulled) return;
  mapped->pulled = known;
  const struct copy *copy = changes_content(window, mapped->target);
  const uint8_t *public = copy_at(window, copy, (struct span){mapped->from, mapped->from + mapped->size});
  for (size_t i = 0; i < mapped->size; i++) {
    if (public[i] == mapped->snapshot[i]) continue;
    if (mapped->private[i] == mapped->snapshot[i]) mapped->private[i] = public[i];
    mapped->snapshot[i] = public[i];
  }
}

void window_pull(struct window *window) {
  for (size_t i = 0; i < window->count_of_mapped; i++) pull(window, &window->mapped[i]);
}

#define EACH_WINDOW(each)                       \
  for (size_t w = 0; w < count_of_windows; w++) \
    for (struct window *each = windows[w]; each && !each->object.is_freed; each = NULL)

void windows_publish(void) {
  EACH_WINDOW(window) {
    window->is_known = true;
    window_publish(window);
  }
}

void windows_pull(void) {
  EACH_WINDOW(window) {
    window->is_known = true;
    window_pull(window);
  }
}

void window_check_size(MPI_Aint size, MPI_Aint unit) {
  if (size < 0) fail("invalid argument", "the size is %ld", (long)size);
  if (unit <= 0) fail("invalid argument", "the displacement unit is %ld", (long)unit);
  if (unit > INT_MAX) fail("unsupported", "the displacement unit is %ld", (long)unit);
}

void window_check_base(const void *base, MPI_Aint size, MPI_Aint unit) {
  window_check_size(size, unit);
  if (size > 0 && !base) fail("invalid buffer", "the memory of the window is a null pointer");
  if (size > 0 && is_beyond_heap(base, (size_t)size))
    fail("invalid buffer", "the window has %ld bytes, but its piece of the heap has less", (long)size);
}

struct window *window_new(MPI_Aint size, MPI_Aint unit, MPI_Comm comm, int flavor) {
  struct comm *in = comm_get_intra(comm);
  for (int i = 0; i < in->group->size; i++)
    if (in->group->ranks[i] - world_base < 0 || in->group->ranks[i] - world_base >= world_size)
      fail("unsupported", "%s makes a window of processes of which some were spawned and others were not", call.name);
  struct window *made = allocate(sizeof *made);
  size_t ranks = (size_t)in->group->size;
  if (ranks > 1) file_use(SHARING_MEMORY, "");
  made->comm = in;
  made->errhandler = MPI_ERRORS_ARE_FATAL;
  made->flavor = flavor;
  made->name = text_of("%s/%u", in->name, in->made++);
  made->sides = allocate(ranks * sizeof *made->sides);
  made->sides[in->rank] = (struct side){(size_t)size, (int)unit};
  made->holds = allocate(ranks * sizeof *made->holds);
  made->choices = allocate(ranks * sizeof *made->choices);
  made->sharings = allocate(ranks * sizeof *made->sharings);
  made->locks = allocate(ranks * ranks * sizeof *made->locks);
  made->exposures = allocate(ranks * sizeof *made->exposures);
  made->epochs = allocate(ranks * sizeof *made->epochs);
  made->posts = allocate(ranks * sizeof *made->posts);
  made->are_exposed = allocate(ranks * sizeof *made->are_exposed);
  made->copies = allocate(ranks * sizeof *made->copies);
  made->are_contended = allocate(ranks * sizeof *made->are_contended);
  made->opened_at = call.site;
  windows = grow(windows, (count_of_windows + 1) * sizeof *windows);
  return windows[count_of_windows++] = made;
}

/* Through the other window, ranks would see at other times what is changed through this one. */
static void check_apart(const struct window *window, uintptr_t from, size_t size) {
  EACH_WINDOW(other) {
    for (size_t i = 0; other != window && other->flavor == MPI_WIN_FLAVOR_SHARED && i < other->count_of_mapped; i++) {
      uintptr_t start = (uintptr_t)other->mapped[i].private;
      if (from < start + other->mapped[i].size && start < from + size)
        fail("unsupported", "a window of memory that ranks share, in the window made at {@%lx}", other->object.made_at);
    }
  }
}

struct mapped *window_map(struct window *window, int target, uint64_t from, void *private, size_t size) {
  check_apart(window, (uintptr_t)private, size);
  window->mapped = grow(window->mapped, (window->count_of_mapped + 1) * sizeof *window->mapped);
  struct mapped *made = &window->mapped[window->count_of_mapped++];
  *made = (struct mapped){target, from, private, allocate(size), size, 0, call.site};
  memory_watch(private, size);
  return made;
}

void window_meet(struct window *window) {
  struct side *own = &window->sides[window->comm->rank];
  struct bytes given = {0};
  put_u64(&given, own->size);
  put_u32(&given, (uint32_t)own->unit);
  struct contributions all = exchange(window->comm, call.name, &given);
  release(given.at);
  for (int rank = 0; rank < window->comm->group->size; rank++) {
    struct reader said = *contribution(&all, rank);
    window->sides[rank].size = take_u64(&said);
    window->sides[rank].unit = (int)take_u32(&said);
  }
  window->is_known = false;
  window->is_made = true;
}

int window_make(void *base, MPI_Aint size, MPI_Aint unit, MPI_Comm comm, int flavor, MPI_Win *win) {
  OUT(win);
  struct window *made = window_new(size, unit, comm, flavor);
  made->base = base;
  if (flavor == MPI_WIN_FLAVOR_ALLOCATE) made->allocated = base;
  window_map(made, made->comm->rank, 0, base, (size_t)size);
  window_meet(made);
  *win = (MPI_Win)handle_new(WIN, &made->object);
  return MPI_SUCCESS;
}

static void check_closed(const struct window *window) {
  for (size_t i = 0; i < window->length; i++)
    fail("missing epoch", "nothing completes the %s at {@%lx}", window->operations[i].name, window->operations[i].site);
  for (int rank = 0; rank < window->comm->group->size; rank++)
    if (window->holds[rank] != FREE) fail("missing epoch", "the epoch of {@%lx} is never closed", window->opened_at);
  if (window->exposed) fail("missing epoch", "the epoch of {@%lx} is never closed", window->opened_at);
}

FUNCTION(Win_free, (MPI_Win *win)) {
  CALL("MPI_Win_free");
  struct window *freed = window_of(*OUT(win));
  check_closed(freed);
  int code = attributes_remove(&freed->object, *win);
  if (code != MPI_SUCCESS) return code;
  records_exchange(freed);
  window_pull(freed);
  freed->object.is_freed = true;
  if (freed->allocated) heap_free(freed->allocated, call.site);
  *OUT(win) = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

void windows_check_gone(uintptr_t from, uintptr_t to, uintptr_t site, const char *how) {
  EACH_WINDOW(window) {
    for (size_t i = 0; i < window->count_of_mapped; i++) {
      const struct mapped *mapped = &window->mapped[i];
      uintptr_t base = (uintptr_t)mapped->private;
      bool is_there = base < to && from < base + mapped->size && !window->allocated && !env_is_over();
      if (is_there && window->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        fail_at(site, "invalid buffer", "the program %s before it detaches what it attached at {@%lx}", how, mapped->attached_at);
      if (is_there)
        fail_at(site, "invalid buffer", "the program %s before it frees the window made at {@%lx}", how, window->object.made_at);
    }
  }
}

/* Windows that are left are leaks; for a window with an open epoch, the epoch is the mistake. All
 * ranks of such a window meet once more, to compare their accesses. */
void windows_check_end(void) {
  EACH_WINDOW(window) check_closed(window);
  EACH_WINDOW(window) records_exchange(window);
}

/* A rank that synchronizes again and again, and asks for nothing, waits for a store. */
static void wait_check(struct window *window) {
  enum { MOST = 10000 };
  if (window->asked != questions_asked) window->times_synchronized = 0;
  window->asked = questions_asked;
  if (++window->times_synchronized > MOST)
    fail("unsupported", "the rank waits in a loop until another one changes the memory of a window");
}

FUNCTION(Win_sync, (MPI_Win win)) {
  CALL("MPI_Win_sync");
  struct window *window = window_of(win);
  wait_check(window);
  window_publish(window);
  window_pull(window);
  return MPI_SUCCESS;
}

FUNCTION(Win_get_group, (MPI_Win win, MPI_Group *group)) {
  CALL("MPI_Win_get_group");
  *OUT(group) = comm_group(window_of(win)->comm);
  return MPI_SUCCESS;
}

FUNCTION(Win_get_attr, (MPI_Win win, int key, void *value, int *flag)) {
  CALL("MPI_Win_get_attr");
  static int model = MPI_WIN_UNIFIED;
  struct window *window = window_of(win);
  struct side *side = &window->sides[window->comm->rank];
  OUT((void **)value);
  *OUT(flag) = 1;
  switch (key) {
    case MPI_WIN_BASE: *(void **)value = window->base; break;
    case MPI_WIN_SIZE: *(size_t **)value = &side->size; break;
    case MPI_WIN_DISP_UNIT: *(int **)value = &side->unit; break;
    case MPI_WIN_CREATE_FLAVOR: *(int **)value = &window->flavor; break;
    case MPI_WIN_MODEL: *(int **)value = &model; break;
    default: *OUT(flag) = attribute_get(&window->object, key, value);
  }
  return MPI_SUCCESS;
}

FUNCTION(Win_set_name, (MPI_Win win, const char *name)) {
  CALL("MPI_Win_set_name");
  object_set_name(&window_of(win)->object, name);
  return MPI_SUCCESS;
}

FUNCTION(Win_get_name, (MPI_Win win, char *name, int *length)) {
  CALL("MPI_Win_get_name");
  *OUT(length) = text_out(name, win == MPI_WIN_NULL ? "MPI_WIN_NULL" : object_name(&window_of(win)->object));
  return MPI_SUCCESS;
}

FUNCTION(Win_set_info, (MPI_Win win, MPI_Info info)) {
  CALL("MPI_Win_set_info");
  collective_meet(window_of(win)->comm, call.name);
  (void)info;
  return MPI_SUCCESS;
}

FUNCTION(Win_get_info, (MPI_Win win, MPI_Info *info)) {
  CALL("MPI_Win_get_info");
  window_of(win);
  *OUT(info) = info_new();
  return MPI_SUCCESS;
}
