//! Tests that the random programs contain every operation, and wait at each one that may have to.

use std::collections::BTreeSet;

use mazurka::explore::{Budget, NoObserver, Udpor, explore};
use mazurka::lang::{Program, UnreachedKind, compile};
use mazurka::model::{Access, CollectiveKind, Locals, Op, PartSet, Probing, State, System};
use mazurka::property::LeakKind;

use super::{Rng, Sample, language};

/// The name of each variant, and all names. A new variant does not compile until it is added here,
/// and then some random program must contain it.
macro_rules! kinds {
    ($of:ident, $all:ident, $name:ident: $($variant:ident)*) => {
        const $all: &[&str] = &[$(stringify!($variant)),*];

        fn $name(one: &$of) -> &'static str {
            match one {
                $($of::$variant { .. } => stringify!($variant)),*
            }
        }
    };
}

kinds! { Op, OPERATIONS, operation:
    Isend Irecv Send Receive Probe Cancel CancelOutcome Begin Enter Deliver WaitAny TestAny AsyncLock
    MutexWaitAny MutexTestAny TryLock Unlock RwRequest RwWait RwUnlock Enrol AwaitWake Notify Wake AsyncAcquire AcquireWait Release
    Arrive BarrierWait CountDown LatchWait Access Choose Local Spawn Join Handle
}
kinds! { Access, ACCESSES, access: Read Write CompareAndSwap FetchAdd Swap Update }
kinds! { Probing, PROBES, probing: Wait Test Take Reserve WhenStuck }
kinds! { CollectiveKind, CALLS, call:
    Barrier Bcast Scatter Gather Reduce Allreduce Allgather Alltoall Scan Exscan ReduceScatter
}

/// The name of an operation, with its form if it has several.
pub fn kind_of(op: &Op) -> String {
    let of = match op {
        Op::Access(_, of) => access(of),
        Op::Probe { form, .. } => probing(form),
        Op::Enter { call: of, .. } => call(&of.kind),
        _ => "",
    };
    format!("{} {of}", operation(op)).trim_end().to_owned()
}

/// What some random executions contain: the operations that are carried out, those that may have to wait, and those at which
/// some process does wait.
#[derive(Default)]
struct Seen {
    done: BTreeSet<String>,
    may_wait: BTreeSet<String>,
    waiting: BTreeSet<String>,
}

impl Seen {
    /// The operations that may have to wait, but at which no process ever waits.
    fn never_waiting(&self) -> Vec<String> {
        self.may_wait.difference(&self.waiting).cloned().collect()
    }
}

/// Adds the operations of some random executions of a system.
fn walk<S: System>(system: &S, rng: &mut Rng, seen: &mut Seen) {
    let mut locals = Locals::new(system);
    for _ in 0..3 {
        let mut state = State::initial(&mut locals);
        while state.depth() < 60 {
            for process in state.program_processes() {
                let Some(op) = locals.op(state.local(process)) else { continue };
                let waits = matches!(
                    op,
                    Op::Probe { form: Probing::Wait | Probing::Take | Probing::Reserve, .. }
                );
                if waits || op.awaits() != PartSet::NONE && !op.is_test() {
                    seen.may_wait.insert(kind_of(op));
                }
                if !state.can_move(&locals, process) {
                    seen.waiting.insert(kind_of(op));
                }
            }
            let mut enabled = Vec::new();
            state.enabled(&locals, &mut enabled);
            if enabled.is_empty() {
                break;
            }
            let action = *rng.pick(&enabled);
            let op = locals.op(state.local(action.process)).expect("it is enabled");
            seen.done.insert(kind_of(op));
            state.step(&mut locals, action);
        }
    }
}

fn wanted() -> BTreeSet<String> {
    let parts = |op: &str| match op {
        "Access" => ACCESSES,
        "Probe" => PROBES,
        "Enter" => CALLS,
        _ => &[""],
    };
    let of = |op: &&'static str| {
        let op = *op;
        parts(op).iter().map(move |of| format!("{op} {of}").trim_end().to_owned())
    };
    OPERATIONS.iter().flat_map(of).collect()
}

fn missing(seen: &Seen, but: &[&str]) -> Vec<String> {
    wanted().difference(&seen.done).filter(|name| !but.contains(&name.as_str())).cloned().collect()
}

fn program(seed: u64) -> Program {
    let text = language::generate(seed);
    compile("random.maz", &text, &[])
        .unwrap_or_else(|wrong| panic!("seed {seed}: {}\n{text}", wrong.render(false)))
}

#[test]
fn programs_of_the_language_write_every_operation() {
    let (mut rng, mut seen) = (Rng::new(1), Seen::default());
    for seed in 0..1_500 {
        let program = program(seed);
        walk(&program, &mut rng, &mut seen);
    }
    // Threads of Rust code update, only MPI reserves messages, and few explorers take probes that
    // wait until all are stuck (`lang::faults::stuck`).
    let others = ["Access Update", "Begin", "Probe Reserve", "Probe WhenStuck"];
    assert_eq!(missing(&seen, &others), [""; 0]);
    assert_eq!(seen.never_waiting(), [""; 0]);
}

kinds! { LeakKind, LEAKS, leak: Message Receive Collective Acquire Held Queued Remarked }
kinds! { UnreachedKind, UNREACHED, unreached: Lines Arm Handler NeverTrue NeverFalse Assertion }

#[test]
fn programs_of_the_language_lead_to_every_warning() {
    let mut found = BTreeSet::new();
    for seed in 0..1_500 {
        let program = program(seed);
        // UDPOR refuses processes that wait until nothing else can happen.
        if program.objects().may_time_out_when_stuck {
            continue;
        }
        let program = program.observed();
        let budget = Budget { all: true, max_traces: Some(30), ..Budget::default() };
        let outcome = explore(&program, Udpor::default(), budget, &mut NoObserver);
        found.extend(outcome.leaks.iter().map(|one| leak(&one.kind)));
        if outcome.is_complete() {
            found.extend(program.unreached().iter().map(|one| unreached(&one.kind)));
        }
    }
    let missing: Vec<_> =
        LEAKS.iter().chain(UNREACHED).filter(|kind| !found.contains(*kind)).collect();
    // What a process says of itself is known of MPI programs only.
    assert_eq!(missing, [&"Remarked"]);
}

#[test]
fn systems_of_the_tests_write_every_operation() {
    fn walk_all<S: super::Subject>(samples: &[Sample<S>], seen: &mut Seen) {
        let mut rng = Rng::new(2);
        samples.iter().for_each(|sample| walk(&sample.script, &mut rng, seen));
    }
    let mut seen = Seen::default();
    walk_all(super::processes(), &mut seen);
    walk_all(super::later(), &mut seen);
    walk_all(super::actors(), &mut seen);
    walk_all(super::p2p(), &mut seen);
    let others = [
        "Begin",
        "Probe Reserve",
        "Enter Allgather",
        "Enter ReduceScatter",
        "Access Update",
        "Probe WhenStuck",
    ];
    assert_eq!(missing(&seen, &others), [""; 0]);
    assert_eq!(seen.never_waiting(), [""; 0]);
}
