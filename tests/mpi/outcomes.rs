//! Random race-free programs with windows: their outcomes are those of a machine that executes one
//! step after another.
//!
//! A program is a script for each rank, which `outcomes.c` interprets. Each place of each part is
//! used in one way until the next barrier: by accumulations with one operator (and those that
//! replace or return the previous value), by the rank that holds the lock exclusively, or by one
//! rank, which may pass it on to another one by a message.
//!
//! What a rank starts at a target before it completes it is one change for a search, but several
//! ranks may see it at several places, each on its own. So there are two machines: all outcomes of
//! the one that carries it out at once are found, and only outcomes of the one that carries it out
//! place by place, in any order. For most programs, these are the same.

mod machine;

use std::collections::BTreeSet;
use std::path::Path;

use mazurka::explore::{Budget, NoObserver, explore};
use mazurka::model::{Buffering, Leaving, Semantics};
use mazurka::mpi::{Launch, Ranks};
use mazurka::random::SplitMix64;
use mazurka::systems::history::History;

use self::machine::expected;
use crate::cli::{json, mazurka};

const PLACES: usize = 3;
/// The windows: of memory that the program has, shared, and dynamic.
const KINDS: [char; 3] = ['c', 's', 'd'];
/// A program with more outcomes than this is left out: it takes long, and a search keeps no more
/// than 100 violations.
const MOST: usize = 50;

/// Where the places of a part are, in bytes, how many numbers are at each, and the displacement
/// unit.
#[derive(Clone, Copy, Debug)]
struct Layout {
    apart: usize,
    width: usize,
    unit: usize,
}

/// Grains of one place, of several, with holes, and places of several grains: there, more than one
/// place is more than a few.
const LAYOUTS: [Layout; 5] = [
    Layout { apart: 4, width: 1, unit: 4 },
    Layout { apart: 4, width: 1, unit: 8 },
    Layout { apart: 12, width: 1, unit: 4 },
    Layout { apart: 20, width: 5, unit: 4 },
    Layout { apart: 44, width: 11, unit: 8 },
];

impl Layout {
    /// Whether one operation with a displacement can name each place.
    fn is_simple(self) -> bool {
        self.width == 1 && self.apart.is_multiple_of(self.unit)
    }
}

/// A step of a rank; `t` is a target, `p` a place, `v` a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Lock {
        t: usize,
        is_exclusive: bool,
    },
    Unlock(usize),
    LockAll,
    UnlockAll,
    Flush(usize),
    Fence {
        is_last: bool,
    },
    Barrier,
    Send(usize),
    Receive(usize),
    Write {
        p: usize,
        v: i32,
    },
    Read {
        p: usize,
    },
    /// At `n` places, from `p` on.
    Operation {
        t: usize,
        p: usize,
        n: usize,
        what: What,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Put(i32),
    Get,
    Accumulate(Operator, i32),
    Fetch(Operator, i32),
    Swap { old: i32, new: i32 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Sum,
    Prod,
    Max,
    Bxor,
    Replace,
    NoOp,
}

impl Operator {
    const COMMUTING: [Operator; 4] = [Operator::Sum, Operator::Prod, Operator::Max, Operator::Bxor];

    fn apply(self, old: i32, v: i32) -> i32 {
        match self {
            Operator::Sum => old + v,
            Operator::Prod => old * v,
            Operator::Max => old.max(v),
            Operator::Bxor => old ^ v,
            Operator::Replace => v,
            Operator::NoOp => old,
        }
    }
}

impl Step {
    /// The step in the form that `outcomes.c` reads.
    fn text(self) -> String {
        match self {
            Step::Lock { t, is_exclusive: true } => format!("x{t}"),
            Step::Lock { t, is_exclusive: false } => format!("s{t}"),
            Step::Unlock(t) => format!("u{t}"),
            Step::LockAll => "S".into(),
            Step::UnlockAll => "U".into(),
            Step::Flush(t) => format!("f{t}"),
            Step::Fence { is_last: false } => "n".into(),
            Step::Fence { is_last: true } => "N".into(),
            Step::Barrier => "b".into(),
            Step::Send(to) => format!("!{to}"),
            Step::Receive(from) => format!("?{from}"),
            Step::Write { p, v } => format!("w{p}{v}"),
            Step::Read { p } => format!("r{p}"),
            Step::Operation { t, p, n, what } => match what {
                What::Put(v) => format!("p{t}{p}{n}{v}"),
                What::Get => format!("g{t}{p}{n}"),
                What::Accumulate(by, v) => format!("a{t}{p}{n}{}{v}", by as usize),
                What::Fetch(by, v) => format!("F{t}{p}{n}{}{v}", by as usize),
                What::Swap { old, new } => format!("c{t}{p}{n}{old}{new}"),
            },
        }
    }
}

/// How a place is used until the next barrier.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Usage {
    Accumulated(Operator),
    Locked,
    Of(usize),
}

