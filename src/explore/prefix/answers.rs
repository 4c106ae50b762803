//! What a complete prefix says about deadlocks, ends, invariants and livelocks.
//!
//! Each is a [`Question`]: is there a configuration without cutoffs of this kind? The answer is
//! carried out on the model and judged by the driver, as by every explorer. Then everything that
//! looks the same is excluded, and the question is asked again.
//!
//! | question | configurations | look the same if |
//! |---|---|---|
//! | deadlock | nothing is enabled but what may be delayed for ever, some process has not ended | the processes that have not ended are at the same places |
//! | end | nothing is enabled, all processes have ended, or are daemons | `final` sees the same |
//! | leak | the same, no process has failed | each object that may keep a request has a code that was seen before, left there by a process at the same place, and each process that says something of itself |
//! | property of a user | the same | as for leaks, and each event was seen before |
//! | livelock | nothing is enabled but the moves of processes that may be in loops that wait, and what may be delayed for ever | all processes are at the same places, and what such loops look at and `final` reads has the same codes |
//! | invariant | any | the invariant sees the same |
//!
//! **What can be blocked at all.** A process that is blocked on a lock is blocked by somebody: one
//! who has the lock and has ended, or is blocked, too; or, in a livelock, goes round a loop. This
//! is looked at first, for codes instead of conditions (greatest fixpoint,
//! [`Answers::find_motions`]). In most programs without deadlocks, nothing is left, and the solver
//! is not asked.

use rustc_hash::{FxHashMap, FxHashSet};

use super::fewest::Counting;
use super::net::ModelNet;
use super::question::{Question, cut};
use super::transitions::Delay;
use crate::alternatives::Literal;
use crate::explore::driver::Driver;
use crate::explore::result::StopReason;
use crate::model::{CellId, LocalId, MailboxId, Object, Op, Piece, System};
use crate::property::{Deadlocks, Invariants, Livelocks, Watch, may_spin};
use crate::unfolding::prefix::{Code, Condition, Line, Prefix, PrefixEvent};

/// The most states in which processes may be in loops that wait, and that are judged one by one.
const MOST_ROUNDS: usize = 1_000;

/// What a process may be doing at a condition of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Motion {
    /// It does not exist, or has ended.
    Ended,
    /// It may be blocked.
    Blocked,
    /// It can move.
    Moves,
}

/// Whether actions that may be delayed for ever ([`Delay`]) are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delayed {
    No,
    MayBe,
}

/// Which of the configurations is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Any,
    /// One that contains no other one.
    Least,
    /// One with the fewest steps, if they can be counted.
    Shortest,
}

/// What is asked of a complete prefix.
pub struct Answers<'v, 's, 'o, S: System> {
    pub(super) net: &'v mut ModelNet<'s, S>,
    pub(super) prefix: &'v Prefix,
    pub(super) driver: &'v mut Driver<'o>,
    /// What a process may be doing, by its line and code.
    motions: FxHashMap<Place, Motion>,
    /// The number of queries to the solver.
    pub asked: u64,
    /// Has each deadlock the fewest steps of those that were still to be found?
    are_shortest: bool,
}

/// A line with a code.
pub(super) type Place = (Line, Code);

/// The groups of codes of a line that look the same.
pub(super) type Groups = (Line, FxHashMap<Code, u32>);

impl<'v, 's, 'o, S: System> Answers<'v, 's, 'o, S> {
    /// Asks a complete prefix. Returns the number of queries to the solver.
    pub fn find(
        net: &'v mut ModelNet<'s, S>,
        prefix: &'v Prefix,
        driver: &'v mut Driver<'o>,
    ) -> u64 {
        let motions = FxHashMap::default();
        let mut answers = Answers { net, prefix, driver, motions, asked: 0, are_shortest: false };
        answers.find_motions(|_| false);
        let steps = [
            Self::deadlocks,
            Self::invariants,
            Self::ends,
            Self::own_ends,
            Self::leaks,
            Self::livelocks,
        ];
        for step in steps {
            answers.pass();
            if !answers.driver.is_stopped() {
                step(&mut answers);
            }
        }
        answers.asked
    }

    /// Saves the search, if that is due.
    pub(super) fn pass(&mut self) {
        self.net.kept.pass(false, self.driver);
    }

