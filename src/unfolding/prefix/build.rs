//! The construction of the prefix.
//!
//! ```text
//! queue := the events that need only the start
//! while there are events in the queue:
//!   for each e of the smallest size |[e]|:  is it a cutoff?
//!   for each e among them that is not:      add its conditions, and find what needs them
//! ```
//!
//! **Queries.** What a process does at its condition b may depend on other lines. It looks at one
//! after the other: a *query* is b with the conditions that it has seen, and the line that it looks
//! at next. Each query meets each condition of that line that is concurrent with all of its
//! conditions, exactly once: when the query is made, it meets those that exist; when a condition is
//! added, it meets the queries that exist. So each event is found exactly once. A condition that is
//! not concurrent with a query has no such condition below it in the tree of its line, so trees are
//! walked from the cut downwards.
//!
//! **Reads.** See `copies` and `arcs`.

use std::cell::Cell;
use std::cmp::Ordering;
use std::mem;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::conditions::{Conditions, NONE};
use super::cuts::{Cut, Cuts};
use super::waiting::{Place, Waiting};
use super::{Code, Condition, Line, Net, Next, PrefixEvent};

#[derive(Clone, Debug)]
pub struct Event {
    /// The line of its process.
    pub line: Line,
    /// The number of its transition.
    pub transition: u32,
    /// The rank of its transition in the order ≺: that of the first event of the transition.
    pub letter: u32,
    /// Its slots: the conditions that it consumes, its own first, and then those that it reads.
    pub(super) slots: (u32, u32),
    /// The number of slots that it consumes.
    pub(super) consumed: u32,
    /// The reads that it comes after because it consumes what they have read.
    pub(super) reads: (u32, u32),
    /// |\[e\]|
    pub(crate) size: u32,
    pub(super) level: u32,
    /// The cut of \[e).
    pub(super) before: Cut,
    /// The cut of \[e\]; that of \[e) until its conditions are added.
    pub(super) cut: Cut,
    hash: u64,
    /// The event that it is a cutoff of; `NONE` if it is not a cutoff.
    pub(super) of: PrefixEvent,
    /// The condition of its process afterwards; `NONE` until it is added.
    pub(super) made: Condition,
}

/// How an event that consumes a condition stands to the events that read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// There is one for each set of them that it comes after.
    Copies,
    /// It comes after all those that are in the configuration.
    Arcs,
}

/// A condition that an event needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) condition: Condition,
    pub(super) event: PrefixEvent,
    /// The next slot that consumes the condition.
    pub(super) next: u32,
}

/// A process at a condition that has looked at some lines, and looks at one more.
#[derive(Clone, Debug)]
pub(super) struct Query {
    chosen: SmallVec<[Condition; 2]>,
    look: u32,
    cut: Cut,
}

/// With more queries at a line than this, only concurrent ones are looked at.
const FEW: usize = 64;

/// The work for an event, where 1 is a look at whether two conditions are concurrent.
const WORK_OF_EVENT: u64 = 16;

/// A prefix of the unfolding of a net.
#[derive(Debug)]
pub struct Prefix {
    pub(super) conditions: Conditions,
    pub(super) cuts: Cuts,
    pub(super) events: Vec<Event>,
    pub(super) slots: Vec<Slot>,
    pub(super) reads: Vec<PrefixEvent>,
    /// Is a line that of a process?
    pub(super) is_process: Vec<bool>,
    pub(super) queries: Vec<Query>,
    pub(super) waiting: Vec<Waiting>,
    /// The events that wait to be added, by size; and the next size.
    buckets: Vec<Vec<PrefixEvent>>,
    pub(super) next: usize,
    /// The events that are no cutoffs, by the hash of their states.
    pub(super) states: HashTable<PrefixEvent>,
    pub(super) cutoffs: usize,
    /// The rank of each transition that has an event.
    letters: FxHashMap<u32, u32>,
    /// Are there no cutoffs, whatever the states are?
    pub(super) is_whole: bool,
    pub(super) reads_as: Reads,
    /// The number of events that come after reads of what they consume.
    pub(super) copies: usize,
    /// The work that was not told yet: about the number of pairs of conditions looked at.
    pub(super) work: Cell<u64>,
    /// Scratch space: which events were met in a walk.
    pub(super) stamps: Vec<u32>,
    pub(super) stamp: u32,
}

