//! Processes as such: choices and local steps, spawn and join.

use super::{Arrow, ArrowKind, Past, Replay, Wait, Words};
use crate::model::{Action, ProcessId, Response, System};

pub(super) enum Use {
    Choose { lo: i64 },
    Local,
    Spawn,
    Join(ProcessId),
}

impl<S: System> Words<S> for Use {
    fn name(&self) -> &'static str {
        match self {
            Use::Choose { .. } => "choose",
            Use::Local => "local",
            Use::Spawn => "spawn",
            Use::Join(_) => "join",
        }
    }

    fn outcome(&self, at: &Replay<'_, S>, by: Action, _: Option<Response>) -> Option<String> {
        match *self {
            Use::Choose { lo } => Some(format!("chooses {}", lo + i64::from(by.choice.0))),
            Use::Local => None,
            Use::Spawn => {
                let child = at.state.just_spawned(&at.locals).next().expect("a spawned child");
                Some(format!("starts {}", at.name(child)))
            }
            Use::Join(target) => {
                let returned = at.locals.returned(at.state.local(target));
                let with = returned.map(|value| format!(" with {}", at.locals.values.get(value)));
                Some(format!("{} has ended{}", at.name(target), with.unwrap_or_default()))
            }
        }
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        let &Use::Join(target) = self else { return None };
        let words = format!("{} to end", at.name(target));
        Some(match target == process {
            true => Wait { words, helpers: vec![], hopeless: Some("that is itself".into()) },
            false => Wait { words, helpers: vec![target], hopeless: None },
        })
    }

    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        let &Use::Join(target) = self else { return Vec::new() };
        let last = past.needed(to).pop().or_else(|| past.replay.state.born(target));
        Arrow::all(last, to, ArrowKind::Join)
    }
}
