//! Judges what was collected of the indices of processes: which of them may be permuted.

use std::ops::Range;

use super::flow::{Flow, several};
use super::kinds::{Facts, Node, Shape, Why};
use super::{Broken, MOST_DEPTH};
use crate::lang::program::Program;
use crate::model::{Group, IndexKind};

/// The groups of a program, and the nodes of their indices.
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    roots: Vec<Node>,
    /// For each declaration of a process its group.
    pub(super) of_process: Vec<Option<u32>>,
    /// The declarations that have no symmetry although they have several instances, and why.
    pub(super) broken: Vec<(u32, Broken)>,
}

impl Groups {
    /// Judges the classes of indices. Where a place must not fail but may, the loops around it
    /// break the symmetry, and all is judged again.
    pub(super) fn of(program: &Program, flow: &mut Flow<'_>) -> Groups {
        let mut first: Vec<(u32, Broken)> = Vec::new();
        loop {
            let mut found = Groups::at_once(program, flow);
            // What came first is the reason.
            for (declaration, why) in &mut found.broken {
                match first.iter().find(|(known, _)| known == declaration) {
                    Some((_, reason)) => *why = reason.clone(),
                    None => first.push((*declaration, why.clone())),
                }
            }
            let failing = flow.failing(|node, is_own| found.is_index(flow, node, is_own));
            flow.nodes.has_news = false;
            for (node, why) in failing {
                flow.nodes.spoil(node, why.text, why.pc);
            }
            if !flow.nodes.has_news {
                return found;
            }
        }
    }

    fn at_once(program: &Program, flow: &Flow<'_>) -> Groups {
        let mut found = Groups {
            groups: Vec::new(),
            roots: Vec::new(),
            of_process: vec![None; program.processes.len()],
            broken: Vec::new(),
        };
        for (declaration, process) in (0..).zip(&program.processes) {
            let Some(range) = several(process) else { continue };
            let root = flow.nodes.root(flow.indices[declaration as usize]);
            if let Some(known) = found.roots.iter().position(|&known| known == root) {
                let group = &mut found.groups[known];
                group.name = format!("{}, {}", group.name, process.name);
                found.of_process[declaration as usize] = Some(known as u32);
                continue;
            }
            let judged = match flow.nodes.shape(root) {
                Shape::Open => judge(flow.nodes.facts(root), &range, program),
                // Messages of two mailboxes whose communications are in one list.
                _ => Err(Broken::program("values of several types are in one place")),
            };
            match judged {
                Ok(is_ring) => {
                    found.of_process[declaration as usize] = Some(found.groups.len() as u32);
                    found.groups.push(Group { name: process.name.clone(), range, is_ring });
                    found.roots.push(root);
                }
                Err(why) => found.broken.push((declaration, why)),
            }
        }
        found
    }

    /// The group of these integers.
    pub(super) fn group_of(&self, flow: &Flow<'_>, node: Node) -> Option<u32> {
        let root = flow.nodes.root(node);
        self.roots.iter().position(|&known| known == root).map(|group| group as u32)
    }

    /// Are these integers indices of a group, and none of them is outside of its range? That is
    /// known of the index of a process, and of the variable of a loop (`is_own`).
    fn is_index(&self, flow: &Flow<'_>, node: Node, is_own: bool) -> bool {
        let has_others = !is_own && !flow.nodes.facts(node).constants.is_empty();
        self.group_of(flow, node).is_some() && !has_others
    }

    /// The kind of such values.
    pub(super) fn kind(&self, flow: &Flow<'_>, node: Node) -> Result<IndexKind, Broken> {
        self.kind_within(flow, node, MOST_DEPTH)
    }

    fn kind_within(&self, flow: &Flow<'_>, node: Node, depth: u32) -> Result<IndexKind, Broken> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Broken::program("a type is nested too deep"));
        };
        if let Some(group) = self.group_of(flow, node) {
            return Ok(IndexKind::Index(group, 0));
        }
        let kind = |node| self.kind_within(flow, node, depth);
        let is_fixed = |kinds: &[IndexKind]| kinds.iter().all(|kind| *kind == IndexKind::Fixed);
        Ok(match flow.nodes.shape(node) {
            Shape::Open | Shape::Comm(_) => IndexKind::Fixed,
            Shape::Tuple(parts) => {
                let kinds: Box<[IndexKind]> =
                    parts.iter().map(|&part| kind(part)).collect::<Result<_, _>>()?;
                if is_fixed(&kinds) { IndexKind::Fixed } else { IndexKind::Tuple(kinds) }
            }
            Shape::List(at, item) => {
                let (group, item) = (self.group_of(flow, *at), kind(*item)?);
                match (group, item) {
                    (None, IndexKind::Fixed) => IndexKind::Fixed,
                    (group, item) => IndexKind::List(group, item.into()),
                }
            }
            Shape::Set(item) => match kind(*item)? {
                IndexKind::Fixed => IndexKind::Fixed,
                item => IndexKind::Set(item.into()),
            },
            Shape::Map(key, value) => match (kind(*key)?, kind(*value)?) {
                (IndexKind::Fixed, IndexKind::Fixed) => IndexKind::Fixed,
                (key, value) => IndexKind::Map(key.into(), value.into()),
            },
        })
    }
}

/// Are these the facts of indices that may be permuted? Then: only rotated?
fn judge(facts: &Facts, range: &Range<i64>, program: &Program) -> Result<bool, Broken> {
    let broken = |text: String, pc: u32| Err(Broken { text, pc: Some(pc) });
    if let Some(Why { text, pc }) = &facts.plain {
        return broken((*text).to_owned(), *pc);
    }
    for &family in &facts.families {
        let process = &program.processes[family as usize];
        if several(process).as_ref() != Some(range) {
            let name = &process.name;
            return Err(Broken::program(&format!(
                "its indices are compared with those of `{name}`, which has others"
            )));
        }
    }
    for (&(from, to), &pc) in &facts.ranges {
        if (from..to) != *range {
            return broken(format!("only {from}..{to} is a part of the indices"), pc);
        }
    }
    for (&constant, &pc) in &facts.constants {
        if range.contains(&constant) {
            return broken(format!("the number {constant} is one of the indices"), pc);
        }
    }
    for (&length, &pc) in &facts.lengths {
        if range.start < 0 || range.end > i64::from(length) {
            return broken(format!("there are only {length} places, not one for each index"), pc);
        }
    }
    for (&length, &pc) in &facts.rings {
        if range.start != 0 || range.end != length {
            return broken(format!("the remainder by {length} is not the next of the indices"), pc);
        }
    }
    if let (Some(pc), Some(_)) = (facts.any_turns, facts.constants.first_key_value()) {
        let text = "it may be a number that is none of the indices, and has no next one";
        return broken(text.into(), pc);
    }
    Ok(!facts.rings.is_empty())
}
