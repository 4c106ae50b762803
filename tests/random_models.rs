//! Random small programs, and what they must cover to be useful.
//!
//! There are three families. A [`Program`] of processes is a small syntax tree with two uses:
//! [`Program::text`] prints it in the modelling language, so that a failure can be pasted into a
//! file, and [`Script`] runs it as a [`System`] without the language front end. The two must agree
//! on everything, which tests the front end; and the tests of the explorers need not trust it. An
//! [`ActorProgram`](actors::ActorProgram) is run by an [`ActorScript`]. The programs of [`ranks`] have p2p and
//! bag mailboxes.
//!
//! Programs with more computations than these exist only as text: see [`language`].
//!
//! A law holds for all families. Its test gets the family by [`Subject`], and uses [`processes`],
//! [`actors()`] and [`p2p()`].

pub mod actors;
pub mod commuting;
mod erased;
mod generate;
pub mod language;
mod operations;
mod program;
pub mod ranks;
pub mod rng;
mod script;
mod shares;
mod text;
pub mod unforeseen;

pub use actors::ActorScript;
pub use erased::{Erased, Features};
pub use generate::{generate, generate_later};
pub use operations::kind_of;
pub use program::{Body, Comparison, Condition, Program, Sent, Statement, Variable};
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
    /// The program, for people.
    fn text(&self) -> String;

    /// Features that some explorers do not support.
    fn features(&self) -> Features;
}

impl Subject for Erased<'_> {
    fn text(&self) -> String {
        self.about().0.clone()
    }

    fn features(&self) -> Features {
        self.about().1
    }
}

impl Subject for Script {
    fn text(&self) -> String {
        self.program.text()
    }

    fn features(&self) -> Features {
        let Program { templates, deliveries, collectives, polls, .. } = &self.program;
        // What a collective yields is an integer in the tree, and in the text what it is in the
        // language. And the number of polls is no part of the text.
        let is_its_text = collectives.is_empty() && polls.is_none();
        let (spawns, network) = (!templates.is_empty(), !deliveries.is_empty());
        Features { spawns, network, is_its_text, ..Features::default() }
    }
}

impl Subject for ActorScript {
    fn text(&self) -> String {
        self.program.text()
    }

    fn features(&self) -> Features {
        Features {
            actors: true,
            guards: self.actors().has_guards(),
            internals: self.program.has_internals(),
            spawns: self.program.may_spawn(),
            ..Features::default()
        }
    }
}

/// A program small enough to be tested.
pub struct Sample<S = Erased<'static>> {
    /// Where it came from.
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

/// The first programs of processes that are small enough, from seed 0 on: as many as an ordinary run has time
/// for, or `MAZURKA_PROGRAMS`.
pub fn processes() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| first_samples(150, |seed| Script::new(generate(seed))))
}

/// The same, of processes with the objects that came later: mutexes that are tried, reader-writer locks, condition
/// variables.
pub fn later() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| first_samples(150, |seed| Script::new(generate_later(seed))))
}

/// The same, of actors.
pub fn actors() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| first_samples(130, |seed| ActorScript::new(actors::generate(seed))))
}

/// The same, with p2p and bag mailboxes.
pub fn p2p() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| first_samples(150, |seed| Script::new(ranks::generate(seed))))
}

/// The same, with collectives on an intercommunicator, or in which some counts are 0.
pub fn partners() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    let sample = |seed| {
        let change = if seed % 2 == 0 { ranks::between_groups } else { ranks::with_counts };
        let script = Script::new(change(ranks::generate(seed), seed)?);
        let (text, features) = (script.text(), script.features());
        // Collectives alone give one class.
        Sample::new(seed, Erased::new(script).told(text, features))
            .filter(|sample| sample.classes > 1 && sample.executions < 300)
    };
    SAMPLES.get_or_init(|| (0..).filter_map(sample).take(asked(3)).collect())
}

/// The number of programs of a family: `ordinary`, or `MAZURKA_PROGRAMS`.
pub fn asked(ordinary: usize) -> usize {
    let asked = std::env::var("MAZURKA_PROGRAMS").ok();
    asked.map_or(ordinary, |count| count.parse().expect("MAZURKA_PROGRAMS is a number"))
}

fn first_samples<S>(ordinary: usize, of: fn(u64) -> S) -> Vec<Sample>
where
    S: Subject + Send + 'static,
{
    let sample = |seed| {
        let program = of(seed);
        let (text, features) = (program.text(), program.features());
        Sample::new(seed, Erased::new(program).told(text, features))
    };
    (0..).filter_map(sample).take(asked(ordinary)).collect()
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
