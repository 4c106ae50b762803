//! Actors: what handlers see and do, messages, references, and what goes wrong.

use mazurka::explore::Verdict;
use mazurka::lang;
use mazurka::model::{Action, Choice, Locals, Op, ProcessId, State, Stimulus, System, Value};

use super::{counts, fails, holds, interleavings, program, violations};

/// The actors of the program where `init` sends what `sends` says, judged by `judgement`.
#[track_caller]
fn ends(actors: &str, sends: &str, judgement: &str) {
    holds(&format!("{actors} init {{ {sends} }} final {{ assert({judgement}); }}"));
}

#[test]
fn a_registry() {
    let source = |limit: u32| {
        format!(
            "actor Registry {{ var ids: [int] = []; on Register(id: int) when len(ids) < {limit} {{ ids = push(ids, id); }} }}
             actor Worker(id: int) {{ on Start() {{ send(Registry, Register(id)); }} }}
             init {{ for i in 0..3 {{ let w = spawn Worker(i); send(w, Start()); }} }}
             final {{ assert(len(Registry.ids) == 3); }}"
        )
    };
    assert_eq!(counts(&source(3)), (90, false, Verdict::Ok));
    let (_, deadlocked, verdict) = counts(&source(2));
    assert!(deadlocked && verdict == Verdict::Deadlock, "the third message stays pending");
}

#[test]
fn delivery_is_unordered() {
    let source = "actor A { var got: [int] = []; on Put(n: int) { got = push(got, n); } }
         init { for n in 0..3 { send(A, Put(n)); } }";
    assert_eq!(interleavings(source), 6);
    fails(&format!("{source} final {{ assert(A.got == [0, 1, 2]); }}"), "assertion failed");
}

#[test]
fn internal_handlers() {
    let source = "actor A { var n = 0; var downs = 0;
             internal Up when n < 2 { n += 1; }
             internal Down when n == 1 && downs == 0 { n = 0; downs = 1; } }
         final { assert(A.n == 2); }";
    // Up, perhaps down and up again, and up.
    assert_eq!(interleavings(source), 2);
    holds(source);
    let alone = "actor A { } actor B { var n = 0; internal Step when n < 3 { n += 1; } }";
    assert_eq!(interleavings(alone), 1);
}

#[test]
fn the_first_handler_whose_guard_holds() {
    let actor = "actor A { var got = 0; on Put(n: int) when n > 5 { got += 100; } on Put(n: int) when n > 2 { got += 10; } on Put(n: int) { got += 1; } }";
    ends(
        actor,
        "send(A, Put(9)); send(A, Put(3)); send(A, Put(0)); send(A, Put(4));",
        "A.got == 121",
    );
}

#[test]
fn guards_see_the_state_of_their_actor() {
    // Opened first, whatever comes first.
    let actor = "actor Door[i in 1..3] { var open = false; var seen = 0;
         on Open() { open = true; }
         on Enter(n: int) when open && n == i { assert(open); seen = n; } }";
    let sends = "for i in 1..3 { send(Door[i], Enter(i)); send(Door[i], Open()); }";
    ends(actor, sends, "Door[1].seen == 1 && Door[2].seen == 2");
    assert_eq!(interleavings(&format!("{actor} init {{ {sends} }}")), 6);
}

#[test]
fn references() {
    let actors = "actor Node[i in 2..5] {
             var from: [actor] = []; var me: [Node] = [];
             on Ping(sender: actor) { from = push(from, sender); me = [self]; send(sender, Pong(self, i)); }
             on Pong(sender: Node, n: int) { assert(sender != self && sender == Node[n]); from = push(from, sender); }
         }
         actor Single { var last: actor = Single; on Pong(sender: Node, n: int) { last = if n == 3 { sender } else { self }; } }
         fn next(i: int) -> Node { Node[2 + (i - 1) % 3] }";
    let sends = "send(next(2), Ping(Single)); send(Node[4], Ping(Node[2]));";
    let judgement = "Node[3].from == [Single] && Single.last == Node[3] && Node[4].from == [Node[2]] && Node[2].from == [Node[4]]
         && Node[3].me == [next(2)] && Single.last != Node[4]";
    ends(actors, sends, judgement);
}

