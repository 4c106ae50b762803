//! A prefix with its conditions: an occurrence net, a part of the unfolding of a safe Petri net.
//!
//! A place of the net is a line with a value. A transition moves the tokens of the lines that it
//! changes; a line that it only looks at keeps its token.
//!
//! **Reads.** Ordinary nets have no read arcs. So a line has a token for each process that ever
//! reads it, each in a place of its own: *replication of places* (Vogler, Semenov, Yakovlev, CONCUR
//! 1998). Who reads takes the token that is there for it and puts it back, so reads by different
//! processes are not ordered. Who changes the line takes all its tokens. What an event takes of a
//! line shows which reads it comes after: there is an event in the prefix for each set of them, as
//! there is in the unfolding of the net.
//!
//! ```text
//!   x = 0 for P ──read by P── x = 0 for P ──┐
//!   x = 0 for Q ────────────────────────────┴──x := 1── x = 1 for P, x = 1 for Q
//! ```
//!
//! **Cutoffs** have conditions here, which nothing takes: the state to which they lead.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::net::ModelNet;
use crate::model::{Object, Piece, ProcessId, System};
use crate::unfolding::prefix::{Code, Condition, Line, Net, Prefix, PrefixEvent};

/// A prefix as an occurrence net: conditions and events, which belong to places and transitions of
/// a safe net. The events are those of the prefix, with the same numbers.
#[derive(Clone, Debug, Default)]
pub struct OccurrenceNet {
    /// The places. A state marks those that have its values.
    pub places: Vec<NetPlace>,
    /// The conditions: those at the start, and then those that the events make, in their order.
    pub conditions: Vec<NetCondition>,
    /// For each event the number of its transition, counted from 0 without gaps. What a transition
    /// takes and makes is determined.
    pub transitions: Vec<usize>,
}

/// A line with a value, for a reader if it has some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetPlace {
    /// What has the value.
    pub holder: Holder,
    /// The value, by a number. The values of a holder are numbered from 0 as they occur.
    pub value: usize,
    /// The process or carrier for which this place is, if any only reads the value.
    pub reader: Option<Holder>,
}

/// What has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// An object, by its name.
    Object(String),
    /// A process: its local state.
    Process(ProcessId),
    /// What the network does for a process: a receive or an entry, by its number among those that
    /// are open at once.
    Carrier(ProcessId, u32),
    /// The messages at a mailbox from one process, or from all that are started later (`None`).
    Messages(String, Option<ProcessId>),
    /// A message by its number among those of its sender at a mailbox, or whether it is received.
    Message {
        /// The name of the mailbox.
        mailbox: String,
        /// The sender.
        from: ProcessId,
        /// Counted from 0.
        number: u32,
        /// Is it about whether it is received?
        is_taken: bool,
    },
    /// A receive by its number at a mailbox.
    Receive(String, u32),
    /// The entry of a rank in a round of a collective, or whether it has ended.
    Entry {
        /// The name of the collective.
        collective: String,
        /// The rank.
        rank: u32,
        /// Counted from 0.
        round: u32,
        /// Is it about whether it has ended?
        is_end: bool,
    },
}

/// A condition: a place after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetCondition {
    /// The place.
    pub place: usize,
    /// The event that makes it; `None` at the start.
    pub made_by: Option<usize>,
    /// The events that take it, ascending. Any two of them are in conflict.
    pub taken_by: Vec<usize>,
}

/// A condition of the prefix, the line of its reader, and the last event by which this reader has
/// read it.
type Token = (Condition, Option<Line>, Option<PrefixEvent>);

impl OccurrenceNet {
    /// The net of these events, which contain their causes. Causes come first.
    pub(super) fn new<S: System>(
        net: &ModelNet<'_, S>,
        prefix: &Prefix,
        events: &[PrefixEvent],
    ) -> Self {
        let mut weaver = Weaver {
            net,
            prefix,
            readers: readers(prefix, events),
            values: FxHashMap::default(),
            places: FxHashMap::default(),
            tokens: FxHashMap::default(),
            transitions: FxHashMap::default(),
            woven: OccurrenceNet::default(),
        };
        for line in 0..prefix.lines() {
            let root = prefix.start_of(line);
            weaver.make(line, prefix.code(root), Some(root), None);
        }
        for (at, &event) in events.iter().enumerate() {
            weaver.add(at, event);
        }
        weaver.woven
    }
}

/// The processes that read each line without changing it.
fn readers(prefix: &Prefix, events: &[PrefixEvent]) -> Vec<Vec<Line>> {
    let mut readers = vec![BTreeSet::new(); prefix.lines() as usize];
    for &event in events {
        for condition in prefix.read(event) {
            readers[prefix.line(condition) as usize].insert(prefix.event(event).line);
        }
    }
    readers.into_iter().map(|lines| lines.into_iter().collect()).collect()
}

