/* Uncaught exceptions of C++: where they were thrown, and their message. The C++ library prints the
 * message as it ends the program. */
#include "calls.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

static uintptr_t thrown_at[24]; /* of the last exception */
static size_t calls;

#pragma weak __cxa_current_exception_type
void *__cxa_current_exception_type(void);

#pragma weak dlsym
WEAK void __attribute__((noreturn)) __cxa_throw(void *thrown, void *type, void (*destroy)(void *)) {
  void __attribute__((noreturn)) (*real)(void *, void *, void (*)(void *));
  *(void **)&real = dlsym ? dlsym(RTLD_NEXT, "__cxa_throw") : NULL;
  if (!real) refuse("the rank throws an exception");
  calls = sites_now(thrown_at, sizeof thrown_at / sizeof *thrown_at);
  real(thrown, type, destroy);
}

/* The text after the last occurrence of `words` in what was printed, up to the end of the line or
 * to the character `end`. */
static char *said(const char *text, const char *words, char end) {
  const char *found = NULL;
  for (const char *next = text; (next = strstr(next, words)); next++) found = next + strlen(words);
  return found ? text_of("%.*s", (int)strcspn(found, (char[]){end, '\n', 0}), found) : NULL;
}

void exception_check(void) {
  if (is_in_program(call.back) || !calls || !__cxa_current_exception_type || !__cxa_current_exception_type()) return;
  char text[4096] = "";
  long long end = raw(SYS_lseek, PRINTED, 0, SEEK_END), from = end < (long long)sizeof text ? 0 : end - (long long)sizeof text + 1;
  raw(SYS_pread64, PRINTED, text, sizeof text - 1, from);
  char *type = said(text, "terminate called after throwing an instance of '", '\''), *what = said(text, "  what():  ", '\n');
  fail_somewhere(thrown_at, calls, "abort", "an exception is not caught: %s%s%s", type ? type : "of an unknown type", what ? ": " : "",
                 what ? what : "");
}
