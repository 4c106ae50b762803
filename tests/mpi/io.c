// Files of MPI: what ranks read is what comes before; accesses that nothing orders are found.
// 1, 5, 6, 7: right
// 2, 4: right, 3 ranks
// 3, 16, 18, 19, 20, 28, 31, 32: right
// 8: global concurrency
// 9: global concurrency
// 10: invalid argument
// 11: call order
// 12: local concurrency
// 13: warning: file leak
// 14: invalid argument
// 15: unsupported
// 17: abort
// 21: global concurrency
// 22: invalid argument
// 23: global concurrency
// 24: invalid request
// 25: unsupported
// 26: abort
// 27: unsupported
// 29: global concurrency
// 30: unsupported
// 33, 34, 35: global concurrency
#include "cases.h"

#include <string.h>

#define CHECK(condition)                                         \
  if (!(condition)) {                                            \
    fprintf(stderr, "rank %d: %s is false\n", rank, #condition); \
    abort();                                                     \
  }

static MPI_File file;
static MPI_Status status;

static int count_of(void) {
  int count;
  MPI_Get_count(&status, MPI_INT, &count);
  return count;
}

static int opened(int mode) { return MPI_File_open(world, "io.dat", mode, MPI_INFO_NULL, &file); } // wrong 10
static int open_alone(int mode) { return MPI_File_open(MPI_COMM_SELF, "io.dat", mode, MPI_INFO_NULL, &file); } // wrong 33, 34
static void reopen(void) {
  MPI_File_close(&file);
  CHECK(opened(MPI_MODE_RDONLY) == MPI_SUCCESS);
}

static void run(void) {
  int mine = 10 + rank, other = 1 - rank, got = -1, all[12], flag;
  MPI_Offset size_now, place;
  MPI_Datatype every;
  MPI_Request request;
  if (which != 7 && which != 10 && which != 18 && which < 31) CHECK(opened(MPI_MODE_CREATE | MPI_MODE_RDWR) == MPI_SUCCESS);
  switch (which) {
    case 1:
      MPI_File_write_at_all(file, rank * 4, &mine, 1, MPI_INT, &status);
      CHECK(count_of() == 1);
      MPI_File_sync(file);
      MPI_Barrier(world);
      MPI_File_sync(file);
      MPI_File_read_at_all(file, other * 4, &got, 1, MPI_INT, &status);
      CHECK(got == 10 + other);
      break;
    case 2:
      /* Each rank has every third number. */
      MPI_Type_vector(4, 1, 3, MPI_INT, &every);
      MPI_Type_commit(&every);
      MPI_File_set_view(file, rank * sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL);
      MPI_Type_free(&every);
      for (int i = 0; i < 4; i++) all[i] = 100 * rank + i;
      MPI_File_write_all(file, all, 4, MPI_INT, MPI_STATUS_IGNORE);
      MPI_File_get_byte_offset(file, 2, &place);
      CHECK(place == (MPI_Offset)sizeof(int) * (rank + 6));
      reopen();
      MPI_File_read_all(file, all, 12, MPI_INT, &status);
      CHECK(count_of() == 12);
      for (int i = 0; i < 12; i++) CHECK(all[i] == 100 * (i % 3) + i / 3);
      break;
    case 3:
      MPI_File_write_shared(file, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
      reopen();
      MPI_File_read_all(file, all, 3, MPI_INT, &status);
      CHECK(count_of() == 2 && all[0] + all[1] == 21 && all[0] != all[1]);
      break;
    case 4:
      for (int turn = 0; turn < 2; turn++) {
        all[0] = mine, all[1] = turn;
        MPI_File_write_ordered(file, all, 2, MPI_INT, &status);
      }
      MPI_File_get_position_shared(file, &place);
      CHECK(place == 12 * sizeof(int));
      MPI_File_sync(file);
      MPI_File_seek_shared(file, 2 * sizeof(int), MPI_SEEK_SET);
      MPI_File_sync(file);
      MPI_File_read_ordered_begin(file, all, 2, MPI_INT);
      MPI_File_read_ordered_end(file, all, &status);
      CHECK(count_of() == 2 && all[0] == 10 + (rank + 1) % 3 && all[1] == (rank == 2));
      break;
    case 5:
      MPI_File_iwrite_at(file, 4 * rank, &mine, 1, MPI_INT, &request);
      MPI_Wait(&request, &status);
      CHECK(count_of() == 1);
      reopen();
      MPI_File_seek(file, 4 * other, MPI_SEEK_SET);
      MPI_File_read_all_begin(file, &got, 1, MPI_INT);
      MPI_File_read_all_end(file, &got, &status);
      CHECK(got == 10 + other && count_of() == 1);
      MPI_File_iread_at_all(file, 4 * rank, &got, 1, MPI_INT, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(got == mine);
      break;
    case 6:
      if (rank == 0) {
        for (int i = 0; i < 5; i++) MPI_File_write(file, &i, 1, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_get_position(file, &place);
        CHECK(place == 5 * sizeof(int));
        MPI_File_seek(file, -2 * (MPI_Offset)sizeof(int), MPI_SEEK_CUR);
        MPI_File_read(file, all, 12, MPI_INT, &status);
        CHECK(count_of() == 2 && all[0] == 3 && all[1] == 4);
        MPI_File_get_position(file, &place);
        CHECK(place == 5 * sizeof(int));
        MPI_File_seek(file, -(MPI_Offset)sizeof(int), MPI_SEEK_END);
        MPI_File_read(file, &got, 1, MPI_INT, &status);
        CHECK(got == 4);
      }
      break;
    case 7:
      CHECK(opened(MPI_MODE_RDONLY) == MPI_ERR_NO_SUCH_FILE && file == MPI_FILE_NULL);
      CHECK(opened(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR) == MPI_SUCCESS);
      MPI_File_set_size(file, 100);
      MPI_File_preallocate(file, 50);
      MPI_File_get_size(file, &size_now);
      CHECK(size_now == 100);
      MPI_File_set_size(file, 7);
      MPI_File_close(&file);
      CHECK(opened(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR) == MPI_ERR_FILE_EXISTS);
      CHECK(opened(MPI_MODE_APPEND | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE) == MPI_SUCCESS);
      MPI_File_get_position(file, &place);
      MPI_File_get_size(file, &size_now);
      CHECK(place == 7 && size_now == 7);
      MPI_File_close(&file);
      if (rank == 0) CHECK(MPI_File_delete("io.dat", MPI_INFO_NULL) == MPI_ERR_NO_SUCH_FILE);
      return;
    case 8:
      MPI_File_write_at(file, 4, &mine, 1, MPI_INT, MPI_STATUS_IGNORE); // wrong 8
      break;
    case 9:
      if (rank == 0) MPI_File_write_at(file, 0, &mine, 1, MPI_INT, MPI_STATUS_IGNORE); // wrong 9
      MPI_Barrier(world);
      if (rank == 1) MPI_File_read_at(file, 0, &got, 1, MPI_INT, MPI_STATUS_IGNORE); // wrong 9
      break;
    case 10:
      opened(rank ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_CREATE | MPI_MODE_WRONLY);
      return;
    case 11:
      if (rank == 0) MPI_File_write_all(file, &mine, 1, MPI_INT, MPI_STATUS_IGNORE); // wrong 11
      break; // wrong 11
    case 12:
      MPI_File_iwrite_at(file, 4 * rank, &mine, 1, MPI_INT, &request); // wrong 12
      MPI_File_read_at(file, 100, &mine, 1, MPI_INT, &status); // wrong 12
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 13: return;
    case 14:
      MPI_File_write_all_end(file, &mine, &status); // wrong 14
      break;
    case 15: {
      MPI_File_write_at(file, 4 * rank, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
      FILE *same = fopen("io.dat", "r");
      if (same) fclose(same);
      break;
    }
    case 16:
      /* A message orders what two ranks do, if the file is synchronized in between. */
      if (rank == 0) MPI_File_write_at(file, 0, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
      MPI_File_sync(file);
      if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, 0, world);
      else {
        MPI_Recv(&got, 1, MPI_INT, 0, 0, world, &status);
        MPI_File_read_at(file, 0, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
        CHECK(got == 10);
      }
      break;
    case 17:
      /* Any rank may be first at the shared pointer. */
      MPI_File_write_shared(file, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
      reopen();
      MPI_File_read_all(file, all, 2, MPI_INT, &status);
      if (all[0] != 10) abort(); // wrong 17
      break;
    case 18: {
      char first;
      CHECK(MPI_File_open(world, "/etc/passwd", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
      MPI_File_get_size(file, &size_now);
      MPI_File_read_all(file, &first, 1, MPI_CHAR, MPI_STATUS_IGNORE);
      CHECK(size_now > 0 && first > ' ');
      break;
    }
    case 19:
      MPI_File_set_atomicity(file, 1);
      MPI_File_get_atomicity(file, &flag);
      CHECK(flag);
      MPI_File_write_at(file, 0, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
      break;
    case 20:
      /* In atomic mode nothing has to be synchronized. */
      MPI_File_set_atomicity(file, 1);
      if (rank == 0) MPI_File_write_at(file, 0, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
      MPI_Barrier(world);
      MPI_File_read_at(file, 0, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
      CHECK(got == 10);
      break;
    case 21:
      /* Each rank has opened the file for itself. */
      MPI_File_close(&file);
      MPI_File_open(MPI_COMM_SELF, "io.dat", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
      if (rank == 0) MPI_File_write_at(file, 0, &mine, 1, MPI_INT, MPI_STATUS_IGNORE); // wrong 21
      else MPI_File_read_at(file, 0, &got, 1, MPI_INT, MPI_STATUS_IGNORE); // wrong 21
      break;
    case 22:
      reopen();
      MPI_File_write_at(file, 0, &mine, 1, MPI_INT, MPI_STATUS_IGNORE); // wrong 22
      break;
    case 23:
      /* Where the end is depends on who is first. */
      if (rank == 0) MPI_File_write_at(file, 8, &mine, 1, MPI_INT, MPI_STATUS_IGNORE); // wrong 23
      else MPI_File_seek(file, 0, MPI_SEEK_END); // wrong 23
      break;
    case 24:
      MPI_File_iwrite_at(file, 4 * rank, &mine, 1, MPI_INT, &request); // wrong 24
      MPI_File_sync(file); // wrong 24
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 25:
      /* One copy of the type begins within the one before. */
      MPI_Type_vector(2, 1, 3, MPI_INT, &every);
      MPI_Type_create_resized(every, 0, sizeof(int), &every);
      MPI_Type_commit(&every);
      MPI_File_set_view(file, 0, MPI_INT, every, "native", MPI_INFO_NULL); // wrong 25
      break;
    case 26:
      /* Either rank may be last. */
      MPI_File_set_atomicity(file, 1);
      MPI_File_write_at(file, 0, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
      MPI_Barrier(world);
      MPI_File_read_at(file, 0, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
      if (got == 10) abort(); // wrong 26
      break;
    case 27:
      /* When it acts before its end is open. */
      MPI_File_set_atomicity(file, 1);
      MPI_File_iwrite_at(file, 0, &mine, 1, MPI_INT, &request); // wrong 27
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 28: {
      const unsigned char wanted[] = {0, 0, 0, 10, 0, 0, 0, 11, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0};
      unsigned char bytes[sizeof wanted];
      char form[MPI_MAX_DATAREP_STRING];
      double half = 1.5, back = 0;
      MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
      MPI_File_write_at_all(file, rank, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
      if (rank == 0) MPI_File_write_at(file, 2, &half, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
      MPI_File_get_view(file, &size_now, &every, &every, form);
      CHECK(strcmp(form, "external32") == 0);
      reopen();
      MPI_File_read_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, &status);
      CHECK(memcmp(bytes, wanted, sizeof bytes) == 0);
      MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL);
      MPI_File_read_at_all(file, 8, &back, 1, MPI_DOUBLE, &status);
      MPI_File_read_at_all(file, 0, all, 2, MPI_INT, &status);
      CHECK(back == 1.5 && all[0] == 10 && all[1] == 11);
      break;
    }
    case 29:
      /* How much is read depends on who is first. */
      if (rank == 0) MPI_File_write_at(file, 8, &mine, 1, MPI_INT, MPI_STATUS_IGNORE); // wrong 29
      else MPI_File_read_at(file, 0, &got, 1, MPI_INT, &status); // wrong 29
      break;
    case 30:
      MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL); // wrong 30
      break;
    case 31: // Either rank creates the file, which is there for both.
      CHECK(open_alone(MPI_MODE_CREATE | MPI_MODE_WRONLY) == MPI_SUCCESS);
      MPI_File_write_at(file, 4 * rank, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
      MPI_File_close(&file);
      MPI_Barrier(world);
      CHECK(open_alone(MPI_MODE_RDONLY) == MPI_SUCCESS);
      MPI_File_read_at(file, 4 * other, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
      CHECK(got == 10 + other);
      break;
    case 32: // And for a rank that has created it whatever the other one does.
      CHECK(open_alone(MPI_MODE_CREATE | MPI_MODE_WRONLY) == MPI_SUCCESS);
      MPI_File_close(&file);
      CHECK(open_alone(MPI_MODE_RDONLY) == MPI_SUCCESS);
      MPI_File_close(&file);
      CHECK(open_alone(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR) == MPI_ERR_FILE_EXISTS);
      return;
    case 33: // Only one of them does the work.
      if (open_alone(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR) == MPI_ERR_FILE_EXISTS) return;
      break;
    case 34: // Whether it is there depends on who is first.
      if (open_alone(rank ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_RDWR) == MPI_ERR_NO_SUCH_FILE) return;
      break;
    case 35: // Nor does it stay if the other rank removes it.
      CHECK(open_alone(MPI_MODE_CREATE | MPI_MODE_RDWR) == MPI_SUCCESS);
      MPI_File_close(&file);
      if (rank == 0) MPI_File_delete("io.dat", MPI_INFO_NULL); // wrong 35
      return;
  }
  MPI_File_close(&file);
}
