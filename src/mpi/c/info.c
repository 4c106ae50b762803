/* Info objects: hints as pairs of texts. No hint is used here, but programs read back what they
 * have set, also before MPI_Init and after MPI_Finalize (MPI 4.1, 11.4.1). */
#include "rank.h"

struct pair {
  char *key, *value;
};
struct info {
  struct object object;
  int count;
  struct pair *pairs;
};

static struct info *info_get(MPI_Info info) {
  static struct info environment = {.object = {.is_predefined = true}};
  if (info == MPI_INFO_ENV) return &environment;
  struct info *found = (struct info *)handle_get(INFO, info);
  if (info == MPI_INFO_NULL) fail("invalid argument", "the info is MPI_INFO_NULL");
  if (!found) fail("invalid argument", "%p is no info", (void *)info);
  if (found->object.is_freed) fail("invalid argument", "the info made at {@%lx} was freed", found->object.made_at);
  return found;
}

static int find(const struct info *in, const char *key) {
  for (int i = 0; i < in->count; i++)
    if (strcmp(in->pairs[i].key, key) == 0) return i;
  return -1;
}

static void set(struct info *in, const char *key, const char *value) {
  int at = find(in, key);
  if (at < 0) {
    in->pairs = grow(in->pairs, (size_t)(in->count + 1) * sizeof *in->pairs);
    at = in->count++;
    in->pairs[at] = (struct pair){text_of("%s", key), NULL};
  }
  release(in->pairs[at].value);
  in->pairs[at].value = text_of("%s", value);
}

static void check_text(const char *text, size_t most, const char *parameter) {
  size_t length = strlen(text_in(text, parameter));
  if (length == 0 || length >= most) fail("invalid argument", "the %s has %zu characters", parameter, length);
}

MPI_Info info_new(void) { return (MPI_Info)handle_new(INFO, allocate(sizeof(struct info))); }

void info_put(MPI_Info info, const char *key, const char *value) { set(info_get(info), key, value); }

const char *info_find(MPI_Info info, const char *key) {
  if (info == MPI_INFO_NULL) return NULL;
  const struct info *in = info_get(info);
  int at = find(in, key);
  return at < 0 ? NULL : in->pairs[at].value;
}

FUNCTION(Info_create, (MPI_Info *info)) {
  HERE("MPI_Info_create");
  *OUT(info) = info_new();
  return MPI_SUCCESS;
}

/* MPI_INFO_ENV is empty. */
FUNCTION(Info_create_env, (int argc, char *argv[], MPI_Info *info)) {
  HERE("MPI_Info_create_env");
  (void)argc, (void)argv;
  *OUT(info) = info_new();
  return MPI_SUCCESS;
}

FUNCTION(Info_dup, (MPI_Info info, MPI_Info *made)) {
  HERE("MPI_Info_dup");
  const struct info *from = info_get(info);
  *OUT(made) = info_new();
  for (int i = 0; i < from->count; i++) set(info_get(*made), from->pairs[i].key, from->pairs[i].value);
  return MPI_SUCCESS;
}

FUNCTION(Info_set, (MPI_Info info, const char *key, const char *value)) {
  HERE("MPI_Info_set");
  struct info *of = info_get(info);
  check_text(key, MPI_MAX_INFO_KEY, "the key");
  check_text(value, MPI_MAX_INFO_VAL, "the value");
  set(of, key, value);
  return MPI_SUCCESS;
}

FUNCTION(Info_delete, (MPI_Info info, const char *key)) {
  HERE("MPI_Info_delete");
  struct info *of = info_get(info);
  int at = find(of, text_in(key, "the key"));
  if (at < 0) fail("invalid argument", "the info has no key %s", key);
  release(of->pairs[at].key);
  release(of->pairs[at].value);
  memmove(&of->pairs[at], &of->pairs[at + 1], (size_t)(--of->count - at) * sizeof *of->pairs);
  return MPI_SUCCESS;
}

/* Copies at most `length` characters of a value, and a terminating zero. */
FUNCTION(Info_get, (MPI_Info info, const char *key, int length, char *value, int *flag)) {
  HERE("MPI_Info_get");
  const struct info *of = info_get(info);
  int at = find(of, text_in(key, "the key"));
  check_count(length);
  *OUT(flag) = at >= 0;
  if (at >= 0) snprintf(OUTS(value, length + 1), (size_t)length + 1, "%s", of->pairs[at].value);
  return MPI_SUCCESS;
}

/* `length` is the size of the buffer; then it is set to the size of the value, including the
 * terminating zero. */
FUNCTION(Info_get_string, (MPI_Info info, const char *key, int *length, char *value, int *flag)) {
  HERE("MPI_Info_get_string");
  const struct info *of = info_get(info);
  int at = find(of, text_in(key, "the key"));
  *OUT(flag) = at >= 0;
  if (at < 0) return MPI_SUCCESS;
  check_count(*OUT(length));
  if (*length > 0) snprintf(OUTS(value, *length), (size_t)*length, "%s", of->pairs[at].value);
  *OUT(length) = (int)strlen(of->pairs[at].value) + 1;
  return MPI_SUCCESS;
}

FUNCTION(Info_get_valuelen, (MPI_Info info, const char *key, int *length, int *flag)) {
  HERE("MPI_Info_get_valuelen");
  const struct info *of = info_get(info);
  int at = find(of, text_in(key, "the key"));
  *OUT(flag) = at >= 0;
  if (at >= 0) *OUT(length) = (int)strlen(of->pairs[at].value);
  return MPI_SUCCESS;
}

FUNCTION(Info_get_nkeys, (MPI_Info info, int *count)) {
  HERE("MPI_Info_get_nkeys");
  *OUT(count) = info_get(info)->count;
  return MPI_SUCCESS;
}

FUNCTION(Info_get_nthkey, (MPI_Info info, int n, char *key)) {
  HERE("MPI_Info_get_nthkey");
  const struct info *of = info_get(info);
  if (n < 0 || n >= of->count) fail("invalid argument", "key %d of %d", n, of->count);
  text_out(key, of->pairs[n].key);
  return MPI_SUCCESS;
}

FUNCTION(Info_free, (MPI_Info *info)) {
  HERE("MPI_Info_free");
  struct info *freed = info_get(*OUT(info));
  if (freed->object.is_predefined) fail("invalid argument", "MPI_INFO_ENV cannot be freed");
  freed->object.is_freed = true;
  *OUT(info) = MPI_INFO_NULL;
  return MPI_SUCCESS;
}
