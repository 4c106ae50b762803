//! Random race-free programs with windows: their outcomes are those of a machine that executes one
//! step after another.
//!
//! A program is a script for each rank, which `outcomes.c` interprets. Each place of each part is
//! used in one way until the next barrier: by accumulations with one operator (and those that
//! replace or return the previous value), by the rank that holds the lock exclusively, or by one
//! rank, which may pass it on to another one by a message.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

use mazurka::explore::{Budget, NoObserver, explore};
use mazurka::model::{Buffering, Leaving, Semantics};
use mazurka::mpi::{Files, Launch, Ranks, TICK};
use mazurka::random::SplitMix64;
use mazurka::systems::history::History;

use crate::cli::{json, mazurka};

const PLACES: usize = 2;
/// A program with more outcomes than this is left out: a search keeps no more violations.
const MOST: usize = 100;

/// A step of a rank; `t` is a target, `p` a place, `v` a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Lock { t: usize, is_exclusive: bool },
    Unlock(usize),
    LockAll,
    UnlockAll,
    Flush(usize),
    Fence { is_last: bool },
    Barrier,
    Send(usize),
    Receive(usize),
    Write { p: usize, v: i32 },
    Read { p: usize },
    Operation { t: usize, p: usize, what: What },
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
            Step::Operation { t, p, what } => match what {
                What::Put(v) => format!("p{t}{p}{v}"),
                What::Get => format!("g{t}{p}"),
                What::Accumulate(by, v) => format!("a{t}{p}{}{v}", by as usize),
                What::Fetch(by, v) => format!("F{t}{p}{}{v}", by as usize),
                What::Swap { old, new } => format!("c{t}{p}{old}{new}"),
            },
        }
    }
}

/// How a place is used until the next barrier.
#[derive(Clone, Copy, Debug)]
enum Usage {
    Accumulated(Operator),
    Locked,
    Of(usize),
}

struct Program(Vec<Vec<Step>>);

impl Program {
    fn random(random: &mut SplitMix64) -> Program {
        let ranks = 2 + random.below(2);
        let mut program = Program(vec![Vec::new(); ranks]);
        for phase in 0..1 + random.below(2) {
            if phase > 0 {
                program.0.iter_mut().for_each(|steps| steps.push(Step::Barrier));
            }
            program.add_phase(random);
        }
        program
    }

    fn add_phase(&mut self, random: &mut SplitMix64) {
        let ranks = self.0.len();
        let is_fenced = random.below(4) == 0;
        let usage: Vec<[Usage; PLACES]> = (0..ranks)
            .map(|_| {
                [(); PLACES].map(|()| match random.below(5) {
                    0 if !is_fenced => Usage::Locked,
                    1 => Usage::Of(random.below(ranks)),
                    _ => Usage::Accumulated(random_of(&Operator::COMMUTING, random)),
                })
            })
            .collect();
        for rank in 0..ranks {
            let steps = &mut self.0[rank];
            if is_fenced {
                steps.push(Step::Fence { is_last: false });
                steps.extend(operations(rank, random.below(ranks), &usage, true, random));
                steps.push(Step::Fence { is_last: true });
                continue;
            }
            for _ in 0..1 + random.below(if ranks == 2 { 2 } else { 1 }) {
                let targets = if random.below(2) == 0 { 1 } else { ranks };
                let t = random.below(targets);
                epoch(rank, t, &usage, steps, random);
            }
        }
        let of_one = usage.iter().enumerate().find_map(|(t, places)| {
            places.iter().enumerate().find_map(|(p, usage)| match *usage {
                Usage::Of(rank) if !is_fenced => Some((t, p, rank)),
                _ => None,
            })
        });
        if let Some((t, p, rank)) = of_one {
            let to = (rank + 1) % ranks;
            self.0[rank].push(Step::Send(to));
            let handed = &mut self.0[to];
            handed.push(Step::Receive(rank));
            if t == to && random.below(2) == 0 {
                handed.push(Step::Read { p });
            } else {
                let what = if random.below(2) == 0 { What::Get } else { What::Put(value(random)) };
                handed.push(Step::Lock { t, is_exclusive: false });
                handed.push(Step::Operation { t, p, what });
                handed.push(Step::Unlock(t));
            }
        }
    }

    fn scripts(&self) -> Vec<String> {
        let text =
            |steps: &Vec<Step>| steps.iter().map(|step| step.text()).collect::<Vec<_>>().join(" ");
        self.0.iter().map(text).collect()
    }
}

