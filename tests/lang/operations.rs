//! Every operation, and every violation, at least once.

use mazurka::explore::Verdict;

use super::{counts, explore, fails, holds, interleavings, program};

#[test]
fn tests_and_waits() {
    // T1: 4 interleavings, whatever the tests say.
    let t1 = "
        mailbox a;
        process P0 { let c = irecv(a); test(c); testany([c]); waitany([c]); }
        process P1 { isend(a, 1); }";
    assert_eq!(interleavings(t1), 4);
    let t2 = "
        mailbox m;
        process P0 { let c = irecv(m); test(c); }
        process P1 { local(\"think\"); isend(m, 1); }
        process P2 { isend(m, 2); }";
    assert_eq!(interleavings(t2), 30);
    // T3, where each completed communication is a possible result.
    let t3 = "
        mailbox a, b;
        shared seen: [bool; 2] = false;
        process R { let i = waitany([irecv(a), irecv(b)]); assert(i == 0 || i == 1); }
        process A { isend(a, 1); }
        process B { isend(b, 1); }";
    assert!(interleavings(t3) > 18);
}

#[test]
fn values_of_communications() {
    holds(
        "mailbox m;
         process R {
             let c = irecv(m);
             assert(wait(c) == 7);
             assert(value(c) == 7);
             let d = irecv(m);
             if test(d) { assert(value(d) == 8); }
             let ds = [irecv(m), d];
             let i = waitany(ds);
             assert(value(ds[i]) == 8 || value(ds[i]) == 9);
         }
         process S { isend(m, 7); isend(m, 8); isend(m, 9); }",
    );
    fails(
        "mailbox m; process P { let c = irecv(m); isend(m, 1); value(c); }",
        "Error: value of a communication that was not seen complete",
    );
}

#[test]
fn lists_of_communications() {
    holds(
        "const N = 3;
         mailbox m, done;
         process R {
             var requests = [];
             for _ in 1..N { requests = push(requests, irecv(m)); }
             waitall(requests);
             var sum = 0;
             for r in requests { sum += value(r); }
             assert(sum == 3);
             isend(done, true);
         }
         process S[i in 1..N] {
             var requests = [];
             requests = push(requests, isend(m, i));
             waitall(requests);
         }",
    );
    // Sends and receives of different messages in one list.
    holds(
        "mailbox a: int, b: bool;
         process P {
             var requests = [isend(a, 1)];
             requests = push(requests, irecv(b));
             waitall(requests);
             while len(requests) > 0 {
                 let i = waitany(requests);
                 requests = remove(requests, i);
             }
         }
         process Q { recv(a); send(b, true); }",
    );
    fails("process P { var cs: [comm] = []; waitany(cs); }", "waits for one of no communications");
    fails("process P { var cs: [comm] = []; testany(cs); }", "tests one of no communications");
    holds("process P { var cs: [comm] = []; waitall(cs); }");
}

#[test]
fn patterns() {
    holds(
        "mailbox m: (int, bool);
         process R {
             let (n, b) = recv(m, tag: 2);
             assert(n == 20 && b);
             assert(recv(m, src: 1, tag: 1).0 == 10);
         }
         process S { isend(m, (10, false), src: 1, tag: 1); isend(m, (20, true), src: 1, tag: 2); }",
    );
    // A pattern does not match a send that lacks the part.
    let lacking = "mailbox m; process R { recv(m, src: 1); } process S { isend(m, 0, tag: 1); }";
    assert_eq!(counts(lacking).2, Verdict::Deadlock);
}

#[test]
fn mutexes_in_all_forms() {
    holds(
        "mutex m[2], n;
         shared owners: [int; 2] = 0;
         process P[i in 0..2] {
             async_lock(m[0]);
             async_lock(m[1]);
             let k = mutex_waitany([m[0], m[1]]);
             unlock(m[k]);
             unlock(m[1 - k]);
             async_lock(n);
             if mutex_test(n) { local(\"mine\"); }
             let t = mutex_testany([n]);
             assert(t == 0 || t == -1);
             mutex_wait(n);
             unlock(n);
         }",
    );
    fails(
        "mutex m; process P { lock(m); lock(m); }",
        "requests the mutex `m`, which it has requested already",
    );
    fails("mutex m; process P { unlock(m); }", "unlocks the mutex `m`, which it has not requested");
    fails(
        "mutex m; process P { mutex_wait(m); }",
        "waits for the mutex `m`, which it has not requested",
    );
    fails(
        "mutex m; process P { mutex_test(m); }",
        "tests the mutex `m`, which it has not requested",
    );
    fails(
        "mutex m[2]; process P { async_lock(m[0]); mutex_waitany([m[0], m[1]]); }",
        "waits for the mutex `m[1]`, which it has not requested",
    );
}

#[test]
fn tries() {
    holds(
        "mutex m, n[2];
         shared got: [int; 2] = 0;
         process P[i in 0..2] {
             lock(n[i]);
             if try_lock(n[1 - i]) { unlock(n[1 - i]); }
             while !try_lock(m) { }
             assert(fetch_add(got[0], 1) == 0);
             fetch_add(got[0], -1);
             unlock(m);
         }",
    );
    fails(
        "mutex m; process P { if try_lock(m) { try_lock(m); } }",
        "tries to lock the mutex `m`, which it has requested already",
    );
    fails(
        "mutex m; process P { async_lock(m); try_lock(m); }",
        "tries to lock the mutex `m`, which it has requested already",
    );
    fails(
        "mutex m; process P { if !try_lock(m) { unlock(m); } } process Q { lock(m); unlock(m); }",
        "unlocks the mutex `m`, which it has not requested",
    );
}

#[test]
fn readers_and_writers() {
    holds(
        "rwlock r[2], s;
         shared x: int = 0;
         process Writer { write_lock(s); x = 1; x = 2; unlock(s); }
         process Reader[i in 0..2] {
             read_lock(s);
             read_lock(r[i]);
             assert(x != 1);
             unlock(s);
             unlock(r[i]);
         }",
    );
    let one_order = |a: &str, b: &str| {
        let text = format!("rwlock r; process P {{ {a}(r); }} process Q {{ {b}(r); }}");
        explore(&program(&text)).stats.classes
    };
    assert_eq!(one_order("read_lock", "read_lock"), Some(1));
    assert_eq!(one_order("read_lock", "write_lock"), Some(2));
    assert_eq!(one_order("write_lock", "write_lock"), Some(2));
    fails("rwlock r; process P { unlock(r); }", "unlocks the lock `r`, which it does not have");
    fails(
        "rwlock r; process P { read_lock(r); read_lock(r); }",
        "requests the lock `r`, which it has already",
    );
}

#[test]
fn condition_variables() {
    holds(
        "mutex m; condvar c[2], d;
         shared ready: bool = false;
         process Waiter[i in 0..2] {
             lock(m);
             while !ready { cond_wait(c[i], m); }
             unlock(m);
         }
         process Notifier { lock(m); ready = true; notify_all(c[0]); notify_one(c[1]); unlock(m); notify_one(d); }",
    );
    // It wakes one of two, either; the other one waits for ever.
    let of_two = "mutex m; condvar c; shared waiting: int = 0;
         process Waiter[i in 0..2] { lock(m); waiting += 1; cond_wait(c, m); unlock(m); }
         process Notifier { while waiting < 2 { } notify_one(c); }";
    let outcome = explore(&program(of_two));
    assert_eq!(outcome.stats.deadlocked_traces, outcome.stats.traces);
    fails(
        "mutex m; condvar c; process P { cond_wait(c, m); }",
        "waits at `c` without having locked the mutex `m`",
    );
    let asked = ["async_lock(m);", "async_lock(m); mutex_test(n); mutex_wait(n);"];
    for asked in asked {
        let text = format!(
            "mutex m, n; condvar c; process P {{ async_lock(n); {asked} cond_wait(c, m); }} process Q {{ lock(m); }}"
        );
        fails(&text, "waits at `c` without having locked the mutex `m`");
    }
    fails(
        "mutex m; condvar c spurious 1; process P { lock(m); unlock(m); async_lock(m); cond_wait(c, m); }",
        "waits at `c` without having locked the mutex `m`",
    );
    for locked in [
        "lock(m);",
        "async_lock(m); mutex_wait(m);",
        "async_lock(m); while !mutex_test(m) { }",
        "async_lock(m); mutex_waitany([m]);",
        "async_lock(m); while mutex_testany([m]) == -1 { }",
        "while !try_lock(o) { } cond_wait(c, o); lock(m);",
    ] {
        let text = format!(
            "mutex m, n, o; condvar c spurious 1; process P {{ {locked} cond_wait(c, m); }} process Q {{ lock(m); notify_all(c); unlock(m); }}"
        );
        let outcome = explore(&program(&text));
        let failures = outcome.violations.iter().filter_map(|violation| violation.failure.as_ref());
        assert_eq!(failures.count(), 0, "{locked}: {:?}", outcome.violations);
    }
    fails(
        "mutex m; condvar c spurious 1; shared x: int = 0;
         process P { lock(m); cond_wait(c, m); assert(x == 1); } process Q { x = 1; notify_one(c); }",
        "assertion failed",
    );
}

#[test]
fn cancelled_requests() {
    // A withdrawn request does not keep the others waiting.
    holds(
        "mutex m;
         process P { lock(m); unlock(m); }
         process Q { async_lock(m); unlock(m); lock(m); unlock(m); }",
    );
}

#[test]
fn semaphores() {
    holds(
        "semaphore slots = 1, s[2] = 0;
         shared inside: int = 0;
         process P[i in 0..2] {
             acquire(slots);
             assert(fetch_add(inside, 1) == 0);
             fetch_add(inside, -1);
             release(slots);
         }
         process Q { async_acquire(s[0]); async_acquire(s[0]); acquire_wait(s[0]); acquire_wait(s[0]); }
         process R { release(s[0]); release(s[0]); }",
    );
    fails("semaphore s = 1; process P { acquire_wait(s); }", "which it has not requested");
}

#[test]
fn barriers() {
    holds(
        "const N = 2;
         barrier b(N), c[2](N);
         shared done: [bool; N] = false;
         process P[i in 0..N] {
             done[i] = true;
             barrier(b);
             assert(done[1 - i]);
             async_barrier(c[1]);
             barrier_wait(c[1]);
             barrier(b);
         }",
    );
    fails("barrier b(1); process P { barrier_wait(b); }", "where it has not arrived");
    fails(
        "barrier b(1); process P { barrier_wait(b); async_barrier(b); }",
        "waits at the barrier `b`, where it has not arrived",
    );
}

#[test]
fn cells() {
    holds(
        "shared x: int = 5;
         shared a: [int; 3] = [1, 2, 3];
         shared t: (int, bool) = (1, true);
         shared l: [int] = [];
         process P {
             assert(x == 5);
             x = x + 1;
             x += 2;
             assert(cas(x, 8, 9) && !cas(x, 8, 10));
             assert(fetch_add(x, 1) == 9);
             assert(swap(x, 0) == 10);
             a[1] -= 1;
             assert(a[0] + a[1] + a[2] == 5);
             t = (a[2], false);
             assert(t.0 == 3 && !t.1);
             l = push(l, x);
             assert(l == [0] && l[0] == 0);
         }
         final { assert(x == 0 && a[1] == 1 && len(l) == 1); }",
    );
    // A shared cell on the right of && is read only when needed.
    assert_eq!(
        interleavings(
            "shared x: bool = true; process P { if false && x { } } process Q { x = false; }"
        ),
        1
    );
    assert_eq!(
        interleavings(
            "shared x: bool = true; process P { if true && x { } } process Q { x = false; }"
        ),
        2
    );
    fails(
        "shared x: int = 9223372036854775807; process P { fetch_add(x, 1); }",
        "overflow: the sum of `fetch_add`",
    );
}

#[test]
fn choices() {
    assert_eq!(interleavings("process P { let x = choose(0..3); let y = choose(x..3); }"), 6);
    fails("process P { let n = 0; choose(0..n); }", "chooses from the empty range 0..0");
    fails("process P { choose(0..9223372036854775807); }", "a range has at most 10000 values");
}

#[test]
fn spawns_and_joins() {
    holds(
        "shared sum: int = 0;
         process Worker(n: int, deep: bool) {
             if deep { join(spawn Worker(n, false)); } else { fetch_add(sum, n); }
         }
         process Main {
             var workers = [];
             for i in 1..3 { workers = push(workers, spawn Worker(i, i == 1)); }
             for w in workers { join(w); }
             assert(sum == 3);
         }",
    );
}

#[test]
fn violations_stop_one_process() {
    let source = "
        mailbox m;
        process Bad { let x = 0; let y = 1 / x; isend(m, y); }
        process Good { local(\"works\"); }";
    fails(source, "Error: division by zero: 1 / 0");
    assert_eq!(counts(source), (1, false, Verdict::Error));
}

#[test]
fn violations() {
    fails("process P { assert(1 == 2); }", "Assertion: assertion failed");
    fails("process P { assert(1 == 2, \"told so\"); }", "Assertion: assertion failed: told so");
    fails("process P { var x = 9223372036854775807; x += 1; }", "overflow");
    fails("process P { var x = -9223372036854775808; x = -x; }", "overflow");
    fails(
        "process P { let l = [1]; let x = l[1]; }",
        "index 1 is out of range: the list has 1 element",
    );
    fails("process P { var l = [0; 2]; l[2] = 1; }", "index 2 is out of range");
    fails("process P { let l = remove([1], 3); }", "index 3 is out of range");
    fails(
        "mailbox m[2]; process P { let i = 2; isend(m[i], 1); }",
        "index 2 is out of range: `m` has 2",
    );
    fails("process P { loop { } }", "endless local computation");
    fails("process P { var x = 0; while true { x = 1 - x; } }", "endless local computation");
    fails("fn f(n: int) -> int { f(n) } process P { let x = f(0); }", "endless local computation");
    fails("fn f(n: int) -> int { 1 / n } process P { let x = f(0); }", "division by zero");
    fails(
        "shared x: int = 1; process P { } final { assert(x == 0, \"zero\"); }",
        "Assertion: assertion failed: zero",
    );
}

#[test]
fn control_flow() {
    holds(
        "enum Color { Red, Green, Blue }
         fn max(a: int, b: int) -> int { if a > b { a } else { b } }
         fn next(c: Color) -> Color { match c { Red => Green, Color::Green => Blue, Blue => Red } }
         fn sum(l: [int]) -> int { var s = 0; for x in l { s += x; } return s; }
         fn find(l: [int], wanted: int) -> int {
             for i in 0..len(l) { if l[i] == wanted { return i; } }
             -1
         }
         fn fact(n: int) -> int { if n == 0 { 1 } else { n * fact(n - 1) } }
         process P {
             assert(max(1, 2) == 2 && max(2, 1) == 2);
             assert(next(next(next(Red))) == Red);
             assert(sum([1, 2, 3]) == 6 && sum([4; 2]) == 8);
             assert(find([5, 6], 6) == 1 && find([], 1) == -1);
             assert(fact(10) == 3628800);
             var n = 0;
             loop { n += 1; if n == 5 { break; } if n == 3 { continue; } }
             assert(n == 5);
             var odd = 0;
             for i in 0..10 { if i % 2 == 0 { continue; } odd += 1; if odd == 3 { break; } }
             assert(odd == 3);
             let x = 1 + { let y = 2; let z = 3; y * z } - 1;
             assert(x == 6);
             var grid = [[0; 2]; 3];
             grid[2][1] = 7;
             grid[2][1] += 1;
             assert(grid[2][1] == 8 && grid[1][1] == 0);
             var t = (1, (true, [1]));
             t.1.1[0] = 4;
             t.0 -= 1;
             assert(t == (0, (true, [4])));
             let s = match (n, t.0) { (5, 1) => 0, (m, 0) if m > 9 => 1, (m, k) => m + k };
             assert(s == 5);
             let (a, (b, _)) = t;
             assert(a == 0 && b);
             for (p, q) in [(1, 2), (3, 4)] { assert(p + 1 == q); }
             let mixed = match true { true => 1, false => 2 };
             assert(mixed == 1 && !(1 > 2) && -3 % 2 == -1 && 7 / -2 == -3);
             if n == 5 { return; }
             assert(false);
         }",
    );
}

#[test]
fn results_of_processes() {
    let source = "
        const N = 3;
        mailbox m;
        process Sender[i in 1..N] { let twice = 2 * i; send(m, twice); }
        process Receiver { var sum = 0; for j in 1..N { let c = irecv(m); sum = sum + wait(c); } }
        final {
            assert(Receiver.sum == 6);
            var total = 0;
            for i in 1..N { total += Sender[i].twice; }
            assert(total == Receiver.sum, \"all counted\");
        }";
    holds(source);
    fails("process P { let v = 1; } final { assert(P.v == 2); }", "Assertion");
    fails(
        "process P[i in 0..2] { let v = i; } final { let k = 2; assert(P[k].v == 2); }",
        "there is no process P[2]",
    );
    fails(
        "process P { if true { return; } let v = 1; } final { assert(P.v == 1); }",
        "before it declared `v`",
    );
    // What failed before it got there cannot be judged.
    assert_eq!(
        super::violations(
            "mutex m; process P { unlock(m); let v = 1; } final { assert(P.v == 2); }"
        )
        .len(),
        1
    );
    assert_eq!(
        super::violations("process P { assert(false); let v = 1; } final { assert(P.v == 2); }")
            .len(),
        1
    );
}

#[test]
fn enumerations_travel() {
    holds(
        "enum Kind { Ask, Tell } enum Other { Ask }
         mailbox m;
         shared last: Kind = Kind::Tell;
         process P { send(m, (Kind::Ask, [1, 2])); }
         process Q {
             let (kind, items) = recv(m);
             match kind { Ask => { last = kind; } Tell => assert(false), }
             assert(items[1] == 2 && last == Kind::Ask);
         }",
    );
}

#[test]
fn receives_of_different_messages_meet_in_a_list_before_the_messages_are_known() {
    let source = "mailbox a, flags;
         process R { let n = irecv(a); let f = irecv(flags); let both = [n, f]; waitall(both); }
         process S { isend(a, 1); isend(flags, true); }";
    assert_eq!(counts(source).2, Verdict::Ok);
    let source = "mailbox a, b, c: int;
         process R { let cs = [irecv(a), irecv(b), irecv(c)]; let k = waitany(cs); assert(value(cs[k]) < 4); }
         process S { isend(a, 1); isend(b, 2); isend(c, 3); }";
    assert_eq!(counts(source).2, Verdict::Ok);
}
