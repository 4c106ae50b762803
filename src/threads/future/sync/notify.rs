//! Notifications, of one task or of all that wait.
//!
//! `notify_one` leaves a permit if nobody waits. `notify_waiters` leaves none, but it counts for
//! each [`Notified`](futures::Notified) that was made before, polled or not. So a
//! `Notified` reads how often there was one when it is made. And `notify_waiters` has two steps: it
//! counts, and then it tells those who wait and were made before it counted.

use std::collections::VecDeque;
use std::fmt;
use std::task::{Context, Poll, Waker};

use crate::threads::future::bell::{act, discard, poll, register, wake};
use crate::threads::sync::atomic::{AtomicU64, Ordering};
use crate::threads::sync::section::{Named, Section, is_over};

/// Tells tasks that something has happened.
pub struct Notify {
    /// How often all were notified.
    times: AtomicU64,
    section: Section<State>,
}

struct State {
    has_permit: bool,
    /// How often all were notified.
    times: u64,
    queue: VecDeque<Waiter>,
    /// Those who were notified as one of all, and have not been polled since.
    notified: Vec<(u64, Order)>,
    /// The number of those that have waited so far.
    waited: u64,
}

struct Waiter {
    number: u64,
    /// How often all were notified before it was made.
    made: u64,
    waker: Option<Waker>,
}

/// Who comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    First,
    Last,
}

impl State {
    fn notify_one(&mut self, order: Order) {
        let next = match order {
            Order::First => self.queue.pop_front(),
            Order::Last => self.queue.pop_back(),
        };
        match next {
            None => self.has_permit = true,
            Some(Waiter { number, waker, .. }) => {
                self.notified.push((number, order));
                wake(waker);
            }
        }
    }

    /// Notifies those that were made before all were notified so often.
    fn notify_all(&mut self, times: u64) {
        self.times = self.times.max(times);
        let is_later = |waiter: &Waiter| waiter.made >= times;
        let (later, told) = std::mem::take(&mut self.queue).into_iter().partition(is_later);
        self.queue = later;
        VecDeque::into_iter(told).for_each(|waiter| wake(waiter.waker));
    }

    /// Was this one notified as one of all? It learns that once.
    fn learn(&mut self, number: u64) -> Option<Order> {
        let place = self.notified.iter().position(|&(notified, _)| notified == number)?;
        Some(self.notified.swap_remove(place).1)
    }

    /// One that waits gives up.
    fn forget(&mut self, number: u64) {
        let place = self.queue.iter().position(|waiter| waiter.number == number);
        discard(place.and_then(|place| self.queue.remove(place)?.waker));
    }

    /// Polls one that was made after so many notifications of all.
    fn poll(&mut self, place: &mut Option<u64>, made: u64, waker: &Waker) -> Poll<()> {
        let Some(number) = *place else {
            // One that was notified with all leaves the permit to others.
            if self.times > made || std::mem::take(&mut self.has_permit) {
                return Poll::Ready(());
            }
            let number = self.waited;
            self.waited += 1;
            self.queue.push_back(Waiter { number, made, waker: Some(waker.clone()) });
            *place = Some(number);
            return Poll::Pending;
        };
        if self.learn(number).is_some() {
            *place = None;
            return Poll::Ready(());
        }
        match self.queue.iter_mut().find(|waiter| waiter.number == number) {
            Some(waiter) => {
                register(&mut waiter.waker, waker);
                Poll::Pending
            }
            // It was notified with all.
            None => {
                *place = None;
                Poll::Ready(())
            }
        }
    }
}

impl Notify {
    /// Nobody was notified yet.
    #[track_caller]
    pub fn new() -> Notify {
        let (queue, notified) = (VecDeque::new(), Vec::new());
        let state = State { has_permit: false, times: 0, queue, notified, waited: 0 };
        Notify { times: AtomicU64::new(0), section: Section::new("Notify", state) }
    }

