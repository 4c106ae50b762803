//! From a seed to a program of actors.
//!
//! The kinds of guards take turns. What matters is that messages compete. So there are few actors,
//! often one that many others write to, and few messages in all, since their orders multiply.

use super::super::Rng;
use super::{ActorProgram, Class, Guard, Guards, Handler, Initial, Statement, Whom};

/// The number of different messages.
const NAMES: usize = 3;
/// The number of times that one is sent.
const TIMES: &[usize] = &[1, 1, 1, 1, 1, 1, 1, 1, 2, 3];

/// The program of `seed`.
pub fn generate(seed: u64) -> ActorProgram {
    let mut rng = Rng::new(seed);
    let guards = [Guards::Absent, Guards::Monotone, Guards::Fickle][seed as usize % 3];
    let states = rng.range(2, 5) as i64;
    let actors = *rng.pick(&[1, 2, 2, 2, 3, 3, 4]);
    let classes = rng.range(1, 4);
    let spawns = rng.chance(50);
    let mut writer = Writer {
        guards,
        states,
        actors,
        classes,
        center: rng.below(actors),
        spawns,
        introduces: spawns && rng.chance(60),
        rng: &mut rng,
    };
    let classes = (0..classes).map(|_| writer.class()).collect::<Vec<_>>();
    let initial = writer.initial();
    ActorProgram {
        guards,
        states,
        actors: (0..actors).map(|_| rng.below(classes.len())).collect(),
        classes,
        initial,
        finally: rng.chance(15).then(|| (rng.below(actors), rng.below(states as usize) as i64)),
    }
}

struct Writer<'r> {
    rng: &'r mut Rng,
    guards: Guards,
    states: i64,
    actors: usize,
    classes: usize,
    /// The actor that most write to.
    center: usize,
    spawns: bool,
    /// Message 0 makes actors, 1 names them, and 2 is sent to them.
    introduces: bool,
}

impl Writer<'_> {
    fn initial(&mut self) -> Vec<Initial> {
        let mut initial: Vec<Initial> = Vec::new();
        // A spawned actor needs fuel to get a message.
        let (counts, fuels): (&[usize], &[i64]) = match self.spawns {
            true => (&[2, 2, 2, 3], &[1, 2, 2, 3, 3]),
            false => (&[1, 2, 3, 3, 4, 4], &[0, 1, 1, 2, 2]),
        };
        for _ in 0..*self.rng.pick(counts) {
            let again = initial.last().filter(|_| self.rng.chance(20)).copied();
            initial.push(again.unwrap_or_else(|| Initial {
                to: self.receiver(),
                name: if self.introduces && self.rng.chance(60) { 0 } else { self.name() },
                number: self.state(),
                fuel: *self.rng.pick(fuels),
            }));
        }
        initial
    }

    fn receiver(&mut self) -> usize {
        if self.rng.chance(50) { self.center } else { self.rng.below(self.actors) }
    }

    fn name(&mut self) -> usize {
        self.rng.below(NAMES)
    }

    fn state(&mut self) -> i64 {
        self.rng.below(self.states as usize) as i64
    }

    fn class(&mut self) -> Class {
        let handlers = (0..NAMES).map(|name| self.handler(name)).collect();
        let internals = match self.rng.below(10) {
            0..7 => 0,
            7 | 8 => 1,
            _ => 2,
        };
        let internals = (0..internals).map(|_| self.internal()).collect();
        let last = self.states - 1;
        let forbidden = self.rng.chance(18).then(|| 1 + self.rng.below(last as usize) as i64);
        Class { handlers, internals, forbidden }
    }

    fn handler(&mut self, name: usize) -> Handler {
        let guard = if self.rng.chance(55) { self.guard() } else { None };
        let mut body = self.body(true);
        if self.introduces && name < 2 {
            body.truncate(1);
            match name {
                0 => self.family(&mut body),
                _ => body.push(self.send_to(2, Whom::Told, None)),
            }
        }
        Handler { guard, body }
    }

    fn internal(&mut self) -> Handler {
        let guard = if self.rng.chance(60) { self.guard() } else { None };
        let mut body = self.body(false);
        body.truncate(2);
        Handler { guard, body }
    }

    fn guard(&mut self) -> Option<Guard> {
        let n = self.state();
        // A guard that no state or every state satisfies is of no interest.
        let n = n.max(1);
        match (self.guards, self.rng.below(8)) {
            (Guards::Absent, _) => None,
            (_, 0) => Some(Guard::AtLeastNumber),
            (Guards::Monotone, _) | (_, 1) => Some(Guard::AtLeast(n)),
            (Guards::Fickle, 2..6) => Some(Guard::Below(n)),
            (Guards::Fickle, _) => Some(Guard::Equals(self.state())),
        }
    }

    fn body(&mut self, branches: bool) -> Vec<Statement> {
        let mut body = Vec::new();
        for _ in 0..*self.rng.pick(&[1, 1, 2, 2, 3]) {
            self.gesture(branches, &mut body);
        }
        body
    }

    /// A statement, or two that make sense together.
    fn gesture(&mut self, branches: bool, body: &mut Vec<Statement>) {
        match self.rng.below(20) {
            0..6 => body.push(Statement::Add(1 + self.rng.below(2) as i64)),
            6 | 7 => body.push(Statement::Store),
            8..12 if self.spawns => self.family(body),
            12 if self.spawns => body.push(Statement::Remember),
            13 | 14 if branches => body.push(self.branch()),
            _ => body.push(self.send()),
        }
    }

    /// Starts an actor, and usually writes to it or names it in a message.
    fn family(&mut self, body: &mut Vec<Statement>) {
        let (class, state) = (
            self.rng.below(self.classes),
            *self.rng.pick(&[None, None, Some(0), Some(0), Some(1)]),
        );
        body.push(Statement::Spawn { class, state });
        match self.rng.below(6) {
            0 | 1 => {
                let name = self.name();
                body.push(self.send_to(name, Whom::Friend, Some(Whom::Own)));
            }
            2..5 => {
                let to = Whom::Static(self.receiver());
                body.push(self.send_to(1, to, Some(Whom::Friend)));
            }
            _ => {}
        }
    }

    fn branch(&mut self) -> Statement {
        let (mut then, mut otherwise) = (Vec::new(), Vec::new());
        self.gesture(false, &mut then);
        if self.rng.chance(50) {
            self.gesture(false, &mut otherwise);
        }
        Statement::If { at_least: self.state().max(1), then, otherwise }
    }

    fn send(&mut self) -> Statement {
        let to = match self.rng.below(10) {
            0 => Whom::Own,
            1..4 => Whom::Told,
            4 | 5 if self.spawns => Whom::Friend,
            _ => Whom::Static(self.receiver()),
        };
        let tells = match self.rng.below(10) {
            0..4 => None,
            4..6 if self.spawns => Some(Whom::Friend),
            6 => Some(Whom::Static(self.receiver())),
            _ => Some(Whom::Own),
        };
        let name = self.name();
        self.send_to(name, to, tells)
    }

    fn send_to(&mut self, name: usize, to: Whom, tells: Option<Whom>) -> Statement {
        let number = if self.rng.chance(40) { Some(self.state()) } else { None };
        Statement::Send { to, name, number, tells, times: *self.rng.pick(TIMES) }
    }
}
