//! Live-variable analysis: which variables a process may still read, at each place where it rests.
//!
//! A variable is *live* at an instruction if some path from there leads to an instruction that
//! reads it, and no instruction on the path before that overwrites it (Aho, Lam, Sethi, Ullman,
//! *Compilers*, 2006, section 9.2.5). Local states that differ only in dead variables have the same
//! future, so a search that stores states need not distinguish them.
//!
//! Reads by others count, too: variables in scope where a process ends or an actor rests are live,
//! and so are variables that `final` or an `invariant` names. Values on the stack that are not
//! variables, such as the arguments of the current operation, are always live.
//!
//! For each variable the analysis goes backwards from the instructions that read it, within the
//! variable's scope: outside of it, another variable has the same slot.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::code::{Code, Instr, Live};

/// The most instructions that are visited. If there are more, the remaining variables count as
/// live.
const MAX_STEPS: usize = 4_000_000;

/// For each instruction at which a process rests, the slots of variables that are dead there, if
/// there are any.
pub(crate) fn dead(code: &Code) -> FxHashMap<u32, Box<[u32]>> {
    let mut analysis = Analysis::new(code);
    let mut found: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let seen = seen_by_others(code);
    for variable in &code.live {
        if variable.top_level && seen.contains(&variable.name) {
            continue;
        }
        analysis.follow(variable);
        if analysis.steps > MAX_STEPS {
            break;
        }
        for at in analysis.rests(variable) {
            found.entry(at).or_default().push(variable.slot);
        }
    }
    found.into_iter().map(|(at, slots)| (at, slots.into())).collect()
}

/// The names of the variables that `final` and the invariants name.
fn seen_by_others(code: &Code) -> BTreeSet<u32> {
    let named = code.instrs.iter().filter_map(|instr| match instr {
        Instr::ProcessVar { name, .. } => Some(*name),
        _ => None,
    });
    named.collect()
}

struct Analysis<'c> {
    code: &'c Code,
    /// The predecessors of instruction `at` are `before[firsts[at]..firsts[at + 1]]`.
    firsts: Vec<u32>,
    before: Vec<u32>,
    /// The instructions at which processes rest, in ascending order.
    rests: Vec<u32>,
    /// For each instruction the number of the last variable that was found live there.
    live: Vec<u32>,
    variables: u32,
    pending: Vec<u32>,
    steps: usize,
}

impl<'c> Analysis<'c> {
    fn new(code: &'c Code) -> Self {
        let count = code.instrs.len();
        let edges = || {
            let after = |(at, instr): (u32, &Instr)| instr.successors(at).map(move |to| (at, to));
            (0..).zip(&code.instrs).flat_map(after).filter(|&(_, to)| (to as usize) < count)
        };
        let mut firsts = vec![0; count + 1];
        edges().for_each(|(_, to)| firsts[to as usize + 1] += 1);
        for at in 0..count {
            firsts[at + 1] += firsts[at];
        }
        let (mut next, mut before) = (firsts.clone(), vec![0; firsts[count] as usize]);
        for (at, to) in edges() {
            before[next[to as usize] as usize] = at;
            next[to as usize] += 1;
        }
        let rests = (0..).zip(&code.instrs).filter(|(_, instr)| matches!(instr, Instr::Visible(_)));
        Analysis {
            code,
            firsts,
            before,
            rests: rests.map(|(at, _)| at).collect(),
            live: vec![0; count],
            variables: 0,
            pending: Vec::new(),
            steps: 0,
        }
    }

    /// Marks the instructions at which a variable is live.
    fn follow(&mut self, variable: &Live) {
        self.variables += 1;
        let scope = variable.from..variable.to.min(self.code.instrs.len() as u32);
        for at in scope.clone() {
            if reads(&self.code.instrs[at as usize], variable.slot) {
                self.reach(at);
            }
        }
        self.steps += scope.len();
        while let Some(at) = self.pending.pop() {
            let (from, to) = (self.firsts[at as usize], self.firsts[at as usize + 1]);
            for index in from..to {
                let before = self.before[index as usize];
                let is_kept = self.code.instrs[before as usize] != Instr::Set(variable.slot);
                if scope.contains(&before) && is_kept {
                    self.reach(before);
                }
            }
            self.steps += 1;
        }
    }

    /// Marks the current variable as live at an instruction.
    fn reach(&mut self, at: u32) {
        let last = std::mem::replace(&mut self.live[at as usize], self.variables);
        if last != self.variables {
            self.pending.push(at);
        }
    }

    /// The instructions in the scope of the current variable at which processes rest and the
    /// variable is dead.
    fn rests(&self, variable: &Live) -> impl Iterator<Item = u32> {
        let from = self.rests.partition_point(|&at| at < variable.from);
        let within = self.rests[from..].iter().take_while(|&&at| at < variable.to);
        within.copied().filter(|&at| self.live[at as usize] != self.variables)
    }
}

/// Does the instruction read the variable in this slot? An instruction that replaces a part reads
/// the rest.
fn reads(instr: &Instr, slot: u32) -> bool {
    match *instr {
        Instr::Get(from)
        | Instr::GetPart(from, _)
        | Instr::SetPart(from, _)
        | Instr::Project(from, _)
        | Instr::Append(from)
        | Instr::Increment(from) => from == slot,
        Instr::End | Instr::Handle(_) | Instr::Compute(_) => true,
        _ => false,
    }
}
