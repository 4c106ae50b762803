//! Measures searches by several engines in alternation.
//!
//! A machine may be busy for a while, and that must not make one engine look slow. So there are
//! rounds: in each of them every engine searches once, or repeatedly until it has taken [`LONG`].
//! Times are processor times of all threads. The time of an engine is the median over the rounds.
//! Its ratio to Mazurka is the ratio of the medians, and the spread is the least and the greatest
//! ratio within a round.

use std::fmt;
use std::time::Duration;

use cpu_time::ProcessTime;

/// In a round, a search is repeated until it has taken this long, because many of them take less
/// than a millisecond.
const LONG: Duration = Duration::from_millis(60);
const ROUNDS: usize = 5;

/// An engine that searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// Closures, by UDPOR.
    Mazurka,
    /// A model, by UDPOR.
    Model,
    /// A model, by the explorer that stores every state.
    States,
    /// A model, by the explorer that stores a hash of every state.
    HashedStates,
    Must,
    TraceForge,
    Loom,
    Shuttle,
    StaterightDepth,
    StaterightBreadth,
}

impl Engine {
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Mazurka => "Mazurka",
            Engine::Model => "Mazurka, as a model",
            Engine::States => "Mazurka, states",
            Engine::HashedStates => "Mazurka, hashes",
            Engine::Must => "must-mc",
            Engine::TraceForge => "TraceForge",
            Engine::Loom => "loom",
            Engine::Shuttle => "shuttle",
            Engine::StaterightDepth => "Stateright, depth first",
            Engine::StaterightBreadth => "Stateright, breadth first",
        }
    }

    /// Does it count what Mazurka counts?
    ///
    /// Loom distinguishes more executions: an atomic variable may be read at an older value, and a
    /// class may be visited several times. Shuttle explores all schedules.
    fn counts_the_same(self) -> bool {
        !matches!(self, Engine::Loom | Engine::Shuttle)
    }
}

/// A search of one program.
pub struct Search {
    engine: Engine,
    /// Runs it, and returns the number of executions or states.
    run: Box<dyn Fn() -> u64>,
    /// The count at which it stops.
    most: u64,
}

impl Search {
    pub fn new(engine: Engine, run: impl Fn() -> u64 + 'static) -> Search {
        Search::up_to(u64::MAX, engine, run)
    }

    pub fn up_to(most: u64, engine: Engine, run: impl Fn() -> u64 + 'static) -> Search {
        Search { engine, run: Box::new(run), most }
    }
}

/// The figures of an engine.
pub struct Measured {
    pub engine: Engine,
    /// The number of executions or states.
    pub count: u64,
    /// Was the search cut, so that there are more?
    pub is_cut: bool,
    /// The median of the times, in seconds.
    pub time: f64,
    /// Ratios to the time of the first engine: of the medians, the least and the greatest.
    pub ratio: [f64; 3],
}

/// A program by all engines. The first one is Mazurka.
pub struct Comparison {
    pub program: String,
    pub all: Vec<Measured>,
}

/// Measures the engines in rounds.
pub fn compare(program: &str, searches: Vec<Search>) -> Comparison {
    let first: Vec<_> = searches.iter().map(|search| timed(search, 1)).collect();
    let often = |seconds: f64| (LONG.as_secs_f64() / seconds).ceil().max(1.0) as u32;
    let mut times = vec![Vec::new(); searches.len()];
    for _ in 0..ROUNDS {
        for ((search, times), &(count, seconds)) in searches.iter().zip(&mut times).zip(&first) {
            let (again, seconds) = timed(search, often(seconds));
            assert_eq!(again, count, "{program} by {:?}", search.engine);
            times.push(seconds);
        }
    }
    let all = searches.iter().zip(&first).zip(&times).map(|((search, &(count, _)), own)| {
        let ratios: Vec<f64> = own.iter().zip(&times[0]).map(|(own, base)| own / base).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = ratios.iter().copied().fold(0.0, f64::max);
        let ratio = [median(own) / median(&times[0]), least, greatest];
        let (engine, is_cut) = (search.engine, count >= search.most);
        Measured { engine, count, is_cut, time: median(own), ratio }
    });
    Comparison { program: program.into(), all: all.collect() }
}

/// The count of a search, and its time in seconds.
fn timed(search: &Search, often: u32) -> (u64, f64) {
    let start = ProcessTime::now();
    let counts: Vec<u64> = (0..often).map(|_| (search.run)()).collect();
    let seconds = start.elapsed().as_secs_f64() / f64::from(often);
    assert!(
        counts.iter().all(|&count| count == counts[0]),
        "{:?} counts {counts:?}",
        search.engine
    );
    (counts[0], seconds)
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

impl Comparison {
    pub const HEADER: &str = "
program             engine                         count        time   a second   ratio  (spread)";

    /// Do all engines with the same kind of count have equal counts?
    pub fn agrees(&self) -> bool {
        self.all.iter().all(|one| !self.differs(one))
    }

    fn differs(&self, one: &Measured) -> bool {
        one.engine.counts_the_same() && one.count != self.all[0].count
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut program = self.program.as_str();
        for one in &self.all {
            let mark = match () {
                () if self.differs(one) => "≠ ",
                () if one.is_cut => "> ",
                () => "",
            };
            let [ratio, least, greatest] = one.ratio;
            let bound = if one.is_cut { "> " } else { "" };
            writeln!(
                f,
                "{program:<19} {:<25} {:>10}  {:>10} {:>10.0} {:>7}  {}",
                one.engine.name(),
                format!("{mark}{}", one.count),
                format!("{bound}{:.2} ms", 1e3 * one.time),
                one.count as f64 / one.time,
                format!("{bound}{ratio:.2}"),
                if program.is_empty() {
                    format!("({least:.2} to {greatest:.2})")
                } else {
                    String::new()
                },
            )?;
            program = "";
        }
        Ok(())
    }
}
