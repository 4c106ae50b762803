//! Options that several commands share, and how their values are parsed.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum, value_parser};

use super::{Failure, memory};
use crate::explore::{Depth, OPTIONS, OptionInfo, Options};
use crate::model::{Buffering, FaultKinds, Faults, Leaving, Semantics};
use crate::report::lint::{Levels, Named};
use crate::study::Limits;

/// The spec, and options for it.
#[derive(Args)]
pub(super) struct SpecArgs {
    /// The spec, a .maz file; `-` reads standard input
    #[arg(value_name = "SPEC")]
    pub(super) path: PathBuf,
    #[command(flatten)]
    pub(super) setup: SetupArgs,
}

/// Options that decide what program a spec stands for.
#[derive(Args)]
pub(super) struct SetupArgs {
    /// Set a constant of the spec; may be given several times
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    pub(super) defines: Vec<Define>,
    /// What counts as an action: an `operation` only, or also each `statement` that only computes
    #[arg(long, value_name = "UNIT", default_value = "operation")]
    pub(super) granularity: Unit,
    #[command(flatten)]
    pub(super) faults: FaultArgs,
    /// Let messages to actors stay pending: a state in which nothing else waits is then not a
    /// deadlock
    #[arg(long)]
    pub(super) allow_pending: bool,
    /// For `eventually` and `leadsto`: count also executions that are unfair to all processes and
    /// to all that is declared `strong`. Such an execution goes on as long as a process can move
    #[arg(long)]
    pub(super) unfair: bool,
    /// `daemons=NAME`: the process with this name may wait for ever, as if it were declared a
    /// daemon. `check` also accepts lints here: it does not report them
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(super) allow: Vec<Allowed>,
    #[command(flatten)]
    pub(super) mpi: MpiArgs,
}

/// Which of the faults that a spec declares may happen.
#[derive(Args, Clone, Copy)]
pub(super) struct FaultArgs {
    /// The faults that may happen, of those that the spec declares: `none`; `crash`; `loss`, which
    /// is lost and doubled messages and partitions; or `all`. Timeouts run unless it is `none`
    #[arg(long = "faults", value_name = "KINDS", default_value_t = FaultKinds::All)]
    pub(super) kinds: FaultKinds,
    /// The maximum number of crashes in an execution, of all processes together
    #[arg(long, value_name = "N")]
    pub(super) max_crashes: Option<u32>,
}

impl From<Faults> for FaultArgs {
    fn from(Faults { kinds, max_crashes }: Faults) -> FaultArgs {
        FaultArgs { kinds, max_crashes }
    }
}

impl From<FaultArgs> for Faults {
    fn from(FaultArgs { kinds, max_crashes }: FaultArgs) -> Faults {
        Faults { kinds, max_crashes }
    }
}

/// A value of `--allow`.
#[derive(Clone)]
pub(super) enum Allowed {
    /// A process that may wait for ever.
    Daemons(String),
    Lint(Named),
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some(("daemons", name)) if !name.is_empty() => Ok(Allowed::Daemons(name.into())),
            _ if text.starts_with("daemons") => Err("write daemons=NAME".into()),
            _ => text
                .parse()
                .map(Allowed::Lint)
                .map_err(|lints| format!("{lints}; or write daemons=NAME")),
        }
    }
}

impl SetupArgs {
    /// The processes that may wait for ever.
    pub(super) fn daemons(&self) -> Vec<String> {
        let names = self.allow.iter().filter_map(|allowed| match allowed {
            Allowed::Daemons(name) => Some(name.clone()),
            Allowed::Lint(_) => None,
        });
        names.collect()
    }

    /// The lints that `--allow` turns off.
    pub(super) fn lints(&self) -> Vec<Named> {
        let lints = self.allow.iter().filter_map(|allowed| match allowed {
            Allowed::Daemons(_) => None,
            Allowed::Lint(lint) => Some(*lint),
        });
        lints.collect()
    }

    /// Refuses lints in `--allow`, for commands without lints.
    pub(super) fn refuse_lints(&self) -> Result<(), Failure> {
        match self.lints().first() {
            None => Ok(()),
            Some(lint) => Err(Failure::Usage(format!(
                "--allow {lint}: lints are for `check` and `mpirun`; here write daemons=NAME"
            ))),
        }
    }
}

