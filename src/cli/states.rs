//! The checkpoint of a search that stores states, or builds a prefix: the task, as in other parts
//! of searches ([`Stored`]), and the state of the search, in bytes.
//!
//! ```text
//! mazurka checkpoint 4⏎   length of the task   the task, as JSON   the state   checksum
//! ```
//!
//! The state is empty if the search was not saved yet. When the search is over, its end is saved:
//! all figures and findings, and nothing to go on from. The bytes are written and read by the
//! explorer. The checksum detects accidental changes only.
//!
//! At a limit or a signal, the search is saved at the next place where that is possible, and then
//! ends. If there is no such place within [`GRACE_PERIOD`], what came after the last checkpoint is
//! lost.

use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::faster::advice;
use super::growth::in_all;
use super::merge::replay;
use super::output::Output;
use super::session::{Session, judged, say_how_to_go_on};
use super::verification::{self, Judged, ResultArgs, Wanted};
use super::{Exit, Failure, files, interrupt, memory};
use crate::explore::{Budget, Keeper, Part, StopReason, explore_saved};
use crate::report::text::shown;
use crate::study::{Limits, Stored, task};

/// The beginning of such a file, with the version of its format.
const MAGIC: &[u8] = b"mazurka checkpoint 4\n";
/// The beginning of a file in any version.
const ANY_MAGIC: &[u8] = b"mazurka checkpoint ";
/// How long a search may take after a limit until it is saved.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The task and the state in this file; `None` if it is not a file of this kind.
///
/// # Errors
/// If it is one, and is damaged.
pub(super) fn read(file: &Path) -> Result<Option<(Stored, Vec<u8>)>, Failure> {
    let mut begin = Vec::new();
    let Ok(opened) = fs::File::open(file) else { return Ok(None) };
    let is_read = opened.take(ANY_MAGIC.len() as u64).read_to_end(&mut begin).is_ok();
    if !is_read || begin != ANY_MAGIC {
        return Ok(None);
    }
    let refused = |why: &str| Failure::Usage(format!("{}: {why}", shown(file)));
    let bytes = fs::read(file).map_err(|error| refused(&error.to_string()))?;
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(refused("a checkpoint in the format of another version of mazurka"));
    };
    let damaged = || refused("the checkpoint is damaged");
    let (rest, last) = rest.split_last_chunk::<8>().ok_or_else(damaged)?;
    if u64::from_le_bytes(*last) != sum(&bytes[..bytes.len() - 8]) {
        return Err(damaged());
    }
    let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok();
    let (task, state) = length.and_then(|at| rest.split_at_checked(at)).ok_or_else(damaged)?;
    let task = std::str::from_utf8(task).map_err(|_| damaged())?;
    Ok(Some((Stored::parse(file, task)?, state.to_vec())))
}

/// Writes a task and the state that `write` writes.
fn save(
    file: &Path,
    stored: &Stored,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let (task, mut bytes) = (stored.text(), MAGIC.to_vec());
    bytes.extend((task.len() as u64).to_le_bytes());
    bytes.extend(task.as_bytes());
    write(&mut bytes).map_err(|error| files::cannot_write(file, error))?;
    bytes.extend(sum(&bytes).to_le_bytes());
    files::write(file, &bytes)
}

/// A checksum. Every change of a single byte changes it.
fn sum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let add = |sum: u64, word: u64| {
        let sum = (sum ^ word).wrapping_mul(ODD);
        sum ^ sum >> 32
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let of_words = words.iter().fold(0, |sum, &word| add(sum, u64::from_le_bytes(word)));
    let of_rest = rest.iter().fold(of_words, |sum, &byte| add(sum, byte.into()));
    add(of_rest, bytes.len() as u64)
}

