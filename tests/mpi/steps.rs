//! Random programs with threads in two ranks: their outcomes are those of a machine that executes
//! one step after another, in all orders.
//!
//! A program is a script for each thread, which `steps.c` interprets: mutexes, atomic operations,
//! and messages to the other rank. What mutexes guard is no atomic variable, so nothing races.

use std::collections::BTreeSet;
use std::path::Path;

use mazurka::explore::{Budget, NoObserver, Violation, explore};
use mazurka::model::{Buffering, Leaving, Semantics};
use mazurka::mpi::{Launch, Ranks};
use mazurka::random::SplitMix64;
use mazurka::systems::history::History;

/// A program with more outcomes than this is left out: a search keeps no more than 100 violations.
const MOST: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Lock(usize),
    Unlock(usize),
    /// Changes what the mutex guards.
    Change(usize, i32),
    /// The same, if the mutex is free.
    Try(usize, i32),
    Add(usize),
    Read(usize),
    Write(usize, i32),
    Swap(usize, i32, i32),
    Send(i32),
    Receive,
}

impl Step {
    /// The step in the form that `steps.c` reads.
    fn text(self) -> String {
        match self {
            Step::Lock(m) => format!("L{m}"),
            Step::Unlock(m) => format!("U{m}"),
            Step::Change(m, v) => format!("X{m}{v}"),
            Step::Try(m, v) => format!("T{m}{v}"),
            Step::Add(a) => format!("A{a}"),
            Step::Read(a) => format!("R{a}"),
            Step::Write(a, v) => format!("W{a}{v}"),
            Step::Swap(a, old, new) => format!("C{a}{old}{new}"),
            Step::Send(v) => format!("!{v}"),
            Step::Receive => "?".into(),
        }
    }
}

/// By rank and thread.
type Program = Vec<Vec<Vec<Step>>>;

fn random_program(random: &mut SplitMix64) -> Program {
    let mut sent = [0; 2];
    let mut program: Program = (0..2)
        .map(|rank| {
            let threads = if rank == 0 { 2 + random.below(2) } else { 1 + random.below(2) };
            (0..threads).map(|_| random_script(random, &mut sent[rank])).collect()
        })
        .collect();
    // As many receives as sends, or sometimes one less.
    for rank in 0..2 {
        let wanted: usize =
            sent[1 - rank] - usize::from(random.below(4) == 0 && sent[1 - rank] > 0);
        for _ in 0..wanted {
            let thread = random.below(program[rank].len());
            let steps = &mut program[rank][thread];
            let at = random.below(steps.len() + 1);
            steps.insert(at, Step::Receive);
        }
    }
    program
}

fn random_script(random: &mut SplitMix64, sent: &mut usize) -> Vec<Step> {
    let mut steps = Vec::new();
    for _ in 0..1 + random.below(2) {
        let (at, v) = (random.below(2), 1 + random.below(2) as i32);
        match random.below(8) {
            0 | 1 => steps.extend([Step::Lock(at), Step::Change(at, v), Step::Unlock(at)]),
            2 => {
                let other = 1 - at;
                let inner = [Step::Lock(other), Step::Change(other, v), Step::Unlock(other)];
                steps.push(Step::Lock(at));
                steps.extend(inner);
                steps.push(Step::Unlock(at));
            }
            3 => steps.push(Step::Try(at, v)),
            4 => steps.push(Step::Add(at)),
            5 => steps.extend([Step::Write(at, v)]),
            6 => {
                steps.push(if random.below(2) == 0 { Step::Read(at) } else { Step::Swap(at, 0, v) })
            }
            _ if *sent < 2 => {
                *sent += 1;
                steps.push(Step::Send(v));
            }
            _ => steps.push(Step::Read(at)),
        }
    }
    steps
}

/// A state of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Rank {
    /// Of each thread: its next step, what it has seen, and, in the middle of a step, the number of
    /// the receive that it has posted.
    threads: Vec<(usize, Vec<i32>, Option<usize>)>,
    held: [bool; 2],
    values: [i32; 2],
    guarded: [i32; 2],
    posted: usize,
    /// The messages that were sent to it.
    messages: Vec<i32>,
}

impl Rank {
    fn text(&self) -> String {
        let seen = |(_, seen, _): &(usize, Vec<i32>, Option<usize>)| {
            seen.iter().map(|value| format!("{value} ")).collect::<String>() + "/ "
        };
        let [a, b] = self.values;
        let [c, d] = self.guarded;
        self.threads.iter().map(seen).collect::<String>() + &format!("{a} {b} {c} {d}")
    }
}

