/* The election of Raft, as specs/faults/raft-election.maz: nodes may crash and start again, and
   messages may be lost. Each candidate asks once, and each node answers a candidate once: so there is
   at most one message of each kind and sender at a node, and votes need only be counted. */
#ifndef N
#define N 3
#endif
#ifndef CANDIDATES
#define CANDIDATES 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef LOST
#define LOST 0
#endif
#ifndef PERSISTS
#define PERSISTS true
#endif
#if N > 5 || CANDIDATES > 3
#error "the alternatives in Node are for 5 nodes and 3 candidates"
#endif
#define NOBODY 255

mtype = { ask, vote };
/* The kind, the sender and the term. Messages are sorted: there is no order among them. */
chan net[N] = [2 * N] of { mtype, byte, byte };
byte leads[N], crashes, lost;

inline post(to, kind) {
    if
    :: net[to]!!kind,_pid,term
    :: lost < LOST -> lost++
    fi
}

/* A message of a later term makes the node a follower. */
inline notice(sent) {
    if
    :: sent > term -> term = sent; voted = NOBODY; votes = 0; leads[_pid] = 0
    :: else
    fi
}

#define ASK(from) atomic {                                                          \
    net[_pid]??ask,from,sent -> notice(sent);                                       \
    if                                                                              \
    :: sent == term && (voted == NOBODY || voted == from) -> voted = from; post(from, vote) \
    :: else                                                                         \
    fi;                                                                             \
    sent = 0 }

#define VOTE(from) atomic {                                                         \
    net[_pid]??vote,from,sent -> notice(sent);                                      \
    if                                                                              \
    :: sent == term ->                                                              \
        votes++;                                                                    \
        if                                                                          \
        :: 2 * votes > N -> leads[_pid] = term; one_leader()                        \
        :: else                                                                     \
        fi                                                                          \
    :: else                                                                         \
    fi;                                                                             \
    sent = 0 }

inline one_leader() {
    for (j : 0 .. N - 1) { assert(j == _pid || leads[j] != term) }
    j = 0
}

/* Their numbers are 0 to N - 1; the first ones are candidates. */
active [N] proctype Node() {
    byte term, voted = NOBODY, votes, sent, j;
    byte elections = (_pid < CANDIDATES -> 1 : 0);
end:
    do
    :: atomic {    /* a timeout */
        elections > 0 ->
        elections--;
        term++;
        voted = _pid;
        votes = 1;
        leads[_pid] = 0;
        for (j : 0 .. N - 1) {
            if
            :: j != _pid -> post(j, ask)
            :: else
            fi
        }
        j = 0 }
    :: atomic {    /* a crash, and a start */
        crashes < CRASHES ->
        crashes++;
        votes = 0;
        leads[_pid] = 0;
        voted = (PERSISTS -> voted : NOBODY) }
    :: ASK(0)
    :: ASK(1)
#if CANDIDATES > 2
    :: ASK(2)
#endif
    :: VOTE(0)
    :: VOTE(1)
    :: VOTE(2)
#if N > 3
    :: VOTE(3)
#endif
#if N > 4
    :: VOTE(4)
#endif
    od
}
