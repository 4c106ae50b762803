//! Reads and compiles the spec that a command is about.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};

use super::Failure;
use super::options::SpecArgs;
use super::output::Output;
use crate::report::Subject;

/// A compiled spec.
pub(super) struct Spec {
    pub(super) subject: Subject,
    pub(super) program: super::temporary::Program,
}

impl Spec {
    /// Reads and compiles it; its diagnostics go to standard error.
    pub(super) fn load(args: &SpecArgs, output: &Output) -> Result<Spec, Failure> {
        let source = read(&args.path)?;
        let _ = output;
        let defines: Vec<_> =
            args.defines.iter().map(|define| format!("{}={}", define.name, define.value)).collect();
        let subject = Subject {
            mazurka: env!("CARGO_PKG_VERSION"),
            spec: args.path.clone(),
            constants: BTreeMap::new(),
            source,
            defines,
        };
        Ok(Spec { program: super::temporary::Program::new(&subject.source), subject })
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
