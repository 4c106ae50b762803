//! A system whose type is forgotten.
//!
//! Explorers are generic in the system, so each type of system has a copy of all of them. To
//! compile one takes seconds. So what checks systems of any type goes by this one type: its local
//! states are those of the system inside, behind a pointer. A search asks a system only once for
//! each local state and response ([`Locals`](super::Locals)), so it takes hardly longer.

// What is not passed on would silently be the default.
#![deny(clippy::missing_trait_methods)]

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use super::{
    Actors, CellId, Choice, Contents, Demand, Describe, Envelope, Failure, Fairness, Finale,
    Foresight, Handle, Incident, Invariants, Liveness, MailboxId, Mark, Names, Next, Object,
    Objects, Opaque, Outbox, Point, ProcessId, Reach, Remark, Response, Runs, Site, Stimulus,
    Symmetry, System, Touch, Value, Values, View,
};

/// A system of any type. [`System::attempt`] is not passed on: whoever needs it calls that of the
/// system inside.
///
/// ```
/// use mazurka::explore::{Budget, Exhaustive, NoObserver, explore};
/// use mazurka::model::AnySystem;
/// use mazurka::systems::{Builder, fetch_add};
///
/// let mut system = Builder::new();
/// let counter = system.cell("counter", 0);
/// for name in ["A", "B"] {
///     system.process(name, [fetch_add(counter, 1)]);
/// }
/// let system = AnySystem::new(system.build());
/// let outcome = explore(&system, Exhaustive, Budget::default(), &mut NoObserver);
/// assert_eq!(outcome.stats.traces, 2);
/// ```
#[derive(Clone)]
pub struct AnySystem<'s>(Arc<dyn System<Local = Opaque> + Send + 's>);

impl<'s> AnySystem<'s> {
    /// This system.
    pub fn new<S: System + Send + 's>(system: S) -> Self {
        AnySystem(Arc::new(Inside(Box::new(system), PhantomData)))
    }

    /// This system, which stays where it is.
    pub fn of<S: System>(system: &'s S) -> Self {
        AnySystem(Arc::new(Inside(system, PhantomData)))
    }
}

impl System for AnySystem<'_> {
    type Local = Opaque;

    fn objects(&self) -> &Objects {
        self.0.objects()
    }

    fn initial(&self, values: &mut Values) -> Vec<Opaque> {
        self.0.initial(values)
    }

    fn next(&self, local: &Opaque, values: &mut Values) -> Next<Opaque> {
        self.0.next(local, values)
    }

    fn resume(&self, local: &Opaque, response: Response, values: &Values) -> Opaque {
        self.0.resume(local, response, values)
    }

    fn is_daemon(&self, local: &Opaque) -> bool {
        self.0.is_daemon(local)
    }

    fn excuses(&self, local: &Opaque) -> bool {
        self.0.excuses(local)
    }

    fn is_in_vain(&self, local: &Opaque) -> bool {
        self.0.is_in_vain(local)
    }

    fn may_be_in_vain(&self) -> bool {
        self.0.may_be_in_vain()
    }

    fn release(&self, local: &Opaque) {
        self.0.release(local);
    }

    fn looks_further(&self) -> bool {
        self.0.looks_further()
    }

    fn noted(&self) -> Option<String> {
        self.0.noted()
    }

    fn recall(&self, noted: &str) -> bool {
        self.0.recall(noted)
    }

    fn attempt<T: Send + 'static>(&self, work: impl Fn(&Self) -> T + Send + Sync + 'static) -> T {
        work(self)
    }

    fn actors(&self) -> &dyn Actors<Opaque> {
        self.0.actors()
    }

    fn finale(&self) -> Option<&dyn Finale<Opaque>> {
        self.0.finale()
    }

    fn invariants(&self) -> Option<&dyn Invariants<Opaque>> {
        self.0.invariants()
    }

    fn liveness(&self) -> Option<&dyn Liveness<Opaque>> {
        self.0.liveness()
    }

    fn foresight(&self) -> &dyn Foresight<Opaque> {
        self.0.foresight()
    }

    fn describe(&self) -> &dyn Describe<Opaque> {
        self.0.describe()
    }
}

fn inside<L: 'static>(local: &Opaque) -> &L {
    local.get().expect("a local state of the system inside")
}

