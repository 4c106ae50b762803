//! Was the same asked again, told the same?

use std::fmt::Debug;

use super::runner::{Asked, Reply};
use super::tree::{NodeId, Tree};
use crate::model::{Failure, FailureKind, Site};

/// What is wrong with `who`, a process that asked `again` in these histories, and then perhaps
/// more: a failure of this kind.
pub(super) fn of<S: Clone + PartialEq + Debug>(
    tree: &Tree<S>,
    who: &str,
    path: &[NodeId],
    again: &[Reply<S>],
    kind: &dyn Fn() -> FailureKind,
) -> Option<Reply<S>> {
    let known = path.iter().map(|&node| tree.reply(node).expect("a history that was met"));
    known.zip(again).find_map(|(known, again)| between(who, known, again, kind))
}

/// What is wrong with `who`, a process that asked `known` first and then `again`.
pub(super) fn between<S: PartialEq + Debug>(
    who: &str,
    known: &Reply<S>,
    again: &Reply<S>,
    kind: &dyn Fn() -> FailureKind,
) -> Option<Reply<S>> {
    if is_same(known, again) {
        return None;
    }
    let message = format!(
        "nondeterminism: told the same, {who} {} the first time, and {} the second time",
        words(known),
        words(again)
    );
    let (kind, site) = (kind(), again.site.as_deref().cloned());
    let asked = Asked::Failed(Failure { kind, message, site });
    Some(Reply { printed: again.printed.clone(), ..Reply::new(asked, again.site.clone()) })
}

/// A message of a failure may differ: it may tell addresses.
fn is_same<S: PartialEq>(known: &Reply<S>, again: &Reply<S>) -> bool {
    match (&known.asked, &again.asked) {
        (Asked::Failed(_), Asked::Failed(_)) => true,
        (one, other) => one == other && known.site == again.site,
    }
}

/// What a process asked, and where.
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