struct Program {
    layout: Layout,
    /// Whether a rank sends with a lock, which the receiver may want first: not without buffers.
    needs_buffers: bool,
    ranks: Vec<Vec<Step>>,
}

impl Program {
    fn random(random: &mut SplitMix64) -> Program {
        let ranks = 2 + random.below(2);
        let layout = random_of(&LAYOUTS, random);
        let mut program = Program { layout, needs_buffers: false, ranks: vec![Vec::new(); ranks] };
        for phase in 0..1 + random.below(2) {
            if phase > 0 {
                program.ranks.iter_mut().for_each(|steps| steps.push(Step::Barrier));
            }
            program.add_phase(random);
        }
        program
    }

    fn add_phase(&mut self, random: &mut SplitMix64) {
        let ranks = self.ranks.len();
        let is_fenced = random.below(4) == 0;
        let usage: Vec<[Usage; PLACES]> = (0..ranks)
            .map(|_| {
                let mut last = None;
                [(); PLACES].map(|()| {
                    let usage = match random.below(5) {
                        0 if !is_fenced => Usage::Locked,
                        1 => Usage::Of(random.below(ranks)),
                        _ => Usage::Accumulated(random_of(&Operator::COMMUTING, random)),
                    };
                    let usage = last.filter(|_| random.below(2) == 0).unwrap_or(usage);
                    *last.insert(usage)
                })
            })
            .collect();
        let scene = &Scene { layout: self.layout, usage };
        for rank in 0..ranks {
            let steps = &mut self.ranks[rank];
            if is_fenced {
                steps.push(Step::Fence { is_last: false });
                steps.extend(scene.operations(rank, random.below(ranks), true, random));
                steps.push(Step::Fence { is_last: true });
                continue;
            }
            for _ in 0..1 + random.below(if ranks == 2 { 2 } else { 1 }) {
                let targets = if random.below(2) == 0 { 1 } else { ranks };
                let t = random.below(targets);
                scene.epoch(rank, t, steps, random);
            }
        }
        let of_one = scene.usage.iter().enumerate().find_map(|(t, places)| {
            places.iter().enumerate().find_map(|(p, usage)| match *usage {
                Usage::Of(rank) if !is_fenced => Some((t, p, rank)),
                _ => None,
            })
        });
        if let Some((t, p, rank)) = of_one {
            let to = (rank + 1) % ranks;
            let from = &mut self.ranks[rank];
            // In an epoch, after a flush, or outside of one.
            let is_inside = random.below(2) == 0;
            self.needs_buffers |= is_inside;
            if is_inside {
                let what = What::Put(value(random));
                from.push(Step::Lock { t, is_exclusive: random.below(2) == 0 });
                from.push(Step::Operation { t, p, n: 1, what });
                from.push(Step::Flush(t));
            }
            from.push(Step::Send(to));
            if is_inside {
                from.push(Step::Unlock(t));
            }
            let handed = &mut self.ranks[to];
            handed.push(Step::Receive(rank));
            if t == to && random.below(2) == 0 {
                handed.push(Step::Read { p });
            } else {
                let what = if random.below(2) == 0 { What::Get } else { What::Put(value(random)) };
                handed.push(Step::Lock { t, is_exclusive: false });
                handed.push(Step::Operation { t, p, n: 1, what });
                handed.push(Step::Unlock(t));
            }
        }
    }

