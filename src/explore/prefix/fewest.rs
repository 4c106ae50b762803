//! The configuration with the fewest steps that a question asks for.
//!
//! The steps of a process are known from its condition in the cut. So they are counted in unary by
//! literals that its conditions imply, and the numbers of all processes are added two by two
//! (Bailleux, Boufkhad, *Efficient CNF encoding of Boolean cardinality constraints*, CP 2003). Then
//! the solver is asked for fewer steps than it has found, until there are none.

use super::question::{Question, cut};
use crate::alternatives::Literal;
use crate::unfolding::prefix::{Condition, Line, PrefixEvent};

/// With more clauses than this, steps are not counted.
const MOST_CLAUSES: usize = 200_000;

/// Numbers in unary: the literal at index n holds if the number is greater than n.
type Unary = Vec<Literal>;

/// How the steps of the configurations of a question are counted.
#[derive(Debug, Default)]
pub(super) enum Counting {
    /// Not yet.
    #[default]
    Open,
    /// In unary, up to the length of this.
    Counted(Unary),
    /// There are too many.
    Many,
}

impl Counting {
    /// A configuration with the fewest steps that answers the question, where this one is an
    /// answer, and a process has taken this number of steps at a condition. Returns also whether
    /// that is certain: there may be too many steps for the solver, or the question may be given
    /// up.
    pub(super) fn fewest(
        &mut self,
        question: &mut Question<'_>,
        mut events: Vec<PrefixEvent>,
        steps: impl Fn(Condition) -> usize,
    ) -> (Vec<PrefixEvent>, bool) {
        loop {
            let prefix = question.prefix();
            let cut = cut(prefix, &events);
            let count: usize = prefix.movers().map(|line| steps(cut[line as usize])).sum();
            if count == 0 {
                return (events, true);
            }
            let is_less = match self {
                Counting::Counted(total) if total.len() >= count => total[count - 1].negated(),
                Counting::Many => return (events, false),
                _ => {
                    *self = question
                        .steps_in_unary(&steps, count)
                        .map_or(Counting::Many, Counting::Counted);
                    continue;
                }
            };
            match question.solve(&[is_less]) {
                Some(fewer) => events = fewer,
                None => return (events, !question.is_given_up()),
            }
        }
    }
}

impl Question<'_> {
    /// The steps of a configuration in unary, up to `most` steps. `None` if that takes too many
    /// clauses.
    fn steps_in_unary(
        &mut self,
        steps: &impl Fn(Condition) -> usize,
        most: usize,
    ) -> Option<Unary> {
        let lines = self.prefix().movers();
        let mut numbers: Vec<Unary> =
            lines.map(|line| self.count_of(line, steps, most)).filter(|n| !n.is_empty()).collect();
        let mut clauses = numbers.iter().map(Vec::len).sum::<usize>();
        while numbers.len() > 1 {
            let pairs = std::mem::take(&mut numbers);
            for pair in pairs.chunks(2) {
                let sum = match pair {
                    [one, other] => {
                        clauses += (one.len() + 1) * (other.len() + 1);
                        if clauses > MOST_CLAUSES {
                            return None;
                        }
                        self.sum(one, other, most)
                    }
                    _ => pair[0].clone(),
                };
                numbers.push(sum);
            }
        }
        let mut total = numbers.pop().unwrap_or_default();
        // No configuration has more steps than this.
        while total.len() < most {
            total.push(self.literal());
        }
        Some(total)
    }

    /// The steps of a process.
    fn count_of(&mut self, line: Line, steps: &impl Fn(Condition) -> usize, most: usize) -> Unary {
        let prefix = self.prefix();
        let mut unary = Unary::new();
        for condition in prefix.conditions().filter(|&one| prefix.line(one) == line) {
            let count = steps(condition).min(most);
            while unary.len() < count {
                let more = self.literal();
                if let Some(less) = unary.last() {
                    self.one_of(&[more.negated(), *less]);
                }
                unary.push(more);
            }
            if count > 0 {
                self.if_marked(condition, unary[count - 1]);
            }
        }
        unary
    }

    fn sum(&mut self, one: &[Literal], other: &[Literal], most: usize) -> Unary {
        let sum: Unary = (0..most.min(one.len() + other.len())).map(|_| self.literal()).collect();
        for pair in sum.windows(2) {
            self.one_of(&[pair[1].negated(), pair[0]]);
        }
        for a in 0..=one.len() {
            for b in 0..=other.len() {
                if a + b == 0 {
                    continue;
                }
                let more = |number: &[Literal], n: usize| (n > 0).then(|| number[n - 1].negated());
                let mut clause = vec![sum[(a + b).min(most) - 1]];
                clause.extend(more(one, a));
                clause.extend(more(other, b));
                self.one_of(&clause);
            }
        }
        sum
    }
}
