//! `select!`: the first of several futures that is ready.
//!
//! The macro makes a chain of branches, each with its future, and whether a result fits the pattern
//! of the branch. The result comes out with the place of its branch in the chain, and is matched
//! where the macro stands: so a branch can use `return`, `break`, `?` and `await`.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::model::Op;
use crate::systems::history::Told;
use crate::threads::ask::ask_for;
use crate::threads::future::clock::quickly;
use crate::threads::sync::section::Named;

/// A branch, and the next ones.
pub struct Branch<F: Future, C, R> {
    future: Pin<Box<F>>,
    /// May it be polled?
    is_on: bool,
    fits: C,
    rest: R,
}

/// No branch.
pub struct End;

/// What one of the branches has returned.
pub enum Ready<T, R> {
    /// The first one.
    This(T),
    /// One of the others.
    Other(R),
}

impl<F: Future, C: Fn(F::Output) -> Option<F::Output>, R> Branch<F, C, R> {
    /// A branch that is polled if it is on. Its result counts if it fits.
    pub fn new(
        is_on: bool,
        future: impl IntoFuture<IntoFuture = F>,
        fits: C,
        rest: R,
    ) -> Branch<F, C, R> {
        Branch { future: Box::pin(future.into_future()), is_on, fits, rest }
    }
}

/// A chain of branches.
pub trait Branches {
    /// What one of them has returned; the end of the chain if none can be polled.
    type Output;

    /// The places of the branches that may be polled, counted from here.
    fn on(&self, here: usize, places: &mut Vec<usize>);

    /// Polls the branch at this place. If what it returns does not fit, it is not polled again.
    fn poll(&mut self, place: usize, context: &mut Context<'_>) -> Poll<Self::Output>;

    /// None can be polled.
    fn none() -> Self::Output;
}

impl Branches for End {
    type Output = ();

    fn on(&self, _: usize, _: &mut Vec<usize>) {}

