//! Invariants: their read sets, and their evaluation in a state.
//!
//! The compiler notes which cells, mailboxes and variables the text of an invariant names; an index
//! that is not constant stands for all indices. A variable that is not in scope has no value. An
//! invariant that reads one is not decided, and does not fail.

use super::{GlobalWorld, Local, Program};
use crate::lang::code::ReadSet;
use crate::lang::interpret::{Machine, Rest};
use crate::model::{CellId, Failure, Invariants, MailboxId, ProcessId, Value, View};

impl Program {
    pub(super) fn whole<'a>(&'a self, at: &'a View<'a, Local>) -> GlobalWorld<'a> {
        GlobalWorld {
            program: self,
            locals: at.locals,
            cells: at.cells,
            lengths: at.lengths,
            is_end: false,
        }
    }

    fn read_set(&self, invariant: usize) -> &ReadSet {
        &self.code.invariants[invariant].1
    }

    /// Do two local states of a process differ in a variable that is read?
    pub(super) fn differ_for(&self, reads: &ReadSet, before: &Local, after: &Local) -> bool {
        let differs = |name| self.top_level(before, name) != self.top_level(after, name);
        self.reads_of(reads, before).any(differs)
    }

    /// The names of the variables that are read of the process with this local state.
    pub(super) fn reads_of<'p>(
        &'p self,
        reads: &'p ReadSet,
        local: &Local,
    ) -> impl Iterator<Item = &'p str> {
        let own = local.path.only();
        reads.variables.iter().filter_map(move |&(process, instance, name)| {
            let (declaration, index) = own?;
            let is_its =
                process == declaration && instance.is_none_or(|instance| instance == index);
            is_its.then(|| self.code.texts[name as usize].as_str())
        })
    }
}

impl Invariants<Local> for Program {
    fn count(&self) -> usize {
        self.code.invariants.len()
    }

    fn judge(&self, invariant: usize, at: &View<'_, Local>) -> Option<Failure> {
        let entry = self.code.invariants[invariant].0;
        match self.carry_out(&mut Machine::new(&self.code, self.whole(at), Vec::new(), entry)) {
            Rest::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    fn readings(&self, invariant: usize, at: &View<'_, Local>) -> Option<Vec<(String, Value)>> {
        self.readings_of(self.whole(at), self.code.invariants[invariant].0)
    }

    fn sees_cell(&self, invariant: usize, cell: CellId) -> bool {
        self.read_set(invariant).cells.iter().any(|range| range.contains(&cell.0))
    }

    fn sees_mailbox(&self, invariant: usize, mailbox: MailboxId) -> bool {
        self.read_set(invariant).mailboxes.iter().any(|range| range.contains(&mailbox.0))
    }

    fn may_tell(&self, invariant: usize, _: ProcessId, local: &Local) -> bool {
        let is_its = |&(process, instance, _): &(u32, Option<i64>, u32)| {
            local.path.only().is_some_and(|(declaration, index)| {
                process == declaration && instance.is_none_or(|instance| instance == index)
            })
        };
        self.read_set(invariant).variables.iter().any(is_its)
    }

    fn tells(&self, invariant: usize, _: ProcessId, before: &Local, after: &Local) -> bool {
        self.differ_for(self.read_set(invariant), before, after)
    }

    fn sees_one_thing(&self, invariant: usize) -> bool {
        let ReadSet { cells, mailboxes, variables } = self.read_set(invariant);
        let is_one_process = variables.iter().all(|&(process, instance, _)| {
            instance.is_some() && (process, instance) == (variables[0].0, variables[0].1)
        });
        let is_one_cell = cells.iter().all(|range| *range == (cells[0].start..cells[0].start + 1));
        let kinds = usize::from(!cells.is_empty()) + usize::from(!variables.is_empty());
        mailboxes.is_empty() && is_one_process && is_one_cell && kinds <= 1
    }
}
