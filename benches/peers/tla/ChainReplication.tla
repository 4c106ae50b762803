-------------------------- MODULE ChainReplication --------------------------
\* As specs/faults/chain-replication.maz. Receiving and forwarding are one step: a message that the
\* middle has when it crashes is gone, whether it has been received or not.
EXTENDS Naturals, Sequences

CONSTANTS N, RESENDS, EARLY

VARIABLES toHead, toMiddle, toTail, replies, answers,  \* the network; toTail: one channel for each sender
          pc, k, written,                              \* the client
          log, skips,                                  \* the head
          alive,                                       \* the middle
          length                                       \* the tail

vars == <<toHead, toMiddle, toTail, replies, answers, pc, k, written, log, skips, alive, length>>
Senders == {"client", "head", "middle"}

Init ==
    /\ toHead = <<>> /\ toMiddle = <<>> /\ toTail = [s \in Senders |-> <<>>]
    /\ replies = <<>> /\ answers = <<>>
    /\ pc = "write" /\ k = 0 /\ written = 0
    /\ log = <<>> /\ skips = FALSE /\ alive = TRUE /\ length = 0

Write ==
    /\ pc = "write" /\ k < N
    /\ toHead' = Append(toHead, <<"write", k>>) /\ pc' = "reply"
    /\ UNCHANGED <<toMiddle, toTail, replies, answers, k, written, log, skips, alive, length>>

Reply ==
    /\ pc = "reply" /\ replies # <<>>
    /\ written' = Head(replies) /\ replies' = Tail(replies)
    /\ toTail' = [toTail EXCEPT !["client"] = Append(@, "read")] /\ pc' = "answer"
    /\ UNCHANGED <<toHead, toMiddle, answers, k, log, skips, alive, length>>

Answer ==
    /\ pc = "answer" /\ answers # <<>>
    /\ pc' = IF Head(answers) > written THEN "write" ELSE "wrong"
    /\ answers' = Tail(answers) /\ k' = k + 1
    /\ UNCHANGED <<toHead, toMiddle, toTail, replies, written, log, skips, alive, length>>

HeadWrites ==
    /\ toHead # <<>> /\ Head(toHead)[1] = "write"
    /\ toHead' = Tail(toHead)
    /\ LET new == Head(toHead)[2] IN
       /\ log' = Append(log, new)
       /\ IF skips
          THEN toTail' = [toTail EXCEPT !["head"] = Append(@, new)] /\ toMiddle' = toMiddle
          ELSE toMiddle' = Append(toMiddle, new) /\ toTail' = toTail
       /\ replies' = IF EARLY THEN Append(replies, new) ELSE replies
    /\ UNCHANGED <<answers, pc, k, written, skips, alive, length>>

HeadSkips ==
    /\ toHead # <<>> /\ Head(toHead)[1] = "next"
    /\ toHead' = Tail(toHead) /\ skips' = TRUE
    /\ toTail' = IF RESENDS THEN [toTail EXCEPT !["head"] = @ \o log] ELSE toTail
    /\ UNCHANGED <<toMiddle, replies, answers, pc, k, written, log, alive, length>>

MiddleForwards ==
    /\ alive /\ toMiddle # <<>>
    /\ toMiddle' = Tail(toMiddle)
    /\ toTail' = [toTail EXCEPT !["middle"] = Append(@, Head(toMiddle))]
    /\ UNCHANGED <<toHead, replies, answers, pc, k, written, log, skips, alive, length>>

Crash ==
    /\ alive /\ alive' = FALSE
    /\ toMiddle' = <<>> /\ toHead' = Append(toHead, <<"next", 0>>)
    /\ UNCHANGED <<toTail, replies, answers, pc, k, written, log, skips, length>>

TailReceives(s) ==
    /\ toTail[s] # <<>>
    /\ toTail' = [toTail EXCEPT ![s] = Tail(@)]
    /\ LET message == Head(toTail[s]) IN
       IF s = "client" THEN answers' = Append(answers, length) /\ UNCHANGED <<replies, length>>
       ELSE /\ answers' = answers
            \* A write that comes twice is old the second time.
            /\ IF message = length
               THEN /\ length' = length + 1
                    /\ replies' = IF EARLY THEN replies ELSE Append(replies, message)
               ELSE UNCHANGED <<replies, length>>
    /\ UNCHANGED <<toHead, toMiddle, pc, k, written, log, skips, alive>>

Done == k = N /\ UNCHANGED vars    \* So this is no deadlock.

Next ==
    \/ Write \/ Reply \/ Answer \/ HeadWrites \/ HeadSkips \/ MiddleForwards \/ Crash \/ Done
    \/ \E s \in Senders : TailReceives(s)
Spec == Init /\ [][Next]_vars

WhatWasWrittenCanBeRead == pc # "wrong"
=============================================================================
