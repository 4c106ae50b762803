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
    /// A line has this code at the end, and the other one, if any, is as it was at the start.
    Left(Place, Option<Line>),
    /// It contains this event.
    Event(PrefixEvent),
}

impl<'v, S: System> Answers<'v, '_, '_, S> {
    pub(super) fn ends(&mut self) {
        let system = self.net.locals.system();
        let asks = self.driver.budget().properties.contain::<FinalStates>();
        let Some(finale) = system.finale().filter(|_| asks) else { return };
        let objects = self.objects().into_iter().filter_map(|(line, object)| match object {
            Object::Cell(cell) => {
                let declared = CellId(self.net.locals.objects().cells.declared(cell.0));
                finale.sees_cell(declared).then(|| self.groups(line, |code| code))?
            }
            _ => None,
        });
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
        let mut parts: Vec<Place> = self.may_end_with(parts).into_iter().collect();
        parts.sort_unstable();
        let taken = |line| match self.net.piece(line) {
            Piece::Message(mailbox, sender, number) => {
                let taken = self.net.find_line(Piece::Taken(mailbox, sender, number));
                taken.filter(|&line| line < self.prefix.lines())
            }
            _ => None,
        };
        parts.into_iter().map(|place| Part::Left(place, taken(place.0))).collect()
    }

    /// Those of these codes of lines that may be there at an end to which nothing objects: a
    /// process that has ended then has left them there, or one that may wait for ever.
    fn may_end_with(&self, mut places: FxHashSet<Place>) -> FxHashSet<Place> {
        let ends = self.places().filter(|&one| self.may_be_at_end(one));
        let ends: FxHashSet<Place> = ends.map(|one| self.place(one)).collect();
        let left = self.left(&places.iter().map(|&(line, _)| line).collect());
        places.retain(|place @ (line, code)| {
            let is_start = *code == self.prefix.code(self.prefix.start_of(*line));
            let is_left = || left.get(place).is_some_and(|by| !by.is_disjoint(&ends));
            match self.prefix.is_process(*line) {
                true => ends.contains(place),
                false => is_start || is_left(),
            }
        });
        places
    }

    /// Reports configurations that the question asks for, until each of these parts occurs in one
    /// of them or in none.
    fn occur(&mut self, mut question: Question<'v>, parts: Vec<Part>) {
        let left = parts.iter().filter_map(|&part| match part {
            Part::Left(place, other) => Some((place, (other, Vec::new()))),
            Part::Event(_) => None,
        });
        let mut marked: FxHashMap<Place, (Option<Line>, Vec<Literal>)> = left.collect();
        for condition in self.prefix.conditions() {
            if let Some((other, literals)) = marked.get_mut(&self.place(condition)) {
                let mut literal = question.marked(condition);
                if let Some(other) = *other {
                    let is_start = question.marked(self.prefix.start_of(other));
                    let both = question.literal();
                    question.one_of(&[both.negated(), literal]);
                    question.one_of(&[both.negated(), is_start]);
                    literal = both;
                }
                literals.push(literal);
            }
        }
        let mut open = parts;
        while !open.is_empty() && !self.driver.is_stopped() {
            let is_asked = question.literal();
            let mut clause = vec![is_asked.negated()];
            for part in &open {
                match part {
                    Part::Left(place, _) => clause.extend(&marked[place].1),
                    Part::Event(event) => clause.extend(question.event(*event)),
                }
            }
            question.one_of(&clause);
            let Some(events) = question.solve(&[is_asked]) else { break };
            let cut = cut(self.prefix, &events);
            let happened: FxHashSet<PrefixEvent> = events.iter().copied().collect();
            open.retain(|part| match *part {
                Part::Left((line, code), other) => {
                    self.prefix.code(cut[line as usize]) != code
                        || other
                            .is_some_and(|other| cut[other as usize] != self.prefix.start_of(other))
                }
                Part::Event(event) => !happened.contains(&event),
            });
            self.report_end(&events);
        }
        self.asked += question.asked;
    }
}
