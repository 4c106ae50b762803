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
//! Where a task goes to sleep, it is a choice which of its times is over first, or none before
//! others wake it: all are explored. If time has passed since a time was last looked at, it may
//! also be over where the task looks at it. See `clock` for when time passes, and why that is all.
//!
//! - How long a time is does not matter, unless it is nothing. Times are not compared: one of an
//!   hour may be over before one of a second that began earlier.
//! - A time is over at some point. So where a task waits for a time, and nothing else can happen,
//!   that is no deadlock: the execution in which the time was over is another one.
//! - A time is not over before time has passed since it began, which it does where the task sleeps,
//!   yields, or does an operation.
//! - A loop that waits for one time after another, as a loop over [`Interval::tick`] does, is
//!   followed for ever, unless it ends after some rounds.

use std::fmt;
use std::future::poll_fn;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::pin::Pin;
use std::task::{Context, Poll};

pub use std::time::Duration;

use super::bell::waits;
use super::clock::{Moment, Time, try_now};
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
pub struct Instant {
    /// A moment that was not after it.
    moment: Option<Moment>,
    /// Is it after that moment?
    is_later: bool,
}

impl Instant {
    /// Now.
    pub fn now() -> Instant {
        Instant { moment: try_now(), is_later: false }
    }

    /// A later point.
    pub fn checked_add(&self, time: Duration) -> Option<Instant> {
        Some(*self + time)
    }

    /// An earlier point.
    pub fn checked_sub(&self, time: Duration) -> Option<Instant> {
        Some(*self - time)
    }

    /// A moment that was before it, if one is known.
    fn before(self) -> Option<Moment> {
        self.moment.filter(|_| self.is_later)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, time: Duration) -> Instant {
        Instant { is_later: self.is_later || !time.is_zero(), ..self }
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, time: Duration) {
        *self = *self + time;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, _: Duration) -> Instant {
        Instant { moment: None, is_later: false }
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, time: Duration) {
        *self = *self - time;
    }
}

/// Is the time over? If not, the task waits for it.
fn poll_time(time: &Time, context: &Context<'_>) -> Poll<()> {
    waits(time.named, time.poll(context))
}

/// Is ready when its time is over.
#[derive(Debug)]
pub struct Sleep {
    time: Time,
    deadline: Instant,
}

/// Waits for some time.
#[track_caller]
pub fn sleep(time: Duration) -> Sleep {
    Sleep::until(Instant::now() + time, Named::here("sleep"))
}

/// Waits until some point in time.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::until(deadline, Named::here("sleep_until"))
}

impl Sleep {
    fn until(deadline: Instant, named: Named) -> Sleep {
        Sleep { time: Time::new(deadline.before(), named), deadline }
    }

    /// When it will be over.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Was it over when it was polled last, or has it woken its task since?
    pub fn is_elapsed(&self) -> bool {
        self.time.is_over()
    }

    /// Begins anew.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let sleep = self.get_mut();
        sleep.time.begin(deadline.before());
        sleep.deadline = deadline;
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        poll_time(&self.time, context)
    }
}

/// What a future has returned, or that its time was over first.
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    time: Time,
}

/// Waits for a future, but not longer than some time. Then the future is dropped.
#[track_caller]
pub fn timeout<F: IntoFuture>(time: Duration, future: F) -> Timeout<F::IntoFuture> {
    let time = Time::new((Instant::now() + time).before(), Named::here("timeout"));
    Timeout { future: Box::pin(future.into_future()), time }
}

/// Waits for a future, but not longer than until some point in time. Then the future is dropped.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    let time = Time::new(deadline.before(), Named::here("timeout_at"));
    Timeout { future: Box::pin(future.into_future()), time }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Timeout { future, time } = &mut *self;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => poll_time(time, context).map(|()| Err(Elapsed(()))),
        }
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout").finish_non_exhaustive()
    }
}

/// What an [`Interval`] does that was not looked at in time.
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
    let next = Time::new(try_now(), Named::here("tick"));
    next.end();
    Interval { next, period, missed: MissedTickBehavior::Burst }
}

/// Ticks at some point in time, and again whenever this time is over.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    let next = Time::new(start.before(), Named::here("tick"));
    Interval { next, period, missed: MissedTickBehavior::Burst }
}

impl Interval {
    /// Waits for the next tick.
    pub fn tick(&mut self) -> impl Future<Output = Instant> {
        poll_fn(|context| self.poll_tick(context))
    }

    /// Polls for the next tick.
    pub fn poll_tick(&mut self, context: &mut Context<'_>) -> Poll<Instant> {
        poll_time(&self.next, context).map(|()| {
            // A tick that is late by more than the period is followed by the next one at once.
            let known = match self.missed {
                MissedTickBehavior::Burst => self.next.known(),
                MissedTickBehavior::Delay | MissedTickBehavior::Skip => try_now(),
            };
            self.next.begin(known);
            Instant { moment: known, is_later: true }
        })
    }

    /// The next tick is when the period is over, counted from now.
    pub fn reset(&mut self) {
        self.next.begin(try_now());
    }

    /// The next tick is at once.
    pub fn reset_immediately(&mut self) {
        self.next.end();
    }

    /// The time between two ticks.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// What it does that was not looked at in time.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed
    }

    /// What it does from now on that was not looked at in time.
    pub fn set_missed_tick_behavior(&mut self, missed: MissedTickBehavior) {
        self.missed = missed;
    }
}
