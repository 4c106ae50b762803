/* mpi.h of `mazurka mpicc`: the part of MPI that can be verified, with the values of the ABI of MPI
 * 5.0.
 *
 * A function that is not declared here is unknown to Mazurka: the compiler or the linker names it.
 * Each function exists as MPI_F, which a program may define itself, and as PMPI_F, which that
 * definition may call. */
#ifndef MAZURKA_MPI_H
#define MAZURKA_MPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

typedef struct {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;

/* Handles are pointers to types that are never defined. Their values are constants or indices into
 * tables. */
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Win *MPI_Win;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_File *MPI_File;

#define MPI_OP_NULL ((MPI_Op)0x20)
#define MPI_SUM ((MPI_Op)0x21)
#define MPI_MIN ((MPI_Op)0x22)
#define MPI_MAX ((MPI_Op)0x23)
#define MPI_PROD ((MPI_Op)0x24)
#define MPI_BAND ((MPI_Op)0x28)
#define MPI_BOR ((MPI_Op)0x29)
#define MPI_BXOR ((MPI_Op)0x2a)
#define MPI_LAND ((MPI_Op)0x30)
#define MPI_LOR ((MPI_Op)0x31)
#define MPI_LXOR ((MPI_Op)0x32)
#define MPI_MINLOC ((MPI_Op)0x38)
#define MPI_MAXLOC ((MPI_Op)0x39)
#define MPI_REPLACE ((MPI_Op)0x3c)
#define MPI_NO_OP ((MPI_Op)0x3d)

#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_GROUP_NULL ((MPI_Group)0x108)
#define MPI_GROUP_EMPTY ((MPI_Group)0x109)
#define MPI_WIN_NULL ((MPI_Win)0x110)
#define MPI_MESSAGE_NULL ((MPI_Message)0x128)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)0x129)
#define MPI_INFO_NULL ((MPI_Info)0x130)
#define MPI_INFO_ENV ((MPI_Info)0x131)
#define MPI_ERRHANDLER_NULL ((MPI_Errhandler)0x140)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x141)
#define MPI_ERRORS_ABORT ((MPI_Errhandler)0x142)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x143)
#define MPI_FILE_NULL ((MPI_File)0x118)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)

#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)
#define MPI_AINT ((MPI_Datatype)0x201)
#define MPI_COUNT ((MPI_Datatype)0x202)
#define MPI_OFFSET ((MPI_Datatype)0x203)
#define MPI_PACKED ((MPI_Datatype)0x207)
#define MPI_SHORT ((MPI_Datatype)0x208)
#define MPI_INT ((MPI_Datatype)0x209)
#define MPI_LONG ((MPI_Datatype)0x20a)
#define MPI_LONG_LONG ((MPI_Datatype)0x20b)
#define MPI_LONG_LONG_INT MPI_LONG_LONG
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)0x20c)
#define MPI_UNSIGNED ((MPI_Datatype)0x20d)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x20e)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)0x20f)
#define MPI_FLOAT ((MPI_Datatype)0x210)
#define MPI_C_FLOAT_COMPLEX ((MPI_Datatype)0x212)
#define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX ((MPI_Datatype)0x213)
#define MPI_DOUBLE ((MPI_Datatype)0x214)
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype)0x216)
#define MPI_CXX_DOUBLE_COMPLEX ((MPI_Datatype)0x217)
#define MPI_LONG_DOUBLE ((MPI_Datatype)0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x225)
#define MPI_FLOAT_INT ((MPI_Datatype)0x228)
#define MPI_DOUBLE_INT ((MPI_Datatype)0x229)
#define MPI_LONG_INT ((MPI_Datatype)0x22a)
#define MPI_2INT ((MPI_Datatype)0x22b)
#define MPI_SHORT_INT ((MPI_Datatype)0x22c)
#define MPI_LONG_DOUBLE_INT ((MPI_Datatype)0x22d)
#define MPI_C_BOOL ((MPI_Datatype)0x238)
#define MPI_CXX_BOOL ((MPI_Datatype)0x239)
#define MPI_WCHAR ((MPI_Datatype)0x23c)
#define MPI_INT8_T ((MPI_Datatype)0x240)
#define MPI_UINT8_T ((MPI_Datatype)0x241)
#define MPI_CHAR ((MPI_Datatype)0x243)
#define MPI_SIGNED_CHAR ((MPI_Datatype)0x244)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)0x245)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_INT16_T ((MPI_Datatype)0x248)
#define MPI_UINT16_T ((MPI_Datatype)0x249)
#define MPI_INT32_T ((MPI_Datatype)0x250)
#define MPI_UINT32_T ((MPI_Datatype)0x251)
#define MPI_INT64_T ((MPI_Datatype)0x258)
#define MPI_UINT64_T ((MPI_Datatype)0x259)

