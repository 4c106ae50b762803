//! Control flow, top to bottom, without crossings: the text is nested, so the picture can be, too.
//!
//! Every sequence has an axis, on which its steps stand. The arms of a branch are side by side,
//! each with an axis of its own. A horizontal line above leads to the arms, and at a line below,
//! the arms that continue join again. An empty arm is a line. A loop has its way back on its left
//! and its exit on its right, outside everything in it:
//!
//! ```text
//!        ┌──────┐
//!   +──► │ head │ ──+
//!   |    └──┬───┘   |
//!   |    ┌──┴───┐   |
//!   |    │ body │   |
//!   +────┴──────┘   |
//!           +───────+
//! ```
//!
//! A `break` in the rightmost arm leaves by a straight line, so arms with a break are put last.
//! Where the way to the right is not free, a `break` has no line; nor has a `continue` where the
//! way to the left is not free. A `return` has no line. There are two passes: extents from the
//! leaves up, then places from the root down.

use super::canvas::{
    Area, Canvas, GREY, INK, LARGE, MARGIN, NORMAL, PURPLE, Point, SMALL, Stroke, clipped, width,
};
use crate::model::flow::{Act, Arm, Flow, Step, Turn, breaks, go_on};
use crate::report::picture::ControlFlow;

const LONGEST_TEXT: usize = 52;
const LONGEST_LABEL: usize = 40;
const PADDING: f64 = 7.0;
const HEIGHT: f64 = 24.0;
/// The gap above each step of a sequence.
const STEP: f64 = 20.0;
/// The gap between arms, and the space around a loop for its lines.
const LANE: f64 = 18.0;
/// The height from a branch to its arms, and from the arms to where they join.
const FORK: f64 = 20.0;
const JOIN: f64 = 12.0;
/// The width up to which processes stand side by side.
const WIDEST: f64 = 1500.0;
const GAP: f64 = 44.0;

const LINE: Stroke = Stroke::line(INK, 1.2);
const ARROW: Stroke = Stroke::arrow(INK, 1.2);

const SHARED: &str = "#DCEAF5";
const CHOICE: &str = "#F6E0EE";

pub(super) fn draw(flow: &ControlFlow) -> String {
    let title = format!("Processes of {}", flow.subject.title());
    let mut canvas = Canvas::default();
    canvas.heading((MARGIN, MARGIN + 12.0), LARGE, &title);
    let (mut x, mut y, mut below) = (MARGIN, MARGIN + 46.0, MARGIN + 46.0);
    for process in &flow.processes {
        let (wide, high) = size(process);
        if x > MARGIN && x + wide > WIDEST {
            (x, y) = (MARGIN, below + GAP);
        }
        draw_process(&mut canvas, process, (x, y));
        x += wide + GAP;
        below = below.max(y + high);
    }
    foot(&mut canvas, below + 36.0);
    canvas.finish(&title)
}

/// The distances from the axis to both sides, and the height.
#[derive(Clone, Copy, Default)]
struct Extent {
    left: f64,
    right: f64,
    height: f64,
}

impl Extent {
    fn width(self) -> f64 {
        self.left + self.right
    }

    /// The extent of this with something wider below it.
    fn over(self, other: Extent) -> Extent {
        Extent {
            left: self.left.max(other.left),
            right: self.right.max(other.right),
            height: self.height + other.height,
        }
    }
}

fn size(process: &Flow) -> (f64, f64) {
    let steps = sequence_extent(&process.steps);
    let heading = width(&process.title, NORMAL).max(width(&process.census(), SMALL));
    (steps.width().max(heading), 42.0 + STEP + steps.height)
}

fn sequence_extent(steps: &[Step]) -> Extent {
    let all = steps.iter().map(step_extent).fold(Extent::default(), Extent::over);
    Extent { height: all.height + STEP * steps.len() as f64, ..all }
}

fn box_extent(step: &Step) -> Extent {
    let half = (text_start(step) + width(&text(step), NORMAL) + PADDING) / 2.0;
    Extent { left: half, right: half, height: HEIGHT }
}

/// Where the text starts: it follows the line number.
fn text_start(step: &Step) -> f64 {
    PADDING + width(&step.line.to_string(), SMALL) + 6.0
}

fn text(step: &Step) -> String {
    clipped(&step.text, LONGEST_TEXT)
}

fn step_extent(step: &Step) -> Extent {
    let own = box_extent(step);
    match &step.turn {
        Turn::Next | Turn::Break | Turn::Continue | Turn::Return => own,
        Turn::Branch { arms } => own.over(arms_extent(arms)),
        Turn::Rest { arms } => around(own.over(arms_extent(arms))),
        Turn::Loop { body, .. } => {
            let body = sequence_extent(body);
            around(own.over(Extent { height: body.height + 2.0 * JOIN, ..body }))
        }
    }
}

/// The extent with space for the lines of a loop.
fn around(inside: Extent) -> Extent {
    Extent { left: inside.left + LANE, right: inside.right + LANE, ..inside }
}

