//! The full state graph by memoised transitions, for searches without a reduction.
//!
//! ```text
//! Explore(s):                     s is new
//!   for each process t, and each move of t in its situation in s:
//!     s' := s with the bits flipped that the move changes
//!     if s' is new: Explore(s')
//! ```
//!
//! This is the search of [`super::depth_first`] without a reduction: it visits the same states in
//! the same order, and reports the same to the driver. But the model is needed only to learn moves
//! and to judge states. A state is a few words ([`super::packed`]), the moves of each process are
//! looked up ([`super::moves`]), and the current path is a list of actions. When the model state is
//! needed ([`FullGraph::model`]), it goes back to the last state that it shares with this path, and
//! executes the rest.
//!
//! **All successors at once.** The successors of a new state are computed and looked up before the
//! first of them is explored. These lookups do not wait for one another, and a search spends most
//! of its time waiting for memory. A successor that was not known then is looked up again in its
//! turn.
//!
//! **Many states at once.** A long search continues in batches ([`super::batches`]), with several
//! threads if asked for.

use std::iter;

use rustc_hash::FxHashMap;

use super::frontier::Frontier;
use super::known::Known;
use super::moves::{Change, Changes, Found, Move, Moves};
use super::packed::{Codes, Layout, Repacker};
use super::pool::Pool;
use super::reactions::{CarriedOut, Reactions};
use super::settings::{Stateful, Switch};
use super::views::Views;
#[cfg(feature = "json")]
use super::visits::Log;
use crate::explore::driver::Driver;
use crate::explore::news::{Led, News, is_there};
use crate::model::{Action, Choice, Locals, Parts, ProcessId, Scope, State, Stimulus, System};
use crate::property::{Watch, may_spin, process_failure};

/// A move that has to be made from a state on the stack.
#[derive(Clone, Copy)]
pub(super) struct Pending {
    pub(super) action: Action,
    /// Its number, if it is memoised.
    number: u32,
    /// Is its target known?
    is_tried: bool,
    /// Must its target be judged by the driver?
    is_judged: bool,
    /// Was its target found in the set of known states?
    is_known: bool,
}

/// A running search.
pub(crate) struct FullGraph<'s, S: System> {
    pub(super) locals: Locals<'s, S>,
    /// The model state, which may lag behind the current state.
    pub(super) state: State,
    /// The actions that lead to the current state, and the number of them that the model state has
    /// executed.
    pub(super) path: Vec<Action>,
    pub(super) agreed: usize,
    /// The numbers of the moves of the path that was reconstructed last. As far as `path` goes, it
    /// begins with their actions.
    pub(super) way: Vec<u32>,
    parts: Parts,
    portrait: Vec<u32>,
    codes: Codes,
    pub(super) layout: Layout,
    pub(super) known: Known,
    pub(super) moves: Moves,
    pub(super) reactions: Reactions,
    pub(super) views: Views,
    /// The number of places of a state that belong to objects.
    pub(super) objects: usize,
    /// The current state, packed.
    pub(super) present: Vec<u64>,
    /// The moves that have to be made from the states on the stack, and their targets, packed; the
    /// source of the move where the target is not known.
    pub(super) pending: Vec<Pending>,
    ahead: Vec<u64>,
    /// For each state on the stack, the start of its moves in `pending`.
    pub(super) stack: Vec<usize>,
    pub(super) watch: Watch,
    /// The open states of batches; and the states with moves that have to be executed on the model.
    pub(super) frontier: Frontier,
    pub(super) trials: Frontier,
    /// `defers`: are new states left to the batches? `is_batched`: is the search in batches now?
    pub(super) defers: bool,
    pub(super) is_batched: bool,
    /// Must the search go from state to state? It must if the parts of a state have no fixed
    /// places, or if actors start others: the names of new processes depend on how many there are.
    pub(super) is_one_by_one: bool,
    /// The process that an action has started, by the action and the code of the acting process.
    started: FxHashMap<(Action, u32), ProcessId>,
    /// The codes of the initial state.
    #[cfg(feature = "json")]
    pub(super) root: Vec<u32>,
    /// What batches have asked the model, if the search is saved.
    #[cfg(feature = "json")]
    pub(super) log: Option<Log>,
    /// What the transitions from state to state have led to, if the search is saved; and what was
    /// saved when it fell back from batches to one state at a time.
    pub(super) news: Option<News>,
    #[cfg(feature = "json")]
    pub(super) before_news: Option<Vec<u8>>,
    /// The number of transitions after which the search may continue in batches.
    pub(super) most: u64,
    /// The threads, if there are several.
    pub(super) threads: Option<Pool>,
    /// The number of queries to the model for the effect of a move; and the number of actions in
    /// all paths that were reconstructed.
    pub(super) queries: u64,
    pub(super) replayed: u64,
    /// Scratch space: a state, for example while one process moves alone.
    pub(super) alone: Vec<u64>,
    /// Scratch space: the codes before and after a move, choices, a view, moves.
    pub(super) before: Vec<u32>,
    after: Vec<u32>,
    pub(super) choices: Vec<Choice>,
    view: Vec<u64>,
    learned: Vec<Move>,
}

