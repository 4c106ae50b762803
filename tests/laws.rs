//! Laws that hold on every program, tested on random ones against the oracle.

mod of_explorers;
mod of_trace;
mod of_unfolding;

use mazurka::model::Locals;

use crate::naive::{Obstacle, Structure};
use crate::random_models::{MAX_CONFIGURATIONS, Sample, Script};

/// The sample's event structure by the definitions.
fn structure_of(sample: &Sample) -> (Locals<'_, Script>, Structure) {
    let mut locals = Locals::new(&sample.script);
    match Structure::of(&mut locals, MAX_CONFIGURATIONS) {
        Ok(structure) => (locals, structure),
        Err(Obstacle::TooLarge) => panic!("too many configurations: {}", sample.describe()),
        Err(Obstacle::Broken(how)) => panic!("{how}\n{}", sample.describe()),
    }
}
