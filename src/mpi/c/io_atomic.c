/* Atomic mode of files (MPI 4.1, 14.6.1): accesses of different ranks act one after another, in an
 * order that is explored where they may meet.
 *
 * A file is divided into blocks. An access that touches only a few holds the locks of these blocks:
 * shared if it reads. One that touches more, or that notices where the file ends, counts as one on
 * *all* of the file. For these there is a gate for each rank. An access to a few blocks holds the
 * gate of its own rank, one to all of the file the gates of all ranks; a gate is shared by those who
 * read, too. So two accesses have a common lock if they may meet, and one of them is exclusive if
 * one of them writes.
 *
 *               gate of rank 0   gate of rank 1   block 3
 *     rank 0    writes                            writes     writes a few bytes
 *     rank 1                     reads            reads      reads a few bytes
 *     rank 1    reads            reads                       reads all
 *
 * Whoever writes tells the next ones which changes it knows, by cells that the same locks protect:
 * one for each block, one for what each rank writes in a few blocks, and one for writes to all. This
 * orders nothing but the accesses to this file. */
#include "io.h"

enum { BLOCK = 64 };

static void add_block(struct held *held, uint64_t block) {
  if (held->count > 0 && held->block[held->count - 1] == block) return;
  held->are_all |= held->count == FEW_BLOCKS;
  if (!held->are_all) held->block[held->count++] = block;
}

static void lock(char form, struct held *held, const char *kind, uint64_t number, uint32_t *request) {
  window_ask(form, &held->of->window, 0, kind, (long)number, request);
}

static bool is_at_gate(const struct held *held, int rank) { return held->are_all || rank == world_rank; }

static char *cell_of(const struct held *held, const char *kind, uint64_t number) {
  return text_of("atomic %s/%s %llu", held->of->window.name, kind, (unsigned long long)number);
}
static void learn(const struct held *held, const char *kind, uint64_t number) {
  changes_learn(&held->of->window, 0, cell_of(held, kind, number));
}
static void inform(const struct held *held, const char *kind, uint64_t number) {
  changes_tell(&held->of->window, 0, cell_of(held, kind, number));
}

struct held file_hold(struct content *content, enum way way, struct spans spans, bool is_all) {
  if (!thread_is_alone()) fail("unsupported", "the atomic mode of files is not explored in ranks with threads");
  struct held held = {.of = content, .way = way, .are_all = is_all, .gates = allocate((size_t)world_size * sizeof *held.gates)};
  for (size_t i = 0; i < spans.count; i++)
    for (uint64_t block = spans.span[i].from / BLOCK; block * BLOCK < spans.span[i].to && !held.are_all; block++) add_block(&held, block);
  char form = way == WRITE ? 'Q' : 'q';
  for (int rank = 0; rank < world_size; rank++)
    if (is_at_gate(&held, rank)) lock(form, &held, "gate", (uint64_t)rank, &held.gates[rank]);
  learn(&held, "all", 0);
  if (held.are_all) held.count = 0;
  for (int rank = 0; rank < world_size && held.are_all; rank++) learn(&held, "rank", (uint64_t)rank);
  for (size_t i = 0; i < held.count; i++) lock(form, &held, "block", held.block[i], &held.lock[i]);
  for (size_t i = 0; i < held.count; i++) learn(&held, "block", held.block[i]);
  return held;
}

void file_let_go(struct held *held) {
  if (held->way == WRITE) {
    if (held->are_all) inform(held, "all", 0);
    else inform(held, "rank", (uint64_t)world_rank);
    for (size_t i = 0; i < held->count; i++) inform(held, "block", held->block[i]);
  }
  for (size_t i = 0; i < held->count; i++) lock('x', held, "block", held->block[i], &held->lock[i]);
  for (int rank = 0; rank < world_size; rank++)
    if (is_at_gate(held, rank)) lock('x', held, "gate", (uint64_t)rank, &held->gates[rank]);
  release(held->gates);
}
