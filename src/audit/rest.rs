//! What is true of the configurations of a prefix, by questions to a SAT solver that checks its own
//! proofs.
//!
//! There is a variable for each event that is no cutoff, and one for each condition: it says that
//! the condition is the last one of its line. A configuration has all causes of its events; of the
//! events that change a line at a condition it has one at most, and that one comes after all reads
//! of the condition in the configuration. Something is possible after a configuration iff it has
//! all conditions that some event of the list looks at, cutoffs included.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use varisat::{ExtendFormula, Lit, Solver};

use super::Refused;
use super::ends::{End, is_broken, judge_end};
use super::events::{Events, Place};
use super::pieces::{Code, Line};
use crate::model::{CellId, LocalId, MailboxId, Object, Op, Piece, ProcessId, System};

/// More views of `final` or an invariant are not judged.
const MAX_VIEWS: usize = 1 << 16;

/// A condition: a line, and the last event that changed it.
type Condition = (Line, Place);

/// Configurations of a prefix that are asked for.
struct Question {
    solver: Solver<'static>,
    events: Vec<Option<Lit>>,
    marked: FxHashMap<Condition, Lit>,
}

/// What a view distinguishes: the classes of the conditions of a line.
type Classes = FxHashMap<Condition, u32>;

impl Question {
    /// All configurations without cutoffs.
    fn new<S: System>(events: &Events<'_, S>) -> Question {
        let mut solver = Solver::new();
        solver.enable_self_checking();
        let variables: Vec<Option<Lit>> = std::iter::once(None)
            .chain(events.events.iter().map(|one| (!one.is_cutoff).then(|| solver.new_lit())))
            .collect();
        let literal = |event: Place| variables[event as usize].expect("no cutoff");
        let none = Vec::new();
        let mut marked = FxHashMap::default();
        for condition in events.conditions() {
            let changers = events.changers.get(&condition).unwrap_or(&none);
            let readers = events.readers.get(&condition).unwrap_or(&none);
            for &changer in changers {
                for &reader in readers {
                    match events.event(changer).local.has(reader) {
                        true => solver.add_clause(&[!literal(changer), literal(reader)]),
                        false => solver.add_clause(&[!literal(changer), !literal(reader)]),
                    }
                }
            }
            let made = (condition.1 != 0).then(|| literal(condition.1));
            if let Some(made) = made {
                for &user in changers.iter().chain(readers) {
                    solver.add_clause(&[!literal(user), made]);
                }
            }
            let changed = one_at_most(&mut solver, changers.iter().map(|&one| literal(one)));
            let is_marked = solver.new_lit();
            solver.add_clause(&[!is_marked, !changed]);
            let made: SmallVec<[Lit; 1]> = made.into_iter().collect();
            made.iter().for_each(|&made| solver.add_clause(&[!is_marked, made]));
            let mut clause = vec![is_marked, changed];
            clause.extend(made.iter().map(|&made| !made));
            solver.add_clause(&clause);
            marked.insert(condition, is_marked);
        }
        Question { solver, events: variables, marked }
    }

    /// Those after which only processes at these conditions can move.
    fn only_moves<S: System>(&mut self, events: &Events<'_, S>, movers: &FxHashSet<Condition>) {
        let mut known: FxHashSet<Vec<Condition>> = FxHashSet::default();
        for event in &events.events {
            let mut looked: Vec<Condition> =
                event.touched.iter().map(|one| (one.line, one.before)).collect();
            if movers.contains(&looked[0]) {
                continue;
            }
            looked.sort_unstable();
            if known.insert(looked.clone()) {
                self.not_all(looked);
            }
        }
    }

    fn not_all(&mut self, conditions: impl IntoIterator<Item = Condition>) {
        let clause: Vec<Lit> = conditions.into_iter().map(|one| !self.marked[&one]).collect();
        self.solver.add_clause(&clause);
    }

    fn one_of(&mut self, conditions: impl IntoIterator<Item = Condition>) {
        let clause: Vec<Lit> = conditions.into_iter().map(|one| self.marked[&one]).collect();
        self.solver.add_clause(&clause);
    }

