//! The full state graph, when nobody asks for more than what is in it.
//!
//! ```text
//! Explore(s):                     s is new
//!   for each process t, and each move of t in its situation in s:
//!     s' := s with the bits flipped that the move changes
//!     if s' is new: Explore(s')
//! ```
//!
//! This is the search of [`super::depth_first`] without a reduction: it goes through the same
//! states, in the same order, and tells the driver the same. But the model is needed only where
//! something is learned or judged. A state is some words ([`super::packed`]), the moves of each
//! process are looked up ([`super::moves`]), and what leads here is a list of actions. Where the
//! model state is needed ([`FullGraph::model`]), it is undone to where it left that list, and
//! stepped along the rest.
//!
//! **All successors at once.** The successors of a new state are computed and looked for before the
//! first of them is explored. These look-ups do not wait for one another, and most of the time of a
//! search is spent waiting for memory. A successor that was not known then is looked for again in
//! its turn.
//!
//! **Many states at once.** A long search goes on in batches ([`super::batches`]), with several
//! threads if they are wanted.

use std::iter;

use rayon::ThreadPool;
use rustc_hash::FxHashMap;

use super::frontier::Frontier;
use super::known::Known;
use super::moves::{Change, Changes, Found, Move, Moves};
use super::packed::{Codes, Layout, Repacker};
use super::reactions::{CarriedOut, Reactions};
use super::settings::{Stateful, Switch};
use super::views::Views;
use crate::explore::driver::Driver;
use crate::model::{Action, Choice, Locals, Parts, ProcessId, Scope, State, Stimulus, System};
use crate::property::{Watch, may_spin, process_failure};

/// A move that is to be made from a state on the stack.
#[derive(Clone, Copy)]
struct Pending {
    action: Action,
    /// Its number, if it was learned.
    number: u32,
    /// Is it known where it leads?
    is_tried: bool,
    /// Does it lead to something that is to be judged?
    is_judged: bool,
    /// Was the state met that it leads to?
    is_known: bool,
}

/// A search under way.
pub struct FullGraph<'s, S: System> {
    pub(super) locals: Locals<'s, S>,
    /// The model state, perhaps of an earlier time.
    pub(super) state: State,
    /// The actions that lead to the present state, and how many of them the model state has in
    /// common with it.
    pub(super) path: Vec<Action>,
    pub(super) agreed: usize,
    /// The numbers of the moves on the way that was looked for last. The path begins with their
    /// actions, as far as it goes.
    pub(super) way: Vec<u32>,
    parts: Parts,
    portrait: Vec<u32>,
    codes: Codes,
    pub(super) layout: Layout,
    pub(super) known: Known,
    pub(super) moves: Moves,
    pub(super) reactions: Reactions,
    pub(super) views: Views,
    /// How many parts of a state are about objects.
    pub(super) objects: usize,
    /// The present state, packed.
    pub(super) present: Vec<u64>,
    /// The moves to be made from the states on the stack, and the packed states that they lead to;
    /// where that is not known, the state that the move is made from.
    pending: Vec<Pending>,
    ahead: Vec<u64>,
    /// For each state on the stack where its moves start.
    pub(super) stack: Vec<usize>,
    watch: Watch,
    /// What is left to be done in batches; and the states with moves that are to be tried out.
    pub(super) frontier: Frontier,
    pub(super) trials: Frontier,
    /// Is what is new to be left to the batches? Have they begun, and not been given up?
    pub(super) defers: bool,
    pub(super) is_batched: bool,
    /// Is the search to go from state to state? So it is if the parts of a state have no fixed
    /// places, or if actors start others: the names of new processes depend on the way that led to
    /// a state.
    pub(super) is_alone: bool,
    /// What an action has started, by the code of the one that acted.
    started: FxHashMap<(Action, u32), ProcessId>,
    /// The threads that share the work, if there are several.
    pub(super) threads: Option<ThreadPool>,
    /// How often the model was asked what a move does, and how many actions the ways have that were
    /// looked for.
    pub(super) asked: u64,
    pub(super) sought: u64,
    /// Scratch space: a state in which one process moves alone.
    pub(super) alone: Vec<u64>,
    /// Scratch space: codes before and after a move, choices, a view, moves.
    pub(super) before: Vec<u32>,
    after: Vec<u32>,
    pub(super) choices: Vec<Choice>,
    view: Vec<u64>,
    learned: Vec<Move>,
}

