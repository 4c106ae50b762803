/* A register on replicas, as specs/faults/quorum-register.maz: CRASHES of them may crash.
   Receiving and answering are one step: nobody can tell whether a replica crashes before or between. */
#ifndef N
#define N 3
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef WRITES_BACK
#define WRITES_BACK true
#endif

chan written = [1] of { byte };                 /* of the writer, to the first replica */
chan asked[N] = [3] of { byte, byte };          /* of the reader: a question and a stamp */
chan answers = [3 * N] of { byte, byte };
byte crashes;

/* These are made first, so their numbers are 0 to N - 1. */
active [N] proctype Replica() {
    byte stamp, new, question;
end:
    do
    :: _pid == 0 && written?[_] -> written?stamp
    :: atomic {
        asked[_pid]?question,new ->
        stamp = (new > stamp -> new : stamp);
        answers!question,stamp;
        question = 0;
        new = 0 }
    :: atomic { crashes < CRASHES -> crashes++; break }
    od
}

/* A message to all, and the answers of a majority. */
inline ask(question, stamp, newest) {
    atomic { for (i : 0 .. N - 1) { asked[i]!question,stamp } }
    newest = 0;
    for (i : 0 .. N / 2) {
        atomic {
            answers??eval(question),answer;
            newest = (answer > newest -> answer : newest);
            answer = 0
        }
    }
}

active proctype Reader() {
    byte i, answer, first, second, ignored;
    ask(1, 0, first);
    if
    :: WRITES_BACK -> ask(2, first, ignored)
    :: else
    fi;
    ask(3, 0, second);
    assert(second >= first)
}

active proctype Writer() { written!1 }
