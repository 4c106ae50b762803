//! A program of actors as a [`System`].

use mazurka::model::{
    Actors, Contents, Describe, Failure, FailureKind, Finale, Next, Objects, Op, Outbox, ProcessId,
    Response, Stimulus, System, Value, Values,
};

use super::{ActorProgram, Class, Guard, Guards, Handler, Statement, Whom};

/// A program that can run.
#[derive(Clone)]
pub struct ActorScript {
    /// Its syntax tree.
    pub program: ActorProgram,
    objects: Objects,
}

/// An actor between two handlers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    class: usize,
    state: i64,
    friend: Option<ProcessId>,
    /// Which internal handlers have run.
    ran: Vec<bool>,
}

/// The content of a message; an internal handler is one to oneself.
#[derive(Clone, Copy, Debug)]
struct Letter {
    number: i64,
    fuel: i64,
    told: Option<ProcessId>,
}

impl Letter {
    fn value(self, name: usize) -> Value {
        let told = self.told.map_or(Value::Unit, Value::Process);
        let args = [Value::Int(self.number), Value::Int(self.fuel), told];
        Value::Message { name: name as u32, args: args.into() }
    }

    /// The name and the letter of a message.
    fn open(message: &Value) -> (usize, Letter) {
        let Value::Message { name, args } = message else { panic!("{message} is no message") };
        let told = match args[2] {
            Value::Process(told) => Some(told),
            _ => None,
        };
        (*name as usize, Letter { number: args[0].int(), fuel: args[1].int(), told })
    }
}

/// A handler at work.
struct Work<'w> {
    program: &'w ActorProgram,
    local: Local,
    own: ProcessId,
    letter: Letter,
    is_internal: bool,
    outbox: &'w mut dyn Outbox<Local>,
}

impl ActorScript {
    /// The system that `program` is.
    pub fn new(program: ActorProgram) -> Self {
        ActorScript { program, objects: Objects::default() }
    }

    /// The handler that a stimulus runs, and on what.
    fn handler(&self, class: usize, stimulus: Stimulus, values: &Values) -> (&Handler, Letter) {
        let Class { handlers, internals, .. } = &self.program.classes[class];
        match stimulus {
            Stimulus::Message(content) => {
                let (name, letter) = Letter::open(values.get(content));
                (&handlers[name], letter)
            }
            Stimulus::Internal(index) => {
                (&internals[index as usize], Letter { number: 0, fuel: 1, told: None })
            }
        }
    }
}

fn start(program: &ActorProgram, class: usize, state: i64, rests: bool) -> Local {
    let internals = program.classes[class].internals.len();
    Local { class, state, friend: None, ran: vec![rests; internals] }
}

impl Work<'_> {
    fn run(&mut self, body: &[Statement]) {
        for statement in body {
            self.execute(statement);
        }
    }

    fn execute(&mut self, statement: &Statement) {
        let (states, is_monotone) = (self.program.states, self.program.guards == Guards::Monotone);
        let has_fuel = self.letter.fuel > 0;
        let Local { state, .. } = self.local;
        match statement {
            Statement::Add(n) if is_monotone => self.local.state = (state + n).min(states - 1),
            Statement::Add(n) => self.local.state = (state + n) % states,
            Statement::Store if is_monotone => self.local.state = state.max(self.letter.number),
            Statement::Store => self.local.state = self.letter.number,
            Statement::Remember => self.local.friend = self.letter.told.or(self.local.friend),
            Statement::Spawn { class, state: its } => {
                if has_fuel {
                    let child = start(self.program, *class, its.unwrap_or(state), self.is_internal);
                    self.local.friend = Some(self.outbox.spawn(child));
                }
            }
            Statement::Send { to, name, number, tells, times } => {
                let Some(to) = self.whom(*to).filter(|_| has_fuel) else { return };
                let told = tells.and_then(|whom| self.whom(whom));
                let number = number.unwrap_or(state);
                let letter = Letter { number, fuel: self.letter.fuel - 1, told };
                for _ in 0..*times {
                    self.outbox.send(to, letter.value(*name));
                }
            }
            Statement::If { at_least, then, otherwise } => {
                self.run(if state >= *at_least { then } else { otherwise });
            }
        }
    }

    fn whom(&self, whom: Whom) -> Option<ProcessId> {
        match whom {
            Whom::Static(actor) => Some(ProcessId(actor as u32)),
            Whom::Own => Some(self.own),
            Whom::Friend => self.local.friend,
            Whom::Told => self.letter.told,
        }
    }
}

