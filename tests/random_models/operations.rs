//! Tests that the random programs contain every operation.

use std::collections::BTreeSet;

use mazurka::lang::compile;
use mazurka::model::{Access, CollectiveKind, Locals, Op, Probing, State, System};

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
    Isend Irecv Send Receive Probe Cancel CancelOutcome Enter Deliver WaitAny TestAny AsyncLock MutexWaitAny
    MutexTestAny TryLock Unlock RwRequest RwWait RwUnlock Enrol AwaitWake Notify Wake AsyncAcquire AcquireWait Release
    Arrive BarrierWait Access Choose Local Spawn Join Handle
}
kinds! { Access, ACCESSES, access: Read Write CompareAndSwap FetchAdd Swap }
kinds! { Probing, PROBES, probing: Wait Test Take }
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

/// The operations in some random executions of a system.
fn walk<S: System>(system: &S, rng: &mut Rng, met: &mut BTreeSet<String>) {
    let mut locals = Locals::new(system);
    for _ in 0..3 {
        let mut state = State::initial(&mut locals);
        while state.depth() < 60 {
            let mut enabled = Vec::new();
            state.enabled(&locals, &mut enabled);
            if enabled.is_empty() {
                break;
            }
            let action = *rng.pick(&enabled);
            let op = locals.op(state.local(action.process)).expect("it is enabled");
            met.insert(kind_of(op));
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

fn missing(met: &BTreeSet<String>, but: &[&str]) -> Vec<String> {
    wanted().difference(met).filter(|name| !but.contains(&name.as_str())).cloned().collect()
}

#[test]
fn programs_of_the_language_write_every_operation() {
    let (mut rng, mut met) = (Rng::new(1), BTreeSet::new());
    for seed in 0..1_500 {
        let program = compile("random.maz", &language::generate(seed), &[]).expect("a program");
        walk(&program, &mut rng, &mut met);
    }
    // Actors are a family of their own.
    assert_eq!(missing(&met, &["Handle"]), [""; 0]);
}

#[test]
fn systems_of_the_tests_write_every_operation() {
    fn walk_all<S: super::Subject>(samples: &[Sample<S>], met: &mut BTreeSet<String>) {
        let mut rng = Rng::new(2);
        samples.iter().for_each(|sample| walk(&sample.script, &mut rng, met));
    }
    let mut met = BTreeSet::new();
    walk_all(super::processes(), &mut met);
    walk_all(super::later(), &mut met);
    walk_all(super::actors(), &mut met);
    walk_all(super::p2p(), &mut met);
    assert_eq!(missing(&met, &["Enter Allgather", "Enter ReduceScatter"]), [""; 0]);
}
