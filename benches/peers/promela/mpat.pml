// As specs/mutex/mpat.maz: K writers with a mutex each; each reader takes a common mutex and then that of its writer.
#ifndef K
#define K 2
#endif

bool a[K], m;

proctype Writer(byte i) {
    atomic { !a[i] -> a[i] = true };
    a[i] = false
}

proctype Reader(byte i) {
    atomic { !m -> m = true };
    atomic { !a[i] -> a[i] = true };
    a[i] = false;
    m = false
}

init {
    byte i;
    atomic { for (i : 0 .. K - 1) { run Writer(i); run Reader(i) } }
}
