//! Many processes that wait alike, or take the same step: one is shown, and the others are named.

use std::ops::Range;

use crate::property::{Blocked, Step, list};

/// From this number on, processes that do the same are told together.
const MANY: usize = 8;

/// Who waits, each with those that wait alike and are not shown themselves.
pub(super) fn grouped(all: &[Blocked]) -> Vec<(&Blocked, Vec<&str>)> {
    let keys: Vec<Key<'_>> = all.iter().map(key).collect();
    let alike = |key: &Key<'_>| -> Vec<usize> {
        (0..all.len()).filter(|&other| keys[other] == *key).collect()
    };
    let shown = all.iter().zip(&keys).enumerate().filter_map(|(index, (blocked, key))| {
        let group = alike(key);
        match group.len() >= MANY {
            false => Some((blocked, Vec::new())),
            true if group[0] == index => {
                let others = group[1..].iter().map(|&other| all[other].process.as_str());
                Some((blocked, others.collect()))
            }
            true => None,
        }
    });
    shown.collect()
}

/// What is the same for processes that wait alike: the place, and the texts but for numbers.
type Key<'b> = (Option<&'b str>, Option<u32>, String, String, Option<String>);

fn key(blocked: &Blocked) -> Key<'_> {
    let Blocked { action, waits_for, file, line, .. } = blocked;
    let hope = blocked.hope().map(|hope| without_numbers(&hope));
    (file.as_deref(), *line, without_numbers(action), without_numbers(waits_for), hope)
}

/// Consecutive steps of one process, and those of other processes after them that are alike.
pub(super) struct Row {
    /// The steps that are shown.
    pub(super) shown: Range<usize>,
    /// The steps after them: as many times the same, each time by another process.
    pub(super) alike: Range<usize>,
}

/// The steps of an execution in rows. If at least [`MANY`] processes take the same steps, one after
/// the other, only those of the first are shown. So nothing is hidden but the numbers in these
/// steps.
pub(super) fn rows(steps: &[Step]) -> Vec<Row> {
    let turns: Vec<&[Step]> = steps.chunk_by(|one, other| one.process == other.process).collect();
    let mut rows = Vec::new();
    let (mut rest, mut start) = (&turns[..], 0);
    while let [first, others @ ..] = rest {
        let is_alike = |&(place, turn): &(usize, &&[Step])| {
            let is_other = |before: &&[Step]| before[0].process != turn[0].process;
            rest[..=place].iter().all(is_other)
                && first.len() == turn.len()
                && first.iter().zip(*turn).all(|(one, other)| are_alike(one, other))
        };
        let more = others.iter().enumerate().take_while(is_alike).count();
        let more = if more + 1 >= MANY { more } else { 0 };
        let (shown, end) = (start + first.len(), start + first.len() * (more + 1));
        rows.push(Row { shown: start..shown, alike: shown..end });
        (rest, start) = (&rest[more + 1..], end);
    }
    rows
}

/// Are the texts of two steps the same but for numbers?
fn are_alike(one: &Step, other: &Step) -> bool {
    let same = |a: &str, b: &str| without_numbers(a) == without_numbers(b);
    let place = |step: &Step| (step.file.clone(), step.line, step.column, step.ended);
    place(one) == place(other)
        && same(&one.action, &other.action)
        && match (&one.outcome, &other.outcome) {
            (Some(one), Some(other)) => same(one, other),
            (one, other) => one == other,
        }
}

/// The text with a sign in the place of each number.
fn without_numbers(text: &str) -> String {
    let mut parts = String::new();
    for c in text.chars() {
        match c.is_ascii_digit() {
            false => parts.push(c),
            true if parts.ends_with('#') => {}
            true => parts.push('#'),
        }
    }
    parts
}

/// Names in few words, where numbers follow one another: `rank 1 to rank 15 and rank 20`.
pub(super) fn named(names: &[&str]) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut rest = names;
    while let [first, ..] = rest {
        let row = rest.windows(2).take_while(|pair| follows(pair[0], pair[1])).count() + 1;
        match row {
            1 | 2 => words.extend(rest[..row].iter().map(|name| name.to_string())),
            _ => words.push(format!("{first} to {}", rest[row - 1])),
        }
        rest = &rest[row..];
    }
    list(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Do two names differ only in their last number, by one?
fn follows(one: &str, other: &str) -> bool {
    let split = |name: &str| {
        let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
        let start = name[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        let number: u64 = name[start..end].parse().ok()?;
        Some((name[..start].to_owned(), number, name[end..].to_owned()))
    };
    match (split(one), split(other)) {
        (Some((a, n, b)), Some((c, m, d))) => (a, b) == (c, d) && n.checked_add(1) == Some(m),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of these ranks, in a line.
    fn steps(all: &[(u32, u32)]) -> Vec<Step> {
        let step = |&(rank, line): &(u32, u32)| Step {
            process: format!("rank {rank}"),
            action: format!("call({rank})"),
            outcome: Some(format!("entered as {rank}")),
            file: None,
            line: Some(line),
            column: None,
            ended: None,
            fault: None,
            is_quiet: false,
        };
        all.iter().map(step).collect()
    }

    fn ranges(all: &[(u32, u32)]) -> Vec<(Range<usize>, Range<usize>)> {
        rows(&steps(all)).into_iter().map(|row| (row.shown, row.alike)).collect()
    }

    #[test]
    fn steps_that_many_processes_take_one_after_the_other_are_one_row() {
        let one_by_one = |from: usize, to: usize| (from..to).map(|at| (at..at + 1, at + 1..at + 1));
        let enter: Vec<(u32, u32)> = (0..8).map(|rank| (rank, 3)).collect();
        assert_eq!(ranges(&enter), [(0..1, 1..8)]);
        assert_eq!(ranges(&enter[1..]), one_by_one(0, 7).collect::<Vec<_>>(), "they are few");
        let leave: Vec<(u32, u32)> = (0..8).flat_map(|rank| [(rank, 3), (rank, 4)]).collect();
        assert_eq!(ranges(&leave), [(0..2, 2..16)]);
        // The line differs in the middle.
        let mixed = [&enter[..4], &[(9, 4)], &enter[4..]].concat();
        assert_eq!(ranges(&mixed), one_by_one(0, 9).collect::<Vec<_>>());
        // Two processes take turns: the order of their steps is not that of their names.
        let turns: Vec<(u32, u32)> = (0..16).map(|at| (at % 2, 3)).collect();
        assert_eq!(ranges(&turns), one_by_one(0, 16).collect::<Vec<_>>());
    }

    #[test]
    fn rows_of_names_are_told_by_their_ends() {
        let names = ["rank 9", "rank 10", "rank 11", "rank 14", "P[0]", "P[1]", "Q"];
        assert_eq!(named(&names), "rank 9 to rank 11, rank 14, P[0], P[1] and Q");
        assert_eq!(named(&["rank 3"]), "rank 3");
        assert!(!follows("rank 1", "node 2") && !follows("P[1]", "P[1]") && !follows("a", "b"));
        assert_eq!(without_numbers("at w[10] of 3"), "at w[#] of #");
    }
}
