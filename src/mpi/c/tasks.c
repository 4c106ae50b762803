/* Tasks of OpenMP. A task is a thread of its own, so it may run at any time, whatever the size of
 * its team, and races of tasks are found. In a team of one thread, tasks run where they are made. */
#include "teams.h"

struct task {
  struct task *next; /* an older child of the same task */
  void (*body)(void *);
  void *with;
  struct member member;
  struct member *parent;
  struct thread *thread;
  bool is_over;
  struct order end;
  /* Places, of which others must be over that write them (`out`), or read what this one writes. */
  size_t count, outs;
  void **places;
};

/* Numbers in the calls that GCC makes. */
enum { FINAL = 2, DEPENDS = 8, GOES_UP = 1 << 8, HAS_GRAIN = 1 << 9, IS_DEFERRED = 1 << 10, HAS_NO_GROUP = 1 << 11, REDUCES = 1 << 12, IS_DETACHED = 1 << 13 };

static bool is_over(const struct thread *thread) { return ((const struct task *)thread->next.about)->is_over; }

static bool depends(const struct task *later, const struct task *earlier) {
  for (size_t i = 0; i < later->count; i++)
    for (size_t k = 0; k < earlier->count; k++)
      if (later->places[i] == earlier->places[k] && (i < later->outs || k < earlier->outs)) return true;
  return false;
}

static void await_earlier(const struct task *task) {
  for (const struct task *earlier = task->next; earlier; earlier = earlier->next) {
    if (!depends(task, earlier)) continue;
    thread_waits(is_over, earlier, 0);
    sync_acquire(&earlier->end);
  }
}

static void run(void *given) {
  struct task *task = given;
  thread_self()->member = &task->member;
  await_earlier(task);
  task->body(task->with);
  task->is_over = true;
  sync_release(&task->end);
  order_join(&task->parent->children.order, &task->end);
  task->parent->children.running--;
  order_join(&task->member.team->tasks.order, &task->end);
  task->member.team->tasks.running--;
  for (struct tasks *group = task->member.group; group; group = group->outer) {
    order_join(&group->order, &task->end);
    group->running--;
  }
}

static void set_places(struct task *task, void **given) {
  if (!given) return;
  if ((uintptr_t)given[0] == 0) refuse("tasks with these kinds of dependences are not explored");
  task->count = (size_t)given[0];
  task->outs = (size_t)given[1];
  task->places = memcpy(allocate(task->count * sizeof *task->places), given + 2, task->count * sizeof *task->places);
}

/* The arguments of a task are copied when it is made. */
static void *copy(void *from, void (*copy_with)(void *, void *), long size, long alignment) {
  uintptr_t at = (uintptr_t)allocate((size_t)(size + alignment));
  at = (at + (uintptr_t)alignment - 1) / (uintptr_t)alignment * (uintptr_t)alignment;
  if (copy_with) copy_with((void *)at, from);
  else memcpy((void *)at, from, (size_t)size);
  return (void *)at;
}

static void make(void (*body)(void *), void *with, bool is_deferred, unsigned flags, void **places) {
  struct member *parent = member_now();
  if (flags & (REDUCES | IS_DETACHED)) refuse("tasks that reduce or are detached are not explored");
  struct task *task = allocate(sizeof *task);
  task->next = parent->tasks;
  task->parent = parent;
  task->body = body, task->with = with;
  if (flags & DEPENDS) set_places(task, places);
  task->member = (struct member){.team = parent->team, .number = parent->number, .group = parent->group};
  task->member.is_final = parent->is_final || flags & FINAL;
  if (!is_deferred || task->member.is_final || parent->team->size == 1) {
    await_earlier(task);
    thread_self()->member = &task->member;
    body(with);
    thread_self()->member = parent;
    return;
  }
  parent->tasks = task;
  parent->children.running++;
  parent->team->tasks.running++;
  for (struct tasks *group = parent->group; group; group = group->outer) group->running++;
  task->thread = thread_hire(run, task);
}

WEAK void GOMP_task(void (*body)(void *), void *with, void (*copy_with)(void *, void *), long size, long alignment, bool condition,
                    unsigned flags, void **places, int priority, void *detached) {
  CALLED("a task");
  (void)priority, (void)detached;
  make(body, copy(with, copy_with, size, alignment), condition, flags, places);
}

static bool are_over(const struct thread *thread) { return ((const struct tasks *)thread->next.about)->running == 0; }
static void await_tasks(struct tasks *tasks) {
  thread_waits(are_over, tasks, 0);
  sync_acquire(&tasks->order);
}

WEAK void GOMP_taskwait(void) {
  CALLED("taskwait");
  struct member *member = member_now();
  await_tasks(&member->children);
  member->tasks = NULL;
}

WEAK void GOMP_taskwait_depend(void **places) {
  CALLED("taskwait");
  struct task like = {.next = member_now()->tasks};
  set_places(&like, places);
  await_earlier(&like);
}

WEAK void GOMP_taskyield(void) {}

WEAK void GOMP_taskgroup_start(void) {
  struct member *member = member_now();
  struct tasks *group = allocate(sizeof *group);
  group->outer = member->group;
  member->group = group;
}

WEAK void GOMP_taskgroup_end(void) {
  CALLED("taskgroup");
  struct member *member = member_now();
  await_tasks(member->group);
  member->group = member->group->outer;
}

/* The iterations of a loop as tasks: `number` of them, or with so many iterations each. The first
 * two arguments of each are its bounds. */
static void loop(void (*body)(void *), void *with, void (*copy_with)(void *, void *), long size, long alignment, unsigned flags,
                 uint64_t number, uint64_t count, uint64_t start, uint64_t step) {
  uint64_t tasks = number ? number : (uint64_t)member_now()->team->size;
  if (flags & HAS_GRAIN) tasks = number < count ? count / number : 1;
  if (tasks > count) tasks = count;
  if (!(flags & HAS_NO_GROUP)) GOMP_taskgroup_start();
  for (uint64_t i = 0; i < tasks; i++) {
    uint64_t each = count / tasks, more = count % tasks, from = i * each + (i < more ? i : more), to = from + each + (i < more);
    uint64_t bounds[] = {start + from * step, start + to * step};
    void *copied = copy(with, copy_with, size, alignment);
    memcpy(copied, bounds, sizeof bounds);
    make(body, copied, flags & IS_DEFERRED, flags, NULL);
  }
  if (!(flags & HAS_NO_GROUP)) GOMP_taskgroup_end();
}

WEAK void GOMP_taskloop(void (*body)(void *), void *with, void (*copy_with)(void *, void *), long size, long alignment, unsigned flags,
                        unsigned long number, int priority, long start, long end, long step) {
  CALLED("taskloop");
  (void)priority;
  long count = step > 0 ? (end - start + step - 1) / step : (end - start + step + 1) / step;
  loop(body, with, copy_with, size, alignment, flags, number, count > 0 ? (uint64_t)count : 0, (uint64_t)start, (uint64_t)step);
}

WEAK void GOMP_taskloop_ull(void (*body)(void *), void *with, void (*copy_with)(void *, void *), long size, long alignment,
                            unsigned flags, unsigned long number, int priority, unsigned long long start, unsigned long long end,
                            unsigned long long step) {
  CALLED("taskloop");
  (void)priority;
  bool goes_up = flags & GOES_UP;
  unsigned long long count = goes_up ? (end > start ? (end - start + step - 1) / step : 0) : (start > end ? (start - end - step - 1) / -step : 0);
  loop(body, with, copy_with, size, alignment, flags, number, count, start, step);
}