fn value(random: &mut SplitMix64) -> i32 {
    1 + random.below(7) as i32
}

fn random_of<T: Copy>(all: &[T], random: &mut SplitMix64) -> T {
    all[random.below(all.len())]
}

/// One or two operations at a target, as it is used.
fn operations(
    rank: usize,
    t: usize,
    usage: &[[Usage; PLACES]],
    is_shared: bool,
    random: &mut SplitMix64,
) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for _ in 0..1 + random.below(2) {
        let p = random.below(PLACES);
        let v = value(random);
        let is_used = steps
            .iter()
            .any(|step| matches!(step, Step::Operation { p: other, .. } if *other == p));
        let what = match usage[t][p] {
            Usage::Accumulated(by) => match random.below(8) {
                0 => What::Accumulate(Operator::Replace, v),
                1 => What::Fetch(by, v),
                2 => What::Fetch(Operator::NoOp, v),
                3 => What::Swap { old: value(random), new: v },
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
        steps.push(Step::Operation { t, p, what });
    }
    steps
}

/// What a rank does at a target, with a lock or without.
fn epoch(
    rank: usize,
    t: usize,
    usage: &[[Usage; PLACES]],
    steps: &mut Vec<Step>,
    random: &mut SplitMix64,
) {
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
            steps.extend(operations(rank, t, usage, true, random));
            steps.push(Step::Flush(t));
            steps.extend(operations(rank, t, usage, true, random));
            steps.push(Step::UnlockAll);
        }
        other => {
            let is_exclusive =
                other == 2 || usage[t].iter().any(|usage| matches!(usage, Usage::Locked));
            steps.push(Step::Lock { t, is_exclusive });
            steps.extend(operations(rank, t, usage, !is_exclusive, random));
            steps.push(Step::Unlock(t));
        }
    }
}

/// The machine. A rank that has a step in several parts is at one of them.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Machine {
    at: Vec<(usize, usize)>,
    memory: Vec<[i32; PLACES]>,
    got: Vec<Vec<i32>>,
    /// For each rank: the steps of operations that are not complete, and where what they read goes.
    pending: Vec<Vec<(usize, usize)>>,
    /// By target: the ranks that share it, or the one that has it alone.
    holders: Vec<Vec<usize>>,
    is_exclusive: Vec<bool>,
    sent: Vec<Vec<usize>>,
    /// The number of meetings that a rank has entered.
    met: Vec<usize>,
}

impl Machine {
    fn new(ranks: usize) -> Machine {
        let memory = |rank: usize| std::array::from_fn(|p| (2 + rank + p) as i32);
        Machine {
            at: vec![(0, 0); ranks],
            memory: (0..ranks).map(memory).collect(),
            got: vec![Vec::new(); ranks],
            pending: vec![Vec::new(); ranks],
            holders: vec![Vec::new(); ranks],
            is_exclusive: vec![false; ranks],
            sent: vec![vec![0; ranks]; ranks],
            met: vec![0; ranks],
        }
    }

    /// Carries out what a rank has started at a target.
    fn complete(&mut self, steps: &[Step], rank: usize, target: usize) {
        for (step, result) in std::mem::take(&mut self.pending[rank]) {
            let Step::Operation { t, p, what } = steps[step] else { unreachable!() };
            if t != target {
                self.pending[rank].push((step, result));
                continue;
            }
            let place = &mut self.memory[t][p];
            let old = *place;
            *place = match what {
                What::Put(v) => v,
                What::Get => old,
                What::Accumulate(by, v) | What::Fetch(by, v) => by.apply(old, v),
                What::Swap { old: compared, new } => {
                    if old == compared {
                        new
                    } else {
                        old
                    }
                }
            };
            if !matches!(what, What::Put(_) | What::Accumulate(..)) {
                self.got[rank][result] = old;
            }
        }
    }

    fn take_lock(&mut self, rank: usize, t: usize, is_exclusive: bool) -> bool {
        let is_free = self.holders[t].is_empty() || (!is_exclusive && !self.is_exclusive[t]);
        if is_free {
            self.holders[t].push(rank);
            self.holders[t].sort_unstable();
            self.is_exclusive[t] = is_exclusive;
        }
        is_free
    }

    fn unlock(&mut self, steps: &[Step], rank: usize, t: usize) {
        self.complete(steps, rank, t);
        self.holders[t].retain(|&other| other != rank);
        self.is_exclusive[t] = false;
    }

