//! Files that ranks use by MPI and without it: whenever a search is complete, each outcome of a
//! random program is the one of a machine with one file, which carries out one step after another in
//! an order that the program allows.

use mazurka::random::SplitMix64;

use crate::cli::{json, mazurka};

/// A part of a program: what one rank does, or all of them together, and how it is ordered before
/// the next part.
struct Part {
    steps: Vec<(usize, String)>,
    expected: Vec<(usize, i32)>,
}

/// A file that may be missing or empty.
#[derive(Clone, Copy)]
enum Content {
    Missing,
    Value(i32),
}

impl Content {
    fn read(self) -> i32 {
        match self {
            Content::Missing => 8,
            Content::Value(value) => value,
        }
    }
}

/// What one rank does next, or all together; a number in `0..10` says what.
fn part(kind: usize, rank: usize, ranks: usize, value: i32, file: &mut Content) -> Part {
    let alone = |step: String| vec![(rank, step)];
    let together = |step: &str| (0..ranks).map(|rank| (rank, step.to_owned())).collect();
    let (mut steps, mut expected) = (Vec::new(), Vec::new());
    match kind {
        0 | 1 => (steps, *file) = (alone(format!("w{value}")), Content::Value(value)),
        2 => (steps, *file) = (alone(format!("W{value}")), Content::Value(value)),
        3 => (steps, expected) = (alone("r".into()), vec![(rank, file.read())]),
        4 => (steps, expected) = (alone("R".into()), vec![(rank, file.read())]),
        5 if !matches!(file, Content::Missing) => {
            (steps, *file) = (alone("u".into()), Content::Missing);
        }
        6 if !matches!(file, Content::Missing) => {
            (steps, *file) = (alone("D".into()), Content::Missing);
        }
        7 => (steps, *file) = (together(&format!("C{rank}")), Content::Value(rank as i32)),
        8 => {
            steps = together("A");
            expected = (0..ranks).map(|rank| (rank, file.read())).collect();
        }
        _ => {}
    }
    Part { steps, expected }
}

/// The scripts of a program, and its outcome if all is ordered.
fn random_program(random: &mut SplitMix64) -> (Vec<String>, String) {
    let ranks = 2;
    let mut scripts = vec![String::new(); ranks];
    let mut got = vec![String::new(); ranks];
    let mut file = Content::Missing;
    for _ in 0..2 + random.below(4) {
        let (kind, rank) = (random.below(10), random.below(ranks));
        let value = 1 + random.below(5) as i32;
        let part = part(kind, rank, ranks, value, &mut file);
        part.steps.iter().for_each(|(rank, step)| scripts[*rank] += &format!("{step} "));
        part.expected.iter().for_each(|(rank, value)| got[*rank] += &format!("{value} "));
        match random.below(5) {
            0 => {}
            1 => {
                scripts[rank] += &format!("s{} ", 1 - rank);
                scripts[1 - rank] += &format!("g{rank} ");
            }
            _ => scripts.iter_mut().for_each(|script| *script += "b "),
        }
    }
    (scripts, got.iter().map(|values| format!("{values}/ ")).collect())
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn what_ranks_read_is_what_the_order_of_their_steps_says() {
    let count: usize =
        std::env::var("MAZURKA_PROGRAMS").map_or(60, |count| count.parse().expect("a number"));
    let folder = super::folder("mpi-passing");
    let program = super::compile("passing", &folder);
    let mut random = SplitMix64::new(36);
    let mut decided = 0;
    for number in 0..count {
        let (scripts, expected) = random_program(&mut random);
        let options =
            ["mpirun", "-n", "2", "--buffering", "infinite", "--collectives", "synchronizing"];
        let args = [&options[..], &["--format", "json", &program], &[&scripts[0], &scripts[1]]];
        let report = json(&mazurka(&args.concat()).current_dir(&folder).output().unwrap());
        let message = report["violations"][0]["message"].as_str().unwrap_or_default();
        if message.starts_with("global concurrency") || report["stopped_by"] == "unsupported" {
            continue;
        }
        assert_eq!(message, format!("assertion failed: {expected}"), "{number}: {scripts:?}");
        decided += 1;
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(decided > count / 3, "{decided} of {count} are decided");
}
