//! How much is tried, and where findings are kept.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

#[derive(Args)]
pub struct Amount {
    /// How many trials: programs, or damaged files
    #[arg(long, default_value_t = 1000)]
    pub count: u64,
    /// Stop after this time, such as `2h`
    #[arg(long, value_parser = humantime::parse_duration)]
    pub time: Option<Duration>,
    /// The seed of the first trial
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many at once
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,
    /// Where findings are kept
    #[arg(long, default_value = "findings")]
    pub keep: PathBuf,
}
