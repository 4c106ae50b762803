//! A search in batches that is saved, and goes on in another process.
//!
//! Between two batches, the search is determined by its tables of packed states and its frontier,
//! which are saved as they are, and by what it has learned from the model: codes, moves and
//! reactions. These refer to values of the model, which exist only in this process. So they are
//! learned again, in the same order:
//!
//! - what comes before the batches is searched again (a few hundred milliseconds),
//! - after that, each visit to the model is in a [`Log`]: the moves that lead to the state, and
//!   what was done there.
//!
//! Then all codes and numbers are the same, and so is all that follows. The log is short: a search
//! that needs the model often leaves the batches ([`Plan::max_replayed`]).

use std::io::{self, Read, Write};

use super::full_graph::FullGraph;
use super::known::Known;
use super::plan::{Ended, Levels, Plan};
use super::reactions::Reactions;
use super::settings::Stateful;
use super::table::Tables;
use super::visits::{Log, Visit};
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::observer::NoObserver;
use crate::explore::saved::{
    read_number, read_numbers, read_words, stray, write_number, write_numbers, write_words,
};
use crate::model::System;

/// Goes on with a search in batches from the state that `driver` has; `None` if there is none.
///
/// # Errors
/// If it is not one of this search, or if a limit is reached. Then `driver` is stopped.
pub(super) fn resumed<'s, S: System>(
    system: &'s S,
    (how, plan): (Stateful, Plan),
    is_by_levels: bool,
    driver: &mut Driver<'_>,
) -> Result<Option<(FullGraph<'s, S>, Levels)>, Ended> {
    let read = driver.go_on_from(|from, driver| {
        driver.leave_out_invariants();
        let budget = driver.budget().clone();
        let budget = Budget { timeout: None, max_memory: None, ..budget };
        let (alarm, mut nobody) = (driver.alarm(), NoObserver);
        let mut beginning = Driver::new(system, budget, &mut nobody).on_behalf_of(alarm);
        beginning.goes_through_all_states();
        let mut search = match is_by_levels {
            true => FullGraph::new(system, how, &mut beginning),
            false => FullGraph::begun(system, how, plan, &mut beginning),
        };
        search.begin_batches(plan.jobs);
        if !is_by_levels {
            search.defer(&mut beginning);
        }
        let is_over = beginning.is_stopped();
        if is_over && !driver.is_stopped() {
            return Err(stray());
        }
        let levels = if is_over { None } else { Some(search.load(from, is_by_levels, driver)?) };
        Ok(levels.map(|levels| (search, levels)))
    });
    match read {
        None => Ok(None),
        Some(Ok(Some(search))) => Ok(Some(search)),
        Some(Ok(None)) => Err(Ended),
        Some(Err(_)) => {
            driver.is_not_of_this();
            Err(Ended)
        }
    }
}

impl<S: System> FullGraph<'_, S> {
    /// Keeps a log from here on, if the search is saved.
    pub(super) fn keep_log(&mut self, driver: &Driver<'_>) {
        self.log = driver.is_kept().then(Log::default);
    }

    /// Notes what is done in the state that was sought last.
    pub(super) fn note(&mut self, visit: Visit) {
        if let Some(log) = &mut self.log {
            log.note(visit, &self.way);
        }
    }

    /// Saves the search, if that is due. Called between batches.
    pub(super) fn save_now_and_then(&mut self, levels: Option<&Levels>, driver: &mut Driver<'_>) {
        if self.log.is_some() && driver.is_to_save() {
            driver.save(&mut |to| self.write(levels, to));
        }
    }

    fn write(&self, levels: Option<&Levels>, to: &mut dyn Write) -> io::Result<()> {
        let Known::Packed(tables) = &self.known else { return Err(stray()) };
        write_number(to, u64::from(levels.is_some()))?;
        write_numbers(to, &self.log.as_ref().expect("a log is kept").entries)?;
        write_words(to, &self.learned_so_far())?;
        write_words(to, &[self.queries, self.replayed])?;
        let levels = levels.cloned().unwrap_or_default();
        write_words(to, &levels.counts)?;
        write_number(to, levels.before as u64)?;
        write_number(to, self.layout.width() as u64)?;
        self.views.write(to)?;
        tables.write(to)?;
        self.frontier.write(to)
    }

    /// Reads what was written. The search is where its batches began.
    fn load(
        &mut self,
        from: &mut dyn Read,
        is_by_levels: bool,
        driver: &Driver<'_>,
    ) -> io::Result<Levels> {
        if read_number(from)? != u64::from(is_by_levels) {
            return Err(stray());
        }
        let width = self.layout.width();
        self.known = Known::Packed(Tables::with_room_for(0, width, super::known::SPREAD));
        let _ = self.frontier.take(usize::MAX);
        self.log = Some(Log::default());
        let entries = read_numbers(from)?;
        self.visit_again(&entries, driver).ok_or_else(stray)?;
        if read_words(from)? != self.learned_so_far() && !driver.is_stopped() {
            return Err(stray());
        }
        let [queries, replayed] = read_words(from)?.try_into().map_err(|_| stray())?;
        (self.queries, self.replayed) = (queries, replayed);
        let levels = Levels { counts: read_words(from)?, before: read_number(from)? as usize };
        let width = self.layout.width();
        if read_number(from)? != width as u64 && !driver.is_stopped() {
            return Err(stray());
        }
        self.views.read(from)?;
        self.known = Known::Packed(Tables::read(from, width)?);
        self.frontier.read(from)?;
        Ok(levels)
    }

    /// Learns from the model what the entries of a log say. `None` if they are not those of this
    /// search.
    fn visit_again(&mut self, entries: &[u32], driver: &Driver<'_>) -> Option<()> {
        let mut rest = entries;
        let mut way = Vec::new();
        while let Some((&[visit, same, count], more)) = rest.split_first_chunk()
            && !driver.is_stopped()
        {
            let numbers = more.get(..count as usize)?;
            rest = &more[count as usize..];
            way.truncate(same as usize);
            way.extend_from_slice(numbers);
            let present = self.state_after(&way)?;
            self.present.clear();
            self.present.extend_from_slice(&present);
            self.follow(way.clone());
            if visit == Visit::Learn as u32 {
                self.learn_of(&present, true);
            } else {
                self.note(Visit::Try);
                (0..self.layout.places() - self.objects)
                    .for_each(|process| self.try_out_of(process, None));
            }
        }
        (rest.is_empty() || driver.is_stopped()).then_some(())
    }

    /// The state to which these moves lead from the start; `None` if one of them does not exist.
    fn state_after(&self, way: &[u32]) -> Option<Vec<u64>> {
        let mut state = Vec::new();
        self.layout.pack(&self.root, &mut state);
        for &number in way {
            let is_known = match number < Reactions::FIRST {
                true => self.moves.apply(number, &mut state),
                false => {
                    self.reactions.has(number)
                        && self.reactions.lead(number, &mut state, &self.layout)
                }
            };
            if !is_known {
                return None;
            }
        }
        Some(state)
    }

    /// The numbers of what was learned: of codes by place, of moves and of reactions.
    fn learned_so_far(&self) -> Vec<u64> {
        let codes = self.codes_by_place().map(u64::from);
        codes.chain([self.moves.len() as u64, self.reactions.len() as u64]).collect()
    }
}
