//! Systems for the tests of this module: processes that run fixed lists of operations.

use crate::model::{
    Describe, Envelope, Foresight, Handle, MailboxId, MutexId, Next, Objects, Op, Part, Request,
    Response, System, Touch, Value, ValueId, Values,
};

/// Processes `P0`, `P1`, .. with objects `m0`, `m1`, .. and `b0`.
pub(crate) struct Script {
    processes: Vec<Vec<Op>>,
    objects: Objects,
    senders: Option<Vec<Vec<u32>>>,
}

impl Script {
    pub(crate) fn new(processes: Vec<Vec<Op>>) -> Self {
        Script { processes, objects: Objects::default(), senders: None }
    }

    pub(crate) fn mailboxes(mut self, count: usize) -> Self {
        self.objects.mailboxes = (0..count).map(|i| format!("m{i}")).collect();
        self
    }

    pub(crate) fn mutexes(mut self, count: usize) -> Self {
        self.objects.mutexes = (0..count).map(|i| format!("m{i}")).collect();
        self
    }

    pub(crate) fn cell(mut self) -> Self {
        self.objects.cells.push("x", Value::Int(0));
        self
    }

    pub(crate) fn barrier(mut self, size: u32) -> Self {
        self.objects.barriers.push("b0", size);
        self
    }

    /// Who may send to each mailbox.
    pub(crate) fn senders(mut self, senders: Vec<Vec<u32>>) -> Self {
        self.senders = Some(senders);
        self
    }
}

pub(crate) fn isend(mailbox: u32, tag: Option<i64>) -> Op {
    let envelope = Envelope { src: None, tag };
    Op::Isend { mailbox: MailboxId(mailbox), envelope, value: ValueId::TRUE }
}

pub(crate) fn irecv(mailbox: u32, tag: Option<i64>) -> Op {
    Op::Irecv { mailbox: MailboxId(mailbox), pattern: Envelope { src: None, tag } }
}

pub(crate) fn wait(handle: u32) -> Op {
    Op::WaitAny(Box::new([Handle(handle)]))
}

/// A request and a wait, the request being the process's post number `handle`.
pub(crate) fn lock(mutex: u32, handle: u32) -> [Op; 2] {
    let request = Request { mutex: MutexId(mutex), handle: Handle(handle) };
    [Op::AsyncLock(MutexId(mutex)), Op::MutexWaitAny(Box::new([request]))]
}

impl System for Script {
    type Local = (usize, usize);

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn initial(&self, _: &mut Values) -> Vec<Self::Local> {
        (0..self.processes.len()).map(|p| (p, 0)).collect()
    }

    fn next(&self, &(process, at): &Self::Local, _: &mut Values) -> Next<Self::Local> {
        match self.processes.get(process).and_then(|ops| ops.get(at)) {
            // The child runs the script of the last process.
            Some(Op::Spawn(_)) => Next::Spawn((self.processes.len() - 1, 0)),
            Some(op) => Next::Op(op.clone()),
            None => Next::Done,
        }
    }

    fn resume(&self, &(process, at): &Self::Local, _: Response, _: &Values) -> Self::Local {
        (process, at + 1)
    }

    fn foresight(&self) -> &dyn Foresight<(usize, usize)> {
        self
    }

    fn describe(&self) -> &dyn Describe<(usize, usize)> {
        self
    }
}

impl Foresight<(usize, usize)> for Script {
    fn may_touch(&self, &(process, _): &(usize, usize), touch: Touch) -> bool {
        match (touch.lane.part(), &self.senders) {
            (Part::Sends, Some(senders)) => {
                senders[touch.lane.object() as usize].contains(&(process as u32))
            }
            _ => true,
        }
    }
}

impl Describe<(usize, usize)> for Script {
    fn process_name(&self, &(process, _): &(usize, usize)) -> String {
        format!("P{process}")
    }
}