/// Goes on with a search from this state, or begins it. Saves it now and then, and reports its
/// result.
pub(super) fn go_on(
    stored: Stored,
    state: Option<Vec<u8>>,
    (resumed_from, session): (Option<String>, Session<'_>),
    (results, drawing): (&ResultArgs, Wanted<'_>),
    output: &mut Output,
) -> Result<Exit, Failure> {
    let searched = stored.prepared(session.input)?;
    let setting = session.with_jobs(searched.setting);
    let Session { file, input, interval, mut progress, limits, lints, .. } = session;
    let refusal =
        task::refusal_to_save(&searched.setting, &searched.spec.program, &searched.budget);
    if let Some(refusal) = refusal {
        return Err(Failure::Usage(format!("{}: {refusal}", shown(input))));
    }
    let state = state.filter(|state| !state.is_empty());
    let mut keeper = ToFile {
        before: stored.spent.unwrap_or_default(),
        is_saved: state.is_some(),
        stored,
        file,
        state,
        start: Instant::now(),
        last: Instant::now(),
        interval,
        limits: &limits,
        interrupted: interrupt::flag()?,
        end: Arc::default(),
        ended_by: None,
        output: output.messages(),
        result: Ok(()),
    };
    if !keeper.is_saved {
        save(file, &keeper.stored, &mut |_| Ok(()))?;
    }
    let max_memory =
        limits.max_memory.map(|bytes| (bytes + bytes / 4, memory::in_use as fn() -> u64));
    let budget = Budget {
        cancel: keeper.end.clone(),
        timeout: limits.timeout.map(|timeout| timeout + GRACE_PERIOD),
        max_memory,
        ..searched.budget.clone()
    };
    end_after_grace(keeper.interrupted.clone(), keeper.end.clone());
    let program = &searched.spec.program;
    let case = keeper.stored.task.case().cloned().expect("the program is a spec");
    let guess = |budget: &Budget, time| in_all(&case, program, searched.setting, (budget, time));
    let mut outcome = progress.beside(guess, &searched.budget, |progress| {
        explore_saved(program, setting, budget, &mut keeper, progress)
    });
    progress.finish();
    let ToFile { mut stored, is_saved, ended_by, result, before, .. } = keeper;
    match outcome.stopped_by {
        Some(StopReason::Stray) => {
            let why = "its state is not one of this search";
            return Err(Failure::Usage(format!("{}: {why}", shown(file))));
        }
        Some(reason) if reason.is_external() => outcome.stopped_by = ended_by.or(Some(reason)),
        _ => {}
    }
    replay((program, &searched.properties), &outcome, &[(file, &Part::default())])?;
    outcome.elapsed += before;
    stored.note_memory();
    let spec = (&case, &searched.spec);
    let advice = advice(spec, searched.setting, &limits, &searched.budget, &outcome);
    let judged = Judged { advice, ..judged(&stored, limits, lints, resumed_from) };
    let peak = stored.peak_memory_bytes;
    let is_over = !outcome.stopped_by.is_some_and(StopReason::is_external);
    let exit = verification::report(&searched, &outcome, peak, judged, (results, drawing), output)?;
    result?;
    if !is_over && is_saved {
        say_how_to_go_on(file, output);
    } else if !is_over {
        output.remark("Nothing was saved: the search did not come to a place where it can be.\n");
    }
    Ok(exit)
}

/// Ends a search some time after a signal, if it has not ended by then.
fn end_after_grace(interrupted: Arc<AtomicBool>, end: Arc<AtomicBool>) {
    thread::spawn(move || {
        while !interrupted.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(GRACE_PERIOD);
        end.store(true, Ordering::Relaxed);
    });
}

/// Saves the state of a search to a file.
struct ToFile<'s> {
    stored: Stored,
    file: &'s Path,
    /// The state to go on from.
    state: Option<Vec<u8>>,
    /// Has the file a state?
    is_saved: bool,
    start: Instant,
    /// When it was saved last.
    last: Instant,
    interval: Duration,
    /// The time that the search had taken before.
    before: Duration,
    limits: &'s Limits,
    interrupted: Arc<AtomicBool>,
    /// Ends the search.
    end: Arc<AtomicBool>,
    /// The limit that has ended it.
    ended_by: Option<StopReason>,
    output: Output,
    /// Could the file be written the last time?
    result: Result<(), Failure>,
}

impl ToFile<'_> {
    /// The limit that is reached, if one is.
    fn limit(&self) -> Option<StopReason> {
        let Limits { timeout, max_memory, .. } = self.limits;
        match () {
            () if self.interrupted.load(Ordering::Relaxed) => Some(StopReason::Interrupted),
            () if timeout.is_some_and(|time| self.start.elapsed() >= time) => {
                Some(StopReason::Timeout)
            }
            () if max_memory.is_some_and(|bytes| memory::in_use() > bytes) => {
                Some(StopReason::MaxMemory)
            }
            () => None,
        }
    }
}

impl Keeper for ToFile<'_> {
    fn is_due(&mut self) -> bool {
        self.ended_by = self.limit();
        self.ended_by.is_some() || self.last.elapsed() >= self.interval
    }

    fn save(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        self.stored.spent = Some(self.before + self.start.elapsed());
        self.stored.note_memory();
        self.result = save(self.file, &self.stored, write);
        match &self.result {
            Err(Failure::Usage(why)) => self.output.warn(why),
            _ => self.is_saved = true,
        }
        self.last = Instant::now();
        if self.ended_by.is_some() {
            self.end.store(true, Ordering::Relaxed);
        }
    }

    fn saved(&mut self) -> Option<Box<dyn Read + '_>> {
        let state = self.state.take()?;
        Some(Box::new(Cursor::new(state)))
    }
}
