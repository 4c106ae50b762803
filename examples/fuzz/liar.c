// Two ranks that write to their sockets themselves, between the messages of the library: anything of any length, or an
// end. The seed is in the environment.
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t state;

static uint64_t below(uint64_t bound) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % bound;
}

static void lie(void) {
  const char *seed = getenv("MAZURKA_FUZZ_SEED");
  // With 0 it is an honest program.
  if (!seed || !strcmp(seed, "0") || below(4)) return;
  for (int fd = 3; fd < 4096; fd++) {
    int domain;
    socklen_t size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) || domain != AF_UNIX) continue;
    unsigned char bytes[64];
    uint32_t length = below(sizeof bytes), told = length;
    for (size_t at = 0; at < sizeof bytes; at++) bytes[at] = below(256);
    switch (below(8)) {
    case 0: shutdown(fd, SHUT_WR); return;
    case 1: shutdown(fd, SHUT_RDWR); return;
    case 2: syscall(SYS_recvfrom, fd, bytes, 1 + below(8), MSG_DONTWAIT, NULL, NULL); return;
    case 3: told = UINT32_MAX - below(3); break;
    case 4: told = below(1 << 30); break;
    default:;
    }
    syscall(SYS_write, fd, &told, sizeof told);
    syscall(SYS_write, fd, bytes, length);
    return;
  }
}

int main(int argc, char **argv) {
  int rank, got = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char *seed = getenv("MAZURKA_FUZZ_SEED");
  state = (seed ? strtoull(seed, NULL, 10) : 0) * 2 + rank;
  lie();
  if (rank == 0) {
    MPI_Isend(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    lie();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  lie();
  MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  lie();
  MPI_Barrier(MPI_COMM_WORLD);
  lie();
  MPI_Finalize();
  return 0;
}
