/* The calls that GCC makes for OpenMP, and the functions of OpenMP. They take the place of those of
 * its library. Calls that are not followed are refused. */
#include "teams.h"

#include <errno.h>

/* The numbers of threads and of nested regions that run in parallel are those of the environment.
 * Without it there are two threads: enough for races, and few orders. */
enum { THREADS = 2 };
static bool cancellation;
__attribute__((constructor(102))) static void read_environment(void) {
  const char *threads = getenv("OMP_NUM_THREADS"), *levels = getenv("OMP_MAX_ACTIVE_LEVELS"), *cancels = getenv("OMP_CANCELLATION");
  omp_threads = threads ? atoi(threads) : THREADS;
  if (omp_threads < 1) omp_threads = THREADS;
  if (levels && atoi(levels) >= 0) omp_levels = atoi(levels);
  cancellation = cancels && strcmp(cancels, "true") == 0;
}

WEAK void GOMP_parallel(void (*body)(void *), void *with, unsigned threads, unsigned flags) {
  CALLED("a parallel region");
  (void)flags;
  team_run(body, with, threads, NULL);
}

WEAK void GOMP_barrier(void) {
  CALLED("a barrier");
  team_barrier();
}

/* Critical sections, and what is atomic but too large for the processor. */
static char critical, atomic;
WEAK void GOMP_critical_start(void) {
  CALLED("a critical section");
  thread_locks(&critical);
}
WEAK void GOMP_critical_end(void) { thread_unlocks(&critical); }
WEAK void GOMP_critical_name_start(void **name) {
  CALLED("a critical section");
  thread_locks(name);
}
WEAK void GOMP_critical_name_end(void **name) { thread_unlocks(name); }
WEAK void GOMP_atomic_start(void) {
  CALLED("an atomic construct");
  thread_locks(&atomic);
}
WEAK void GOMP_atomic_end(void) { thread_unlocks(&atomic); }

/* Loops. The numbers of iterations become those of the program. */
static uint64_t count_of(long start, long end, long step) {
  if (step > 0) return end > start ? ((uint64_t)(end - start) + (uint64_t)step - 1) / (uint64_t)step : 0;
  return start > end ? ((uint64_t)(start - end) + (uint64_t)-step - 1) / (uint64_t)-step : 0;
}
static uint64_t count_of_ull(bool up, uint64_t start, uint64_t end, uint64_t step) {
  if (up) return end > start ? (end - start + step - 1) / step : 0;
  return start > end ? (start - end - step - 1) / -step : 0;
}

static struct work work_for(enum schedule schedule, bool is_ordered, uint64_t count, uint64_t chunk, uint64_t start, uint64_t step) {
  return (struct work){.schedule = schedule, .is_ordered = is_ordered, .count = count, .chunk = chunk, .start = start, .step = step};
}

/* The schedule of `schedule(runtime)`. */
static enum schedule at_run_time = DYNAMIC;
static uint64_t chunk_at_run_time = 1;
static void read_schedule(void) {
  const char *text = getenv("OMP_SCHEDULE");
  static bool is_read;
  if (is_read || !text) return;
  is_read = true;
  at_run_time = strncmp(text, "static", 6) == 0 ? STATIC : strncmp(text, "guided", 6) == 0 ? GUIDED : DYNAMIC;
  const char *chunk = strchr(text, ',');
  chunk_at_run_time = chunk ? strtoull(chunk + 1, NULL, 10) : at_run_time == STATIC ? 0 : 1;
}

static bool next(uint64_t *from, uint64_t *to) {
  const struct work *work = member_now()->work;
  if (!work_next(from, to)) return false;
  *from = work->start + *from * work->step;
  *to = work->start + *to * work->step;
  return true;
}

static bool next_long(long *from, long *to) {
  uint64_t first, end;
  if (!next(&first, &end)) return false;
  *from = (long)first;
  *to = (long)end;
  return true;
}
static bool next_ull(unsigned long long *from, unsigned long long *to) {
  uint64_t first, end;
  if (!next(&first, &end)) return false;
  *from = first;
  *to = end;
  return true;
}

