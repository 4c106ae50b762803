//! Reads and compiles the spec that a command is about.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};

use super::Failure;
use super::options::{Define, SetupArgs, SpecArgs, Unit};
use super::output::Output;
use crate::lang::Program;
use crate::model::{System, Value};
use crate::report::Subject;
use crate::study::Case;

/// A compiled spec.
pub(super) struct Spec {
    pub(super) subject: Subject,
    pub(super) program: Program,
}

impl Spec {
    /// Reads and compiles it; its diagnostics go to standard error.
    pub(super) fn load(args: &SpecArgs, output: &Output) -> Result<Spec, Failure> {
        let case = case(&args.path, &args.setup)?;
        let program = compile(&case, output)?;
        let subject = Subject {
            mazurka: env!("CARGO_PKG_VERSION"),
            spec: args.path.clone(),
            constants: constants(&program),
            granularity: case.by_statement.then_some("statement"),
            allow_pending: case.allow_pending,
            defines: case.defines.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            source: case.source,
        };
        Ok(Spec { subject, program })
    }
}

/// The program in this file.
pub(super) fn case(path: &str, setup: &SetupArgs) -> Result<Case, Failure> {
    let defines = effective(&setup.defines);
    Ok(Case {
        name: if path == "-" { "<stdin>".into() } else { path.into() },
        source: read(path)?,
        defines: defines.map(|define| (define.name.clone(), define.value.clone())).collect(),
        by_statement: setup.granularity == Unit::Statement,
        allow_pending: setup.allow_pending,
    })
}

/// Compiles it; its diagnostics go to standard error.
pub(super) fn compile(case: &Case, output: &Output) -> Result<Program, Failure> {
    let program = case.compile().map_err(|diagnostics| {
        output.note(diagnostics.render(true));
        Failure::Reported
    })?;
    if !program.warnings().is_empty() {
        output.note(program.warnings().render(true));
    }
    Ok(program)
}

/// The constants of a program with their values.
pub(super) fn constants(program: &Program) -> BTreeMap<String, serde_json::Value> {
    program.constants().map(|(name, value)| (name.into(), json(program, value))).collect()
}

/// The settings that count: of several of one name the last.
pub(super) fn effective(defines: &[Define]) -> impl Iterator<Item = &Define> {
    let is_last = |at: usize| defines[at + 1..].iter().all(|later| later.name != defines[at].name);
    defines.iter().enumerate().filter(move |&(at, _)| is_last(at)).map(|(_, define)| define)
}

fn json(program: &Program, value: &Value) -> serde_json::Value {
    match value {
        Value::Int(n) => (*n).into(),
        Value::Bool(b) => (*b).into(),
        other => program.show_value(other, &|_| None).into(),
    }
}

pub(super) fn read(path: &str) -> Result<String, Failure> {
    let text = if path == "-" {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    let text = text.map_err(|error| {
        let what = if path == "-" { "standard input" } else { path };
        match error.kind() {
            io::ErrorKind::InvalidData => Failure::Usage(format!("{what} is no text in UTF-8")),
            _ => Failure::Usage(format!("cannot read {what}: {error}")),
        }
    })?;
    // A byte order mark is no part of the text.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