    /// The question for all configurations.
    fn anything(&self) -> Question<'v> {
        let (signal, replies) = (self.driver.signal().clone(), self.net.kept.replies.clone());
        Question::new(self.prefix, signal, replies)
    }

    pub(super) fn local(&self, condition: Condition) -> Option<LocalId> {
        self.net.local(self.prefix.line(condition), self.prefix.code(condition))
    }

    fn motion(&self, condition: Condition) -> Motion {
        self.motions[&self.place(condition)]
    }

    pub(super) fn place(&self, condition: Condition) -> Place {
        (self.prefix.line(condition), self.prefix.code(condition))
    }

    /// The number of actions of a process up to a condition, if nothing can move then.
    fn steps(&self, condition: Condition) -> usize {
        let (line, code) = self.place(condition);
        let made = std::iter::successors(Some(condition), |&one| self.prefix.replaced(one));
        let own = made
            .map(|one| self.prefix.maker(one))
            .filter(|&event| event != 0 && self.prefix.event(event).line == line);
        let actions = |event| self.net.step(self.prefix.event(event).transition).actions();
        own.map(actions).sum::<usize>() + usize::from(self.net.queues(line, code))
    }

    /// May a process that is blocked at this condition be so at the end of an execution to which
    /// nothing objects?
    fn may_wait(&self, condition: Condition) -> bool {
        let Some(local) = self.local(condition) else { return true };
        let properties = &self.driver.budget().properties;
        let is_actor = matches!(self.net.locals.op(local), None | Some(Op::Handle { .. }));
        self.net.locals.is_daemon(local)
            || self.net.locals.excuses(local)
            || is_actor && properties.allow_pending_messages()
            || !properties.contain::<Deadlocks>() && !properties.contain::<Livelocks>()
    }

    /// May a process be at this condition at an end to which nothing objects?
    pub(super) fn may_be_at_end(&self, condition: Condition) -> bool {
        match self.motion(condition) {
            Motion::Ended => true,
            Motion::Blocked => self.may_wait(condition),
            Motion::Moves => false,
        }
    }

    /// The conditions of the processes.
    pub(super) fn places(&self) -> impl Iterator<Item = Condition> + use<S> {
        let prefix = self.prefix;
        let all: Vec<Condition> =
            prefix.conditions().filter(|&one| prefix.is_process(prefix.line(one))).collect();
        all.into_iter()
    }

    /// Computes what a process may be doing in a configuration in which nothing is enabled but the
    /// moves of processes that are at a place where it `spins`. It may be blocked there at the
    /// codes of the greatest set such that whatever blocks a process is there from the start, or
    /// was left there by a process that has ended, or spins, or is in this set; and if it is a
    /// process, it has ended itself, or spins, or is in this set.
    ///
    /// The last change of a line o before such a configuration was made by some process q. Then q
    /// is at a condition in whose past o has not been changed by another one since. So it is enough
    /// to look at the cut of each local configuration.
    fn find_motions(&mut self, spins: impl Fn(&Place) -> bool) {
        self.motions.clear();
        let mut open: FxHashMap<Place, Vec<Vec<Place>>> = FxHashMap::default();
        for condition in self.places() {
            let place @ (line, code) = self.place(condition);
            if self.motions.contains_key(&place) {
                continue;
            }
            let rests = self.net.rests(line, code);
            let motion = match self.net.local(line, code) {
                _ if self.net.is_idle(line, code) && self.net.has_ended(line, code) => {
                    Motion::Ended
                }
                _ if rests.is_empty() => Motion::Moves,
                Some(_) if self.net.has_ended(line, code) => Motion::Ended,
                _ => Motion::Blocked,
            };
            if motion == Motion::Blocked {
                open.insert(place, rests);
            }
            self.motions.insert(place, motion);
        }
        let looked_at = open.values().flatten().flatten().map(|&(line, _)| line).collect();
        let left = self.left(&looked_at);
        loop {
            let before = open.len();
            let stays = |place: &Place| {
                let is_over = self.motions.get(place) == Some(&Motion::Ended);
                open.contains_key(place) || spins(place) || is_over
            };
            let is_left = |place: &Place| {
                let is_start = place.1 == self.prefix.code(self.prefix.start_of(place.0));
                let may_stay = !self.prefix.is_process(place.0) || stays(place);
                may_stay && (is_start || left.get(place).is_some_and(|by| by.iter().any(stays)))
            };
            let is_free =
                |rests: &Vec<Vec<Place>>| !rests.iter().any(|seen| seen.iter().all(is_left));
            let free: Vec<Place> =
                open.iter().filter(|(_, rests)| is_free(rests)).map(|(&place, _)| place).collect();
            for place in free {
                open.remove(&place);
                self.motions.insert(place, Motion::Moves);
            }
            if open.len() == before {
                return;
            }
        }
    }

    /// For each code of one of these lines: the places of the processes that have left it there.
    pub(super) fn left(&self, lines: &FxHashSet<Line>) -> FxHashMap<Place, FxHashSet<Place>> {
        let mut left: FxHashMap<Place, FxHashSet<Place>> = FxHashMap::default();
        for event in self.prefix.events() {
            for made in self.prefix.made(event) {
                let place @ (line, _) = self.place(made);
                if !self.prefix.is_process(line) {
                    continue;
                }
                for &object in lines {
                    let last = self.prefix.last(event, object);
                    let maker = self.prefix.maker(last);
                    if maker != 0 && self.prefix.event(maker).line == line {
                        left.entry(self.place(last)).or_default().insert(place);
                    }
                }
            }
        }
        left
    }

    /// The question for configurations in which no process can move but those at places where it
    /// `may_move`, and perhaps by `delayed` actions.
    fn at_rest(
        &self,
        may_move: impl Fn(&Self, Condition) -> bool,
        delayed: Delayed,
    ) -> Question<'v> {
        let mut question = self.anything();
        for place in self.places() {
            if may_move(self, place) {
                continue;
            }
            match self.motion(place) {
                Motion::Ended => {}
                Motion::Moves => question.never_marked(place),
                Motion::Blocked => self.never_moves(&mut question, place, delayed),
            }
        }
        question
    }

    fn never_moves(&self, question: &mut Question<'v>, place: Condition, delayed: Delayed) {
        let is_own = |&event: &PrefixEvent| {
            self.prefix.consumed(event).next() == Some(place)
                && self.prefix.after_reads(event).is_empty()
        };
        let is_met = |&line: &Line| line < self.prefix.lines();
        for event in self.prefix.consumers(place).filter(is_own) {
            let transition = self.prefix.event(event).transition;
            match &self.net.step(transition).delay {
                Delay::While(lines) if delayed == Delayed::MayBe => {
                    if lines.iter().all(is_met) {
                        let starts = lines.iter().map(|&line| self.prefix.start_of(line));
                        let starts: Vec<Literal> =
                            starts.map(|condition| question.marked(condition)).collect();
                        question.never_enabled_unless(event, &starts);
                    }
                }
                Delay::Always if delayed == Delayed::MayBe => {}
                _ => question.never_enabled_unless(event, &[]),
            }
        }
    }

    /// The configurations in which nothing can move, and all that have not ended are daemons.
    pub(super) fn good_ends(&self) -> Question<'v> {
        let mut question = self.at_rest(|_, _| false, Delayed::No);
        for place in self.places() {
            let is_blocked = self.motion(place) == Motion::Blocked;
            let is_in_vain =
                || self.local(place).is_some_and(|local| self.net.locals.is_in_vain(local));
            if is_blocked && (!self.may_wait(place) || is_in_vain()) {
                question.never_marked(place);
            }
        }
        question
    }

    /// Does the process at this condition excuse others that wait?
    fn excuses(&self, condition: Condition) -> bool {
        self.local(condition).is_some_and(|local| self.net.locals.excuses(local))
    }

    /// Brings the model to the state after a configuration.
    fn go_to(&mut self, events: &[PrefixEvent]) {
        let events = self.prefix.arrange(events).expect("a configuration");
        let path: Vec<u32> =
            events.iter().map(|&event| self.prefix.event(event).transition).collect();
        self.net.go_to(&path);
    }

    /// Reports a configuration in which nothing can move, or all that can may be delayed for ever.
    pub(super) fn report_end(&mut self, events: &[PrefixEvent]) {
        self.go_to(events);
        self.net.settle();
        let ModelNet { locals, state, .. } = &mut *self.net;
        self.driver.resting(locals, state);
    }

    /// Finds a configuration for each combination of groups, and calls `each` with it until that
    /// says no.
    pub(super) fn each_view(
        &mut self,
        mut question: Question<'v>,
        views: &[Groups],
        which: Which,
        mut each: impl FnMut(&mut Self, &[PrefixEvent]) -> bool,
    ) {
        let mut literals: FxHashMap<(Line, u32), Literal> = FxHashMap::default();
        let of: FxHashMap<Line, &FxHashMap<Code, u32>> =
            views.iter().map(|(line, groups)| (*line, groups)).collect();
        for condition in self.prefix.conditions() {
            let line = self.prefix.line(condition);
            if let Some(groups) = of.get(&line) {
                let group = groups[&self.prefix.code(condition)];
                let literal = *literals.entry((line, group)).or_insert_with(|| question.literal());
                question.if_marked(condition, literal);
            }
        }
        let mut counting = Counting::default();
        while !self.driver.is_stopped()
            && let Some(mut events) = question.solve(&[])
        {
            match which {
                Which::Any => {}
                Which::Least => events = question.least(events),
                Which::Shortest => {
                    let steps = |condition| self.steps(condition);
                    let (shortest, is_certain) = counting.fewest(&mut question, events, steps);
                    events = shortest;
                    self.are_shortest &= is_certain;
                }
            }
            let cut = cut(self.prefix, &events);
            let seen = |&(line, ref groups): &Groups| {
                let code = self.prefix.code(cut[line as usize]);
                literals[&(line, groups[&code])].negated()
            };
            let excluded: Vec<Literal> = views.iter().map(seen).collect();
            if !each(self, &events) || excluded.is_empty() {
                break;
            }
            if which == Which::Least {
                question.never_contains(&events);
            }
            question.one_of(&excluded);
            self.pass();
        }
        self.asked += question.asked;
    }

    /// The codes of a line, in groups by `key`; `None` if it has only one group.
    pub(super) fn groups<K: PartialEq>(
        &self,
        line: Line,
        key: impl Fn(Code) -> K,
    ) -> Option<Groups> {
        let (mut keys, mut groups) = (Vec::new(), FxHashMap::default());
        for condition in self.prefix.conditions() {
            let code = self.prefix.code(condition);
            if self.prefix.line(condition) == line && !groups.contains_key(&code) {
                let key = key(code);
                let at = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                    keys.push(key);
                    keys.len() - 1
                });
                groups.insert(code, at as u32);
            }
        }
        (keys.len() > 1).then_some((line, groups))
    }

    fn deadlocks(&mut self) {
        let stuck: Vec<Condition> = self
            .places()
            .filter(|&place| self.motion(place) == Motion::Blocked && !self.may_wait(place))
            .collect();
        if stuck.is_empty() {
            return;
        }
        let mut question = self.at_rest(|_, _| false, Delayed::MayBe);
        for place in self.places().filter(|&place| self.excuses(place)) {
            question.never_marked(place);
        }
        let stuck: Vec<Literal> = stuck.into_iter().map(|place| question.marked(place)).collect();
        question.one_of(&stuck);
        let views: Vec<Groups> = self
            .prefix
            .movers()
            .filter_map(|line| {
                self.groups(line, |code| (!self.net.has_ended(line, code)).then_some(code))
            })
            .collect();
        // If some actions may be delayed for ever, it is known of the least what has gone wrong.
        self.are_shortest = !self.net.locals.system().objects().may_end_late;
        let which = if self.are_shortest { Which::Shortest } else { Which::Least };
        self.each_view(question, &views, which, |answers, events| {
            answers.report_end(events);
            true
        });
        if let Some(figures) = &mut self.driver.stats.prefix {
            figures.has_shortest_deadlock = self.are_shortest;
        }
    }

    /// The local states of a process that exists from the start, in groups that `tells` does not
    /// tell apart.
    pub(super) fn local_groups(
        &self,
        line: Line,
        tells: impl Fn(&S::Local, &S::Local) -> bool,
    ) -> Option<Groups> {
        let locals = &self.net.locals;
        let (mut known, mut groups): (Vec<LocalId>, FxHashMap<Code, u32>) = Default::default();
        for condition in self.prefix.conditions() {
            let code = self.prefix.code(condition);
            if self.prefix.line(condition) != line || groups.contains_key(&code) {
                continue;
            }
            let here = self.local(condition)?;
            let is_same = |&one: &LocalId| !tells(locals.get(one), locals.get(here));
            let at = known.iter().position(is_same).unwrap_or_else(|| {
                known.push(here);
                known.len() - 1
            });
            groups.insert(code, at as u32);
        }
        (known.len() > 1).then_some((line, groups))
    }

    /// The lines of objects, each with its object.
    pub(super) fn objects(&self) -> Vec<(Line, Object)> {
        let object = |(line, piece)| match piece {
            Piece::Object(object) => Some((line, object)),
            Piece::Messages(mailbox, _) => Some((line, Object::Mailbox(mailbox))),
            _ => None,
        };
        self.net.pieces().filter_map(object).collect()
    }

    fn invariants(&mut self) {
        let system = self.net.locals.system();
        let asks = self.driver.budget().properties.contain::<Invariants>();
        let Some(invariants) = system.invariants().filter(|_| asks) else { return };
        for number in 0..invariants.count() {
            let met = self.net.locals.objects();
            let objects = self.objects().into_iter().filter_map(|(line, object)| {
                let is_seen = match object {
                    Object::Cell(id) => {
                        invariants.sees_cell(number, CellId(met.cells.declared(id.0)))
                    }
                    Object::Mailbox(id) => {
                        invariants.sees_mailbox(number, MailboxId(met.mailboxes.declared(id.0)))
                    }
                    _ => false,
                };
                is_seen.then(|| self.groups(line, |code| code))?
            });
            let processes = self.prefix.movers().filter_map(|line| {
                let Piece::Process(process) = self.net.piece(line) else { return None };
                self.local_groups(line, |before, after| {
                    invariants.tells(number, process, before, after)
                })
            });
            let views: Vec<Groups> = objects.chain(processes).collect();
            let question = self.anything();
            self.each_view(question, &views, Which::Any, |answers, events| {
                answers.go_to(events);
                answers.driver.judge_invariants(&answers.net.locals, &answers.net.state);
                true
            });
        }
    }

    /// Judges the states in which all that can move may be in loops that wait.
    fn livelocks(&mut self) {
        let asks = self.driver.budget().properties.contain::<Livelocks>();
        if !self.net.locals.some_may_return() || !asks {
            return;
        }
        // In a livelock each process that can move comes back to where it was.
        let mut spins = self.net.codes_on_circles();
        spins.retain(|&(line, code)| {
            let local = self.net.local(line, code);
            local.is_some_and(|local| may_spin(&self.net.locals, local))
        });
        let spinning: Vec<Condition> =
            self.places().filter(|&one| spins.contains(&self.place(one))).collect();
        if spinning.is_empty() {
            return;
        }
        // Others may wait for what a process holds that spins.
        self.find_motions(|place| spins.contains(place));
        let mut question =
            self.at_rest(|answers, one| spins.contains(&answers.place(one)), Delayed::MayBe);
        let marked: Vec<Literal> = spinning.iter().map(|&place| question.marked(place)).collect();
        question.one_of(&marked);
        let mut lines: FxHashSet<Line> = self.prefix.movers().collect();
        for &place in &spinning {
            lines.extend(self.net.lines_seen(self.prefix.line(place), self.prefix.code(place)));
        }
        // Where only daemons are in loops, `final` is judged.
        lines.extend(self.cells_seen_at_end());
        let mut lines: Vec<Line> = lines.into_iter().collect();
        lines.sort_unstable();
        let views: Vec<Groups> =
            lines.into_iter().filter_map(|line| self.groups(line, |code| code)).collect();
        let mut watch = Watch::new(self.driver.signal().clone());
        let mut rounds = 0;
        self.each_view(question, &views, Which::Any, |answers, events| {
            answers.go_to(events);
            answers.net.settle();
            let ModelNet { locals, state, .. } = &mut *answers.net;
            if !answers.driver.is_livelock(&mut watch, locals, state) {
                answers.driver.judge_rest(locals, state);
            }
            rounds += 1;
            if rounds == MOST_ROUNDS {
                answers.driver.stop(StopReason::Rounds);
            }
            rounds < MOST_ROUNDS
        });
    }
}