impl<'s, S: System> FullGraph<'s, S> {
    /// A search that has met the initial state.
    pub fn new(system: &'s S, settings: Stateful, driver: &mut Driver<'_>) -> Self {
        let mut locals = Locals::new(system);
        if !settings.has(Switch::LiveVariables) {
            locals.keep_dead();
        }
        let state = State::initial(&mut locals);
        let (mut parts, mut portrait, mut codes) = (Parts::default(), Vec::new(), Codes::default());
        let (mut before, mut present) = (Vec::new(), Vec::new());
        state.portrait(&mut locals, &mut parts, &mut portrait);
        codes.encode(&portrait, &mut before);
        let layout = Layout::new(codes.counts());
        layout.pack(&before, &mut present);
        let views = Views::new(&locals, &state, &driver.budget().properties, &before);
        let is_alone = !state.has_scopes(&locals) || system.actors().may_spawn();
        let mut search = FullGraph {
            objects: state.place_of_process(ProcessId(0)),
            locals,
            state,
            path: Vec::new(),
            agreed: 0,
            way: Vec::new(),
            parts,
            portrait,
            codes,
            known: Known::new(&layout),
            layout,
            moves: Moves::default(),
            reactions: Reactions::default(),
            views,
            present,
            pending: Vec::new(),
            ahead: Vec::new(),
            stack: Vec::new(),
            watch: Watch::new(driver.signal().clone()),
            frontier: Frontier::default(),
            trials: Frontier::default(),
            defers: false,
            is_batched: false,
            is_alone,
            started: FxHashMap::default(),
            threads: None,
            asked: 0,
            sought: 0,
            alone: Vec::new(),
            before,
            after: Vec::new(),
            choices: Vec::new(),
            view: Vec::new(),
            learned: Vec::new(),
        };
        driver.leave_out_invariants();
        driver.started(&mut search.locals, &search.state);
        search.known.insert(&search.present, Known::START, &search.layout);
        search
    }

    /// May the search go on in batches? Not if states have many parts.
    fn can_batch(&mut self) -> bool {
        !self.is_alone && self.known.tables().is_some()
    }

    /// Explores what is left to do for the states on the stack; or not all of it, if it takes more
    /// than so many transitions in all, and the rest can be done in batches.
    pub(super) fn go_on(&mut self, driver: &mut Driver<'_>, most: u64) {
        while let Some(&from) = self.stack.last()
            && !driver.is_stopped()
            && !(driver.stats.transitions >= most && self.can_batch())
        {
            match self.pending.len() > from {
                true => self.take(driver),
                false => self.leave(),
            }
        }
    }

    /// Pushes the present state, which is new.
    pub(super) fn enter(&mut self, driver: &mut Driver<'_>) {
        driver.stats.states = Some(self.known.len() as u64);
        driver.expect(self.known.growth());
        let from = self.pending.len();
        self.stack.push(from);
        if !self.views.are_fine(&self.present, &self.layout, &mut self.view) {
            self.judge_views(driver);
        }
        if driver.is_stopped() {
            // What was found on the way here may have left this state without a meaning.
            return;
        }
        let may_wait = self.expand();
        if self.pending.len() == from {
            let (locals, state) = self.model();
            driver.terminal(locals, state);
        } else if !(may_wait && !self.does_some_go_on(from) && self.is_livelock(driver))
            && self.path.len() as u64 >= u64::from(driver.depth_bound())
        {
            let (locals, state) = self.model();
            driver.truncated(locals, state);
            self.ahead.truncate(from * self.layout.width());
            self.pending.truncate(from);
        }
    }

