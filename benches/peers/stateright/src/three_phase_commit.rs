//! Three-phase commit with a coordinator that may crash.

use std::collections::VecDeque;

use stateright::{Model, Property};

use super::{Constants, NO_DEADLOCK, can_move};

pub struct ThreePhaseCommit {
    participants: usize,
    /// Do participants tell each other what they know?
    tells: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    participants: Vec<Participant>,
    phase: Phase,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Participant {
    vote: bool,
    prepared: bool,
    commits: bool,
    at: At,
    orders: VecDeque<Order>,
    known: bool,
    /// Whether the coordinator has heard of it, and has sent to it, in this phase.
    heard: bool,
    sent: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    #[default]
    Vote,
    Wait,
    Tell,
    Hear,
    Done,
}

/// What the coordinator does. It has crashed, or done everything, when it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    Votes,
    Prepare,
    Decide,
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    Prepare,
    Commit,
    Abort,
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Hear(usize),
    Send(usize),
    End,
    Vote(usize, bool),
    Obey(usize),
    Tell(usize),
    Learn(usize),
}

impl World {
    fn all(&self, holds: fn(&Participant) -> bool) -> bool {
        self.participants.iter().all(holds)
    }

    fn all_done(&self) -> bool {
        self.all(|p| p.at == At::Done)
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        for p in &mut self.participants {
            (p.heard, p.sent) = (false, false);
        }
    }

    /// Participants are alike, so their order says nothing.
    pub fn representative(&self) -> World {
        let mut sorted = self.clone();
        sorted.participants.sort();
        sorted
    }
}

impl ThreePhaseCommit {
    pub fn new(constants: &Constants) -> ThreePhaseCommit {
        ThreePhaseCommit {
            participants: constants.number("N", 2),
            tells: constants.is("TELLS", true),
        }
    }
}

impl Model for ThreePhaseCommit {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        let participants = vec![Participant::default(); self.participants];
        vec![World { participants, phase: Phase::Votes }]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        let sent_all = world.all(|p| p.sent);
        let told_all = world.all(|p| p.at >= At::Hear);
        for (i, p) in world.participants.iter().enumerate() {
            let answers = match world.phase {
                Phase::Votes => p.at != At::Vote,
                Phase::Prepare => sent_all && p.prepared,
                Phase::Decide | Phase::Gone => false,
            };
            if answers && !p.heard {
                steps.push(Step::Hear(i));
            }
            if matches!(world.phase, Phase::Prepare | Phase::Decide) && !p.sent {
                steps.push(Step::Send(i));
            }
            match p.at {
                At::Vote => steps.extend([Step::Vote(i, false), Step::Vote(i, true)]),
                At::Wait if !p.orders.is_empty() => steps.push(Step::Obey(i)),
                At::Tell => steps.push(Step::Tell(i)),
                At::Hear if told_all => steps.push(Step::Learn(i)),
                At::Wait | At::Hear | At::Done => {}
            }
        }
        if world.phase != Phase::Gone {
            steps.push(Step::End);
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        let all_yes = world.all(|p| p.vote);
        match step {
            Step::Hear(i) => {
                next.participants[i].heard = true;
                if next.all(|p| p.heard) {
                    let prepares = world.phase == Phase::Votes && all_yes;
                    next.enter(if prepares { Phase::Prepare } else { Phase::Decide });
                }
            }
            Step::Send(i) => {
                next.participants[i].sent = true;
                next.participants[i].orders.push_back(match world.phase {
                    Phase::Prepare => Order::Prepare,
                    _ if all_yes => Order::Commit,
                    _ => Order::Abort,
                });
            }
            Step::End => {
                next.enter(Phase::Gone);
                for p in &mut next.participants {
                    p.orders.push_back(Order::Gone);
                }
            }
            Step::Vote(i, yes) => {
                next.participants[i].vote = yes;
                next.participants[i].at = At::Wait;
            }
            Step::Obey(i) => {
                let p = &mut next.participants[i];
                let order = p.orders.pop_front()?;
                if order == Order::Prepare {
                    p.prepared = true;
                } else {
                    p.commits = order == Order::Commit || order == Order::Gone && p.prepared;
                    p.at = if self.tells { At::Tell } else { At::Done };
                }
            }
            Step::Tell(i) => {
                let p = &mut next.participants[i];
                p.known = p.commits || p.prepared;
                p.at = At::Hear;
            }
            Step::Learn(i) => {
                let others = world.participants.iter().enumerate().filter(|&(j, _)| j != i);
                let someone_knows = others.into_iter().any(|(_, p)| p.known);
                next.participants[i].commits |= someone_knows;
                next.participants[i].at = At::Done;
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(NO_DEADLOCK, |model, world: &World| {
                world.all_done() || can_move(model, world)
            }),
            Property::always("all decide the same", |_, world: &World| {
                let first = world.participants[0].commits;
                !world.all_done() || world.participants.iter().all(|p| p.commits == first)
            }),
            Property::always("nobody commits against a no", |_, world: &World| {
                !world.all_done() || world.all(|p| !p.commits || p.vote)
            }),
        ]
    }
}
