//! The types of names, for editors.

use super::{Meaning, ObjectKind, checker};
use crate::lang::ast::File;
use crate::lang::diagnostic::{Findings, Span};
use crate::model::Faults;

/// The types of constants, mailboxes (of their messages), variables and parameters in this file, as
/// far as they are known: where the name is declared, and the type. The file may have mistakes.
pub(crate) fn types(source: &str, file: &File, diagnostics: &mut Findings) -> Vec<(Span, String)> {
    let checker = checker(source, file, &[], Faults::default(), diagnostics);
    let constants = checker.globals.values().filter_map(|global| match &global.meaning {
        Meaning::Const(_, ty) => Some((global.span, ty)),
        _ => None,
    });
    let mailboxes = checker.groups.iter().filter(|group| group.kind == ObjectKind::Mailbox);
    let objects = mailboxes.map(|group| (group.span, &group.ty));
    let variables = checker.bound.iter().map(|(span, ty)| (*span, ty));
    let all = constants.chain(objects).chain(variables);
    let shown = all.map(|(span, ty)| (span, checker.show(ty)));
    shown.filter(|(_, ty)| !ty.contains('_')).collect()
}
