/* One-sided operations: what they do to the memory of their target, and when. They are noted when they are started, and
 * carried out when an epoch ends. */
#include "windows.h"

/* Types travel without their names. */
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

static bool changes(char kind, MPI_Op op) { return kind != 'g' && !(kind == 'f' && op == MPI_NO_OP); }
bool operation_changes(const struct operation *of) { return changes(of->kind, of->op); }

/* The bytes of a part that an operation touches: from the first to behind the last. */
static void bounds(const struct operation *of, int unit, size_t *from, size_t *to) {
  const struct type *type = of->type;
  ptrdiff_t low = PTRDIFF_MAX, high = PTRDIFF_MIN;
  for (size_t p = 0; p < type->pieces; p++) {
    const struct piece *piece = &type->piece[p];
    ptrdiff_t end = piece->at + (ptrdiff_t)(piece->run.count * basic_size(piece->run.basic));
    if (piece->at < low) low = piece->at;
    if (end > high) high = end;
  }
  if (of->count == 0 || type->pieces == 0) low = high = 0;
  ptrdiff_t begin = of->disp * unit, last = of->count > 0 ? (ptrdiff_t)(of->count - 1) * type->extent : 0;
  *from = (size_t)(begin + low);
  *to = (size_t)(begin + last + high);
}

static int by_place(const void *one, const void *other) {
  uint64_t a = ((const struct span *)one)->from, b = ((const struct span *)other)->from;
  return a < b ? -1 : a > b;
}

/* The bytes themselves, if there are holes between them. */
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

static struct operation *start(MPI_Win win, char kind, int target, MPI_Aint disp, int count, MPI_Datatype type, MPI_Op op) {
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
  *made = (struct operation){.kind = kind, .target = target, .disp = disp, .count = (size_t)count, .type = of, .op = op,
                             .name = call.name, .site = call.site};
  const struct side *side = &window->sides[target];
  size_t from, to;
  bounds(made, side->unit, &from, &to);
  if (to > side->size)
    fail("invalid argument", "bytes %zu to %zu of a part of %zu bytes, which rank %d has in the window", from, to, side->size,
         target);
  enum hold hold = window->has_fenced ? FREE : window->holds[target];
  made->record = records_add(window, made, hold, from, to, spans_of(made, side->unit));
  return made;
}

static void writes(struct operation *of, const void *origin, int count, MPI_Datatype type) {
  check_count(count);
  const struct type *from = type_for(type, "origin datatype");
  check_buffer(origin, (size_t)count, from, "the origin buffer");
  check_memory(origin, origin, (size_t)count, from, "the origin buffer");
  put_data(&of->data, origin, (size_t)count, from);
  memory_own_more(&of->owned, origin, (size_t)count, from, READS);
}

static void reads(struct operation *of, void *result, int count, MPI_Datatype type) {
  check_count(count);
  of->result_type = type_for(type, "origin datatype");
  check_buffer(result, (size_t)count, of->result_type, "the buffer");
  check_memory(result, result, (size_t)count, of->result_type, "the buffer");
  of->result = result;
  of->result_count = (size_t)count;
  memory_own_more(&of->owned, result, (size_t)count, of->result_type, READS | WRITES);
  if (memory_overlaps(of->owned)) fail("invalid buffer", "what is read goes where the operation reads or writes already");
}

/* Carries an operation out on a part of a window; what it reads is put to `result`. */
static void apply(char kind, uint8_t *at, size_t count, const struct type *type, MPI_Op op, struct reader data,
                  const char *who, uintptr_t site, struct bytes *result) {
  if (kind == 'g' || kind == 'f' || kind == 'c') put_data(result, at, count, type);
  if (kind == 'p') take_data(&data, at, count, type, who, site, site);
  if (kind == 'c') {
    uint8_t wanted[32] = {0}, new[32] = {0};
    take_data(&data, wanted, 1, type, who, site, site);
    take_data(&data, new, 1, type, who, site, site);
    if (memcmp(at, wanted, type->size) == 0) memcpy(at, new, type->size);
  }
  if (kind == 'a' || (kind == 'f' && op != MPI_NO_OP)) {
    uint8_t *given = allocate(count * (size_t)type->extent + 64);
    take_data(&data, given, count, type, who, site, site);
    op_apply_window(op, given, at, count, type);
    release(given);
  }
}

