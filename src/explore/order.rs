//! The order in which the actions of a state are tried.
//!
//! The number of executions that DPOR and TransDPOR visit depends on it, by orders of magnitude
//! (Tasharofi et al., FORTE 2012, section 6). These are the orders of that paper, as its tool
//! implements them, and two more:
//!
//! | order | processes and actors by | the messages of one actor |
//! |---|---|---|
//! | `fifo` | pending longest first | oldest first |
//! | `lifo` | pending for the shortest time first | newest first |
//! | `eca` | earliest created first | oldest first |
//! | `lca` | latest created first | oldest first |
//! | `sequential` | number, or another fixed order such as `2,0,1` | oldest first |
//! | `visited` | actions to stored states first, then by number | |
//! | `random` | chance, reproducible by the seed | |
//!
//! All actions of one actor stay together (except with `random`). A message is pending from the
//! moment it is sent, enabled or not. The next operation of a process is pending from the operation
//! before it on, and an internal handler from the actor's last action on. Actors and processes that
//! exist from the start count as created in the order of their declaration.

use std::cmp::Reverse;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::model::{Action, Handled, ProcessId, State, System};
use crate::random::SplitMix64;
use crate::trace::Execution;

/// An order of the actions of a state.
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
    /// In a fixed order of the processes.
    Sequential(Permutation),
    /// First the actions that lead to stored states, then by number. For explorers that store
    /// states.
    Visited,
    /// By chance, from this seed.
    Random(u64),
}

/// An order of processes: first the listed ones, then the others by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Permutation {
    /// Four bits for each listed process, the first one in the lowest bits.
    listed: u64,
    count: u8,
}

impl Permutation {
    /// The order that lists no process.
    pub const BY_NUMBER: Permutation = Permutation { listed: 0, count: 0 };
    /// The most processes that it can list. Their numbers are below this, too.
    pub const LIMIT: u32 = 16;

    /// The order that has these processes first; `None` if one is listed twice or its number is not
    /// below [`LIMIT`](Permutation::LIMIT).
    pub fn new(processes: &[ProcessId]) -> Option<Permutation> {
        let mut permutation = Permutation::default();
        for &process in processes {
            let is_listed = permutation.processes().any(|listed| listed == process);
            if is_listed || process.0 >= Permutation::LIMIT {
                return None;
            }
            permutation.listed |= u64::from(process.0) << (4 * permutation.count);
            permutation.count += 1;
        }
        Some(permutation)
    }

    /// The listed processes, in order.
    pub fn processes(self) -> impl Iterator<Item = ProcessId> {
        (0..self.count).map(move |place| ProcessId((self.listed >> (4 * place)) as u32 & 15))
    }

    /// The key by which to compare processes.
    pub fn place(self, process: ProcessId) -> (usize, ProcessId) {
        let place = self.processes().position(|listed| listed == process);
        (place.unwrap_or(self.count.into()), process)
    }
}

impl Order {
    /// The orders that have names; the random one has the seed 0.
    pub const ALL: [Order; 7] = [
        Order::Fifo,
        Order::Eca,
        Order::Lca,
        Order::Lifo,
        Order::Sequential(Permutation::BY_NUMBER),
        Order::Visited,
        Order::Random(0),
    ];

    /// Its name on the command line. A listed permutation is `sequential`, a seed is not part of
    /// the name.
    pub fn name(self) -> &'static str {
        match self {
            Order::Fifo => "fifo",
            Order::Eca => "eca",
            Order::Lca => "lca",
            Order::Lifo => "lifo",
            Order::Sequential(_) => "sequential",
            Order::Visited => "visited",
            Order::Random(_) => "random",
        }
    }
}

/// The name; for a sequential order the processes that it lists, as `2.0.1`.
impl Display for Order {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Order::Sequential(permutation) if *permutation != Permutation::BY_NUMBER => {
                let listed: Vec<_> = permutation.processes().map(|p| p.0.to_string()).collect();
                // No commas: they separate explorers.
                f.write_str(&listed.join("."))
            }
            order => f.write_str(order.name()),
        }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        let named = Order::ALL.into_iter().find(|order| order.name() == text);
        named.or_else(|| permutation(text).map(Order::Sequential)).ok_or_else(|| {
            let names = Order::ALL.map(Order::name).join(", ");
            format!(
                "`{text}` is not an order; there are: {names}, and processes by number such as 2,0,1 (each once, \
                 below {})",
                Permutation::LIMIT
            )
        })
    }
}

/// `2,0,1` or `2.0.1`
fn permutation(text: &str) -> Option<Permutation> {
    let numbers: Result<Vec<u32>, _> = text.split([',', '.']).map(str::parse).collect();
    let processes: Vec<_> = numbers.ok()?.into_iter().map(ProcessId).collect();
    Permutation::new(&processes)
}

/// The facts about an execution that an order depends on.
pub trait History {
    /// The state at its end.
    fn state(&self) -> &State;

