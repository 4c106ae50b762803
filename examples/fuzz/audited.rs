//! Certificates of random programs, audited.

use std::collections::BTreeMap;

use mazurka::audit::{Certificate, Claim, Items, audit, refusal};
use mazurka::explore::{
    Budget, Collected, End, EveryState, FinitePrefix, NoObserver, Outcome, Reached, Udpor,
    ViolationKind, explore, listed_prefix,
};
use mazurka::lang::Program;
use mazurka::model::Schedule;

/// Why an audit may refuse what a search has found: the program has no certificate, which only the
/// audit notices.
const WITHOUT: [&str; 4] =
    ["an object is misused", "the bound on polls", "polls for ever", "is not supported"];

/// Has what searches find in the program audited: its classes, its states, and the events of its
/// prefix. Returns the number of certificates.
///
/// # Errors
/// If one is refused.
pub fn judge(program: &Program) -> Result<usize, String> {
    let mut certified = 0;
    for items in [Items::Classes, Items::States, Items::Events] {
        let Some((claim, list)) = list(program, items) else { continue };
        let certificate = Certificate { program: String::new(), items, claim, list };
        match audit(program, false, &certificate) {
            Ok(()) => certified += 1,
            Err(why) => {
                let why = why.to_string();
                if !WITHOUT.iter().any(|known| why.contains(known)) {
                    return Err(format!(
                        "its certificate of {} is refused: {why}",
                        items.several()
                    ));
                }
            }
        }
    }
    Ok(certified)
}

/// What a certificate says and lists, if there is one.
fn list(program: &Program, items: Items) -> Option<(Claim, Vec<Schedule>)> {
    if refusal(program, items).is_some() {
        return None;
    }
    let (mut nobody, budget) = (NoObserver, Budget { all: true, ..Budget::default() });
    let is_whole = |outcome: &Outcome| outcome.is_complete() && outcome.stats.given_up == 0;
    let list: BTreeMap<Schedule, End> = match items {
        Items::Classes => {
            let mut collected = Collected::new(&mut nobody);
            let outcome = explore(program, Udpor::default(), budget, &mut collected);
            let found = is_whole(&outcome).then(|| collected.classes(program).ok()).flatten();
            found.filter(|(_, may_wait)| !may_wait).map(|(classes, _)| classes)?
        }
        Items::States => {
            let mut reached = Reached::new(program, &mut nobody);
            let outcome = explore(program, EveryState::default(), budget, &mut reached);
            is_whole(&outcome).then(|| reached.states(&outcome).ok()).flatten()?
        }
        Items::Events => {
            let outcome = explore(program, FinitePrefix::default(), budget.clone(), &mut nobody);
            let is_of = |kind| outcome.violations.iter().any(|one| one.kind == kind);
            if !is_whole(&outcome) || is_of(ViolationKind::Livelock) {
                return None;
            }
            let list = listed_prefix(program, budget).ok()?;
            let deadlocked = u64::from(is_of(ViolationKind::Deadlock));
            let violating = u64::from(!outcome.violations.is_empty());
            return Some((Claim { count: list.len() as u64, deadlocked, violating }, list));
        }
    };
    let mut claim = Claim::default();
    list.values().for_each(|end| claim.add(end.is_deadlocked, end.is_violating));
    Some((claim, list.into_keys().collect()))
}
