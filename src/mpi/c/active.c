/* Epochs of groups: MPI_Win_post, start, complete and wait.
 *
 *     EXPOSED    from a rank that exposes its part to each origin: MPI_Win_post
 *     BEGUN      from an origin to each target: MPI_Win_start
 *     DONE       from an origin to each target: MPI_Win_complete
 *
 * MPI_Win_start may wait for MPI_Win_post, and so may MPI_Win_complete, but they need not (MPI 4.1,
 * 12.5.2): what is put may be kept until the part is exposed. So MPI_Win_post begins to receive
 * BEGUN and DONE, and these are sent as a rank leaves a collective: early, or when they have been
 * received. DONE contains what the origin has put, and the target carries it out when it waits.
 * Other operations need the content of the part, or have an order at the target. They wait for
 * EXPOSED, and the origin carries them out as it does in the epoch of a lock. */
#include "windows.h"

enum { EXPOSED, DONE, BEGUN };

static void put_place(struct bytes *to, const struct window *window, int rank) {
  char *name = text_of("%s/epochs", window->name);
  put_text(to, name);
  put_i32(to, rank);
  release(name);
}

/* What such a message says: what the call asserts, where it is, whether it comes before what this
 * rank does; and of DONE, whether the origin changes the part, and what it has put. */
struct news {
  int assertion;
  uintptr_t site;
  bool was_known, is_change;
  struct reader puts;
};

/* Sends such a message. Returns the number of the request. */
static uint32_t tell(const struct window *window, int rank, int what, int assertion, bool is_change, const struct bytes *puts) {
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
  put_u8(&message, is_change);
  put_block(&message, puts->at, puts->length);
  struct bytes *to = question('S');
  put_place(to, window, rank);
  put_u32(to, (uint32_t)window->comm->group->ranks[rank]);
  put_i32(to, window->comm->rank);
  put_i32(to, what);
  put_u8(to, what == EXPOSED ? 2 : 4); /* no rank waits for it, or it is as in collectives */
  summary_put(to, &(struct summary){0});
  put_block(to, message.at, message.length);
  release(message.at);
  return ask_posted();
}

/* Begins to receive such a message. Returns the number of the request. */
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
  news.is_change = take_u8(&message);
  news.puts = take_block(&message);
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

/* Waits until this message may be sent: see the head of this file. */
static void wait_to_send(uint32_t posted) {
  uint32_t found;
  wait_for_any(&posted, 1, &found);
}

void exposure_await(struct window *window, int target) {
  if (window->are_exposed[target]) return;
  struct news news = take_news(window, target, ask_for('W', window->posts[target]));
  window->are_exposed[target] = true;
  if (!(window->started_with & MPI_MODE_NOCHECK)) return;
  if (!(news.assertion & MPI_MODE_NOCHECK))
    fail("invalid argument", "MPI_MODE_NOCHECK is asserted here, and not by MPI_Win_post at {@%lx}", news.site);
  if (!news.was_known)
    fail("invalid argument", "MPI_MODE_NOCHECK, but nothing says that MPI_Win_post at {@%lx} comes before it", news.site);
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
  window->exposed_with = assertion;
  window->awaited = allocate((size_t)window->exposed->size * sizeof *window->awaited + 1);
  for (int i = 0; i < window->exposed->size; i++) {
    int origin = window->exposed->ranks[i];
    records_expose(window, origin);
    expect(window, origin, BEGUN);
    window->awaited[i] = expect(window, origin, DONE);
    tell(window, origin, EXPOSED, assertion, false, &(struct bytes){0});
  }
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
  window->started_with = assertion;
  for (int i = 0; i < window->started->size; i++) {
    int target = window->started->ranks[i];
    window->holds[target] = STARTED;
    window->epochs[target]++;
    window->are_exposed[target] = false;
    window->posts[target] = expect(window, target, EXPOSED);
    wait_to_send(tell(window, target, BEGUN, assertion, false, &(struct bytes){0}));
    /* What the target has attached must be known. */
    bool is_known = assertion & MPI_MODE_NOCHECK || window->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    if (is_known) exposure_await(window, target);
  }
  return MPI_SUCCESS;
}

/* Ends the epoch at a target. Returns the number of the request for DONE. */
static uint32_t end_at(struct window *window, int target, bool is_change, const struct bytes *puts) {
  window->holds[target] = FREE;
  return tell(window, target, DONE, window->started_with, is_change, puts);
}

FUNCTION(Win_complete, (MPI_Win win)) {
  CALL("MPI_Win_complete");
  struct window *window = window_of(win);
  if (!window->started) fail("missing epoch", "no MPI_Win_start comes before it");
  const struct group *targets = window->started;
  uint32_t *told = allocate((size_t)targets->size * sizeof *told + 1);
  bool *are_told = allocate((size_t)targets->size + 1), *are_changed = allocate((size_t)targets->size + 1);
  for (int i = 0; i < targets->size; i++) {
    struct bytes puts = {0};
    are_changed[i] = operations_change(window, targets->ranks[i]);
    are_told[i] = operations_hand_over(window, targets->ranks[i], &puts);
    if (are_told[i]) told[i] = end_at(window, targets->ranks[i], are_changed[i], &puts);
    release(puts.at);
  }
  for (int i = 0; i < targets->size; i++) {
    if (are_told[i]) continue;
    operations_complete(window, targets->ranks[i], false);
    told[i] = end_at(window, targets->ranks[i], are_changed[i], &(struct bytes){0});
  }
  operations_forget(window);
  window->started = NULL;
  for (int i = 0; i < targets->size; i++) wait_to_send(told[i]);
  release(told);
  release(are_told);
  release(are_changed);
  return MPI_SUCCESS;
}

/* Ends the exposure when all its origins have said that they are done, one after another. Returns
 * false if a poll finds that one has not. */
static bool end_exposure(struct window *window, char kind) {
  if (!window->exposed) fail("missing epoch", "no MPI_Win_post comes before it");
  const struct group *origins = window->exposed;
  for (; window->done < origins->size; window->done++) {
    int rank = origins->ranks[window->done];
    struct reader answer = ask_for(kind, window->awaited[window->done]);
    if (*answer.at != 'K') return false;
    struct news news = take_news(window, rank, answer);
    if (window->no_put_at && news.is_change)
      fail_at(window->no_put_at, "invalid argument", "MPI_MODE_NOPUT, but rank %d changes this part until {@%lx}",
              window->comm->group->ranks[rank] - world_base, news.site);
    if (window->exposed_with & ~news.assertion & MPI_MODE_NOCHECK)
      fail_at(window->opened_at, "invalid argument", "MPI_MODE_NOCHECK is asserted here, and not by MPI_Win_start before {@%lx}",
              news.site);
    struct bytes puts = {.at = (uint8_t *)news.puts.at, .length = (size_t)(news.puts.end - news.puts.at)};
    if (puts.length > 0) changes_add(window, window->comm->rank, PLAIN, false, &puts);
  }
  window->done = 0;
  window->no_put_at = 0;
  window->exposed = NULL;
  release(window->awaited);
  window->synchronized = clock_tick();
  records_end_exposure(window);
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