#[test]
fn lists_of_references() {
    let actors = "actor Collector { var all: [Leaf] = []; var sum = 0;
             on Born(who: Leaf) when len(all) < 2 { all = push(all, who); if len(all) == 2 { for a in all { send(a, Ask(self)); } } }
             on Answer(n: int) { sum += n; } }
         actor Leaf(n: int) { var asked = false;
             on Hello() { send(Collector, Born(self)); }
             on Ask(by: actor) { assert(!asked); asked = true; send(by, Answer(n)); } }";
    ends(
        actors,
        "let a = spawn Leaf(1); let b = spawn Leaf(20); for l in [a, b] { send(l, Hello()); }",
        "Collector.sum == 21",
    );
}

#[test]
fn messages_are_values() {
    let actors = "enum Color { Red, Blue }
         fn wrap(m: message) -> message { Forward(m, 2) }
         actor A { var kept: [message] = []; var total = 0;
             on Paint(c: Color, where: (int, int)) { total += 100 * where.1; }
             on Forward(m: message, times: int) {
                 kept = push(kept, m);
                 if times > 0 { send(self, if times == 1 { m } else { Forward(m, times - 1) }); }
                 total += match m { Paint(Red, _) => 1, Paint(_, (x, _)) if x > 6 => 10, Forward(Paint(Blue, (k, _)), n) => k * n, _ => 0 };
             } }";
    let sends = "let m = Paint(Blue, (7, 3)); send(A, wrap(m)); assert(wrap(m) == Forward(Paint(Blue, (7, 3)), 2) && m != Paint(Red, (7, 3)));";
    ends(actors, sends, "A.total == 320 && A.kept == [Paint(Blue, (7, 3)), Paint(Blue, (7, 3))]");
}

#[test]
fn matches_cover_every_message() {
    let actor = |arms: &str| {
        format!(
            "actor A {{ on One(n: int) {{ }} on Two(m: message, b: bool) {{ match m {{ {arms} }} }} }}"
        )
    };
    let missing = |arms: &str| match lang::compile("a.maz", &actor(arms), &[]) {
        Ok(_) => None,
        Err(diagnostics) => diagnostics.iter().next().map(|first| first.message.clone()),
    };
    for arms in [
        "_ => {}",
        "m => {}",
        "One(_) => {} Two(_, _) => {}",
        "Two(One(_), true) => {} One(n) => {} Two(_, _) => {}",
    ] {
        assert_eq!(missing(arms), None, "{arms}");
    }
    for (arms, value) in [
        ("One(_) => {}", "Two(_, _)"),
        ("One(1) => {} Two(_, _) => {}", "One(_)"),
        ("One(_) => {} Two(One(_), _) => {} Two(_, true) => {}", "Two(Two(_, _), false)"),
    ] {
        assert_eq!(missing(arms), Some(format!("the match does not cover `{value}`")), "{arms}");
    }
}

#[test]
fn handlers_compute() {
    let actor = "fn fact(n: int) -> int { if n < 2 { 1 } else { n * fact(n - 1) } }
         actor A { let base = fact(3); var table = [[0; 2]; 2]; var pair = (base, true);
             on Set(i: int, j: int) {
                 if i == j { table[i][j] += base; return; }
                 for k in 0..5 { if k == 3 { break; } pair.0 += k; }
                 let (a, _) = pair; table[i][j] = fact(a - 4);
             } }";
    ends(
        actor,
        "send(A, Set(1, 1)); send(A, Set(0, 1));",
        "A.table == [[0, 120], [0, 6]] && A.pair == (9, true)",
    );
}