impl<'s, S: System> FullGraph<'s, S> {
    /// A search in the initial state.
    pub(crate) fn new(system: &'s S, settings: Stateful, driver: &mut Driver<'_>) -> Self {
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
        let is_one_by_one = !locals.objects().has_fixed_parts() || system.actors().may_spawn();
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
            is_one_by_one,
            started: FxHashMap::default(),
            #[cfg(feature = "json")]
            root: before.clone(),
            #[cfg(feature = "json")]
            log: None,
            news: None,
            #[cfg(feature = "json")]
            before_news: None,
            most: 0,
            threads: None,
            queries: 0,
            replayed: 0,
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

    /// Can the search continue in batches? Not if states are stored as trees.
    fn can_batch(&mut self) -> bool {
        !self.is_one_by_one && self.known.tables().is_some()
    }

    /// Explores everything from the states on the stack. Ends early when the search has made `most`
    /// transitions in all and can continue in batches; or, if it goes again, where it was.
    pub(super) fn go_on(&mut self, driver: &mut Driver<'_>, most: u64) {
        while let Some(&from) = self.stack.last()
            && !driver.is_stopped()
            && !(driver.stats.transitions >= most && self.can_batch())
            && !is_there(self.news.as_ref())
        {
            self.save_one_by_one(driver);
            if self.pending.len() > from {
                self.take(driver);
            } else {
                self.leave();
                driver.has_left(self.stack.len());
            }
        }
    }

    /// Pushes the current state, which is new.
    pub(super) fn enter(&mut self, driver: &mut Driver<'_>) {
        driver.stats.states = Some(self.known.len() as u64);
        driver.expect(self.known.growth());
        let from = self.pending.len();
        self.stack.push(from);
        if !self.views.are_fine(&self.present, &self.layout, &mut self.view) {
            self.judge_views(driver);
        }
        if driver.is_stopped() {
            // A violation on the step to this state may have left the state without a meaning.
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

    /// Makes the next move of the state on top of the stack, and enters its target if that is new.
    fn take(&mut self, driver: &mut Driver<'_>) {
        let Pending { action, number, is_tried, is_judged, is_known } =
            self.pending.pop().expect("a move");
        let from = self.ahead.len() - self.layout.width();
        let foretold = self.news.as_mut().and_then(News::foretold);
        if foretold == Some(Led::Known) {
            self.queries += u64::from(!is_tried);
            self.ahead.truncate(from);
            return driver.moved_on(self.path.len() + 1);
        }
        if !is_tried {
            return self.try_out(action, foretold, driver);
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
        self.note_news(foretold, if is_new { Led::New } else { Led::Known });
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

    pub(super) fn note_news(&mut self, foretold: Option<Led>, led: Led) {
        if let Some(news) = &mut self.news {
            news.note(foretold, led);
        }
    }

    /// What a move on the model may change, if it is no reaction: how much has a number, and what
    /// is known of processes that are started.
    fn told(&self) -> (u64, usize, usize, bool) {
        let codes = self.codes.counts().map(u64::from).sum();
        (codes, self.moves.len(), self.started.len(), self.is_one_by_one)
    }

    /// Pops the state on top of the stack.
    fn leave(&mut self) {
        self.stack.pop();
        self.back();
    }

    /// Removes the last action of the path, if there is one.
    pub(super) fn back(&mut self) {
        self.path.pop();
        self.agreed = self.agreed.min(self.path.len());
    }

    /// Brings the model to the current state, and returns it.
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

    /// Appends all moves from the current state, the last one first. Returns whether all of them
    /// may belong to loops that wait.
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

    /// Appends a memoised move.
    fn look_ahead(&mut self, number: u32) {
        let &Move { action, is_judged, .. } = self.moves.get(number);
        let from = self.ahead.len();
        self.moves.lead(number, &self.present, &mut self.ahead);
        let is_known = !self.goes_again() && self.known.contains(&self.ahead[from..], &self.layout);
        self.pending.push(Pending { action, number, is_tried: true, is_judged, is_known });
    }

    /// Does the search go again through what it has noted? Then nothing need be looked up before
    /// its turn.
    fn goes_again(&self) -> bool {
        self.news.as_ref().is_some_and(News::goes_again)
    }

    /// Learns the moves of a process in its current situation, or what they depend on. May have to
    /// be called several times.
    pub(super) fn learn(&mut self, process: usize) {
        let id = ProcessId(process as u32);
        let place = self.objects + process;
        let own = self.layout.code(&self.present, place);
        let is_registered = self.moves.is_registered(process, own);
        let (locals, state) = self.model();
        if !is_registered {
            let (scope, may_spin) = match state.exists(id) {
                true => (state.scope(locals, id), may_spin(locals, state.local(id))),
                false => (Scope::Own, false),
            };
            return self.moves.register(process, own, scope, may_spin);
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
        self.queries += 1;
        self.make_room();
        self.moves.learn(process, place, &self.learned, &self.present, &self.layout);
    }

    /// Appends the moves of a process that are listed by the model. If `reacts`, it is an actor,
    /// whose reactions may be memoised. Returns whether there are any moves.
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

    /// Executes a move with unknown target on the model, and enters its target if that is new. This
    /// is done only in its turn, because new processes are numbered in the order of their creation.
    fn try_out(&mut self, action: Action, foretold: Option<Led>, driver: &mut Driver<'_>) {
        let from = self.ahead.len() - self.layout.width();
        self.layout.unpack(&self.ahead[from..], &mut self.before);
        self.ahead.truncate(from);
        self.model();
        let reacts = self.state.scope(&self.locals, action.process) == Scope::Messages;
        let stimulus = reacts.then(|| self.state.stimulus(action.choice));
        let messages = self.state.inboxes().log().len();
        self.queries += 1;
        let told = (self.news.is_some() && stimulus.is_none()).then(|| self.told());
        let is_judged = self.carry_out(action);
        self.path.push(action);
        self.agreed += 1;
        driver.moved(&mut self.locals, &self.state, action);
        self.arrive();
        let number = match stimulus {
            Some(stimulus) => self.learn_reaction(action.process, stimulus, messages, is_judged),
            None => self.number(action, is_judged),
        };
        let is_new = self.known.insert(&self.present, number, &self.layout);
        let led = match is_new {
            true => Led::New,
            // A reaction may tell how a queue changes.
            false if told.is_none_or(|before| before != self.told()) => Led::Told,
            false => Led::Known,
        };
        self.note_news(foretold, led);
        match is_new {
            true if self.defers => {
                self.frontier.push(self.path.len(), &self.present);
                self.back();
            }
            true => self.enter(driver),
            false => self.back(),
        }
    }

    /// Packs the state after a move that was executed on the model; it becomes the current state.
    pub(super) fn arrive(&mut self) {
        self.make_room();
        self.present.clear();
        self.layout.pack(&self.after, &mut self.present);
    }

    /// A number for a move that was executed on the model and has led to the current state;
    /// [`Known::START`] if no number is needed.
    pub(super) fn number(&mut self, action: Action, is_judged: bool) -> u32 {
        if !self.is_batched && !self.can_batch() {
            return Known::START;
        }
        let changes = self.changes();
        self.moves.number(Move { action, is_judged, changes }, &self.layout)
    }

    /// Memoises the reaction that an actor has just executed. It has sent the messages of the log
    /// from index `messages` on. Returns its number, or [`Known::START`] if it has none.
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
        self.is_one_by_one |= number.is_none();
        number.unwrap_or(Known::START)
    }

    /// The difference between `before` and `after`. Places that are missing in `before` had code 0.
    fn changes(&self) -> Changes {
        let before = self.before.iter().copied().chain(iter::repeat(0));
        let both = (0..).zip(before.zip(self.after.iter().copied()));
        let changed = both.filter(|(_, (from, to))| from != to);
        changed.map(|(place, (from, to))| Change { place, from, to }).collect()
    }

    /// Lists the choices of a process in the model state.
    pub(super) fn list_choices(&mut self, process: ProcessId) {
        let FullGraph { locals, state, choices, .. } = self;
        choices.clear();
        state.choices(locals, process, |choice| choices.push(choice));
    }

    /// Executes an action on the model, and writes the codes of its target to `after`. Returns
    /// whether the target must be judged by the driver.
    pub(super) fn carry_out(&mut self, action: Action) -> bool {
        let FullGraph {
            locals,
            state,
            parts,
            portrait,
            codes,
            after,
            is_one_by_one,
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
            *is_one_by_one |= *started.entry((action, own)).or_insert(child) != child;
        }
        state.portrait(locals, parts, portrait);
        codes.encode(portrait, after);
        views.learn(after, locals, state);
        is_judged
    }

    /// Changes the layout, if some code has no room in its field.
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

    /// For each place of a state, the number of its codes.
    #[cfg(feature = "json")]
    pub(super) fn codes_by_place(&self) -> impl Iterator<Item = u32> {
        self.codes.counts()
    }

    /// Bytes in use for states, dictionaries and memoised transitions.
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
