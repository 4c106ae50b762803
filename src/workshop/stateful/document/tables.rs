//! The tables of the experiments.
//!
//! Algorithms have the names of the paper; the first table gives the explorer for each of them. `-`
//! means that too few clients were finished.

use bytesize::ByteSize;

use super::Section;
use crate::report::table::{Table, or_dash, time};
use crate::report::text::thousands;
use crate::workshop::stateful::Trials;
use crate::workshop::stateful::figures::{Cost, PERCENTS, Speedup, quantile};
use crate::workshop::stateful::orders::{Orders, orders};
use crate::workshop::stateful::plan::{
    CLASSES, EAGER, EAGER_ALONE, EAGER_SUMMARIES, FULL, LAZY, LAZY_ALONE, LAZY_SUMMARIES, S_POR,
    SEEKERS,
};

/// The pairs of algorithms that are compared.
const PAIRS: [(&str, &str); 11] = [
    (S_POR, FULL),
    (EAGER, FULL),
    (LAZY, FULL),
    (LAZY, EAGER),
    (LAZY, S_POR),
    (LAZY_ALONE, EAGER_ALONE),
    (LAZY, LAZY_ALONE),
    (EAGER, EAGER_ALONE),
    (LAZY_SUMMARIES, LAZY),
    (EAGER_SUMMARIES, EAGER),
    (LAZY_SUMMARIES, S_POR),
];

/// The tables about searches of correct structures.
pub(crate) fn of_reductions(trials: &Trials) -> Vec<Section> {
    if trials.begun() == 0 {
        return Vec::new();
    }
    let common = trials.finished_by_all().len();
    let section = |heading, about: &str, table| Section { heading, about: about.into(), table };
    let of_time = format!(
        "Quantiles over the clients. `total` is that of the {common} clients that all finished."
    );
    vec![
        section("Time", &of_time, quantiles(trials, Cost::Time)),
        section("States", "Distinct states stored.", quantiles(trials, Cost::States)),
        section("Memory", ABOUT_MEMORY, quantiles(trials, Cost::Memory)),
        section("Speed-ups", ABOUT_SPEEDUPS, speedups(trials)),
        section("DL-S-POR over S-POR, by potential", ABOUT_POTENTIALS, potentials(trials)),
    ]
}

const ABOUT_MEMORY: &str = "\
Bytes for states and for what is remembered of them. `per state` is over all clients finished.";

const ABOUT_SPEEDUPS: &str = "\
The ratio of the costs of the second to those of the first, client by client. Where no mean is
named, it is the geometric one.";

const ABOUT_POTENTIALS: &str = "\
A third of the clients each, by the states that DL-S-POR stores of those that S-POR does.";

const ABOUT_ERRORS: &str = "\
Means over clients of the averages over six orders (sequential) and three seeds (random), and of
the minima. `ratio` is sequential to random for averages, and random to sequential for minima
(geometric mean over clients): above 1 the paper is right. `3 of 6` is the second for three of the
six orders only, on the average of all such three. Where there is no error a search ends when
everything is seen.";

/// The tables about searches for errors.
pub(crate) fn of_errors(trials: &Trials) -> Vec<Section> {
    let section = |heading, about: &str, cost| {
        let table = by_order(trials, cost);
        Section { heading, about: about.into(), table }
    };
    vec![
        section("Time to the first error", ABOUT_ERRORS, Cost::Time),
        section("States until the first error", "The same for states stored.", Cost::States),
        section(
            "Transitions until the first error",
            "The same for transitions taken.",
            Cost::Transitions,
        ),
    ]
}

/// A cost as text.
pub(crate) fn text(cost: Cost, value: f64) -> String {
    match cost {
        Cost::Time => time(value),
        Cost::States | Cost::Transitions => thousands(value.round() as u64),
        Cost::Memory => ByteSize(value.round() as u64).to_string(),
    }
}

/// A ratio with two decimals: `2.61`.
pub(crate) fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn quantiles(trials: &Trials, cost: Cost) -> Table {
    let mut names = header(&["algorithm", "explorer", "finished"]);
    names.extend(PERCENTS.map(|percent| format!("{percent} %")));
    names.push(if cost == Cost::Memory { "per state" } else { "total" }.into());
    let rows = (0..trials.contenders.len()).map(|contender| {
        let sorted = trials.sorted(contender, cost);
        let who = &trials.contenders[contender];
        let mut row = vec![who.name.clone(), who.setting.clone(), sorted.len().to_string()];
        row.extend(PERCENTS.map(|percent| {
            let value = quantile(&sorted, trials.begun(), percent);
            or_dash(value, |value| text(cost, value))
        }));
        row.push(last_cell(trials, contender, cost));
        row
    });
    Table { figures: 2..names.len(), rows: rows.collect(), header: names }
}

