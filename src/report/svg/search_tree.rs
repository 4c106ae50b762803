//! A search tree, time downwards: each explored execution is a column.
//!
//! The call with the chosen event stands straight below its caller, so a column shows from top to
//! bottom how one execution grows. The call without it begins a new column, to the right of
//! everything that was placed before in the rows of the new column. Calls are placed in the order
//! in which they were made, and an elbow from a call to the column that it begins counts as
//! occupied, so no lines cross:
//!
//! ```text
//!   ┌─────┐
//!   │ 0 a │---------------------+
//!   └──┬──┘                     :
//!   ┌──┴──┐                  ┌──┴──┐
//!   │ 1 b │---------+        │ 2 c │
//!   └──┬──┘         :        └──┬──┘
//! ```
//!
//! A box shows the chosen event, its result, and the non-empty sets of the call.
//!
//! Where the next column would make the picture too wide, a new band begins below, with rows of its
//! own, and columns from the left again. Instead of an elbow, a call and the column that it begins
//! in another band show each other's numbers.

mod layout;

use layout::Layout;

use super::Most;
use super::canvas::{
    Canvas, GREY, INK, LARGE, MARGIN, NORMAL, RED, SMALL, Stroke, clipped, cut_inside, fitting,
    width,
};
use super::chains::{self, Chained};
use crate::explore::Verdict;
use crate::report::picture::{Node, SearchTree, Turn, compact};
use crate::report::plural;

/// The maximum number of characters of a call, unless other lines make the box wider.
const LABEL: usize = 38;
/// The maximum number of characters of results and sets.
const LONGEST_LINE: usize = 44;
/// The maximum number of characters of what a chain of calls adds to C.
const LONGEST_ADDED: usize = 24;
const PADDING: f64 = 7.0;
/// The height of a line of text.
const LINE: f64 = 14.0;
/// The gap between columns, and between rows.
const GAP: f64 = 26.0;
const ROW: f64 = 30.0;
/// The visible length of an arrow from another band.
const STUB: f64 = 24.0;

const WITH: Stroke = Stroke::arrow(INK, 1.2);
const WITHOUT: Stroke = Stroke::arrow(RED, 1.2).dashed();

const FINE: &str = "#E0F2EA";
const BAD: &str = "#FBE3D3";
const BLOCKED: &str = "#DDDDE3";

/// A search as it is drawn.
type Drawn = Chained<SearchTree>;

/// Draws the search tree, within `most` if possible.
pub(super) fn draw(tree: &SearchTree, most: Most) -> String {
    let title = format!("Search tree of {}, {}", tree.subject.title(), tree.search());
    let mut canvas = Canvas::default();
    canvas.heading((MARGIN, MARGIN + 12.0), LARGE, &title);
    canvas.text((MARGIN, MARGIN + 30.0), NORMAL, GREY, &figures(tree));
    let is_high = |tree: &Drawn| Layout::new(tree, 0.0, most.width).bottom() > most.height;
    let whole = chains::of_tree(tree, false);
    let tree = &if is_high(&whole) { chains::of_tree(tree, true) } else { whole };
    let layout = Layout::new(tree, MARGIN + 50.0, most.width);
    for node in &tree.nodes {
        calls(&mut canvas, tree, node, &layout);
    }
    for node in &tree.nodes {
        draw_node(&mut canvas, tree, node, &layout);
    }
    foot(&mut canvas, tree, layout.is_broken(), layout.bottom().max(MARGIN + 50.0) + 34.0);
    canvas.finish(&title)
}

fn figures(tree: &SearchTree) -> String {
    let count = |is: fn(&Turn) -> bool| tree.nodes.iter().filter(|node| is(&node.turn)).count();
    let maximal = count(|turn| matches!(turn, Turn::Maximal { .. }));
    let blocked = count(|turn| matches!(turn, Turn::Blocked { .. }));
    let figures = [
        plural(tree.nodes.len(), "call"),
        plural(tree.events.len(), "event"),
        plural(maximal, "maximal configuration"),
        plural(blocked, "blocked exploration"),
    ];
    figures.join(", ")
}

/// The texts of a box: the result of the call; in smaller print, the result of the event and the
/// sets.
fn lines(tree: &Drawn, node: &Node, far: Option<&String>) -> (String, Vec<String>) {
    let head = match &node.turn {
        Turn::Chose { event, .. } => tree.described(*event),
        Turn::Maximal { configuration, verdict, .. } => {
            format!("configuration {configuration}: {}", verdict.word())
        }
        Turn::Blocked { .. } => "blocked: all enabled events are in D".into(),
        Turn::Cut => "cut: too deep".into(),
        Turn::GivenUp => "given up: looked too early".into(),
        Turn::Known => "visited before".into(),
    };
    let outcome = match &node.turn {
        Turn::Chose { .. } if tree.is_chain(node.id) => "and so on, one event for each call",
        Turn::Chose { event, .. } => tree.event(*event).outcome.as_deref().unwrap_or(""),
        _ => "",
    };
    let outcome = (!outcome.is_empty()).then(|| cut_inside(outcome, LONGEST_LINE));
    let mut sets = vec![("C", &node.c)];
    sets.extend([("D", &node.d), ("A", &node.a)].into_iter().filter(|(_, set)| !set.is_empty()));
    if let Turn::Chose { alternative: Some(j), .. } = &node.turn {
        sets.push(("J", j));
    }
    let set = |(name, set): (&str, &Vec<usize>)| format!("{name} {}", shortened(&compact(set)));
    let sets = sets.into_iter().map(set);
    let small: Vec<_> = outcome.into_iter().chain(sets).chain(far.cloned()).collect();
    let room = small.iter().map(|line| width(line, SMALL)).fold(0.0, f64::max);
    (clipped(&head, fitting(room, NORMAL, LABEL)), small)
}