    /// The arguments of `outcomes.c`, for this kind of window.
    fn scripts(&self, kind: char) -> Vec<String> {
        let text =
            |steps: &Vec<Step>| steps.iter().map(|step| step.text()).collect::<Vec<_>>().join(" ");
        let Layout { apart, width, unit } = self.layout;
        let layout = format!("{apart} {width} {unit} {kind}");
        std::iter::once(layout).chain(self.ranks.iter().map(text)).collect()
    }
}

fn value(random: &mut SplitMix64) -> i32 {
    1 + random.below(7) as i32
}

fn random_of<T: Copy>(all: &[T], random: &mut SplitMix64) -> T {
    all[random.below(all.len())]
}

/// How the places are used until the next barrier.
struct Scene {
    layout: Layout,
    /// By target.
    usage: Vec<[Usage; PLACES]>,
}

impl Scene {
    /// One or two operations at a target, as it is used.
    fn operations(
        &self,
        rank: usize,
        t: usize,
        is_shared: bool,
        random: &mut SplitMix64,
    ) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for _ in 0..1 + random.below(2) {
            let p = random.below(PLACES);
            let used = &self.usage[t][p..];
            let alike = used.iter().take_while(|&&usage| usage == used[0]).count();
            let mut n = if random.below(2) == 0 { 1 } else { 1 + random.below(alike) };
            let v = value(random);
            let is_used = steps.iter().any(|step| {
                matches!(*step, Step::Operation { p: q, n: m, .. } if q < p + n && p < q + m)
            });
            let what = match used[0] {
                Usage::Accumulated(by) => match random.below(8) {
                    0 => What::Accumulate(Operator::Replace, v),
                    1 => What::Fetch(by, v),
                    2 => What::Fetch(Operator::NoOp, v),
                    3 if self.layout.is_simple() => {
                        n = 1;
                        What::Swap { old: value(random), new: v }
                    }
                    _ => What::Accumulate(by, v),
                },
                Usage::Locked if is_shared || is_used => continue,
                Usage::Of(only) if only != rank || is_used => continue,
                _ => match random.below(4) {
                    0 => What::Put(v),
                    1 => What::Accumulate(random_of(&Operator::COMMUTING, random), v),
                    2 => What::Fetch(Operator::Sum, v),
                    _ => What::Get,
                },
            };
            steps.push(Step::Operation { t, p, n, what });
        }
        steps
    }

    /// What a rank does at a target, with a lock or without.
    fn epoch(&self, rank: usize, t: usize, steps: &mut Vec<Step>, random: &mut SplitMix64) {
        let usage = &self.usage;
        let p = random.below(PLACES);
        let own = random_of(&[Step::Write { p, v: value(random) }, Step::Read { p }], random);
        match random.below(6) {
            0 if matches!(usage[rank][p], Usage::Of(only) if only == rank) => steps.push(own),
            0 if matches!(usage[rank][p], Usage::Locked) => {
                let lock = Step::Lock { t: rank, is_exclusive: true };
                steps.extend([lock, own, Step::Unlock(rank)]);
            }
            1 => {
                steps.push(Step::LockAll);
                steps.extend(self.operations(rank, t, true, random));
                steps.push(Step::Flush(t));
                steps.extend(self.operations(rank, t, true, random));
                steps.push(Step::UnlockAll);
            }
            other => {
                let is_exclusive =
                    other == 2 || usage[t].iter().any(|usage| matches!(usage, Usage::Locked));
                steps.push(Step::Lock { t, is_exclusive });
                steps.extend(self.operations(rank, t, !is_exclusive, random));
                if random.below(4) == 0 {
                    steps.push(Step::Flush(t));
                    steps.extend(self.operations(rank, t, !is_exclusive, random));
                }
                steps.push(Step::Unlock(t));
            }
        }
    }
}