static struct reader all_of(const struct bytes *bytes) { return (struct reader){bytes->at, bytes->at + bytes->length}; }

static void receive_result(struct operation *of, struct reader result) {
  if (of->result) take_data(&result, of->result, of->result_count, of->result_type, "the window", of->site, of->site);
}

static void complete(struct operation *of) {
  memory_release(of->owned);
  of->owned = 0;
  of->is_over = true;
}

void operations_apply(struct window *window, int target) {
  bool is_any = false, writes_any = false;
  for (size_t i = 0; i < window->length; i++) {
    const struct operation *of = &window->operations[i];
    if (of->is_applied || of->target != target) continue;
    is_any = true;
    writes_any |= of->kind != 'g';
  }
  if (!is_any) return;
  uint32_t request;
  if (writes_any) window_lock_content(window, target, &request);
  struct bytes content = window_read(window, target);
  for (size_t i = 0; i < window->length; i++) {
    struct operation *of = &window->operations[i];
    if (of->is_applied || of->target != target) continue;
    struct bytes result = {0};
    uint8_t *at = content.at + of->disp * window->sides[target].unit;
    apply(of->kind, at, of->count, of->type, of->op, all_of(&of->data), "this rank", of->site, &result);
    receive_result(of, all_of(&result));
    release(result.at);
    release(of->data.at);
    of->data = (struct bytes){0};
    of->is_applied = true;
  }
  if (writes_any) {
    window_write(window, target, content.at, content.length);
    window_unlock_content(window, target, request);
  }
  release(content.at);
}

void operations_complete(struct window *window, int target, bool is_local) {
  operations_apply(window, target);
  for (size_t i = 0; i < window->length; i++)
    if (window->operations[i].target == target) complete(&window->operations[i]);
  records_complete(window, target, is_local);
}

void operations_forget(struct window *window) {
  size_t kept = 0;
  for (size_t i = 0; i < window->length; i++)
    if (!window->operations[i].is_over) window->operations[kept++] = window->operations[i];
  window->length = kept;
}

/* All operations of this rank, for those at whose parts they are. */
static void put_operations(struct bytes *to, const struct window *window, int assertion) {
  put_i32(to, assertion);
  put_u32(to, (uint32_t)window->length);
  for (size_t i = 0; i < window->length; i++) {
    const struct operation *of = &window->operations[i];
    put_u8(to, (uint8_t)of->kind);
    put_u32(to, (uint32_t)of->target);
    put_u64(to, (uint64_t)of->disp);
    put_u64(to, of->count);
    put_type(to, of->type);
    put_u64(to, (uint64_t)(uintptr_t)of->op);
    put_u64(to, of->site);
    put_block(to, of->data.at, of->data.length);
  }
}

/* All ranks have to agree on some assertions. */
static void take_assertion(struct reader *from, int rank, int own) {
  int theirs = take_i32(from), differ = (theirs ^ own) & (MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);
  const char *name = differ & MPI_MODE_NOPRECEDE ? "MPI_MODE_NOPRECEDE" : "MPI_MODE_NOSUCCEED";
  if (differ) fail("invalid argument", "either all ranks assert %s or none, but this rank and rank %d differ", name, rank);
}

