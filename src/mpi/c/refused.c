/* What cannot be verified: the program can be linked, and who calls it is told. */
#include "rank.h"

#define REFUSED(refused, parameters)                                                   \
  FUNCTION(refused, parameters) {                                                     \
    HERE("MPI_" #refused);                                                            \
    fail("unsupported", "%s is not among the functions that can be verified", call.name); \
  }

#pragma GCC diagnostic ignored "-Wunused-parameter"
REFUSED(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file))
REFUSED(File_close, (MPI_File *file))
REFUSED(File_delete, (const char *name, MPI_Info info))
REFUSED(File_get_size, (MPI_File file, MPI_Offset *size))
REFUSED(File_set_size, (MPI_File file, MPI_Offset size))
REFUSED(File_set_view, (MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype type, const char *form, MPI_Info info))
REFUSED(File_seek, (MPI_File file, MPI_Offset offset, int whence))
REFUSED(File_read, (MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status))
REFUSED(File_read_all, (MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status))
REFUSED(File_read_at, (MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status))
REFUSED(File_read_at_all, (MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status))
REFUSED(File_write, (MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Status *status))
REFUSED(File_write_all, (MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Status *status))
REFUSED(File_write_at, (MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type, MPI_Status *status))
REFUSED(File_write_at_all, (MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type, MPI_Status *status))
REFUSED(Comm_spawn, (const char *command, char *argv[], int count, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made, int codes[]))
REFUSED(Comm_get_parent, (MPI_Comm *parent))
REFUSED(Intercomm_create, (MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *made))
REFUSED(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made))
REFUSED(Open_port, (MPI_Info info, char *name))
REFUSED(Graph_create, (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *made))
REFUSED(Dist_graph_create_adjacent, (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out, const int destinations[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm *made))
REFUSED(Neighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm))
REFUSED(Neighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm))
REFUSED(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win))
REFUSED(Win_attach, (MPI_Win win, void *base, MPI_Aint size))
REFUSED(Win_detach, (MPI_Win win, const void *base))
REFUSED(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win))
REFUSED(Win_shared_query, (MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base))
REFUSED(Win_test, (MPI_Win win, int *flag))
REFUSED(Win_call_errhandler, (MPI_Win win, int code))
REFUSED(Win_get_info, (MPI_Win win, MPI_Info *info))
REFUSED(Comm_remote_size, (MPI_Comm comm, int *size))
REFUSED(Type_create_darray, (int size, int rank, int ndims, const int sizes[], const int distributions[], const int arguments[], const int parts[], int order, MPI_Datatype old, MPI_Datatype *made))
REFUSED(Type_get_envelope, (MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner))
REFUSED(Type_get_contents, (MPI_Datatype type, int integers, int addresses, int types, int integer[], MPI_Aint address[], MPI_Datatype made[]))
REFUSED(Type_match_size, (int kind, int size, MPI_Datatype *type))
REFUSED(Pack_external, (const char form[], const void *in, int count, MPI_Datatype type, void *out, MPI_Aint size, MPI_Aint *position))
REFUSED(Unpack_external, (const char form[], const void *in, MPI_Aint size, MPI_Aint *position, void *out, int count, MPI_Datatype type))
REFUSED(Pack_external_size, (const char form[], int count, MPI_Datatype type, MPI_Aint *size))
REFUSED(Status_set_cancelled, (MPI_Status *status, int flag))
REFUSED(Status_set_elements, (MPI_Status *status, MPI_Datatype type, int count))
REFUSED(Neighbor_alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
REFUSED(Neighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