enum {
  MPI_SUCCESS = 0, MPI_ERR_BUFFER = 1, MPI_ERR_COUNT = 2, MPI_ERR_TYPE = 3, MPI_ERR_TAG = 4, MPI_ERR_COMM = 5,
  MPI_ERR_RANK = 6, MPI_ERR_REQUEST = 7, MPI_ERR_ROOT = 8, MPI_ERR_GROUP = 9, MPI_ERR_OP = 10, MPI_ERR_TOPOLOGY = 11,
  MPI_ERR_DIMS = 12, MPI_ERR_ARG = 13, MPI_ERR_UNKNOWN = 14, MPI_ERR_TRUNCATE = 15, MPI_ERR_OTHER = 16,
  MPI_ERR_INTERN = 17, MPI_ERR_PENDING = 18, MPI_ERR_IN_STATUS = 19, MPI_ERR_ACCESS = 20, MPI_ERR_AMODE = 21,
  MPI_ERR_ASSERT = 22, MPI_ERR_BAD_FILE = 23, MPI_ERR_BASE = 24, MPI_ERR_CONVERSION = 25, MPI_ERR_DISP = 26,
  MPI_ERR_DUP_DATAREP = 27, MPI_ERR_FILE_EXISTS = 28, MPI_ERR_FILE_IN_USE = 29, MPI_ERR_FILE = 30, MPI_ERR_INFO_KEY = 31,
  MPI_ERR_INFO_NOKEY = 32, MPI_ERR_INFO_VALUE = 33, MPI_ERR_INFO = 34, MPI_ERR_IO = 35, MPI_ERR_KEYVAL = 36,
  MPI_ERR_LOCKTYPE = 37, MPI_ERR_NAME = 38, MPI_ERR_NO_MEM = 39, MPI_ERR_NOT_SAME = 40, MPI_ERR_NO_SPACE = 41,
  MPI_ERR_NO_SUCH_FILE = 42, MPI_ERR_PORT = 43, MPI_ERR_QUOTA = 44, MPI_ERR_READ_ONLY = 45, MPI_ERR_RMA_ATTACH = 46,
  MPI_ERR_RMA_CONFLICT = 47, MPI_ERR_RMA_RANGE = 48, MPI_ERR_RMA_SHARED = 49, MPI_ERR_RMA_SYNC = 50, MPI_ERR_SERVICE = 51,
  MPI_ERR_SIZE = 52, MPI_ERR_SPAWN = 53, MPI_ERR_UNSUPPORTED_DATAREP = 54, MPI_ERR_UNSUPPORTED_OPERATION = 55,
  MPI_ERR_WIN = 56, MPI_ERR_RMA_FLAVOR = 57, MPI_ERR_PROC_ABORTED = 58, MPI_ERR_VALUE_TOO_LARGE = 59, MPI_ERR_SESSION = 60,
  MPI_ERR_ERRHANDLER = 61, MPI_ERR_LASTCODE = 16383
};

#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_ERRCODES_IGNORE ((int *)0)
#define MPI_ARGV_NULL ((char **)0)
#define MPI_UNWEIGHTED ((int *)10)
#define MPI_WEIGHTS_EMPTY ((int *)11)

#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_INFO_KEY 256
#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_BSEND_OVERHEAD 512

