//! Questions about ends to which nothing objects so far: what `final` says there, what properties
//! of users say, what is left behind.

use rustc_hash::{FxHashMap, FxHashSet};

use super::answers::{Answers, Groups, Place, Which};
use super::question::{Question, cut};
use crate::alternatives::Literal;
use crate::model::{CellId, Object, Piece, Status, System};
use crate::property::{FinalStates, When};
use crate::unfolding::prefix::{Condition, Line, PrefixEvent};

/// A part of an execution.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// This is there at the end.
    Left(Left),
    /// It contains this event.
    Event(PrefixEvent),
}

/// What is there at the end of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Left {
    /// A line with its code.
    what: Place,
    /// The process that has left the code there, with its own code: what one has left that may wait
    /// for ever is another thing than what one has left that has ended.
    by: Option<Place>,
    /// This line is as it was at the start.
    untaken: Option<Line>,
}

impl Left {
    fn places(self) -> impl Iterator<Item = Place> {
        [Some(self.what), self.by].into_iter().flatten()
    }
}

impl<'v, S: System> Answers<'v, '_, '_, S> {
    pub(super) fn ends(&mut self) {
        let system = self.net.locals.system();
        let asks = self.driver.budget().properties.contain::<FinalStates>();
        let Some(finale) = system.finale().filter(|_| asks) else { return };
        let cells = self.cells_seen_at_end().into_iter();
        let objects = cells.filter_map(|line| self.groups(line, |code| code));
        let processes = self.prefix.movers().filter_map(|line| {
            let Piece::Process(process) = self.net.piece(line) else { return None };
            self.local_groups(line, |before, after| finale.tells(process, before, after))
        });
        let views: Vec<Groups> = objects.chain(processes).collect();
        let question = self.good_ends();
        self.each_view(question, &views, Which::Any, |answers, events| {
            answers.report_end(events);
            true
        });
    }

    /// The lines of the cells that `final` reads.
    pub(super) fn cells_seen_at_end(&self) -> Vec<Line> {
        let asks = self.driver.budget().properties.contain::<FinalStates>();
        let Some(finale) = self.net.locals.system().finale().filter(|_| asks) else {
            return Vec::new();
        };
        let cells = &self.net.locals.objects().cells;
        let is_seen = |object| match object {
            Object::Cell(cell) => finale.sees_cell(CellId(cells.declared(cell.0))),
            _ => false,
        };
        let seen = self.objects().into_iter().filter(|&(_, object)| is_seen(object));
        seen.map(|(line, _)| line).collect()
    }

    /// Looks for what executions leave behind in which no process has failed. (Where `final` fails,
    /// too, some may be missed.)
    pub(super) fn leaks(&mut self) {
        let mut question = self.good_ends();
        let has_failed = |place: &Condition| {
            let local = self.local(*place);
            local.is_some_and(|local| matches!(self.net.locals.status(local), Status::Failed(_)))
        };
        self.places().filter(has_failed).for_each(|place| question.never_marked(place));
        let parts = self.left_parts();
        self.occur(question, parts);
    }

    /// Asks the properties of users about ends.
    pub(super) fn own_ends(&mut self) {
        let own = self.driver.budget().properties.own().filter(|one| one.when() == When::End);
        let looks_back: Vec<bool> =
            own.map(|one| one.looks_back(&self.net.locals.values)).collect();
        if looks_back.is_empty() {
            return;
        }
        let question = self.good_ends();
        let mut parts = self.left_parts();
        if looks_back.contains(&true) {
            let events = self.prefix.events().filter(|&event| question.event(event).is_some());
            parts.extend(events.map(Part::Event));
        }
        self.occur(question, parts);
    }