#[test]
fn what_a_handler_leaves_is_forgotten() {
    let program = program(
        "actor A { var n = 0; on Put(k: int) { let x = k; var y = [x]; y[0] += n; if k > 1 { return; } } }
         init { for k in 0..3 { send(A, Put(k)); } }",
    );
    let mut locals = Locals::new(&program);
    let mut state = State::initial(&mut locals);
    let (start, mut enabled) = (state.local(ProcessId(0)), Vec::new());
    for _ in 0..3 {
        state.enabled(&locals, &mut enabled);
        state.step(&mut locals, enabled[0]);
        enabled.clear();
        assert_eq!(state.local(ProcessId(0)), start);
    }
}

#[test]
fn init_begins() {
    let program = program(
        "const N = 2;
         actor Sink { on Put(n: int) { } }
         actor Worker(n: int) { var twice = 2 * n; }
         process P { }
         init { let w = spawn Worker(N); send(Sink, Put(1)); if N > 1 { spawn Worker(5); } }
         init { spawn Worker(7); for n in 0..N { send(Sink, Put(10 * n)); } return; }",
    );
    let locals = Locals::new(&program);
    let names: Vec<_> = locals
        .initial()
        .iter()
        .map(|&id| program.describe().process_name(locals.get(id)))
        .collect();
    assert_eq!(names, ["Sink", "P", "Worker#1", "Worker#2", "Worker#3"]);
    let variables = program.describe().variables(locals.get(locals.initial()[3]), &|_| None);
    let shown: Vec<_> = variables.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    assert_eq!(shown, ["n = 5", "twice = 10"]);
    let sent = program.actors().initial_messages();
    assert!(sent.iter().all(|&(to, _)| to == ProcessId(0)));
    let shown: Vec<_> =
        sent.iter().map(|(_, message)| program.describe().show_value(message, &|_| None)).collect();
    assert_eq!(shown, ["Put(1)", "Put(0)", "Put(10)"]);
}

#[test]
fn names_and_sites() {
    let program = program(
        "enum Color { Red, Blue }
         actor Single { var c = Blue;
             on Paint(c: Color) when c == Red { }
             on Paint(c: Color) { spawn Worker(1); }
             internal Fade when c == Blue { spawn Worker(2); c = Red; } }
         actor Node[i in 1..3] { var peers: [actor] = [Single, Node[2]]; on Born(w: Worker, n: Node) { } }
         actor Worker(n: int) { on Paint(c: Color) { } internal Never when false { } internal Ever { } }
         init { let w = spawn Worker(0); send(Single, Paint(Blue)); send(Node[1], Born(w, Node[2])); }",
    );
    let mut locals = Locals::new(&program);
    let mut state = State::initial(&mut locals);
    let single = ProcessId(0);
    let at_rest = locals.get(state.local(single)).clone();
    let site = program.describe().site(&at_rest).expect("a site");
    assert_eq!((site.line, site.text.as_str()), (2, "actor Single"));
    let site = program.describe().site(locals.get(state.local(ProcessId(2)))).expect("a site");
    assert_eq!(site.text, "actor Node[i in 1..3]");

    let (_, born) = program.actors().initial_messages().remove(1);
    assert_eq!(program.describe().show_value(&born, &|_| None), "Born(Worker#1, Node[2])");
    assert_eq!(program.describe().show_value(&Value::Process(ProcessId(9)), &|_| None), "actor 9");
    let peers = program.describe().variables(locals.get(state.local(ProcessId(1))), &|_| None);
    assert_eq!(peers[1], ("peers".to_owned(), "[Single, Node[2]]".to_owned()));

    for (color, line, text) in [("Red", 3, "on Paint(c: Color)"), ("Blue", 4, "on Paint(c: Color)")]
    {
        let index = u32::from(color == "Blue");
        let paint = Value::Message { name: 0, args: [Value::Variant { of: 0, index }].into() };
        assert_eq!(program.describe().show_value(&paint, &|_| None), format!("Paint({color})"));
        let stimulus = Stimulus::Message(locals.values.intern(paint));
        let site =
            program.describe().handler_site(&at_rest, stimulus, &locals.values).expect("a site");
        assert_eq!((site.line, site.text.as_str()), (line, text));
    }
    let internal = program.describe().handler_site(&at_rest, Stimulus::Internal(0), &locals.values);
    assert_eq!(internal.expect("a site").text, "internal Fade");
    assert_eq!(locals.op(state.local(single)), Some(&Op::Handle { internals: 1 }));
    assert_eq!(locals.op(state.local(ProcessId(3))), Some(&Op::Handle { internals: 2 }));

    state.step(&mut locals, Action { process: single, choice: Choice::internal(0) });
    let spawned = state.just_spawned(&locals).next().expect("a child");
    assert_eq!(
        program.describe().process_name(locals.get(state.local(spawned))),
        "Single/Worker#1"
    );
    assert_eq!(program.describe().process_name(locals.get(state.local(ProcessId(3)))), "Worker#1");
}

