//! Two-phase commit with a coordinator that may crash.

use stateright::{Model, Property};

use super::{Constants, NO_DEADLOCK, can_move};

pub struct TwoPhaseCommit {
    participants: usize,
    crashes: u8,
    gives_up: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    participants: Vec<Participant>,
    crashes: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Participant {
    vote: Option<bool>,
    commits: Option<bool>,
    /// Does the coordinator have the vote?
    heard: bool,
    /// Is the decision under way?
    told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Vote(usize, bool),
    Hear(usize),
    Tell(usize),
    Crash,
    Decide(usize),
    GiveUp(usize),
}

impl World {
    fn all(&self, holds: fn(&Participant) -> bool) -> bool {
        self.participants.iter().all(holds)
    }

    fn all_decided(&self) -> bool {
        self.all(|p| p.commits.is_some())
    }

    /// Participants are alike, so their order says nothing.
    pub fn representative(&self) -> World {
        let mut sorted = self.clone();
        sorted.participants.sort();
        sorted
    }
}

impl TwoPhaseCommit {
    pub fn new(constants: &Constants) -> TwoPhaseCommit {
        TwoPhaseCommit {
            participants: constants.number("N", 2),
            crashes: constants.number("CRASHES", 1),
            gives_up: constants.is("GIVES_UP", false),
        }
    }
}

impl Model for TwoPhaseCommit {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        let participants = vec![Participant::default(); self.participants];
        vec![World { participants, crashes: 0 }]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        let runs = world.crashes == 0;
        let heard_all = world.all(|p| p.heard);
        for (i, p) in world.participants.iter().enumerate() {
            if p.vote.is_none() {
                steps.extend([Step::Vote(i, false), Step::Vote(i, true)]);
            }
            if runs && p.vote.is_some() && !p.heard {
                steps.push(Step::Hear(i));
            }
            if runs && heard_all && !p.told {
                steps.push(Step::Tell(i));
            }
            if p.vote == Some(true) && p.commits.is_none() {
                if p.told {
                    steps.push(Step::Decide(i));
                }
                if self.gives_up {
                    steps.push(Step::GiveUp(i));
                }
            }
        }
        if world.crashes < self.crashes && !world.all(|p| p.told) {
            steps.push(Step::Crash);
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        match step {
            Step::Vote(i, yes) => {
                next.participants[i].vote = Some(yes);
                if !yes {
                    next.participants[i].commits = Some(false);
                }
            }
            Step::Hear(i) => next.participants[i].heard = true,
            Step::Tell(i) => next.participants[i].told = true,
            Step::Crash => next.crashes += 1,
            Step::Decide(i) => {
                next.participants[i].commits = Some(world.all(|p| p.vote == Some(true)));
            }
            Step::GiveUp(i) => next.participants[i].commits = Some(false),
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(NO_DEADLOCK, |model, world: &World| {
                world.all_decided() || can_move(model, world)
            }),
            Property::always("all decide the same", |_, world: &World| {
                let first = world.participants[0].commits;
                !world.all_decided() || world.participants.iter().all(|p| p.commits == first)
            }),
        ]
    }
}