    /// Judges the invariants in the present state.
    pub(super) fn judge_views(&mut self, driver: &mut Driver<'_>) {
        self.model();
        let FullGraph { locals, state, views, present, layout, .. } = self;
        if !views.judge(present, layout, (locals, state)) {
            driver.judge_invariants(locals, state);
        }
    }

    /// Is it known of some process with a pending move, from `from` on, that alone it comes to
    /// change something? Then it does not go round in vain, and the model need not be asked.
    fn does_some_go_on(&mut self, from: usize) -> bool {
        let FullGraph { pending, moves, present, layout, alone, objects, .. } = self;
        let mut last = None;
        pending[from..].iter().any(|next| {
            let process = next.action.process.index();
            let is_other = last.replace(process) != Some(process);
            is_other && {
                alone.clear();
                alone.extend_from_slice(present);
                moves.goes_on(process, *objects + process, alone, layout)
            }
        })
    }

    /// Do all processes that can move go round loops in vain? Then reports it.
    pub(super) fn is_livelock(&mut self, driver: &mut Driver<'_>) -> bool {
        if !self.locals.some_may_return() {
            return false;
        }
        self.model();
        let FullGraph { locals, state, watch, .. } = self;
        driver.is_livelock(watch, locals, state)
    }

    /// Makes the next move of the state on top of the stack, and enters the state that it leads to
    /// if that is new.
    fn take(&mut self, driver: &mut Driver<'_>) {
        let Pending { action, number, is_tried, is_judged, is_known } =
            self.pending.pop().expect("a move");
        let from = self.ahead.len() - self.layout.width();
        if !is_tried {
            return self.try_out(action, driver);
        }
        self.path.push(action);
        match is_judged {
            false => driver.moved_on(self.path.len()),
            true => {
                let (locals, state) = self.model();
                driver.moved(locals, state, action);
            }
        }
        let is_new = !is_known && self.known.insert(&self.ahead[from..], number, &self.layout);
        if is_new {
            self.present.copy_from_slice(&self.ahead[from..]);
        }
        self.ahead.truncate(from);
        match is_new {
            true if self.defers => {
                self.frontier.push(self.path.len(), &self.present);
                self.back();
            }
            true => self.enter(driver),
            false => self.back(),
        }
    }

    /// Pops the state on top of the stack.
    fn leave(&mut self) {
        self.stack.pop();
        self.back();
    }

    /// Takes back the last action, if there is one.
    pub(super) fn back(&mut self) {
        self.path.pop();
        self.agreed = self.agreed.min(self.path.len());
    }

    /// The model state that the present state stands for.
    pub(super) fn model(&mut self) -> (&mut Locals<'s, S>, &mut State) {
        while self.state.depth() > self.agreed {
            self.state.undo(&self.locals);
        }
        for &action in &self.path[self.agreed..] {
            self.state.step(&mut self.locals, action);
        }
        self.agreed = self.path.len();
        (&mut self.locals, &mut self.state)
    }

    /// Appends all moves from the present state, the last one first. May all of them be part of
    /// loops that wait?
    fn expand(&mut self) -> bool {
        let mut may_all_wait = true;
        let mut process = self.layout.places() - self.objects;
        while process > 0 {
            let place = self.objects + process - 1;
            match self.moves.of(process - 1, place, &self.present, &self.layout) {
                Found::Nothing => {
                    self.learn(process - 1);
                    continue;
                }
                Found::ByTrial { may_spin } => {
                    may_all_wait &= !self.look_for(process - 1, false) || may_spin;
                }
                Found::Handlers { may_spin } => {
                    may_all_wait &= !self.look_for(process - 1, true) || may_spin;
                }
                Found::Moves { range: (from, to), may_spin } => {
                    may_all_wait &= from == to || may_spin;
                    (from..to).rev().for_each(|number| self.look_ahead(number));
                }
            }
            process -= 1;
        }
        may_all_wait
    }