/// All outcomes of a program with `outcome.h` that are found. The first argument is for all ranks,
/// the others are their scripts.
pub(super) fn found(program: &Path, scripts: &[String], semantics: Semantics) -> BTreeSet<String> {
    let launch = Launch {
        arguments: scripts.iter().map(Into::into).collect(),
        semantics,
        ..Launch::new(program, scripts.len() as u32 - 1)
    };
    let budget = Budget { all: true, ..Budget::default() };
    let system = History::new(Ranks::new(launch).unwrap());
    let setting: mazurka::explore::Setting = "udpor".parse().unwrap();
    let outcome = explore(&system, setting, budget, &mut NoObserver);
    assert!(outcome.is_complete(), "{scripts:?}");
    let message = |violation: &mazurka::explore::Violation| {
        let failure = violation.failure.as_ref().map_or("", |failure| &failure.message);
        failure.strip_prefix("assertion: ").unwrap_or(failure).to_owned()
    };
    outcome.violations.iter().map(message).collect()
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn windows_have_the_outcomes_of_a_simple_machine() {
    let count =
        std::env::var("MAZURKA_PROGRAMS").map_or(36, |count| count.parse().expect("a number"));
    let mut random = SplitMix64::new(27);
    let folder = super::folder("mpi-outcomes");
    let made = super::compile("outcomes", &folder);
    let (mut several, mut exact) = (0, 0);
    for number in 0..count {
        let program = Program::random(&mut random);
        let least = expected(&program.ranks, false);
        let most = expected(&program.ranks, true);
        if most.len() > MOST {
            continue;
        }
        several += usize::from(least.len() > 1);
        exact += usize::from(least == most);
        let variants =
            [(Buffering::Infinite, Leaving::Early), (Buffering::Zero, Leaving::Synchronizing)];
        let (buffering, leaving) = variants[if program.needs_buffers { 0 } else { number % 2 }];
        let semantics = Semantics { buffering, leaving, ..Semantics::default() };
        let scripts = program.scripts(KINDS[number % KINDS.len()]);
        let found = found(Path::new(&made), &scripts, semantics);
        assert!(
            least.is_subset(&found),
            "{number}: {scripts:?}: {found:?} lacks some of {least:?}"
        );
        assert!(found.is_subset(&most), "{number}: {scripts:?}: {found:?} is not in {most:?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(several > count / 3, "{several} of {count} have several outcomes");
    assert!(exact > count / 2, "{exact} of {count} have the same outcomes on both machines");
}

/// Accumulations with one operator are one class of executions, whatever the operator and however
/// many there are; and the expectations of `accumulate.c` also hold for optimized code.
#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn accumulations_with_one_operator_commute() {
    let folder = super::folder("mpi-accumulate");
    let made = super::compile("accumulate", &folder);
    for case in 1..=13 {
        for ranks in ["2", "3"] {
            let case = case.to_string();
            let args = [
                "mpirun",
                "-n",
                ranks,
                "--buffering",
                "infinite",
                "--format",
                "json",
                &made,
                &case,
            ];
            let counted = json(&mazurka(&args).output().unwrap());
            assert_eq!(counted["verdict"], "ok", "{case} with {ranks} ranks: {counted}");
            assert_eq!(counted["stats"]["traces"], 1, "{case} with {ranks} ranks");
        }
    }
    let (_, wrong, found) =
        super::offences(Path::new("tests/mpi/accumulate.c"), "-O2", &folder, &[super::UDPOR]);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(found.is_empty() && wrong > 8, "{found:#?}");
}
