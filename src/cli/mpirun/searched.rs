//! A search of an MPI program: its ranks, and the report of what was found.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::drawing::{Effort, Format};
use super::super::faster::size;
use super::super::output::Output;
use super::super::spec::Spec;
use super::super::verification::{self, ResultArgs, Wanted};
use super::super::{Exit, Failure, files};
use super::judged;
use crate::explore::{Budget, Outcome, Setting, Violation};
use crate::model::{AnySystem, Schedule, Semantics};
use crate::mpi::{Diagnosis, Files, Launch, Others, RANK_MEMORY, Ranks, Slip, TICK, located};
use crate::report::lint::{self, Levels};
use crate::report::text::{quoted, shown};
use crate::report::{CheckReport, Shown, Subject, Variants, ViolationReport, dot};
use crate::study::{Limits, MpiProgram, hash};
use crate::systems::history::History;

impl MpiProgram {
    /// Its ranks, as a system.
    pub(super) fn system(&self) -> Result<History<Ranks>, Failure> {
        let is_elsewhere = std::env::current_dir().is_ok_and(|here| here != self.folder);
        let program = match is_elsewhere {
            true => self.located(self.program()),
            false => self.program().to_owned(),
        };
        let launch = Launch {
            arguments: self.command[1..].to_vec(),
            semantics: self.semantics,
            step_timeout: self.step_timeout,
            tick: self.tick,
            rank_memory: self.rank_memory,
            files: if self.changes_files { Files::Real } else { Files::Own },
            base: self.folder.clone(),
            folder: is_elsewhere.then(|| self.folder.clone()),
            ..Launch::new(&program, self.ranks)
        };
        let ranks = Ranks::new(launch).map_err(Failure::Usage)?;
        Ok(History::new(ranks).max_processes(self.max_processes as usize))
    }

    /// Where a program or script is that the command names.
    fn located(&self, named: &Path) -> PathBuf {
        let local = self.folder.join(named);
        if local.is_file() { local } else { located(named) }
    }

    /// The hash of the program; of the script, if it is an interpreter of Python.
    pub(super) fn hash(&self) -> Result<String, Failure> {
        let file = self.located(self.source());
        fs::read(&file).map(hash).map_err(|error| files::cannot_read(&file, error))
    }

    /// What reports say of it.
    pub(super) fn subject(&self) -> Subject {
        let constants = BTreeMap::from([("ranks".to_owned(), self.ranks.into())]);
        let (buffering, leaving) = (self.semantics.buffering, self.semantics.leaving);
        let mut before = format!("mazurka mpirun -n {}", self.ranks);
        before += &format!(" --buffering {buffering} --collectives {leaving}");
        if self.semantics.max_polls != Semantics::default().max_polls {
            before += &format!(" --polls {}", self.semantics.max_polls);
        }
        if self.tick != TICK {
            before += &format!(" --tick {}", humantime::format_duration(self.tick));
        }
        if self.rank_memory != RANK_MEMORY {
            before += &format!(" --rank-memory {}", self.rank_memory);
        }
        if self.changes_files {
            before += " --files real";
        }
        let after = self.command.iter().map(quoted).collect::<Vec<_>>().join(" ");
        Subject {
            spec: shown(self.source()),
            path: self.source().to_owned(),
            constants,
            semantics: Some(self.semantics),
            command: Some([before, after]),
            ..Subject::in_rust(false)
        }
    }
}

/// How a program was searched.
pub(super) struct MpiSearch<'s> {
    pub(super) run: &'s MpiProgram,
    pub(super) system: &'s History<Ranks>,
    pub(super) setting: Setting,
    pub(super) limits: &'s Limits,
    pub(super) lints: &'s Levels,
    pub(super) shortest: bool,
}

impl MpiSearch<'_> {
    /// The report of what was found. `left`: for further searches that find out what a violation
    /// is. `first`: an execution to be shown if nothing is wrong.
    pub(super) fn report(
        &self,
        outcome: &Outcome,
        left: &Budget,
        peak: Option<u64>,
        first: Option<Schedule>,
    ) -> CheckReport {
        let &MpiSearch { run, system, setting, limits, lints, shortest } = self;
        let judged = (limits.clone(), judged());
        let any = &AnySystem::of(system);
        let mut report = CheckReport::new(run.subject(), any, setting, judged, outcome, peak);
        let others = Others::new(system, setting, left);
        for (report, violation) in report.violations.iter_mut().zip(&outcome.violations) {
            rephrase(report, others.finding(violation));
        }
        // A rank that waits for a failed rank is not reported as a separate deadlock.
        report.violations.retain(|found| !found.kind.is_standstill() || found.failed.is_empty());
        report.mark_alike();
        report.shortest = shortest;
        report.unsupported = system.runner().reservation();
        report.unseen = system.runner().unseen().map(Into::into);
        if outcome.is_complete() && !system.runner().have_called() {
            report.warnings.push(lint::of_no_calls(&report.subject));
        }
        report.warnings = lints.applied(report.warnings);
        report.estimate = size(any, limits, left, outcome);
        if report.violations.is_empty() {
            report.shown = first.map(|schedule| Shown::of(any, &schedule));
        }
        report
    }
}

/// Puts the diagnosis, in terms of MPI, into the report of a violation.
fn rephrase(report: &mut ViolationReport, found: Diagnosis) {
    report.message = match found.slip {
        Slip::Assertion => format!("assertion failed: {}", found.message),
        slip => format!("{slip}: {}", found.message),
    };
    report.slip = Some(found.slip.name());
    report.places = found.places.into_iter().collect();
}

/// What is drawn: a program, and its violations.
pub(super) type Drawn = Option<(Spec<AnySystem<'static>>, Vec<Violation>)>;

/// Prints the reports, and draws what was found if that is wanted.
pub(super) fn finish(
    reports: &[CheckReport],
    drawn: &Drawn,
    limits: &Limits,
    (results, drawing): (&ResultArgs, Wanted<'_>),
    output: &mut Output,
) -> Result<Exit, Failure> {
    results.print(reports, output)?;
    let exit = match reports.iter().any(CheckReport::is_denied) {
        true => Exit::Violation,
        false => Variants::new(reports).verdict.into(),
    };
    if let Some((file, Format::Dot)) = drawing
        && let Some(report) = reports.iter().find(|report| !report.violations.is_empty())
        && let [first, ..] = &report.violations[..]
        && first.kind.is_standstill()
    {
        let graph = dot::wait_for_graph(&report.subject, first);
        verification::write_drawing(file, &graph, output)?;
    } else if let Some(drawing) = drawing {
        let found = drawn.as_ref().map(|(spec, violations)| (spec, &violations[..]));
        verification::draw(drawing, found, (Effort::within(limits), exit), output)?;
    }
    Ok(exit)
}
