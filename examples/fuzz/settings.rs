//! Random options of explorers.

use std::num::NonZeroU32;

use mazurka::explore::{Budget, K, Listed, Options, Order, Over, Permutation, Setting, Switches};
use mazurka::model::ProcessId;

use super::Rng;

/// The explorer with options that must make no difference to what it finds, and what is kept and
/// shown by its search.
pub fn any(explorer: &'static Listed, rng: &mut Rng) -> (Setting, Budget) {
    let order = match rng.below(8) {
        0 => None,
        1 => Some(Order::Fifo),
        2 => Some(Order::Lifo),
        3 => Some(Order::Eca),
        4 => Some(Order::Lca),
        5 => Some(Order::Random(rng.below(1_000) as u64)),
        6 => Some(Order::Visited),
        _ => Permutation::new(&[ProcessId(1), ProcessId(0)]).map(Order::Sequential),
    };
    let mut without = Switches::NONE;
    for &switch in explorer.profile().takes.switches {
        if rng.chance(25) {
            without = without.and(switch);
        }
    }
    let over = rng.chance(50).then_some(Over::Configurations);
    let options = Options {
        k: *rng.pick(&[None, Some(K::Partial(1)), Some(K::Partial(2)), Some(K::Partial(3))]),
        order,
        sleep_sets: over.is_none() && rng.chance(50),
        over,
        without,
        jobs: rng.chance(30).then_some(NonZeroU32::new(2).expect("it is not 0")),
        ..Options::default()
    };
    let usual = Budget::default();
    let budget = Budget {
        shortest: rng.chance(30),
        keep_events: *rng.pick(&[usual.keep_events, 0, 3]),
        keep_locals: *rng.pick(&[usual.keep_locals, 0]),
        ..usual
    };
    (Setting::with_what_fits(explorer, options), budget)
}

/// What is kept and shown, in words.
pub fn kept(budget: &Budget) -> String {
    let Budget { shortest, keep_events, keep_locals, .. } = budget;
    format!("shortest: {shortest}, events kept: {keep_events}, local states kept: {keep_locals}")
}
