//! Reproductions of published results: the tables of papers, and experiments on clients of data
//! structures.
//!
//! Verifying a program needs nothing of this, so this module is compiled only with the feature
//! `cli`.
//!
//! | module | idea |
//! |---|---|
//! | [`papers`] | the tables that papers print, as figures |
//! | `reproduction` | such a table, with our figures beside the figures of the paper |
//! | [`client`] | random clients of data structures |
//! | [`stateful`] | the experiments of a paper on these clients, and their results |
//! | `study` | what UDPOR's k costs and saves |
//! | [`plot`] | line plots |

pub mod client;
pub mod papers;
pub mod plot;
pub(crate) mod reproduction;
mod specs;
pub mod stateful;
pub(crate) mod study;
