//! A SAT solver on a thread of its own, so that a question can be given up when the search is told
//! to stop: the solver itself cannot be interrupted.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rustc_hash::FxHashSet;

use crate::alternatives::{Literal, SatSolver};
use crate::model::StopSignal;

/// How often it is asked whether the search is told to stop.
const TICK: Duration = Duration::from_millis(20);

/// A solver that can be left. Its thread ends when it has answered the last question.
pub(super) struct Aside {
    /// Clauses that the solver has not got yet.
    clauses: Clauses,
    variables: i32,
    questions: Sender<Asked>,
    answers: Receiver<Option<FxHashSet<Literal>>>,
    signal: StopSignal,
}

#[derive(Default)]
struct Clauses {
    literals: Vec<Literal>,
    /// The end of each clause.
    ends: Vec<u32>,
}

struct Asked {
    clauses: Clauses,
    variables: i32,
    assumptions: Vec<Literal>,
}

impl Aside {
    /// Starts a solver.
    pub(super) fn start<S: SatSolver>(signal: StopSignal) -> Self {
        let (questions, asked) = channel::<Asked>();
        let (tell, answers) = channel();
        thread::spawn(move || {
            let (mut solver, mut variables) = (S::default(), 0);
            for Asked { clauses, variables: all, assumptions } in asked {
                while variables < all {
                    solver.literal();
                    variables += 1;
                }
                let mut from = 0;
                for end in clauses.ends {
                    solver.clause(&clauses.literals[from..end as usize]);
                    from = end as usize;
                }
                if tell.send(solver.solve(&assumptions)).is_err() {
                    return;
                }
            }
        });
        Aside { clauses: Clauses::default(), variables: 0, questions, answers, signal }
    }

    /// Has the search been told to stop?
    pub(super) fn is_given_up(&self) -> bool {
        self.signal.is_raised()
    }

    /// A new variable, as its positive literal.
    pub(super) fn literal(&mut self) -> Literal {
        self.variables += 1;
        Literal(self.variables)
    }

    /// Adds a clause.
    pub(super) fn clause(&mut self, literals: &[Literal]) {
        self.clauses.literals.extend_from_slice(literals);
        self.clauses.ends.push(self.clauses.literals.len() as u32);
    }

    /// The true literals of a model of all clauses and `assumptions`. `None` if there is none, or
    /// if the search is told to stop: then nothing is known.
    ///
    /// # Panics
    /// If the solver has failed.
    pub(super) fn solve(&mut self, assumptions: &[Literal]) -> Option<FxHashSet<Literal>> {
        let clauses = std::mem::take(&mut self.clauses);
        let asked = Asked { clauses, variables: self.variables, assumptions: assumptions.into() };
        self.questions.send(asked).expect("a solver");
        loop {
            match self.answers.recv_timeout(TICK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if self.signal.is_raised() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("the SAT solver has failed"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alternatives::Varisat;

    #[test]
    fn it_answers_like_the_solver_itself() {
        let mut aside = Aside::start::<Varisat>(StopSignal::default());
        let (a, b) = (aside.literal(), aside.literal());
        aside.clause(&[a, b]);
        aside.clause(&[a.negated(), b]);
        assert!(aside.solve(&[]).expect("a model").contains(&b));
        assert!(aside.solve(&[b.negated()]).is_none());
        let c = aside.literal();
        aside.clause(&[c, b.negated()]);
        assert!(aside.solve(&[a]).expect("a model").contains(&c));
        aside.clause(&[]);
        assert!(aside.solve(&[]).is_none());
    }

    /// A solver that never answers.
    #[derive(Default)]
    struct Endless;

    impl SatSolver for Endless {
        fn literal(&mut self) -> Literal {
            Literal(1)
        }

        fn clause(&mut self, _: &[Literal]) {}

        fn solve(&mut self, _: &[Literal]) -> Option<FxHashSet<Literal>> {
            loop {
                thread::park();
            }
        }
    }

    #[test]
    fn a_question_is_given_up_when_the_search_has_to_stop() {
        let signal = StopSignal::default();
        let mut aside = Aside::start::<Endless>(signal.clone());
        signal.raise();
        assert!(aside.solve(&[]).is_none());
    }
}
