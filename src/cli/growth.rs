//! About how many states does a program have? An estimate from the same program with a smaller
//! constant.
//!
//! ```text
//! states(N) ≈ states(M) * (states(M) / states(M - 1))^(N - M)       M < N
//! ```
//!
//! M is the largest value for which there is time. So the number of states is taken to go on
//! growing by the factor by which it has grown last. This must be about the factor by which it had
//! grown before, as far as that is known; for N - M > 1 it has to be known. Of several constants,
//! that is taken by which the rest grows least.
//!
//! **Why not from the search itself.** Most of what a search through states knows says nothing
//! about what is left: it has no tree whose branches are alike, because almost all states can be
//! reached through the first branch. Tried were the growth of the levels that a depth-first search
//! has left, the share of new states among the successors, and how many states of random walks are
//! known. None was within a factor of two on half of the programs after a tenth of the search
//! (`docs/src/performance.md`, "Estimates").

use std::time::{Duration, Instant};

use super::progress::{self, InAll};
use crate::explore::{Budget, Explorer, Guarantee, NoObserver, Setting, explore};
use crate::lang::Program;
use crate::model::Value;
use crate::report::StatesInAll;
use crate::study::Case;

/// The most values of a constant that are tried.
const VALUES: i64 = 6;
/// The most steps from the largest value for which the states were counted.
const MOST_STEPS: u32 = 4;
/// Factors of growth are about the same if their ratio is less than this: for one or two steps, and
/// for more.
const STEADY: [f64; 2] = [2.5, 1.25];

/// About how much there is to explore for a search of this program by this explorer, found within
/// this time. `None` if that is not known.
pub(super) fn in_all(
    case: &Case,
    program: &Program,
    setting: Setting,
    (budget, time): (&Budget, Duration),
) -> Option<InAll> {
    let profile = setting.profile();
    match profile.guarantee {
        _ if profile.chooses || profile.guarantee >= Guarantee::EveryClass => {
            progress::classes(program, budget, time)
        }
        Guarantee::EveryEnd => {
            // An estimate that is there soon, or else a later one.
            let within = |time| states_in_all(case, program, setting, (budget, time));
            within(time / 5).or_else(|| within(time)).map(InAll::States)
        }
        _ => None,
    }
}

/// Estimates the number of states that a search of this program stores, within this time. `None` if
/// the program has no constants that say it, or if the time is too short.
pub(super) fn states_in_all(
    case: &Case,
    program: &Program,
    setting: Setting,
    (budget, time): (&Budget, Duration),
) -> Option<StatesInAll> {
    let start = Instant::now();
    let integers = program.constants().filter_map(|(name, value)| match value {
        &Value::Int(value) if value >= 2 => Some((name.to_owned(), value)),
        _ => None,
    });
    let integers: Vec<(String, i64)> = integers.collect();
    let mut found = Vec::new();
    for (at, (constant, value)) in integers.iter().enumerate() {
        let share = time.saturating_sub(start.elapsed()) / (integers.len() - at) as u32;
        let end = Instant::now() + share;
        let mut counts = Vec::new();
        for smaller in (value - VALUES).max(1)..*value {
            let timeout = Some(end.saturating_duration_since(Instant::now()));
            let budget = Budget { all: true, timeout, max_traces: None, ..budget.clone() };
            match counted(case, (constant, smaller), setting, budget) {
                Some(states) => counts.push(states),
                None if Instant::now() < end => counts.clear(),
                None => break,
            }
            if let Some(number) = extrapolated(&counts, (value - smaller) as u32) {
                let growth = number / states_of(&counts);
                found.retain(|(_, one): &(f64, StatesInAll)| one.constant != *constant);
                let from = [smaller - 1, smaller];
                let number = number.round() as u64;
                found.push((growth, StatesInAll { number, constant: constant.clone(), from }));
            }
        }
    }
    let least = found.into_iter().min_by(|(one, _), (other, _)| one.total_cmp(other));
    least.map(|(_, all)| all)
}

