//! The claims of the paper, our results, and whether they agree.
//!
//! A claim about averages is judged by our average over all clients that both algorithms finished.
//! If the paper reads off a plot that one algorithm is ahead of another, our geometric mean must be
//! above 1.

use serde::Serialize;

use super::Section;
use super::tables::ratio;
use crate::report::table::{Table, or_dash};
use crate::workshop::stateful::figures::{Cost, Speedup};
use crate::workshop::stateful::orders::{Orders, orders};
use crate::workshop::stateful::plan::{
    EAGER, EAGER_ALONE, EAGER_SUMMARIES, FULL, LAZY, LAZY_ALONE, LAZY_SUMMARIES, S_POR, SEEKERS,
};
use crate::workshop::stateful::{Experiment, Trials};

/// A claim of the paper.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// The claim, in words.
    pub(crate) says: String,
    /// Its place in the paper.
    pub(crate) place: &'static str,
    /// Our result.
    pub(crate) ours: String,
    /// Whether the claim holds here; `None` if the measurements do not decide it.
    pub holds: Option<bool>,
}

/// The claims of the paper, each with our result.
pub fn claims(experiment: &Experiment) -> Vec<Claim> {
    let mut claims = of_reductions(&experiment.reductions);
    claims.extend(of_errors(&experiment.errors));
    claims
}

const ABOUT: &str = "\
Ratios of times unless another cost is named; in brackets the same with summaries, which the paper
has not.";

/// The claims as a table.
pub(crate) fn section(experiment: &Experiment) -> Section {
    let names = ["the paper", "where", "here", "comes out"];
    let rows = claims(experiment).into_iter().map(|claim| {
        let holds = or_dash(claim.holds, |holds| if holds { "yes" } else { "no" }.into());
        vec![claim.says, claim.place.into(), claim.ours, holds]
    });
    Section {
        heading: "Claims",
        about: ABOUT.into(),
        table: Table {
            header: names.map(str::to_owned).to_vec(),
            figures: 0..0,
            rows: rows.collect(),
        },
    }
}

