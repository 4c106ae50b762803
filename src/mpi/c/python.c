/* Programs in Python: where a call of MPI is, and exceptions that nobody catches.
 *
 * Such a program calls MPI by an extension module (mpi4py), so the return address says nothing. The
 * place of a call is the line of the innermost frame of Python that is not in a library of Python.
 * It is a number: the highest bit, a number made from the name of the file, and the line. The
 * verifier learns the name with the first question after it was used (NAMING).
 *
 * The functions of Python are those of the interpreter, if there is one in the process. They exist
 * since Python 3.9. */
#include "calls.h"

#define PYTHON(result, name, parameters) \
  result name parameters __attribute__((weak))

PYTHON(int, Py_IsInitialized, (void));
PYTHON(int, PyGILState_Ensure, (void));
PYTHON(void, PyGILState_Release, (int));
PYTHON(void *, PyEval_GetFrame, (void));
PYTHON(void *, PyFrame_GetCode, (void *frame));
PYTHON(void *, PyFrame_GetBack, (void *frame));
PYTHON(int, PyFrame_GetLineNumber, (void *frame));
PYTHON(int, PyFrame_GetLasti, (void *frame)); /* since 3.11 */
PYTHON(void *, PyObject_GetAttrString, (void *object, const char *name));
PYTHON(void *, PyObject_Str, (void *object));
PYTHON(void *, PyObject_CallMethodObjArgs, (void *object, void *name, ...));
PYTHON(void *, PyUnicode_InternFromString, (const char *text));
PYTHON(const char *, PyUnicode_AsUTF8, (void *text));
PYTHON(long, PyLong_AsLong, (void *number));
PYTHON(void *, PyTuple_GetItem, (void *tuple, ptrdiff_t at));
PYTHON(void, Py_IncRef, (void *object));
PYTHON(void, Py_DecRef, (void *object));
PYTHON(void, PyErr_Clear, (void));
PYTHON(void, PyErr_Display, (void *type, void *value, void *traceback));
PYTHON(int, PySys_SetObject, (const char *name, void *object));
PYTHON(void *, PyCFunction_NewEx, (void *method, void *self, void *module));

bool is_python(void) { return Py_IsInitialized && PyFrame_GetBack && Py_IsInitialized(); }

/* The text of an attribute, or of what str() makes of the object if there is no name; NULL if that
 * raises an exception. The caller releases it. */
static char *text_of_python(void *object, const char *name) {
  void *value = name ? PyObject_GetAttrString(object, name) : PyObject_Str(object);
  const char *text = value ? PyUnicode_AsUTF8(value) : NULL;
  char *copy = text ? text_of("%s", text) : NULL;
  if (!copy) PyErr_Clear();
  Py_DecRef(value);
  return copy;
}

/* The number of a place. */
static uintptr_t place_in(const char *file, int line) {
  uint32_t hash = 2166136261u;
  for (const char *at = file; *at; at++) hash = (hash ^ (uint8_t)*at) * 16777619u;
  hash &= INT32_MAX;
  char *name = text_of("%x:%s", hash, file);
  file_use(NAMING, name);
  release(name);
  return (uintptr_t)1 << 63 | (uintptr_t)hash << 32 | (uint32_t)line;
}

/* Modules that are compiled have relative names. */
static bool is_of_library(const char *file) {
  return file[0] != '/' || strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") || strstr(file, "/lib/python3.");
}

/* A line that a frame is at. */
struct line {
  void *code;
  int at; /* the instruction in the code; negative if that is not known */
  uintptr_t place;
  bool is_own; /* not in a library of Python */
};

/* The line of this code with this number. */
static struct line line_in(void *code, int at, int number) {
  char *file = text_of_python(code, "co_filename");
  struct line made = {code, at, file ? place_in(file, number) : 0, file && !is_of_library(file)};
  release(file);
  return made;
}

/* Lines that were looked up before, with references to their code: programs call MPI from the same
 * lines again and again. */
static struct line line_of(void *frame) {
  enum { KNOWN = 1024 };
  static struct line known[KNOWN];
  void *code = PyFrame_GetCode(frame);
  int at = PyFrame_GetLasti ? PyFrame_GetLasti(frame) : -1;
  struct line *line = &known[((uintptr_t)code / 64 * 31 + (unsigned)at) % KNOWN];
  if (at < 0 || line->code != code || line->at != at) {
    struct line made = line_in(code, at, PyFrame_GetLineNumber(frame));
    Py_IncRef(code);
    Py_DecRef(line->code);
    *line = made;
  }
  Py_DecRef(code);
  return *line;
}

