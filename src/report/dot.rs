//! Pictures in the DOT language, for Graphviz and the many programs that read it.
//!
//! An event or step is a node `e0`, `e1`, ..; a lane of a space-time chart starts at `p0`, `p1`, ..
//! and ends at `q0`, `q1`, ..; a call of a search tree is a node `n0`, `n1`, .., and so is a
//! statement in a control flow; processes that wait are nodes `w0`, `w1`, .. These ids are
//! generated: text of the program stands in labels only. `escaped` makes it safe, because the crate
//! that writes DOT escapes nothing.
//!
//! In labels a backslash starts an escape sequence and an ampersand an HTML entity, even within
//! quotes. So both are escaped, as well as the quote.

mod control_flow;
mod waits;

use dot_writer::{Attributes, DotWriter, Scope};

use super::picture::{
    Arrow, ArrowKind, End, Event, Fate, Node, PartialOrder, Picture, SearchTree, SpaceTime, Turn,
    compact,
};
use super::{Subject, ViolationReport};
use crate::explore::Verdict;

/// Red for conflicts and deadlocks, blue for messages, grey for the rest. Colour-blind people can
/// distinguish these colours (Okabe and Ito).
const RED: &str = "#D55E00";
const BLUE: &str = "#0072B2";
const PURPLE: &str = "#CC79A7";
const GREY: &str = "#666666";

/// The picture as a directed graph.
pub fn render(picture: &Picture) -> String {
    written(|graph| match picture {
        Picture::Order(order) => partial_order(graph, order),
        Picture::SpaceTime(chart) => space_time(graph, chart),
        Picture::Steps(tree) => search_tree(graph, tree),
        Picture::Processes(flow) => control_flow::draw(graph, flow),
    })
}

/// Who waits for whom at the end of an execution that stands still.
pub fn wait_for_graph(subject: &Subject, violation: &ViolationReport) -> String {
    written(|graph| waits::draw(graph, subject, violation))
}

fn written(draw: impl FnOnce(&mut Scope<'_, '_>)) -> String {
    let mut bytes = Vec::new();
    {
        let mut writer = DotWriter::from(&mut bytes);
        let mut graph = writer.digraph();
        graph.graph_attributes().set("fontname", "monospace", true);
        graph.node_attributes().set("fontname", "monospace", true).set("shape", "box", false);
        draw(&mut graph);
    }
    String::from_utf8(bytes).expect("only text was written") + "\n"
}

/// A text, escaped for a label in quotation marks.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '&' => escaped.push_str("&amp;"),
            '\n' => escaped.push_str("\\n"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The label that shows these lines, one below the other.
fn label<'t>(lines: impl IntoIterator<Item = &'t str>) -> String {
    lines.into_iter().map(escaped).collect::<Vec<_>>().join("\\n")
}

fn caption(graph: &mut Scope<'_, '_>, title: &str, left_out: &[String]) {
    let lines = std::iter::once(title).chain(left_out.iter().map(String::as_str));
    graph.set("label", &label(lines), true).set("labelloc", "t", false);
}

fn partial_order(graph: &mut Scope<'_, '_>, order: &PartialOrder) {
    let title = format!("{} of {}", order.what, order.subject.title());
    caption(graph, &title, &order.left_out);
    for event in &order.events {
        node(graph, event, &order.lanes[event.lane]);
    }
    for event in &order.events {
        for cause in &event.causes {
            graph.edge(format!("e{cause}"), format!("e{}", event.id));
        }
    }
    for (a, b) in &order.conflicts {
        let edge = graph.edge(format!("e{a}"), format!("e{b}"));
        let mut attributes = edge.attributes();
        attributes.set("dir", "none", false).set("style", "dashed", false);
        attributes.set("color", RED, true).set("constraint", "false", false);
    }
}

