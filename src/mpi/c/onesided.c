/* One-sided operations: their effects on the memory of the target, and when these happen.
 * Operations are recorded when they are started, and carried out when an epoch ends: what they read
 * is returned to the program, and what they change is added to the changes of the target. */
#include "windows.h"

/* Types are sent without their names. */
static void put_type(struct bytes *to, const struct type *type) {
  put_u32(to, type->element);
  put_u64(to, type->size);
  put_u64(to, (uint64_t)type->lb);
  put_u64(to, (uint64_t)type->extent);
  put_block(to, type->piece, type->pieces * sizeof *type->piece);
}

static struct type take_type(struct reader *from) {
  struct type type = {.is_committed = true};
  type.element = take_u32(from);
  type.size = take_u64(from);
  type.lb = (ptrdiff_t)take_u64(from);
  type.extent = (ptrdiff_t)take_u64(from);
  struct reader pieces = take_block(from);
  type.pieces = (size_t)(pieces.end - pieces.at) / sizeof *type.piece;
  type.piece = allocate((size_t)(pieces.end - pieces.at));
  memcpy(type.piece, pieces.at, (size_t)(pieces.end - pieces.at));
  return type;
}

static bool reads_target(char kind) { return kind == 'g' || kind == 'f' || kind == 'c'; }
static bool is_atomic(char kind) { return kind == 'a' || kind == 'f' || kind == 'c'; }
bool operation_changes(const struct operation *of) { return of->kind != 'g' && of->op != MPI_NO_OP; }
bool operation_is_ordered(char kind, MPI_Op op) { return kind == 'f' || kind == 'c' || (kind == 'a' && op == MPI_REPLACE); }

/* The range of bytes of a part that an operation touches. */
static void bounds(const struct operation *of, int unit, size_t *from, size_t *to) {
  ptrdiff_t low, high, begin = of->disp * unit;
  type_reach(of->type, of->count, &low, &high);
  *from = (size_t)(begin + low);
  *to = (size_t)(begin + high);
}

static int by_place(const void *one, const void *other) {
  uint64_t a = ((const struct span *)one)->from, b = ((const struct span *)other)->from;
  return a < b ? -1 : a > b;
}

/* The touched bytes, if there are holes between them. */
static struct spans spans_of(const struct operation *of, int unit) {
  const struct type *type = of->type;
  struct spans made = {0};
  if (type->pieces <= 1 && (of->count <= 1 || (ptrdiff_t)type->size == type->extent)) return made;
  made.span = allocate(of->count * type->pieces * sizeof *made.span + 1);
  for (size_t i = 0; i < of->count; i++)
    for (size_t p = 0; p < type->pieces; p++) {
      const struct piece *piece = &type->piece[p];
      uint64_t from = (uint64_t)(of->disp * unit + (ptrdiff_t)i * type->extent + piece->at);
      uint64_t to = from + piece->run.count * basic_size(piece->run.basic);
      if (made.count > 0 && made.span[made.count - 1].to == from) made.span[made.count - 1].to = to;
      else made.span[made.count++] = (struct span){from, to};
    }
  qsort(made.span, made.count, sizeof *made.span, by_place);
  return made;
}

static struct reader all_of(const struct bytes *bytes) { return (struct reader){bytes->at, bytes->at + bytes->length}; }

struct operation *operation_start(MPI_Win win, char kind, int target, MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Op op) {
  struct window *window = window_of(win);
  check_count(count);
  const struct type *of = type_for(type, "target datatype");
  window_check_rank(window, target);
  if (disp < 0) fail("invalid argument", "the displacement is %ld", (long)disp);
  if (window->holds[target] == FREE && !window->has_fenced)
    fail("missing epoch", "no epoch is open: neither a fence nor a lock comes before it");
  if (window->length == window->room) {
    window->room = 2 * window->room + 8;
    window->operations = grow(window->operations, window->room * sizeof *window->operations);
  }
  struct operation *made = &window->operations[window->length++];
  window->sharings[target].is_used = true;
  *made = (struct operation){.kind = kind, .target = target, .disp = disp, .count = (size_t)count, .type = of, .op = op,
                             .name = call.name, .site = call.site};
  const struct side *side = &window->sides[target];
  size_t from, to;
  bounds(made, side->unit, &from, &to);
  bool is_dynamic = window->flavor == MPI_WIN_FLAVOR_DYNAMIC;
  if (is_dynamic && from < to && !copy_at(window, changes_content(window, target), (struct span){from, to}))
    fail("invalid argument", "rank %d has not attached the %zu bytes at its address %#zx, or nothing orders that before this call", target,
         to - from, from);
  if (!is_dynamic && ((ptrdiff_t)from < 0 || to > side->size))
    fail("invalid argument", "bytes %zd to %zd of a part of %zu bytes, which rank %d has in the window", from, to, side->size,
         target);
  enum hold hold = window->has_fenced ? FREE : window->holds[target];
  made->record = records_add(window, made, hold, from, to, spans_of(made, side->unit));
  return made;
}