#[test]
fn spawned_actors_spawn() {
    let actors = "actor Root { var leaves = 0; on Leaf(depth: int) { leaves += 1; assert(depth == 0); } }
         actor Tree(depth: int) {
             var grown = false;
             internal Grow when !grown {
                 grown = true;
                 if depth == 0 { send(Root, Leaf(depth)); } else { let left = spawn Tree(depth - 1); spawn Tree(depth - 1); assert(left != self); }
             } }";
    ends(actors, "spawn Tree(2);", "Root.leaves == 4");
}

#[test]
fn who_may_refuse() {
    let refuses = |source: &str| program(source).actors().has_guards();
    assert!(!refuses("actor A { on X() { } internal T when true { } } init { send(A, X()); }"));
    assert!(refuses("actor A { on X() when true { } }"));
    let two = "actor A { on X() { } } actor B { on Y() { } }";
    assert!(!refuses(&format!("{two} init {{ send(A, X()); send(B, Y()); }}")));
    assert!(refuses(&format!("{two} init {{ let m = Y(); send(A, m); }}")));
    assert!(refuses(&format!("{two} init {{ let a: actor = B; send(a, X()); }}")));
    let (_, deadlocked, _) =
        counts(&format!("{two} init {{ let m = Y(); send(A, m); send(B, m); }}"));
    assert!(deadlocked, "A has no handler for Y");
}

#[test]
fn who_may_spawn() {
    let spawns = |source: &str| program(source).actors().may_spawn();
    let one = "actor B { } actor A(n: int) { on X() { ";
    assert!(!spawns(&format!("{one} }} }} init {{ spawn A(1); }}")));
    assert!(spawns(&format!("{one} if n > 0 {{ spawn A(n - 1); }} }} }} init {{ spawn A(1); }}")));
    assert!(spawns("actor B { internal T when true { spawn A(1); } } actor A(n: int) { }"));
}

