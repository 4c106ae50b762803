// Loops that poll. Where nothing changes from poll to poll they wait; others are followed up to the
// bound on polls.
// 1: incomplete
// 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13: right
// 14, 15, 16, 17, 18, 19, 20, 21: incomplete
// 22, 23: call order
// 24, 27: incomplete
// 25: global concurrency
// 26: assertion
#include "cases.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int out = 7, in = -1, flag;
static MPI_Request request;
static MPI_Status status;

static void ask(void) { MPI_Send(&out, 1, MPI_INT, 1, 0, world); }
static void await(void) { MPI_Irecv(&in, 1, MPI_INT, 1, 0, world, &request); }
static int test(void) { return MPI_Test(&request, &flag, &status), flag; } // wrong 22

/* Rank 1 answers each question. */
static void answer(int times) {
  for (int i = 0; i < times; i++) {
    MPI_Recv(&in, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    MPI_Send(&in, 1, MPI_INT, 0, 0, world);
  }
}

/* Polls `times` times, and then does something else. */
static void a_few_times(int times) {
  int there = 0;
  await();
  for (int i = 0; i < times && !there; i++) MPI_Test(&request, &there, MPI_STATUS_IGNORE);
  ask();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void two(MPI_Request *requests, int *values) {
  for (int i = 0; i < 2; i++) MPI_Irecv(&values[i], 1, MPI_INT, 1, 0, world, &requests[i]);
  for (int i = 0; i < 2; i++) ask();
}

static void all_of_them(void) {
  MPI_Request requests[2];
  int values[2], done;
  two(requests, values);
  do MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
  while (!done);
}

static void any_of_them(void) {
  MPI_Request requests[2];
  int values[2], done, index;
  two(requests, values);
  for (int left = 2; left > 0; left -= done) MPI_Testany(2, requests, &index, &done, &status);
}

static void some_of_them(void) {
  MPI_Request requests[2];
  int values[2], done, indices[2];
  two(requests, values);
  for (int left = 2; left > 0; left -= done) MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
}

static void look_for_a_message(void) {
  int there = 0;
  ask();
  while (!there) MPI_Iprobe(1, 0, world, &there, &status);
  MPI_Recv(&in, 1, MPI_INT, 1, 0, world, &status);
}

/* No rank sends with tag 1. */
static void look_for_both(void) {
  int there = 0;
  await();
  ask();
  do MPI_Iprobe(MPI_ANY_SOURCE, 1, world, &there, MPI_STATUS_IGNORE);
  while (!there && !test());
}

static void look_at_status(void) {
  int there = 0;
  await();
  ask();
  while (!there) MPI_Request_get_status(request, &there, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Work that leaves the memory as it was. */
static int scratch[16];
static void work(void) {
  char *piece = malloc(100), text[20];
  sprintf(text, "%d", 12345);
  memcpy(piece, text, 6);
  for (int i = 0; i < 16; i++) scratch[i] = piece[i % 5] * i;
  free(piece);
  MPI_Comm_size(world, &size);
  printf("still nothing\n");
}

/* Work that changes the memory. */
static long rounds;
static int next_key(void) {
  int keys, next;
  static MPI_Info info = MPI_INFO_NULL;
  if (info == MPI_INFO_NULL) MPI_Info_create(&info);
  MPI_Info_get_nkeys(info, &keys);
  char key[2] = {(char)('a' + keys), 0};
  MPI_Info_set(info, key, "1");
  next = keys;
  if (next >= 5) MPI_Info_free(&info);
  return next;
}

/* Data in a pipe, or the rest of a file, is not in memory. */
static int ends[2];
static void fill(int is_file) {
  if (is_file) {
    char name[] = "/tmp/polls-XXXXXX";
    ends[1] = mkstemp(name);
    ends[0] = open(name, O_RDONLY);
    unlink(name);
  } else if (pipe(ends)) {
    abort();
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  if (write(ends[1], "xxxx", 4) != 4) abort();
}
static int is_empty(void) {
  char got = 0;
  return read(ends[0], &got, 1) != 1;
}

__attribute__((noinline)) static int patience(int number) {
  switch (number) {
    case 16: {
      long next = rounds + 1;
      memcpy(&rounds, &next, sizeof rounds);
      return rounds < 5;
    }
    case 17: return rand() % 8 != 3;
    case 18: return MPI_Wtime() < 5e-6;
    case 19: return next_key() < 5;
    case 20: case 21: return !is_empty();
  }
  return 1;
}

static void until_it_is_there(int number) {
  int count = 0;
  if (number == 20 || number == 21) fill(number == 21);
  if (number == 27) alarm(1000);
  await();
  ask();
  while (!test()) {
    switch (number) {
      case 3: usleep(1000); break;
      case 4: work(); break;
      case 14: rounds++; break;
      case 15: count++; break;
    }
    if (!patience(number)) break;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (count == 1000000) abort();
}

/* No rank sends; the loop ends after five unsuccessful polls. */
static void give_up(void) {
  int polls = 0;
  await();
  while (polls < 5 && !test()) polls++;
  if (polls == 5) MPI_Abort(world, 1); // wrong 24
}

/* A window is read only while no message has come: this is a race with the put. */
static void read_in_vain(int reads) {
  static int window[2];
  MPI_Win win;
  int there = 0;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, world, &win);
  MPI_Win_fence(0, win);
  if (rank == 0) {
    await();
    while (MPI_Test(&request, &there, MPI_STATUS_IGNORE), !there)
      if (reads) out += window[0]; // wrong 25
  } else {
    MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // wrong 25
    MPI_Send(&out, 1, MPI_INT, 0, 0, world);
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* The code after the loop is checked. */
static void see_what_comes(void) {
  await();
  ask();
  while (!test()) {}
  assert(in == 8); // wrong 26
}

/* Each rank looks for a message that the other one sends only later. */
static void look_first(void) {
  int there = 0;
  while (!there) MPI_Iprobe(1 - rank, 0, world, &there, &status); // wrong 23
  MPI_Send(&out, 1, MPI_INT, 1 - rank, 0, world);
  MPI_Recv(&in, 1, MPI_INT, 1 - rank, 0, world, &status);
}

static void run(void) {
  if (which == 13 || which == 25) return read_in_vain(which == 25);
  if (which == 23) return look_first();
  if (rank > 0) {
    int questions = which == 22 || which == 24 ? 0 : which == 5 || which == 6 || which == 7 ? 2 : which == 12 ? 2 : 1;
    return answer(questions);
  }
  switch (which) {
    case 1: return a_few_times(10);
    case 2: case 3: case 4: return until_it_is_there(which);
    case 5: return all_of_them();
    case 6: return any_of_them();
    case 7: return some_of_them();
    case 8: return look_for_a_message();
    case 9: return look_for_both();
    case 10: return look_at_status();
    case 11: return a_few_times(2);
    case 12: until_it_is_there(2); return until_it_is_there(4);
    case 22: await(); while (!test()) {} return;
    case 24: return give_up();
    case 26: return see_what_comes();
    default: return until_it_is_there(which);
  }
}
