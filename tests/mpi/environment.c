// What real programs do around their calls of MPI.
// 1, 2, 3, 4: right
// 5: crash
// 6: datatype mismatch
#include "cases.h"
#include <assert.h>
#include <unistd.h>

// A program may define names of the C library.
double time = 0.5;

struct best {
  double value;
  int place;
};

static void run(void) {
  int peer = 1 - rank, mine[2] = {rank, 7}, pair[2] = {0, 0}, level, size_of_pair;
  struct best best = {rank + time, rank}, found;
  MPI_Request request;
  MPI_Status status;
  MPI_Datatype fields[2] = {MPI_DOUBLE, MPI_INT}, type;
  int lengths[2] = {1, 1};
  MPI_Aint places[2] = {0, offsetof(struct best, place)};
  switch (which) {
    case 1: // A pair is two values.
      MPI_Isend(mine, 2, MPI_INT, peer, 0, world, &request);
      MPI_Recv(pair, 1, MPI_2INT, peer, 0, world, &status);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      assert(pair[0] == peer && pair[1] == 7);
      break;
    case 2: // So it is received as a struct of two, and reduced as a pair.
      MPI_Type_create_struct(2, lengths, places, fields, &type);
      MPI_Type_commit(&type);
      MPI_Isend(&best, 1, MPI_DOUBLE_INT, peer, 0, world, &request);
      MPI_Recv(&found, 1, type, peer, 0, world, &status);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      assert(found.place == peer);
      MPI_Type_free(&type);
      MPI_Allreduce(&best, &found, 1, MPI_DOUBLE_INT, MPI_MAXLOC, world);
      assert(found.place == 1 && found.value == 1.5);
      MPI_Type_size(MPI_DOUBLE_INT, &size_of_pair);
      assert(size_of_pair == 12);
      break;
    case 3: { // Time goes on while a rank sleeps.
      double before = MPI_Wtime();
      sleep(2);
      usleep(500000);
      assert(MPI_Wtime() - before >= 2.5 && MPI_Wtime() - before < 2.6);
      break;
    }
    case 4: // Programs ask for more threads than they use.
      MPI_Query_thread(&level);
      assert(level == MPI_THREAD_SINGLE);
      break;
    case 5: // The place is in the program, not in the C library.
      mine[0] = atoi((const char *)(size_t)(16 * which)); // wrong 5
      break;
    case 6: // The other way round does not fit.
      MPI_Isend(&best, 1, MPI_DOUBLE_INT, peer, 0, world, &request); // wrong 6
      MPI_Recv(pair, 1, MPI_2INT, peer, 0, world, &status);          // wrong 6
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
  }
}
