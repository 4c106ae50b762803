//! Actors: the messages that they handle, and those that stay pending.

use super::{Arrow, ArrowKind, Named, Past, Replay, Wait, Words, listed};
use crate::model::{Action, Choice, ProcessId, Response, Site, Stimulus, System};

/// A handler.
pub(super) struct React;

impl<S: System> Words<S> for React {
    fn name(&self) -> &'static str {
        "handle"
    }

    /// The messages that the handler has sent, and the actors that it has started.
    fn outcome(&self, at: &Replay<'_, S>, by: Action, _: Option<Response>) -> Option<String> {
        let position = Some(at.state.depth() - 1);
        let log = at.state.inboxes().log();
        let sent = log.iter().rev().take_while(|message| message.creator() == position);
        let mut parts: Vec<_> = sent
            .map(|message| {
                format!("sends {} to {}", at.value(message.content), at.name(message.to))
            })
            .collect();
        let started = at.state.just_spawned(&at.locals).collect::<Vec<_>>();
        parts.extend(started.iter().rev().map(|&child| format!("starts {}", at.name(child))));
        parts.reverse();
        if at.has_failed(by.process) {
            parts.push("fails".into());
        }
        Some(parts.join("; "))
    }

    fn view(&self, at: &Replay<'_, S>, process: ProcessId) -> Vec<Named> {
        vec![(format!("messages to {}", at.name(process)), pending_to(at, process))]
    }

    /// The guards of the actor refuse its pending messages. Another message could change its state.
    /// In a standstill there is none.
    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        let state = at.variables(process);
        let state: Vec<_> = state.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let hopeless = match state.is_empty() {
            true => "it never takes that, and nothing else is on its way".into(),
            false => format!("it has {}, and nothing else is on its way", state.join(", ")),
        };
        let words = format!("a state in which it takes {}", pending_to(at, process));
        let hopeless = Some(hopeless).filter(|_| at.stands_still());
        Some(Wait { words, helpers: Vec::new(), hopeless })
    }

    /// Place and text of the handler that it runs; for a message, the message is the text.
    fn site(&self, at: &Replay<'_, S>, process: ProcessId, choice: Option<Choice>) -> Option<Site> {
        let stimulus = at.state.stimulus(choice?);
        let local = at.locals.get(at.state.local(process));
        let describe = at.locals.system().describe();
        let site = describe.handler_site(local, stimulus, &at.locals.values);
        let mut site = site.unwrap_or_else(|| at.site(process));
        if let Stimulus::Message(content) = stimulus {
            site.text = at.value(content);
        }
        Some(site)
    }

    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        Arrow::all(past.needed(to), to, ArrowKind::Message)
    }
}

/// What a failed actor with pending messages waits for: no process takes them any more.
pub(in crate::property) fn wait_of_failed<S: System>(
    at: &Replay<'_, S>,
    actor: ProcessId,
) -> Option<Wait> {
    at.state.inboxes().has_pending(actor).then(|| Wait {
        words: format!("someone to take {}", pending_to(at, actor)),
        helpers: Vec::new(),
        hopeless: Some("it has failed".into()),
    })
}

/// The messages that an actor has not taken.
pub(in crate::property) fn pending_to<S: System>(at: &Replay<'_, S>, actor: ProcessId) -> String {
    let inboxes = at.state.inboxes();
    let content = |message: u32| at.value(inboxes.log()[message as usize].content);
    listed(inboxes.pending(actor).map(content).collect(), "none")
}
