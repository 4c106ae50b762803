/* Polls: tests and probes that may find nothing, whatever messages there are. Programs make them in
 * loops.
 *
 * If a rank comes back to a poll, has observed nothing but unsuccessful polls since then, and is in
 * exactly the state in which it was at this poll before, then it is in a cycle: after the same
 * observations, it does the same again. The question says so, by the number of outcomes since then.
 * For the verifier the rank is then in the earlier state again (src/systems/history.rs), and waits
 * until one of the polls of the cycle finds something. A rank whose state differs each time
 * (because it counts, for example) is followed from poll to poll, up to a bound.
 *
 * A state is everything that determines what the program does next:
 * - All memory that it can write: variables, heap and stack, its own and those of all libraries.
 *   The memory itself is read, so it does not matter which code has written to it.
 * - The callee-saved registers, and the positions in its files.
 * - The present call, and what it polls.
 *
 * Everything else either does not change, or its changes are counted (`unseen`), and then count as
 * another state. The library's own memory changes in calls of MPI. The other sources are reads of
 * the clock, random numbers, intercepted system calls (calls.c), and accesses to windows. While a
 * timer runs, states are not compared. Time that passes while the rank sleeps is not a change,
 * unless the rank reads the clock: the time is set back, as if no round had happened.
 *
 * States are compared by hashes of 128 bits. Each word changes both halves by bijective
 * functions. */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>
#include <unwind.h>

uint64_t unseen;

struct sum {
  uint64_t one, other;
};

/* The unsuccessful polls since the last other observation, each with the state before it. */
static struct vain {
  struct sum state;
  uint64_t time;
} *row;
static size_t length, room;
static uint64_t unseen_before; /* after the last of them */

