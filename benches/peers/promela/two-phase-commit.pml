/* Two-phase commit, as specs/faults/two-phase-commit.maz: the coordinator may crash. */
#ifndef N
#define N 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef GIVES_UP
#define GIVES_UP false
#endif

chan votes = [N] of { bool };
chan decisions[N] = [1] of { bool };
bool commits[N];
byte decided, crashes;

/* These are made first, so their numbers are 0 to N - 1. */
active [N] proctype Participant() {
    byte j;
    if
    :: votes!true ->
        if
        :: decisions[_pid]?commits[_pid]
        :: GIVES_UP
        fi
    :: votes!false
    fi;
    atomic {
        decided++;
        if
        :: decided == N -> for (j : 0 .. N - 1) { assert(commits[j] == commits[0]) }
        :: else
        fi
    }
}

inline may_crash() {
    if
    :: crashes < CRASHES -> crashes++; goto crashed
    :: true
    fi
}

active proctype Coordinator() {
    bool vote, all = true;
    byte i;
    for (i : 1 .. N) {
        may_crash();
        atomic { votes?vote; all = all && vote; vote = false }
    }
    for (i : 0 .. N - 1) {
        may_crash();
        decisions[i]!all
    }
crashed:
    skip
}
