---------------------------- MODULE RaftElection ----------------------------
\* As specs/faults/raft-election.maz. A candidate sends all its messages in one step: a crash in
\* between is the same as one after it, if the rest never arrives. No message is sent twice, so the
\* network is a set. A message is lost at any time, not only when it is sent.
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS Candidates, Others, Nobody, CRASHES, LOST, PERSISTS

VARIABLES network, lost, crashes,
          term, voted, elections,   \* of each node; a crash keeps them
          votes, leads              \* of each node; leads: its term, or 0

vars == <<network, lost, crashes, term, voted, elections, votes, leads>>
Nodes == Candidates \cup Others
Symmetry == Permutations(Candidates) \cup Permutations(Others)
Message(kind, t, from, to) == [kind |-> kind, term |-> t, from |-> from, to |-> to]

Init ==
    /\ network = {} /\ lost = 0 /\ crashes = 0
    /\ term = [n \in Nodes |-> 0] /\ voted = [n \in Nodes |-> Nobody]
    /\ elections = [n \in Nodes |-> IF n \in Candidates THEN 1 ELSE 0]
    /\ votes = [n \in Nodes |-> {}] /\ leads = [n \in Nodes |-> 0]

Timeout(n) ==
    /\ elections[n] > 0
    /\ elections' = [elections EXCEPT ![n] = @ - 1]
    /\ term' = [term EXCEPT ![n] = @ + 1]
    /\ voted' = [voted EXCEPT ![n] = n]
    /\ votes' = [votes EXCEPT ![n] = {n}]
    /\ leads' = [leads EXCEPT ![n] = 0]
    /\ network' = network \cup {Message("ask", term[n] + 1, n, m) : m \in Nodes \ {n}}
    /\ UNCHANGED <<lost, crashes>>

Receive(m) ==
    LET n == m.to
        isNew == m.term > term[n]
        known == IF isNew THEN Nobody ELSE voted[n]
        votesNow == IF isNew THEN {} ELSE votes[n]
        grants == m.kind = "ask" /\ m.term >= term[n] /\ known \in {Nobody, m.from}
        counts == m.kind = "vote" /\ m.term >= term[n]
        allVotes == IF counts THEN votesNow \cup {m.from} ELSE votesNow
    IN
    /\ term' = [term EXCEPT ![n] = IF isNew THEN m.term ELSE @]
    /\ voted' = [voted EXCEPT ![n] = IF grants THEN m.from ELSE known]
    /\ votes' = [votes EXCEPT ![n] = allVotes]
    /\ leads' = [leads EXCEPT ![n] =
           IF counts /\ 2 * Cardinality(allVotes) > Cardinality(Nodes) THEN m.term
           ELSE IF isNew THEN 0 ELSE @]
    /\ network' = (network \ {m}) \cup
           (IF grants THEN {Message("vote", m.term, n, m.from)} ELSE {})
    /\ UNCHANGED <<lost, crashes, elections>>

Lose(m) ==
    /\ lost < LOST
    /\ lost' = lost + 1 /\ network' = network \ {m}
    /\ UNCHANGED <<crashes, term, voted, elections, votes, leads>>

\* A node crashes and starts again.
Crash(n) ==
    /\ crashes < CRASHES
    /\ crashes' = crashes + 1
    /\ voted' = [voted EXCEPT ![n] = IF PERSISTS THEN @ ELSE Nobody]
    /\ votes' = [votes EXCEPT ![n] = {}]
    /\ leads' = [leads EXCEPT ![n] = 0]
    /\ UNCHANGED <<network, lost, term, elections>>

Next ==
    \/ \E n \in Nodes : Timeout(n) \/ Crash(n)
    \/ \E m \in network : Receive(m) \/ Lose(m)
Spec == Init /\ [][Next]_vars

OneLeaderInATerm == \A n, m \in Nodes : n # m => leads[n] = 0 \/ leads[n] # leads[m]
=============================================================================
