//! Benchmarks: speed and memory, as ratios within one run.
//!
//! ```console
//! $ cargo bench                          # all quick programs: some minutes
//! $ cargo bench -- table1 rmq            # some sections
//! $ cargo bench -- families --full       # the heavy programs, too
//! ```
//!
//! Absolute times depend more on the machine and its load than on the program, so each table
//! compares figures of one run: this crate and figures published elsewhere, one design choice and
//! its opposite, one size of a family and the next. Only ratios within a table are meant to be
//! compared from run to run.
//!
//! Every figure comes from a process of its own (`measure`): this program runs itself again with
//! the job as an argument. So a peak of memory belongs to one search, and no search inherits the
//! heap of another. Times are processor times of the search alone, without reading and compiling
//! the spec; for a short search, the fastest of several runs counts.
//!
//! Nothing here passes or fails by time. But counts are exact, and a count that differs from the
//! expected one is marked with ≠. Instruction counts are reproducible, too: `.ci/instructions`
//! fails if they differ by more than 5% from the recorded ones.
//!
//! | section | question |
//! |---|---|
//! | `table1` | the printed figures of the paper on UDPOR for asynchronous programs, beside ours |
//! | `rmq` | the one program for which all message-passing checkers have figures |
//! | `families` | locks and shared memory, by k; times of other checkers for the same programs |
//! | `floor` | the overhead of each explorer over the steps of the bare model |
//! | `instructions` | the overhead in instructions, which are reproducible |
//! | `explorers` | several programs, each by every explorer that can be used on it |
//! | `states` | searches that store states: the cost of a state, and the gain of each reduction |
//! | `prefix` | events of the finite prefix beside classes and states |
//! | `ablation` | the gain of each design choice |
//! | `growth` | does a transition cost the same in a large program as in a small one? |
//! | `memory` | is the memory the same for ten million classes as for ten thousand? |
//!
//! Figures of other tools are quoted, not measured: they come from other machines or other days,
//! include the start of the tool, and show orders of magnitude only.

mod ablation;
mod callgrind;
mod explorers;
mod families;
mod floor;
mod growth;
mod instructions;
mod measure;
mod memory;
mod prefix;
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
    /// Which sections to run; all if none is named
    sections: Vec<Section>,
    /// Also measure the heavy programs: some minutes more
    #[arg(long)]
    full: bool,
    /// One search under callgrind, for a parent process that counts its instructions.
    #[arg(long, hide = true)]
    count: Option<String>,
    /// Fail unless instructions are as recorded: for `.ci/instructions`
    #[arg(long)]
    recorded: bool,
    /// Cargo adds this argument.
    #[arg(long, hide = true)]
    bench: bool,
    /// One measurement in this process, for a parent process.
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
    /// The overhead of each explorer over the bare model
    Floor,
    /// The overhead in instructions, compared with the recorded counts
    Instructions,
    /// Several programs, each by every explorer
    Explorers,
    /// Searches that store states
    States,
    /// The finite prefix beside classes and states
    Prefix,
    /// The gain of each design choice
    Ablation,
    /// The cost of a transition as programs grow
    Growth,
    /// The memory as classes become more
    Memory,
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
            Section::Prefix => prefix::run(&bench),
            Section::Ablation => ablation::run(&bench),
            Section::Growth => growth::run(&bench),
            Section::Memory => memory::run(&bench),
        }
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
