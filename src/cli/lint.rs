//! Warnings about code that no execution runs.

use super::spec::Spec;
use crate::explore::{Explorer, Setting};
use crate::lang::{Unreached, UnreachedKind};
use crate::property::When;
use crate::report::lint::{Level, Levels, Lint, Warning};

/// The most characters of a statement that are shown.
const LONGEST: usize = 50;

/// Why this explorer cannot find unreached code, in a sentence; `None` if it can, or if these lints
/// are off.
pub(super) fn refusal(levels: &Levels, setting: &Setting) -> Option<String> {
    let is_missing = levels.ask_about_all() && !setting.profile().asks(When::Step);
    is_missing.then(|| {
        let name = setting.explorer().profile().name;
        format!(
            "`{name}` does not visit every class of executions, so it cannot find what is never reached: \
             `--explorer udpor` can"
        )
    })
}

/// The code that no execution has run. The program must be observed ([`Spec::observed`]), and the
/// search complete.
pub(super) fn unreached(spec: &Spec) -> Vec<Warning> {
    let mut found = spec.program.unreached();
    found.sort_by_key(|unreached| (lint_of(unreached.kind), unreached.site.line));
    found.into_iter().map(|unreached| warning(spec, &unreached)).collect()
}

fn lint_of(kind: UnreachedKind) -> Lint {
    match kind {
        UnreachedKind::Lines | UnreachedKind::Handler => Lint::Lines,
        UnreachedKind::Arm | UnreachedKind::NeverTrue | UnreachedKind::NeverFalse => Lint::Branches,
        UnreachedKind::Assertion => Lint::Assertions,
    }
}

/// The beginning of a statement, at most [`LONGEST`] characters.
fn brief(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn warning(spec: &Spec, Unreached { kind, site, last_line }: &Unreached) -> Warning {
    let text = format!("`{}`", brief(&site.text));
    let message = match kind {
        UnreachedKind::Lines if *last_line > site.line => {
            format!("never reached, down to line {last_line}: {text}")
        }
        UnreachedKind::Lines => format!("never reached: {text}"),
        UnreachedKind::Handler => "this handler never runs".into(),
        UnreachedKind::Arm => format!("the arm that leads to {text} is never taken"),
        UnreachedKind::NeverTrue => format!("{text} never holds"),
        UnreachedKind::NeverFalse => format!("{text} always holds"),
        UnreachedKind::Assertion => format!("never evaluated: {text}"),
    };
    Warning {
        lint: lint_of(*kind),
        level: Level::Warn,
        message,
        file: spec.subject.spec.clone(),
        has_files: false,
        line: Some(site.line),
        column: Some(site.column),
        process: None,
        object: None,
        replay: None,
    }
}