    /// Appends a move that was learned.
    fn look_ahead(&mut self, number: u32) {
        let &Move { action, is_judged, .. } = self.moves.get(number);
        let from = self.ahead.len();
        self.moves.lead(number, &self.present, &mut self.ahead);
        let is_known = self.known.contains(&self.ahead[from..], &self.layout);
        self.pending.push(Pending { action, number, is_tried: true, is_judged, is_known });
    }

    /// Learns something about what a process does in its present situation.
    pub(super) fn learn(&mut self, process: usize) {
        let id = ProcessId(process as u32);
        let place = self.objects + process;
        let own = self.layout.code(&self.present, place);
        let is_met = self.moves.has_met(process, own);
        let (locals, state) = self.model();
        if !is_met {
            let (scope, may_spin) = match state.exists(id) {
                true => (state.scope(locals, id), may_spin(locals, state.local(id))),
                false => (Scope::Own, false),
            };
            return self.moves.meet(process, own, scope, may_spin);
        }
        self.layout.unpack(&self.present, &mut self.before);
        self.learned.clear();
        self.list_choices(id);
        for index in 0..self.choices.len() {
            let action = Action { process: id, choice: self.choices[index] };
            let is_judged = self.carry_out(action);
            self.state.undo(&self.locals);
            assert_eq!(
                self.before.len(),
                self.after.len(),
                "only what is tried out starts processes"
            );
            let changes = self.changes();
            self.learned.push(Move { action, is_judged, changes });
        }
        self.asked += 1;
        self.make_room();
        self.moves.learn(process, place, &self.learned, &self.present, &self.layout);
    }

    /// Appends the moves of a process that the model tells. Where those of an actor lead is perhaps
    /// known. Are there any?
    fn look_for(&mut self, process: usize, reacts: bool) -> bool {
        let id = ProcessId(process as u32);
        let own = self.layout.code(&self.present, self.objects + process);
        self.model();
        self.list_choices(id);
        for index in (0..self.choices.len()).rev() {
            let action = Action { process: id, choice: self.choices[index] };
            let FullGraph { state, reactions, present, layout, ahead, .. } = self;
            let from = ahead.len();
            ahead.extend_from_slice(present);
            let reaction = reacts.then(|| reactions.find(id, own, state.stimulus(action.choice)));
            let known = reaction.flatten();
            let led = known.filter(|&number| reactions.lead(number, &mut ahead[from..], layout));
            let next = match led {
                Some(number) => {
                    let is_judged = reactions.is_judged(number);
                    let is_known = self.known.contains(&ahead[from..], layout);
                    Pending { action, number, is_tried: true, is_judged, is_known }
                }
                None => {
                    ahead[from..].copy_from_slice(present);
                    let number = Known::START;
                    Pending { action, number, is_tried: false, is_judged: true, is_known: false }
                }
            };
            self.pending.push(next);
        }
        !self.choices.is_empty()
    }

    /// Makes a move of which it is not known where it leads, and enters the state that it leads to
    /// if that is new. This is done in its turn, because new processes are numbered as they are
    /// met.
    fn try_out(&mut self, action: Action, driver: &mut Driver<'_>) {
        let from = self.ahead.len() - self.layout.width();
        self.layout.unpack(&self.ahead[from..], &mut self.before);
        self.ahead.truncate(from);
        self.model();
        let reacts = self.state.scope(&self.locals, action.process) == Scope::Messages;
        let stimulus = reacts.then(|| self.state.stimulus(action.choice));
        let messages = self.state.inboxes().log().len();
        self.asked += 1;
        let is_judged = self.carry_out(action);
        self.path.push(action);
        self.agreed += 1;
        driver.moved(&mut self.locals, &self.state, action);
        self.arrive();
        let number = match stimulus {
            Some(stimulus) => self.learn_reaction(action.process, stimulus, messages, is_judged),
            None => self.number(action, is_judged),
        };
        match self.known.insert(&self.present, number, &self.layout) {
            true if self.defers => {
                self.frontier.push(self.path.len(), &self.present);
                self.back();
            }
            true => self.enter(driver),
            false => self.back(),
        }
    }

