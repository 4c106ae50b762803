//! The search tree of UDPOR: algorithm 1 of Pham, Jéron, Quinson (FORTE 2019), call by call; or of
//! DPOR over configurations.
//!
//! A node is one call Explore(C, D, A). Either it is a leaf, or it chooses an event e. Then its
//! left child is the call with e, and if there is an alternative J, its right child is the call
//! without e. The search records ([`crate::explore::recording`]) the events that it chose and the
//! alternatives that it found. The three sets of each node follow from that, as the algorithm says.
//!
//! DPOR is drawn the same way. Its D are the events of backtrack(C) that are done, which does not
//! concern the calls with another C, and its J is the next event of backtrack(C).
//!
//! Events have the same numbers as in the picture of the unfolding, for any k. That picture is
//! built with full alternatives; a search with another k visits the events in another order. An
//! event is its process, its choice and its causes. So the events of the two searches are matched
//! one by one, causes first. Processes and messages are translated before that, because each search
//! numbers them in the order of its visits.

use std::collections::HashMap;
use std::slice;

#[cfg(feature = "json")]
use serde::Serialize;

use super::{Event, PartialOrder, Subject};
use crate::explore::recording::{Added, Alternative, Call, Fate, Searched, Side};
use crate::explore::{Outcome, Recording, Verdict};
use crate::model::{Birth, Choice, Handled, Locals, Op, ProcessId, System};
use crate::report::plural;
use crate::unfolding::EventId;

const DPOR: &str = "dpor:over=configurations";
const TRANS_DPOR: &str = "transdpor:over=configurations";

/// The calls of a search.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct SearchTree {
    /// The program.
    #[cfg_attr(feature = "json", serde(flatten))]
    pub(crate) subject: Subject,
    /// The word `steps`.
    pub what: &'static str,
    /// How thorough the alternatives of UDPOR are, as on the command line.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub k: Option<String>,
    /// Another explorer than UDPOR, as on the command line.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub explorer: Option<&'static str>,
    /// The names of the processes.
    pub(crate) lanes: Vec<String>,
    /// The events that the search visited, by number. Numbers may be missing.
    pub events: Vec<Event>,
    /// The calls, each before those that it makes.
    pub nodes: Vec<Node>,
    /// Whether nothing is missing.
    pub complete: bool,
    /// What is missing, in sentences.
    pub left_out: Vec<String>,
}

/// One call Explore(C, D, A). Events are given by their numbers, calls by their index in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Node {
    /// Its index in the list.
    pub id: usize,
    /// The call that made it.
    pub parent: Option<usize>,
    /// The configuration C, in the order of an execution.
    pub c: Vec<usize>,
    /// The disabled events D, newest last.
    pub d: Vec<usize>,
    /// The events A that guide the call, causes first.
    pub a: Vec<usize>,
    /// Its result.
    #[cfg_attr(feature = "json", serde(flatten))]
    pub turn: Turn,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
#[cfg_attr(feature = "json", serde(tag = "turn", rename_all = "lowercase"))]
pub enum Turn {
    /// It chose an event and explored what contains it.
    Chose {
        /// The event e.
        event: usize,
        /// The call with it; `None` if the search stopped before it.
        left: Option<usize>,
        /// Whether an alternative was searched for. If not, the search stopped earlier.
        asked: bool,
        /// The alternative J ∖ C to D ∪ {e} after C, causes first, if there is one.
        alternative: Option<Vec<usize>>,
        /// The call that it guides.
        right: Option<usize>,
    },
    /// C is maximal.
    Maximal {
        /// The number of this configuration, from 1, for `--trace` if k is optimal.
        configuration: usize,
        /// How its executions end.
        verdict: Verdict,
        /// The violation at the end, in a sentence.
        message: Option<String>,
    },
    /// All enabled events are in D: everything that contains C has been explored.
    Blocked {
        /// The enabled events en(C), a subset of D.
        enabled: Vec<usize>,
    },
    /// The bound on the causal depth cuts the execution.
    Cut,
    /// A process waits in a loop for something that has happened already. Executions in which it
    /// looks later are explored elsewhere.
    GivenUp,
    /// C was visited before, in another order.
    Known,
}

