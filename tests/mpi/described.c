// What programs ask about datatypes, statuses and hints.
// 1, 2, 3, 4, 5, 9: right
// 6: warning: datatype leak
// 7: invalid argument
// 8: invalid datatype
#include "cases.h"
#include <assert.h>
#include <string.h>

/* Each element of an array is in exactly one part of it. */
static void check_distribution(int order, int how, int argument) {
  int sizes[2] = {5, 4}, hows[2] = {how, MPI_DISTRIBUTE_CYCLIC}, arguments[2] = {argument, MPI_DISTRIBUTE_DFLT_DARG};
  int processes[2] = {2, 2}, seen[20] = {0}, all = 0;
  for (int part = 0; part < 4; part++) {
    int from[20], to[20], position = 0, bytes;
    char packed[20 * sizeof(int)];
    MPI_Datatype type;
    for (int i = 0; i < 20; i++) from[i] = i, to[i] = -1;
    MPI_Type_create_darray(4, part, 2, sizes, hows, arguments, processes, order, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    MPI_Pack(from, 1, type, packed, sizeof packed, &position, world);
    position = 0;
    MPI_Unpack(packed, bytes, &position, to, 1, type, world);
    for (int i = 0; i < 20; i++) seen[i] += to[i] == i;
    all += bytes / (int)sizeof(int);
    MPI_Type_free(&type);
  }
  assert(all == 20);
  for (int i = 0; i < 20; i++) assert(seen[i] == 1);
}

static void run(void) {
  int integers, addresses, types, how, numbers[8], flag, length, keys;
  char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY];
  MPI_Count count;
  MPI_Aint places[4];
  MPI_Datatype inner, outer, parts[2];
  MPI_Status status;
  MPI_Info info, other;
  switch (which) {
    case 1:
    case 6:
      MPI_Type_vector(2, 3, 4, MPI_INT, &inner);
      MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){8, 100}, (MPI_Datatype[]){MPI_DOUBLE, inner}, &outer);
      MPI_Type_free(&inner);
      MPI_Type_get_envelope(outer, &integers, &addresses, &types, &how);
      assert(integers == 3 && addresses == 2 && types == 2 && how == MPI_COMBINER_STRUCT);
      MPI_Type_get_contents(outer, 3, 2, 2, numbers, places, parts); // wrong 6
      assert(numbers[0] == 2 && numbers[2] == 2 && places[1] == 100 && parts[0] == MPI_DOUBLE);
      MPI_Type_get_envelope(parts[1], &integers, &addresses, &types, &how);
      assert(integers == 3 && how == MPI_COMBINER_VECTOR);
      MPI_Type_free(&outer);
      if (which == 1) MPI_Type_free(&parts[1]);
      break;
    case 2:
      check_distribution(MPI_ORDER_C, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG);
      check_distribution(MPI_ORDER_FORTRAN, MPI_DISTRIBUTE_BLOCK, 4);
      check_distribution(MPI_ORDER_C, MPI_DISTRIBUTE_CYCLIC, 2);
      check_distribution(MPI_ORDER_FORTRAN, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG);
      break;
    case 3:
      MPI_Status_set_elements(&status, MPI_DOUBLE_INT, 5);
      MPI_Get_elements_x(&status, MPI_DOUBLE_INT, &count);
      assert(count == 5);
      MPI_Get_count(&status, MPI_DOUBLE_INT, &length);
      assert(length == MPI_UNDEFINED);
      MPI_Status_set_cancelled(&status, 1);
      MPI_Test_cancelled(&status, &flag);
      assert(flag);
      break;
    case 4:
      MPI_Info_create(&info);
      MPI_Info_set(info, "first", "one");
      MPI_Info_set(info, "second", "two");
      MPI_Info_set(info, "first", "three");
      MPI_Info_dup(info, &other);
      MPI_Info_delete(info, "second");
      MPI_Info_get_nkeys(info, &keys);
      MPI_Info_get(info, "second", 10, value, &flag);
      assert(keys == 1 && !flag);
      MPI_Info_get(other, "first", 3, value, &flag);
      assert(flag && strcmp(value, "thr") == 0);
      MPI_Info_get_nthkey(other, 1, key);
      MPI_Info_get_valuelen(other, key, &length, &flag);
      assert(strcmp(key, "second") == 0 && flag && length == 3);
      length = sizeof value;
      MPI_Info_get_string(other, key, &length, value, &flag);
      assert(length == 4 && strcmp(value, "two") == 0);
      MPI_Info_free(&info);
      MPI_Info_free(&other);
      break;
    case 5:
      MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &inner);
      assert(inner == MPI_DOUBLE);
      MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, &inner);
      assert(inner == MPI_SHORT);
      break;
    case 7:
      MPI_Info_create(&info);
      MPI_Info_delete(info, "nothing"); // wrong 7
      break;
    case 9: // Rules of C and MPI: alignments, parts of values, balanced dimensions.
      MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_CHAR, MPI_C_FLOAT_COMPLEX}, &inner);
      MPI_Type_get_extent(inner, &places[0], &places[1]);
      assert(places[1] == sizeof(struct { char a; float _Complex b; }) && places[1] == 12);
      MPI_Type_free(&inner);
      MPI_Status_set_elements(&status, MPI_CHAR, 13);
      MPI_Get_elements(&status, MPI_DOUBLE_INT, &length);
      assert(length == MPI_UNDEFINED);
      memset(numbers, 0, sizeof numbers);
      MPI_Dims_create(288, 2, numbers);
      assert(numbers[0] == 18 && numbers[1] == 16);
      numbers[0] = numbers[2] = numbers[3] = 0, numbers[1] = 2;
      MPI_Dims_create(60, 4, numbers);
      assert(numbers[0] == 5 && numbers[1] == 2 && numbers[2] == 3 && numbers[3] == 2);
      break;
    case 8: MPI_Type_get_contents(MPI_INT, 1, 1, 1, numbers, places, parts); break; // wrong 8
  }
}
