//! How many classes are there? An estimate, without exploring them.
//!
//! [`Parsimonious`] visits the classes as a tree: each class but one has a parent, and the children
//! of a class are found from the class alone. So the size of the tree can be estimated without
//! bias by following a few branches. P. C. Chen, *Heuristic sampling: a method for predicting the
//! performance of tree searching programs* (SIAM J. Comput. 21, 1992), which generalises D. E.
//! Knuth's estimate (Mathematics of Computation 29, 1975):
//!
//! ```text
//! the root has weight 1
//! while there are nodes: take those of the smallest stratum
//!   a node of weight w stands for w nodes: it counts w, and each child gets weight w
//!   of the children in one stratum one is kept, with the sum of their weights: each with a
//!   probability in proportion to its own
//! ```
//!
//! **Unbiased**, whatever the strata are, if those of children are larger than that of the parent:
//! the expected weight of each node is 1. The estimate is close if the nodes of a stratum have
//! subtrees of similar size. The stratum of a reversal is its distance from the root, and how much
//! of the execution comes before it: the later it is, the less is left to be reversed. Knuth has
//! one stratum for each distance. With many independent choices his estimate varies without bound,
//! because then most subtrees are tiny and a few are almost everything.
//!
//! Each sweep is independent of the others. Their mean is the estimate, and their spread says how
//! good it is.

use std::collections::BTreeMap;
use std::time::Instant;

use super::budget::Budget;
use super::dpor::parsimonious::Parsimonious;
use super::explorer::explore_branch;
use super::observer::NoObserver;
use super::result::StopReason;
use super::tree::{Branch, Splitter};
use crate::model::System;
use crate::random::SplitMix64;

/// The estimated size of a search of all classes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The number of classes.
    pub classes: f64,
    /// The standard error of this number; 0 if it is exact.
    pub error: f64,
    /// The number of sweeps.
    pub sweeps: u32,
    /// Has a sweep visited every class?
    pub is_exact: bool,
}

/// Estimates the number of classes of a system, by at most this number of sweeps, and within the
/// limits of the budget, which are for all sweeps together. The random choices follow from `seed`.
///
/// # Errors
/// What ended an execution of the first sweep: it may be endless, or the budget was used up.
pub fn estimate<S: System>(
    system: &S,
    budget: &Budget,
    (sweeps, seed): (u32, u64),
) -> Result<Estimate, StopReason> {
    let (start, mut rng) = (Instant::now(), SplitMix64::new(seed));
    let (mut found, mut is_exact) = (Vec::new(), false);
    let budget = Budget { all: true, ..budget.clone() };
    while found.len() < sweeps as usize && !is_exact {
        match sweep(system, &budget.after(start.elapsed()), &mut rng) {
            Ok((classes, is_all)) => {
                found.push(classes);
                is_exact = is_all;
            }
            Err(_) if !found.is_empty() => break,
            Err(reason) => return Err(reason),
        }
    }
    let sweeps = found.len() as u32;
    if is_exact {
        return Ok(Estimate { classes: found[found.len() - 1], error: 0.0, sweeps, is_exact });
    }
    let count = found.len() as f64;
    let mean = found.iter().sum::<f64>() / count;
    let square = |one: &f64| (one - mean) * (one - mean);
    let variance = found.iter().map(square).sum::<f64>() / (count - 1.0).max(1.0);
    Ok(Estimate { classes: mean, error: (variance / count).sqrt(), sweeps, is_exact })
}

/// The distance from the root, and the number of actions before the reversal.
type Stratum = (u32, usize);

/// One sweep: the number of classes by this sample, and whether it has visited all of them.
fn sweep<S: System>(
    system: &S,
    budget: &Budget,
    rng: &mut SplitMix64,
) -> Result<(f64, bool), StopReason> {
    let mut open: BTreeMap<Stratum, (Branch, f64)> = BTreeMap::new();
    open.insert((0, 0), (Branch::default(), 1.0));
    let start = Instant::now();
    let (mut classes, mut is_all) = (0.0, true);
    while let Some(((distance, _), (branch, weight))) = open.pop_first() {
        let mut given = Given::default();
        let (explorer, limits) = (Parsimonious::default(), budget.after(start.elapsed()));
        let outcome =
            explore_branch(system, explorer, &branch, &mut given, limits, &mut NoObserver);
        if let Some(reason) = outcome.stopped_by {
            return Err(reason);
        }
        classes += weight * outcome.stats.traces as f64;
        for child in given.0.into_iter().flat_map(single) {
            let stratum = (distance + 1, child.prefix.len());
            let (kept, sum) = open.entry(stratum).or_insert_with(|| (Branch::default(), 0.0));
            let is_first = *sum == 0.0;
            *sum += weight;
            is_all &= is_first;
            if is_first || rng.unit() * *sum < weight {
                *kept = child;
            }
        }
    }
    Ok((classes, is_all))
}

/// The parts of a branch with one wanted continuation each.
fn single(branch: Branch) -> Vec<Branch> {
    let Branch { prefix, elsewhere, wanted } = branch;
    if wanted.is_empty() {
        return vec![Branch { prefix, elsewhere, wanted }];
    }
    let of =
        |one| Branch { prefix: prefix.clone(), elsewhere: elsewhere.clone(), wanted: vec![one] };
    wanted.into_iter().map(of).collect()
}

/// Takes all branches along one execution.
#[derive(Default)]
struct Given(Vec<Branch>);

impl Splitter for Given {
    fn wants_branch(&mut self) -> bool {
        true
    }

    fn take(&mut self, branch: Branch) {
        self.0.push(branch);
    }
}
