//! Locks and notifications for tasks.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use mazurka::future as tokio;
use mazurka::sync::atomic::AtomicBool;
use tokio::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, TryAcquireError, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{SECOND, deadlocks, outcomes, poll_once, runs};

#[test]
fn a_mutex_is_fair_and_given_up() {
    let adders = |n: i32| {
        move || async move {
            let sum = Arc::new(Mutex::new(0));
            let mut set = JoinSet::new();
            for i in 0..n {
                let sum = sum.clone();
                set.spawn(async move { *sum.lock().await += i });
            }
            set.join_all().await;
            assert_eq!(*sum.lock().await, n * (n - 1) / 2);
        }
    };
    assert_eq!(runs(adders(1)), 2);
    assert_eq!(runs(adders(2)), 48);
    // One of those who wait may give up. Whether or not it was granted the lock, the other gets it.
    let given_up = || async {
        let lock = Arc::new(Mutex::new(0));
        let guard = lock.clone().lock_owned().await;
        let mut set = JoinSet::new();
        for gives_up in [true, false] {
            let lock = lock.clone();
            set.spawn(async move {
                match gives_up {
                    true => timeout(SECOND, lock.lock()).await.is_ok(),
                    false => {
                        *lock.lock().await += 1;
                        true
                    }
                }
            });
        }
        drop(guard);
        set.join_all().await
    };
    let seen: BTreeSet<Vec<bool>> = outcomes(given_up);
    assert!(seen.contains(&vec![true, true]) && seen.contains(&vec![false, true]), "{seen:?}");
    let in_two_orders = || async {
        let (a, b) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
        let (c, d) = (a.clone(), b.clone());
        let task = tokio::spawn(async move {
            let second = d.lock().await;
            *c.lock().await += *second;
        });
        let first = a.lock().await;
        *b.lock().await += *first;
        drop(first);
        task.await.unwrap();
    };
    assert!(deadlocks(in_two_orders));
    let aborted = || async {
        let lock = Arc::new(Mutex::new(()));
        let own = lock.clone();
        let task = tokio::spawn(async move {
            let _guard = own.lock().await;
            std::future::pending::<()>().await;
        });
        task.abort();
        lock.lock().await;
    };
    assert!(!deadlocks(aborted));
}

#[test]
fn readers_share_a_lock_and_writers_do_not() {
    let seen = outcomes(|| async {
        let lock = Arc::new(RwLock::new((0, 0)));
        let own = lock.clone();
        let writer = tokio::spawn(async move {
            let mut pair = own.write().await;
            pair.0 += 1;
            tokio::task::yield_now().await;
            pair.1 += 1;
            let pair = pair.downgrade();
            (pair.0, pair.1)
        });
        let seen = *lock.read().await;
        assert_eq!(writer.await.unwrap(), (1, 1));
        assert!(lock.try_write().is_ok());
        seen
    });
    assert_eq!(seen, BTreeSet::from([(0, 0), (1, 1)]));
    // A writer that waits comes before later readers; if it gives up, they go on.
    let given_up = || async {
        let lock = RwLock::new(0);
        let first = lock.read().await;
        let mut writer = Box::pin(lock.write());
        assert!(poll_once(&mut writer).is_none());
        assert!(lock.try_read().is_err());
        let (reader, ()) = tokio::join!(lock.read(), async { drop(writer) });
        drop((first, reader));
        assert_eq!(*lock.write().await, 0);
    };
    assert_eq!(runs(given_up), 1);
}

#[test]
fn permits_go_to_the_first_in_the_queue() {
    let alone = || async {
        let semaphore = Arc::new(Semaphore::new(2));
        let first = semaphore.acquire().await.unwrap();
        let mut both = Box::pin(semaphore.acquire_many(2));
        assert!(poll_once(&mut both).is_none());
        // One permit is left, but it is for the first in the queue.
        assert_eq!(semaphore.try_acquire().err(), Some(TryAcquireError::NoPermits));
        assert_eq!(semaphore.available_permits(), 0);
        drop(first);
        // It was granted both, and gives them up.
        drop(both);
        assert_eq!(semaphore.available_permits(), 2);
        let mut two = semaphore.clone().acquire_many_owned(2).await.unwrap();
        let one = two.split(1).unwrap();
        one.forget();
        drop(two);
        assert_eq!(semaphore.available_permits(), 1);
        semaphore.close();
        assert!(semaphore.acquire().await.is_err());
        assert_eq!(semaphore.try_acquire().err(), Some(TryAcquireError::Closed));
    };
    assert_eq!(runs(alone), 1);
    let handed_on = |forgets: bool| {
        move || async move {
            let semaphore = Arc::new(Semaphore::new(1));
            let own = semaphore.clone();
            tokio::spawn(async move {
                let permit = own.acquire().await.unwrap();
                if forgets {
                    permit.forget();
                }
            });
            drop(semaphore.acquire().await.unwrap());
        }
    };
    assert!(!deadlocks(handed_on(false)));
    // A permit that is not passed on.
    assert!(deadlocks(handed_on(true)));
}