/// The states after the next step of a thread; none if it cannot move.
fn after(state: &[Rank], rank: usize, thread: usize, step: Step) -> Option<Vec<Rank>> {
    let mut next = state.to_vec();
    let own = &mut next[rank];
    let mut seen = None;
    match step {
        Step::Lock(m) if own.held[m] => return None,
        Step::Lock(m) => own.held[m] = true,
        Step::Unlock(m) => own.held[m] = false,
        Step::Change(m, v) => own.guarded[m] = 2 * own.guarded[m] + v,
        Step::Try(m, v) if own.threads[thread].2.is_some() => {
            own.guarded[m] = 2 * own.guarded[m] + v;
            own.held[m] = false;
            own.threads[thread].2 = None;
        }
        Step::Try(m, _) if own.held[m] => seen = Some(1),
        Step::Try(m, _) => {
            own.held[m] = true;
            own.threads[thread].1.push(0);
            own.threads[thread].2 = Some(0);
            return Some(next);
        }
        Step::Add(a) => {
            seen = Some(own.values[a]);
            own.values[a] += 1;
        }
        Step::Read(a) => seen = Some(own.values[a]),
        Step::Write(a, v) => own.values[a] = v,
        Step::Swap(a, old, new) => {
            seen = Some(i32::from(own.values[a] == old));
            if own.values[a] == old {
                own.values[a] = new;
            }
        }
        Step::Send(v) => next[1 - rank].messages.push(v),
        Step::Receive => match own.threads[thread].2 {
            None => {
                own.threads[thread].2 = Some(own.posted);
                own.posted += 1;
                return Some(next);
            }
            Some(number) => {
                seen = Some(*own.messages.get(number)?);
                own.threads[thread].2 = None;
            }
        },
    }
    let own = &mut next[rank].threads[thread];
    own.0 += 1;
    own.1.extend(seen);
    Some(next)
}

/// All outcomes; `None` if there are too many states.
fn expected(program: &Program) -> Option<BTreeSet<String>> {
    let start = program.iter().map(|threads| Rank {
        threads: vec![(0, Vec::new(), None); threads.len()],
        held: [false; 2],
        values: [0; 2],
        guarded: [0; 2],
        posted: 0,
        messages: Vec::new(),
    });
    let start: Vec<Rank> = start.collect();
    let (mut known, mut open) = (BTreeSet::from([start.clone()]), vec![start]);
    let mut outcomes = BTreeSet::new();
    while let Some(state) = open.pop() {
        let (mut can_move, mut is_over) = (false, true);
        for (rank, threads) in program.iter().enumerate() {
            for (thread, steps) in threads.iter().enumerate() {
                let Some(&step) = steps.get(state[rank].threads[thread].0) else { continue };
                is_over = false;
                if let Some(next) = after(&state, rank, thread, step) {
                    can_move = true;
                    if known.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
        }
        if is_over {
            outcomes.insert(format!("{} | {}", state[0].text(), state[1].text()));
        } else if !can_move {
            outcomes.insert("deadlock".into());
        }
        if known.len() > 40_000 {
            return None;
        }
    }
    Some(outcomes)
}

fn found(program: &Path, scripts: Vec<String>, explorer: &str) -> BTreeSet<String> {
    let launch = Launch {
        arguments: scripts.iter().map(Into::into).collect(),
        semantics: Semantics {
            buffering: Buffering::Infinite,
            leaving: Leaving::Early,
            ..Semantics::default()
        },
        ..Launch::new(program, 2)
    };
    let budget = Budget { all: true, ..Budget::default() };
    let system = History::new(Ranks::new(launch).unwrap());
    let setting: mazurka::explore::Setting = explorer.parse().unwrap();
    let outcome = explore(&system, setting, budget, &mut NoObserver);
    assert!(outcome.is_complete(), "{scripts:?}: {outcome:?}");
    let message = |violation: &Violation| match &violation.failure {
        None => "deadlock".to_owned(),
        Some(failure) => match failure.message.strip_prefix("assertion: ") {
            Some(outcome) => outcome.to_owned(),
            None if failure.message.starts_with("deadlock: ") => "deadlock".to_owned(),
            None => failure.message.clone(),
        },
    };
    outcome.violations.iter().map(message).collect()
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn threads_have_the_outcomes_of_a_simple_machine() {
    let count =
        std::env::var("MAZURKA_PROGRAMS").map_or(40, |count| count.parse().expect("a number"));
    let mut random = SplitMix64::new(34);
    let folder = super::folder("mpi-steps");
    let made = super::compile("steps", &folder);
    let (mut several, mut deadlocks) = (0, 0);
    for number in 0..count {
        let program = random_program(&mut random);
        let Some(expected) = expected(&program) else { continue };
        if expected.len() > MOST {
            continue;
        }
        several += usize::from(expected.len() > 1);
        deadlocks += usize::from(expected.contains("deadlock"));
        let text = |steps: &Vec<Step>| steps.iter().map(|step| step.text()).collect::<Vec<_>>();
        let scripts = program.iter().map(|threads| {
            threads.iter().map(|steps| text(steps).join(" ")).collect::<Vec<_>>().join(",")
        });
        let scripts: Vec<String> = scripts.collect();
        let explorer = if number % 4 == 0 { "optimal" } else { super::UDPOR };
        let found = found(Path::new(&made), scripts.clone(), explorer);
        assert_eq!(found, expected, "{number}: {scripts:?} by {explorer}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(several > count / 3, "{several} of {count} have several outcomes");
    assert!(deadlocks > 2, "{deadlocks} of {count} have deadlocks");
}
