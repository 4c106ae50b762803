/* Windows whose memory is not one part of each rank's program: shared and dynamic ones.
 *
 * In a *shared* window, a rank reads and writes the parts of all ranks by itself. Each process has
 * memory of its own for all of them: what it stores there is published like stores to its own part,
 * and it sees what others have stored when something orders that (windows.c). Other accesses are
 * races, which are reported (conflicts.c). So a loop that waits until another rank has stored
 * something would never end here: it is not decided (wait_check in windows.c, ranks.rs), and atomic
 * operations are not either.
 *
 * To a *dynamic* window, a rank attaches memory, and others name it by its address. Whether they
 * may is a question of order, too: that memory is attached is a change (changes.c). */
#include "calls.h"
#include "windows.h"

/* Bytes between two parts that are not contiguous. */
enum { APART = 64 };

static size_t behind(size_t end, bool is_contiguous) {
  return is_contiguous ? end : (end + 2 * APART - 1) / APART * APART;
}

int window_share(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
  window_check_size(size, unit);
  OUT(win);
  OUT((void **)base);
  const char *hint = info_find(info, "alloc_shared_noncontig");
  bool is_contiguous = !hint || strcmp(hint, "true") != 0;
  struct window *made = window_new(size, unit, comm, MPI_WIN_FLAVOR_SHARED);
  window_meet(made);
  made->is_known = true;
  int ranks = made->comm->group->size;
  size_t all = 0;
  for (int rank = 0; rank < ranks; rank++) all = behind(all + made->sides[rank].size, is_contiguous);
  made->size = all;
  uint8_t *at = made->allocated = calloc(1, all + 1);
  if (!at) give_up("no memory");
  size_t from = 0;
  for (int rank = 0; rank < ranks; rank++) {
    if (rank == made->comm->rank) made->base = at + from;
    window_map(made, rank, 0, at + from, made->sides[rank].size);
    from = behind(from + made->sides[rank].size, is_contiguous);
  }
  *(void **)base = made->base;
  *win = (MPI_Win)handle_new(WIN, &made->object);
  return MPI_SUCCESS;
}

/* The part of a rank; for MPI_PROC_NULL, the first one that is not empty. NULL if there is none, or
 * this rank cannot access it. */
const struct mapped *window_find_shared(MPI_Win win, int rank) {
  const struct window *window = window_of(win);
  if (rank != MPI_PROC_NULL) window_check_rank(window, rank);
  for (size_t i = 0; i < window->count_of_mapped && window->flavor != MPI_WIN_FLAVOR_DYNAMIC; i++) {
    const struct mapped *mapped = &window->mapped[i];
    if (rank == MPI_PROC_NULL ? mapped->size > 0 : mapped->target == rank) return mapped;
  }
  return NULL;
}

void windows_check_atomic(uintptr_t from, size_t length, uintptr_t site) {
  for (size_t w = 0; w < count_of_windows; w++) {
    uintptr_t first = (uintptr_t)windows[w]->allocated;
    bool is_shared = windows[w]->flavor == MPI_WIN_FLAVOR_SHARED && !windows[w]->object.is_freed;
    if (is_shared && from + length > first && from < first + windows[w]->size)
      fail_at(site, "unsupported", "an atomic operation on memory that ranks share, whose orders are not explored");
  }
}

FUNCTION(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win)) {
  CALL("MPI_Win_create_dynamic");
  (void)info;
  OUT(win);
  struct window *made = window_new(0, 1, comm, MPI_WIN_FLAVOR_DYNAMIC);
  window_meet(made);
  made->is_known = true;
  *win = (MPI_Win)handle_new(WIN, &made->object);
  return MPI_SUCCESS;
}

static struct window *dynamic_of(MPI_Win win) {
  struct window *window = window_of(win);
  if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
    fail("invalid window", "the window made at {@%lx} is not dynamic", window->object.made_at);
  return window;
}

FUNCTION(Win_attach, (MPI_Win win, void *base, MPI_Aint size)) {
  CALL("MPI_Win_attach");
  struct window *window = dynamic_of(win);
  window_check_base(base, size, 1);
  uint64_t from = (uint64_t)(uintptr_t)base;
  for (size_t i = 0; i < window->count_of_mapped; i++) {
    const struct mapped *other = &window->mapped[i];
    if (from < other->from + other->size && other->from < from + (uint64_t)size)
      fail("invalid argument", "some of this memory is attached already, at {@%lx}", other->attached_at);
  }
  struct mapped *made = window_map(window, window->comm->rank, from, base, (size_t)size);
  if (size == 0) return MPI_SUCCESS;
  struct bytes change = {0};
  uint64_t length = (uint64_t)size;
  put_store(&change, 't', from, &length, sizeof length);
  put_store(&change, 'w', from, base, (size_t)size);
  memcpy(made->snapshot, base, (size_t)size);
  changes_add(window, window->comm->rank, PLAIN, false, &change);
  release(change.at);
  return MPI_SUCCESS;
}

FUNCTION(Win_detach, (MPI_Win win, const void *base)) {
  CALL("MPI_Win_detach");
  struct window *window = dynamic_of(win);
  size_t place = 0;
  while (place < window->count_of_mapped && window->mapped[place].private != base) place++;
  if (place == window->count_of_mapped) fail("invalid argument", "no memory that begins here is attached");
  window_publish(window);
  window_pull(window);
  struct mapped gone = window->mapped[place];
  records_add_detach(window, (struct span){gone.from, gone.from + gone.size});
  struct bytes change = {0};
  put_store(&change, 'd', gone.from, NULL, 0);
  if (gone.size > 0) changes_add(window, window->comm->rank, PLAIN, false, &change);
  release(change.at);
  release(gone.snapshot);
  for (window->count_of_mapped--; place < window->count_of_mapped; place++) window->mapped[place] = window->mapped[place + 1];
  return MPI_SUCCESS;
}
