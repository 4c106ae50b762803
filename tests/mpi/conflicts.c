// Concurrent accesses to windows, and ordered ones.
// 1, 3, 7, 8: right, 3 ranks
// 2, 9: global concurrency, 3 ranks
// 4: global concurrency
// 5: global concurrency
// 6: global concurrency
// 10: invalid buffer
#include "cases.h"

static int memory[4];
static MPI_Win win;

static void put(int *value) { MPI_Put(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); }

static void run(void) {
  int value = rank, got = 0, is_read;
  short halves[2] = {1, 2};
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, world, &win);
  memory[0] = 5; // It belongs to making the window.
  MPI_Barrier(world);
  switch (which) {
    case 1: // Accumulations are atomic for each element,
      MPI_Win_fence(0, win);
      if (rank != 1) MPI_Accumulate(memory, 2, MPI_INT, 1, rank * 2, 2, MPI_INT, MPI_SUM, win);
      MPI_Win_fence(0, win);
      break;
    case 2: // but not if the elements differ.
      MPI_Win_fence(0, win);
      if (rank == 0) MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);     // wrong 2
      if (rank == 2) MPI_Accumulate(halves, 2, MPI_SHORT, 1, 0, 2, MPI_SHORT, MPI_SUM, win); // wrong 2
      MPI_Win_fence(0, win);
      break;
    case 3: // Who fetches only reads.
      MPI_Win_fence(0, win);
      if (rank == 0) MPI_Get(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
      if (rank == 2) MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &got, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_NO_OP, win);
      is_read = rank == 1 && memory[0] == 5;
      MPI_Win_fence(0, win);
      if (is_read) memory[0] = 6;
      break;
    case 4: // The owner has no epoch, and reads all the same.
      if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        put(&value);
        MPI_Win_unlock(1, win);
      } else if (memory[0] == 7) { // wrong 4
        printf("seven\n");
      }
      break;
    case 5: // Nothing orders the operations of one epoch.
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      if (rank == 0) {
        MPI_Put(&value, 1, MPI_INT, 1, 8, 1, MPI_INT, win); // wrong 5
        MPI_Get(&got, 1, MPI_INT, 1, 8, 1, MPI_INT, win);   // wrong 5
      }
      MPI_Win_unlock(1, win);
      break;
    case 6: // A local flush does not either: what is written may not be there yet.
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      if (rank == 0) {
        MPI_Put(&value, 1, MPI_INT, 1, 8, 1, MPI_INT, win); // wrong 6
        MPI_Win_flush_local(1, win);
        MPI_Get(&value, 1, MPI_INT, 1, 8, 1, MPI_INT, win); // wrong 6
      }
      MPI_Win_unlock(1, win);
      break;
    case 7: // A flush does.
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      if (rank == 0) {
        MPI_Put(&value, 1, MPI_INT, 1, 8, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        MPI_Get(&value, 1, MPI_INT, 1, 8, 1, MPI_INT, win);
      }
      MPI_Win_unlock(1, win);
      break;
    case 8: // So does a message.
      if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        put(&value);
        MPI_Win_unlock(1, win);
        MPI_Send(&value, 1, MPI_INT, 1, 0, world);
      } else if (rank == 1) {
        MPI_Recv(&got, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Win_unlock(1, win);
        memory[0]++;
      }
      break;
    case 10: { // The memory goes before the window.
      int *memory_of_other = malloc(16);
      MPI_Win other;
      MPI_Win_create(memory_of_other, 16, 1, MPI_INFO_NULL, world, &other);
      free(memory_of_other); // wrong 10
      MPI_Win_free(&other);
      break;
    }
    case 9: // Elements that lie across one another are not the same elements.
      MPI_Win_fence(0, win);
      if (rank != 1) MPI_Accumulate(memory, 2, MPI_INT, 1, rank, 2, MPI_INT, MPI_SUM, win); // wrong 9
      MPI_Win_fence(0, win);
      break;
  }
  MPI_Win_free(&win);
}
