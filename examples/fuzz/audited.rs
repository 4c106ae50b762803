//! Certificates of random programs, audited.

use std::collections::BTreeMap;

use mazurka::audit::{Certificate, Claim, Items, audit, refusal};
use mazurka::explore::{
    Budget, Collected, End, EveryState, NoObserver, Outcome, Reached, Udpor, explore,
};
use mazurka::lang::Program;
use mazurka::model::Schedule;

/// Why an audit may refuse what a search has found: the program has no certificate, which only the
/// audit notices.
const WITHOUT: [&str; 4] =
    ["an object is misused", "the bound on polls", "polls for ever", "is not supported"];

/// Has what searches find in the program audited: its classes, and its states. Returns the number of
/// certificates.
///
/// # Errors
/// If one is refused.
pub fn judge(program: &Program) -> Result<usize, String> {
    let mut certified = 0;
    for items in [Items::Classes, Items::States] {
        let Some(list) = list(program, items) else { continue };
        let mut claim = Claim::default();
        list.values().for_each(|end| claim.add(end.is_deadlocked, end.is_violating));
        let list = list.into_keys().collect();
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

/// What a certificate lists, if there is one.
fn list(program: &Program, items: Items) -> Option<BTreeMap<Schedule, End>> {
    if refusal(program, items).is_some() {
        return None;
    }
    let (mut nobody, budget) = (NoObserver, Budget { all: true, ..Budget::default() });
    let is_whole = |outcome: &Outcome| outcome.is_complete() && outcome.stats.given_up == 0;
    match items {
        Items::Classes => {
            let mut collected = Collected::new(&mut nobody);
            let outcome = explore(program, Udpor::default(), budget, &mut collected);
            let found = is_whole(&outcome).then(|| collected.classes(program).ok()).flatten();
            found.filter(|(_, may_wait)| !may_wait).map(|(classes, _)| classes)
        }
        Items::States => {
            let mut reached = Reached::new(program, &mut nobody);
            let outcome = explore(program, EveryState::default(), budget, &mut reached);
            is_whole(&outcome).then(|| reached.states(&outcome).ok()).flatten()
        }
    }
}
