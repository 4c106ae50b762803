// Rank 0 writes to the connection between the library and the verifier: that it is done, or
// garbage. Then it waits for a message that is never sent.
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void forge(const void *bytes, size_t length) {
  for (int fd = 3; fd < 1024; fd++) send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// The frame of a question, with this in the place of the key.
static void say_done(uint64_t key, size_t keyed) {
  uint8_t frame[64] = {0};
  uint32_t length = (uint32_t)keyed + 13;
  memcpy(frame, &length, 4);
  memcpy(frame + 4, &key, keyed);
  frame[4 + keyed] = 'D';
  forge(frame, 4 + length);
}

int main(int argc, char **argv) {
  int rank, got;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    switch (atoi(argv[1])) {
    case 1: say_done(0, 0); break;
    case 2: say_done(0, 8); break;
    case 3: forge("\0\0\0\0", 4); break;
    case 4: forge("\377\377\377\377", 4); break;
    default: forge("hello, world\n", 13);
    }
    MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
