//! Benchmarks: speed and memory, as ratios within one run.
//!
//! ```console
//! $ cargo bench                          # everything that is quick: two minutes
//! $ cargo bench -- table1 rmq            # some sections
//! $ cargo bench -- families --full       # the heavy programs, too
//! ```
//!
//! Absolute times say more about a machine and its load than about a program, so each table puts side by
//! side what belongs together: this crate and figures published elsewhere, one design choice and its
//! opposite, one size of a family and the next. Only ratios within a table are meant to be compared from
//! run to run.
//!
//! Every figure comes from a process of its own (`measure`): this program runs itself again with the job as an
//! argument. So a peak of memory is that of one search, and no search inherits the heap of another. Times
//! are processor times of the search alone, without reading and compiling the spec; of a search that is short
//! the fastest of several runs counts.
//!
//! Nothing here passes or fails by time. Counts are another matter: they are exact, and where one differs from
//! what it has to be it is marked with ≠.
//!
//! | section | question |
//! |---|---|
//! | `table1` | what the paper on UDPOR for asynchronous programs printed, and what this crate does |
//! | `rmq` | the one program that all message-passing checkers have been run on |
//! | `families` | locks and shared memory, by k; what other checkers need for the same programs |
//! | `explorers` | one program after the other by every explorer that is made for it |
//! | `states` | searches that store states: what a state costs, and what a reduction saves |
//! | `ablation` | what the design choices are worth |
//! | `growth` | does a transition cost the same in a large program as in a small one? |
//!
//! Figures of other tools are quoted, not measured: they come from other machines or other days, include the
//! start of the tool, and are good for orders of magnitude.

mod ablation;
mod explorers;
mod families;
mod growth;
mod measure;
mod rmq;
mod states;
mod table;
mod table1;

use clap::{Parser, ValueEnum};

use measure::Bench;

/// Measure speed and memory, as ratios within one run
#[derive(Parser)]
#[command(name = "cargo bench --", bin_name = "cargo bench --")]
struct Args {
    /// Which sections; all if none is named
    sections: Vec<Section>,
    /// Measure the heavy programs, too: some minutes more
    #[arg(long)]
    full: bool,
    /// What cargo adds of its own.
    #[arg(long, hide = true)]
    bench: bool,
    /// One measurement in this process, for a parent that wants its figures.
    #[arg(long, hide = true)]
    measure: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    /// The programs of FORTE 2019, table 1
    Table1,
    /// RMQ-receiving, beside the figures of other checkers
    Rmq,
    /// Locks and shared memory, by k
    Families,
    /// One program after the other by every explorer
    Explorers,
    /// Searches that store states
    States,
    /// What the design choices are worth
    Ablation,
    /// The cost of a transition as programs grow
    Growth,
}

fn main() {
    let args = Args::parse();
    if let Some(job) = args.measure {
        return measure::as_child(&job);
    }
    if cfg!(debug_assertions) {
        return println!("Not optimised, so there is nothing to measure: see `cargo bench`.");
    }
    let bench = Bench::new(args.full);
    for &section in Section::value_variants() {
        if !args.sections.is_empty() && !args.sections.contains(&section) {
            continue;
        }
        match section {
            Section::Table1 => table1::run(&bench),
            Section::Rmq => rmq::run(&bench),
            Section::Families => families::run(&bench),
            Section::Explorers => explorers::run(&bench),
            Section::States => states::run(&bench),
            Section::Ablation => ablation::run(&bench),
            Section::Growth => growth::run(&bench),
        }
    }
}
