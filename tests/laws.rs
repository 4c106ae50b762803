//! Laws that hold on every program, tested on random ones of all families against the oracle.

mod earned;
mod of_counts;
mod of_dependence;
mod of_depth;
mod of_explorers;
mod of_programs;
mod of_races;
mod of_reduction;
mod of_states;
mod of_trace;
mod of_unfolding;

use mazurka::model::Locals;

use crate::naive::{Obstacle, Structure};
use crate::random_models::{MAX_CONFIGURATIONS, Sample, Subject};

/// Each law, a function of the samples, as a test on each family.
macro_rules! hold_on_random_programs {
    ($($law:ident)*) => {
        mod processes {
            $(#[test] fn $law() { super::$law(crate::random_models::processes()); })*
        }

        mod actors {
            $(#[test] fn $law() { super::$law(crate::random_models::actors()); })*
        }

        mod later {
            $(#[test] fn $law() { super::$law(crate::random_models::later()); })*
        }

        mod p2p {
            $(#[test] fn $law() { super::$law(crate::random_models::p2p()); })*
        }
    };
}
use hold_on_random_programs;

hold_on_random_programs! {
    event_structures_are_those_of_the_definitions
}

#[test]
fn collectives_with_partners_are_like_others() {
    let samples = crate::random_models::partners();
    event_structures_are_those_of_the_definitions(samples);
    of_explorers::random_programs_are_explored_as_guaranteed(samples);
    of_dependence::chains_order_what_depends(samples);
}

/// All laws about the event structure of a program. They are one test, because to make the structure takes longer than they do.
fn event_structures_are_those_of_the_definitions<S: Subject>(samples: &[Sample<S>]) {
    let (mut pairs, mut questions) = (Default::default(), Default::default());
    let mut small = 0;
    for sample in samples {
        let (mut locals, structure) = structure_of(sample);
        of_trace::check(sample, &mut locals, &structure, &mut pairs);
        small += usize::from(of_unfolding::check(sample, locals, structure, &mut questions));
    }
    pairs.assert_enough(samples.len());
    questions.assert_enough();
    assert!(2 * small > samples.len(), "most programs are small enough: {small}");
}

/// The sample's event structure by the definitions.
fn structure_of<S: Subject>(sample: &Sample<S>) -> (Locals<'_, S>, Structure) {
    let mut locals = Locals::new(&sample.script);
    match Structure::of(&mut locals, MAX_CONFIGURATIONS) {
        Ok(structure) => (locals, structure),
        Err(Obstacle::TooLarge) => panic!("too many configurations: {}", sample.describe()),
        Err(Obstacle::Broken(how)) => panic!("{how}\n{}", sample.describe()),
    }
}