    fn poll(&mut self, _: usize, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    fn none() {}
}

impl<F, C, R> Branches for Branch<F, C, R>
where
    F: Future,
    C: Fn(F::Output) -> Option<F::Output>,
    R: Branches,
{
    type Output = Ready<F::Output, R::Output>;

    fn on(&self, here: usize, places: &mut Vec<usize>) {
        places.extend(self.is_on.then_some(here));
        self.rest.on(here + 1, places);
    }

    fn poll(&mut self, place: usize, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(place) = place.checked_sub(1) {
            return self.rest.poll(place, context).map(Ready::Other);
        }
        let Poll::Ready(output) = self.future.as_mut().poll(context) else { return Poll::Pending };
        match (self.fits)(output) {
            Some(output) => Poll::Ready(Ready::This(output)),
            None => {
                self.is_on = false;
                Poll::Pending
            }
        }
    }

    fn none() -> Self::Output {
        Ready::Other(R::none())
    }
}

/// Polls the branches in turn, until one is ready. The first one of each round is any of them, or
/// the first one if they are biased.
#[track_caller]
pub fn select<B: Branches>(mut branches: B, is_biased: bool) -> impl Future<Output = B::Output> {
    let named = Named::here("select!");
    poll_fn(move |context| {
        let mut on = Vec::new();
        branches.on(0, &mut on);
        if !is_biased && on.len() > 1 {
            let first = Op::Choose { lo: 0, hi: on.len() as i64 };
            let chosen = quickly(|| ask_for(first, named.text, named.place));
            if let Some(Told::Chosen(first)) = chosen {
                on.rotate_left(first as usize);
            }
        }
        for place in on {
            let polled = branches.poll(place, context);
            if polled.is_ready() {
                return polled;
            }
        }
        let mut left = Vec::new();
        branches.on(0, &mut left);
        match left.is_empty() {
            true => Poll::Ready(B::none()),
            false => Poll::Pending,
        }
    })
}

/// Waits for several futures, and goes on with the first one that is ready: see `tokio::select!`.
///
/// ```
/// use mazurka::future as tokio;
/// use tokio::sync::mpsc;
///
/// mazurka::model(|| {
///     tokio::block_on(async {
///         let (one, mut ones) = mpsc::channel(1);
///         let (two, mut twos) = mpsc::channel(1);
///         tokio::spawn(async move { one.send(1).await });
///         tokio::spawn(async move { two.send(2).await });
///         let mut sum = 0;
///         loop {
///             tokio::select! {
///                 Some(n) = ones.recv() => sum += n,
///                 Some(n) = twos.recv(), if sum < 3 => { sum += n }
///                 else => break,
///             }
///         }
///         assert!(sum == 3);
///     });
/// });
/// ```
///
/// A branch is `pattern = future => what to do`, with `, if condition` after the future or not. The
/// futures are dropped before something is done. A branch whose condition is false is not polled;
/// nor is one any more whose result does not fit its pattern. If there are none left, the branch
/// `else` is done, or `select!` panics.
///
/// Which branch is polled first is a choice whenever the task is polled: each is explored. With
/// `biased;` in front they are polled in order, which is fewer executions.
#[macro_export]
macro_rules! select {
    (@branches $biased:expr; [$($done:tt)*]) => {
        $crate::select!(@run $biased; [$($done)*]
            panic!("all branches are disabled and there is no else branch"))
    };
    (@branches $biased:expr; [$($done:tt)*] else => $else:expr $(,)?) => {
        $crate::select!(@run $biased; [$($done)*] $else)
    };
    (@branches $biased:expr; [$($done:tt)*]
        $pattern:pat = $future:expr, if $on:expr => $work:block, $($rest:tt)*) => {
        $crate::select!(@branches $biased;
            [$($done)* { $pattern = $future; $on; $work }] $($rest)*)
    };
    (@branches $biased:expr; [$($done:tt)*]
        $pattern:pat = $future:expr, if $on:expr => $work:block $($rest:tt)*) => {
        $crate::select!(@branches $biased;
            [$($done)* { $pattern = $future; $on; $work }] $($rest)*)
    };
    (@branches $biased:expr; [$($done:tt)*]
        $pattern:pat = $future:expr, if $on:expr => $work:expr $(, $($rest:tt)*)?) => {
        $crate::select!(@branches $biased;
            [$($done)* { $pattern = $future; $on; $work }] $($($rest)*)?)
    };
    (@branches $biased:expr; [$($done:tt)*]
        $pattern:pat = $future:expr => $work:block, $($rest:tt)*) => {
        $crate::select!(@branches $biased;
            [$($done)* { $pattern = $future; true; $work }] $($rest)*)
    };
    (@branches $biased:expr; [$($done:tt)*]
        $pattern:pat = $future:expr => $work:block $($rest:tt)*) => {
        $crate::select!(@branches $biased;
            [$($done)* { $pattern = $future; true; $work }] $($rest)*)
    };
    (@branches $biased:expr; [$($done:tt)*]
        $pattern:pat = $future:expr => $work:expr $(, $($rest:tt)*)?) => {
        $crate::select!(@branches $biased;
            [$($done)* { $pattern = $future; true; $work }] $($($rest)*)?)
    };

    (@run $biased:expr; [$($branches:tt)*] $else:expr) => {{
        let ready = {
            let branches = $crate::select!(@chain $($branches)*);
            $crate::future::macros::select(branches, $biased).await
        };
        $crate::select!(@match ready; [$($branches)*] $else)
    }};

    (@chain) => { $crate::future::macros::End };
    (@chain { $pattern:pat = $future:expr; $on:expr; $work:expr } $($rest:tt)*) => {
        $crate::future::macros::Branch::new(
            $on,
            $future,
            |output| {
                let fits = ::std::cell::Cell::new(false);
                // The guard is never true, so nothing is moved.
                #[allow(unused_variables, unused_mut)]
                match output {
                    $pattern if { fits.set(true); false } => ::std::unreachable!(),
                    _ => {}
                }
                fits.get().then_some(output)
            },
            $crate::select!(@chain $($rest)*),
        )
    };

    (@match $ready:ident; [] $else:expr) => {{
        let () = $ready;
        $else
    }};
    (@match $ready:ident; [{ $pattern:pat = $future:expr; $on:expr; $work:expr } $($rest:tt)*]
        $else:expr) => {
        match $ready {
            $crate::future::macros::Ready::This(output) => match output {
                $pattern => $work,
                #[allow(unreachable_patterns)]
                _ => ::std::unreachable!("it was seen to fit"),
            },
            $crate::future::macros::Ready::Other(other) => {
                $crate::select!(@match other; [$($rest)*] $else)
            }
        }
    };

    (biased; $($branches:tt)+) => { $crate::select!(@branches true; [] $($branches)+) };
    ($($branches:tt)+) => { $crate::select!(@branches false; [] $($branches)+) };
}
