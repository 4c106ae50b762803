//! How the next action of an execution is chosen by chance.
//!
//! **Uniformly** among the enabled actions.
//!
//! **By priorities** (PCT: Burckhardt, Kothari, Musuvathi and Nagarakatte, *A randomized scheduler
//! with probabilistic guarantees of finding bugs*, ASPLOS 2010):
//!
//! ```text
//! draw an order of the processes: their priorities, all above d
//! draw d - 1 steps k₁, .., k_{d-1} from 1..k
//! at each step: the enabled process with the highest priority moves;
//!               if this was step kᵢ, its priority becomes i
//! ```
//!
//! A bug has depth d if there are d pairs of actions such that every execution in which each pair
//! is in a certain order has the bug. The theorem of the paper: with at most n processes and at
//! most k steps, an execution has a given bug of depth d with a probability of at least
//! 1/(n·k^(d-1)). What it needs here:
//!
//! - k is at least the length of every execution. It is not known, so k is the length of the
//!   longest execution so far; the first one has no changes of priority. The theorem holds from the
//!   time on when one of the longest executions has been seen.
//! - A process has one enabled action. If it has several (a message of several that it may take, a
//!   value of `choose`, a send that ends early or late), one of them is picked uniformly. So for
//!   each such pick among m that the bug needs, the bound is divided by m.
//! - n counts every process that ever exists; one that is started draws its priority when it can
//!   first move. Messages are no processes. A message is delivered by a step of the process that
//!   takes it, except at p2p and bag mailboxes (and so in MPI): there the carriers of the network
//!   match receives and end collectives (`model/objects/network`), and they are processes, with
//!   priorities of their own. A process has as many as it had receives and collectives open at the
//!   same time.
//! - No process moves for ever without effect. In a loop that waits (`trace::spin`) it counts as
//!   disabled. With a depth bound it does not: if it has the highest priority, it spins until the
//!   bound.

use crate::model::Action;
use crate::random::SplitMix64;

/// Chooses actions by chance.
#[derive(Debug)]
pub(super) struct Chooser {
    random: SplitMix64,
    /// `None` for a uniform choice.
    priorities: Option<Priorities>,
}

/// The priorities of processes in one execution. The highest moves.
#[derive(Debug)]
struct Priorities {
    /// d
    depth: u32,
    /// For each process; 0 if it is not drawn yet.
    of_process: Vec<u64>,
    /// The steps after which the process that has moved loses its priority, each with the new one.
    changes: Vec<(usize, u64)>,
}

/// Priorities that are drawn have this bit, so they are above those that processes fall to.
const DRAWN: u64 = 1 << 63;

impl Chooser {
    /// A chooser with this seed: uniform, or by priorities for bugs of this depth.
    pub(super) fn new(seed: u64, bug_depth: Option<u32>) -> Chooser {
        let priorities = bug_depth.map(|depth| Priorities {
            depth,
            of_process: Vec::new(),
            changes: Vec::new(),
        });
        Chooser { random: SplitMix64::new(seed), priorities }
    }

    /// Begins an execution; `longest` is the length of the longest one so far.
    pub(super) fn begin(&mut self, longest: usize) {
        let Some(Priorities { depth, of_process, changes }) = &mut self.priorities else { return };
        of_process.clear();
        changes.clear();
        if longest > 0 {
            let steps = (1..*depth).map(|i| (1 + self.random.below(longest), u64::from(i)));
            changes.extend(steps);
        }
    }

    /// Chooses one of the enabled actions, which are sorted by process, as step number `step`,
    /// from 1.
    pub(super) fn choose(&mut self, enabled: &[Action], step: usize) -> Action {
        let Chooser { random, priorities } = self;
        let Some(priorities) = priorities else { return random.pick(enabled) };
        for action in enabled {
            priorities.draw(action.process.index(), random);
        }
        let of_process = &priorities.of_process;
        let priority = |action: &Action| (of_process[action.process.index()], action.process);
        let highest = enabled.iter().max_by_key(|&action| priority(action));
        let process = highest.expect("an enabled action").process;
        let start = enabled.partition_point(|action| action.process < process);
        let own = enabled[start..].partition_point(|action| action.process == process);
        priorities.change(process.index(), step);
        random.pick(&enabled[start..start + own])
    }
}

impl Priorities {
    /// Draws the priority of a process, if it has none.
    fn draw(&mut self, process: usize, random: &mut SplitMix64) {
        if self.of_process.len() <= process {
            self.of_process.resize(process + 1, 0);
        }
        if self.of_process[process] == 0 {
            self.of_process[process] = random.draw() | DRAWN;
        }
    }

    /// Lowers the priority of the process that makes this step, if this is a step of a change.
    fn change(&mut self, process: usize, step: usize) {
        for &(at, priority) in &self.changes {
            if at == step {
                self.of_process[process] = priority;
            }
        }
    }
}
