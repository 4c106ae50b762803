//! A space-time diagram: processes are vertical lines, steps of the execution are rows.
//!
//! The texts of a process stand to the right of its line, so columns are as wide as their texts and
//! nothing overlaps. If many processes would make that too wide, their lines are close together and
//! all texts stand to the right of them, as in the log of a repository. Bars to the left of a line
//! are the mutexes that the process holds. The state of each process at the end is at the bottom.
//! If processes wait in a cycle, dashed lines below lead from each of them to the process that it
//! waits for.

use super::canvas::{
    Area, BLUE, Canvas, GREEN, GREY, INK, LARGE, MARGIN, NORMAL, PALE, PURPLE, Point, RED, SMALL,
    Stroke, clipped, cut_inside, fitting, width, wrapped,
};
use super::chains::{self, Chained};
use super::{Most, in_brackets};
use crate::report::picture::{Arrow, ArrowKind, End, Hold, Lane, Moment, SpaceTime};
use crate::report::place;

/// The maximum number of characters of an operation, unless its column is wider.
const LABEL: usize = 32;
/// The maximum number of characters of an operation if all texts stand to the right of the columns.
const LABEL_ASIDE: usize = 80;
const LONGEST_OUTCOME: usize = 64;
/// The space to the right of the texts in a column.
const APART: f64 = 16.0;
/// The width of the lines at the end of a process, in characters.
const END_LINE: usize = 34;
const ROW: f64 = 38.0;
/// The distance from the line of a process to its texts.
const INDENT: f64 = 12.0;
const BAR: f64 = 7.0;
/// The maximum number of lines for the values that led to a failure.
const VALUES: usize = 6;

/// The colours of mutexes.
const COLORS: [&str; 7] =
    ["#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#F0E442", "#0072B2", "#999999"];

/// The space to the right of a line in a column without texts, and between names.
const NARROW: f64 = 12.0;
const STAIR: f64 = 14.0;

/// The places of the parts of a diagram.
#[derive(Clone)]
struct Layout<'c> {
    chart: &'c Chained<SpaceTime>,
    /// The lines of the processes.
    xs: Vec<f64>,
    /// Where all texts begin, if they are not beside the lines.
    texts: Option<f64>,
    /// For each process: how far its name is raised, in lines of text.
    stairs: Vec<usize>,
    columns: Vec<Area>,
    /// For each hold: the number of its bar, counted from the line.
    bars: Vec<usize>,
    mutexes: Vec<&'c str>,
    top: f64,
}

/// Draws the chart, within `most` if possible.
pub(super) fn draw(chart: &SpaceTime, most: Most) -> String {
    let whole = chains::of_chart(chart, false);
    let is_high = Layout::new(&whole, most.width).end() > most.height;
    let chart = &if is_high { chains::of_chart(chart, true) } else { whole };
    let title = format!("Space-time diagram of {}", chart.subject.title());
    let mut canvas = Canvas::default();
    canvas.heading((MARGIN, MARGIN + 12.0), LARGE, &title);
    let layout = Layout::new(chart, most.width);
    let ends: Vec<_> = chart.lanes.iter().map(end_lines).collect();
    let longest = ends.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
    let longest = if layout.texts.is_some() { 0 } else { longest };
    let below = layout.end() + 14.0 + 13.0 * longest as f64;
    layout.lanes(&mut canvas, below);
    layout.holds(&mut canvas);
    layout.loop_mark(&mut canvas);
    for arrow in &chart.arrows {
        canvas.begin(&chart.between("arrow", arrow.from, arrow.to));
        layout.arrow(&mut canvas, arrow);
        canvas.end();
    }
    layout.pending(&mut canvas);
    chart.steps.iter().for_each(|step| layout.step(&mut canvas, step));
    for (lane, (color, lines)) in ends.iter().enumerate() {
        canvas.begin(&format!("class=\"end\" data-lane=\"{lane}\""));
        layout.mark(&mut canvas, lane);
        if layout.texts.is_none() {
            layout.end_beside(&mut canvas, lane, color, lines);
        }
        canvas.end();
    }
    let mut y = layout.waits(&mut canvas, below);
    if layout.texts.is_some() {
        y = ends_below(&mut canvas, chart, &ends, y + 24.0);
    }
    layout.foot(&mut canvas, y + 30.0);
    canvas.finish(&title)
}

