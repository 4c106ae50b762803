--------------------------- MODULE TwoPhaseCommit ---------------------------
\* As specs/faults/two-phase-commit.maz, with one difference: the coordinator sends its decision
\* in any order, because participants that are alike have no order.
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS Participants, CRASHES, GIVES_UP

VARIABLES vote,           \* of each participant: "none", "yes" or "no"
          outcome,        \* of each participant: "none", "commit" or "abort"
          heard, told,    \* the coordinator: whose votes it has, whom it has told
          crashes

vars == <<vote, outcome, heard, told, crashes>>
Symmetry == Permutations(Participants)

Init ==
    /\ vote = [p \in Participants |-> "none"] /\ outcome = [p \in Participants |-> "none"]
    /\ heard = {} /\ told = {} /\ crashes = 0

Vote(p) ==
    /\ vote[p] = "none"
    /\ \/ vote' = [vote EXCEPT ![p] = "yes"] /\ outcome' = outcome
       \/ vote' = [vote EXCEPT ![p] = "no"] /\ outcome' = [outcome EXCEPT ![p] = "abort"]
    /\ UNCHANGED <<heard, told, crashes>>

Hear(p) ==
    /\ crashes = 0 /\ vote[p] # "none" /\ p \notin heard
    /\ heard' = heard \cup {p}
    /\ UNCHANGED <<vote, outcome, told, crashes>>

Tell(p) ==
    /\ crashes = 0 /\ heard = Participants /\ p \notin told
    /\ told' = told \cup {p}
    /\ UNCHANGED <<vote, outcome, heard, crashes>>

Crash ==
    /\ crashes < CRASHES /\ told # Participants
    /\ crashes' = crashes + 1
    /\ UNCHANGED <<vote, outcome, heard, told>>

Decide(p) ==
    /\ vote[p] = "yes" /\ outcome[p] = "none"
    /\ \/ p \in told
          /\ outcome' = [outcome EXCEPT ![p] =
                 IF \A q \in Participants : vote[q] = "yes" THEN "commit" ELSE "abort"]
       \/ GIVES_UP /\ outcome' = [outcome EXCEPT ![p] = "abort"]
    /\ UNCHANGED <<vote, heard, told, crashes>>

AllDecided == \A p \in Participants : outcome[p] # "none"
Done == AllDecided /\ UNCHANGED vars    \* So this is no deadlock.

Next == Crash \/ Done \/ \E p \in Participants : Vote(p) \/ Hear(p) \/ Tell(p) \/ Decide(p)
Spec == Init /\ [][Next]_vars

Agreement == AllDecided => \A p, q \in Participants : outcome[p] = outcome[q]
=============================================================================
