//! The views of invariants: the parts of states that invariants read, and the values for which they
//! hold.
//!
//! An invariant reads only a small part of a state: some cells, the lengths of some mailboxes, some
//! variables. Its *view* of a state has a number for each place of the portrait that it reads.
//! Values that the invariant does not distinguish have the same number. So many states have the
//! same view, and if the invariant holds in one of them, it holds in all. Views in which the
//! invariant holds are cached. States with other views are judged one by one.

#[cfg(feature = "json")]
use std::io::{self, Read, Write};

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::packed::Layout;
#[cfg(feature = "json")]
use crate::explore::saved::{read_words, write_words};
use crate::model::{
    CellId, Invariants as Judgement, LocalId, Locals, MailboxId, Object, ProcessId, State, System,
};
use crate::property::{Invariants, Properties, broken_invariant};

/// The most views of an invariant that are kept.
const MOST: usize = 1 << 20;

/// The views of all invariants that must be judged.
#[derive(Debug, Default)]
pub(crate) struct Views(Vec<Sight>);

/// The views of one invariant.
#[derive(Debug, Default)]
struct Sight {
    invariant: usize,
    places: Vec<Place>,
    /// Indices of the places at which the invariant distinguishes at least two of the values so
    /// far.
    distinguishing: Vec<usize>,
    /// The position of their numbers in a view.
    layout: Layout,
    /// The views for which the invariant holds.
    fine: FxHashSet<SmallVec<[u64; 2]>>,
}

/// A place that the invariant may read.
#[derive(Debug)]
struct Place {
    /// The index in the portrait.
    at: usize,
    what: What,
    /// For each code, the number of its value.
    numbers: Vec<u32>,
    /// The number of different numbers.
    count: u32,
}

#[derive(Debug)]
enum What {
    /// The content of a cell.
    Content,
    /// The length of a mailbox.
    Length(MailboxId),
    /// The local states of a process that the invariant distinguishes: one representative for each
    /// number.
    Process(ProcessId, Vec<LocalId>),
}

impl Views {
    /// No views are cached yet. `codes` are those of the initial state.
    pub(crate) fn new<S: System>(
        locals: &Locals<'_, S>,
        state: &State,
        properties: &Properties,
        codes: &[u32],
    ) -> Views {
        let invariants =
            locals.system().invariants().filter(|_| properties.contain::<Invariants>());
        let sights = invariants.map(|invariants| {
            (0..invariants.count()).map(|number| Sight::new(locals, state, invariants, number))
        });
        let mut views = Views(sights.into_iter().flatten().collect());
        views.learn(codes, locals, state);
        views
    }

    /// Registers the codes of a state, some of which may be new. O(number of places read by
    /// invariants).
    pub(crate) fn learn<S: System>(
        &mut self,
        codes: &[u32],
        locals: &Locals<'_, S>,
        state: &State,
    ) {
        if self.0.is_empty() {
            return;
        }
        let invariants = locals.system().invariants().expect("they have views");
        for sight in &mut self.0 {
            for place in &mut sight.places {
                if codes[place.at] as usize == place.numbers.len() {
                    let number = place.number(sight.invariant, invariants, locals, state);
                    place.numbers.push(number);
                    place.count = place.count.max(number + 1);
                }
            }
            sight.make_room();
        }
    }

    /// Is it cached that all invariants hold in a packed state? `view` is scratch space.
    #[inline]
    pub(crate) fn are_fine(&self, packed: &[u64], layout: &Layout, view: &mut Vec<u64>) -> bool {
        self.0.iter().all(|sight| sight.is_fine(packed, layout, view))
    }

    /// Judges the invariants for which it is not cached that they hold, and returns whether all
    /// hold. `packed` is the packed form of `state`.
    pub(crate) fn judge<S: System>(
        &mut self,
        packed: &[u64],
        layout: &Layout,
        (locals, state): (&Locals<'_, S>, &State),
    ) -> bool {
        let (mut view, mut are_fine) = (Vec::new(), true);
        for sight in &mut self.0 {
            if sight.is_fine(packed, layout, &mut view) {
                continue;
            }
            if broken_invariant(locals, state, sight.invariant).is_some() {
                are_fine = false;
            } else if sight.fine.len() < MOST {
                sight.fine.insert(SmallVec::from_slice(&view));
            }
        }
        are_fine
    }

    /// Writes the views that are cached. The rest is learned.
    #[cfg(feature = "json")]
    pub(crate) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        self.0.iter().try_for_each(|sight| {
            let fine: Vec<u64> = sight.fine.iter().flatten().copied().collect();
            write_words(to, &fine)
        })
    }