#define LOOP(name, schedule, is_ordered)                                                                          \
  WEAK bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long *from, long *to) {         \
    CALLED("a loop");                                                                                             \
    struct work like = work_for(schedule, is_ordered, count_of(start, end, step), (uint64_t)chunk, (uint64_t)start, (uint64_t)step); \
    return team_work(&like), next_long(from, to);                                                                 \
  }                                                                                                               \
  NEXT(name)                                                                                                      \
  WEAK bool GOMP_loop_ull_##name##_start(bool up, unsigned long long start, unsigned long long end, unsigned long long step, \
                                         unsigned long long chunk, unsigned long long *from, unsigned long long *to) { \
    CALLED("a loop");                                                                                             \
    struct work like = work_for(schedule, is_ordered, count_of_ull(up, start, end, step), chunk, start, step);    \
    return team_work(&like), next_ull(from, to);                                                                  \
  }
#define LOOP_AT_RUN_TIME(name, is_ordered)                                                                        \
  WEAK bool GOMP_loop_##name##_start(long start, long end, long step, long *from, long *to) {                     \
    CALLED("a loop");                                                                                             \
    read_schedule();                                                                                              \
    struct work like = work_for(at_run_time, is_ordered, count_of(start, end, step), chunk_at_run_time, (uint64_t)start, (uint64_t)step); \
    return team_work(&like), next_long(from, to);                                                                 \
  }                                                                                                               \
  NEXT(name)                                                                                                      \
  WEAK bool GOMP_loop_ull_##name##_start(bool up, unsigned long long start, unsigned long long end, unsigned long long step, \
                                         unsigned long long *from, unsigned long long *to) {                      \
    CALLED("a loop");                                                                                             \
    read_schedule();                                                                                              \
    struct work like = work_for(at_run_time, is_ordered, count_of_ull(up, start, end, step), chunk_at_run_time, start, step); \
    return team_work(&like), next_ull(from, to);                                                                  \
  }
#define NEXT(name)                                                                                                \
  WEAK bool GOMP_loop_##name##_next(long *from, long *to) {                                                       \
    CALLED("a loop");                                                                                             \
    return next_long(from, to);                                                                                   \
  }                                                                                                               \
  WEAK bool GOMP_loop_ull_##name##_next(unsigned long long *from, unsigned long long *to) {                       \
    CALLED("a loop");                                                                                             \
    return next_ull(from, to);                                                                                    \
  }
LOOP(static, STATIC, false)
LOOP(dynamic, DYNAMIC, false)
LOOP(guided, GUIDED, false)
LOOP(nonmonotonic_dynamic, DYNAMIC, false)
LOOP(nonmonotonic_guided, GUIDED, false)
LOOP(ordered_static, STATIC, true)
LOOP(ordered_dynamic, DYNAMIC, true)
LOOP(ordered_guided, GUIDED, true)
LOOP_AT_RUN_TIME(runtime, false)
LOOP_AT_RUN_TIME(nonmonotonic_runtime, false)
LOOP_AT_RUN_TIME(maybe_nonmonotonic_runtime, false)
LOOP_AT_RUN_TIME(ordered_runtime, true)

#define PARALLEL_LOOP(name, schedule)                                                                             \
  WEAK void GOMP_parallel_loop_##name(void (*body)(void *), void *with, unsigned threads, long start, long end, long step, long chunk, \
                                      unsigned flags) {                                                           \
    CALLED("a parallel loop");                                                                                    \
    (void)flags;                                                                                                  \
    struct work *work = allocate(sizeof *work);                                                                   \
    *work = work_for(schedule, false, count_of(start, end, step), (uint64_t)chunk, (uint64_t)start, (uint64_t)step); \
    team_run(body, with, threads, work);                                                                          \
  }
#define PARALLEL_LOOP_AT_RUN_TIME(name)                                                                           \
  WEAK void GOMP_parallel_loop_##name(void (*body)(void *), void *with, unsigned threads, long start, long end, long step, \
                                      unsigned flags) {                                                           \
    CALLED("a parallel loop");                                                                                    \
    (void)flags;                                                                                                  \
    read_schedule();                                                                                              \
    struct work *work = allocate(sizeof *work);                                                                   \
    *work = work_for(at_run_time, false, count_of(start, end, step), chunk_at_run_time, (uint64_t)start, (uint64_t)step); \
    team_run(body, with, threads, work);                                                                          \
  }
