//! Programs by explorers: the result of each search, row by row, and whether rows agree.
//!
//! A study is a list of [`Case`]s (programs with their constants) and of explorers with their
//! options ([`Setting`](crate::explore::Setting)). Each pair is a [`Job`], and its result a
//! [`Row`]. A job can be serialised, so another process may do it. This is necessary to measure the
//! peak memory of a search, which must have a process to itself. The caller decides how jobs are
//! run and how rows are shown.
//!
//! Explorers with the same guarantee must find the same. [`disagreements`] compares the rows of a
//! case with one another. If they differ, one of the explorers is wrong, and that is a bug of this
//! crate. A [`Sweep`] gives a constant one value after another; a [`Point`] is a row together with
//! its repetitions. A [`Task`] is a search that is done in parts.

#[cfg(feature = "cli")]
mod agreement;
#[cfg(feature = "cli")]
mod case;
mod figures;
#[cfg(all(test, feature = "cli"))]
pub(crate) mod made_up;
#[cfg(feature = "cli")]
mod mpi_program;
#[cfg(feature = "cli")]
mod point;
#[cfg(feature = "cli")]
mod row;
#[cfg(feature = "cli")]
mod stored;
#[cfg(feature = "cli")]
mod sweep;
#[cfg(feature = "cli")]
pub(crate) mod task;

#[cfg(feature = "cli")]
pub use agreement::{About, Disagreement, disagreements};
#[cfg(feature = "cli")]
pub use case::{Case, Job};
pub use figures::{Figures, Limits};
#[cfg(feature = "cli")]
pub use mpi_program::MpiProgram;
#[cfg(feature = "cli")]
pub use point::{Point, median};
#[cfg(feature = "cli")]
pub use row::{Measured, Ran, Row, Searcher};
#[cfg(feature = "cli")]
pub use sweep::{Sweep, ks, product};
#[cfg(feature = "cli")]
pub use task::Task;

#[cfg(feature = "cli")]
pub(crate) use agreement::foreseen;
#[cfg(feature = "cli")]
pub(crate) use stored::{Stored, hash};
#[cfg(feature = "cli")]
pub(crate) use task::Searchable;
