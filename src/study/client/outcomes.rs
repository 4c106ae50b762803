//! The outcomes of sequential executions: what calls return if each runs alone from its beginning to its end.
//!
//! Three threads of five calls have 756,756 orders. But what is still to come depends only on which calls are left and on
//! what the structure holds: a *situation*. Its suffixes (what the calls that are left may return) are computed once,
//! from those of the situations that one more call leads to:
//!
//! ```text
//! suffixes(s)  =  { r · w  |  a next call of some thread returns r and leads from s to t,  w in suffixes(t) }
//! ```
//!
//! The calls run on the ordinary model. A program whose processes drop the results is run call by call; the local states of
//! its processes then say no more than which calls are left, and results are read off the marks of the calls. A call
//! that would wait for another thread cannot be next.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Invocation, Unmade};
use crate::lang::Program;
use crate::model::{
    Action, CellId, Choice, LocalId, Locals, Mark, MutexId, ProcessId, SemaphoreId, State, Status,
    System, Value, ValueId,
};

/// More situations than this take too long.
const MAX_SITUATIONS: usize = 1_000_000;
/// More outcomes than this make no file to read.
const MAX_OUTCOMES: usize = 50_000;
/// A call that takes so many steps alone is taken to wait for others.
const MAX_STEPS: usize = 10_000;

/// What sequential executions come to.
#[derive(Debug)]
pub struct Found {
    /// For each thread and each of its calls: does it return anything?
    pub returns: Vec<Vec<bool>>,
    /// Of each thread what each call that returns something returned, as the program writes it.
    pub outcomes: BTreeSet<Vec<Vec<String>>>,
    /// How many situations there were.
    pub situations: usize,
}

/// Runs the calls of `program`, one process for each thread, in all orders.
pub fn outcomes(program: &Program, threads: &[Vec<Invocation>]) -> Result<Found, Unmade> {
    let mut search = Search {
        locals: Locals::new(program),
        threads,
        forgets: program.objects().mailboxes.is_empty() && program.objects().barriers.is_empty(),
        suffixes: FxHashMap::default(),
    };
    let mut state = State::initial(&mut search.locals);
    let mut progress = Progress { ended: Vec::new(), results: Vec::new() };
    for thread in 0..threads.len() {
        let local = state.local(ProcessId(thread as u32));
        let marks = program.marks(search.locals.get(local), None, &search.locals.values);
        let mut depth = 0;
        let results = search.ended(marks, &mut depth);
        progress.ended.push(results.len());
        progress.results.push(results);
    }
    let suffixes = search.suffixes(&mut state, &progress.ended)?;
    if suffixes.is_empty() {
        return Err("no order of the calls lets all of them return".to_owned().into());
    }
    search.found(&progress.results, &suffixes)
}

/// How far the threads have come before their first step: calls without operations have ended.
struct Progress {
    ended: Vec<usize>,
    results: Vec<Vec<Returned>>,
}

/// What a call returned.
type Returned = Option<ValueId>;
/// Of each thread what its calls returned that were left.
type Suffix = Vec<Vec<Returned>>;
type Suffixes = Rc<BTreeSet<Suffix>>;

/// Which calls are left, and what the structure holds.
#[derive(PartialEq, Eq, Hash)]
struct Situation {
    positions: Vec<LocalId>,
    cells: Vec<ValueId>,
    queues: Vec<Vec<ProcessId>>,
    /// Units available, and who waits for one.
    semaphores: Vec<(i64, Vec<ProcessId>)>,
    /// How it came about, where a structure has objects whose content is not told apart here.
    history: Vec<Action>,
}

struct Search<'p> {
    locals: Locals<'p, Program>,
    threads: &'p [Vec<Invocation>],
    /// Are cells, mutexes and semaphores all that there is?
    forgets: bool,
    suffixes: FxHashMap<Situation, Suffixes>,
}

