//! The plots of the paper, with our costs.
//!
//! | file | shows | as in |
//! |---|---|---|
//! | `time.svg`, `time-safe-sets.svg` | quantiles of times | figures 5 and 6 |
//! | `states.svg` | quantiles of states | |
//! | `memory.svg`, `memory-safe-sets.svg` | quantiles of memory | figures 7 and 8 |
//! | `scatter-time.svg`, `scatter-memory.svg` | S-POR against DL-S-POR, client by client | figures 5 and 7, inset |
//! | `errors-average.svg`, `errors-minimum.svg` | quantiles of times to the first error | figure 10 |
//!
//! A quantile plot sorts the clients by cost, separately for each line. A line ends with the last
//! finished client; the legend has the number of finished clients.

use crate::workshop::plot::{self, Dot, Line, Look, Plot, Unit, decades};
use crate::workshop::stateful::figures::Cost;
use crate::workshop::stateful::orders::{Pair, average, minimum, pairs};
use crate::workshop::stateful::plan::{
    EAGER, EAGER_ALONE, EAGER_SUMMARIES, FULL, LAZY, LAZY_ALONE, LAZY_SUMMARIES, S_POR, SEEKERS,
};
use crate::workshop::stateful::{Experiment, Trials};
use crate::workshop::study::Picture;

const MAIN: &[&str] = &[FULL, S_POR, EAGER, LAZY, EAGER_SUMMARIES, LAZY_SUMMARIES];
const SAFE_SETS: &[&str] = &[EAGER_ALONE, LAZY_ALONE, EAGER, LAZY];
const EVERY: &[&str] = &[FULL, S_POR, EAGER, LAZY, EAGER_ALONE, LAZY_ALONE, LAZY_SUMMARIES];

/// All non-empty plots.
pub fn pictures(experiment: &Experiment) -> Vec<Picture> {
    let Experiment { reductions, errors } = experiment;
    let plots = [
        ("time", quantiles(reductions, "Processor time", MAIN, Cost::Time)),
        ("time-safe-sets", quantiles(reductions, "Processor time", SAFE_SETS, Cost::Time)),
        ("states", quantiles(reductions, "States", EVERY, Cost::States)),
        ("memory", quantiles(reductions, "Memory", MAIN, Cost::Memory)),
        ("memory-safe-sets", quantiles(reductions, "Memory", SAFE_SETS, Cost::Memory)),
        ("scatter-time", scatter(reductions, "Processor time", Cost::Time)),
        ("scatter-memory", scatter(reductions, "Memory", Cost::Memory)),
        ("errors-average", to_first_error(errors, "average", average)),
        ("errors-minimum", to_first_error(errors, "minimum", minimum)),
    ];
    let is_shown = |plot: &Plot| plot.lines.iter().any(|line| !line.dots.is_empty());
    let plots = plots.into_iter().filter(|(_, plot)| is_shown(plot));
    plots
        .map(|(file, plot)| Picture {
            file: format!("{file}.svg"),
            svg: plot::svg(&plot),
            title: plot.title,
        })
        .collect()
}

fn unit(cost: Cost) -> Unit {
    match cost {
        Cost::Time => Unit::Seconds,
        Cost::States | Cost::Transitions => Unit::Count,
        Cost::Memory => Unit::Bytes,
    }
}

fn quantiles(trials: &Trials, what: &str, settings: &[&str], cost: Cost) -> Plot {
    let lines = settings.iter().map(|setting| {
        let contender = trials.contender(setting);
        ranked(&trials.contenders[contender].name, &trials.sorted(contender, cost))
    });
    Plot {
        title: format!("{what}, clients sorted for each algorithm"),
        y_label: what.to_lowercase(),
        unit: unit(cost),
        ..by_rank(lines.collect(), trials.begun())
    }
}

/// A line through sorted costs.
fn ranked(name: &str, sorted: &[f64]) -> Line {
    let dot = |(rank, &y): (usize, &f64)| Dot { x: (rank + 1) as f64, y, is_whole: true };
    Line {
        name: format!("{name} ({})", sorted.len()),
        dots: sorted.iter().enumerate().map(dot).collect(),
        look: Look::Dense,
        ..Line::default()
    }
}

fn by_rank(lines: Vec<Line>, clients: usize) -> Plot {
    let step = clients.div_ceil(10).next_multiple_of(if clients > 20 { 5 } else { 1 }).max(1);
    let places = (0..=clients.div_ceil(step)).map(|n| n * step);
    Plot {
        x_label: "clients".into(),
        ticks: places.map(|place| (place as f64, place.to_string())).collect(),
        lines,
        ..Plot::default()
    }
}

/// S-POR against DL-S-POR; colours show how much there is to reduce.
fn scatter(trials: &Trials, what: &str, cost: Cost) -> Plot {
    let [s_por, lazy] = [S_POR, LAZY].map(|setting| trials.contender(setting));
    let pair = |client| Some((trials.cost(client, s_por, cost)?, trials.cost(client, lazy, cost)?));
    let names = ["much to reduce", "some to reduce", "little to reduce"];
    let mut lines = Vec::new();
    for (third, name) in trials.thirds(LAZY, S_POR).iter().zip(names) {
        let pairs = third.iter().filter_map(|&(client, _)| pair(client));
        let dots = pairs.map(|(x, y)| Dot { x: x.log10(), y, is_whole: true });
        let (name, dots) = (name.into(), dots.collect());
        lines.push(Line { name, dots, look: Look::Loose, ..Line::default() });
    }
    let all = (0..trials.clients.len()).filter_map(pair);
    let ticks = decades(all.flat_map(|(x, y)| [x, y]), unit(cost));
    if let Some(first) = lines.first_mut() {
        first.broken = ticks.iter().map(|(place, _)| (*place, 10f64.powf(*place))).collect();
    }
    Plot {
        title: format!("{what}: DL-S-POR against S-POR, each client"),
        x_label: "S-POR".into(),
        y_label: "DL-S-POR".into(),
        ticks,
        unit: unit(cost),
        lines,
        broken: "as much for both",
    }
}

/// Clients with an error, in sequential orders and at random.
fn to_first_error(trials: &Trials, what: &str, of_orders: fn(&[f64]) -> f64) -> Plot {
    let clients: Vec<_> = (0..trials.begun()).filter(|&client| trials.has_error(client)).collect();
    let mut lines = Vec::new();
    for (seeker, (name, _)) in SEEKERS.into_iter().enumerate() {
        let pairs = pairs(trials, &clients, seeker, Cost::Time);
        let mut line = |order: &str, costs: fn(&Pair) -> &[f64]| {
            let mut sorted: Vec<_> = pairs.iter().map(|pair| of_orders(costs(pair))).collect();
            sorted.sort_by(f64::total_cmp);
            lines.push(ranked(&format!("{name}, {order}"), &sorted));
        };
        line("sequential", |pair| &pair.sequential);
        line("random", |pair| &pair.random);
    }
    Plot {
        title: format!("Time to the first error: {what} over orders, clients sorted"),
        y_label: "processor time".into(),
        unit: Unit::Seconds,
        ..by_rank(lines, clients.len())
    }
}
