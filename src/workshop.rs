//! Where what others have printed is reproduced: tables of papers, and experiments on clients of
//! data structures.
//!
//! Nothing here is needed to verify a program; so this module is compiled only with the feature
//! `cli`.
//!
//! | module | idea |
//! |---|---|
//! | [`papers`] | the tables that papers print, as figures |
//! | [`reproduction`] | such a table with our figures beside those of the paper |
//! | [`client`] | clients of data structures, made from seeds |
//! | [`stateful`] | the experiments of a paper on these clients, and what comes of them |
//! | [`study`] | what UDPOR's k costs and saves |
//! | [`plot`] | line plots |

pub mod client;
pub mod papers;
pub mod plot;
pub mod reproduction;
mod specs;
pub mod stateful;
pub mod study;
