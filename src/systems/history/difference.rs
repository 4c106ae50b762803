//! Whether a process asks the same after the same observations.

use std::fmt::Debug;

use super::runner::{Asked, Reply};
use super::tree::{NodeId, Tree};
use crate::model::{Failure, FailureKind, Site};

/// The failure, of this kind, of the process `who`, if its questions `again` in these histories,
/// and possibly more, differ from the known ones.
pub(super) fn of<S: Clone + PartialEq + Debug>(
    tree: &Tree<S>,
    who: &str,
    path: &[NodeId],
    again: &[Reply<S>],
    kind: &dyn Fn() -> FailureKind,
) -> Option<Reply<S>> {
    let known = path.iter().map(|&node| tree.reply(node).expect("a history that was visited"));
    known.zip(again).find_map(|(known, again)| between(who, known, again, kind))
}

/// The difference between the questions `known` and `again` of the process `who`, in words.
pub(crate) fn between<S: PartialEq + Debug>(
    who: &str,
    known: &Reply<S>,
    again: &Reply<S>,
    kind: &dyn Fn() -> FailureKind,
) -> Option<Reply<S>> {
    if is_same(known, again) {
        return None;
    }
    let message = format!(
        "nondeterminism: after the same outcomes, {who} {} the first time, and {} the second time",
        words(known),
        words(again)
    );
    let (kind, site) = (kind(), again.site.as_deref().cloned());
    let asked = Asked::Failed(Failure { kind, message, site });
    Some(Reply { printed: again.printed.clone(), ..Reply::new(asked, again.site.clone()) })
}

/// Whether two questions are equal. Messages of failures may differ, because they may contain
/// addresses.
fn is_same<S: PartialEq>(known: &Reply<S>, again: &Reply<S>) -> bool {
    match (&known.asked, &again.asked) {
        (Asked::Failed(_), Asked::Failed(_)) => true,
        (one, other) => one == other && known.site == again.site,
    }
}

/// The question of a process and its place, in words.
fn words<S: Debug>(Reply { asked, site, .. }: &Reply<S>) -> String {
    let place = site.as_deref().map_or(String::new(), place);
    let text = |otherwise: &dyn Debug| match site.as_deref() {
        Some(Site { text, .. }) if !text.is_empty() => format!("`{text}`"),
        _ => format!("{otherwise:?}"),
    };
    match asked {
        Asked::Op { op, values } if values.is_empty() => format!("asked for {}{place}", text(op)),
        Asked::Op { op, values } => {
            let values: Vec<_> = values.iter().map(|value| value.to_string()).collect();
            format!("asked for {} with {}{place}", text(op), values.join(" and "))
        }
        Asked::Spawn(start) => format!("started {start:?}{place}"),
        Asked::Done => "ended".into(),
        Asked::Returned(value) => format!("ended with {value}"),
        Asked::Failed(Failure { message, .. }) => format!("failed ({message}){place}"),
    }
}

fn place(site: &Site) -> String {
    match (&site.file, site.line) {
        (_, 0) => String::new(),
        (Some(file), line) => format!(" ({file}:{line})"),
        (None, line) => format!(" (line {line})"),
    }
}
