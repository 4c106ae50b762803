//! Permits, and the queue of those who wait for some.
//!
//! The first in the queue gets permits first, however many it wants: nobody overtakes. Who is
//! granted its permits learns that at its next poll; if it is dropped before, the next ones get
//! them, and if all are sent away before, it is sent away, too.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use crate::threads::future::bell::{act, discard, poll, register, wake};
use crate::threads::sync::section::{Named, Section, is_over};

/// Permits, and the data that they permit to use.
pub(super) struct Held<T> {
    pub(super) permits: Permits,
    pub(super) data: T,
}

/// Permits, and who waits for them.
pub(super) struct Permits {
    /// The permits that nobody has. Those in the queue come first.
    free: usize,
    is_closed: bool,
    queue: VecDeque<Waiter>,
    /// Those who were granted what they want and have not been polled since.
    granted: Vec<u64>,
    /// The number of those that have waited so far.
    waited: u64,
    /// Is woken when permits are given back after it was closed.
    returned: Option<Waker>,
}

struct Waiter {
    number: u64,
    wants: usize,
    waker: Option<Waker>,
}

/// There will be no more permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed;

impl<T> Held<T> {
    #[track_caller]
    pub(super) fn new(what: &'static str, free: usize, data: T) -> Section<Held<T>> {
        Section::new(what, Held { permits: Permits::new(free), data })
    }
}

impl Permits {
    pub(super) fn new(free: usize) -> Permits {
        let (queue, granted) = (VecDeque::new(), Vec::new());
        Permits { free, is_closed: false, queue, granted, waited: 0, returned: None }
    }

    /// The permits that can be taken.
    pub(super) fn available(&self) -> usize {
        if self.queue.is_empty() { self.free } else { 0 }
    }

    /// The permits that nobody has.
    pub(super) fn free(&self) -> usize {
        self.free
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Takes permits, if nobody has to wait for them.
    pub(super) fn take(&mut self, wants: usize) -> bool {
        let can = self.available() >= wants;
        self.free -= if can { wants } else { 0 };
        can
    }

    /// Takes as many permits as there are, up to this number.
    pub(super) fn take_up_to(&mut self, wants: usize) -> usize {
        let taken = self.available().min(wants);
        self.free -= taken;
        taken
    }

    pub(super) fn give(&mut self, permits: usize) {
        self.free += permits;
        if self.is_closed {
            wake(self.returned.take());
        }
        while let Some(first) = self.queue.front()
            && first.wants <= self.free
            && let Some(first) = self.queue.pop_front()
        {
            self.free -= first.wants;
            self.granted.push(first.number);
            wake(first.waker);
        }
    }

    /// From now on, wakes this waker when permits are given back after it was closed.
    pub(super) fn watch(&mut self, waker: &Waker) {
        register(&mut self.returned, waker);
    }

    /// Sends away all that wait, and all that will ask.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        std::mem::take(&mut self.queue).into_iter().for_each(|waiter| wake(waiter.waker));
    }

    /// Polls a request; `place` is its number while it waits.
    fn poll(
        &mut self,
        place: &mut Option<u64>,
        wants: usize,
        waker: &Waker,
    ) -> Poll<Result<(), Closed>> {
        let is_granted = place.is_some_and(|number| self.was_granted(number));
        if self.is_closed {
            *place = None;
            self.give(if is_granted { wants } else { 0 });
            return Poll::Ready(Err(Closed));
        }
        if is_granted {
            *place = None;
            return Poll::Ready(Ok(()));
        }
        if let Some(number) = *place {
            let mut waiters = self.queue.iter_mut();
            let waiter = waiters.find(|waiter| waiter.number == number);
            register(&mut waiter.expect("it waits").waker, waker);
            return Poll::Pending;
        }
        if self.take(wants) {
            return Poll::Ready(Ok(()));
        }
        let number = self.waited;
        *place = Some(number);
        self.waited += 1;
        self.queue.push_back(Waiter { number, wants, waker: Some(waker.clone()) });
        Poll::Pending
    }

    fn was_granted(&mut self, number: u64) -> bool {
        let place = self.granted.iter().position(|&granted| granted == number);
        place.map(|place| self.granted.swap_remove(place)).is_some()
    }

    /// Someone who waits is dropped.
    fn give_up(&mut self, number: u64, wants: usize) {
        match self.was_granted(number) {
            true => self.give(wants),
            false => {
                let place = self.queue.iter().position(|waiter| waiter.number == number);
                discard(place.and_then(|place| self.queue.remove(place)?.waker));
                // It may have been in the way of others.
                self.give(0);
            }
        }
    }
}

/// A request that may wait.
struct Request<'a, T> {
    section: &'a Section<Held<T>>,
    place: Option<u64>,
    wants: usize,
    named: Named,
}

impl<T> Drop for Request<'_, T> {
    fn drop(&mut self) {
        if let Some(number) = self.place
            && !is_over()
        {
            act(self.section, self.named, |held| held.permits.give_up(number, self.wants));
        }
    }
}

/// Waits for permits, and uses the data as soon as they are there.
pub(super) async fn acquire<T, R>(
    section: &Section<Held<T>>,
    wants: usize,
    named: Named,
    mut using: impl FnMut(&mut Held<T>) -> R,
) -> Result<R, Closed> {
    let mut request = Request { section, place: None, wants, named };
    poll_fn(|context| {
        poll(section, named, |held| {
            let granted = held.permits.poll(&mut request.place, wants, context.waker());
            granted.map(|granted| granted.map(|()| using(held)))
        })
    })
    .await
}