impl System for ActorScript {
    type Local = Local;

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn initial(&self, _: &mut Values) -> Vec<Local> {
        self.program.actors.iter().map(|&class| start(&self.program, class, 0, false)).collect()
    }

    fn next(&self, local: &Local, _: &mut Values) -> Next<Local> {
        let Class { internals, forbidden, .. } = &self.program.classes[local.class];
        if *forbidden == Some(local.state) {
            let message = format!("state {} of class {}", local.state, local.class);
            return Next::Failed(Failure { kind: FailureKind::Assertion, message, site: None });
        }
        Next::Op(Op::Handle { internals: internals.len() as u32 })
    }

    fn resume(&self, local: &Local, response: Response, _: &Values) -> Local {
        panic!("{local:?} is told {response:?}, but it is an actor")
    }

    fn actors(&self) -> &dyn Actors<Local> {
        self
    }

    fn finale(&self) -> Option<&dyn Finale<Local>> {
        (self.program.finally.is_some()).then_some(self as &dyn Finale<Local>)
    }

    fn describe(&self) -> &dyn Describe<Local> {
        self
    }
}

impl Actors<Local> for ActorScript {
    fn initial_messages(&self) -> Vec<(ProcessId, Value)> {
        let send = |initial: &super::Initial| {
            let letter = Letter { number: initial.number, fuel: initial.fuel, told: None };
            (ProcessId(initial.to as u32), letter.value(initial.name))
        };
        self.program.initial.iter().map(send).collect()
    }

    fn has_guards(&self) -> bool {
        self.program.guards != Guards::Absent
    }

    fn has_internals(&self) -> bool {
        self.program.has_internals()
    }

    fn may_spawn(&self) -> bool {
        self.program.may_spawn()
    }

    fn accepts(&self, local: &Local, _: ProcessId, stimulus: Stimulus, values: &Values) -> bool {
        let (Handler { guard, .. }, letter) = self.handler(local.class, stimulus, values);
        let is_due = match stimulus {
            Stimulus::Message(_) => true,
            Stimulus::Internal(index) => !local.ran[index as usize],
        };
        is_due && guard.is_none_or(|guard| guard.holds(local.state, letter.number))
    }

    fn handle(
        &self,
        local: &Local,
        own: ProcessId,
        stimulus: Stimulus,
        values: &Values,
        outbox: &mut dyn Outbox<Local>,
    ) -> Local {
        assert!(self.accepts(local, own, stimulus, values), "{local:?} refuses {stimulus:?}");
        let (handler, letter) = self.handler(local.class, stimulus, values);
        let is_internal = matches!(stimulus, Stimulus::Internal(_));
        let (program, local) = (&self.program, local.clone());
        let mut work = Work { program, local, own, letter, is_internal, outbox };
        work.run(&handler.body);
        let mut local = work.local;
        if let Stimulus::Internal(index) = stimulus {
            local.ran[index as usize] = true;
        }
        local
    }
}

impl Finale<Local> for ActorScript {
    fn judge(&self, locals: &[Option<&Local>], _: Contents<'_>, _: &Values) -> Option<Failure> {
        let (actor, forbidden) = self.program.finally?;
        let state = locals[actor].expect("it exists from the start").state;
        let message = format!("actor {actor} ends in state {state}");
        let failure = Failure { kind: FailureKind::Assertion, message, site: None };
        (state == forbidden).then_some(failure)
    }
}

impl Describe<Local> for ActorScript {
    fn process_name(&self, local: &Local) -> String {
        format!("C{}", local.class)
    }
}

impl Guard {
    /// Does it hold in this state, of a message with this content?
    pub fn holds(self, state: i64, number: i64) -> bool {
        match self {
            Guard::AtLeast(n) => state >= n,
            Guard::AtLeastNumber => state >= number,
            Guard::Below(n) => state < n,
            Guard::Equals(n) => state == n,
        }
    }
}
