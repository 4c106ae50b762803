//! A SAT solver on a thread of its own, so that a question can be given up when the search is told
//! to stop: the solver itself cannot be interrupted.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rustc_hash::FxHashSet;

use super::replies::{Known, Replies, Told};
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
    /// What was answered, and a hash of all clauses, if the search is saved.
    replies: Replies,
    told: Told,
}

#[derive(Default)]
struct Clauses {
    literals: Vec<Literal>,
    /// The end of each clause.
    ends: Vec<u32>,
}

impl Clauses {
    fn iter(&self) -> impl Iterator<Item = &[Literal]> {
        let from = [0].into_iter().chain(self.ends.iter().copied());
        from.zip(&self.ends).map(|(from, &end)| &self.literals[from as usize..end as usize])
    }
}

struct Asked {
    clauses: Clauses,
    variables: i32,
    assumptions: Vec<Literal>,
}

impl Aside {
    /// Starts a solver.
    pub(super) fn start<S: SatSolver>(signal: StopSignal, replies: Replies) -> Self {
        let (questions, asked) = channel::<Asked>();
        let (tell, answers) = channel();
        thread::spawn(move || {
            let (mut solver, mut variables) = (S::default(), 0);
            for Asked { clauses, variables: all, assumptions } in asked {
                while variables < all {
                    solver.literal();
                    variables += 1;
                }
                clauses.iter().for_each(|clause| solver.clause(clause));
                if tell.send(solver.solve(&assumptions)).is_err() {
                    return;
                }
            }
        });
        let (clauses, told) = (Clauses::default(), Told::default());
        Aside { clauses, variables: 0, questions, answers, signal, replies, told }
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
        if self.replies.are_kept() {
            self.told = self.told.and(literals);
        }
    }

    /// The true literals of a model of all clauses and `assumptions`. `None` if there is none, or
    /// if the search is told to stop: then nothing is known.
    ///
    /// # Panics
    /// If the solver has failed.
    pub(super) fn solve(&mut self, assumptions: &[Literal]) -> Option<FxHashSet<Literal>> {
        let told = self.told.and(assumptions);
        match self.replies.next(told, self.variables) {
            Known::Nothing => {}
            Known::Stray => return None,
            Known::Reply(model) => {
                if model.as_ref().is_some_and(|model| !self.is_model(model, assumptions)) {
                    self.replies.is_wrong();
                    return None;
                }
                return model;
            }
        }
        let answer = self.ask(assumptions)?;
        self.replies.note(told, self.variables, answer.as_ref());
        answer
    }

    /// Are these the true literals of a model of all clauses and `assumptions`? The solver has been
    /// told no clause yet.
    fn is_model(&self, model: &FxHashSet<Literal>, assumptions: &[Literal]) -> bool {
        let is_true = |literal: &Literal| model.contains(literal);
        self.clauses.iter().all(|clause| clause.iter().any(is_true))
            && assumptions.iter().all(is_true)
    }

    /// What the solver answers; `None` if the search is told to stop.
    fn ask(&mut self, assumptions: &[Literal]) -> Option<Option<FxHashSet<Literal>>> {
        let clauses = std::mem::take(&mut self.clauses);
        let asked = Asked { clauses, variables: self.variables, assumptions: assumptions.into() };
        self.questions.send(asked).expect("a solver");
        loop {
            match self.answers.recv_timeout(TICK) {
                Ok(answer) => return Some(answer),
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
        let mut aside = Aside::start::<Varisat>(StopSignal::default(), Replies::default());
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
        let mut aside = Aside::start::<Endless>(signal.clone(), Replies::default());
        signal.raise();
        assert!(aside.solve(&[]).is_none());
    }

    /// Two variables, of which one is true.
    fn one_of_two<S: SatSolver>(replies: Replies) -> (Aside, Literal, Literal) {
        let mut aside = Aside::start::<S>(StopSignal::default(), replies);
        let (a, b) = (aside.literal(), aside.literal());
        aside.clause(&[a, b]);
        (aside, a, b)
    }

    #[cfg(feature = "json")]
    #[test]
    fn what_was_answered_is_not_asked_again() {
        let replies = Replies::kept();
        let (mut aside, a, b) = one_of_two::<Varisat>(replies.clone());
        let model = aside.solve(&[a.negated()]).expect("a model");
        assert!(aside.solve(&[a.negated(), b.negated()]).is_none());
        let mut bytes = Vec::new();
        replies.write(&mut bytes).expect("memory");
        let known = || Replies::read(&mut &bytes[..]).expect("replies");

        let replies = known();
        let (mut aside, ..) = one_of_two::<Endless>(replies.clone());
        assert_eq!(aside.solve(&[a.negated()]), Some(model));
        assert!(!replies.clone().go_on());
        let replies = known();
        let (mut aside, ..) = one_of_two::<Endless>(replies.clone());
        assert!(aside.solve(&[a.negated()]).is_some());
        assert!(aside.solve(&[a.negated(), b.negated()]).is_none());
        assert!(!replies.are_stray() && replies.go_on());

        // Another question, another clause, one question more.
        let replies = known();
        let (mut aside, ..) = one_of_two::<Endless>(replies.clone());
        assert!(aside.solve(&[b.negated()]).is_none() && replies.are_stray());
        let replies = known();
        let (mut aside, ..) = one_of_two::<Endless>(replies.clone());
        aside.clause(&[b]);
        assert!(aside.solve(&[a.negated()]).is_none() && replies.are_stray());
        let replies = known();
        let (mut aside, ..) = one_of_two::<Endless>(replies.clone());
        aside.solve(&[a.negated()]);
        aside.solve(&[a.negated(), b.negated()]);
        assert!(!replies.are_stray());
        assert!(aside.solve(&[]).is_none() && replies.are_stray() && !replies.go_on());

        // A model that is none.
        let at = bytes.len() - 24 - 8 - 8;
        assert_eq!(bytes[at], 0b10);
        bytes[at] = 0b01;
        let replies = Replies::read(&mut &bytes[..]).expect("replies");
        let (mut aside, ..) = one_of_two::<Endless>(replies.clone());
        assert!(aside.solve(&[a.negated()]).is_none() && replies.are_stray());
    }
}
