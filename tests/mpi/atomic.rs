//! Files in atomic mode: the outcomes of random programs are those of a machine that executes one
//! access after another.

use std::collections::BTreeSet;
use std::path::Path;

use mazurka::model::{Buffering, Leaving, Semantics};
use mazurka::random::SplitMix64;

use super::outcomes;

/// The numbers in a long access: it touches more than a few blocks.
const MANY: usize = 200;
/// The number of bytes of a number.
const WIDTH: usize = 4;
/// How many bytes two places are apart: in one block, and in blocks of their own.
const APART: [usize; 2] = [4, 68];

#[derive(Clone, Copy, Debug)]
enum Step {
    Write { place: usize, value: i32, count: usize },
    Read { place: usize, count: usize },
    ReadOn,
    Size,
}

impl Step {
    fn random(random: &mut SplitMix64) -> Step {
        let (place, value) = (random.below(3), 1 + random.below(4) as i32);
        match random.below(12) {
            0 => Step::Write { place, value, count: MANY },
            1 => Step::Read { place, count: MANY },
            2 => Step::ReadOn,
            3 => Step::Size,
            4..=7 => Step::Write { place, value, count: 1 },
            _ => Step::Read { place, count: 1 },
        }
    }

    fn script(self) -> String {
        match self {
            Step::Write { place, value, count: 1 } => format!("w{place}{value}"),
            Step::Write { place, value, .. } => format!("W{place}{value}"),
            Step::Read { place, count: 1 } => format!("r{place}"),
            Step::Read { place, .. } => format!("R{place}"),
            Step::ReadOn => "o".into(),
            Step::Size => "s".into(),
        }
    }
}

/// The file as numbers, where each rank is, what it has read, and its own pointer.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    file: Vec<i32>,
    next: Vec<usize>,
    got: Vec<Vec<i32>>,
    pointer: Vec<usize>,
}

impl Machine {
    fn read(&mut self, rank: usize, from: usize, count: usize) {
        let at = |i: usize| self.file.get(from + i).copied().unwrap_or(8);
        let sum = (0..count).map(at).sum();
        self.got[rank].push(sum);
    }

    fn carry_out(&mut self, rank: usize, step: Step, apart: usize) {
        match step {
            Step::Write { place, value, count } => {
                let from = place * apart / WIDTH;
                let size = self.file.len().max(from + count);
                self.file.resize(size, 0);
                self.file[from..from + count].fill(value);
            }
            Step::Read { place, count } => self.read(rank, place * apart / WIDTH, count),
            Step::ReadOn => {
                self.read(rank, self.pointer[rank], 1);
                self.pointer[rank] += usize::from(self.pointer[rank] < self.file.len());
            }
            Step::Size => self.got[rank].push((self.file.len() * WIDTH) as i32),
        }
    }

    fn outcome(mut self) -> String {
        for rank in 0..self.got.len() {
            self.carry_out(rank, Step::Size, 0);
            self.read(rank, 0, MANY);
        }
        let of_rank = |got: &Vec<i32>| got.iter().map(|value| format!("{value} ")).collect();
        let all: Vec<String> = self.got.iter().map(of_rank).collect();
        all.iter().map(|rank| format!("{rank}/ ")).collect()
    }
}

fn expected(ranks: &[Vec<Step>], apart: usize) -> BTreeSet<String> {
    let none = vec![0; ranks.len()];
    let (next, pointer, got) = (none.clone(), none, vec![Vec::new(); ranks.len()]);
    let mut known = BTreeSet::from([Machine { next, pointer, got, ..Machine::default() }]);
    let mut open: Vec<Machine> = known.iter().cloned().collect();
    let mut outcomes = BTreeSet::new();
    while let Some(machine) = open.pop() {
        let mut is_over = true;
        for (rank, steps) in ranks.iter().enumerate() {
            let Some(&step) = steps.get(machine.next[rank]) else { continue };
            is_over = false;
            let mut after = machine.clone();
            after.carry_out(rank, step, apart);
            after.next[rank] += 1;
            if known.insert(after.clone()) {
                open.push(after);
            }
        }
        if is_over {
            outcomes.insert(machine.outcome());
        }
    }
    outcomes
}

fn found(program: &str, ranks: &[Vec<Step>], apart: usize) -> BTreeSet<String> {
    let script = |steps: &Vec<Step>| steps.iter().map(|step| step.script() + " ").collect();
    let scripts: Vec<String> =
        std::iter::once(apart.to_string()).chain(ranks.iter().map(script)).collect();
    let (buffering, leaving) = (Buffering::Infinite, Leaving::Synchronizing);
    let semantics = Semantics { buffering, leaving, ..Semantics::default() };
    outcomes::found(Path::new(program), &scripts, semantics)
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn accesses_in_atomic_mode_act_one_after_another() {
    let count: usize =
        std::env::var("MAZURKA_PROGRAMS").map_or(40, |count| count.parse().expect("a number"));
    let folder = super::folder("mpi-atomic");
    let program = super::compile("atomic", &folder);
    let mut random = SplitMix64::new(33);
    let mut several = 0;
    for number in 0..count {
        let sizes: &[usize] = if number % 4 == 3 { &[1, 1, 1] } else { &[2, 2] };
        let steps = |&most: &usize| (0..most).map(|_| Step::random(&mut random)).collect();
        let ranks: Vec<Vec<Step>> = sizes.iter().map(steps).collect();
        let apart = APART[number % APART.len()];
        let outcomes = expected(&ranks, apart);
        several += usize::from(outcomes.len() > 1);
        assert_eq!(found(&program, &ranks, apart), outcomes, "{number}: {ranks:?} {apart}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(several > count / 2, "{several} of {count} have several outcomes");
}
