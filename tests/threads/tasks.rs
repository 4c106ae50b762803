//! Async code: tasks, and what they wait for.

mod channels;
mod locks;
mod notified;
mod times;
mod twins;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::future::Future;
use std::sync::{Arc, Mutex as PlainMutex};
use std::time::Duration;

use mazurka::explore::Verdict;
use mazurka::future as tokio;
use mazurka::threads::Builder;
use tokio::sync::{Mutex, Notify, mpsc, oneshot};
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
    std::mem::take(&mut *all.lock().unwrap())
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

/// Polls a future once.
fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(future).poll(&mut context) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
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
fn a_task_has_ended_when_its_result_is_there() {
    let seen = outcomes(|| async {
        let mut task = tokio::spawn(async { 5 });
        let abort = task.abort_handle();
        let was_finished = abort.is_finished();
        let result = poll_once(&mut task);
        assert!(result.is_some() || !was_finished);
        assert!(result.is_none() || abort.is_finished());
        result.is_some()
    });
    assert_eq!(seen, BTreeSet::from([true, false]));
    let in_a_set = || async {
        let mut set = JoinSet::new();
        let abort = set.spawn(async { 5 });
        let was_finished = abort.is_finished();
        let result = set.try_join_next();
        assert!(result.is_some() || !was_finished);
        assert!(result.is_none() || abort.is_finished());
    };
    assert!(runs(in_a_set) > 1);
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
    assert!(runs(over) > 1);
    // After the time nobody wakes the task: a deadlock.
    let behind = || async {
        let (_sender, mut receiver) = mpsc::channel::<()>(1);
        let mut time = Box::pin(sleep(SECOND));
        let notify = Notify::new();
        notify.notify_one();
        tokio::select! {
            biased;
            () = &mut time => return,
            () = notify.notified() => {}
        }
        receiver.recv().await;
    };
    assert!(deadlocks(behind));
    // Nor does a time matter that was polled and is dropped.
    let dropped = || async {
        let mut time = Box::pin(sleep(SECOND));
        let poll = std::future::poll_fn(|context| {
            std::task::Poll::Ready(time.as_mut().poll(context).is_ready())
        });
        let is_over = poll.await;
        drop(time);
        if !is_over {
            std::future::pending().await
        }
    };
    assert!(deadlocks(dropped));
    // A future that runs another one waits for its own times only, and goes on to do so.
    let within = |is_stuck: bool| {
        move || async move {
            let runs_another = async {
                tokio::block_on(async {
                    if is_stuck {
                        std::future::pending().await
                    }
                });
                std::future::pending().await
            };
            tokio::select! {
                biased;
                () = sleep(SECOND) => {}
                () = runs_another => {}
            }
        }
    };
    assert!(!deadlocks(within(false)));
    assert!(deadlocks(within(true)));
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

#[test]
fn futures_can_be_sent() {
    use tokio::sync::{RwLock, Semaphore, broadcast, watch};
    type Boxed = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
    let all = || -> Boxed {
        Box::pin(async {
            let (lock, rwlock, permits) = (Mutex::new(1), RwLock::new(1), Semaphore::new(1));
            let mut guard = lock.lock().await;
            *guard += *rwlock.read().await;
            let mut written = rwlock.write().await;
            *written += *guard;
            let _permit = permits.acquire().await.unwrap();
            let (sender, mut receiver) = mpsc::channel(1);
            sender.send(1).await.unwrap();
            let (all, mut shown) = broadcast::channel(1);
            let (value, mut changes) = watch::channel(0);
            value.send(*written).unwrap();
            all.send(*changes.borrow()).unwrap();
            let (n, shown) = tokio::join!(timeout(SECOND, receiver.recv()), shown.recv());
            assert_eq!((n, shown), (Ok(Some(1)), Ok(3)));
            tokio::select! {
                changed = changes.changed() => changed.unwrap(),
                () = sleep(SECOND) => {}
            }
            assert_eq!((*guard, *written), (2, 3));
        })
    };
    // The branch that is first.
    assert_eq!(runs(all), 2);
}

/// An object of the program that wakes others itself, beside those of `tokio::sync`.
#[test]
fn wakers_of_the_program_wake() {
    use mazurka::sync::Mutex as Locked;
    use std::task::{Poll, Waker};
    let woken = || async {
        let flag = Arc::new(Locked::new((false, None::<Waker>)));
        let own = flag.clone();
        mazurka::thread::spawn(move || {
            let mut flag = own.lock().unwrap();
            flag.0 = true;
            if let Some(waker) = flag.1.take() {
                waker.wake();
            }
        });
        std::future::poll_fn(|context| {
            let mut flag = flag.lock().unwrap();
            flag.1 = Some(context.waker().clone());
            if flag.0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    };
    assert_eq!(runs(woken), 2);
}

/// As tasks of tokio are: who is woken twice before it is polled is polled once.
#[test]
fn two_wakes_are_two_polls_or_one() {
    use mazurka::sync::Mutex as Locked;
    use std::task::{Poll, Waker};
    let woken_twice = |enough: u32| {
        move || async move {
            let place = Arc::new(Locked::new(None::<Waker>));
            let mut polls = 0;
            std::future::poll_fn(move |context| {
                polls += 1;
                if polls == 1 {
                    *place.lock().unwrap() = Some(context.waker().clone());
                    let own = place.clone();
                    mazurka::thread::spawn(move || {
                        let waker = own.lock().unwrap().take().unwrap();
                        waker.wake_by_ref();
                        waker.wake_by_ref();
                    });
                }
                if polls == enough { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    };
    assert!(!deadlocks(woken_twice(2)));
    assert!(deadlocks(woken_twice(3)));
    assert!(deadlocks(woken_twice(4)));
    // So it is where the task wakes itself, too.
    let wakes_itself = |enough: u32| {
        move || async move {
            let mut polls = 0;
            std::future::poll_fn(move |context| {
                polls += 1;
                if polls == 1 {
                    let waker = context.waker().clone();
                    mazurka::thread::spawn(move || waker.wake());
                    context.waker().wake_by_ref();
                }
                if polls == enough { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    };
    assert!(!deadlocks(wakes_itself(2)));
    assert!(deadlocks(wakes_itself(3)));
    // Two notifications: each is one poll, or both are.
    let polls = outcomes(|| async {
        let (first, second) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        for notify in [&first, &second] {
            let notify = notify.clone();
            tokio::spawn(async move { notify.notify_one() });
        }
        let mut both = Box::pin(async { tokio::join!(first.notified(), second.notified()) });
        let mut polls = 0;
        std::future::poll_fn(|context| {
            polls += 1;
            both.as_mut().poll(context).map(drop)
        })
        .await;
        polls
    });
    assert_eq!(polls, BTreeSet::from([1, 2, 3]));
}
