//! Claims of the static analysis, compared with what processes do.
//!
//! Reductions leave out executions because [`Foresight`](super::Foresight) claims that a process
//! never does a certain thing. A wrong claim would lose executions silently. So each executed
//! operation is compared with the claims at every local state that its process passed through
//! before, and that its parent passed through before the spawn. A claim that does not hold ends the
//! program with an internal error: no verdict is better than a wrong one.
//!
//! In debug builds, and after [`audit_everything`], every executed operation is compared. The local
//! states form a graph, in which a step of a process is an edge. A deed at a local state is
//! recorded there and at all its predecessors in the graph, and is compared once for each local
//! state. So an execution costs no more than its own steps, whatever its length. A path of this
//! graph need not be part of one execution. But a claim is about one process, and any response may
//! come; so the claim has to hold on all paths.
//!
//! In release builds a sample is compared: the first steps, then fewer and fewer, and finally one
//! step in [`EACH`], with the last [`BACK`] local states of the process and its first one.

use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::state::State;
use super::{
    End, Envelope, LocalId, Locals, MailboxId, May, Next, Op, ProcessId, Reach, Response, System,
    Touch, Values,
};

/// In release builds, every `EACH`-th step is compared once a search is long.
const EACH: u64 = 4096;
/// Number of previous local states with which a step of the sample is compared.
const BACK: usize = 16;
/// Number of local states for which [`Reach`] is computed from the local state itself. For further
/// ones it is computed from their place in the program only.
const MOST_REACHES: usize = 1_000;
/// Number of local states that are searched for a way back to the first one.
const MOST_RETURNS: usize = 1_000;

static EVERYTHING: AtomicBool = AtomicBool::new(cfg!(debug_assertions));

/// From now on every executed operation is compared with the claims, as in debug builds.
pub fn audit_everything() {
    EVERYTHING.store(true, Ordering::Relaxed);
}

/// Is every operation compared, and not only a sample?
pub(super) fn is_total() -> bool {
    EVERYTHING.load(Ordering::Relaxed)
}

/// Something that an operation did, of a kind that claims are made about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Deed {
    Touch(Touch),
    Post(MailboxId, End, Envelope),
    Spawn,
}

/// The local states and deeds that were compared so far.
#[derive(Default)]
pub(super) struct Audit {
    steps: u64,
    /// The value of `steps` at which the next comparison is due.
    next: u64,
    /// The direct predecessors of each local state.
    before: FxHashMap<LocalId, SmallVec<[LocalId; 2]>>,
    /// What was done at each local state or after it.
    deeds: FxHashMap<LocalId, FxHashSet<Deed>>,
    /// The direct successors of each local state by steps that changed no object.
    observed: FxHashMap<LocalId, FxHashSet<LocalId>>,
    reaches: FxHashMap<LocalId, Option<Reach>>,
}

impl State {
    /// Compares the last action with the claims, if a comparison is due.
    #[inline]
    pub(super) fn audit<S: System>(&self, locals: &mut Locals<'_, S>) {
        locals.audit.steps += 1;
        if locals.audit.steps >= locals.audit.next {
            self.audit_now(locals);
        }
    }

    #[inline(never)]
    fn audit_now<S: System>(&self, locals: &mut Locals<'_, S>) {
        let steps = locals.audit.steps;
        if is_total() {
            locals.audit.next = steps + 1;
            self.audit_all(locals);
        } else {
            locals.audit.next = (2 * steps).min(steps + EACH);
            self.audit_sample(locals);
        }
    }

    fn audit_all<S: System>(&self, locals: &mut Locals<'_, S>) {
        let position = self.depth() - 1;
        let (process, before) = (self.action(position).process, self.before(position));
        let mut audit = std::mem::take(&mut locals.audit);
        let after = self.local(process);
        if before != LocalId::CARRIER {
            assert_sight_is_kept(locals.system(), process, locals.get(after));
            audit.connect(locals, before, after);
            if let Some(&Op::Spawn(child)) = locals.op(before) {
                audit.connect(locals, before, child);
            }
            let may_observe = locals.op(before).is_some_and(Op::may_observe);
            if may_observe && self.effect(locals).is_observation() {
                audit.observe(locals, before, after);
            }
        }
        let place = self.origin(position);
        for deed in self.deeds(locals) {
            audit.note(locals, place, deed);
        }
        locals.audit = audit;
    }

