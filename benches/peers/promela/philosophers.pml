// As specs/mutex/philosophers.maz: everyone takes the left fork first. With -DORDERED as philosophers-ordered.maz: the
// fork with the smaller number first.
#ifndef N
#define N 3
#endif

bool fork[N];

#define LEFT i
#define RIGHT ((i + 1) % N)
#ifdef ORDERED
#define FIRST (i == N - 1 -> 0 : i)
#define SECOND (i == N - 1 -> i : i + 1)
#else
#define FIRST LEFT
#define SECOND RIGHT
#endif

proctype Philosopher(byte i) {
    atomic { !fork[FIRST] -> fork[FIRST] = true };
    atomic { !fork[SECOND] -> fork[SECOND] = true };
    fork[SECOND] = false;
    fork[FIRST] = false
}

init {
    byte i;
    atomic { for (i : 0 .. N - 1) { run Philosopher(i) } }
}