    /// What may be left at objects, or be said by a process about itself when it has ended.
    fn left_parts(&self) -> Vec<Part> {
        let may_keep = |object: Object| {
            matches!(
                object,
                Object::Mailbox(_) | Object::Mutex(_) | Object::RwLock(_) | Object::Semaphore(_)
            )
        };
        let lines: FxHashSet<Line> = self
            .objects()
            .into_iter()
            .filter(|&(_, it)| may_keep(it))
            .map(|(line, _)| line)
            .collect();
        let locals = &self.net.locals;
        let remarks = |local| locals.system().describe().remarks(locals.get(local)).is_some();
        let is_part = |&condition: &Condition| {
            let (line, code) = self.place(condition);
            match (self.local(condition), self.net.piece(line)) {
                (Some(local), _) => remarks(local),
                (None, Piece::Receive(..) | Piece::End(..)) => !self.net.is_idle(line, code),
                (None, Piece::Message(..)) => code != self.prefix.code(self.prefix.start_of(line)),
                (None, _) => {
                    lines.contains(&line) && code != self.prefix.code(self.prefix.start_of(line))
                }
            }
        };
        let parts = self.prefix.conditions().filter(is_part);
        let parts: FxHashSet<Place> = parts.map(|condition| self.place(condition)).collect();
        let taken = |line| match self.net.piece(line) {
            Piece::Message(mailbox, sender, number) => {
                let taken = self.net.find_line(Piece::Taken(mailbox, sender, number));
                taken.filter(|&line| line < self.prefix.lines())
            }
            _ => None,
        };
        let parts = self.may_end_with(parts).into_iter();
        let mut parts: Vec<Left> =
            parts.map(|(what, by)| Left { what, by, untaken: taken(what.0) }).collect();
        parts.sort_unstable();
        parts.into_iter().map(Part::Left).collect()
    }

    /// Those of these codes of lines that may be there at an end to which nothing objects, each
    /// with a process that has left it there and is at a place then where it has ended, or may wait
    /// for ever.
    fn may_end_with(&self, places: FxHashSet<Place>) -> Vec<(Place, Option<Place>)> {
        let ends = self.places().filter(|&one| self.may_be_at_end(one));
        let ends: FxHashSet<Place> = ends.map(|one| self.place(one)).collect();
        let left = self.left(&places.iter().map(|&(line, _)| line).collect());
        let mut found = Vec::new();
        for place @ (line, code) in places {
            if self.prefix.is_process(line) {
                found.extend(ends.contains(&place).then_some((place, None)));
                continue;
            }
            let is_start = code == self.prefix.code(self.prefix.start_of(line));
            found.extend(is_start.then_some((place, None)));
            let by = left.get(&place).into_iter().flatten().filter(|by| ends.contains(by));
            found.extend(by.map(|&by| (place, Some(by))));
        }
        found
    }

    /// Reports configurations that the question asks for, until each of these parts occurs in one
    /// of them or in none.
    fn occur(&mut self, mut question: Question<'v>, parts: Vec<Part>) {
        let left = |part: &Part| match *part {
            Part::Left(left) => Some(left),
            Part::Event(_) => None,
        };
        let places = parts.iter().filter_map(left).flat_map(Left::places);
        let mut conditions: FxHashMap<Place, Vec<Condition>> =
            places.map(|place| (place, Vec::new())).collect();
        for condition in self.prefix.conditions() {
            if let Some(all) = conditions.get_mut(&self.place(condition)) {
                all.push(condition);
            }
        }
        let mut literals: FxHashMap<Left, Literal> = FxHashMap::default();
        for left in parts.iter().filter_map(left) {
            let literal = question.literal();
            for place in left.places() {
                let mut clause = vec![literal.negated()];
                clause.extend(conditions[&place].iter().map(|&one| question.marked(one)));
                question.one_of(&clause);
            }
            if let Some(line) = left.untaken {
                let is_untaken = question.marked(self.prefix.start_of(line));
                question.one_of(&[literal.negated(), is_untaken]);
            }
            literals.insert(left, literal);
        }
        let mut open = parts;
        while !open.is_empty() && !self.driver.is_stopped() {
            let is_asked = question.literal();
            let mut clause = vec![is_asked.negated()];
            for part in &open {
                match part {
                    Part::Left(left) => clause.push(literals[left]),
                    Part::Event(event) => clause.extend(question.event(*event)),
                }
            }
            question.one_of(&clause);
            let Some(events) = question.solve(&[is_asked]) else { break };
            let cut = cut(self.prefix, &events);
            let happened: FxHashSet<PrefixEvent> = events.iter().copied().collect();
            open.retain(|part| match *part {
                Part::Left(left) => {
                    let is_at = |(line, code)| self.prefix.code(cut[line as usize]) == code;
                    let is_untaken = |line| cut[line as usize] == self.prefix.start_of(line);
                    !left.places().all(is_at) || !left.untaken.is_none_or(is_untaken)
                }
                Part::Event(event) => !happened.contains(&event),
            });
            self.report_end(&events);
            self.pass();
        }
        self.asked += question.asked;
    }
}
