//! What `check` and `mpirun` have in common: options for a search and for its results, and reports.

use std::path::{Path, PathBuf};

use clap::Args;

use super::drawing::{self, Effort, Format as Drawing, MAX_EVENTS, MAX_NODES};
use super::explorers::ExplorerNames;
use super::faster::Advice;
use super::options::{ExplorerArgs, LimitArgs};
#[cfg(unix)]
use super::output::Format;
use super::output::{Output, ResultFormat, format};
use super::parts::Searched;
use super::progress::{Progress, ProgressArgs};
use super::spec::Spec;
use super::{Exit, Failure, files, interrupt, memory, saved};
use crate::explore::recording::Extent;
use crate::explore::{Budget, K, OPTIONS, OptionInfo, Outcome, Setting, Violation};
use crate::model::System;
use crate::property::Properties;
use crate::report::lint::Levels;
use crate::report::text::{self, shown};
use crate::report::viewer::{Asked, View, Viewer};
use crate::report::{CheckReport, Merged, Variants, ci, json};
use crate::study::Limits;

/// Options for a search.
#[derive(Args)]
pub(super) struct SearchArgs {
    /// The algorithm; `mazurka explorers` lists them. Its options may follow a colon, joined by +,
    /// as for `compare`: `udpor:k=1+order=lca` [default: auto; for a search in branches
    /// parsimonious; with --checkpoint one that auto chooses; udpor if other options ask for what
    /// these cannot do]
    #[arg(long, value_name = "NAME", value_parser = ExplorerNames, hide_possible_values = true)]
    explorer: Option<String>,
    #[command(flatten)]
    options: ExplorerArgs,
    /// Explore everything instead of stopping at the first violation
    #[arg(long)]
    all: bool,
    /// Explore everything, and for each violation report the execution with the fewest steps, and
    /// among these the one with the fewest switches between processes; the shortest comes first
    #[arg(long)]
    pub(super) shortest: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

impl SearchArgs {
    /// The explorer with its options. If none is named: `default`, if it takes the options; else
    /// `udpor`.
    ///
    /// # Errors
    /// If the explorer does not exist or does not take an option, or if an option is given twice.
    pub(super) fn setting(&self, default: &str) -> Result<Setting, Failure> {
        let outside = self.options.options();
        let default: Setting = default.parse().expect("an explorer");
        if self.explorer.is_none()
            && let Ok(default) = Setting::new(default.explorer(), outside)
        {
            return Ok(default);
        }
        let name = self.explorer.as_deref().unwrap_or("udpor");
        let named: Setting = name.trim().parse().map_err(Failure::Usage)?;
        let inside = named.options();
        let is_twice = |option: &&OptionInfo| {
            let is_list = !(option.values)().is_empty();
            !is_list && option.is_given(&inside) && option.is_given(&outside)
        };
        if let Some(option) = OPTIONS.iter().find(is_twice) {
            let (name, flag) = (option.name, option.flag());
            let text = format!("--explorer {named} gives {name} already: leave {flag} out");
            return Err(Failure::Usage(text));
        }
        Setting::new(named.explorer(), inside.or(outside)).map_err(Failure::Usage)
    }

    /// Is the explorer left to the command?
    pub(super) fn names_no_explorer(&self) -> bool {
        self.explorer.is_none()
    }

    /// What shows the progress of the search.
    pub(super) fn progress(&self, output: &Output) -> Progress {
        self.progress.progress(output)
    }

    pub(super) fn limits(&self) -> Result<Limits, Failure> {
        self.limits.limits()
    }

    /// The budget of a search for violations of these properties. Ctrl-C ends it.
    pub(super) fn budget(
        &self,
        limits: &Limits,
        properties: &Properties,
    ) -> Result<Budget, Failure> {
        let (properties, cancel) = (properties.clone(), interrupt::flag()?);
        Ok(Budget { properties, cancel, ..self.budget_of(limits) })
    }

    /// The budget of a search for violations of the default properties. Ctrl-C does not end it.
    pub(super) fn budget_of(&self, limits: &Limits) -> Budget {
        let (all, shortest) = (self.all || self.shortest, self.shortest);
        Budget { all, shortest, ..limits.budget(memory::in_use) }
    }
}

/// Options for the results.
#[derive(Args)]
pub(super) struct ResultArgs {
    /// Draw the violations, if any: all of them as an interactive page (.html), or the first one as
    /// a space-time diagram (.svg, .dot, .json). Of ranks that wait for ever, .dot shows who waits
    /// for whom. Nothing is written if nothing is wrong: for that, see `mazurka draw`. A page needs
    /// another search, which may take as long as --timeout, and 20 s at most
    #[arg(long, value_name = "FILE")]
    draw: Option<PathBuf>,
    /// Keep each violation in a file in this folder, with all that a replay needs
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Write the result to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write the result: `junit` and `sarif` are for servers that build and test software
    /// [default: what FILE ends in (.json, .xml, .sarif), or text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ResultFormat>,
}

/// A requested drawing: its file and its format.
pub(super) type Wanted<'a> = Option<(&'a Path, Drawing)>;

