//! Chain replication with a node in the middle that may crash.

use std::collections::VecDeque;

use stateright::{Model, Property};

use super::{Constants, NO_DEADLOCK, can_move};

pub struct ChainReplication {
    writes: u8,
    resends: bool,
    early: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct World {
    to_head: VecDeque<ToHead>,
    to_middle: VecDeque<u8>,
    // To the tail: a channel for each sender.
    reads: VecDeque<()>,
    by_head: VecDeque<u8>,
    by_middle: VecDeque<u8>,
    replies: VecDeque<u8>,
    answers: VecDeque<u8>,
    client: Client,
    k: u8,
    written: u8,
    log: Vec<u8>,
    skips: bool,
    is_crashed: bool,
    length: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToHead {
    Write(u8),
    /// The middle is gone.
    Next,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Client {
    #[default]
    Write,
    Reply,
    Answer,
    Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Write,
    Reply,
    Answer,
    Head,
    Middle,
    Crash,
    TailReads,
    TailWritesOfHead,
    TailWritesOfMiddle,
}

impl ChainReplication {
    pub fn new(constants: &Constants) -> ChainReplication {
        ChainReplication {
            writes: constants.number("N", 2),
            resends: constants.is("RESENDS", true),
            early: constants.is("EARLY", false),
        }
    }

    /// The tail gets a write. One that comes twice is old the second time.
    fn tail_writes(&self, next: &mut World, k: u8) {
        if k == next.length {
            next.length += 1;
            if !self.early {
                next.replies.push_back(k);
            }
        }
    }
}

impl Model for ChainReplication {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![World::default()]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        let can = [
            (Step::Write, world.client == Client::Write && world.k < self.writes),
            (Step::Reply, world.client == Client::Reply && !world.replies.is_empty()),
            (Step::Answer, world.client == Client::Answer && !world.answers.is_empty()),
            (Step::Head, !world.to_head.is_empty()),
            (Step::Middle, !world.is_crashed && !world.to_middle.is_empty()),
            (Step::Crash, !world.is_crashed),
            (Step::TailReads, !world.reads.is_empty()),
            (Step::TailWritesOfHead, !world.by_head.is_empty()),
            (Step::TailWritesOfMiddle, !world.by_middle.is_empty()),
        ];
        steps.extend(can.iter().filter(|(_, can)| *can).map(|&(step, _)| step));
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        match step {
            Step::Write => {
                next.to_head.push_back(ToHead::Write(world.k));
                next.client = Client::Reply;
            }
            Step::Reply => {
                next.written = next.replies.pop_front()?;
                next.reads.push_back(());
                next.client = Client::Answer;
            }
            Step::Answer => {
                let is_known = next.answers.pop_front()? > world.written;
                next.client = if is_known { Client::Write } else { Client::Wrong };
                next.k += 1;
            }
            Step::Head => match next.to_head.pop_front()? {
                ToHead::Write(k) => {
                    next.log.push(k);
                    if world.skips { &mut next.by_head } else { &mut next.to_middle }.push_back(k);
                    if self.early {
                        next.replies.push_back(k);
                    }
                }
                ToHead::Next => {
                    next.skips = true;
                    if self.resends {
                        next.by_head.extend(&world.log);
                    }
                }
            },
            Step::Middle => next.by_middle.push_back(next.to_middle.pop_front()?),
            Step::Crash => {
                next.is_crashed = true;
                next.to_middle.clear();
                next.to_head.push_back(ToHead::Next);
            }
            Step::TailReads => {
                next.reads.pop_front()?;
                next.answers.push_back(world.length);
            }
            Step::TailWritesOfHead => {
                let k = next.by_head.pop_front()?;
                self.tail_writes(&mut next, k);
            }
            Step::TailWritesOfMiddle => {
                let k = next.by_middle.pop_front()?;
                self.tail_writes(&mut next, k);
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(NO_DEADLOCK, |model: &Self, world: &World| {
                world.k == model.writes || can_move(model, world)
            }),
            Property::always("what was written can be read", |_, world: &World| {
                world.client != Client::Wrong
            }),
        ]
    }
}