/* The data must fit the type at the target. */
static void check_fits(const struct operation *of) {
  struct reader data = all_of(&of->data);
  struct signature given = signature_take(&data), wanted = {0};
  signature_add(&wanted, of->count, of->type);
  enum fit fit = signature_fits(&given, &wanted);
  if (fit != FITS)
    fail(fit == TOO_LONG ? "truncation" : "datatype mismatch", "the origin has %s, but at the target there is %s",
         signature_text(&given), signature_text(&wanted));
  signature_free(&given);
  signature_free(&wanted);
}

void operation_writes(struct operation *of, const void *origin, MPI_Count count, MPI_Datatype type) {
  check_count(count);
  const struct type *from = type_for(type, "origin datatype");
  check_buffer(origin, (size_t)count, from, "the origin buffer");
  check_memory(origin, origin, (size_t)count, from, "the origin buffer");
  put_data(&of->data, origin, (size_t)count, from);
  check_fits(of);
  memory_own_more(&of->owned, origin, (size_t)count, from, READS);
}

void operation_reads(struct operation *of, void *result, MPI_Count count, MPI_Datatype type) {
  check_count(count);
  of->result_type = type_for(type, "origin datatype");
  check_buffer(result, (size_t)count, of->result_type, "the buffer");
  check_memory(result, result, (size_t)count, of->result_type, "the buffer");
  of->result = result;
  of->result_count = (size_t)count;
  memory_own_more(&of->owned, result, (size_t)count, of->result_type, READS | WRITES);
  if (memory_overlaps(of->owned)) fail("invalid buffer", "what is read goes where the operation reads or writes already");
}

/* Carries out an operation on a part of a window, and appends what it reads to `result`. Returns
 * whether it changes anything. */
static bool act(char kind, uint8_t *at, size_t count, const struct type *type, MPI_Op op, struct reader data, uintptr_t site,
                struct bytes *result) {
  if (result && reads_target(kind)) put_data(result, at, count, type);
  if (kind == 'g' || op == MPI_NO_OP) return false;
  if (kind == 'p') take_data(&data, at, count, type, "this rank", site, site);
  if (kind == 'c') {
    uint8_t wanted[32] = {0}, new[32] = {0};
    take_data(&data, wanted, 1, type, "this rank", site, site);
    take_data(&data, new, 1, type, "this rank", site, site);
    if (memcmp(at, wanted, type->size) != 0) return false;
    memcpy(at, new, type->size);
  }
  if (kind == 'a' || kind == 'f') {
    ptrdiff_t low, high;
    type_reach(type, count, &low, &high);
    uint8_t *room = allocate((size_t)(high - low) + 64), *given = room - low;
    take_data(&data, given, count, type, "this rank", site, site);
    op_apply_window(op, given, at, count, type);
    release(room);
  }
  return true;
}

static void put_operation(struct bytes *to, const struct operation *of) {
  put_u8(to, (uint8_t)of->kind);
  put_u64(to, (uint64_t)of->disp);
  put_u64(to, of->count);
  put_type(to, of->type);
  put_u64(to, (uint64_t)(uintptr_t)of->op);
  put_site(to, of->site);
  put_block(to, of->data.at, of->data.length);
}

static bool is_store(char kind) { return kind == 'w' || kind == 't' || kind == 'd'; }

/* Reads an operation of put_operation, or a store: see put_store. */
static struct operation take_operation(struct reader *from, struct type *type) {
  struct operation of = {.kind = (char)take_u8(from), .disp = (MPI_Aint)take_u64(from), .type = type};
  if (!is_store(of.kind)) {
    of.count = take_u64(from);
    *type = take_type(from);
    of.op = (MPI_Op)(uintptr_t)take_u64(from);
    of.site = take_u64(from);
  }
  struct reader data = take_block(from);
  of.data = (struct bytes){.at = (uint8_t *)data.at, .length = (size_t)(data.end - data.at)};
  return of;
}

