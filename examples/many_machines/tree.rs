//! The recorded tree of a search: into which pieces it can be split, and what they cost.
//!
//! The search is split by its own explorer as finely as is useful, and each piece is searched by
//! itself, which shows what it gives away and when:
//!
//! ```text
//!   piece 0    ├── 1024 transitions ──┼── 1024 ──┼── 310 ──┤
//!                                     └► piece 1 └► piece 2
//! ```
//!
//! A search that splits itself less often also does the work of the pieces that it could have given
//! away: the latest first, as one search would ([`Place`](mazurka::explore::Place)). So one
//! recorded tree stands for all ways to split the search less often.

use std::time::Duration;

use cpu_time::ThreadTime;
use mazurka::explore::crew::Report;
use mazurka::explore::dispatcher::Message;
use mazurka::explore::{
    AnyExplorer, Branch, Budget, NoObserver, Place, Splitter, explore, explore_branch,
};
use mazurka::lang::Program;
use serde::{Deserialize, Serialize};

/// A recorded search. Piece 0 is the one with which it begins.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tree {
    pub pieces: Vec<Piece>,
    pub costs: Costs,
    /// The complete executions that were visited.
    pub traces: u64,
}

/// A recorded piece.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Piece {
    /// The length of the execution with which it begins.
    pub prefix: u32,
    /// The reversals of which it consists ([`Branch::wanted`]).
    pub wanted: u32,
    pub transitions: u32,
    /// The pieces that it gave away, and the number of transitions before each.
    pub given: Vec<(u32, u32)>,
}

/// Measured times of a processor, in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Costs {
    /// A transition.
    pub transition: f64,
    /// What a piece takes besides: its branch is read, and its prefix is replayed.
    pub begin: f64,
    /// To write a branch as text.
    pub write: f64,
    /// To read it, and to check that it is one of the program.
    pub read: f64,
}

impl Tree {
    /// Records the search of a program, split every `grain` transitions.
    pub fn record(program: &Program, explorer: AnyExplorer, grain: u32) -> Tree {
        let mut tree = Tree { pieces: vec![Piece::default()], ..Tree::default() };
        let transition = Tree::transition_time(program, explorer);
        let (start, mut samples) = (ThreadTime::now(), Samples::default());
        let mut open = vec![(0, Branch::default())];
        while let Some((id, branch)) = open.pop() {
            let mut splitter = Recorder { grain, step: 0, has_more: false, given: Vec::new() };
            let budget = Budget { all: true, ..Budget::default() };
            let splits = &mut splitter;
            let found = explore_branch(program, explorer, &branch, splits, budget, &mut NoObserver);
            assert!(found.is_complete(), "a piece ended with {:?}", found.stopped_by);
            tree.traces += found.stats.traces;
            let transitions = u32::try_from(found.stats.transitions).expect("a small piece");
            let mut given = Vec::new();
            for (step, branch) in splitter.given {
                let child = tree.pieces.len() as u32;
                samples.add(child, &branch, program);
                let (prefix, wanted) = (branch.prefix.len() as u32, branch.wanted.len() as u32);
                tree.pieces.push(Piece { prefix, wanted, ..Piece::default() });
                given.push((step.min(transitions), child));
                open.push((child, branch));
            }
            let piece = &mut tree.pieces[id as usize];
            (piece.transitions, piece.given) = (transitions, given);
        }
        let rest = start.elapsed().as_secs_f64() - tree.transitions() as f64 * transition;
        let begin = rest.max(0.0) / tree.pieces.len() as f64;
        tree.costs = Costs { transition, begin, ..samples.costs() };
        tree
    }

    /// The seconds that a transition takes, measured at the beginning of the search.
    pub fn transition_time(program: &Program, explorer: AnyExplorer) -> f64 {
        let start = ThreadTime::now();
        let budget = Budget { all: true, max_traces: Some(100_000), ..Budget::default() };
        let found = explore(program, explorer, budget, &mut NoObserver);
        start.elapsed().as_secs_f64() / found.stats.transitions as f64
    }

    /// The transitions of all pieces.
    pub fn transitions(&self) -> u64 {
        self.pieces.iter().map(|piece| u64::from(piece.transitions)).sum()
    }

    /// A tree that begins with this one several times over.
    pub fn times(&self, copies: u32) -> Tree {
        let size = self.pieces.len() as u32;
        let given = (0..copies).map(|copy| (0, 1 + copy * size)).collect();
        let mut pieces = vec![Piece { given, ..Piece::default() }];
        for copy in 0..copies {
            pieces.extend(self.pieces.iter().cloned().map(|mut piece| {
                piece.given.iter_mut().for_each(|(_, child)| *child += 1 + copy * size);
                piece
            }));
        }
        Tree { pieces, traces: self.traces * u64::from(copies), ..*self }
    }
}

/// Takes all open work every `grain` steps.
struct Recorder {
    grain: u32,
    step: u32,
    /// Has it taken a branch after the last step?
    has_more: bool,
    given: Vec<(u32, Branch)>,
}

impl Splitter for Recorder {
    fn wants_branch(&mut self) -> bool {
        self.step += 1;
        std::mem::take(&mut self.has_more) || self.step.is_multiple_of(self.grain)
    }

    fn take(&mut self, branch: Branch) {
        self.has_more = true;
        self.given.push((self.step, branch));
    }
}

/// What it takes to send branches, measured on some of them.
#[derive(Default)]
struct Samples {
    count: u32,
    write: Duration,
    read: Duration,
}

impl Samples {
    /// One branch in so many is measured.
    const INTERVAL: u32 = 64;

    fn add(&mut self, id: u32, branch: &Branch, program: &Program) {
        if id % Self::INTERVAL != 1 {
            return;
        }
        let message = Report::Given(Place::default().given(id), branch.clone(), 0);
        let message = Message::Report(Box::new(message));
        let start = ThreadTime::now();
        let text = serde_json::to_vec(&message).expect("messages can be written");
        let written = ThreadTime::now();
        let read: Message = serde_json::from_slice(&text).expect("and read");
        assert!(matches!(read, Message::Report(_)) && branch.refusal(program).is_none());
        self.count += 1;
        self.write += written.duration_since(start);
        self.read += written.elapsed();
    }

    fn costs(&self) -> Costs {
        let mean = |time: Duration| time.as_secs_f64() / f64::from(self.count.max(1));
        Costs { write: mean(self.write), read: mean(self.read), ..Costs::default() }
    }
}