/// The colour and words for the state of a process at the end.
fn end_lines(lane: &Lane) -> (&'static str, Vec<String>) {
    match &lane.end {
        End::Ended => (GREY, vec!["ended".into()]),
        End::Idle => (GREY, vec!["at rest".into()]),
        End::Open => (GREY, vec!["could go on".into()]),
        End::Failed => (RED, vec!["failed".into()]),
        End::Blocked { action, waits_for, file, line, .. } => {
            let place = line.map(|line| place(file.as_deref(), line));
            let place = place.map_or(String::new(), |place| format!(", {place}"));
            let mut lines = wrapped(&format!("blocked: {action}{place}"), END_LINE);
            lines.extend(wrapped(&format!("waits for {waits_for}"), END_LINE));
            (RED, lines)
        }
    }
}

/// Draws the states of the processes at the end, equal ones together. Returns the lower end.
fn ends_below(
    canvas: &mut Canvas,
    chart: &SpaceTime,
    ends: &[(&'static str, Vec<String>)],
    mut y: f64,
) -> f64 {
    let mut kinds: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for (lane, (color, lines)) in chart.lanes.iter().zip(ends) {
        let text = lines.join(" ");
        match kinds.iter_mut().find(|kind| kind.1 == text) {
            Some(kind) => kind.2.push(&lane.name),
            None => kinds.push((color, text, vec![&lane.name])),
        }
    }
    for (color, text, names) in kinds {
        for line in wrapped(&format!("{}: {text}", names.join(", ")), 150) {
            canvas.text((MARGIN, y), SMALL, color, &line);
            y += 14.0;
        }
    }
    y
}

/// The number of a step and its operation, in this width.
fn label(number: &str, step: &Moment, room: f64) -> String {
    let number = format!("{number} ");
    let most = fitting(room - width(&number, NORMAL), NORMAL, LABEL);
    number + &clipped(&step.label, most)
}

fn outcome(step: &Moment) -> String {
    cut_inside(step.outcome.as_deref().unwrap_or(""), LONGEST_OUTCOME)
}

/// For each hold: the first bar that is free at its lane.
fn bars(holds: &[Hold], last: usize) -> Vec<usize> {
    let end = |hold: &Hold| hold.to.unwrap_or(last + 1);
    let mut bars: Vec<usize> = Vec::new();
    for (index, hold) in holds.iter().enumerate() {
        let overlaps = |other: &Hold| {
            other.lane == hold.lane && other.from <= end(hold) && hold.from <= end(other)
        };
        let is_taken =
            |bar: &usize| (0..index).any(|other| bars[other] == *bar && overlaps(&holds[other]));
        bars.push((0..).find(|bar| !is_taken(bar)).expect("one of infinitely many bars"));
    }
    bars
}

impl<'c> Layout<'c> {
    fn new(chart: &'c Chained<SpaceTime>, widest: f64) -> Self {
        let bars = bars(&chart.holds, chart.steps.len());
        let mut mutexes: Vec<&str> = chart.holds.iter().map(|hold| hold.mutex.as_str()).collect();
        mutexes.sort_unstable();
        mutexes.dedup();
        let stairs = vec![0; chart.lanes.len()];
        let top = MARGIN + 46.0;
        let layout =
            Layout { chart, xs: vec![], texts: None, stairs, columns: vec![], bars, mutexes, top };
        let wide = layout.clone().with_columns(|layout, lane| layout.room(lane));
        match wide.columns.iter().map(|column| column.width).sum::<f64>() + 2.0 * MARGIN > widest {
            true => layout.with_columns(|_, _| NARROW).with_texts_aside(),
            false => wide,
        }
    }

    /// The width that the texts beside the line of a process need.
    fn room(&self, lane: usize) -> f64 {
        let process = &self.chart.lanes[lane];
        let steps = self.chart.steps.iter().filter(|step| step.lane == lane);
        let texts = steps
            .flat_map(|step| {
                [
                    width(&label(&self.chart.number(step.id), step, 0.0), NORMAL),
                    width(&outcome(step), SMALL),
                ]
            })
            .chain([width(&process.name, NORMAL)])
            .chain(end_lines(process).1.into_iter().map(|line| width(&line, SMALL)));
        texts.fold(0.0, f64::max) + INDENT + APART
    }

    /// Gives each process a column, with this space to the right of its line.
    fn with_columns(mut self, right: impl Fn(&Self, usize) -> f64) -> Self {
        let mut x = MARGIN;
        for lane in 0..self.chart.lanes.len() {
            let own = self.chart.holds.iter().zip(&self.bars).filter(|(hold, _)| hold.lane == lane);
            let left = own.map(|(_, bar)| bar + 1).max().unwrap_or(0) as f64 * (BAR + 2.0) + 18.0;
            let width = left + right(&self, lane);
            self.columns.push(Area { x, y: 0.0, width, height: 0.0 });
            self.xs.push(x + left);
            x += width;
        }
        self
    }

    /// Puts all texts to the right of the columns, and names at different heights so that they fit.
    fn with_texts_aside(mut self) -> Self {
        self.texts = Some(self.columns.last().map_or(MARGIN, Area::right) + INDENT);
        let mut taken: Vec<f64> = Vec::new();
        for (lane, process) in self.chart.lanes.iter().enumerate() {
            let x = self.xs[lane];
            let stair = taken.iter().position(|&right| right < x - 4.0).unwrap_or(taken.len());
            taken.resize(taken.len().max(stair + 1), 0.0);
            taken[stair] = x + width(&process.name, NORMAL) + 8.0;
            self.stairs[lane] = stair;
        }
        self.top += STAIR * taken.len().saturating_sub(1) as f64;
        self
    }

    fn row(&self, step: usize) -> f64 {
        self.top + 32.0 + step as f64 * ROW
    }

    /// Where the processes end.
    fn end(&self) -> f64 {
        self.row(self.chart.steps.len()) + 6.0
    }

    fn at(&self, step: usize) -> Point {
        (self.xs[self.chart.steps[step].lane], self.row(step))
    }

    fn lanes(&self, canvas: &mut Canvas, below: f64) {
        for (lane, &column) in self.columns.iter().enumerate() {
            let band = Area { y: self.top - 18.0, height: below - self.top + 22.0, ..column };
            canvas.area(band, &format!("fill=\"{}\"", if lane % 2 == 0 { PALE } else { "white" }));
        }
        for (lane, process) in self.chart.lanes.iter().enumerate() {
            let x = self.xs[lane];
            let lift = STAIR * self.stairs[lane] as f64;
            canvas.begin(&format!("data-lane=\"{lane}\""));
            if lift > 0.0 {
                let foot = (x, self.top + 10.0);
                canvas.lines(&[(x, self.top - lift + 3.0), foot], Stroke::line(GREY, 0.5));
            }
            canvas.heading((x - 4.0, self.top - lift), NORMAL, &process.name);
            canvas.end();
            let start = match process.started_by {
                Some(step) => self.row(step) + 17.0,
                None => self.top + 10.0,
            };
            canvas.lines(&[(x, start), (x, self.end())], Stroke::line(INK, 1.4));
            if let Some(step) = process.started_by {
                let stroke = Stroke::arrow(GREY, 1.2).dashed();
                let parent = self.side(step, self.at(step).0 < x);
                canvas.lines(&[parent, (x, start)], stroke);
            }
        }
    }

    fn holds(&self, canvas: &mut Canvas) {
        for (hold, &bar) in self.chart.holds.iter().zip(&self.bars) {
            let y = self.row(hold.from);
            let bottom = hold.to.map_or(self.end(), |to| self.row(to));
            let x = self.xs[hold.lane] - 5.0 - (bar + 1) as f64 * (BAR + 2.0) + 2.0;
            let name = format!("class=\"hold\" data-to=\"{}\"", self.chart.first(hold.from));
            canvas.begin_titled(&name, &format!("owns {}", hold.mutex));
            let color = self.color(&hold.mutex);
            let area = Area { x, y, width: BAR, height: (bottom - y).max(3.0) };
            canvas.area(area, &format!("rx=\"2\" fill=\"{color}\""));
            canvas.end();
        }
    }

    /// Draws a line above the step from which on all are repeated for ever, and one back to it.
    fn loop_mark(&self, canvas: &mut Canvas) {
        let Some(from) = self.chart.loop_from else { return };
        let right = self.columns.last().map_or(MARGIN, Area::right);
        let (top, end) = (self.row(from) - 16.0, self.end() - 4.0);
        let left = MARGIN - 8.0;
        canvas.begin("class=\"loop\"");
        canvas.lines(&[(left, top), (right, top)], Stroke::line(PURPLE, 1.2).dashed());
        let back = [(left + 8.0, end), (left, end), (left, top), (left + 8.0, top)];
        canvas.lines(&back, Stroke::arrow(PURPLE, 1.2));
        canvas.text((right + 4.0, top + 4.0), SMALL, PURPLE, "from here on again and again");
        canvas.end();
    }

    fn color(&self, mutex: &str) -> &'static str {
        let index = self.mutexes.iter().position(|known| *known == mutex);
        COLORS[index.expect("a mutex that is held") % COLORS.len()]
    }

    fn arrow(&self, canvas: &mut Canvas, arrow: &Arrow) {
        // A spawn leads to where the line of the process begins.
        if arrow.kind == ArrowKind::Spawn {
            return;
        }
        let (from, to) = (self.at(arrow.from), self.at(arrow.to));
        let stroke = stroke(arrow.kind);
        if from.0 == to.0 {
            let x = from.0 - 26.0;
            return canvas.curve([from, (x, from.1 + 8.0), (x, to.1 - 8.0), to], stroke);
        }
        let goes_right = from.0 < to.0;
        let points = [self.side(arrow.from, goes_right), self.side(arrow.to, !goes_right)];
        canvas.lines(&points, stroke);
    }

    /// Draws the messages that are never taken, to where their receivers are at the end.
    fn pending(&self, canvas: &mut Canvas) {
        for message in &self.chart.pending {
            let Some(from) = message.from else { continue };
            let x = self.xs[message.lane];
            let is_right = self.at(from).0 < x;
            let end = (if is_right { x - 8.0 } else { x + 8.0 }, self.end() - 6.0);
            canvas.lines(&[self.side(from, is_right), end], PENDING);
        }
    }

    /// The point at which an arrow meets a step: its dot, or the end of its text on the other side.
    fn side(&self, step: usize, right: bool) -> Point {
        let ((x, y), text) = (self.at(step), self.text(step));
        if self.texts.is_some() {
            return (if right { x + 4.0 } else { x - 4.0 }, y);
        }
        if right { (text.right() + 1.0, text.y + text.height / 2.0) } else { (x - 4.0, y) }
    }

    /// The area of the texts of a step.
    fn text(&self, step: usize) -> Area {
        let y = self.row(step);
        let (label, outcome) =
            (self.step_label(&self.chart.steps[step]), outcome(&self.chart.steps[step]));
        let text = width(&label, NORMAL).max(width(&outcome, SMALL));
        let height = if outcome.is_empty() { 17.0 } else { 30.0 };
        Area { x: self.text_start(step) - 5.0, y: y - 10.0, width: text + 10.0, height }
    }

    fn text_start(&self, step: usize) -> f64 {
        self.texts.unwrap_or(self.at(step).0 + INDENT)
    }

    /// The operation of a step, and the process unless the picture shows it.
    fn step_label(&self, step: &Moment) -> String {
        match self.texts {
            None => {
                let column = self.columns[step.lane];
                label(
                    &self.chart.number(step.id),
                    step,
                    column.right() - self.xs[step.lane] - INDENT - APART,
                )
            }
            Some(_) => {
                let label = clipped(&step.label, LABEL_ASIDE);
                format!(
                    "{} {} {label}",
                    self.chart.number(step.id),
                    self.chart.lanes[step.lane].name
                )
            }
        }
    }

    fn step(&self, canvas: &mut Canvas, step: &Moment) {
        let (x, y) = self.at(step.id);
        let (label, outcome) = (self.step_label(step), outcome(step));
        let place = in_brackets(step.file.as_deref(), step.line);
        let whole = step.outcome.as_deref().unwrap_or("");
        let tooltip = format!("{} {}{place}: {whole}", self.chart.number(step.id), step.label);
        canvas.begin_titled(&self.chart.named("data-step", step.id), &tooltip);
        let look = "class=\"step\" rx=\"3\" fill=\"white\" fill-opacity=\"0.9\" stroke=\"#D5D8DC\"";
        let text = self.text_start(step.id);
        if self.texts.is_some() {
            canvas.lines(&[(x, y), (text - 5.0, y)], Stroke::line("#D5D8DC", 1.0));
        }
        canvas.area(self.text(step.id), look);
        canvas.dot((x, y), 4.0, INK);
        canvas.text((text, y + 3.0), NORMAL, INK, &label);
        if !outcome.is_empty() {
            canvas.text((text, y + 16.0), SMALL, GREY, &outcome);
        }
        canvas.end();
    }

    /// Draws the state of a process at the end: a cross if it is blocked or has failed, a bar if it
    /// has ended.
    fn mark(&self, canvas: &mut Canvas, lane: usize) {
        let (x, y) = (self.xs[lane], self.end());
        match self.chart.lanes[lane].end {
            End::Blocked { .. } | End::Failed => {
                let stroke = Stroke::line(RED, 2.6);
                canvas.lines(&[(x - 6.0, y - 6.0), (x + 6.0, y + 6.0)], stroke);
                canvas.lines(&[(x - 6.0, y + 6.0), (x + 6.0, y - 6.0)], stroke);
            }
            End::Ended => {
                canvas.lines(&[(x - 7.0, y), (x + 7.0, y)], Stroke::line(INK, 2.6));
            }
            End::Idle => canvas.dot((x, y), 3.0, GREY),
            End::Open => {
                let stroke = Stroke::line(INK, 1.4).dashed();
                canvas.lines(&[(x, y), (x, y + 16.0)], stroke);
            }
        }
    }

    /// Writes the state of a process at the end beside its mark.
    fn end_beside(&self, canvas: &mut Canvas, lane: usize, color: &str, lines: &[String]) {
        let (x, y) = (self.xs[lane] + INDENT, self.end() + 4.0);
        for (index, line) in lines.iter().enumerate() {
            canvas.text((x, y + 13.0 * index as f64), SMALL, color, line);
        }
    }

    /// Draws which process of the cycle waits for which. Returns the lower end.
    fn waits(&self, canvas: &mut Canvas, below: f64) -> f64 {
        let mut low = below;
        for &lane in &self.chart.cycle {
            let End::Blocked { helpers, .. } = &self.chart.lanes[lane].end else { continue };
            for &helper in helpers {
                low += 12.0;
                let (from, to) = (self.xs[lane] + 3.0, self.xs[helper] - 3.0);
                let top = self.end() + 9.0;
                let points = [(from, top), (from, low), (to, low), (to, top)];
                canvas.begin(&format!("class=\"wait\" data-lane=\"{lane}\""));
                canvas.lines(&points, Stroke::arrow(RED, 1.4).dashed());
                canvas.end();
            }
        }
        low
    }

    /// Draws the violation, the legend, and notes on what is left out.
    fn foot(&self, canvas: &mut Canvas, mut y: f64) {
        let chart = self.chart;
        if let Some(message) = &chart.message {
            let word = chart.verdict.word();
            // Some messages begin with the verdict.
            let sentence = match message.starts_with(word) {
                true => message.clone(),
                false => format!("{word}: {message}"),
            };
            let place = in_brackets(chart.file.as_deref(), chart.line);
            for line in wrapped(&(sentence + &place), 110) {
                canvas.text((MARGIN, y), NORMAL, RED, &line);
                y += 18.0;
            }
            let values = chart.variables.iter().map(|v| format!("{} = {}", v.name, v.value));
            let values = values.collect::<Vec<_>>().join(", ");
            for line in wrapped(&values, 130).iter().filter(|line| !line.is_empty()).take(VALUES) {
                canvas.text((MARGIN, y - 2.0), SMALL, INK, line);
                y += 16.0;
            }
        }
        for (kind, text) in KINDS {
            if chart.arrows.iter().any(|arrow| arrow.kind == kind) {
                canvas.lines(&[(MARGIN, y - 4.0), (MARGIN + 32.0, y - 4.0)], stroke(kind));
                canvas.text((MARGIN + 42.0, y), SMALL, INK, text);
                y += 17.0;
            }
        }
        if chart.is_short() {
            let text = "`3…9`: steps 3 to 9 of one process, with nothing of others in between";
            canvas.text((MARGIN + 42.0, y), SMALL, INK, text);
            y += 17.0;
        }
        if chart.pending.iter().any(|message| message.from.is_some()) {
            canvas.lines(&[(MARGIN, y - 4.0), (MARGIN + 32.0, y - 4.0)], PENDING);
            canvas.text((MARGIN + 42.0, y), SMALL, INK, "message that is not taken");
            y += 17.0;
        }
        if !chart.cycle.is_empty() {
            let stroke = Stroke::arrow(RED, 1.4).dashed();
            canvas.lines(&[(MARGIN, y - 4.0), (MARGIN + 32.0, y - 4.0)], stroke);
            canvas.text((MARGIN + 42.0, y), SMALL, INK, "waits for");
            y += 17.0;
        }
        for mutex in &self.mutexes {
            let area = Area { x: MARGIN + 8.0, y: y - 10.0, width: BAR, height: 13.0 };
            canvas.area(area, &format!("rx=\"2\" fill=\"{}\"", self.color(mutex)));
            canvas.text((MARGIN + 42.0, y), SMALL, INK, &format!("owns {mutex}"));
            y += 17.0;
        }
        for note in &chart.left_out {
            canvas.text((MARGIN + 42.0, y), SMALL, INK, &format!("Left out: {note}"));
            y += 17.0;
        }
    }
}

const PENDING: Stroke = Stroke::arrow(BLUE, 1.3).dashed();

const KINDS: [(ArrowKind, &str); 7] = [
    (ArrowKind::Message, "message, to the step that has it"),
    (ArrowKind::Pairing, "paired with a receive that was there first, not waited for yet"),
    (ArrowKind::Handover, "mutex or unit, handed over"),
    (ArrowKind::Barrier, "last arrival at a barrier"),
    (ArrowKind::Spawn, "starts a process"),
    (ArrowKind::Join, "ended, which a join waited for"),
    (ArrowKind::Content, "content of a cell that another process sees"),
];

fn stroke(kind: ArrowKind) -> Stroke {
    match kind {
        ArrowKind::Message => Stroke::arrow(BLUE, 1.5),
        ArrowKind::Pairing => Stroke::line(BLUE, 1.3).dashed(),
        ArrowKind::Handover | ArrowKind::Barrier => Stroke::arrow(GREEN, 1.4),
        ArrowKind::Spawn => Stroke::arrow(GREY, 1.2).dashed(),
        ArrowKind::Join => Stroke::arrow(GREY, 1.2),
        ArrowKind::Content => Stroke::arrow(PURPLE, 1.2),
    }
}
