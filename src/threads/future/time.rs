//! Times, with the interfaces of `tokio::time`: each is over whenever it is looked at, or not.
//!
//! ```
//! use mazurka::future as tokio;
//! use std::time::Duration;
//! use tokio::sync::oneshot;
//!
//! mazurka::model(|| {
//!     tokio::block_on(async {
//!         let (sender, receiver) = oneshot::channel();
//!         let task = tokio::spawn(async move { sender.send(5) });
//!         match tokio::time::timeout(Duration::from_secs(1), receiver).await {
//!             Ok(message) => assert_eq!(message, Ok(5)),
//!             Err(_) => {} // The time was over first: this is explored, too.
//!         }
//!         let _ = task.await.unwrap();
//!     });
//! });
//! ```
//!
//! # Which executions are explored
//!
//! Whenever the future of a time is polled, whether it is over is a choice, and both are explored.
//! A task polls it when it first comes to it, and again whenever it is woken. [`timeout`] looks at
//! its future first, and at its time only if the future has to wait.
//!
//! - How long a time is does not matter. Times are not compared: one of an hour may be over before
//!   one of a second that began earlier.
//! - A time is over at some point. So where a task waits for a time, and nothing else can happen,
//!   that is no deadlock: the execution in which the time was over is another one.
//! - A loop that waits for one time after another, as a loop over [`Interval::tick`] does, is
//!   followed for ever, unless it ends after some rounds.

use std::fmt;
use std::future::poll_fn;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::pin::Pin;
use std::task::{Context, Poll};

pub use std::time::Duration;

use super::bell::{any_of, forget_time, new_time, wait_for_time, waits};
use crate::model::Op;
use crate::systems::history::Told;
use crate::threads::ask::ask_for;
use crate::threads::sync::section::Named;

pub mod error {
    //! Errors of times.

    pub use super::Elapsed;
}

/// The time was over first.
#[derive(Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is over")
    }
}

impl std::error::Error for Elapsed {}

/// A point in time. Which one is not known, so it cannot be compared with others.
#[derive(Clone, Copy, Debug)]
pub struct Instant(());

impl Instant {
    /// Now.
    pub fn now() -> Instant {
        Instant(())
    }

    /// A later point.
    pub fn checked_add(&self, _: Duration) -> Option<Instant> {
        Some(*self)
    }

    /// An earlier point.
    pub fn checked_sub(&self, _: Duration) -> Option<Instant> {
        Some(*self)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, _: Duration) -> Instant {
        self
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, _: Duration) {}
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, _: Duration) -> Instant {
        self
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, _: Duration) {}
}

/// A time that is over at some point.
#[derive(Debug)]
struct Time {
    number: u64,
    is_over: bool,
    named: Named,
}

impl Time {
    fn new(named: Named) -> Time {
        Time { number: new_time(), is_over: false, named }
    }

    /// Is it over? If not, the task waits for it.
    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        if !self.is_over {
            let Named { text, place } = self.named;
            let chosen = ask_for(Op::Choose { lo: 0, hi: 2 }, text, place);
            self.is_over = chosen == Some(Told::Chosen(1));
        }
        if self.is_over {
            forget_time(self.number);
            return Poll::Ready(());
        }
        wait_for_time(self.number, context.waker());
        waits(self.named, Poll::Pending)
    }
}

impl Drop for Time {
    fn drop(&mut self) {
        forget_time(self.number);
    }
}

/// Is ready when its time is over.
#[derive(Debug)]
pub struct Sleep(Time);

/// Waits for some time.
#[track_caller]
pub fn sleep(_: Duration) -> Sleep {
    Sleep(Time::new(Named::here("sleep")))
}

/// Waits until some point in time.
#[track_caller]
pub fn sleep_until(_: Instant) -> Sleep {
    Sleep(Time::new(Named::here("sleep_until")))
}

impl Sleep {
    /// When it will be over.
    pub fn deadline(&self) -> Instant {
        Instant(())
    }

    /// Was it over when it was polled last?
    pub fn is_elapsed(&self) -> bool {
        self.0.is_over
    }

    /// Begins anew.
    pub fn reset(self: Pin<&mut Self>, _: Instant) {
        self.get_mut().0.is_over = false;
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.poll(context)
    }
}

/// What a future has returned, or that its time was over first.
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    time: Time,
}

/// Waits for a future, but not longer than some time. Then the future is dropped.
#[track_caller]
pub fn timeout<F: IntoFuture>(_: Duration, future: F) -> Timeout<F::IntoFuture> {
    let time = Time::new(Named::here("timeout"));
    Timeout { future: Box::pin(future.into_future()), time }
}

/// Waits for a future, but not longer than until some point in time. Then the future is dropped.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(_: Instant, future: F) -> Timeout<F::IntoFuture> {
    let time = Time::new(Named::here("timeout_at"));
    Timeout { future: Box::pin(future.into_future()), time }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Timeout { future, time } = &mut *self;
        any_of(|| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => time.poll(context).map(|()| Err(Elapsed(()))),
        })
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout").finish_non_exhaustive()
    }
}

/// What an [`Interval`] does that was not looked at in time. It makes no difference here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissedTickBehavior {
    /// It ticks as often as it should have.
    #[default]
    Burst,
    /// It goes on from when it was looked at.
    Delay,
    /// It leaves out ticks.
    Skip,
}

/// Ticks again and again.
#[derive(Debug)]
pub struct Interval {
    next: Time,
    period: Duration,
    missed: MissedTickBehavior,
}

/// Ticks at once, and again whenever this time is over.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    let next = Time { is_over: true, ..Time::new(Named::here("tick")) };
    Interval { next, period, missed: MissedTickBehavior::Burst }
}

/// Ticks at some point in time, and again whenever this time is over.
#[track_caller]
pub fn interval_at(_: Instant, period: Duration) -> Interval {
    let next = Time::new(Named::here("tick"));
    Interval { next, period, missed: MissedTickBehavior::Burst }
}

impl Interval {
    /// Waits for the next tick.
    pub fn tick(&mut self) -> impl Future<Output = Instant> {
        poll_fn(|context| self.poll_tick(context))
    }

    /// Polls for the next tick.
    pub fn poll_tick(&mut self, context: &mut Context<'_>) -> Poll<Instant> {
        let polled = self.next.poll(context);
        polled.map(|()| {
            self.next.is_over = false;
            Instant(())
        })
    }

    /// The next tick is when the period is over, counted from now.
    pub fn reset(&mut self) {
        self.next.is_over = false;
    }

    /// The next tick is at once.
    pub fn reset_immediately(&mut self) {
        self.next.is_over = true;
    }

    /// The time between two ticks.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// What it does that was not looked at in time.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed
    }

    /// It makes no difference here.
    pub fn set_missed_tick_behavior(&mut self, missed: MissedTickBehavior) {
        self.missed = missed;
    }
}
