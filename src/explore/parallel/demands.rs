//! How the races of a piece reach the search that it is a piece of.
//!
//! A race of a piece may demand a continuation v of a state before the piece. Each search has its
//! own numbers for local states, messages and new processes, so v must be sent in portable names,
//! and only executing it tells what it does there. But most events of v were in other continuations
//! of the piece already. So the sender numbers its events, and sends numbers; names come only with
//! events that the receiver does not know yet, which executes v then, once.
//!
//! Two events have the same number if they are the same action with the same acts on lanes. These
//! decide on which events it depends ([`dependence`](crate::trace)), and that is all that is asked
//! of the events of a continuation.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::ahead::Demand;
use crate::model::{Action, Lane, Mode, System};
use crate::trace::{Continuation, Execution, Known, Received};

/// What distinguishes events: the action, and how it acts on lanes.
type Key = (Action, SmallVec<[(Lane, Mode); 1]>);

/// Demands to send.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    numbers: FxHashMap<Key, u32>,
    /// Those sent: each demand once.
    sent: FxHashSet<(u32, Box<[u32]>)>,
    /// Those to send next.
    demands: Vec<Demand>,
    /// The number of events in them.
    events: usize,
}

/// The number of events in the demands that are sent together.
const TOGETHER: usize = 1 << 16;
/// The most demands that are kept in mind. A demand that is sent again does no harm.
const MOST_SENT: usize = 1 << 16;

impl Outbox {
    /// The demand for the continuation v of the state where it begins. It must be
    /// [`put`](Outbox::put) next.
    pub(crate) fn demand<S: System>(
        &mut self,
        continuation: &mut impl Continuation<S>,
        v: &[usize],
    ) -> Demand {
        let known = self.numbers.len();
        let events: Box<[u32]> = v
            .iter()
            .map(|&position| {
                let (action, effect) = continuation.event(position);
                let acts = effect.acts.iter().map(|act| (act.lane, act.mode)).collect();
                let next = self.numbers.len() as u32;
                *self.numbers.entry((action, acts)).or_insert(next)
            })
            .collect();
        let at = continuation.start() as u32;
        let names = (self.numbers.len() > known).then(|| continuation.names(v).into());
        Demand { at, events, names }
    }

    /// Adds a demand to those to send, unless it was sent. Returns true if it is time to send.
    pub(crate) fn put(&mut self, demand: Demand) -> bool {
        if self.sent.len() == MOST_SENT {
            self.sent.clear();
        }
        if self.sent.insert((demand.at, demand.events.clone())) {
            self.events += demand.events.len();
            self.demands.push(demand);
        }
        self.events >= TOGETHER
    }

    /// The demands to send now.
    pub(crate) fn take(&mut self) -> Vec<Demand> {
        self.events = 0;
        std::mem::take(&mut self.demands)
    }
}

/// The demands of one piece, as they arrive.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// The events that have come so far, by number.
    events: Vec<Known>,
}

impl Inbox {
    /// The continuation that this is, of an execution that has the state where it begins; v gets
    /// its positions.
    pub(crate) fn open<'e, 's, S: System>(
        &'e mut self,
        execution: &'e mut Execution<'s, S>,
        demand: &Demand,
        v: &mut Vec<usize>,
    ) -> Received<'e, 's, S> {
        let start = demand.at as usize;
        if let Some(names) = &demand.names {
            execution.looking_back(start, |locals, state| {
                for (&name, &number) in names.iter().zip(&demand.events) {
                    let action = state.action_named(locals, name);
                    let action = action.expect("a continuation can be executed where it begins");
                    state.step(locals, action);
                    if number as usize == self.events.len() {
                        self.events.push(Known::new(action, state.effect(locals)));
                    }
                }
            });
        }
        v.clear();
        v.extend(demand.events.iter().map(|&number| number as usize));
        Received { execution, start, events: &self.events }
    }
}
