// As specs/memory/lastzero.maz: a searcher looks for the last zero of an array while N writers overwrite an element each.
#ifndef N
#define N 2
#endif

byte a[N + 1];

proctype Searcher() {
    byte i = N;
    do
    :: atomic { a[i] != 0 -> i-- }
    :: else -> break
    od
}

proctype Writer(byte j) {
    byte seen;
    seen = a[j - 1];
    d_step { a[j] = seen + 1; seen = 0 }
}

init {
    byte j;
    atomic { run Searcher(); for (j : 1 .. N) { run Writer(j) } }
}