/// Choices that MPI leaves to its implementations.
#[derive(Args, Clone, Default)]
pub(super) struct MpiArgs {
    /// When a standard send at a p2p or bag mailbox is complete: `zero`, when it is received;
    /// `infinite`, at once; `any`, either, for each send separately; `both`, one search with zero
    /// and one with infinite; for `mpirun` also `eager=BYTES`, at once if the message has at most
    /// BYTES bytes [default: `infinite` for specs, `any` for `mpirun`]
    #[arg(long, value_name = "HOW", value_parser = buffering)]
    buffering: Option<BufferingArg>,
    /// When a rank leaves a collective: `early`, as early as MPI permits; `synchronizing`, when all
    /// ranks have entered; `any`, either, for each rank and call separately; `both`, one search
    /// with early and one with synchronizing [default: `early` for specs, `any` for `mpirun`]
    #[arg(long, value_name = "WHEN", hide_possible_values = true)]
    collectives: Option<LeavingArg>,
    /// The maximum number of consecutive tests or iprobes of the same thing, at p2p and bag
    /// mailboxes, that may find nothing, in a loop that goes on differently each time (it counts,
    /// for example). A loop in which nothing changes waits [default: 2]
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=i64::from(Semantics::MOST_POLLS)))]
    polls: Option<u8>,
}

/// `--buffering`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferingArg {
    One(Buffering),
    Both,
}

fn buffering(text: &str) -> Result<BufferingArg, String> {
    match text {
        "both" => Ok(BufferingArg::Both),
        _ => text.parse().map(BufferingArg::One),
    }
}

/// `--collectives`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LeavingArg {
    Early,
    Synchronizing,
    Any,
    Both,
}

impl MpiArgs {
    /// All requested combinations; options that are not given have the value in `default`.
    pub(super) fn variants(&self, default: Semantics) -> Vec<Semantics> {
        let bufferings = match self.buffering {
            None => vec![default.buffering],
            Some(BufferingArg::One(buffering)) => vec![buffering],
            Some(BufferingArg::Both) => vec![Buffering::Infinite, Buffering::Zero],
        };
        let leavings = match self.collectives {
            None => vec![default.leaving],
            Some(LeavingArg::Early) => vec![Leaving::Early],
            Some(LeavingArg::Synchronizing) => vec![Leaving::Synchronizing],
            Some(LeavingArg::Any) => vec![Leaving::Any],
            Some(LeavingArg::Both) => vec![Leaving::Early, Leaving::Synchronizing],
        };
        let max_polls = self.polls.unwrap_or(default.max_polls);
        let with = |buffering: &Buffering| {
            let buffering = *buffering;
            leavings.iter().map(move |&leaving| Semantics { buffering, leaving, max_polls })
        };
        bufferings.iter().flat_map(with).collect()
    }

    /// All requested combinations for a spec.
    ///
    /// # Errors
    /// With `--buffering eager=BYTES`, because messages of a spec have no length.
    pub(super) fn variants_of_spec(&self) -> Result<Vec<Semantics>, Failure> {
        if let Some(BufferingArg::One(Buffering::Eager(_))) = self.buffering {
            let refusal =
                "--buffering eager=BYTES is for mpirun: messages of a spec have no length";
            return Err(Failure::Usage(refusal.into()));
        }
        Ok(self.variants(Semantics::default()))
    }

    /// The only requested combination.
    ///
    /// # Errors
    /// If several are requested, with `both`.
    pub(super) fn only(&self) -> Result<Semantics, Failure> {
        match self.variants_of_spec()?[..] {
            [only] => Ok(only),
            _ => Err(Failure::Usage(
                "`both` means several searches: only `check` runs them, and not in parts".into(),
            )),
        }
    }

