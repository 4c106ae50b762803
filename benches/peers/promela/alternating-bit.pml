/* The alternating bit protocol, as specs/faults/alternating-bit.maz: one message may be lost and one
   doubled on the way to the receiver, and one acknowledgement may be lost. */
#ifndef N
#define N 2
#endif
#ifndef TRIES
#define TRIES 2
#endif
#ifndef CHECKED
#define CHECKED true
#endif

/* As many as can be under way, so that no send waits. */
chan data = [N * (N + TRIES)] of { bit, byte };
chan acks = [N * (N + TRIES)] of { bit };
bit lost_data, doubled, lost_ack;
byte sent, got;

active proctype Sender() {
    byte tries = TRIES;
    bit ack;
    do
    :: sent < N && tries > 0 ->
        if
        :: data!(sent % 2), sent
        :: !lost_data -> lost_data = 1
        :: !doubled -> doubled = 1; atomic { data!(sent % 2), sent; data!(sent % 2), sent }
        fi;
        if
        :: acks?ack ->
            if
            :: ack == sent % 2 || !CHECKED ->
                d_step { sent++; tries = TRIES; assert(sent <= got) }
            :: else
            fi
        :: tries--            /* a timeout */
        fi
    :: else -> break
    od
}

active proctype Receiver() {
    bit b;
    byte k;
end:
    do
    :: data?b,k ->
        d_step {
            if
            :: b == got % 2 || !CHECKED -> assert(k == got); got++
            :: else
            fi
        }
        if
        :: acks!b
        :: !lost_ack -> lost_ack = 1
        fi
    od
}