/// The events that a call, or a chain of calls, adds to C.
fn added(tree: &Drawn, node: &Node, next: usize) -> String {
    let new = tree.nodes[next].c.iter().filter(|event| !node.c.contains(event));
    cut_inside(&compact(&new.copied().collect::<Vec<_>>()), LONGEST_ADDED)
}

/// A set, cut at its beginning, which was shown before.
fn shortened(set: &str) -> String {
    let over = set.chars().count().saturating_sub(LONGEST_LINE);
    match over {
        0 => set.into(),
        over => ['…'].into_iter().chain(set.chars().skip(over + 1)).collect(),
    }
}

/// Draws the arrows to the calls that a call makes.
fn calls(canvas: &mut Canvas, tree: &Drawn, node: &Node, layout: &Layout) {
    let Turn::Chose { event, left, right, .. } = &node.turn else { return };
    let from = layout.boxes[node.id];
    let name = |to: usize| tree.between("call", node.id, to);
    if let &Some(left) = left {
        let to = layout.boxes[left];
        canvas.begin(&name(left));
        canvas.lines(&[(from.centre(), from.bottom()), (to.centre(), to.y)], WITH);
        canvas.text(
            (to.centre() + 6.0, to.y - 10.0),
            SMALL,
            INK,
            &format!("C+{}", added(tree, node, left)),
        );
        canvas.end();
    }
    if let &Some(right) = right {
        let to = layout.boxes[right];
        canvas.begin(&name(right));
        let end = (to.centre(), to.y);
        let middle = from.y + LINE;
        match layout.are_near(node.id, right) {
            true => canvas.lines(&[(from.right(), middle), (end.0, middle), end], WITHOUT),
            false => canvas.lines(&[(end.0, end.1 - STUB), end], WITHOUT),
        }
        canvas.text((to.centre() + 6.0, to.y - 10.0), SMALL, RED, &format!("D+{event}"));
        canvas.end();
    }
}

fn draw_node(canvas: &mut Canvas, tree: &Drawn, node: &Node, layout: &Layout) {
    let area = layout.boxes[node.id];
    let (head, small) = lines(tree, node, layout.far[node.id].as_ref());
    canvas.begin_titled(&tree.named("data-node", node.id), &tooltip(tree, node));
    let fill = match &node.turn {
        Turn::Chose { .. } => "white",
        Turn::Maximal { verdict: Verdict::Ok, .. } => FINE,
        Turn::Maximal { .. } => BAD,
        Turn::Blocked { .. } | Turn::Cut | Turn::GivenUp | Turn::Known => BLOCKED,
    };
    canvas.area(area, &format!("class=\"node\" rx=\"4\" fill=\"{fill}\" stroke=\"{INK}\""));
    let x = area.x + PADDING;
    canvas.text((x, area.y + LINE), NORMAL, INK, &head);
    for (index, line) in small.iter().enumerate() {
        canvas.text((x, area.y + LINE * (index as f64 + 2.0)), SMALL, GREY, line);
    }
    canvas.end();
}

/// The complete sets, and the details of a leaf.
fn tooltip(tree: &SearchTree, node: &Node) -> String {
    let sets = [("C", &node.c), ("D", &node.d), ("A", &node.a)];
    let mut text = sets.map(|(name, set)| format!("{name} = {}", compact(set))).join("\n");
    text += &match &node.turn {
        Turn::Chose { event, alternative: Some(j), .. } => {
            format!("\nchooses {}\nJ = {}", tree.described(*event), compact(j))
        }
        Turn::Chose { event, asked: true, .. } => {
            format!("\nchooses {}\nno alternative", tree.described(*event))
        }
        Turn::Chose { event, .. } => format!("\nchooses {}", tree.described(*event)),
        Turn::Maximal { message, .. } => message.iter().map(|text| format!("\n{text}")).collect(),
        Turn::Blocked { enabled } => format!("\nen(C) = {}", compact(enabled)),
        Turn::Cut | Turn::GivenUp | Turn::Known => String::new(),
    };
    text
}

fn foot(canvas: &mut Canvas, tree: &Drawn, is_broken: bool, mut y: f64) {
    let mut line = |canvas: &mut Canvas, stroke: Option<Stroke>, text: &str| {
        if let Some(stroke) = stroke {
            canvas.lines(&[(MARGIN, y - 4.0), (MARGIN + 32.0, y - 4.0)], stroke);
        }
        canvas.text((MARGIN + 42.0, y), SMALL, INK, text);
        y += 17.0;
    };
    let (with, without) = match tree.explorer {
        None => (
            "Explore(C + e, D, A - e), with e the event that the box names",
            "Explore(C, D + e, J - C), if there is an alternative J to D + e after C",
        ),
        Some(_) => (
            "Explore(C + e), with e the event of backtrack(C) that the box names",
            "the same C, with the next event of backtrack(C), which is J; those in D are done",
        ),
    };
    line(canvas, Some(WITH), with);
    line(canvas, Some(WITHOUT), without);
    if tree.is_short() {
        let text =
            "`and so on`: a chain of calls, of which each makes one; C+ names what they all add";
        line(canvas, None, text);
    }
    if is_broken {
        let text = "`without 3: call 57`: the call with D + 3 begins a column in another band";
        line(canvas, None, text);
    }
    for note in &tree.left_out {
        line(canvas, None, &format!("Left out: {note}"));
    }
}
