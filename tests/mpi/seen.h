#include <mpi.h>

static void wait_in_vain(int *value) {
    MPI_Recv(value, 1, MPI_INT, 2, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // wrong 3
}
