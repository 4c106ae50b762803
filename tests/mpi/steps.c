// Interprets a script for each thread of each rank (tests/mpi/steps.rs writes them), and fails with
// all values that the threads have seen, and all that is in memory then. So each outcome is a
// violation with its own message.
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, THREADS = 4 };
static int rank;
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int values[2];
static int guarded[2]; // by these mutexes
static char seen[THREADS][MOST];

static void see(char *at, int value) { sprintf(at + strlen(at), "%d ", value); }

static void carry_out(const char *step, char *at) {
  int which = step[1] - '0', first = step[1] ? step[2] - '0' : 0, old = first;
  switch (step[0]) {
    case 'L': pthread_mutex_lock(&mutexes[which]); return;
    case 'U': pthread_mutex_unlock(&mutexes[which]); return;
    case 'X': guarded[which] = 2 * guarded[which] + first; return;
    case 'T': {
      int is_held = pthread_mutex_trylock(&mutexes[which]) != 0;
      see(at, is_held);
      if (is_held) return;
      guarded[which] = 2 * guarded[which] + first;
      pthread_mutex_unlock(&mutexes[which]);
      return;
    }
    case 'A': see(at, values[which]++); return;
    case 'R': see(at, values[which]); return;
    case 'W': values[which] = first; return;
    case 'C': see(at, atomic_compare_exchange_strong(&values[which], &old, step[3] - '0')); return;
    case '!': MPI_Send(&which, 1, MPI_INT, 1 - rank, which, MPI_COMM_WORLD); return;
    case '?':
      MPI_Recv(&which, 1, MPI_INT, 1 - rank, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      see(at, which);
      return;
  }
}

struct script {
  char *text, *seen;
};
static void *run(void *given) {
  struct script *script = given;
  char *rest;
  for (char *step = strtok_r(script->text, " ", &rest); step; step = strtok_r(NULL, " ", &rest)) carry_out(step, script->seen);
  return NULL;
}

int main(int argc, char **argv) {
  int level;
  char all[THREADS * MOST] = "", others[THREADS * MOST], message[2 * THREADS * MOST + 8], *rest;
  pthread_t threads[THREADS];
  struct script scripts[THREADS];
  MPI_Comm twin;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  int count = 0;
  for (char *text = strtok_r(argv[1 + rank], ",", &rest); text; text = strtok_r(NULL, ",", &rest)) {
    scripts[count] = (struct script){text, seen[count]};
    count++;
  }
  for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, &scripts[i]);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < count; i++) sprintf(all + strlen(all), "%s/ ", seen[i]);
  sprintf(all + strlen(all), "%d %d %d %d", values[0], values[1], guarded[0], guarded[1]);
  if (rank) {
    MPI_Send(all, (int)strlen(all) + 1, MPI_CHAR, 0, 0, twin);
  } else {
    MPI_Recv(others, sizeof others, MPI_CHAR, 1, 0, twin, MPI_STATUS_IGNORE);
    sprintf(message, "%s | %s", all, others);
  }
  MPI_Comm_free(&twin);
  MPI_Finalize();
  if (rank == 0) __assert_fail(message, __FILE__, __LINE__, __func__);
  return 0;
}
