//! Mazurka: an unfolding and event-structure verification engine.

pub mod alternatives;
pub mod explore;
pub mod model;
pub mod unfolding;
