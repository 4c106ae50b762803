//! What operations depend on, in words, for those who write specs.
//!
//! [`dependent`](crate::model::dependent) is the relation itself, and decides. A test compares the
//! sentences with it: each names exactly the operations that depend on its own somewhere.

/// What operations of one kind of object depend on.
#[derive(Debug, PartialEq, Eq)]
pub struct Dependence {
    /// The kind of object; empty if there is none.
    pub at: &'static str,
    /// The names of the operations.
    pub operations: &'static [&'static str],
    /// What each of them depends on, as the end of a sentence: other operations in backticks, or
    /// what has no name (a match, the end of a call, a read, a write).
    pub on: &'static str,
}

/// Operations that stand for others, one after the other.
const SPELLED_OUT: [(&str, &[&str]); 8] = [
    ("send", &["isend", "wait"]),
    ("ssend", &["issend", "wait"]),
    ("bsend", &["ibsend"]),
    ("recv", &["irecv", "wait"]),
    ("waitall", &["wait"]),
    ("lock", &["async_lock", "mutex_wait"]),
    ("acquire", &["async_acquire", "acquire_wait"]),
    ("barrier", &["async_barrier", "barrier_wait"]),
];

const fn row(
    at: &'static str,
    operations: &'static [&'static str],
    on: &'static str,
) -> Dependence {
    Dependence { at, operations, on }
}

/// The operations, by the kinds of objects.
const ROWS: &[Dependence] = &[
    row(
        "mailbox",
        &["isend"],
        "every other `isend` to the mailbox, and the `wait`, `test`, `waitany` or `testany` of the \
         receive that its message is for",
    ),
    row(
        "mailbox",
        &["irecv"],
        "every other `irecv` at the mailbox, and the `wait`, `test`, `waitany` or `testany` of the \
         send whose message it is for",
    ),
    row(
        "mailbox",
        &["wait", "waitany"],
        "the `isend` or `irecv` that its communication is paired with",
    ),
    row(
        "mailbox",
        &["test", "testany"],
        "the `isend` or `irecv` that its communication is paired with, also if that comes later",
    ),
    row(
        "p2p or bag mailbox",
        &["isend", "issend", "ibsend"],
        "the match of its message, and the `probe`, `iprobe` or `mprobe` that finds it",
    ),
    row("p2p or bag mailbox", &["irecv"], "its match"),
    row(
        "p2p or bag mailbox",
        &["wait", "test", "waitany", "testany"],
        "the match of its communication or the `mprobe` that takes its message, unless it is a \
         buffered send, or nothing is found",
    ),
    row("p2p or bag mailbox", &["cancel"], "the match of its receive"),
    row(
        "p2p or bag mailbox",
        &["probe", "iprobe"],
        "the `isend`, `issend` or `ibsend` of the message that it finds, and the match of a receive \
         that comes first",
    ),
    row(
        "p2p or bag mailbox",
        &["mprobe"],
        "the `isend`, `issend` or `ibsend` of the message that it takes, its `wait`, `test`, \
         `waitany` or `testany`, and the match of a receive that comes first",
    ),
    row("mutex", &["async_lock"], "every other `async_lock` of the mutex"),
    row(
        "mutex",
        &["mutex_wait", "mutex_waitany", "mutex_test", "mutex_testany"],
        "the `unlock` after which its process owns the mutex",
    ),
    row(
        "mutex",
        &["unlock"],
        "every other `unlock` of the mutex, and the `mutex_wait`, `mutex_test`, `mutex_waitany` or \
         `mutex_testany` of the process that owns it next",
    ),
    row(
        "mutex that is tried",
        &["async_lock"],
        "every other `async_lock`, `unlock` and `try_lock` of the mutex",
    ),
    row(
        "mutex that is tried",
        &["mutex_wait"],
        "the `unlock` after which its process owns the mutex",
    ),
    row(
        "mutex that is tried",
        &["unlock"],
        "every other `async_lock`, `unlock` and `try_lock` of the mutex, and the `mutex_wait` of the \
         process that owns it next",
    ),
    row(
        "mutex that is tried",
        &["try_lock"],
        "every `async_lock` and `unlock` of the mutex, and every other `try_lock` of it, unless both \
         fail",
    ),
    row(
        "rwlock",
        &["read_lock"],
        "every `write_lock` of the lock, and the `unlock` that it waits for",
    ),
    row(
        "rwlock",
        &["write_lock"],
        "every `read_lock` and every other `write_lock` of the lock, and the `unlock` that it waits \
         for",
    ),
    row("rwlock", &["unlock"], "the `read_lock` or `write_lock` that waits for it"),
    row(
        "condvar",
        &["cond_wait"],
        "every `notify_one` and `notify_all` of the condition variable; it releases its mutex and \
         takes it again, too",
    ),
    row(
        "condvar",
        &["notify_one", "notify_all"],
        "every `cond_wait` and every other `notify_one` and `notify_all` of the condition variable",
    ),
    row("semaphore", &["async_acquire"], "every other `async_acquire` of the semaphore"),
    row("semaphore", &["acquire_wait"], "the `release` that grants its unit"),
    row(
        "semaphore",
        &["release"],
        "every other `release` of the semaphore, and the `acquire_wait` whose unit it grants",
    ),
    row("barrier", &["async_barrier"], "every `barrier_wait` of its round"),
    row("barrier", &["barrier_wait"], "every `async_barrier` of its round"),
    row("latch", &["count_down"], "every `wait` for the latch"),
    row("latch", &["wait"], "every `count_down` of the latch"),
    row(
        "shared",
        &["cas", "fetch_add", "swap"],
        "every other access to the cell (a read, a write, a `cas`, `fetch_add` or `swap`), unless \
         both leave the content as it is",
    ),
    row(
        "collective",
        &[
            "barrier",
            "bcast",
            "scatter",
            "gather",
            "reduce",
            "allreduce",
            "allgather",
            "alltoall",
            "scan",
            "exscan",
            "reduce_scatter",
        ],
        "the end of each call of its round that needs it",
    ),
    row(
        "actor",
        &["send"],
        "nothing: it is part of a handler, and a handler depends on the other handlers of its actor \
         and on the one that sent its message",
    ),
    row("", &["join"], "all operations of the process that it waits for"),
    row("", &["value", "mrecv", "choose", "local"], "nothing that another process does"),
];

/// What this operation depends on, of other processes: for each operation that it stands for, its
/// name and its rows.
pub fn dependences(operation: &str) -> Vec<(&str, &'static Dependence)> {
    let parts = SPELLED_OUT.iter().filter(|(name, _)| *name == operation).flat_map(|(_, all)| *all);
    let names = std::iter::once(operation).chain(parts.copied());
    let rows = |name| ROWS.iter().filter(move |row| row.operations.contains(&name));
    names.flat_map(|name| rows(name).map(move |row| (name, row))).collect()
}
