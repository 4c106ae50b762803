//! Events in layers: a column for each process, a row for each causal depth ([`layout`]).

mod layout;

use layout::{Band, Layout};

use super::canvas::{
    Area, BLUE, Canvas, GREY, INK, LARGE, MARGIN, NORMAL, PALE, Point, RED, SMALL, Stroke, clipped,
    cut_inside, fitting, width,
};
use super::chains::{self, Chained};
use super::{Most, in_brackets};
use crate::explore::Verdict;
use crate::report::picture::{Event, Fate, PartialOrder};
use crate::report::plural;

/// The maximum number of characters of an operation, unless the result makes the box wider.
const LABEL: usize = 38;
const LONGEST_OUTCOME: usize = 64;
/// A partial order as it is drawn.
type Drawn = Chained<PartialOrder>;

const PADDING: f64 = 7.0;
const HEIGHT: f64 = 36.0;
/// The gap between boxes in a row.
const GAP: f64 = 20.0;
/// The gap between rows.
const ROW: f64 = 40.0;
/// The maximum number of violating configurations that are listed.
const LISTED: usize = 6;

const DEADLOCK: &str = "#FBE3D3";
const FAILURE: &str = "#FFF1B8";

const CONFLICT: Stroke = Stroke::line(RED, 1.4).dashed();

/// Draws the partial order, within `most` if possible.
pub(super) fn draw(order: &PartialOrder, most: Most) -> String {
    let events = order.events.len();
    let is_high = |order: &Drawn| Layout::new(order, 0.0, most.width).bottom() > most.height;
    let whole = chains::of_order(order, false);
    let order = &if is_high(&whole) { chains::of_order(order, true) } else { whole };
    let what = if order.what == "unfolding" { "Unfolding" } else { "Configuration" };
    let title = format!("{what} of {}", order.subject.title());
    let mut canvas = Canvas::default();
    let top = head(&mut canvas, order, events, &title);
    let layout = Layout::new(order, top, most.width);
    for (number, band) in layout.bands.iter().enumerate() {
        draw_band(&mut canvas, order, band, (number + 1, layout.bands.len()));
    }
    for event in &order.events {
        causes(&mut canvas, order, &layout, event);
    }
    for &(a, b) in order.conflicts.iter().filter(|&&(a, b)| layout.are_near(a, b)) {
        canvas.begin(&order.between("conflict", a, b));
        conflict(&mut canvas, &layout.boxes, a, b);
        canvas.end();
    }
    for event in &order.events {
        draw_event(&mut canvas, order, event, &layout);
    }
    foot(&mut canvas, order, &layout);
    canvas.finish(&title)
}

/// Draws what is behind the events of a band.
fn draw_band(canvas: &mut Canvas, order: &Drawn, band: &Band, (number, of): (usize, usize)) {
    if of > 1 {
        let (first, last) = (band.events.start, band.events.end - 1);
        let (first, last) = (order.number(first), order.number(last));
        let text = format!("Band {number} of {of}: events {first} to {last}");
        canvas.text((MARGIN, band.top - 24.0), SMALL, GREY, &text);
    }
    for &(lane, column) in &band.columns {
        let area = Area { y: band.top - 18.0, height: band.bottom - band.top + 18.0, ..column };
        canvas.area(area, &format!("fill=\"{}\"", if lane % 2 == 0 { PALE } else { "white" }));
        canvas.begin(&format!("data-lane=\"{lane}\""));
        canvas.centred_heading((column.centre(), band.top), NORMAL, &order.lanes[lane]);
        canvas.end();
    }
}

/// Draws the title and the figures. Returns the height for the names of the processes.
fn head(canvas: &mut Canvas, order: &PartialOrder, events: usize, title: &str) -> f64 {
    canvas.heading((MARGIN, MARGIN + 12.0), LARGE, title);
    let mut figures = plural(events, "event");
    if order.what == "unfolding" {
        figures += &format!(", {}", plural(order.conflicts.len(), "immediate conflict"));
        figures += &format!(", {}", plural(order.configurations.len(), "maximal configuration"));
    }
    canvas.text((MARGIN, MARGIN + 30.0), NORMAL, GREY, &figures);
    MARGIN + 66.0
}

/// The number of an event and what it does.
fn label(order: &Drawn, event: &Event) -> String {
    let number = format!("{} ", order.number(event.id));
    let room = width(&outcome(event), SMALL) - width(&number, NORMAL);
    number + &clipped(&event.label, fitting(room, NORMAL, LABEL))
}

fn outcome(event: &Event) -> String {
    cut_inside(event.outcome.as_deref().unwrap_or(""), LONGEST_OUTCOME)
}

