//! Benchmarks: speed and memory, as ratios within one run.
//!
//! ```console
//! $ cargo bench                          # everything that is quick: some minutes
//! $ cargo bench -- table1 rmq            # some sections
//! $ cargo bench -- families --full       # the heavy programs, too
//! ```
//!
//! Absolute times say more about a machine and its load than about a program, so each table puts
//! side by side what belongs together: this crate and figures published elsewhere, one design
//! choice and its opposite, one size of a family and the next. Only ratios within a table are meant
//! to be compared from run to run.
//!
//! Every figure comes from a process of its own (`measure`): this program runs itself again with
//! the job as an argument. So a peak of memory is that of one search, and no search inherits the
//! heap of another. Times are processor times of the search alone, without reading and compiling
//! the spec; of a search that is short the fastest of several runs counts.
//!
//! Nothing here passes or fails by time. Counts are another matter: they are exact, and where one
//! differs from what it has to be it is marked with ≠. Instructions can be repeated, too:
//! `.ci/instructions` fails if they differ by more than 5% from those that were recorded.
//!
//! | section | question |
//! |---|---|
//! | `table1` | what the paper on UDPOR for asynchronous programs printed, and what this crate does |
//! | `rmq` | the one program that all message-passing checkers have been run on |
//! | `families` | locks and shared memory, by k; what other checkers need for the same programs |
//! | `floor` | what each explorer costs beside the model, whose steps nobody can do without |
//! | `instructions` | the same in instructions, which can be repeated: have the inner loops become slower? |
//! | `explorers` | one program after the other by every explorer that is made for it |
//! | `states` | searches that store states: what a state costs, and what a reduction saves |
//! | `ablation` | what the design choices are worth |
//! | `growth` | does a transition cost the same in a large program as in a small one? |
//!
//! Figures of other tools are quoted, not measured: they come from other machines or other days,
//! include the start of the tool, and are good for orders of magnitude.

mod ablation;
mod callgrind;
mod explorers;
mod families;
mod floor;
mod growth;
mod instructions;
mod measure;
mod rmq;
mod states;
mod table;
mod table1;
mod tape;

use std::process::ExitCode;

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
    /// One search under callgrind, for a parent that wants its instructions.
    #[arg(long, hide = true)]
    count: Option<String>,
    /// Fail unless instructions are as recorded: for `.ci/instructions`
    #[arg(long)]
    recorded: bool,
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
    /// What each explorer costs beside the model
    Floor,
    /// The same in instructions, held against recorded ones
    Instructions,
    /// One program after the other by every explorer
    Explorers,
    /// Searches that store states
    States,
    /// What the design choices are worth
    Ablation,
    /// The cost of a transition as programs grow
    Growth,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(job) = args.measure {
        measure::as_child(&job);
        return ExitCode::SUCCESS;
    }
    if let Some(job) = args.count {
        callgrind::as_child(&job);
        return ExitCode::SUCCESS;
    }
    if cfg!(debug_assertions) {
        println!("Not optimised, so there is nothing to measure: see `cargo bench`.");
        return ExitCode::SUCCESS;
    }
    let bench = Bench::new(args.full);
    let mut is_good = true;
    for &section in Section::value_variants() {
        if !args.sections.is_empty() && !args.sections.contains(&section) {
            continue;
        }
        match section {
            Section::Table1 => table1::run(&bench),
            Section::Rmq => rmq::run(&bench),
            Section::Families => families::run(&bench),
            Section::Floor => floor::run(&bench),
            Section::Instructions => is_good &= instructions::run(&bench, args.recorded),
            Section::Explorers => explorers::run(&bench),
            Section::States => states::run(&bench),
            Section::Ablation => ablation::run(&bench),
            Section::Growth => growth::run(&bench),
        }
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
