//! Message races: the messages that receives and probes from any source got, in one execution and
//! in another.

use std::collections::BTreeMap;

use super::diagnosis::{call_name, place};
use crate::explore::{End, Observer};
use crate::model::{Action, Choice, Handled, Op, ProcessId, Site};
use crate::property::Position;

/// The maximum number of violation-free executions that are kept.
const KEPT: usize = 1000;

/// A rank, by its name: in another search it may be another process of the model.
type Rank = String;

/// A message: the n-th message of a rank.
type Message = (Rank, usize);

/// A receive or a probe from any source that has got a message.
#[derive(Clone, Debug)]
struct Taken {
    message: Message,
    /// The place of its send.
    sent: Option<Site>,
    /// The place of the receive or probe.
    taken: Option<Site>,
    /// Whether any tag is accepted.
    any_tag: bool,
    /// How many probes of the rank from any source have found nothing since the last one that has.
    misses: usize,
    /// The step of the execution at which the message was got.
    at: usize,
}

impl Taken {
    /// Whether the same message is got, as soon.
    fn is_the_same(&self, other: &Taken) -> bool {
        (&self.message, self.misses) == (&other.message, other.misses)
    }
}

/// A probe from any source that has found nothing.
#[derive(Clone, Debug)]
struct InVain {
    place: Option<String>,
    any_tag: bool,
    /// Its step of the execution.
    at: usize,
}

/// What the receives and probes of a rank from any source got, in the order in which it made the
/// calls.
#[derive(Clone, Debug, Default)]
struct Calls {
    taken: Vec<Taken>,
    /// The probes since the last one of these.
    in_vain: Vec<InVain>,
}

/// What receives and probes from any source got in an execution, for each rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Matching(BTreeMap<Rank, Calls>);

/// The first call of a rank that got something else in another execution, or at another time.
struct Difference<'m> {
    rank: &'m Rank,
    /// What it got here: a message or nothing.
    here: Result<&'m Taken, &'m InVain>,
    there: &'m Taken,
}

impl Difference<'_> {
    /// The step of this execution.
    fn at(&self) -> usize {
        self.here.map_or_else(|nothing| nothing.at, |taken| taken.at)
    }
}

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
        // In the order of the calls, each with the message and the step at which it was got. A
        // probe that takes its message is both a probe and a receive.
        let mut calls = BTreeMap::new();
        for (number, sent) in network.sends().iter().enumerate() {
            let Some(receive) = sent.receive() else { continue };
            let receive = &network.receives()[receive as usize];
            if let (None, Some(got)) = (receive.pattern.src, receive.matched_at()) {
                let got = Some((number, got));
                calls.insert(receive.at(), (receive.process, receive.pattern, got));
            }
        }
        for place in 0..state.depth() {
            let Some(Op::Probe { pattern, .. }) = at.op_of_action(place) else { continue };
            let Action { process, choice, .. } = state.action(place);
            if pattern.src.is_some() {
                continue;
            }
            let found = match choice.handled() {
                _ if choice == Choice::NOTHING => None,
                Handled::Message(id) => network.position(id).map(|number| (number as usize, place)),
                Handled::Internal(_) => continue,
            };
            calls.entry(place).or_insert((process, *pattern, found));
        }
        let mut matching = Matching::default();
        for (call, (process, pattern, got)) in calls {
            let calls = matching.0.entry(at.name(process)).or_default();
            let (site, any_tag) = (at.site_of_action(call), pattern.tag.is_none());
            match got {
                Some((number, at_step)) => {
                    let misses = std::mem::take(&mut calls.in_vain).len();
                    calls.taken.push(Taken {
                        message: names[number].clone(),
                        sent: at.site_of_action(network.sends()[number].at()),
                        taken: site,
                        any_tag,
                        misses,
                        at: at_step,
                    });
                }
                None => {
                    let place = site.as_ref().and_then(place);
                    calls.in_vain.push(InVain { place, any_tag, at: call });
                }
            }
        }
        matching
    }

    /// Whether there are no such receives or probes.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the same messages are got, as soon.
    fn is_the_same(&self, other: &Matching) -> bool {
        let same = |(a, b): (&Calls, &Calls)| {
            a.taken.len() == b.taken.len()
                && a.taken.iter().zip(&b.taken).all(|(a, b)| a.is_the_same(b))
        };
        self.0.keys().eq(other.0.keys()) && self.0.values().zip(other.0.values()).all(same)
    }

    /// The places of all receives and probes from any source.
    pub(super) fn places(&self) -> impl Iterator<Item = String> {
        self.0.values().flat_map(|calls| {
            let taken = calls.taken.iter().filter_map(|taken| place(taken.taken.as_ref()?));
            taken.chain(calls.in_vain.iter().filter_map(|probe| probe.place.clone()))
        })
    }

    /// The first call that got another message than in `other`, or got it sooner or later.
    fn difference<'m>(&'m self, other: &'m Matching) -> Option<Difference<'m>> {
        let first = |(rank, own): (&'m Rank, &'m Calls)| {
            let others = &other.0.get(rank)?.taken;
            let mut both = own.taken.iter().zip(others);
            if let Some((here, there)) = both.find(|(a, b)| !a.is_the_same(b)) {
                return Some(Difference { rank, here: Ok(here), there });
            }
            let there = others.get(own.taken.len())?;
            let found_at = there.taken.as_ref().and_then(place);
            let here = own.in_vain.iter().find(|probe| probe.place == found_at)?;
            Some(Difference { rank, here: Err(here), there })
        };
        self.0.iter().filter_map(first).min_by_key(Difference::at)
    }

    /// A sentence on the receive or probe that got something else than in one of `others`, which
    /// are violation-free executions: in the one that has most in common with this execution. If
    /// nothing differs from one of them, it is not the messages that decide.
    pub(super) fn culprit(&self, others: &[Matching]) -> Option<String> {
        let differences: Option<Vec<_>> =
            others.iter().map(|other| self.difference(other)).collect();
        let Difference { rank, here, there } =
            differences?.into_iter().max_by_key(Difference::at)?;
        let shown = |site: &Option<Site>| site.as_ref().and_then(place).unwrap_or_default();
        let message = |of: &Taken| format!("the message of {} ({})", of.message.0, shown(&of.sent));
        let call = |site: &Option<Site>, any_tag: bool| {
            let name = site.as_ref().map_or("", |site| call_name(&site.text));
            let tag = if any_tag { ", any tag" } else { "" };
            format!("{name} of {rank} ({}, any source{tag})", shown(site))
        };
        let found = message(there);
        Some(match here {
            Ok(here) if here.message == there.message => format!(
                "{} got {found} {} than in an execution in which nothing is wrong",
                call(&here.taken, here.any_tag),
                if here.misses < there.misses { "sooner" } else { "later" }
            ),
            Ok(here) => format!(
                "{} got {}, and in an execution in which nothing is wrong it got {found}",
                call(&here.taken, here.any_tag),
                message(here)
            ),
            Err(here) => format!(
                "{} did not find {found}, and in an execution in which nothing is wrong it did",
                call(&there.taken, here.any_tag)
            ),
        })
    }
}

/// Collects the matchings of violation-free executions.
#[derive(Default)]
pub(super) struct RightOnes(pub(super) Vec<Matching>);

impl Observer for RightOnes {
    fn trace(&mut self, at: Position<'_>, end: End) {
        if !end.is_violating && self.0.len() < KEPT {
            let matching = Matching::of(at);
            if !self.0.iter().any(|other| other.is_the_same(&matching)) {
                self.0.push(matching);
            }
        }
    }
}