    fn audit_sample<S: System>(&self, locals: &mut Locals<'_, S>) {
        let position = self.depth() - 1;
        let process = self.action(position).process;
        let is_own = |&at: &usize| self.action(at).process == process;
        let earlier = (0..=position).rev().filter(is_own).take(BACK);
        let first = (0..=position).find(is_own);
        let places: SmallVec<[LocalId; BACK]> =
            earlier.chain(first).map(|at| self.before(at)).collect();
        for deed in self.deeds(locals) {
            for &place in places.iter().filter(|&&place| place != LocalId::CARRIER) {
                if !locals.is_foreseen(place, deed) {
                    contradiction(locals, place, &deed);
                }
            }
        }
    }

    /// The local state that decided that the action at this position may happen: for a carrier, the
    /// one in which the request that it carries was posted; otherwise, the one in which the process
    /// acted.
    fn origin(&self, position: usize) -> LocalId {
        match self.is_carrier(self.action(position).process) {
            true => self.before(self.carried_from(self.carried_at(position))),
            false => self.before(position),
        }
    }

    fn deeds<S: System>(&self, locals: &Locals<'_, S>) -> SmallVec<[Deed; 4]> {
        let mut deeds = SmallVec::new();
        self.touches(locals, |touch| deeds.push(Deed::Touch(touch)));
        match locals.op(self.before(self.depth() - 1)) {
            Some(&(Op::Isend { mailbox, envelope, .. } | Op::Send { mailbox, envelope, .. })) => {
                deeds.push(Deed::Post(mailbox, End::Send, envelope));
            }
            Some(&(Op::Irecv { mailbox, pattern } | Op::Receive { mailbox, pattern })) => {
                deeds.push(Deed::Post(mailbox, End::Receive, pattern));
            }
            Some(Op::Spawn(_)) => deeds.push(Deed::Spawn),
            _ => {}
        }
        deeds
    }
}

impl Audit {
    /// Forgets what is about local states that are not kept.
    pub(super) fn forget(&mut self, is_kept: impl Fn(LocalId) -> bool) {
        self.before.retain(|&id, before| {
            before.retain(|id| is_kept(*id));
            is_kept(id)
        });
        self.deeds.retain(|&id, _| is_kept(id));
        self.observed.retain(|&id, after| {
            after.retain(|&id| is_kept(id));
            is_kept(id)
        });
        self.reaches.retain(|&id, _| is_kept(id));
    }

    /// Records that a step leads from one local state to the other.
    fn connect<S: System>(&mut self, locals: &mut Locals<'_, S>, from: LocalId, to: LocalId) {
        let known = self.before.entry(to).or_default();
        if known.contains(&from) {
            return;
        }
        known.push(from);
        for deed in self.deeds.get(&to).cloned().into_iter().flatten() {
            self.note(locals, from, deed);
        }
    }

    /// Records a deed at a local state and at all its predecessors, and compares it there.
    fn note<S: System>(&mut self, locals: &mut Locals<'_, S>, place: LocalId, deed: Deed) {
        let mut pending = vec![place];
        while let Some(place) = pending.pop() {
            if self.deeds.entry(place).or_default().insert(deed) {
                self.compare(locals, place, deed);
                pending.extend(self.before.get(&place).into_iter().flatten());
            }
        }
    }

    fn compare<S: System>(&mut self, locals: &mut Locals<'_, S>, place: LocalId, deed: Deed) {
        let is_kept = self.reaches.len() < MOST_REACHES;
        if is_kept && !self.reaches.contains_key(&place) {
            self.reaches.insert(place, locals.reach(place));
        }
        let reach = self.reaches.get(&place).and_then(Option::as_ref);
        let is_reached = reach.is_none_or(|reach| is_in(locals, reach, deed));
        if !is_reached || !locals.is_foreseen(place, deed) {
            contradiction(locals, place, &deed);
        }
    }

