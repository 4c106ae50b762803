/* Three-phase commit, as specs/faults/three-phase-commit.maz: the coordinator may crash. */
#ifndef N
#define N 2
#endif
#ifndef TELLS
#define TELLS true
#endif

mtype = { prepare, commit, abort, gone };
chan votes = [N] of { bool };
chan prepared = [N] of { bool };
chan orders[N] = [3] of { mtype };
chan known[N] = [N] of { bool };
bool vote[N], commits[N];
byte done;

/* These are made first, so their numbers are 0 to N - 1. */
active [N] proctype Participant() {
    bool is_prepared, knows;
    byte j;
    if
    :: atomic { votes!true; vote[_pid] = true }
    :: votes!false
    fi;
    do
    :: atomic { orders[_pid]?prepare -> is_prepared = true; prepared!true }
    :: atomic { orders[_pid]?commit -> commits[_pid] = true; break }
    :: orders[_pid]?abort -> break
    :: atomic { orders[_pid]?gone -> commits[_pid] = is_prepared; break }
    od;
    if
    :: TELLS ->
        atomic {
            for (j : 0 .. N - 1) {
                if
                :: j != _pid -> known[j]!(commits[_pid] || is_prepared)
                :: else
                fi
            }
        }
        for (j : 2 .. N) {
            atomic { known[_pid]?knows; commits[_pid] = commits[_pid] || knows; knows = false }
        }
    :: else
    fi;
    atomic {
        done++;
        if
        :: done == N ->
            for (j : 0 .. N - 1) {
                assert(commits[j] == commits[0] && (!commits[j] || vote[j]))
            }
        :: else
        fi
    }
}

inline may_crash() {
    if
    :: goto gone_now
    :: true
    fi
}

active proctype Coordinator() {
    bool yes, all = true;
    byte i;
    for (i : 1 .. N) {
        may_crash();
        atomic { votes?yes; all = all && yes; yes = false }
    }
    if
    :: all ->
        for (i : 0 .. N - 1) {
            may_crash();
            orders[i]!prepare
        }
        for (i : 1 .. N) {
            may_crash();
            prepared?_
        }
    :: else
    fi;
    for (i : 0 .. N - 1) {
        may_crash();
        orders[i]!(all -> commit : abort)
    }
gone_now:
    /* It has crashed, or done everything. All notice it after its messages. */
    atomic { for (i : 0 .. N - 1) { orders[i]!gone } }
}