    /// Lets a rank do a part of its next step, if it can. Returns whether the step is over.
    fn part(&mut self, steps: &[Step], rank: usize) -> Option<bool> {
        let ranks = self.at.len();
        let (step, part) = self.at[rank];
        let is_last = part + 1 == ranks;
        match steps[step] {
            Step::Lock { t, is_exclusive } => {
                return self.take_lock(rank, t, is_exclusive).then_some(true);
            }
            Step::LockAll => return self.take_lock(rank, part, false).then_some(is_last),
            Step::Unlock(t) => self.unlock(steps, rank, t),
            Step::UnlockAll => {
                self.unlock(steps, rank, part);
                return Some(is_last);
            }
            Step::Flush(t) => self.complete(steps, rank, t),
            Step::Fence { .. } if part < ranks => {
                self.complete(steps, rank, part);
                return Some(false);
            }
            Step::Fence { .. } if part == ranks => {
                self.met[rank] += 1;
                return Some(false);
            }
            Step::Barrier if part == 0 => {
                self.met[rank] += 1;
                return Some(false);
            }
            Step::Fence { .. } | Step::Barrier => {
                return self.met.iter().all(|&met| met >= self.met[rank]).then_some(true);
            }
            Step::Send(to) => self.sent[rank][to] += 1,
            Step::Receive(from) => {
                self.sent[from][rank] = self.sent[from][rank].checked_sub(1)?;
            }
            Step::Write { p, v } => self.memory[rank][p] = v,
            Step::Read { p } => {
                let value = self.memory[rank][p];
                self.got[rank].push(value);
            }
            Step::Operation { what, .. } => {
                self.pending[rank].push((step, self.got[rank].len()));
                if !matches!(what, What::Put(_) | What::Accumulate(..)) {
                    self.got[rank].push(0);
                }
            }
        }
        Some(true)
    }

    /// The final output of `outcomes.c`.
    fn outcome(&self) -> String {
        let of_rank = |rank: usize| {
            let all = self.got[rank].iter().chain(&self.memory[rank]);
            all.map(|value| format!("{value} ")).collect::<String>() + "/ "
        };
        (0..self.at.len()).map(of_rank).collect()
    }
}

/// All outcomes of the machine.
fn expected(program: &Program) -> BTreeSet<String> {
    let mut outcomes = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut open = vec![Machine::new(program.0.len())];
    while let Some(state) = open.pop() {
        let is_over = (0..program.0.len()).all(|rank| state.at[rank].0 == program.0[rank].len());
        if is_over {
            outcomes.insert(state.outcome());
        }
        for (rank, steps) in program.0.iter().enumerate() {
            if state.at[rank].0 == steps.len() {
                continue;
            }
            let mut next = state.clone();
            let Some(is_over) = next.part(steps, rank) else { continue };
            let (step, part) = next.at[rank];
            next.at[rank] = if is_over { (step + 1, 0) } else { (step, part + 1) };
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    outcomes
}

/// All outcomes that are found.
fn found(program: &Path, scripts: &[String], semantics: Semantics) -> BTreeSet<String> {
    let launch = Launch {
        program: program.to_owned(),
        arguments: scripts.iter().map(Into::into).collect(),
        size: scripts.len() as u32,
        semantics,
        step_timeout: Duration::from_secs(10),
        tick: TICK,
        files: Files::Own,
        base: Default::default(),
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
        std::env::var("MAZURKA_PROGRAMS").map_or(60, |count| count.parse().expect("a number"));
    let mut random = SplitMix64::new(27);
    let folder = super::folder("mpi-outcomes");
    let made = super::compile("outcomes", &folder);
    let mut several = 0;
    for number in 0..count {
        let program = Program::random(&mut random);
        let expected = expected(&program);
        if expected.len() > MOST {
            continue;
        }
        several += usize::from(expected.len() > 1);
        let variants =
            [(Buffering::Infinite, Leaving::Early), (Buffering::Zero, Leaving::Synchronizing)];
        let (buffering, leaving) = variants[number % 2];
        let semantics = Semantics { buffering, leaving, ..Semantics::default() };
        let scripts = program.scripts();
        assert_eq!(found(Path::new(&made), &scripts, semantics), expected, "{number}: {scripts:?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(several > count / 3, "{several} of {count} have several outcomes");
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
