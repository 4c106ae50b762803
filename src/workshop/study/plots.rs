//! The plots of a study.
//!
//! | plot | one for each | lines |
//! |---|---|---|
//! | traces + blocked against k | spec and explorer with a k | constants; broken: the traces alone |
//! | time against k | spec and explorer with a k | constants |
//! | SAT calls against k | spec and explorer with a k, if there are calls | constants |
//! | time against a swept constant | spec, swept constant and values of the others | explorers with their k |
//! | SAT calls against a swept constant | as for time, if there are calls | explorers with their k |
//!
//! A plot with a single place on its x axis would show nothing, so it is left out. A constant may
//! be called K, and file systems that ignore case would confuse it with k: so where both are
//! possible, the names of files and titles say that it is a constant.

use std::path::Path;

use super::Study;
use crate::study::{Figures, Point};
use crate::workshop::plot::{self, Dot, Line, Plot, Unit};

/// A plot as a file.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Its file name.
    pub file: String,
    pub(crate) title: String,
    /// Its contents.
    pub svg: String,
}

/// All plots of a study.
pub fn pictures(study: &Study) -> Vec<Picture> {
    let mut pictures = Pictures::default();
    for points in grouped(&study.points, |point| point.row.spec.clone()) {
        let with_k = points.iter().copied().filter(|point| point.k().is_some());
        for family in grouped(with_k, Point::family) {
            let what = format!("{} by {}", name(&points), family[0].family());
            pictures.add(&format!("{what}, traces and blocked by k"), explorations(&family, &what));
            pictures.add(&format!("{what}, time by k"), time_by_k(&family, &what));
            if family.iter().any(|point| asks_solver(point)) {
                pictures.add(&format!("{what}, SAT calls by k"), sat_calls_by_k(&family, &what));
            }
        }
        for constant in swept(&points) {
            for points in grouped(points.iter().copied(), |point| others(point, &constant)) {
                let fixed = others(points[0], &constant);
                let with = if fixed.is_empty() { "" } else { " with " };
                let what = format!("{}{with}{fixed}", name(&points));
                let over = named(&constant);
                let plot = time_by_constant(&points, &what, &constant);
                pictures.add(&format!("{what}, time over {over}"), plot);
                if points.iter().any(|point| asks_solver(point)) {
                    let plot = sat_calls_by_constant(&points, &what, &constant);
                    pictures.add(&format!("{what}, SAT calls over {over}"), plot);
                }
            }
        }
    }
    pictures.0
}

/// The reason why some specs have no plot of SAT calls, in a sentence; `None` if each has one, or
/// no search could have made calls.
pub(super) fn without_sat_calls(study: &Study) -> Option<String> {
    let with_k: Vec<_> = study.points.iter().filter(|point| point.k().is_some()).collect();
    let specs = grouped(with_k.iter().copied(), |point| point.row.spec.clone());
    let is_silent = |points: &&Vec<&Point>| !points.iter().any(|point| asks_solver(point));
    let silent: Vec<_> = specs.iter().filter(is_silent).collect();
    let whose = match silent.len() {
        0 => return None,
        n if n == specs.len() => String::new(),
        _ => {
            let names: Vec<_> = silent.iter().map(|points| &*points[0].row.spec).collect();
            format!(" for {}", names.join(", "))
        }
    };
    let is_optimal = |point: &&Point| point.k().as_deref() == Some("optimal");
    let why = match silent.into_iter().flatten().any(is_optimal) {
        true => {
            "a short search settled every question, and only what it cannot settle goes to the solver"
        }
        false => "only k = optimal asks the solver",
    };
    Some(format!("No plot of SAT calls{whose}: {why}."))
}

fn asks_solver(point: &Point) -> bool {
    let stats = point.row.measured().map(|measured| &measured.stats);
    stats.and_then(|stats| stats.sat_calls).is_some_and(|calls| calls > 0)
}

