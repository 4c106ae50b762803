--------------------------- MODULE QuorumRegister ---------------------------
\* As specs/faults/quorum-register.maz. Receiving and answering are one step: nobody can tell
\* whether a replica crashes before it or in between.
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS Replicas, First, CRASHES, WRITES_BACK

VARIABLES unwritten,                 \* the message of the writer to the first replica is under way
          asked, answers,            \* the network: a sequence for each replica, and a set
          stamp, crashed,            \* the replicas
          question, heard, newest,   \* the reader: its question, the number and the maximum of answers
          first                      \* what its first read returned

vars == <<unwritten, asked, answers, stamp, crashed, question, heard, newest, first>>
Symmetry == Permutations(Replicas \ {First})

\* A message <<question, stamp>> to all replicas; question 2 writes.
Ask(q, value) == [r \in Replicas |-> Append(asked[r], <<q, value>>)]

Init ==
    /\ unwritten = TRUE
    /\ asked = [r \in Replicas |-> <<<<1, 0>>>>] /\ answers = {}
    /\ stamp = [r \in Replicas |-> 0] /\ crashed = {}
    /\ question = 1 /\ heard = 0 /\ newest = 0 /\ first = 0

Write ==
    /\ unwritten /\ First \notin crashed
    /\ unwritten' = FALSE /\ stamp' = [stamp EXCEPT ![First] = 1]
    /\ UNCHANGED <<asked, answers, crashed, question, heard, newest, first>>

Max(a, b) == IF a > b THEN a ELSE b

Serve(r) ==
    /\ r \notin crashed /\ asked[r] # <<>>
    /\ asked' = [asked EXCEPT ![r] = Tail(@)]
    /\ LET q == Head(asked[r])[1]
           new == Max(stamp[r], Head(asked[r])[2]) IN
       /\ stamp' = [stamp EXCEPT ![r] = new]
       /\ answers' = answers \cup {<<r, q, new>>}
    /\ UNCHANGED <<unwritten, crashed, question, heard, newest, first>>

Crash(r) ==
    /\ r \notin crashed /\ Cardinality(crashed) < CRASHES
    /\ crashed' = crashed \cup {r}
    /\ UNCHANGED <<unwritten, asked, answers, stamp, question, heard, newest, first>>

\* The answer of a majority ends a question.
Hear(m) ==
    /\ m[2] = question
    /\ answers' = answers \ {m}
    /\ LET max == Max(newest, m[3]) IN
       IF 2 * (heard + 1) <= Cardinality(Replicas)
       THEN heard' = heard + 1 /\ newest' = max /\ UNCHANGED <<asked, question, first>>
       ELSE /\ heard' = 0
            /\ first' = IF question = 1 THEN max ELSE first
            /\ \/ /\ question = 1 /\ WRITES_BACK
                  /\ question' = 2 /\ asked' = Ask(2, max) /\ newest' = 0
               \/ /\ question = 2 \/ (question = 1 /\ ~WRITES_BACK)
                  /\ question' = 3 /\ asked' = Ask(3, 0) /\ newest' = 0
               \/ /\ question = 3
                  /\ question' = 4 /\ asked' = asked /\ newest' = max
    /\ UNCHANGED <<unwritten, stamp, crashed>>

Done == question = 4 /\ UNCHANGED vars    \* So this is no deadlock.

Next ==
    \/ Write \/ Done
    \/ \E r \in Replicas : Serve(r) \/ Crash(r)
    \/ \E m \in answers : Hear(m)
Spec == Init /\ [][Next]_vars

NoOlderValue == question = 4 => newest >= first
=============================================================================
