/* Windows: how they are made and freed, and their two copies. */
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
  if (!is_release) *request = ask_lock(form, name, 0), form = form == 'l' ? 'm' : 'W';
  ask_lock(form, name, *request);
  release(name);
}

static size_t own_size(const struct window *window) { return window->sides[window->comm->rank].size; }

void put_store(struct bytes *to, const uint8_t *part, size_t from, size_t behind) {
  put_u8(to, 'w');
  put_u64(to, from);
  put_block(to, part + from, behind - from);
}

/* Publishes the program's changes of its memory: all of it while the window is made, and later only
 * the bytes that it has changed. */
static void publish(struct window *window) {
  size_t size = own_size(window);
  const uint8_t *private = window->base;
  if (size == 0 || memcmp(private, window->snapshot, size) == 0) return;
  struct bytes stores = {0};
  if (!window->is_made) put_store(&stores, private, 0, size);
  for (size_t from = 0, to; window->is_made && from < size; from = to) {
    to = from + 1;
    if (private[from] == window->snapshot[from]) continue;
    while (to < size && private[to] != window->snapshot[to]) to++;
    put_store(&stores, private, from, to);
  }
  memcpy(window->snapshot, private, size);
  changes_add(window, window->comm->rank, PLAIN, false, &stores);
  release(stores.at);
}

/* Copies changes of others to the program's memory, unless the program has written the same place
 * itself. */
static void pull(struct window *window) {
  size_t size = own_size(window);
  uint8_t *private = window->base;
  if (size == 0) return;
  size_t known = changes_count(window, window->comm->rank);
  if (known == window->pulled) return;
  window->pulled = known;
  const uint8_t *public = changes_content(window, window->comm->rank);
  for (size_t i = 0; i < size; i++) {
    if (public[i] == window->snapshot[i]) continue;
    if (private[i] == window->snapshot[i]) private[i] = public[i];
    window->snapshot[i] = public[i];
  }
}

#define EACH_WINDOW(window)                        \
  for (size_t w = 0; w < count_of_windows; w++)    \
    for (struct window *window = windows[w]; window && !window->object.is_freed; window = NULL)

void windows_publish(void) {
  EACH_WINDOW(window) {
    window->is_shared = true;
    publish(window);
  }
}

void windows_pull(void) {
  EACH_WINDOW(window) {
    window->is_shared = true;
    pull(window);
  }
}

void window_check_base(const void *base, MPI_Aint size, MPI_Aint unit) {
  if (size < 0) fail("invalid argument", "the size is %ld", (long)size);
  if (unit <= 0) fail("invalid argument", "the displacement unit is %ld", (long)unit);
  if (unit > INT_MAX) fail("unsupported", "the displacement unit is %ld", (long)unit);
  if (size > 0 && !base) fail("invalid buffer", "the memory of the window is a null pointer");
  if (size > 0 && is_beyond_heap(base, (size_t)size))
    fail("invalid buffer", "the window has %ld bytes, but its piece of the heap has less", (long)size);
}

int window_make(void *base, MPI_Aint size, MPI_Aint unit, MPI_Comm comm, bool is_allocated, MPI_Win *win) {
  struct comm *in = comm_get_intra(comm);
  OUT(win);
  for (int i = 0; i < in->group->size; i++)
    if (in->group->ranks[i] - world_base < 0 || in->group->ranks[i] - world_base >= world_size)
      fail("unsupported", "%s makes a window of processes of which some were spawned and others were not", call.name);
  struct window *made = allocate(sizeof *made);
  int ranks = in->group->size;
  made->comm = in;
  made->errhandler = MPI_ERRORS_ARE_FATAL;
  made->base = base;
  made->is_allocated = is_allocated;
  made->name = text_of("%s/%u", in->name, in->made++);
  made->sides = allocate((size_t)ranks * sizeof *made->sides);
  made->sides[in->rank] = (struct side){(size_t)size, (int)unit};
  made->holds = allocate((size_t)ranks * sizeof *made->holds);
  made->locks = allocate((size_t)ranks * (size_t)ranks * sizeof *made->locks);
  made->copies = allocate((size_t)ranks * sizeof *made->copies);
  made->are_contended = allocate((size_t)ranks * sizeof *made->are_contended);
  made->snapshot = allocate((size_t)size);
  made->opened_at = call.site;
  struct bytes given = {0};
  put_u64(&given, (uint64_t)size);
  put_u32(&given, (uint32_t)unit);
  windows = grow(windows, (count_of_windows + 1) * sizeof *windows);
  windows[count_of_windows++] = made;
  struct contributions all = exchange(in, call.name, &given);
  for (int rank = 0; rank < ranks; rank++) {
    struct reader said = *contribution(&all, rank);
    made->sides[rank].size = take_u64(&said);
    made->sides[rank].unit = (int)take_u32(&said);
  }
  memory_watch(base, (size_t)size);
  made->is_shared = false;
  made->is_made = true;
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
  pull(freed);
  freed->object.is_freed = true;
  if (freed->is_allocated) heap_free(freed->base, call.site);
  *OUT(win) = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

void windows_check_gone(uintptr_t from, uintptr_t to, uintptr_t site, const char *how) {
  EACH_WINDOW(window) {
    uintptr_t base = (uintptr_t)window->base;
    bool is_there = base < to && from < base + own_size(window);
    if (is_there && !window->is_allocated && !env_is_over())
      fail_at(site, "invalid buffer", "the program %s before it frees the window made at {@%lx}", how,
              window->object.made_at);
  }
}

/* Windows that are left are leaks; for a window with an open epoch, the epoch is the mistake. */
void windows_check_end(void) {
  EACH_WINDOW(window) check_closed(window);
}

FUNCTION(Win_sync, (MPI_Win win)) {
  CALL("MPI_Win_sync");
  struct window *window = window_of(win);
  publish(window);
  pull(window);
  return MPI_SUCCESS;
}

FUNCTION(Win_get_group, (MPI_Win win, MPI_Group *group)) {
  CALL("MPI_Win_get_group");
  *OUT(group) = comm_group(window_of(win)->comm);
  return MPI_SUCCESS;
}

FUNCTION(Win_get_attr, (MPI_Win win, int key, void *value, int *flag)) {
  CALL("MPI_Win_get_attr");
  static int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE}, model = MPI_WIN_UNIFIED;
  struct window *window = window_of(win);
  struct side *side = &window->sides[window->comm->rank];
  OUT((void **)value);
  *OUT(flag) = 1;
  switch (key) {
    case MPI_WIN_BASE: *(void **)value = window->base; break;
    case MPI_WIN_SIZE: *(size_t **)value = &side->size; break;
    case MPI_WIN_DISP_UNIT: *(int **)value = &side->unit; break;
    case MPI_WIN_CREATE_FLAVOR: *(int **)value = &flavors[window->is_allocated]; break;
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
  window_of(win);
  (void)info;
  return MPI_SUCCESS;
}

FUNCTION(Win_get_info, (MPI_Win win, MPI_Info *info)) {
  CALL("MPI_Win_get_info");
  window_of(win);
  *OUT(info) = info_new();
  return MPI_SUCCESS;
}
