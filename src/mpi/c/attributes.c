/* Attributes that programs attach to communicators, datatypes and windows, under keys (MPI 4.1,
 * 7.7). */
#include "windows.h"

/* The types of functions for all kinds of objects. A handle is a pointer. */
typedef int copy_function(void *handle, int key, void *extra, void *value, void *made, int *flag);
typedef int delete_function(void *handle, int key, void *value, void *extra);

struct keyval {
  enum kind of; /* the objects that may have such attributes */
  copy_function *copy;
  delete_function *delete;
  void *extra;
  bool is_freed; /* by the program; it lives on while it is in use */
  size_t uses;
};
static struct keyval *keyvals;
static int count_of_keyvals;
enum { FIRST_KEY = 10000 };

static struct keyval *keyval_get(int key, enum kind of) {
  static const char *const kinds[KINDS] = {[COMM] = "communicators", [DATATYPE] = "datatypes", [WIN] = "windows"};
  if (key < FIRST_KEY || key >= FIRST_KEY + count_of_keyvals) fail("invalid argument", "%d is no key", key);
  struct keyval *found = &keyvals[key - FIRST_KEY];
  if (found->is_freed && found->uses == 0) fail("invalid argument", "key %d was freed", key);
  if (found->of != of) fail("invalid argument", "key %d is not for %s", key, kinds[of]);
  return found;
}

static int new_key(struct keyval made, int *key) {
  OUT(key);
  keyvals = grow(keyvals, (size_t)(count_of_keyvals + 1) * sizeof *keyvals);
  keyvals[count_of_keyvals] = made;
  *key = FIRST_KEY + count_of_keyvals++;
  return MPI_SUCCESS;
}

static int free_key(int *key, enum kind of) {
  keyval_get(*OUT(key), of)->is_freed = true;
  *key = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

static size_t find(const struct object *of, int key) {
  size_t place = 0;
  while (place < of->attributes.length && of->attributes.at[place].key != key) place++;
  return place;
}

static void add(struct object *to, int key, void *value) {
  struct attributes *all = &to->attributes;
  all->at = grow(all->at, (all->length + 1) * sizeof *all->at);
  all->at[all->length++] = (struct attribute){key, value};
  keyvals[key - FIRST_KEY].uses++;
}

bool attribute_get(const struct object *of, int key, void *value) {
  keyval_get(key, of->kind);
  size_t place = find(of, key);
  bool is_there = place < of->attributes.length;
  if (is_there) *(void **)value = of->attributes.at[place].value;
  return is_there;
}

/* Removes an attribute, unless its delete function returns an error: then the call fails with that
 * error (MPI 4.1, 7.7.2). */
static int remove_one(struct object *of, void *handle, int key) {
  struct keyval by = keyvals[key - FIRST_KEY];
  struct call before = call;
  int code = by.delete ? by.delete(handle, key, of->attributes.at[find(of, key)].value, by.extra) : MPI_SUCCESS;
  call = before;
  if (code != MPI_SUCCESS) return error_raise(of, handle, code, "the delete function of an attribute");
  size_t place = find(of, key);
  struct attributes *all = &of->attributes;
  if (place == all->length) return MPI_SUCCESS; /* the function has removed it itself */
  memmove(&all->at[place], &all->at[place + 1], (--all->length - place) * sizeof *all->at);
  keyvals[key - FIRST_KEY].uses--;
  return MPI_SUCCESS;
}

int attributes_remove(struct object *of, void *handle) {
  int code = MPI_SUCCESS;
  while (of->attributes.length > 0 && code == MPI_SUCCESS)
    code = remove_one(of, handle, of->attributes.at[of->attributes.length - 1].key);
  return code;
}

static int copy_one(const struct object *from, void *handle, struct attribute one, struct object *to) {
  struct keyval by = keyvals[one.key - FIRST_KEY];
  bool is_plain = by.copy == (copy_function *)MPI_COMM_DUP_FN;
  void *value = one.value;
  int flag = is_plain, code = MPI_SUCCESS;
  struct call before = call;
  if (by.copy && !is_plain) code = by.copy(handle, one.key, by.extra, one.value, &value, &flag);
  call = before;
  if (code != MPI_SUCCESS) return error_raise(from, handle, code, "the copy function of an attribute");
  if (flag) add(to, one.key, value);
  return MPI_SUCCESS;
}

int attributes_copy(const struct object *from, void *handle, struct object *to, void *made) {
  int code = MPI_SUCCESS;
  for (size_t i = 0; i < from->attributes.length && code == MPI_SUCCESS; i++)
    code = copy_one(from, handle, from->attributes.at[i], to);
  if (code != MPI_SUCCESS) attributes_remove(to, made);
  return code;
}

static int put_attribute(struct object *of, void *handle, int key, void *value) {
  keyval_get(key, of->kind);
  int code = find(of, key) < of->attributes.length ? remove_one(of, handle, key) : MPI_SUCCESS;
  if (code == MPI_SUCCESS) add(of, key, value);
  return code;
}

static int delete_attribute(struct object *of, void *handle, int key) {
  keyval_get(key, of->kind);
  return find(of, key) < of->attributes.length ? remove_one(of, handle, key) : MPI_SUCCESS;
}

#define NEW_KEY(of) new_key((struct keyval){of, (copy_function *)copy, (delete_function *)erase, extra, false, 0}, key)
#define KEYS(kind, of)                                                                                                      \
  FUNCTION(kind##_create_keyval,                                                                                            \
           (MPI_##kind##_copy_attr_function *copy, MPI_##kind##_delete_attr_function *erase, int *key, void *extra)) {      \
    CALL("MPI_" #kind "_create_keyval");                                                                                    \
    return NEW_KEY(of);                                                                                                     \
  }                                                                                                                         \
  FUNCTION(kind##_free_keyval, (int *key)) {                                                                                \
    CALL("MPI_" #kind "_free_keyval");                                                                                      \
    return free_key(key, of);                                                                                               \
  }
KEYS(Comm, COMM)
KEYS(Type, DATATYPE)
KEYS(Win, WIN)

FUNCTION(Keyval_create, (MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *erase, int *key, void *extra)) {
  CALL("MPI_Keyval_create");
  return NEW_KEY(COMM);
}
FUNCTION(Keyval_free, (int *key)) {
  CALL("MPI_Keyval_free");
  return free_key(key, COMM);
}

#define ATTRIBUTES(put, delete, name, handle, object)         \
  FUNCTION(put, (handle name, int key, void *value)) {        \
    CALL("MPI_" #put);                                        \
    return put_attribute(object, name, key, value);           \
  }                                                           \
  FUNCTION(delete, (handle name, int key)) {                  \
    CALL("MPI_" #delete);                                     \
    return delete_attribute(object, name, key);               \
  }
ATTRIBUTES(Comm_set_attr, Comm_delete_attr, comm, MPI_Comm, &comm_get(comm)->object)
ATTRIBUTES(Attr_put, Attr_delete, comm, MPI_Comm, &comm_get(comm)->object)
ATTRIBUTES(Type_set_attr, Type_delete_attr, type, MPI_Datatype, &type_get(type)->object)
ATTRIBUTES(Win_set_attr, Win_delete_attr, win, MPI_Win, &window_of(win)->object)

FUNCTION(Type_get_attr, (MPI_Datatype type, int key, void *value, int *flag)) {
  CALL("MPI_Type_get_attr");
  OUT((void **)value);
  OUT(flag);
  *flag = attribute_get(&type_get(type)->object, key, value);
  return MPI_SUCCESS;
}