fn last_cell(trials: &Trials, contender: usize, cost: Cost) -> String {
    if cost != Cost::Memory {
        return text(cost, trials.total(&trials.finished_by_all(), contender, cost));
    }
    let all: Vec<_> = (0..trials.clients.len()).collect();
    let bytes = trials.total(&all, contender, Cost::Memory);
    let states = trials.total(&all, contender, Cost::States);
    or_dash((states > 0.0).then_some(bytes / states), |each| format!("{each:.1} B"))
}

fn speedups(trials: &Trials) -> Table {
    let names = header(&[
        "algorithm",
        "over",
        "clients",
        "time\nmean",
        "time",
        "faster\non",
        "states",
        "transitions",
        "memory",
    ]);
    let name = |setting| trials.contenders[trials.contender(setting)].name.clone();
    let rows = PAIRS.iter().filter_map(|&(one, other)| {
        let time = trials.speedup(one, other, Cost::Time)?;
        let geometric =
            |cost| or_dash(trials.speedup(one, other, cost), |speedup| ratio(speedup.geometric));
        let mut row = vec![name(one), name(other)];
        row.extend(figures_of(time));
        row.extend([Cost::States, Cost::Transitions, Cost::Memory].map(geometric));
        Some(row)
    });
    Table { figures: 2..names.len(), rows: rows.collect(), header: names }
}

/// The number of clients, and the speed-up.
fn figures_of(time: Speedup) -> [String; 4] {
    [time.clients.to_string(), ratio(time.mean), ratio(time.geometric), time.ahead.to_string()]
}

fn potentials(trials: &Trials) -> Table {
    let names = header(&[
        "potential",
        "states left",
        "clients",
        "time\nmean",
        "time",
        "faster\non",
        "transitions",
        "memory",
        "summaries:\ntime mean",
        "time",
        "memory",
    ]);
    let thirds = trials.thirds(LAZY, S_POR);
    let rows = thirds.iter().zip(["high", "middle", "low"]).filter_map(|(third, name)| {
        let clients: Vec<usize> = third.iter().map(|&(client, _)| client).collect();
        let (least, most) = (third.first()?.1, third.last()?.1);
        let over = |one, cost| Speedup::of(&trials.ratios(&clients, one, S_POR, cost));
        let geometric = |one, cost| or_dash(over(one, cost), |speedup| ratio(speedup.geometric));
        let mut row = vec![name.into(), format!("{:.0}–{:.0} %", 100.0 * least, 100.0 * most)];
        row.extend(figures_of(over(LAZY, Cost::Time)?));
        row.push(geometric(LAZY, Cost::Transitions));
        row.push(geometric(LAZY, Cost::Memory));
        row.push(or_dash(over(LAZY_SUMMARIES, Cost::Time), |speedup| ratio(speedup.mean)));
        row.push(geometric(LAZY_SUMMARIES, Cost::Time));
        row.push(geometric(LAZY_SUMMARIES, Cost::Memory));
        Some(row)
    });
    Table { figures: 1..names.len(), rows: rows.collect(), header: names }
}

fn by_order(trials: &Trials, cost: Cost) -> Table {
    let names = header(&[
        "calls\nbuggy",
        "error",
        "algorithm",
        "clients",
        "average:\nsequential",
        "random",
        "ratio",
        "minimum:\nsequential",
        "random",
        "ratio",
        "3 of 6",
    ]);
    let mut all: Vec<_> = (0..SEEKERS.len()).flat_map(|s| orders(trials, s, cost)).collect();
    let place = |o: &Orders| CLASSES.iter().position(|&class| class == o.class);
    all.sort_by_key(|o| (!o.has_error, place(o), o.seeker));
    let rows = all.iter().map(|o| {
        vec![
            o.class.word().into(),
            yes_or_no(o.has_error),
            SEEKERS[o.seeker].0.into(),
            o.clients.to_string(),
            text(cost, o.sequential.average),
            text(cost, o.random.average),
            ratio(o.random_gain),
            text(cost, o.sequential.minimum),
            text(cost, o.random.minimum),
            ratio(o.sequential_gain),
            ratio(o.fair_gain),
        ]
    });
    Table { figures: 3..names.len(), rows: rows.collect(), header: names }
}

fn yes_or_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.into()
}
