// 1, 3, 7, 9, 11: right
// 5: right, 3 ranks
// 2, 4, 8, 10: buffering hazard
// 6: buffering hazard, 3 ranks
// 12: call order
#include "cases.h"

/* The odd cases are right if all sends are buffered, if none is, and if only some are. The even
 * cases are wrong if only some are. */

static char mine[1 << 16], theirs[1 << 16];

static void meet(int other, int head_to_head) {
  if (head_to_head || rank < other) {
    MPI_Send(mine, sizeof mine, MPI_CHAR, other, 9, world); // wrong 2, 4, 6, 8, 10
    MPI_Recv(theirs, sizeof theirs, MPI_CHAR, other, 9, world, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(theirs, sizeof theirs, MPI_CHAR, other, 9, world, MPI_STATUS_IGNORE);
    MPI_Send(mine, sizeof mine, MPI_CHAR, other, 9, world);
  }
}

/* Whether a send that no rank has received yet is complete. */
static void seen_complete(int is_wrong) {
  int value = 7, flag = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(&value, 1, MPI_INT, 1, 0, world, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(&flag, 1, MPI_INT, 0, world);
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
  if (rank == 0 && !flag) MPI_Wait(&request, MPI_STATUS_IGNORE);
  meet(1 - rank, is_wrong && flag);
}

/* Which of two sends is complete; the second one is received late. */
static void first_complete(int is_wrong) {
  int values[2] = {1, 2}, index = -1;
  MPI_Request requests[2];
  if (rank == 0) {
    for (int i = 0; i < 2; i++) MPI_Isend(&values[i], 1, MPI_INT, 1, i, world, &requests[i]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Ssend(&index, 1, MPI_INT, 1, 5, world);
  } else {
    MPI_Recv(&values[0], 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    MPI_Recv(&index, 1, MPI_INT, 0, 5, world, MPI_STATUS_IGNORE);
    MPI_Recv(&values[1], 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
  }
  if (rank == 0) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  meet(1 - rank, is_wrong && index == 1);
}

/* Three ranks: the order of messages, if one is buffered. */
static void who_comes_first(int is_wrong) {
  int from = -1;
  MPI_Status status;
  if (rank == 0) {
    int first;
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, &status);
    from = status.MPI_SOURCE;
    MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, MPI_STATUS_IGNORE);
    for (int to = 1; to < size; to++) MPI_Ssend(&from, 1, MPI_INT, to, 1, world);
  } else if (rank == 1) {
    int value = 3;
    MPI_Send(&value, 1, MPI_INT, 2, 3, world);
    MPI_Send(&value, 1, MPI_INT, 0, 0, world);
    MPI_Recv(&from, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
  } else {
    int value;
    MPI_Ssend(&rank, 1, MPI_INT, 0, 0, world);
    MPI_Recv(&value, 1, MPI_INT, 1, 3, world, MPI_STATUS_IGNORE);
    MPI_Recv(&from, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
  }
  if (rank > 0) meet(3 - rank, is_wrong && from == 1);
}

/* The order at a counter: rank 0 can be first only if its send is buffered. */
static void who_counts_first(int is_wrong) {
  int *counter, one = 1, before = -1, value = 0;
  MPI_Win window;
  MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, world, &counter, &window);
  MPI_Barrier(world);
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, world);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window);
  MPI_Win_unlock(0, window);
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
  meet(1 - rank, is_wrong && before == rank);
  MPI_Win_free(&window);
}

/* Before the flag, a send that only a buffer completes; then a wait that is made only while it is
 * not complete. */
static void in_the_middle(int is_wrong) {
  int value = 1, flag = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(&value, 1, MPI_INT, 1, 1, world, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&flag, 1, MPI_INT, 1, 0, world);
  } else {
    MPI_Recv(&flag, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
  }
  if (rank == 0 && !flag) MPI_Wait(&request, MPI_STATUS_IGNORE);
  meet(1 - rank, is_wrong && flag);
}

/* The same flag, and then a rank that has to leave a broadcast before the other one has entered
 * it. */
static void collective(int is_wrong) {
  int value = 1, flag = 0;
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(&value, 1, MPI_INT, 1, 1, world, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&flag, 1, MPI_INT, 1, 0, world);
    if (!flag) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!is_wrong) MPI_Ssend(&value, 1, MPI_INT, 1, 2, world);
    if (flag) MPI_Bcast(&value, 1, MPI_INT, 0, world); // wrong 12
    if (is_wrong) MPI_Ssend(&value, 1, MPI_INT, 1, 2, world);
  } else {
    MPI_Recv(&flag, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, 2, world, MPI_STATUS_IGNORE);
    if (flag) MPI_Bcast(&value, 1, MPI_INT, 0, world);
  }
}

static void run(void) {
  int is_wrong = which % 2 == 0;
  switch ((which + 1) / 2) {
    case 1: seen_complete(is_wrong); break;
    case 2: first_complete(is_wrong); break;
    case 3: who_comes_first(is_wrong); break;
    case 4: who_counts_first(is_wrong); break;
    case 5: in_the_middle(is_wrong); break;
    case 6: collective(is_wrong); break;
  }
}
