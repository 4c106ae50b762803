//! Collectives: which ranks have entered, and which are missing.

use super::{Arrow, LeakKind, Named, Own, Past, Replay, Request, Wait, Words, listed};
use crate::model::{
    Action, Call, CollectiveId, CollectiveKind, Failure, FailureKind, Locals, May, Object,
    ProcessId, Response, Site, State, System, Touch,
};

/// A rank enters a collective.
pub(super) struct Enter {
    pub(super) collective: CollectiveId,
    pub(super) call: Call,
}

impl<S: System> Words<S> for Enter {
    fn name(&self) -> &'static str {
        self.call.kind.name()
    }

    fn outcome(&self, at: &Replay<'_, S>, _: Action, _: Option<Response>) -> Option<String> {
        let all = at.state.collectives();
        let round = all.entries().last().expect("it was just entered").round;
        let (size, entered) =
            (all.get(self.collective).size, all.get(self.collective).entries(round).count());
        Some(format!("{entered} of {size} have entered {}", at.locals.name_of(self.collective)))
    }

    fn view(&self, at: &Replay<'_, S>, _: ProcessId) -> Vec<Named> {
        at.now(self.collective)
    }
}

/// An entry, by its index in the log.
pub(super) struct Entry(pub(super) u32);

impl<S: System> Request<S> for Entry {
    fn object(&self, state: &State) -> Object {
        state.collectives().entries()[self.0 as usize].collective.into()
    }

    fn leak(&self, _: &State) -> LeakKind {
        LeakKind::Collective
    }

    fn completed(&self, at: &Replay<'_, S>, (process, handle): Own) -> String {
        let entry = &at.state.collectives().entries()[self.0 as usize];
        let name = at.locals.name_of(entry.collective);
        if entry.call.kind == CollectiveKind::Barrier {
            return format!("{name} is complete");
        }
        format!("{name} is complete: {}", at.value(at.state.received(process, handle)))
    }

    fn wait(&self, at: &Replay<'_, S>, _: ProcessId) -> Wait {
        let all = at.state.collectives();
        let own = &all.entries()[self.0 as usize];
        let (collective, name) = (all.get(own.collective), at.locals.name_of(own.collective));
        let entered = collective.entries(own.round);
        let here: Vec<_> = entered.map(|other| all.entries()[other as usize].process).collect();
        let missing = all.missing(self.0);
        let ranks: Vec<_> = missing.iter().map(u32::to_string).collect();
        let words = format!(
            "rank {} to enter {name}, round {}: {} of {} have",
            ranks.join(", "),
            own.round + 1,
            here.len(),
            collective.size
        );
        let mut helpers = at.suppliers(Touch::new(own.collective.ends(), May::Add));
        helpers.retain(|other| !here.contains(other));
        Wait::for_several(words, (helpers, at.stands_still()), missing.len(), "enter")
    }

    /// The arrows lead to the end of the entry instead, which is an earlier step.
    fn arrows(&self, _: &Past<'_, '_, S>, _: usize) -> Vec<Arrow> {
        Vec::new()
    }
}

/// The processes that have entered in the latest round.
pub(super) fn now<S: System>(at: &Replay<'_, S>, collective: CollectiveId) -> Vec<Named> {
    let all = at.state.collectives();
    let latest = all.entries().iter().rev().find(|entry| entry.collective == collective);
    let round = latest.map_or(0, |entry| entry.round);
    let entered = all.get(collective).entries(round).map(|entry| {
        let entry = &all.entries()[entry as usize];
        format!("{} with {}", at.name(entry.process), entry.call.kind.name())
    });
    let name = at.locals.name_of(collective);
    vec![(format!("round {} of {name}", round + 1), listed(entered.collect(), "nobody"))]
}

/// Two calls in one round that do not agree.
pub(super) fn discordant<S: System>(
    locals: &Locals<'_, S>,
    state: &State,
    pair: [u32; 2],
) -> Failure {
    let describe = locals.system().describe();
    let entries = pair.map(|entry| &state.collectives().entries()[entry as usize]);
    let [one, other] = entries.map(|entry| {
        let local = locals.get(state.before(entry.at()));
        let text = match describe.site(local) {
            Some(Site { line, text, .. }) if line > 0 => format!("{text} at line {line}"),
            Some(Site { text, .. }) => text,
            None => entry.call.kind.name().into(),
        };
        format!("{} (rank {}) calls {text}", describe.process_name(local), entry.rank)
    });
    let name = locals.name_of(entries[0].collective);
    let message = match entries[0].rank == entries[1].rank {
        true => format!("two processes have one rank in {name}: {one}, {other}"),
        false => {
            let round = entries[0].round + 1;
            format!("the calls in round {round} of {name} do not agree: {one}, {other}")
        }
    };
    Failure { kind: FailureKind::Error, message, site: None }
}
