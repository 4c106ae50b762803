// The beginning and the end of a rank.
// 1, 2, 16, 17, 18: right
// 3: warning: threads
// 4: missing init
// 5: missing finalize
// 6: missing init
// 7: missing init
// 8: exit
// 9: crash
// 10: abort
// 11: assertion
// 12: hang
// 13: missing finalize
// 14: crash
// 15: threads
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *call(void *unused) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size); // wrong 15
  return unused;
}

static void *compute(void *number) {
  ++*(int *)number;
  return number;
}

int main(int argc, char **argv) {
  int which = argc > 1 ? atoi(argv[1]) : 0, rank, flag, number = 1;
  volatile int *nowhere = NULL;
  pthread_t thread;
  if (which == 18) _exit(0);
  if (which == 4) MPI_Barrier(MPI_COMM_WORLD); // wrong 4
  // What may be called at any time.
  MPI_Info info;
  int code, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Add_error_class(&code);
  MPI_Add_error_string(code, "late");
  MPI_Initialized(&flag);
  assert(!flag);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double begun = MPI_Wtime();
  switch (which) {
    case 2: printf("%ld %d %f\n", (long)time(NULL), (int)getpid(), begun); break;
    case 3:
      pthread_create(&thread, NULL, compute, &number); // wrong 3
      pthread_join(thread, NULL);
      assert(number == 2);
      break;
    case 5: return 0;
    case 6: MPI_Init(&argc, &argv); break; // wrong 6
    case 8: _exit(3); // wrong 8
    case 9: return *nowhere; // wrong 9
    case 10: MPI_Abort(MPI_COMM_WORLD, 4); break; // wrong 10
    case 11: assert(rank == 0); break; // wrong 11
    case 12: for (;;) number++;
    case 13: exit(0);
    case 14: number = 7 / (which - 14); break; // wrong 14
    case 15:
      pthread_create(&thread, NULL, call, NULL);
      pthread_join(thread, NULL);
      break;
  }
  MPI_Finalize();
  if (which == 7) MPI_Barrier(MPI_COMM_WORLD); // wrong 7
  if (which == 16) _exit(0);
  if (which == 17) quick_exit(0);
  MPI_Info_free(&info);
  MPI_Error_string(code, text, &length);
  assert(length == 4);
  return 0;
}