/// The system inside, behind a pointer.
struct Inside<P, S>(P, PhantomData<fn() -> S>);

impl<P: Deref<Target = S> + Sync, S: System> System for Inside<P, S> {
    type Local = Opaque;

    fn objects(&self) -> &Objects {
        self.0.objects()
    }

    fn initial(&self, values: &mut Values) -> Vec<Opaque> {
        self.0.initial(values).into_iter().map(Opaque::new).collect()
    }

    fn next(&self, local: &Opaque, values: &mut Values) -> Next<Opaque> {
        match self.0.next(inside(local), values) {
            Next::Op(op) => Next::Op(op),
            Next::Spawn(child) => Next::Spawn(Opaque::new(child)),
            Next::Done => Next::Done,
            Next::Returned(value) => Next::Returned(value),
            Next::Failed(failure) => Next::Failed(failure),
        }
    }

    fn resume(&self, local: &Opaque, response: Response, values: &Values) -> Opaque {
        Opaque::new(self.0.resume(inside(local), response, values))
    }

    fn is_daemon(&self, local: &Opaque) -> bool {
        self.0.is_daemon(inside(local))
    }

    fn excuses(&self, local: &Opaque) -> bool {
        self.0.excuses(inside(local))
    }

    fn is_in_vain(&self, local: &Opaque) -> bool {
        self.0.is_in_vain(inside(local))
    }

    fn may_be_in_vain(&self) -> bool {
        self.0.may_be_in_vain()
    }

    fn release(&self, local: &Opaque) {
        self.0.release(inside(local));
    }

    fn looks_further(&self) -> bool {
        self.0.looks_further()
    }

    fn noted(&self) -> Option<String> {
        self.0.noted()
    }

    fn recall(&self, noted: &str) -> bool {
        self.0.recall(noted)
    }

    fn attempt<T: Send + 'static>(&self, work: impl Fn(&Self) -> T + Send + Sync + 'static) -> T {
        work(self)
    }

    fn actors(&self) -> &dyn Actors<Opaque> {
        self
    }

    fn finale(&self) -> Option<&dyn Finale<Opaque>> {
        self.0.finale().map(|_| self as &dyn Finale<Opaque>)
    }

    fn invariants(&self) -> Option<&dyn Invariants<Opaque>> {
        self.0.invariants().map(|_| self as &dyn Invariants<Opaque>)
    }

    fn liveness(&self) -> Option<&dyn Liveness<Opaque>> {
        self.0.liveness().map(|_| self as &dyn Liveness<Opaque>)
    }

    fn foresight(&self) -> &dyn Foresight<Opaque> {
        self
    }

    fn describe(&self) -> &dyn Describe<Opaque> {
        self
    }
}

impl<P: Deref<Target = S> + Sync, S: System> Actors<Opaque> for Inside<P, S> {
    fn initial_messages(&self) -> Vec<(ProcessId, Value)> {
        self.0.actors().initial_messages()
    }

    fn has_guards(&self) -> bool {
        self.0.actors().has_guards()
    }

    fn has_internals(&self) -> bool {
        self.0.actors().has_internals()
    }

    fn may_spawn(&self) -> bool {
        self.0.actors().may_spawn()
    }

    fn accepts(&self, local: &Opaque, own: ProcessId, stimulus: Stimulus, values: &Values) -> bool {
        self.0.actors().accepts(inside(local), own, stimulus, values)
    }

    fn handle(
        &self,
        local: &Opaque,
        own: ProcessId,
        stimulus: Stimulus,
        values: &Values,
        outbox: &mut dyn Outbox<Opaque>,
    ) -> Opaque {
        let outbox = &mut Outside(outbox);
        Opaque::new(self.0.actors().handle(inside(local), own, stimulus, values, outbox))
    }
}

/// What the actors inside do to others, who are outside.
struct Outside<'o>(&'o mut dyn Outbox<Opaque>);

impl<L: Eq + Hash + Debug + Send + Sync + 'static> Outbox<L> for Outside<'_> {
    fn send(&mut self, to: ProcessId, message: Value) {
        self.0.send(to, message);
    }

    fn spawn(&mut self, actor: L) -> ProcessId {
        self.0.spawn(Opaque::new(actor))
    }
}

