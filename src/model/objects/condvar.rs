//! Condition variables: the processes that wait at them, and the notifications.
//!
//! `cond_wait(c, m)` is five steps: *enrol* at c, unlock m, wait to be woken, and lock m again (a
//! request and a wait). Since it enrols before it unlocks, this is equivalent to one atomic step. A
//! process that holds m notifies before the enrolment or after the unlock. A process that does not
//! hold m may notify in between; it may wake the process that has enrolled, as it could also have
//! done a moment later, after the unlock of m. A process that is woken has to lock m in any case,
//! so no process observes whether it unlocked m before the notification or just after it.
//!
//! `notify_one` is two steps. The *notification* comes first. Its candidates are the processes that
//! have enrolled before it and are not woken yet. Then it *wakes* one of them (or none, if there is
//! none): which one is a choice, and each one is explored, since POSIX promises no order.
//! `notify_all` wakes all its candidates. Notifications wake in their order: a process that one
//! notification wakes is not a candidate of the next. So a wake step waits until all earlier
//! notifications have woken. It never waits for long, because between the two steps its process
//! does nothing else.
//!
//! **Which actions commute.** A notification may wake the processes that have enrolled before it.
//! So enrolments are reads, and notifications are changes; two enrolments commute, since candidates
//! are ordered by process and not by enrolment. A wake step depends on the previous wake step, and
//! its candidates follow from its history; so it is a choice like `choose`, and never in a race.
//! The wait depends on the step that woke it.
//!
//! **Spurious wake-ups.** Until it wakes up, a process that wakes up spuriously does not differ
//! from one that never enrolled: if a notification had woken it, the wake-up would not be spurious,
//! and a notification that woke another process would have done so without it. So such a wait is an
//! unlock and a lock, after a choice. It needs no operation.

use smallvec::SmallVec;

use super::{NONE, ObjectId, Operation, Place, Posted, World};
use crate::model::locals::Births;
use crate::model::state::{Done, Parts, State};
use crate::model::{
    CondvarId, Effect, Handle, Lane, Locals, May, Mode, Need, Needs, Part, PartSet, ProcessId,
    Response, System, Touch, Values,
};

impl CondvarId {
    /// The lane of the notifications, and of the enrolments that see how many there were.
    pub(crate) fn notes(self) -> Lane {
        Lane::new(Part::Notes, self.0)
    }

    /// The lane of the wake steps of notifications.
    pub(crate) fn wakes(self) -> Lane {
        Lane::new(Part::Wakes, self.0)
    }

    /// The effect of the wake step of the notification at this place.
    pub(crate) fn wake(self, place: u32) -> Effect {
        Effect::act_at(self.wakes(), Mode::Change, place)
    }
}

impl ObjectId for CondvarId {
    type Declared = ();
    type Start = ();

    const PARTS: &'static [Part] = &[Part::Notes, Part::Wakes];
    const IS_ALONE: bool = true;

    fn start(_: &(), _: &mut Values) {}

    fn begin(state: &mut State, _: ()) {
        state.condvars.push(Condvar::default());
    }

    fn slot<S: System>(self, state: &State, _: &mut Locals<'_, S>, parts: &mut Parts) -> u32 {
        let condvar = state.condvar(self);
        let over = condvar.over();
        // The open notifications: whose, and is it for all? Then the waiting processes, each with
        // the first open notification that may wake it.
        let open = &condvar.notifications()[over as usize..];
        let waiting = condvar.waiting();
        let mut waiting: Vec<(u32, u32)> =
            waiting.map(|one| (one.turn.saturating_sub(over), one.process.0)).collect();
        waiting.sort_unstable();
        if waiting.is_empty() && open.is_empty() {
            return Parts::EMPTY;
        }
        let whose = open.iter().flat_map(|one| [one.process.0, u32::from(one.is_for_all)]);
        let open = [open.len() as u32].into_iter().chain(whose);
        parts.list(open.chain(waiting.into_iter().flat_map(|(turn, process)| [turn, process])))
    }

    fn has_open_requests(self, state: &State) -> bool {
        // A process ends after its enrolment was woken and its notification has woken, or it has
        // crashed, and then nobody waits at its enrolment.
        let _ = state;
        false
    }
}

