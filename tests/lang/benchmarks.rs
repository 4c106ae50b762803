//! Programs of the literature, whose numbers of interleavings are known.

use mazurka::explore::Verdict;

use super::{counts, interleavings, program_with};

#[test]
fn wait_deadlock() {
    let source = "
        mailbox to0, to1;
        process P0 { wait(irecv(to0)); send(to1, 1); }
        process P1 { wait(irecv(to1)); send(to0, 1); }";
    assert_eq!(counts(source), (2, true, Verdict::Deadlock));
}

#[test]
fn complex_deadlock() {
    let source = "
        mailbox m02, m10, m01, m12;
        process P0 { send(m02, 1); recv(m10); send(m01, 1); }
        process P1 { recv(m01); send(m10, 1); }
        process P2 { recv(m02); }";
    assert_eq!(counts(source), (36, true, Verdict::Deadlock));
}

#[test]
fn waitall_deadlock() {
    let source = "
        mailbox a, b, c, d;
        process P0 { let x = irecv(a); let y = irecv(a); waitall([x, y]); send(b, 1); }
        process P1 {
            let x = isend(a, 1);
            let y = isend(c, 1);
            waitall([x, y]);
            recv(b);
            send(a, 1);
        }
        process P2 { recv(c); }";
    assert_eq!(counts(source), (1458, true, Verdict::Deadlock));
}

const RMQ: &str = "
    const N = 3;
    mailbox root;
    process Receiver { for _ in 1..N { recv(root); } }
    process Sender[i in 1..N] { send(root, i); }";

#[test]
fn rmq_receiving() {
    assert_eq!(interleavings(RMQ), 164);
    let four = super::explore(&program_with(RMQ, &[("N", "4")]));
    assert_eq!((four.stats.traces, four.verdict()), (20064, Verdict::Ok));
}

#[test]
fn no_error_wait_any_src() {
    let source = "
        mailbox to0, to1;
        process P0 { let a = irecv(to0); send(to1, 1); wait(a); }
        process P1 { let a = irecv(to1); wait(a); send(to0, 1); }";
    assert_eq!(counts(source), (21, false, Verdict::Ok));
}

#[test]
fn any_src_can_deadlock3() {
    let source = "
        mailbox to0, to1;
        process P0 { recv(to0); send(to1, 1); recv(to0); }
        process P1 { send(to0, 1); recv(to1); }
        process P2 { send(to0, 1); }";
    assert_eq!(counts(source), (999, true, Verdict::Deadlock));
}