    /// A configuration, if there is one.
    fn answer(&mut self) -> Result<Option<Vec<Place>>, Refused> {
        let failed = |why| Refused::new(format!("the solver has failed: {why}"));
        if !self.solver.solve().map_err(failed)? {
            return Ok(None);
        }
        let model = self.solver.model().expect("it has one");
        let model: FxHashSet<Lit> = model.into_iter().collect();
        let is_in = |literal: &Option<Lit>| literal.is_some_and(|literal| model.contains(&literal));
        let places = (0..).zip(&self.events).filter(|(_, literal)| is_in(literal));
        Ok(Some(places.map(|(place, _)| place).collect()))
    }
}

/// Adds that at most one of these is true. Returns whether one is.
fn one_at_most(solver: &mut Solver<'static>, all: impl Iterator<Item = Lit>) -> Lit {
    let mut before = solver.new_lit();
    solver.add_clause(&[!before]);
    for one in all {
        let so_far = solver.new_lit();
        solver.add_clause(&[!one, !before]);
        solver.add_clause(&[!one, so_far]);
        solver.add_clause(&[!before, so_far]);
        solver.add_clause(&[one, before, !so_far]);
        before = so_far;
    }
    before
}

impl<S: System> Events<'_, S> {
    /// All conditions.
    fn conditions(&self) -> Vec<Condition> {
        let mut all: Vec<Condition> =
            (0..self.net.pieces.len() as Line).map(|line| (line, 0)).collect();
        for (place, event) in (1..).zip(&self.events) {
            let changed = event.touched.iter().filter(|one| one.is_changed && !event.is_cutoff);
            all.extend(changed.map(|one| (one.line, place)));
        }
        all
    }

    /// Judges all configurations. Returns whether one is a deadlock, and whether one is wrong in
    /// another way.
    pub(super) fn judge(&mut self, allow_pending: bool) -> Result<End, Refused> {
        let mut end = End { is_deadlocked: false, has_failed: self.has_failed };
        let locals = &self.net.locals;
        let stuck = self.unended(|local| {
            let is_actor = matches!(locals.op(local), None | Some(Op::Handle { .. }));
            locals.is_daemon(local) || allow_pending && is_actor
        });
        let is_excusing = |one: &Condition| locals.excuses(self.locals[one]);
        let excusing: Vec<Condition> = self.processes().filter(is_excusing).collect();
        let mut question = Question::new(self);
        question.only_moves(self, &FxHashSet::default());
        question.one_of(stuck.iter().copied());
        excusing.iter().for_each(|&one| question.not_all([one]));
        if let Some(events) = question.answer()? {
            end.is_deadlocked = true;
            if !self.end(&events, allow_pending)?.is_deadlocked {
                return Err(Refused::new("the audit cannot judge an end"));
            }
        }
        self.judge_loops(allow_pending, &mut end)?;
        let mut question = Question::new(self);
        question.only_moves(self, &FxHashSet::default());
        if excusing.is_empty() {
            stuck.iter().for_each(|&one| question.not_all([one]));
        }
        if let Some(finale) = self.net.locals.system().finale() {
            let is_read = |object| self.is_read_at_end(object);
            let views =
                self.views(is_read, |process, one, other| finale.tells(process, one, other));
            self.each_view(question, &views, |events, configuration| {
                end.has_failed |= events.end(configuration, allow_pending)?.has_failed;
                Ok(())
            })?;
        }
        if let Some(invariants) = self.net.locals.system().invariants() {
            for number in 0..invariants.count() {
                let sees = |object| match object {
                    Object::Cell(_) => invariants.sees_cell(number, CellId(self.declared(object))),
                    Object::Mailbox(_) => {
                        invariants.sees_mailbox(number, MailboxId(self.declared(object)))
                    }
                    _ => false,
                };
                let views = self.views(sees, |process, one, other| {
                    invariants.tells(number, process, one, other)
                });
                self.each_view(Question::new(self), &views, |events, configuration| {
                    events.go_to(configuration)?;
                    let pieces = &events.net;
                    end.has_failed |= is_broken(&pieces.locals, &pieces.state, invariants);
                    Ok(())
                })?;
            }
        }
        Ok(end)
    }

    fn declared(&self, object: Object) -> u32 {
        let objects = self.net.locals.objects();
        match object {
            Object::Cell(cell) => objects.cells.declared(cell.0),
            Object::Mailbox(mailbox) => objects.mailboxes.declared(mailbox.0),
            other => unreachable!("nothing is said of {other:?}"),
        }
    }

    /// Is it a cell that `final` reads?
    fn is_read_at_end(&self, object: Object) -> bool {
        let finale = self.net.locals.system().finale();
        matches!(object, Object::Cell(_))
            && finale.is_some_and(|finale| finale.sees_cell(CellId(self.declared(object))))
    }

    /// Judges the state after a configuration after which nothing is possible.
    fn end(&mut self, events: &[Place], allow_pending: bool) -> Result<End, Refused> {
        self.go_to(events)?;
        let depth = self.net.state.depth();
        self.net.settle();
        let (locals, state) = (&self.net.locals, &self.net.state);
        if !state.is_terminal(locals) {
            return Err(Refused::new("an end is none: something is still possible"));
        }
        let end = judge_end(locals, state, allow_pending);
        self.net.back_to(depth);
        end
    }

    /// The conditions at which a process has not ended, and its local state is not one of these.
    fn unended(&self, may_wait: impl Fn(LocalId) -> bool) -> Vec<Condition> {
        let waits = |one: &Condition| self.unfinished.contains(one) && !may_wait(self.locals[one]);
        self.processes().filter(waits).collect()
    }

    /// The conditions of processes.
    fn processes(&self) -> impl Iterator<Item = Condition> + '_ {
        let is_after_cutoff = |place| place != 0 && self.event(place).is_cutoff;
        self.locals.keys().copied().filter(move |&(_, place)| !is_after_cutoff(place))
    }

    /// Judges configurations in which all processes that can move may go round in a circle without
    /// changing anything, and may do so for ever. Daemons wait there, so it is an end; for others
    /// it is a livelock, which is refused.
    fn judge_loops(&mut self, allow_pending: bool, end: &mut End) -> Result<(), Refused> {
        let mut steps: FxHashSet<[(Line, Code); 2]> = FxHashSet::default();
        for event in &self.events {
            let only_looks =
                event.touched.iter().all(|one| one.is_changed == (one.line == event.line));
            let own = event.touched[0];
            if only_looks {
                let before = self.code((event.line, own.before));
                steps.insert([(event.line, before), (event.line, event.own)]);
            }
        }
        // What is neither on a circle nor between circles is taken out.
        loop {
            let ends: [FxHashSet<(Line, Code)>; 2] =
                [0, 1].map(|at| steps.iter().map(|step| step[at]).collect());
            let count = steps.len();
            steps.retain(|[from, to]| ends[1].contains(from) && ends[0].contains(to));
            if steps.len() == count {
                break;
            }
        }
        let circles: FxHashSet<(Line, Code)> = steps.iter().map(|step| step[0]).collect();
        let is_on = |&one: &Condition| circles.contains(&(one.0, self.code(one)));
        let waiting: FxHashSet<Condition> = self.processes().filter(is_on).collect();
        if waiting.is_empty() {
            return Ok(());
        }
        let is_looked_at: FxHashSet<Line> = self
            .events
            .iter()
            .filter(|event| waiting.contains(&(event.line, event.touched[0].before)))
            .flat_map(|event| event.touched.iter().map(|one| one.line))
            .collect();
        let views = self.views_of(|line| {
            let is_read = match self.net.pieces[line as usize] {
                Piece::Object(object) => self.is_read_at_end(object),
                _ => false,
            };
            self.net.moves(line) || is_looked_at.contains(&line) || is_read
        });
        let mut question = Question::new(self);
        question.only_moves(self, &waiting);
        question.one_of(waiting);
        if self.net.locals.system().finale().is_none() {
            // Nothing can be wrong where all but daemons have ended.
            question.one_of(self.unended(|local| self.net.locals.is_daemon(local)));
        }
        self.each_view(question, &views, |events, configuration| {
            events.go_to(configuration)?;
            let depth = events.net.state.depth();
            events.net.settle();
            // A state on the way into a loop is not judged: all go on to others, which are.
            if events.net.goes_round()? {
                let (locals, state) = (&events.net.locals, &events.net.state);
                let waits = |it| !state.can_move(locals, it) || locals.is_daemon(state.local(it));
                if !state.processes().all(waits) {
                    return Err(Refused::new("processes may wait in loops for ever"));
                }
                let found = judge_end(locals, state, allow_pending)?;
                end.is_deadlocked |= found.is_deadlocked;
                end.has_failed |= found.has_failed;
            }
            events.net.back_to(depth);
            Ok(())
        })
    }

    /// What distinguishes states: the codes of these lines.
    fn views_of(&self, sees: impl Fn(Line) -> bool) -> Vec<Classes> {
        let mut of: FxHashMap<Line, Classes> = FxHashMap::default();
        for condition in self.conditions().into_iter().filter(|&(line, _)| sees(line)) {
            of.entry(condition.0).or_default().insert(condition, self.code(condition));
        }
        of.into_values().collect()
    }

    /// What distinguishes states: these objects, and the local states of processes that exist from
    /// the start.
    fn views(
        &self,
        sees: impl Fn(Object) -> bool,
        tells: impl Fn(ProcessId, &S::Local, &S::Local) -> bool,
    ) -> Vec<Classes> {
        let (locals, pieces) = (&self.net.locals, &self.net.pieces);
        let mut views = self.views_of(|line| match pieces[line as usize] {
            Piece::Object(object) => sees(object),
            Piece::Messages(mailbox, _) => sees(Object::Mailbox(mailbox)),
            _ => false,
        });
        let mut known: Vec<(Line, LocalId)> = Vec::new();
        let initial = |line: Line| match pieces[line as usize] {
            Piece::Process(it) => Some(it).filter(|it| it.index() < locals.initial().len()),
            _ => None,
        };
        for mut classes in self.views_of(|line| initial(line).is_some()) {
            for (condition, class) in &mut classes {
                let process = initial(condition.0).expect("it is initial");
                let here = self.locals[condition];
                let is_same = |&(line, one): &(Line, LocalId)| {
                    line == condition.0 && !tells(process, locals.get(one), locals.get(here))
                };
                *class = known.iter().position(is_same).unwrap_or(known.len()) as u32;
                if *class as usize == known.len() {
                    known.push((condition.0, here));
                }
            }
            views.push(classes);
        }
        views
    }

    /// Calls `each` with a configuration for each combination of classes.
    fn each_view(
        &mut self,
        mut question: Question,
        views: &[Classes],
        mut each: impl FnMut(&mut Self, &[Place]) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let mut literals: FxHashMap<(usize, u32), Lit> = FxHashMap::default();
        for (at, classes) in views.iter().enumerate() {
            for (&condition, &class) in classes {
                let literal =
                    *literals.entry((at, class)).or_insert_with(|| question.solver.new_lit());
                let marked = question.marked[&condition];
                question.solver.add_clause(&[!marked, literal]);
            }
        }
        for _ in 0..MAX_VIEWS {
            let Some(configuration) = question.answer()? else { return Ok(()) };
            each(self, &configuration)?;
            let here = self.configuration(&configuration);
            let mut clause = Vec::new();
            for (at, classes) in views.iter().enumerate() {
                let line = classes.keys().next().map(|&(line, _)| line);
                let class = line.map(|line| classes[&(line, here.at(line))]);
                clause.extend(class.map(|class| !literals[&(at, class)]));
            }
            question.solver.add_clause(&clause);
        }
        Err(Refused::new("there are too many states to judge"))
    }
}