    /// Sets the options that the command line does not set to the values in `known`.
    pub(super) fn complete(&mut self, known: Semantics) {
        self.buffering.get_or_insert(BufferingArg::One(known.buffering));
        self.collectives.get_or_insert(match known.leaving {
            Leaving::Early => LeavingArg::Early,
            Leaving::Synchronizing => LeavingArg::Synchronizing,
            Leaving::Any => LeavingArg::Any,
        });
        self.polls.get_or_insert(known.max_polls);
    }
}

/// The options of an explorer: an argument for each row of [`OPTIONS`].
pub(super) struct ExplorerArgs(Options);

impl Args for ExplorerArgs {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, option| command.arg(argument(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ExplorerArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Options::default();
        for option in OPTIONS {
            let values: Vec<&String> = match option.value {
                Some(_) => matches.get_many(option.name).into_iter().flatten().collect(),
                None => Vec::new(),
            };
            if option.value.is_none() && matches.get_flag(option.name) {
                (option.read)(&mut options, "").expect("a flag can be read");
            }
            for value in values {
                (option.read)(&mut options, value).expect("a value that was read before");
            }
        }
        Ok(ExplorerArgs(options))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn argument(option: &'static OptionInfo) -> Arg {
    let arg = Arg::new(option.name).long(option.name).help(option.help);
    let arg = option.short.map_or(arg.clone(), |letter| arg.short(letter));
    let Some(value) = option.value else { return arg.action(ArgAction::SetTrue) };
    let arg = arg.value_name(value);
    match (option.values)() {
        values if !values.is_empty() => {
            arg.action(ArgAction::Append).value_parser(PossibleValuesParser::new(values))
        }
        _ => arg.value_parser(move |text: &str| {
            (option.read)(&mut Options::default(), text).map(|()| text.to_owned())
        }),
    }
}

impl ExplorerArgs {
    pub(super) fn options(&self) -> Options {
        self.0.settled()
    }
}

/// What a depth counts.
#[derive(Clone, Copy, ValueEnum)]
enum Measure {
    Causal,
    Steps,
}

impl From<Measure> for Depth {
    fn from(measure: Measure) -> Depth {
        match measure {
            Measure::Causal => Depth::Causal,
            Measure::Steps => Depth::Length,
        }
    }
}

/// Limits of a search.
#[derive(Args)]
pub(super) struct LimitArgs {
    /// Cut executions at this depth; if any is cut, the result is incomplete. The depth is the
    /// length of the longest chain of dependent steps, or the number of steps: `mazurka explorers`
    /// lists which, for each explorer [default: none, but an execution of 10000 steps ends the
    /// search, because it may be endless]. Explorers that store states visit all states within N
    /// steps, without reduction, and count them by depth
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// What --depth counts: `causal`, the longest chain of dependent steps, or `steps`, all steps
    /// of an execution [default: as listed by `mazurka explorers`]
    #[arg(long, value_name = "MEASURE", value_parser = value_parser!(Measure), requires = "depth")]
    depth_measure: Option<Measure>,
    /// Stop after N complete executions
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    max_traces: Option<u64>,
    #[command(flatten)]
    end: EndArgs,
}

/// Limits on what a search takes.
#[derive(Args)]
pub(super) struct EndArgs {
    /// Stop after this time: 30s, 5m, 1h30m, or `none`. If nothing is found by then, `check` tries
    /// another explorer for a tenth of the time (a second at most), and recommends it if it
    /// completes the search
    #[arg(long, value_name = "TIME", value_parser = unless_none(time))]
    timeout: Option<Limit<Duration>>,
    /// Stop when this much memory is allocated: 512M, 2G, or `none`
    #[arg(long, value_name = "SIZE", value_parser = unless_none(bytes))]
    max_memory: Option<Limit<u64>>,
}

impl LimitArgs {
    /// The limits as given, without defaults.
    ///
    /// # Errors
    /// If a limit on memory is given and memory cannot be measured.
    pub(super) fn limits(&self) -> Result<Limits, Failure> {
        self.limits_or(None, None)
    }

    /// The limits, with these defaults for time and memory.
    ///
    /// # Errors
    /// As for [`limits`](LimitArgs::limits).
    pub(super) fn limits_or(
        &self,
        timeout: Option<Duration>,
        max_memory: Option<u64>,
    ) -> Result<Limits, Failure> {
        Ok(Limits {
            depth: self.depth,
            depth_measure: self.depth_measure.map(Depth::from),
            max_traces: self.max_traces,
            ..self.end.limits_or(timeout, max_memory)?
        })
    }
}

impl EndArgs {
    /// The limits as given, without defaults.
    ///
    /// # Errors
    /// If a limit on memory is given and memory cannot be measured.
    pub(super) fn limits(&self) -> Result<Limits, Failure> {
        self.limits_or(None, None)
    }

    fn limits_or(
        &self,
        timeout: Option<Duration>,
        max_memory: Option<u64>,
    ) -> Result<Limits, Failure> {
        let is_unknown = memory::in_use() == 0;
        if matches!(self.max_memory, Some(Limit::At(_))) {
            memory::is_known()?;
        }
        Ok(Limits {
            timeout: self.timeout.map_or(timeout, Limit::value),
            max_memory: self.max_memory.map_or(max_memory.filter(|_| !is_unknown), Limit::value),
            ..Limits::default()
        })
    }
}

/// Levels of lints.
#[derive(Args)]
pub(super) struct LintArgs {
    /// Do not report these lints
    #[arg(long, value_name = "LINTS", value_delimiter = ',')]
    allow: Vec<Named>,
    #[command(flatten)]
    reported: ReportedArgs,
}

impl LintArgs {
    pub(super) fn levels(&self) -> Result<Levels, Failure> {
        self.reported.levels(&self.allow)
    }
}

/// The lints to report.
#[derive(Args)]
pub(super) struct ReportedArgs {
    /// Report these lints: `messages` (never received), `requests` (never answered), `locks` (owned
    /// or requested by a process that has ended), `handles` (of communicators, datatypes and other
    /// MPI objects that a rank never frees), all four in short `leaks`; `lines`, `branches` (not
    /// run by any execution), `assertions` (never evaluated), all three in short `unreached`;
    /// `calls` (no rank calls MPI), `status` (a rank ends with an exit code other than 0),
    /// `threads` (more of them than a rank has asked for); `all` [default: all but unreached].
    /// Lints of `unreached` are only for specs, and only if every class was explored
    #[arg(long, value_name = "LINTS", value_delimiter = ',')]
    warn: Vec<Named>,
    /// Report these lints, and end with exit code 1 if there is any finding
    #[arg(long, value_name = "LINTS", value_delimiter = ',')]
    deny: Vec<Named>,
}

impl ReportedArgs {
    /// The level of each lint, where `allow` are the lints that are off.
    pub(super) fn levels(&self, allow: &[Named]) -> Result<Levels, Failure> {
        Levels::new(allow, &self.warn, &self.deny).map_err(Failure::Usage)
    }
}

/// A value of a limit on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit<T> {
    /// `none`: no limit.
    Without,
    At(T),
}

impl<T> Limit<T> {
    fn value(self) -> Option<T> {
        match self {
            Limit::Without => None,
            Limit::At(value) => Some(value),
        }
    }
}

fn unless_none<T>(
    read: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<Limit<T>, String> + Clone {
    move |text| match text {
        "none" => Ok(Limit::Without),
        text => read(text).map(Limit::At),
    }
}

/// `--granularity`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Unit {
    Operation,
    Statement,
}

/// `NAME=VALUE`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Define {
    pub(super) name: String,
    pub(super) value: String,
}

pub(super) fn define(text: &str) -> Result<Define, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok(Define { name: name.trim().into(), value: value.trim().into() })
        }
        _ => Err("write NAME=VALUE, for example N=5".into()),
    }
}

/// Parses a time: `30s`, `5m`, `1h30m`; a number without a unit is in seconds.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    time.filter(|time| !time.is_zero()).ok_or_else(|| "write a time like 30s, 5m or 1h30m".into())
}

/// Parses a size: `512M`, `2G`, `2GiB`; a number without a unit is in bytes.
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
    fn defines_have_a_name_and_a_value() {
        assert_eq!(define("N=5"), Ok(Define { name: "N".into(), value: "5".into() }));
        assert!(define("N").is_err() && define("=5").is_err() && define("N=").is_err());
    }
}
