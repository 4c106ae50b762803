//! The dining philosophers as a Stateright model; each takes the left fork first.
//!
//! The steps are those of `specs/mutex/philosophers-eating.maz`: a philosopher asks for a fork,
//! which puts him into its queue, and goes on when he is the first one there. So the states are the
//! same.

use stateright::{Checker, Model, Property};

/// `N` philosophers.
#[derive(Clone, Copy)]
pub struct Philosophers<const N: usize>;

/// The step of each philosopher, and the queue of each fork.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table<const N: usize> {
    at: [Step; N],
    queues: [[Option<Side>; 2]; N],
}

/// The next step of a philosopher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Step {
    AskLeft,
    TakeLeft,
    AskRight,
    TakeRight,
    DropRight,
    DropLeft,
    Done,
}

/// A philosopher in the queue of a fork: the one whose left, or right, fork it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Left,
    Right,
}

impl Step {
    fn next(self) -> Step {
        match self {
            Step::AskLeft => Step::TakeLeft,
            Step::TakeLeft => Step::AskRight,
            Step::AskRight => Step::TakeRight,
            Step::TakeRight => Step::DropRight,
            Step::DropRight => Step::DropLeft,
            Step::DropLeft | Step::Done => Step::Done,
        }
    }
}

impl<const N: usize> Model for Philosophers<N> {
    type State = Table<N>;
    type Action = usize;

    fn init_states(&self) -> Vec<Table<N>> {
        vec![Table { at: [Step::AskLeft; N], queues: [[None; 2]; N] }]
    }

    fn actions(&self, table: &Table<N>, actions: &mut Vec<usize>) {
        actions.extend((0..N).filter(|&i| match table.at[i] {
            Step::TakeLeft => table.queues[i][0] == Some(Side::Left),
            Step::TakeRight => table.queues[(i + 1) % N][0] == Some(Side::Right),
            Step::Done => false,
            _ => true,
        }));
    }

    fn next_state(&self, table: &Table<N>, i: usize) -> Option<Table<N>> {
        let mut table = table.clone();
        let (left, right) = (i, (i + 1) % N);
        match table.at[i] {
            Step::AskLeft => ask(&mut table.queues[left], Side::Left),
            Step::AskRight => ask(&mut table.queues[right], Side::Right),
            Step::DropRight => leave(&mut table.queues[right]),
            Step::DropLeft => leave(&mut table.queues[left]),
            Step::TakeLeft | Step::TakeRight | Step::Done => {}
        }
        table.at[i] = table.at[i].next();
        Some(table)
    }

    /// A property that always holds: a search without properties ends at once.
    fn properties(&self) -> Vec<Property<Self>> {
        let holds = |_: &Self, table: &Table<N>| {
            (0..N).all(|i| table.at[i] != Step::DropRight || table.queues[i][0] == Some(Side::Left))
        };
        vec![Property::always("who eats has both forks", holds)]
    }
}

fn ask(queue: &mut [Option<Side>; 2], side: Side) {
    let place = queue.iter_mut().find(|place| place.is_none());
    *place.expect("two philosophers share a fork") = Some(side);
}

fn leave(queue: &mut [Option<Side>; 2]) {
    *queue = [queue[1], None];
}

/// The number of states, counted depth-first.
pub fn depth_first<const N: usize>() -> u64 {
    Philosophers::<N>.checker().spawn_dfs().join().unique_state_count() as u64
}

/// The number of states, counted breadth-first.
pub fn breadth_first<const N: usize>() -> u64 {
    Philosophers::<N>.checker().spawn_bfs().join().unique_state_count() as u64
}
