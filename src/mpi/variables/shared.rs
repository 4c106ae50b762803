//! Variables that share memory: in common blocks of Fortran, and by `EQUIVALENCE`.

use std::rc::Rc;

use gimli::{AttributeValue, Reader as _};

use super::{DEEPEST, Global, Location, MOST_RUNS, OfUnit, Place, Run, Slice, Table};

impl Table {
    /// Sorts the globals. Those that share memory become one, of unknown contents unless they are
    /// the same.
    pub(super) fn merge_globals(&mut self) {
        let mut all = std::mem::take(&mut self.globals);
        all.sort_by_key(|global| (global.at, std::cmp::Reverse(global.size)));
        let unknown = self.add_layout(&[]);
        let mut merged: Vec<Global> = Vec::with_capacity(all.len());
        for global in all {
            match merged.last_mut() {
                Some(last) if global.at < last.at + last.size => {
                    let is_same = (last.at, last.size) == (global.at, global.size)
                        && self.runs_of(last.layout) == self.runs_of(global.layout);
                    if !is_same {
                        last.size = last.size.max(global.at + global.size - last.at);
                        last.layout = unknown;
                    }
                }
                _ => merged.push(global),
            }
        }
        self.globals = merged;
    }

    pub(super) fn runs_of(&self, layout: u64) -> &[Run] {
        let (first, count) = self.layouts[layout as usize];
        &self.runs[first as usize..(first + count) as usize]
    }
}

impl OfUnit<'_> {
    /// Adds a common block, as one variable with the values of its members. In a module, it has
    /// none here.
    pub(super) fn common(
        &mut self,
        node: gimli::EntriesTreeNode<'_, '_, Slice>,
    ) -> gimli::Result<()> {
        let nowhere = Place { function: None, frame: 0, scope: Rc::new([]) };
        let text = |name| -> gimli::Result<String> {
            let Some(name) = node.entry().attr_value(name) else { return Ok(String::new()) };
            Ok(self.dwarf.attr_string(self.unit, name)?.to_string_lossy()?.into_owned())
        };
        let name = text(gimli::DW_AT_name)?;
        let linked = text(gimli::DW_AT_linkage_name)?;
        let Some(&(start, size)) = self.symbols.get(&*linked) else { return Ok(()) };
        let mut runs = Vec::new();
        let mut is_known = true;
        let mut children = node.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            let (Some(AttributeValue::UnitRef(of_type)), Some(AttributeValue::Exprloc(at))) =
                (entry.attr_value(gimli::DW_AT_type), entry.attr_value(gimli::DW_AT_location))
            else {
                continue;
            };
            match (self.location(at, &nowhere)?, self.shape(of_type, DEEPEST)?) {
                (Some((Location::Address(at), false)), Some((_, values))) if at >= start => {
                    let moved = |run: Run| Run { offset: run.offset + (at - start), ..run };
                    runs.extend(values.into_iter().map(moved));
                }
                _ => is_known = false,
            }
        }
        if !is_known || runs.len() > MOST_RUNS {
            runs.clear();
        }
        let layout = self.table.add_layout(&runs);
        let name = self.table.add_name(&format!("/{name}/"));
        self.table.globals.push(Global { at: start, size, layout, name });
        Ok(())
    }
}
