//! Ctrl-C: the first one asks the search to end and to print its results; the second one ends the
//! program at once.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Failure;

/// The flag that the first interrupt sets.
///
/// # Errors
/// If called twice, or if the thread that waits for interrupts cannot be started.
pub(super) fn flag() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            process::exit(130);
        }
    };
    let why = match ctrlc::set_handler(handler) {
        Ok(()) => return Ok(flag),
        Err(ctrlc::Error::System(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Failure::Usage(format!("cannot watch for interrupts: {why}")))
}