impl SearchTree {
    /// The calls of a search that visited at most `max_events` events. `full` is a search with full
    /// alternatives: it determines the numbers of events.
    pub fn of_search<S: System>(
        subject: Subject,
        system: &S,
        searched: impl Into<Searched>,
        (mut prefix, outcome): (Recording<'_, S>, Outcome),
        full: &mut Recording<'_, S>,
        max_events: usize,
    ) -> Self {
        let numbers = numbers(&prefix, full);
        let calls = std::mem::take(&mut prefix.calls);
        let is_long = prefix.is_long;
        // The last event of C may have added more events than `max_events`, and a call may name one
        // of them.
        let most = max_events.max(named(&calls));
        let order = PartialOrder::of_unfolding(subject, system, &mut prefix, &outcome, most);
        let mut left_out = order.left_out.clone();
        if is_long {
            left_out.push(format!(
                "the search was stopped after {} (--max-nodes)",
                plural(calls.len(), "call")
            ));
        }
        let (k, explorer) = match searched.into() {
            Searched::Udpor(k) => (Some(k.to_string()), None),
            Searched::Backtracking(_, Added::ForEachRace) => (None, Some(DPOR)),
            Searched::Backtracking(_, Added::OneAtATime) => (None, Some(TRANS_DPOR)),
        };
        SearchTree {
            what: "steps",
            nodes: nodes(&calls, &numbers, &order, explorer.is_none()),
            k,
            explorer,
            events: renumbered(&order.events, &numbers),
            complete: left_out.is_empty(),
            left_out,
            lanes: order.lanes,
            subject: order.subject,
        }
    }
}

impl SearchTree {
    /// The search in a few words: `k = optimal`.
    pub fn search(&self) -> String {
        match (&self.k, self.explorer) {
            (Some(k), _) => format!("k = {k}"),
            (None, explorer) => explorer.unwrap_or_default().replace(":over=", " over "),
        }
    }

    /// The event with this number.
    pub(crate) fn event(&self, number: usize) -> &Event {
        let at = self.events.binary_search_by_key(&number, |event| event.id);
        &self.events[at.expect("an event that the search visited")]
    }

    /// The process and operation of the event with this number: `3 Receiver recv(m)`.
    pub(crate) fn described(&self, number: usize) -> String {
        let event = self.event(number);
        format!("{number} {} {}", self.lanes[event.lane], event.label)
    }
}

/// A set of events in short, ascending, with ranges for neighbours: `0–3, 5`; `∅` for the empty
/// set.
pub(crate) fn compact(set: &[usize]) -> String {
    let mut sorted = set.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        [one, other] => format!("{one}, {other}"),
        [first, .., last] => format!("{first}–{last}"),
        [] => unreachable!("chunks are not empty"),
    });
    let runs: Vec<_> = runs.collect();
    if runs.is_empty() { "∅".into() } else { runs.join(", ") }
}

/// The least number of events, counted from the first, that contains all that the calls name.
fn named(calls: &[Call]) -> usize {
    let ids = calls.iter().flat_map(|call| match &call.fate {
        Fate::Chose(e, Alternative::Found(j)) => [slice::from_ref(e), j.as_slice()],
        Fate::Chose(e, _) => [slice::from_ref(e), &[]],
        Fate::Blocked(enabled) => [enabled.as_slice(), &[]],
        Fate::Maximal | Fate::Cut | Fate::GivenUp | Fate::Known => [&[] as &[EventId], &[]],
    });
    ids.flatten().map(|e| e.index() + 1).max().unwrap_or(0)
}

/// The nodes, with the sets that each call gets from its caller. Does a call with another event
/// `inherit` D?
fn nodes(calls: &[Call], numbers: &[usize], order: &PartialOrder, inherit: bool) -> Vec<Node> {
    let number = |e: &EventId| numbers[e.index()];
    let mut nodes: Vec<Node> = Vec::with_capacity(calls.len());
    let mut ends = order.configurations.iter();
    for (id, call) in calls.iter().enumerate() {
        let turn = match &call.fate {
            Fate::Chose(e, alternative) => Turn::Chose {
                event: number(e),
                left: None,
                asked: *alternative != Alternative::Unknown,
                alternative: match alternative {
                    Alternative::Found(j) => Some(j.iter().map(number).collect()),
                    Alternative::Missing | Alternative::Unknown => None,
                },
                right: None,
            },
            Fate::Maximal => {
                let end = ends.next().expect("a configuration for each maximal call");
                Turn::Maximal {
                    configuration: end.number,
                    verdict: end.verdict,
                    message: end.message.clone(),
                }
            }
            Fate::Blocked(enabled) => {
                Turn::Blocked { enabled: enabled.iter().map(number).collect() }
            }
            Fate::Cut => Turn::Cut,
            Fate::GivenUp => Turn::GivenUp,
            Fate::Known => Turn::Known,
        };
        let parent = call.caller.map(|(parent, _)| parent);
        let (c, mut d, a) = call
            .caller
            .map_or_else(Default::default, |(parent, side)| adopt(&mut nodes[parent], side, id));
        if !inherit && call.caller.is_some_and(|(_, side)| side == Side::With) {
            d.clear();
        }
        nodes.push(Node { id, parent, c, d, a, turn });
    }
    nodes
}

