/* Handles as numbers, and statuses of Fortran. A handle is a small number, so both ways are casts. */
#include "rank.h"

#define NUMBERS(kind, handle)                                                                       \
  FUNCTION_OF(MPI_Fint, kind##_c2f, (handle given)) { return (MPI_Fint)(intptr_t)given; }           \
  FUNCTION_OF(handle, kind##_f2c, (MPI_Fint number)) { return (handle)(intptr_t)number; }           \
  FUNCTION(kind##_toint, (handle given)) { return (int)(intptr_t)given; }                           \
  FUNCTION_OF(handle, kind##_fromint, (int number)) { return (handle)(intptr_t)number; }
NUMBERS(Comm, MPI_Comm)
NUMBERS(Errhandler, MPI_Errhandler)
NUMBERS(File, MPI_File)
NUMBERS(Group, MPI_Group)
NUMBERS(Info, MPI_Info)
NUMBERS(Message, MPI_Message)
NUMBERS(Op, MPI_Op)
NUMBERS(Request, MPI_Request)
NUMBERS(Session, MPI_Session)
NUMBERS(Type, MPI_Datatype)
NUMBERS(Win, MPI_Win)

/* All statuses are the same numbers in the same order. */
_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint), "a status of Fortran is one of C");
_Static_assert(sizeof(MPI_Status) == sizeof(MPI_F08_status), "a status of Fortran is one of C");

#define CONVERTED(name, from, to)                        \
  FUNCTION(name, (const from *status, to *made)) {       \
    HERE("MPI_" #name);                                  \
    memory_use(status, sizeof(MPI_Status), READS, "`status`"); \
    memory_use(made, sizeof(MPI_Status), WRITES, "`made`"); \
    memmove(made, status, sizeof(MPI_Status));           \
    return MPI_SUCCESS;                                  \
  }
CONVERTED(Status_c2f, MPI_Status, MPI_Fint)
CONVERTED(Status_f2c, MPI_Fint, MPI_Status)
CONVERTED(Status_c2f08, MPI_Status, MPI_F08_status)
CONVERTED(Status_f082c, MPI_F08_status, MPI_Status)
CONVERTED(Status_f2f08, MPI_Fint, MPI_F08_status)
CONVERTED(Status_f082f, MPI_F08_status, MPI_Fint)

#define PART_OF_STATUS(name, part)                            \
  FUNCTION(Status_get_##name, (const MPI_Status *status, int *name)) { \
    HERE("MPI_Status_get_" #name);                            \
    *OUT(name) = INS(status, 1)->part;                        \
    return MPI_SUCCESS;                                       \
  }                                                           \
  FUNCTION(Status_set_##name, (MPI_Status *status, int name)) { \
    HERE("MPI_Status_set_" #name);                            \
    OUT(status)->part = name;                                 \
    return MPI_SUCCESS;                                       \
  }
PART_OF_STATUS(source, MPI_SOURCE)
PART_OF_STATUS(tag, MPI_TAG)
PART_OF_STATUS(error, MPI_ERROR)

/* The ABI of MPI 5.0. Nothing is known of a Fortran compiler. */
FUNCTION(Abi_get_version, (int *version, int *subversion)) {
  ANYWHERE("MPI_Abi_get_version");
  *OUT(version) = MPI_ABI_VERSION;
  *OUT(subversion) = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

FUNCTION(Abi_get_info, (MPI_Info *info)) {
  HERE("MPI_Abi_get_info");
  MPI_Info made = info_new();
  const struct { const char *key; size_t size; } sizes[] = {
      {"mpi_aint_size", sizeof(MPI_Aint)}, {"mpi_count_size", sizeof(MPI_Count)}, {"mpi_offset_size", sizeof(MPI_Offset)}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char text[8];
    snprintf(text, sizeof text, "%zu", sizes[i].size);
    info_put(made, sizes[i].key, text);
  }
  *OUT(info) = made;
  return MPI_SUCCESS;
}

FUNCTION(Abi_get_fortran_info, (MPI_Info *info)) {
  HERE("MPI_Abi_get_fortran_info");
  *OUT(info) = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

FUNCTION(Abi_get_fortran_booleans, (int size, void *true_value, void *false_value, int *is_set)) {
  HERE("MPI_Abi_get_fortran_booleans");
  (void)size, (void)true_value, (void)false_value;
  *OUT(is_set) = 0;
  return MPI_SUCCESS;
}

/* Nothing is known of the machine. */
FUNCTION(Get_hw_resource_info, (MPI_Info *info)) {
  HERE("MPI_Get_hw_resource_info");
  *OUT(info) = info_new();
  return MPI_SUCCESS;
}
