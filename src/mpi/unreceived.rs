//! The property that every message is received by the end of an execution.

use std::fmt;

use super::ready;
use super::slip::Slip;
use crate::model::{Failure, FailureKind, Values};
use crate::property::{Objection, Position, Property};

/// A message that is not received when all ranks have ended is a mistake: MPI demands a receive for
/// every send; for a send in ready mode, one that is posted.
#[derive(Clone, Copy)]
pub struct Unreceived;

impl fmt::Debug for Unreceived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("every message is received")
    }
}

impl Property for Unreceived {
    fn objection(&self, at: Position<'_>) -> Option<Objection> {
        let network = at.state().network();
        let left = network.sends().iter().find(|sent| network.begun_at(sent).is_none());
        let never = left.map(|left| {
            let number = |part: Option<i64>| part.unwrap_or_default();
            format!(
                "{}: a message of {} with tag {} is never received",
                Slip::CallOrder,
                at.name(left.process),
                number(left.envelope.tag)
            )
        });
        let message = never.or_else(|| ready::objection(at))?;
        Some(Objection::Wrong(Failure { kind: FailureKind::Error, message, site: None }))
    }

    /// It is about a message, or about the match of a ready send: what happens before that send is
    /// in its past.
    fn is_about_one_thing(&self) -> bool {
        true
    }

    fn looks_back(&self, values: &Values) -> bool {
        values.iter().any(ready::is_ready)
    }
}