struct Weaver<'w, 's, S: System> {
    net: &'w ModelNet<'s, S>,
    prefix: &'w Prefix,
    readers: Vec<Vec<Line>>,
    /// The numbers of the codes of each line.
    values: FxHashMap<Line, Vec<Code>>,
    places: FxHashMap<(Line, Code, Option<Line>), usize>,
    /// The conditions of the net.
    tokens: FxHashMap<Token, usize>,
    transitions: FxHashMap<u32, usize>,
    woven: OccurrenceNet,
}

impl<S: System> Weaver<'_, '_, S> {
    /// Adds an event with what it takes and makes.
    fn add(&mut self, at: usize, event: PrefixEvent) {
        let (prefix, known) = (self.prefix, self.transitions.len());
        let transition = prefix.event(event).transition;
        let number = *self.transitions.entry(transition).or_insert(known);
        self.woven.transitions.push(number);
        for condition in prefix.consumed(event) {
            for reader in self.copies(prefix.line(condition)) {
                self.take(at, event, condition, reader);
            }
        }
        let own = prefix.event(event).line;
        for condition in prefix.read(event) {
            self.take(at, event, condition, Some(own));
        }
        let mut made = prefix.made(event);
        for condition in prefix.consumed(event) {
            let line = prefix.line(condition);
            self.make(line, self.code_after(transition, line), made.next(), Some(at));
        }
        for condition in prefix.read(event) {
            let (line, code) = (prefix.line(condition), prefix.code(condition));
            let token = (condition, Some(own), Some(event));
            self.put(line, code, Some(token), Some(own), Some(at));
        }
    }

    /// For whom a line has tokens: its readers, or nobody in particular.
    fn copies(&self, line: Line) -> Vec<Option<Line>> {
        match self.readers[line as usize].as_slice() {
            [] => vec![None],
            readers => readers.iter().copied().map(Some).collect(),
        }
    }

    /// The event takes the token of a condition that is there for this reader.
    fn take(&mut self, at: usize, event: PrefixEvent, condition: Condition, reader: Option<Line>) {
        let last = reader.and_then(|reader| self.prefix.last_read(event, condition, reader));
        let token = (condition, reader, last.map(|made| self.prefix.maker(made)));
        let taken = self.tokens[&token];
        self.woven.conditions[taken].taken_by.push(at);
    }

    /// An event makes the tokens of a line. The condition has no number after a cutoff.
    fn make(&mut self, line: Line, code: Code, condition: Option<Condition>, by: Option<usize>) {
        for reader in self.copies(line) {
            let token = condition.map(|condition| (condition, reader, None));
            self.put(line, code, token, reader, by);
        }
    }

    fn put(
        &mut self,
        line: Line,
        code: Code,
        token: Option<Token>,
        reader: Option<Line>,
        made_by: Option<usize>,
    ) {
        let place = self.place(line, code, reader);
        if let Some(token) = token {
            self.tokens.insert(token, self.woven.conditions.len());
        }
        self.woven.conditions.push(NetCondition { place, made_by, taken_by: Vec::new() });
    }

    fn place(&mut self, line: Line, code: Code, reader: Option<Line>) -> usize {
        if let Some(&known) = self.places.get(&(line, code, reader)) {
            return known;
        }
        let values = self.values.entry(line).or_default();
        let value = values.iter().position(|&known| known == code).unwrap_or_else(|| {
            values.push(code);
            values.len() - 1
        });
        let number = self.woven.places.len();
        let (holder, by) = (self.holder(line), reader.map(|reader| self.holder(reader)));
        self.woven.places.push(NetPlace { holder, value, reader: by });
        self.places.insert((line, code, reader), number);
        number
    }

    fn holder(&self, line: Line) -> Holder {
        let name = |object| self.net.locals.name_of(object);
        let at = |mailbox| name(Object::Mailbox(mailbox));
        match self.net.piece(line) {
            Piece::Object(object) => Holder::Object(name(object)),
            Piece::Process(process) => Holder::Process(process),
            Piece::Carrier(process, number) => Holder::Carrier(process, number),
            Piece::Messages(mailbox, from) => Holder::Messages(at(mailbox), from),
            Piece::Message(mailbox, from, number) | Piece::Taken(mailbox, from, number) => {
                let is_taken = matches!(self.net.piece(line), Piece::Taken(..));
                Holder::Message { mailbox: at(mailbox), from, number, is_taken }
            }
            Piece::Receive(mailbox, number) => Holder::Receive(at(mailbox), number),
            Piece::Entry(collective, rank, round) | Piece::End(collective, rank, round) => {
                let is_end = matches!(self.net.piece(line), Piece::End(..));
                let collective = name(Object::Collective(collective));
                Holder::Entry { collective, rank, round, is_end }
            }
        }
    }

    /// The code of a line after a transition that changes it.
    fn code_after(&self, transition: u32, line: Line) -> Code {
        let made = self.net.transition(transition);
        match made.changes.iter().find(|&&(changed, _)| changed == line) {
            Some(&(_, code)) => code,
            None => made.own,
        }
    }
}
