//! Proves that a configuration misses no extension: every possible action of the model has an
//! event.
//!
//! An extension is found when its last cause joins C, by the rules of its operation
//! ([`crate::unfolding`], `extensions`). If a rule forgets an extension, it is enabled nowhere, and
//! no other part of the search would notice. So the model is asked: each action that is possible
//! after C must have an event in en(C) or a barred event, or be left out by definition
//! ([`needed`]).
//!
//! This is a proof for C alone. Extensions in conflict with C are not checked here; they are
//! enabled after other configurations, if their causes are ever reached.

use crate::explore::ends::lost;
use crate::model::{Action, System};
use crate::trace::{LeftOut, needed};
use crate::unfolding::{Configuration, Unfolding};

/// Proves that every action that is possible after C has an enabled or barred event, or is left out
/// by definition.
///
/// # Panics
/// If an action has no such event, and must not be left out.
pub(crate) fn prove_extended<S: System>(
    unfolding: &mut Unfolding<'_, S>,
    c: &mut Configuration,
    left: LeftOut,
) {
    let mut possible = Vec::new();
    c.state().enabled(&unfolding.locals, &mut possible);
    possible.retain(|&action| !has_event(unfolding, c, action));
    if possible.is_empty() {
        return;
    }
    unfolding.looking_on(c, |locals, state| {
        let needed = needed(locals, state, left);
        if let Some(&action) = possible.iter().find(|&action| needed.contains(action)) {
            lost(locals, state, action);
        }
    });
}

fn has_event<S: System>(unfolding: &Unfolding<'_, S>, c: &Configuration, action: Action) -> bool {
    let mut enabled = c.enabled_of(action.process).iter();
    enabled.any(|&e| unfolding.action(e) == action)
        || unfolding.barred_after(c.events()).any(|e| unfolding.action(e) == action)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::compile;
    use crate::model::{ProcessId, StopSignal};

    const LEFT: LeftOut = LeftOut { spinning: true, max_height: None };

    /// An extension that was forgotten is an internal error, whatever else is enabled.
    #[test]
    #[should_panic(
        expected = "internal error: the search has nothing left to do after the schedule `0`, but `1`"
    )]
    fn a_forgotten_extension_is_noticed() {
        let text = "shared x: int = 0; process P { x = 1; x = 2; } process Q { x = 3; }";
        let program = compile("forgotten.maz", text, &[]).expect("a program");
        let (mut unfolding, mut c) =
            Unfolding::new(&program, u32::MAX, true, StopSignal::default());
        let first = c.enabled_of(ProcessId(0))[0];
        unfolding.push(&mut c, first);
        prove_extended(&mut unfolding, &mut c, LEFT);
        c.set_enabled(ProcessId(1), &[]);
        prove_extended(&mut unfolding, &mut c, LEFT);
    }
}
