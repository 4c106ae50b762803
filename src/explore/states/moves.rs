//! Memoised transitions of processes: each is computed once for each situation.
//!
//! The enabled transitions of a process, and their effects, depend on its own part of the state and
//! on the part that its operation accesses ([`State::scope`](crate::model::State::scope)). These
//! parts are the *situation* of the process. The same situation occurs in many states. So its
//! transitions are executed on the model once, and the change of the packed state is stored as a
//! *move*: a pattern of bits that differ. From then on, to make the move is to flip these bits.
//!
//! The moves are stored in a decision tree: the own part determines which part to look up next, and
//! the code found there determines the moves.
//!
//! ```text
//! own part of P     "at lock(m), i = 2"
//!   m               free:       one move, own part and m change
//!                   held by Q:  one move, own part and m change
//! ```
//!
//! A few operations change a further part: a send that completes a receive changes the receiver.
//! Once that happens, this part is looked up, too. And some transitions depend on more than the
//! state shows, such as the names of new processes: they are executed on the model each time
//! ([`Found::ByTrial`]).

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::packed::Layout;
use crate::model::{Action, Scope};

/// The moves of all processes that are known so far.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    /// Per process, by the code of its own part.
    own: Vec<Vec<Option<Own>>>,
    looks: Vec<Look>,
    /// The answers for codes from [`NEAR`] on, by look and code.
    far: FxHashMap<(u32, u32), Answer>,
    /// For each situation the index of its first move; its moves end where those of the next
    /// situation begin.
    firsts: Vec<u32>,
    moves: Vec<Move>,
    /// For each move: must its target be judged?
    judged: Vec<bool>,
    /// The bits that each move flips.
    flips: Vec<u64>,
    /// The numbers of moves that were executed on the model by trial.
    tried: FxHashMap<(Action, Changes), u32>,
}

/// A process in a local state.
#[derive(Clone, Copy, Debug)]
struct Own {
    may_spin: bool,
    answer: Answer,
}

/// The result of the lookups so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answer {
    #[default]
    Nothing,
    ByTrial,
    Handlers,
    /// The moves of this situation.
    Learned(u32),
    /// It depends on another part: this is the look for it.
    Look(u32),
}

/// An inner node of the decision tree: a part of the state on which moves depend.
#[derive(Debug)]
struct Look {
    place: usize,
    /// The answers for codes below [`NEAR`], by code.
    near: Vec<Answer>,
}

/// Answers for codes below this are in a list, for others in a hash table.
const NEAR: u32 = 256;
/// The most steps for which a process that moves alone is followed.
const MOST_STEPS_ALONE: usize = 16;
/// The most parts that a situation has besides the own part.
const MOST_LOOKS: usize = 4;

/// The known moves of a process in a state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// Nothing yet.
    Nothing,
    /// They have to be executed on the model each time.
    ByTrial {
        /// May they be part of a loop that waits?
        may_spin: bool,
    },
    /// They are handlers of an actor: [`Reactions`](super::reactions::Reactions).
    Handlers {
        /// May they be part of a loop that waits?
        may_spin: bool,
    },
    /// These moves, in the order of choices.
    Moves {
        /// The number of the first, and the number after the last.
        range: (u32, u32),
        /// May they be part of a loop that waits?
        may_spin: bool,
    },
}

/// A move of a process in a situation.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    /// The action that makes it.
    pub(crate) action: Action,
    /// Must the state that it leads to be judged by the driver?
    pub(crate) is_judged: bool,
    /// The parts that it changes.
    pub(crate) changes: Changes,
}

/// The parts that a move changes.
pub(crate) type Changes = SmallVec<[Change; 2]>;

/// A new code at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Change {
    /// The place in the state.
    pub(crate) place: u32,
    /// The code before.
    pub(crate) from: u32,
    /// The code after.
    pub(crate) to: u32,
}

impl Moves {
    /// The known moves of the process with this number, whose own part is at `place` of the packed
    /// state.
    #[inline(always)]
    pub(crate) fn of(
        &self,
        process: usize,
        place: usize,
        packed: &[u64],
        layout: &Layout,
    ) -> Found {
        let code = layout.code(packed, place);
        let own = self.own.get(process).and_then(|known| known.get(code as usize));
        let Some(&Some(Own { may_spin, mut answer })) = own else { return Found::Nothing };
        while let Answer::Look(look) = answer {
            answer = self.seen(look, packed, layout);
        }
        match answer {
            Answer::Nothing | Answer::Look(_) => Found::Nothing,
            Answer::ByTrial => Found::ByTrial { may_spin },
            Answer::Handlers => Found::Handlers { may_spin },
            Answer::Learned(situation) => {
                let situation = situation as usize;
                let range = (self.firsts[situation], self.firsts[situation + 1]);
                Found::Moves { range, may_spin }
            }
        }
    }

