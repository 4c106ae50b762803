// 1, 2: right, 3 ranks
// 3: message race, 3 ranks

// Rank 0 takes two messages from anyone. In case 3 it then waits for one that nobody sends, if rank 2 was the first.
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
            if (number == 3 && i == 0 && status.MPI_SOURCE == 2) wait_in_vain(&value);
        }
        for (int i = 0; number == 1 && i < 30; i++) printf("line %d\n", i);
    } else {
        value = rank * 10;
        MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
