//! The outcomes of sequential executions: what the calls return if each runs alone from beginning
//! to end.
//!
//! Three threads of five calls have 756,756 orders. But what can still happen depends only on the
//! remaining calls and on the contents of the structure. This is a *situation*, identified by its
//! [canonical state](State::portrait). Its suffixes (what the remaining calls may return) are
//! computed once, from the suffixes of the situations that are one call further:
//!
//! ```text
//! suffixes(s) = { r · w | a next call of some thread returns r and leads from s to t,
//!                       w in suffixes(t) }
//! ```
//!
//! The calls run on the ordinary model, in a program whose processes drop the results of calls. So
//! their local states depend only on which calls remain. The results are read off the marks of
//! calls. A call that would wait for another thread cannot be next.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::{Invocation, Unmade};
use crate::lang::Program;
use crate::model::{
    Action, Choice, Locals, Mark, Parts, ProcessId, State, Status, System, Value, ValueId,
};

/// The maximum number of situations: more would take too long.
const MAX_SITUATIONS: usize = 1_000_000;
/// The maximum number of outcomes: more would make an unreadable file.
const MAX_OUTCOMES: usize = 50_000;
/// A call that has not ended after this number of steps alone is assumed to wait for others.
const MAX_STEPS: usize = 10_000;

/// The results of sequential executions.
#[derive(Debug)]
pub(crate) struct Found {
    /// For each thread and each of its calls: whether it returns a value.
    pub(crate) returns: Vec<Vec<bool>>,
    /// For each outcome and each thread: the values that its calls return, as in the source. Calls
    /// without a value are left out.
    pub(crate) outcomes: BTreeSet<Vec<Vec<String>>>,
    /// The number of situations.
    pub(crate) situations: usize,
}

/// Runs the calls of `program`, one process for each thread, in all orders. Refuses if that takes
/// too long.
pub(crate) fn outcomes(
    program: &Program,
    threads: &[Vec<Invocation>],
    timeout: Option<Duration>,
) -> Result<Found, Unmade> {
    let mut search = Sequential {
        locals: Locals::new(program),
        threads,
        parts: Parts::default(),
        suffixes: FxHashMap::default(),
        deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
    };
    let mut state = State::initial(&mut search.locals);
    let (mut progress, mut first) = (Vec::new(), Vec::new());
    for thread in 0..threads.len() {
        let local = state.local(ProcessId(thread as u32));
        let marks = program.describe().marks(search.locals.get(local), None, &search.locals.values);
        let mut own = Progress { ended: 0, depth: 0 };
        first.push(search.ended(marks, &mut own));
        progress.push(own);
    }
    let suffixes = search.suffixes(&mut state, &progress)?;
    if suffixes.is_empty() {
        return Err("no order of the calls lets all of them return".to_owned().into());
    }
    search.found(&first, &suffixes)
}

/// The progress of a thread. Calls without operations end together with the operation before them.
#[derive(Clone, Copy)]
struct Progress {
    /// The number of its calls that have ended.
    ended: usize,
    /// The number of calls that it is inside of.
    depth: usize,
}

/// The value that a call returned.
type Returned = Option<ValueId>;
/// For each thread: the values that its remaining calls return.
type Suffix = Vec<Vec<Returned>>;
type Suffixes = Rc<BTreeSet<Suffix>>;

struct Sequential<'p> {
    locals: Locals<'p, Program>,
    threads: &'p [Vec<Invocation>],
    parts: Parts,
    /// The suffixes of situations, by canonical state.
    suffixes: FxHashMap<Box<[u32]>, Suffixes>,
    deadline: Option<Instant>,
}