PARALLEL_LOOP(static, STATIC)
PARALLEL_LOOP(dynamic, DYNAMIC)
PARALLEL_LOOP(guided, GUIDED)
PARALLEL_LOOP(nonmonotonic_dynamic, DYNAMIC)
PARALLEL_LOOP(nonmonotonic_guided, GUIDED)
PARALLEL_LOOP_AT_RUN_TIME(runtime)
PARALLEL_LOOP_AT_RUN_TIME(nonmonotonic_runtime)
PARALLEL_LOOP_AT_RUN_TIME(maybe_nonmonotonic_runtime)

WEAK void GOMP_loop_end(void) {
  CALLED("the end of a loop");
  team_barrier();
}
WEAK void GOMP_loop_end_nowait(void) {}

/* The part of a loop that is executed in order. */
WEAK void GOMP_ordered_start(void) {
  CALLED("an ordered section");
  work_wait_in_order();
}
WEAK void GOMP_ordered_end(void) {}

/* Sections have the numbers from 1 on. */
static unsigned next_section(void) {
  uint64_t from, to;
  return work_next(&from, &to) ? (unsigned)from + 1 : 0;
}
WEAK unsigned GOMP_sections_start(unsigned count) {
  CALLED("sections");
  struct work like = work_for(DYNAMIC, false, count, 1, 0, 1);
  return team_work(&like), next_section();
}
WEAK unsigned GOMP_sections_next(void) {
  CALLED("sections");
  return next_section();
}
WEAK void GOMP_sections_end(void) {
  CALLED("the end of sections");
  team_barrier();
}
WEAK void GOMP_sections_end_nowait(void) {}
WEAK void GOMP_parallel_sections(void (*body)(void *), void *with, unsigned threads, unsigned count, unsigned flags) {
  CALLED("parallel sections");
  (void)flags;
  struct work *work = allocate(sizeof *work);
  *work = work_for(DYNAMIC, false, count, 1, 0, 1);
  team_run(body, with, threads, work);
}

/* What one thread does: the only iteration of a work. */
WEAK bool GOMP_single_start(void) {
  CALLED("a single construct");
  struct work like = work_for(DYNAMIC, false, 1, 1, 0, 1);
  uint64_t from, to;
  return team_work(&like), work_next(&from, &to);
}
WEAK void *GOMP_single_copy_start(void) {
  CALLED("a single construct");
  struct work like = work_for(DYNAMIC, false, 1, 1, 0, 1);
  uint64_t from, to;
  struct work *work = team_work(&like);
  if (work_next(&from, &to)) return NULL;
  team_barrier();
  return work->copied;
}
WEAK void GOMP_single_copy_end(void *data) {
  CALLED("a single construct");
  member_now()->work->copied = data;
  team_barrier();
}

/* Nothing is cancelled, unless the environment asks for it. */
static bool cancel(void) {
  if (cancellation) refuse("what is cancelled in OpenMP is not explored");
  return false;
}
WEAK bool GOMP_cancel(int what, bool condition) { return (void)what, condition && cancel(); }
WEAK bool GOMP_cancellation_point(int what) { return (void)what, false; }
WEAK bool GOMP_barrier_cancel(void) { return GOMP_barrier(), false; }
WEAK bool GOMP_loop_end_cancel(void) { return GOMP_loop_end(), false; }
WEAK bool GOMP_sections_end_cancel(void) { return GOMP_sections_end(), false; }

/* The functions of OpenMP; those for Fortran have a line below their names. */
#define FOR_FORTRAN(result, name) result name##_(void) __attribute__((weak, alias(#name)));
#define TELLS(result, name, value)                   \
  WEAK result name(void) { return value; }           \
  FOR_FORTRAN(result, name)
