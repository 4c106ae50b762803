//! The pictures of the gallery, from the specs of this repository and from figures that papers print.
//!
//! Nothing in them depends on the machine: counts, no times. A test makes them again and compares. Every search is
//! complete, or the picture says what is left out.

use std::path::Path;
use std::{fs, io};

use mazurka::explore::recording::{Extent, record};
use mazurka::explore::{
    AnyExplorer, Budget, Exhaustive, K, NoObserver, Source, Udpor, explore, unfold,
};
use mazurka::lang::{Program, compile};
use mazurka::report::picture::{ControlFlow, PartialOrder, Picture, SearchTree, SpaceTime};
use mazurka::report::{Subject, svg};
use mazurka::workshop::papers;
use mazurka::workshop::plot::{self, Dot, Line, Plot};

/// The pictures with their names.
pub fn all(root: &Path) -> io::Result<Vec<(String, String)>> {
    let spec = |path: &str, defines: &[(&str, u32)]| Spec::read(root, path, defines);
    let tiny = "specs/memory/one-is-not-enough.maz";
    let files = [
        ("unfolding", spec("specs/memory/lost-update.maz", &[])?.unfolding()),
        ("deadlock", spec("specs/mutex/philosophers.maz", &[])?.deadlock()),
        ("control-flow", spec("specs/mutex/filesystem.maz", &[])?.control_flow()),
        ("search-k1", spec(tiny, &[])?.search(K::Partial(1))),
        ("search-optimal", spec(tiny, &[])?.search(K::Optimal)),
        ("blocked-ssbexp", explorations(root, "specs/mutex/ssbexp.maz", "K", 2..=7, &[])?),
        (
            "blocked-dispatcher",
            explorations(root, "specs/mutex/dispatcher.maz", "S", 1..=6, &[("R", 2)])?,
        ),
        ("rmq", rmq(root)?),
    ];
    Ok(files.map(|(name, svg)| (format!("{name}.svg"), svg)).to_vec())
}

struct Spec {
    subject: Subject,
    program: Program,
}

impl Spec {
    fn read(root: &Path, path: &str, defines: &[(&str, u32)]) -> io::Result<Spec> {
        let source = fs::read_to_string(root.join(path))?;
        let defines: Vec<_> =
            defines.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let program = compile(path, &source, &defines).expect("a spec of this repository");
        let subject = Subject {
            mazurka: env!("CARGO_PKG_VERSION"),
            spec: path.into(),
            path: path.into(),
            constants: Default::default(),
            granularity: None,
            allow_pending: false,
            daemons: Vec::new(),
            unfair: false,
            semantics: None,
            faults: Default::default(),
            command: None,
            source,
            defines: defines.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        };
        Ok(Spec { subject, program })
    }

    fn unfolding(self) -> String {
        let (mut prefix, outcome) = unfold(&self.program, EVENTS, budget(), &mut NoObserver);
        let order =
            PartialOrder::of_unfolding(self.subject, &self.program, &mut prefix, &outcome, EVENTS);
        svg::render(&Picture::Order(order))
    }

    fn deadlock(self) -> String {
        let method = Udpor::default();
        let outcome = explore(&self.program, method, Budget::default(), &mut NoObserver);
        let schedule = &outcome.violations.first().expect("a deadlock").schedule;
        let chart = SpaceTime::of_execution(self.subject, &self.program, schedule, EVENTS);
        svg::render(&Picture::SpaceTime(chart.expect("an execution")))
    }

    fn control_flow(self) -> String {
        let flows = self.program.flows();
        svg::render(&Picture::Processes(ControlFlow::new(self.subject, flows)))
    }

    fn search(self, k: K) -> String {
        let (mut full, _) = unfold(&self.program, EVENTS, budget(), &mut NoObserver);
        let extent = Extent { events: EVENTS, calls: usize::MAX };
        let search = record(&self.program, k, extent, budget(), &mut NoObserver);
        let tree = SearchTree::of_search(self.subject, &self.program, k, search, &mut full, EVENTS);
        svg::render(&Picture::Steps(tree))
    }
}