    /// Is `process` an actor in that state?
    fn is_actor(&self, process: ProcessId) -> bool;

    /// The position of the last action of `process` in the execution, if it has acted.
    fn last(&self, process: ProcessId) -> Option<usize>;
}

impl<S: System> History for Execution<'_, S> {
    fn state(&self) -> &State {
        self.state()
    }

    fn is_actor(&self, process: ProcessId) -> bool {
        self.is_actor(process)
    }

    fn last(&self, process: ProcessId) -> Option<usize> {
        self.order().of_process(process).last().map(|&last| last as usize)
    }
}

/// Sorts the actions of states. A random order draws new numbers for each state.
#[derive(Debug)]
pub struct Sorter {
    order: Order,
    random: SplitMix64,
    /// Scratch space: the actions to sort, with their keys.
    keyed: Vec<(Key, Action)>,
}

/// When something became pending: the position of the action that caused it, counted from 1 (0:
/// from the start), and a number that orders things with the same cause.
type Since = (usize, u32);
/// When the process or actor has become pending, or was created; its number; and when the action
/// itself has become pending.
type Key = (Since, ProcessId, Since);

impl Sorter {
    /// A sorter for one search with this order.
    pub(crate) fn new(order: Order) -> Self {
        let random = match order {
            Order::Random(seed) => seed,
            _ => 0,
        };
        Sorter { order, random: SplitMix64::new(random), keyed: Vec::new() }
    }

    /// Sorts `actions`, which are enabled after `execution`, or pending messages and internal
    /// handlers there.
    pub(crate) fn sort(&mut self, execution: &impl History, actions: &mut [Action]) {
        if let Order::Random(_) = self.order {
            return self.shuffle(actions);
        }
        if actions.len() < 2 {
            return;
        }
        let order = self.order;
        self.keyed.clear();
        self.keyed.extend(actions.iter().map(|&action| (key(order, execution, action), action)));
        match order {
            Order::Fifo | Order::Eca | Order::Sequential(_) | Order::Visited | Order::Random(_) => {
                self.keyed.sort_unstable();
            }
            Order::Lifo => self.keyed.sort_unstable_by_key(|&keyed| Reverse(keyed)),
            Order::Lca => self.keyed.sort_unstable_by_key(|&((born, process, since), action)| {
                (Reverse((born, process)), since, action)
            }),
        }
        for (place, &(_, action)) in actions.iter_mut().zip(&self.keyed) {
            *place = action;
        }
    }

    /// The shuffle of Fisher and Yates.
    fn shuffle(&mut self, actions: &mut [Action]) {
        for last in (1..actions.len()).rev() {
            let other = self.random.remainder(last + 1);
            actions.swap(last, other);
        }
    }
}

fn key(order: Order, execution: &impl History, action: Action) -> Key {
    let process = action.process;
    let group = match order {
        Order::Eca | Order::Lca => {
            (execution.state().born(process).map_or(0, |position| position + 1), 0)
        }
        Order::Sequential(permutation) => (permutation.place(process).0, 0),
        Order::Fifo | Order::Lifo | Order::Visited | Order::Random(_) => {
            group_since(order, execution, process)
        }
    };
    (group, process, since(execution, action))
}

/// When the oldest message of an actor (with `lifo`, the newest) has become pending; for a process,
/// its next operation.
fn group_since(order: Order, execution: &impl History, process: ProcessId) -> Since {
    let inboxes = execution.state().inboxes();
    let message = match order {
        Order::Lifo => inboxes.newest(process),
        _ => inboxes.oldest(process),
    };
    message.map_or_else(|| acted(execution, process), |position| sent(execution, position))
}

fn since(execution: &impl History, action: Action) -> Since {
    if execution.is_actor(action.process)
        && let Handled::Message(id) = action.choice.handled()
    {
        let position = execution.state().inboxes().position(id);
        return sent(execution, position.expect("a pending message was sent"));
    }
    (acted(execution, action.process).0, action.choice.0.unsigned_abs())
}

/// When the message at this position of the log was sent.
fn sent(execution: &impl History, position: u32) -> Since {
    let creator = execution.state().inboxes().log()[position as usize].creator();
    (creator.map_or(0, |creator| creator + 1), position)
}

/// When the process last acted; if it has not acted, when it was created.
fn acted(execution: &impl History, process: ProcessId) -> Since {
    (
        execution
            .last(process)
            .or(execution.state().born(process))
            .map_or(0, |position| position + 1),
        0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_lists_each_process_once() {
        let listed = |processes: &[u32]| {
            let processes: Vec<_> = processes.iter().copied().map(ProcessId).collect();
            Permutation::new(&processes).map(|one| one.processes().collect::<Vec<_>>() == processes)
        };
        assert_eq!(listed(&[2, 15, 0]), Some(true));
        assert_eq!((listed(&[2, 0, 2]), listed(&[16])), (None, None));
    }
}
