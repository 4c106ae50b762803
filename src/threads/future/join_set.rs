//! The tasks of one owner.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::{Arc, Mutex as Plain};
use std::task::{Context, Poll};

use super::bell;
use super::tasks::{AbortHandle, Ends, Id, JoinError, Result, lock, start};
use crate::threads::sync::section::{Named, Section, is_over};

/// Tasks that end in any order. They are aborted when this is dropped.
pub struct JoinSet<T> {
    tasks: Vec<AbortHandle>,
    ends: Arc<Section<Ends>>,
    left: Arc<Plain<Left<T>>>,
}

/// What tasks have left, in the order in which they have ended.
type Left<T> = VecDeque<(Id, Result<T>)>;

impl<T: 'static> JoinSet<T> {
    /// No tasks.
    #[track_caller]
    pub fn new() -> JoinSet<T> {
        let ends = Arc::new(Section::new("JoinSet", Ends::default()));
        JoinSet { tasks: Vec::new(), ends, left: Arc::default() }
    }

    /// The number of tasks that were not joined.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Are all tasks joined?
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Starts a task.
    #[track_caller]
    pub fn spawn(&mut self, future: impl Future<Output = T> + 'static) -> AbortHandle {
        let left = self.left.clone();
        let leave = move |id, result| lock(&left).push_back((id, result));
        let task = start(future, Location::caller(), self.ends.clone(), leave);
        self.tasks.push(task.clone());
        task
    }

    /// Waits until some task has ended. `None` if all are joined.
    #[track_caller]
    pub fn join_next(&mut self) -> impl Future<Output = Option<Result<T>>> {
        let named = Named::here("join_next");
        poll_fn(move |context| {
            self.poll(named, context).map(|ended| ended.map(|(_, result)| result))
        })
    }

    /// Waits until some task has ended. `None` if all are joined.
    #[track_caller]
    pub fn join_next_with_id(
        &mut self,
    ) -> impl Future<Output = Option<std::result::Result<(Id, T), JoinError>>> {
        let named = Named::here("join_next_with_id");
        poll_fn(move |context| {
            let with_id = |(id, result): (Id, Result<T>)| result.map(|value| (id, value));
            self.poll(named, context).map(|ended| ended.map(with_id))
        })
    }

    /// What some task has left, if one has ended.
    #[track_caller]
    pub fn try_join_next(&mut self) -> Option<Result<T>> {
        let named = Named::here("try_join_next");
        let next = self.ends.enter(named, |_| self.take());
        next.map(|ended| self.joined(ended).1)
    }

    /// Waits until all tasks have ended, and returns what they have left, in this order.
    ///
    /// # Panics
    /// If a task was aborted.
    #[track_caller]
    pub fn join_all(mut self) -> impl Future<Output = Vec<T>> {
        let named = Named::here("join_all");
        async move {
            let mut all = Vec::new();
            while let Some((_, result)) = poll_fn(|context| self.poll(named, context)).await {
                all.push(result.expect("no task was aborted"));
            }
            all
        }
    }

    /// Aborts all tasks.
    #[track_caller]
    pub fn abort_all(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }

    /// Aborts all tasks, and waits until they have ended.
    #[track_caller]
    pub fn shutdown(&mut self) -> impl Future<Output = ()> {
        let named = Named::here("shutdown");
        async move {
            self.abort_all();
            while poll_fn(|context| self.poll(named, context)).await.is_some() {}
        }
    }

    /// Lets all tasks go on by themselves.
    pub fn detach_all(&mut self) {
        self.tasks.clear();
    }

    fn poll(&mut self, named: Named, context: &Context<'_>) -> Poll<Option<(Id, Result<T>)>> {
        if self.tasks.is_empty() {
            return Poll::Ready(None);
        }
        let polled = bell::poll(&self.ends, named, |ends| match self.take() {
            Some(ended) => Poll::Ready(ended),
            None => {
                bell::register(&mut ends.waker, context.waker());
                Poll::Pending
            }
        });
        polled.map(|ended| Some(self.joined(ended)))
    }

    /// What the first task of this set has left, for who is in the section.
    fn take(&self) -> Option<(Id, Result<T>)> {
        let mut left = lock(&self.left);
        let is_here = |(id, _): &(Id, _)| self.tasks.iter().any(|task| task.id() == *id);
        let place = left.iter().position(is_here)?;
        left.remove(place)
    }

    fn joined(&mut self, ended: (Id, Result<T>)) -> (Id, Result<T>) {
        self.tasks.retain(|task| task.id() != ended.0);
        ended
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        if is_over() || self.tasks.is_empty() {
            return;
        }
        self.tasks.iter().for_each(AbortHandle::abort);
        drop(self.ends.enter(Named::here("drop of the set"), |ends| {
            ends.is_detached = true;
            std::mem::take(&mut *lock(&self.left))
        }));
    }
}

impl<T: 'static> Default for JoinSet<T> {
    #[track_caller]
    fn default() -> Self {
        JoinSet::new()
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.tasks.len()).finish_non_exhaustive()
    }
}
