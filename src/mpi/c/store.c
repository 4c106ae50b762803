/* Memory of the library itself. It is not taken from the program's heap: what the library needs
 * depends on how a rank came to its state (all observations at once, or step by step), and the
 * contents of the program's heap must not. */
#include "rank.h"

#include <stdarg.h>
#include <sys/mman.h>

enum { SMALLEST = 5, CLASSES = 48, CHUNK = 1 << 20 };

/* The head of each piece; pieces are aligned like those of malloc. */
struct head {
  size_t class; /* the piece has 2^class bytes, including the head */
  struct head *next;
};

static struct head *unused[CLASSES];
static uint8_t *chunk, *chunk_end;

static struct stretch stretches[1024];
static size_t count_of_stretches;
enum { MOST_STRETCHES = sizeof stretches / sizeof *stretches };

static void note_stretch(uintptr_t from, uintptr_t to) {
  struct stretch *last = &stretches[count_of_stretches ? count_of_stretches - 1 : 0];
  if (count_of_stretches > MOST_STRETCHES) return;
  if (count_of_stretches && last->from == to)
    last->from = from;
  else if (count_of_stretches && last->to == from)
    last->to = to;
  else if (count_of_stretches++ < MOST_STRETCHES)
    stretches[count_of_stretches - 1] = (struct stretch){from, to};
}

const struct stretch *store_stretches(size_t *count) {
  *count = count_of_stretches;
  return count_of_stretches <= MOST_STRETCHES ? stretches : NULL;
}

static void *map(size_t size) {
  static bool is_ending;
  void *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED && is_verified && !is_ending) is_ending = true, memory_ends(call.site);
  if (made == MAP_FAILED) give_up("no memory");
  note_stretch((uintptr_t)made, ((uintptr_t)made + size + 4095) & ~(uintptr_t)4095);
  return made;
}

static struct head *new_piece(size_t class) {
  size_t size = (size_t)1 << class;
  if (size >= CHUNK) return map(size);
  if ((size_t)(chunk_end - chunk) < size) {
    chunk = map(CHUNK);
    chunk_end = chunk + CHUNK;
  }
  chunk += size;
  return (struct head *)(chunk - size);
}

static size_t class_for(size_t size) {
  size_t class = SMALLEST;
  while (((size_t)1 << class) < size + sizeof(struct head)) class++;
  return class;
}

void *allocate(size_t size) {
  size_t class = class_for(size);
  struct head *piece = unused[class];
  if (piece)
    unused[class] = piece->next;
  else
    piece = new_piece(class);
  piece->class = class;
  return memset(piece + 1, 0, size);
}

void release(const void *piece) {
  if (!piece) return;
  struct head *head = (struct head *)piece - 1;
  head->next = unused[head->class];
  unused[head->class] = head;
}

void *grow(void *old, size_t size) {
  if (!old) return allocate(size);
  size_t room = ((size_t)1 << ((struct head *)old - 1)->class) - sizeof(struct head);
  if (size <= room) return old;
  void *made = allocate(size);
  memcpy(made, old, room);
  release(old);
  return made;
}

char *text_with(const char *format, va_list values) {
  va_list again;
  va_copy(again, values);
  int length = vsnprintf(NULL, 0, format, values);
  char *made = allocate((size_t)length + 1);
  vsnprintf(made, (size_t)length + 1, format, again);
  va_end(again);
  return made;
}

char *text_of(const char *format, ...) {
  va_list values;
  va_start(values, format);
  char *made = text_with(format, values);
  va_end(values);
  return made;
}