impl Prefix {
    /// The prefix with the start alone, and the events that need nothing else in the queue.
    pub fn new(net: &mut impl Net) -> Prefix {
        let start = Event {
            line: NONE,
            transition: NONE,
            letter: NONE,
            slots: (0, 0),
            consumed: 0,
            reads: (0, 0),
            size: 0,
            level: 0,
            before: Cut::START,
            cut: Cut::START,
            hash: 0,
            of: NONE,
            made: NONE,
        };
        let mut prefix = Prefix {
            conditions: Conditions::new(),
            cuts: Cuts::default(),
            events: vec![start],
            slots: Vec::new(),
            reads: Vec::new(),
            is_process: Vec::new(),
            queries: Vec::new(),
            waiting: Vec::new(),
            buckets: Vec::new(),
            next: 0,
            states: HashTable::new(),
            cutoffs: 0,
            letters: FxHashMap::default(),
            is_whole: false,
            reads_as: Reads::Copies,
            copies: 0,
            work: Cell::new(0),
            stamps: Vec::new(),
            stamp: 0,
        };
        prefix.states.insert_unique(0, 0, |_| 0);
        prefix.make_lines(net, net.movers().end);
        for line in net.movers() {
            prefix.start(net, prefix.conditions.root(line));
        }
        prefix
    }

    /// From now on no event is a cutoff: this is the unfolding itself, which must be finite.
    pub fn without_cutoffs(&mut self) {
        self.is_whole = true;
    }

    /// Adds the events of the next size: those that are no cutoffs are appended to `added`, in the
    /// order in which they are added. Returns whether there were any events in the queue. Before
    /// each event, `goes_on` is told the work since the last time, and may end the whole search.
    pub fn grow<N: Net>(
        &mut self,
        net: &mut N,
        added: &mut Vec<PrefixEvent>,
        mut goes_on: impl FnMut(&mut N, u64) -> bool,
    ) -> bool {
        let Some(from) = (self.next..self.buckets.len()).find(|&at| !self.buckets[at].is_empty())
        else {
            return false;
        };
        self.next = from + 1;
        let bucket = mem::take(&mut self.buckets[from]);
        for &event in bucket.iter().take_while(|_| !net.is_stopped()) {
            self.judge(net, event);
        }
        if self.reads_as == Reads::Copies {
            bucket.iter().for_each(|&event| self.copy_after_readers(net, event));
        }
        for event in bucket {
            if !goes_on(net, self.work.take()) {
                break;
            }
            if self.events[event as usize].of == NONE && !net.is_stopped() {
                self.add(net, event);
                added.push(event);
                self.extend(net, event);
            }
        }
        true
    }

    /// Is the event a cutoff, or does it make another one of its size a cutoff?
    fn judge(&mut self, net: &impl Net, event: PrefixEvent) {
        if self.is_whole {
            return;
        }
        let Event { cut, transition, line, .. } = self.events[event as usize];
        let made = net.transition(transition);
        let codes = made.changes.iter().copied().chain([(line, made.own)]);
        let hash = self.cuts.hash_with(&self.conditions, cut, codes);
        self.events[event as usize].hash = hash;
        let is_same = |&other: &PrefixEvent| {
            self.events[other as usize].hash == hash && self.are_same(net, event, other)
        };
        let Some(&other) = self.states.find(hash, is_same) else {
            return self.keep(event);
        };
        if self.events[other as usize].size < self.events[event as usize].size {
            return self.cut_off(event, other);
        }
        match self.compare(event, other) {
            Ordering::Greater => self.cut_off(event, other),
            // Both stay.
            Ordering::Equal => {}
            Ordering::Less => {
                self.cut_off(other, event);
                let is_other = |&one: &PrefixEvent| one == other;
                let entry = self.states.find_entry(hash, is_other).ok();
                entry.expect("an event in the table").remove();
                self.keep(event);
            }
        }
    }

    fn keep(&mut self, event: PrefixEvent) {
        let Prefix { states, events, .. } = self;
        let hash = |&event: &PrefixEvent| events[event as usize].hash;
        states.insert_unique(events[event as usize].hash, event, hash);
    }

    fn cut_off(&mut self, event: PrefixEvent, of: PrefixEvent) {
        self.events[event as usize].of = of;
        self.cutoffs += 1;
    }

