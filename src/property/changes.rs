//! What a step changed: the variables of the process that moved, and the object that it acted on.

use serde::Serialize;

use super::Replay;
use super::objects::{Named, words};
use crate::model::{Op, ProcessId, System};

/// Something that a step changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// A variable, or an object with its kind.
    pub(crate) what: String,
    /// Before; `None` if it did not exist.
    pub(crate) before: Option<String>,
    /// After; `None` if it no longer exists.
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

/// What differs between two views of one thing, in the order of the later one.
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
