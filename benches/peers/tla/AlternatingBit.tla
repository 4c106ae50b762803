--------------------------- MODULE AlternatingBit ---------------------------
\* As specs/faults/alternating-bit.maz. A message is lost or doubled when it is sent.
EXTENDS Naturals, Sequences

CONSTANTS N, TRIES, CHECKED

VARIABLES data, acks,                    \* the network: messages <<bit, k>> and bits
          lostData, doubled, lostAcks,   \* the faults so far
          waits, sent, tries,            \* the sender
          got                            \* the receiver

vars == <<data, acks, lostData, doubled, lostAcks, waits, sent, tries, got>>

Init ==
    /\ data = <<>> /\ acks = <<>>
    /\ lostData = 0 /\ doubled = 0 /\ lostAcks = 0
    /\ waits = FALSE /\ sent = 0 /\ tries = TRIES
    /\ got = <<>>

Send ==
    /\ ~waits /\ sent < N /\ tries > 0
    /\ waits' = TRUE
    /\ LET message == <<sent % 2, sent>> IN
       \/ data' = Append(data, message) /\ UNCHANGED <<lostData, doubled>>
       \/ lostData < 1 /\ lostData' = lostData + 1 /\ UNCHANGED <<data, doubled>>
       \/ doubled < 1 /\ doubled' = doubled + 1 /\ data' = data \o <<message, message>> /\ UNCHANGED lostData
    /\ UNCHANGED <<acks, lostAcks, sent, tries, got>>

Acknowledged ==
    /\ waits /\ acks # <<>>
    /\ waits' = FALSE
    /\ acks' = Tail(acks)
    /\ IF Head(acks) = sent % 2 \/ ~CHECKED
       THEN sent' = sent + 1 /\ tries' = TRIES
       ELSE UNCHANGED <<sent, tries>>
    /\ UNCHANGED <<data, lostData, doubled, lostAcks, got>>

Timeout ==
    /\ waits
    /\ waits' = FALSE
    /\ tries' = tries - 1
    /\ UNCHANGED <<data, acks, lostData, doubled, lostAcks, sent, got>>

Receive ==
    /\ data # <<>>
    /\ data' = Tail(data)
    /\ LET bit == Head(data)[1] IN
       /\ got' = IF bit = Len(got) % 2 \/ ~CHECKED THEN Append(got, Head(data)[2]) ELSE got
       /\ \/ acks' = Append(acks, bit) /\ lostAcks' = lostAcks
          \/ lostAcks < 1 /\ lostAcks' = lostAcks + 1 /\ acks' = acks
    /\ UNCHANGED <<lostData, doubled, waits, sent, tries>>

Next == Send \/ Acknowledged \/ Timeout \/ Receive
Spec == Init /\ [][Next]_vars

InOrderAndOnce == \A k \in 1..Len(got) : got[k] = k - 1
WhatIsAcknowledgedHasCome == sent <= Len(got)
=============================================================================
