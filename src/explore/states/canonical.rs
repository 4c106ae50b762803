//! The canonical form of a state: the same for all states of an orbit.
//!
//! ```text
//! Search(colours):
//!   refine:  the colour of an index := the old one, what it owns, and where it occurs,
//!            each seen through the colours of the indices there; until no class splits
//!   if each index has a colour of its own:
//!     rename the indices in the order of their colours; keep the least result
//!   else: for each index i of the first class that is not alone, twins only once:
//!     Search(colours, with another colour for i)
//! ```
//!
//! This is the method of B. D. McKay, *Practical graph isomorphism* (Congressus Numerantium 30,
//! 1981): refinement, then individualisation where it leaves ties. Colours depend on the state
//! only, not on the numbers of indices. So all states of an orbit have the same tree, and the least
//! leaf is the same.
//!
//! Two indices are *twins* if to swap them changes nothing. Then the branches of the two have the
//! same results, so one of them suffices. Processes that have done nothing yet are twins, so they
//! cost nothing. The automorphisms of the state are the leaves with the least result, each counted
//! as often as there are twins on its path; the orbit has (number of permutations) / (number of
//! automorphisms) states.
//!
//! A ring has few permutations. All rotations are tried.

use std::hash::BuildHasher;
use std::mem::Discriminant;

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use crate::model::{Group, Member, Object, Term};

/// The most leaves for one state. After that the least one so far is taken.
const MOST_LEAVES: u64 = 1_000;

/// A part of a state.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// Its term.
    pub(super) term: u32,
    /// The index that it belongs to.
    pub(super) owner: Option<Owner>,
}

/// Whose part it is: an element of an array, or a process of a family.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    class: u32,
    atom: u32,
}

/// The known terms.
#[derive(Default)]
pub(super) struct Terms {
    ids: FxHashMap<Term, u32>,
    /// Each term, and the indices that occur in it.
    all: Vec<(Term, SmallVec<[u32; 8]>)>,
    /// Renamed terms: the term and the new places of its indices.
    renamed: FxHashMap<(u32, SmallVec<[u8; 12]>), u32>,
    /// Numbers of renamed terms, as words.
    codes: FxHashMap<Box<[u32]>, u32>,
}

impl Terms {
    /// The number of a term.
    pub(super) fn add(&mut self, term: Term, of: &Canonical) -> u32 {
        if let Some(&id) = self.ids.get(&term) {
            return id;
        }
        let id = self.all.len() as u32;
        let mut atoms = SmallVec::new();
        of.collect(&term, &mut atoms);
        atoms.sort_unstable();
        atoms.dedup();
        self.ids.insert(term.clone(), id);
        self.all.push((term, atoms));
        id
    }

    /// The number of a term with its indices renamed.
    fn rename(&mut self, id: u32, images: &[u8], of: &Canonical) -> u32 {
        let Terms { all, renamed, codes, .. } = self;
        let (term, atoms) = &all[id as usize];
        let name = (id, atoms.iter().map(|&atom| images[atom as usize]).collect());
        if let Some(&code) = renamed.get(&name) {
            return code;
        }
        let mut words = Vec::new();
        of.write(term, images, &mut words);
        let next = codes.len() as u32;
        let code = *codes.entry(words.into()).or_insert(next);
        renamed.insert(name, code);
        code
    }

    /// How many numbers of terms there are.
    pub(super) fn count(&self) -> usize {
        self.all.len() + self.codes.len()
    }

    /// Bytes in use, about.
    pub(super) fn bytes(&self) -> usize {
        self.all.len() * 160 + self.renamed.capacity() * 48 + self.codes.len() * 64
    }
}

/// Finds canonical forms.
pub(super) struct Canonical {
    /// For each group, its first index among all, its size, and whether it is a ring.
    groups: Vec<(u32, u32, bool)>,
    count: usize,
    /// Arrays and families.
    classes: FxHashMap<(Option<Discriminant<Object>>, u32), u32>,
    /// For each class, the place in a state of the part of each index.
    seats: Vec<Vec<usize>>,
    best: Vec<u32>,
    leaf: Vec<u32>,
    /// The number of automorphisms found so far.
    automorphisms: u64,
    leaves: u64,
}

impl Canonical {
    pub(super) fn new(groups: &[Group]) -> Canonical {
        let mut first = 0;
        let groups = groups.iter().map(|group| {
            let (from, size) = (first, group.size());
            first += size;
            (from, size, group.is_ring)
        });
        Canonical {
            groups: groups.collect(),
            count: first as usize,
            classes: FxHashMap::default(),
            seats: Vec::new(),
            best: Vec::new(),
            leaf: Vec::new(),
            automorphisms: 0,
            leaves: 0,
        }
    }

