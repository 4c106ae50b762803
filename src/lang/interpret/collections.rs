//! Instructions on lists, sets and maps, and on parts of values.

use super::parts::{part, replace};
use super::{Domain, Fault, Machine, World};
use crate::lang::ast::BinaryOp;
use crate::lang::code::{Instr, Step, indices_in};
use crate::lang::operators;
use crate::model::Value;

impl<W: World> Machine<'_, W> {
    /// Counts the work of an operator, of which one operand is `right` and the other is on top.
    #[inline(never)]
    pub(super) fn count_operands(&mut self, op: BinaryOp, right: &Value) -> Result<(), Fault> {
        let left = self.stack.last().expect("the other operand").get().ok();
        let left = left.filter(|_| !matches!(op, BinaryOp::Eq | BinaryOp::Ne));
        let operands = match (op, right) {
            // A search in a sorted list.
            (BinaryOp::In, Value::Set(_)) => [left, None],
            _ => [left, Some(right)],
        };
        Self::count_parts(&mut self.parts, operands.into_iter().flatten(), 1)
    }

    pub(super) fn on_list(&mut self, instr: &Instr) -> Result<(), Fault> {
        self.tick()?;
        let argument = self.pop().take()?;
        Self::count_parts(&mut self.parts, [&argument], 1)?;
        if let Instr::Index = instr {
            let element = operators::element(self.top().get()?, &argument)?.clone();
            self.set_top(element);
            return Ok(());
        }
        let Value::List(items) = self.top().get_mut()? else {
            unreachable!("a list under its argument")
        };
        match instr {
            Instr::Push => items.push(argument),
            _ => {
                let place = operators::place(argument.int(), items.len(), "the list")?;
                items.remove(place);
            }
        }
        Ok(())
    }

    pub(super) fn append(&mut self, slot: u32) -> Result<(), Fault> {
        self.tick()?;
        let value = self.pop();
        Self::count_parts(&mut self.parts, value.get().ok(), 1)?;
        let list = self.slot(slot);
        match (list.get_mut(), value.take()) {
            (Ok(Value::List(items)), Ok(value)) => items.push(value),
            (Ok(other), Ok(_)) => unreachable!("{other:?} to append to"),
            // The list or the new value is unknown, so the result is, too.
            _ => *list = W::Value::unknown(),
        }
        Ok(())
    }

    pub(super) fn within(&mut self) -> Result<(), Fault> {
        let (hi, lo) = (self.pop().take()?.int(), self.pop().take()?.int());
        let number = self.top().get()?.int();
        self.set_top(operators::within([number, lo, hi]));
        Ok(())
    }

    /// The position on the stack of the first index that `steps` need; there are `above` values
    /// above the indices.
    fn indices(&self, steps: &[Step], above: usize) -> usize {
        self.stack.len() - above - indices_in(steps)
    }

    pub(super) fn get_part(&mut self, slot: u32, steps: &[Step]) -> Result<(), Fault> {
        let indices = &self.stack[self.indices(steps, 0)..];
        let part = part(self.stack[self.base + slot as usize].get()?, steps, indices)?.clone();
        self.push(part);
        Ok(())
    }

    pub(super) fn set_part(&mut self, slot: u32, steps: &[Step]) -> Result<(), Fault> {
        self.tick()?;
        let value = self.pop();
        Self::count_parts(&mut self.parts, value.get().ok(), 1)?;
        let indices = self.stack.split_off(self.indices(steps, 0));
        let parts = &mut self.parts;
        let whole = &mut self.stack[self.base + slot as usize];
        let replaced = match (whole.get_mut(), value.take()) {
            (Ok(whole), Ok(value)) => {
                if let Value::Map(map) = whole {
                    // A new key copies the map.
                    *parts = parts.saturating_add(map.len());
                }
                replace(whole, steps, &mut indices.iter(), value)
            }
            _ => Err(Fault::Unknown),
        };
        match replaced {
            // The variable or the new value is unknown, so the result is, too.
            Err(Fault::Unknown) => *whole = W::Value::unknown(),
            known => known?,
        }
        Ok(())
    }
}
