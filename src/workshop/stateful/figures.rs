//! The costs of searches over many clients: quantiles, means and speed-ups.
//!
//! A **quantile** is by nearest rank: the 50 % quantile of n clients is the client of rank ⌈n/2⌉ in
//! the order of costs. Clients that were not finished come last, because their cost is unknown. A
//! quantile among them does not exist.
//!
//! The **speed-up** of one algorithm over another is the ratio of their costs on one client. Over
//! many clients the paper gives the *average of speed-ups*. But if each of two algorithms is twice
//! as fast as the other on half of the clients, this average is 1.25 both ways. The *geometric
//! mean* is then 1 both ways. So verdicts are based on the geometric mean, unless the paper names
//! an average.

use crate::study::Measured;

use super::Trials;

/// A kind of cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Processor time in seconds; wall time, if processor time was not measured.
    Time,
    /// States stored.
    States,
    /// Transitions taken, without those in stored graphs.
    Transitions,
    /// Bytes for states and for what is stored about them.
    Memory,
}

impl Cost {
    /// The cost of this search; `None` if the explorer does not measure it.
    pub(crate) fn of(self, measured: &Measured) -> Option<f64> {
        let stats = &measured.stats;
        match self {
            Cost::Time => Some(measured.processor_seconds.unwrap_or(stats.wall_seconds)),
            Cost::States => stats.states.map(|states| states as f64),
            Cost::Transitions => Some(stats.transitions as f64),
            Cost::Memory => stats.state_bytes.map(|bytes| bytes as f64),
        }
    }
}

/// The quantiles that are shown, in percent.
pub(crate) const PERCENTS: [usize; 6] = [10, 25, 50, 75, 90, 100];

/// A quantile over `clients` clients; `sorted` has the costs of the finished ones, ascending.
/// `None` if the quantile is not among these.
pub(crate) fn quantile(sorted: &[f64], clients: usize, percent: usize) -> Option<f64> {
    let rank = (clients * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// The mean; `None` if there are no values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The geometric mean; `None` if there are no values.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logarithms).map(f64::exp)
}

/// How many times less one algorithm costs than another, over clients that both finished.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Speedup {
    /// The number of clients.
    pub(crate) clients: usize,
    /// The average of the ratios.
    pub(crate) mean: f64,
    /// The geometric mean of the ratios.
    pub(crate) geometric: f64,
    /// The number of clients on which it costs less.
    pub(crate) ahead: usize,
}

impl Speedup {
    /// The speed-up for these ratios; `None` if there are none.
    pub(crate) fn of(ratios: &[f64]) -> Option<Speedup> {
        Some(Speedup {
            clients: ratios.len(),
            mean: mean(ratios)?,
            geometric: geometric_mean(ratios)?,
            ahead: ratios.iter().filter(|&&ratio| ratio > 1.0).count(),
        })
    }
}

impl Trials {
    /// The costs of the finished searches of this contender, ascending.
    pub(crate) fn sorted(&self, contender: usize, cost: Cost) -> Vec<f64> {
        let clients = 0..self.clients.len();
        let mut costs: Vec<_> = clients.filter_map(|c| self.cost(c, contender, cost)).collect();
        costs.sort_by(f64::total_cmp);
        costs
    }

    /// The sum of the costs of this contender over these clients.
    pub(crate) fn total(&self, clients: &[usize], contender: usize, cost: Cost) -> f64 {
        clients.iter().filter_map(|&client| self.cost(client, contender, cost)).sum()
    }

    /// The clients that all contenders finished.
    pub(crate) fn finished_by_all(&self) -> Vec<usize> {
        let all = |&client: &usize| {
            (0..self.contenders.len()).all(|c| self.finished(client, c).is_some())
        };
        (0..self.clients.len()).filter(all).collect()
    }

    /// How many times less `one` costs than `other`, for each of these clients that both finished.
    pub(crate) fn ratios(&self, clients: &[usize], one: &str, other: &str, cost: Cost) -> Vec<f64> {
        let [one, other] = [one, other].map(|setting| self.contender(setting));
        let ratio =
            |&client: &usize| Some(self.cost(client, other, cost)? / self.cost(client, one, cost)?);
        clients.iter().filter_map(ratio).collect()
    }

    /// The speed-up of `one` over `other`, over all clients that both finished.
    pub(crate) fn speedup(&self, one: &str, other: &str, cost: Cost) -> Option<Speedup> {
        let clients: Vec<_> = (0..self.clients.len()).collect();
        Speedup::of(&self.ratios(&clients, one, other, cost))
    }

    /// The clients that both finished, in three parts of about equal size, each client with the
    /// fraction of states that `one` stores of those of `other`. The first part has the clients on
    /// which `one` saves most.
    pub(crate) fn thirds(&self, one: &str, other: &str) -> Vec<Vec<(usize, f64)>> {
        let of = |client: usize| {
            let saved = self.ratios(&[client], one, other, Cost::States);
            Some((client, 1.0 / saved.first()?))
        };
        let mut clients: Vec<_> = (0..self.clients.len()).filter_map(of).collect();
        clients.sort_by(|a, b| a.1.total_cmp(&b.1));
        let third = clients.len().div_ceil(3).max(1);
        clients.chunks(third).map(<[_]>::to_vec).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let sorted: Vec<f64> = (1..=10).map(f64::from).collect();
        let of = |clients, percent| quantile(&sorted, clients, percent);
        assert_eq!((of(10, 10), of(10, 25), of(10, 50)), (Some(1.0), Some(3.0), Some(5.0)));
        assert_eq!((of(10, 90), of(10, 100), of(10, 0)), (Some(9.0), Some(10.0), Some(1.0)));
        assert_eq!((of(20, 50), of(20, 51)), (Some(10.0), None));
        assert_eq!(quantile(&[], 0, 50), None);
    }

    #[test]
    fn a_geometric_mean_takes_no_side() {
        let speedup = Speedup::of(&[2.0, 0.5]).unwrap();
        assert_eq!((speedup.mean, speedup.clients, speedup.ahead), (1.25, 2, 1));
        assert!((speedup.geometric - 1.0).abs() < 1e-12);
        assert_eq!(Speedup::of(&[]), None);
    }
}