    /// Notes that the part at this place belongs to an index, as an element of an array.
    pub(super) fn owner(
        &mut self,
        (kind, array): (Discriminant<Object>, u32),
        member: Member,
        place: usize,
    ) -> Owner {
        self.seat((Some(kind), array), member, place)
    }

    /// The same for a process of a family.
    pub(super) fn owner_of_process(&mut self, family: u32, member: Member, place: usize) -> Owner {
        self.seat((None, family), member, place)
    }

    fn seat(
        &mut self,
        name: (Option<Discriminant<Object>>, u32),
        member: Member,
        place: usize,
    ) -> Owner {
        let next = self.seats.len() as u32;
        let class = *self.classes.entry(name).or_insert(next);
        let size = self.groups[member.group as usize].1 as usize;
        if class == next {
            self.seats.push(vec![usize::MAX; size]);
        }
        self.seats[class as usize][member.place as usize] = place;
        Owner { class, atom: self.atom(member) }
    }

    fn atom(&self, member: Member) -> u32 {
        self.groups[member.group as usize].0 + member.place
    }

    /// The key that was found last.
    pub(super) fn key(&self) -> &[u32] {
        &self.best
    }

    /// Is the key that was found last the least one of its orbit?
    pub(super) fn is_exact(&self) -> bool {
        self.leaves <= MOST_LEAVES
    }

    /// The number of states in the orbit of that state.
    pub(super) fn orbit(&self) -> Option<u128> {
        let mut all = 1_u128;
        for &(_, size, is_ring) in &self.groups {
            let from = if is_ring { size } else { 1 };
            all = (from..=size).try_fold(all, |all, one| all.checked_mul(one.into()))?;
        }
        Some(all / u128::from(self.automorphisms.max(1)))
    }

    /// Finds the key of a state.
    pub(super) fn find(&mut self, parts: &[Part], terms: &mut Terms) {
        self.best.clear();
        (self.automorphisms, self.leaves) = (0, 0);
        let same: Vec<u8> = self.images_of_identity();
        let plain = parts.iter().map(|part| terms.rename(part.term, &same, self)).collect();
        let state = Seen { parts, plain, same };
        let rings: Vec<u32> =
            self.groups.iter().filter(|group| group.2).map(|&(_, size, _)| size).collect();
        let mut turns = vec![0_u32; rings.len()];
        loop {
            let colours = self.first_colours(&turns);
            self.search(&state, colours, &turns, 1, terms);
            // The next combination of rotations.
            let Some(at) = (0..rings.len()).find(|&at| turns[at] + 1 < rings[at]) else { return };
            turns[at] += 1;
            turns[..at].fill(0);
        }
    }

    fn images_of_identity(&self) -> Vec<u8> {
        self.groups.iter().flat_map(|&(_, size, _)| 0..size as u8).collect()
    }

    /// Indices of rings have their rotated places as colours, those of other groups are equal.
    fn first_colours(&self, turns: &[u32]) -> Vec<u64> {
        let mut turns = turns.iter();
        let mut colours = Vec::with_capacity(self.count);
        for (number, &(_, size, is_ring)) in (1_u64..).zip(&self.groups) {
            let turn = if is_ring { *turns.next().expect("one for each ring") } else { 0 };
            colours.extend((0..size).map(|place| match is_ring {
                true => mix(number, u64::from((place + turn) % size) + 1),
                false => mix(number, 0),
            }));
        }
        colours
    }

    fn search(
        &mut self,
        state: &Seen<'_>,
        mut colours: Vec<u64>,
        turns: &[u32],
        weight: u64,
        terms: &mut Terms,
    ) {
        if self.leaves > MOST_LEAVES {
            return;
        }
        self.refine(state, &mut colours, terms);
        let Some(class) = first_tie(&colours) else {
            return self.reach_leaf(state, &colours, turns, weight, terms);
        };
        let mut groups: Vec<(u32, u64)> = Vec::new();
        for atom in class {
            let twin = groups.iter_mut().find(|(one, _)| self.are_twins(state, *one, atom, terms));
            match twin {
                Some((_, count)) => *count += 1,
                None => groups.push((atom, 1)),
            }
        }
        for (atom, count) in groups {
            let mut next = colours.clone();
            next[atom as usize] = mix(next[atom as usize], CHOSEN);
            self.search(state, next, turns, weight.saturating_mul(count), terms);
        }
    }