impl<P: Deref<Target = S> + Sync, S: System> Foresight<Opaque> for Inside<P, S> {
    fn may_touch(&self, local: &Opaque, touch: Touch) -> bool {
        self.0.foresight().may_touch(inside(local), touch)
    }

    fn may_send(&self, local: &Opaque, mailbox: MailboxId, pattern: Envelope) -> bool {
        self.0.foresight().may_send(inside(local), mailbox, pattern)
    }

    fn reach(&self, local: &Opaque) -> Option<Reach> {
        self.0.foresight().reach(inside(local))
    }

    fn point(&self, local: &Opaque) -> Option<Point> {
        self.0.foresight().point(inside(local))
    }

    fn reach_from(&self, point: Point, local: &Opaque) -> Option<Reach> {
        self.0.foresight().reach_from(point, inside(local))
    }

    /// Not passed on: no system that is checked by this type has symmetry.
    fn symmetry(&self) -> Option<&dyn Symmetry<Opaque>> {
        None
    }

    fn may_spawn(&self) -> bool {
        self.0.foresight().may_spawn()
    }

    fn may_return(&self, local: &Opaque) -> bool {
        self.0.foresight().may_return(inside(local))
    }

    fn may_cancel(&self) -> bool {
        self.0.foresight().may_cancel()
    }

    fn canonical(&self, local: &Opaque) -> Option<(Opaque, Vec<Handle>)> {
        let (local, requests) = self.0.foresight().canonical(inside(local))?;
        Some((Opaque::new(local), requests))
    }

    fn without_dead(&self, local: &Opaque) -> Option<Opaque> {
        self.0.foresight().without_dead(inside(local)).map(Opaque::new)
    }

    fn remembers_all(&self) -> bool {
        self.0.foresight().remembers_all()
    }

    fn holds_values(&self) -> bool {
        self.0.foresight().holds_values()
    }
}

impl<P: Deref<Target = S> + Sync, S: System> Describe<Opaque> for Inside<P, S> {
    fn process_name(&self, local: &Opaque) -> String {
        self.0.describe().process_name(inside(local))
    }

    fn site(&self, local: &Opaque) -> Option<Site> {
        self.0.describe().site(inside(local))
    }

    fn variables(&self, local: &Opaque, names: Names<'_>) -> Vec<(String, String)> {
        self.0.describe().variables(inside(local), names)
    }

    fn marks(&self, local: &Opaque, response: Option<Response>, values: &Values) -> Vec<Mark> {
        self.0.describe().marks(inside(local), response, values)
    }

    fn handler_site(&self, local: &Opaque, stimulus: Stimulus, values: &Values) -> Option<Site> {
        self.0.describe().handler_site(inside(local), stimulus, values)
    }

    fn assumes(&self) -> Option<String> {
        self.0.describe().assumes()
    }

    fn runs(&self) -> Option<Runs> {
        self.0.describe().runs()
    }

    fn printed(&self, local: &Opaque) -> Option<String> {
        self.0.describe().printed(inside(local))
    }

    fn remarks(&self, local: &Opaque) -> Option<Arc<[Remark]>> {
        self.0.describe().remarks(inside(local))
    }

    fn incident(&self, local: &Opaque, choice: Choice) -> Option<Incident> {
        self.0.describe().incident(inside(local), choice)
    }

    fn handler_incident(
        &self,
        local: &Opaque,
        stimulus: Stimulus,
        values: &Values,
    ) -> Option<Incident> {
        self.0.describe().handler_incident(inside(local), stimulus, values)
    }

    fn chosen(&self, local: &Opaque, number: i64) -> Option<Value> {
        self.0.describe().chosen(inside(local), number)
    }

    fn show_value(&self, value: &Value, names: Names<'_>) -> String {
        self.0.describe().show_value(value, names)
    }
}

impl<P: Deref<Target = S> + Sync, S: System> Finale<Opaque> for Inside<P, S> {
    fn judge(
        &self,
        locals: &[Option<&Opaque>],
        cells: Contents<'_>,
        values: &Values,
    ) -> Option<Failure> {
        self.0.finale()?.judge(&all_inside::<S>(locals), cells, values)
    }

    fn readings(
        &self,
        locals: &[Option<&Opaque>],
        cells: Contents<'_>,
        values: &Values,
    ) -> Option<Vec<(String, Value)>> {
        self.0.finale()?.readings(&all_inside::<S>(locals), cells, values)
    }

