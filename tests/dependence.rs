//! What editors say of dependence, beside the relation itself: in all executions of small programs
//! with each pair of operations, which operations depend on which of another process.

use std::collections::{BTreeMap, BTreeSet};

use mazurka::lang::{compile, dependences};
use mazurka::model::{Effect, Locals, ProcessId, Schedule, State, dependent};
use mazurka::property::Replay;

/// Operations by their names, and those of other processes that each depends on somewhere.
type Relation = BTreeMap<String, BTreeSet<String>>;

/// The name of the operation in this text of a step; that of a cell is what is done to it.
fn name(action: &str) -> &str {
    match action.split_once('(') {
        _ if action.starts_with("match of") => "match",
        _ if action.starts_with("end of") => "end",
        Some((name, _)) => name,
        None if action.contains('=') => "write",
        None => "read",
    }
}

/// Adds what the executions of this program show.
fn explore(text: &str, relation: &mut Relation) {
    let program = compile("spec", text, &[]).unwrap_or_else(|found| panic!("{text}: {found:?}"));
    let mut locals = Locals::new(&program);
    let mut state = State::initial(&mut locals);
    let mut effects: Vec<(ProcessId, Effect)> = Vec::new();
    let mut visit = |state: &State, effects: &[(ProcessId, Effect)]| {
        let steps = Replay::new(&program).follow(&Schedule::of(state)).expect("an execution");
        for (b, (second, later)) in steps.iter().zip(effects).enumerate() {
            for (first, earlier) in steps[..b].iter().zip(effects) {
                let depend =
                    earlier.0 != later.0 && dependent((earlier.0, &earlier.1), (later.0, &later.1));
                if depend {
                    let (a, b) = (name(&first.action), name(&second.action));
                    relation.entry(a.into()).or_default().insert(b.into());
                    relation.entry(b.into()).or_default().insert(a.into());
                }
            }
            relation.entry(name(&second.action).into()).or_default();
        }
    };
    go_on(&mut locals, &mut state, &mut effects, &mut visit);
}

type Visit<'v> = &'v mut dyn FnMut(&State, &[(ProcessId, Effect)]);

fn go_on<S: mazurka::model::System>(
    locals: &mut Locals<'_, S>,
    state: &mut State,
    effects: &mut Vec<(ProcessId, Effect)>,
    visit: Visit<'_>,
) {
    let mut enabled = Vec::new();
    state.enabled(locals, &mut enabled);
    if enabled.is_empty() || effects.len() == 14 {
        return visit(state, effects);
    }
    for action in enabled {
        state.step(locals, action);
        effects.push((action.process, state.effect(locals)));
        go_on(locals, state, effects, visit);
        effects.pop();
        state.undo(locals);
    }
}

/// What the programs show that have these declarations, and the bodies of processes in pairs. `#` is the
/// number of the process.
fn of_pairs(declarations: &str, bodies: &[&str], rest: &str) -> Relation {
    let mut relation = Relation::new();
    for (i, a) in bodies.iter().enumerate() {
        for b in &bodies[i..] {
            let (a, b) = (a.replace('#', "0"), b.replace('#', "1"));
            let processes = format!("process A {{ {a} }} process B {{ {b} }} {rest}");
            explore(&format!("{declarations} {processes}"), &mut relation);
        }
    }
    relation
}

/// How a communication `c` ends.
const ENDS: [&str; 4] = ["wait(c)", "test(c)", "waitany([c])", "testany([c])"];

/// Each of these posts, and each of these ends of its communication.
fn posts(posts: &[&str], ends: &[&str]) -> Vec<String> {
    let of = |post| ends.iter().map(move |end| format!("let c = {post}; {end};"));
    posts.iter().flat_map(of).collect()
}

/// At a mailbox of MPI: each way to send with each way to receive.
fn of_mpi() -> Relation {
    let mut relation = Relation::new();
    let takes = "let (d, s, t) = mprobe(m); mrecv(d);".to_owned();
    let mut receivers = posts(&["irecv(m)"], &[&ENDS[..], &["cancel(c)"]].concat());
    let probes = ["probe(m)", "iprobe(m)", "mprobe(m)"];
    receivers.extend(probes.map(|probe| format!("irecv(m); {probe};")));
    receivers.push(takes.clone());
    let mut explore = |sender: &str, receiver: &str| {
        for delivery in ["p2p", "bag"] {
            let processes = format!("process A {{ {sender} }} process B {{ {receiver} }}");
            explore(&format!("{delivery} mailbox m: int; {processes}"), &mut relation);
        }
    };
    for send in ["isend(m, 1);", "issend(m, 1);", "ibsend(m, 1);"] {
        receivers.iter().for_each(|receiver| explore(&send.repeat(2), receiver));
    }
    posts(&["issend(m, 1)"], &ENDS).iter().for_each(|sender| explore(sender, &takes));
    relation
}

