//! Channels for tasks.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use mazurka::explore::Verdict;
use mazurka::future as tokio;
use mazurka::{sync, thread};
use tokio::sync::{Mutex, broadcast, mpsc, oneshot, watch};
use tokio::time::timeout;

use super::super::classes;
use super::{SECOND, deadlocks, finds, outcomes, poll_once, runs};

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
        let task = tokio::spawn(receiver);
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
        assert!(poll_once(&mut waits).is_none());
        receiver.close();
        assert!(poll_once(&mut waits).unwrap().is_err());
        assert_eq!(receiver.recv().await, Some(1));
        // Who has reserved room may send after the channel was closed.
        assert!(poll_once(&mut Box::pin(receiver.recv())).is_none());
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
        let permit = sender.clone().reserve_owned().await.unwrap();
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
    let seen = |updates: bool| {
        outcomes(move || async move {
            let (sender, mut receiver) = watch::channel(0);
            let task = tokio::spawn(async move {
                sender.send(1).unwrap();
                assert_eq!(sender.send_replace(2), 1);
            });
            let mut seen = Vec::new();
            while receiver.changed().await.is_ok() {
                seen.push(match updates {
                    true => *receiver.borrow_and_update(),
                    false => *receiver.borrow(),
                });
            }
            assert!(receiver.has_changed().is_err());
            task.await.unwrap();
            seen
        })
    };
    assert_eq!(seen(true), BTreeSet::from([vec![1, 2], vec![2]]));
    // A value that changes after the wait and before the borrow is seen twice.
    assert_eq!(seen(false), BTreeSet::from([vec![1, 2], vec![2], vec![2, 2]]));
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
    // A future that is dropped wakes nobody any more.
    let dropped = || async {
        let (sender, mut receiver) = watch::channel(0);
        let notify = Arc::new(tokio::sync::Notify::new());
        tokio::select! {
            biased;
            _ = receiver.changed() => unreachable!(),
            () = async {} => {}
        }
        let (mut notified, mut polls) = (Box::pin(notify.notified()), 0);
        let own = notify.clone();
        tokio::spawn(async move {
            sender.send(1).unwrap();
            own.notify_one();
        });
        std::future::poll_fn(|context| {
            polls += 1;
            notified.as_mut().poll(context)
        })
        .await;
        assert!(polls <= 2, "it is woken once");
    };
    assert_eq!(finds(dropped).0, Verdict::Ok);
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

/// A waker may do what others see: it is woken after the operation that wakes it.
#[test]
fn a_waker_may_be_code_of_the_program() {
    struct Counts(sync::Mutex<u32>);
    impl Wake for Counts {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let woken = || {
        let counts = Arc::new(Counts(sync::Mutex::new(0)));
        let (sender, mut receiver) = oneshot::channel();
        let thread = thread::spawn(move || sender.send(5).unwrap());
        let waker = Waker::from(counts.clone());
        let polled = Pin::new(&mut receiver).poll(&mut Context::from_waker(&waker));
        thread.join().unwrap();
        assert_eq!(*counts.0.lock().unwrap(), u32::from(polled.is_pending()));
    };
    assert_eq!(classes(woken), 2, "it is woken or it is ready");
}

#[test]
fn errors_are_shown_as_tokio_shows_them() {
    use mpsc::error::{SendError, SendTimeoutError, TrySendError};
    assert_eq!(format!("{:?}", TrySendError::Full(1)), "\"Full(..)\"");
    assert_eq!(format!("{:?}", TrySendError::Closed(1)), "\"Closed(..)\"");
    assert_eq!(format!("{:?}", SendTimeoutError::Timeout(1)), "\"Timeout(..)\"");
    assert_eq!(format!("{:?}", SendTimeoutError::Closed(1)), "\"Closed(..)\"");
    assert_eq!(format!("{:?}", SendError(1)), "SendError { .. }");
}
