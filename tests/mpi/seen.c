// 1, 2: right, 3 ranks
// 3: message race, 3 ranks
// 4: call order, 3 ranks

// Rank 0 takes two messages from any source. If rank 2 was first, then in case 3 it waits for a
// message that is never sent; in case 4 the first sender waits for an answer.
#include "seen.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int number = argc > 1 ? atoi(argv[1]) : 0, rank, value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 2; i++) {
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
            if (number == 1) printf("got %d from %d\n", value, status.MPI_SOURCE);
            if (number == 3 && i == 0 && status.MPI_SOURCE == 2) wait_in_vain(&value, 2);
            if (number == 4 && i == 1) MPI_Send(&value, 1, MPI_INT, status.MPI_SOURCE, 99, MPI_COMM_WORLD);
        }
        for (int i = 0; number == 1 && i < 30; i++) printf("line %d\n", i);
    } else {
        value = rank * 10;
        MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        if (number == 4) wait_in_vain(&value, 0);
    }
    MPI_Finalize();
    return 0;
}