/* The bytes that an operation or a store touches. */
static struct span touched_by(const struct operation *of, int unit) {
  if (is_store(of->kind)) return (struct span){(uint64_t)of->disp, (uint64_t)of->disp + of->data.length};
  size_t from, to;
  bounds(of, unit, &from, &to);
  return (struct span){from, to};
}

/* Carries out an operation that was read. `content` is what it touches, from byte `first` on. */
static void act_taken(const struct operation *of, int unit, uint8_t *content, uint64_t first) {
  if (of->kind == 'w') memcpy(content, of->data.at, of->data.length);
  else act(of->kind, content + (of->disp * unit - (MPI_Aint)first), of->count, of->type, of->op, all_of(&of->data), of->site, NULL);
}

static void change_regions(const struct operation *of, struct copy *copy) {
  struct reader data = all_of(&of->data);
  if (of->kind == 't') copy_attach(copy, (uint64_t)of->disp, take_u64(&data));
  else copy_detach(copy, (uint64_t)of->disp);
}

void operations_act(const struct window *window, int target, struct reader operations, struct copy *copy) {
  int unit = window->sides[target].unit;
  while (operations.at < operations.end) {
    struct type type = {0};
    struct operation of = take_operation(&operations, &type);
    if (of.kind == 't' || of.kind == 'd') change_regions(&of, copy);
    else {
      struct span touched = touched_by(&of, unit);
      uint8_t *content = copy_at(window, copy, touched);
      /* Nothing is there if the memory was detached concurrently: a race. */
      if (content) act_taken(&of, unit, content, touched.from);
    }
    release(type.piece);
  }
}

/* Carries out an operation on a copy of what it touches, and takes over the bytes of the stores. */
static void act_again(const struct operation *of, int unit, struct span touched, struct reader stores, uint8_t *content) {
  uint8_t *copy = NULL;
  while (stores.at < stores.end) {
    struct operation store = take_operation(&stores, NULL);
    struct span both = touched_by(&store, 1);
    if (both.from < touched.from) both.from = touched.from;
    if (both.to > touched.to) both.to = touched.to;
    if (both.from >= both.to) continue;
    if (!copy) {
      copy = memcpy(allocate(touched.to - touched.from), content, touched.to - touched.from);
      act_taken(of, unit, copy, touched.from);
    }
    memcpy(content + (both.from - touched.from), copy + (both.from - touched.from), both.to - both.from);
  }
  release(copy);
}

void operations_act_again(const struct window *window, int target, struct reader operations, struct reader stores, struct copy *copy) {
  int unit = window->sides[target].unit;
  while (operations.at < operations.end) {
    struct type type = {0};
    struct operation of = take_operation(&operations, &type);
    struct span touched = touched_by(&of, unit);
    uint8_t *content = of.kind == 't' || of.kind == 'd' ? NULL : copy_at(window, copy, touched);
    if (content) act_again(&of, unit, touched, stores, content);
    release(type.piece);
  }
}

static void receive_result(struct operation *of, struct reader result) {
  if (of->result) take_data(&result, of->result, of->result_count, of->result_type, "the window", of->site, of->site);
}

static void complete(struct operation *of) {
  memory_release(of->owned);
  of->owned = 0;
  of->is_over = true;
}

/* Whether others may accumulate at this target at the same time, and some rank could observe the
 * order. */
static bool is_shared(const struct window *window, int target) {
  if (window->has_fenced) return window->are_contended[target];
  return window->holds[target] != EXCLUSIVE;
}

/* Calls `each` with the ranges of bytes of a part that an operation touches. */
static void each_span(const struct operation *of, int unit, void each(void *, struct span), void *with) {
  struct spans spans = spans_of(of, unit);
  size_t from, to;
  bounds(of, unit, &from, &to);
  for (size_t i = 0; i < spans.count; i++) each(with, spans.span[i]);
  if (!spans.span && from < to) each(with, (struct span){from, to});
  release(spans.span);
}

struct touched {
  const struct window *window;
  int target;
  struct grains *grains;
  bool is_change;
};
static void add_grains(void *to, struct span span) {
  struct touched *touched = to;
  grains_add(touched->grains, touched->window, touched->target, span, touched->is_change);
}

static bool is_waiting(const struct operation *of, int target) { return !of->is_applied && of->target == target; }

