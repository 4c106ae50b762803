//! A search tree, time downwards: each execution followed is a column.
//!
//! The call with the event chosen stands straight below its caller, so a column reads from the top as one
//! execution grows; the call without it begins a new column, to the right of all that came before it in the
//! rows that the new one takes. Calls are placed in the order in which they were made, and an elbow from a call
//! to the column that it begins counts as taken, so nothing crosses:
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
//! A box says which event is chosen, what comes of it, and what the sets of the call are; the empty ones are left
//! out.

use super::canvas::{
    Area, Canvas, GREY, INK, LARGE, MARGIN, NORMAL, RED, SMALL, Stroke, clipped, width,
};
use crate::explore::Verdict;
use crate::report::picture::{Node, SearchTree, Turn, compact};

const LONGEST_LABEL: usize = 38;
/// Of outcomes and sets.
const LONGEST_LINE: usize = 44;
const PADDING: f64 = 7.0;
/// Of a line of text.
const LINE: f64 = 14.0;
/// Between columns, and between rows.
const GAP: f64 = 26.0;
const ROW: f64 = 30.0;

const WITH: Stroke = Stroke::arrow(INK, 1.2);
const WITHOUT: Stroke = Stroke::arrow(RED, 1.2).dashed();

const FINE: &str = "#E0F2EA";
const BAD: &str = "#FBE3D3";
const BLOCKED: &str = "#DDDDE3";

pub(super) fn draw(tree: &SearchTree) -> String {
    let title = format!("Search tree of {}, k = {}", tree.subject.title(), tree.k);
    let mut canvas = Canvas::default();
    canvas.heading((MARGIN, MARGIN + 12.0), LARGE, &title);
    canvas.text((MARGIN, MARGIN + 30.0), NORMAL, GREY, &figures(tree));
    let boxes = layout(tree, MARGIN + 50.0);
    for node in &tree.nodes {
        calls(&mut canvas, node, &boxes);
    }
    for (node, area) in tree.nodes.iter().zip(&boxes) {
        draw_node(&mut canvas, tree, node, *area);
    }
    let bottom = boxes.iter().map(Area::bottom).fold(MARGIN + 50.0, f64::max);
    foot(&mut canvas, tree, bottom + 34.0);
    canvas.finish(&title)
}

fn figures(tree: &SearchTree) -> String {
    let count = |is: fn(&Turn) -> bool| tree.nodes.iter().filter(|node| is(&node.turn)).count();
    let maximal = count(|turn| matches!(turn, Turn::Maximal { .. }));
    let blocked = count(|turn| matches!(turn, Turn::Blocked { .. }));
    let plural = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let figures = [
        plural(tree.nodes.len(), "call"),
        plural(tree.events.len(), "event"),
        plural(maximal, "maximal configuration"),
        plural(blocked, "blocked exploration"),
    ];
    figures.join(", ")
}

/// What a box says: what became of the call, and in smaller print what comes of the event, and the sets.
fn lines(tree: &SearchTree, node: &Node) -> (String, Vec<String>) {
    let head = match &node.turn {
        Turn::Chose { event, .. } => tree.told(*event),
        Turn::Maximal { configuration, verdict, .. } => {
            format!("configuration {configuration}: {}", verdict.word())
        }
        Turn::Blocked { .. } => "blocked: all enabled is in D".into(),
        Turn::Cut => "cut: too deep".into(),
    };
    let outcome = match &node.turn {
        Turn::Chose { event, .. } => tree.event(*event).outcome.as_deref().unwrap_or(""),
        _ => "",
    };
    let outcome = (!outcome.is_empty()).then(|| clipped(outcome, LONGEST_LINE));
    let mut sets = vec![("C", &node.c)];
    sets.extend([("D", &node.d), ("A", &node.a)].into_iter().filter(|(_, set)| !set.is_empty()));
    if let Turn::Chose { alternative: Some(j), .. } = &node.turn {
        sets.push(("J", j));
    }
    let set = |(name, set): (&str, &Vec<usize>)| format!("{name} {}", shortened(&compact(set)));
    let small = outcome.into_iter().chain(sets.into_iter().map(set)).collect();
    (clipped(&head, LONGEST_LABEL), small)
}

/// A set of which the end is kept: its beginning was there before.
fn shortened(set: &str) -> String {
    let over = set.chars().count().saturating_sub(LONGEST_LINE);
    match over {
        0 => set.into(),
        over => ['…'].into_iter().chain(set.chars().skip(over + 1)).collect(),
    }
}

fn size(tree: &SearchTree, node: &Node) -> (f64, f64) {
    let (head, small) = lines(tree, node);
    let widest = small.iter().map(|line| width(line, SMALL)).fold(width(&head, NORMAL), f64::max);
    (widest + 2.0 * PADDING, LINE * (small.len() as f64 + 1.0) + PADDING)
}

/// The boxes of the calls.
fn layout(tree: &SearchTree, top: f64) -> Vec<Area> {
    let sizes: Vec<_> = tree.nodes.iter().map(|node| size(tree, node)).collect();
    let (rows, depth) = rows(tree);
    let mut heights = vec![0.0_f64; depth];
    for (size, &row) in sizes.iter().zip(&rows) {
        heights[row] = heights[row].max(size.1);
    }
    let mut tops = vec![top];
    for height in &heights {
        tops.push(tops.last().expect("the top") + height + ROW);
    }
    let mut taken = vec![MARGIN - GAP; depth];
    let mut boxes: Vec<Area> = Vec::with_capacity(sizes.len());
    for (node, &row) in tree.nodes.iter().zip(&rows) {
        let above = node.parent.filter(|&parent| is_left(&tree.nodes[parent], node.id));
        let (x, width) = match above {
            Some(above) => (boxes[above].x, boxes[above].width),
            None => new_column(tree, node, row, &sizes, &mut taken),
        };
        boxes.push(Area { x, y: tops[row], width, height: sizes[node.id].1 });
        if let (None, Some(caller)) = (above, node.parent) {
            taken[rows[caller]] = taken[rows[caller]].max(x + width / 2.0);
        }
    }
    boxes
}

