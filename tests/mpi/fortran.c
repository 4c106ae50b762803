// Datatypes of Fortran, handles as numbers, and data in the representation of files.
// 1, 2, 3, 4, 5, 6: right
// 7: invalid operator
// 8: unsupported
// 9: invalid argument
// 10: datatype mismatch
// 11: truncation
// 12: invalid datatype
#include "cases.h"
#include <assert.h>
#include <complex.h>
#include <string.h>

static void run(void) {
  int peer = 1 - rank, mine = rank + 1, sum = 0, combiner, integers[2], counts[3];
  float _Complex z = 1 + rank * I, all = 0;
  MPI_Datatype type, other;
  MPI_Comm comm;
  MPI_Status status, copied;
  MPI_Fint numbers[MPI_F_STATUS_SIZE];
  MPI_F08_status newer;
  MPI_Aint position = 0, size;
  switch (which) {
    case 1:
      MPI_Allreduce(&z, &all, 1, MPI_COMPLEX, MPI_SUM, world);
      assert(all == 2 + 1 * I);
      MPI_Allreduce(&mine, &sum, 1, MPI_INTEGER, MPI_MAX, world);
      assert(sum == 2);
      MPI_Allreduce(&rank, &sum, 1, MPI_LOGICAL, MPI_LOR, world);
      assert(sum == 1);
      double best[2], pair[2] = {-rank, rank};
      MPI_Allreduce(pair, best, 1, MPI_2DOUBLE_PRECISION, MPI_MINLOC, world);
      assert(best[0] == -1 && best[1] == 1);
      char bytes[16] = {5}, got[16] = {0};
      MPI_Sendrecv(bytes, 1, MPI_REAL16, peer, 0, got, 1, MPI_REAL16, peer, 0, world, MPI_STATUS_IGNORE);
      assert(got[0] == 5);
      break;
    case 2: // A handle is a number, and back.
      assert(MPI_Comm_f2c(MPI_Comm_c2f(world)) == world && MPI_Type_fromint(MPI_Type_toint(MPI_INT)) == MPI_INT);
      MPI_Comm_dup(world, &comm);
      assert(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm && MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
      MPI_Comm_free(&comm);
      break;
    case 3:
      MPI_Sendrecv(&mine, 1, MPI_INT, peer, 7, &sum, 1, MPI_INT, peer, 7, world, &status);
      MPI_Status_c2f(&status, numbers);
      assert(numbers[MPI_F_SOURCE] == peer && numbers[MPI_F_TAG] == 7);
      MPI_Status_f2f08(numbers, &newer);
      MPI_Status_f082c(&newer, &copied);
      MPI_Get_count(&copied, MPI_INT, &sum);
      assert(sum == 1 && copied.MPI_TAG == 7);
      MPI_Status_set_tag(&copied, 9);
      MPI_Status_get_tag(&copied, &sum);
      MPI_Status_get_source(&copied, &combiner);
      assert(sum == 9 && combiner == peer);
      break;
    case 4: // The same type each time.
      MPI_Type_create_f90_real(15, MPI_UNDEFINED, &type);
      MPI_Type_create_f90_real(15, MPI_UNDEFINED, &other);
      assert(type == other);
      MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
      assert(combiner == MPI_COMBINER_F90_REAL && counts[0] == 2 && counts[2] == 0);
      MPI_Type_get_contents(type, 2, 0, 0, integers, NULL, NULL);
      assert(integers[0] == 15 && integers[1] == MPI_UNDEFINED);
      double one = 1 + rank, two;
      MPI_Allreduce(&one, &two, 1, type, MPI_SUM, world);
      assert(two == 3);
      MPI_Type_create_f90_integer(9, &type);
      MPI_Type_size(type, &sum);
      assert(sum == 4);
      MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type);
      MPI_Type_get_value_index(MPI_CHAR, MPI_INT, &other);
      assert(type == MPI_DOUBLE_INT && other == MPI_DATATYPE_NULL);
      break;
    case 5: { // The most significant byte comes first.
      unsigned char out[32];
      long far = -2, back = 0;
      short three[3] = {0x102, 0x304, 0x506}, again[3];
      MPI_Pack_external_size("external32", 1, MPI_LONG, &size);
      assert(size == 4);
      MPI_Pack_external("external32", &far, 1, MPI_LONG, out, sizeof out, &position);
      MPI_Pack_external("external32", three, 3, MPI_SHORT, out, sizeof out, &position);
      assert(position == 10 && memcmp(out, "\xff\xff\xff\xfe\1\2\3\4\5\6", 10) == 0);
      position = 0;
      MPI_Unpack_external("external32", out, 10, &position, &back, 1, MPI_LONG);
      MPI_Unpack_external("external32", out, 10, &position, again, 3, MPI_SHORT);
      assert(back == -2 && memcmp(three, again, sizeof three) == 0);
      MPI_Count place = 0;
      MPI_Pack_external_c("external32", &z, 1, MPI_COMPLEX, out, sizeof out, &place);
      assert(place == 8 && out[0] == 0x3f && out[1] == 0x80 && out[2] == 0);
      break;
    }
    case 6: // What is known of this MPI.
      MPI_Abi_get_version(&counts[0], &counts[1]);
      assert(counts[0] == 1 && counts[1] == 0);
      MPI_Info info;
      MPI_Abi_get_info(&info);
      char value[8];
      MPI_Info_get(info, "mpi_aint_size", 7, value, &sum);
      assert(sum && atoi(value) == sizeof(MPI_Aint));
      MPI_Info_free(&info);
      MPI_T_init_thread(MPI_THREAD_SINGLE, &combiner);
      MPI_T_cvar_get_num(&sum);
      assert(sum == 0 && MPI_T_cvar_get_index("depth", &sum) == MPI_T_ERR_INVALID_NAME);
      MPI_T_finalize();
      assert(MPI_T_pvar_get_num(&sum) == MPI_T_ERR_NOT_INITIALIZED);
      break;
    case 7: MPI_Allreduce(&mine, &sum, 1, MPI_LOGICAL, MPI_SUM, world); break; // wrong 7
    case 8: MPI_Allreduce((char[16]){0}, (char[16]){0}, 1, MPI_REAL16, MPI_SUM, world); break; // wrong 8
    case 9: MPI_Pack_external("native", &mine, 1, MPI_INT, numbers, sizeof numbers, &position); break; // wrong 9
    case 10: MPI_Sendrecv(&mine, 1, MPI_INTEGER, peer, 0, &sum, 1, MPI_REAL, peer, 0, world, &status); break; // wrong 10
    case 11: MPI_Pack_external("external32", &mine, 1, MPI_INT, numbers, 3, &position); break; // wrong 11
    case 12: // It belongs to MPI.
      MPI_Type_create_f90_integer(4, &type);
      MPI_Type_free(&type); // wrong 12
      break;
  }
}
