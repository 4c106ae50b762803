//! A register on replicas: a client asks all and waits for a majority.

use std::collections::{BTreeSet, VecDeque};

use stateright::{Model, Property};

use super::{Constants, NO_DEADLOCK, can_move};

pub struct QuorumRegister {
    replicas: usize,
    crashes: usize,
    writes_back: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// Is the message of the writer to the first replica under way?
    unwritten: bool,
    replicas: Vec<Replica>,
    /// The reader: its question, how many have answered, and the newest value among the answers.
    question: u8,
    heard: usize,
    newest: u8,
    /// What its first read returned.
    first: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replica {
    stamp: u8,
    is_crashed: bool,
    /// Messages under way to it and from it: questions and stamps.
    asked: VecDeque<(u8, u8)>,
    answers: BTreeSet<(u8, u8)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Write,
    Serve(usize),
    Crash(usize),
    Hear { from: usize, question: u8, stamp: u8 },
}

/// The question that writes back. 1 and 3 read.
const WRITE_BACK: u8 = 2;
const DONE: u8 = 4;

impl World {
    fn ask(&mut self, question: u8, stamp: u8) {
        self.question = question;
        self.heard = 0;
        self.newest = 0;
        for replica in &mut self.replicas {
            replica.asked.push_back((question, stamp));
        }
    }

    /// Replicas are alike, but for the first, to which the writer has sent.
    pub fn representative(&self) -> World {
        let mut sorted = self.clone();
        sorted.replicas[1..].sort();
        sorted
    }
}

impl QuorumRegister {
    pub fn new(constants: &Constants) -> QuorumRegister {
        QuorumRegister {
            replicas: constants.number("N", 3),
            crashes: constants.number("CRASHES", 0),
            writes_back: constants.is("WRITES_BACK", true),
        }
    }
}

impl Model for QuorumRegister {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        let replicas = vec![Replica::default(); self.replicas];
        let mut world =
            World { unwritten: true, replicas, question: 0, heard: 0, newest: 0, first: 0 };
        world.ask(1, 0);
        vec![world]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        if world.unwritten && !world.replicas[0].is_crashed {
            steps.push(Step::Write);
        }
        let crashes = world.replicas.iter().filter(|replica| replica.is_crashed).count();
        for (from, replica) in world.replicas.iter().enumerate() {
            if !replica.is_crashed && !replica.asked.is_empty() {
                steps.push(Step::Serve(from));
            }
            if !replica.is_crashed && crashes < self.crashes {
                steps.push(Step::Crash(from));
            }
            let now = replica.answers.iter().filter(|&&(question, _)| question == world.question);
            steps.extend(now.map(|&(question, stamp)| Step::Hear { from, question, stamp }));
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        match step {
            Step::Write => {
                next.unwritten = false;
                next.replicas[0].stamp = 1;
            }
            Step::Serve(i) => {
                let replica = &mut next.replicas[i];
                let (question, new) = replica.asked.pop_front()?;
                replica.stamp = replica.stamp.max(new);
                replica.answers.insert((question, replica.stamp));
            }
            Step::Crash(i) => next.replicas[i].is_crashed = true,
            Step::Hear { from, question, stamp } => {
                next.replicas[from].answers.remove(&(question, stamp));
                next.heard += 1;
                next.newest = world.newest.max(stamp);
                if 2 * next.heard > self.replicas {
                    let newest = next.newest;
                    if question == 1 {
                        next.first = newest;
                    }
                    match question {
                        1 if self.writes_back => next.ask(WRITE_BACK, newest),
                        1 | WRITE_BACK => next.ask(3, 0),
                        _ => (next.question, next.heard) = (DONE, 0),
                    }
                }
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(NO_DEADLOCK, |model, world: &World| {
                world.question == DONE || can_move(model, world)
            }),
            Property::always("no read returns an older value", |_, world: &World| {
                world.question != DONE || world.newest >= world.first
            }),
        ]
    }
}
