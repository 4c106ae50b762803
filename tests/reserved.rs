//! Probes that only reserve a message, as `MPI_Mprobe` does, in random programs.
//!
//! The language has no such probes, only those that take the message. So a random program is
//! wrapped: each of its probes that takes a message reserves it instead, and after a few more
//! operations the process begins the receive, or ends before. Every explorer is compared with one
//! that knows nothing of the program in advance.

use mazurka::explore::EXPLORERS;
use mazurka::model::{
    Describe, Handle, Next, Objects, Op, Probing, Response, System, Value, Values,
};

use crate::random_models::unforeseen::Judgement;
use crate::random_models::{Script, Statement, Subject, asked, ranks};

/// Programs with more executions are skipped.
const MOST_EXECUTIONS: u64 = 600;

/// A program whose probes that take a message only reserve it.
struct Reserving(Script);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Local<L> {
    inner: L,
    /// A message that is reserved, and the number of operations before its receive begins. At most
    /// one: until then, other probes take what they find.
    reserved: Option<(Handle, u32)>,
}

impl<L> Local<L> {
    fn is_to_begin(&self) -> Option<Handle> {
        self.reserved.filter(|&(_, before)| before == 0).map(|(comm, _)| comm)
    }
}

impl System for Reserving {
    type Local = Local<<Script as System>::Local>;

    fn objects(&self) -> &Objects {
        self.0.objects()
    }

    fn initial(&self, values: &mut Values) -> Vec<Self::Local> {
        let inner = self.0.initial(values);
        inner.into_iter().map(|inner| Local { inner, reserved: None }).collect()
    }

    fn next(&self, local: &Self::Local, values: &mut Values) -> Next<Self::Local> {
        if let Some(comm) = local.is_to_begin() {
            return Next::Op(Op::Begin(comm));
        }
        match self.0.next(&local.inner, values) {
            Next::Op(Op::Probe { mailbox, pattern, form: Probing::Take })
                if local.reserved.is_none() =>
            {
                Next::Op(Op::Probe { mailbox, pattern, form: Probing::Reserve })
            }
            Next::Op(op) => Next::Op(op),
            Next::Spawn(inner) => Next::Spawn(Local { inner, reserved: None }),
            Next::Done => Next::Done,
            Next::Returned(value) => Next::Returned(value),
            Next::Failed(failure) => Next::Failed(failure),
        }
    }

    fn resume(&self, local: &Self::Local, response: Response, values: &Values) -> Self::Local {
        let Local { inner, reserved } = local;
        if local.is_to_begin().is_some() {
            return Local { inner: inner.clone(), reserved: None };
        }
        let found = match &response {
            Response::Value(value) => match values.get(*value) {
                Value::Tuple(parts) => match parts.first() {
                    Some(&Value::Comm(comm)) => Some((comm, comm.0 % 3)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        let waiting = reserved.map(|(comm, before)| (comm, before - 1));
        Local { inner: self.0.resume(inner, response, values), reserved: waiting.or(found) }
    }

    fn is_daemon(&self, local: &Self::Local) -> bool {
        self.0.is_daemon(&local.inner)
    }

    fn describe(&self) -> &dyn Describe<Self::Local> {
        self
    }
}

impl Describe<Local<<Script as System>::Local>> for Reserving {}

/// Does the program probe for messages that somebody waits to be received?
fn matters(script: &Script) -> bool {
    let is_any = |of: fn(&Statement) -> bool| script.program.processes.iter().flatten().any(of);
    is_any(|s| matches!(s, Statement::Mprobe { .. }))
        && is_any(|s| matches!(s, Statement::Issend { .. }))
}

#[test]
fn messages_that_are_only_reserved_are_explored_alike() {
    let scripts = (0..).map(|seed| (seed, Script::new(ranks::generate(seed))));
    let small = scripts.filter(|(_, script)| matters(script)).filter_map(|(seed, script)| {
        let text = script.text();
        let system = Reserving(script);
        let judge = Judgement::of(&system, MOST_EXECUTIONS, None)?;
        for listed in EXPLORERS {
            if let Some(Err(how)) = judge.compare(&system, listed) {
                panic!("{how}\nseed {seed}:\n{text}");
            }
        }
        Some(())
    });
    small.take(asked(60)).count();
}