fn arms_extent(arms: &[Arm]) -> Extent {
    let columns = columns(arms);
    let edge = |side: fn(&Column) -> f64| columns.iter().map(side).fold(0.0, f64::max);
    Extent {
        left: edge(|column| column.extent.left - column.axis),
        right: edge(|column| column.extent.right + column.axis),
        height: FORK + edge(|column| column.extent.height) + JOIN,
    }
}

/// An arm and the position of its axis, relative to the axis of the branch.
struct Column<'a> {
    arm: &'a Arm,
    axis: f64,
    extent: Extent,
}

/// The arms from left to right. If one arm is empty, the arm beside it that continues stands on the
/// axis.
fn columns(arms: &[Arm]) -> Vec<Column<'_>> {
    let mut order: Vec<&Arm> = arms.iter().collect();
    let is_late = |arm: &Arm| (breaks(&arm.steps), arms.len() == 2 && arm.steps.is_empty());
    order.sort_by_key(|arm| is_late(arm));
    let mut columns: Vec<Column<'_>> = Vec::new();
    let mut x = 0.0;
    for arm in order {
        let inside = sequence_extent(&arm.steps);
        let label = width(&label(arm), SMALL) + 10.0;
        let extent =
            Extent { right: inside.right.max(label), left: inside.left.max(6.0), ..inside };
        columns.push(Column { arm, axis: x + extent.left, extent });
        x += extent.width() + LANE;
    }
    let axis = main_axis(&columns);
    columns.iter_mut().for_each(|column| column.axis -= axis);
    columns
}

fn main_axis(columns: &[Column<'_>]) -> f64 {
    let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return 0.0 };
    let is_bypass = |column: &&Column<'_>| column.arm.steps.is_empty();
    match columns.iter().find(is_bypass) {
        Some(bypass) if columns.len() == 2 => {
            let other = if std::ptr::eq(bypass, first) { last } else { first };
            if go_on(&other.arm.steps) { other.axis } else { bypass.axis }
        }
        _ => (first.axis + last.axis) / 2.0,
    }
}

/// The text beside the line to an arm.
fn label(arm: &Arm) -> String {
    let guard = arm.guard.iter().map(|guard| format!("when {guard}"));
    let parts: Vec<_> =
        [arm.label.clone()].into_iter().filter(|l| !l.is_empty()).chain(guard).collect();
    clipped(&parts.join(" "), LONGEST_LABEL)
}

fn draw_process(canvas: &mut Canvas, process: &Flow, (x, y): Point) {
    canvas.heading((x, y), NORMAL, &process.title);
    canvas.text((x, y + 16.0), SMALL, GREY, &process.census());
    let axis = x + sequence_extent(&process.steps).left;
    let top = y + 34.0;
    canvas.dot((axis, top), 4.0, INK);
    if let Some(end) = sequence(canvas, &process.steps, (axis, top), &mut Jumps::default()) {
        canvas.lines(&[(axis, end), (axis, end + STEP)], ARROW);
        canvas.dot((axis, end + STEP + 4.0), 4.0, INK);
    }
}

/// The points where jumps leave their boxes, for jumps that have a free straight line: breaks to
/// the right, continues to the left.
#[derive(Default)]
struct Jumps<'j> {
    breaks: Option<&'j mut Vec<Point>>,
    continues: Option<&'j mut Vec<Point>>,
}

impl Jumps<'_> {
    fn add(list: &mut Option<&mut Vec<Point>>, from: Point) {
        list.iter_mut().for_each(|list| list.push(from));
    }

    /// The jumps that may leave an arm: only at the outer edges the way is free.
    fn of_arm(&mut self, is_first: bool, is_last: bool) -> Jumps<'_> {
        Jumps {
            breaks: self.breaks.as_deref_mut().filter(|_| is_last),
            continues: self.continues.as_deref_mut().filter(|_| is_first),
        }
    }
}

/// Draws the steps below `from`, on its axis. Returns the end of the last one, if it continues.
fn sequence(
    canvas: &mut Canvas,
    steps: &[Step],
    (x, mut y): Point,
    jumps: &mut Jumps<'_>,
) -> Option<f64> {
    let mut is_reached = true;
    for step in steps {
        if is_reached {
            canvas.lines(&[(x, y), (x, y + STEP)], ARROW);
        }
        y += STEP;
        let end = draw_step(canvas, step, (x, y), jumps);
        is_reached &= end.is_some();
        y += step_extent(step).height;
    }
    is_reached.then_some(y)
}

/// Draws a step with everything in it, from the top of its box. Returns its end, if it continues.
fn draw_step(
    canvas: &mut Canvas,
    step: &Step,
    (x, y): Point,
    jumps: &mut Jumps<'_>,
) -> Option<f64> {
    let Extent { left, right, height } = box_extent(step);
    let area = Area { x: x - left, y, width: left + right, height };
    draw_box(canvas, step, area);
    let below = (x, area.bottom());
    match &step.turn {
        Turn::Next => Some(area.bottom()),
        Turn::Branch { arms } => draw_arms(canvas, arms, below, jumps),
        Turn::Rest { arms } => {
            let end = draw_arms(canvas, arms, below, &mut Jumps::default())?;
            way_back(canvas, step, area, (x, end));
            None
        }
        Turn::Loop { endless, body } => draw_loop(canvas, step, area, (*endless, body)),
        Turn::Break => {
            Jumps::add(&mut jumps.breaks, (area.right(), y + HEIGHT / 2.0));
            None
        }
        Turn::Continue => {
            Jumps::add(&mut jumps.continues, (area.x, y + HEIGHT / 2.0));
            None
        }
        Turn::Return => None,
    }
}

