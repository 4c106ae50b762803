//! A search that is saved, and goes on in another process.
//!
//! **In batches.** Between two batches, the search is determined by its tables of packed states and
//! its frontier, which are saved as they are, and by what it has learned from the model: codes,
//! moves and reactions. These refer to values of the model, which exist only in this process. So
//! they are learned again, in the same order:
//!
//! - what comes before the batches is searched again (a few hundred milliseconds),
//! - after that, each visit to the model is in a [`Log`]: the moves that lead to the state, and
//!   what was done there.
//!
//! Then all codes and numbers are the same, and so is all that follows. The log is short: a search
//! that needs the model often leaves the batches ([`Plan::max_replayed`]).
//!
//! **From state to state.** What the transitions have led to is saved, and the search goes again
//! through its tree ([`News`]). If it was in batches before, their last state is saved, too.

use std::io::{self, Read, Write};

use super::full_graph::FullGraph;
use super::known::Known;
use super::plan::{Ended, Levels, Place, Plan};
use super::reactions::Reactions;
use super::settings::Stateful;
use super::table::Tables;
use super::visits::{Log, Visit};
use crate::explore::budget::Budget;
use crate::explore::driver::Driver;
use crate::explore::news::{Form, News, Noting};
use crate::explore::observer::NoObserver;
use crate::explore::saved::{
    read_bytes, read_number, read_numbers, read_words, stray, write_bytes, write_number,
    write_numbers, write_words,
};
use crate::model::System;

/// What kind of search was saved.
const IN_BATCHES: u64 = 0;
const IN_LEVELS: u64 = 1;
const BEFORE_BATCHES: u64 = 2;
const AFTER_BATCHES: u64 = 3;
const DEPTH_FIRST: u64 = 4;
const BREADTH_FIRST: u64 = 5;

/// Goes on with a search from the state that `driver` has; `None` if there is none. `load` reads
/// it. Its second driver is for what is done a second time, and does not count.
///
/// # Errors
/// If it is not one of this search, or if the search is over. Then `driver` is stopped.
fn go_on<S: System, T>(
    system: &S,
    driver: &mut Driver<'_>,
    load: impl FnOnce(&mut dyn Read, &mut Driver<'_>, &mut Driver<'_>) -> io::Result<T>,
) -> Result<Option<T>, Ended> {
    let read = driver.go_on_from(|from, driver| {
        let budget = driver.budget().clone();
        let budget = Budget { timeout: None, max_memory: None, ..budget };
        let (alarm, mut nobody) = (driver.alarm(), NoObserver);
        let mut again = Driver::new(system, budget, &mut nobody).on_behalf_of(alarm);
        again.goes_through_all_states();
        load(from, driver, &mut again)
    });
    match read {
        None => Ok(None),
        Some(Ok(search)) if search.is_some() && !driver.is_stopped() => Ok(search),
        Some(Err(_)) if !driver.is_stopped() => {
            driver.is_not_of_this();
            Err(Ended)
        }
        Some(_) => Err(Ended),
    }
}

/// Goes on with a search by memoised moves.
pub(super) fn resumed<'s, S: System>(
    system: &'s S,
    (how, plan): (Stateful, Plan),
    is_by_levels: bool,
    driver: &mut Driver<'_>,
) -> Result<Option<(FullGraph<'s, S>, Place)>, Ended> {
    go_on(system, driver, |from, driver, again| {
        driver.leave_out_invariants();
        let kind = read_number(from)?;
        if is_by_levels != (kind == IN_LEVELS) {
            return Err(stray());
        }
        let mut search = match is_by_levels {
            true => FullGraph::new(system, how, again),
            false => FullGraph::begun(system, how, plan, again),
        };
        match kind {
            BEFORE_BATCHES => {
                search.most = read_number(from)?;
                search.news = Some(News::read(from)?);
                search.go_on(again, u64::MAX);
                is_where_it_was(search.news.as_mut(), again, driver)?;
                Ok((search, Place::BeforeBatches))
            }
            IN_BATCHES | IN_LEVELS => {
                let levels = search.load_batches(from, (plan, is_by_levels), driver, again)?;
                Ok((search, if is_by_levels { Place::InLevels(levels) } else { Place::InBatches }))
            }
            AFTER_BATCHES => {
                let saved = read_bytes(from)?;
                let rest = &mut &saved[..];
                let stats = serde_json::from_slice(&read_bytes(rest)?)?;
                search.load_batches(rest, (plan, false), driver, again)?;
                again.stats = stats;
                search.leave_batches();
                search.before_news = Some(saved);
                search.news = Some(News::read(from)?);
                search.go_on_one_by_one(again);
                is_where_it_was(search.news.as_mut(), again, driver)?;
                Ok((search, Place::AfterBatches))
            }
            _ => Err(stray()),
        }
    })
}