enum {
  MPI_MODE_NOCHECK = 1024, MPI_MODE_NOPRECEDE = 2048, MPI_MODE_NOPUT = 4096, MPI_MODE_NOSTORE = 8192,
  MPI_MODE_NOSUCCEED = 16384
};
enum {
  MPI_MODE_APPEND = 1, MPI_MODE_CREATE = 2, MPI_MODE_DELETE_ON_CLOSE = 4, MPI_MODE_EXCL = 8, MPI_MODE_RDONLY = 16,
  MPI_MODE_RDWR = 32, MPI_MODE_SEQUENTIAL = 64, MPI_MODE_UNIQUE_OPEN = 128, MPI_MODE_WRONLY = 256,
  MPI_SEEK_CUR = 600, MPI_SEEK_END = 602, MPI_SEEK_SET = 604
};
enum { MPI_ANY_SOURCE = -1, MPI_ANY_TAG = -2, MPI_PROC_NULL = -3, MPI_ROOT = -4, MPI_UNDEFINED = -32766 };
enum {
  MPI_THREAD_SINGLE = 0, MPI_THREAD_FUNNELED = 1024, MPI_THREAD_SERIALIZED = 2048, MPI_THREAD_MULTIPLE = 4096,
  MPI_ORDER_C = 12, MPI_ORDER_FORTRAN = 15,
  MPI_IDENT = 201, MPI_CONGRUENT = 202, MPI_SIMILAR = 203, MPI_UNEQUAL = 204,
  MPI_CART = 211, MPI_GRAPH = 212, MPI_DIST_GRAPH = 213, MPI_COMM_TYPE_SHARED = 221,
  MPI_LOCK_EXCLUSIVE = 301, MPI_LOCK_SHARED = 302,
  MPI_WIN_FLAVOR_CREATE = 311, MPI_WIN_FLAVOR_ALLOCATE = 312, MPI_WIN_UNIFIED = 321, MPI_WIN_SEPARATE = 322,
  MPI_KEYVAL_INVALID = 0, MPI_TAG_UB = 501, MPI_IO = 502, MPI_HOST = 503, MPI_WTIME_IS_GLOBAL = 504, MPI_APPNUM = 505,
  MPI_LASTUSEDCODE = 506, MPI_UNIVERSE_SIZE = 507, MPI_WIN_BASE = 601, MPI_WIN_DISP_UNIT = 602, MPI_WIN_SIZE = 603,
  MPI_WIN_CREATE_FLAVOR = 604, MPI_WIN_MODEL = 605,
  MPI_DISTRIBUTE_NONE = 16, MPI_DISTRIBUTE_BLOCK = 17, MPI_DISTRIBUTE_CYCLIC = 18, MPI_DISTRIBUTE_DFLT_DARG = 19,
  MPI_COMBINER_NAMED = 101, MPI_COMBINER_DUP = 102, MPI_COMBINER_CONTIGUOUS = 103, MPI_COMBINER_VECTOR = 104,
  MPI_COMBINER_HVECTOR = 105, MPI_COMBINER_INDEXED = 106, MPI_COMBINER_HINDEXED = 107, MPI_COMBINER_INDEXED_BLOCK = 108,
  MPI_COMBINER_HINDEXED_BLOCK = 109, MPI_COMBINER_STRUCT = 110, MPI_COMBINER_SUBARRAY = 111, MPI_COMBINER_DARRAY = 112,
  MPI_COMBINER_RESIZED = 116, MPI_TYPECLASS_INTEGER = 192, MPI_TYPECLASS_REAL = 193, MPI_TYPECLASS_COMPLEX = 194
};

typedef void(MPI_User_function)(void *in, void *inout, int *length, MPI_Datatype *type);
typedef int(MPI_Comm_copy_attr_function)(MPI_Comm, int, void *, void *, void *, int *);
typedef int(MPI_Comm_delete_attr_function)(MPI_Comm, int, void *, void *);
typedef void(MPI_Comm_errhandler_function)(MPI_Comm *, int *, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *)0)
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function *)1)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function *)0)
typedef void(MPI_Win_errhandler_function)(MPI_Win *, int *, ...);
typedef void(MPI_File_errhandler_function)(MPI_File *, int *, ...);
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef int(MPI_Type_copy_attr_function)(MPI_Datatype, int, void *, void *, void *, int *);
typedef int(MPI_Type_delete_attr_function)(MPI_Datatype, int, void *, void *);
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function *)0)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function *)1)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function *)0)
typedef int(MPI_Win_copy_attr_function)(MPI_Win, int, void *, void *, void *, int *);
typedef int(MPI_Win_delete_attr_function)(MPI_Win, int, void *, void *);
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function *)0)
#define MPI_WIN_DUP_FN ((MPI_Win_copy_attr_function *)1)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function *)0)
#define MPI_NULL_COPY_FN MPI_COMM_NULL_COPY_FN
#define MPI_DUP_FN MPI_COMM_DUP_FN
#define MPI_NULL_DELETE_FN MPI_COMM_NULL_DELETE_FN

#define MAZURKA_API(name, parameters) int MPI_##name parameters; int PMPI_##name parameters;

