//! Reads and compiles the spec that a command is about.

use std::fs;
use std::io::{self, Read};

use super::Failure;
use super::options::SpecArgs;
use super::output::Output;
use crate::lang::{self, Program};
use crate::model::Value;
use crate::report::Subject;

/// A compiled spec.
pub(super) struct Spec {
    pub(super) subject: Subject,
    pub(super) program: Program,
}

impl Spec {
    /// Reads and compiles it; its diagnostics go to standard error.
    pub(super) fn load(args: &SpecArgs, output: &Output) -> Result<Spec, Failure> {
        let source = read(&args.path)?;
        let name = if args.path == "-" { "<stdin>" } else { &args.path };
        let overrides: Vec<_> =
            args.defines.iter().map(|define| (define.name.clone(), define.value.clone())).collect();
        let program = lang::compile(name, &source, &overrides).map_err(|diagnostics| {
            output.note(diagnostics.render(true));
            Failure::Reported
        })?;
        if !program.warnings().is_empty() {
            output.note(program.warnings().render(true));
        }
        let constants = program.constants().map(|(name, value)| (name.into(), json(value)));
        let subject = Subject {
            mazurka: env!("CARGO_PKG_VERSION"),
            spec: args.path.clone(),
            constants: constants.collect(),
            source,
            defines: overrides.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        };
        Ok(Spec { subject, program })
    }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Int(n) => (*n).into(),
        Value::Bool(b) => (*b).into(),
        other => other.to_string().into(),
    }
}

fn read(path: &str) -> Result<String, Failure> {
    let text = if path == "-" {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    text.map_err(|error| {
        let what = if path == "-" { "standard input" } else { path };
        Failure::Usage(format!("cannot read {what}: {error}"))
    })
}