TELLS(int, omp_get_num_threads, member_now()->team->size)
TELLS(int, omp_get_thread_num, member_now()->number)
TELLS(int, omp_get_max_threads, omp_threads)
TELLS(int, omp_get_num_procs, omp_threads)
TELLS(int, omp_in_parallel, member_now()->team->active_level > 0)
TELLS(int, omp_get_level, member_now()->team->level)
TELLS(int, omp_get_active_level, member_now()->team->active_level)
TELLS(int, omp_get_dynamic, 0)
TELLS(int, omp_get_nested, omp_levels > 1)
TELLS(int, omp_get_max_active_levels, omp_levels)
TELLS(int, omp_get_supported_active_levels, 255)
TELLS(int, omp_get_thread_limit, MOST_THREADS)
TELLS(int, omp_get_cancellation, cancellation)
TELLS(int, omp_get_proc_bind, 0)
TELLS(int, omp_get_num_places, 0)
TELLS(int, omp_get_place_num, -1)
TELLS(int, omp_get_num_devices, 0)
TELLS(int, omp_get_default_device, 0)
TELLS(int, omp_get_initial_device, 0)
TELLS(int, omp_is_initial_device, 1)
TELLS(int, omp_get_num_teams, 1)
TELLS(int, omp_get_team_num, 0)
TELLS(int, omp_get_max_task_priority, 0)
TELLS(int, omp_in_final, member_now()->is_final)
TELLS(double, omp_get_wtime, (double)clock_of_program() * 1e-9)
TELLS(double, omp_get_wtick, (double)time_tick * 1e-9)

#define TAKES_NUMBER(name, body)              \
  WEAK void name(int number) { body; }        \
  WEAK void name##_(const int *number) { name(*number); }
TAKES_NUMBER(omp_set_num_threads, omp_threads = number > 0 ? number : omp_threads)
TAKES_NUMBER(omp_set_dynamic, (void)number)
TAKES_NUMBER(omp_set_nested, omp_levels = number ? 255 : 1)
TAKES_NUMBER(omp_set_max_active_levels, omp_levels = number >= 0 ? number : omp_levels)
TAKES_NUMBER(omp_set_default_device, (void)number)

static struct member *ancestor(int level) {
  struct member *member = member_now();
  if (level < 0 || level > member->team->level) return NULL;
  while (member->team->level > level) member = member->team->outer;
  return member;
}
WEAK int omp_get_ancestor_thread_num(int level) {
  const struct member *found = ancestor(level);
  return found ? found->number : -1;
}
WEAK int omp_get_team_size(int level) {
  const struct member *found = ancestor(level);
  return found ? found->team->size : -1;
}
WEAK void omp_set_schedule(int kind, int chunk) {
  read_schedule();
  at_run_time = (kind & 0xff) == 1 || (kind & 0xff) == 4 ? STATIC : (kind & 0xff) == 3 ? GUIDED : DYNAMIC;
  chunk_at_run_time = chunk > 0 ? (uint64_t)chunk : at_run_time == STATIC ? 0 : 1;
}
WEAK void omp_get_schedule(int *kind, int *chunk) {
  read_schedule();
  *kind = at_run_time;
  *chunk = (int)chunk_at_run_time;
}

/* Locks. They have no contents of their own. */
#define LOCK(name)                                                            \
  WEAK void omp_init_##name(void *lock) { sync_forget(lock); }                \
  WEAK void omp_destroy_##name(void *lock) { sync_forget(lock); }             \
  void omp_init_##name##_(void *lock) __attribute__((weak, alias("omp_init_" #name))); \
  void omp_destroy_##name##_(void *lock) __attribute__((weak, alias("omp_destroy_" #name))); \
  void omp_set_##name##_(void *lock) __attribute__((weak, alias("omp_set_" #name))); \
  void omp_unset_##name##_(void *lock) __attribute__((weak, alias("omp_unset_" #name))); \
  int omp_test_##name##_(void *lock) __attribute__((weak, alias("omp_test_" #name)));
WEAK void omp_set_lock(void *lock) {
  CALLED("omp_set_lock");
  thread_locks(lock);
}
WEAK void omp_unset_lock(void *lock) {
  CALLED("omp_unset_lock");
  thread_unlocks(lock);
}
WEAK int omp_test_lock(void *lock) {
  CALLED("omp_test_lock");
  return thread_tries(lock);
}
static bool has_already(void *lock) {
  struct sync *sync = sync_of(lock);
  return sync->holder == thread_self() && ++sync->depth;
}
WEAK void omp_set_nest_lock(void *lock) {
  CALLED("omp_set_nest_lock");
  if (!has_already(lock)) thread_locks(lock);
}
WEAK void omp_unset_nest_lock(void *lock) {
  CALLED("omp_unset_nest_lock");
  thread_unlocks(lock);
}
WEAK int omp_test_nest_lock(void *lock) {
  CALLED("omp_test_nest_lock");
  return has_already(lock) || thread_tries(lock) ? (int)sync_of(lock)->depth : 0;
}
LOCK(lock)
LOCK(nest_lock)

