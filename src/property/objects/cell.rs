//! Shared cells: the values that are read and written.

use super::{Arrow, ArrowKind, Named, Past, Replay, Wait, Words};
use crate::model::{Access, Action, CellId, May, ProcessId, Response, System, Touch, ValueId};

/// An access to a cell.
pub(super) struct At(pub(super) CellId, pub(super) Access);

impl<S: System> Words<S> for At {
    fn name(&self) -> &'static str {
        match self.1 {
            Access::Read => "read",
            Access::Write(_) => "write",
            Access::CompareAndSwap { .. } => "cas",
            Access::FetchAdd(_) => "fetch_add",
            Access::Swap(_) => "swap",
            Access::Update(_) => "update",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, _: Action, response: Option<Response>) -> Option<String> {
        let name = at.locals.name_of(self.0);
        let now = at.state.content(self.0);
        let content = at.value(now);
        // Some contents have no words.
        let is = if content.is_empty() { name.clone() } else { format!("{name} = {content}") };
        Some(match (self.1, response) {
            (_, Some(Response::Overflow)) => {
                format!("leaves the 64-bit range; {name} stays {content}")
            }
            (Access::Read, _) => format!("reads {is}"),
            (Access::Write(_), _) => format!("writes {is}"),
            (Access::CompareAndSwap { .. }, Some(Response::Value(ValueId::FALSE))) => {
                format!("false: {name} is {content}")
            }
            (Access::CompareAndSwap { .. }, _) => format!("true: {name} = {content}"),
            (_, Some(Response::Value(old))) if old != now => match at.value(old) {
                _ if content.is_empty() => format!("updates {name}"),
                old if old.is_empty() => format!("{name} becomes {content}"),
                old => format!("{name} goes from {old} to {content}"),
            },
            (Access::FetchAdd(_) | Access::Swap(_) | Access::Update(_), _) => {
                format!("{name} stays {content}").trim_end().into()
            }
        })
    }

    fn view(&self, at: &Replay<'_, S>, _: ProcessId) -> Vec<Named> {
        at.now(self.0)
    }

    fn wait_in_loop(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        let (name, value) = content(at, self.0);
        let touch = Touch::new(self.0.lane(), May::Change);
        let helpers = at.others(process).filter(|&p| at.may_still(p, touch)).collect();
        let words = format!("{name} to change from {value}");
        let why = || format!("no other process that is left changes {name}");
        Some(Wait::for_one(words, helpers, why))
    }

    /// An access that reads has an arrow from the last change of the cell, if that is of another
    /// process.
    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        let change = past.last_change(self.0.lane(), to);
        let change = change.filter(|_| !matches!(self.1, Access::Write(_)));
        Arrow::all(past.of_others(change, to), to, ArrowKind::Content)
    }
}

fn content<S: System>(at: &Replay<'_, S>, cell: CellId) -> Named {
    (at.locals.name_of(cell), at.value(at.state.content(cell)))
}

/// The content.
pub(super) fn now<S: System>(at: &Replay<'_, S>, cell: CellId) -> Vec<Named> {
    vec![content(at, cell)]
}
