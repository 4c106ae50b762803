/* The end of a program whose outcomes are compared: the numbers that the ranks have, at most `most`
 * each, are the message with which rank 0 fails. So each outcome is a violation of its own. */
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail_with(const int *numbers, int count, int most) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int *all = calloc((size_t)(size * most), sizeof *all), *counts = calloc((size_t)size, sizeof *counts);
  MPI_Gather(numbers, most, MPI_INT, all, most, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
  char text[2000] = "";
  for (int r = 0; rank == 0 && r < size; r++) {
    for (int i = 0; i < counts[r]; i++) sprintf(text + strlen(text), "%d ", all[r * most + i]);
    strcat(text, "/ ");
  }
  MPI_Finalize();
  if (rank == 0) __assert_fail(text, __FILE__, __LINE__, __func__);
}
