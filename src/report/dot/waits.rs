//! The wait-for graph of an execution that stands still: a node for each process that has not
//! ended, or for many that wait alike, and an edge to each that may end its wait. A circle from
//! which no edge leads out is red.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dot_writer::{Attributes, Scope};

use super::{GREY, RED, escaped, label};
use crate::property::Blocked;
use crate::report::many::{grouped, named};
use crate::report::{Subject, ViolationReport};

/// The longest call in a label, in characters.
const LONGEST: usize = 60;

pub(super) fn draw(graph: &mut Scope<'_, '_>, subject: &Subject, violation: &ViolationReport) {
    let title = format!("who waits for whom at the end of {}", subject.title());
    super::caption(graph, &title, std::slice::from_ref(&violation.message));
    let groups = grouped(&violation.blocked);
    let mut node_of: HashMap<&str, usize> = HashMap::new();
    for (node, (first, others)) in groups.iter().enumerate() {
        let names = std::iter::once(&*first.process).chain(others.iter().copied());
        node_of.extend(names.map(|name| (name, node)));
    }
    let cycle = violation.cycle.iter().flatten();
    let needs = cycle.flat_map(|link| link.needs.iter().map(|need| (&*link.process, &**need)));
    let circle: BTreeSet<(usize, usize)> =
        needs.filter_map(|(one, other)| Some((*node_of.get(one)?, *node_of.get(other)?))).collect();
    for (node, (first, others)) in groups.iter().enumerate() {
        let is_in_circle = circle.iter().any(|&(from, to)| from == node || to == node);
        waiting(graph, node, (first, others), is_in_circle);
    }
    // An edge stands for all that a group waits for.
    let mut edges: BTreeMap<(usize, usize), &Blocked> = BTreeMap::new();
    for blocked in &violation.blocked {
        let from = node_of[&*blocked.process];
        let helpers = blocked.helpers.iter().filter_map(|helper| node_of.get(&**helper));
        helpers.for_each(|&to| _ = edges.entry((from, to)).or_insert(blocked));
    }
    for ((from, to), blocked) in edges {
        let edge = graph.edge(format!("w{from}"), format!("w{to}"));
        let mut attributes = edge.attributes();
        attributes.set("label", &escaped(&call(blocked)), true);
        if circle.contains(&(from, to)) {
            attributes.set("color", RED, true).set("penwidth", "2", false);
        }
    }
    gone(graph, violation);
}

/// A process that waits, with those that wait alike.
fn waiting(
    graph: &mut Scope<'_, '_>,
    node: usize,
    (first, others): (&Blocked, &[&str]),
    is_in_circle: bool,
) {
    let names: Vec<&str> = std::iter::once(&*first.process).chain(others.iter().copied()).collect();
    let mut lines = vec![named(&names)];
    if others.is_empty() {
        lines.push(format!("waits for {}", first.waits_for));
    } else {
        lines.push(format!("{} processes that wait alike", names.len()));
        lines.push(format!("{} waits for {}", first.process, first.waits_for));
    }
    if first.helpers.is_empty() {
        lines.push(format!("at {}", call(first)));
        lines.extend(first.hope());
    }
    let mut drawn = graph.node_named(format!("w{node}"));
    drawn.set_label(&label(lines.iter().map(String::as_str)));
    if is_in_circle {
        drawn.set("color", RED, true).set("penwidth", "2", false);
    }
}

/// The processes that cannot help any more.
fn gone(graph: &mut Scope<'_, '_>, violation: &ViolationReport) {
    let all = [
        ("e", &violation.ended, "ended"),
        ("i", &violation.idle, "no message left"),
        ("d", &violation.daemons, "waiting, as daemons may"),
        ("f", &violation.failed, "failed"),
    ];
    for (id, processes, what) in all {
        if !processes.is_empty() {
            let names: Vec<&str> = processes.iter().map(String::as_str).collect();
            let mut node = graph.node_named(id);
            node.set("color", GREY, true).set("fontcolor", GREY, true);
            node.set_label(&label([&*named(&names), what]));
        }
    }
}

/// The call in which a process waits, and its place, without folders.
fn call(blocked: &Blocked) -> String {
    let Blocked { action, file, line, .. } = blocked;
    let mut call: String = action.chars().take(LONGEST).collect();
    if call.len() < action.len() {
        call.push('\u{2026}');
    }
    match (file, line) {
        (Some(file), Some(line)) => {
            format!("{call}, {}:{line}", file.rsplit('/').next().unwrap_or(file))
        }
        (None, Some(line)) => format!("{call}, line {line}"),
        _ => call,
    }
}
