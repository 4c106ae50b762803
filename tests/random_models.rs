//! Random small programs, and what they must cover to be useful.
//!
//! There are three families. A [`Program`] of processes is a small syntax tree with two uses:
//! [`Program::text`] prints it in the modelling language, so that a failure can be pasted into a
//! file, and [`Script`] runs it as a [`System`] without the language front end. The two must agree
//! on everything, which tests the front end; and the tests of the explorers need not trust it. An
//! [`ActorProgram`](actors::ActorProgram) is run by an [`ActorScript`]. A [`P2pScript`] is a
//! program of processes with p2p and bag mailboxes.
//!
//! Programs with more computations than these exist only as text: see [`language`].
//!
//! A law holds for all families. Its test gets the family by [`Subject`], and uses [`processes`],
//! [`actors()`] and [`p2p()`].

pub mod actors;
pub mod commuting;
mod generate;
pub mod language;
mod operations;
pub mod p2p;
mod program;
pub mod ranks;
mod rng;
mod script;
mod shares;
mod text;
pub mod unforeseen;

pub use actors::ActorScript;
pub use generate::{generate, generate_later};
pub use operations::kind_of;
pub use p2p::P2pScript;
pub use program::{Body, Comparison, Condition, Program, Statement, Variable};
pub use rng::Rng;
pub use script::Script;

use std::sync::OnceLock;

use mazurka::explore::{Budget, Exhaustive, NoObserver, explore};
use mazurka::model::System;

/// Programs with more executions are skipped.
pub const MAX_EXECUTIONS: u64 = 3_000;
/// Larger programs are too large for the oracle, which is at least quadratic.
pub const MAX_CONFIGURATIONS: usize = 20_000;

/// A random program as a system.
pub trait Subject: System + Clone {
    /// The program of `seed`.
    fn of(seed: u64) -> Self;

    /// The program, for people.
    fn text(&self) -> String;

    /// Features that some explorers do not support.
    fn features(&self) -> Features;
}

/// The features of a program, as far as explorers depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// All its processes are actors.
    pub actors: bool,
    /// Some actor may refuse a message.
    pub guards: bool,
    /// Some actor has internal handlers.
    pub internals: bool,
    /// Most of its mailboxes are p2p and bag ones.
    pub network: bool,
}

impl Subject for Script {
    fn of(seed: u64) -> Self {
        Script::new(generate(seed))
    }

    fn text(&self) -> String {
        self.program.text()
    }

    fn features(&self) -> Features {
        Features { actors: false, guards: false, internals: false, network: false }
    }
}

impl Subject for ActorScript {
    fn of(seed: u64) -> Self {
        ActorScript::new(actors::generate(seed))
    }

    fn text(&self) -> String {
        self.program.text()
    }

    fn features(&self) -> Features {
        let internals = self.program.has_internals();
        Features { actors: true, guards: self.actors().has_guards(), internals, network: false }
    }
}

/// A program small enough to be tested.
pub struct Sample<S> {
    /// The seed that it was generated from.
    pub seed: u64,
    /// The program.
    pub script: S,
    /// The number of its complete executions.
    pub executions: u64,
    /// The number of their Mazurkiewicz classes, by the exhaustive explorer.
    pub classes: u64,
    /// The number of executions that end in a deadlock.
    pub deadlocked: u64,
}

/// The first programs of processes that are small enough, from seed 0 on: as many as an ordinary
/// run has time for, or `MAZURKA_PROGRAMS`.
pub fn processes() -> &'static [Sample<Script>] {
    static SAMPLES: OnceLock<Vec<Sample<Script>>> = OnceLock::new();
    SAMPLES.get_or_init(|| first_samples(300, Script::of))
}

/// Programs of processes with the newer objects: mutexes that are tried, reader-writer locks,
/// condition variables.
pub fn later() -> &'static [Sample<Script>] {
    static SAMPLES: OnceLock<Vec<Sample<Script>>> = OnceLock::new();
    SAMPLES.get_or_init(|| first_samples(200, |seed| Script::new(generate_later(seed))))
}

/// Programs of actors.
pub fn actors() -> &'static [Sample<ActorScript>] {
    static SAMPLES: OnceLock<Vec<Sample<ActorScript>>> = OnceLock::new();
    SAMPLES.get_or_init(|| first_samples(160, ActorScript::of))
}

/// Programs of processes with p2p and bag mailboxes.
pub fn p2p() -> &'static [Sample<P2pScript>] {
    static SAMPLES: OnceLock<Vec<Sample<P2pScript>>> = OnceLock::new();
    SAMPLES.get_or_init(|| first_samples(300, P2pScript::of))
}

/// The number of programs of a family: `ordinary`, or `MAZURKA_PROGRAMS`.
pub fn asked(ordinary: usize) -> usize {
    let asked = std::env::var("MAZURKA_PROGRAMS").ok();
    asked.map_or(ordinary, |count| count.parse().expect("MAZURKA_PROGRAMS is a number"))
}

fn first_samples<S: Subject>(ordinary: usize, of: fn(u64) -> S) -> Vec<Sample<S>> {
    (0..).filter_map(|seed| Sample::new(seed, of(seed))).take(asked(ordinary)).collect()
}

impl<S: Subject> Sample<S> {
    /// This program, unless it is too large. The seed is for messages.
    pub fn new(seed: u64, script: S) -> Option<Self> {
        let budget = Budget { all: true, max_traces: Some(MAX_EXECUTIONS), ..Budget::default() };
        let outcome = explore(&script, Exhaustive, budget, &mut NoObserver);
        outcome.is_complete().then(|| Sample {
            seed,
            script,
            executions: outcome.stats.traces,
            classes: outcome.stats.classes.expect("the exhaustive explorer counts classes"),
            deadlocked: outcome.stats.deadlocked_traces,
        })
    }

    /// For messages: the seed, and the program.
    pub fn describe(&self) -> String {
        format!("the program of seed {}:\n\n{}", self.seed, self.script.text())
    }
}