    /// Do two local configurations lead to the same state?
    fn are_same(&self, net: &impl Net, e: PrefixEvent, f: PrefixEvent) -> bool {
        (0..self.conditions.lines() as Line)
            .all(|line| self.code_after(net, e, line) == self.code_after(net, f, line))
    }

    /// The code of a line after a local configuration.
    fn code_after(&self, net: &impl Net, event: PrefixEvent, line: Line) -> Code {
        let it = &self.events[event as usize];
        if it.made == NONE && event != 0 {
            let made = net.transition(it.transition);
            let changed = made.changes.iter().find(|&&(changed, _)| changed == line);
            match changed {
                Some(&(_, code)) => return code,
                None if line == it.line => return made.own,
                None => {}
            }
        }
        self.conditions.node(self.base(it.cut, line)).code
    }

    /// Adds the conditions of an event.
    fn add(&mut self, net: &impl Net, event: PrefixEvent) {
        let Event { line, transition, slots, consumed, cut, .. } = self.events[event as usize];
        let made = net.transition(transition);
        let mut entries: SmallVec<[(Line, u32); 8]> = SmallVec::new();
        for at in slots.0..slots.0 + consumed {
            let before = self.slots[at as usize].condition;
            let old = *self.conditions.node(before);
            let (code, steps) = match old.line == line {
                true => (made.own, old.steps + 1),
                false => {
                    let changed = made.changes.iter().find(|&&(changed, _)| changed == old.line);
                    (changed.expect("it is consumed").1, old.steps)
                }
            };
            let new = self.conditions.add(before, code, event, steps);
            entries.push((old.line, new));
        }
        let own = entries[0].1;
        self.events[event as usize].made = own;
        for at in slots.0 + consumed..slots.1 {
            let read = self.slots[at as usize].condition;
            self.conditions.add_reader(read, event);
            if self.reads_as == Reads::Arcs {
                continue;
            }
            let on = self.conditions.node(read).line;
            let mut by = self.conditions.reads_of(self.cuts.entry(cut, on)).to_vec();
            match by.binary_search_by_key(&line, |&(reader, _)| reader) {
                Ok(at) => by[at].1 = own,
                Err(at) => by.insert(at, (line, own)),
            }
            let entry = self.conditions.seen(read, by);
            entries.push((on, entry));
        }
        entries.sort_unstable_by_key(|&(line, _)| line);
        let after = self.cuts.with(&self.conditions, cut, &entries);
        self.events[event as usize].cut = after;
    }

    /// Finds the events that need the conditions of this one, or come after its reads.
    fn extend(&mut self, net: &mut impl Net, event: PrefixEvent) {
        let Event { consumed, made, .. } = self.events[event as usize];
        let new = made..made + consumed;
        // What is made from here on has seen all of this.
        let queries = self.queries.len() as u32;
        for condition in new.clone() {
            self.meet(net, condition, queries);
        }
        if self.reads_as == Reads::Copies {
            self.copy_consumers(net, event);
        }
        for condition in new {
            if self.is_process[self.conditions.node(condition).line as usize] {
                self.start(net, condition);
            }
        }
    }

    /// Makes sure that there are lines up to `end`.
    fn make_lines(&mut self, net: &impl Net, end: Line) {
        while (self.conditions.lines() as Line) < end {
            let line = self.conditions.lines() as Line;
            self.conditions.add_line(net.start(line));
            self.is_process.push(net.is_process(line));
            self.waiting.push(Waiting::default());
        }
    }

    /// Finds what a process does at a condition, with all that there is.
    fn start(&mut self, net: &mut impl Net, condition: Condition) {
        let node = *self.conditions.node(condition);
        let cut = self.events[node.event as usize].cut;
        let next = loop {
            match net.first(node.line, node.code) {
                Some(next) => break next,
                None => self.learn(net, node.line, &[condition]),
            }
        };
        self.go_on(net, &[condition], cut, next);
    }

    /// Learns what the process of the first condition does after these conditions.
    fn learn(&mut self, net: &mut impl Net, line: Line, chosen: &[Condition]) {
        let events = chosen.iter().map(|&condition| self.conditions.node(condition).event);
        let (events, mut past): (SmallVec<[_; 4]>, _) = (events.collect(), Vec::new());
        self.collect(&events, &mut past);
        self.has_worked(past.len() as u64);
        let path: Vec<u32> =
            past.iter().map(|&event| self.events[event as usize].transition).collect();
        net.learn(line, &path);
    }