/// Draws the arrows to an event, side by side at their ends.
fn causes(canvas: &mut Canvas, order: &Drawn, layout: &Layout, event: &Event) {
    let boxes = &layout.boxes;
    let to = boxes[event.id];
    let mut causes = event.causes.clone();
    causes.retain(|&cause| layout.are_near(cause, event.id));
    causes.sort_by(|&a, &b| boxes[a].centre().total_cmp(&boxes[b].centre()).then(a.cmp(&b)));
    let step = (to.width / (causes.len() as f64 + 1.0)).min(14.0);
    let first = to.centre() - step * (causes.len() as f64 - 1.0) / 2.0;
    for (index, &cause) in causes.iter().enumerate() {
        let from = boxes[cause];
        let start = (from.centre(), from.bottom());
        let end = (first + step * index as f64, to.y);
        let is_own = order.events[cause].lane == event.lane;
        let stroke = if is_own { Stroke::arrow(GREY, 1.2) } else { Stroke::arrow(BLUE, 1.2) };
        let mut points = vec![start];
        points.extend(detours(boxes, start, end, shift(cause, event.id)));
        points.push(end);
        canvas.begin(&order.between("cause", cause, event.id));
        connect(canvas, &points, stroke);
        canvas.end();
    }
}

/// The points that an arrow passes to avoid the boxes of the rows in between. In each row it goes
/// through the gap beside the nearest box, at the distance `shift` from the middle of the gap.
fn detours(boxes: &[Area], start: Point, end: Point, shift: f64) -> Vec<Point> {
    let (mut points, mut from) = (Vec::new(), start);
    let height = boxes.first().map_or(HEIGHT, |area| area.height);
    let mut top = start.1 + ROW;
    while top < end.1 - 1.0 {
        let bottom = top + height;
        let at = |y: f64| from.0 + (end.0 - from.0) * (y - from.1) / (end.1 - from.1);
        let (low, high) = (at(top).min(at(bottom)) - 6.0, at(top).max(at(bottom)) + 6.0);
        let mut row = boxes.iter().filter(|area| area.y == top);
        if let Some(area) = row.find(|area| area.x < high && low < area.right()) {
            let middle = (low + high) / 2.0;
            let x = match middle < area.centre() {
                true => area.x - GAP / 2.0 + shift,
                false => area.right() + GAP / 2.0 + shift,
            };
            points.extend([(x, top - 3.0), (x, bottom + 3.0)]);
            from = (x, bottom + 3.0);
        }
        top += height + ROW;
    }
    points
}

/// A shift that usually separates arrows that share a gap.
fn shift(cause: usize, event: usize) -> f64 {
    ((cause + 2 * event) % 5) as f64 * 3.0 - 6.0
}

/// Draws a smooth line through these points, vertical at each of them.
fn connect(canvas: &mut Canvas, points: &[Point], stroke: Stroke) {
    for (index, pair) in points.windows(2).enumerate() {
        let (a, b) = (pair[0], pair[1]);
        let stroke = Stroke { arrow: stroke.arrow && index + 2 == points.len(), ..stroke };
        let bend = ((b.1 - a.1) / 2.0).min(60.0);
        canvas.curve([a, (a.0, a.1 + bend), (b.0, b.1 - bend), b], stroke);
    }
}

/// Draws a dashed line between two events, around what is between them.
fn conflict(canvas: &mut Canvas, boxes: &[Area], a: usize, b: usize) {
    let (left, right) = match boxes[a].centre() <= boxes[b].centre() {
        true => (boxes[a], boxes[b]),
        false => (boxes[b], boxes[a]),
    };
    let middle = |area: &Area| area.y + area.height / 2.0;
    if left.y != right.y {
        let (upper, lower) = if left.y < right.y { (left, right) } else { (right, left) };
        let aside = if upper.centre() <= lower.centre() { 12.0 } else { -12.0 };
        let start = (upper.centre() + aside, upper.bottom());
        let end = (lower.centre() - aside, lower.y);
        let mut points = vec![start];
        points.extend(detours(boxes, start, end, shift(a, b)));
        points.push(end);
        return connect(canvas, &points, CONFLICT);
    }
    let between = |area: &Area| area.y == left.y && area.x > left.x && area.x < right.x;
    if !boxes.iter().any(between) {
        return canvas.lines(&[(left.right(), middle(&left)), (right.x, middle(&right))], CONFLICT);
    }
    let (start, end) =
        ((left.centre() + 12.0, left.bottom()), (right.centre() - 12.0, right.bottom()));
    let low = left.bottom() + ROW * 0.7;
    canvas.curve([start, (start.0 + 10.0, low), (end.0 - 10.0, low), end], CONFLICT);
}

