//! The alternating bit protocol over channels that lose and double messages.

use std::collections::VecDeque;

use stateright::{Model, Property};

use super::Constants;

pub struct AlternatingBit {
    messages: u8,
    tries: u8,
    checked: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct World {
    data: VecDeque<(u8, u8)>,
    acks: VecDeque<u8>,
    lost_data: u8,
    doubled: u8,
    lost_acks: u8,
    waits: bool,
    sent: u8,
    tries: u8,
    got: Vec<u8>,
}

/// A step. A message is lost or doubled when it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Send { copies: u8 },
    Acknowledged,
    Timeout,
    Receive { lost: bool },
}

impl AlternatingBit {
    pub fn new(constants: &Constants) -> AlternatingBit {
        AlternatingBit {
            messages: constants.number("N", 2),
            tries: constants.number("TRIES", 2),
            checked: constants.is("CHECKED", true),
        }
    }
}

impl Model for AlternatingBit {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![World { tries: self.tries, ..World::default() }]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        if !world.waits && world.sent < self.messages && world.tries > 0 {
            steps.push(Step::Send { copies: 1 });
            if world.lost_data < 1 {
                steps.push(Step::Send { copies: 0 });
            }
            if world.doubled < 1 {
                steps.push(Step::Send { copies: 2 });
            }
        }
        if world.waits {
            steps.push(Step::Timeout);
            if !world.acks.is_empty() {
                steps.push(Step::Acknowledged);
            }
        }
        if !world.data.is_empty() {
            steps.push(Step::Receive { lost: false });
            if world.lost_acks < 1 {
                steps.push(Step::Receive { lost: true });
            }
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        match step {
            Step::Send { copies } => {
                next.waits = true;
                next.lost_data += u8::from(copies == 0);
                next.doubled += u8::from(copies == 2);
                for _ in 0..copies {
                    next.data.push_back((world.sent % 2, world.sent));
                }
            }
            Step::Acknowledged => {
                next.waits = false;
                let bit = next.acks.pop_front()?;
                if bit == world.sent % 2 || !self.checked {
                    (next.sent, next.tries) = (world.sent + 1, self.tries);
                }
            }
            Step::Timeout => {
                next.waits = false;
                next.tries -= 1;
            }
            Step::Receive { lost } => {
                let (bit, k) = next.data.pop_front()?;
                if usize::from(bit) == world.got.len() % 2 || !self.checked {
                    next.got.push(k);
                }
                match lost {
                    true => next.lost_acks += 1,
                    false => next.acks.push_back(bit),
                }
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("in order, and once", |_, world: &World| {
                world.got.iter().enumerate().all(|(k, &got)| usize::from(got) == k)
            }),
            Property::always("what is acknowledged has come", |_, world: &World| {
                usize::from(world.sent) <= world.got.len()
            }),
        ]
    }
}