    /// Goes on with a process that has seen these conditions, the first one being its own.
    fn go_on(&mut self, net: &mut impl Net, chosen: &[Condition], cut: Cut, next: Next) {
        match next {
            Next::Transitions(from, to) => {
                (from..to).for_each(|transition| self.propose(net, chosen, cut, transition));
            }
            Next::Look(look) => self.ask(net, chosen, cut, look),
            Next::Each(from, to) => {
                for part in from..to {
                    let next = loop {
                        match net.part(part) {
                            Some(next) => break next,
                            None => self.learn(net, self.conditions.node(chosen[0]).line, chosen),
                        }
                    };
                    self.go_on(net, chosen, cut, next);
                }
            }
        }
    }

    /// Makes a query, which meets the conditions that there are.
    fn ask(&mut self, net: &mut impl Net, chosen: &[Condition], cut: Cut, look: u32) {
        let line = net.looks_at(look);
        self.make_lines(net, line + 1);
        let query = self.queries.len() as u32;
        self.queries.push(Query { chosen: chosen.into(), look, cut });
        self.waiting[line as usize].add(&self.conditions, chosen[0], query);
        let mut open = vec![self.base(cut, line)];
        while let Some(condition) = open.pop()
            && !net.is_stopped()
        {
            if self.try_query(net, query, condition) {
                self.push_children(condition, &mut open);
            }
        }
    }

    fn push_children(&self, condition: Condition, open: &mut Vec<Condition>) {
        let mut child = self.conditions.node(condition).child;
        while child != NONE {
            open.push(child);
            child = self.conditions.node(child).sibling;
        }
    }

    /// A new condition meets the queries at its line with numbers below `end`.
    fn meet(&mut self, net: &mut impl Net, condition: Condition, end: u32) {
        let line = self.conditions.node(condition).line as usize;
        let count = self.waiting[line].all.partition_point(|&query| query < end);
        if count <= FEW {
            for at in 0..count {
                self.try_query(net, self.waiting[line].all[at], condition);
            }
            return;
        }
        let cut = self.events[self.conditions.node(condition).event as usize].cut;
        for at in 0..self.waiting[line].processes.len() {
            let process = self.waiting[line].processes[at];
            let mut open: Vec<Condition> =
                self.waiting[line].from(&self.conditions, self.base(cut, process)).to_vec();
            while let Some(other) = open.pop()
                && !net.is_stopped()
            {
                if is_found(net, || self.are_concurrent(condition, other)) {
                    let Place { below, queries } = &self.waiting[line].at[&other];
                    open.extend_from_slice(below);
                    for query in queries.clone().into_iter().filter(|&query| query < end) {
                        self.try_query(net, query, condition);
                    }
                }
            }
        }
    }

    /// Can one configuration have both conditions in its cut?
    fn are_concurrent(&self, a: Condition, b: Condition) -> bool {
        self.has_worked(1);
        let (x, y) = (self.conditions.node(a), self.conditions.node(b));
        let (of_a, of_b) = (self.events[x.event as usize].cut, self.events[y.event as usize].cut);
        self.is_current(a, of_b)
            && self.is_current(b, of_a)
            && self.cuts.are_compatible(&self.conditions, of_a, of_b)
    }

    /// Given that a cut is compatible with that of the event that made a condition: has the
    /// condition not been replaced in the cut?
    #[inline]
    pub(super) fn is_current(&self, condition: Condition, cut: Cut) -> bool {
        let node = self.conditions.node(condition);
        self.conditions.node(self.base(cut, node.line)).depth <= node.depth
    }

    /// If a condition is concurrent with all conditions of a query that looks at its line, goes on
    /// with the query. Returns whether it is.
    fn try_query(&mut self, net: &mut impl Net, query: u32, condition: Condition) -> bool {
        if !is_found(net, || self.fits(query, condition)) {
            return false;
        }
        let Query { ref chosen, look, cut } = self.queries[query as usize];
        let mut chosen = chosen.clone();
        chosen.push(condition);
        let node = *self.conditions.node(condition);
        let made_by = self.events[node.event as usize].cut;
        let is_part = self.base(cut, node.line) == condition;
        let cut = match is_part {
            true => cut,
            false => self.cuts.join(&mut self.conditions, cut, made_by),
        };
        let next = loop {
            match net.seen(look, node.code) {
                Some(next) => break next,
                None => {
                    let line = self.conditions.node(chosen[0]).line;
                    self.learn(net, line, &chosen);
                }
            }
        };
        self.go_on(net, &chosen, cut, next);
        true
    }

