/* Chain replication, as specs/faults/chain-replication.maz: the node in the middle may crash.
   A message that the middle has then is gone, whether it has been received or not. */
#ifndef N
#define N 2
#endif
#ifndef RESENDS
#define RESENDS true
#endif
#ifndef EARLY
#define EARLY false
#endif

mtype = { write, next };
chan head = [N + 1] of { mtype, byte };
chan middle = [N] of { byte };
/* To the tail: a channel for each sender, since only messages of one sender keep their order. */
chan reads = [1] of { bool };
chan of_head = [2 * N] of { byte };
chan of_middle = [N] of { byte };
chan replies = [N] of { byte };
chan answers = [1] of { byte };

active proctype Client() {
    byte k, written, known;
    for (k : 0 .. N - 1) {
        head!write,k;
        atomic { replies?written; reads!true }
        atomic { answers?known; assert(known > written); known = 0 }
    }
}

active proctype Head() {
    byte log[N], length, k, i;
    bool skips;
end:
    do
    :: atomic {
        head?write,k ->
        log[length] = k;
        length++;
        if
        :: skips -> of_head!k
        :: else -> middle!k
        fi;
        if
        :: EARLY -> replies!k
        :: else
        fi;
        k = 0 }
    :: atomic {
        head?next,_ ->
        skips = true;
        if
        :: RESENDS && length > 0 -> for (i : 0 .. length - 1) { of_head!log[i] }
        :: else
        fi }
    od
}

active proctype Middle() {
    byte k;
end:
    do
    :: atomic { middle?k -> of_middle!k; k = 0 }
    :: break
    od;
    head!next,0    /* It has crashed, and that is noticed. */
}

/* A write that comes twice is old the second time. */
inline append() {
    if
    :: k == length ->
        length++;
        if
        :: !EARLY -> replies!k
        :: else
        fi
    :: else
    fi;
    k = 0
}

active proctype Tail() {
    byte length, k;
end:
    do
    :: atomic { reads?_ -> answers!length }
    :: atomic { of_head?k -> append() }
    :: atomic { of_middle?k -> append() }
    od
}