fn node(graph: &mut Scope<'_, '_>, event: &Event, lane: &str) {
    let head = format!("{}  {lane}", event.id);
    let outcome = event.outcome.as_deref().filter(|outcome| !outcome.is_empty());
    let text = label([head.as_str(), &event.label].into_iter().chain(outcome));
    let mut node = graph.node_named(format!("e{}", event.id));
    node.set("group", &format!("p{}", event.lane), false).set_label(&text);
    match event.fate {
        Fate::Open if event.cutoff_of.is_some() => {
            node.set("style", "dashed", false);
        }
        Fate::Open => {}
        Fate::Deadlock => {
            node.set("style", "filled", false).set("fillcolor", "#FBE3D3", true);
        }
        Fate::Failure => {
            node.set("style", "filled", false).set("fillcolor", "#FFF1B8", true);
        }
    }
}

fn space_time(graph: &mut Scope<'_, '_>, chart: &SpaceTime) {
    let title = format!("{} of {}", chart.what, chart.subject.title());
    let again = chart
        .loop_from
        .map(|from| format!("steps {} to {} again and again", from + 1, chart.steps.len()));
    let all = chart.message.iter().chain(&again).chain(&chart.left_out);
    let message: Vec<String> = all.cloned().collect();
    caption(graph, &title, &message);
    for (lane, process) in chart.lanes.iter().enumerate() {
        let group = format!("p{lane}");
        let mut head = graph.node_named(group.clone());
        head.set("group", &group, false).set("shape", "plaintext", false);
        head.set_label(&escaped(&process.name));
    }
    for step in &chart.steps {
        let head = format!("{}  {}", step.id + 1, step.label);
        let outcome = step.outcome.as_deref().filter(|outcome| !outcome.is_empty());
        let text = label([head.as_str()].into_iter().chain(outcome));
        let mut node = graph.node_named(format!("e{}", step.id));
        node.set("group", &format!("p{}", step.lane), false).set_label(&text);
        if chart.loop_from.is_some_and(|from| from <= step.id) {
            node.set("penwidth", "2", false).set("color", PURPLE, true);
        }
    }
    for (lane, process) in chart.lanes.iter().enumerate() {
        end(graph, lane, &process.end);
        let own = chart.steps.iter().filter(|step| step.lane == lane);
        let path = own.map(|step| format!("e{}", step.id)).chain([format!("q{lane}")]);
        let mut last = format!("p{lane}");
        for next in path {
            let mut line = graph.edge(last, next.clone()).attributes();
            line.set("arrowhead", "none", false).set("weight", "100", false);
            last = next;
        }
    }
    for arrow in &chart.arrows {
        self::arrow(graph, arrow);
    }
    for message in &chart.pending {
        let Some(from) = message.from else { continue };
        let edge = graph.edge(format!("e{from}"), format!("q{}", message.lane));
        let mut attributes = edge.attributes();
        attributes.set("style", "dashed", false).set("color", BLUE, true);
    }
    waits(graph, chart);
}

fn end(graph: &mut Scope<'_, '_>, lane: usize, end: &End) {
    let (text, color) = match end {
        End::Ended => ("ended".to_owned(), GREY),
        End::Idle => ("at rest".to_owned(), GREY),
        End::Open => ("...".to_owned(), GREY),
        End::Failed => ("failed".to_owned(), RED),
        End::Blocked { action, waits_for, .. } => {
            let blocked = format!("blocked: {action}");
            (format!("{blocked}\nwaits for {waits_for}"), RED)
        }
    };
    let mut node = graph.node_named(format!("q{lane}"));
    node.set("group", &format!("p{lane}"), false).set("color", color, true);
    node.set("fontcolor", color, true).set_label(&escaped(&text));
}

