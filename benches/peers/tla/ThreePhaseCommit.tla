-------------------------- MODULE ThreePhaseCommit --------------------------
\* As specs/faults/three-phase-commit.maz, with one difference: the coordinator sends its orders
\* in any order, because participants that are alike have no order. What nobody can see in between
\* is one step: all notice at once that the coordinator is gone, and hear from all others at once.
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS Participants, TELLS

VARIABLES vote, prepared, commits,     \* of each participant
          pc,                          \* of each participant: "votes", "waits", "tells", "hears" or "done"
          orders, known,               \* the network: orders in sequence, what participants tell each other
          phase, heard, sent           \* the coordinator; whom it has heard, and sent to, in this phase

vars == <<vote, prepared, commits, pc, orders, known, phase, heard, sent>>
Symmetry == Permutations(Participants)
Nobody == [p \in Participants |-> FALSE]

Init ==
    /\ vote = Nobody /\ prepared = Nobody /\ commits = Nobody
    /\ pc = [p \in Participants |-> "votes"]
    /\ orders = [p \in Participants |-> <<>>] /\ known = Nobody
    /\ phase = "votes" /\ heard = {} /\ sent = {}

\* The coordinator.
AllYes == \A p \in Participants : vote[p]
Hear(p) ==
    /\ p \notin heard
    /\ \/ phase = "votes" /\ pc[p] # "votes"
          /\ phase' = IF heard \cup {p} # Participants THEN phase
                      ELSE IF AllYes THEN "prepare" ELSE "decide"
       \/ phase = "prepare" /\ sent = Participants /\ prepared[p]
          /\ phase' = IF heard \cup {p} # Participants THEN phase ELSE "decide"
    /\ IF phase' = phase THEN heard' = heard \cup {p} /\ sent' = sent ELSE heard' = {} /\ sent' = {}
    /\ UNCHANGED <<vote, prepared, commits, pc, orders, known>>

Send(p) ==
    /\ phase \in {"prepare", "decide"} /\ p \notin sent
    /\ sent' = sent \cup {p}
    /\ orders' = [orders EXCEPT ![p] = Append(@,
           IF phase = "prepare" THEN "prepare" ELSE IF AllYes THEN "commit" ELSE "abort")]
    /\ UNCHANGED <<vote, prepared, commits, pc, known, phase, heard>>

\* It crashes, or it has done everything. All notice it after its messages.
End ==
    /\ phase # "gone"
    /\ phase' = "gone" /\ heard' = {} /\ sent' = {}
    /\ orders' = [p \in Participants |-> Append(orders[p], "gone")]
    /\ UNCHANGED <<vote, prepared, commits, pc, known>>

\* A participant.
Vote(p) ==
    /\ pc[p] = "votes"
    /\ pc' = [pc EXCEPT ![p] = "waits"]
    /\ \E yes \in BOOLEAN : vote' = [vote EXCEPT ![p] = yes]
    /\ UNCHANGED <<prepared, commits, orders, known, phase, heard, sent>>

Obey(p) ==
    /\ pc[p] = "waits" /\ orders[p] # <<>>
    /\ orders' = [orders EXCEPT ![p] = Tail(@)]
    /\ LET order == Head(orders[p]) IN
       IF order = "prepare"
       THEN prepared' = [prepared EXCEPT ![p] = TRUE] /\ UNCHANGED <<commits, pc>>
       ELSE /\ commits' = [commits EXCEPT ![p] = order = "commit" \/ (order = "gone" /\ prepared[p])]
            /\ pc' = [pc EXCEPT ![p] = IF TELLS THEN "tells" ELSE "done"]
            /\ prepared' = prepared
    /\ UNCHANGED <<vote, known, phase, heard, sent>>

Tell(p) ==
    /\ pc[p] = "tells"
    /\ pc' = [pc EXCEPT ![p] = "hears"]
    /\ known' = [known EXCEPT ![p] = commits[p] \/ prepared[p]]
    /\ UNCHANGED <<vote, prepared, commits, orders, phase, heard, sent>>

Learn(p) ==
    /\ pc[p] = "hears" /\ \A q \in Participants : pc[q] \in {"hears", "done"}
    /\ pc' = [pc EXCEPT ![p] = "done"]
    /\ commits' = [commits EXCEPT ![p] = @ \/ \E q \in Participants \ {p} : known[q]]
    /\ UNCHANGED <<vote, prepared, orders, known, phase, heard, sent>>

AllDone == \A p \in Participants : pc[p] = "done"
Done == AllDone /\ UNCHANGED vars    \* So this is no deadlock.

Next ==
    \/ End \/ Done
    \/ \E p \in Participants : Hear(p) \/ Send(p) \/ Vote(p) \/ Obey(p) \/ Tell(p) \/ Learn(p)
Spec == Init /\ [][Next]_vars

Agreement == AllDone => \A p, q \in Participants : commits[p] = commits[q]
Validity == AllDone => \A p \in Participants : commits[p] => vote[p]
=============================================================================
