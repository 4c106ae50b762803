//! Async code: tasks, and what they wait for.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::future::Future;
use std::sync::{Arc, Mutex as PlainMutex};
use std::time::Duration;

use mazurka::explore::Verdict;
use mazurka::future as tokio;
use mazurka::threads::Builder;
use tokio::sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, TryAcquireError, broadcast, mpsc, oneshot,
    watch,
};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{classes, verdict};

const SECOND: Duration = Duration::from_secs(1);

/// The number of classes of what this future does.
fn runs<F: Future<Output = ()>>(future: impl Fn() -> F + Send + Sync + Clone + 'static) -> u64 {
    classes(move || tokio::block_on(future()))
}

/// What this future returns, in all executions.
fn outcomes<T, F>(future: impl Fn() -> F + Send + Sync + 'static) -> BTreeSet<T>
where
    T: Ord + Clone + Send + Debug + 'static,
    F: Future<Output = T>,
{
    let all = Arc::new(PlainMutex::new(BTreeSet::new()));
    let own = all.clone();
    let (found, text) = verdict(move || {
        let outcome = tokio::block_on(future());
        own.lock().unwrap().insert(outcome);
    });
    assert_eq!(found, Verdict::Ok, "{text}");
    let all = all.lock().unwrap().clone();
    all
}

/// The verdict on what this future does.
fn finds<F: Future<Output = ()>>(
    future: impl Fn() -> F + Send + Sync + 'static,
) -> (Verdict, String) {
    verdict(move || tokio::block_on(future()))
}

fn deadlocks<F: Future<Output = ()>>(future: impl Fn() -> F + Send + Sync + 'static) -> bool {
    let (found, text) = finds(future);
    assert!([Verdict::Ok, Verdict::Deadlock].contains(&found), "{text}");
    found == Verdict::Deadlock
}

#[test]
fn tasks_are_joined_and_aborted() {
    assert_eq!(runs(|| async { assert_eq!(tokio::spawn(async { 5 }).await.unwrap(), 5) }), 2);
    let aborted = || async {
        let (sender, receiver) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let _sender = sender;
            std::future::pending::<()>().await;
        });
        task.abort();
        let error = task.await.unwrap_err();
        assert!(error.is_cancelled() && !error.is_panic());
        // What the task had is dropped.
        assert!(receiver.await.is_err());
    };
    assert!(runs(aborted) >= 1);
    let seen = outcomes(|| async {
        let task = tokio::spawn(async { 5 });
        task.abort();
        let is_finished = task.is_finished();
        (is_finished, task.await.ok())
    });
    assert_eq!(
        seen,
        BTreeSet::from([(false, None), (false, Some(5)), (true, None), (true, Some(5))])
    );
}

#[test]
fn a_set_of_tasks_is_joined_in_any_order() {
    let seen = outcomes(|| async {
        let mut set = JoinSet::new();
        for n in 0..2 {
            set.spawn(async move { n });
        }
        let mut seen = Vec::new();
        while let Some(n) = set.join_next().await {
            seen.push(n.unwrap());
        }
        seen
    });
    assert_eq!(seen, BTreeSet::from([vec![0, 1], vec![1, 0]]));
    let dropped = || async {
        let (sender, receiver) = oneshot::channel::<()>();
        let mut set = JoinSet::new();
        set.spawn(async move {
            let _sender = sender;
            std::future::pending::<()>().await;
        });
        drop(set);
        assert!(receiver.await.is_err());
    };
    assert!(!deadlocks(dropped));
}

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
        assert!(futures_poll(&mut writer).is_none());
        assert!(lock.try_read().is_err());
        let (reader, ()) = tokio::join!(lock.read(), async { drop(writer) });
        drop((first, reader));
        assert_eq!(*lock.write().await, 0);
    };
    assert_eq!(runs(given_up), 1);
}

/// Polls a future once.
fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(future).poll(&mut context) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