    /// The answer for the code that the packed state has at this look.
    #[inline(always)]
    fn seen(&self, look: u32, packed: &[u64], layout: &Layout) -> Answer {
        let Look { place, ref near } = self.looks[look as usize];
        let code = layout.code(packed, place);
        match near.get(code as usize) {
            Some(answer) => *answer,
            None if code < NEAR => Answer::Nothing,
            None => self.far.get(&(look, code)).copied().unwrap_or_default(),
        }
    }

    /// If the process moves alone from this state on, does it reach a move that changes more than
    /// its own part, or a place outside loops that wait? Follows known moves only, for at most
    /// [`MOST_STEPS_ALONE`] steps, and only while there is no choice. False also means unknown.
    pub(crate) fn goes_on(
        &self,
        process: usize,
        place: usize,
        packed: &mut [u64],
        layout: &Layout,
    ) -> bool {
        for steps in 0..MOST_STEPS_ALONE {
            let Found::Moves { range: (from, to), may_spin } =
                self.of(process, place, packed, layout)
            else {
                return false;
            };
            if steps > 0 && (from == to || !may_spin) {
                return true;
            }
            let mut changes = (from..to).flat_map(|number| &self.get(number).changes);
            if changes.any(|change| change.place as usize != place) {
                return true;
            }
            if to - from != 1 {
                return false;
            }
            for &Change { place, from, to } in &self.get(from).changes {
                layout.exchange(packed, place as usize, from, to);
            }
        }
        false
    }