    /// Packs the state that a move has led to which was tried out.
    pub(super) fn arrive(&mut self) {
        self.make_room();
        self.present.clear();
        self.layout.pack(&self.after, &mut self.present);
    }

    /// The number of a move that was tried out and has led to the present state, if it is needed.
    pub(super) fn number(&mut self, action: Action, is_judged: bool) -> u32 {
        if !self.is_batched && !self.can_batch() {
            return Known::START;
        }
        let changes = self.changes();
        self.moves.number(Move { action, is_judged, changes }, &self.layout)
    }

    /// Learns what an actor has just done, which has sent the messages from place `messages` of the
    /// log on. The number of it, if it has one.
    pub(super) fn learn_reaction(
        &mut self,
        process: ProcessId,
        stimulus: Stimulus,
        messages: usize,
        is_judged: bool,
    ) -> u32 {
        let sent = self.state.inboxes().log()[messages..].iter();
        let sent = sent.map(|message| (self.state.place_of_process(message.to), message.content));
        let number = self.reactions.learn(&CarriedOut {
            process,
            place: self.objects + process.index(),
            stimulus,
            codes: (&self.before, &self.after),
            sent: &sent.collect::<Vec<_>>(),
            is_judged,
            has_started: self.state.just_spawned(&self.locals).next().is_some(),
        });
        self.is_alone |= number.is_none();
        number.unwrap_or(Known::START)
    }

    /// What a move has changed. There may be more places after it: they had code 0.
    fn changes(&self) -> Changes {
        let before = self.before.iter().copied().chain(iter::repeat(0));
        let both = (0..).zip(before.zip(self.after.iter().copied()));
        let changed = both.filter(|(_, (from, to))| from != to);
        changed.map(|(place, (from, to))| Change { place, from, to }).collect()
    }

    /// The choices of a process in the model state.
    pub(super) fn list_choices(&mut self, process: ProcessId) {
        let FullGraph { locals, state, choices, .. } = self;
        choices.clear();
        state.choices(locals, process, |choice| choices.push(choice));
    }

    /// Carries an action out on the model. The codes of the state that it leads to are in `after`.
    /// Is something to be judged there?
    pub(super) fn carry_out(&mut self, action: Action) -> bool {
        let FullGraph {
            locals,
            state,
            parts,
            portrait,
            codes,
            after,
            is_alone,
            before,
            objects,
            started,
            views,
            ..
        } = self;
        state.step(locals, action);
        let is_judged = process_failure(locals, state, action.process).is_some()
            || state.is_crowded()
            || state.just_spawned(locals).next().is_some();
        if let Some(child) = state.just_spawned(locals).next() {
            let own = before[*objects + action.process.index()];
            *is_alone |= *started.entry((action, own)).or_insert(child) != child;
        }
        state.portrait(locals, parts, portrait);
        codes.encode(portrait, after);
        views.learn(after, locals, state);
        is_judged
    }

    /// Lays the fields out anew if some code has no room in its field.
    pub(super) fn make_room(&mut self) {
        if self.layout.has_room_for(self.codes.counts()) {
            return;
        }
        let next = Layout::new(self.codes.counts());
        let (again, width) = (Repacker::new(&self.layout, &next), self.layout.width());
        for states in [&mut self.present, &mut self.ahead] {
            *states = again.repack_all(states.chunks_exact(width));
        }
        self.frontier.lay_out(&again, width);
        self.trials.lay_out(&again, width);
        self.known.lay_out(&again, &next, self.threads.as_ref());
        self.moves.lay_out(&next);
        self.layout = next;
    }

    /// Bytes in use for states, and for what is known of their parts.
    pub(super) fn bytes(&self) -> usize {
        let learned = self.moves.bytes() + self.reactions.bytes();
        self.known.bytes()
            + self.frontier.bytes()
            + self.parts.bytes()
            + self.codes.bytes()
            + self.views.bytes()
            + learned
    }
}