#[test]
fn handlers_fail() {
    let source = "actor A { var got = 0; on Go(n: int) { got = n; send(B, Got(n)); got = 10 / n; send(B, Got(1)); } }
         actor B { var sum = 0; on Got(n: int) { sum += n + 1; assert(sum < 9, \"sum\"); } }";
    fails(&format!("{source} init {{ send(A, Go(0)); }}"), "Error: division by zero: 10 / 0");
    fails(&format!("{source} init {{ send(A, Go(8)); }}"), "Assertion: assertion failed: sum");
    // Messages sent before the failure stay sent: B receives them, and the other actors continue.
    fails(
        "actor A { on Go() { send(B, Got()); let l = [1]; assert(l[1] == 2); } }
         actor B { on Got() { assert(false, \"heard\"); } }
         init { send(A, Go()); }",
        "heard",
    );
}

#[test]
fn failures_have_places() {
    let source = "actor A { var v = 1; on Put(n: int) when [true, false][n] {\n let inner = n; assert(inner == 2); } }
         init { send(A, Put(0)); }";
    let program = program(source);
    let mut locals = Locals::new(&program);
    let mut state = State::initial(&mut locals);
    let mut enabled = Vec::new();
    state.enabled(&locals, &mut enabled);
    state.step(&mut locals, enabled[0]);
    let local = locals.get(state.local(ProcessId(0)));
    assert_eq!(program.describe().site(local).expect("a site").line, 2);
    let shown: Vec<_> = program
        .describe()
        .variables(local, &|_| None)
        .into_iter()
        .map(|(n, v)| format!("{n} = {v}"))
        .collect();
    assert_eq!(shown, ["v = 1", "n = 0", "inner = 0"]);

    fails(
        &source.replace("Put(0))", "Put(2))"),
        "index 2 is out of range: the list has 2 elements",
    );
    let (_, deadlocked, _) = counts(&source.replace("Put(0))", "Put(1))"));
    assert!(deadlocked, "refused");
}

#[test]
fn guards_fail_when_the_message_is_taken() {
    let source =
        "actor A { var l: [int] = []; on Look() when l[0] == 1 { l = []; } on Fill() { l = [1]; } }
         init { send(A, Look()); send(A, Fill()); }";
    // The message Fill stays pending then, and an actor with pending messages is stuck.
    let error = "Error: index 0 is out of range: the list has no elements";
    assert_eq!(violations(source), [error, "Deadlock"]);
    // Look fails at once, or finds what it looks for.
    assert_eq!(interleavings(source), 2);
}

#[test]
fn what_runs_for_ever() {
    fails("actor A { on Go() { loop { } } } init { send(A, Go()); }", "endless local computation");
    fails(
        "fn f(n: int) -> bool { f(n) } actor A { internal Go when f(1) { } }",
        "endless local computation",
    );
}

#[test]
fn messages_do_not_grow_for_ever() {
    let actor = "actor A { on Leaf() { } on Wrap(m: message, l: [message]) { } }";
    for body in ["m = Wrap(m, []);", "m = Wrap(Leaf(), [m]);", "m = Wrap(m, [m, m]);"] {
        let source =
            format!("{actor} actor B {{ internal Go {{ var m = Leaf(); loop {{ {body} }} }} }}");
        fails(&source, "a message within too many messages");
    }
    ends(actor, "var m = Leaf(); for i in 0..99 { m = Wrap(m, []); } send(A, m);", "true");
}

#[test]
fn first_values_fail() {
    fails("actor A[i in 0..2] { let x = 1 / i; }", "division by zero");
    fails("actor A(n: int) { let x = 1 / n; } init { spawn A(0); }", "division by zero");
    fails(
        "actor A(n: int) { let x = 1 / n; } actor B { var b = true; internal T when b { b = false; spawn A(0); } }",
        "division by zero",
    );
}

#[test]
fn references_out_of_range() {
    let actors = "actor A[i in 1..4] { on Go(n: int) { send(A[n], Go(0)); } }";
    for n in [0, 4, -9, i64::MAX] {
        let message = format!("index {n} is out of range: the actors are A[1] to A[3]");
        fails(&format!("{actors} init {{ send(A[1], Go({n})); }}"), &message);
    }
}

#[test]
fn beside_processes() {
    holds(
        "mailbox m; shared x: int = 0;
         actor A { var n = 0; on Go(k: int) { n = k; } }
         process P { send(m, A); x = 1; }
         process Q { let who = recv(m); assert(who == A); let kept = Go(3); assert(kept != Go(4)); }
         init { send(A, Go(7)); }
         final { assert(A.n == 7 && x == 1 && Q.who == A && Q.kept == Go(3)); }",
    );
}

#[test]
fn words_that_mean_something_in_actors_only() {
    holds(
        "process P { let on = 1; var internal = 2; let when = on; internal += when; let message = 3; assert(internal + message == 6); }",
    );
    holds(
        "actor A { var on = 1; var when = 2; on Go() when on < when { when = on; } } init { send(A, Go()); }",
    );
}
