/* Attributes that programs attach to communicators, and error handlers, which are never called: every error is a violation. */
#include "windows.h"

struct attribute {
  const void *of; /* a communicator or a window */
  int key;
  void *value;
};
static struct attribute *attributes;
static size_t count_of_attributes;

struct keyval {
  MPI_Comm_copy_attr_function *copy;
  MPI_Comm_delete_attr_function *delete;
  void *extra;
};
static struct keyval *keyvals;
static int count_of_keyvals;
enum { FIRST_KEY = 10000 };

static struct attribute *find(const void *of, int key) {
  for (size_t i = 0; i < count_of_attributes; i++)
    if (attributes[i].of == of && attributes[i].key == key) return &attributes[i];
  return NULL;
}

bool attribute_get(const void *of, int key, void *value) {
  struct attribute *found = find(of, key);
  if (found) *(void **)value = found->value;
  return found != NULL;
}

static struct keyval *keyval(int key) {
  if (key < FIRST_KEY || key >= FIRST_KEY + count_of_keyvals) fail("invalid argument", "%d is no key", key);
  return &keyvals[key - FIRST_KEY];
}

static void set(const void *of, int key, void *value) {
  struct attribute *known = find(of, key);
  if (!known) {
    attributes = grow(attributes, (count_of_attributes + 1) * sizeof *attributes);
    known = &attributes[count_of_attributes++];
  }
  *known = (struct attribute){of, key, value};
}

static int new_key(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *key, void *extra) {
  keyvals = grow(keyvals, (size_t)(count_of_keyvals + 1) * sizeof *keyvals);
  keyvals[count_of_keyvals] = (struct keyval){copy, delete, extra};
  *OUT(key) = FIRST_KEY + count_of_keyvals++;
  return MPI_SUCCESS;
}

static int put_attribute(MPI_Comm comm, int key, void *value) {
  keyval(key);
  set(comm_get(comm), key, value);
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key) {
  struct keyval *of = keyval(key);
  struct attribute *found = find(comm_get(comm), key);
  if (!found) return MPI_SUCCESS;
  if (of->delete) of->delete(comm, key, found->value, of->extra);
  found->of = NULL;
  return MPI_SUCCESS;
}

FUNCTION(Comm_create_keyval, (MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *key, void *extra)) {
  CALL("MPI_Comm_create_keyval");
  return new_key(copy, delete, key, extra);
}
FUNCTION(Keyval_create, (MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *key, void *extra)) {
  CALL("MPI_Keyval_create");
  return new_key(copy, delete, key, extra);
}
FUNCTION(Comm_set_attr, (MPI_Comm comm, int key, void *value)) {
  CALL("MPI_Comm_set_attr");
  return put_attribute(comm, key, value);
}
FUNCTION(Attr_put, (MPI_Comm comm, int key, void *value)) {
  CALL("MPI_Attr_put");
  return put_attribute(comm, key, value);
}
FUNCTION(Comm_delete_attr, (MPI_Comm comm, int key)) {
  CALL("MPI_Comm_delete_attr");
  return delete_attribute(comm, key);
}
FUNCTION(Attr_delete, (MPI_Comm comm, int key)) {
  CALL("MPI_Attr_delete");
  return delete_attribute(comm, key);
}
FUNCTION(Comm_free_keyval, (int *key)) {
  CALL("MPI_Comm_free_keyval");
  *OUT(key) = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}
FUNCTION(Keyval_free, (int *key)) {
  CALL("MPI_Keyval_free");
  *OUT(key) = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

FUNCTION(Win_create_keyval, (MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *delete, int *key, void *extra)) {
  CALL("MPI_Win_create_keyval");
  (void)copy, (void)delete;
  return new_key(NULL, NULL, key, extra);
}
FUNCTION(Win_free_keyval, (int *key)) {
  CALL("MPI_Win_free_keyval");
  *OUT(key) = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}
FUNCTION(Win_set_attr, (MPI_Win win, int key, void *value)) {
  CALL("MPI_Win_set_attr");
  keyval(key);
  set(window_of(win), key, value);
  return MPI_SUCCESS;
}
FUNCTION(Win_delete_attr, (MPI_Win win, int key)) {
  CALL("MPI_Win_delete_attr");
  struct attribute *found = find(window_of(win), key);
  if (found) found->of = NULL;
  return MPI_SUCCESS;
}

FUNCTION(Win_create_errhandler, (MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)) {
  CALL("MPI_Win_create_errhandler");
  (void)function;
  *OUT(handler) = MPI_ERRORS_RETURN;
  return MPI_SUCCESS;
}
FUNCTION(Comm_create_errhandler, (MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)) {
  CALL("MPI_Comm_create_errhandler");
  (void)function;
  *OUT(handler) = MPI_ERRORS_RETURN;
  return MPI_SUCCESS;
}
FUNCTION(Errhandler_create, (MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)) {
  CALL("MPI_Errhandler_create");
  (void)function;
  *OUT(handler) = MPI_ERRORS_RETURN;
  return MPI_SUCCESS;
}
FUNCTION(Errhandler_free, (MPI_Errhandler *handler)) {
  CALL("MPI_Errhandler_free");
  *OUT(handler) = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}
FUNCTION(Comm_call_errhandler, (MPI_Comm comm, int code)) {
  CALL("MPI_Comm_call_errhandler");
  comm_get(comm);
  fail("abort", "the program calls the error handler with code %d", code);
}
