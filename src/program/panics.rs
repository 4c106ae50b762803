//! Panics inside processes: they are violations, with their message and place. Nothing of them is printed.
//!
//! What is printed of a panic is the panic hook's business, and there is one hook for the whole program. So ours is put in
//! front of the one that is there, once. It only looks at panics of threads that are just running a process, and hands
//! all others on.

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
    /// Where the process has panicked last.
    static PLACE: RefCell<Option<Site>> = const { RefCell::new(None) };
}

/// Runs a part of a process; or tells what was wrong, if it panics.
pub(super) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Failure> {
    listen();
    let was_running = IS_RUNNING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    IS_RUNNING.set(was_running);
    result.map_err(|payload| {
        let site = PLACE.take();
        let (kind, message) = match payload.downcast_ref() {
            Some(Misuse(what)) => (FailureKind::Error, what.to_string()),
            None => told(&text(&*payload)),
        };
        Failure { kind, message, site }
    })
}

/// What the process does wrong with an object.
struct Misuse(&'static str);

/// Fails the process that is running, with the place in its code where it asked for this.
pub(super) fn blame(what: &'static str, place: Place) -> ! {
    PLACE.set(Some(site(place)));
    resume_unwind(Box::new(Misuse(what)))
}

fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
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

/// The place as reports know it.
pub(super) fn site(place: &Location<'_>) -> Site {
    Site {
        file: Some(Arc::from(place.file())),
        line: place.line(),
        column: place.column(),
        text: String::new(),
    }
}

fn text(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".into())
}

/// How messages of panics begin that no programmer wrote.
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

/// What kind of failure a panic with this message is, and the message in one line. Of an `assert!` with a message, that is
/// all there is: so whatever the language itself does not say is an assertion.
fn told(message: &str) -> (FailureKind, String) {
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
    fn panics_are_told_in_a_line() {
        let (two, line) = (2, line!());
        let told = failure(|| assert_eq!(two, 3));
        let message = "assertion failed: left == right (left: 2, right: 3)".to_string();
        assert_eq!(told, (FailureKind::Assertion, message, line + 1));
        let told = failure(|| assert_ne!(two, 2, "it is {two}")).1;
        assert_eq!(told, "assertion failed: left != right: it is 2 (left: 2, right: 2)");
        let told = failure(|| assert!(two == 3));
        assert_eq!((told.0, &*told.1), (FailureKind::Assertion, "assertion failed: two == 3"));
        let told = failure(|| assert!(two == 3, "it is\n {two}"));
        assert_eq!((told.0, &*told.1), (FailureKind::Assertion, "it is 2"));
        let told = failure(|| assert!([1].get(two).unwrap() == &1));
        let message = "called `Option::unwrap()` on a `None` value";
        assert_eq!((told.0, &*told.1), (FailureKind::Error, message));
    }

    #[test]
    fn who_does_not_panic_is_left_alone() {
        assert_eq!(guarded(|| 3), Ok(3));
    }
}
