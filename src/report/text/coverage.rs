//! What a search has covered: everything, or a part, and why it ended early.

use std::fmt::{self, Display, Formatter};

use bytesize::ByteSize;

use super::{duration, plural, rounded, thousands};
use crate::explore::{Depth, Guarantee, StopReason};
use crate::report::{CheckReport, Faster, Size, StatesInAll};
use crate::study::Figures;

/// What a search that found nothing has covered, and what it has not.
pub(super) fn coverage(report: &CheckReport) -> String {
    let stats = &report.stats;
    let traces = plural(stats.traces, "execution", "executions");
    let title = report.subject.title();
    let all = match (report.guarantee, stats.traces) {
        (Guarantee::EveryClassOnce, 1) => "one class of executions, explored".into(),
        (Guarantee::EveryClassOnce, n) => {
            format!("{} classes of executions, each explored once", thousands(n))
        }
        (Guarantee::SomeClasses, _) => format!("{traces} explored, perhaps not of every class"),
        (Guarantee::EveryViolation, _) => {
            format!("{}, which stands for all executions", of_prefix(stats))
        }
        (Guarantee::EveryEnd, 0) => "every state that matters visited; no execution ends".into(),
        (Guarantee::EveryEnd, 1) => {
            "every state that matters visited; all executions end alike".into()
        }
        (Guarantee::EveryEnd, n) => {
            format!("every state that matters visited; executions end in {} states", thousands(n))
        }
        (Guarantee::EveryClass, _) => format!("{traces} explored, at least one of each class"),
        (Guarantee::EveryExecution, 1) => "the only execution explored".into(),
        (Guarantee::EveryExecution, _) => format!("all {traces} explored"),
    };
    let Some(reason) = report.stopped_by else {
        return format!("  {title}: {all}.\n");
    };
    let why = stop_sentence(reason, report);
    let seen = match stats.traces {
        _ if stats.prefix.is_some() => of_prefix(stats),
        0 => "No execution was followed to its end".into(),
        n if stores_states(report) => {
            format!("{} reached", plural(n, "terminal state was", "terminal states were"))
        }
        _ if report.samples => {
            let classes = plural(stats.classes.unwrap_or(0), "class", "classes");
            format!("{traces} explored to the end, of {classes}")
        }
        _ => format!("{traces} explored to the end"),
    };
    let unit = depth_unit(report.depth);
    let (covered, missing) = match (reason, report.limits.depth) {
        (StopReason::NoGuarantee, _) if report.unanswered.is_some() => {
            (all, "the states that it did not visit (`stateful` visits all of them)".into())
        }
        (StopReason::Invariant, _) => (
            all,
            "some of the states in which an invariant may fail (`stateful` visits all of them)"
                .into(),
        ),
        (StopReason::NoGuarantee, _) => {
            (all, "the executions that it missed, if any (`udpor` misses none)".into())
        }
        (StopReason::Polls, _) => (
            if stats.traces == 0 { seen } else { all },
            "executions with more unsuccessful polls in a row".into(),
        ),
        (StopReason::Depth, _) if !report.covers_up_to_depth => (
            seen,
            format!(
                "what happens beyond the bound, and perhaps shorter executions: `{}` depends on the \
                 steps that it sees; `dpor` and `udpor` cover everything within the bound",
                report.explorer
            ),
        ),
        (StopReason::Depth, Some(depth)) if stores_states(report) => (
            format!("every state within {}. {seen}", plural(u64::from(depth), "step", "steps")),
            format!("what happens beyond step {}", thousands(u64::from(depth))),
        ),
        (StopReason::Depth, Some(depth)) => (
            format!("every execution up to {unit} {}. {seen}", thousands(u64::from(depth))),
            format!("what happens beyond {unit} {}", thousands(u64::from(depth))),
        ),
        (StopReason::Rounds, _) => (all, "livelocks (`stateful` judges them)".into()),
        _ => (seen, "all other executions: they may still hold a violation".into()),
    };
    let mut size = report.estimate.map_or(String::new(), |size| in_all(size, report));
    if let Some(all) = &report.states_in_all {
        size.push_str(&states_in_all(all, report));
    }
    let advice = report.faster.as_ref().map_or(String::new(), advice);
    format!("  {title}: {why}.\n  Covered: {covered}.\n  Not covered: {missing}.\n{size}{advice}")
}

/// What a search by a prefix has built.
fn of_prefix(stats: &Figures) -> String {
    let figures = stats.prefix.unwrap_or_default();
    let (events, cutoffs) =
        (plural(figures.events, "event", "events"), plural(figures.cutoffs, "cutoff", "cutoffs"));
    match figures.has_read_arcs {
        true => format!("an unfolding with read arcs and {events} built"),
        false => format!("a prefix of the unfolding with {events} and {cutoffs} built"),
    }
}