/* Carries out one operation that was put, if it is for this rank. */
static bool take_operation(struct reader *from, const struct window *window, int rank, struct bytes *results) {
  char kind = (char)take_u8(from);
  int target = (int)take_u32(from);
  ptrdiff_t disp = (ptrdiff_t)take_u64(from);
  size_t count = take_u64(from);
  struct type type = take_type(from);
  MPI_Op op = (MPI_Op)(uintptr_t)take_u64(from);
  uintptr_t site = take_u64(from);
  struct reader data = take_block(from);
  bool is_reading = kind == 'g' || kind == 'f' || kind == 'c';
  bool is_changing = changes(kind, op);
  if (target == window->comm->rank && window->no_put_at && is_changing)
    fail_at(site, "invalid argument", "rank %d asserts MPI_MODE_NOPUT at {@%lx}, but this changes its part of the window", world_rank,
            window->no_put_at);
  if (target == window->comm->rank) {
    struct bytes result = {0};
    char who[32];
    snprintf(who, sizeof who, "rank %d", rank);
    uint8_t *at = (uint8_t *)window->base + disp * window->sides[target].unit;
    apply(kind, at, count, &type, op, data, who, site, &result);
    if (is_reading) {
      put_u32(results, (uint32_t)rank);
      put_block(results, result.at, result.length);
    }
    release(result.at);
  }
  release(type.piece);
  return is_reading;
}

/* What was read at all parts: each rank takes what its own operations wanted, in their order for each target. */
static void take_results(struct window *window, const struct contributions *all) {
  for (size_t i = 0; i < window->length; i++) {
    struct operation *of = &window->operations[i];
    if (!of->result) continue;
    size_t before = 0;
    for (size_t j = 0; j < i; j++) before += window->operations[j].result && window->operations[j].target == of->target;
    struct reader results = *contribution(all, of->target);
    while (results.at < results.end) {
      int rank = (int)take_u32(&results);
      struct reader result = take_block(&results);
      if (rank == window->comm->rank && before-- == 0) {
        receive_result(of, result);
        break;
      }
    }
  }
}

bool operations_exchange(struct window *window, int assertion) {
  records_exchange(window);
  struct bytes given = {0}, results = {0};
  put_operations(&given, window, assertion);
  struct contributions all = exchange(window->comm, "MPI_Win_fence", &given);
  release(given.at);
  bool is_any = false, is_any_read = false;
  for (int rank = 0; rank < window->comm->group->size; rank++) {
    struct reader said = *contribution(&all, rank);
    take_assertion(&said, rank, assertion);
    for (uint32_t left = take_u32(&said); left > 0; left--) {
      is_any = true;
      is_any_read |= take_operation(&said, window, rank, &results);
    }
  }
  if (is_any_read) {
    struct contributions read = exchange(window->comm, "MPI_Win_fence", &results);
    take_results(window, &read);
  }
  release(results.at);
  for (size_t i = 0; i < window->length; i++) {
    release(window->operations[i].data.at);
    complete(&window->operations[i]);
  }
  window->length = 0;
  return is_any;
}

#define ORIGIN const void *origin, int count, MPI_Datatype type
#define TARGET int target, MPI_Aint disp, int target_count, MPI_Datatype target_type

static bool is_nowhere(int target) { return target == MPI_PROC_NULL; }

/* Each starts its operation, unless that goes nowhere. */
static struct operation *put_to(ORIGIN, TARGET, MPI_Win win) {
  if (is_nowhere(target)) return NULL;
  struct operation *of = start(win, 'p', target, disp, target_count, target_type, MPI_REPLACE);
  writes(of, origin, count, type);
  return of;
}

static struct operation *get_from(void *origin, int count, MPI_Datatype type, TARGET, MPI_Win win) {
  if (is_nowhere(target)) return NULL;
  struct operation *of = start(win, 'g', target, disp, target_count, target_type, MPI_NO_OP);
  reads(of, origin, count, type);
  return of;
}

static struct operation *accumulate(ORIGIN, TARGET, MPI_Op op, MPI_Win win) {
  op_check_window(op, type_for(target_type, "target datatype"));
  if (is_nowhere(target)) return NULL;
  struct operation *of = start(win, 'a', target, disp, target_count, target_type, op);
  writes(of, origin, count, type);
  return of;
}

