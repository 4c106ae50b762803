//! From a seed to a program of actors.
//!
//! The kinds of guards take turns. What matters is that messages meet: so there are few actors, mostly one
//! that many write to, and few messages in all, since their orders multiply.

use super::super::Rng;
use super::{ActorProgram, Class, Guard, Guards, Handler, Initial, Statement, Whom};

/// How many messages there are to choose from.
const NAMES: usize = 3;

/// The program of `seed`.
pub fn generate(seed: u64) -> ActorProgram {
    let mut rng = Rng::new(seed);
    let guards = [Guards::Absent, Guards::Monotone, Guards::Fickle][seed as usize % 3];
    let states = rng.range(2, 5) as i64;
    let actors = *rng.pick(&[1, 2, 2, 2, 3, 3, 4]);
    let classes = rng.range(1, 4);
    let mut writer = Writer {
        guards,
        states,
        actors,
        classes,
        center: rng.below(actors),
        spawns: rng.chance(50),
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
}

impl Writer<'_> {
    fn initial(&mut self) -> Vec<Initial> {
        let mut initial: Vec<Initial> = Vec::new();
        for _ in 0..*self.rng.pick(&[1, 2, 2, 3, 3, 4]) {
            let again = initial.last().filter(|_| self.rng.chance(20)).copied();
            initial.push(again.unwrap_or_else(|| Initial {
                to: self.receiver(),
                name: self.rng.below(NAMES),
                number: self.state(),
                fuel: *self.rng.pick(&[0, 1, 1, 1, 2, 2, 3]),
            }));
        }
        initial
    }

    fn receiver(&mut self) -> usize {
        if self.rng.chance(40) { self.center } else { self.rng.below(self.actors) }
    }

    fn state(&mut self) -> i64 {
        self.rng.below(self.states as usize) as i64
    }

    fn class(&mut self) -> Class {
        let handlers = (0..NAMES).map(|_| self.handler()).collect();
        let internals = match self.rng.below(10) {
            0..7 => 0,
            7 | 8 => 1,
            _ => 2,
        };
        let internals = (0..internals).map(|_| self.internal()).collect();
        let last = self.states - 1;
        let forbidden = self.rng.chance(12).then(|| 1 + self.rng.below(last as usize) as i64);
        Class { handlers, internals, forbidden }
    }

    fn handler(&mut self) -> Handler {
        let guard = if self.rng.chance(45) { self.guard() } else { None };
        Handler { guard, body: self.body(true) }
    }

    fn internal(&mut self) -> Handler {
        let guard = if self.rng.chance(60) { self.guard() } else { None };
        let mut body = self.body(false);
        body.truncate(2);
        Handler { guard, body }
    }

    fn guard(&mut self) -> Option<Guard> {
        let n = self.state();
        // What no state meets is of no interest, and what all meet is none.
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
            let statement = self.statement(branches);
            body.push(statement);
        }
        body
    }

    fn statement(&mut self, branches: bool) -> Statement {
        match self.rng.below(20) {
            0..6 => Statement::Add(1 + self.rng.below(2) as i64),
            6 | 7 => Statement::Store,
            8 => Statement::Remember,
            9 | 10 if self.spawns => Statement::Spawn {
                class: self.rng.below(self.classes),
                state: *self.rng.pick(&[0, 0, 0, 1]),
            },
            11 | 12 if branches => Statement::If {
                at_least: self.state().max(1),
                then: vec![self.statement(false)],
                otherwise: if self.rng.chance(50) { vec![self.statement(false)] } else { vec![] },
            },
            _ => self.send(),
        }
    }

    fn send(&mut self) -> Statement {
        let to = match self.rng.below(10) {
            0 => Whom::Own,
            1 | 2 => Whom::Told,
            3..6 if self.spawns => Whom::Friend,
            _ => Whom::Static(self.receiver()),
        };
        let tells = match self.rng.below(10) {
            0..4 => None,
            4..6 if self.spawns => Some(Whom::Friend),
            6 => Some(Whom::Static(self.receiver())),
            _ => Some(Whom::Own),
        };
        Statement::Send {
            to,
            name: self.rng.below(NAMES),
            number: if self.rng.chance(40) { Some(self.state()) } else { None },
            tells,
            times: if self.rng.chance(12) { 2 } else { 1 },
        }
    }
}
