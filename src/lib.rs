//! Mazurka: an unfolding and event-structure verification engine.

pub mod explore;
pub mod model;
pub mod property;