/// The claim that one algorithm is faster than another.
struct Ahead {
    says: &'static str,
    place: &'static str,
    one: &'static str,
    other: &'static str,
    /// The two algorithms with summaries.
    summaries: Option<[&'static str; 2]>,
}

const fn ahead(
    says: &'static str,
    place: &'static str,
    [one, other]: [&'static str; 2],
    summaries: Option<[&'static str; 2]>,
) -> Ahead {
    Ahead { says, place, one, other, summaries }
}

const AHEAD: [Ahead; 6] = [
    ahead("S-POR is faster than the full search", "fig. 5", [S_POR, FULL], None),
    ahead(
        "DL-S-POR is faster than the full search",
        "fig. 5",
        [LAZY, FULL],
        Some([LAZY_SUMMARIES, FULL]),
    ),
    ahead(
        "DL-S-POR is faster than DE-S-POR",
        "fig. 5",
        [LAZY, EAGER],
        Some([LAZY_SUMMARIES, EAGER_SUMMARIES]),
    ),
    ahead("so it is without safe sets", "fig. 6", [LAZY_ALONE, EAGER_ALONE], None),
    ahead("safe sets make the lazy way faster", "fig. 6", [LAZY, LAZY_ALONE], None),
    ahead("safe sets make the eager way faster", "fig. 6", [EAGER, EAGER_ALONE], None),
];

impl Ahead {
    fn claim(&self, trials: &Trials) -> Claim {
        let over = |[one, other]: [&str; 2]| trials.speedup(one, other, Cost::Time);
        let speedup = over([self.one, self.other]);
        Claim {
            says: self.says.into(),
            place: self.place,
            ours: or_dash(speedup, in_words) + &bracket(self.summaries.and_then(over)),
            holds: speedup.map(|speedup| speedup.geometric > 1.0),
        }
    }
}

fn of_reductions(trials: &Trials) -> Vec<Claim> {
    let mut claims: Vec<_> = AHEAD.iter().map(|ahead| ahead.claim(trials)).collect();
    claims.push(average_speedup(trials));
    claims.extend(by_potential(trials));
    claims.push(memory_of_full(trials));
    claims
}

fn in_words(speedup: Speedup) -> String {
    let Speedup { clients, mean, geometric, ahead } = speedup;
    let (mean, geometric) = (ratio(mean), ratio(geometric));
    format!("{geometric} (mean {mean}); on {ahead} of {clients}")
}

fn bracket(summaries: Option<Speedup>) -> String {
    summaries.map_or(String::new(), |speedup| format!(" [{}]", ratio(speedup.geometric)))
}

fn average_speedup(trials: &Trials) -> Claim {
    let over = |one, cost| trials.speedup(one, S_POR, cost);
    let speedup = over(LAZY, Cost::Time);
    let transitions = over(LAZY, Cost::Transitions);
    let fewer = transitions.map(|fewer| {
        let (mean, geometric) = (ratio(fewer.mean), ratio(fewer.geometric));
        format!("; in transitions {geometric} (mean {mean})")
    });
    Claim {
        says: "DL-S-POR is 2.6 times faster than S-POR on average".into(),
        place: "4.1.3",
        ours: or_dash(speedup, in_words)
            + &bracket(over(LAZY_SUMMARIES, Cost::Time))
            + &fewer.unwrap_or_default(),
        holds: speedup.map(|speedup| speedup.mean >= 2.6),
    }
}

/// The claims about clients on which DL-S-POR saves many states, and about clients on which it
/// saves few.
fn by_potential(trials: &Trials) -> Vec<Claim> {
    let thirds = trials.thirds(LAZY, S_POR);
    let over = |third: usize, setting, cost| {
        let clients: Vec<usize> = thirds.get(third)?.iter().map(|&(client, _)| client).collect();
        Some(Speedup::of(&trials.ratios(&clients, setting, S_POR, cost))?.geometric)
    };
    let both = |cost| Some((over(0, LAZY, cost)?, over(2, LAZY, cost)?));
    let (time, memory) = (both(Cost::Time), both(Cost::Memory));
    let summaries = |third, cost| {
        or_dash(over(third, LAZY_SUMMARIES, cost), |ours| format!(" [{}]", ratio(ours)))
    };
    let claim = |says: &str, place, ours, holds| Claim { says: says.into(), place, ours, holds };
    vec![
        claim(
            "where there is much to reduce, DL-S-POR gains more over S-POR",
            "4.1.3",
            or_dash(time, |(high, low)| format!("{} (little: {})", ratio(high), ratio(low))),
            time.map(|(high, low)| high > low),
        ),
        claim(
            "there it is faster than S-POR",
            "4.1.3",
            or_dash(time, |(high, _)| ratio(high)) + &summaries(0, Cost::Time),
            time.map(|(high, _)| high > 1.0),
        ),
        claim(
            "where there is little to reduce, S-POR is faster",
            "4.1.3",
            or_dash(time, |(_, low)| ratio(low)) + &summaries(2, Cost::Time),
            time.map(|(_, low)| low < 1.0),
        ),
        claim(
            "where there is much to reduce, DL-S-POR needs less memory than S-POR",
            "fig. 7",
            or_dash(memory, |(high, low)| format!("{} (little: {})", ratio(high), ratio(low)))
                + &summaries(0, Cost::Memory),
            memory.map(|(high, _)| high > 1.0),
        ),
    ]
}

fn memory_of_full(trials: &Trials) -> Claim {
    let over = |one| Some(trials.speedup(one, FULL, Cost::Memory)?.geometric);
    let both = over(S_POR).zip(over(LAZY));
    Claim {
        says: "S-POR and DL-S-POR need more memory than the full search".into(),
        place: "fig. 7",
        ours: or_dash(both, |(s_por, lazy)| {
            format!("S-POR {} times the memory, DL-S-POR {}", ratio(1.0 / s_por), ratio(1.0 / lazy))
        }),
        holds: both.map(|(s_por, lazy)| s_por < 1.0 && lazy < 1.0),
    }
}

/// For each algorithm, the claims about random and sequential orders.
fn of_errors(trials: &Trials) -> Vec<Claim> {
    (0..SEEKERS.len()).flat_map(|seeker| by_order(trials, seeker)).collect()
}

fn by_order(trials: &Trials, seeker: usize) -> [Claim; 2] {
    let mut classes = orders(trials, seeker, Cost::Time);
    classes.retain(|orders| orders.has_error);
    let has_any = (!classes.is_empty()).then_some(());
    let listed = |gain: fn(&Orders) -> f64| {
        let gains = classes.iter().map(|o| format!("{} {}", o.class.word(), ratio(gain(o))));
        gains.collect::<Vec<_>>().join(", ")
    };
    let claim = |says: &str, ours: String, gain: fn(&Orders) -> f64| Claim {
        says: format!("{} finds errors sooner {says}", SEEKERS[seeker].0),
        place: "fig. 10, B",
        ours: or_dash(has_any, |()| ours),
        holds: has_any.map(|()| classes.iter().all(|orders| gain(orders) > 1.0)),
    };
    [
        claim("at random, on average", listed(|o| o.random_gain), |o| o.random_gain),
        claim(
            "in the best of all orders than at random",
            format!("{}; 3 of 6: {}", listed(|o| o.sequential_gain), listed(|o| o.fair_gain)),
            |o| o.sequential_gain,
        ),
    ]
}
