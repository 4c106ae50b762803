//! A search by each engine, to be measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mazurka::explore::{Budget, NoObserver, explore};
use mazurka::lang::compile;
use mazurka::program::Closures;
use mazurka::systems::history::History;
use must::{Config, CountingObserver, System};
use shuttle::Runner;
use shuttle::scheduler::DfsScheduler;

use crate::measure::{Engine, Search};

/// The number of executions after which loom and shuttle stop.
const MOST: usize = 20_000;

/// A whole verification: builds the program, runs its processes, and visits every class of
/// executions.
pub fn mazurka(program: impl Fn() -> History<Closures> + 'static) -> Search {
    Search::new(Engine::Mazurka, move || {
        let checked = mazurka::check(&program()).all().run();
        assert!(checked.is_ok(), "{checked}");
        checked.outcome.stats.traces
    })
}

/// Compiles a program as a model, and visits every class.
pub fn model(spec: &str, constants: &[(&str, usize)]) -> Search {
    by(Engine::Model, "udpor", spec, constants)
}

/// Visits every state of a model.
pub fn states(spec: &str, constants: &[(&str, usize)]) -> Search {
    by(Engine::States, "stateful", spec, constants)
}

/// Visits every state of a model and stores only hashes, as Stateright does.
pub fn hashed_states(spec: &str, constants: &[(&str, usize)]) -> Search {
    by(Engine::HashedStates, "stateful:hash-compaction", spec, constants)
}

fn by(engine: Engine, explorer: &'static str, spec: &str, constants: &[(&str, usize)]) -> Search {
    let path = format!("{}/../../specs/{spec}.maz", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let valued = |&(name, value): &(&str, usize)| (name.to_owned(), value.to_string());
    let constants: Vec<_> = constants.iter().map(valued).collect();
    Search::new(engine, move || {
        let program = compile(&path, &source, &constants);
        let program = program.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let setting: mazurka::explore::Setting = explorer.parse().expect("an explorer");
        let budget = Budget { all: true, ..Budget::default() };
        let stats = explore(&program, setting, budget, &mut NoObserver).stats;
        stats.states.unwrap_or(stats.traces)
    })
}

pub fn must(program: impl Fn() -> System + Copy + Send + Sync + 'static) -> Search {
    Search::new(Engine::Must, move || {
        let counter = CountingObserver::new();
        must::explore(program, &counter, Config::default());
        assert_eq!(counter.errors(), 0);
        (counter.full() + counter.blocked()) as u64
    })
}

pub fn traceforge(program: impl Fn() + Copy + Send + Sync + 'static) -> Search {
    Search::new(Engine::TraceForge, move || {
        let config = traceforge::Config::builder().with_progress_report(u32::MAX as usize).build();
        let stats = traceforge::verify(config, program);
        (stats.execs + stats.block) as u64
    })
}

/// Loom without a bound on preemptions, so all executions that loom distinguishes.
pub fn loom(program: impl Fn() + Copy + Send + Sync + 'static) -> Search {
    Search::up_to(MOST as u64, Engine::Loom, move || {
        let executions = Arc::new(AtomicUsize::new(0));
        let counter = executions.clone();
        let mut builder = loom::model::Builder::new();
        (builder.preemption_bound, builder.log) = (None, false);
        // Loom stops before execution number `MOST` + 1, and checks the number only at this
        // interval.
        (builder.max_permutations, builder.checkpoint_interval) = (Some(MOST + 1), MOST + 1);
        builder.check(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            program();
        });
        executions.load(Ordering::Relaxed) as u64
    })
}

/// Shuttle depth-first, so all schedules.
pub fn shuttle(program: impl Fn() + Copy + Send + Sync + 'static) -> Search {
    Search::up_to(MOST as u64, Engine::Shuttle, move || {
        let scheduler = DfsScheduler::new(Some(MOST), false);
        // Shuttle's own hook would report each thread that loom unwinds.
        let hook = std::panic::take_hook();
        let executions = Runner::new(scheduler, shuttle::Config::default()).run(program);
        std::panic::set_hook(hook);
        executions as u64
    })
}

/// A Stateright model, depth first or breadth first.
pub fn stateright(engine: Engine, search: fn() -> u64) -> Search {
    Search::new(engine, search)
}
