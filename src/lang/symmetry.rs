//! Which processes of a program differ only in their index.
//!
//! C. N. Ip, D. L. Dill, *Better verification through symmetry* (FMSD 9, 1996), section 3: a
//! *scalarset* is a range of integers that are only compared for equality, used as indices of
//! arrays, assigned, and passed on. There it is a type that the author declares. Here it is found:
//! the integers of a program are put into classes by unification, and a class of indices of
//! processes is a scalarset unless something breaks it.
//!
//! | in the program | the indices |
//! |---|---|
//! | `==`, `!=`, `in`; assigned, sent, received, stored in cells, tuples, lists, sets, maps | stay indices |
//! | index of an array of objects, or of a list that has a place for each of them | stay indices |
//! | `choose(0..N)`, a loop over `0..N` whose order makes no difference (`compile::order`) | stay |
//! | source and tag that a probe reports; -1 for "nothing found" | stay indices |
//! | places in a set of lists that is equal whatever two places are swapped (shares of faults) | stay |
//! | a constant outside of the range, such as -1 for "none" | stay indices; permutations do not change it |
//! | `(i + 1) % N`, `(i + N - 1) % N` | only rotations are left |
//! | `<`, arithmetic, a constant of the range, a loop in ascending order, `values(m)`, a number of elements | are plain numbers |
//!
//! **Why it is done on the instructions.** They say where each value is while a process rests, also
//! values in the middle of an expression; and there is less to say about each. What the text says
//! and they do not, that the order of a loop makes no difference, the compiler notes
//! ([`Marks`](super::code::Marks)).
//!
//! **Soundness.** Let p be a permutation of the group, and p(s) the state s with all indices
//! renamed: processes, objects of arrays, values. By induction over the instructions, a process
//! that computes on renamed values comes to renamed values: each instruction on nodes of a group is
//! one that commutes with p, or its node is plain. So if s goes to t by an action, p(s) goes to
//! p(t) by the renamed action. The initial state is its own image, because a constant of the range
//! is nowhere. `final` and the invariants are code like other code: their verdict is that of the
//! renamed state. What has no rule here has no symmetry: it is refused.
//!
//! *Polls* (timeouts are polls, too). A poll that finds nothing changes only what its process
//! remembers: which polls it has missed since it last did anything else. The terms of processes
//! name the mailboxes and the patterns there, so a permutation renames them. What a poll finds is a
//! message of some sender, and its envelope is made of indices like any other value.
//!
//! *Faults.* A fault is a choice of one process, and a number: none of it is an index. Numbers of
//! faults *in all* are shared out before the program runs, in a set of lists with a share for each
//! process; all permutations of a list are in it.
//!
//! What is refused as a whole: spawned processes and actors (their names depend on an order),
//! condition variables, collectives, cancelled receives, `value(c)`.

mod flow;
mod groups;
mod kinds;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::check::Instantiation;
use super::code::{Instr, Visible};
use super::diagnostic::{Diagnostic, Span};
use super::objects::ObjectKind;
use super::program::Program;
use crate::model::{Group, IndexKind, Probing};
use flow::{Flow, several};
use groups::Groups;

/// The deepest nesting of types that is looked at.
const MOST_DEPTH: u32 = 100;

/// What breaks the symmetry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// In words.
    pub(crate) text: String,
    /// The instruction; `None` if it is no single one.
    pub(crate) pc: Option<u32>,
}

impl Broken {
    fn program(text: &str) -> Broken {
        Broken { text: text.to_owned(), pc: None }
    }
}

/// A declaration of objects.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) kind: ObjectKind,
    pub(crate) base: u32,
    pub(crate) count: u32,
    /// The group of its indices.
    pub(crate) index: Option<u32>,
    /// Of the content, the source, the tag.
    pub(crate) carried: [IndexKind; 3],
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Not empty if there is any symmetry.
    pub(crate) groups: Vec<Group>,
    /// For each declaration of a process its group.
    pub(crate) of_process: Vec<Option<u32>>,
    pub(crate) arrays: Vec<Array>,
    /// For each instruction at which a process may rest, the kinds of the values on its stack.
    pub(crate) stacks: FxHashMap<u32, Arc<[IndexKind]>>,
    /// Declarations of processes without symmetry, and why.
    pub(crate) broken: Vec<(u32, Broken)>,
}

/// Analyses a program.
pub(crate) fn find(program: &Program) -> Found {
    let families = (0..).zip(&program.processes).filter(|(_, process)| several(process).is_some());
    let families: Vec<u32> = families.map(|(declaration, _)| declaration).collect();
    if families.is_empty() {
        return Found::default();
    }
    let refused = |why: Broken| Found {
        broken: families.iter().map(|&declaration| (declaration, why.clone())).collect(),
        ..Found::default()
    };
    if let Some(why) = refusal(program) {
        return refused(why);
    }
    let mut flow = Flow::of(program, declared(program));
    let groups = Groups::of(program, &mut flow);
    conclude(&flow, groups).unwrap_or_else(refused)
}

