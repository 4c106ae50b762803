//! Options that several commands share, and how their values are read.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::explore::K;
use crate::lang::Granularity;

/// Executions are cut here unless `--depth` says otherwise.
pub(super) const DEFAULT_DEPTH: u32 = 10_000;

/// Which program.
#[derive(Args)]
pub(super) struct SpecArgs {
    /// The spec, a .maz file; `-` reads standard input
    #[arg(value_name = "SPEC")]
    pub(super) path: String,
    /// Sets a constant of the spec; may be given several times
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    pub(super) defines: Vec<Define>,
    /// What counts as an action: an operation, or each statement that only computes as well
    #[arg(long, value_name = "UNIT", default_value = "operation")]
    pub(super) granularity: Unit,
}

/// `--granularity`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Unit {
    Operation,
    Statement,
}

impl From<Unit> for Granularity {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Operation => Granularity::Operation,
            Unit::Statement => Granularity::Statement,
        }
    }
}

/// `NAME=VALUE`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Define {
    pub(super) name: String,
    pub(super) value: String,
}

fn define(text: &str) -> Result<Define, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok(Define { name: name.trim().into(), value: value.trim().into() })
        }
        _ => Err("write NAME=VALUE, for example N=5".into()),
    }
}

/// `-k`
pub(super) fn k(text: &str) -> Result<K, String> {
    match text.parse() {
        _ if text == "optimal" => Ok(K::Optimal),
        Ok(k) if k > 0 => Ok(K::Partial(k)),
        _ => Err("k is a number from 1 on, or `optimal`".into()),
    }
}

/// `30s`, `5m`, `1h30m`; a bare number is in seconds.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    time.filter(|time| !time.is_zero()).ok_or_else(|| "write a time like 30s, 5m or 1h30m".into())
}

/// `512M`, `2G`, `2GiB`; a bare number is in bytes.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let bytes = text.parse::<bytesize::ByteSize>().ok().map(|size| size.as_u64());
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| "write a size like 512M or 2G".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_read() {
        assert_eq!(time("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(time("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(time("0.5"), Ok(Duration::from_millis(500)));
        assert!(time("soon").is_err() && time("0s").is_err() && time("-1").is_err());
        assert_eq!(bytes("2G"), Ok(2_000_000_000));
        assert_eq!(bytes("1KiB"), Ok(1024));
        assert!(bytes("much").is_err() && bytes("0").is_err());
    }

    #[test]
    fn k_is_positive_or_optimal() {
        assert_eq!(k("optimal"), Ok(K::Optimal));
        assert_eq!(k("2"), Ok(K::Partial(2)));
        assert!(k("0").is_err() && k("-1").is_err() && k("best").is_err());
    }

    #[test]
    fn defines_have_a_name_and_a_value() {
        assert_eq!(define("N=5"), Ok(Define { name: "N".into(), value: "5".into() }));
        assert!(define("N").is_err() && define("=5").is_err() && define("N=").is_err());
    }
}
