//! Demands on endless executions: their propositions in a state, and who is fair.

use super::{GlobalWorld, Local, Program};
use crate::lang::hir::ObjectKind;
use crate::lang::interpret::{Machine, Rest};
use crate::model::{
    Demand, Failure, FailureKind, Fairness, Liveness, Object, ProcessId, Stimulus, Value, Values,
    View,
};

impl Program {
    /// Makes all executions count, also those that are fair to nobody.
    pub fn make_unfair(&mut self) {
        self.code.liveness.is_unfair = true;
    }

    /// Runs the block of a proposition.
    fn proposition<'a>(&'a self, number: usize, at: &View<'a, Local>) -> Rest {
        let (entry, index) = self.code.liveness.propositions[number];
        let stack: Vec<_> = index.map(Value::Int).into_iter().collect();
        self.carry_out(&mut Machine::new(&self.code, self.whole(at), stack, entry))
    }
}

impl Liveness<Local> for Program {
    fn count(&self) -> usize {
        self.code.liveness.demands.len()
    }

    fn demand(&self, number: usize) -> Demand {
        self.code.liveness.demands[number].clone()
    }

    fn propositions(&self) -> usize {
        self.code.liveness.propositions.len()
    }

    fn holds(&self, proposition: usize, at: &View<'_, Local>) -> Result<bool, Failure> {
        match self.proposition(proposition, at) {
            Rest::End => Ok(true),
            Rest::Failed(failure) if failure.kind != FailureKind::Assertion => Err(failure),
            Rest::Failed(_) | Rest::Unknown => Ok(false),
            Rest::Visible => unreachable!("a proposition only reads"),
        }
    }

    fn readings(&self, proposition: usize, at: &View<'_, Local>) -> Vec<(String, Value)> {
        let (entry, index) = self.code.liveness.propositions[proposition];
        let stack: Vec<_> = index.map(Value::Int).into_iter().collect();
        let world: GlobalWorld<'_> = self.whole(at);
        self.readings_with(world, stack, entry).unwrap_or_default()
    }

    fn fairness(&self, process: Option<&Local>) -> Fairness {
        let liveness = &self.code.liveness;
        match process.map(Local::declaration) {
            Some(declaration) if liveness.fair.unfair.contains(&declaration) => Fairness::MayStop,
            _ if liveness.is_unfair => Fairness::Unfair,
            Some(declaration) if liveness.fair.strong.contains(&declaration) => Fairness::Strong,
            _ => Fairness::Weak,
        }
    }

    fn has_strong_actions(&self) -> bool {
        let liveness = &self.code.liveness;
        let has_some = !liveness.fair.objects.is_empty() || !liveness.strong_handlers.is_empty();
        has_some && !liveness.is_unfair
    }

    fn is_strong(&self, object: Object) -> bool {
        let (kind, number) = match object {
            Object::Mailbox(mailbox) => (ObjectKind::Mailbox, mailbox.0),
            Object::Mutex(mutex) => (ObjectKind::Mutex, mutex.0),
            Object::Cell(cell) => (ObjectKind::Cell, cell.0),
            _ => return false,
        };
        let objects = &self.code.liveness.fair.objects;
        objects.iter().any(|(strong, range)| *strong == kind && range.contains(&number))
    }

    fn strong_handler(
        &self,
        own: ProcessId,
        local: &Local,
        stimulus: Stimulus,
        values: &Values,
    ) -> Option<u32> {
        if self.code.liveness.strong_handlers.is_empty() {
            return None;
        }
        let entry = self.taken(local, Some(own), stimulus, values)?.entry();
        self.code.liveness.strong_handlers.contains(&entry).then_some(entry)
    }
}
