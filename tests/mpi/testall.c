// Rank 0 tests a receive from each of the others, all together, as its script says, and fails with
// what it has seen. So each outcome is a violation with its own message (tests/mpi/testall.rs).
//
// The first argument says how it tests: 'a' by MPI_Testall, 'o' one after the other. The second one
// is the script: 'T' tests, a digit tells that rank to send, 'i' looks for one more message of
// rank 1, and 'c' cancels the first receive. The third one has a letter for each other rank: it
// sends at once ('!') or when it is told to ('?').
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { VALUE, TOLD, MORE, MOST = 3 };
static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Request requests[MOST];
static MPI_Status statuses[MOST];
static int count, values[MOST], done;

static void test(char how) {
  if (how == 'a') {
    MPI_Testall(count, requests, &done, statuses);
    return;
  }
  done = 1;
  for (int i = 0; i < count; i++) {
    int is_one;
    MPI_Request_get_status(requests[i], &is_one, &statuses[i]);
    done = done && is_one;
  }
  if (done) MPI_Waitall(count, requests, statuses);
}

static void lead(char how, const char *script, char *seen) {
  int is_told[MOST + 1] = {0}, is_there;
  for (int i = 0; i < count; i++) MPI_Irecv(&values[i], 1, MPI_INT, i + 1, VALUE, world, &requests[i]);
  for (; *script; script++) {
    if (*script == 'c') {
      MPI_Cancel(&requests[0]);
    } else if (*script == 'i') {
      MPI_Iprobe(1, MORE, world, &is_there, MPI_STATUS_IGNORE);
      *seen++ = is_there ? 'i' : '.';
    } else if (*script == 'T') {
      if (!done) test(how), *seen++ = done ? '1' : '0';
    } else {
      int to = *script - '0';
      is_told[to] = 1;
      MPI_Send(NULL, 0, MPI_INT, to, TOLD, world);
    }
  }
  for (int to = 1; to <= count; to++)
    if (!is_told[to]) MPI_Send(NULL, 0, MPI_INT, to, TOLD, world);
  if (!done) MPI_Waitall(count, requests, statuses);
  MPI_Test_cancelled(&statuses[0], &done);
  if (done) *seen++ = 'c', MPI_Recv(&values[0], 1, MPI_INT, 1, VALUE, world, MPI_STATUS_IGNORE);
  MPI_Recv(NULL, 0, MPI_INT, 1, MORE, world, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; i++) assert(values[i] == i + 1);
}

static void follow(int rank, char when) {
  if (when == '?') MPI_Recv(NULL, 0, MPI_INT, 0, TOLD, world, MPI_STATUS_IGNORE);
  MPI_Send(&rank, 1, MPI_INT, 0, VALUE, world);
  if (when == '!') MPI_Recv(NULL, 0, MPI_INT, 0, TOLD, world, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(NULL, 0, MPI_INT, 0, MORE, world);
}

int main(int argc, char **argv) {
  int rank;
  char seen[64] = "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &count);
  count--;
  if (rank == 0) lead(argv[1][0], argv[2], seen);
  else follow(rank, argv[3][rank - 1]);
  MPI_Finalize();
  if (rank == 0) __assert_fail(seen, __FILE__, __LINE__, __func__);
}
