//! How explorers are chosen: the table of explorers, their options, and both as text.

pub mod options;
pub mod setting;
pub mod table;
