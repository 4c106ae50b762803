//! The results of the static analyses for the model: see [`prospect`],
//! [`liveness`](crate::lang::liveness) and [`spin`](crate::lang::spin).

use crate::lang::check::Instantiation;
use crate::lang::code::{Instr, Visible};
use crate::lang::program::{Local, Program};
use crate::lang::prospect;
use crate::model::{Asking, Foresight, Handle, May, Part, Point, Reach, Symmetry, Touch, Value};

impl Foresight<Local> for Program {
    fn holds_values(&self) -> bool {
        false
    }

    fn symmetry(&self) -> Option<&dyn Symmetry<Local>> {
        let has_some = !self.found_symmetry().groups.is_empty();
        has_some.then_some(self as &dyn Symmetry<Local>)
    }

    fn may_touch(&self, local: &Local, touch: Touch) -> bool {
        let (declaration, index) = local.path.last();
        match touch {
            Touch { lane, may: May::Change }
                if lane.part() == Part::Queue
                    && !self.may_cancel
                    && *self.code.objects.mutexes.start(lane.object()) == Asking::Queues =>
            {
                false
            }
            _ => {
                let known = self.touches[declaration as usize].of(&self.code, index);
                known.is_none_or(|reach| reach.contains(touch))
            }
        }
    }

    fn may_spawn(&self) -> bool {
        let is_spawn = |instr: &Instr| matches!(instr, Instr::Visible(Visible::Spawn { .. }));
        self.code.instrs.iter().any(is_spawn)
    }

    fn reach(&self, local: &Local) -> Option<Reach> {
        match (&local.failure, self.instr(local)) {
            (Some(_), _) => Some(Reach::default()),
            (None, Instr::Handle(_)) => None,
            (None, _) => prospect::reach(&self.code, local.pc, &local.stack, self.index_of(local)),
        }
    }

    fn point(&self, local: &Local) -> Option<Point> {
        let (declaration, _) = local.path.last();
        let Instr::Visible(visible) = self.instr(local) else { return None };
        let first = local.stack.len() - visible.arity();
        let object = match local.stack.get(first) {
            Some(&Value::Int(object)) => Some(object),
            _ => None,
        };
        Some(Point { declaration, instance: self.index_of(local), instruction: local.pc, object })
    }

    fn reach_from(&self, point: Point, local: &Local) -> Option<Reach> {
        let Instr::Visible(visible) = self.instr(local) else { return None };
        let is_family =
            matches!(self.processes[point.declaration as usize].kind, Instantiation::Family { .. });
        let index = is_family.then_some(point.instance);
        prospect::reach_from(&self.code, point, local.stack.len(), visible.arity(), index)
    }

    fn may_return(&self, local: &Local) -> bool {
        self.code.loops[local.pc as usize]
    }

    fn may_cancel(&self) -> bool {
        self.may_cancel
    }

    fn canonical(&self, local: &Local) -> Option<(Local, Vec<Handle>)> {
        Some(self.renumbered(local))
    }

    fn without_dead(&self, local: &Local) -> Option<Local> {
        self.without_dead(local)
    }
}