fn draw_event(canvas: &mut Canvas, order: &Drawn, event: &Event, layout: &Layout) {
    let (area, elsewhere) = (layout.boxes[event.id], &layout.elsewhere[event.id]);
    let place = in_brackets(event.file.as_deref(), event.line);
    let outcome = event.outcome.as_deref().unwrap_or("");
    let tooltip = format!("{} {}{place}: {outcome}", order.number(event.id), event.label);
    canvas.begin_titled(&order.named("data-event", event.id), &tooltip);
    let fill = match event.fate {
        Fate::Open => "white",
        Fate::Deadlock => DEADLOCK,
        Fate::Failure => FAILURE,
    };
    let dashes = if event.cutoff_of.is_some() { " stroke-dasharray=\"4 3\"" } else { "" };
    let look = format!("class=\"event\" rx=\"4\" fill=\"{fill}\" stroke=\"{INK}\"{dashes}");
    canvas.area(area, &look);
    let x = area.x + PADDING;
    let own = (!outcome.is_empty()).then(|| self::outcome(event));
    let small: Vec<String> = own.into_iter().chain(elsewhere.clone()).collect();
    let lift = (area.height - 22.0 - 14.0 * small.len() as f64).max(0.0) / 2.0;
    canvas.text((x, area.y + 15.0 + lift), NORMAL, INK, &label(order, event));
    for (index, line) in small.iter().enumerate() {
        canvas.text((x, area.y + 29.0 + lift + 13.0 * index as f64), SMALL, GREY, line);
    }
    canvas.end();
}

/// Draws the legend, the ends of configurations, and notes on what is left out.
fn foot(canvas: &mut Canvas, order: &Drawn, layout: &Layout) {
    let mut y = layout.bottom() + 26.0;
    let mut line = |canvas: &mut Canvas, text: &str, sample: Sample| {
        sample.draw(canvas, y);
        canvas.text((MARGIN + 42.0, y), SMALL, INK, text);
        y += 17.0;
    };
    line(canvas, "follows in the same process", Sample::Line(Stroke::arrow(GREY, 1.2)));
    line(canvas, "needs another process", Sample::Line(Stroke::arrow(BLUE, 1.2)));
    if !order.conflicts.is_empty() {
        line(canvas, "immediate conflict: no execution has both", Sample::Line(CONFLICT));
    }
    if order.is_short() {
        let text =
            "`3…9`: a chain from event 3 to event 9, each with the one before as its only cause";
        line(canvas, text, Sample::None);
    }
    if layout.bands.len() > 1 {
        let text = "`after 3; not with 7`: needs event 3, and is in immediate conflict with event 7, of other bands";
        line(canvas, text, Sample::None);
    }
    for (fate, color, text) in [
        (Fate::Deadlock, DEADLOCK, "every execution with this event ends in a deadlock"),
        (Fate::Failure, FAILURE, "every execution with this event ends in a violation"),
    ] {
        if order.events.iter().any(|event| event.fate == fate) {
            line(canvas, text, Sample::Fill(color));
        }
    }
    let bad: Vec<_> = order.configurations.iter().filter(|c| c.verdict != Verdict::Ok).collect();
    for configuration in bad.iter().take(LISTED) {
        let last: Vec<_> = configuration.last.iter().map(|&event| order.number(event)).collect();
        let which = match (order.what, last.is_empty()) {
            ("unfolding", true) => format!("configuration {}", configuration.number),
            ("unfolding", false) => {
                format!("configuration {}, up to {}", configuration.number, last.join(", "))
            }
            _ => "its end".into(),
        };
        let message = configuration.message.as_deref().unwrap_or("");
        let verdict = configuration.verdict.word();
        // Some messages begin with the verdict.
        let text = match message.starts_with(verdict) {
            true => format!("{which}: {message}"),
            false => format!("{which}: {verdict}: {message}"),
        };
        line(canvas, &clipped(&text, 120), Sample::Mark);
    }
    if bad.len() > LISTED {
        let more = match bad.len() - LISTED {
            1 => "1 more configuration that does not end well".into(),
            more => format!("{more} more configurations that do not end well"),
        };
        line(canvas, &more, Sample::None);
    }
    for note in &order.left_out {
        line(canvas, &format!("Left out: {note}"), Sample::None);
    }
}

/// The sample at the beginning of a line of the legend.
enum Sample {
    None,
    Line(Stroke),
    Fill(&'static str),
    Mark,
}

impl Sample {
    fn draw(self, canvas: &mut Canvas, y: f64) {
        match self {
            Sample::None => {}
            Sample::Line(stroke) => {
                canvas.lines(&[(MARGIN, y - 4.0), (MARGIN + 32.0, y - 4.0)], stroke);
            }
            Sample::Fill(color) => {
                let area = Area { x: MARGIN, y: y - 10.0, width: 32.0, height: 12.0 };
                canvas.area(area, &format!("fill=\"{color}\" stroke=\"{INK}\" rx=\"3\""));
            }
            Sample::Mark => canvas.heading((MARGIN + 12.0, y), SMALL, "×"),
        }
    }
}