/// The name of a constant in file names and titles.
fn named(constant: &str) -> String {
    let takes = if constant.eq_ignore_ascii_case("k") { "constant " } else { "" };
    format!("{takes}{constant}")
}

#[derive(Default)]
struct Pictures(Vec<Picture>);

impl Pictures {
    fn add(&mut self, name: &str, plot: Plot) {
        if plot.ticks.len() < 2 || plot.lines.is_empty() {
            return;
        }
        let stem = slug(name);
        let is_free = |file: &String| self.0.iter().all(|other| &other.file != file);
        let numbered = (2..).map(|n| format!("{stem}-{n}.svg"));
        let file = [format!("{stem}.svg")].into_iter().chain(numbered).find(is_free);
        let file = file.expect("a number that is free");
        self.0.push(Picture { file, svg: plot::svg(&plot), title: plot.title });
    }
}

/// A file name: in lower case, because some file systems ignore case; letters, digits and `=` only.
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let letters = lower.chars().map(|c| match c {
        c if c.is_alphanumeric() || c == '=' => c,
        _ => '-',
    });
    let words: String = letters.collect();
    words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The spec without its folder and extension.
fn name(points: &[&Point]) -> String {
    let spec = &points[0].row.spec;
    Path::new(spec).file_stem().map_or(spec.clone(), |stem| stem.to_string_lossy().into_owned())
}