impl Search<'_> {
    /// What the calls that are left may return. `ended` says how many calls of each thread are not.
    fn suffixes(&mut self, state: &mut State, ended: &[usize]) -> Result<Suffixes, Unmade> {
        if (0..ended.len()).all(|thread| ended[thread] == self.threads[thread].len()) {
            return Ok(Rc::new(BTreeSet::from([vec![Vec::new(); ended.len()]])));
        }
        let situation = self.situation(state);
        if let Some(known) = self.suffixes.get(&situation) {
            return Ok(known.clone());
        }
        let mut all = BTreeSet::new();
        for thread in 0..ended.len() {
            if ended[thread] < self.threads[thread].len() {
                self.call(state, &Running { thread, depth: 1, steps: 0, ended }, &mut all)?;
            }
        }
        if self.suffixes.len() >= MAX_SITUATIONS || all.len() > MAX_OUTCOMES {
            let why =
                "the sequential executions are too many: ask for fewer calls, threads or keys";
            return Err(why.to_owned().into());
        }
        let all = Rc::new(all);
        self.suffixes.insert(situation, all.clone());
        Ok(all)
    }

    /// Runs a call to its end, in every way, and adds what it and the rest may return.
    fn call(
        &mut self,
        state: &mut State,
        running: &Running<'_>,
        all: &mut BTreeSet<Suffix>,
    ) -> Result<(), Unmade> {
        let process = ProcessId(running.thread as u32);
        let before = state.local(process);
        if let Status::Failed(failure) = self.locals.status(before) {
            return Err(self.fault(running, &failure.message));
        }
        if running.steps > MAX_STEPS {
            return Err(self.fault(running, "it does not come to an end"));
        }
        let mut choices: Vec<Choice> = Vec::new();
        state.choices(&self.locals, process, |choice| choices.push(choice));
        for choice in choices {
            let told = state.step_and_tell(&mut self.locals, Action { process, choice });
            let system = self.locals.system();
            let marks = system.marks(self.locals.get(before), told, &self.locals.values);
            let mut depth = running.depth;
            let results = self.ended(marks, &mut depth);
            if results.is_empty() {
                let on = Running { depth, steps: running.steps + 1, ..*running };
                self.call(state, &on, all)?;
            } else {
                let mut ended = running.ended.to_vec();
                ended[running.thread] += results.len();
                self.must_go_on(state, running, &ended)?;
                let rest = self.suffixes(state, &ended)?;
                all.extend(rest.iter().map(|suffix| {
                    let mut suffix = suffix.clone();
                    suffix[running.thread].splice(0..0, results.iter().copied());
                    suffix
                }));
            }
            state.undo(&self.locals);
        }
        Ok(())
    }

    /// A thread whose calls have not all ended must not have failed together with the end of one.
    fn must_go_on(
        &self,
        state: &State,
        running: &Running<'_>,
        ended: &[usize],
    ) -> Result<(), Unmade> {
        let local = state.local(ProcessId(running.thread as u32));
        match self.locals.status(local) {
            Status::Failed(failure) => {
                Err(self.fault(&Running { ended, ..*running }, &failure.message))
            }
            _ => Ok(()),
        }
    }

    fn fault(&self, running: &Running<'_>, what: &str) -> Unmade {
        let calls = &self.threads[running.thread];
        let call = &calls[running.ended[running.thread].min(calls.len() - 1)];
        Unmade::Unfit(format!("run alone, after other calls, `{call}` goes wrong: {what}"))
    }

    /// What the outermost calls returned that end with these marks. `depth` counts calls within calls.
    fn ended(&mut self, marks: Vec<Mark>, depth: &mut usize) -> Vec<Returned> {
        let mut results = Vec::new();
        for mark in marks {
            match mark {
                Mark::Begins { .. } => *depth += 1,
                Mark::Ends { result } => {
                    *depth -= 1;
                    if *depth == 0 {
                        results.push(result.map(|value| self.locals.values.intern(value)));
                    }
                }
            }
        }
        results
    }

    fn situation(&self, state: &State) -> Situation {
        let objects = self.locals.system().objects();
        let semaphore = |id| {
            let semaphore = state.semaphore(SemaphoreId(id));
            let units = i64::from(semaphore.initial) + semaphore.releases.len() as i64;
            let granted = semaphore.requests.len().min(units as usize);
            (units - granted as i64, semaphore.requests[granted..].to_vec())
        };
        let ids = |count: usize| 0..count as u32;
        Situation {
            positions: state.processes().map(|process| state.local(process)).collect(),
            cells: ids(objects.cells.len()).map(|cell| state.content(CellId(cell))).collect(),
            queues: ids(objects.mutexes.len())
                .map(|mutex| state.mutex(MutexId(mutex)).queue().collect())
                .collect(),
            semaphores: ids(objects.semaphores.len()).map(semaphore).collect(),
            history: if self.forgets { Vec::new() } else { state.schedule().collect() },
        }
    }

    /// The outcomes in words.
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
        Ok(self.locals.system().show_value(value, &|_| None))
    }
}

/// A call on its way.
#[derive(Clone, Copy)]
struct Running<'e> {
    thread: usize,
    /// How many calls it is within, itself included.
    depth: usize,
    steps: usize,
    ended: &'e [usize],
}

fn is_pattern(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Bool(_) | Value::Variant { .. } => true,
        Value::Tuple(parts) => parts.iter().all(is_pattern),
        _ => false,
    }
}
