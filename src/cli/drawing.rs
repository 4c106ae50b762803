//! What `draw` and `check --draw` share: formats, and how a picture or a page is made.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::{Args as ClapArgs, ValueEnum};

use super::bounds::Bounds;
use super::options::{bytes, time};
use super::output::Output;
use super::spec::Spec;
use super::{Exit, Failure, memory};
use crate::explore::recording::{Extent, Searched, record};
use crate::explore::{Budget, ENDLESS, K, NoObserver, Recording, ShownPrefix, unfold};
use crate::model::{Refusal, Schedule, System, masked};
use crate::property::Properties;
use crate::report::picture::{Picture, SearchTree, SpaceTime};
use crate::report::text::shown;
use crate::report::viewer::{Asked, Source, Viewer};
use crate::report::{dot, html, json, svg};
use crate::study::Limits;

/// The most events or steps that are drawn, by default.
pub(super) const MAX_EVENTS: u32 = 300;

/// The most calls of a search that are drawn, by default.
pub(super) const MAX_NODES: u32 = 300;

/// The most classes of executions in a page.
const MAX_CLASSES: u64 = 10_000;
/// The most events that are constructed for a page.
const MAX_EVENTS_BUILT: usize = 200_000;

/// The limits of a drawing, in time and memory.
#[derive(ClapArgs)]
pub(super) struct EffortArgs {
    /// Give up after this time: 30s, 5m. The searches stop after half of it, and their results so
    /// far are drawn
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = time)]
    timeout: Duration,
    /// Give up when this much memory is allocated: 512M, 2G. The searches stop at half of it
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = bytes)]
    max_memory: u64,
}

impl EffortArgs {
    /// The limits, with the time counted from now on.
    pub(super) fn begin(&self) -> Effort {
        Effort { end: Instant::now().checked_add(self.timeout), max_memory: self.max_memory }
    }
}

/// The limits of a drawing, or of the searches for it.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// The time when it must be ready; `None` if a clock cannot represent that time.
    end: Option<Instant>,
    max_memory: u64,
}

/// The default time limit of a drawing after a search.
const MAX_TIME: Duration = Duration::from_secs(20);
/// The default memory limit of a drawing after a search, in bytes.
const MAX_MEMORY: u64 = 2_000_000_000;

impl Effort {
    /// The limits for a drawing after a search: as much time again as the search had, but at most
    /// [`MAX_TIME`], and the same memory.
    pub(super) fn within(limits: &Limits) -> Effort {
        let timeout = limits.timeout.unwrap_or(MAX_TIME).min(MAX_TIME);
        EffortArgs { timeout, max_memory: limits.max_memory.unwrap_or(MAX_MEMORY) }.begin()
    }

    /// Runs `draw` with half of the limits for its searches. If it exceeds the limits, the program
    /// ends with this exit code.
    pub(super) fn draw<T>(
        self,
        exit: Exit,
        output: &Output,
        draw: impl FnOnce(Effort) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let limits = (self.end, Some(self.max_memory));
        let _bounds = Bounds::new(limits, "Nothing drawn: it was not ready in time", exit, output)?;
        draw(Effort { max_memory: self.max_memory / 2, ..self.halved() })
    }

    /// The limits with half of the remaining time.
    pub(super) fn halved(self) -> Effort {
        let now = Instant::now();
        let half = |end: Instant| now + end.saturating_duration_since(now) / 2;
        Effort { end: self.end.map(half), ..self }
    }
}

/// The format of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A picture
    Svg,
    /// A graph for Graphviz
    Dot,
    /// The contents of the picture as data
    Json,
    /// An interactive page
    Html,
    /// A prefix for programs that check unfoldings of Petri nets: conditions and events, in binary
    Mci,
}

impl Format {
    /// The format for a file with an execution, by the ending of its name.
    pub(super) fn of(file: &Path) -> Result<Format, Failure> {
        let format = Format::of_any(file).filter(|&format| format != Format::Mci);
        format.ok_or_else(|| Format::unknown(file, ""))
    }

    /// The format for a file with whatever can be drawn.
    pub(super) fn of_drawing(file: &Path) -> Result<Format, Failure> {
        Format::of_any(file).ok_or_else(|| Format::unknown(file, "; of a prefix also in .mci"))
    }

    fn of_any(file: &Path) -> Option<Format> {
        let ending = file.extension().and_then(|ending| ending.to_str());
        ending.and_then(|ending| Format::from_str(ending, true).ok())
    }

