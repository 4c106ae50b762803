//! Tasks that all wait for the same.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use crate::threads::future::bell::{act, discard, poll, wake};
use crate::threads::sync::section::{Named, Section, is_over};

/// The wakers of tasks that all wait for the same.
#[derive(Default)]
pub(super) struct Wakers {
    waiting: Vec<(u64, Waker)>,
    /// The number of those that have waited so far.
    waited: u64,
}

impl Wakers {
    pub(super) fn wake_all(&mut self) {
        self.waiting.drain(..).for_each(|(_, waker)| wake(Some(waker)));
    }

    /// Registers a waker; `place` is its number while it is here.
    fn register(&mut self, place: &mut Option<u64>, waker: &Waker) {
        self.forget(place);
        *place = Some(self.waited);
        self.waiting.push((self.waited, waker.clone()));
        self.waited += 1;
    }

    fn forget(&mut self, place: &mut Option<u64>) {
        if let Some(own) = place.take() {
            let place = self.waiting.iter().position(|&(number, _)| number == own);
            discard(place.map(|place| self.waiting.remove(place).1));
        }
    }
}

/// A task that waits.
struct Waiting<'a, T> {
    section: &'a Section<T>,
    named: Named,
    wakers: fn(&mut T) -> &mut Wakers,
    place: Option<u64>,
}

impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        if self.place.is_some() && !is_over() {
            act(self.section, self.named, |data| (self.wakers)(data).forget(&mut self.place));
        }
    }
}

/// Waits until there is an answer; that is asked whenever the wakers are woken.
pub(super) async fn wait<T, R>(
    section: &Section<T>,
    named: Named,
    wakers: fn(&mut T) -> &mut Wakers,
    mut answer: impl FnMut(&mut T) -> Option<R>,
) -> R {
    let mut waiting = Waiting { section, named, wakers, place: None };
    poll_fn(|context| {
        poll(section, named, |data| match answer(data) {
            Some(answer) => {
                wakers(data).forget(&mut waiting.place);
                Poll::Ready(answer)
            }
            None => {
                wakers(data).register(&mut waiting.place, context.waker());
                Poll::Pending
            }
        })
    })
    .await
}