static uint64_t rotated(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

static inline void add(struct sum *to, uint64_t word) {
  to->one = rotated(to->one ^ word, 29) * 0x9e3779b97f4a7c15u;
  to->other = rotated(to->other + word, 41) * 0xd6e8feb86659fd93u;
}

static void add_memory(struct sum *to, uintptr_t from, uintptr_t end) {
  uint64_t word = 0;
  add(to, from);
  add(to, end);
  for (; end - from >= sizeof word; from += sizeof word) {
    memcpy(&word, (const void *)from, sizeof word);
    add(to, word);
  }
  word = 0;
  memcpy(&word, (const void *)from, end - from);
  add(to, word);
}

/* The callee-saved registers of the program, and where its part of the stack begins. */
struct frame {
  struct sum *registers;
  uintptr_t stack;
};
#if defined(__x86_64__)
static const int kept[] = {3, 6, 12, 13, 14, 15}; /* rbx, rbp, r12 to r15 */
#else
static const int kept[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#endif
static _Unwind_Reason_Code find_frame(struct _Unwind_Context *at, void *with) {
  struct frame *frame = with;
  if (_Unwind_GetIP(at) != call.back) return _URC_NO_REASON;
  frame->stack = _Unwind_GetCFA(at);
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) add(frame->registers, _Unwind_GetGR(at, kept[i]));
  return _URC_END_OF_STACK;
}

static void add_floating_registers(struct sum *to) {
#if defined(__aarch64__)
  uint64_t all[8];
  __asm__ volatile("stp d8, d9, [%0]\n stp d10, d11, [%0, 16]\n stp d12, d13, [%0, 32]\n stp d14, d15, [%0, 48]" : : "r"(all) : "memory");
  for (size_t i = 0; i < 8; i++) add(to, all[i]);
#else
  (void)to;
#endif
}

/* The positions in the files that the program has opened, and the amount of data in pipes. The
 * first descriptors are for its output. Returns false if something else is open. */
enum { FIRST_FILE = 3, FILES = 256 };
static bool add_files(struct sum *to) {
  for (long file = FIRST_FILE; file < FILES; file++) {
    int left = 0;
    long at = raw(SYS_lseek, file, 0, SEEK_CUR);
    if (at == -EBADF) continue;
    if (at < 0 && raw(SYS_ioctl, file, FIONREAD, &left) < 0) return false;
    add(to, (uint64_t)(at < 0 ? left : at));
    add(to, (uint64_t)file);
  }
  return true;
}

/* Whether a timer may interrupt the program: then it may continue in another way. */
static bool has_timer(void) {
  const int all[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    struct itimerval is = {0};
    if (raw(SYS_getitimer, all[i], &is) == 0 && (is.it_value.tv_sec || is.it_value.tv_usec)) return true;
  }
  return false;
}

/* Memory that is not compared: the memory of the library, where the kernel stores the processor of
 * the thread, and code of Python. */
extern char __start_mazurka_own[] __attribute__((visibility("hidden")));
extern char __stop_mazurka_own[] __attribute__((visibility("hidden")));
extern const ptrdiff_t __rseq_offset __attribute__((weak));
enum { RSEQ_SIZE = 32 };
static uintptr_t thread_pointer(void) {
  uintptr_t at;
#if defined(__x86_64__)
  __asm__("movq %%fs:0, %0" : "=r"(at));
#else
  __asm__("mrs %0, tpidr_el0" : "=r"(at));
#endif
  return at;
}
struct left_out {
  struct stretch own, rseq, code[64];
  size_t codes;
  const struct stretch *store;
  size_t count;
};

static bool is_first(const struct stretch *stretch, uintptr_t at, const struct stretch *than) {
  return stretch->to > at && (!than || stretch->from < than->from);
}

/* The first excluded range that ends behind this address. */
static const struct stretch *next_left_out(const struct left_out *all, uintptr_t at) {
  const struct stretch *next = NULL;
  if (is_first(&all->own, at, next)) next = &all->own;
  if (is_first(&all->rseq, at, next)) next = &all->rseq;
  for (size_t i = 0; i < all->codes; i++)
    if (is_first(&all->code[i], at, next)) next = &all->code[i];
  for (size_t i = 0; i < all->count; i++)
    if (is_first(&all->store[i], at, next)) next = &all->store[i];
  return next;
}

static void add_but(struct sum *to, uintptr_t from, uintptr_t end, const struct left_out *all) {
  while (from < end) {
    const struct stretch *next = next_left_out(all, from);
    uintptr_t until = next && next->from < end ? next->from : end;
    if (until > from) add_memory(to, from, until);
    from = until < end ? next->to : end;
  }
}

/* The text of /proc/self/maps; the caller releases it. */
static char *maps(void) {
  size_t size = 1 << 14, used = 0;
  char *text = allocate(size);
  long file = raw(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), got = file;
  while (file >= 0 && (got = raw(SYS_read, file, text + used, size - used - 1)) > 0) {
    used += (size_t)got;
    if (size - used < 4096) text = grow(text, size *= 2);
  }
  if (file >= 0) raw(SYS_close, file);
  text[used] = 0;
  if (got == 0) return text;
  release(text);
  return NULL;
}

extern void *__libc_stack_end;

/* If there is more memory, states are not compared. */
static const size_t most_memory = (size_t)1 << 30;

/* Computes the hash of the present state. Returns false if it is unknown. */
static bool state_now(struct sum *state, const uint8_t *arguments, size_t count) {
  *state = (struct sum){0x243f6a8885a308d3u, 0x13198a2e03707344u};
  char *text = maps();
  struct left_out out = {.own = {(uintptr_t)__start_mazurka_own, (uintptr_t)__stop_mazurka_own}};
  out.store = store_stretches(&out.count);
  out.codes = python_code(out.code, sizeof out.code / sizeof *out.code);
  if (&__rseq_offset) out.rseq.from = thread_pointer() + (uintptr_t)__rseq_offset;
  out.rseq.to = out.rseq.from + (out.rseq.from ? RSEQ_SIZE : 0);
  struct frame frame = {.registers = state};
  add_floating_registers(state);
  _Unwind_Backtrace(find_frame, &frame);
  bool is_known = thread_is_alone() && out.store && frame.stack && text;
  add(state, frame.stack);
  add(state, call.site);
  add_memory(state, (uintptr_t)call.name, (uintptr_t)call.name + strlen(call.name));
  for (size_t i = 0; i < count; i++) add(state, arguments[i]);
  is_known = is_known && add_files(state) && !has_timer();
  uintptr_t stack_end = (uintptr_t)__libc_stack_end;
  size_t all = 0;
  for (char *line = text; is_known && *line; line = strchr(line, '\n') + 1) {
    char *rest;
    uintptr_t from = strtoull(line, &rest, 16), to = strtoull(rest + 1, &rest, 16);
    if (rest[1] != 'r' || rest[2] != 'w') continue;
    /* If the program uses a stack of its own, the bounds of that stack are unknown. */
    bool is_stack = stack_end >= from && stack_end < to;
    if (is_stack && frame.stack >= from && frame.stack < to) from = frame.stack;
    is_known = (all += to - from) <= most_memory;
    if (is_known) add_but(state, from, to, &out);
  }
  release(text);
  return is_known;
}

/* The number of outcomes since the rank was in this state, at one of the recorded polls; 0 if it
 * was not. Then it is in that state again. */
static uint32_t outcomes_since(const struct sum *state) {
  for (size_t place = length; place-- > 0;) {
    if (row[place].state.one != state->one || row[place].state.other != state->other) continue;
    uint32_t since = (uint32_t)(length - place);
    nanoseconds = row[place].time;
    length = place;
    return since;
  }
  return 0;
}

struct reader ask_poll(struct bytes *question, size_t arguments) {
  size_t count = question->length - arguments;
  struct sum state;
  bool is_known = false;
  /* One of them is the present call. */
  if (unseen > unseen_before + 1) length = 0;
  if (length > 0 && asks_anew) is_known = state_now(&state, question->at + arguments, count);
  put_u32(question, is_known ? outcomes_since(&state) : 0);
  struct reader answer = ask();
  if (*answer.at == 'I') thread_polled();
  if (*answer.at == 'I' && only_vain_answers_follow()) {
    if (!is_known) is_known = state_now(&state, question->at + arguments, count);
    if (length == room) row = grow(row, (room = 2 * room + 8) * sizeof *row);
    if (is_known) row[length] = (struct vain){state, nanoseconds};
    length = is_known ? length + 1 : 0;
    unseen_before = unseen;
  }
  return answer;
}