    /// Renames the indices in the order of their colours, those of rings by their turn.
    fn reach_leaf(
        &mut self,
        state: &Seen<'_>,
        colours: &[u64],
        turns: &[u32],
        weight: u64,
        terms: &mut Terms,
    ) {
        self.leaves += 1;
        let mut turns = turns.iter();
        let mut images = vec![0_u8; self.count];
        for &(first, size, is_ring) in &self.groups {
            let atoms = first..first + size;
            let mut order: Vec<u32> = atoms.clone().collect();
            order.sort_by_key(|&atom| colours[atom as usize]);
            let turn = if is_ring { *turns.next().expect("one for each ring") } else { 0 };
            for (place, &atom) in (0..).zip(&order) {
                match is_ring {
                    true => images[(first + place) as usize] = ((place + turn) % size) as u8,
                    false => images[atom as usize] = place as u8,
                }
            }
        }
        let mut leaf = std::mem::take(&mut self.leaf);
        leaf.clear();
        leaf.resize(state.parts.len(), 0);
        for (at, part) in state.parts.iter().enumerate() {
            leaf[self.seat_of(at, part, &images)] = terms.rename(part.term, &images, self);
        }
        if self.best.is_empty() || leaf < self.best {
            std::mem::swap(&mut self.best, &mut leaf);
            self.automorphisms = weight;
        } else if leaf == self.best {
            self.automorphisms = self.automorphisms.saturating_add(weight);
        }
        self.leaf = leaf;
    }

    /// Where the part at place `at` goes when indices are renamed.
    fn seat_of(&self, at: usize, part: &Part, images: &[u8]) -> usize {
        part.owner.map_or(at, |Owner { class, atom }| {
            self.seats[class as usize][images[atom as usize] as usize]
        })
    }

    /// Does it change nothing to swap two indices?
    fn are_twins(&self, state: &Seen<'_>, one: u32, other: u32, terms: &mut Terms) -> bool {
        let mut images = state.same.clone();
        images.swap(one as usize, other as usize);
        state.parts.iter().enumerate().all(|(at, part)| {
            let of = |atom: u32| atom == one || atom == other;
            let is_about = part.owner.is_some_and(|owner| of(owner.atom))
                || terms.all[part.term as usize].1.iter().any(|&atom| of(atom));
            let seat = self.seat_of(at, part, &images);
            !is_about || terms.rename(part.term, &images, self) == state.plain[seat]
        })
    }

    /// Splits classes of colours until none splits any more.
    fn refine(&self, state: &Seen<'_>, colours: &mut Vec<u64>, terms: &Terms) {
        let mut classes = count_classes(colours);
        while classes < self.count {
            let mut seen = vec![0_u64; self.count];
            for (at, part) in state.parts.iter().enumerate() {
                let (term, atoms) = &terms.all[part.term as usize];
                let own = part.owner.map(|owner| owner.atom);
                if atoms.is_empty() && own.is_none() {
                    continue;
                }
                let (place, colour) = match part.owner {
                    Some(Owner { class, atom }) => (u64::from(class), colours[atom as usize]),
                    None => (at as u64 + (1 << 32), 0),
                };
                let look = Look { of: self, colours, own };
                let hash = look.hash(term);
                if let Some(own) = own {
                    let seen = &mut seen[own as usize];
                    *seen = seen.wrapping_add(mix(mix(place, 1), hash));
                }
                look.scatter(term, mix(mix(mix(place, 2), colour), hash), &mut seen);
            }
            let both = colours.iter_mut().zip(seen);
            both.for_each(|(colour, seen)| *colour = mix(*colour, seen));
            let now = count_classes(colours);
            if now == classes {
                return;
            }
            classes = now;
        }
    }

    /// The indices in a term.
    fn collect(&self, term: &Term, atoms: &mut SmallVec<[u32; 8]>) {
        match term {
            Term::Word(_) => {}
            Term::Member(member) => atoms.push(self.atom(*member)),
            Term::Row(parts) | Term::Bag(parts) => {
                parts.iter().for_each(|part| self.collect(part, atoms));
            }
            Term::Array(group, _, items) => {
                let (first, size, _) = self.groups[*group as usize];
                atoms.extend(first..first + size);
                items.iter().for_each(|item| self.collect(item, atoms));
            }
        }
    }

    /// Writes a term with its indices renamed. Different terms are different lists.
    fn write(&self, term: &Term, images: &[u8], words: &mut Vec<u32>) {
        match term {
            Term::Word(word) => words.extend([0, *word]),
            Term::Member(member) => {
                words.extend([1, member.group, images[self.atom(*member) as usize].into()]);
            }
            Term::Row(parts) => {
                words.extend([2, parts.len() as u32]);
                parts.iter().for_each(|part| self.write(part, images, words));
            }
            Term::Bag(parts) => {
                let mut all: Vec<Vec<u32>> = parts
                    .iter()
                    .map(|part| {
                        let mut words = Vec::new();
                        self.write(part, images, &mut words);
                        words
                    })
                    .collect();
                all.sort_unstable();
                words.extend([3, parts.len() as u32]);
                all.iter().for_each(|part| words.extend(part));
            }
            Term::Array(group, from, items) => {
                words.extend([4, *group, items.len() as u32]);
                let mut order: Vec<usize> = (0..items.len()).collect();
                let (first, size, _) = self.groups[*group as usize];
                for place in 0..size {
                    let to = u32::from(images[(first + place) as usize]);
                    order[(from + to) as usize] = (from + place) as usize;
                }
                order.iter().for_each(|&at| self.write(&items[at], images, words));
            }
        }
    }
}

