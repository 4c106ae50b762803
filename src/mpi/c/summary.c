/* What reports show of data: the number of bytes, and the values if there are only a few. */
#include "rank.h"

#include <ctype.h>
#include <stdbool.h>

enum { MOST_VALUES = 4, MOST_LETTERS = 20 };

/* A value of a basic type; NULL if such values are not shown. */
static char *value_text(MPI_Datatype type, const void *at) {
#define TEXT(handle, of, format, as)          \
  if (type == handle) {                       \
    of value;                                 \
    memcpy(&value, at, sizeof value);         \
    return text_of(format, (as)value);        \
  }
  TEXT(MPI_INT, int, "%d", int)
  TEXT(MPI_DOUBLE, double, "%g", double)
  TEXT(MPI_FLOAT, float, "%g", double)
  TEXT(MPI_INTEGER, int, "%d", int)
  TEXT(MPI_DOUBLE_PRECISION, double, "%g", double)
  TEXT(MPI_REAL, float, "%g", double)
  TEXT(MPI_INTEGER4, int32_t, "%d", int)
  TEXT(MPI_INTEGER8, int64_t, "%lld", long long)
  TEXT(MPI_REAL4, float, "%g", double)
  TEXT(MPI_REAL8, double, "%g", double)
  TEXT(MPI_LONG, long, "%ld", long)
  TEXT(MPI_LONG_LONG, long long, "%lld", long long)
  TEXT(MPI_UNSIGNED, unsigned, "%u", unsigned)
  TEXT(MPI_UNSIGNED_LONG, unsigned long, "%lu", unsigned long)
  TEXT(MPI_UNSIGNED_LONG_LONG, unsigned long long, "%llu", unsigned long long)
  TEXT(MPI_SHORT, short, "%d", int)
  TEXT(MPI_UNSIGNED_SHORT, unsigned short, "%d", int)
  TEXT(MPI_LONG_DOUBLE, long double, "%g", double)
  TEXT(MPI_C_BOOL, bool, "%d", int)
  TEXT(MPI_INT8_T, int8_t, "%d", int)
  TEXT(MPI_UINT8_T, uint8_t, "%d", int)
  TEXT(MPI_INT16_T, int16_t, "%d", int)
  TEXT(MPI_UINT16_T, uint16_t, "%d", int)
  TEXT(MPI_INT32_T, int32_t, "%d", int)
  TEXT(MPI_UINT32_T, uint32_t, "%u", unsigned)
  TEXT(MPI_INT64_T, int64_t, "%lld", long long)
  TEXT(MPI_UINT64_T, uint64_t, "%llu", unsigned long long)
  TEXT(MPI_AINT, MPI_Aint, "%lld", long long)
  TEXT(MPI_COUNT, MPI_Count, "%lld", long long)
  TEXT(MPI_OFFSET, MPI_Offset, "%lld", long long)
  TEXT(MPI_BYTE, uint8_t, "%d", int)
  TEXT(MPI_SIGNED_CHAR, signed char, "%d", int)
  TEXT(MPI_UNSIGNED_CHAR, unsigned char, "%d", int)
#undef TEXT
  if (type == MPI_LOGICAL) return text_of(*(const int *)at ? ".true." : ".false.");
  return NULL;
}

static void add_text(struct summary *to, char *text) {
  if (!text) {
    to->is_long = true;
    return;
  }
  if (to->text.length) put(&to->text, ", ", 2);
  put(&to->text, text, strlen(text));
  release(text);
}

/* Appends the printable characters at the beginning, if only zeros follow them. */
static void add_letters(struct summary *to, const char *at, size_t count) {
  size_t length = 0;
  while (length < count && isprint((unsigned char)at[length])) length++;
  for (size_t i = length; i < count; i++)
    if (at[i]) length = MOST_LETTERS + 1;
  if (length > MOST_LETTERS) to->is_long = true;
  else add_text(to, text_of("\"%.*s\"", (int)length, at));
}

void summary_add(struct summary *to, const void *from, size_t count, const struct type *type) {
  to->bytes += count * type->size;
  for (size_t i = 0; i < count && !to->is_long; i++) {
    for (size_t p = 0; p < type->pieces && !to->is_long; p++) {
      const struct run *run = &type->piece[p].run;
      const char *at = (const char *)from + (ptrdiff_t)i * type->extent + type->piece[p].at;
      MPI_Datatype basic = (MPI_Datatype)((uintptr_t)run->basic + 0x200);
      bool is_text = basic == MPI_CHAR || basic == MPI_CHARACTER;
      size_t letters = type->pieces == 1 && (ptrdiff_t)type->size == type->extent ? count * run->count : run->count;
      if (is_text) add_letters(to, at, letters);
      if (is_text && letters != run->count) return;
      for (size_t v = 0; !is_text && v < run->count && !to->is_long; v++) {
        if (++to->values > MOST_VALUES) to->is_long = true;
        else add_text(to, value_text(basic, at + v * basic_size(run->basic)));
      }
    }
  }
}

void summary_put(struct bytes *to, struct summary *summary) {
  put_u32(to, summary->bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)summary->bytes);
  put_block(to, summary->text.at, summary->is_long ? 0 : summary->text.length);
  release(summary->text.at);
}
