/* Handles: indices into one table for each kind. An index is never used again, so a freed handle is
 * recognised. */
#include "rank.h"

struct table {
  size_t length, room;
  struct object **object;
};
static struct table tables[KINDS];

/* Handles start beyond the constants of MPI; kinds are far apart, so that they are not confused. */
static uintptr_t first(enum kind kind) { return (uintptr_t)kind << 24; }

uintptr_t handle_new(enum kind kind, struct object *object) {
  struct table *table = &tables[kind];
  if (table->length == table->room) {
    table->room = 2 * table->room + 16;
    table->object = grow(table->object, table->room * sizeof *table->object);
  }
  object->kind = kind;
  object->made_at = call.site;
  object->made_by = call.name;
  table->object[table->length] = object;
  return first(kind) + table->length++;
}

struct object *handle_get(enum kind kind, const void *handle) {
  uintptr_t place = (uintptr_t)handle - first(kind);
  return (uintptr_t)handle >= first(kind) && place < tables[kind].length ? tables[kind].object[place] : NULL;
}

static bool is_left(const struct object *object) {
  if (object->is_freed || object->is_predefined) return false;
  const struct request *request = (const struct request *)object;
  return object->kind != REQUEST || request->state == ACTIVE || request->is_persistent;
}

/* The name in src/mpi/slip.rs for leaving such an object behind. */
static const char *leak_of(const struct object *object) {
  static const char *const classes[KINDS] = {
      [COMM] = "communicator leak", [GROUP] = "group leak", [DATATYPE] = "datatype leak",
      [OP] = "operator leak",       [WIN] = "window leak",  [REQUEST] = "request leak",
      [OPENED] = "file leak"};
  if (object->kind != REQUEST) return classes[object->kind];
  const struct request *request = (const struct request *)object;
  if (request->state == ACTIVE) return "missing wait";
  return request->is_started ? classes[REQUEST] : "missing start";
}

void handles_check_left(void) {
  static const enum kind judged[] = {REQUEST, COMM, GROUP, DATATYPE, OP, WIN, OPENED};
  for (size_t k = 0; k < sizeof judged / sizeof *judged; k++) {
    struct table *table = &tables[judged[k]];
    for (size_t i = 0; i < table->length; i++) {
      struct object *object = table->object[i];
      if (!leak_of(object) || !is_left(object)) continue;
      if (object->kind == REQUEST && ((struct request *)object)->state == ACTIVE)
        fail_at(object->made_at, leak_of(object), "what %s makes here is never waited for", object->made_by);
      remark(object->made_at, leak_of(object));
    }
  }
}

/* A name that is too long is cut (MPI 4.1, 7.8). */
void object_set_name(struct object *object, const char *name) {
  object->name = text_of("%.*s", MPI_MAX_OBJECT_NAME - 1, text_in(name, "the name"));
}

const char *object_name(const struct object *object) { return object->name ? object->name : ""; }
