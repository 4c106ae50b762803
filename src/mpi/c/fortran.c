/* Programs in Fortran: entries that do not follow from the table of functions, and what the runtime
 * library of the compiler calls. */
#include "fortran.h"

#include "calls.h"
#include "sessions.h"

#include <dlfcn.h>
#include <unistd.h>

/* Variables of mpif.h and of the modules, in common blocks. Only their addresses matter. Compilers
 * align such blocks. */
#define BLOCK __attribute__((aligned(32)))
BLOCK int mazurka_bottom_, mazurka_in_place_, mazurka_automatic_;
BLOCK int mazurka_status_ignore_[MPI_F_STATUS_SIZE], mazurka_statuses_ignore_[MPI_F_STATUS_SIZE];
BLOCK int mazurka_errcodes_ignore_, mazurka_unweighted_, mazurka_weights_empty_;
BLOCK char mazurka_argv_null_, mazurka_argvs_null_;

void *buffer_in(const void *at) {
  if (at == &mazurka_bottom_) return MPI_BOTTOM;
  if (at == &mazurka_in_place_) return MPI_IN_PLACE;
  if (at == &mazurka_automatic_) return MPI_BUFFER_AUTOMATIC;
  return (void *)at;
}

void *status_in(const void *at) {
  return at == mazurka_status_ignore_ || at == mazurka_statuses_ignore_ ? NULL : (void *)at;
}

int *weights_in(const int *at) {
  if (at == &mazurka_unweighted_) return MPI_UNWEIGHTED;
  return at == &mazurka_weights_empty_ ? MPI_WEIGHTS_EMPTY : (int *)at;
}

void *handles_in(const MPI_Fint *numbers, MPI_Count count, bool is_written, const char *parameter) {
  if (count < 0) count = 0;
  memory_use(numbers, (size_t)count * sizeof *numbers, is_written ? WRITES : READS, parameter);
  void **made = allocate((size_t)count * sizeof *made + 1);
  for (MPI_Count i = 0; i < count; i++) made[i] = (void *)(intptr_t)numbers[i];
  return made;
}

void numbers_out(MPI_Fint *numbers, void *const *handles, MPI_Count count) {
  for (MPI_Count i = 0; i < count; i++) numbers[i] = (MPI_Fint)(intptr_t)handles[i];
}

MPI_Count peers_of(const MPI_Fint *comm, const void *sendbuf) {
  return sendbuf == &mazurka_in_place_ ? 0 : comm_peers(comm_get(HANDLE(MPI_Comm, comm)))->size;
}

MPI_Count neighbors_of(const MPI_Fint *comm, bool is_out) {
  const struct comm *of = comm_get(HANDLE(MPI_Comm, comm));
  if (!of->graph) return 0;
  return is_out ? of->graph->out : of->graph->in;
}

char *text_from(const char *text, size_t length) {
  memory_use(text, length, READS, "the text");
  while (length > 0 && text[length - 1] == ' ') length--;
  return text_of("%.*s", (int)length, text);
}

char *text_within(const char *text, size_t length) {
  while (length > 0 && *text == ' ') text++, length--;
  return text_from(text, length);
}

void text_to(char *to, size_t length, const char *text) {
  size_t used = strlen(text) < length ? strlen(text) : length;
  memory_use(to, length, WRITES, "the text");
  memcpy(to, text, used);
  memset(to + used, ' ', length - used);
}

ENTRY(init, (MPI_Fint *ierror)) {
  BEGIN("MPI_Init");
  int outcome = PMPI_Init(NULL, NULL);
  END;
}

ENTRY(init_thread, (const int *required, int *provided, MPI_Fint *ierror)) {
  BEGIN("MPI_Init_thread");
  int outcome = PMPI_Init_thread(NULL, NULL, *required, provided);
  END;
}

ENTRY(pcontrol, (const int *level)) {
  BEGIN("MPI_Pcontrol");
  PMPI_Pcontrol(*level);
}

ENTRY_OF(double, wtime, (void)) { return PMPI_Wtime(); }
ENTRY_OF(double, wtick, (void)) { return PMPI_Wtick(); }