fn arrow(graph: &mut Scope<'_, '_>, arrow: &Arrow) {
    let (word, color) = match arrow.kind {
        ArrowKind::Message => ("message", BLUE),
        ArrowKind::Pairing => ("pairing", BLUE),
        ArrowKind::Handover => ("handover", "#009E73"),
        ArrowKind::Barrier => ("barrier", "#009E73"),
        ArrowKind::Spawn => ("spawn", GREY),
        ArrowKind::Join => ("join", GREY),
        ArrowKind::Content => ("content", "#AA4499"),
    };
    let edge = graph.edge(format!("e{}", arrow.from), format!("e{}", arrow.to));
    let mut attributes = edge.attributes();
    attributes.set("color", color, true).set("tooltip", word, true);
    if arrow.kind == ArrowKind::Pairing {
        attributes.set("style", "dashed", false).set("arrowhead", "none", false);
    }
}

/// Adds the arrows from each process of the cycle to the process that it waits for.
fn waits(graph: &mut Scope<'_, '_>, chart: &SpaceTime) {
    for &lane in &chart.cycle {
        let End::Blocked { helpers, .. } = &chart.lanes[lane].end else { continue };
        for helper in helpers {
            let edge = graph.edge(format!("q{lane}"), format!("q{helper}"));
            let mut attributes = edge.attributes();
            attributes.set("style", "dashed", false).set("color", RED, true);
            attributes.set("constraint", "false", false);
        }
    }
}

fn search_tree(graph: &mut Scope<'_, '_>, tree: &SearchTree) {
    let title = format!("search tree of {}, {}", tree.subject.title(), tree.search());
    caption(graph, &title, &tree.left_out);
    for node in &tree.nodes {
        call(graph, tree, node);
        let Turn::Chose { event, left, right, .. } = &node.turn else { continue };
        if let Some(left) = left {
            let edge = graph.edge(format!("n{}", node.id), format!("n{left}"));
            edge.attributes().set("label", &format!("C + {event}"), true);
        }
        if let Some(right) = right {
            let edge = graph.edge(format!("n{}", node.id), format!("n{right}"));
            let mut attributes = edge.attributes();
            attributes.set("label", &format!("D + {event}"), true).set("style", "dashed", false);
        }
    }
}

fn call(graph: &mut Scope<'_, '_>, tree: &SearchTree, node: &Node) {
    let (head, color) = match &node.turn {
        Turn::Chose { event, .. } => (tree.described(*event), None),
        Turn::Maximal { configuration, verdict, .. } => {
            let color = if *verdict == Verdict::Ok { "#E0F2EA" } else { "#FBE3D3" };
            (format!("configuration {configuration}: {}", verdict.word()), Some(color))
        }
        Turn::Blocked { .. } => ("blocked".into(), Some("#E4E4E8")),
        Turn::Cut => ("cut".into(), Some("#E4E4E8")),
        Turn::GivenUp => ("given up".into(), Some("#E4E4E8")),
        Turn::Known => ("visited before".into(), Some("#E4E4E8")),
    };
    let sets = [("C", &node.c), ("D", &node.d), ("A", &node.a)];
    let sets = sets.map(|(name, set)| format!("{name} = {}", compact(set)));
    let alternative = match &node.turn {
        Turn::Chose { alternative: Some(j), .. } => Some(format!("J = {}", compact(j))),
        Turn::Chose { asked: true, .. } => Some("no J".into()),
        _ => None,
    };
    let outcome = match &node.turn {
        Turn::Chose { event, .. } => tree.event(*event).outcome.as_ref().filter(|o| !o.is_empty()),
        _ => None,
    };
    let lines = [&head].into_iter().chain(outcome).chain(&sets).chain(&alternative);
    let lines = lines.map(String::as_str);
    let mut drawn = graph.node_named(format!("n{}", node.id));
    drawn.set_label(&label(lines));
    if let Some(color) = color {
        drawn.set("style", "filled", false).set("fillcolor", color, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_label_has_a_meaning() {
        assert_eq!(escaped(r#"a "b" \N &lt; <c>"#), r#"a \"b\" \\N &amp;lt; <c>"#);
        assert_eq!(escaped("a\nb\tc"), "a\\nb c");
        assert_eq!(label(["a\\", "b"]), "a\\\\\\nb");
    }
}