/// The points grouped by a key; groups and points stay in their order.
fn grouped<'p>(
    points: impl IntoIterator<Item = &'p Point>,
    key: impl Fn(&Point) -> String,
) -> Vec<Vec<&'p Point>> {
    let mut groups: Vec<(String, Vec<&Point>)> = Vec::new();
    for point in points {
        let of = key(point);
        match groups.iter_mut().find(|(known, _)| *known == of) {
            Some((_, group)) => group.push(point),
            None => groups.push((of, vec![point])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The constants that have several values.
fn swept(points: &[&Point]) -> Vec<String> {
    let mut constants: Vec<String> = Vec::new();
    for (name, value) in points.iter().flat_map(|point| &point.defines) {
        let is_other = |other: &&Point| other.defines.iter().any(|(n, v)| n == name && v != value);
        if !constants.contains(name) && points.iter().any(is_other) {
            constants.push(name.clone());
        }
    }
    constants
}

/// All constants but this one, as text.
fn others(point: &Point, constant: &str) -> String {
    let others = point.defines.iter().filter(|(name, _)| name != constant);
    others.map(|(name, value)| format!("{}={value}", named(name))).collect::<Vec<_>>().join(", ")
}

fn value<'p>(point: &'p Point, constant: &str) -> &'p str {
    let defines = &point.defines;
    defines.iter().find(|(name, _)| name == constant).map_or("", |(_, value)| value)
}

fn explorations(points: &[&Point], what: &str) -> Plot {
    let all = |stats: &Figures| Some((stats.traces + stats.blocked) as f64);
    let mut plot = Plot {
        title: format!("{what}: executions explored"),
        x_label: "k".into(),
        y_label: "traces + blocked".into(),
        unit: Unit::Count,
        broken: "traces alone",
        ..by_k(points, all)
    };
    for (line, points) in plot.lines.iter_mut().zip(grouped(points.iter().copied(), constants)) {
        let traces = points.iter().filter_map(|point| Some(point.row.measured()?.stats.traces));
        let broken = line.dots.iter().zip(traces);
        line.broken = broken.map(|(dot, traces)| (dot.x, traces as f64)).collect();
    }
    plot
}

fn time_by_k(points: &[&Point], what: &str) -> Plot {
    Plot {
        title: format!("{what}: time against k"),
        x_label: "k".into(),
        y_label: "time".into(),
        unit: Unit::Seconds,
        ..by_k(points, |stats| Some(stats.wall_seconds))
    }
}

fn sat_calls_by_k(points: &[&Point], what: &str) -> Plot {
    Plot {
        title: format!("{what}: SAT calls against k"),
        x_label: "k".into(),
        y_label: "SAT calls".into(),
        unit: Unit::Count,
        ..by_k(points, sat_calls)
    }
}

fn sat_calls(stats: &Figures) -> Option<f64> {
    stats.sat_calls.map(|calls| calls as f64)
}

fn constants(point: &Point) -> String {
    point.row.defines.clone()
}

/// One line for each program, over k.
fn by_k(points: &[&Point], figure: impl Fn(&Figures) -> Option<f64>) -> Plot {
    let k = |point: &Point| point.k().unwrap_or_default();
    let ticks: Vec<_> = grouped(points.iter().copied(), k).iter().map(|same| k(same[0])).collect();
    let ticks: Vec<_> = ticks.into_iter().enumerate().map(|(at, k)| (at as f64, k)).collect();
    let lines = grouped(points.iter().copied(), constants);
    let lines = lines.iter().map(|points| {
        let name = if points[0].row.defines.is_empty() { "all" } else { &points[0].row.defines };
        line(name, points, &ticks, k, &figure)
    });
    Plot { lines: lines.filter(|line| !line.dots.is_empty()).collect(), ticks, ..Plot::default() }
}

fn time_by_constant(points: &[&Point], what: &str, constant: &str) -> Plot {
    Plot {
        title: format!("{what}: time against {}", named(constant)),
        y_label: "time".into(),
        unit: Unit::Seconds,
        ..by_constant(points, constant, |stats| Some(stats.wall_seconds))
    }
}

fn sat_calls_by_constant(points: &[&Point], what: &str, constant: &str) -> Plot {
    Plot {
        title: format!("{what}: SAT calls against {}", named(constant)),
        y_label: "SAT calls".into(),
        unit: Unit::Count,
        ..by_constant(points, constant, sat_calls)
    }
}

/// One line for each explorer and k, over the values of a constant.
fn by_constant(
    points: &[&Point],
    constant: &str,
    figure: impl Fn(&Figures) -> Option<f64>,
) -> Plot {
    let place = |point: &Point| value(point, constant).to_owned();
    let values = grouped(points.iter().copied(), place);
    let values: Vec<_> = values.iter().map(|same| place(same[0])).collect();
    let numbers: Option<Vec<f64>> = values.iter().map(|value| value.parse().ok()).collect();
    let places = numbers.unwrap_or_else(|| (0..values.len()).map(|at| at as f64).collect());
    let mut ticks: Vec<_> = places.into_iter().zip(values).collect();
    ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let by_setting = grouped(points.iter().copied(), |point| point.row.searcher.to_string());
    let lines = by_setting.iter().map(|points| {
        let name = points[0].row.searcher.to_string();
        line(&name, points, &ticks, place, &figure)
    });
    Plot {
        x_label: constant.into(),
        lines: lines.filter(|line| !line.dots.is_empty()).collect(),
        ticks,
        ..Plot::default()
    }
}

/// A line through the measured points, at the ticks with their names.
fn line(
    name: &str,
    points: &[&Point],
    ticks: &[(f64, String)],
    place: impl Fn(&Point) -> String,
    figure: &impl Fn(&Figures) -> Option<f64>,
) -> Line {
    let dot = |point: &&Point| {
        let (x, _) = ticks.iter().find(|(_, name)| *name == place(point))?;
        let y = figure(&point.row.measured()?.stats)?;
        Some(Dot { x: *x, y, is_whole: point.complete().is_some() })
    };
    let mut dots: Vec<_> = points.iter().filter_map(dot).collect();
    dots.sort_by(|a, b| a.x.total_cmp(&b.x));
    Line { name: name.into(), dots, ..Line::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_plain_names() {
        assert_eq!(slug("a b by udpor:order=lca, time by k"), "a-b-by-udpor-order=lca-time-by-k");
        assert_eq!(slug("R-Max/N=3"), "r-max-n=3");
    }
}