/// Says of each process that is declared as symmetric, by the word at this place, why it is not.
pub(crate) fn disappointments(program: &Program, words: &[Option<Span>]) -> Vec<Diagnostic> {
    if words.iter().all(Option::is_none) {
        return Vec::new();
    }
    let found = program.found_symmetry();
    let declared = (0..).zip(words).filter_map(|(at, word)| Some((at, (*word)?)));
    let each = declared.filter_map(|(declaration, word)| {
        let name = &program.processes[declaration as usize].name;
        let broken = found.broken.iter().find(|(at, _)| *at == declaration);
        if let Some((_, Broken { text, pc })) = broken {
            let message = format!("the processes `{name}` are not symmetric: {text}");
            let warning = Diagnostic::warning(word, message);
            let place = pc.map(|pc| program.code.span(pc));
            return Some(match place {
                Some(place) => warning.also(place, "here"),
                None => warning,
            });
        }
        let group = found.of_process.get(declaration as usize).copied().flatten();
        let Some(group) = group else {
            // A family of one is one only with these constants.
            let kind = program.processes[declaration as usize].kind;
            let is_family = matches!(kind, Instantiation::Family { .. });
            let message = format!("`{name}` has no index, so it has no symmetry");
            return (!is_family).then(|| Diagnostic::warning(word, message));
        };
        found.groups[group as usize].is_ring.then(|| {
            let message = format!("the processes `{name}` form a ring: only rotations are left");
            Diagnostic::warning(word, message)
        })
    });
    each.collect()
}

/// What is known when all is judged.
fn conclude(flow: &Flow<'_>, groups: Groups) -> Result<Found, Broken> {
    let kind = |node| groups.kind(flow, node);
    let mut arrays = Vec::new();
    for one in &flow.declarations {
        arrays.push(Array {
            kind: one.kind,
            base: one.base,
            count: one.count,
            index: groups.group_of(flow, one.index).filter(|_| one.count > 1),
            carried: [kind(one.content)?, kind(one.src)?, kind(one.tag)?],
        });
    }
    let mut stacks = FxHashMap::default();
    for (pc, stack) in flow.resting() {
        let kinds: Result<Vec<IndexKind>, Broken> = stack
            .iter()
            .map(|&slot| match flow.nodes.facts(slot).declaration.map(|at| &arrays[at]) {
                // The number of an object.
                Some(&Array { index: Some(group), base, .. }) => {
                    Ok(IndexKind::Index(group, i64::from(base)))
                }
                Some(_) => Ok(IndexKind::Fixed),
                None => kind(slot),
            })
            .collect();
        stacks.insert(pc, kinds?.into());
    }
    let Groups { groups, of_process, broken, .. } = groups;
    Ok(Found { groups, of_process, arrays, stacks, broken })
}

/// Why a program is not analysed.
fn refusal(program: &Program) -> Option<Broken> {
    let objects = &program.code.objects;
    if !objects.condvars.is_empty() {
        return Some(Broken::program("the program has condition variables"));
    }
    if !objects.collectives.is_empty() {
        return Some(Broken::program("the program has collectives"));
    }
    let instrs = (0..).zip(&program.code.instrs);
    instrs.into_iter().find_map(|(pc, instr)| {
        let text = match instr {
            Instr::Visible(Visible::Spawn { .. } | Visible::Join) => "processes are spawned",
            Instr::Visible(Visible::Cancel | Visible::CancelOutcome) => "receives are cancelled",
            Instr::Visible(Visible::Probe { form: Probing::Take, .. }) => {
                "messages are probed and taken in one step"
            }
            Instr::Received => "`value` is asked for",
            Instr::Compute(_)
            | Instr::Handle(_)
            | Instr::Myself
            | Instr::Instance(_)
            | Instr::Message { .. }
            | Instr::Send
            | Instr::Create { .. } => "the program has actors",
            _ => return None,
        };
        Some(Broken { text: text.to_owned(), pc: Some(pc) })
    })
}

/// All declarations of objects.
fn declared(program: &Program) -> Vec<(ObjectKind, String, u32, u32)> {
    let objects = &program.code.objects;
    let mut all = Vec::new();
    macro_rules! add {
        ($($kind:ident $objects:ident,)*) => {
            $(for (name, range) in objects.$objects.declared() {
                let (base, count) = (range.start, range.end - range.start);
                all.push((ObjectKind::$kind, name.to_owned(), base, count));
            })*
        };
    }
    add! {
        Mailbox mailboxes,
        Mutex mutexes,
        RwLock rwlocks,
        Semaphore semaphores,
        Barrier barriers,
        Latch latches,
        Cell cells,
    }
    all
}
