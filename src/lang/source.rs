//! The front end: from the text of a spec to a program.

use std::collections::BTreeSet;

use super::ast::{File, Item};
use super::check::{self, Checked, Instantiation};
use super::code::Visible;
use super::compile::{self, Granularity};
use super::diagnostic::{Diagnostics, Findings, Span};
use super::expectation;
use super::hir::{Expr, ExprKind, Operation};
use super::program::{self, Program};
use super::{lexer, objects, outline, parser, shares, symmetry, walk};
use crate::model::Faults;

/// The stack size for one run of the front end, in bytes. Nesting is bounded, so it is enough for
/// any input.
pub(super) const STACK: usize = 64 << 20;

/// Compiles the text of a spec. `name` is the name of the file in messages; `overrides` are names
/// and values of constants to set, as by `-D NAME=VALUE`.
///
/// # Errors
/// All mistakes in the file and in the overrides.
pub fn compile(
    name: &str,
    source: &str,
    overrides: &[(String, String)],
) -> Result<Program, Diagnostics> {
    compile_with(name, source, overrides, Choices::default())
}

/// The types of the names that this text declares, for editors: of constants, mailboxes (of their
/// messages), variables and parameters, as far as they are known. With each stands where the name
/// is declared. The text need not be a program.
pub fn types(source: &str) -> Vec<(Span, String)> {
    stacker::grow(STACK, || {
        let mut found = Findings::default();
        let lexed = lexer::lex(source, &mut found);
        let file = parser::parse(source, &lexed.tokens, &mut found);
        check::types(source, &file, &mut found)
    })
}

/// What decides, besides its text and constants, which program a spec stands for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choices {
    /// What counts as an action.
    pub granularity: Granularity,
    /// Which of the declared faults may happen.
    pub faults: Faults,
}

impl From<Granularity> for Choices {
    fn from(granularity: Granularity) -> Choices {
        Choices { granularity, ..Choices::default() }
    }
}

/// Compiles the text of a spec, like [`compile()`], with other choices.
///
/// # Errors
/// All mistakes in the file and in the overrides.
pub fn compile_with(
    name: &str,
    source: &str,
    overrides: &[(String, String)],
    choices: impl Into<Choices>,
) -> Result<Program, Diagnostics> {
    let choices = choices.into();
    stacker::grow(STACK, || compile_here(name, source, overrides, choices))
}

fn compile_here(
    name: &str,
    source: &str,
    overrides: &[(String, String)],
    Choices { granularity, faults }: Choices,
) -> Result<Program, Diagnostics> {
    let mut found = Findings::default();
    let lexed = lexer::lex(source, &mut found);
    let file = parser::parse(source, &lexed.tokens, &mut found);
    let mut checked = check::check(source, &file, overrides, faults, &mut found);
    check::check_that_something_runs(&checked, &mut found);
    if found.errors() == 0 {
        shares::complete(&mut checked, faults, &mut found);
    }
    let constants = checked.constants.iter().map(|(name, _)| name.as_str()).collect();
    let expectations = expectation::parse(source, &lexed.expectations, &constants, &mut found);
    let failed = found.errors() > 0;
    let diagnostics = Diagnostics::new(name, source, found);
    if failed {
        return Err(diagnostics);
    }
    let may_cancel = cancels(&checked);
    let processes = templates(&file, &checked);
    let flows = outline::outline(&file, &checked, source, &lexed.tokens);
    let code = compile::compile(&mut checked, source, granularity);
    let Checked { enums, constants, messages, sent_blindly, .. } = checked;
    let mut program = Program {
        flows,
        enums,
        messages,
        constants,
        expectations,
        warnings: diagnostics,
        sent_blindly,
        ..Program::new(code, processes, may_cancel)
    };
    match program.initialise() {
        Ok(()) => {
            for warning in symmetry::disappointments(&program, &symmetric_words(&file)) {
                program.warnings.push(warning);
            }
            Ok(program)
        }
        Err(mistake) => Err(Diagnostics::of(name, source, mistake)),
    }
}

/// For each process and actor the word `symmetric`, if it is declared so.
fn symmetric_words(file: &File) -> Vec<Option<Span>> {
    let words = file.items.iter().filter_map(|item| match item {
        Item::Process { symmetric, .. } => Some(*symmetric),
        Item::Actor { .. } => Some(None),
        _ => None,
    });
    words.collect()
}

/// Does some process use `async_lock`? If not, no process cancels a request for a mutex before it
/// owns it.
fn cancels(checked: &Checked) -> bool {
    let mut found = false;
    for process in &checked.processes {
        for body in walk::within(&process.body.block, &checked.procedures) {
            walk::visit(body, &mut |expr| {
                found |= matches!(expr.kind, ExprKind::Operation(Operation::On(word, _))
                    if objects::mutex::only_requests(word));
            });
        }
    }
    found
}

/// The set of templates that these blocks spawn.
fn spawned_in<'e>(blocks: impl IntoIterator<Item = &'e Expr>) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for block in blocks {
        walk::visit(block, &mut |expr| {
            if let ExprKind::Operation(Operation::One {
                visible: Visible::Spawn { process, .. },
                ..
            })
            | ExprKind::Create(process, _) = &expr.kind
            {
                found.insert(*process);
            }
        });
    }
    found
}

/// The declared processes and actors, with the ids of their first instances, and whether the names
/// of spawned instances must include the spawning process.
fn templates(file: &File, checked: &Checked) -> Vec<program::Template> {
    let mut spawners = vec![0_u32; checked.processes.len()];
    for process in &checked.processes {
        let handlers = process.actor.iter().flat_map(|actor| &actor.handlers);
        let own = walk::within(&process.body.block, &checked.procedures);
        for template in spawned_in(own.into_iter().chain(handlers.map(|handler| &handler.body))) {
            // A template may have several instances, so names of what it spawns must include it,
            // too.
            let instances =
                if process.kind == Instantiation::Template { 2 } else { process.kind.instances() };
            spawners[template as usize] += instances;
        }
    }
    for template in spawned_in(checked.inits.iter().map(|init| &init.block)) {
        spawners[template as usize] += 1;
    }
    let mut first = 0;
    let mut templates = Vec::new();
    let daemons = file.items.iter().filter_map(|item| match item {
        Item::Process { is_daemon, .. } => Some(*is_daemon),
        Item::Actor { .. } => Some(false),
        _ => None,
    });
    // Hidden processes end.
    let daemons = daemons.chain(std::iter::repeat(false));
    for ((process, spawners), is_daemon) in checked.processes.iter().zip(spawners).zip(daemons) {
        let (name, kind) = (process.name.clone(), process.kind);
        let (qualified, is_actor) = (spawners > 1, process.actor.is_some());
        let params = process.body.params;
        templates.push(program::Template {
            name,
            kind,
            first,
            qualified,
            is_actor,
            is_daemon,
            params,
        });
        first += kind.instances();
    }
    templates
}