/// The sentence about the size of the program.
fn in_all(size: Size, report: &CheckReport) -> String {
    let counts_classes = !stores_states(report) && report.stats.prefix.is_none();
    let done = report.stats.traces as f64 / size.number.max(1) as f64;
    let share = match counts_classes && report.guarantee == Guarantee::EveryClassOnce {
        true if done < 0.001 => ", of which less than 0.1% are explored".into(),
        true if done < 0.995 => format!(", of which {:.1}% are explored", 100.0 * done),
        _ => String::new(),
    };
    let next = match (&report.faster, &report.subject.command) {
        (Some(_), _) => "",
        (None, None) => "\n  `mazurka estimate` tries other explorers, and smaller constants.",
        (None, Some(_)) => "\n  Try fewer ranks, or `--buffering infinite --collectives early`.",
    };
    let verb = if size.exact && size.number == 1 { "is" } else { "are" };
    format!("  In all there {verb} {size}{share}.{next}\n")
}

impl Display for StatesInAll {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let StatesInAll { number, constant, from: [one, other] } = self;
        let number = rounded(*number);
        write!(f, "about {number} states (as with {constant}={one} and {constant}={other})")
    }
}

/// The sentence about the number of states.
fn states_in_all(all: &StatesInAll, report: &CheckReport) -> String {
    let done = report.stats.states.unwrap_or(0) as f64 / all.number.max(1) as f64;
    let share = match done {
        done if done < 0.001 => ", of which less than 0.1% are visited".into(),
        done => format!(", of which {:.1}% are visited", 100.0 * done),
    };
    format!("  In all there are {all}{share}.\n")
}

/// The sentence that advises another explorer.
fn advice(faster: &Faster) -> String {
    let Faster { explorer, finds_violation, wall_seconds } = faster;
    let what = if *finds_violation { "finds something wrong" } else { "explores all of it" };
    let time = duration(*wall_seconds);
    format!("  Try `--explorer {explorer}`: it {what} in {time}.\n")
}

/// What it means that a search that found violations is complete.
pub(super) fn complete(guarantee: Guarantee) -> &'static str {
    match guarantee {
        Guarantee::SomeClasses => unreachable!("no such search is complete"),
        Guarantee::EveryViolation => "; complete: no violation elsewhere",
        Guarantee::EveryEnd => "; complete: every terminal state was reached",
        Guarantee::EveryClass | Guarantee::EveryClassOnce | Guarantee::EveryExecution => {
            "; complete: every class of executions was visited"
        }
    }
}

/// The reason why the search ended early, as a clause.
pub(in crate::report) fn stop_sentence(reason: StopReason, report: &CheckReport) -> String {
    let limits = &report.limits;
    let option = |name| option(name, report);
    match reason {
        StopReason::Violation => {
            format!("stopped at the first violation ({} goes on)", option("all"))
        }
        StopReason::MaxTraces => format!(
            "stopped after {} ({})",
            plural(limits.max_traces.unwrap_or(report.stats.traces), "execution", "executions"),
            option("max-traces")
        ),
        StopReason::Sampled => {
            let Figures { traces, given_up, truncated, .. } = report.stats;
            let all = plural(traces + given_up + truncated, "execution was", "executions were");
            format!("{all} chosen by chance ({})", option(executions(report)))
        }
        StopReason::Timeout => match limits.timeout {
            Some(time) => {
                let time = humantime::format_duration(time);
                format!("stopped after {time} ({})", option("timeout"))
            }
            None => format!("stopped by {}", option("timeout")),
        },
        StopReason::MaxMemory => match limits.max_memory {
            Some(bytes) => {
                format!("stopped at {} of memory ({})", ByteSize(bytes), option("max-memory"))
            }
            None => format!("stopped by {}", option("max-memory")),
        },
        StopReason::Interrupted => "interrupted".into(),
        StopReason::Unwatched => {
            "not begun: no thread can be started to watch its limits (`ulimit -u`, `ulimit -v`)".into()
        }
        StopReason::Missing => "the results of some branches are missing".into(),
        StopReason::Stray => "a branch is not one of this search".into(),
        StopReason::HashCompaction => {
            let how = match report.subject.has_file() {
                true => "--hash-compaction",
                false => "`hash-compaction`",
            };
            format!("states were distinguished by hashes only, so some may have been missed ({how})")
        }
        StopReason::NoGuarantee if let Some(property) = &report.unanswered => format!(
            "`{}` does not visit all states that `{property}` is about",
            report.explorer
        ),
        StopReason::Invariant => {
            "a class of executions has too many states to check an invariant in each of them".into()
        }
        StopReason::NoGuarantee => {
            let printed = if report.as_printed { " as printed" } else { "" };
            format!("`{}`{printed} may miss executions", report.explorer)
        }
        StopReason::Depth if stores_states(report) => format!(
            "{} not explored further, at step {} ({})",
            match report.stats.truncated {
                1 => "1 state was".into(),
                n => format!("{} states were", thousands(n)),
            },
            thousands(u64::from(limits.depth.unwrap_or(u32::MAX))),
            option("depth")
        ),
        StopReason::Depth => format!(
            "{} cut at {} {} ({})",
            match report.stats.truncated {
                1 => "1 execution was".into(),
                n => format!("{} executions were", thousands(n)),
            },
            depth_unit(report.depth),
            thousands(u64::from(limits.depth.unwrap_or(u32::MAX))),
            option("depth")
        ),
        StopReason::Endless => {
            let (stateful, depth) = match report.subject.has_file() {
                true => ("`--explorer stateful`", "`--depth N` explores up to N"),
                false => ("the explorer `stateful`", "`depth(n)` explores up to n"),
            };
            // Real processes cannot be compared with earlier states.
            let ways = match report.runs {
                None => format!(
                    "If it comes back to states that it has visited, {stateful} explores all of it; {depth}"
                ),
                Some(_) => depth.into(),
            };
            format!(
                "stopped because an execution came to step {} and may never end. {ways}",
                thousands(report.stats.max_depth)
            )
        }
        StopReason::LongLoop => {
            "a loop in which a process changes nothing has too many local states to say whether it waits for ever".into()
        }
        StopReason::Rounds => {
            "there are too many states in which processes may be in loops that wait, to judge each of them".into()
        }
        StopReason::Growing => {
            "stopped because processes are started in a loop, so the prefix is not finite (`udpor` takes such programs)"
                .into()
        }
        StopReason::Polls => cut_at_polls(report),
        StopReason::Oversubscribed => {
            "stopped there, because nothing has a meaning beyond that".into()
        }
        StopReason::Unsupported => "a process did what cannot be explored".into(),
    }
}