/// The relation at each kind of object.
fn relations() -> Vec<(&'static str, Relation)> {
    let mailbox = posts(&["isend(m, 1)", "irecv(m)"], &ENDS);
    let mailbox: Vec<&str> = mailbox.iter().map(String::as_str).collect();
    let locked = ["mutex_wait(m)", "mutex_waitany([m])", "mutex_test(m)", "mutex_testany([m])"];
    let locked = locked.map(|wait| format!("async_lock(m); {wait}; unlock(m);"));
    let tries = "if try_lock(m) { unlock(m); }";
    let calls = [
        "barrier(c)",
        "bcast(c, 0, 1)",
        "scatter(c, 0, [1, 2])",
        "gather(c, 0, 1)",
        "reduce(c, 0, sum, 1)",
        "allreduce(c, sum, 1)",
        "allgather(c, 1)",
        "alltoall(c, [1, 2])",
        "scan(c, sum, 1)",
        "exscan(c, sum, 1)",
        "reduce_scatter(c, sum, [1, 2])",
    ];
    let mut collective = Relation::new();
    for call in calls {
        let text = format!("collective c(2); process P[i in 0..2] {{ {call}; }}");
        explore(&text, &mut collective);
    }
    vec![
        ("mailbox", of_pairs("mailbox m: int;", &mailbox, "")),
        ("p2p or bag mailbox", of_mpi()),
        ("mutex", of_pairs("mutex m;", &locked.each_ref().map(String::as_str), "")),
        (
            "mutex that is tried",
            of_pairs("mutex m;", &[&locked[0], tries], &format!("process C {{ {tries} }}")),
        ),
        (
            "rwlock",
            of_pairs("rwlock r;", &["read_lock(r); unlock(r);", "write_lock(r); unlock(r);"], ""),
        ),
        (
            "condvar",
            of_pairs(
                "mutex m[2]; condvar c;",
                // Each with a mutex of its own.
                &["lock(m[#]); cond_wait(c, m[#]);", "notify_one(c);", "notify_all(c);"],
                "",
            ),
        ),
        (
            "semaphore",
            of_pairs(
                "semaphore s = 1;",
                &["async_acquire(s); acquire_wait(s); release(s);", "release(s);"],
                "",
            ),
        ),
        ("barrier", of_pairs("barrier b(2);", &["async_barrier(b); barrier_wait(b);"], "")),
        ("latch", of_pairs("latch l(1);", &["count_down(l);", "wait(l);"], "")),
        (
            "shared",
            of_pairs(
                "shared x: int = 0;",
                &["let a = x;", "x = 1;", "cas(x, 0, 1);", "fetch_add(x, 1);", "swap(x, 2);"],
                "",
            ),
        ),
        ("collective", collective),
        ("", of_pairs("", &["local(\"a\"); choose(0..2);"], "")),
    ]
}

/// What a sentence names: operations, and what has no name.
fn named(sentence: &str) -> BTreeSet<String> {
    let words = sentence.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let nameless = words.filter(|word| ["match", "end", "read", "write"].contains(word));
    sentence.split('`').skip(1).step_by(2).chain(nameless).map(str::to_owned).collect()
}

#[test]
fn sentences_name_what_depends_somewhere() {
    let mut judged = 0;
    for (at, relation) in relations() {
        for (name, others) in &relation {
            let all = dependences(name);
            let rows: Vec<_> = all.iter().filter(|(of, row)| row.at == at && of == name).collect();
            match rows.as_slice() {
                [(_, row)] => {
                    assert_eq!(named(row.on), *others, "{name} at {at}: {}", row.on);
                    judged += 1;
                }
                // Those of the network, accesses without a name, and what is spelled out.
                [] if ["match", "end", "read", "write", "lock"].contains(&name.as_str()) => {}
                [] if others.is_empty() => {}
                found => panic!("{name} at {at} depends on {others:?}: {found:?}"),
            }
        }
    }
    assert_eq!(judged, 57);
}

/// A `join` depends on all that the process does.
#[test]
fn who_joins_waits_for_all_operations() {
    let mut relation = Relation::new();
    let process = "process Q(i: int) { local(\"a\"); x = i; }";
    explore(
        &format!("shared x: int = 0; {process} process P {{ join(spawn Q(1)); }}"),
        &mut relation,
    );
    assert_eq!(relation["join"], BTreeSet::from(["local", "write"].map(String::from)));
}

/// A handler depends on the one that sent its message, and on no other of another actor.
#[test]
fn handlers_depend_on_who_sent_their_message() {
    let mut relation = Relation::new();
    let text = "actor A { on Go() { send(C, Hit()); } }
actor B { on Run() { send(C, Bump()); } }
actor C { on Hit() { } on Bump() { } }
init { send(A, Go()); send(B, Run()); }";
    explore(text, &mut relation);
    for (name, other) in [("Go", "Hit"), ("Hit", "Go"), ("Run", "Bump"), ("Bump", "Run")] {
        assert_eq!(relation[name], BTreeSet::from([other.to_owned()]), "{name}: {relation:?}");
    }
}

#[test]
fn every_operation_of_the_reference_has_a_sentence() {
    let reference = include_str!("../src/lang/reference.md");
    let (_, rest) = reference.split_once("\n## Operations").unwrap();
    let (operations, _) = rest.split_once("\n## Actors").unwrap();
    let cells = operations.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let calls = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let names: BTreeSet<&str> =
        calls.filter_map(|call| call.split_once('(')).map(|(name, _)| name).collect();
    let silent = |name: &&&str| dependences(name).is_empty() && !name.contains("spawn");
    assert!(names.len() > 50, "{names:?}");
    assert_eq!(names.iter().filter(silent).collect::<Vec<_>>(), Vec::<&&str>::new());
}
