//! The calls of procedures in an execution: process, procedure, result, first and last step.
//!
//! This is the history of a client of a data structure: each process has a sequence of calls, and
//! each call is an interval of steps. What a call computes before its first operation happens
//! together with the previous step, but that step is not part of the call. Nested calls are left
//! out, because they are part of how the outermost call is implemented.

#[cfg(feature = "json")]
use serde::Serialize;

use crate::model::Mark;

/// A call of a procedure by a process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize))]
pub struct Call {
    /// The calling process.
    pub(crate) process: String,
    pub(crate) procedure: String,
    /// Its arguments, as the program would write them.
    pub(crate) arguments: Vec<String>,
    /// The value that it returned; `None` if it returns no value, or has not returned yet.
    pub(crate) result: Option<String>,
    /// Has it returned?
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

/// The open calls of a process.
#[derive(Clone, Copy, Debug, Default)]
struct Current {
    /// The number of open calls, nested in one another.
    depth: usize,
    /// The index of the outermost of them in `Calls::calls`.
    call: usize,
}

impl Calls {
    /// The calls in the order in which they began.
    pub(super) fn as_slice(&self) -> &[Call] {
        &self.calls
    }

    /// Records a step of the process.
    pub(super) fn step(&mut self, process: usize, number: usize) {
        if let Some(Current { depth: 1.., call }) = self.current.get(process).copied() {
            let call = &mut self.calls[call];
            call.first_step.get_or_insert(number);
            call.last_step = Some(number);
        }
    }

    /// Records that calls of the process begin and end.
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
