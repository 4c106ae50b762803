//! The time to the first error, by the order in which threads are tried.
//!
//! The paper runs each algorithm in the six orders of three threads and in random orders with three
//! seeds. For each client it takes the average and the minimum of both kinds. The minimum of six is
//! smaller than the minimum of three by chance alone. So there is a third comparison: the minimum
//! of three of the six orders, averaged over all ways to choose three.

use std::ops::Range;

use crate::workshop::client::Buggy;

use super::figures::{Cost, geometric_mean, mean};
use super::plan::{RANDOM, SEQUENTIAL};
use super::{Trials, plan};

/// A comparison of sequential and random orders, over the clients of a class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Orders {
    pub(crate) class: Buggy,
    /// Whether these are the clients with an error, or the ones without.
    pub(crate) has_error: bool,
    /// The index of the algorithm in [`plan::SEEKERS`].
    pub(crate) seeker: usize,
    /// The number of clients.
    pub(crate) clients: usize,
    /// The results of sequential orders.
    pub(crate) sequential: Side,
    /// The results of random orders.
    pub(crate) random: Side,
    /// How many times less random orders cost than sequential ones, averaged over orders; geometric
    /// mean over clients.
    pub(crate) random_gain: f64,
    /// How many times less the best of six sequential orders costs than the best of three random
    /// ones.
    pub(crate) sequential_gain: f64,
    /// How many times less the best of three sequential orders costs than the best of three random
    /// ones, averaged over all ways to choose three of the six.
    pub(crate) fair_gain: f64,
}

/// The results of one kind of order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Side {
    /// The mean over clients of the averages over orders.
    pub(crate) average: f64,
    /// The mean over clients of the minima over orders.
    pub(crate) minimum: f64,
}

/// The costs of a client in the orders of each kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    /// The costs in the orders [`SEQUENTIAL`].
    pub(crate) sequential: Vec<f64>,
    /// The costs with the seeds [`RANDOM`].
    pub(crate) random: Vec<f64>,
}

/// The columns of an algorithm among [`plan::hunters`]: sequential orders, random orders.
fn columns(seeker: usize) -> [Range<usize>; 2] {
    let start = seeker * (SEQUENTIAL.len() + RANDOM.len());
    let middle = start + SEQUENTIAL.len();
    [start..middle, middle..middle + RANDOM.len()]
}

/// The clients of a class with an error, or without one.
fn of_class(trials: &Trials, class: Buggy, has_error: bool) -> Vec<usize> {
    let is_wanted = |&client: &usize| {
        trials.clients[client].buggy == Some(class) && trials.has_error(client) == has_error
    };
    (0..trials.begun()).filter(is_wanted).collect()
}

/// The results of this algorithm, class by class. Clients that it did not finish in some order are
/// left out.
pub(crate) fn orders(trials: &Trials, seeker: usize, cost: Cost) -> Vec<Orders> {
    let both = plan::CLASSES.into_iter().flat_map(|class| [(class, true), (class, false)]);
    both.filter_map(|(class, has_error)| {
        let clients = of_class(trials, class, has_error);
        let pairs = pairs(trials, &clients, seeker, cost);
        let gain =
            |gain: fn(&Pair) -> f64| geometric_mean(&pairs.iter().map(gain).collect::<Vec<_>>());
        Some(Orders {
            class,
            has_error,
            seeker,
            clients: pairs.len(),
            sequential: side(pairs.iter().map(|pair| &pair.sequential))?,
            random: side(pairs.iter().map(|pair| &pair.random))?,
            random_gain: gain(|pair| average(&pair.sequential) / average(&pair.random))?,
            sequential_gain: gain(|pair| minimum(&pair.random) / minimum(&pair.sequential))?,
            fair_gain: gain(|pair| minimum(&pair.random) / best_of_three(&pair.sequential))?,
        })
    })
    .collect()
}

/// The costs of this algorithm on each of these clients that it finished in all orders.
pub(crate) fn pairs(trials: &Trials, clients: &[usize], seeker: usize, cost: Cost) -> Vec<Pair> {
    clients.iter().filter_map(|&client| pair(trials, client, seeker, cost)).collect()
}

fn pair(trials: &Trials, client: usize, seeker: usize, cost: Cost) -> Option<Pair> {
    let costs = |columns: Range<usize>| -> Option<Vec<f64>> {
        columns.map(|contender| trials.cost(client, contender, cost)).collect()
    };
    let [sequential, random] = columns(seeker).map(costs);
    Some(Pair { sequential: sequential?, random: random? })
}

fn side<'c>(costs: impl Iterator<Item = &'c Vec<f64>> + Clone) -> Option<Side> {
    let averages: Vec<_> = costs.clone().map(|costs| average(costs)).collect();
    let minima: Vec<_> = costs.map(|costs| minimum(costs)).collect();
    Some(Side { average: mean(&averages)?, minimum: mean(&minima)? })
}

/// The mean of these costs.
pub(crate) fn average(costs: &[f64]) -> f64 {
    mean(costs).unwrap_or(f64::NAN)
}

/// The minimum of these costs.
pub(crate) fn minimum(costs: &[f64]) -> f64 {
    costs.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The minimum of three of the costs, averaged over all ways to choose three. The cost of rank i
/// (from 0) is the minimum of three together with any two of higher rank.
fn best_of_three(costs: &[f64]) -> f64 {
    let mut sorted = costs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let pairs = |above: usize| (above * above.saturating_sub(1) / 2) as f64;
    let all: f64 = (0..n).map(|rank| pairs(n - 1 - rank)).sum();
    let weighted = sorted.iter().enumerate().map(|(rank, cost)| cost * pairs(n - 1 - rank));
    weighted.sum::<f64>() / all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_three_is_an_average_of_minima() {
        assert_eq!(best_of_three(&[3.0, 1.0, 2.0]), 1.0);
        // 1 is the minimum with three pairs of others, 2 with one pair.
        assert_eq!(best_of_three(&[4.0, 1.0, 2.0, 3.0]), (3.0 + 2.0) / 4.0);
    }

    #[test]
    fn columns_are_those_of_the_hunters() {
        let hunters = plan::hunters();
        for (seeker, (name, _)) in plan::SEEKERS.into_iter().enumerate() {
            let [sequential, random] = columns(seeker);
            assert!(hunters[sequential].iter().all(|h| h.name.starts_with(&format!("{name}, "))));
            assert!(hunters[random].iter().all(|h| h.setting.contains("random")));
        }
    }
}