#[test]
fn mutexes() {
    let source = "
        const N = 3;
        mutex m;
        process P[i in 0..N] { lock(m); local(\"critical\"); unlock(m); }";
    assert_eq!(interleavings(source), 132);
    let two = super::explore(&program_with(source, &[("N", "2")]));
    assert_eq!(two.stats.traces, 8);
}

#[test]
fn trylock() {
    let source = "
        mutex m;
        process P[i in 0..2] { async_lock(m); mutex_test(m); mutex_wait(m); unlock(m); }";
    assert_eq!(interleavings(source), 20);
}

#[test]
fn lock_order() {
    let source = "
        mutex a, b;
        process P { lock(a); lock(b); unlock(b); unlock(a); }
        process Q { lock(b); lock(a); unlock(a); unlock(b); }";
    assert_eq!(counts(source), (38, true, Verdict::Deadlock));
}

#[test]
fn philosophers() {
    let source = "
        const N = 3;
        mutex fork[N];
        process Philosopher[i in 0..N] {
            lock(fork[i]);
            lock(fork[(i + 1) % N]);
            unlock(fork[(i + 1) % N]);
            unlock(fork[i]);
        }";
    assert_eq!(counts(source), (30849, true, Verdict::Deadlock));
}

#[test]
fn ordered_philosophers() {
    let source = "
        const N = 3;
        mutex fork[N];
        fn min(a: int, b: int) -> int { if a < b { a } else { b } }
        fn max(a: int, b: int) -> int { if a > b { a } else { b } }
        process Philosopher[i in 0..N] {
            let (first, second) = (min(i, (i + 1) % N), max(i, (i + 1) % N));
            lock(fork[first]);
            lock(fork[second]);
            unlock(fork[second]);
            unlock(fork[first]);
        }";
    assert_eq!(counts(source), (24558, false, Verdict::Ok));
}

#[test]
fn request_and_reply() {
    // A reply goes to whoever asked.
    let source = "
        const N = 3;
        mailbox server, client[N];
        process Server { for _ in 1..N { let who = recv(server); send(client[who], ()); } }
        process Client[i in 1..N] { send(server, i); recv(client[i]); }";
    assert_eq!(counts(source), (20304, false, Verdict::Ok));
}

#[test]
fn master_and_workers() {
    let simple = "
        const N = 3;
        mailbox root, work[N];
        process Master { for i in 1..N { send(work[i], i); } for _ in 1..N { recv(root); } }
        process Worker[i in 1..N] { recv(work[i]); send(root, i); }";
    assert_eq!(interleavings(simple), 63000);
    let paper = "
        const N = 3;
        mailbox root, work[N];
        process Master {
            var sends = [];
            for i in 1..N { sends = push(sends, isend(work[i], i)); }
            waitall(sends);
            for _ in 1..N { recv(root); }
        }
        process Worker[i in 1..N] { recv(work[i]); local(\"work\"); send(root, i); }";
    assert_eq!(interleavings(paper), 1356444);
}

#[test]
fn bounded_polls() {
    let source = "
        mailbox to0, to1;
        process P0 { let q = irecv(to0); send(to1, 1); for _ in 0..2 { test(q); } wait(q); }
        process P1 { let q = irecv(to1); for _ in 0..2 { test(q); } wait(q); send(to0, 1); }";
    assert_eq!(counts(source), (558, false, Verdict::Ok));
}

#[test]
fn two_tags() {
    let lost = "
        mailbox tag1, tag2;
        process P0 { let a = isend(tag1, 1); let b = isend(tag2, 2); wait(a); wait(b); }
        process P1 { let a = irecv(tag1); let b = irecv(tag2); wait(b); }";
    assert_eq!(counts(lost), (24, false, Verdict::Ok));
}

#[test]
fn wildcard_beside_a_source() {
    // A wildcard and a named source at one mailbox: any_src-deadlock, which never deadlocks.
    let source = "
        mailbox m;
        process P0 { recv(m); recv(m, src: 1); }
        process P1 { send(m, 1, src: 1); send(m, 2, src: 1); }";
    assert_eq!(counts(source), (24, false, Verdict::Ok));
}

#[test]
fn sendrecv() {
    let source = "
        mailbox to0, to1;
        process P0 { for _ in 0..3 { let s = isend(to1, 0); let r = irecv(to0); waitall([s, r]); } }
        process P1 { for _ in 0..3 { let s = isend(to0, 0); let r = irecv(to1); waitall([s, r]); } }";
    assert_eq!(counts(source), (176_400, false, Verdict::Ok));
}

#[test]
fn waits_for_any() {
    // T3. Both receives first, or one of them after its send, ...: each completed one may be the
    // answer.
    let source = "
        mailbox a, b;
        process R { let i = waitany([irecv(a), irecv(b)]); assert(i == 0 || i == 1); }
        process A { isend(a, 1); }
        process B { isend(b, 1); }";
    let (_, deadlocked, verdict) = counts(source);
    assert_eq!((deadlocked, verdict), (false, Verdict::Ok));
}

#[test]
fn last_zero() {
    let source = "
        const N = 2;
        shared a: [int; N + 1] = 0;
        process Reader { var i = N; while a[i] != 0 { i -= 1; } }
        process Writer[j in 1..N + 1] { a[j] = a[j - 1] + 1; }
        final { assert(a[1] == 1); }";
    let program = program_with(source, &[]);
    assert_eq!(super::explore(&program).verdict(), Verdict::Ok);
}
