//! Systems in which communications end otherwise than early.

use mazurka::model::{
    Actors, Completion, Describe, Finale, Invariants, Next, Objects, Op, Response, System, Values,
};

/// The system in which everything that completes early completes either way, or late.
pub struct Open<'s, S> {
    system: &'s S,
    objects: Objects,
    completion: Completion,
}

impl<S> Clone for Open<'_, S> {
    fn clone(&self) -> Self {
        let Open { system, ref objects, completion } = *self;
        Open { system, objects: objects.clone(), completion }
    }
}

impl<'s, S: System> Open<'s, S> {
    pub fn new(system: &'s S, completion: Completion) -> Self {
        let mut objects = system.objects().clone();
        objects.may_end_late = true;
        Open { system, objects, completion }
    }
}

/// The operation with another completion, if it completes early.
fn ending(op: &Op, with: Completion) -> Option<Op> {
    let mut op = op.clone();
    match &mut op {
        Op::Send { completion, .. } | Op::Enter { completion, .. }
            if *completion == Completion::Early =>
        {
            *completion = with;
            Some(op)
        }
        _ => None,
    }
}

impl<S: System> System for Open<'_, S> {
    type Local = S::Local;

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn initial(&self, values: &mut Values) -> Vec<Self::Local> {
        self.system.initial(values)
    }

    fn is_daemon(&self, local: &Self::Local) -> bool {
        self.system.is_daemon(local)
    }

    fn next(&self, local: &Self::Local, values: &mut Values) -> Next<Self::Local> {
        match self.system.next(local, values) {
            Next::Op(op) => Next::Op(ending(&op, self.completion).unwrap_or(op)),
            other => other,
        }
    }

    fn resume(&self, local: &Self::Local, response: Response, values: &Values) -> Self::Local {
        self.system.resume(local, response, values)
    }

    fn actors(&self) -> &dyn Actors<Self::Local> {
        self.system.actors()
    }

    fn finale(&self) -> Option<&dyn Finale<Self::Local>> {
        self.system.finale()
    }

    fn invariants(&self) -> Option<&dyn Invariants<Self::Local>> {
        self.system.invariants()
    }

    fn describe(&self) -> &dyn Describe<Self::Local> {
        self.system.describe()
    }
}

/// The system in which everything that completes early first chooses how it completes.
pub struct Chosen<'s, S>(pub &'s S);

impl<S: System> System for Chosen<'_, S> {
    /// The local state, and the choice for the next operation.
    type Local = (S::Local, Option<Completion>);

    fn objects(&self) -> &Objects {
        self.0.objects()
    }

    fn initial(&self, values: &mut Values) -> Vec<Self::Local> {
        self.0.initial(values).into_iter().map(|local| (local, None)).collect()
    }

    fn is_daemon(&self, (local, _): &Self::Local) -> bool {
        self.0.is_daemon(local)
    }

    fn next(&self, (local, chosen): &Self::Local, values: &mut Values) -> Next<Self::Local> {
        match self.0.next(local, values) {
            Next::Op(op) if ending(&op, Completion::Early).is_some() => Next::Op(match chosen {
                None => Op::Choose { lo: 0, hi: 2 },
                Some(completion) => ending(&op, *completion).expect("it was asked"),
            }),
            Next::Op(op) => Next::Op(op),
            Next::Spawn(child) => Next::Spawn((child, None)),
            Next::Done => Next::Done,
            Next::Returned(value) => Next::Returned(value),
            Next::Failed(failure) => Next::Failed(failure),
        }
    }

    fn resume(
        &self,
        (local, chosen): &Self::Local,
        response: Response,
        values: &Values,
    ) -> Self::Local {
        match (chosen, response) {
            (None, Response::Chosen(0)) => (local.clone(), Some(Completion::Early)),
            (None, Response::Chosen(_)) => (local.clone(), Some(Completion::Late)),
            _ => (self.0.resume(local, response, values), None),
        }
    }
}