    fn unknown(file: &Path, more: &str) -> Failure {
        let file = shown(file);
        Failure::Usage(format!("{file}: end the name in .html, .svg, .dot or .json{more}"))
    }
}

/// Renders a single picture. `format` is neither [`Format::Html`], as a page has its own data
/// ([`page`]), nor [`Format::Mci`].
pub(super) fn picture(picture: &Picture, format: Format) -> String {
    match format {
        Format::Svg => svg::render(picture),
        Format::Dot => dot::render(picture),
        Format::Json => json::render(picture),
        Format::Html | Format::Mci => unreachable!("{format:?} is more than one picture"),
    }
}

/// The space-time diagram of an execution, with at most `limit` events.
pub(super) fn chart<P: System>(
    spec: &Spec<P>,
    schedule: &Schedule,
    limit: usize,
) -> Result<Picture, Failure> {
    let chart = SpaceTime::of_execution(spec.subject.clone(), &spec.program, schedule, limit);
    chart.map(Picture::SpaceTime).map_err(refused)
}

/// The search tree of this search. The events get the numbers that they have in `full`.
pub(super) fn search<P: System>(
    spec: &Spec<P>,
    searched: Searched,
    extent: Extent,
    effort: Effort,
    full: &mut Recording<'_, P>,
) -> SearchTree {
    let (subject, program) = (spec.subject.clone(), &spec.program);
    let search = record(program, searched, extent, budget(spec, effort), &mut NoObserver);
    SearchTree::of_search(subject, program, searched, search, full, extent.events)
}

/// A page with the unfolding, the executions in `asked`, and the search by UDPOR with this k.
pub(super) fn page<P: System>(
    spec: &Spec<P>,
    asked: Vec<Asked>,
    k: K,
    extent: Extent,
    effort: Effort,
) -> Result<Viewer, Failure> {
    let (subject, program, events) = (spec.subject.clone(), &spec.program, extent.events);
    has_classes(program)?;
    // The page can step through a class even if not all its events are in the picture.
    let budget = Budget { max_traces: Some(MAX_CLASSES), ..budget(spec, effort.halved()) };
    let built = events.max(MAX_EVENTS_BUILT);
    let (mut prefix, outcome) = unfold(program, built, budget, &mut NoObserver);
    let tree = search(spec, k.into(), extent, effort, &mut prefix);
    let page = Viewer::new(subject, program, (prefix, outcome), tree, asked, events);
    let mut page = page.map_err(refused)?;
    page.sources.iter_mut().for_each(read);
    Ok(page)
}

/// A page with a prefix and the local configurations of its last events.
pub(super) fn page_of_prefix<P: System>(
    spec: &Spec<P>,
    prefix: &ShownPrefix,
    limit: usize,
) -> Result<Viewer, Failure> {
    let page = Viewer::of_prefix(spec.subject.clone(), &spec.program, prefix, limit);
    let mut page = page.map_err(refused)?;
    page.sources.iter_mut().for_each(read);
    Ok(page)
}

/// Fills in the text of a source file, if it is missing and the file can be read.
fn read(source: &mut Source) {
    let bytes = source.file.as_deref().and_then(|file| fs::read(file).ok());
    let text = bytes.map(|bytes| masked(&String::from_utf8_lossy(&bytes)).into_owned());
    source.text = source.text.take().or(text);
}

/// Refuses to draw classes of a program that has steps which depend on all others.
pub(super) fn has_classes<P: System>(program: &P) -> Result<(), Failure> {
    match program.objects().may_time_out_when_stuck {
        true => Err(Failure::Usage(
            "a `timeout when stuck` depends on all steps, so an unfolding has no place for it: --what space-time \
             draws one execution, in other formats than html"
                .into(),
        )),
        false => Ok(()),
    }
}

/// The page as a file.
pub(super) fn render(page: &Viewer) -> String {
    html::render(page)
}

/// The budget of a search for something to draw.
pub(super) fn budget<P>(spec: &Spec<P>, effort: Effort) -> Budget {
    let now = Instant::now();
    Budget {
        all: true,
        timeout: effort.end.map(|end| end.saturating_duration_since(now)),
        max_memory: Some((effort.max_memory, memory::in_use)),
        properties: Properties::default().allow_pending(spec.subject.allow_pending),
        endless: Some(ENDLESS),
        ..Budget::default()
    }
}

pub(super) fn refused(refusal: Refusal) -> Failure {
    Failure::Usage(refusal.to_string())
}