    /// A future that is ready when it was notified.
    #[track_caller]
    pub fn notified(&self) -> futures::Notified<'_> {
        futures::Notified(self.waiting(Named::here("notified")))
    }

    /// A future that is ready when it was notified, and does not borrow this.
    #[track_caller]
    pub fn notified_owned(self: std::sync::Arc<Self>) -> futures::OwnedNotified {
        let named = Named::here("notified_owned");
        let made = self.times.load(Ordering::SeqCst);
        futures::OwnedNotified(futures::Waiting {
            notify: self,
            made,
            place: futures::Place::New,
            named,
        })
    }

    fn waiting(&self, named: Named) -> futures::Waiting<&Notify> {
        let made = self.times.load(Ordering::SeqCst);
        futures::Waiting { notify: self, made, place: futures::Place::New, named }
    }

    /// Notifies the task that has waited longest. If none waits, the next one need not wait.
    #[track_caller]
    pub fn notify_one(&self) {
        act(&self.section, Named::here("notify_one"), |state| state.notify_one(Order::First));
    }

    /// Notifies the task that has begun to wait last. If none waits, the next one need not wait.
    #[track_caller]
    pub fn notify_last(&self) {
        act(&self.section, Named::here("notify_last"), |state| state.notify_one(Order::Last));
    }

    /// Notifies all tasks that wait, and each `Notified` that was made before.
    #[track_caller]
    pub fn notify_waiters(&self) {
        let times = self.times.fetch_add(1, Ordering::SeqCst) + 1;
        act(&self.section, Named::here("notify_waiters"), |state| state.notify_all(times));
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}

pub mod futures {
    //! Futures of [`Notify`].

    use super::*;
    use std::ops::Deref;
    use std::pin::Pin;
    use std::sync::Arc;

    /// Is ready when it was notified.
    #[derive(Debug)]
    pub struct Notified<'a>(pub(super) Waiting<&'a Notify>);

    /// Is ready when it was notified.
    #[derive(Debug)]
    pub struct OwnedNotified(pub(super) Waiting<Arc<Notify>>);

    pub(super) struct Waiting<N: Deref<Target = Notify>> {
        pub(super) notify: N,
        /// How often all were notified before.
        pub(super) made: u64,
        pub(super) place: Place,
        pub(super) named: Named,
    }

    pub(super) enum Place {
        New,
        /// It waits with this number.
        Waits(u64),
        Over,
    }

    impl<N: Deref<Target = Notify>> Waiting<N> {
        fn poll(&mut self, waker: &Waker) -> Poll<()> {
            let mut number = match self.place {
                Place::New => None,
                Place::Waits(number) => Some(number),
                Place::Over => return Poll::Ready(()),
            };
            let polled = poll(&self.notify.section, self.named, |state| {
                state.poll(&mut number, self.made, waker)
            });
            self.place = number.map_or(Place::Over, Place::Waits);
            polled
        }
    }

    impl<N: Deref<Target = Notify>> Drop for Waiting<N> {
        fn drop(&mut self) {
            if let Place::Waits(number) = self.place
                && !is_over()
            {
                act(&self.notify.section, self.named, |state| match state.learn(number) {
                    // It was for one, so it is for the next one.
                    Some(order) => state.notify_one(order),
                    None => state.forget(number),
                });
            }
        }
    }

    impl<N: Deref<Target = Notify>> fmt::Debug for Waiting<N> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Waiting").finish_non_exhaustive()
        }
    }

    impl Notified<'_> {
        /// Waits from now on, without being polled. Returns whether it was notified.
        pub fn enable(self: Pin<&mut Self>) -> bool {
            self.get_mut().0.poll(Waker::noop()).is_ready()
        }
    }

    impl OwnedNotified {
        /// Waits from now on, without being polled. Returns whether it was notified.
        pub fn enable(self: Pin<&mut Self>) -> bool {
            self.get_mut().0.poll(Waker::noop()).is_ready()
        }
    }

    impl Future for Notified<'_> {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            self.0.poll(context.waker())
        }
    }

    impl Future for OwnedNotified {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            self.0.poll(context.waker())
        }
    }
}
