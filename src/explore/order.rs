//! The order in which the enabled actions of a state are tried.
//!
//! How many executions DPOR and TransDPOR visit depends on it, by orders of magnitude (Tasharofi et al.,
//! FORTE 2012, section 6). The orders of that paper, read off its tool, and two more:
//!
//! | order | processes and actors by | the messages of one actor |
//! |---|---|---|
//! | `fifo` | the action that has been pending longest | oldest first |
//! | `lifo` | the action that has been pending for the shortest time | newest first |
//! | `eca` | earliest created first | oldest first |
//! | `lca` | latest created first | oldest first |
//! | `random` | chance, the same for the same seed | |
//!
//! All actions of one actor stay together (but for `random`). A message is pending since it was sent, the
//! next operation of a process since the one before it, an internal handler since the actor's last action.

use rustc_hash::FxHashMap;

use crate::model::{Action, Handled, ProcessId, System};
use crate::trace::Execution;

/// An order of the enabled actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Pending longest first.
    #[default]
    Fifo,
    /// Earliest created actor (or process) first.
    Eca,
    /// Latest created actor (or process) first.
    Lca,
    /// Pending shortest first.
    Lifo,
    /// By chance, from this seed.
    Random(u64),
}

/// Sorts the enabled actions of state after state.
#[derive(Debug)]
pub struct Sorter {
    order: Order,
    random: u64,
    /// Per process of the state at hand since when its oldest and newest enabled actions are pending.
    since: FxHashMap<ProcessId, (Since, Since)>,
}

/// When something began to be pending: the position of the action that caused it, from 1, and where several
/// things began at once, their number.
type Since = (usize, u32);

impl Sorter {
    /// For a search with this order.
    pub fn new(order: Order) -> Self {
        let random = match order {
            Order::Random(seed) => seed,
            _ => 0,
        };
        Sorter { order, random, since: FxHashMap::default() }
    }

    /// Sorts `actions`, which are enabled after `execution`.
    pub fn sort<S: System>(&mut self, execution: &Execution<'_, S>, actions: &mut [Action]) {
        match self.order {
            Order::Fifo | Order::Lifo => self.sort_by_age(execution, actions),
            Order::Eca => actions
                .sort_by_key(|&action| (born(execution, action.process), since(execution, action))),
            Order::Lca => actions.sort_by_key(|&action| {
                (std::cmp::Reverse(born(execution, action.process)), since(execution, action))
            }),
            Order::Random(_) => self.shuffle(actions),
        }
    }

    fn sort_by_age<S: System>(&mut self, execution: &Execution<'_, S>, actions: &mut [Action]) {
        self.since.clear();
        for &action in actions.iter() {
            let own = since(execution, action);
            let (oldest, newest) = self.since.entry(action.process).or_insert((own, own));
            (*oldest, *newest) = ((*oldest).min(own), (*newest).max(own));
        }
        let of = |action: &Action| self.since[&action.process];
        match self.order {
            Order::Lifo => actions.sort_by_key(|action| {
                let key = (of(action).1, action.process, since(execution, *action));
                std::cmp::Reverse(key)
            }),
            _ => actions
                .sort_by_key(|action| (of(action).0, action.process, since(execution, *action))),
        }
    }

    /// Fisher and Yates, with the numbers of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    fn shuffle(&mut self, actions: &mut [Action]) {
        for last in (1..actions.len()).rev() {
            self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.random;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^= mixed >> 31;
            actions.swap(last, (mixed % (last as u64 + 1)) as usize);
        }
    }
}

/// When the process was created, and as the how-manieth of those created then.
fn born<S: System>(execution: &Execution<'_, S>, process: ProcessId) -> (usize, ProcessId) {
    (execution.state().born(process).map_or(0, |position| position + 1), process)
}

fn since<S: System>(execution: &Execution<'_, S>, action: Action) -> Since {
    let state = execution.state();
    if execution.is_actor(action.process)
        && let Handled::Message(id) = action.choice.handled()
    {
        let position = state.inboxes().position(id).expect("an enabled message was sent");
        let creator = state.inboxes().log()[position as usize].creator();
        return (creator.map_or(0, |position| position + 1), position);
    }
    let last = execution.order().of_process(action.process).last().map(|&last| last as usize);
    let since = last.or(state.born(action.process)).map_or(0, |position| position + 1);
    (since, action.choice.0.unsigned_abs())
}
