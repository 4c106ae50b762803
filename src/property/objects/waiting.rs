//! Operations that wait or test for requests of their process, of any kind.

use super::{Arrow, Hold, Own, Past, Replay, Wait, Words, request};
use crate::model::{Action, Handle, ProcessId, Response, System};
use crate::property::deadlock::any;

/// A wait or a test for one of these requests.
pub(super) struct Await {
    pub(super) name: &'static str,
    /// The result of a test of several requests if none is complete.
    pub(super) none: &'static str,
    pub(super) handles: Vec<Handle>,
    pub(super) is_test: bool,
}

impl Await {
    /// The wait for one request.
    pub(super) fn one(name: &'static str, handle: Handle) -> Await {
        Await { name, none: "", handles: vec![handle], is_test: false }
    }

    /// The request that it returned, if there is one.
    fn returned(&self, by: Action) -> Option<Own> {
        let index = usize::try_from(by.choice.0).ok()?;
        Some((by.process, self.handles[index]))
    }
}

impl<S: System> Words<S> for Await {
    fn name(&self) -> &'static str {
        self.name
    }

    fn outcome(&self, at: &Replay<'_, S>, by: Action, _: Option<Response>) -> Option<String> {
        let result = self.returned(by).map(|own| at.completed(own));
        Some(match (result, self.handles.as_slice()) {
            (Some(result), [_]) if self.is_test => format!("true: {result}"),
            (Some(result), [_]) => result,
            (Some(result), _) => format!("returns index {}: {result}", by.choice.0),
            (None, &[alone]) => {
                request(at.posted((by.process, alone)), |request| request.incomplete(at))
            }
            (None, _) => format!("-1: {}", self.none),
        })
    }

    fn wait(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        let waits = !self.is_test || !at.state.must_move(&at.locals, process);
        let all = self.handles.iter().map(|&handle| at.wait_for((process, handle)));
        waits.then(|| any(all.collect()))
    }

    fn wait_in_loop(&self, at: &Replay<'_, S>, process: ProcessId) -> Option<Wait> {
        let own = self.handles.iter().map(|&handle| (process, handle));
        let is_open =
            |own: &Own| request(at.posted(*own), |request| !request.is_complete(at, *own));
        let open: Vec<_> = own.filter(is_open).map(|own| at.wait_for(own)).collect();
        (self.is_test && !open.is_empty()).then(|| any(open))
    }

    fn arrows(&self, past: &Past<'_, '_, S>, to: usize) -> Vec<Arrow> {
        let own = self.returned(past.replay.state.action(to));
        let arrows = |own| request(past.replay.posted(own), |request| request.arrows(past, to));
        own.map_or_else(Vec::new, arrows)
    }

    fn hold(&self, at: &Replay<'_, S>, by: Action) -> Option<Hold> {
        let own = self.returned(by)?;
        let held = request::<S, _>(at.posted(own), |request| request.held());
        held.map(|(object, place)| Hold::Begins(object, place))
    }
}