/// Links a node to the call that it makes on this side, and returns the sets C, D and A of the
/// called one.
fn adopt(node: &mut Node, side: Side, child: usize) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let (mut c, mut d, mut a) = (node.c.clone(), node.d.clone(), node.a.clone());
    let Turn::Chose { event, left, right, alternative, .. } = &mut node.turn else {
        unreachable!("{node:?} calls nobody");
    };
    match side {
        Side::With => {
            *left = Some(child);
            c.push(*event);
            a.retain(|guide| guide != event);
        }
        Side::Without => {
            *right = Some(child);
            d.push(*event);
            a = alternative.clone().expect("the guides of the second call");
        }
    }
    (c, d, a)
}

/// The events with their new numbers, ascending.
fn renumbered(events: &[Event], numbers: &[usize]) -> Vec<Event> {
    let renumber = |event: &Event| {
        let mut causes: Vec<_> = event.causes.iter().map(|&cause| numbers[cause]).collect();
        causes.sort_unstable();
        Event { id: numbers[event.id], causes, ..event.clone() }
    };
    let mut events: Vec<_> = events.iter().map(renumber).collect();
    events.sort_by_key(|event| event.id);
    events
}

/// The number in `full` of each event of `own`. Events that `full` has not visited get larger
/// numbers.
fn numbers<S: System>(own: &Recording<'_, S>, full: &mut Recording<'_, S>) -> Vec<usize> {
    let structure = &full.unfolding.structure;
    let known: HashMap<_, _> = structure
        .ids()
        .map(|id| {
            let event = structure.event(id);
            let causes = event.causes.iter().map(|cause| cause.index()).collect::<Vec<_>>();
            ((event.process, event.choice, causes), id.index())
        })
        .collect();
    let mut next = known.len();
    let mut numbers: Vec<usize> = Vec::new();
    for id in own.unfolding.structure.ids() {
        let event = own.unfolding.structure.event(id);
        let mut causes: Vec<_> = event.causes.iter().map(|c| numbers[c.index()]).collect();
        causes.sort_unstable();
        let (from, to) = (&own.unfolding.locals, &mut full.unfolding.locals);
        let process = process(from, to, event.process);
        let choice = match own.unfolding.op(id) {
            Op::Handle { .. } => choice(from, to, event.choice),
            _ => event.choice,
        };
        numbers.push(known.get(&(process, choice, causes)).copied().unwrap_or_else(|| {
            next += 1;
            next - 1
        }));
    }
    numbers
}

/// The id of a process in another search.
fn process<S: System>(from: &Locals<'_, S>, to: &mut Locals<'_, S>, id: ProcessId) -> ProcessId {
    match from.birth(id) {
        None => id,
        Some(birth) => {
            let parent = process(from, to, birth.parent);
            to.child(Birth { parent, ..birth })
        }
    }
}

/// The choice of an actor, in the ids of another search.
fn choice<S: System>(from: &Locals<'_, S>, to: &mut Locals<'_, S>, choice: Choice) -> Choice {
    let Handled::Message(message) = choice.handled() else { return choice };
    let (sender, place) = from.posting(message);
    let sender = sender.map(|(sender, act)| (process(from, to, sender), act));
    Choice::message(to.message(sender, place))
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn sets_are_printed_as_ranges() {
        assert_eq!(compact(&[]), "∅");
        assert_eq!(compact(&[7, 3, 1, 2, 9, 8]), "1–3, 7–9");
        assert_eq!(compact(&[5, 4, 1]), "1, 4, 5");
    }
}
