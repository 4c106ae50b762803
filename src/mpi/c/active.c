/* Epochs of groups: MPI_Win_post, start, complete and wait. Whoever is exposed says so in a message to each origin, and each
 * origin says when it is done. */
#include "windows.h"

enum { EXPOSED, DONE };

static void put_place(struct bytes *to, const struct window *window, int rank) {
  char *name = text_of("%s/epochs", window->name);
  put_text(to, name);
  put_i32(to, rank);
  release(name);
}

static void tell(const struct window *window, int rank, int what) {
  windows_publish();
  struct bytes message = {0};
  put_u64(&message, call.site);
  put_i32(&message, window->comm->rank);
  put_i32(&message, what);
  put_u32(&message, 0);
  put_block(&message, NULL, 0);
  clock_put(&message);
  struct bytes *to = question('S');
  put_place(to, window, rank);
  put_u32(to, (uint32_t)window->comm->group->ranks[rank]);
  put_i32(to, window->comm->rank);
  put_i32(to, what);
  put_u8(to, 2); /* nobody waits for it */
  put_block(to, message.at, message.length);
  release(message.at);
  ask_posted();
}

static void await(const struct window *window, int rank, int what) {
  struct bytes *to = question('R');
  put_place(to, window, window->comm->rank);
  put_i32(to, rank);
  put_i32(to, what);
  uint32_t posted = ask_posted();
  to = question('W');
  put_u32(to, 1);
  put_u32(to, posted);
  struct reader told = ask();
  take_u8(&told);
  take_u32(&told);
  struct reader message = (take_u8(&told), take_block(&told));
  take_u64(&message);
  take_i32(&message);
  take_i32(&message);
  struct signature nothing = signature_take(&message);
  signature_free(&nothing);
  take_block(&message);
  clock_join(&message);
}

/* The members of a group as ranks of the window. */
static struct group *members(const struct window *window, MPI_Group group) {
  const struct group *of = group_get(group);
  struct group *made = allocate(sizeof *made);
  made->ranks = allocate((size_t)of->size * sizeof *made->ranks);
  for (int i = 0; i < of->size; i++)
    for (int rank = 0; rank < window->comm->group->size; rank++)
      if (window->comm->group->ranks[rank] == of->ranks[i]) made->ranks[made->size++] = rank;
  if (made->size < of->size) fail("invalid group", "the group has a rank that has no part of the window");
  return made;
}

FUNCTION(Win_post, (MPI_Group group, int assertion, MPI_Win win)) {
  CALL("MPI_Win_post");
  (void)assertion;
  struct window *window = window_of(win);
  if (window->exposed) fail("double epoch", "the window is exposed already");
  window->exposed = members(window, group);
  window->opened_at = call.site;
  for (int i = 0; i < window->exposed->size; i++) tell(window, window->exposed->ranks[i], EXPOSED);
  return MPI_SUCCESS;
}

FUNCTION(Win_start, (MPI_Group group, int assertion, MPI_Win win)) {
  CALL("MPI_Win_start");
  (void)assertion;
  struct window *window = window_of(win);
  bool is_open = window->is_fenced;
  for (int rank = 0; rank < window->comm->group->size; rank++) is_open |= window->holds[rank] != FREE;
  if (is_open) fail("double epoch", "another epoch was opened at {@%lx}", window->opened_at);
  window->started = members(window, group);
  window->has_fenced = false;
  window->opened_at = call.site;
  for (int i = 0; i < window->started->size; i++) {
    await(window, window->started->ranks[i], EXPOSED);
    window->holds[window->started->ranks[i]] = STARTED;
  }
  return MPI_SUCCESS;
}

FUNCTION(Win_complete, (MPI_Win win)) {
  CALL("MPI_Win_complete");
  struct window *window = window_of(win);
  if (!window->started) fail("missing epoch", "no MPI_Win_start comes before it");
  for (int i = 0; i < window->started->size; i++) {
    int target = window->started->ranks[i];
    operations_complete(window, target, false);
    window->holds[target] = FREE;
    tell(window, target, DONE);
  }
  operations_forget(window);
  window->started = NULL;
  return MPI_SUCCESS;
}

FUNCTION(Win_wait, (MPI_Win win)) {
  CALL("MPI_Win_wait");
  struct window *window = window_of(win);
  if (!window->exposed) fail("missing epoch", "no MPI_Win_post comes before it");
  for (int i = 0; i < window->exposed->size; i++) await(window, window->exposed->ranks[i], DONE);
  window->exposed = NULL;
  windows_pull();
  return MPI_SUCCESS;
}