/* The line of the innermost frame that is not in a library, or else of the innermost frame. An
 * extension module may call MPI while other threads run Python: so this takes Python's lock. */
static uintptr_t place_now(void) {
  int state = PyGILState_Ensure();
  struct line found = {0};
  void *frame = PyEval_GetFrame();
  Py_IncRef(frame);
  while (frame) {
    struct line line = line_of(frame);
    if (line.is_own || !found.place) found = line;
    void *outer = line.is_own ? NULL : PyFrame_GetBack(frame);
    Py_DecRef(frame);
    frame = outer;
  }
  PyGILState_Release(state);
  return found.place;
}

/* The interpreter counts in the code how often it runs, to make it faster. Otherwise code never
 * changes. Finds the code of the functions that have not returned; returns their number. */
size_t python_code(struct stretch *code, size_t room) {
  if (!is_python()) return 0;
  size_t count = 0;
  int state = PyGILState_Ensure();
  void *frame = PyEval_GetFrame(), *size_of = PyUnicode_InternFromString("__sizeof__");
  Py_IncRef(frame);
  while (frame) {
    void *of = PyFrame_GetCode(frame), *size = PyObject_CallMethodObjArgs(of, size_of, NULL), *outer = PyFrame_GetBack(frame);
    if (size && count < room) code[count++] = (struct stretch){(uintptr_t)of, (uintptr_t)of + (uintptr_t)PyLong_AsLong(size)};
    Py_DecRef(size);
    Py_DecRef(of);
    Py_DecRef(frame);
    frame = outer;
  }
  Py_DecRef(size_of);
  PyErr_Clear();
  PyGILState_Release(state);
  return count;
}

/* A call that comes from an entry for Fortran is the call of the entry, which has been noted. */
struct call call_from(const char *function, const void *address) {
  const char *at = address;
  if (at >= __start_mazurka_fortran && at < __stop_mazurka_fortran) return (struct call){function, call.site, call.back};
  uintptr_t back = (uintptr_t)address, place = is_in_program(back) || !is_python() ? 0 : place_now();
  return (struct call){function, place ? place : back, back};
}

/* Where an exception was raised: as for a call. */
static uintptr_t place_of_traceback(void *traceback) {
  struct line found = {0};
  Py_IncRef(traceback);
  for (void *at = traceback; at;) {
    void *frame = PyObject_GetAttrString(at, "tb_frame"), *number = PyObject_GetAttrString(at, "tb_lineno");
    void *next = frame && number ? PyObject_GetAttrString(at, "tb_next") : NULL;
    if (next) {
      void *code = PyFrame_GetCode(frame);
      struct line line = line_in(code, -1, (int)PyLong_AsLong(number));
      if (line.is_own || !found.is_own) found = line;
      Py_DecRef(code);
    }
    Py_DecRef(frame);
    Py_DecRef(number);
    Py_DecRef(at);
    at = next;
  }
  PyErr_Clear();
  return found.place;
}

/* sys.excepthook: called with the type, the value and the traceback of an exception that nobody
 * catches. */
static void *uncaught(void *self, void *arguments) {
  (void)self;
  void *type = PyTuple_GetItem(arguments, 0), *value = PyTuple_GetItem(arguments, 1), *traceback = PyTuple_GetItem(arguments, 2);
  PyErr_Display(type, value, traceback);
  char *name = text_of_python(type, "__name__"), *what = text_of_python(value, NULL);
  uintptr_t site = place_of_traceback(traceback);
  call = (struct call){.name = ""};
  if (name && strcmp(name, "AssertionError") == 0) fail_at(site, "assertion", "%s", what && *what ? what : "false");
  fail_at(site, "abort", "an exception is not caught: %s%s%s", name ? name : "of an unknown type", what && *what ? ": " : "", what ? what : "");
}

void python_begin(void) {
  if (!is_python()) return;
  /* PyMethodDef of Python's stable interface; 1 is METH_VARARGS. */
  static struct {
    const char *name;
    void *(*function)(void *, void *);
    int flags;
    const char *text;
  } hook = {"excepthook", uncaught, 1, NULL};
  int state = PyGILState_Ensure();
  void *function = PyCFunction_NewEx(&hook, NULL, NULL);
  if (function) PySys_SetObject("excepthook", function);
  Py_DecRef(function);
  PyGILState_Release(state);
}
