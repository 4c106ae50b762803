//! A system of the tests as a runner: its processes are interpreted, and know only what they
//! observe.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mazurka::model::{Next, Objects, Op, Response, System, Touch, Values};
use mazurka::systems::history::{Asked, Judge, Reply, Runner, Told};

/// The processes of a system.
pub struct Interpreted<S> {
    pub system: S,
    finale: Option<Box<Judge>>,
    /// Whether its processes can be copied.
    pub forks: bool,
    /// Processes that are started after this number do something else at their second operation.
    pub fickle_after: Option<usize>,
    /// The number of processes that were started.
    pub started: AtomicUsize,
    /// The number of live processes, and its maximum.
    pub alive: Arc<Population>,
}

#[derive(Default)]
pub struct Population {
    now: AtomicUsize,
    pub most: AtomicUsize,
}

/// A process. It has its own values, as if it were in another program.
pub struct Process<L> {
    local: L,
    values: Values,
    /// The number of its questions, and the last one.
    asked: usize,
    latest: Option<Asked<()>>,
    is_fickle: bool,
    population: Arc<Population>,
}

impl<L: Clone> Process<L> {
    fn new(local: L, is_fickle: bool, population: Arc<Population>) -> Self {
        let now = population.now.fetch_add(1, Ordering::Relaxed) + 1;
        population.most.fetch_max(now, Ordering::Relaxed);
        Process { local, values: Values::default(), asked: 0, latest: None, is_fickle, population }
    }
}

impl<L> Drop for Process<L> {
    fn drop(&mut self) {
        self.population.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A local state to start from, without its values: random programs have none in their local
/// states.
#[derive(Clone, Debug, PartialEq)]
pub struct Start<L>(pub L, PhantomData<()>);

impl<S: System + Clone + Send + 'static> Interpreted<S> {
    pub fn new(system: S) -> Self {
        let judged = system.clone();
        let finale = system.finale().is_some().then(|| {
            let judge: Box<Judge> = Box::new(move |cells| {
                judged.finale().expect("it has one").judge(&[], cells, &Values::default())
            });
            judge
        });
        let (started, alive) = (AtomicUsize::new(0), Arc::default());
        Interpreted { system, finale, forks: false, fickle_after: None, started, alive }
    }

    fn reply(&self, process: &mut Process<S::Local>) -> Reply<Start<S::Local>> {
        process.asked += 1;
        let site = self.system.describe().site(&process.local);
        let asked = match self.system.next(&process.local, &mut process.values) {
            _ if process.is_fickle && process.asked == 2 => Asked::op(Op::Local),
            Next::Op(op) => {
                let mut values = Vec::new();
                let op = op.with_values(|id| {
                    values.push(process.values.get(id).clone());
                    mazurka::model::ValueId(values.len() as u32 - 1)
                });
                Asked::Op { op, values }
            }
            Next::Spawn(child) => Asked::Spawn(Start(child, PhantomData)),
            Next::Done => Asked::Done,
            Next::Returned(value) => Asked::Returned(process.values.get(value).clone()),
            Next::Failed(failure) => Asked::Failed(failure),
        };
        process.latest = Some(match &asked {
            Asked::Op { op, .. } => Asked::op(op.clone()),
            Asked::Spawn(_) => Asked::Spawn(()),
            Asked::Done | Asked::Returned(_) | Asked::Failed(_) => Asked::Done,
        });
        Reply::new(asked, site.map(Arc::new))
    }
}

impl<S: System + Clone + Send + 'static> Runner for Interpreted<S>
where
    S::Local: Send + Sync,
{
    type Start = Start<S::Local>;
    type Live = Process<S::Local>;

    fn objects(&self) -> &Objects {
        self.system.objects()
    }

    fn processes(&self) -> Vec<Self::Start> {
        let initial = self.system.initial(&mut Values::default());
        initial.into_iter().map(|local| Start(local, PhantomData)).collect()
    }

    fn is_daemon(&self, start: &Self::Start) -> bool {
        self.system.is_daemon(&start.0)
    }

    fn name(&self, start: &Self::Start) -> String {
        self.system.describe().process_name(&start.0)
    }

    fn start(
        &self,
        start: &Self::Start,
        told: &[Told],
        replies: &mut Vec<Reply<Self::Start>>,
    ) -> Self::Live {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let is_fickle = self.fickle_after.is_some_and(|after| number >= after);
        let mut process = Process::new(start.0.clone(), is_fickle, self.alive.clone());
        replies.push(self.reply(&mut process));
        self.tell(&mut process, told, replies);
        process
    }

    fn tell(&self, process: &mut Self::Live, told: &[Told], replies: &mut Vec<Reply<Self::Start>>) {
        for told in told {
            if !told.answers(process.latest.as_ref().expect("it has asked something")) {
                return;
            }
            if process.is_fickle && process.asked == 2 {
                replies.push(self.reply(process));
                continue;
            }
            let response = response(told, &mut process.values);
            process.local = self.system.resume(&process.local, response, &process.values);
            let reply = self.reply(process);
            let is_end = reply.asked.is_end();
            replies.push(reply);
            if is_end {
                return;
            }
        }
    }

    fn fork(&self, process: &mut Self::Live) -> Option<Self::Live> {
        self.forks.then(|| {
            let mut copy =
                Process::new(process.local.clone(), process.is_fickle, self.alive.clone());
            (copy.values, copy.asked) = (process.values.clone(), process.asked);
            copy.latest = process.latest.clone();
            copy
        })
    }

    fn judge(&self) -> Option<&Judge> {
        self.finale.as_deref()
    }

    fn may_touch(&self, start: &Self::Start, touch: Touch) -> bool {
        self.system.foresight().may_touch(&start.0, touch)
    }

    fn may_cancel(&self) -> bool {
        self.system.foresight().may_cancel()
    }
}

fn response(told: &Told, values: &mut Values) -> Response {
    match told.clone() {
        Told::Unit => Response::Unit,
        Told::Posted(handle) => Response::Posted(handle),
        Told::Completed { index, value } => {
            Response::Completed { index, value: values.intern(value) }
        }
        Told::Incomplete => Response::Incomplete,
        Told::Value(value) => Response::Value(values.intern(value)),
        Told::Chosen(value) => Response::Chosen(value),
        Told::Spawned(process) => Response::Spawned(process),
        Told::Overflow => Response::Overflow,
    }
}
