/* Functions that cannot be verified: programs can be linked with them, and calls are reported. */
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
REFUSED(Open_port, (MPI_Info info, char *name))
REFUSED(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win))
REFUSED(Win_attach, (MPI_Win win, void *base, MPI_Aint size))
REFUSED(Win_detach, (MPI_Win win, const void *base))
REFUSED(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win))
REFUSED(Win_shared_query, (MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base))
REFUSED(Win_test, (MPI_Win win, int *flag))
REFUSED(Pack_external, (const char form[], const void *in, int count, MPI_Datatype type, void *out, MPI_Aint size, MPI_Aint *position))
REFUSED(Unpack_external, (const char form[], const void *in, MPI_Aint size, MPI_Aint *position, void *out, int count, MPI_Datatype type))
REFUSED(Pack_external_size, (const char form[], int count, MPI_Datatype type, MPI_Aint *size))
