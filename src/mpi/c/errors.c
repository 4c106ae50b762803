/* Errors: their handlers, and the meaning of codes.
 *
 * A mistake of the program is a violation, whatever the handler: the behaviour of a call after a
 * mistake is up to the implementation, which need not notice it at all (MPI 4.1, 2.8 and 9.3). So
 * handlers are called only where the standard defines what happens: if the program calls one, or if
 * a function of its own that MPI calls returns an error. A handler that ends the program is an
 * abort. */
#include "io.h"
#include "sessions.h"

struct errhandler {
  struct object object;
  const char *of; /* the kind of its objects */
  MPI_Comm_errhandler_function *function;
  /* the number of handles of the program: each is freed once, and objects keep the handler (MPI
   * 4.1, 9.3.4) */
  int handles;
};

static bool is_known(MPI_Errhandler handler) {
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT || handler == MPI_ERRORS_RETURN;
}

static struct errhandler *errhandler_get(MPI_Errhandler handler) {
  struct errhandler *found = (struct errhandler *)handle_get(ERRHANDLER, handler);
  if (handler == MPI_ERRHANDLER_NULL) fail("invalid argument", "the error handler is MPI_ERRHANDLER_NULL");
  if (!found) fail("invalid argument", "%p is no error handler", (void *)handler);
  if (found->handles == 0) fail("invalid argument", "the error handler made at {@%lx} was freed", found->object.made_at);
  return found;
}

static int create(void *function, const char *of, MPI_Errhandler *handler) {
  if (!function) fail("invalid argument", "the function is a null pointer");
  struct errhandler *made = allocate(sizeof *made);
  made->function = function;
  made->of = of;
  made->handles = 1;
  *OUT(handler) = (MPI_Errhandler)handle_new(ERRHANDLER, &made->object);
  return MPI_SUCCESS;
}

int errhandler_attach(MPI_Errhandler *to, MPI_Errhandler handler, const char *of) {
  if (!is_known(handler) && strcmp(errhandler_get(handler)->of, of) != 0)
    fail("invalid argument", "the error handler made at {@%lx} is not for %s", errhandler_get(handler)->object.made_at, of);
  *to = handler;
  return MPI_SUCCESS;
}

static int tell(MPI_Errhandler of, MPI_Errhandler *handler) {
  if (!is_known(of)) ((struct errhandler *)handle_get(ERRHANDLER, of))->handles++;
  *OUT(handler) = of;
  return MPI_SUCCESS;
}

/* Calls the handler. A predefined one that does more than return ends the program, with a
 * message. */
static void __attribute__((format(printf, 4, 5))) handle(MPI_Errhandler handler, void *object, int code, const char *format, ...) {
  if (handler == MPI_ERRORS_RETURN) return;
  if (is_known(handler)) {
    va_list values;
    va_start(values, format);
    fail("abort", "%s ends the program", text_with(format, values));
  }
  struct call before = call;
  ((struct errhandler *)handle_get(ERRHANDLER, handler))->function(object, &code);
  call = before;
}

/* Errors of objects other than communicators and windows belong to MPI_COMM_SELF (MPI 4.1, 9.3). */
int error_raise(const struct object *of, void *object, int code, const char *who) {
  if (of->kind != COMM && of->kind != WIN) object = MPI_COMM_SELF;
  const struct comm *comm = of->kind == WIN ? NULL : comm_get(object);
  handle(comm ? comm->errhandler : window_of(object)->errhandler, &object, code, "%s returns error %d, and the error handler of %s",
         who, code, comm ? comm->title : "the window");
  return code;
}

