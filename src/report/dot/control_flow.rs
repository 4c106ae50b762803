//! Control flow as a graph: nested statements become nodes and edges.
//!
//! A sequence is drawn from the open ends of what comes before it, and returns its own open ends.
//! An open end is a node and the label of the edge that will leave it. A `break` adds its end to
//! the ends of the loop around it; a `continue` is an edge to the head of that loop.

use dot_writer::{Attributes, Scope};

use super::{GREY, escaped};
use crate::model::flow::{Act, Arm, Flow, Step, Turn};
use crate::report::picture::ControlFlow;

/// Open ends: nodes, each with the label of the edge that will leave it.
type Ends = Vec<(String, String)>;

/// The loop around a sequence: its head, and the open ends of its breaks.
struct Around {
    head: String,
    breaks: Ends,
}

pub(super) fn draw(graph: &mut Scope<'_, '_>, flow: &ControlFlow) {
    super::caption(graph, &format!("processes of {}", flow.subject.title()), &[]);
    for (index, process) in flow.processes.iter().enumerate() {
        let mut cluster = graph.cluster();
        let title = super::label([process.title.as_str(), &process.census()]);
        cluster.set("label", &title, true).set("color", GREY, true);
        draw_process(&mut cluster, index, process);
    }
}

fn draw_process(graph: &mut Scope<'_, '_>, index: usize, process: &Flow) {
    let start = format!("s{index}");
    point(graph, &start, "circle");
    let mut outside = Around { head: start.clone(), breaks: Vec::new() };
    let ends = sequence(graph, &process.steps, vec![(start, String::new())], &mut outside);
    if !ends.is_empty() {
        let end = format!("t{index}");
        point(graph, &end, "doublecircle");
        connect(graph, ends, &end);
    }
}

fn point(graph: &mut Scope<'_, '_>, name: &str, shape: &str) {
    let mut node = graph.node_named(name);
    node.set("shape", shape, false).set("width", "0.15", false).set_label("");
}

fn connect(graph: &mut Scope<'_, '_>, ends: Ends, to: &str) {
    for (from, label) in ends {
        let edge = graph.edge(from, to);
        if !label.is_empty() {
            edge.attributes().set("label", &escaped(&label), true);
        }
    }
}

fn sequence(graph: &mut Scope<'_, '_>, steps: &[Step], ends: Ends, around: &mut Around) -> Ends {
    steps.iter().fold(ends, |ends, step| draw_step(graph, step, ends, around))
}

fn draw_step(graph: &mut Scope<'_, '_>, step: &Step, ends: Ends, around: &mut Around) -> Ends {
    let name = format!("n{}", step.id);
    node(graph, step, &name);
    connect(graph, ends, &name);
    match &step.turn {
        Turn::Next => vec![(name, String::new())],
        Turn::Branch { arms } => draw_arms(graph, &name, arms, around),
        Turn::Rest { arms } => {
            let ends = draw_arms(graph, &name, arms, around);
            connect(graph, ends, &name);
            Vec::new()
        }
        Turn::Loop { endless, body } => {
            let mut inside = Around { head: name.clone(), breaks: Vec::new() };
            let ends = sequence(graph, body, vec![(name.clone(), String::new())], &mut inside);
            connect(graph, ends, &name);
            let done = (!endless).then(|| (name, "done".to_owned()));
            done.into_iter().chain(inside.breaks).collect()
        }
        Turn::Break => {
            around.breaks.push((name, String::new()));
            Vec::new()
        }
        Turn::Continue => {
            let head = around.head.clone();
            connect(graph, vec![(name, String::new())], &head);
            Vec::new()
        }
        Turn::Return => Vec::new(),
    }
}

fn draw_arms(graph: &mut Scope<'_, '_>, from: &str, arms: &[Arm], around: &mut Around) -> Ends {
    let mut ends = Ends::new();
    for arm in arms {
        let label = match &arm.guard {
            None => arm.label.clone(),
            Some(guard) => format!("{} when {guard}", arm.label).trim().to_owned(),
        };
        ends.extend(sequence(graph, &arm.steps, vec![(from.to_owned(), label)], around));
    }
    ends
}

fn node(graph: &mut Scope<'_, '_>, step: &Step, name: &str) {
    let mut node = graph.node_named(name);
    node.set_label(&escaped(&format!("{}  {}", step.line, step.text)));
    let style = match step.turn {
        Turn::Branch { .. } | Turn::Loop { .. } | Turn::Rest { .. } => "rounded,filled",
        _ => "filled",
    };
    let (fill, color) = match step.act {
        Act::Local => ("white", GREY),
        Act::Shared => ("#DCEAF5", "#222222"),
        Act::Choice => ("#F6E0EE", "#222222"),
    };
    node.set("style", style, true).set("fillcolor", fill, true).set("color", color, true);
}
