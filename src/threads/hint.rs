//! [`std::hint`].

use super::ask::Running;

/// Says that the thread waits for something that others do.
///
/// If it has twice observed the same since it last said so, and has changed nothing that others can
/// see, then it waits until something that it observed changes. So a loop that gives up after some
/// rounds is not explored to its end; such a loop must not say so.
pub fn spin_loop() {
    if let Some(running) = Running::try_current() {
        running.has_yielded.set(true);
    }
}