/// A state.
struct Seen<'p> {
    parts: &'p [Part],
    /// The numbers of its terms as they are.
    plain: Vec<u32>,
    /// The images of indices that stay as they are.
    same: Vec<u8>,
}

/// Sees a part of a state through the colours of indices.
struct Look<'l> {
    of: &'l Canonical,
    colours: &'l [u64],
    /// The index to which the part belongs.
    own: Option<u32>,
}

/// Stands for the index to which a part belongs.
const OWN: u64 = 0x5e1f;
/// Marks the index that was chosen among equal ones.
const CHOSEN: u64 = 0xc05e;

impl Look<'_> {
    fn colour(&self, atom: u32) -> u64 {
        if self.own == Some(atom) { OWN } else { self.colours[atom as usize] }
    }

    fn hash(&self, term: &Term) -> u64 {
        match term {
            Term::Word(word) => mix(1, (*word).into()),
            Term::Member(member) => mix(2, self.colour(self.of.atom(*member))),
            Term::Row(parts) => parts.iter().fold(3, |hash, part| mix(hash, self.hash(part))),
            Term::Bag(parts) => {
                let sum = parts.iter().fold(0_u64, |sum, part| sum.wrapping_add(self.hash(part)));
                mix(4, sum)
            }
            Term::Array(group, from, items) => {
                let each = (0..)
                    .zip(items)
                    .map(|(at, item)| mix(self.position(*group, *from, at), self.hash(item)));
                mix(5, each.fold(0, u64::wrapping_add))
            }
        }
    }

    /// The position of an item: by its index, or fixed.
    fn position(&self, group: u32, from: u32, at: u32) -> u64 {
        match self.index(group, from, at) {
            Some(atom) => mix(6, self.colour(atom)),
            None => mix(7, at.into()),
        }
    }

    fn index(&self, group: u32, from: u32, at: u32) -> Option<u32> {
        let (first, size, _) = self.of.groups[group as usize];
        let place = at.checked_sub(from).filter(|&place| place < size)?;
        Some(first + place)
    }

    /// Tells each index where it occurs.
    fn scatter(&self, term: &Term, around: u64, seen: &mut [u64]) {
        let mut tell = |atom: u32, what: u64| {
            if self.own != Some(atom) {
                let seen = &mut seen[atom as usize];
                *seen = seen.wrapping_add(what);
            }
        };
        match term {
            Term::Word(_) => {}
            Term::Member(member) => tell(self.of.atom(*member), mix(around, 8)),
            Term::Row(parts) => {
                for (at, part) in (0..).zip(parts) {
                    self.scatter(part, mix(around, at), seen);
                }
            }
            Term::Bag(parts) => {
                for part in parts {
                    self.scatter(part, mix(around, self.hash(part)), seen);
                }
            }
            Term::Array(group, from, items) => {
                for (at, item) in (0..).zip(items) {
                    let hash = self.hash(item);
                    if let Some(atom) = self.index(*group, *from, at) {
                        tell(atom, mix(mix(around, 9), hash));
                    }
                }
                for (at, item) in (0..).zip(items) {
                    let around = mix(around, self.position(*group, *from, at));
                    self.scatter(item, mix(around, self.hash(item)), seen);
                }
            }
        }
    }
}

/// A hash of two numbers.
fn mix(one: u64, other: u64) -> u64 {
    let mixed = FxBuildHasher.hash_one((one ^ 0x9e37_79b9_7f4a_7c15, other));
    mixed ^ (mixed >> 29)
}

fn count_classes(colours: &[u64]) -> usize {
    let mut sorted = colours.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// The indices of the first class that has several; `None` if there is no such class.
fn first_tie(colours: &[u64]) -> Option<Vec<u32>> {
    let mut sorted = colours.to_vec();
    sorted.sort_unstable();
    let tie = sorted.windows(2).find(|two| two[0] == two[1])?[0];
    let members = (0..).zip(colours).filter(|&(_, &colour)| colour == tie);
    Some(members.map(|(atom, _)| atom).collect())
}