/* What is not followed. */
#define NOT_FOLLOWED(name)                                \
  WEAK void name(void) {                                  \
    CALLED(#name);                                        \
    refuse("what " #name " does is not explored");        \
  }
NOT_FOLLOWED(GOMP_parallel_reductions) NOT_FOLLOWED(GOMP_loop_start) NOT_FOLLOWED(GOMP_loop_ordered_start)
NOT_FOLLOWED(GOMP_loop_ull_start) NOT_FOLLOWED(GOMP_loop_ull_ordered_start) NOT_FOLLOWED(GOMP_scope_start)
NOT_FOLLOWED(GOMP_sections2_start) NOT_FOLLOWED(GOMP_taskgroup_reduction_register) NOT_FOLLOWED(GOMP_taskgroup_reduction_unregister)
NOT_FOLLOWED(GOMP_task_reduction_remap) NOT_FOLLOWED(GOMP_workshare_task_reduction_unregister)
NOT_FOLLOWED(GOMP_doacross_post) NOT_FOLLOWED(GOMP_doacross_wait) NOT_FOLLOWED(GOMP_doacross_ull_post) NOT_FOLLOWED(GOMP_doacross_ull_wait)
NOT_FOLLOWED(GOMP_loop_doacross_start) NOT_FOLLOWED(GOMP_loop_doacross_static_start) NOT_FOLLOWED(GOMP_loop_doacross_dynamic_start)
NOT_FOLLOWED(GOMP_loop_doacross_guided_start) NOT_FOLLOWED(GOMP_loop_doacross_runtime_start)
NOT_FOLLOWED(GOMP_loop_ull_doacross_start) NOT_FOLLOWED(GOMP_loop_ull_doacross_static_start)
NOT_FOLLOWED(GOMP_loop_ull_doacross_dynamic_start) NOT_FOLLOWED(GOMP_loop_ull_doacross_guided_start)
NOT_FOLLOWED(GOMP_loop_ull_doacross_runtime_start)
NOT_FOLLOWED(GOMP_parallel_start) NOT_FOLLOWED(GOMP_parallel_end) NOT_FOLLOWED(GOMP_parallel_loop_static_start)
NOT_FOLLOWED(GOMP_parallel_loop_dynamic_start) NOT_FOLLOWED(GOMP_parallel_loop_guided_start)
NOT_FOLLOWED(GOMP_parallel_loop_runtime_start) NOT_FOLLOWED(GOMP_parallel_sections_start)
NOT_FOLLOWED(GOMP_target) NOT_FOLLOWED(GOMP_target_ext) NOT_FOLLOWED(GOMP_target_data) NOT_FOLLOWED(GOMP_target_data_ext)
NOT_FOLLOWED(GOMP_target_end_data) NOT_FOLLOWED(GOMP_target_update) NOT_FOLLOWED(GOMP_target_update_ext)
NOT_FOLLOWED(GOMP_target_enter_exit_data) NOT_FOLLOWED(GOMP_teams) NOT_FOLLOWED(GOMP_teams4) NOT_FOLLOWED(GOMP_teams_reg)
NOT_FOLLOWED(GOMP_alloc) NOT_FOLLOWED(GOMP_free) NOT_FOLLOWED(omp_alloc) NOT_FOLLOWED(omp_free) NOT_FOLLOWED(omp_fulfill_event)
NOT_FOLLOWED(omp_pause_resource) NOT_FOLLOWED(omp_pause_resource_all) NOT_FOLLOWED(omp_target_alloc) NOT_FOLLOWED(omp_target_free)
NOT_FOLLOWED(omp_target_memcpy) NOT_FOLLOWED(GOACC_parallel_keyed) NOT_FOLLOWED(GOACC_data_start) NOT_FOLLOWED(GOACC_update)
