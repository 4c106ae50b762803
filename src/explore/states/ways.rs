//! The way to a state of a search in batches: the moves that lead to it from the start.

use super::full_graph::FullGraph;
use super::known::Known;
use super::reactions::Reactions;
use crate::model::{Action, Choice, System};

impl<S: System> FullGraph<'_, S> {
    /// Makes this known state the current one, and reconstructs a path to it.
    pub(super) fn seek(&mut self, state: &[u64]) {
        self.present.clear();
        self.present.extend_from_slice(state);
        let tables = self.known.tables().expect("batches are of states in tables");
        let mut at = state.to_vec();
        let mut numbers = Vec::new();
        loop {
            match tables.number(&at).expect("a state that was met") {
                Known::START => break,
                number => {
                    numbers.push(number);
                    match number < Reactions::FIRST {
                        true => self.moves.take_back(number, &mut at),
                        false => self.reactions.take_back(number, &mut at, &self.layout),
                    }
                }
            }
        }
        numbers.reverse();
        self.follow(numbers);
    }

    /// Makes the current path that of these moves, which lead to the current state.
    pub(super) fn follow(&mut self, numbers: Vec<u32>) {
        self.replayed += numbers.len() as u64;
        let both = self.way.iter().zip(&numbers);
        let common = both.take_while(|(one, other)| one == other).count().min(self.path.len());
        self.path.truncate(common);
        self.agreed = self.agreed.min(common);
        for &number in &numbers[common..] {
            let action = self.action_of(number);
            self.path.push(action);
        }
        self.way = numbers;
    }

    /// The action of the move or reaction with this number, after the current path.
    pub(super) fn action_of(&mut self, number: u32) -> Action {
        if number < Reactions::FIRST {
            return self.moves.get(number).action;
        }
        let (process, stimulus) = self.reactions.handler(number);
        self.model();
        self.list_choices(process);
        let is_meant = |&&choice: &&Choice| self.state.stimulus(choice) == stimulus;
        let choice = *self.choices.iter().find(is_meant).expect("a reaction that is possible");
        Action { process, choice }
    }
}