/* The environment */
MAZURKA_API(Init, (int *argc, char ***argv))
MAZURKA_API(Init_thread, (int *argc, char ***argv, int required, int *provided))
MAZURKA_API(Initialized, (int *flag))
MAZURKA_API(Finalize, (void))
MAZURKA_API(Finalized, (int *flag))
MAZURKA_API(Query_thread, (int *provided))
MAZURKA_API(Is_thread_main, (int *flag))
MAZURKA_API(Abort, (MPI_Comm comm, int code))
MAZURKA_API(Get_processor_name, (char *name, int *length))
MAZURKA_API(Get_version, (int *version, int *subversion))
MAZURKA_API(Get_library_version, (char *version, int *length))
MAZURKA_API(Error_string, (int code, char *text, int *length))
MAZURKA_API(Error_class, (int code, int *error_class))
MAZURKA_API(Add_error_class, (int *error_class))
MAZURKA_API(Add_error_code, (int error_class, int *code))
MAZURKA_API(Add_error_string, (int code, const char *text))
MAZURKA_API(Remove_error_class, (int error_class))
MAZURKA_API(Remove_error_code, (int code))
MAZURKA_API(Remove_error_string, (int code))
MAZURKA_API(Alloc_mem, (MPI_Aint size, MPI_Info info, void *base))
MAZURKA_API(Free_mem, (void *base))
MAZURKA_API(Get_address, (const void *location, MPI_Aint *address))
MAZURKA_API(Pcontrol, (const int level, ...))
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp);
MPI_Aint MPI_Aint_diff(MPI_Aint one, MPI_Aint other);
double MPI_Wtime(void);
double PMPI_Wtime(void);
double MPI_Wtick(void);
double PMPI_Wtick(void);

/* Point to point */
MAZURKA_API(Send, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))
MAZURKA_API(Ssend, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))
MAZURKA_API(Bsend, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))
MAZURKA_API(Rsend, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))
MAZURKA_API(Recv, (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status))
MAZURKA_API(Isend, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Issend, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Ibsend, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Irsend, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Irecv, (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Send_init, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Ssend_init, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Bsend_init, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Rsend_init, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Recv_init, (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Start, (MPI_Request *request))
MAZURKA_API(Startall, (int count, MPI_Request requests[]))
MAZURKA_API(Sendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status))
MAZURKA_API(Sendrecv_replace, (void *buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                               MPI_Comm comm, MPI_Status *status))
MAZURKA_API(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
MAZURKA_API(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
MAZURKA_API(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
MAZURKA_API(Mrecv, (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status))
MAZURKA_API(Imrecv, (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request))
MAZURKA_API(Get_count, (const MPI_Status *status, MPI_Datatype type, int *count))
MAZURKA_API(Get_elements, (const MPI_Status *status, MPI_Datatype type, int *count))
MAZURKA_API(Buffer_attach, (void *buffer, int size))
MAZURKA_API(Buffer_detach, (void *buffer, int *size))

/* Requests */
MAZURKA_API(Wait, (MPI_Request *request, MPI_Status *status))
MAZURKA_API(Waitall, (int count, MPI_Request requests[], MPI_Status *statuses))
MAZURKA_API(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status))
MAZURKA_API(Waitsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status *statuses))
MAZURKA_API(Test, (MPI_Request *request, int *flag, MPI_Status *status))
MAZURKA_API(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status *statuses))
MAZURKA_API(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status))
MAZURKA_API(Testsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status *statuses))
MAZURKA_API(Request_free, (MPI_Request *request))
MAZURKA_API(Cancel, (MPI_Request *request))
MAZURKA_API(Test_cancelled, (const MPI_Status *status, int *flag))

/* Collectives */
MAZURKA_API(Barrier, (MPI_Comm comm))
MAZURKA_API(Ibarrier, (MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Bcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm))
MAZURKA_API(Ibcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Gather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
MAZURKA_API(Igather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Gatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, int root, MPI_Comm comm))
MAZURKA_API(Igatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Scatter, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
MAZURKA_API(Iscatter, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Scatterv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
MAZURKA_API(Iscatterv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm))
MAZURKA_API(Iallgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
MAZURKA_API(Iallgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm))
MAZURKA_API(Ialltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
MAZURKA_API(Ialltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Alltoallw, (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm))
MAZURKA_API(Ialltoallw, (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Reduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm))
MAZURKA_API(Ireduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Allreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm))
MAZURKA_API(Iallreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Scan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm))
MAZURKA_API(Iscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
            MPI_Request *request))
MAZURKA_API(Exscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm))
MAZURKA_API(Iexscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
            MPI_Request *request))
MAZURKA_API(Reduce_scatter, (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype type, MPI_Op op,
            MPI_Comm comm))
MAZURKA_API(Ireduce_scatter, (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype type, MPI_Op
            op, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Reduce_scatter_block, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op,
            MPI_Comm comm))
MAZURKA_API(Ireduce_scatter_block, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op,
            MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Reduce_local, (const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op))