    /// A move by its number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &Move {
        &self.moves[number as usize]
    }

    /// Must the state that a move leads to be judged by the driver?
    #[inline]
    pub(crate) fn is_judged(&self, number: u32) -> bool {
        self.judged[number as usize]
    }

    /// Appends the state that a move leads to from `packed` to `words`.
    #[inline]
    pub(crate) fn lead(&self, number: u32, packed: &[u64], words: &mut Vec<u64>) {
        if let [word] = packed {
            return words.push(word ^ self.flips[number as usize]);
        }
        let from = number as usize * packed.len();
        for (word, flip) in packed.iter().zip(&self.flips[from..from + packed.len()]) {
            words.push(word ^ flip);
        }
    }

    /// The state that a move leads to from `packed`, for states of W words.
    #[inline]
    pub(crate) fn lead_to<const W: usize>(&self, number: u32, packed: &[u64; W]) -> [u64; W] {
        let flips = &self.flips.as_chunks::<W>().0[number as usize];
        std::array::from_fn(|at| packed[at] ^ flips[at])
    }

    /// The number of moves.
    pub(crate) fn len(&self) -> usize {
        self.moves.len()
    }

    /// Makes a move. Returns whether it exists.
    #[cfg(feature = "json")]
    pub(crate) fn apply(&self, number: u32, packed: &mut [u64]) -> bool {
        let is_known = (number as usize) < self.moves.len();
        if is_known {
            // It flips bits.
            self.take_back(number, packed);
        }
        is_known
    }

    /// Undoes a move.
    pub(crate) fn take_back(&self, number: u32, packed: &mut [u64]) {
        let from = number as usize * packed.len();
        let flips = &self.flips[from..from + packed.len()];
        packed.iter_mut().zip(flips).for_each(|(word, flip)| *word ^= flip);
    }

    /// Was [`register`](Moves::register) called for the process with this own code?
    pub(crate) fn is_registered(&self, process: usize, own: u32) -> bool {
        self.own.get(process).is_some_and(|known| matches!(known.get(own as usize), Some(Some(_))))
    }

    /// Registers a process with this own code, and what its moves depend on.
    pub(crate) fn register(&mut self, process: usize, own: u32, scope: Scope, may_spin: bool) {
        let answer = match scope {
            Scope::Own => Answer::Nothing,
            Scope::With(place) => self.look(place),
            Scope::Messages => Answer::Handlers,
            Scope::Anything => Answer::ByTrial,
        };
        if self.own.len() <= process {
            self.own.resize_with(process + 1, Vec::new);
        }
        let known = &mut self.own[process];
        if known.len() <= own as usize {
            known.resize(own as usize + 1, None);
        }
        known[own as usize] = Some(Own { may_spin, answer });
    }

    fn look(&mut self, place: usize) -> Answer {
        self.looks.push(Look { place, near: Vec::new() });
        Answer::Look(self.looks.len() as u32 - 1)
    }

    /// Stores the moves of a registered process in its current situation. If they change a part
    /// that does not belong to the situation yet, this part is added to it instead, and the moves
    /// are to be computed again.
    pub(crate) fn learn(
        &mut self,
        process: usize,
        place: usize,
        moves: &[Move],
        packed: &[u64],
        layout: &Layout,
    ) {
        let code = layout.code(packed, place) as usize;
        let mut answer = self.own[process][code].expect("a process that was met").answer;
        let (mut last, mut looked_at) = (None, SmallVec::<[usize; 4]>::new());
        looked_at.push(place);
        while let Answer::Look(look) = answer {
            looked_at.push(self.looks[look as usize].place);
            last = Some(look);
            answer = self.seen(look, packed, layout);
        }
        let changes = moves.iter().flat_map(|made| &made.changes);
        let mut changed = changes.map(|change| change.place as usize);
        let answer = match changed.find(|place| !looked_at.contains(place)) {
            None => self.add(moves, layout),
            Some(further) if looked_at.len() <= MOST_LOOKS => self.look(further),
            Some(_) => Answer::ByTrial,
        };
        match last {
            None => {
                self.own[process][code].as_mut().expect("a process that was met").answer = answer
            }
            Some(look) => self.note(look, packed, layout, answer),
        }
    }

    /// A number for a move that was executed by trial, so that it can be undone. The move is not
    /// memoised.
    pub(crate) fn number(&mut self, tried: Move, layout: &Layout) -> u32 {
        let next = self.moves.len() as u32;
        let key = (tried.action, tried.changes.clone());
        let number = *self.tried.entry(key).or_insert(next);
        if number == next {
            self.add(&[tried], layout);
        }
        number
    }

    /// Stores the answer for the code that the packed state has at this look.
    fn note(&mut self, look: u32, packed: &[u64], layout: &Layout, answer: Answer) {
        let Look { place, near } = &mut self.looks[look as usize];
        let code = layout.code(packed, *place);
        if code >= NEAR {
            self.far.insert((look, code), answer);
            return;
        }
        if near.len() <= code as usize {
            near.resize(code as usize + 1, Answer::Nothing);
        }
        near[code as usize] = answer;
    }

    /// Stores the moves of a new situation.
    fn add(&mut self, moves: &[Move], layout: &Layout) -> Answer {
        if self.firsts.is_empty() {
            self.firsts.push(0);
        }
        self.moves.extend_from_slice(moves);
        self.judged.extend(moves.iter().map(|made| made.is_judged));
        moves.iter().for_each(|made| add_flips(made, layout, &mut self.flips));
        self.firsts.push(self.moves.len() as u32);
        Answer::Learned(self.firsts.len() as u32 - 2)
    }

    /// Adapts all moves to a new layout of packed states.
    pub(crate) fn lay_out(&mut self, layout: &Layout) {
        self.flips.clear();
        self.moves.iter().for_each(|made| add_flips(made, layout, &mut self.flips));
    }

    /// Approximate number of bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        let own: usize = self.own.iter().map(Vec::capacity).sum();
        let near: usize = self.looks.iter().map(|look| look.near.capacity()).sum();
        own * size_of::<Option<Own>>()
            + near * size_of::<Answer>()
            + self.looks.capacity() * size_of::<Look>()
            + self.far.capacity() * 17
            + self.firsts.capacity() * 4
            + self.moves.capacity() * size_of::<Move>()
            + self.flips.capacity() * 8
            + self.tried.capacity() * size_of::<((Action, Changes), u32)>()
    }
}

fn add_flips(made: &Move, layout: &Layout, flips: &mut Vec<u64>) {
    let from = flips.len();
    flips.resize(from + layout.width(), 0);
    for &Change { place, from: before, to } in &made.changes {
        layout.exchange(&mut flips[from..], place as usize, before, to);
    }
}
