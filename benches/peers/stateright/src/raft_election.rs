//! The election of Raft.

use std::collections::BTreeSet;

use stateright::{Model, Property};

use super::Constants;

pub struct RaftElection {
    nodes: usize,
    candidates: usize,
    crashes: u8,
    lost: u8,
    persists: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct World {
    /// The nodes; the candidates first.
    nodes: Vec<Node>,
    candidates: usize,
    /// No message is sent twice, so it is a set.
    network: BTreeSet<Message>,
    lost: u8,
    crashes: u8,
}

/// A crash keeps the term, the vote and the number of elections to come.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    term: u8,
    voted: Option<usize>,
    elections: u8,
    votes: BTreeSet<usize>,
    leads: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    kind: Kind,
    term: u8,
    from: usize,
    to: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Ask,
    Vote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Timeout(usize),
    Crash(usize),
    Receive(Message),
    Lose(Message),
}

impl World {
    /// The least of the states that differ in the names of candidates, or of other nodes.
    pub fn representative(&self) -> World {
        let others = permutations(self.candidates..self.nodes.len());
        let names = permutations(0..self.candidates)
            .into_iter()
            .flat_map(|first| others.iter().map(move |second| [&first[..], second].concat()));
        names.map(|names| self.renamed(&names)).min().expect("one that changes nothing")
    }

    fn renamed(&self, names: &[usize]) -> World {
        let mut world = self.clone();
        for (i, node) in self.nodes.iter().enumerate() {
            world.nodes[names[i]] = Node {
                voted: node.voted.map(|j| names[j]),
                votes: node.votes.iter().map(|&j| names[j]).collect(),
                ..node.clone()
            };
        }
        let renamed = |m: &Message| Message { from: names[m.from], to: names[m.to], ..*m };
        world.network = self.network.iter().map(renamed).collect();
        world
    }
}

fn permutations(range: std::ops::Range<usize>) -> Vec<Vec<usize>> {
    range.clone().fold(vec![vec![]], |shorter, _| {
        let longer = |one: &Vec<usize>| {
            let (one, range) = (one.clone(), range.clone());
            range.filter(move |i| !one.contains(i)).collect::<Vec<_>>()
        };
        shorter
            .iter()
            .flat_map(|one| longer(one).into_iter().map(|i| [&one[..], &[i]].concat()))
            .collect()
    })
}

impl RaftElection {
    pub fn new(constants: &Constants) -> RaftElection {
        RaftElection {
            nodes: constants.number("N", 3),
            candidates: constants.number("CANDIDATES", 2),
            crashes: constants.number("CRASHES", 1),
            lost: constants.number("LOST", 0),
            persists: constants.is("PERSISTS", true),
        }
    }

    fn receive(&self, next: &mut World, message: Message) {
        next.network.remove(&message);
        let node = &mut next.nodes[message.to];
        if message.term > node.term {
            let (term, elections) = (message.term, node.elections);
            *node = Node { term, elections, ..Node::default() };
        }
        if message.term < node.term {
            return;
        }
        match message.kind {
            Kind::Ask => {
                if node.voted.is_none_or(|voted| voted == message.from) {
                    node.voted = Some(message.from);
                    let (from, to) = (message.to, message.from);
                    next.network.insert(Message { kind: Kind::Vote, from, to, ..message });
                }
            }
            Kind::Vote => {
                node.votes.insert(message.from);
                if 2 * node.votes.len() > self.nodes {
                    node.leads = node.term;
                }
            }
        }
    }
}

impl Model for RaftElection {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        let node = |i| Node { elections: u8::from(i < self.candidates), ..Node::default() };
        vec![World {
            nodes: (0..self.nodes).map(node).collect(),
            candidates: self.candidates,
            network: BTreeSet::new(),
            lost: 0,
            crashes: 0,
        }]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        for (i, node) in world.nodes.iter().enumerate() {
            if node.elections > 0 {
                steps.push(Step::Timeout(i));
            }
            if world.crashes < self.crashes {
                steps.push(Step::Crash(i));
            }
        }
        for &message in &world.network {
            steps.push(Step::Receive(message));
            if world.lost < self.lost {
                steps.push(Step::Lose(message));
            }
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        match step {
            Step::Timeout(i) => {
                let node = &mut next.nodes[i];
                node.elections -= 1;
                node.term += 1;
                node.voted = Some(i);
                node.votes = BTreeSet::from([i]);
                node.leads = 0;
                let term = node.term;
                let ask = |to| Message { kind: Kind::Ask, term, from: i, to };
                next.network.extend((0..self.nodes).filter(|&to| to != i).map(ask));
            }
            // It starts again.
            Step::Crash(i) => {
                next.crashes += 1;
                let node = &mut next.nodes[i];
                node.votes.clear();
                node.leads = 0;
                if !self.persists {
                    node.voted = None;
                }
            }
            Step::Receive(message) => self.receive(&mut next, message),
            Step::Lose(message) => {
                next.lost += 1;
                next.network.remove(&message);
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("one leader in a term", |_, world: &World| {
            let mut terms = BTreeSet::new();
            world.nodes.iter().all(|node| node.leads == 0 || terms.insert(node.leads))
        })]
    }
}
