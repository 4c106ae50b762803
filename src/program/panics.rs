//! Panics inside processes: they are violations, with their message and place. Nothing is printed
//! about them.
//!
//! The panic hook prints panics, and there is one hook for the whole program. So our hook is put in
//! front of the present one, once. It handles only panics of threads that are running a process,
//! and passes all others on.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{
    AssertUnwindSafe, Location, PanicHookInfo, catch_unwind, resume_unwind, set_hook, take_hook,
};
use std::sync::{Arc, Once};

use super::process::Place;
use crate::model::{Failure, FailureKind, Site};

thread_local! {
    /// Is this thread running a process?
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    /// Where the process has last panicked.
    static PLACE: RefCell<Option<Site>> = const { RefCell::new(None) };
}

/// Runs a part of a process. Returns the failure if it panics.
pub(super) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Failure> {
    while_running(|| catch_unwind(AssertUnwindSafe(run)).map_err(failure))
}

/// Notes panics instead of printing them.
pub(crate) fn while_running<T>(run: impl FnOnce() -> T) -> T {
    /// Also if it panics.
    struct Reset(bool);

    impl Drop for Reset {
        fn drop(&mut self) {
            IS_RUNNING.set(self.0);
        }
    }

    listen();
    let _reset = Reset(IS_RUNNING.replace(true));
    run()
}

/// From now on prints panics of the process that runs. The next one will abort the program.
pub(crate) fn aloud() {
    IS_RUNNING.set(false);
}

/// Where the process has last panicked.
pub(crate) fn place() -> Option<Site> {
    PLACE.with_borrow(Option::clone)
}

/// The failure of a process that has just panicked with this payload.
pub(crate) fn failure(payload: Box<dyn Any + Send>) -> Failure {
    let site = PLACE.take();
    let (kind, message) = match payload.downcast_ref() {
        Some(Misuse(what)) => (FailureKind::Error, what.clone()),
        None => classify(&text(&*payload)),
    };
    Failure { kind, message, site }
}

/// A misuse of an object by the process.
struct Misuse(String);

/// Fails the running process, at the place in its code where it asked for the operation.
pub(crate) fn blame(what: impl Into<String>, place: Place) -> ! {
    PLACE.set(Some(site(place)));
    resume_unwind(Box::new(Misuse(what.into())))
}

/// The size of a stack on which nothing happens, in words.
const SMALL: usize = 0x1000;

fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The first stack of a thread puts a hook of its own in front. Between its two steps there
        // is none of ours, so it must not come later.
        generator::Gn::<()>::new_opt(SMALL, || ()).resume();
        let others = take_hook();
        // Where panics abort the program, this is the last chance to say why.
        let catches = cfg!(panic = "unwind");
        set_hook(Box::new(move |info| match IS_RUNNING.get() && catches {
            true => note(info),
            false => others(info),
        }));
    });
}

fn note(info: &PanicHookInfo<'_>) {
    PLACE.set(info.location().map(site));
}

/// The place in the form that reports use.
pub(crate) fn site(place: &Location<'_>) -> Site {
    Site {
        file: Some(Arc::from(shown(place.file()))),
        line: place.line(),
        column: place.column(),
        text: String::new(),
    }
}

/// A path without what is before the folder of a crate from a registry.
fn shown(path: &str) -> &str {
    let registry = "/registry/src/";
    let within = path.find(registry).map(|at| &path[at + registry.len()..]);
    within.and_then(|within| within.split_once('/')).map_or(path, |(_, file)| file)
}

fn text(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".into())
}

/// The beginnings of panic messages that come from the language or its library.
const RUNTIME: [&str; 10] = [
    "attempt to ",
    "index out of bounds",
    "slice index",
    "range ",
    "byte index",
    "called `",
    "already ",
    "capacity overflow",
    "internal error",
    "not implemented",
];

/// The kind of failure of a panic with this message, and the message in one line. An `assert!` with
/// a message leaves only that message. So every message that does not come from the language counts
/// as an assertion.
fn classify(message: &str) -> (FailureKind, String) {
    let (first, values) = match message.split_once("\n  left: ") {
        Some((first, values)) => (first, Some(values.replacen("\n right: ", ", right: ", 1))),
        None => (message, None),
    };
    let mut line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    for condition in ["left == right", "left != right"] {
        line = line.replacen(&format!("`{condition}` failed"), &format!("failed: {condition}"), 1);
    }
    if let Some(values) = values {
        let values = values.split_whitespace().collect::<Vec<_>>().join(" ");
        line += &format!(" (left: {values})");
    }
    let is_runtime = RUNTIME.iter().any(|beginning| line.starts_with(beginning));
    let kind = if is_runtime { FailureKind::Error } else { FailureKind::Assertion };
    (kind, line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(run: impl FnOnce()) -> (FailureKind, String, u32) {
        let failure = guarded(run).expect_err("it panics");
        (failure.kind, failure.message, failure.site.expect("a place").line)
    }

    #[test]
    fn panics_are_reported_in_one_line() {
        let (two, line) = (2, line!());
        let found = failure(|| assert_eq!(two, 3));
        let message = "assertion failed: left == right (left: 2, right: 3)".to_string();
        assert_eq!(found, (FailureKind::Assertion, message, line + 1));
        let found = failure(|| assert_ne!(two, 2, "it is {two}")).1;
        assert_eq!(found, "assertion failed: left != right: it is 2 (left: 2, right: 2)");
        let found = failure(|| assert!(two == 3));
        assert_eq!((found.0, &*found.1), (FailureKind::Assertion, "assertion failed: two == 3"));
        let found = failure(|| assert!(two == 3, "it is\n {two}"));
        assert_eq!((found.0, &*found.1), (FailureKind::Assertion, "it is 2"));
        let found = failure(|| assert!([1].get(two).unwrap() == &1));
        let message = "called `Option::unwrap()` on a `None` value";
        assert_eq!((found.0, &*found.1), (FailureKind::Error, message));
    }

    #[test]
    fn who_does_not_panic_is_left_alone() {
        assert_eq!(guarded(|| 3), Ok(3));
    }
}
