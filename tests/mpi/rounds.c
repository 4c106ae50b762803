// Loops that poll, as libraries have them: exchanges with partners that are not known before, progress of
// requests, stealing of work, waits that end by the clock.
// 1, 2, 4, 6, 7, 10, 12: right
// 3, 5, 8, 9, 11: incomplete
// 13, 15: message race
// 14: call order
// 16, 17, 18: buffering hazard
// 19: right, 3 ranks
#include "cases.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 5 };

static void give(int tag) {
  int value = tag;
  MPI_Send(&value, 1, MPI_INT, 1 - rank, tag, world);
}

/* PETSc's PetscCommBuildTwoSided_Ibarrier (NBX): all of a rank's messages have arrived when it enters the
 * barrier. Not if they need not be received to be complete. */
static void build_two_sided(void) {
  int to = (rank + 1) % size, value = 10 + rank, is_over = 0, is_in_barrier = 0, count = 0, room = 0, *from = NULL;
  MPI_Request *sends = malloc(sizeof *sends), barrier = MPI_REQUEST_NULL;
  if (which == 13) MPI_Isend(&value, 1, MPI_INT, to, TAG, world, sends); // wrong 13
  else MPI_Issend(&value, 1, MPI_INT, to, TAG, world, sends);
  while (!is_over) {
    int is_there;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG, world, &is_there, &status);
    if (is_there) {
      if (count == room) from = realloc(from, (size_t)(room = room * 2 + 4) * sizeof *from);
      MPI_Recv(&from[count++], 1, MPI_INT, status.MPI_SOURCE, TAG, world, MPI_STATUS_IGNORE);
    }
    if (is_in_barrier) {
      MPI_Test(&barrier, &is_over, MPI_STATUS_IGNORE);
    } else {
      int are_sent;
      MPI_Testall(1, sends, &are_sent, MPI_STATUSES_IGNORE);
      if (are_sent) MPI_Ibarrier(world, &barrier);
      is_in_barrier = are_sent;
    }
  }
  assert(which == 13 || count == 1);
  free(from);
  free(sends);
}

/* A list of what is complete grows. */
static void progress(void) {
  enum { MANY = 3 };
  if (rank == 1) {
    for (int i = 0; i < MANY; i++) give(i);
    return;
  }
  MPI_Request all[MANY];
  int values[MANY], places[MANY], found, left = MANY, *list = NULL, length = 0;
  for (int i = 0; i < MANY; i++) MPI_Irecv(&values[i], 1, MPI_INT, 1, i, world, &all[i]);
  while (left > 0) {
    int *scratch = malloc(64);
    memset(scratch, left, 64);
    MPI_Testsome(MANY, all, &found, places, MPI_STATUSES_IGNORE);
    for (int i = 0; i < found; i++) {
      list = realloc(list, (size_t)(length + 1) * sizeof *list);
      list[length++] = places[i];
      left--;
    }
    free(scratch);
  }
  free(list);
}

/* Rank 1 asks for work until there is none; rank 0 does one task after the other, and answers in between. If
 * it leaves when its own work is done, nobody answers. */
enum { ASK = 1, WORK, NONE };
static void steal_work(void) {
  int tasks = rank == 0 ? 2 : 0, has_asked = 0, has_refused = 0, is_over = 0, is_there;
  while (!is_over) {
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &is_there, &status); // wrong 15
    if (is_there) {
      int given = 0;
      MPI_Recv(&given, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, MPI_STATUS_IGNORE);
      if (status.MPI_TAG == ASK) {
        given = tasks > 1;
        tasks -= given;
        give(given ? WORK : NONE);
        has_refused = !given;
      } else {
        tasks += status.MPI_TAG == WORK;
        is_over = status.MPI_TAG == NONE;
        has_asked = 0;
      }
    } else if (tasks > 0) {
      tasks--;
    } else if (rank == 0) {
      is_over = has_refused || which == 15;
    } else if (!has_asked) {
      give(ASK); // wrong 15
      has_asked = 1;
    }
  }
}

