//! What it means that a search found nothing, for the properties that it checked.

use crate::property::{Deadlocks, Failures, FinalStates, Livelocks, Properties};

/// What is certain after a complete search that has found nothing, and on what it rests. `demands`
/// are the executions that do what must happen in the end, in words, if anything must.
pub(super) fn verified(
    properties: &Properties,
    assumes: Option<&str>,
    demands: Option<&str>,
) -> String {
    let judges_failures = properties.contain::<Failures>();
    let judges_deadlocks = properties.contain::<Deadlocks>();
    let built_in = [
        ("deadlocks", judges_deadlocks),
        ("goes round loops for ever", !judges_deadlocks && properties.contain::<Livelocks>()),
        ("fails an assertion", judges_failures || properties.contain::<FinalStates>()),
        ("runs into an error", judges_failures),
    ];
    let mut parts: Vec<_> =
        built_in.into_iter().filter(|part| part.1).map(|(part, _)| part.to_owned()).collect();
    parts.extend(properties.own().map(|property| format!("violates `{property:?}`")));
    let Some(last) = parts.pop() else { return "Nothing was judged.".into() };
    let either = if parts.is_empty() { last } else { format!("{} or {last}", parts.join(", ")) };
    let under = assumes.map_or(String::new(), |assumed| format!(" under {assumed}"));
    let demands =
        demands.map_or(String::new(), |which| format!(", and {which} does what is demanded"));
    format!("Verified{under}: no execution {either}{demands}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::{CrowdedBarriers, Objection, Position, Property};

    #[derive(Debug)]
    struct Own;

    impl Property for Own {
        fn objection(&self, _: Position<'_>) -> Option<Objection> {
            None
        }
    }

    #[test]
    fn what_was_not_judged_is_not_verified() {
        let all = Properties::default;
        for (properties, said) in [
            (all(), "deadlocks, fails an assertion or runs into an error."),
            (all().without::<Failures>(), "deadlocks or fails an assertion."),
            (
                all().with(Own),
                "deadlocks, fails an assertion, runs into an error or violates `Own`.",
            ),
        ] {
            assert_eq!(verified(&properties, None, None), format!("Verified: no execution {said}"));
        }
        let few = all().without::<Deadlocks>().without::<Failures>().without::<FinalStates>();
        assert_eq!(verified(&few, None, None), "Verified: no execution goes round loops for ever.");
        let none = few.without::<Livelocks>().without::<CrowdedBarriers>();
        assert_eq!(verified(&none, None, None), "Nothing was judged.");
    }
}
