//! The other possible results of a match or a probe.
//!
//! At a p2p or bag mailbox a match, or a probe, is an open choice of a message
//! ([`State::network`](crate::model::State::network)). Each choice x has its own causes: the send,
//! the receive itself, the matches of its competitors. Instead of the choice made at i, x is
//! possible in the execution E if E has all these causes, if none of them happens after i, and if
//! the message was not matched with another receive in the history of the causes. (A send may be
//! the answer to a match.)
//!
//! Then only i is in conflict with x. If another receive r' has the message of x and is later than
//! r, it needs a match of r, so it happens after i. If it is earlier than r, it is a competitor,
//! and its match is a cause of x.

use smallvec::SmallVec;

use crate::model::{
    Choice, DROPPED, Effect, Incident, Op, Places, Posted, System, Taker, network_effect,
};
use crate::trace::Execution;

/// Another choice of a match or probe, with its causes and its effect.
#[derive(Clone, Debug)]
pub(crate) struct Detour {
    pub(crate) choice: Choice,
    pub(crate) causes: Places,
    pub(crate) effect: Effect,
}

/// The other choices of the match or probe at `first`. None for other operations.
pub(crate) fn detours<S: System>(
    execution: &Execution<'_, S>,
    first: usize,
) -> SmallVec<[Detour; 2]> {
    let mut all = SmallVec::new();
    let Some(taker) = taker(execution, first) else { return all };
    for &send in execution.state().network().sends_for(taker) {
        all.extend(detour(execution, first, taker, send));
    }
    all.extend(drop_instead(execution, first, taker));
    all
}

/// The [`detours`] at `first` that have the event at `position` as a cause.
pub(crate) fn detours_through<S: System>(
    execution: &Execution<'_, S>,
    first: usize,
    position: usize,
) -> SmallVec<[Detour; 1]> {
    let mut all = SmallVec::new();
    let Some(taker) = taker(execution, first) else { return all };
    let network = execution.state().network();
    if let Some(send) = network.send_at(position) {
        if network.sends()[send as usize].mailbox == taker.mailbox {
            all.extend(detour(execution, first, taker, send));
        }
        return all;
    }
    let matched = match *execution.op(position) {
        Op::Deliver => match execution.state().carried_at(position) {
            Posted::Receive(receive) => Some(receive),
            _ => return all,
        },
        _ => None,
    };
    let mailbox = |receive: u32| network.receives()[receive as usize].mailbox;
    if matched.is_some_and(|receive| mailbox(receive) != taker.mailbox) {
        return all;
    }
    for &send in network.sends_for(taker) {
        if matched.is_none_or(|receive| network.may_compete(receive, taker, send)) {
            all.extend(detour(execution, first, taker, send));
        }
    }
    all.extend(drop_instead(execution, first, taker));
    all.retain(|detour| detour.causes.contains(&(position as u32)));
    all
}

/// The choice of the message `send` at `first`, if it is another one and possible.
fn detour<S: System>(
    execution: &Execution<'_, S>,
    first: usize,
    taker: Taker,
    send: u32,
) -> Option<Detour> {
    let network = execution.state().network();
    let sent = &network.sends()[send as usize];
    let taken = sent.receive().and_then(|other| network.receives()[other as usize].matched_at());
    if taken == Some(first) {
        return None;
    }
    let causes = network.causes(taker, send)?;
    if taken.is_some_and(|taken| is_known(execution, taken, &causes)) {
        return None;
    }
    with_causes(execution, first, Choice::message(sent.id), causes)
}

/// The choice to drop the receive that was matched at `first`, if it is another one and possible.
fn drop_instead<S: System>(
    execution: &Execution<'_, S>,
    first: usize,
    taker: Taker,
) -> Option<Detour> {
    let way = execution.state().network().dropping(taker.receive?)?;
    with_causes(execution, first, DROPPED, way.causes)
}

/// The detour at `first` with this choice and these causes, if it is another one and possible.
fn with_causes<S: System>(
    execution: &Execution<'_, S>,
    first: usize,
    choice: Choice,
    causes: Places,
) -> Option<Detour> {
    let is_top = |&cause: &u32| execution.is_top(cause as usize);
    let is_possible = choice != execution.action(first).choice
        && !(execution.has_tops() && causes.iter().any(is_top))
        && !is_known(execution, first, &causes);
    is_possible.then(|| {
        let changes = !execution.order().effect(first).is_observation();
        let effect = network_effect(Effect::NOWHERE, changes, &causes);
        Detour { choice, causes, effect }
    })
}

/// Is the event at `at` one of these causes, or does it happen before one?
fn is_known<S: System>(execution: &Execution<'_, S>, at: usize, causes: &Places) -> bool {
    let order = execution.order();
    causes.iter().any(|&cause| cause as usize == at || order.before(at, cause as usize))
}

/// The receive or probe that got a message at `position`.
fn taker<S: System>(execution: &Execution<'_, S>, position: usize) -> Option<Taker> {
    let network = execution.state().network();
    match *execution.op(position) {
        Op::Deliver => match execution.state().carried_at(position) {
            Posted::Receive(receive) => Some(network.taker(receive)),
            _ => None,
        },
        Op::Probe { mailbox, .. } => {
            let probes = &network.ends(mailbox).probes;
            let probe = probes.iter().rev().find(|probe| probe.at as usize == position);
            Some(probe.expect("a probe that was carried out").taker(mailbox))
        }
        _ => None,
    }
}

/// Might the poll at `position` have failed?
pub(crate) fn might_find_nothing<S: System>(execution: &Execution<'_, S>, position: usize) -> bool {
    let (state, process) = (execution.state(), execution.action(position).process);
    let own = execution.order().of_process(process);
    let before = own.partition_point(|&at| (at as usize) < position);
    let earlier = own[..before].iter().rev().map(|&at| at as usize);
    let is_quiet = |at: usize| {
        let incident = execution.locals.incident(state.before(at), execution.action(at).choice);
        incident.is_some_and(Incident::is_quiet)
    };
    let misses = earlier
        .filter(|&at| !is_quiet(at))
        .take_while(|&at| execution.action(at).choice == Choice::NOTHING);
    state.might_poll(&execution.locals, (process, position), misses)
}

/// Is it an operation that may find nothing, whatever messages there are?
#[inline]
pub fn is_poll<S: System>(execution: &Execution<'_, S>, position: usize) -> bool {
    execution.state().is_poll(execution.action(position).process, execution.op(position))
}
