/* Functions that MPI has renamed. Old programs still use them. */
#include "rank.h"

FUNCTION(Address, (void *location, MPI_Aint *address)) {
  HERE("MPI_Address");
  *OUT(address) = (MPI_Aint)location;
  return MPI_SUCCESS;
}

FUNCTION(Type_extent, (MPI_Datatype type, MPI_Aint *extent)) {
  CALL("MPI_Type_extent");
  *OUT(extent) = type_get(type)->extent;
  return MPI_SUCCESS;
}

FUNCTION(Type_lb, (MPI_Datatype type, MPI_Aint *bound)) {
  CALL("MPI_Type_lb");
  *OUT(bound) = type_get(type)->lb;
  return MPI_SUCCESS;
}

FUNCTION(Type_ub, (MPI_Datatype type, MPI_Aint *bound)) {
  CALL("MPI_Type_ub");
  *OUT(bound) = type_get(type)->lb + type_get(type)->extent;
  return MPI_SUCCESS;
}

/* The call of the old name is the place where the type was made. */
#define RENAMED(old, new, parameters, arguments)              \
  int PMPI_##new parameters;                                  \
  FUNCTION(old, parameters) {                                 \
    CALL("MPI_" #old);                                        \
    uintptr_t site = call.site;                               \
    int code = PMPI_##new arguments;                          \
    call.site = site;                                         \
    return code;                                              \
  }

RENAMED(Type_hvector, Type_create_hvector, (int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *made),
        (count, length, stride, old, made))
RENAMED(Type_hindexed, Type_create_hindexed,
        (int count, const int lengths[], const MPI_Aint displs[], MPI_Datatype old, MPI_Datatype *made),
        (count, lengths, displs, old, made))
RENAMED(Type_struct, Type_create_struct,
        (int count, const int lengths[], const MPI_Aint displs[], const MPI_Datatype types[], MPI_Datatype *made),
        (count, lengths, displs, types, made))
