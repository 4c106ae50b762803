//! The calls of procedures in an execution: who called what, with what result, between which steps.
//!
//! This is the history of a client of a data structure: each process a row of calls, each call an
//! interval of steps. What a call computes before its first operation happens together with the
//! step before, but that step is not part of the call. Calls within calls are left out, because
//! they belong to how the outer one works.

use serde::Serialize;

use crate::model::Mark;

/// A call of a procedure by a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    /// Who called.
    pub(crate) process: String,
    pub(crate) procedure: String,
    /// Its arguments, as the program writes them.
    pub(crate) arguments: Vec<String>,
    /// What it returned; `None` if it returns nothing, or has not returned yet.
    pub(crate) result: Option<String>,
    /// Has it come to its end?
    pub(crate) ended: bool,
    /// The number of its first step, from 1; `None` if it has made none.
    pub(crate) first_step: Option<usize>,
    /// The number of its last step so far.
    pub(crate) last_step: Option<usize>,
}

/// The calls so far, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// By process.
    current: Vec<Current>,
}

/// The calls that a process is in.
#[derive(Clone, Copy, Debug, Default)]
struct Current {
    /// How many calls are open, one within the other.
    depth: usize,
    /// The outermost of them, by its place.
    call: usize,
}

impl Calls {
    /// The calls in the order in which they began.
    pub(super) fn as_slice(&self) -> &[Call] {
        &self.calls
    }

    /// Notes a step of the process.
    pub(super) fn step(&mut self, process: usize, number: usize) {
        if let Some(Current { depth: 1.., call }) = self.current.get(process).copied() {
            let call = &mut self.calls[call];
            call.first_step.get_or_insert(number);
            call.last_step = Some(number);
        }
    }

    /// Notes that calls of the process begin and end.
    pub(super) fn mark(
        &mut self,
        (process, name): (usize, &str),
        marks: Vec<Mark>,
        show: impl Fn(&crate::model::Value) -> String,
    ) {
        if self.current.len() <= process {
            self.current.resize(process + 1, Current::default());
        }
        let current = &mut self.current[process];
        for mark in marks {
            match mark {
                Mark::Begins { procedure, arguments } => {
                    current.depth += 1;
                    if current.depth == 1 {
                        current.call = self.calls.len();
                        self.calls.push(Call {
                            process: name.into(),
                            procedure,
                            arguments: arguments.iter().map(&show).collect(),
                            result: None,
                            ended: false,
                            first_step: None,
                            last_step: None,
                        });
                    }
                }
                Mark::Ends { result } => {
                    current.depth -= 1;
                    if current.depth == 0 {
                        let call = &mut self.calls[current.call];
                        call.result = result.as_ref().map(&show);
                        call.ended = true;
                    }
                }
            }
        }
    }
}