fn draw_loop(
    canvas: &mut Canvas,
    step: &Step,
    head: Area,
    (endless, body): (bool, &[Step]),
) -> Option<f64> {
    let (x, middle) = (head.centre(), head.y + HEIGHT / 2.0);
    let (mut exits, mut returns) = (Vec::new(), Vec::new());
    if !endless {
        exits.push((head.right(), middle));
    }
    let mut jumps = Jumps { breaks: Some(&mut exits), continues: Some(&mut returns) };
    let end = sequence(canvas, body, (x, head.bottom()), &mut jumps);
    let bottom = head.y + step_extent(step).height;
    if let Some(end) = end {
        canvas.lines(&[(x, end), (x, bottom - JOIN)], LINE);
        returns.push((x, bottom - JOIN));
    }
    returns.into_iter().for_each(|from| way_back(canvas, step, head, from));
    let right = x + step_extent(step).right;
    for exit in &exits {
        canvas.lines(&[*exit, (right, exit.1), (right, bottom), (x, bottom)], LINE);
    }
    step.goes_on().then_some(bottom)
}

/// Draws the line from a point within a loop up on its left to its head.
fn way_back(canvas: &mut Canvas, step: &Step, head: Area, from: Point) {
    let (left, middle) = (head.centre() - step_extent(step).left, head.y + HEIGHT / 2.0);
    canvas.lines(&[from, (left, from.1), (left, middle), (head.x, middle)], ARROW);
}

/// Draws the arms below `from`. Returns the point where they join, if any continues.
fn draw_arms(
    canvas: &mut Canvas,
    arms: &[Arm],
    (x, y): Point,
    jumps: &mut Jumps<'_>,
) -> Option<f64> {
    let (bus, meeting) = (y + 8.0, y + arms_extent(arms).height);
    let mut goes_on = false;
    let columns = columns(arms);
    let last = columns.len().saturating_sub(1);
    for (index, column) in columns.into_iter().enumerate() {
        let axis = x + column.axis;
        canvas.lines(&[(x, y), (x, bus), (axis, bus), (axis, y + FORK)], LINE);
        canvas.text((axis + 5.0, bus + 14.0), SMALL, GREY, &label(column.arm));
        let mut own = jumps.of_arm(index == 0, index == last);
        if let Some(end) = sequence(canvas, &column.arm.steps, (axis, y + FORK), &mut own) {
            canvas.lines(&[(axis, end), (axis, meeting), (x, meeting)], LINE);
            goes_on = true;
        }
    }
    goes_on.then_some(meeting)
}

fn draw_box(canvas: &mut Canvas, step: &Step, area: Area) {
    let (fill, stroke) = match step.act {
        Act::Local => ("white", GREY),
        Act::Shared => (SHARED, INK),
        Act::Choice => (CHOICE, PURPLE),
    };
    let round = match step.turn {
        Turn::Branch { .. } | Turn::Loop { .. } | Turn::Rest { .. } => HEIGHT / 2.0,
        _ => 3.0,
    };
    let name = format!("data-node=\"{}\"", step.id);
    canvas.begin_titled(&name, &format!("line {}: {}", step.line, step.text));
    let look = format!("class=\"node\" rx=\"{round}\" fill=\"{fill}\" stroke=\"{stroke}\"");
    canvas.area(area, &look);
    let y = area.y + 16.0;
    canvas.text((area.x + PADDING, y), SMALL, GREY, &step.line.to_string());
    canvas.text((area.x + text_start(step), y), NORMAL, INK, &text(step));
    canvas.end();
}

fn foot(canvas: &mut Canvas, y: f64) {
    let samples = [
        (SHARED, INK, 3.0, "acts on others, or on what others act on"),
        (CHOICE, PURPLE, 3.0, "the same, with several outcomes, each of which is explored"),
        ("white", GREY, 3.0, "computes, unseen by others"),
        (
            "white",
            GREY,
            6.0,
            "branch, loop (back on the left, out on the right), or an actor at rest",
        ),
    ];
    for (index, (fill, stroke, round, text)) in samples.into_iter().enumerate() {
        let y = y + 17.0 * index as f64;
        let area = Area { x: MARGIN, y: y - 10.0, width: 32.0, height: 12.0 };
        let look = format!("rx=\"{round}\" fill=\"{fill}\" stroke=\"{stroke}\"");
        canvas.area(area, &look);
        canvas.text((MARGIN + 42.0, y), SMALL, INK, text);
    }
}