fn states_of(counts: &[u64]) -> f64 {
    counts.last().map_or(1.0, |&last| last as f64)
}

/// What comes this number of steps after the last one of these numbers, if that can be said.
fn extrapolated(counts: &[u64], steps: u32) -> Option<f64> {
    let growth = |back: usize| {
        let last = counts.len().checked_sub(back)?;
        let before = last.checked_sub(1)?;
        Some(counts[last] as f64 / counts[before] as f64)
    };
    let last = growth(1).filter(|&growth| growth >= 1.0)?;
    let most = if steps <= 2 { STEADY[0] } else { STEADY[1] };
    let is_steady = growth(2).map(|before| (1.0 / most..most).contains(&(last / before)));
    let is_known = steps <= MOST_STEPS && is_steady.unwrap_or(steps == 1);
    is_known.then(|| states_of(counts) * last.powi(steps as i32))
}

/// The number of states with another constant, if all of them are found.
fn counted(
    case: &Case,
    (constant, value): (&str, i64),
    setting: Setting,
    budget: Budget,
) -> Option<u64> {
    // Some constants cannot be smaller.
    let program = case.with(constant, value).compile().ok()?;
    if setting.refusal(&program, &budget).is_some() {
        return None;
    }
    let outcome = explore(&program, setting.without_jobs(), budget, &mut NoObserver);
    outcome.stats.states.filter(|&states| outcome.stopped_by.is_none() && states > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Independent processes with four local states each have 4^N states.
    const INDEPENDENT: &str = "const N = 5; const UNIT = 1;
        shared a: [int; N] = 0;
        process P[i in 0..N] { a[i] = UNIT; a[i] = UNIT + 1; a[i] = UNIT + 2; }";

    fn case(source: &str) -> Case {
        Case {
            name: "program.maz".into(),
            source: source.into(),
            defines: Vec::new(),
            by_statement: false,
            faults: Default::default(),
            allow_pending: false,
            daemons: Vec::new(),
            unfair: false,
            semantics: Default::default(),
        }
    }

    #[test]
    fn states_are_counted_with_smaller_constants() {
        let estimated = |source: &str, time| {
            let case = case(source);
            let program =
                case.compile().unwrap_or_else(|errors| panic!("{}", errors.render(false)));
            let setting = "stateful:without=symmetry".parse().expect("a setting");
            states_in_all(&case, &program, setting, (&Budget::default(), time))
        };
        let all = estimated(INDEPENDENT, Duration::from_secs(60)).expect("an estimate");
        assert_eq!((all.number, &*all.constant, all.from), (1024, "N", [3, 4]));
        assert_eq!(all.to_string(), "about 1,020 states (as with N=3 and N=4)");
        assert!(estimated(INDEPENDENT, Duration::ZERO).is_none());
        // One smaller value says nothing about growth.
        let alone = INDEPENDENT.replace("N = 5", "N = 2");
        assert!(estimated(&alone, Duration::from_secs(60)).is_none());
    }

    #[test]
    fn growth_goes_on() {
        let about =
            |counts: &[u64], steps| extrapolated(counts, steps).map(|all| all.round() as u64);
        assert_eq!(about(&[], 1), None);
        assert_eq!(about(&[7], 1), None);
        assert_eq!(about(&[10, 30], 1), Some(90));
        assert_eq!(about(&[10, 5], 1), None);
        // Further ahead only if it grows steadily.
        assert_eq!(about(&[10, 30], 2), None);
        assert_eq!(about(&[10, 30, 90], 2), Some(810));
        assert_eq!(about(&[10, 30, 150], 2), Some(3750));
        assert_eq!(about(&[10, 30, 150], 3), None);
        assert_eq!(about(&[10, 30, 900], 1), None);
        assert_eq!(about(&[10, 30, 90], 5), None);
        assert_eq!(about(&[4, 10, 30], 1), Some(90));
    }
}
