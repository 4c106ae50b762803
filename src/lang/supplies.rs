//! What each process may ever supply to others that wait: read off the text of the program.
//!
//! An index that depends on nothing but constants and the index of the process is computed; any other may
//! be anything. What a process spawns counts as done by itself. So the answer is an over-approximation.

use rustc_hash::FxHashSet;

use super::check::{Checked, Kind, Process};
use super::constant;
use super::hir::{Address, Expr, ExprKind, Operation, Procedure};
use super::walk::{visit, within};
use crate::model::{BarrierId, End, MailboxId, SemaphoreId, Supply, Value};

/// For each declaration of a process and each of its instances what it may supply.
#[derive(Debug)]
pub struct Supplies(Vec<Instances>);

#[derive(Debug)]
struct Instances {
    /// The index of the first one.
    first: i64,
    /// One set for each instance of a family, and a single one for other processes.
    sets: Vec<FxHashSet<Supply>>,
}

impl Supplies {
    /// May instance `index` of the declaration supply this?
    pub fn contain(&self, declaration: u32, index: i64, supply: Supply) -> bool {
        let Instances { first, sets } = &self.0[declaration as usize];
        let set = match sets.as_slice() {
            [only] => only,
            sets => &sets[(index - first) as usize],
        };
        set.contains(&supply)
    }
}

/// Reads the supplies off every process of `program`.
pub fn supplies(program: &Checked) -> Supplies {
    let instances = |process| instances(process, &program.procedures);
    let own: Vec<Instances> = program.processes.iter().map(instances).collect();
    let with_children = (0..own.len()).map(|declaration| {
        let spawned = descendants(program, declaration);
        let inherited = spawned.iter().flat_map(|&child| &own[child].sets).flatten();
        let inherited: FxHashSet<Supply> = inherited.copied().collect();
        let Instances { first, sets } = &own[declaration];
        Instances { first: *first, sets: sets.iter().map(|set| set | &inherited).collect() }
    });
    Supplies(with_children.collect())
}

fn instances(process: &Process, procedures: &[Procedure]) -> Instances {
    let own = |index| own(process, procedures, index);
    match process.kind {
        Kind::Single | Kind::Template => Instances { first: 0, sets: vec![own(None)] },
        Kind::Family { lo, hi } => {
            Instances { first: lo, sets: (lo..hi).map(|index| own(Some(index))).collect() }
        }
    }
}

/// The templates that a process spawns, directly or not.
fn descendants(program: &Checked, declaration: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut pending = vec![declaration];
    while let Some(parent) = pending.pop() {
        for child in spawns(&program.processes[parent], &program.procedures) {
            let child = child as usize;
            if !found.contains(&child) {
                found.push(child);
                pending.push(child);
            }
        }
    }
    found
}

/// What a process may supply itself, or in a procedure. There the index of the process is not known.
fn own(process: &Process, procedures: &[Procedure], index: Option<i64>) -> FxHashSet<Supply> {
    let mut set = FxHashSet::default();
    let bodies = within(&process.body.block, procedures);
    for (place, body) in bodies.into_iter().enumerate() {
        supplied(body, index.filter(|_| place == 0), &mut set);
    }
    set
}

/// Adds what the operations in `body` supply.
fn supplied(body: &Expr, index: Option<i64>, set: &mut FxHashSet<Supply>) {
    visit(body, &mut |expr| {
        let ExprKind::Operation(operation) = &expr.kind else { return };
        let mut add = |address: &Address, supply: fn(u32) -> Supply| {
            set.extend(addressed(address, index).map(supply));
        };
        match operation {
            Operation::Isend { mailbox, .. } => {
                add(mailbox, |id| Supply::Post(MailboxId(id), End::Send));
            }
            Operation::Irecv { mailbox, .. } => {
                add(mailbox, |id| Supply::Post(MailboxId(id), End::Receive));
            }
            Operation::Release(object) => add(object, |id| Supply::Release(SemaphoreId(id))),
            Operation::Arrive(object) | Operation::Barrier(object) => {
                add(object, |id| Supply::Arrival(BarrierId(id)));
            }
            _ => {}
        }
    });
}

/// The objects that an address may stand for in the instance of this index.
fn addressed(address: &Address, index: Option<i64>) -> std::ops::Range<u32> {
    // The index of a family is its variable 0, and is never assigned to.
    let known = |var| if var == 0 { index.map(Value::Int) } else { None };
    let offsets = match &address.index {
        None => 0..1,
        Some(expr) => match constant::evaluate(expr, &known) {
            Ok(Value::Int(n)) if (0..i64::from(address.count)).contains(&n) => {
                n as u32..n as u32 + 1
            }
            // Out of range: a violation, and nothing supplied.
            Ok(_) => 0..0,
            Err(_) => 0..address.count,
        },
    };
    address.base + offsets.start..address.base + offsets.end
}

/// The templates that a process or an actor spawns, each once.
pub fn spawns(process: &Process, procedures: &[Procedure]) -> Vec<u32> {
    let handlers = process.actor.iter().flat_map(|actor| &actor.handlers);
    let own = within(&process.body.block, procedures);
    spawned_in(own.into_iter().chain(handlers.map(|handler| &handler.body)))
}

/// The templates that these blocks spawn, each once.
pub fn spawned_in<'e>(blocks: impl IntoIterator<Item = &'e Expr>) -> Vec<u32> {
    let mut found = Vec::new();
    for block in blocks {
        visit(block, &mut |expr| {
            if let ExprKind::Operation(Operation::Spawn(process, _))
            | ExprKind::Create(process, _) = &expr.kind
            {
                found.push(*process);
            }
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}
