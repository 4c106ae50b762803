//! How explorers are chosen: the table of explorers, their options, and both as text.

pub(crate) mod options;
pub(crate) mod setting;
pub(crate) mod table;