impl Sequential<'_> {
    /// The suffixes of the present situation.
    fn suffixes(&mut self, state: &mut State, progress: &[Progress]) -> Result<Suffixes, Unmade> {
        let left = |thread: usize| progress[thread].ended < self.threads[thread].len();
        let unfinished: Vec<usize> = (0..progress.len()).filter(|&thread| left(thread)).collect();
        if unfinished.is_empty() {
            return Ok(Rc::new(BTreeSet::from([vec![Vec::new(); progress.len()]])));
        }
        let mut portrait = Vec::new();
        state.portrait(&mut self.locals, &mut self.parts, &mut portrait);
        if let Some(known) = self.suffixes.get(&portrait[..]) {
            return Ok(known.clone());
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let why = "the sequential executions take too long (--timeout): ask for fewer calls, \
                threads or keys";
            return Err(why.to_owned().into());
        }
        let mut all = BTreeSet::new();
        for thread in unfinished {
            self.call(state, &Running { thread, steps: 0, progress }, &mut all)?;
        }
        if self.suffixes.len() >= MAX_SITUATIONS || all.len() > MAX_OUTCOMES {
            let why =
                "the sequential executions are too many: ask for fewer calls, threads or keys";
            return Err(why.to_owned().into());
        }
        let all = Rc::new(all);
        self.suffixes.insert(portrait.into(), all.clone());
        Ok(all)
    }

    /// Runs a call to its end in every possible way, and adds the resulting suffixes to `all`.
    fn call(
        &mut self,
        state: &mut State,
        running: &Running<'_>,
        all: &mut BTreeSet<Suffix>,
    ) -> Result<(), Unmade> {
        let Running { thread, steps, progress } = *running;
        let process = ProcessId(thread as u32);
        let before = state.local(process);
        if let Status::Failed(failure) = self.locals.status(before) {
            return Err(self.fault(running, &failure.message));
        }
        if steps > MAX_STEPS {
            return Err(self.fault(running, "it does not come to an end"));
        }
        let mut choices: Vec<Choice> = Vec::new();
        state.choices(&self.locals, process, |choice| choices.push(choice));
        for choice in choices {
            let told = state.step_and_tell(&mut self.locals, Action { process, choice });
            let system = self.locals.system();
            let marks = system.describe().marks(self.locals.get(before), told, &self.locals.values);
            let mut progress = progress.to_vec();
            let results = self.ended(marks, &mut progress[thread]);
            if results.is_empty() {
                let on = Running { thread, steps: steps + 1, progress: &progress };
                // Each step is a level of recursion, and a call may have thousands.
                stacker::maybe_grow(64 << 10, 1 << 20, || self.call(state, &on, all))?;
            } else {
                let rest = self.suffixes(state, &progress)?;
                all.extend(rest.iter().map(|suffix| {
                    let mut suffix = suffix.clone();
                    suffix[thread].splice(0..0, results.iter().copied());
                    suffix
                }));
            }
            state.undo(&self.locals);
        }
        Ok(())
    }

    fn fault(&self, running: &Running<'_>, what: &str) -> Unmade {
        let call = &self.threads[running.thread][running.progress[running.thread].ended];
        Unmade::Unfit(format!("run alone, after other calls, `{call}` goes wrong: {what}"))
    }

    /// The values returned by outermost calls that end with these marks.
    fn ended(&mut self, marks: Vec<Mark>, progress: &mut Progress) -> Vec<Returned> {
        let mut results = Vec::new();
        for mark in marks {
            match mark {
                Mark::Begins { .. } => progress.depth += 1,
                Mark::Ends { result } => {
                    progress.depth -= 1;
                    if progress.depth == 0 {
                        progress.ended += 1;
                        results.push(result.map(|value| self.locals.values.intern(value)));
                    }
                }
            }
        }
        results
    }

    /// The outcomes as text.
    fn found(&self, first: &[Vec<Returned>], suffixes: &Suffixes) -> Result<Found, Unmade> {
        let mut outcomes = BTreeSet::new();
        let mut returns = Vec::new();
        for suffix in suffixes.iter() {
            let whole = first.iter().zip(suffix).map(|(a, b)| [&a[..], &b[..]].concat());
            let whole: Vec<Vec<Returned>> = whole.collect();
            returns = whole.iter().map(|of| of.iter().map(Option::is_some).collect()).collect();
            let words =
                whole.iter().map(|of| of.iter().flatten().map(|&id| self.word(id)).collect());
            outcomes.insert(words.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(Found { returns, outcomes, situations: self.suffixes.len() })
    }

    /// A value as a pattern of the language.
    fn word(&self, id: ValueId) -> Result<String, Unmade> {
        let value = self.locals.values.get(id);
        if !is_pattern(value) {
            let why = "calls must return ints, bools, variants of enumerations or tuples of these";
            return Err(format!("{why}, not {value}").into());
        }
        Ok(self.locals.system().describe().show_value(value, &|_| None))
    }
}

/// A call that is being run.
#[derive(Clone, Copy)]
struct Running<'p> {
    thread: usize,
    /// The number of its steps.
    steps: usize,
    /// The progress of every thread.
    progress: &'p [Progress],
}

fn is_pattern(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Bool(_) | Value::Variant { .. } => true,
        Value::Tuple(parts) => parts.iter().all(is_pattern),
        _ => false,
    }
}
