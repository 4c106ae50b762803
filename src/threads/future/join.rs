//! `join!` and `try_join!`: several futures side by side, until all are ready.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future or what it has returned, and the next ones.
pub struct Part<F: Future, R> {
    /// Until it is ready.
    future: Option<Pin<Box<F>>>,
    output: Option<F::Output>,
    rest: R,
}

/// No future.
pub struct End;

impl<F: Future, R> Part<F, R> {
    /// A future, and the next ones.
    pub fn new(future: impl IntoFuture<IntoFuture = F>, rest: R) -> Part<F, R> {
        Part { future: Some(Box::pin(future.into_future())), output: None, rest }
    }

    /// Polls the first future, unless it was ready.
    fn poll_first(&mut self, context: &mut Context<'_>) {
        if let Some(future) = &mut self.future
            && let Poll::Ready(output) = future.as_mut().poll(context)
        {
            // It is dropped now, and not when the others are ready.
            self.future = None;
            self.output = Some(output);
        }
    }
}

/// Futures that are all waited for.
pub trait Parts {
    /// What they have returned: the first one, and the others.
    type Output;

    /// Polls those that are not ready. Returns whether all are.
    fn poll(&mut self, context: &mut Context<'_>) -> bool;

    /// What they have returned.
    fn outputs(&mut self) -> Self::Output;
}

impl Parts for End {
    type Output = ();

    fn poll(&mut self, _: &mut Context<'_>) -> bool {
        true
    }

    fn outputs(&mut self) {}
}

impl<F: Future, R: Parts> Parts for Part<F, R> {
    type Output = (F::Output, R::Output);

    fn poll(&mut self, context: &mut Context<'_>) -> bool {
        self.poll_first(context);
        self.rest.poll(context) && self.output.is_some()
    }

    fn outputs(&mut self) -> Self::Output {
        (self.output.take().expect("it is ready"), self.rest.outputs())
    }
}

/// Futures that are all waited for, unless one of them fails.
pub trait TryParts<E> {
    /// What they have returned: the first one, and the others.
    type Output;

    /// Polls those that are not ready, up to the first that fails. Returns whether all are ready.
    ///
    /// # Errors
    /// If one of them has failed.
    fn poll(&mut self, context: &mut Context<'_>) -> Result<bool, E>;

    /// What they have returned.
    fn outputs(&mut self) -> Self::Output;
}

impl<E> TryParts<E> for End {
    type Output = ();

    fn poll(&mut self, _: &mut Context<'_>) -> Result<bool, E> {
        Ok(true)
    }

    fn outputs(&mut self) {}
}

impl<T, E, F: Future<Output = Result<T, E>>, R: TryParts<E>> TryParts<E> for Part<F, R> {
    type Output = (T, R::Output);

    fn poll(&mut self, context: &mut Context<'_>) -> Result<bool, E> {
        self.poll_first(context);
        if let Some(Err(error)) = self.output.take_if(|output| output.is_err()) {
            return Err(error);
        }
        Ok(self.rest.poll(context)? && self.output.is_some())
    }

    fn outputs(&mut self) -> Self::Output {
        let Some(Ok(output)) = self.output.take() else { panic!("it is ready") };
        (output, self.rest.outputs())
    }
}

/// Waits for all.
pub async fn join<P: Parts>(mut parts: P) -> P::Output {
    poll_fn(|context| match parts.poll(context) {
        true => Poll::Ready(parts.outputs()),
        false => Poll::Pending,
    })
    .await
}

/// Waits for all, or for one that fails.
///
/// # Errors
/// If one of them fails.
pub async fn try_join<E, P: TryParts<E>>(mut parts: P) -> Result<P::Output, E> {
    poll_fn(|context| match parts.poll(context) {
        Ok(true) => Poll::Ready(Ok(parts.outputs())),
        Ok(false) => Poll::Pending,
        Err(error) => Poll::Ready(Err(error)),
    })
    .await
}

/// Waits for several futures in one task, and returns what they return: see `tokio::join!`.
#[macro_export]
macro_rules! join {
    (@parts) => { $crate::future::macros::Joined };
    (@parts $first:expr $(, $rest:expr)*) => {
        $crate::future::macros::Part::new($first, $crate::join!(@parts $($rest),*))
    };
    // Names for what they return, one for each future.
    (@flat $all:ident; [$($name:ident)*]) => {{
        let $crate::join!(@nested $($name)*) = $all;
        ($($name,)*)
    }};
    (@flat $all:ident; [$($name:ident)*] $first:expr $(, $rest:expr)*) => {
        $crate::join!(@flat $all; [$($name)* output] $($rest),*)
    };
    (@nested) => { () };
    (@nested $first:ident $($rest:ident)*) => { ($first, $crate::join!(@nested $($rest)*)) };
    ($(biased;)? $($future:expr),+ $(,)?) => {{
        let parts = $crate::join!(@parts $($future),+);
        let all = $crate::future::macros::join(parts).await;
        $crate::join!(@flat all; [] $($future),+)
    }};
}

/// Waits for several futures in one task, and returns what they return, or the error of the first
/// one that fails: see `tokio::try_join!`.
#[macro_export]
macro_rules! try_join {
    ($(biased;)? $($future:expr),+ $(,)?) => {{
        let parts = $crate::join!(@parts $($future),+);
        match $crate::future::macros::try_join(parts).await {
            ::std::result::Result::Ok(all) => {
                ::std::result::Result::Ok($crate::join!(@flat all; [] $($future),+))
            }
            ::std::result::Result::Err(error) => ::std::result::Result::Err(error),
        }
    }};
}

/// Pins futures to where they are: see `tokio::pin!`.
#[macro_export]
macro_rules! pin {
    ($($future:ident),* $(,)?) => {
        $(let mut $future = ::std::pin::pin!($future);)*
    };
    ($(let $future:ident = $value:expr;)*) => {
        $(let mut $future = ::std::pin::pin!($value);)*
    };
}