/// An enrolment of a process at a condition variable, which it waits at or waited at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enrolment {
    pub(crate) process: ProcessId,
    /// Number of notifications before it.
    pub(crate) turn: u32,
    woken_by: u32,
}

impl Enrolment {
    /// The notification that woke it, if one did.
    pub fn woken_by(&self) -> Option<u32> {
        super::place(self.woken_by)
    }
}

/// A notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The process.
    pub process: ProcessId,
    /// Is it for all waiting processes, or for one of them?
    pub is_for_all: bool,
}

/// A condition variable, with its past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Condvar {
    enrolments: Vec<Enrolment>,
    notifications: Vec<Notification>,
    /// Number of notifications whose wake step is done.
    over: u32,
}

impl Condvar {
    /// All enrolments, in order.
    pub(crate) fn enrolments(&self) -> &[Enrolment] {
        &self.enrolments
    }

    /// All notifications, in order.
    pub fn notifications(&self) -> &[Notification] {
        &self.notifications
    }

    /// The number of notifications whose wake step is done.
    pub(crate) fn over(&self) -> u32 {
        self.over
    }

    /// The enrolments that were not woken, in order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Enrolment> {
        self.enrolments.iter().filter(|enrolment| enrolment.woken_by == NONE)
    }

    /// The candidates of a notification, once all earlier ones have woken: positions of enrolments,
    /// by process. (A process has several if it crashed while it waited, and started again.)
    pub(crate) fn candidates(&self, notification: u32) -> SmallVec<[u32; 4]> {
        let is_candidate =
            |one: &Enrolment| one.turn <= notification && one.woken_by >= notification;
        let all = self.enrolments.iter().enumerate().filter(|(_, one)| is_candidate(one));
        let mut found: SmallVec<[u32; 4]> = all.map(|(at, _)| at as u32).collect();
        found.sort_unstable_by_key(|&at| (self.enrolments[at as usize].process, at));
        found
    }
}

impl State {
    /// A condition variable.
    pub(crate) fn condvar(&self, id: CondvarId) -> &Condvar {
        &self.condvars[id.index()]
    }

    /// The enrolment of a process.
    pub fn enrolment(&self, process: ProcessId, handle: Handle) -> Enrolment {
        match self.posted(process, handle) {
            Posted::Enrolment(condvar, at) => self.condvar(condvar).enrolments[at as usize],
            other => panic!("{handle:?} of {process:?} is not an enrolment but {other:?}"),
        }
    }

    /// The position of a notification.
    pub fn notification(&self, process: ProcessId, handle: Handle) -> u32 {
        match self.posted(process, handle) {
            Posted::Notification(_, position) => position,
            other => panic!("{handle:?} of {process:?} is not a notification but {other:?}"),
        }
    }
}

/// The enrolment of a cond_wait.
pub(in crate::model) struct Enrol(pub(in crate::model) CondvarId);

impl Operation for Enrol {
    fn lane(&self, _: &State) -> Option<Lane> {
        Some(self.0.notes())
    }

    fn at(&self, state: &State, _: &mut Values, process: ProcessId, _: u32) -> (Mode, Response) {
        (Mode::Mark, state.next_posted(process))
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let process = done.action.process;
        let condvar = &mut state.condvars[self.0.index()];
        let turn = condvar.notifications.len() as u32;
        condvar.enrolments.push(Enrolment { process, turn, woken_by: NONE });
        let position = condvar.enrolments.len() as u32 - 1;
        state.note(process, Posted::Enrolment(self.0, position))
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        state.condvars[self.0.index()].enrolments.pop();
        state.unnote(done.action.process);
    }

    fn effect<S: System>(&self, _: &Place<'_, '_, S>, _: &Done) -> Effect {
        Effect::act(self.0.notes(), Mode::Mark)
    }

