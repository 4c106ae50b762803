//! Philosophers, until there is a front end.
use crate::model::*;
pub(super) struct Program {
    objects: Objects,
    n: usize,
    fail: bool,
}
impl Program {
    pub(super) fn new(source: &str) -> Self {
        let n: usize = source.split_whitespace().next().and_then(|w| w.parse().ok()).unwrap_or(3);
        let fail = source.contains("assert");
        let mutexes = (0..n).map(|i| format!("fork[{i}]")).collect();
        Program { objects: Objects { mutexes, ..Objects::default() }, n, fail }
    }
}
impl System for Program {
    type Local = (usize, usize);
    fn objects(&self) -> &Objects {
        &self.objects
    }
    fn initial(&self, _: &mut Values) -> Vec<Self::Local> {
        (0..self.n).map(|p| (p, 0)).collect()
    }
    fn next(&self, &(p, at): &Self::Local, _: &mut Values) -> Next<Self::Local> {
        let (l, r) = (MutexId(p as u32), MutexId(((p + 1) % self.n) as u32));
        let req = |mutex, h| Request { mutex, handle: Handle(h) };
        match at {
            0 => Next::Op(Op::AsyncLock(l)),
            1 => Next::Op(Op::MutexWaitAny(Box::new([req(l, 0)]))),
            2 => Next::Op(Op::AsyncLock(r)),
            3 => Next::Op(Op::MutexWaitAny(Box::new([req(r, 1)]))),
            4 => Next::Op(Op::Unlock(req(r, 1))),
            5 => Next::Op(Op::Unlock(req(l, 0))),
            _ if self.fail && p == 1 => Next::Failed(Failure {
                kind: FailureKind::Assertion,
                message: "eaten".into(),
                site: Some(Site { line: 2, column: 5, text: "assert(false)".into() }),
            }),
            _ => Next::Done,
        }
    }
    fn resume(&self, &(p, at): &Self::Local, _: Outcome, _: &Values) -> Self::Local {
        (p, at + 1)
    }
    fn process_name(&self, &(p, _): &Self::Local) -> String {
        format!("Philosopher[{p}]")
    }
    fn site(&self, &(_, at): &Self::Local) -> Option<Site> {
        let (line, text) = [
            (3, "lock(fork[i])"),
            (3, "lock(fork[i])"),
            (4, "lock(fork[(i + 1) % N])"),
            (4, "lock(fork[(i + 1) % N])"),
            (5, "unlock(fork[(i + 1) % N])"),
            (6, "unlock(fork[i])"),
        ]
        .get(at)
        .copied()?;
        Some(Site { line, column: 5, text: text.into() })
    }
}
