//! One random program, judged by `fair` and by the definition.

use mazurka::explore::{Budget, Fair, NoObserver, Violation, ViolationKind, explore};
use mazurka::lang::{Program, compile};

use super::oracle::Oracle;
use super::programs::Random;

/// More states have too many subsets.
const MOST: usize = 14;

/// How often something was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Demands that are violated, and those of them by an execution that ends.
    pub violated: usize,
    pub ending: usize,
    pub fulfilled: usize,
    /// Counterexamples for which all shorter ones were tried.
    pub shortest: usize,
}

fn compiled(random: &Random) -> Program {
    let mut program = compile("random.maz", &random.text, &[])
        .unwrap_or_else(|errors| panic!("{}\n{}", errors.render(false), random.text));
    if random.is_unfair {
        program.make_unfair();
    }
    program
}

fn everything() -> Budget {
    Budget { all: true, ..Budget::default() }
}

fn of_demands(violations: &[Violation]) -> impl Iterator<Item = &Violation> {
    violations.iter().filter(|violation| violation.kind == ViolationKind::Liveness)
}

/// Compares the verdicts and counterexamples of `fair` with all fair sets of states; `None` if there
/// are too many states.
///
/// # Errors
/// What is wrong.
pub fn judge(random: &Random) -> Result<Option<Compared>, String> {
    let program = compiled(random);
    let Some(mut oracle) = Oracle::new(&program, random, MOST) else { return Ok(None) };
    let mut compared = Compared::default();
    let fair_sets = oracle.fair_sets();
    let outcome = explore(&program, Fair, everything(), &mut NoObserver);
    if !outcome.is_complete() {
        return Err(format!("stopped by {:?}", outcome.stopped_by));
    }
    // Carriers have names after the steps that start them.
    let states = oracle.steps.len() as u64;
    if !random.text.contains("mailbox") && outcome.stats.states != Some(states) {
        return Err(format!("{:?} states instead of {states}", outcome.stats.states));
    }
    let found: Vec<_> = of_demands(&outcome.violations).collect();
    for (number, wanted) in random.wanted.iter().enumerate() {
        let violation = found.iter().find(|one| one.demand == Some(number as u32));
        let is_violated = oracle.is_violated(wanted, &fair_sets);
        let Some(violation) = violation else {
            if is_violated {
                return Err(format!("demand {number} is violated, and `fair` finds nothing"));
            }
            compared.fulfilled += 1;
            continue;
        };
        let schedule = &violation.schedule;
        if !is_violated {
            return Err(format!("demand {number} is fulfilled, and `fair` finds {schedule}"));
        }
        compared.violated += 1;
        compared.ending += usize::from(schedule.loop_from() == Some(schedule.len()));
        let of_demand = |why: String| format!("demand {number}, {schedule}: {why}");
        oracle.judge(schedule, wanted).map_err(of_demand)?;
        if schedule.len() <= 7 {
            compared.shortest += 1;
            let shorter = oracle.shortest(wanted, schedule.len().saturating_sub(1));
            if let Some(shorter) = shorter.filter(|_| !schedule.is_empty()) {
                return Err(of_demand(format!("{shorter} steps suffice")));
            }
        }
    }
    Ok(Some(compared))
}
