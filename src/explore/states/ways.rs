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
        for &number in &numbers[self.begin_way(&numbers)..] {
            let action = self.action_of(number);
            self.path.push(action);
        }
        self.way = numbers;
    }

    /// The same for moves that were read. `None` if they cannot be made one after the other.
    #[cfg(feature = "json")]
    pub(super) fn follow_if_possible(&mut self, numbers: Vec<u32>) -> Option<()> {
        for &number in &numbers[self.begin_way(&numbers)..] {
            let action = match number < Reactions::FIRST {
                true => self.moves.get(number).action,
                false => self.reaction(number)?,
            };
            self.model();
            if !self.state.exists(action.process) {
                return None;
            }
            self.list_choices(action.process);
            self.choices.contains(&action.choice).then(|| self.path.push(action))?;
        }
        self.way = numbers;
        Some(())
    }

    /// Goes back to the last state that the current path shares with that of these moves. Returns
    /// the number of moves that lead there.
    fn begin_way(&mut self, numbers: &[u32]) -> usize {
        self.replayed += numbers.len() as u64;
        let both = self.way.iter().zip(numbers);
        let common = both.take_while(|(one, other)| one == other).count().min(self.path.len());
        self.path.truncate(common);
        self.agreed = self.agreed.min(common);
        common
    }

    /// The action of the move or reaction with this number, after the current path.
    pub(super) fn action_of(&mut self, number: u32) -> Action {
        if number < Reactions::FIRST {
            return self.moves.get(number).action;
        }
        self.reaction(number).expect("a reaction that is possible")
    }

    /// The action of the reaction with this number, after the current path, if it is possible.
    fn reaction(&mut self, number: u32) -> Option<Action> {
        let (process, stimulus) = self.reactions.handler(number);
        self.model();
        self.list_choices(process);
        let is_meant = |&&choice: &&Choice| self.state.stimulus(choice) == stimulus;
        let choice = *self.choices.iter().find(is_meant)?;
        Some(Action { process, choice })
    }
}
