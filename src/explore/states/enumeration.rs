//! The order in which the processes of a state are explored.

use super::processes::Processes;
use crate::explore::order::{Order, Permutation};
use crate::model::ProcessId;
use crate::random::SplitMix64;

/// Chooses the next process to explore.
#[derive(Debug)]
pub(crate) enum Enumeration {
    /// In this order.
    Sequential(Permutation),
    /// By chance.
    Random(SplitMix64),
}

impl Enumeration {
    /// The enumeration for a search with this order.
    ///
    /// # Panics
    /// If the order depends on pending times, which a state does not have.
    pub(crate) fn new(order: Order) -> Enumeration {
        match order {
            Order::Sequential(permutation) => Enumeration::Sequential(permutation),
            Order::Visited => Enumeration::Sequential(Permutation::BY_NUMBER),
            Order::Random(seed) => Enumeration::Random(SplitMix64::new(seed)),
            Order::Fifo | Order::Eca | Order::Lca | Order::Lifo => {
                panic!("{order:?} is an order of executions")
            }
        }
    }

    /// The next of these processes.
    pub(crate) fn first(&mut self, of: &Processes) -> Option<ProcessId> {
        match self {
            Enumeration::Sequential(permutation) => {
                of.iter().min_by_key(|&process| permutation.place(process))
            }
            Enumeration::Random(numbers) => match of.len() {
                0 => None,
                count => of.iter().nth(numbers.remainder(count)),
            },
        }
    }
}
