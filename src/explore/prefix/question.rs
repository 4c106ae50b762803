//! Questions about the configurations of a prefix, for a SAT solver.
//!
//! There is a variable x_e for each event e that is no cutoff. Its value says whether e is in a
//! configuration C:
//!
//! - x_e implies x_f for each direct cause f of e.
//! - At most one event of C consumes a condition.
//! - An event that consumes a condition is not in C together with a read of it that it does not
//!   come after. For each process that reads the condition there is a copy of it, which the next
//!   read of that process replaces; each consumer consumes the copies that are there after the
//!   reads that it comes after. At most one event of C consumes a copy.
//!
//! With read arcs there are no copies; events that would have to come before one another in a cycle
//! are excluded when the solver has taken them.
//!
//! "At most one" of many is a chain of auxiliary variables, so all of this is linear in the size of
//! the prefix. A condition is *marked* if it is in the cut of C: its maker is in C, and no consumer
//! is. An event is enabled if all conditions that it needs are marked, those of cutoffs included.
//! So what is said about all events that might be enabled is linear, too: a clause for each event,
//! of literals u_b, "b is not marked", of which there is one for each condition.
//!
//! Khomenko, Koutny (*Verification of bounded Petri nets using integer programming*, FMSD 2007) and
//! Heljanko (*Using logic programs with stable model semantics to solve deadlock and reachability
//! problems for 1-safe Petri nets*, FI 1999) reduce deadlocks to such questions.

use rustc_hash::FxHashMap;

use super::aside::Aside;
use super::replies::Replies;
use crate::alternatives::{Literal, Varisat};
use crate::model::StopSignal;
use crate::unfolding::prefix::{Condition, Line, Prefix, PrefixEvent};

/// A set of configurations, described by clauses.
pub(crate) struct Question<'p> {
    prefix: &'p Prefix,
    solver: Aside,
    /// x_e; `None` for the start and for cutoffs.
    events: Vec<Option<Literal>>,
    unmarked: FxHashMap<Condition, Literal>,
    marked: FxHashMap<Condition, Literal>,
    /// Scratch space: a clause.
    clause: Vec<Literal>,
    /// The number of calls of the solver.
    pub(crate) asked: u64,
}

impl<'p> Question<'p> {
    /// All configurations without cutoffs. Answers are given up when the signal is raised.
    /// `replies` are those of a search that is saved.
    pub(super) fn new(prefix: &'p Prefix, signal: StopSignal, replies: Replies) -> Self {
        let mut solver = Aside::start::<Varisat>(signal, replies);
        let mut events = vec![None];
        for event in prefix.events() {
            events.push((!prefix.is_outside(event)).then(|| solver.literal()));
        }
        let mut question = Question {
            prefix,
            solver,
            events,
            unmarked: FxHashMap::default(),
            marked: FxHashMap::default(),
            clause: Vec::new(),
            asked: 0,
        };
        question.causes();
        question.conflicts();
        question
    }