    /// Records that a step that changed no object leads from one local state to the other.
    fn observe<S: System>(&mut self, locals: &Locals<'_, S>, from: LocalId, to: LocalId) {
        let is_foreseen = locals.may_return(from) && locals.may_return(to);
        if is_foreseen || !self.observed.entry(from).or_default().insert(to) {
            return;
        }
        let (mut seen, mut pending) = (FxHashSet::default(), vec![to]);
        while let Some(place) = pending.pop().filter(|_| seen.len() < MOST_RETURNS) {
            assert!(
                place != from,
                "internal error, please report it: a process comes back to {:?}, which was ruled out",
                locals.get(from),
            );
            let next = self.observed.get(&place).into_iter().flatten();
            pending.extend(next.filter(|&&next| seen.insert(next)));
        }
    }
}

/// Does the reach allow this deed?
fn is_in<S: System>(locals: &Locals<'_, S>, reach: &Reach, deed: Deed) -> bool {
    match deed {
        Deed::Touch(touch) => reach.contains(locals.declared(touch)),
        Deed::Post(mailbox, end, envelope) => {
            let post = locals.declared(Touch::new(mailbox.posts(end), May::Change));
            // A receive may accept anything for the parts that its pattern leaves open.
            const ANYTHING: Option<i64> = Some(i64::MIN);
            let partners = match end {
                End::Send => [envelope, Envelope::default()],
                End::Receive => {
                    let Envelope { src, tag } = envelope;
                    [envelope, Envelope { src: src.or(ANYTHING), tag: tag.or(ANYTHING) }]
                }
            };
            partners.into_iter().all(|partner| reach.may_meet(post, partner))
        }
        Deed::Spawn => true,
    }
}

impl<S: System> Locals<'_, S> {
    /// Do the claims about the process, and about its place in the program, allow this deed?
    fn is_foreseen(&mut self, place: LocalId, deed: Deed) -> bool {
        match deed {
            Deed::Touch(touch) => self.may_still_touch(place, touch),
            Deed::Post(mailbox, End::Send, envelope) => self.may_send(place, mailbox, envelope),
            Deed::Post(..) => true,
            Deed::Spawn => self.system().foresight().may_spawn(),
        }
    }
}

/// Ends the program: its behaviour contradicts a claim about it.
fn contradiction<S: System>(locals: &Locals<'_, S>, place: LocalId, deed: &Deed) -> ! {
    let (process, local) =
        (locals.system().describe().process_name(locals.get(place)), locals.get(place));
    panic!(
        "internal error, please report it: {process} has done {deed:?} after a local state from which \
         that was ruled out: {local:?}"
    )
}

/// Checks that a step has the same result, whether or not what no future depends on was left out
/// before it ([`Foresight::without_dead`](super::Foresight::without_dead)).
///
/// # Panics
/// If the results differ.
pub(super) fn assert_future_is_kept<S: System>(
    system: &S,
    local: &S::Local,
    response: Response,
    values: &mut Values,
) {
    let Some(alive) = system.foresight().without_dead(local) else { return };
    let mut future = |from: &S::Local| {
        let after = system.resume(from, response, values);
        let next = [from, &after].map(|local| system.next(local, values));
        // Only `final` reads what a failed process remembers, and what `final` reads is never dead.
        let has_failed = matches!(next[1], Next::Failed(_));
        let after = system.foresight().without_dead(&after).unwrap_or(after);
        (next, (!has_failed).then_some(after))
    };
    let (known, assumed) = (future(local), future(&alive));
    assert_eq!(
        known, assumed,
        "internal error, please report it: {local:?} has another future than {alive:?}"
    );
}

/// Checks that no invariant distinguishes a local state from itself without what no future depends
/// on.
///
/// # Panics
/// If an invariant does.
fn assert_sight_is_kept<S: System>(system: &S, process: ProcessId, local: &S::Local) {
    let Some(invariants) = system.invariants() else { return };
    let Some(alive) = system.foresight().without_dead(local) else { return };
    let mut all = 0..invariants.count();
    assert!(
        !all.any(|invariant| invariants.tells(invariant, process, local, &alive)),
        "internal error, please report it: an invariant distinguishes {local:?} from {alive:?}, which must look the same to it"
    );
}