    /// Reads the views that were cached.
    #[cfg(feature = "json")]
    pub(crate) fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
        for sight in &mut self.0 {
            // Without a place that distinguishes anything, a view has no words.
            let (fine, width) = (read_words(from)?, sight.layout.width().max(1));
            sight.fine = fine.chunks_exact(width).map(SmallVec::from_slice).collect();
        }
        Ok(())
    }

    /// Bytes in use, about.
    pub(crate) fn bytes(&self) -> usize {
        let fine: usize = self.0.iter().map(|sight| sight.fine.capacity()).sum();
        let places = self.0.iter().flat_map(|sight| &sight.places);
        let numbers: usize = places.map(|place| place.numbers.capacity()).sum();
        fine * (size_of::<SmallVec<[u64; 2]>>() + 1) + numbers * size_of::<u32>()
    }
}

impl Sight {
    fn new<S: System>(
        locals: &Locals<'_, S>,
        state: &State,
        invariants: &dyn Judgement<S::Local>,
        invariant: usize,
    ) -> Sight {
        let met = locals.objects();
        let objects = met.order().iter().filter_map(|&object| {
            let what = match object {
                Object::Cell(id) => {
                    let declared = CellId(met.cells.declared(id.0));
                    invariants.sees_cell(invariant, declared).then_some(What::Content)
                }
                Object::Mailbox(id) => {
                    let declared = MailboxId(met.mailboxes.declared(id.0));
                    let is_seen = invariants.sees_mailbox(invariant, declared);
                    is_seen.then_some(What::Length(declared))
                }
                _ => None,
            };
            Some((state.place_of(met, object), what?))
        });
        let processes = state
            .processes()
            .map(|process| (state.place_of_process(process), What::Process(process, Vec::new())));
        let places = objects.chain(processes);
        let places = places.map(|(at, what)| Place { at, what, numbers: Vec::new(), count: 0 });
        Sight { invariant, places: places.collect(), ..Sight::default() }
    }

    /// Updates the distinguishing places. Changes the layout of views if it has no room for new
    /// numbers.
    fn make_room(&mut self) {
        let Sight { places, distinguishing, layout, fine, .. } = self;
        distinguishing.clear();
        distinguishing.extend((0..places.len()).filter(|&place| places[place].count > 1));
        let counts = distinguishing.iter().map(|&place| places[place].count);
        if !layout.has_room_for(counts.clone()) {
            *layout = Layout::new(counts);
            fine.clear();
        }
    }

    /// Is it cached that the invariant holds in a packed state? Writes its view of the state to
    /// `view`.
    #[inline]
    fn is_fine(&self, packed: &[u64], layout: &Layout, view: &mut Vec<u64>) -> bool {
        view.clear();
        view.resize(self.layout.width(), 0);
        for (field, &place) in self.distinguishing.iter().enumerate() {
            let Place { at, numbers, .. } = &self.places[place];
            self.layout.exchange(view, field, 0, numbers[layout.code(packed, *at) as usize]);
        }
        self.fine.contains(&view[..])
    }
}

impl Place {
    /// The number of the value at this place in `state`.
    fn number<S: System>(
        &mut self,
        invariant: usize,
        invariants: &dyn Judgement<S::Local>,
        locals: &Locals<'_, S>,
        state: &State,
    ) -> u32 {
        match &mut self.what {
            What::Content => self.numbers.len() as u32,
            What::Length(mailbox) => state.length_of_declared(locals, *mailbox) as u32,
            What::Process(process, known) => {
                let here = state.local(*process);
                let is_same = |&one: &LocalId| {
                    !invariants.tells(invariant, *process, locals.get(one), locals.get(here))
                };
                known.iter().position(is_same).unwrap_or_else(|| {
                    known.push(here);
                    known.len() - 1
                }) as u32
            }
        }
    }
}
