---------------------------- MODULE AtLeastOnce ----------------------------
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS N, TRIES, DEDUPLICATES

VARIABLES requests, replies, lost,  \* the network
          pc, request, tries,       \* the client
          executed, done            \* the server

vars == <<requests, replies, lost, pc, request, tries, executed, done>>

Init ==
    /\ requests = <<>> /\ replies = <<>> /\ lost = [requests |-> 0, replies |-> 0]
    /\ pc = "send" /\ request = 0 /\ tries = 0
    /\ executed = 0 /\ done = {}

\* The next request, if this one is done or was tried often enough.
Goes(isDone) ==
    /\ pc' = "send"
    /\ IF isDone \/ tries + 1 = TRIES
       THEN request' = request + 1 /\ tries' = 0
       ELSE request' = request /\ tries' = tries + 1

Send ==
    /\ pc = "send" /\ request < N
    /\ pc' = "receive"
    /\ \/ requests' = Append(requests, request) /\ lost' = lost
       \/ lost.requests < 1 /\ lost' = [lost EXCEPT !.requests = @ + 1] /\ requests' = requests
    /\ UNCHANGED <<replies, request, tries, executed, done>>

Receive ==
    /\ pc = "receive" /\ replies # <<>>
    /\ replies' = Tail(replies)
    /\ Goes(Head(replies) = request)
    /\ UNCHANGED <<requests, lost, executed, done>>

Timeout ==
    /\ pc = "receive"
    /\ Goes(FALSE)
    /\ UNCHANGED <<requests, replies, lost, executed, done>>

Serve ==
    /\ requests # <<>>
    /\ requests' = Tail(requests)
    /\ LET r == Head(requests) IN
       /\ IF ~DEDUPLICATES \/ r \notin done
          THEN executed' = executed + 1 /\ done' = done \cup {r}
          ELSE UNCHANGED <<executed, done>>
       /\ \/ replies' = Append(replies, r) /\ lost' = lost
          \/ lost.replies < 1 /\ lost' = [lost EXCEPT !.replies = @ + 1] /\ replies' = replies
    /\ UNCHANGED <<pc, request, tries>>

Next == Send \/ Receive \/ Timeout \/ Serve
Spec == Init /\ [][Next]_vars

ExecutedOnce == executed <= Cardinality(done)
=============================================================================
