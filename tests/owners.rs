//! Inboxes and ranks that belong to one process: every explorer detects that another process uses
//! them.

use std::collections::BTreeSet;

use mazurka::explore::{
    AnyExplorer, Budget, Exhaustive, Explorer, Guarantee, NoObserver, Outcome, StopReason, explore,
};
use mazurka::lang::compile;

use crate::judge::{
    LONG, METHODS, STATEFUL, bound, check_counterexample, has_ended, is_refused, storing,
};
use crate::random_models::Rng;

/// One statement of this process.
fn statement(rng: &mut Rng, process: usize, is_inner: bool) -> String {
    let inbox = rng.below(2);
    match rng.below(if is_inner { 9 } else { 12 }) {
        0 | 1 => format!("ibsend(inbox{inbox}, {process});"),
        // Nothing is left of it but whom the inbox belongs to.
        7 | 8 => format!("ibsend(inbox{inbox}, {process}); recv(inbox{inbox});"),
        2 => format!("recv(inbox{inbox});"),
        3 => format!("{{ let open = irecv(inbox{inbox}); x = {process}; wait(open); }}"),
        4 => format!("iprobe(inbox{inbox});"),
        5 => {
            // The first two have one rank.
            let world = rng.below(3);
            let rank = if world < 2 { 0 } else { (process + usize::from(rng.chance(20))) % 2 };
            format!("barrier(world{world}, as: {rank});")
        }
        6 => "x = x + 1;".into(),
        _ => {
            let [one, other] = match rng.below(4) {
                0 => [0, 1].map(|at| format!("ibsend(inbox{at}, {process}); recv(inbox{at});")),
                1 => [0, 1].map(|at| format!("barrier(world{at}, as: 0);")),
                _ => [(); 2].map(|()| statement(rng, process, true)),
            };
            format!("{{ let way = choose(0..2); if way == 0 {{ {one} }} else {{ {other} }} }}")
        }
    }
}

fn program(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = format!(
        "{} mailbox inbox0, inbox1;\nmailbox done[4];\ncollective world0(1), world1(1), world2(2);\nshared x: int = 0;\n",
        rng.pick(&["p2p", "bag"]),
    );
    let mut waits = false;
    for process in 0..2 + rng.below(2) {
        text += &format!("process P{process} {{\n");
        if waits {
            text += &format!("    recv(done[{process}]);\n");
        }
        for _ in 0..1 + rng.below(3) {
            text += &format!("    {}\n", statement(&mut rng, process, false));
        }
        waits = rng.chance(60);
        if waits {
            text += &format!("    isend(done[{}], 0);\n", process + 1);
        }
        text += "}\n";
    }
    text
}

/// The kinds of violations. After another process has used an object, nothing has a meaning, and
/// further violations depend on the order.
fn kinds(outcome: &Outcome) -> BTreeSet<String> {
    match outcome.stopped_by {
        Some(StopReason::Oversubscribed) => BTreeSet::from(["another process".into()]),
        _ => outcome.violations.iter().map(|violation| format!("{:?}", violation.kind)).collect(),
    }
}

#[test]
fn a_second_owner_is_found_by_every_explorer() {
    let (mut wrong, mut right) = (0, 0);
    for seed in 0..400 {
        let text = program(seed);
        let program = compile("owners.maz", &text, &[])
            .unwrap_or_else(|errors| panic!("{}\n{text}", errors.render(false)));
        let run = |explorer: AnyExplorer, depth: Option<u32>| {
            let budget = Budget { all: true, depth, max_traces: Some(30_000), ..Budget::default() };
            explore(&program, explorer, budget, &mut NoObserver)
        };
        let judged = run(Exhaustive.into(), None);
        if judged.stopped_by == Some(StopReason::MaxTraces) {
            continue;
        }
        let is_wrong = judged.stopped_by == Some(StopReason::Oversubscribed);
        assert!(is_wrong || has_ended(&judged), "{:?} of\n{text}", judged.stopped_by);
        wrong += u32::from(is_wrong);
        right += u32::from(!is_wrong);
        let methods = METHODS.iter().map(|&(_, method, _)| (method, bound(&method, LONG)));
        let storing = storing(STATEFUL).map(|method| (method, None));
        for (method, depth) in methods.chain(storing) {
            if is_refused(&program, method) || method.profile().guarantee == Guarantee::SomeClasses
            {
                continue;
            }
            let found = run(method, depth);
            assert_eq!(kinds(&found), kinds(&judged), "{method:?} on\n{text}");
            for violation in &found.violations {
                check_counterexample(&program, violation)
                    .unwrap_or_else(|how| panic!("{how} by {method:?} on\n{text}"));
            }
        }
    }
    println!("{wrong} with a second owner, {right} without");
    assert!(wrong > 100 && right > 100, "{wrong}, {right}");
}
