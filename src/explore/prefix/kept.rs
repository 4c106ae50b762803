//! A search that is saved, and goes on in another process.
//!
//! While a prefix is built, most of the time is spent on finding that conditions are *not*
//! concurrent. So it is noted which ones are ([`News`]). To go on, the prefix is built again from
//! the start, but where conditions were found not to be concurrent, nobody looks again. What the
//! SAT solver has answered is noted too ([`Replies`]), and it is not asked again.
//!
//! All else is done again. Events are judged again, and configurations that the solver has found
//! are carried out on the model again. So no violation is taken from the file. At the place where
//! the search was saved, all figures and all that was found have to be the same.
//!
//! What is believed: that conditions are not concurrent, and that the solver has found no model.
//!
//! A search can be saved before each event that is added, when the prefix is complete, and before
//! each answer that is to be found. These places are counted.

use std::io::{self, Read, Write};

use super::replies::Replies;
use crate::explore::driver::Driver;
use crate::explore::kept::Findings;
use crate::explore::news::{Led, News};
use crate::explore::saved::{read_number, write_number};

/// What is noted of a search that is saved; of others nothing.
#[derive(Default)]
pub(crate) struct Kept {
    /// Which conditions are concurrent.
    news: Option<News>,
    pub(super) replies: Replies,
    /// The number of places so far where the search can be saved.
    places: u64,
    /// Where the search was saved, if it has to go there again.
    again: Option<Box<Again>>,
}

/// The place where a search was saved.
struct Again {
    places: u64,
    found: Findings,
}

impl Kept {
    /// At the start of a search, which perhaps has to go again to where it was saved. `None` if
    /// there is nothing left to do.
    pub(super) fn begun(driver: &mut Driver<'_>) -> Option<Kept> {
        match driver.go_on_from(|from, _| read(from)) {
            None if !driver.is_kept() => Some(Kept::default()),
            None => {
                let (news, replies) = (Some(News::default()), Replies::kept());
                Some(Kept { news, replies, ..Kept::default() })
            }
            Some(Ok(Some((places, news, replies)))) => {
                let again = Some(Box::new(Again { places, found: driver.begin_again() }));
                Some(Kept { news: Some(news), replies, places: 0, again })
            }
            Some(Ok(None)) => None,
            Some(Err(_)) => {
                driver.is_not_of_this();
                None
            }
        }
    }

    /// Were the next two conditions found to be concurrent? `None` if that is not known.
    #[inline]
    pub(super) fn foretold(&mut self) -> Option<bool> {
        let foretold = self.news.as_mut()?.foretold()?;
        Some(foretold != Led::Known)
    }

    /// Notes whether two conditions are concurrent, or compares it with what was foretold.
    #[inline]
    pub(super) fn note(&mut self, foretold: Option<bool>, are_concurrent: bool) {
        let led = |are_concurrent| if are_concurrent { Led::New } else { Led::Known };
        if let Some(news) = &mut self.news {
            news.note(foretold.map(led), led(are_concurrent));
        }
    }

    /// The search is at a place where it can be saved. It is, if that is due; `by_now` asks that
    /// only now and then.
    pub(super) fn pass(&mut self, by_now: bool, driver: &mut Driver<'_>) {
        if self.is_on_new_ground(driver)
            && if by_now { driver.is_to_save_by_now() } else { driver.is_to_save() }
        {
            self.save(driver);
        }
    }

    /// The prefix is complete. A question to the solver may take any time, so the search is saved.
    pub(super) fn is_built(&mut self, driver: &mut Driver<'_>) {
        if self.is_on_new_ground(driver) && self.news.is_some() {
            self.save(driver);
        }
    }

    /// The search is at the next place. Returns whether it was never there. A search that is not
    /// where it should be is ended.
    fn is_on_new_ground(&mut self, driver: &mut Driver<'_>) -> bool {
        if driver.is_stopped() {
            return false;
        }
        self.places += 1;
        let Some(again) = &self.again else { return true };
        let news = self.news.as_mut().expect("news of a search that goes again");
        let is_stray = if self.places < again.places {
            news.is_stray() || self.replies.are_stray()
        } else {
            let is_there = news.go_on() & self.replies.go_on() && driver.has_found(&again.found);
            self.again = None;
            !is_there
        };
        if is_stray {
            driver.is_not_of_this();
        }
        false
    }

    /// The search is over. If a limit has ended it before it was where it had been, what is known
    /// is what was saved.
    pub(super) fn end(&mut self, driver: &mut Driver<'_>) {
        match self.again.take() {
            None => {}
            Some(again) if driver.signal().is_raised() => driver.know(again.found),
            Some(_) if driver.is_stopped() => {}
            Some(_) => driver.is_not_of_this(),
        }
    }

    fn save(&self, driver: &mut Driver<'_>) {
        if let Some(news) = &self.news {
            driver.save(&mut |to: &mut dyn Write| {
                write_number(to, self.places)?;
                news.write(to)?;
                self.replies.write(to)
            });
        }
    }
}

fn read(from: &mut dyn Read) -> io::Result<(u64, News, Replies)> {
    Ok((read_number(from)?, News::read(from)?, Replies::read(from)?))
}
