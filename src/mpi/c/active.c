/* Epochs of groups: MPI_Win_post, start, complete and wait. A rank that exposes its part sends a
 * message to each origin, and each origin sends one when it has completed. */
#include "windows.h"

enum { EXPOSED, DONE };

static void put_place(struct bytes *to, const struct window *window, int rank) {
  char *name = text_of("%s/epochs", window->name);
  put_text(to, name);
  put_i32(to, rank);
  release(name);
}

static void tell(const struct window *window, int rank, int what, int assertion) {
  windows_publish();
  struct bytes message = {0};
  put_site(&message, call.site);
  put_i32(&message, window->comm->rank);
  put_i32(&message, what);
  put_u32(&message, 0);
  put_block(&message, NULL, 0);
  clock_put(&message);
  put_u64(&message, clock_now());
  put_i32(&message, assertion);
  struct bytes *to = question('S');
  put_place(to, window, rank);
  put_u32(to, (uint32_t)window->comm->group->ranks[rank]);
  put_i32(to, window->comm->rank);
  put_i32(to, what);
  put_u8(to, 2); /* no rank waits for it */
  summary_put(to, &(struct summary){0});
  put_block(to, message.at, message.length);
  release(message.at);
  ask_posted();
}

/* The contents of such a message: an assertion, its place, and whether this rank knew of it
 * before. */
struct news {
  int assertion;
  uintptr_t site;
  bool was_known;
};

/* Begins to wait for such a message. Returns the number of the request. */
static uint32_t expect(const struct window *window, int rank, int what) {
  struct bytes *to = question('R');
  put_place(to, window, window->comm->rank);
  put_i32(to, rank);
  put_i32(to, what);
  return ask_posted();
}

static struct news take_news(const struct window *window, int rank, struct reader answer) {
  take_u8(&answer);
  take_u32(&answer);
  struct reader message = (take_u8(&answer), take_block(&answer));
  struct news news = {.site = take_u64(&message)};
  take_i32(&message);
  take_i32(&message);
  struct signature nothing = signature_take(&message);
  signature_free(&nothing);
  take_block(&message);
  struct reader clock = message;
  take_block(&message);
  news.was_known = clock_knows(window->comm->group->ranks[rank] - world_base, (uint32_t)take_u64(&message));
  news.assertion = take_i32(&message);
  clock_join(&clock);
  return news;
}

/* Asks for what was expected: waits ('W'), or polls ('T'). */
static struct reader ask_for(char kind, uint32_t posted) {
  if (kind == 'W') thread_will_wait();
  struct bytes *to = question(kind);
  size_t arguments = to->length;
  put_u32(to, 1);
  put_u32(to, posted);
  return kind == 'T' ? ask_poll(to, arguments) : ask();
}

static struct news await(const struct window *window, int rank, int what) {
  return take_news(window, rank, ask_for('W', expect(window, rank, what)));
}

/* The members of a group, as ranks in the window. */
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
  assertion_check(assertion, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
  struct window *window = window_of(win);
  if (window->exposed) fail("double epoch", "the window is exposed already");
  if (assertion & MPI_MODE_NOSTORE) records_check_stores(window, "before it");
  window->exposed = members(window, group);
  window->opened_at = call.site;
  window->no_put_at = assertion & MPI_MODE_NOPUT ? call.site : 0;
  for (int i = 0; i < window->exposed->size; i++) tell(window, window->exposed->ranks[i], EXPOSED, assertion);
  return MPI_SUCCESS;
}

FUNCTION(Win_start, (MPI_Group group, int assertion, MPI_Win win)) {
  CALL("MPI_Win_start");
  assertion_check(assertion, MPI_MODE_NOCHECK);
  struct window *window = window_of(win);
  epoch_check_fence(window);
  bool is_open = false;
  for (int rank = 0; rank < window->comm->group->size; rank++) is_open |= window->holds[rank] != FREE;
  if (is_open) fail("double epoch", "another epoch was opened at {@%lx}", window->opened_at);
  window->started = members(window, group);
  window->has_fenced = false;
  window->opened_at = call.site;
  for (int i = 0; i < window->started->size; i++) {
    struct news news = await(window, window->started->ranks[i], EXPOSED);
    bool is_unchecked = assertion & MPI_MODE_NOCHECK;
    if (is_unchecked != !!(news.assertion & MPI_MODE_NOCHECK))
      fail("invalid argument", "MPI_MODE_NOCHECK is asserted %s, and not by MPI_Win_%s at {@%lx}",
           is_unchecked ? "here" : "by MPI_Win_post", is_unchecked ? "post" : "start", is_unchecked ? news.site : call.site);
    if (is_unchecked && !news.was_known)
      fail("invalid argument", "MPI_MODE_NOCHECK, but nothing says that MPI_Win_post at {@%lx} comes before it", news.site);
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
    bool changes = false;
    for (size_t k = 0; k < window->length; k++)
      changes |= window->operations[k].target == target && operation_changes(&window->operations[k]);
    operations_complete(window, target, false);
    window->holds[target] = FREE;
    tell(window, target, DONE, changes);
  }
  operations_forget(window);
  window->started = NULL;
  return MPI_SUCCESS;
}

/* Ends the exposure when all its origins have said that they are done, one after another. Returns
 * false if a poll finds that one has not. */
static bool end_exposure(struct window *window, char kind) {
  if (!window->exposed) fail("missing epoch", "no MPI_Win_post comes before it");
  const struct group *origins = window->exposed;
  for (; window->done < origins->size; window->done++) {
    int rank = origins->ranks[window->done];
    if (!window->is_awaiting) window->awaited = expect(window, rank, DONE);
    window->is_awaiting = true;
    struct reader answer = ask_for(kind, window->awaited);
    if (*answer.at != 'K') return false;
    window->is_awaiting = false;
    struct news news = take_news(window, rank, answer);
    if (window->no_put_at && news.assertion)
      fail_at(window->no_put_at, "invalid argument", "MPI_MODE_NOPUT, but rank %d changes this part until {@%lx}",
              window->comm->group->ranks[rank] - world_base, news.site);
  }
  window->done = 0;
  window->no_put_at = 0;
  window->exposed = NULL;
  window->synchronized = clock_tick();
  windows_pull();
  return true;
}

FUNCTION(Win_wait, (MPI_Win win)) {
  CALL("MPI_Win_wait");
  end_exposure(window_of(win), 'W');
  return MPI_SUCCESS;
}

FUNCTION(Win_test, (MPI_Win win, int *flag)) {
  CALL("MPI_Win_test");
  OUT(flag);
  *flag = end_exposure(window_of(win), 'T');
  return MPI_SUCCESS;
}
