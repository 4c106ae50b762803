//! A search by each engine: how many executions, and how many in a second.

use std::fmt;
use std::time::{Duration, Instant};

use mazurka::program::Closures;
use mazurka::systems::history::History;
use must::{Config, CountingObserver, System, explore};

/// A search is repeated until it has taken this long, because many of them take less than a millisecond.
const LONG: Duration = Duration::from_millis(300);

/// What one engine did.
#[derive(Clone, Copy)]
pub struct Measured {
    executions: u64,
    per_second: f64,
}

/// A program by all three.
pub struct Row {
    pub name: String,
    all: [Measured; 3],
}

pub fn row(name: &str, mazurka: Measured, must: Measured, traceforge: Measured) -> Row {
    Row { name: name.into(), all: [mazurka, must, traceforge] }
}

/// The whole of it: the program is built, its processes are run, every class of executions is visited.
pub fn mazurka(program: impl Fn() -> History<Closures>) -> Measured {
    measure(|| {
        let checked = mazurka::check(&program()).all().run();
        assert!(checked.is_ok(), "{checked}");
        checked.outcome.stats.traces
    })
}

pub fn must(program: impl Fn() -> System + Copy + Send + Sync + 'static) -> Measured {
    measure(|| {
        let counter = CountingObserver::new();
        explore(program, &counter, Config::default());
        assert_eq!(counter.errors(), 0);
        (counter.full() + counter.blocked()) as u64
    })
}

pub fn traceforge(program: impl Fn() + Copy + Send + Sync + 'static) -> Measured {
    measure(|| {
        let config = traceforge::Config::builder().with_progress_report(u32::MAX as usize).build();
        let stats = traceforge::verify(config, program);
        (stats.execs + stats.block) as u64
    })
}

fn measure(search: impl Fn() -> u64) -> Measured {
    let executions = search();
    let (start, mut searches) = (Instant::now(), 0);
    while searches == 0 || start.elapsed() < LONG {
        assert_eq!(search(), executions);
        searches += 1;
    }
    let per_second = (executions * searches) as f64 / start.elapsed().as_secs_f64();
    Measured { executions, per_second }
}

impl Row {
    pub const HEADER: &str = "
                            executions                       in a second
program             Mazurka    must-mc  TraceForge     Mazurka  must-mc  TraceForge   Mazurka : must-mc";

    pub fn agrees(&self) -> bool {
        self.all.iter().all(|one| one.executions == self.all[0].executions)
    }

    /// How much faster than must-mc.
    pub fn ratio(&self) -> f64 {
        self.all[0].per_second / self.all[1].per_second
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.all.map(|one| one.executions);
        let [x, y, z] = self.all.map(|one| one.per_second.round());
        let ratio = self.ratio();
        write!(
            f,
            "{:<17} {a:>9}  {b:>9}   {c:>9}   {x:>9}  {y:>7}   {z:>9}   {ratio:>6.1}",
            self.name
        )
    }
}
