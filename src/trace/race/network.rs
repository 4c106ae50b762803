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

use crate::model::{Choice, DROPPED, Effect, Op, Places, Posted, System, Taker, network_effect};
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
    let (state, order) = (execution.state(), execution.order());
    let network = state.network();
    let chosen = execution.action(first).choice;
    let changes = !order.effect(first).is_observation();
    let is_known = |at: usize, causes: &Places| {
        causes.iter().any(|&cause| cause as usize == at || order.before(at, cause as usize))
    };
    let mut add = |choice: Choice, causes: Places| {
        let is_low =
            !execution.has_tops() || !causes.iter().any(|&cause| execution.is_top(cause as usize));
        if choice != chosen && is_low && !is_known(first, &causes) {
            let effect = network_effect(Effect::NOWHERE, changes, &causes);
            all.push(Detour { choice, causes, effect });
        }
    };
    for &send in network.sends_for(taker) {
        let sent = &network.sends()[send as usize];
        let Some(causes) = network.causes(taker, send) else { continue };
        let taken =
            sent.receive().and_then(|other| network.receives()[other as usize].matched_at());
        if !taken.is_some_and(|taken| is_known(taken, &causes)) {
            add(Choice::message(sent.id), causes);
        }
    }
    if let Some(way) = taker.receive.and_then(|receive| network.dropping(receive)) {
        add(DROPPED, way.causes);
    }
    all
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
    let misses = earlier.take_while(|&at| execution.action(at).choice == Choice::NOTHING);
    state.might_poll(&execution.locals, (process, position), misses)
}

/// Is it an operation that may find nothing, whatever messages there are?
#[inline]
pub fn is_poll<S: System>(execution: &Execution<'_, S>, position: usize) -> bool {
    execution.state().is_poll(execution.action(position).process, execution.op(position))
}
