//! The threads among which a batch of states is shared. Without the feature `parallel` there are
//! none.

#[cfg(feature = "parallel")]
use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};

/// Threads that wait for work.
#[cfg(feature = "parallel")]
pub(crate) struct Pool(ThreadPool);

#[cfg(feature = "parallel")]
impl Pool {
    /// So many threads; `None` if they cannot be started.
    pub(crate) fn new(jobs: usize) -> Option<Pool> {
        ThreadPoolBuilder::new().num_threads(jobs).build().ok().map(Pool)
    }

    fn each<T: Send>(&self, work: &mut [T], each: impl Fn(&mut T) + Send + Sync) {
        self.0.install(|| work.par_iter_mut().for_each(each));
    }
}

/// None.
#[cfg(not(feature = "parallel"))]
pub(crate) enum Pool {}

#[cfg(not(feature = "parallel"))]
impl Pool {
    /// `None`, however many are wanted.
    pub(crate) fn new(_: usize) -> Option<Pool> {
        None
    }

    fn each<T: Send>(&self, _: &mut [T], _: impl Fn(&mut T) + Send + Sync) {
        match *self {}
    }
}

/// Calls `each` for each element of `work`, on several threads if there are any.
pub(crate) fn each<T: Send>(
    threads: Option<&Pool>,
    work: &mut [T],
    each: impl Fn(&mut T) + Send + Sync,
) {
    match threads {
        Some(threads) => threads.each(work, each),
        None => work.iter_mut().for_each(each),
    }
}
