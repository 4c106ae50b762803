// Interprets a script for each rank (tests/mpi/outcomes.rs writes them), frees the window, and
// fails with all values that the ranks have read and have in memory then. So each outcome is a
// violation with its own message.
//
// The first argument says how many bytes two places are apart, how many numbers each has, and the
// displacement unit. All numbers of a place are the same. A letter says what kind of window it is: of
// memory that the program has ('c'), shared ('s'), or dynamic ('d'). In a shared window, puts and
// gets are stores and loads.
#include "outcome.h"

enum { PLACES = 3, WIDEST = 11, WIDTHS = PLACES * WIDEST, MOST = 36 };
static int rank, size, made[WIDTHS], *memory = made, *parts[8], given[2 * MOST][WIDTHS], used;
static int got[MOST], count, apart, width, unit;
static int *results[MOST]; // where what is read goes, before it is in `got`
static MPI_Win win;
static MPI_Aint at_address[8]; // of parts of a dynamic window
static char kind;

static MPI_Op op_of(char digit) {
  MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_BXOR, MPI_REPLACE, MPI_NO_OP};
  return ops[digit - '0'];
}

static int *give(char digit, int numbers) {
  for (int i = 0; i < numbers; i++) given[used][i] = digit - '0';
  return given[used++];
}

static int *take(int places) {
  int *result = calloc((size_t)(places * width), sizeof *result);
  for (int i = 0; i < places; i++) results[count++] = result + i * width;
  return result;
}

static int *own(int place) { return memory + place * apart / 4; }

/* Some places from this one on, from the beginning of a part. */
static MPI_Datatype places_from(int place, int places) {
  int lengths[PLACES];
  MPI_Aint at[PLACES];
  for (int i = 0; i < places; i++) lengths[i] = width, at[i] = (place + i) * apart;
  MPI_Datatype made;
  MPI_Type_create_hindexed(places, lengths, at, MPI_INT, &made);
  MPI_Type_commit(&made);
  return made;
}

static void carry_out(const char *step) {
  int target = step[1] ? step[1] - '0' : 0, place = step[1] ? step[2] - '0' : 0, none = 0;
  switch (step[0]) {
    case 's': MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win); return;
    case 'x': MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win); return;
    case 'u': MPI_Win_unlock(target, win); return;
    case 'S': MPI_Win_lock_all(0, win); return;
    case 'U': MPI_Win_unlock_all(win); return;
    case 'f': MPI_Win_flush(target, win); return;
    case 'n': MPI_Win_fence(0, win); return;
    case 'N': MPI_Win_fence(MPI_MODE_NOSUCCEED, win); return;
    case 'b': MPI_Barrier(MPI_COMM_WORLD); return;
    case '!': MPI_Send(&none, 1, MPI_INT, target, 0, MPI_COMM_WORLD); return;
    case '?': MPI_Recv(&none, 1, MPI_INT, target, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); return;
    case 'w':
      for (int i = 0; i < width; i++) own(target)[i] = step[2] - '0';
      return;
    case 'r': memcpy(take(1), own(target), (size_t)width * sizeof(int)); return;
  }
  int places = step[3] - '0', n = places * width;
  MPI_Aint disp = place * apart / unit + (kind == 'd' ? at_address[target] : 0);
  if (step[0] == 'c') {
    int *compared = give(step[4], 1);
    MPI_Compare_and_swap(give(step[5], 1), compared, take(1), MPI_INT, target, disp, win);
    return;
  }
  if (kind == 's' && (step[0] == 'p' || step[0] == 'g')) {
    const int *from = step[0] == 'p' ? give(step[4], n) : NULL;
    int *to = step[0] == 'g' ? take(places) : NULL;
    for (int i = 0; i < n; i++) {
      int *there = parts[target] + (place + i / width) * apart / 4 + i % width;
      if (from) *there = from[i];
      else to[i] = *there;
    }
    return;
  }
  int is_one = n == 1 && place * apart % unit == 0;
  MPI_Datatype at = is_one ? MPI_INT : places_from(place, places);
  if (!is_one) disp = kind == 'd' ? at_address[target] : 0;
  switch (step[0]) {
    case 'p': MPI_Put(give(step[4], n), n, MPI_INT, target, disp, 1, at, win); break;
    case 'g': MPI_Get(take(places), n, MPI_INT, target, disp, 1, at, win); break;
    case 'a': MPI_Accumulate(give(step[5], n), n, MPI_INT, target, disp, 1, at, op_of(step[4]), win); break;
    case 'F':
      if (is_one) MPI_Fetch_and_op(give(step[5], 1), take(1), MPI_INT, target, disp, op_of(step[4]), win);
      else MPI_Get_accumulate(give(step[5], n), n, MPI_INT, take(places), n, MPI_INT, target, disp, 1, at, op_of(step[4]), win);
      break;
  }
  if (!is_one) MPI_Type_free(&at);
}

/* The one number of a place. */
static int number_at(const int *place) {
  for (int i = 1; i < width; i++) assert(place[i] == place[0]);
  return place[0];
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  assert(sscanf(argv[1], "%d %d %d %c", &apart, &width, &unit, &kind) == 4);
  if (kind == 's') {
    MPI_Win_allocate_shared(PLACES * apart, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int r = 0; r < size; r++) MPI_Win_shared_query(win, r, &(MPI_Aint){0}, &(int){0}, &parts[r]);
  }
  for (int i = 0; i < PLACES; i++)
    for (int k = 0; k < width; k++) own(i)[k] = 2 + rank + i;
  if (kind == 'c') MPI_Win_create(memory, PLACES * apart, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (kind == 's') MPI_Barrier(MPI_COMM_WORLD);
  if (kind == 'd') {
    static int other[4];
    unit = 1;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, other, sizeof other);
    MPI_Win_attach(win, memory, PLACES * apart);
    MPI_Aint address;
    MPI_Get_address(memory, &address);
    MPI_Allgather(&address, 1, MPI_AINT, at_address, 1, MPI_AINT, MPI_COMM_WORLD);
  }
  for (char *step = strtok(argv[2 + rank], " "); step; step = strtok(NULL, " ")) carry_out(step);
  if (kind == 's') { // the memory goes with the window
    MPI_Barrier(MPI_COMM_WORLD);
    memory = memcpy(made, memory, (size_t)(PLACES * apart));
  }
  MPI_Win_free(&win);
  for (int i = 0; i < count; i++) got[i] = number_at(results[i]);
  for (int i = 0; i < PLACES; i++) got[count++] = number_at(own(i));
  fail_with(got, count, MOST);
  return 0;
}
