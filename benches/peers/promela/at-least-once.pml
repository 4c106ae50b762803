/* At-least-once delivery, as specs/faults/at-least-once.maz: a request and a reply may be lost. */
#ifndef N
#define N 2
#endif
#define TRIES 2
#ifndef DEDUPLICATES
#define DEDUPLICATES true
#endif

chan requests = [8] of { byte };
chan replies = [8] of { byte };
bit lost_request, lost_reply;
byte executed, known;
bool done[N];

active proctype Client() {
    byte request = 0, tries, reply;
    do
    :: request < N ->
        tries = 0;
        do
        :: tries < TRIES ->
            if
            :: requests!request
            :: !lost_request -> lost_request = 1
            fi;
            if
            :: replies?reply ->
                if
                :: reply == request -> break
                :: else -> tries++
                fi
            :: tries++            /* a timeout */
            fi
        :: else -> break
        od;
        request++
    :: else -> break
    od
}

active proctype Server() {
    byte r;
end:
    do
    :: requests?r ->
        d_step {
            if
            :: !DEDUPLICATES || !done[r] -> executed++; known = known + !done[r]; done[r] = true
            :: else
            fi;
            assert(executed <= known)
        }
        if
        :: replies!r
        :: !lost_reply -> lost_reply = 1
        fi
    od
}
