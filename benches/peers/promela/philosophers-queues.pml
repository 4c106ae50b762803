// As specs/mutex/philosophers.maz, to the step: a lock is a request that enters the queue of the fork, and a wait until
// it is first there. So the states are the same. (Those that have ended stay, as processes that die are other states.)
#ifndef N
#define N 3
#endif

chan fork[N] = [N] of { byte };

#define LEFT i
#define RIGHT ((i + 1) % N)

proctype Philosopher(byte i) {
    fork[LEFT]!i;
    fork[LEFT]?[eval(i)];
    fork[RIGHT]!i;
    fork[RIGHT]?[eval(i)];
    fork[RIGHT]?_;
    fork[LEFT]?_;
end:
    false
}

init {
    byte i;
    atomic { for (i : 0 .. N - 1) { run Philosopher(i) }; i = 0 }
}