MAZURKA_API(Op_create, (MPI_User_function *function, int commute, MPI_Op *op))
MAZURKA_API(Op_free, (MPI_Op *op))
MAZURKA_API(Op_commutative, (MPI_Op op, int *commute))

/* Groups, communicators, topologies */
MAZURKA_API(Comm_size, (MPI_Comm comm, int *size))
MAZURKA_API(Comm_rank, (MPI_Comm comm, int *rank))
MAZURKA_API(Comm_compare, (MPI_Comm one, MPI_Comm other, int *result))
MAZURKA_API(Comm_dup, (MPI_Comm comm, MPI_Comm *made))
MAZURKA_API(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made))
MAZURKA_API(Comm_idup, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request))
MAZURKA_API(Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request))
MAZURKA_API(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made))
MAZURKA_API(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made))
MAZURKA_API(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made))
MAZURKA_API(Comm_free, (MPI_Comm *comm))
MAZURKA_API(Comm_disconnect, (MPI_Comm *comm))
MAZURKA_API(Comm_group, (MPI_Comm comm, MPI_Group *group))
MAZURKA_API(Intercomm_create, (MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *made))
MAZURKA_API(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made))
MAZURKA_API(Comm_remote_size, (MPI_Comm comm, int *size))
MAZURKA_API(Comm_remote_group, (MPI_Comm comm, MPI_Group *group))
MAZURKA_API(Comm_test_inter, (MPI_Comm comm, int *flag))
MAZURKA_API(Comm_get_name, (MPI_Comm comm, char *name, int *length))
MAZURKA_API(Comm_set_name, (MPI_Comm comm, const char *name))
MAZURKA_API(Comm_get_attr, (MPI_Comm comm, int key, void *value, int *flag))
MAZURKA_API(Attr_get, (MPI_Comm comm, int key, void *value, int *flag))
MAZURKA_API(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler))
MAZURKA_API(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *handler))
MAZURKA_API(Errhandler_set, (MPI_Comm comm, MPI_Errhandler handler))
MAZURKA_API(Errhandler_get, (MPI_Comm comm, MPI_Errhandler *handler))
MAZURKA_API(Group_size, (MPI_Group group, int *size))
MAZURKA_API(Group_rank, (MPI_Group group, int *rank))
MAZURKA_API(Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *made))
MAZURKA_API(Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *made))
MAZURKA_API(Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *made))
MAZURKA_API(Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *made))
MAZURKA_API(Group_union, (MPI_Group one, MPI_Group other, MPI_Group *made))
MAZURKA_API(Group_intersection, (MPI_Group one, MPI_Group other, MPI_Group *made))
MAZURKA_API(Group_difference, (MPI_Group one, MPI_Group other, MPI_Group *made))
MAZURKA_API(Group_compare, (MPI_Group one, MPI_Group other, int *result))
MAZURKA_API(Group_translate_ranks, (MPI_Group one, int n, const int ranks[], MPI_Group other, int result[]))
MAZURKA_API(Group_free, (MPI_Group *group))
MAZURKA_API(Cart_create, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *made))
MAZURKA_API(Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]))
MAZURKA_API(Cart_rank, (MPI_Comm comm, const int coords[], int *rank))
MAZURKA_API(Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]))
MAZURKA_API(Cart_shift, (MPI_Comm comm, int direction, int disp, int *source, int *dest))
MAZURKA_API(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made))
MAZURKA_API(Cartdim_get, (MPI_Comm comm, int *ndims))
MAZURKA_API(Topo_test, (MPI_Comm comm, int *status))
MAZURKA_API(Dims_create, (int nodes, int ndims, int dims[]))

