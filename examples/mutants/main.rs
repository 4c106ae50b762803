//! Mutation testing: changes the code in one place after the other, and says which test fails then.
//!
//! To build the project for each change would take days. So all changes (*mutants*) are in one
//! program, and the environment chooses one of them (`MAZURKA_MUTANT=1234`): a mutant costs no more
//! than its tests. This is known as mutant schemata (R. H. Untch, A. J. Offutt, M. J. Harrold:
//! Mutation Analysis Using Mutant Schemata, ISSTA 1993).
//!
//! ```console
//! $ cargo run --release --features tools --example mutants -- --sample 500 --files src/trace
//! ```
//!
//! 1. The project is copied to a folder below `target`, and the mutants are written into the copy
//!    ([`operators`]). Those that do not compile are taken out ([`copy`]). Their numbers stay the
//!    same as long as the sources do.
//! 2. Each test runs by itself once, without a mutant. It is noted which mutants it meets, and how
//!    long it takes ([`tests`]). A mutant that no test meets survives without a run.
//! 3. For each mutant in the sample the tests run that meet it, until one fails: quick ones first,
//!    and those that have found many ([`trials`]). A test that takes much longer than it should has
//!    found the mutant, too.
//!
//! `verdicts.jsonl` in that folder has a line for each mutant that was tried. Who starts the
//! command again goes on where it ended. `explained.md` beside this file says of survivors why they
//! are none to worry about.

mod copy;
mod operators;
mod tests;
mod trials;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

/// What is changed.
const MUTATED: [&str; 7] = [
    "src/model",
    "src/trace",
    "src/unfolding",
    "src/alternatives",
    "src/explore",
    "src/lang",
    "src/audit",
];

/// Change the code in one place after the other, and say which test notices
#[derive(Parser)]
struct Args {
    /// Only mutants in files with this in their path; may be given several times
    #[arg(long)]
    files: Vec<String>,
    /// So many of them, by chance
    #[arg(long)]
    sample: Option<usize>,
    /// What decides which
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the mutant with this number
    #[arg(long)]
    mutant: Option<u32>,
    /// Stop after this time, such as `2h`
    #[arg(long, value_parser = humantime::parse_duration)]
    time: Option<Duration>,
    /// So much time for the tests of one mutant, as long as they take without it
    #[arg(long, default_value = "60s", value_parser = humantime::parse_duration)]
    patience: Duration,
    /// Only tests with this in their name; may be given several times
    #[arg(long)]
    tests: Vec<String>,
    /// Tests that take longer than this are left out
    #[arg(long, default_value = "20s", value_parser = humantime::parse_duration)]
    longest: Duration,
    /// The number of random programs in each test of them; with less than the usual ones a mutant may survive
    /// that they would find
    #[arg(long, default_value_t = 60)]
    programs: u32,
    /// Try those again that have survived
    #[arg(long)]
    again: bool,
    /// Say which mutants there are, and try none
    #[arg(long)]
    list: bool,
    /// How many tests run at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Where the project is copied to
    #[arg(long, default_value = "target/mutants")]
    folder: PathBuf,
}

fn main() -> ExitCode {
    let args = Args::parse();
    std::fs::create_dir_all(&args.folder).expect("a folder for the copy");
    let folder = args.folder.canonicalize().expect("it was just made");
    let copy = copy::Copy::built(&folder, args.programs);
    let chosen = chosen(&args, &copy);
    if args.list {
        chosen.iter().for_each(|mutant| println!("{mutant}"));
        return ExitCode::SUCCESS;
    }
    let tests = tests::recorded(&folder, &copy.programs, &args);
    let survived = trials::Trials::new(&args, &folder, &copy, tests).run(&chosen);
    ExitCode::from(u8::from(survived))
}

/// The mutants to be tried, in an order that only the seed decides.
fn chosen<'a>(args: &Args, copy: &'a copy::Copy) -> Vec<&'a copy::Listed> {
    let mut chosen: Vec<&copy::Listed> = copy.mutants.iter().collect();
    chosen.retain(|mutant| {
        (args.files.is_empty() || args.files.iter().any(|name| mutant.file.contains(name)))
            && args.mutant.is_none_or(|number| number == mutant.number)
    });
    if args.sample.is_some() || !args.list {
        chosen.sort_by_key(|mutant| mixed(args.seed ^ (u64::from(mutant.number) << 20)));
    }
    chosen.truncate(args.sample.unwrap_or(usize::MAX));
    chosen
}

/// Numbers in, numbers in no order out (splitmix64).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
