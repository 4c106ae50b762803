//! Finds an execution of the same class with as few switches between processes as possible, which
//! is easier to read.
//!
//! An execution is a sequence of *blocks*, in each of which one process acts; between two blocks
//! there is a *switch*. The execution with the fewest blocks is a linearisation of the partial
//! order of its class. It may be assumed that each block is as long as possible: suppose that an
//! action could be added to a block, but comes in a later block of the same process. All its causes
//! have happened, so it can be moved to the earlier block without an additional block. So only the
//! process of the next block has to be chosen. The possible choices depend only on the number of
//! actions that each process has done (a *cut*). The search is breadth-first over the cuts, one
//! block at a time. The first path that reaches the end has the fewest blocks.
//!
//! **Limit.** There may be exponentially many cuts. After [`MOST_NUMBERS`], the search becomes a
//! beam search: of the cuts with the same number of blocks only those with the most actions done
//! are kept. The result is then good, but perhaps not optimal, and [`Linearisation::is_fewest`] is
//! false.

use rustc_hash::FxHashSet;

use super::HappensBefore;
use super::causal_past::happens_before;
use crate::model::{Action, Schedule, System};

/// The size of all visited cuts together, in numbers, up to which the search is exact.
const MOST_NUMBERS: usize = 1 << 17;
/// The most cuts in the beam.
const WIDEST_BEAM: usize = 64;
/// The beam is narrowed so that the search takes roughly this number of steps.
const MOST_STEPS: usize = 1 << 22;

/// An execution of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linearisation {
    /// The execution.
    pub schedule: Schedule,
    /// The number of switches: neighbouring actions of different processes.
    pub switches: usize,
    /// Is it certain that no execution of the class has fewer switches?
    pub is_fewest: bool,
}

/// The number of switches: neighbouring actions of different processes.
pub fn switches(schedule: &[Action]) -> usize {
    schedule.windows(2).filter(|pair| pair[0].process != pair[1].process).count()
}

/// An execution of the class of `schedule` with as few switches as can be found, and never with
/// more than `schedule`.
pub fn few_switches<S: System>(system: &S, schedule: &Schedule) -> Linearisation {
    let (mut locals, order) = happens_before(system, schedule);
    let (positions, is_fewest) = FewestSwitches::new(schedule, &order).run();
    let actions = positions.into_iter().map(|position| schedule[position]);
    let sorted = Schedule::of_actions(&mut locals, actions);
    let (found, given) = (switches(&sorted), switches(schedule));
    match found <= given {
        true => Linearisation { schedule: sorted, switches: found, is_fewest },
        false => Linearisation { schedule: schedule.clone(), switches: given, is_fewest: false },
    }
}

/// For each process, the number of its actions that are done.
type Cut = Box<[u32]>;

/// A block that leads to a cut.
struct Block {
    /// The index of the block before it; `None` for the first one.
    before: Option<u32>,
    process: u32,
    /// The number of actions of the process that are done after it.
    done: u32,
}

struct FewestSwitches {
    /// For each process, the positions of its actions.
    actions: Vec<Vec<u32>>,
    /// For each position, its direct causes: pairs of a process and the number of its actions that
    /// must be done before.
    needs: Vec<Vec<(u32, u32)>>,
    blocks: Vec<Block>,
    met: FxHashSet<Cut>,
    is_exact: bool,
}

impl FewestSwitches {
    fn new(schedule: &[Action], order: &HappensBefore) -> Self {
        let mut actions: Vec<Vec<u32>> = Vec::new();
        let mut nth = Vec::new();
        for (position, action) in schedule.iter().enumerate() {
            let process = action.process.index();
            actions.resize(actions.len().max(process + 1), Vec::new());
            actions[process].push(position as u32);
            nth.push((process as u32, actions[process].len() as u32));
        }
        let needs = (0..schedule.len()).map(|position| {
            let direct = order.direct_predecessors(position).iter();
            direct.map(|&cause| nth[cause as usize]).collect()
        });
        let needs = needs.collect();
        FewestSwitches {
            actions,
            needs,
            blocks: Vec::new(),
            met: FxHashSet::default(),
            is_exact: true,
        }
    }

    /// The positions in their new order, and whether no order has fewer blocks.
    fn run(mut self) -> (Vec<usize>, bool) {
        let start: Cut = vec![0; self.actions.len()].into();
        let mut layer = vec![(start, None)];
        loop {
            let end = layer.iter().find(|(cut, _)| self.is_end(cut));
            if let Some(&(_, last)) = end {
                return (self.positions(last), self.is_exact);
            }
            let mut next = Vec::new();
            for (cut, before) in &layer {
                self.extend(cut, *before, &mut next);
            }
            self.limit(&mut next);
            layer = next;
        }
    }

    fn is_end(&self, cut: &Cut) -> bool {
        cut.iter().zip(&self.actions).all(|(&done, all)| done as usize == all.len())
    }

    /// Adds the cuts that are one block after this one, unless they were visited.
    fn extend(&mut self, cut: &Cut, before: Option<u32>, next: &mut Vec<(Cut, Option<u32>)>) {
        for process in 0..cut.len() {
            let done = self.run_of(cut, process);
            if done == cut[process] {
                continue;
            }
            let mut after = cut.clone();
            after[process] = done;
            if self.met.insert(after.clone()) {
                next.push((after, Some(self.blocks.len() as u32)));
                self.blocks.push(Block { before, process: process as u32, done });
            }
        }
    }

    /// The number of actions of `process` that are done after its longest possible block.
    fn run_of(&self, cut: &Cut, process: usize) -> u32 {
        let mut done = cut[process];
        while let Some(&position) = self.actions[process].get(done as usize) {
            let is_done = |&(other, count): &(u32, u32)| {
                other as usize == process || cut[other as usize] >= count
            };
            if !self.needs[position as usize].iter().all(is_done) {
                break;
            }
            done += 1;
        }
        done
    }

    /// Once too many cuts were visited, keeps only the best ones of a layer.
    fn limit(&mut self, layer: &mut Vec<(Cut, Option<u32>)>) {
        let width = self.actions.len().max(1);
        if self.is_exact && self.met.len() * width <= MOST_NUMBERS {
            return;
        }
        self.is_exact = false;
        // From now on only cuts of the next layer are compared: cuts of earlier layers have fewer
        // actions done and do not occur again.
        self.met.clear();
        let room = (MOST_STEPS / (self.needs.len() * width).max(1)).clamp(1, WIDEST_BEAM);
        let done = |cut: &Cut| cut.iter().map(|&done| u64::from(done)).sum::<u64>();
        layer.sort_by_cached_key(|(cut, _)| std::cmp::Reverse(done(cut)));
        layer.truncate(room);
    }

    fn positions(&self, last: Option<u32>) -> Vec<usize> {
        let block = |at: u32| &self.blocks[at as usize];
        let mut blocks: Vec<&Block> =
            std::iter::successors(last, |&at| block(at).before).map(block).collect();
        blocks.reverse();
        let mut cut = vec![0; self.actions.len()];
        let mut positions = Vec::with_capacity(self.needs.len());
        for &Block { process, done, .. } in blocks {
            let from = std::mem::replace(&mut cut[process as usize], done);
            let run = &self.actions[process as usize][from as usize..done as usize];
            positions.extend(run.iter().map(|&position| position as usize));
        }
        positions
    }
}
