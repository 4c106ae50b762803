//! Shared cells: every content that a cell has had.

use super::{ObjectId, Operation, Place, World};
use crate::model::locals::Births;
use crate::model::state::{Done, Parts, State};
use crate::model::{
    Access, CellId, Effect, Lane, Locals, May, Mode, Part, ProcessId, Response, System, Touch,
    Value, ValueId, Values,
};

impl CellId {
    /// The lane of the accesses: changes of the content, and reads of it.
    #[inline]
    pub(crate) fn lane(self) -> Lane {
        Lane::new(Part::Contents, self.0)
    }
}

impl ObjectId for CellId {
    type Declared = Value;
    type Start = ValueId;

    const PARTS: &'static [Part] = &[Part::Contents];
    const IS_ALONE: bool = true;

    fn start(declared: &Value, values: &mut Values) -> ValueId {
        values.intern(declared.clone())
    }

    fn begin(state: &mut State, content: ValueId) {
        state.cells.push(vec![content]);
    }

    fn slot<S: System>(self, state: &State, locals: &mut Locals<'_, S>, _: &mut Parts) -> u32 {
        let content = state.content(self);
        if locals.objects().may_grow() { content.0 + 1 } else { content.0 }
    }

    fn is_at_start(self, state: &State) -> bool {
        state.content(self) == state.versions(self)[0]
    }

    fn has_open_requests(self, state: &State) -> bool {
        let _ = state;
        false
    }
}

impl Access {
    /// The response to the process, and the new content if the access is a change.
    pub(crate) fn apply(
        self,
        content: ValueId,
        values: &mut Values,
    ) -> (Response, Option<ValueId>) {
        match self {
            Access::Read => (Response::Value(content), None),
            Access::Write(new) => (Response::Unit, Some(new)),
            Access::CompareAndSwap { old, .. } if old != content => {
                (Response::Value(ValueId::FALSE), None)
            }
            Access::CompareAndSwap { new, .. } => {
                (Response::Value(ValueId::TRUE), (new != content).then_some(new))
            }
            Access::FetchAdd(addend) => match values.get(content).int().checked_add(addend) {
                None => (Response::Overflow, None),
                Some(sum) => {
                    let new = values.intern(Value::Int(sum));
                    (Response::Value(content), (new != content).then_some(new))
                }
            },
            Access::Swap(new) => (Response::Value(content), (new != content).then_some(new)),
            Access::Update(update) => {
                let Value::Opaque(update) = values.get(update) else {
                    unreachable!("an update is a value that only the system knows");
                };
                let new = update.update(values.get(content)).map(|new| values.intern(new));
                (Response::Value(content), new.filter(|&new| new != content))
            }
        }
    }
}

impl State {
    /// Every content that the cell has had, the initial one first. A position here is a *version*.
    pub fn versions(&self, cell: CellId) -> &[ValueId] {
        &self.cells[cell.index()]
    }

    /// The content of the cell.
    pub fn content(&self, cell: CellId) -> ValueId {
        *self.versions(cell).last().expect("a cell has its initial version")
    }

    /// The content of a declared cell.
    pub fn content_of_declared<S: System>(&self, locals: &Locals<'_, S>, cell: CellId) -> Value {
        let index = locals.objects().cells.index(cell.0);
        // It may be in the table because of another branch of the search: then it has no log here.
        let log = index.and_then(|index| self.cells.get(index as usize));
        match log.and_then(|versions| versions.last()) {
            Some(&content) => locals.values.get(content).clone(),
            None => locals.system().objects().cells.start(cell.0).clone(),
        }
    }
}

/// An access to a cell.
pub(in crate::model) struct At(pub(in crate::model) CellId, pub(in crate::model) Access);

impl At {
    fn touched(&self, is_change: bool) -> Touch {
        Touch::new(self.0.lane(), if is_change { May::Change } else { May::Look })
    }
}

impl Operation for At {
    fn lane(&self, _: &State) -> Option<Lane> {
        Some(self.0.lane())
    }

    fn at(
        &self,
        state: &State,
        values: &mut Values,
        _: ProcessId,
        changes: u32,
    ) -> (Mode, Response) {
        let (response, new) = self.1.apply(state.versions(self.0)[changes as usize], values);
        (if new.is_some() { Mode::Change } else { Mode::Look }, response)
    }

    fn carry_out(&self, state: &mut State, world: World<'_>, done: &mut Done) -> Response {
        let (response, new) = self.1.apply(state.content(self.0), world.values);
        done.changed = new.is_some();
        state.cells[self.0.index()].extend(new);
        response
    }

    fn undo(&self, state: &mut State, _: &Births, done: &Done) {
        if done.changed {
            state.cells[self.0.index()].pop();
        }
    }

    fn effect<S: System>(&self, _: &Place<'_, '_, S>, done: &Done) -> Effect {
        Effect::access(self.0.lane(), done.changed)
    }

    /// Whether it is a change depends on the content.
    fn watches<S: System>(
        &self,
        state: &State,
        _: &S,
        values: &mut Values,
        _: ProcessId,
        each: &mut impl FnMut(Touch),
    ) {
        let (_, new) = self.1.apply(state.content(self.0), values);
        each(self.touched(new.is_some()));
    }

    fn touches<S: System>(&self, _: &State, _: &S, done: &Done, each: &mut impl FnMut(Touch)) {
        each(self.touched(done.changed));
    }

    fn may_observe(&self) -> bool {
        !matches!(self.1, Access::Write(_))
    }
}
