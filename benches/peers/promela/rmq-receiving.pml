// As specs/mailbox/rmq-receiving.maz with BUFFERED=1: a server receives the requests of N - 1 clients in any order, who
// do not wait for it.
#ifndef N
#define N 3
#endif

chan server = [N - 1] of { byte };

proctype Server() {
    xr server; // nobody else receives
    byte j = 1, sum, got;
    do
    :: j < N -> atomic { server?got; sum = sum + got; got = 0; j++ }
    :: j == N -> break
    od;
    assert(sum == N * (N - 1) / 2)
}

proctype Client(byte i) { server!i }

init {
    byte i;
    atomic { run Server(); for (i : 1 .. N - 1) { run Client(i) } }
}
