//! A spec as a data structure: its operations, and its text without the client in it.
//!
//! The procedures are the operations of the structure; processes, actors, `init` and `final` are
//! its client. Another client can be appended to the text without that client. The text keeps its
//! comments, except directly above what is removed, and loses its expectations, which are about the
//! removed client.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ast::{File, Item, Name, Param as Written, TypeExpr, TypeKind};
use super::diagnostic::{Diagnostics, Findings, Span};
use super::hir::Procedure;
use super::{check, lexer, parser, walk};
use crate::model::Faults;

/// A data structure: the source text without its client, and what a client can use.
#[derive(Clone, Debug)]
pub(crate) struct Structure {
    /// The procedures, in order of declaration.
    pub(crate) offers: Vec<Offer>,
    /// The names of the constants, in order of declaration.
    pub(crate) constants: Vec<String>,
    source: String,
    /// Replacements for parts of the source: new values for constants, and the empty text for the
    /// client.
    edits: Vec<(Span, String)>,
    /// The span of the value of each constant.
    values: Vec<Span>,
}

/// A procedure that clients may call.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) name: String,
    /// The parameters.
    pub(crate) params: Vec<Param>,
    /// Is it called by another procedure of the file?
    pub(crate) is_part: bool,
}

/// A parameter of a procedure.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    /// The values that it can take.
    pub(crate) domain: Domain,
}

/// The kinds of values that clients can generate for a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// Integers.
    Int,
    /// Truth values.
    Bool,
    /// The variants of an enumeration, as `Name::Variant`.
    Enum(Vec<String>),
    /// A type for which clients generate no values.
    Other,
}

/// Reads a data structure. `name` is the name of the file in messages; `overrides` are names and
/// values of constants to set.
///
/// # Errors
/// All mistakes in the file and in the overrides.
pub(crate) fn structure(
    name: &str,
    source: &str,
    overrides: &[(String, String)],
) -> Result<Structure, Diagnostics> {
    stacker::grow(super::source::STACK, || read(name, source, overrides))
}

fn read(
    name: &str,
    source: &str,
    overrides: &[(String, String)],
) -> Result<Structure, Diagnostics> {
    let mut found = Findings::default();
    let lexed = lexer::lex(source, &mut found);
    let file = parser::parse(source, &lexed.tokens, &mut found);
    let checked = check::check(source, &file, overrides, Faults::default(), &mut found);
    if found.errors() > 0 {
        return Err(Diagnostics::new(name, source, found));
    }
    let constants = file.items.iter().filter_map(|item| match item {
        Item::Const { name, value, .. } => Some((name.text.clone(), value.span)),
        _ => None,
    });
    let (constants, values): (Vec<_>, Vec<_>) = constants.unzip();
    let clients = file.running.iter().map(|&span| (with_comment(source, span), String::new()));
    let mut structure = Structure {
        offers: offers(&file, &checked.procedures),
        constants,
        source: source.to_owned(),
        edits: clients.collect(),
        values,
    };
    for (name, value) in overrides {
        structure.set(name, value);
    }
    Ok(structure)
}

impl Structure {
    /// Sets a constant to this value in the text. The last value counts.
    ///
    /// # Panics
    /// If the file does not declare the constant.
    pub(crate) fn set(&mut self, constant: &str, value: &str) {
        let place = self.constants.iter().position(|known| known == constant);
        let span = self.values[place.expect("a constant of the structure")];
        self.edits.retain(|&(edited, _)| edited != span);
        self.edits.push((span, value.to_owned()));
    }

    /// The source text without its client and its expectations.
    pub(crate) fn text(&self) -> String {
        let mut edits: Vec<_> = self.edits.iter().collect();
        edits.sort_by_key(|(span, _)| span.start);
        let (mut text, mut at) = (String::new(), 0);
        for (span, new) in edits {
            text += &self.source[at..span.start as usize];
            text += new;
            at = span.end as usize;
        }
        text += &self.source[at..];
        tidied(&text)
    }
}

/// The procedures, as clients see them.
fn offers(file: &File, procedures: &[Procedure]) -> Vec<Offer> {
    let mut called: FxHashSet<u32> = FxHashSet::default();
    for procedure in procedures {
        called.extend(walk::calls(&procedure.body.block));
    }
    let declared = file.items.iter().filter_map(|item| match item {
        Item::Procedure { name, params, .. } => Some((name, params)),
        _ => None,
    });
    let enums: FxHashMap<&str, &[Name]> = file.items.iter().filter_map(variants).collect();
    let offer = |(number, (name, params)): (u32, (&Name, &Vec<Written>))| Offer {
        name: name.text.clone(),
        params: params.iter().map(|param| offered(param, &enums)).collect(),
        is_part: called.contains(&number),
    };
    (0..).zip(declared).map(offer).collect()
}

/// The name and the variants of an enumeration.
fn variants(item: &Item) -> Option<(&str, &[Name])> {
    match item {
        Item::Enum { name, variants } => Some((&name.text, variants)),
        _ => None,
    }
}

fn offered(param: &Written, enums: &FxHashMap<&str, &[Name]>) -> Param {
    Param { name: param.name.text.clone(), domain: domain(&param.ty, enums) }
}

fn domain(ty: &TypeExpr, enums: &FxHashMap<&str, &[Name]>) -> Domain {
    let TypeKind::Named(named) = &ty.kind else { return Domain::Other };
    match (named.as_str(), enums.get(named.as_str())) {
        ("int", _) => Domain::Int,
        ("bool", _) => Domain::Bool,
        (_, Some(variants)) => {
            Domain::Enum(variants.iter().map(|v| format!("{named}::{}", v.text)).collect())
        }
        _ => Domain::Other,
    }
}

/// The span, extended by the comment lines directly above it.
fn with_comment(source: &str, span: Span) -> Span {
    let mut start = source[..span.start as usize].rfind('\n').map_or(0, |end| end + 1);
    if !source[start..span.start as usize].trim().is_empty() {
        return span;
    }
    while start > 0 {
        let above = source[..start - 1].rfind('\n').map_or(0, |end| end + 1);
        if !source[above..start].trim_start().starts_with("//") {
            break;
        }
        start = above;
    }
    Span::new(start, span.end as usize)
}

/// The text without expectations and without consecutive empty lines, in comments or elsewhere.
fn tidied(text: &str) -> String {
    let is_empty = |line: &str| matches!(line, "" | "//");
    let mut tidy = String::new();
    let mut empty_before = true;
    for line in text.lines().map(str::trim_end) {
        let skipped = line.trim_start().starts_with("//@") || (is_empty(line) && empty_before);
        if !skipped {
            tidy += line;
            tidy.push('\n');
            empty_before = is_empty(line);
        }
    }
    tidy.truncate(tidy.trim_end().len());
    tidy + "\n"
}