impl ResultArgs {
    /// Directs the output to the requested file. Returns the requested drawing.
    ///
    /// # Errors
    /// If one of the files would overwrite an input.
    pub(super) fn direct<'p>(
        &self,
        inputs: impl IntoIterator<Item = &'p Path> + Clone,
        output: &mut Output,
    ) -> Result<Wanted<'_>, Failure> {
        let wanted = match self.draw.as_deref() {
            Some(file) => Some((file, Drawing::of(file)?)),
            None => None,
        };
        output.direct(self.file(), inputs.clone())?;
        if let Some((file, _)) = wanted {
            files::keep(file, inputs)?;
        }
        Ok(wanted)
    }

    /// The file for the result, if one is given.
    pub(super) fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// How to write the result.
    fn format(&self) -> ResultFormat {
        format(self.format, self.file(), ResultFormat::Text)
    }

    /// How to write an execution.
    ///
    /// # Errors
    /// If the format is one for verdicts only.
    #[cfg(unix)]
    pub(super) fn format_of_execution(&self) -> Result<Format, Failure> {
        match self.format() {
            ResultFormat::Text => Ok(Format::Text),
            ResultFormat::Json => Ok(Format::Json),
            ResultFormat::Junit | ResultFormat::Sarif => Err(Failure::Usage(
                "junit and sarif are for the result of a search, not for a replay or an estimate"
                    .into(),
            )),
        }
    }

    /// Prints the reports, one for each choice of MPI semantics, and saves their violations if
    /// requested.
    pub(super) fn print(
        &self,
        reports: &[CheckReport],
        output: &mut Output,
    ) -> Result<(), Failure> {
        let (quiet, room) = (output.is_quiet(), output.room());
        match (self.format(), reports) {
            (ResultFormat::Junit, reports) => {
                let cases: Vec<ci::Case> = reports.iter().map(ci::case).collect();
                output.print(ci::junit(&cases))?;
            }
            (ResultFormat::Sarif, reports) => output.print(json::render(&ci::sarif(reports)))?,
            (ResultFormat::Json, [report]) => output.print(json::render(report))?,
            (ResultFormat::Json, reports) => output.print(json::render(&Variants::new(reports)))?,
            (ResultFormat::Text, [report]) => output.print(text::Check { report, quiet, room })?,
            (ResultFormat::Text, reports) => output.print(text::Checks { reports, quiet, room })?,
        }
        match &self.save {
            Some(folder) => saved::save(folder, reports, output),
            None => Ok(()),
        }
    }
}

/// What the report of a search in parts needs, besides the outcome.
pub(super) struct Judged {
    pub(super) limits: Limits,
    pub(super) shortest: bool,
    pub(super) lints: Levels,
    /// The files that the result was merged from, if it was merged.
    pub(super) merged: Option<Merged>,
    /// The file that the search was resumed from, if it was.
    pub(super) resumed_from: Option<String>,
    pub(super) advice: Advice,
}

/// Refuses lints about unreached code, which cannot be decided for a search in parts.
pub(super) fn refuse_unreached(lints: &Levels) -> Result<(), Failure> {
    match lints.ask_about_all() {
        true => Err(Failure::Usage(
            "lints about unreached code are not for a search in parts: no part sees all executions"
                .into(),
        )),
        false => Ok(()),
    }
}

/// Reports the result of a search in parts, and draws it if requested.
pub(super) fn report(
    searched: &Searched,
    outcome: &Outcome,
    peak: Option<u64>,
    Judged { limits, shortest, lints, merged, resumed_from, advice }: Judged,
    (results, drawing): (&ResultArgs, Wanted<'_>),
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Searched { spec, setting, properties, .. } = searched;
    let judged = (limits.clone(), properties.clone());
    let subject = spec.subject.clone();
    let report = CheckReport::new(subject, &spec.program, *setting, judged, outcome, peak);
    let warnings = lints.applied(report.warnings);
    let Advice { faster, estimate, states_in_all } = advice;
    let report = CheckReport { shortest, warnings, merged, resumed_from, ..report };
    let report = CheckReport { faster, estimate, states_in_all, ..report };
    results.print(std::slice::from_ref(&report), output)?;
    let exit = if report.is_denied() { Exit::Violation } else { report.verdict.into() };
    if let Some(drawing) = drawing {
        let found = (!outcome.violations.is_empty()).then_some((spec, &outcome.violations[..]));
        draw(drawing, found, (Effort::within(&limits), exit), output)?;
    }
    Ok(exit)
}

/// Draws the violations, and prints the name of the file that was written. If the drawing exceeds
/// its limits, the program ends with this exit code.
pub(super) fn draw<P: System>(
    (file, format): (&Path, Drawing),
    found: Option<(&Spec<P>, &[Violation])>,
    (effort, exit): (Effort, Exit),
    output: &mut Output,
) -> Result<(), Failure> {
    // Writes the results first, so that they are not lost if the drawing is given up.
    output.finish()?;
    let Some((spec, violations @ [first, ..])) = found else {
        let file = shown(file);
        output.remark(format!("Nothing wrong was found, so {file} was not written.\n"));
        return Ok(());
    };
    let limit = MAX_EVENTS as usize;
    let text = effort.draw(exit, output, |effort| match format {
        Drawing::Html => Ok(drawing::render(&page(spec, violations, effort)?)),
        format => Ok(drawing::picture(&drawing::chart(spec, &first.schedule, limit)?, format)),
    })?;
    write_drawing(file, &text, output)
}

/// Writes a drawing, and prints the name of the file.
pub(super) fn write_drawing(file: &Path, text: &str, output: &mut Output) -> Result<(), Failure> {
    output.finish()?;
    files::write(file, text)?;
    output.remark(format!("Drawn: {}\n", shown(file)));
    Ok(())
}

fn page<P: System>(
    spec: &Spec<P>,
    violations: &[Violation],
    effort: Effort,
) -> Result<Viewer, Failure> {
    let asked = violations.iter().enumerate().map(|(index, violation)| Asked {
        name: format!("Violation {}", index + 1),
        schedule: violation.schedule.clone(),
    });
    let extent = Extent { events: MAX_EVENTS as usize, calls: MAX_NODES as usize };
    let page = drawing::page(spec, asked.collect(), K::Optimal, extent, effort)?;
    Ok(Viewer { start: View::SpaceTime, ..page })
}