/* Rank 0 waits for one message by tests. What it does in between differs. */
static long rounds;
static double idle;
static char texts[4][16];
static void test_until_it_is_there(void) {
  if (rank == 1) return give(TAG);
  MPI_Request request;
  int value, is_there = 0;
  unsigned delay = 1;
  char *last = malloc(40);
  strcpy(last, "begin");
  MPI_Irecv(&value, 1, MPI_INT, 1, TAG, world, &request);
  double start = which == 3 ? MPI_Wtime() : 0;
  while (!is_there) {
    double before = which == 9 ? MPI_Wtime() : 0;
    MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
    if (is_there) break;
    if (which == 3 && MPI_Wtime() - start > 3600) break;
    if (which == 5) rounds++;
    if (which == 7) {
      char *next = malloc(40);
      strcpy(next, "round");
      free(last);
      last = next;
    }
    if (which == 8) usleep(delay *= 2);
    if (which == 9) idle += MPI_Wtime() - before;
    if (which == 11) strcpy(texts[rounds++ % 4], "still waiting");
  }
  free(last);
  if (!is_there) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Copies of requests on the heap, as wrappers of MPI make them. */
static void test_copies(void) {
  if (rank == 1) {
    for (int i = 0; i < 2; i++) give(i);
    return;
  }
  MPI_Request all[2];
  int values[2], is_there, are_done = 0;
  for (int i = 0; i < 2; i++) MPI_Irecv(&values[i], 1, MPI_INT, 1, i, world, &all[i]);
  while (!are_done) {
    MPI_Request *copies = malloc(sizeof all);
    MPI_Status *statuses = malloc(2 * sizeof *statuses);
    memcpy(copies, all, sizeof all);
    MPI_Iprobe(1, 9, world, &is_there, MPI_STATUS_IGNORE);
    MPI_Testall(2, copies, &are_done, statuses);
    memcpy(all, copies, sizeof all);
    free(copies);
    free(statuses);
  }
}

static void one_after_the_other(void) {
  if (rank == 1) {
    for (int i = 0; i < 2; i++) give(i);
    return;
  }
  MPI_Request all[2];
  int values[2], is_there, left = 2;
  for (int i = 0; i < 2; i++) MPI_Irecv(&values[i], 1, MPI_INT, 1, i, world, &all[i]);
  for (int next = 0; left > 0; next = (next + 1) % 2) {
    if (all[next] == MPI_REQUEST_NULL) continue;
    MPI_Test(&all[next], &is_there, MPI_STATUS_IGNORE);
    left -= is_there;
  }
}

/* hypre's hypre_DataExchangeList: ranks answer those that contact them, until rank 0 has heard of all that
 * they have got their answers. Without the messages to rank 0, all go on for ever. */
static void exchange(int contacts) {
  enum { CONTACT = 20, ANSWER, TERM };
  int is_over = 0, are_answered = contacts == 0, are_children_over = 0, is_there, sent = rank, got, what, children = 0;
  MPI_Request answer, contact, terms[4], told, end;
  MPI_Status status;
  if (contacts) {
    MPI_Irecv(&got, 1, MPI_INT, (rank + 1) % size, ANSWER, world, &answer);
    MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, CONTACT, world, &contact);
  }
  for (int i = 1; rank == 0 && i < size; i++) MPI_Irecv(NULL, 0, MPI_INT, i, TERM, world, &terms[children++]);
  while (!is_over) {
    MPI_Iprobe(MPI_ANY_SOURCE, CONTACT, world, &is_there, &status); // wrong 14
    while (is_there) {
      MPI_Recv(&what, 1, MPI_INT, status.MPI_SOURCE, CONTACT, world, MPI_STATUS_IGNORE);
      MPI_Send(&what, 1, MPI_INT, status.MPI_SOURCE, ANSWER, world);
      MPI_Iprobe(MPI_ANY_SOURCE, CONTACT, world, &is_there, &status); // wrong 14
    }
    if (!are_answered) {
      MPI_Testall(contacts, &answer, &are_answered, MPI_STATUSES_IGNORE);
    } else if (!are_children_over) {
      MPI_Testall(children, terms, &are_children_over, MPI_STATUSES_IGNORE); // wrong 14
      if (are_children_over && rank > 0) {
        told = MPI_REQUEST_NULL;
        if (which != 14) MPI_Isend(NULL, 0, MPI_INT, 0, TERM, world, &told);
        MPI_Irecv(NULL, 0, MPI_INT, 0, TERM, world, &end);
      }
    } else {
      is_over = 1;
      if (rank > 0) MPI_Test(&end, &is_over, MPI_STATUS_IGNORE); // wrong 14
      if (is_over && rank > 0) MPI_Wait(&told, MPI_STATUS_IGNORE);
      for (int i = 0; is_over && i < children; i++) MPI_Send(NULL, 0, MPI_INT, i + 1, TERM, world);
    }
  }
  if (contacts) MPI_Wait(&contact, MPI_STATUS_IGNORE);
}

/* Rank 0 polls, for one thing or for two, while rank 1 sends a message that is received only after that. */
static void send_what_nobody_takes_yet(void) {
  int value = 0, is_there = 0, is_done = 0;
  MPI_Request request;
  if (rank == 1) {
    give(2); // wrong 16, 17
    give(1);
    MPI_Recv(&value, 1, MPI_INT, 0, 4, world, MPI_STATUS_IGNORE);
    return give(3);
  }
  MPI_Irecv(&value, 1, MPI_INT, 1, 3, world, &request);
  while (!is_there && !is_done) {
    MPI_Iprobe(1, 1, world, &is_there, MPI_STATUS_IGNORE); // wrong 16, 17
    if (which == 17 && !is_there) MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
  }
  for (int tag = 1; tag <= 2; tag++) MPI_Recv(&is_there, 1, MPI_INT, 1, tag, world, MPI_STATUS_IGNORE);
  give(4);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A send that is tested is complete only if it is buffered. */
static void test_a_send(void) {
  int value = 0, is_sent = 0;
  MPI_Request request;
  if (rank == 1) {
    for (int tag = 1; tag <= 2; tag++) MPI_Recv(&value, 1, MPI_INT, 0, tag, world, MPI_STATUS_IGNORE); // wrong 18
    return;
  }
  MPI_Isend(&value, 1, MPI_INT, 1, 2, world, &request);
  while (!is_sent) MPI_Test(&request, &is_sent, MPI_STATUS_IGNORE); // wrong 18
  give(1);
}

static void run(void) {
  switch (which) {
    case 1: case 13: return build_two_sided();
    case 2: return progress();
    case 4: case 15: return steal_work();
    case 6: return test_copies();
    case 10: return one_after_the_other();
    case 12: case 14: return exchange(1);
    case 16: case 17: return send_what_nobody_takes_yet();
    case 18: return test_a_send();
    case 19: return exchange(rank == 0);
    default: return test_until_it_is_there();
  }
}