const EVENTS: usize = 300;

fn budget() -> Budget {
    Budget { all: true, ..Budget::default() }
}

/// Executions that searches follow, to the end or until they are blocked, over a family of programs. Searches that
/// follow the same number everywhere share a line.
fn explorations(
    root: &Path,
    path: &str,
    constant: &str,
    sizes: std::ops::RangeInclusive<u32>,
    fixed: &[(&str, u32)],
) -> io::Result<String> {
    let mut lines: Vec<Line> = Vec::new();
    for (name, method) in [
        ("source-DPOR", AnyExplorer::from(Source::default())),
        ("UDPOR k=1", Udpor { k: K::Partial(1), order: None }.into()),
        ("UDPOR k=2", Udpor { k: K::Partial(2), order: None }.into()),
        ("UDPOR optimal", Udpor::default().into()),
    ] {
        let mut dots = Vec::new();
        for size in sizes.clone() {
            let defines = [&[(constant, size)], fixed].concat();
            let program = Spec::read(root, path, &defines)?.program;
            let stats = explore(&program, method, budget(), &mut NoObserver).stats;
            dots.push(dot(size, stats.traces + stats.blocked));
        }
        match lines.iter_mut().find(|line| line.dots == dots) {
            Some(same) => same.name += &format!(", {name}"),
            None => lines.push(Line { dots, ..line(name) }),
        }
    }
    let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    let with: String = fixed.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
    Ok(plot::svg(&Plot {
        title: format!("{name}{with}: executions followed; those of UDPOR optimal are the classes"),
        x_label: constant.into(),
        y_label: "traces + blocked explorations".into(),
        ticks: sizes.map(|size| (f64::from(size), size.to_string())).collect(),
        lines,
        ..Plot::default()
    }))
}

/// RMQ-receiving: what the paper prints, and what comes out here, further than it goes.
fn rmq(root: &Path) -> io::Result<String> {
    let mut lines = vec![line("interleavings"), line("events of the unfolding"), line("classes")];
    for n in 2..=8 {
        let program = Spec::read(root, "specs/mailbox/rmq-receiving.maz", &[("N", n)])?.program;
        if n < 5 {
            let stats = explore(&program, Exhaustive, budget(), &mut NoObserver).stats;
            lines[0].dots.push(dot(n, stats.traces));
        }
        let whole = Budget { keep_events: usize::MAX, ..budget() };
        let stats = explore(&program, Udpor::default(), whole, &mut NoObserver).stats;
        lines[1].dots.push(dot(n, stats.events.expect("UDPOR counts events")));
        lines[2].dots.push(dot(n, stats.traces));
    }
    lines.push(printed("interleavings, FORTE 2019", "exhaustive traces"));
    lines.push(printed("classes, FORTE 2019", "udpor traces"));
    Ok(plot::svg(&Plot {
        title: "RMQ-receiving: N - 1 senders, one receiver".into(),
        x_label: "N".into(),
        y_label: "number".into(),
        ticks: (2..=8).map(|n| (f64::from(n), n.to_string())).collect(),
        lines,
        ..Plot::default()
    }))
}

/// What table 1 of the paper has in this column for the program.
fn printed(name: &str, heading: &str) -> Line {
    let paper = papers::named("udpor").expect("the table");
    let column = paper.columns.iter().position(|column| column.heading == heading);
    let column = column.expect("the column");
    let rows = paper.rows.iter().filter(|row| row.program == "RMQ-receiving");
    let dots = rows.filter_map(|row| {
        let n = row.constants.strip_prefix("N=")?.parse().ok()?;
        Some(dot(n, row.cells[column].printed.parse().ok()?))
    });
    Line { dots: dots.collect(), ..line(name) }
}

fn line(name: &str) -> Line {
    Line { name: name.into(), ..Line::default() }
}

fn dot(x: u32, y: u64) -> Dot {
    Dot { x: f64::from(x), y: y as f64, is_whole: true }
}