    fn may<S: System>(&self, _: &State, _: &S) -> May {
        May::Look
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// The wait of a cond_wait.
pub(in crate::model) struct Wait {
    pub(in crate::model) condvar: CondvarId,
    pub(in crate::model) handle: Handle,
}

impl Operation for Wait {
    fn way<S: System>(&self, at: &Place<'_, '_, S>, _: u32, needs: &mut Needs) -> Option<Response> {
        let by = at.state.enrolment(at.process, self.handle).woken_by()?;
        needs.push(Need::At(self.condvar.wakes(), by));
        Some(Response::Unit)
    }

    fn awaits(&self) -> PartSet {
        Part::Wakes.alone()
    }

    fn may_observe(&self) -> bool {
        true
    }
}

/// The notification of a notify_one or notify_all.
pub(in crate::model) struct Notify {
    pub(in crate::model) condvar: CondvarId,
    pub(in crate::model) all: bool,
}

impl Operation for Notify {
    fn lane(&self, _: &State) -> Option<Lane> {
        Some(self.condvar.notes())
    }

    fn at(&self, state: &State, _: &mut Values, process: ProcessId, _: u32) -> (Mode, Response) {
        (Mode::Change, state.next_posted(process))
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let process = done.action.process;
        let notifications = &mut state.condvars[self.condvar.index()].notifications;
        notifications.push(Notification { process, is_for_all: self.all });
        let position = notifications.len() as u32 - 1;
        state.note(process, Posted::Notification(self.condvar, position))
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        state.condvars[self.condvar.index()].notifications.pop();
        state.unnote(done.action.process);
    }

    fn effect<S: System>(&self, _: &Place<'_, '_, S>, _: &Done) -> Effect {
        Effect::act(self.condvar.notes(), Mode::Change)
    }

    fn may_observe(&self) -> bool {
        false
    }
}

/// The wake step of a notify_one or notify_all.
pub(in crate::model) struct Wake {
    pub(in crate::model) condvar: CondvarId,
    pub(in crate::model) handle: Handle,
}

impl Operation for Wake {
    fn ways(&self, state: &State, process: ProcessId) -> u32 {
        let position = state.notification(process, self.handle);
        match state.condvar(self.condvar).over >= position {
            true => state.ways_to_wake(self.condvar, position) as u32,
            false => 0,
        }
    }

    fn way<S: System>(&self, at: &Place<'_, '_, S>, _: u32, needs: &mut Needs) -> Option<Response> {
        let before = at.state.notification(at.process, self.handle).checked_sub(1);
        needs.extend(before.map(|before| Need::At(self.condvar.wakes(), before)));
        Some(Response::Unit)
    }

    fn awaits(&self) -> PartSet {
        Part::Wakes.alone()
    }

    fn gathers(&self) -> Option<Lane> {
        Some(self.condvar.wakes())
    }

    fn carry_out(&self, state: &mut State, _: World<'_>, done: &mut Done) -> Response {
        let position = state.notification(done.action.process, self.handle);
        let condvar = &mut state.condvars[self.condvar.index()];
        let mut woken = condvar.candidates(position);
        if !condvar.notifications[position as usize].is_for_all && !woken.is_empty() {
            woken = smallvec::smallvec![woken[done.action.choice.0 as usize]];
        }
        woken.iter().for_each(|&at| condvar.enrolments[at as usize].woken_by = position);
        condvar.over += 1;
        Response::Unit
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        let position = state.notification(done.action.process, self.handle);
        let condvar = &mut state.condvars[self.condvar.index()];
        let woken = condvar.enrolments.iter_mut().filter(|one| one.woken_by == position);
        woken.for_each(|one| one.woken_by = NONE);
        condvar.over -= 1;
    }

    fn effect<S: System>(&self, at: &Place<'_, '_, S>, done: &Done) -> Effect {
        let &Place { state, .. } = at;
        self.condvar.wake(state.notification(done.action.process, self.handle))
    }

    /// Its notification and the earlier ones have fixed which processes it wakes.
    fn touches<S: System>(&self, _: &State, _: &S, _: &Done, _: &mut impl FnMut(Touch)) {}

    fn may_observe(&self) -> bool {
        false
    }

    fn is_choice(&self) -> bool {
        true
    }
}

impl State {
    /// The number of choices of a notification once all earlier ones have woken.
    pub(crate) fn ways_to_wake(&self, condvar: CondvarId, notification: u32) -> usize {
        let condvar = self.condvar(condvar);
        match condvar.notifications[notification as usize].is_for_all {
            true => 1,
            false => condvar.candidates(notification).len().max(1),
        }
    }
}
