//! Mazurka: an unfolding and event-structure verification engine.

pub mod alternatives;
pub mod cli;
pub mod explore;
pub mod model;
pub mod property;
pub mod report;
pub mod unfolding;
