// The environment of the program is the same in each run: the clock, random numbers, environment
// variables, standard input. The master sends it to itself, so it is compared whenever the master
// is run again.
#define _GNU_SOURCE
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static double values[16];
static int count;
static void add(double value) { values[count++] = value; }

static void look(void) {
  struct timespec now;
  struct timeval day;
  struct rusage used;
  struct tms ticks;
  unsigned number = 0;
  add((double)time(NULL));
  clock_gettime(CLOCK_MONOTONIC, &now);
  add((double)now.tv_nsec);
  now.tv_sec += 10000;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL); /* takes no real time */
  timespec_get(&now, TIME_UTC);
  add((double)now.tv_nsec);
  gettimeofday(&day, NULL);
  add((double)day.tv_usec);
  add((double)clock());
  getrusage(RUSAGE_SELF, &used);
  add((double)used.ru_utime.tv_usec);
  add((double)times(&ticks));
  add(MPI_Wtime());
  add(rand());
  add((double)random());
  getrandom(&number, sizeof number, 0);
  add(number);
  getentropy(&number, sizeof number);
  add(number);
  FILE *file = fopen("/dev/urandom", "r");
  assert(fread(&number, sizeof number, 1, file) == 1);
  fclose(file);
  add(number);
  add(getpid());
  add(getenv("MAZURKA_TEST") ? atof(getenv("MAZURKA_TEST")) : -1);
  add(getchar());
}

int main(int argc, char **argv) {
  int rank, size, from, first;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank > 0) {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    double got[16];
    look();
    MPI_Isend(values, count, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(got, count, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) printf("%.0f\n", values[i]);
    for (int i = 1; i < size; i++) {
      MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (i == 1) first = from;
    }
    assert(first == 1);
  }
  MPI_Finalize();
  return 0;
}
