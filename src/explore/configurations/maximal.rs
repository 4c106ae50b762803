//! How a search ends in a configuration to which nothing can be added.

use super::notes::Notes;
use crate::explore::driver::Driver;
use crate::model::System;
use crate::unfolding::{Configuration, Unfolding};

/// Reports a C without enabled events: a complete execution, one that the bound cuts, or one after
/// which every possible action would end a spin iteration.
pub fn report<S: System>(
    unfolding: &mut Unfolding<'_, S>,
    c: &mut Configuration,
    driver: &mut Driver<'_>,
    notes: &mut impl Notes,
) {
    let is_end = if c.state().is_terminal(&unfolding.locals) {
        driver.terminal(&mut unfolding.locals, c.state())
    } else if unfolding.is_cut_at(c) {
        driver.truncated(&unfolding.locals, c.state());
        return notes.cut();
    } else {
        unfolding.looking_on(c, |locals, state| driver.waiting(locals, state))
    };
    match is_end {
        true => notes.maximal(c.events()),
        false => notes.given_up(),
    }
}