    pub(super) fn prefix(&self) -> &'p Prefix {
        self.prefix
    }

    /// Has the search been told to stop, so that an answer may be missing?
    pub(super) fn is_given_up(&self) -> bool {
        self.solver.is_given_up()
    }

    fn causes(&mut self) {
        for event in self.prefix.events() {
            let Some(this) = self.events[event as usize] else { continue };
            let mut causes: Vec<PrefixEvent> = self.prefix.causes(event).collect();
            causes.sort_unstable();
            causes.dedup();
            for cause in causes {
                if let Some(cause) = self.events[cause as usize] {
                    self.solver.clause(&[this.negated(), cause]);
                }
            }
        }
    }

    fn conflicts(&mut self) {
        let mut together: Vec<Literal> = Vec::new();
        let mut copies: FxHashMap<(Line, Option<Condition>), Vec<Literal>> = FxHashMap::default();
        for condition in self.prefix.conditions() {
            together.clear();
            together.extend(self.consumers(condition));
            self.at_most_one(&together);
            let readers = self.prefix.readers(condition);
            if readers.is_empty() || self.prefix.has_read_arcs() {
                continue;
            }
            let mut processes: Vec<Line> =
                readers.iter().map(|&reader| self.prefix.event(reader).line).collect();
            processes.sort_unstable();
            processes.dedup();
            copies.clear();
            for &reader in readers {
                let line = self.prefix.event(reader).line;
                let before = self.prefix.last_read(reader, condition, line);
                let all = copies.entry((line, before)).or_default();
                all.extend(self.events[reader as usize]);
            }
            for consumer in self.prefix.consumers(condition) {
                let Some(literal) = self.events[consumer as usize] else { continue };
                for &line in &processes {
                    let before = self.prefix.last_read(consumer, condition, line);
                    copies.entry((line, before)).or_default().push(literal);
                }
            }
            let mut keys: Vec<_> = copies.keys().copied().collect();
            keys.sort_unstable();
            for key in keys {
                self.at_most_one(&copies[&key]);
            }
        }
    }

    fn consumers(&self, condition: Condition) -> impl Iterator<Item = Literal> {
        self.prefix.consumers(condition).filter_map(|event| self.events[event as usize])
    }

    fn at_most_one(&mut self, literals: &[Literal]) {
        let Some((&first, rest)) = literals.split_first() else { return };
        let mut before = first;
        for (at, &literal) in rest.iter().enumerate() {
            self.solver.clause(&[before.negated(), literal.negated()]);
            if at + 1 < rest.len() {
                let any = self.solver.literal();
                self.solver.clause(&[before.negated(), any]);
                self.solver.clause(&[literal.negated(), any]);
                before = any;
            }
        }
    }

    /// Appends "the condition is not marked" to the clause under construction, by events.
    fn push_unmarked(&mut self, condition: Condition) {
        self.clause
            .extend(self.events[self.prefix.maker(condition) as usize].map(Literal::negated));
        let consumers = self.prefix.consumers(condition);
        self.clause.extend(consumers.filter_map(|event| self.events[event as usize]));
    }

    /// Adds the clause "one of these literals, or one of these conditions is not marked".
    fn unless_all_marked(&mut self, literals: &[Literal], conditions: &[Condition]) {
        self.clause.clear();
        self.clause.extend_from_slice(literals);
        conditions.iter().for_each(|&condition| self.push_unmarked(condition));
        self.solver.clause(&self.clause);
    }

    /// A literal that implies that the condition is not marked.
    fn unmarked(&mut self, condition: Condition) -> Literal {
        if let Some(&known) = self.unmarked.get(&condition) {
            return known;
        }
        let literal = self.solver.literal();
        self.unless_all_marked(&[literal.negated()], &[condition]);
        self.unmarked.insert(condition, literal);
        literal
    }

    /// A literal that implies that the condition is marked.
    pub(crate) fn marked(&mut self, condition: Condition) -> Literal {
        if let Some(&known) = self.marked.get(&condition) {
            return known;
        }
        let literal = self.solver.literal();
        if let Some(maker) = self.events[self.prefix.maker(condition) as usize] {
            self.solver.clause(&[literal.negated(), maker]);
        }
        let consumers: Vec<Literal> = self.consumers(condition).collect();
        for consumer in consumers {
            self.solver.clause(&[literal.negated(), consumer.negated()]);
        }
        self.marked.insert(condition, literal);
        literal
    }

    /// The literal of an event that is no cutoff.
    pub(crate) fn event(&self, event: PrefixEvent) -> Option<Literal> {
        self.events[event as usize]
    }

    /// From now on this condition is not marked.
    pub(crate) fn never_marked(&mut self, condition: Condition) {
        self.unless_all_marked(&[], &[condition]);
    }

    /// From now on an event is not enabled, unless one of these holds.
    pub(crate) fn never_enabled_unless(&mut self, event: PrefixEvent, others: &[Literal]) {
        let needed: Vec<Condition> =
            self.prefix.consumed(event).chain(self.prefix.read(event)).collect();
        let mut clause: Vec<Literal> =
            needed.into_iter().map(|condition| self.unmarked(condition)).collect();
        clause.extend_from_slice(others);
        self.solver.clause(&clause);
    }

    /// From now on one of these holds.
    pub(crate) fn one_of(&mut self, literals: &[Literal]) {
        self.solver.clause(literals);
    }

    /// A literal without a meaning yet.
    pub(crate) fn literal(&mut self) -> Literal {
        self.solver.literal()
    }

    /// From now on a marked condition implies a literal.
    pub(crate) fn if_marked(&mut self, condition: Condition, literal: Literal) {
        self.unless_all_marked(&[literal], &[condition]);
    }

    /// The events of a configuration of which all that was said holds, and these literals, in order
    /// of their numbers. `None` if there is none, or if the question is given up.
    pub(crate) fn solve(&mut self, assumptions: &[Literal]) -> Option<Vec<PrefixEvent>> {
        loop {
            self.asked += 1;
            let model = self.solver.solve(assumptions)?;
            let is_in = |&event: &PrefixEvent| {
                self.events[event as usize].is_some_and(|literal| model.contains(&literal))
            };
            let found: Vec<PrefixEvent> = self.prefix.events().filter(is_in).collect();
            match self.prefix.arrange(&found) {
                Ok(_) => return Some(found),
                Err(cycle) => self.never_contains(&cycle),
            }
        }
    }

    /// A configuration within this one of which all that was said holds too, and that has no such
    /// configuration within it.
    pub(crate) fn least(&mut self, mut events: Vec<PrefixEvent>) -> Vec<PrefixEvent> {
        loop {
            let is_less = self.solver.literal();
            self.clause.clear();
            self.clause.push(is_less.negated());
            self.clause.extend(self.negated(&events));
            self.solver.clause(&self.clause);
            let mut assumptions = vec![is_less];
            let others = self.prefix.events().filter(|event| events.binary_search(event).is_err());
            let others = others.filter_map(|event| self.events[event as usize]);
            assumptions.extend(others.map(Literal::negated));
            match self.solve(&assumptions) {
                Some(less) => events = less,
                None => return events,
            }
        }
    }

    /// From now on the configuration contains not all of these events.
    pub(crate) fn never_contains(&mut self, events: &[PrefixEvent]) {
        let clause: Vec<Literal> = self.negated(events).collect();
        self.solver.clause(&clause);
    }

    fn negated(&self, events: &[PrefixEvent]) -> impl Iterator<Item = Literal> + use<> {
        let literals = events.iter().filter_map(|&event| self.events[event as usize]);
        literals.map(Literal::negated).collect::<Vec<Literal>>().into_iter()
    }
}

/// The conditions of the cut of a configuration, by line.
pub(crate) fn cut(prefix: &Prefix, events: &[PrefixEvent]) -> Vec<Condition> {
    let mut last: Vec<Option<Condition>> = vec![None; prefix.lines() as usize];
    for condition in events.iter().flat_map(|&event| prefix.made(event)) {
        last[prefix.line(condition) as usize] = Some(condition);
    }
    (0..).zip(last).map(|(line, last)| last.unwrap_or_else(|| prefix.start_of(line))).collect()
}