static struct operation *fetch(ORIGIN, void *result, int result_count, MPI_Datatype result_type, TARGET, MPI_Op op, MPI_Win win) {
  op_check_window(op, type_for(target_type, "target datatype"));
  if (is_nowhere(target)) return NULL;
  struct operation *of = start(win, 'f', target, disp, target_count, target_type, op);
  if (op != MPI_NO_OP) writes(of, origin, count, type);
  reads(of, result, result_count, result_type);
  return of;
}

FUNCTION(Put, (ORIGIN, TARGET, MPI_Win win)) {
  CALL("MPI_Put");
  put_to(origin, count, type, target, disp, target_count, target_type, win);
  return MPI_SUCCESS;
}

FUNCTION(Get, (void *origin, int count, MPI_Datatype type, TARGET, MPI_Win win)) {
  CALL("MPI_Get");
  get_from(origin, count, type, target, disp, target_count, target_type, win);
  return MPI_SUCCESS;
}

FUNCTION(Accumulate, (ORIGIN, TARGET, MPI_Op op, MPI_Win win)) {
  CALL("MPI_Accumulate");
  accumulate(origin, count, type, target, disp, target_count, target_type, op, win);
  return MPI_SUCCESS;
}

FUNCTION(Get_accumulate, (ORIGIN, void *result, int result_count, MPI_Datatype result_type, TARGET, MPI_Op op, MPI_Win win)) {
  CALL("MPI_Get_accumulate");
  fetch(origin, count, type, result, result_count, result_type, target, disp, target_count, target_type, op, win);
  return MPI_SUCCESS;
}

FUNCTION(Fetch_and_op, (const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Op op, MPI_Win win)) {
  CALL("MPI_Fetch_and_op");
  fetch(origin, 1, type, result, 1, type, target, disp, 1, type, op, win);
  return MPI_SUCCESS;
}

FUNCTION(Compare_and_swap, (const void *origin, const void *compared, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Win win)) {
  CALL("MPI_Compare_and_swap");
  if (is_nowhere(target)) return MPI_SUCCESS;
  struct operation *of = start(win, 'c', target, disp, 1, type, MPI_REPLACE);
  writes(of, compared, 1, type);
  writes(of, origin, 1, type);
  reads(of, result, 1, type);
  return MPI_SUCCESS;
}

/* Operations with requests: of the moments that MPI allows, the start is the one at which they are carried out. What the program's
 * memory is for goes on until the wait. */
static int with_request(MPI_Win win, const struct operation *of, MPI_Request *handle) {
  *OUT(handle) = request_new('o');
  if (!of) return MPI_SUCCESS;
  struct window *window = window_of(win);
  if (window->has_fenced) fail("missing epoch", "%s needs the epoch of a lock", call.name);
  struct request *request = request_get(*handle);
  request->owned = of->owned;
  records_own(of->record, of->owned);
  operations_apply(window, of->target);
  return MPI_SUCCESS;
}

FUNCTION(Rput, (ORIGIN, TARGET, MPI_Win win, MPI_Request *request)) {
  CALL("MPI_Rput");
  return with_request(win, put_to(origin, count, type, target, disp, target_count, target_type, win), request);
}

FUNCTION(Rget, (void *origin, int count, MPI_Datatype type, TARGET, MPI_Win win, MPI_Request *request)) {
  CALL("MPI_Rget");
  return with_request(win, get_from(origin, count, type, target, disp, target_count, target_type, win), request);
}

FUNCTION(Raccumulate, (ORIGIN, TARGET, MPI_Op op, MPI_Win win, MPI_Request *request)) {
  CALL("MPI_Raccumulate");
  return with_request(win, accumulate(origin, count, type, target, disp, target_count, target_type, op, win), request);
}

FUNCTION(Rget_accumulate, (ORIGIN, void *result, int result_count, MPI_Datatype result_type, TARGET, MPI_Op op, MPI_Win win,
                           MPI_Request *request)) {
  CALL("MPI_Rget_accumulate");
  struct operation *of =
      fetch(origin, count, type, result, result_count, result_type, target, disp, target_count, target_type, op, win);
  return with_request(win, of, request);
}
