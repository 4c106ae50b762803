//! Ctrl-C: the first one asks the search to end and print what it has; the second one ends the program at once.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The flag that the first interrupt sets.
///
/// # Panics
/// If called twice.
pub(super) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            process::exit(130);
        }
    };
    ctrlc::set_handler(handler).expect("no other handler for interrupts");
    flag
}
