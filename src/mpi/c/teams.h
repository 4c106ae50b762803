/* The teams of OpenMP. */
#ifndef MAZURKA_TEAMS_H
#define MAZURKA_TEAMS_H

#include "turns.h"

#define member_now mazurka_member_now
#define omp_levels mazurka_omp_levels
#define omp_threads mazurka_omp_threads
#define team_barrier mazurka_team_barrier
#define team_run mazurka_team_run
#define team_work mazurka_team_work
#define work_next mazurka_work_next
#define work_wait_in_order mazurka_work_wait_in_order

enum schedule { STATIC = 1, DYNAMIC, GUIDED };

/* Iterations that a team shares: numbers below `count`. Sections are iterations, and so is what a
 * single thread does. */
struct work {
  struct work *next;
  uint32_t number; /* of this work in its region */
  enum schedule schedule;
  uint64_t count, chunk, taken;
  uint64_t chunks, turn; /* the number of chunks that were given away; of an ordered loop, whose turn it is */
  bool is_ordered;
  struct order order; /* of what was done in turn */
  /* what iterations are to the program */
  uint64_t start, step;
  void *copied; /* of a single construct */
};

/* Tasks that are waited for together. */
struct tasks {
  struct tasks *outer; /* of a group, which has these as well */
  uint32_t running;
  struct order order; /* of their ends */
};

struct team {
  int size, level, active_level;
  struct member *of; /* all members */
  struct member *outer;
  void (*body)(void *);
  void *with;
  struct call called; /* the region */
  struct work *works; /* the newest first */
  uint32_t arrived, round;
  struct order orders[2];
  struct tasks tasks;
};

/* What a thread, or a task, is in a team. */
struct member {
  struct team *team;
  int number;
  struct thread *thread;
  uint32_t works;       /* the number of works it has begun */
  struct work *work;    /* the present one */
  uint64_t trip, order; /* the number of its chunks there, and the place of its chunk in the order */
  bool has_chunk;
  struct tasks children;
  struct tasks *group;
  struct task *tasks; /* its children, the newest first */
  bool is_final;
};

struct member *member_now(void);
/* Runs the body with a team; `work` is what its members share first, or NULL. */
void team_run(void (*body)(void *), void *with, unsigned threads, struct work *work);
void team_barrier(void);
/* The next work of this member, made like `like` if it is the first to come. */
struct work *team_work(const struct work *like);
/* The next chunk; false if there is none. */
bool work_next(uint64_t *from, uint64_t *to);
/* Waits until all chunks before the present one are over. */
void work_wait_in_order(void);
extern int omp_threads, omp_levels;

#endif
