// As specs/mutex/poke.maz: N workers set a flag each; in K rounds a poker clears the flag at which it sees the count of
// a chooser.
#ifndef N
#define N 2
#endif
#ifndef K
#define K 2
#endif

bool a[N], m, flag[N];
byte at, poked, ended;

proctype Worker(byte x) {
    atomic { !a[x] -> a[x] = true };
    flag[x] = true;
    a[x] = false
}

proctype Chooser() {
    byte x = 1;
    do
    :: x < N -> atomic { !m -> m = true }; at = x; d_step { m = false; x++ }
    :: x == N -> break
    od;
    ended++
}

proctype Poker() {
    byte k;
    atomic { !m -> m = true };
    k = at;
    m = false;
    atomic { !a[k] -> a[k] = true };
    if
    :: flag[k] -> poked++; flag[k] = false
    :: else
    fi;
    a[k] = false;
    ended++
}

proctype Main() {
    byte round;
    do
    :: round < K -> run Chooser(); run Poker(); round++; ended == 2 * round // joins both
    :: round == K -> break
    od;
    assert(poked <= N)
}

init {
    byte i;
    atomic { for (i : 0 .. N - 1) { run Worker(i) }; run Main() }
}