static void touch(const struct window *window, int target, struct grains *grains, bool are_atomic) {
  for (size_t i = 0; i < window->length; i++) {
    const struct operation *of = &window->operations[i];
    struct touched touched = {window, target, grains, operation_changes(of)};
    if (is_waiting(of, target) && (is_atomic(of->kind) || !are_atomic)) each_span(of, window->sides[target].unit, add_grains, &touched);
  }
}

void operations_touch(const struct window *window, int target, struct grains *grains) { touch(window, target, grains, false); }

/* The results of ordered operations. */
struct results {
  struct bytes *to;
  const struct window *window;
  const struct copy *copy;
};
static void add_result(void *to, struct span touched) {
  struct results *results = to;
  put_store(results->to, 'w', touched.from, copy_at(results->window, results->copy, touched), touched.to - touched.from);
}

/* Carries out what is not applied yet: it is one change. */
void operations_apply(struct window *window, int target) {
  bool is_ordered = false, is_reading = false, is_fetching = false, is_any = false;
  enum lane lane = PLAIN;
  int unit = window->sides[target].unit;
  for (size_t i = 0; i < window->length; i++) {
    const struct operation *of = &window->operations[i];
    if (!is_waiting(of, target)) continue;
    is_any = true;
    is_reading |= reads_target(of->kind);
    is_fetching |= reads_target(of->kind) && is_atomic(of->kind);
    is_ordered |= operation_is_ordered(of->kind, of->op);
    if (is_atomic(of->kind)) lane = ATOMIC;
  }
  if (!is_any) return;
  if (window->holds[target] == STARTED) exposure_await(window, target);
  struct grains all = {0}, atomic = {0};
  touch(window, target, &all, false);
  touch(window, target, &atomic, true);
  if (window->holds[target] == SHARED || window->holds[target] == EVERYBODY) locks_learn(window, target, &all);
  /* Nobody looks for it in the epoch of a fence where nothing is contended. */
  bool is_announced = lane == ATOMIC && (!window->has_fenced || window->are_contended[target]);
  is_ordered &= is_shared(window, target);
  if (is_ordered) grains_lock(&atomic, window, target);
  if (is_ordered) grains_find(&atomic, window, target, is_fetching);
  struct copy copy = {0};
  if (is_reading || is_ordered) {
    copy = *changes_content(window, target);
    copy.at = memcpy(allocate(copy.size), copy.at, copy.size);
  }
  struct bytes changes = {0};
  bool *are_changes = allocate(window->length * sizeof *are_changes);
  for (size_t i = 0; i < window->length; i++) {
    struct operation *of = &window->operations[i];
    if (!is_waiting(of, target)) continue;
    are_changes[i] = operation_changes(of);
    if (copy.at) {
      struct bytes result = {0};
      struct span touched = touched_by(of, unit);
      uint8_t *content = copy_at(window, &copy, touched);
      if (!content && touched.from < touched.to) fail_at(of->site, "global concurrency", "rank %d detaches the memory that this touches", target);
      uint8_t *at = content + (of->disp * unit - (MPI_Aint)touched.from);
      are_changes[i] = act(of->kind, at, of->count, of->type, of->op, all_of(&of->data), of->site, &result);
      receive_result(of, all_of(&result));
      release(result.at);
    }
    if (are_changes[i] && !is_ordered) put_operation(&changes, of);
    release(of->data.at);
    of->data = (struct bytes){0};
    of->is_applied = true;
  }
  struct results results = {&changes, window, &copy};
  for (size_t i = 0; i < window->length && is_ordered; i++)
    if (are_changes[i]) each_span(&window->operations[i], unit, add_result, &results);
  /* An ordered operation that changes nothing also tells the next one what it has seen. */
  if (changes.length > 0 || is_ordered) {
    uint32_t index = changes_add(window, target, lane, is_ordered, &changes);
    if (is_announced) grains_announce(&atomic, window, target, index);
  }
  release(changes.at);
  release(copy.at);
  release(are_changes);
  if (is_ordered) grains_unlock(&atomic, window, target);
}

static bool reads_any(const struct window *window, int target) {
  for (size_t i = 0; i < window->length; i++)
    if (is_waiting(&window->operations[i], target) && reads_target(window->operations[i].kind)) return true;
  return false;
}

void operations_complete(struct window *window, int target, bool is_local) {
  bool reads = reads_any(window, target);
  /* Nobody can see yet what such an operation changes. */
  bool is_later = lock_hides(window, target, is_local) && !reads;
  if (!is_later && (reads || !is_local)) lock_need(window, target);
  if (!is_later) locks_settle(), operations_apply(window, target);
  for (size_t i = 0; i < window->length; i++) {
    if (window->operations[i].target != target) continue;
    complete(&window->operations[i]);
    window->operations[i].is_flushed |= !is_local;
  }
  records_complete(window, target, is_local);
}