/// A loop reached the bound on polls. The bound to try next is a guess: it is not known how often
/// the loop polls.
fn cut_at_polls(report: &CheckReport) -> String {
    let bound = |polls: u8| match report.subject.has_file() {
        true => format!("--polls {polls}"),
        false => format!("`max_polls({polls})`"),
    };
    let Some(cut) = &report.cut_poll else { return "a loop that polls was cut".into() };
    let site = cut.site.as_ref().filter(|site| site.line > 0);
    let place = site.map_or(String::new(), |site| match &site.file {
        Some(file) => format!(" at {file}:{}", site.line),
        None => format!(" at line {}", site.line),
    });
    let what = format!("a loop that polls{place} was cut at {}", bound(cut.polls));
    match cut.next() {
        Some(more) => format!("{what}: try {}", bound(more)),
        None => what,
    }
}

/// An option, given by its name on the command line, in the form that readers of the report use: an
/// option of the command line, or a method of [`Check`](crate::check::Check).
fn option(name: &str, report: &CheckReport) -> String {
    match report.subject.has_file() {
        true => format!("--{name}"),
        false => format!("`{}()`", name.replace('-', "_")),
    }
}

/// The option for the number of executions by chance.
fn executions(report: &CheckReport) -> &'static str {
    if report.subject.has_file() { "executions" } else { "random" }
}

/// How many of further executions by chance would be of a class not seen yet, as far as this can be
/// estimated. A search that stopped at a violation does not go on.
pub(super) fn unseen(report: &CheckReport) -> Option<String> {
    let stats = (report.stopped_by != Some(StopReason::Violation)).then_some(&report.stats)?;
    let (once, traces) = (stats.classes_seen_once?, stats.traces);
    let probability = stats.new_class_probability?;
    Some(match once {
        0 => "no execution was the only one of its class: more of them would hardly show new classes, \
              which is no proof"
            .into(),
        _ => format!(
            "about {} % of further executions would be of new classes: {} of {} were the only ones of their class",
            percent(probability),
            thousands(once),
            thousands(traces)
        ),
    })
}

/// A probability above 0 in per cent, with two significant digits below 10.
fn percent(probability: f64) -> String {
    let percent = 100.0 * probability;
    match percent {
        p if p >= 10.0 => format!("{p:.0}"),
        p if p >= 1.0 => format!("{p:.1}"),
        p => format!("{p:.*}", (1.0 - p.log10().floor()) as usize),
    }
}

fn depth_unit(depth: Depth) -> &'static str {
    match depth {
        Depth::Causal => "causal depth",
        Depth::Length | Depth::Unbounded => "step",
    }
}

/// Whether the search stores states: then its ends are states, not executions.
fn stores_states(report: &CheckReport) -> bool {
    report.guarantee == Guarantee::EveryEnd
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_have_two_digits() {
        let shown = [1.0, 0.1234, 0.012_34, 0.0025, 0.000_123_4].map(percent);
        assert_eq!(shown, ["100", "12", "1.2", "0.25", "0.012"]);
    }
}
