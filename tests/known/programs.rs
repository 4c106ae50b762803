//! The programs: each is a list of roles, and the reaction of each role to messages.

use mazurka::model::{
    Actors, Describe, Next, Objects, Op, Outbox, ProcessId, Response, Stimulus, System, Value,
    Values,
};

use crate::random_models::Erased;

/// The role and the knowledge of an actor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Takes what comes and remembers the order.
    Registry(Vec<i64>),
    /// Registers as this number.
    Worker(i64),
    /// Starts this number of clients.
    Master(i64),
    /// A client of [`regsim`].
    Client,
    /// Asks for the Fibonacci number.
    Asker,
    /// Computes one for its client.
    Fib { client: Option<ProcessId>, part: Option<i64> },
    /// Sits between two forks, to be taken in this order.
    Philosopher { first: ProcessId, second: ProcessId, grants: u8 },
    /// Is taken or not.
    Fork(bool),
    /// Of [`door`]: open or not.
    Door(bool),
    /// Feeds numbers to a pipeline.
    Feeder(Option<ProcessId>),
    /// Keeps the least of them.
    Sorter { kept: Option<i64>, next: Option<ProcessId> },
}

/// A message.
type Letter = (&'static str, Vec<Value>);

const NAMES: &[&str] =
    &["go", "register", "boot", "result", "fib", "start", "take", "grant", "put", "feed", "push"];

fn value((name, args): Letter) -> Value {
    let name = NAMES.iter().position(|&known| known == name).expect("a known name");
    Value::Message { name: name as u32, args: args.into() }
}

/// A program: its actors and what is pending at first.
struct Cast {
    roles: Vec<Role>,
    pending: Vec<(ProcessId, Letter)>,
    objects: Objects,
}

fn cast(roles: Vec<Role>, pending: Vec<(ProcessId, Letter)>) -> Erased<'static> {
    Erased::new(Cast { roles, pending, objects: Objects::default() })
}

fn int(n: i64) -> Value {
    Value::Int(n)
}

/// A registry that one registration is on its way to, and workers that will register.
pub fn registry(workers: u32) -> Erased<'static> {
    let numbered = (1..=workers).map(|w| Role::Worker(i64::from(w)));
    let roles = [Role::Registry(Vec::new())].into_iter().chain(numbered).collect();
    let mut pending = vec![(ProcessId(0), ("register", vec![int(0)]))];
    pending.extend((1..=workers).map(|w| (ProcessId(w), ("go", vec![]))));
    cast(roles, pending)
}

/// A master that starts clients, the first of which is the registry of all.
pub fn regsim(clients: i64) -> Erased<'static> {
    cast(vec![Role::Master(clients)], vec![(ProcessId(0), ("boot", vec![]))])
}

/// The n-th Fibonacci number, an actor for each call.
pub fn fib(n: i64) -> Erased<'static> {
    cast(vec![Role::Asker], vec![(ProcessId(0), ("boot", vec![int(n)]))])
}

/// As many philosophers as forks; the last one may be left-handed.
pub fn dining(n: u32, left_handed: bool) -> Erased<'static> {
    let philosopher = |i: u32| {
        let (left, right) = (ProcessId(n + i), ProcessId(n + (i + 1) % n));
        let (first, second) = if left_handed && i == n - 1 { (right, left) } else { (left, right) };
        Role::Philosopher { first, second, grants: 0 }
    };
    let roles = (0..n).map(philosopher).chain((0..n).map(|_| Role::Fork(true))).collect();
    cast(roles, (0..n).map(|i| (ProcessId(i), ("start", vec![]))).collect())
}

/// Numbers in descending order through a pipeline of sorters.
pub fn pipesort(n: i64) -> Erased<'static> {
    cast(vec![Role::Feeder(None)], vec![(ProcessId(0), ("feed", vec![int(n)]))])
}

/// A door that admits visitors while it is open: one visitor looks in, one shuts it, and one shuts
/// it and writes to a neighbour, to whom another visitor talks.
pub fn door() -> Erased<'static> {
    let visitors = [(0, "go"), (0, "put"), (0, "start"), (1, "result")];
    let pending = visitors.map(|(to, name)| (ProcessId(to), (name, vec![])));
    cast(vec![Role::Door(true), Role::Client], pending.into())
}

/// This number of messages to one actor.
pub fn in_one_inbox(messages: i64) -> Erased<'static> {
    let pending = (0..messages).map(|n| (ProcessId(0), ("register", vec![int(n)])));
    cast(vec![Role::Registry(Vec::new())], pending.collect())
}

impl System for Cast {
    type Local = Role;

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn initial(&self, _: &mut Values) -> Vec<Role> {
        self.roles.clone()
    }

    fn next(&self, _: &Role, _: &mut Values) -> Next<Role> {
        Next::Op(Op::Handle { internals: 0 })
    }

    fn resume(&self, role: &Role, response: Response, _: &Values) -> Role {
        panic!("{role:?} is told {response:?}")
    }

    fn actors(&self) -> &dyn Actors<Role> {
        self
    }

    fn describe(&self) -> &dyn Describe<Role> {
        self
    }
}