bool operations_change(const struct window *window, int target) {
  for (size_t i = 0; i < window->length; i++)
    if (window->operations[i].target == target && operation_changes(&window->operations[i])) return true;
  return false;
}

bool operations_hand_over(struct window *window, int target, struct bytes *to) {
  for (size_t i = 0; i < window->length; i++)
    if (is_waiting(&window->operations[i], target) && window->operations[i].kind != 'p') return false;
  for (size_t i = 0; i < window->length; i++) {
    struct operation *of = &window->operations[i];
    if (!is_waiting(of, target)) continue;
    put_operation(to, of);
    release(of->data.at);
    of->data = (struct bytes){0};
    of->is_applied = true;
    complete(of);
  }
  records_complete(window, target, false);
  return true;
}

void operations_forget(struct window *window) {
  size_t kept = 0;
  for (size_t i = 0; i < window->length; i++)
    if (!window->operations[i].is_over || !window->operations[i].is_applied) window->operations[kept++] = window->operations[i];
  window->length = kept;
}

/* Each rank sends the places where it has changed something. So a rank whose part is asserted to be
 * unchanged can check that. */
static void take_place(struct reader *from, const struct window *window) {
  int target = (int)take_u32(from);
  bool is_change = take_u8(from);
  uintptr_t site = take_u64(from);
  if (target == window->comm->rank && window->no_put_at && is_change)
    fail_at(site, "invalid argument", "rank %d asserts MPI_MODE_NOPUT at {@%lx}, but this changes its part of the window", world_rank,
            window->no_put_at);
}

bool operations_exchange(struct window *window, const char *called) {
  records_exchange(window);
  struct bytes given = {0};
  for (size_t i = 0; i < window->length; i++) {
    const struct operation *of = &window->operations[i];
    put_u32(&given, (uint32_t)of->target);
    put_u8(&given, operation_changes(of));
    put_site(&given, of->site);
  }
  for (int rank = 0; rank < window->comm->group->size; rank++) operations_apply(window, rank);
  for (size_t i = 0; i < window->length; i++) complete(&window->operations[i]);
  window->length = 0;
  struct contributions all = exchange(window->comm, called, &given);
  release(given.at);
  bool is_any = false;
  for (int rank = 0; rank < window->comm->group->size; rank++) {
    struct reader said = *contribution(&all, rank);
    is_any |= said.at < said.end;
    while (said.at < said.end) take_place(&said, window);
  }
  return is_any;
}

/* Operations with requests: MPI leaves open when they are carried out; here it is at the start.
 * They own the program's memory until the wait. */
int operation_request(MPI_Win win, const struct operation *of, MPI_Request *handle) {
  *OUT(handle) = request_new('o');
  if (!of) return MPI_SUCCESS;
  struct window *window = window_of(win);
  if (window->has_fenced) fail("missing epoch", "%s needs the epoch of a lock", call.name);
  struct request *request = request_get(*handle);
  request->owned = of->owned;
  records_own(of->record, of->owned);
  windows_publish();
  lock_need(window, of->target);
  locks_settle();
  operations_apply(window, of->target);
  return MPI_SUCCESS;
}

FUNCTION(Fetch_and_op, (const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Op op, MPI_Win win)) {
  CALL_OF_EPOCH("MPI_Fetch_and_op");
  op_check_window(op, type_for(type, "target datatype"));
  if (target == MPI_PROC_NULL) return MPI_SUCCESS;
  struct operation *of = operation_start(win, 'f', target, disp, 1, type, op);
  if (op != MPI_NO_OP) operation_writes(of, origin, 1, type);
  operation_reads(of, result, 1, type);
  return MPI_SUCCESS;
}

FUNCTION(Compare_and_swap, (const void *origin, const void *compared, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Win win)) {
  CALL_OF_EPOCH("MPI_Compare_and_swap");
  if (target == MPI_PROC_NULL) return MPI_SUCCESS;
  struct operation *of = operation_start(win, 'c', target, disp, 1, type, MPI_REPLACE);
  operation_writes(of, compared, 1, type);
  operation_writes(of, origin, 1, type);
  operation_reads(of, result, 1, type);
  return MPI_SUCCESS;
}