/// Goes on with a search of this form on the model. `go` goes again through what was noted; of a
/// search by levels, up to this state.
pub(super) fn gone_again<S: System, T: Noting>(
    system: &S,
    form: Form,
    driver: &mut Driver<'_>,
    go: impl FnOnce(News, u32, &mut Driver<'_>) -> T,
) -> Result<Option<T>, Ended> {
    go_on(system, driver, |from, driver, again| {
        let (kind, next) = match (form, read_number(from)?) {
            (Form::DepthFirst, kind) => (kind == DEPTH_FIRST, 0),
            (Form::BreadthFirst(_), kind) => (kind == BREADTH_FIRST, read_number(from)?),
        };
        let next = u32::try_from(next).ok().filter(|_| kind).ok_or_else(stray)?;
        let mut search = go(News::read(from)?, next, again);
        is_where_it_was(search.news(), again, driver)?;
        search.read_rest(from)?;
        Ok(search)
    })
}

/// A search that went again is where it was, and goes on from there.
///
/// # Errors
/// If it is not there, or if a figure is not the same.
fn is_where_it_was(
    news: Option<&mut News>,
    again: &mut Driver<'_>,
    driver: &Driver<'_>,
) -> io::Result<()> {
    let fused = news.as_ref().map_or(0, |news| news.fused());
    let is_there = news.is_some_and(News::go_on);
    // A transition may be several steps (`Stateful::as_printed`, `fused`), and those that are
    // skipped are one.
    again.stats.max_depth = driver.stats.max_depth;
    again.stats.transitions = again.stats.transitions.saturating_add(fused);
    match is_there && again.stats == driver.stats && !again.is_stopped() {
        true => Ok(()),
        false => Err(stray()),
    }
}

/// What the transitions lead to, if the search is to be saved.
pub(super) fn news(driver: &Driver<'_>) -> Option<News> {
    driver.is_kept().then(News::default)
}

/// Saves a search on the model, if that is due.
#[inline]
pub(super) fn save_from_state_to_state(
    search: &mut impl Noting,
    form: Form,
    driver: &mut Driver<'_>,
) {
    if search.news().is_some() && driver.is_to_save_by_now() {
        driver.save(&mut |to| {
            match form {
                Form::DepthFirst => write_number(to, DEPTH_FIRST)?,
                Form::BreadthFirst(next) => {
                    write_number(to, BREADTH_FIRST)?;
                    write_number(to, next.into())?;
                }
            }
            search.news().expect("a search that is saved").write(to)?;
            search.write_rest(to)
        });
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
            driver.save(&mut |to| {
                write_number(to, if levels.is_some() { IN_LEVELS } else { IN_BATCHES })?;
                self.write_batches(levels, to)
            });
        }
    }

    /// Saves a search that goes from state to state, if that is due.
    #[inline]
    pub(super) fn save_one_by_one(&self, driver: &mut Driver<'_>) {
        if let Some(news) = &self.news
            && driver.is_to_save_by_now()
        {
            driver.save(&mut |to| {
                match &self.before_news {
                    None => {
                        write_number(to, BEFORE_BATCHES)?;
                        write_number(to, self.most)?;
                    }
                    Some(batches) => {
                        write_number(to, AFTER_BATCHES)?;
                        write_bytes(to, batches)?;
                    }
                }
                news.write(to)
            });
        }
    }

    /// Keeps the state of the batches, which end now, if the search is saved.
    pub(super) fn keep_batches(&mut self, driver: &Driver<'_>) {
        if self.log.is_none() {
            return;
        }
        let mut bytes = Vec::new();
        let stats = serde_json::to_vec(&driver.stats).expect("figures are serialisable");
        let is_written =
            write_bytes(&mut bytes, &stats).and_then(|()| self.write_batches(None, &mut bytes));
        is_written.expect("batches can be written to memory");
        (self.before_news, self.log, self.news) = (Some(bytes), None, news(driver));
    }

    fn write_batches(&self, levels: Option<&Levels>, to: &mut dyn Write) -> io::Result<()> {
        let Known::Packed(tables) = &self.known else { return Err(stray()) };
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

    /// Goes to where the batches began, and reads what was written.
    fn load_batches(
        &mut self,
        from: &mut dyn Read,
        (plan, is_by_levels): (Plan, bool),
        driver: &Driver<'_>,
        again: &mut Driver<'_>,
    ) -> io::Result<Levels> {
        if !is_by_levels {
            self.go_on_to_batches(again);
        }
        self.begin_batches(plan.jobs);
        if !is_by_levels {
            self.defer(again);
        }
        if again.is_stopped() {
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
            self.follow_if_possible(way.clone())?;
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