#[test]
fn notifications_are_kept_passed_on_and_lost() {
    let kept = || async {
        let notify = Notify::new();
        notify.notify_one();
        notify.notify_one();
        notify.notified().await;
        // There is one permit at most.
        assert!(poll_once(&mut Box::pin(notify.notified())).is_none());
        notify.notify_waiters();
        assert!(poll_once(&mut Box::pin(notify.notified())).is_none());
        // It counts for those that were made before.
        let mut before = Box::pin(notify.notified());
        notify.notify_waiters();
        assert!(poll_once(&mut before).is_some());
        // What one was told goes to the next one; what all were told does not.
        let (mut first, mut second) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
        assert!(poll_once(&mut first).is_none() && poll_once(&mut second).is_none());
        notify.notify_one();
        drop(first);
        assert!(poll_once(&mut second).is_some());
        let mut third = Box::pin(notify.notified());
        assert!(!third.as_mut().enable());
        notify.notify_waiters();
        drop(third);
        assert!(poll_once(&mut Box::pin(notify.notified())).is_none());
    };
    assert_eq!(runs(kept), 1);
    let told = |all: bool, is_made_before: bool| {
        move || async move {
            let shared = Arc::new((Notify::new(), AtomicBool::new(false)));
            let own = shared.clone();
            let is_set = |shared: &(Notify, AtomicBool)| shared.1.load(SeqCst);
            tokio::spawn(async move {
                own.1.store(true, SeqCst);
                match all {
                    true => own.0.notify_waiters(),
                    false => own.0.notify_one(),
                }
            });
            if is_made_before {
                let notified = shared.0.notified();
                if !is_set(&shared) {
                    notified.await;
                }
            } else if !is_set(&shared) {
                shared.0.notified().await;
            }
        }
    };
    assert!(!deadlocks(told(false, false)));
    assert!(!deadlocks(told(true, true)));
    // A notification that is lost.
    assert!(deadlocks(told(true, false)));
}

#[test]
fn barriers_have_one_leader_and_cells_one_value() {
    let leaders = outcomes(|| async {
        let barrier = Arc::new(Barrier::new(2));
        let own = barrier.clone();
        let task = tokio::spawn(async move { own.wait().await.is_leader() });
        let is_leader = barrier.wait().await.is_leader();
        (is_leader, task.await.unwrap())
    });
    assert_eq!(leaders, BTreeSet::from([(false, true), (true, false)]));
    let values = outcomes(|| async {
        let cell = Arc::new(OnceCell::new());
        let own = cell.clone();
        let task = tokio::spawn(async move { *own.get_or_init(|| async { 1 }).await });
        let value = *cell.get_or_init(|| async { 2 }).await;
        assert_eq!(task.await.unwrap(), value);
        assert!(cell.set(3).is_err());
        value
    });
    assert_eq!(values, BTreeSet::from([1, 2]));
    // Who makes the value may give up: then another one makes it.
    let given_up = outcomes(|| async {
        let cell = OnceCell::new();
        let never = cell.get_or_init(|| async { std::future::pending().await });
        let (first, second) =
            tokio::join!(timeout(SECOND, never), async { *cell.get_or_init(|| async { 2 }).await });
        (first.is_ok(), second)
    });
    assert_eq!(given_up, BTreeSet::from([(false, 2)]));
}

#[test]
fn permits_that_were_granted_are_lost_when_the_semaphore_is_closed() {
    let closed = || async {
        let permits = Semaphore::new(0);
        let mut waits = Box::pin(permits.acquire());
        assert!(poll_once(&mut waits).is_none());
        permits.add_permits(1);
        permits.close();
        assert!(waits.await.is_err());
        assert_eq!(permits.available_permits(), 1);
    };
    assert_eq!(runs(closed), 1);
    let sent = || async {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.send(1).await.unwrap();
        let mut waits = Box::pin(sender.send(2));
        assert!(poll_once(&mut waits).is_none());
        assert_eq!(receiver.recv().await, Some(1));
        receiver.close();
        assert!(poll_once(&mut Box::pin(receiver.recv())).is_none());
        assert!(waits.await.is_err());
        assert_eq!(receiver.recv().await, None);
    };
    assert_eq!(runs(sent), 1);
    let of_tasks = outcomes(|| async {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.send(1).await.unwrap();
        let own = sender.clone();
        let task = tokio::spawn(async move { own.send(2).await.is_ok() });
        assert_eq!(receiver.recv().await, Some(1));
        receiver.close();
        let next = receiver.recv().await;
        let is_sent = task.await.unwrap();
        assert_eq!(next.is_some(), is_sent);
        drop(sender);
        is_sent
    });
    assert_eq!(of_tasks, BTreeSet::from([true, false]));
}

#[test]
fn no_permits_are_always_there() {
    let none = || async {
        let permits = Semaphore::new(1);
        let mut waits = Box::pin(permits.acquire_many(2));
        assert!(poll_once(&mut waits).is_none());
        assert!(permits.try_acquire_many(0).is_ok() && permits.try_acquire().is_err());
        assert!(poll_once(&mut Box::pin(permits.acquire_many(0))).is_some());
        permits.close();
        assert!(permits.try_acquire_many(0).is_err());
        assert!(permits.acquire_many(0).await.is_err());
    };
    assert_eq!(runs(none), 1);
}
