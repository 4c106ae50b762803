//! What a step changed: variables of its process, and the object that it acted on.

#[cfg(feature = "json")]
use serde::Serialize;

use super::Replay;
use super::objects::{Named, words};
use crate::model::{Op, ProcessId, System};

/// Something that a step changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Change {
    /// The name of the variable, or kind and name of the object.
    pub(crate) what: String,
    /// Its value before the step; `None` if it did not exist.
    pub(crate) before: Option<String>,
    /// Its value after the step; `None` if it no longer exists.
    pub(crate) after: Option<String>,
}

impl<S: System> Replay<'_, S> {
    /// The variables of `process` and the objects that `op` may change.
    pub(super) fn view(&self, process: ProcessId, op: &Op) -> Vec<Named> {
        let mut view = match self.state.is_carrier(process) {
            true => Vec::new(),
            false => self.variables(process),
        };
        view.extend(words(op, |words| words.view(self, process)));
        view
    }
}

/// The differences between two [views](Replay::view), in the order of the later view.
pub(super) fn differences(before: Vec<Named>, after: Vec<Named>) -> Vec<Change> {
    let find = |view: &[Named], what: &str| {
        view.iter().find(|(name, _)| name == what).map(|(_, content)| content.clone())
    };
    let appeared = after.iter().map(|(what, content)| Change {
        what: what.clone(),
        before: find(&before, what),
        after: Some(content.clone()),
    });
    let vanished = before.iter().filter(|(what, _)| find(&after, what).is_none());
    let vanished = vanished.map(|(what, content)| Change {
        what: what.clone(),
        before: Some(content.clone()),
        after: None,
    });
    appeared.chain(vanished).filter(|change| change.before != change.after).collect()
}
