//! The modelling language: compiles source text to a checked program that runs as a [`System`].
//!
#![doc = include_str!("lang/reference.md")]
#![cfg_attr(
    not(feature = "lang"),
    expect(
        dead_code,
        reason = "what checks and compiles texts is not apart from what the builder uses"
    )
)]

mod ast;
mod books;
pub(crate) mod builder;
mod check;
mod code;
mod compile;
mod constant;
mod coverage;
#[cfg(feature = "lang")]
mod dependence;
mod diagnostic;
mod expectation;
mod faults;
#[cfg(feature = "lang")]
mod format;
mod hir;
mod interpret;
#[cfg(feature = "lang")]
mod lexer;
mod liveness;
#[cfg(feature = "lang")]
mod names;
mod objects;
mod operators;
#[cfg(feature = "lang")]
mod outline;
#[cfg(feature = "lang")]
mod parser;
mod program;
mod prospect;
mod shares;
mod slips;
#[cfg(feature = "lang")]
mod source;
mod spin;
#[cfg(feature = "cli")]
mod structure;
mod symmetry;
#[cfg(feature = "lang")]
mod token;
mod types;
mod walk;

pub use compile::Granularity;
pub use coverage::{Unreached, UnreachedKind};
pub use diagnostic::{Diagnostic, Diagnostics, Severity, Span};
pub use expectation::{Expectation, ExpectedVerdict};
pub use program::{Local, Program};

#[cfg(feature = "lang")]
pub use dependence::{Dependence, dependences};
#[cfg(feature = "lang")]
pub use format::format;
#[cfg(feature = "lang")]
pub use names::{Declared, Names};
#[cfg(feature = "lang")]
pub use source::{Choices, compile, compile_with, types};

#[cfg(feature = "cli")]
pub(crate) use structure::{Domain, Offer, Param, Structure, structure};

#[allow(unused_imports, reason = "for the links of the documentation")]
use crate::model::System;
