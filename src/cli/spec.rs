//! Reads and compiles the spec of a command.

use std::collections::BTreeMap;
use std::path::Path;

use super::files::{is_stdin, read};
use super::options::{Define, SetupArgs, SpecArgs, Unit};
use super::output::Output;
use super::{Failure, memory};
use crate::explore::{Explorer, Order, Setting};
use crate::lang::Program;
use crate::model::Semantics;
use crate::model::flow::Flow;
use crate::model::{System, Value, Values, masked};
use crate::report::Subject;
use crate::report::text::shown;
use crate::study::{Case, Limits};

/// A compiled spec, or another system that a command works on, with what reports need to know about
/// it.
pub(super) struct Spec<P = Program> {
    pub(super) subject: Subject,
    pub(super) program: P,
}

impl Spec {
    /// Reads and compiles a spec. Prints warnings on standard error.
    pub(super) fn load(args: &SpecArgs, output: &Output) -> Result<Spec, Failure> {
        args.setup.refuse_lints()?;
        Ok(Spec::with_case(args, output)?.1)
    }

    /// Reads and compiles a spec, and also returns what it was compiled from. Prints warnings on
    /// standard error.
    pub(super) fn with_case(args: &SpecArgs, output: &Output) -> Result<(Case, Spec), Failure> {
        let case = case(&args.path, &args.setup)?;
        let program = compile(&case, output)?;
        let spec = Spec::of(&args.path, &case, program);
        Ok((case, spec))
    }

    /// Compiles a spec of a search in parts. Warnings are not printed again: the command that cut
    /// the search has printed them.
    pub(super) fn again(path: &Path, case: &Case) -> Result<Spec, Failure> {
        let program = case.compile().map_err(|diagnostics| Failure::Spec(Box::new(diagnostics)))?;
        Ok(Spec::of(path, case, program))
    }

    /// Compiles a spec for each requested choice of MPI semantics; only once if the spec does not
    /// use p2p or bag mailboxes or collectives.
    ///
    /// Also returns what the first one was compiled from.
    pub(super) fn variants(args: &SpecArgs, output: &Output) -> Result<(Case, Vec<Spec>), Failure> {
        let variants = args.setup.mpi.variants_of_spec()?;
        let case = case_with(&args.path, &args.setup, variants[0])?;
        let first = Spec::of(&args.path, &case, compile(&case, output)?);
        if !first.program.uses_network() {
            return Ok((case, vec![first]));
        }
        let rest = variants[1..].iter().map(|&semantics| {
            let case = Case { semantics, ..case.clone() };
            let program = case.compile().map_err(|errors| Failure::Spec(Box::new(errors)))?;
            let subject = Subject { semantics: Some(semantics), ..first.subject.clone() };
            Ok(Spec { subject, program })
        });
        let rest = rest.collect::<Result<Vec<_>, Failure>>()?;
        Ok((case, std::iter::once(first).chain(rest).collect()))
    }

    /// The spec with a program that records which code was run.
    pub(super) fn observed(self) -> Spec {
        Spec { program: self.program.observed(), ..self }
    }

    fn of(path: &Path, case: &Case, program: Program) -> Spec {
        let subject = Subject {
            mazurka: env!("CARGO_PKG_VERSION"),
            spec: shown(path),
            path: path.to_owned(),
            constants: constants(&program),
            granularity: case.by_statement.then_some("statement"),
            allow_pending: case.allow_pending,
            daemons: case.daemons.clone(),
            unfair: case.unfair,
            semantics: program.uses_network().then_some(case.semantics),
            faults: case.faults,
            command: None,
            defines: case.defines.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            source: masked(&case.source).into_owned(),
        };
        Spec { subject, program }
    }
}

/// What the program in this file is compiled from.
///
/// # Errors
/// If the file cannot be read, or `both` asks for several choices of MPI semantics.
pub(super) fn case(path: &Path, setup: &SetupArgs) -> Result<Case, Failure> {
    case_with(path, setup, setup.mpi.only()?)
}

fn case_with(path: &Path, setup: &SetupArgs, semantics: Semantics) -> Result<Case, Failure> {
    let defines = effective(&setup.defines);
    Ok(Case {
        name: name(path),
        source: read(path)?,
        defines: defines.map(|define| (define.name.clone(), define.value.clone())).collect(),
        by_statement: setup.granularity == Unit::Statement,
        allow_pending: setup.allow_pending,
        faults: setup.faults.into(),
        daemons: setup.daemons(),
        unfair: setup.unfair,
        semantics,
    })
}

/// Compiles a program. Prints its warnings on standard error.
pub(super) fn compile(case: &Case, output: &Output) -> Result<Program, Failure> {
    let program = case.compile().map_err(|diagnostics| Failure::Spec(Box::new(diagnostics)))?;
    if !program.warnings().is_empty() {
        output.note(program.warnings().render(true));
    }
    Ok(program)
}

/// The constants of a program with their values.
pub(super) fn constants(program: &Program) -> BTreeMap<String, serde_json::Value> {
    program.constants().map(|(name, value)| (name.into(), json(program, value))).collect()
}

/// The effective settings: if a name is set several times, the last one.
pub(super) fn effective(defines: &[Define]) -> impl Iterator<Item = &Define> {
    let is_last = |at: usize| defines[at + 1..].iter().all(|later| later.name != defines[at].name);
    defines.iter().enumerate().filter(move |&(at, _)| is_last(at)).map(|(_, define)| define)
}

fn json(program: &Program, value: &Value) -> serde_json::Value {
    match value {
        Value::Int(n) => (*n).into(),
        Value::Bool(b) => (*b).into(),
        other => program.describe().show_value(other, &|_| None).into(),
    }
}

/// The name of the program in this file, for reports.
pub(super) fn name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".into() } else { shown(path) }
}

/// Why this explorer cannot be used on this program or within these limits, in a sentence; `None`
/// if it can.
pub(super) fn refusal(setting: &Setting, program: &Program, limits: &Limits) -> Option<String> {
    let refusal = setting.refusal(program, &limits.budget(memory::in_use));
    refusal.or_else(|| stray(setting, program))
}

/// The message for an order that lists a process which never exists; `None` if there is no such
/// process in it.
fn stray(setting: &Setting, program: &Program) -> Option<String> {
    let Some(Order::Sequential(listed)) = setting.options().order else { return None };
    let is_template = |flow: &Flow| flow.noun != "procedure" && flow.instances.is_none();
    let spawns = program.flows().iter().any(is_template);
    let last = program.initial(&mut Values::default()).len();
    let stray = listed.processes().find(|process| process.index() >= last && !spawns)?;
    let order = Order::Sequential(listed).to_string().replace('.', ",");
    Some(match last {
        0 => format!("--order {order}: the program has no processes"),
        1 => format!("--order {order}: there is no process {}, only process 0", stray.0),
        n => {
            format!("--order {order}: there is no process {}, only 0 to {}", stray.0, n - 1)
        }
    })
}
