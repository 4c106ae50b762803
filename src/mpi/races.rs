//! Message races: the messages that receives and probes from any source got, in one execution and
//! in another.

use std::collections::BTreeMap;

use super::diagnosis::{call_name, place};
use crate::explore::{End, Observer};
use crate::model::{Handled, Op, ProcessId, Site};
use crate::property::Position;

/// The maximum number of violation-free executions that are kept.
const KEPT: usize = 1000;

/// A rank, by its name: in another search it may be another process of the model.
type Rank = String;

/// A message: the n-th message of a rank.
type Message = (Rank, usize);

/// A receive or a probe from any source that has got a message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Taken {
    message: Message,
    /// The place of its send.
    sent: Option<Site>,
    /// The place of the receive or probe.
    taken: Option<Site>,
    /// Whether any tag is accepted.
    any_tag: bool,
    /// The step of the execution at which the message was got.
    at: usize,
}

/// The messages that receives and probes from any source got in an execution; for each rank in the
/// order in which it made the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Matching(BTreeMap<Rank, Vec<Taken>>);

impl Matching {
    /// The matching of the execution that led here. O(n) for n actions and messages.
    pub(super) fn of(at: Position<'_>) -> Matching {
        let (state, network) = (at.state(), at.state().network());
        let mut sent_before: BTreeMap<ProcessId, usize> = BTreeMap::new();
        let names = network.sends().iter().map(|sent| {
            let count = sent_before.entry(sent.process).or_default();
            *count += 1;
            (at.name(sent.process), *count)
        });
        let names: Vec<Message> = names.collect();
        // In the order of the calls. A probe that takes its message is both a probe and a receive.
        let mut found = BTreeMap::new();
        for (number, sent) in network.sends().iter().enumerate() {
            let Some(receive) = sent.receive() else { continue };
            let receive = &network.receives()[receive as usize];
            if let (None, Some(got)) = (receive.pattern.src, receive.matched_at()) {
                found.insert(receive.at(), (receive.process, number, receive.pattern.tag, got));
            }
        }
        for place in 0..state.depth() {
            let Some(Op::Probe { pattern, .. }) = at.op_of_action(place) else { continue };
            let action = state.action(place);
            if let (None, Handled::Message(id)) = (pattern.src, action.choice.handled())
                && let Some(number) = network.position(id)
            {
                found.entry(place).or_insert((action.process, number as usize, pattern.tag, place));
            }
        }
        let mut matching = Matching::default();
        for (place, (rank, number, tag, got)) in found {
            matching.0.entry(at.name(rank)).or_default().push(Taken {
                message: names[number].clone(),
                sent: at.site_of_action(network.sends()[number].at()),
                taken: at.site_of_action(place),
                any_tag: tag.is_none(),
                at: got,
            });
        }
        matching
    }

    /// Whether there are no such receives or probes.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of them are connections that were accepted.
    pub(super) fn is_of_connections(&self) -> bool {
        let call = |taken: &Taken| {
            taken.taken.as_ref().map(|site| call_name(&site.text) == "MPI_Comm_accept")
        };
        self.0.values().flatten().all(|taken| call(taken) == Some(true))
    }

    /// The places of all receives and probes from any source.
    pub(super) fn places(&self) -> impl Iterator<Item = String> {
        self.0.values().flatten().filter_map(|taken| place(taken.taken.as_ref()?))
    }

    /// The first one that got another message than in `other`: its rank, and both messages.
    fn difference<'m>(&'m self, other: &'m Matching) -> Option<(&'m Rank, &'m Taken, &'m Taken)> {
        let first = |(rank, own): (&'m Rank, &'m Vec<Taken>)| {
            let others = other.0.get(rank)?;
            let (one, other) = own.iter().zip(others).find(|(a, b)| a.message != b.message)?;
            Some((rank, one, other))
        };
        self.0.iter().filter_map(first).min_by_key(|(_, taken, _)| taken.at)
    }

    /// A sentence on the receive or probe that got the message that led to the violation, if this
    /// can be inferred from `others`, which are violation-free executions. The one that has most in
    /// common with this execution decides.
    pub(super) fn culprit(&self, others: &[Matching]) -> Option<String> {
        let differences = others.iter().filter_map(|other| self.difference(other));
        let (rank, one, other) = differences.max_by_key(|(_, taken, _)| taken.at)?;
        let tag = if one.any_tag { ", any tag" } else { "" };
        let shown = |site: &Option<Site>| site.as_ref().and_then(place).unwrap_or_default();
        let message = |of: &Taken| format!("the message of {} ({})", of.message.0, shown(&of.sent));
        let (got, may_get) = (message(one), message(other));
        let called = one.taken.as_ref().map_or("", |site| call_name(&site.text));
        Some(format!(
            "{called} of {rank} ({}, any source{tag}) got {got}, and nothing is wrong if it gets {may_get}",
            shown(&one.taken)
        ))
    }
}

/// Collects the matchings of violation-free executions.
#[derive(Default)]
pub(super) struct RightOnes(pub(super) Vec<Matching>);

impl Observer for RightOnes {
    fn trace(&mut self, at: Position<'_>, end: End) {
        if !end.is_violating && self.0.len() < KEPT {
            let matching = Matching::of(at);
            if !self.0.contains(&matching) {
                self.0.push(matching);
            }
        }
    }
}