    fn sees_cell(&self, cell: CellId) -> bool {
        self.0.finale().is_none_or(|finale| finale.sees_cell(cell))
    }

    fn tells(&self, process: ProcessId, before: &Opaque, after: &Opaque) -> bool {
        let tells =
            |finale: &dyn Finale<S::Local>| finale.tells(process, inside(before), inside(after));
        self.0.finale().is_none_or(tells)
    }
}

fn all_inside<'l, S: System>(locals: &[Option<&'l Opaque>]) -> Vec<Option<&'l S::Local>> {
    locals.iter().map(|local| local.map(inside)).collect()
}

impl<P: Deref<Target = S> + Sync, S: System> Inside<P, S> {
    fn invariants_inside(&self) -> &dyn Invariants<S::Local> {
        self.0.invariants().expect("who asks was told that there are some")
    }
}

impl<P: Deref<Target = S> + Sync, S: System> Invariants<Opaque> for Inside<P, S> {
    fn count(&self) -> usize {
        self.invariants_inside().count()
    }

    fn judge(&self, invariant: usize, at: &View<'_, Opaque>) -> Option<Failure> {
        let locals = &all_inside::<S>(at.locals);
        let at = View { locals, cells: at.cells, lengths: at.lengths };
        self.invariants_inside().judge(invariant, &at)
    }

    fn readings(&self, invariant: usize, at: &View<'_, Opaque>) -> Option<Vec<(String, Value)>> {
        let locals = &all_inside::<S>(at.locals);
        let at = View { locals, cells: at.cells, lengths: at.lengths };
        self.invariants_inside().readings(invariant, &at)
    }

    fn sees_cell(&self, invariant: usize, cell: CellId) -> bool {
        self.invariants_inside().sees_cell(invariant, cell)
    }

    fn sees_mailbox(&self, invariant: usize, mailbox: MailboxId) -> bool {
        self.invariants_inside().sees_mailbox(invariant, mailbox)
    }

    fn may_tell(&self, invariant: usize, process: ProcessId, local: &Opaque) -> bool {
        self.invariants_inside().may_tell(invariant, process, inside(local))
    }

    fn tells(&self, invariant: usize, process: ProcessId, before: &Opaque, after: &Opaque) -> bool {
        self.invariants_inside().tells(invariant, process, inside(before), inside(after))
    }

    fn sees_one_thing(&self, invariant: usize) -> bool {
        self.invariants_inside().sees_one_thing(invariant)
    }
}

impl<P: Deref<Target = S> + Sync, S: System> Inside<P, S> {
    fn liveness_inside(&self) -> &dyn Liveness<S::Local> {
        self.0.liveness().expect("who asks was told that there is one")
    }
}

impl<P: Deref<Target = S> + Sync, S: System> Liveness<Opaque> for Inside<P, S> {
    fn count(&self) -> usize {
        self.liveness_inside().count()
    }

    fn demand(&self, number: usize) -> Demand {
        self.liveness_inside().demand(number)
    }

    fn propositions(&self) -> usize {
        self.liveness_inside().propositions()
    }

    fn holds(&self, proposition: usize, at: &View<'_, Opaque>) -> Result<bool, Failure> {
        let locals = &all_inside::<S>(at.locals);
        let at = View { locals, cells: at.cells, lengths: at.lengths };
        self.liveness_inside().holds(proposition, &at)
    }

    fn readings(&self, proposition: usize, at: &View<'_, Opaque>) -> Vec<(String, Value)> {
        let locals = &all_inside::<S>(at.locals);
        let at = View { locals, cells: at.cells, lengths: at.lengths };
        self.liveness_inside().readings(proposition, &at)
    }

    fn fairness(&self, process: Option<&Opaque>) -> Fairness {
        self.liveness_inside().fairness(process.map(inside))
    }

    fn has_strong_actions(&self) -> bool {
        self.liveness_inside().has_strong_actions()
    }

    fn is_strong(&self, object: Object) -> bool {
        self.liveness_inside().is_strong(object)
    }

    fn strong_handler(
        &self,
        own: ProcessId,
        local: &Opaque,
        stimulus: Stimulus,
        values: &Values,
    ) -> Option<u32> {
        self.liveness_inside().strong_handler(own, inside(local), stimulus, values)
    }
}
