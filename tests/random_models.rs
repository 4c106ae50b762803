//! Random small programs, and what they must reach to be worth running.
//!
//! A [`Program`] is a little syntax tree with two lives: [`Program::text`] prints it in the modelling
//! language, so that a failure can be pasted into a file, and [`Script`] runs it as a
//! [`System`](mazurka::model::System) of its own, without the language front end. The two must agree on
//! everything, which tests the front end; and the tests of the explorers need not trust it.

mod generate;
mod program;
mod rng;
mod script;
mod shares;
mod text;

pub use generate::generate;
pub use program::{Body, Comparison, Condition, Program, Statement, Variable};
pub use rng::Rng;
pub use script::Script;

use std::sync::OnceLock;

use mazurka::explore::{Budget, Method, NoObserver, explore};

/// Larger programs are passed over.
pub const MAX_EXECUTIONS: u64 = 3_000;
/// Larger ones are no programs for the oracle, which is quadratic and worse.
pub const MAX_CONFIGURATIONS: usize = 20_000;

/// A program small enough to be tested.
pub struct Sample {
    /// Where it came from.
    pub seed: u64,
    /// Its syntax tree.
    pub program: Program,
    /// It as a system.
    pub script: Script,
    /// How many complete executions it has.
    pub executions: u64,
    /// How many Mazurkiewicz classes they are, by the exhaustive explorer.
    pub classes: u64,
    /// How many of the executions end in a deadlock.
    pub deadlocked: u64,
}

/// The first programs that are small enough, from seed 0 on: as many as an ordinary run has time for, or
/// `MAZURKA_PROGRAMS`.
pub fn samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let asked = std::env::var("MAZURKA_PROGRAMS").ok();
        let count = asked.map_or(300, |count| count.parse().expect("MAZURKA_PROGRAMS is a number"));
        (0..).filter_map(sample).take(count).collect()
    })
}

/// The program of `seed`, unless it is too large.
pub fn sample(seed: u64) -> Option<Sample> {
    let program = generate(seed);
    let script = Script::new(&program);
    let budget = Budget { all: true, max_traces: Some(MAX_EXECUTIONS), ..Budget::default() };
    let outcome = explore(&script, Method::Exhaustive, budget, &mut NoObserver);
    outcome.is_complete().then(|| Sample {
        seed,
        program,
        script,
        executions: outcome.stats.traces,
        classes: outcome.stats.classes.expect("the exhaustive explorer counts classes"),
        deadlocked: outcome.stats.deadlocked_traces,
    })
}

impl Sample {
    /// For messages: the seed, and the program to be pasted.
    pub fn describe(&self) -> String {
        format!("the program of seed {}:\n\n{}", self.seed, self.program.text())
    }
}