#define HANDLERS(kind, name, of, object, at, BEGIN)                                                  \
  FUNCTION(kind##_create_errhandler, (MPI_##kind##_errhandler_function *function, MPI_Errhandler *handler)) { \
    BEGIN("MPI_" #kind "_create_errhandler");                                                      \
    return create((void *)function, of, handler);                                                  \
  }                                                                                                \
  FUNCTION(kind##_set_errhandler, (MPI_##kind name, MPI_Errhandler handler)) {                     \
    CALL("MPI_" #kind "_set_errhandler");                                                          \
    return errhandler_attach(&(object)at, handler, of);                                                       \
  }                                                                                                \
  FUNCTION(kind##_get_errhandler, (MPI_##kind name, MPI_Errhandler *handler)) {                    \
    CALL("MPI_" #kind "_get_errhandler");                                                          \
    return tell((object)at, handler);                                                              \
  }                                                                                                \
  FUNCTION(kind##_call_errhandler, (MPI_##kind name, int code)) {                                  \
    CALL("MPI_" #kind "_call_errhandler");                                                         \
    handle((object)at, &name, code, "the program calls the error handler with code %d, which", code); \
    return MPI_SUCCESS;                                                                            \
  }

/* That of MPI_FILE_NULL is for files to be opened (MPI 4.1, 14.7). */
static MPI_Errhandler *handler_of_file(MPI_File file) {
  static MPI_Errhandler of_none = MPI_ERRORS_RETURN;
  return file == MPI_FILE_NULL ? &of_none : &file_get(file)->errhandler;
}

void file_get_handler(MPI_File file, MPI_Errhandler *handler) { *handler = *handler_of_file(file); }

int file_error(MPI_File file, int code) {
  handle(*handler_of_file(file), &file, code, "%s returns error %d, and the error handler of the file", call.name, code);
  return code;
}

HANDLERS(Comm, comm, "communicators", comm_get(comm), ->errhandler, CALL)
HANDLERS(Win, win, "windows", window_of(win), ->errhandler, CALL)
HANDLERS(File, file, "files", *handler_of_file(file), , CALL)
/* That of a session may be made before there is one (MPI 4.1, 11.4.1). */
HANDLERS(Session, session, "sessions", *session_errhandler(session), , HERE)

FUNCTION(Errhandler_create, (MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)) {
  CALL("MPI_Errhandler_create");
  return create((void *)function, "communicators", handler);
}
FUNCTION(Errhandler_set, (MPI_Comm comm, MPI_Errhandler handler)) {
  CALL("MPI_Errhandler_set");
  return errhandler_attach(&comm_get(comm)->errhandler, handler, "communicators");
}
FUNCTION(Errhandler_get, (MPI_Comm comm, MPI_Errhandler *handler)) {
  CALL("MPI_Errhandler_get");
  return tell(comm_get(comm)->errhandler, handler);
}
/* This function and those about codes may be called at any time (MPI 4.1, 11.4.1). */
FUNCTION(Errhandler_free, (MPI_Errhandler *handler)) {
  HERE("MPI_Errhandler_free");
  if (!is_known(*OUT(handler))) errhandler_get(*handler)->handles--;
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

/* Codes: those of MPI are their own classes, and are followed by those of the program. */
static const char *const classes[] = {
    "MPI_SUCCESS",         "MPI_ERR_BUFFER",    "MPI_ERR_COUNT",        "MPI_ERR_TYPE",      "MPI_ERR_TAG",
    "MPI_ERR_COMM",        "MPI_ERR_RANK",      "MPI_ERR_REQUEST",      "MPI_ERR_ROOT",      "MPI_ERR_GROUP",
    "MPI_ERR_OP",          "MPI_ERR_TOPOLOGY",  "MPI_ERR_DIMS",         "MPI_ERR_ARG",       "MPI_ERR_UNKNOWN",
    "MPI_ERR_TRUNCATE",    "MPI_ERR_OTHER",     "MPI_ERR_INTERN",       "MPI_ERR_PENDING",   "MPI_ERR_IN_STATUS",
    "MPI_ERR_ACCESS",      "MPI_ERR_AMODE",     "MPI_ERR_ASSERT",       "MPI_ERR_BAD_FILE",  "MPI_ERR_BASE",
    "MPI_ERR_CONVERSION",  "MPI_ERR_DISP",      "MPI_ERR_DUP_DATAREP",  "MPI_ERR_FILE_EXISTS", "MPI_ERR_FILE_IN_USE",
    "MPI_ERR_FILE",        "MPI_ERR_INFO_KEY",  "MPI_ERR_INFO_NOKEY",   "MPI_ERR_INFO_VALUE", "MPI_ERR_INFO",
    "MPI_ERR_IO",          "MPI_ERR_KEYVAL",    "MPI_ERR_LOCKTYPE",     "MPI_ERR_NAME",      "MPI_ERR_NO_MEM",
    "MPI_ERR_NOT_SAME",    "MPI_ERR_NO_SPACE",  "MPI_ERR_NO_SUCH_FILE", "MPI_ERR_PORT",      "MPI_ERR_QUOTA",
    "MPI_ERR_READ_ONLY",   "MPI_ERR_RMA_ATTACH", "MPI_ERR_RMA_CONFLICT", "MPI_ERR_RMA_RANGE", "MPI_ERR_RMA_SHARED",
    "MPI_ERR_RMA_SYNC",    "MPI_ERR_SERVICE",   "MPI_ERR_SIZE",         "MPI_ERR_SPAWN",     "MPI_ERR_UNSUPPORTED_DATAREP",
    "MPI_ERR_UNSUPPORTED_OPERATION", "MPI_ERR_WIN", "MPI_ERR_RMA_FLAVOR", "MPI_ERR_PROC_ABORTED", "MPI_ERR_VALUE_TOO_LARGE",
    "MPI_ERR_SESSION",     "MPI_ERR_ERRHANDLER"};
enum { CLASSES = sizeof classes / sizeof *classes };

struct code {
  int class; /* the code itself, if it is a class */
  int members; /* for a class, the number of its other codes */
  char *text;
  bool is_removed;
};
static struct code *codes;
static int count_of_codes, last_code = MPI_ERR_LASTCODE;

/* A code of the program. */
static struct code *code_get(int code) {
  int place = code - MPI_ERR_LASTCODE - 1;
  if (place < 0 || place >= count_of_codes || codes[place].is_removed)
    fail("invalid argument", "%d is no error code of the program", code);
  return &codes[place];
}

static bool is_of_mpi(int code) { return (code >= 0 && code < CLASSES) || code == MPI_ERR_LASTCODE; }
static int class_of(int code) { return is_of_mpi(code) ? code : code_get(code)->class; }

static int add_code(int class) {
  codes = grow(codes, (size_t)(count_of_codes + 1) * sizeof *codes);
  last_code = MPI_ERR_LASTCODE + ++count_of_codes;
  codes[count_of_codes - 1] = (struct code){.class = class < 0 ? last_code : class};
  if (class > MPI_ERR_LASTCODE) code_get(class)->members++;
  return last_code;
}

int *error_last_code(void) { return &last_code; }

FUNCTION(Add_error_class, (int *error_class)) {
  HERE("MPI_Add_error_class");
  *OUT(error_class) = add_code(-1);
  return MPI_SUCCESS;
}
FUNCTION(Add_error_code, (int error_class, int *code)) {
  HERE("MPI_Add_error_code");
  if (class_of(error_class) != error_class) fail("invalid argument", "%d is not an error class", error_class);
  *OUT(code) = add_code(error_class);
  return MPI_SUCCESS;
}
FUNCTION(Add_error_string, (int code, const char *text)) {
  HERE("MPI_Add_error_string");
  size_t length = strlen(text_in(text, "the text"));
  if (length >= MPI_MAX_ERROR_STRING) fail("invalid argument", "the text has %zu characters", length);
  release(code_get(code)->text);
  code_get(code)->text = text_of("%s", text);
  return MPI_SUCCESS;
}

/* What is removed must exist, and must not have codes or strings (MPI 4.1, 9.5). */
FUNCTION(Remove_error_string, (int code)) {
  HERE("MPI_Remove_error_string");
  if (!code_get(code)->text) fail("invalid argument", "code %d has no text", code);
  release(code_get(code)->text);
  code_get(code)->text = NULL;
  return MPI_SUCCESS;
}
static int remove_code(int code, bool is_class) {
  struct code *removed = code_get(code);
  if ((removed->class == code) != is_class) fail("invalid argument", "%d is no %s", code, is_class ? "class of errors" : "error code");
  if (removed->members > 0) fail("invalid argument", "class %d still has %d codes", code, removed->members);
  if (!is_class && removed->class > MPI_ERR_LASTCODE) code_get(removed->class)->members--;
  removed->is_removed = true;
  return MPI_SUCCESS;
}
FUNCTION(Remove_error_class, (int error_class)) {
  HERE("MPI_Remove_error_class");
  return remove_code(error_class, true);
}
FUNCTION(Remove_error_code, (int code)) {
  HERE("MPI_Remove_error_code");
  return remove_code(code, false);
}

FUNCTION(Error_string, (int code, char *text, int *length)) {
  HERE("MPI_Error_string");
  const char *own = is_of_mpi(code) ? NULL : code_get(code)->text;
  const char *known = code == MPI_ERR_LASTCODE ? "MPI_ERR_LASTCODE" : is_of_mpi(code) ? classes[code] : "";
  *OUT(length) = text_out(text, own ? own : known);
  return MPI_SUCCESS;
}
FUNCTION(Error_class, (int code, int *error_class)) {
  HERE("MPI_Error_class");
  *OUT(error_class) = class_of(code);
  return MPI_SUCCESS;
}
