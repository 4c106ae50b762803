/* Polls: tests and probes that may find nothing, whatever there is. They are made in loops.
 *
 * If a rank comes back to a poll, was told nothing since but that polls were in vain, and is in the
 * very state in which it was at this poll before, then it goes round: told the same, it does the
 * same again. A question says so, by the number of outcomes since then. For the verifier the rank
 * is then where it was (src/systems/history.rs), and waits for one of the polls on its way to find
 * something. A rank that is in another state each time (it counts, say) is followed from poll to
 * poll, up to a bound.
 *
 * A state is what decides what the program does next:
 * - All memory that it can write: variables, heap and stack, its own and those of all libraries.
 *   That is read, so it does not matter who has written to it, or whether that was seen.
 * - The registers that are the same after a call, and how far its files were read.
 * - Which call this is, and what it polls.
 *
 * What else there is does not change, or is counted (`unseen`), and counts as another state: what
 * this library keeps in its own memory changes in calls of MPI; then there are looks at the clock,
 * random numbers, system calls that are followed (calls.c), and accesses to windows. With a timer
 * that runs, no states are compared. Time alone, while the rank sleeps, is no change: who has not
 * looked does not know of it. It is put back, as the rank was never away.
 *
 * States are compared by sums of 128 bits. Each word changes both sums by functions that are one to
 * one. */
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

/* The polls in vain since the rank was told anything else, each with the state in which it was
 * asked. */
static struct vain {
  struct sum state;
  uint64_t time;
} *row;
static size_t length, room;
static uint64_t unseen_before; /* when the last of them had been told */

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

/* The registers with which the program goes on, and where its part of the stack begins. */
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
  if (_Unwind_GetIP(at) != call.site) return _URC_NO_REASON;
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

/* How far files were read and written that the program has opened, and how much is left in pipes.
 * What it prints goes to the first ones. False if it has something else open. */
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

/* Is the program to be interrupted some time? Then it may go on otherwise. */
static bool has_timer(void) {
  const int all[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    struct itimerval is = {0};
    if (raw(SYS_getitimer, all[i], &is) == 0 && (is.it_value.tv_sec || is.it_value.tv_usec)) return true;
  }
  return false;
}

/* Memory that is not looked at: that of the library, and where the kernel notes on which processor
 * the thread runs. */
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
  struct stretch own, rseq;
  const struct stretch *store;
  size_t count;
};

static bool is_first(const struct stretch *stretch, uintptr_t at, const struct stretch *than) {
  return stretch->to > at && (!than || stretch->from < than->from);
}

/* The first part of what is left out that ends behind this. */
static const struct stretch *next_left_out(const struct left_out *all, uintptr_t at) {
  const struct stretch *next = NULL;
  if (is_first(&all->own, at, next)) next = &all->own;
  if (is_first(&all->rseq, at, next)) next = &all->rseq;
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

/* /proc/self/maps, to be released. */
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

/* More memory is not compared. */
static const size_t most_memory = (size_t)1 << 30;

/* The sum of the present state. False if that is not known. */
static bool state_now(struct sum *state, const uint8_t *arguments, size_t count) {
  *state = (struct sum){0x243f6a8885a308d3u, 0x13198a2e03707344u};
  char *text = maps();
  struct left_out out = {.own = {(uintptr_t)__start_mazurka_own, (uintptr_t)__stop_mazurka_own}};
  out.store = store_stretches(&out.count);
  if (&__rseq_offset) out.rseq.from = thread_pointer() + (uintptr_t)__rseq_offset;
  out.rseq.to = out.rseq.from + (out.rseq.from ? RSEQ_SIZE : 0);
  struct frame frame = {.registers = state};
  add_floating_registers(state);
  _Unwind_Backtrace(find_frame, &frame);
  bool is_known = out.store && frame.stack && text;
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
    /* On a stack of its own making nobody knows where other memory begins. */
    bool is_stack = stack_end >= from && stack_end < to;
    if (is_stack && frame.stack >= from && frame.stack < to) from = frame.stack;
    is_known = (all += to - from) <= most_memory;
    if (is_known) add_but(state, from, to, &out);
  }
  release(text);
  return is_known;
}

/* How many outcomes ago the rank was in this state, at one of the polls in the row; 0 if it was
 * not. Then it is there again. */
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
  /* The present call is one. */
  if (unseen > unseen_before + 1) length = 0;
  if (length > 0 && asks_anew) is_known = state_now(&state, question->at + arguments, count);
  put_u32(question, is_known ? outcomes_since(&state) : 0);
  struct reader told = ask();
  if (*told.at == 'I' && is_told_in_vain_only()) {
    if (!is_known) is_known = state_now(&state, question->at + arguments, count);
    if (length == room) row = grow(row, (room = 2 * room + 8) * sizeof *row);
    if (is_known) row[length] = (struct vain){state, nanoseconds};
    length = is_known ? length + 1 : 0;
    unseen_before = unseen;
  }
  return told;
}