/* Addresses of older functions are default integers, into which those of a machine may not fit. */
static MPI_Fint small(MPI_Aint address, const char *newer) {
  if (address != (MPI_Fint)address)
    fail("unsupported", "%#lx does not fit into an INTEGER: %s is for such addresses", (unsigned long)address, newer);
  return (MPI_Fint)address;
}
static MPI_Aint *larger(const MPI_Fint *numbers, int count) {
  MPI_Aint *made = allocate((size_t)(count > 0 ? count : 0) * sizeof *made + 1);
  for (int i = 0; i < count; i++) made[i] = INS(numbers, count)[i];
  return made;
}

#define BOUND(name, NAME)                                                                     \
  ENTRY(name, (const MPI_Fint *type, MPI_Fint *result, MPI_Fint *ierror)) {                   \
    BEGIN("MPI_" #NAME);                                                                      \
    MPI_Aint found = 0;                                                                       \
    int outcome = PMPI_##NAME(HANDLE(MPI_Datatype, type), &found);                            \
    *OUT(result) = small(found, "MPI_Type_get_extent");                                       \
    END;                                                                                      \
  }
BOUND(type_extent, Type_extent)
BOUND(type_lb, Type_lb)
BOUND(type_ub, Type_ub)

ENTRY(type_hvector, (const int *count, const int *length, const MPI_Fint *stride, const MPI_Fint *old, MPI_Fint *made, MPI_Fint *ierror)) {
  BEGIN("MPI_Type_hvector");
  MPI_Datatype own = MPI_DATATYPE_NULL;
  int outcome = PMPI_Type_hvector(*count, *length, *stride, HANDLE(MPI_Datatype, old), &own);
  NUMBER(made, own);
  END;
}

ENTRY(type_hindexed, (const int *count, const int *lengths, const MPI_Fint *displs, const MPI_Fint *old, MPI_Fint *made, MPI_Fint *ierror)) {
  BEGIN("MPI_Type_hindexed");
  MPI_Datatype own = MPI_DATATYPE_NULL;
  int outcome = PMPI_Type_hindexed(*count, lengths, larger(displs, *count), HANDLE(MPI_Datatype, old), &own);
  NUMBER(made, own);
  END;
}

ENTRY(type_struct, (const int *count, const int *lengths, const MPI_Fint *displs, const MPI_Fint *types, MPI_Fint *made, MPI_Fint *ierror)) {
  BEGIN("MPI_Type_struct");
  MPI_Datatype own = MPI_DATATYPE_NULL;
  int outcome = PMPI_Type_struct(*count, lengths, larger(displs, *count), HANDLES(types, *count, false), &own);
  NUMBER(made, own);
  END;
}

ENTRY(address, (void *location, MPI_Fint *address, MPI_Fint *ierror)) {
  BEGIN("MPI_Address");
  *OUT(address) = small((MPI_Aint)buffer_in(location), "MPI_Get_address");
  int outcome = MPI_SUCCESS;
  END;
}

/* Tells the compiler that a variable may have changed. */
ENTRY(f_sync_reg, (void *buf)) { (void)buf; }

/* The index of a request counts from 1. */
#define COUNT_FROM_ONE(index) if (*(index) != MPI_UNDEFINED) ++*(index)
#define ALL_FROM_ONE(indices, done) for (int i = 0; i < *(done); i++) ++(indices)[i]

#define ANY(name, NAME, is_const, more, arguments)                                             \
  ENTRY(name, (const int *count, MPI_Fint *requests, int *index, more const void *status, MPI_Fint *ierror)) { \
    BEGIN("MPI_" #NAME);                                                                       \
    MPI_Request *own = HANDLES(requests, *count, !is_const);                                   \
    int outcome = PMPI_##NAME arguments;                                                          \
    if (!is_const) numbers_set(requests, own, *count);                                         \
    release(own);                                                                              \
    COUNT_FROM_ONE(index);                                                                     \
    END;                                                                                       \
  }
#define NOTHING
#define FLAG int *flag,
ANY(waitany, Waitany, false, NOTHING, (*count, own, index, status_in(status)))
ANY(testany, Testany, false, FLAG, (*count, own, index, flag, status_in(status)))
ANY(request_get_status_any, Request_get_status_any, true, FLAG, (*count, own, index, flag, status_in(status)))

#define SOME(name, NAME, is_const)                                                              \
  ENTRY(name, (const int *count, MPI_Fint *requests, int *done, int *indices, const void *statuses, MPI_Fint *ierror)) { \
    BEGIN("MPI_" #NAME);                                                                        \
    MPI_Request *own = HANDLES(requests, *count, !is_const);                                    \
    int outcome = PMPI_##NAME(*count, own, done, indices, status_in(statuses));                    \
    if (!is_const) numbers_set(requests, own, *count);                                          \
    release(own);                                                                               \
    ALL_FROM_ONE(indices, done);                                                                \
    END;                                                                                        \
  }
SOME(waitsome, Waitsome, false)
SOME(testsome, Testsome, false)
SOME(request_get_status_some, Request_get_status_some, true)

/* Only mpi_f08 gets the address of the buffer. */
#define DETACH(name, NAME, parameters, plain, whole) \
  ENTRY(name, parameters) {                          \
    BEGIN("MPI_" #NAME);                             \
    (void)buffer;                                    \
    void *at;                                        \
    int outcome = PMPI_##NAME plain;                    \
    END;                                             \
  }                                                  \
  ENTRY(name##_ptr, parameters) {                    \
    BEGIN("MPI_" #NAME);                             \
    int outcome = PMPI_##NAME whole;                    \
    END;                                             \
  }
#define DETACH_FROM(kind, KIND, handle, type, twin)                                                                         \
  DETACH(kind##_detach_buffer##twin, KIND##_detach_buffer##twin, (const MPI_Fint *of, void *buffer, type *size, MPI_Fint *ierror), \
         (HANDLE(handle, of), &at, size), (HANDLE(handle, of), buffer, size))
DETACH(buffer_detach, Buffer_detach, (void *buffer, int *size, MPI_Fint *ierror), (&at, size), (buffer, size))
DETACH(buffer_detach_c, Buffer_detach_c, (void *buffer, MPI_Count *size, MPI_Fint *ierror), (&at, size), (buffer, size))
DETACH_FROM(comm, Comm, MPI_Comm, int, )
DETACH_FROM(comm, Comm, MPI_Comm, MPI_Count, _c)
DETACH_FROM(session, Session, MPI_Session, int, )
DETACH_FROM(session, Session, MPI_Session, MPI_Count, _c)

/* A list of texts with this distance, up to one of blanks: as C has it. */
static char **texts_from(const char *texts, size_t length, size_t distance) {
  size_t count = 0;
  char **made = allocate(sizeof *made);
  for (;; texts += distance) {
    char *text = text_from(texts, length);
    if (!*text) return made;
    made = grow(made, (count + 2) * sizeof *made);
    made[count++] = text;
    made[count] = NULL;
  }
}

static int *codes_in(int *codes) { return codes == &mazurka_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes; }

ENTRY(comm_spawn, (const char *command, const char *argv, const int *count, const MPI_Fint *info, const int *root,
                   const MPI_Fint *comm, MPI_Fint *made, int *codes, MPI_Fint *ierror, size_t length, size_t length_of_argv)) {
  BEGIN("MPI_Comm_spawn");
  MPI_Comm own = MPI_COMM_NULL;
  char **arguments = argv == &mazurka_argv_null_ ? MPI_ARGV_NULL : texts_from(argv, length_of_argv, length_of_argv);
  int outcome = PMPI_Comm_spawn(text_from(command, length), arguments, *count, HANDLE(MPI_Info, info), *root,
                             HANDLE(MPI_Comm, comm), &own, codes_in(codes));
  NUMBER(made, own);
  END;
}

ENTRY(comm_spawn_multiple, (const int *count, const char *commands, const char *argvs, const int *counts, const MPI_Fint *infos,
                            const int *root, const MPI_Fint *comm, MPI_Fint *made, int *codes, MPI_Fint *ierror, size_t length,
                            size_t length_of_argv)) {
  BEGIN("MPI_Comm_spawn_multiple");
  size_t number = *count > 0 ? (size_t)*count : 0;
  MPI_Comm own = MPI_COMM_NULL;
  char **programs = allocate((number + 1) * sizeof *programs), ***arguments = allocate((number + 1) * sizeof *arguments);
  for (size_t i = 0; i < number; i++) {
    programs[i] = text_from(commands + i * length, length);
    if (argvs != &mazurka_argvs_null_) arguments[i] = texts_from(argvs + i * length_of_argv, length_of_argv, number * length_of_argv);
  }
  MPI_Info *hints = HANDLES(infos, *count, false);
  int outcome = PMPI_Comm_spawn_multiple(*count, programs, argvs == &mazurka_argvs_null_ ? MPI_ARGVS_NULL : arguments, counts, hints,
                                      *root, HANDLE(MPI_Comm, comm), &own, codes_in(codes));
  NUMBER(made, own);
  END;
}

ENTRY(info_create_env, (MPI_Fint *info, MPI_Fint *ierror)) {
  BEGIN("MPI_Info_create_env");
  MPI_Info own = MPI_INFO_NULL;
  int outcome = PMPI_Info_create_env(0, NULL, &own);
  NUMBER(info, own);
  END;
}

/* The length does not count the 0 that ends a text in C. */
ENTRY(info_get_string, (const MPI_Fint *info, const char *key, int *length, char *value, int *flag, MPI_Fint *ierror,
                        size_t length_of_key, size_t room)) {
  BEGIN("MPI_Info_get_string");
  char *own_key = text_within(key, length_of_key), own[LONGEST] = "";
  int wanted = *OUT(length), own_length = wanted <= 0 ? 0 : wanted >= LONGEST ? LONGEST : wanted + 1;
  int outcome = PMPI_Info_get_string(HANDLE(MPI_Info, info), own_key, &own_length, own, flag);
  if (outcome == MPI_SUCCESS && *flag) {
    if (wanted > 0) text_to(value, room, own);
    *length = own_length - 1;
  }
  release(own_key);
  END;
}

ENTRY(session_get_nth_pset, (const MPI_Fint *session, const MPI_Fint *info, const int *n, int *length, char *name, MPI_Fint *ierror,
                             size_t room)) {
  BEGIN("MPI_Session_get_nth_pset");
  char own[LONGEST] = "";
  int wanted = *OUT(length), own_length = wanted <= 0 ? 0 : wanted >= LONGEST ? LONGEST : wanted + 1;
  int outcome = PMPI_Session_get_nth_pset(HANDLE(MPI_Session, session), HANDLE(MPI_Info, info), *n, &own_length, own);
  if (outcome == MPI_SUCCESS && wanted > 0) text_to(name, room, own);
  if (outcome == MPI_SUCCESS) *length = own_length - 1;
  END;
}

#define DATAREP(name, NAME)                                                                                                 \
  ENTRY(name, (const char *form, void *read, void *write, void *extent, const MPI_Aint *extra, MPI_Fint *ierror, size_t length)) { \
    BEGIN("MPI_" #NAME);                                                                                                    \
    (void)extra;                                                                                                            \
    int outcome = PMPI_##NAME(text_from(form, length), read, write, (MPI_Datarep_extent_function *)extent, NULL);              \
    END;                                                                                                                    \
  }
DATAREP(register_datarep, Register_datarep)
DATAREP(register_datarep_c, Register_datarep_c)

/* The functions of a generalised request. */
struct own_request {
  void (*query)(MPI_Aint *extra, MPI_Status *status, MPI_Fint *ierror);
  void (*free)(MPI_Aint *extra, MPI_Fint *ierror);
  void (*cancel)(MPI_Aint *extra, int *complete, MPI_Fint *ierror);
  MPI_Aint extra;
};
static int own_query(void *with, MPI_Status *status) {
  struct own_request *own = with;
  MPI_Fint code = MPI_SUCCESS;
  own->query(&own->extra, status, &code);
  return code;
}
static int own_free(void *with) {
  struct own_request *own = with;
  MPI_Fint code = MPI_SUCCESS;
  own->free(&own->extra, &code);
  return code;
}
static int own_cancel(void *with, int is_complete) {
  struct own_request *own = with;
  MPI_Fint code = MPI_SUCCESS;
  own->cancel(&own->extra, &is_complete, &code);
  return code;
}

ENTRY(grequest_start, (void *query, void *free, void *cancel, const MPI_Aint *extra, MPI_Fint *request, MPI_Fint *ierror)) {
  BEGIN("MPI_Grequest_start");
  struct own_request *own = allocate(sizeof *own);
  *own = (struct own_request){(__typeof__(own->query))query, (__typeof__(own->free))free, (__typeof__(own->cancel))cancel, *extra};
  MPI_Request made = MPI_REQUEST_NULL;
  int outcome = PMPI_Grequest_start(own_query, own_free, own_cancel, own, &made);
  NUMBER(request, made);
  END;
}

/* In C, an attribute that was set in Fortran is a pointer to its value (MPI 4.1, 19.3.7): to one of
 * these. */
static MPI_Aint **values;
static size_t count_of_values;
static void *pointer_to(MPI_Aint value) {
  values = grow(values, (count_of_values + 1) * sizeof *values);
  MPI_Aint *at = values[count_of_values++] = allocate(sizeof *at);
  *at = value;
  return at;
}
static MPI_Aint value_at(void *pointer) {
  for (size_t i = 0; i < count_of_values; i++)
    if (values[i] == pointer) return *values[i];
  return (MPI_Aint)pointer; /* it was set in C */
}

/* The functions of a key. Values are integers: those of MPI-1 are default integers, which
 * `is_small` says. */
union value {
  MPI_Aint large;
  MPI_Fint small;
};
struct own_key {
  void (*copy)(MPI_Fint *handle, MPI_Fint *key, union value *extra, union value *in, union value *out, int *flag, MPI_Fint *ierror);
  void (*delete)(MPI_Fint *handle, MPI_Fint *key, union value *value, union value *extra, MPI_Fint *ierror);
  union value extra;
  bool is_small;
};
static MPI_Aint number_of(union value value, bool is_small) { return is_small ? value.small : value.large; }

static int copy_own(void *handle, int key, void *with, void *value, void *made, int *flag) {
  struct own_key *own = with;
  MPI_Fint number = (MPI_Fint)(intptr_t)handle, code = MPI_SUCCESS;
  union value in = {.large = value_at(value)}, out = {0};
  *flag = 0;
  own->copy(&number, &key, &own->extra, &in, &out, flag, &code);
  if (*flag) *(void **)made = pointer_to(number_of(out, own->is_small));
  return code;
}
static int delete_own(void *handle, int key, void *value, void *with) {
  struct own_key *own = with;
  MPI_Fint number = (MPI_Fint)(intptr_t)handle, code = MPI_SUCCESS;
  union value in = {.large = value_at(value)};
  own->delete(&number, &key, &in, &own->extra, &code);
  return code;
}

static struct own_key *key_with(void *copy, void *erase, const void *extra, bool is_small) {
  struct own_key *own = allocate(sizeof *own);
  own->copy = (__typeof__(own->copy))copy;
  own->delete = (__typeof__(own->delete))erase;
  own->is_small = is_small;
  if (is_small) own->extra.large = *(const MPI_Fint *)extra;
  else own->extra.large = *(const MPI_Aint *)extra;
  return own;
}

#define KEYVAL(name, NAME, of, is_small)                                                                    \
  ENTRY(name, (void *copy, void *erase, int *key, const void *extra, MPI_Fint *ierror)) {                   \
    BEGIN("MPI_" #NAME);                                                                                    \
    int outcome = PMPI_##NAME((MPI_##of##_copy_attr_function *)copy_own, (MPI_##of##_delete_attr_function *)delete_own, key, \
                           key_with(copy, erase, extra, is_small));                                         \
    END;                                                                                                    \
  }
KEYVAL(comm_create_keyval, Comm_create_keyval, Comm, false)
KEYVAL(type_create_keyval, Type_create_keyval, Type, false)
KEYVAL(win_create_keyval, Win_create_keyval, Win, false)
KEYVAL(keyval_create, Keyval_create, Comm, true)

/* Those that MPI has: they do nothing, or copy a value. */
#define COPY_AND_DELETE(of, size)                                                                                    \
  void mpi_##of##null_copy_fn_(MPI_Fint *handle, MPI_Fint *key, void *extra, void *in, void *out, int *flag, MPI_Fint *ierror) { \
    (void)handle, (void)key, (void)extra, (void)in, (void)out;                                                       \
    *flag = 0, *ierror = MPI_SUCCESS;                                                                                \
  }                                                                                                                  \
  void mpi_##of##dup_fn_(MPI_Fint *handle, MPI_Fint *key, void *extra, void *in, void *out, int *flag, MPI_Fint *ierror) { \
    (void)handle, (void)key, (void)extra;                                                                            \
    memcpy(out, in, size);                                                                                           \
    *flag = 1, *ierror = MPI_SUCCESS;                                                                                \
  }                                                                                                                  \
  void mpi_##of##null_delete_fn_(MPI_Fint *handle, MPI_Fint *key, void *value, void *extra, MPI_Fint *ierror) {      \
    (void)handle, (void)key, (void)value, (void)extra;                                                               \
    *ierror = MPI_SUCCESS;                                                                                           \
  }
COPY_AND_DELETE(comm_, sizeof(MPI_Aint))
COPY_AND_DELETE(type_, sizeof(MPI_Aint))
COPY_AND_DELETE(win_, sizeof(MPI_Aint))
COPY_AND_DELETE(, sizeof(MPI_Fint))
void mpi_conversion_fn_null_(void) {}
void mpi_conversion_fn_null_c_(void) {}

/* In C, MPI has pointers to its own values. */
static MPI_Aint value_of(int key, void *value) {
  switch (key) {
    case MPI_TAG_UB: case MPI_IO: case MPI_HOST: case MPI_WTIME_IS_GLOBAL: case MPI_APPNUM: case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE: case MPI_WIN_DISP_UNIT: case MPI_WIN_CREATE_FLAVOR: case MPI_WIN_MODEL:
      return *(int *)value;
    case MPI_WIN_SIZE: return *(MPI_Aint *)value;
    default: return value_at(value);
  }
}

#define ATTRIBUTE(get, GET, set, SET, handle, type)                                                          \
  ENTRY(get, (const MPI_Fint *of, const int *key, type *value, int *flag, MPI_Fint *ierror)) {               \
    BEGIN("MPI_" #GET);                                                                                      \
    void *found = NULL;                                                                                      \
    int outcome = PMPI_##GET(HANDLE(handle, of), *key, &found, flag);                                           \
    if (outcome == MPI_SUCCESS && *flag) *OUT(value) = (type)value_of(*key, found);                             \
    END;                                                                                                     \
  }                                                                                                          \
  ENTRY(set, (const MPI_Fint *of, const int *key, const type *value, MPI_Fint *ierror)) {                    \
    BEGIN("MPI_" #SET);                                                                                      \
    int outcome = PMPI_##SET(HANDLE(handle, of), *key, pointer_to(*INS(value, 1)));                       \
    END;                                                                                                     \
  }
ATTRIBUTE(comm_get_attr, Comm_get_attr, comm_set_attr, Comm_set_attr, MPI_Comm, MPI_Aint)
ATTRIBUTE(type_get_attr, Type_get_attr, type_set_attr, Type_set_attr, MPI_Datatype, MPI_Aint)
ATTRIBUTE(win_get_attr, Win_get_attr, win_set_attr, Win_set_attr, MPI_Win, MPI_Aint)
ATTRIBUTE(attr_get, Attr_get, attr_put, Attr_put, MPI_Comm, MPI_Fint)

/* How a program in Fortran ends, other than by its last statement: functions of the runtime library
 * of GNU Fortran. */
static void stop(const char *text, int length, bool is_quiet, int code) {
  if (env_has_world()) fail("missing finalize", "the rank ends by STOP without MPI_Finalize");
  if (!is_quiet && length > 0) dprintf(STDERR_FILENO, "STOP %.*s\n", length, text);
  else if (!is_quiet && code != 0) dprintf(STDERR_FILENO, "STOP %d\n", code);
  exit(code);
}
WEAK void _gfortran_stop_numeric(int code, bool is_quiet) {
  ANYWHERE("STOP");
  stop("", 0, is_quiet, code);
}
WEAK void _gfortran_stop_string(const char *text, size_t length, bool is_quiet) {
  ANYWHERE("STOP");
  stop(text, (int)length, is_quiet, 0);
}
WEAK void _gfortran_error_stop_numeric(int code, bool is_quiet) {
  ANYWHERE("ERROR STOP");
  (void)is_quiet;
  fail("abort", "the rank calls ERROR STOP with code %d", code);
}
WEAK void _gfortran_error_stop_string(const char *text, size_t length, bool is_quiet) {
  ANYWHERE("ERROR STOP");
  (void)is_quiet;
  fail("abort", "the rank calls ERROR STOP: %.*s", (int)length, text);
}

/* Errors that checks in the code of the program find. */
static void __attribute__((noreturn)) runtime_error(const char *format, va_list values) {
  fail("crash", "Fortran runtime error: %s", text_with(format, values));
}
WEAK void _gfortran_runtime_error(const char *format, ...) {
  ANYWHERE("the program");
  va_list values;
  va_start(values, format);
  runtime_error(format, values);
}
WEAK void _gfortran_runtime_error_at(const char *where, const char *format, ...) {
  ANYWHERE("the program");
  (void)where;
  va_list values;
  va_start(values, format);
  runtime_error(format, values);
}
WEAK void _gfortran_os_error_at(const char *where, const char *format, ...) {
  ANYWHERE("the program");
  (void)where;
  va_list values;
  va_start(values, format);
  runtime_error(format, values);
}

/* What the runtime library reads from variables and writes into them, by PRINT, READ and WRITE. */
static void *next_function(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) fail("unsupported", "%s of the runtime library is not found: link it as a shared library", name);
  return found;
}

/* The size of a value of this kind. Those of 10 bytes have room for 16. */
static size_t size_of(int kind) { return kind == 10 ? 16 : (size_t)kind; }

#define TRANSFER(name, access, last, size)                                      \
  WEAK void _gfortran_transfer_##name(void *io, void *at, last length) {        \
    static void (*next)(void *, void *, last);                                  \
    if (!next) next = (__typeof__(next))next_function("_gfortran_transfer_" #name); \
    if (at) memory_see(at, size, access, __builtin_return_address(0));          \
    next(io, at, length);                                                       \
  }
#define TRANSFERS(name, last, size) TRANSFER(name##_write, READS, last, size) TRANSFER(name, WRITES, last, size)
TRANSFERS(integer, int, size_of(length))
TRANSFERS(logical, int, size_of(length))
TRANSFERS(real, int, size_of(length))
TRANSFERS(complex, int, 2 * size_of(length))
TRANSFERS(character, size_t, length)

/* The descriptor of an array. */
struct described {
  char *start;
  size_t offset, size;
  int version;
  int8_t rank, type;
  int16_t attribute;
  ptrdiff_t span;
  struct {
    ptrdiff_t stride, lower, upper;
  } dimension[15];
};

static void see_array(const struct described *array, int at, const char *start, enum access access, const void *site) {
  if (at < 0) {
    memory_see(start, array->size, access, site);
    return;
  }
  ptrdiff_t count = array->dimension[at].upper - array->dimension[at].lower + 1, step = array->dimension[at].stride * (ptrdiff_t)array->size;
  bool is_whole = at == 0 && step == (ptrdiff_t)array->size;
  if (is_whole && count > 0) memory_see(start, (size_t)count * array->size, access, site);
  for (ptrdiff_t i = 0; !is_whole && i < count; i++) see_array(array, at - 1, start + i * step, access, site);
}

#define TRANSFER_ARRAY(name, access)                                                              \
  WEAK void _gfortran_transfer_##name(void *io, struct described *array, int kind, size_t length) { \
    static void (*next)(void *, struct described *, int, size_t);                                 \
    if (!next) next = (__typeof__(next))next_function("_gfortran_transfer_" #name);               \
    bool is_known = array->start && array->rank <= 15;                                            \
    if (is_known) see_array(array, array->rank - 1, array->start, access, __builtin_return_address(0)); \
    next(io, array, kind, length);                                                                \
  }
TRANSFER_ARRAY(array_write, READS)
TRANSFER_ARRAY(array, WRITES)