impl Actors<Role> for Cast {
    fn initial_messages(&self) -> Vec<(ProcessId, Value)> {
        self.pending.iter().map(|(to, letter)| (*to, value(letter.clone()))).collect()
    }

    fn has_guards(&self) -> bool {
        self.roles.iter().any(|role| matches!(role, Role::Fork(_) | Role::Door(_)))
    }

    fn accepts(&self, role: &Role, _: ProcessId, stimulus: Stimulus, values: &Values) -> bool {
        let (name, _) = open(stimulus, values);
        !matches!((role, name), (Role::Fork(false), "take") | (Role::Door(false), _))
    }

    fn handle(
        &self,
        role: &Role,
        own: ProcessId,
        stimulus: Stimulus,
        values: &Values,
        outbox: &mut dyn Outbox<Role>,
    ) -> Role {
        let (name, args) = open(stimulus, values);
        let mut role = role.clone();
        play(&mut role, own, name, args, outbox);
        role
    }
}

impl Describe<Role> for Cast {
    fn process_name(&self, role: &Role) -> String {
        format!("{role:?}")
    }
}

/// A message's name and arguments.
fn open(stimulus: Stimulus, values: &Values) -> (&'static str, &[Value]) {
    let Stimulus::Message(content) = stimulus else { panic!("{stimulus:?}: no role has handlers") };
    let Value::Message { name, args } = values.get(content) else { panic!("no message") };
    (NAMES[*name as usize], args)
}

fn actor(value: &Value) -> ProcessId {
    match value {
        Value::Process(process) => *process,
        other => panic!("{other} is no actor"),
    }
}

/// The reaction of an actor to a message.
fn play(
    role: &mut Role,
    own: ProcessId,
    name: &str,
    args: &[Value],
    outbox: &mut dyn Outbox<Role>,
) {
    let mut send = |to, letter| outbox.send(to, value(letter));
    match (role, name) {
        (Role::Registry(known), "register") => known.push(args[0].int()),
        (Role::Worker(id), "go") => send(ProcessId(0), ("register", vec![int(*id)])),
        (Role::Master(clients), "boot") => {
            let started: Vec<_> = (0..*clients).map(|_| outbox.spawn(Role::Client)).collect();
            let registry = Value::Process(started[0]);
            outbox.send(started[0], value(("result", vec![])));
            for &client in &started[1..] {
                outbox.send(client, value(("boot", vec![registry.clone()])));
            }
        }
        (Role::Client, "boot") => send(actor(&args[0]), ("result", vec![])),
        (Role::Client | Role::Asker, "result") => {}
        (Role::Asker, "boot") => {
            let root = outbox.spawn(Role::Fib { client: Some(own), part: None });
            outbox.send(root, value(("fib", args.to_vec())));
        }
        (Role::Fib { client, .. }, "fib") => match args[0].int() {
            v @ ..3 => send(client.expect("a client"), ("result", vec![int(v.min(1))])),
            v => {
                for part in [v - 1, v - 2] {
                    let child = outbox.spawn(Role::Fib { client: Some(own), part: None });
                    outbox.send(child, value(("fib", vec![int(part)])));
                }
            }
        },
        (Role::Fib { client, part }, "result") => match part.take() {
            None => *part = Some(args[0].int()),
            Some(first) => {
                send(client.expect("a client"), ("result", vec![int(first + args[0].int())]));
            }
        },
        (Role::Philosopher { first, .. }, "start") => {
            send(*first, ("take", vec![Value::Process(own)]));
        }
        (Role::Philosopher { first, second, grants }, "grant") => {
            *grants += 1;
            if *grants == 1 {
                send(*second, ("take", vec![Value::Process(own)]));
            } else {
                send(*first, ("put", vec![]));
                send(*second, ("put", vec![]));
            }
        }
        (Role::Fork(is_free), "take") => {
            *is_free = false;
            send(actor(&args[0]), ("grant", vec![]));
        }
        (Role::Fork(is_free), "put") => *is_free = true,
        (Role::Door(_), "go") => {}
        (Role::Door(is_open), "put") => *is_open = false,
        (Role::Door(is_open), "start") => {
            *is_open = false;
            send(ProcessId(1), ("result", vec![]));
        }
        (Role::Feeder(first), "feed") => {
            let n = args[0].int();
            if n > 0 {
                let sorter = || Role::Sorter { kept: None, next: None };
                let first = *first.get_or_insert_with(|| outbox.spawn(sorter()));
                outbox.send(first, value(("push", vec![int(n)])));
                outbox.send(own, value(("feed", vec![int(n - 1)])));
            }
        }
        (Role::Sorter { kept: kept @ None, .. }, "push") => *kept = Some(args[0].int()),
        (Role::Sorter { kept: Some(kept), next }, "push") => {
            let new = args[0].int();
            let sorter = || Role::Sorter { kept: None, next: None };
            let next = *next.get_or_insert_with(|| outbox.spawn(sorter()));
            outbox.send(next, value(("push", vec![int(new.max(*kept))])));
            *kept = new.min(*kept);
        }
        (role, name) => panic!("{role:?} is told to {name}"),
    }
}