/// The row of each call, and how many rows there are.
fn rows(tree: &SearchTree) -> (Vec<usize>, usize) {
    let mut rows: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        rows.push(node.parent.map_or(0, |parent| rows[parent] + 1));
    }
    let depth = rows.iter().max().map_or(0, |&last| last + 1);
    (rows, depth)
}

fn is_left(parent: &Node, child: usize) -> bool {
    matches!(parent.turn, Turn::Chose { left: Some(left), .. } if left == child)
}

/// Where the column that this call begins goes, and how wide it is.
fn new_column(
    tree: &SearchTree,
    first: &Node,
    row: usize,
    sizes: &[(f64, f64)],
    taken: &mut [f64],
) -> (f64, f64) {
    let next = |node: &&Node| match node.turn {
        Turn::Chose { left: Some(left), .. } => Some(&tree.nodes[left]),
        _ => None,
    };
    let column: Vec<&Node> = std::iter::successors(Some(first), next).collect();
    let width = column.iter().map(|node| sizes[node.id].0).fold(0.0, f64::max);
    let rows = row..row + column.len();
    let x = taken[rows.clone()].iter().copied().fold(0.0, f64::max) + GAP;
    taken[rows].fill(x + width);
    (x, width)
}

/// The arrows to the calls that a call makes.
fn calls(canvas: &mut Canvas, node: &Node, boxes: &[Area]) {
    let Turn::Chose { event, left, right, .. } = &node.turn else { return };
    let from = boxes[node.id];
    let name = |to: usize| format!("class=\"call\" data-from=\"{}\" data-to=\"{to}\"", node.id);
    if let &Some(left) = left {
        let to = boxes[left];
        canvas.begin(&name(left));
        canvas.lines(&[(from.centre(), from.bottom()), (to.centre(), to.y)], WITH);
        canvas.text((to.centre() + 6.0, to.y - 10.0), SMALL, INK, &format!("C+{event}"));
        canvas.end();
    }
    if let &Some(right) = right {
        let to = boxes[right];
        canvas.begin(&name(right));
        let middle = from.y + LINE;
        let corner = (to.centre(), middle);
        canvas.lines(&[(from.right(), middle), corner, (to.centre(), to.y)], WITHOUT);
        canvas.text((to.centre() + 6.0, to.y - 10.0), SMALL, RED, &format!("D+{event}"));
        canvas.end();
    }
}

fn draw_node(canvas: &mut Canvas, tree: &SearchTree, node: &Node, area: Area) {
    let (head, small) = lines(tree, node);
    canvas.begin_titled(&format!("data-node=\"{}\"", node.id), &tooltip(tree, node));
    let fill = match &node.turn {
        Turn::Chose { .. } => "white",
        Turn::Maximal { verdict: Verdict::Ok, .. } => FINE,
        Turn::Maximal { .. } => BAD,
        Turn::Blocked { .. } | Turn::Cut => BLOCKED,
    };
    canvas.area(area, &format!("class=\"node\" rx=\"4\" fill=\"{fill}\" stroke=\"{INK}\""));
    let x = area.x + PADDING;
    canvas.text((x, area.y + LINE), NORMAL, INK, &head);
    for (index, line) in small.iter().enumerate() {
        canvas.text((x, area.y + LINE * (index as f64 + 2.0)), SMALL, GREY, line);
    }
    canvas.end();
}

/// All of the sets, and what the leaf is about.
fn tooltip(tree: &SearchTree, node: &Node) -> String {
    let sets = [("C", &node.c), ("D", &node.d), ("A", &node.a)];
    let mut text = sets.map(|(name, set)| format!("{name} = {}", compact(set))).join("\n");
    text += &match &node.turn {
        Turn::Chose { event, alternative: Some(j), .. } => {
            format!("\nchooses {}\nJ = {}", tree.told(*event), compact(j))
        }
        Turn::Chose { event, asked: true, .. } => {
            format!("\nchooses {}\nno alternative", tree.told(*event))
        }
        Turn::Chose { event, .. } => format!("\nchooses {}", tree.told(*event)),
        Turn::Maximal { message, .. } => message.iter().map(|text| format!("\n{text}")).collect(),
        Turn::Blocked { enabled } => format!("\nen(C) = {}", compact(enabled)),
        Turn::Cut => String::new(),
    };
    text
}

fn foot(canvas: &mut Canvas, tree: &SearchTree, y: f64) {
    let samples = [
        (WITH, "Explore(C + e, D, A - e), with e the event that the box names"),
        (WITHOUT, "Explore(C, D + e, J - C), if there is an alternative J to D + e after C"),
    ];
    for (index, (stroke, text)) in samples.into_iter().enumerate() {
        let y = y + 17.0 * index as f64;
        canvas.lines(&[(MARGIN, y - 4.0), (MARGIN + 32.0, y - 4.0)], stroke);
        canvas.text((MARGIN + 42.0, y), SMALL, INK, text);
    }
    for (index, note) in tree.left_out.iter().enumerate() {
        let y = y + 17.0 * (index as f64 + 2.0);
        canvas.text((MARGIN + 42.0, y), SMALL, INK, &format!("Left out: {note}"));
    }
}
