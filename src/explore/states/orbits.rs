//! States up to the names of symmetric processes.
//!
//! C. N. Ip, D. L. Dill, *Better verification through symmetry* (FMSD 9, 1996). All states that are
//! equal up to a permutation of indices (an *orbit*) have the same future up to that permutation.
//! So a search explores one of them. It keeps a *key* of each state: the state with its indices
//! renamed in such a way that all states of an orbit come to the same key ([`super::canonical`]).
//!
//! Only the keys are renamed. The search goes on from the state that it has reached, not from a
//! representative (the states of an orbit are equally good). So each path is an execution, and
//! counterexamples are as they happened.
//!
//! **Soundness.** Two states have the same key only if a permutation maps the terms of one to those
//! of the other. Then it maps its future, too ([`crate::model::Symmetry`]). This holds whatever
//! permutation a key was made with. If the best one was not found, because there are too many to
//! try, then two states of one orbit may have different keys: more states are kept, nothing is
//! missed. The figures say so: then it is not known for how many states they stand.
//!
//! **Cost.** Parts of states repeat. So the term of each part is made once, and renamed once for
//! each way in which the indices in it are renamed.

use rustc_hash::FxHashMap;

use super::canonical::{Canonical, Owner, Part, Terms};
use crate::explore::result::SymmetryFigures;
use crate::model::{
    Delivery, Describer, Group, Locals, Object, ProcessId, State, Symmetry, System, Values,
    has_term,
};

/// With more indices, there is no symmetry: each state takes time for each of them.
const MOST_INDICES: u32 = 128;

/// Makes keys of states.
pub(crate) struct Orbits {
    terms: Terms,
    canonical: Canonical,
    pool: Values,
    /// Of each place of a portrait, what is there.
    places: Vec<Place>,
    /// The terms of parts, by place and number in the portrait.
    known: FxHashMap<(u32, u32), u32>,
    /// Can a part be recognised by its number? Not if the network names its carriers.
    are_parts_known: bool,
    parts: Vec<Part>,
    groups: Vec<Group>,
    /// For how many states those stand that are kept, if that is known.
    stands_for: Option<u128>,
    is_exact: bool,
}

/// What a place of a portrait is about.
#[derive(Clone, Copy)]
struct Place {
    what: What,
    owner: Option<Owner>,
}

#[derive(Clone, Copy)]
enum What {
    Object(Object),
    Process(ProcessId),
}

/// What a search may keep one state of each orbit of, if anything.
pub(crate) fn symmetry_of<'s, S: System>(
    system: &'s S,
    locals: &Locals<'_, S>,
) -> Option<&'s dyn Symmetry<S::Local>> {
    let symmetry = system.foresight().symmetry()?;
    let indices: u32 = symmetry.groups().iter().map(Group::size).sum();
    let have_terms = locals.objects().order().iter().all(|&object| has_term(object));
    let is_fit = indices <= MOST_INDICES && have_terms && !locals.objects().may_grow();
    is_fit.then_some(symmetry)
}

impl Orbits {
    /// No state has a key yet.
    pub(crate) fn new<S: System>(
        symmetry: &dyn Symmetry<S::Local>,
        locals: &Locals<'_, S>,
        state: &State,
    ) -> Orbits {
        let groups = symmetry.groups().to_vec();
        let mut canonical = Canonical::new(&groups);
        let table = locals.objects();
        let count = table.order().len() + locals.initial().len();
        let mut places = vec![None; count];
        for &object in table.order() {
            // An object's array is told from those of other kinds by its first place.
            let owner = symmetry.object(object).map(|member| {
                let class = (std::mem::discriminant(&object), symmetry.array_of(object));
                canonical.owner(class, member, state.place_of(table, object))
            });
            let what = What::Object(object);
            places[state.place_of(table, object)] = Some(Place { what, owner });
        }
        for number in 0..locals.initial().len() as u32 {
            let process = ProcessId(number);
            let at = state.place_of_process(process);
            let owner = symmetry
                .process(process)
                .map(|member| canonical.owner_of_process(symmetry.family_of(process), member, at));
            places[at] = Some(Place { what: What::Process(process), owner });
        }
        let places = places.into_iter().map(|place| place.expect("a place of each part"));
        let has_network = system_has_network(locals);
        Orbits {
            terms: Terms::default(),
            canonical,
            pool: Values::default(),
            places: places.collect(),
            known: FxHashMap::default(),
            are_parts_known: !has_network,
            parts: Vec::new(),
            groups,
            stands_for: Some(0),
            is_exact: true,
        }
    }

    /// Replaces the portrait of a state by its key.
    pub(crate) fn rename<S: System>(
        &mut self,
        portrait: &mut Vec<u32>,
        symmetry: &dyn Symmetry<S::Local>,
        locals: &mut Locals<'_, S>,
        state: &State,
    ) {
        self.parts.clear();
        for (at, place) in self.places.iter().enumerate() {
            let name = (at as u32, portrait.get(at).copied().unwrap_or(0));
            let known = self.known.get(&name).filter(|_| self.are_parts_known);
            let term = known.copied().unwrap_or_else(|| {
                let pool = &mut self.pool;
                let mut describer = Describer { state, locals, symmetry, pool };
                let term = match place.what {
                    What::Object(object) => describer.object(object),
                    What::Process(process) => describer.process(process),
                };
                let term = self.terms.add(term, &self.canonical);
                if self.are_parts_known {
                    self.known.insert(name, term);
                }
                term
            });
            self.parts.push(Part { term, owner: place.owner });
        }
        self.canonical.find(&self.parts, &mut self.terms);
        portrait.clear();
        portrait.extend_from_slice(self.canonical.key());
    }

    /// The state whose key was made last is new.
    pub(crate) fn count(&mut self) {
        self.is_exact &= self.canonical.is_exact();
        let orbit = self.canonical.orbit().filter(|_| self.is_exact);
        self.stands_for =
            self.stands_for.zip(orbit).and_then(|(sum, orbit)| sum.checked_add(orbit));
    }

    /// How many numbers were given to parts of states.
    pub(crate) fn numbers(&self) -> usize {
        self.terms.count() + self.known.len()
    }

    /// The figures.
    pub(crate) fn figures(&self) -> SymmetryFigures {
        let groups = self.groups.iter().map(|group| (group.name.clone(), group.size()));
        let mut permutations = self.groups.iter().map(Group::permutations);
        let permutations = permutations
            .try_fold(1_u64, |product, one| one.and_then(|one| product.checked_mul(one)));
        SymmetryFigures {
            processes: groups.map(|(name, _)| name).collect::<Vec<_>>().join(", "),
            indices: self.groups.iter().map(Group::size).collect(),
            rings: self.groups.iter().map(|group| group.is_ring).collect(),
            permutations,
            stands_for: self.stands_for.and_then(|sum| u64::try_from(sum).ok()),
        }
    }

    /// Bytes in use, about.
    pub(crate) fn bytes(&self) -> usize {
        self.terms.bytes() + self.known.capacity() * 13
    }
}

fn system_has_network<S: System>(locals: &Locals<'_, S>) -> bool {
    let objects = locals.system().objects();
    objects.mailboxes.any(|&delivery| delivery != Delivery::Ordered)
}
