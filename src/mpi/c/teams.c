/* Teams of threads, and the work that they share. The calls that compilers make are in openmp.c. */
#include "teams.h"

int omp_threads, omp_levels = 1;

struct member *member_now(void) {
  struct thread *own = thread_self();
  if (own->member) return own->member;
  /* Outside of all regions a thread is a team of its own. */
  struct team *team = allocate(sizeof *team);
  team->size = 1;
  team->of = allocate(sizeof *team->of);
  *team->of = (struct member){.team = team, .thread = own};
  return own->member = team->of;
}

static void start_as_member(void *given) {
  struct member *member = given;
  thread_self()->member = member;
  call = member->team->called;
  member->team->body(member->team->with);
  team_barrier();
}

static bool rests(const struct thread *thread) { return ((const struct thread *)thread->next.about)->rests; }

void team_run(void (*body)(void *), void *with, unsigned threads, struct work *work) {
  struct thread *own = thread_self();
  struct member *outer = member_now();
  struct team *team = allocate(sizeof *team);
  bool may_be_parallel = outer->team->active_level < omp_levels;
  team->size = !may_be_parallel ? 1 : threads ? (int)threads : omp_threads;
  team->level = outer->team->level + 1;
  team->active_level = outer->team->active_level + (team->size > 1);
  team->outer = outer;
  team->body = body, team->with = with;
  team->called = call;
  team->works = work;
  team->of = allocate((size_t)team->size * sizeof *team->of);
  for (int i = 0; i < team->size; i++) team->of[i] = (struct member){.team = team, .number = i, .works = work != NULL, .work = work};
  for (int i = 1; i < team->size; i++) team->of[i].thread = thread_hire(start_as_member, &team->of[i]);
  own->member = team->of;
  team->of->thread = own;
  body(with);
  team_barrier();
  for (int i = 1; i < team->size; i++) {
    thread_waits(rests, team->of[i].thread, 0);
    thread_join(team->of[i].thread);
  }
  own->member = outer;
}

/* All members of the team have arrived, and all tasks are over. */
static bool is_round_over(const struct thread *thread) {
  const struct team *team = thread->next.about;
  return team->round != thread->next.number || (team->arrived == (uint32_t)team->size && team->tasks.running == 0);
}

void team_barrier(void) {
  struct team *team = member_now()->team;
  uint32_t round = team->round;
  struct order *order = &team->orders[round % 2];
  sync_release(order);
  team->arrived++;
  thread_waits(is_round_over, team, round);
  if (team->round == round) team->round++, team->arrived = 0;
  sync_acquire(order);
  sync_acquire(&team->tasks.order);
}

struct work *team_work(const struct work *like) {
  struct member *member = member_now();
  struct team *team = member->team;
  uint32_t number = member->works++;
  struct work *work = team->works;
  while (work && work->number != number) work = work->next;
  if (!work) {
    work = allocate(sizeof *work);
    *work = *like;
    work->number = number;
    work->next = team->works;
    team->works = work;
  }
  member->work = work;
  member->trip = 0;
  member->has_chunk = false;
  return work;
}

static bool is_turn(const struct thread *thread) {
  return ((const struct work *)thread->next.about)->turn == thread->next.number;
}

void work_wait_in_order(void) {
  const struct member *member = member_now();
  if (!member->has_chunk || !member->work->is_ordered) return;
  thread_waits(is_turn, member->work, member->order);
  sync_acquire(&member->work->order);
}

/* In an ordered loop, chunks end in order. */
static void end_chunk(struct member *member) {
  struct work *work = member->work;
  if (!member->has_chunk || !work->is_ordered) return;
  work_wait_in_order();
  sync_release(&work->order);
  work->turn++;
}

static bool next_static(struct member *member, uint64_t *from, uint64_t *to) {
  const struct work *work = member->work;
  uint64_t size = (uint64_t)member->team->size, number = (uint64_t)member->number, trip = member->trip++;
  member->order = trip * size + number;
  if (work->chunk) {
    *from = member->order * work->chunk;
    *to = *from + work->chunk;
  } else {
    uint64_t each = work->count / size, more = work->count % size;
    *from = trip > 0 ? work->count : number * each + (number < more ? number : more);
    *to = *from + each + (number < more);
  }
  if (*to > work->count) *to = work->count;
  return *from < *to;
}

/* When all chunks are taken, it does not matter who learns that first. */
static bool is_all_taken(const struct thread *thread) {
  const struct work *work = thread->next.about;
  return work->taken == work->count;
}

static bool next_dynamic(struct member *member, uint64_t *from, uint64_t *to) {
  struct work *work = member->work;
  if (threads_are_many())
    thread_step((struct operation){.when = IN_ORDER, .from = (uintptr_t)work, .to = (uintptr_t)work + 1, .access = WRITES,
                                   .is_settled = is_all_taken, .about = work});
  uint64_t left = work->count - work->taken, chunk = work->chunk ? work->chunk : 1;
  uint64_t guided = left / (uint64_t)member->team->size;
  if (work->schedule == GUIDED && guided > chunk) chunk = guided;
  if (chunk > left) chunk = left;
  *from = work->taken;
  *to = work->taken += chunk;
  member->order = work->chunks;
  work->chunks += chunk > 0;
  return chunk > 0;
}

bool work_next(uint64_t *from, uint64_t *to) {
  struct member *member = member_now();
  end_chunk(member);
  member->has_chunk = member->work->schedule == STATIC ? next_static(member, from, to) : next_dynamic(member, from, to);
  return member->has_chunk;
}
