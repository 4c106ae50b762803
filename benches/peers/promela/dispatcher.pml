// As specs/mutex/dispatcher.maz: R requests, each to the server at which the count of a picker is seen.
#ifndef S
#define S 2
#endif
#ifndef R
#define R 2
#endif

bool s[S], m;
byte server, picked;

proctype Server(byte x) {
    atomic { !s[x] -> s[x] = true };
    s[x] = false
}

proctype Picker() {
    byte x;
    do
    :: x < S -> atomic { !m -> m = true }; server = x; d_step { m = false; x++ }
    :: x == S -> break
    od;
    picked++
}

proctype Dispatcher() {
    byte r, j;
    do
    :: r < R ->
        run Picker();
        atomic { !m -> m = true };
        j = server;
        m = false;
        atomic { !s[j] -> s[j] = true };
        d_step { s[j] = false; j = 0; r++ };
        picked == r // joins the picker
    :: r == R -> break
    od
}

init {
    byte i;
    atomic { for (i : 0 .. S - 1) { run Server(i) }; run Dispatcher() }
}
