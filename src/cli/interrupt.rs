//! Ctrl-C: the first one asks the search to end and to print its results; the second one ends the
//! program at once. In a session it ends the work of a command, or else the session.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::Failure;

/// The flag that the first interrupt sets, always the same.
///
/// # Errors
/// If the thread that waits for interrupts cannot be started.
pub(super) fn flag() -> Result<Arc<AtomicBool>, Failure> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(flag.clone());
    }
    let flag = FLAG.get_or_init(Arc::default).clone();
    let raised = Arc::clone(&flag);
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            process::exit(130);
        }
    };
    watch(handler).map(|()| flag)
}

fn watch(handler: impl FnMut() + Send + 'static) -> Result<(), Failure> {
    let why = match ctrlc::set_handler(handler) {
        Ok(()) => return Ok(()),
        Err(ctrlc::Error::System(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Failure::Usage(format!("cannot watch for interrupts: {why}")))
}

/// Ctrl-C in a session: it ends the work that goes on; while a command is awaited, it ends the
/// session.
pub(super) struct Work {
    stop: Arc<AtomicBool>,
    goes_on: Arc<AtomicBool>,
}

impl Work {
    /// Watches for interrupts from now on.
    ///
    /// # Errors
    /// As for [`flag`].
    pub(super) fn watch() -> Result<Work, Failure> {
        let work = Work { stop: Arc::default(), goes_on: Arc::default() };
        let (stop, goes_on) = (work.stop.clone(), work.goes_on.clone());
        watch(move || match goes_on.load(Ordering::Relaxed) {
            true if !stop.swap(true, Ordering::Relaxed) => {}
            true => process::exit(130),
            false => {
                // Whatever comes next on the terminal begins a new line.
                println!();
                process::exit(0);
            }
        })?;
        Ok(work)
    }

    /// Begins work, which is to end when the returned flag is raised.
    pub(super) fn begin(&self) -> Arc<AtomicBool> {
        self.stop.store(false, Ordering::Relaxed);
        self.goes_on.store(true, Ordering::Relaxed);
        self.stop.clone()
    }

    /// The work is done.
    pub(super) fn end(&self) {
        self.goes_on.store(false, Ordering::Relaxed);
    }
}