/* Datatypes */
MAZURKA_API(Type_contiguous, (int count, MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_vector, (int count, int blocklength, int stride, MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_create_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_indexed, (int count, const int lengths[], const int displs[], MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_create_hindexed, (int count, const int lengths[], const MPI_Aint displs[], MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_create_indexed_block, (int count, int length, const int displs[], MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_create_struct, (int count, const int lengths[], const MPI_Aint displs[], const MPI_Datatype types[], MPI_Datatype *made))
MAZURKA_API(Type_create_resized, (MPI_Datatype old, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *made))
MAZURKA_API(Type_create_subarray, (int ndims, const int sizes[], const int subsizes[], const int starts[], int order, MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_dup, (MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_commit, (MPI_Datatype *type))
MAZURKA_API(Type_free, (MPI_Datatype *type))
MAZURKA_API(Type_size, (MPI_Datatype type, int *size))
MAZURKA_API(Type_get_extent, (MPI_Datatype type, MPI_Aint *lb, MPI_Aint *extent))
MAZURKA_API(Pack, (const void *in, int count, MPI_Datatype type, void *out, int size, int *position, MPI_Comm comm))
MAZURKA_API(Unpack, (const void *in, int size, int *position, void *out, int count, MPI_Datatype type, MPI_Comm comm))
MAZURKA_API(Pack_size, (int count, MPI_Datatype type, MPI_Comm comm, int *size))
MAZURKA_API(Info_create, (MPI_Info *info))
MAZURKA_API(Info_set, (MPI_Info info, const char *key, const char *value))
MAZURKA_API(Info_free, (MPI_Info *info))

/* Windows */
MAZURKA_API(Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win))
MAZURKA_API(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win))
MAZURKA_API(Win_free, (MPI_Win *win))
MAZURKA_API(Win_fence, (int assertion, MPI_Win win))
MAZURKA_API(Win_lock, (int type, int rank, int assertion, MPI_Win win))
MAZURKA_API(Win_unlock, (int rank, MPI_Win win))
MAZURKA_API(Win_lock_all, (int assertion, MPI_Win win))
MAZURKA_API(Win_unlock_all, (MPI_Win win))
MAZURKA_API(Win_flush, (int rank, MPI_Win win))
MAZURKA_API(Win_flush_all, (MPI_Win win))
MAZURKA_API(Win_flush_local, (int rank, MPI_Win win))
MAZURKA_API(Win_flush_local_all, (MPI_Win win))
MAZURKA_API(Win_sync, (MPI_Win win))
MAZURKA_API(Put, (const void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Win win))
MAZURKA_API(Get, (void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Win win))
MAZURKA_API(Win_get_group, (MPI_Win win, MPI_Group *group))
MAZURKA_API(Win_get_attr, (MPI_Win win, int key, void *value, int *flag))
MAZURKA_API(Win_set_errhandler, (MPI_Win win, MPI_Errhandler handler))
MAZURKA_API(Win_get_errhandler, (MPI_Win win, MPI_Errhandler *handler))
MAZURKA_API(Win_call_errhandler, (MPI_Win win, int code))
MAZURKA_API(Get_accumulate, (const void *origin, int count, MPI_Datatype type, void *result, int result_count, MPI_Datatype result_type, int target, MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win))
MAZURKA_API(Fetch_and_op, (const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Op op, MPI_Win win))
MAZURKA_API(Compare_and_swap, (const void *origin, const void *compared, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Win win))
MAZURKA_API(Accumulate, (const void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win))

/* More */
MAZURKA_API(Improbe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status))
MAZURKA_API(Request_get_status, (MPI_Request handle, int *flag, MPI_Status *status))
MAZURKA_API(Type_get_true_extent, (MPI_Datatype type, MPI_Aint *lb, MPI_Aint *extent))
MAZURKA_API(Type_set_name, (MPI_Datatype type, const char *name))
MAZURKA_API(Type_get_name, (MPI_Datatype type, char *name, int *length))
MAZURKA_API(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made))
MAZURKA_API(Rput, (const void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request))
MAZURKA_API(Rget, (void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request))
MAZURKA_API(Raccumulate, (const void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request *request))
MAZURKA_API(Win_create_keyval, (MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *erase, int *key, void *extra))
MAZURKA_API(Win_free_keyval, (int *key))
MAZURKA_API(Win_set_attr, (MPI_Win win, int key, void *value))
MAZURKA_API(Win_delete_attr, (MPI_Win win, int key))
MAZURKA_API(Win_create_errhandler, (MPI_Win_errhandler_function *function, MPI_Errhandler *handler))
MAZURKA_API(Win_set_name, (MPI_Win win, const char *name))
MAZURKA_API(Win_get_name, (MPI_Win win, char *name, int *length))
MAZURKA_API(Win_set_info, (MPI_Win win, MPI_Info info))
MAZURKA_API(Rget_accumulate, (const void *origin, int count, MPI_Datatype type, void *result, int result_count, MPI_Datatype result_type, int target, MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request *request))
MAZURKA_API(Type_create_hindexed_block, (int count, int length, const MPI_Aint displs[], MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Info_get, (MPI_Info info, const char *key, int length, char *value, int *flag))

/* Epochs of groups */
MAZURKA_API(Win_post, (MPI_Group group, int assertion, MPI_Win win))
MAZURKA_API(Win_start, (MPI_Group group, int assertion, MPI_Win win))
MAZURKA_API(Win_complete, (MPI_Win win))
MAZURKA_API(Win_wait, (MPI_Win win))

/* Attributes and error handlers */
MAZURKA_API(Comm_create_keyval, (MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *erase, int *key, void *extra))
MAZURKA_API(Keyval_create, (MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *erase, int *key, void *extra))
MAZURKA_API(Comm_set_attr, (MPI_Comm comm, int key, void *value))
MAZURKA_API(Attr_put, (MPI_Comm comm, int key, void *value))
MAZURKA_API(Comm_delete_attr, (MPI_Comm comm, int key))
MAZURKA_API(Attr_delete, (MPI_Comm comm, int key))
MAZURKA_API(Comm_free_keyval, (int *key))
MAZURKA_API(Keyval_free, (int *key))
MAZURKA_API(Comm_create_errhandler, (MPI_Comm_errhandler_function *function, MPI_Errhandler *handler))
MAZURKA_API(Errhandler_create, (MPI_Comm_errhandler_function *function, MPI_Errhandler *handler))
MAZURKA_API(Errhandler_free, (MPI_Errhandler *handler))
MAZURKA_API(Comm_call_errhandler, (MPI_Comm comm, int code))
MAZURKA_API(File_create_errhandler, (MPI_File_errhandler_function *function, MPI_Errhandler *handler))
MAZURKA_API(File_set_errhandler, (MPI_File file, MPI_Errhandler handler))
MAZURKA_API(File_get_errhandler, (MPI_File file, MPI_Errhandler *handler))
MAZURKA_API(File_call_errhandler, (MPI_File file, int code))
MAZURKA_API(Type_create_keyval, (MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *erase, int *key, void *extra))
MAZURKA_API(Type_free_keyval, (int *key))
MAZURKA_API(Type_set_attr, (MPI_Datatype type, int key, void *value))
MAZURKA_API(Type_get_attr, (MPI_Datatype type, int key, void *value, int *flag))
MAZURKA_API(Type_delete_attr, (MPI_Datatype type, int key))

/* Older names */
MAZURKA_API(Address, (void *location, MPI_Aint *address))
MAZURKA_API(Type_extent, (MPI_Datatype type, MPI_Aint *extent))
MAZURKA_API(Type_lb, (MPI_Datatype type, MPI_Aint *bound))
MAZURKA_API(Type_ub, (MPI_Datatype type, MPI_Aint *bound))
MAZURKA_API(Type_hvector, (int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_hindexed, (int count, const int lengths[], const MPI_Aint displs[], MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_struct, (int count, const int lengths[], const MPI_Aint displs[], const MPI_Datatype types[], MPI_Datatype *made))

/* Persistent collectives */
MAZURKA_API(Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Bcast_init, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Gather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Gatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Scatter_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Scatterv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Alltoallw_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Reduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Allreduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Scan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Exscan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Reduce_scatter_init, (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Reduce_scatter_block_init, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))

/* Neighbours */
MAZURKA_API(Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *rank))
MAZURKA_API(Graph_map, (MPI_Comm comm, int nodes, const int index[], const int edges[], int *rank))
MAZURKA_API(Graph_create, (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *made))
MAZURKA_API(Dist_graph_create_adjacent, (MPI_Comm comm, int in, const int sources[], const int *in_weights, int out, const int destinations[], const int *out_weights, MPI_Info info, int reorder, MPI_Comm *made))
MAZURKA_API(Graphdims_get, (MPI_Comm comm, int *nodes, int *edges))
MAZURKA_API(Graph_get, (MPI_Comm comm, int nodes, int count, int index[], int edges[]))
MAZURKA_API(Graph_neighbors_count, (MPI_Comm comm, int rank, int *count))
MAZURKA_API(Graph_neighbors, (MPI_Comm comm, int rank, int room, int ranks[]))
MAZURKA_API(Dist_graph_create, (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[], const int *weights, MPI_Info info, int reorder, MPI_Comm *made))
MAZURKA_API(Dist_graph_neighbors_count, (MPI_Comm comm, int *in, int *out, int *weighted))
MAZURKA_API(Dist_graph_neighbors, (MPI_Comm comm, int in, int sources[], int *in_weights, int out, int destinations[], int *out_weights))
MAZURKA_API(Neighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm))
MAZURKA_API(Ineighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Neighbor_allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Neighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
MAZURKA_API(Ineighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Neighbor_allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Neighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm))
MAZURKA_API(Ineighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Neighbor_alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Neighbor_alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
MAZURKA_API(Ineighbor_alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Neighbor_alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MAZURKA_API(Neighbor_alltoallw, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm))
MAZURKA_API(Ineighbor_alltoallw, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))
MAZURKA_API(Neighbor_alltoallw_init, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request))

/* Hints, statuses, and how datatypes were made */
MAZURKA_API(Info_create_env, (int argc, char *argv[], MPI_Info *info))
MAZURKA_API(Info_dup, (MPI_Info info, MPI_Info *made))
MAZURKA_API(Info_delete, (MPI_Info info, const char *key))
MAZURKA_API(Info_get_string, (MPI_Info info, const char *key, int *length, char *value, int *flag))
MAZURKA_API(Info_get_valuelen, (MPI_Info info, const char *key, int *length, int *flag))
MAZURKA_API(Info_get_nkeys, (MPI_Info info, int *count))
MAZURKA_API(Info_get_nthkey, (MPI_Info info, int n, char *key))
MAZURKA_API(Comm_set_info, (MPI_Comm comm, MPI_Info info))
MAZURKA_API(Comm_get_info, (MPI_Comm comm, MPI_Info *info))
MAZURKA_API(Comm_get_parent, (MPI_Comm *parent))
MAZURKA_API(Type_create_darray, (int size, int rank, int ndims, const int sizes[], const int distributions[], const int arguments[], const int parts[], int order, MPI_Datatype old, MPI_Datatype *made))
MAZURKA_API(Type_get_envelope, (MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner))
MAZURKA_API(Type_get_contents, (MPI_Datatype type, int integers, int addresses, int types, int integer[], MPI_Aint address[], MPI_Datatype made[]))
MAZURKA_API(Type_match_size, (int kind, int size, MPI_Datatype *type))
MAZURKA_API(Status_set_cancelled, (MPI_Status *status, int flag))
MAZURKA_API(Status_set_elements, (MPI_Status *status, MPI_Datatype type, int count))
MAZURKA_API(Win_get_info, (MPI_Win win, MPI_Info *info))
MAZURKA_API(Get_elements_x, (const MPI_Status *status, MPI_Datatype type, MPI_Count *count))
MAZURKA_API(Status_set_elements_x, (MPI_Status *status, MPI_Datatype type, MPI_Count count))
MAZURKA_API(Type_size_x, (MPI_Datatype type, MPI_Count *size))
MAZURKA_API(Type_get_true_extent_x, (MPI_Datatype type, MPI_Count *lb, MPI_Count *extent))
MAZURKA_API(Type_get_extent_x, (MPI_Datatype type, MPI_Count *lb, MPI_Count *extent))

/* Known, but not verified: calls are reported */
MAZURKA_API(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file))
MAZURKA_API(File_close, (MPI_File *file))
MAZURKA_API(File_delete, (const char *name, MPI_Info info))
MAZURKA_API(File_get_size, (MPI_File file, MPI_Offset *size))
MAZURKA_API(File_set_size, (MPI_File file, MPI_Offset size))
MAZURKA_API(File_set_view, (MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype type, const char *form, MPI_Info info))
MAZURKA_API(File_seek, (MPI_File file, MPI_Offset offset, int whence))
MAZURKA_API(File_read, (MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status))
MAZURKA_API(File_read_all, (MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status))
MAZURKA_API(File_read_at, (MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status))
MAZURKA_API(File_read_at_all, (MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status))
MAZURKA_API(File_write, (MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Status *status))
MAZURKA_API(File_write_all, (MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Status *status))
MAZURKA_API(File_write_at, (MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type, MPI_Status *status))
MAZURKA_API(File_write_at_all, (MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type, MPI_Status *status))
MAZURKA_API(Comm_spawn, (const char *command, char *argv[], int count, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made, int codes[]))
MAZURKA_API(Open_port, (MPI_Info info, char *name))
MAZURKA_API(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win))
MAZURKA_API(Win_attach, (MPI_Win win, void *base, MPI_Aint size))
MAZURKA_API(Win_detach, (MPI_Win win, const void *base))
MAZURKA_API(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win))
MAZURKA_API(Win_shared_query, (MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base))
MAZURKA_API(Win_test, (MPI_Win win, int *flag))
MAZURKA_API(Pack_external, (const char form[], const void *in, int count, MPI_Datatype type, void *out, MPI_Aint size, MPI_Aint *position))
MAZURKA_API(Unpack_external, (const char form[], const void *in, MPI_Aint size, MPI_Aint *position, void *out, int count, MPI_Datatype type))
MAZURKA_API(Pack_external_size, (const char form[], int count, MPI_Datatype type, MPI_Aint *size))

#ifdef __cplusplus
}
#endif
#endif
