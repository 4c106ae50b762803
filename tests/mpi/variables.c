// The memory behind a buffer: variables whose place changes or is shared, and the heap. This is
// hardest in optimised code.
// 1, 3, 4, 6, 7, 9, 11, 13, 15, 16, 17, 18, 19, 20, 21, 22: right
// 2, 5, 8, 10, 12, 14, 23: datatype mismatch
// 24: invalid buffer
#include "cases.h"

/* A function that the compiler does not look into. */
__attribute__((noipa)) static void touch(void *at) { (void)at; }

__attribute__((noipa)) static void siblings(MPI_Datatype last) {
  {
    int here[4] = {1, 2};
    touch(here);
    MPI_Bcast(here, 4, MPI_INT, 0, world);
  }
  {
    double here[16] = {1};
    touch(here);
    MPI_Bcast(here, 16, MPI_DOUBLE, 0, world);
  }
  for (int i = 0; i < 2; i++) {
    float here[3] = {1};
    touch(here);
    MPI_Bcast(here, 3, last, 0, world); // wrong 2, 24
  }
}

/* Unnamed memory, and variables that are first used after it. */
__attribute__((noipa)) static void unnamed(void) {
  int later[40];
  {
    touch((float[40]){1, 2});
    MPI_Bcast((float[40]){1, 2, 3}, 40, MPI_FLOAT, 0, world);
  }
  {
    float before[50];
    touch(before);
    MPI_Bcast(before, 50, MPI_FLOAT, 0, world);
    touch(before);
  }
  touch(later);
  MPI_Bcast(later, 40, MPI_INT, 0, world);
  touch(later);
}

/* Blocks with equal ends, which a compiler may merge. */
__attribute__((noipa)) static void alike(void) {
  if (which == 4) {
    int *one = malloc(16);
    touch(one);
    MPI_Bcast(one, 4, MPI_INT, 0, world);
    touch(one), touch(0), touch(0), touch(0), touch(0);
    free(one);
  } else {
    float *other = malloc(16);
    touch(other);
    MPI_Bcast(other, 4, MPI_INT, 0, world); // wrong 5
    touch(other), touch(0), touch(0), touch(0), touch(0);
    free(other);
  }
}

__attribute__((always_inline)) static inline void inlined(int count, MPI_Datatype type) {
  int own[8] = {count};
  touch(own);
  MPI_Bcast(own, count, type, 0, world); // wrong 8
}

static float *kept;
static struct { int *data; } holder;
union either { int whole; float broken; };

__attribute__((noipa)) static void passed(float *values, MPI_Datatype type) {
  MPI_Bcast(values, 4, type, 0, world); // wrong 12
  touch(values);
}

static void run(void) {
  switch (which) {
    case 1: siblings(MPI_FLOAT); break;
    case 2: siblings(MPI_INT); break;
    case 24: siblings(MPI_DOUBLE); break;
    case 3: unnamed(); break;
    case 4:
    case 5: alike(); break;
    case 6: siblings(MPI_FLOAT); siblings(MPI_FLOAT); break;
    case 7:
      inlined(2, MPI_INT);
      inlined(8, MPI_INT);
      break;
    case 8:
      inlined(2, MPI_INT);
      inlined(8, MPI_FLOAT);
      break;
    case 9: // The heap has the type of the pointers to it.
    case 10: {
      float *values = malloc(4 * sizeof *values);
      MPI_Bcast(values, 4, which == 9 ? MPI_FLOAT : MPI_INT, 0, world); // wrong 10
      free(values);
      break;
    }
    case 11:
    case 12: {
      float *values = malloc(4 * sizeof *values);
      passed(values, which == 11 ? MPI_FLOAT : MPI_INT);
      free(values);
      break;
    }
    case 13:
    case 14:
      kept = malloc(4 * sizeof *kept);
      MPI_Bcast(kept, 4, which == 13 ? MPI_FLOAT : MPI_INT, 0, world); // wrong 14
      free(kept);
      break;
    case 15: { // Pointers that do not agree tell nothing.
      float *values = malloc(4 * sizeof *values);
      int *numbers = (int *)values;
      numbers[0] = 1;
      MPI_Bcast(numbers, 4, MPI_INT, 0, world);
      touch(values), touch(numbers);
      break;
    }
    case 16: {
      void *room = malloc(64);
      float *values = room;
      values[0] = 1;
      MPI_Bcast(values, 4, MPI_FLOAT, 0, world);
      *(int *)room = 2;
      MPI_Bcast(room, 4, MPI_INT, 0, world);
      touch(values), touch(room);
      break;
    }
    case 17: {
      char *room = malloc(64);
      double *values = (double *)room;
      values[0] = 1;
      MPI_Bcast(room, 4, MPI_INT, 0, world);
      touch(values), touch(room);
      break;
    }
    case 18: {
      union either *values = malloc(4 * sizeof *values);
      values->broken = 1;
      MPI_Bcast(values, 4, MPI_INT, 0, world);
      MPI_Bcast(values, 4, MPI_FLOAT, 0, world);
      free(values);
      break;
    }
    case 19: { // So do pointers to what was there before.
      float *old = malloc(40);
      touch(&old);
      free(old);
      holder.data = malloc(40);
      MPI_Bcast(holder.data, 10, MPI_INT, 0, world);
      free(holder.data);
      touch(&old);
      break;
    }
    case 20: { // A pointer tells of one value: others may be behind it.
      int *head = malloc(64);
      double *rest = (double *)(head + 2);
      int lengths[] = {1, 7};
      MPI_Aint places[] = {0, 8};
      MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE}, type;
      MPI_Type_create_struct(2, lengths, places, types, &type);
      MPI_Type_commit(&type);
      *head = 1, *rest = 2;
      MPI_Bcast(head, 1, type, 0, world);
      MPI_Bcast(head + 2, 7, MPI_DOUBLE, 0, world);
      MPI_Type_free(&type);
      free(head);
      break;
    }
    case 21: {
      struct { double re, im; } *values = malloc(4 * sizeof *values);
      MPI_Bcast(values, 8, MPI_DOUBLE, 0, world);
      free(values);
      break;
    }
    case 22: { // One that grows where it is keeps its type.
      float *values = malloc(16);
      values = realloc(values, 24);
      MPI_Bcast(values, 6, MPI_FLOAT, 0, world);
      free(values);
      break;
    }
    case 23: {
      float *values = malloc(16);
      values = realloc(values, 24);
      MPI_Bcast(values, 6, MPI_INT, 0, world); // wrong 23
      free(values);
      break;
    }
  }
}