#[test]
fn permits_go_to_the_first_in_the_queue() {
    let alone = || async {
        let semaphore = Arc::new(Semaphore::new(2));
        let first = semaphore.acquire().await.unwrap();
        let mut both = Box::pin(semaphore.acquire_many(2));
        assert!(futures_poll(&mut both).is_none());
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
        assert!(futures_poll(&mut Box::pin(notify.notified())).is_none());
        notify.notify_waiters();
        assert!(futures_poll(&mut Box::pin(notify.notified())).is_none());
        // It counts for those that were made before.
        let mut before = Box::pin(notify.notified());
        notify.notify_waiters();
        assert!(futures_poll(&mut before).is_some());
        // What one was told goes to the next one; what all were told does not.
        let (mut first, mut second) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
        assert!(futures_poll(&mut first).is_none() && futures_poll(&mut second).is_none());
        notify.notify_one();
        drop(first);
        assert!(futures_poll(&mut second).is_some());
        let mut third = Box::pin(notify.notified());
        assert!(!third.as_mut().enable());
        notify.notify_waiters();
        drop(third);
        assert!(futures_poll(&mut Box::pin(notify.notified())).is_none());
    };
    assert_eq!(runs(kept), 1);
    let told = |all: bool, is_made_before: bool| {
        move || async move {
            let shared = Arc::new((Notify::new(), mazurka::sync::atomic::AtomicBool::new(false)));
            let own = shared.clone();
            let is_set = |shared: &(Notify, mazurka::sync::atomic::AtomicBool)| {
                shared.1.load(std::sync::atomic::Ordering::SeqCst)
            };
            tokio::spawn(async move {
                own.1.store(true, std::sync::atomic::Ordering::SeqCst);
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
        let task = tokio::spawn(async move { own.get_or_init(|| async { 1 }).await.clone() });
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
fn one_message_is_sent_or_not() {
    let seen = outcomes(|| async {
        let (sender, mut receiver) = oneshot::channel();
        let task = tokio::spawn(async move { sender.send(5).is_ok() });
        if let Ok(message) = receiver.try_recv() {
            return (true, Some(message), task.await.unwrap());
        }
        receiver.close();
        (false, receiver.await.ok(), task.await.unwrap())
    });
    let (early, late) = ((true, Some(5), true), (false, Some(5), true));
    assert_eq!(seen, BTreeSet::from([(false, None, false), late, early]));
}

#[test]
fn one_message_or_none() {
    let dropped = || async {
        let (sender, receiver) = oneshot::channel::<i32>();
        let task = tokio::spawn(async move { receiver.await });
        drop(sender);
        assert!(task.await.unwrap().is_err());
    };
    assert!(!deadlocks(dropped));
    let closed = || async {
        let (mut sender, receiver) = oneshot::channel::<i32>();
        tokio::spawn(async move { drop(receiver) });
        sender.closed().await;
        assert_eq!(sender.send(1), Err(1));
    };
    assert!(!deadlocks(closed));
    let (found, text) = finds(|| async {
        let (sender, receiver) = oneshot::channel::<i32>();
        std::mem::forget(sender);
        let _ = receiver.await;
    });
    assert_eq!(found, Verdict::Deadlock, "{text}");
    assert!(text.contains("recv"), "{text}");
}

#[test]
fn messages_are_taken_in_order_and_channels_close() {
    let in_order = || async {
        let (sender, mut receiver) = mpsc::channel(1);
        let task = tokio::spawn(async move {
            for n in 0..3 {
                sender.send(n).await.unwrap();
            }
        });
        for n in 0..3 {
            assert_eq!(receiver.recv().await, Some(n));
        }
        assert_eq!(receiver.recv().await, None);
        task.await.unwrap();
    };
    assert!(runs(in_order) > 4);
    let alone = || async {
        let (sender, mut receiver) = mpsc::channel(2);
        let permit = sender.reserve().await.unwrap();
        sender.try_send(1).unwrap();
        assert!(matches!(sender.try_send(2), Err(mpsc::error::TrySendError::Full(2))));
        let mut waits = Box::pin(sender.send(3));
        assert!(futures_poll(&mut waits).is_none());
        receiver.close();
        assert!(futures_poll(&mut waits).unwrap().is_err());
        assert_eq!(receiver.recv().await, Some(1));
        // Who has reserved room may send after the channel was closed.
        assert!(futures_poll(&mut Box::pin(receiver.recv())).is_none());
        permit.send(4);
        assert_eq!(receiver.recv().await, Some(4));
        assert_eq!(receiver.recv().await, None);
        let (sender, mut receiver) = mpsc::unbounded_channel();
        (0..5).for_each(|n| sender.send(n).unwrap());
        let mut buffer = Vec::new();
        assert_eq!(receiver.recv_many(&mut buffer, 3).await, 3);
        assert_eq!((receiver.len(), receiver.is_closed()), (2, false));
        let weak = sender.downgrade();
        drop(weak.upgrade().unwrap());
        drop(sender);
        assert!(weak.upgrade().is_none());
        assert_eq!(receiver.recv_many(&mut buffer, 3).await, 2);
        assert_eq!(receiver.recv_many(&mut buffer, 3).await, 0);
        assert_eq!(buffer, [0, 1, 2, 3, 4]);
    };
    assert_eq!(runs(alone), 1);
    // A permit that is dropped after the channel was closed is the last thing to wait for.
    let idle = || async {
        let (sender, mut receiver) = mpsc::channel::<()>(1);
        let permit = sender.reserve_owned().await.unwrap();
        tokio::spawn(async move { drop(permit.release()) });
        receiver.close();
        assert_eq!(receiver.recv().await, None);
    };
    assert!(!deadlocks(idle));
    let blocking = || async {
        let (sender, mut receiver) = mpsc::channel(1);
        let thread = mazurka::thread::spawn(move || {
            sender.blocking_send(1).unwrap();
            sender.blocking_send(2).unwrap();
        });
        assert_eq!((receiver.recv().await, receiver.recv().await), (Some(1), Some(2)));
        thread.join().unwrap();
    };
    assert!(!deadlocks(blocking));
}

#[test]
fn a_message_is_lost_where_a_future_is_dropped_that_has_it() {
    // The future that is dropped takes a message, and then waits for something else.
    let loses = |keeps: bool| {
        move || async move {
            let (sender, mut receiver) = mpsc::channel(1);
            let lock = Arc::new(Mutex::new(()));
            let own = lock.clone();
            tokio::spawn(async move {
                let _guard = own.lock().await;
                sender.send(1).await.unwrap();
            });
            let mut taken = None;
            let take = async {
                let message = receiver.recv().await;
                if keeps {
                    taken = message;
                }
                lock.lock().await;
                taken = message;
            };
            let _ = timeout(SECOND, take).await;
            assert!(taken.is_some() || receiver.recv().await == Some(1), "a message is lost");
        }
    };
    let (found, text) = finds(loses(true));
    assert_eq!(found, Verdict::Ok, "{text}");
    let (found, text) = finds(loses(false));
    assert_eq!(found, Verdict::Assertion, "{text}");
    assert!(text.contains("a message is lost"), "{text}");
}

#[test]
fn a_value_is_watched() {
    let seen = outcomes(|| async {
        let (sender, mut receiver) = watch::channel(0);
        let task = tokio::spawn(async move {
            sender.send(1).unwrap();
            assert_eq!(sender.send_replace(2), 1);
        });
        let mut seen = Vec::new();
        while receiver.changed().await.is_ok() {
            seen.push(*receiver.borrow_and_update());
        }
        assert!(receiver.has_changed().is_err());
        task.await.unwrap();
        seen
    });
    assert_eq!(seen, BTreeSet::from([vec![1, 2], vec![2], vec![2, 2]]));
    let waits = || async {
        let (sender, mut receiver) = watch::channel(0);
        tokio::spawn(async move {
            for n in 1..3 {
                sender.send_modify(|value| *value += n);
            }
            sender.closed().await;
        });
        assert_eq!(*receiver.wait_for(|&value| value == 3).await.unwrap(), 3);
        assert!(!receiver.has_changed().unwrap());
        receiver.mark_changed();
        assert!(receiver.has_changed().unwrap());
    };
    assert!(!deadlocks(waits));
    // A borrow that is kept while the value is sent.
    let kept = || async {
        let (sender, receiver) = watch::channel(0);
        let value = receiver.borrow();
        sender.send(*value + 1).unwrap();
    };
    assert!(deadlocks(kept));
}

#[test]
fn a_receiver_that_lags_is_told() {
    use broadcast::error::{RecvError, TryRecvError};
    let alone = || async {
        let (sender, mut receiver) = broadcast::channel(2);
        (0..5).for_each(|n| assert_eq!(sender.send(n).unwrap(), 1));
        assert_eq!(receiver.recv().await, Err(RecvError::Lagged(3)));
        assert_eq!(receiver.recv().await, Ok(3));
        let mut late = sender.subscribe();
        assert_eq!((sender.len(), receiver.len(), late.len()), (1, 1, 0));
        drop(sender);
        assert_eq!(receiver.recv().await, Ok(4));
        assert_eq!(receiver.recv().await, Err(RecvError::Closed));
        assert_eq!(late.try_recv(), Err(TryRecvError::Closed));
    };
    assert_eq!(runs(alone), 1);
    let takes_all = |room: usize| {
        move || async move {
            let (sender, mut receiver) = broadcast::channel(room);
            let task = tokio::spawn(async move {
                for n in 0..2 {
                    sender.send(n).unwrap();
                }
            });
            for n in 0..2 {
                assert_eq!(receiver.recv().await, Ok(n));
            }
            task.await.unwrap();
        }
    };
    assert_eq!(finds(takes_all(2)).0, Verdict::Ok);
    let (found, text) = finds(takes_all(1));
    assert_eq!(found, Verdict::Assertion, "{text}");
    assert!(text.contains("Lagged(1)"), "{text}");
}

#[test]
fn each_branch_of_a_select_may_be_first() {
    let selected = |is_biased: bool| {
        outcomes(move || async move {
            let (first, second) = (Notify::new(), Notify::new());
            first.notify_one();
            second.notify_one();
            if is_biased {
                return tokio::select! {
                    biased;
                    () = first.notified() => 1,
                    () = second.notified() => 2,
                };
            }
            tokio::select! {
                () = first.notified() => 1,
                () = second.notified() => 2,
            }
        })
    };
    assert_eq!(selected(false), BTreeSet::from([1, 2]));
    assert_eq!(selected(true), BTreeSet::from([1]));
    let forms = || async {
        let (sender, mut receiver) = mpsc::channel::<String>(1);
        sender.send("one".into()).await.unwrap();
        drop(sender);
        let mut seen = Vec::new();
        loop {
            tokio::select! {
                biased;
                _ = std::future::pending::<()>() => unreachable!(),
                Some(word) = receiver.recv() => seen.push(word),
                n = async { 1 }, if seen.is_empty() => { assert_eq!(n, 1); }
                else => break,
            }
            if seen.len() == 1 {
                break;
            }
        }
        let number = tokio::select! {
            Some(word) = receiver.recv() => word.len(),
            n = std::future::ready(0), if false => n,
            else => 7,
        };
        assert_eq!(number, 7);
        let early = async {
            tokio::select! { n = std::future::ready(3) => return n }
            #[allow(unreachable_code)]
            0
        };
        assert_eq!(early.await, 3);
        assert_eq!(tokio::join!(async { 1 }, async { "two" }, async { 3 }), (1, "two", 3));
        let failed: Result<(i32, i32), &str> =
            tokio::try_join!(std::future::pending(), async { Err("no") });
        assert_eq!(failed, Err("no"));
        let both: Result<_, ()> = tokio::try_join!(async { Ok(1) }, async { Ok('a') });
        assert_eq!(both, Ok((1, 'a')));
    };
    assert_eq!(runs(forms), 1);
    let futures_are_dropped_first = || async {
        let lock = Mutex::new(0);
        let guard = lock.lock().await;
        tokio::select! {
            biased;
            _ = lock.lock() => unreachable!(),
            () = async {} => {
                drop(guard);
                assert!(lock.try_lock().is_ok());
            }
        }
    };
    assert_eq!(runs(futures_are_dropped_first), 1);
}

#[test]
fn times_are_over_or_not_and_never_in_the_way() {
    let seen = outcomes(|| async {
        let (sender, receiver) = oneshot::channel();
        let task = tokio::spawn(async move { sender.send(5).is_ok() });
        let received = timeout(SECOND, receiver).await.map(|message| message.unwrap()).ok();
        (received, task.await.unwrap())
    });
    let sent = (None, true);
    assert_eq!(seen, BTreeSet::from([(None, false), sent, (Some(5), true)]));
    // Nobody sends, and the time is over at some point.
    let over = || async {
        let (_sender, mut receiver) = mpsc::channel::<()>(1);
        assert!(timeout(SECOND, receiver.recv()).await.is_err());
        sleep(SECOND).await;
    };
    assert!(!deadlocks(over));
    // After the time nobody wakes the task: a deadlock.
    let behind = || async {
        let (_sender, mut receiver) = mpsc::channel::<()>(1);
        let mut time = Box::pin(sleep(SECOND));
        let notify = Notify::new();
        notify.notify_one();
        tokio::select! {
            biased;
            () = &mut time => {}
            () = notify.notified() => {}
        }
        receiver.recv().await;
    };
    assert!(deadlocks(behind));
    let ticks = outcomes(|| async {
        let (sender, mut receiver) = mpsc::channel(1);
        let task = tokio::spawn(async move { sender.send(()).await });
        let mut interval = tokio::time::interval(SECOND);
        let mut ticks = 0;
        while ticks < 3 {
            tokio::select! {
                biased;
                _ = receiver.recv() => break,
                _ = interval.tick() => ticks += 1,
            }
        }
        drop(receiver);
        let _ = task.await.unwrap();
        ticks
    });
    assert_eq!(ticks, BTreeSet::from([0, 1, 2, 3]));
}

#[test]
fn a_task_that_yields_waits() {
    let spins = |sets: bool| {
        move || async move {
            let flag = Arc::new(mazurka::sync::atomic::AtomicBool::new(false));
            let own = flag.clone();
            let task = tokio::spawn(async move {
                if sets {
                    own.store(true, std::sync::atomic::Ordering::SeqCst);
                }
            });
            while !flag.load(std::sync::atomic::Ordering::SeqCst) {
                tokio::task::yield_now().await;
            }
            task.await.unwrap();
        }
    };
    assert_eq!(finds(spins(true)).0, Verdict::Ok);
    assert_ne!(finds(spins(false)).0, Verdict::Ok);
}

#[test]
fn a_panic_in_a_task_is_one_violation() {
    let checked = Builder::new().all().run(|| {
        tokio::block_on(async {
            let lock = Arc::new(Mutex::new(0));
            let own = lock.clone();
            let task = tokio::spawn(async move {
                let _guard = own.lock().await;
                panic!("with a guard");
            });
            lock.lock().await;
            drop(task);
        });
    });
    assert_eq!(checked.verdict(), Verdict::Assertion, "{checked}");
    assert!(checked.to_string().contains("with a guard"), "{checked}");
    let violations = checked.violations();
    assert!(violations.iter().all(|violation| violation.failure.is_some()), "{checked}");
}

#[test]
fn a_deadlock_names_the_operations_of_the_program() {
    let (found, text) = finds(|| async {
        let (sender, mut receiver) = mpsc::channel::<i32>(1);
        let task = tokio::spawn(async move {
            while let Some(n) = receiver.recv().await {
                assert!(n > 0);
            }
        });
        sender.send(1).await.unwrap();
        task.await.unwrap();
        drop(sender);
    });
    assert_eq!(found, Verdict::Deadlock, "{text}");
    for word in ["recv", "join", "tasks.rs"] {
        assert!(text.contains(word), "{text}");
    }
}