    /// Is a condition concurrent with all conditions of a query that looks at its line?
    fn fits(&mut self, query: u32, condition: Condition) -> bool {
        self.has_worked(1);
        let Query { ref chosen, cut, .. } = self.queries[query as usize];
        let node = *self.conditions.node(condition);
        let made_by = self.events[node.event as usize].cut;
        let is_possible = self.is_current(condition, cut)
            && chosen.iter().all(|&chosen| self.is_current(chosen, made_by))
            && self.cuts.are_compatible(&self.conditions, cut, made_by);
        if !is_possible || self.reads_as == Reads::Copies {
            return is_possible;
        }
        let mut chosen = chosen.clone();
        chosen.push(condition);
        self.base(cut, node.line) == condition || self.can_be_arranged(&chosen)
    }

    /// Puts an event for this transition into the queue.
    fn propose(&mut self, net: &mut impl Net, chosen: &[Condition], cut: Cut, transition: u32) {
        let end = net.transition(transition).changes.iter().map(|&(line, _)| line + 1).max();
        self.make_lines(net, end.unwrap_or(0));
        let made = net.transition(transition);
        let is_changed = |line| made.changes.iter().any(|&(changed, _)| changed == line);
        let (mut consumed, mut read) =
            (SmallVec::<[Condition; 4]>::new(), SmallVec::<[_; 4]>::new());
        consumed.push(chosen[0]);
        for &condition in &chosen[1..] {
            match is_changed(self.conditions.node(condition).line) {
                true => consumed.push(condition),
                false => read.push(condition),
            }
        }
        for &(line, _) in &made.changes {
            if !consumed.iter().any(|&one| self.conditions.node(one).line == line) {
                // A line that nobody has changed yet.
                debug_assert_eq!(self.base(cut, line), self.conditions.root(line));
                consumed.push(self.conditions.root(line));
            }
        }
        let count = consumed.len() as u32;
        consumed.extend(read);
        let line = made.line;
        let next = self.letters.len() as u32;
        let letter = *self.letters.entry(transition).or_insert(next);
        self.put((line, transition, letter), (&consumed, count), &[], cut);
    }

    /// Puts an event into the queue.
    pub(super) fn put(
        &mut self,
        (line, transition, letter): (Line, u32, u32),
        (conditions, consumed): (&[Condition], u32),
        reads: &[PrefixEvent],
        cut: Cut,
    ) {
        self.has_worked(WORK_OF_EVENT);
        let id = self.events.len() as PrefixEvent;
        let from = self.slots.len() as u32;
        let mut level = 0;
        for (at, &condition) in conditions.iter().enumerate() {
            level = level.max(self.events[self.conditions.node(condition).event as usize].level);
            let mut next = NONE;
            if at < consumed as usize {
                let slot = self.slots.len() as u32;
                next = mem::replace(&mut self.conditions.nodes[condition as usize].consumer, slot);
            }
            self.slots.push(Slot { condition, event: id, next });
        }
        let first = self.reads.len() as u32;
        for &read in reads {
            level = level.max(self.events[read as usize].level);
            self.reads.push(read);
        }
        let size = self.cuts.steps(cut) + 1;
        self.events.push(Event {
            line,
            transition,
            letter,
            slots: (from, self.slots.len() as u32),
            consumed,
            reads: (first, self.reads.len() as u32),
            size,
            level: level + 1,
            before: cut,
            cut,
            hash: 0,
            of: NONE,
            made: NONE,
        });
        if self.buckets.len() <= size as usize {
            self.buckets.resize_with(size as usize + 1, Vec::new);
        }
        self.buckets[size as usize].push(id);
    }
}

/// Are conditions concurrent? Asks `are_concurrent`, unless it is known that they are not.
#[inline]
fn is_found(net: &mut impl Net, are_concurrent: impl FnOnce() -> bool) -> bool {
    let foretold = net.foretold();
    let found = foretold != Some(false) && are_concurrent();
    net.note(foretold, found);
    found
}
