//! Checks that the arms of a `match` cover every value. After Maranget, "Warnings for pattern
//! matching" (JFP 2007), section 3: a row of wildcards is useful after the given rows exactly if
//! some value is not covered. The recursion that decides this also constructs such a value for the
//! message.
//!
//! Exhaustiveness is coNP-complete, so the recursion is bounded ([`MAX_STEPS`]). A match that takes
//! more steps is reported as too complicated; an arm `_` avoids that.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use super::Checker;
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Arm, Pattern};
use crate::lang::types::Type;
use crate::model::Value;

/// The most patterns that are examined for one `match`.
const MAX_STEPS: u32 = 1_000_000;

/// The number of patterns that may still be examined.
struct StepBudget(Cell<u32>);

/// The error that the step budget is exhausted.
struct TooLong;

/// A row of values that is not covered, as text, if there is one.
type Uncovered = Result<Option<Vec<String>>, TooLong>;

impl StepBudget {
    fn spend(&self, patterns: usize) -> Result<(), TooLong> {
        let left = u32::try_from(patterns).ok().and_then(|steps| self.0.get().checked_sub(steps));
        self.0.set(left.ok_or(TooLong)?);
        Ok(())
    }
}

impl Checker<'_> {
    /// Reports a value that no arm matches.
    pub(super) fn must_be_exhaustive(&mut self, arms: &[Arm], ty: &Type, value: Span, whole: Span) {
        let rows: Vec<Vec<&Pattern>> =
            arms.iter().filter(|arm| arm.guard.is_none()).map(|arm| vec![&arm.pattern]).collect();
        let ty = self.infer.shallow(ty);
        if matches!(ty, Type::Error | Type::Never) {
            return;
        }
        let span = if arms.is_empty() { whole } else { value };
        let budget = StepBudget(Cell::new(MAX_STEPS));
        match self.uncovered(&rows, std::slice::from_ref(&ty), &budget) {
            Ok(None) => {}
            Ok(Some(missing)) => {
                let message = format!("the match does not cover `{}`", missing.join(", "));
                let diagnostic =
                    Diagnostic::error(span, message).label("this value may match no arm");
                self.report(diagnostic.hint("add an arm `_ => …` for the rest"));
            }
            Err(TooLong) => {
                let message = "whether the arms cover every value is too complicated to tell";
                let diagnostic = Diagnostic::error(span, message);
                self.report(diagnostic.hint("add an arm `_ => …` for the rest"));
            }
        }
    }

    /// A row of values of these types that no row of patterns matches.
    fn uncovered(&self, rows: &[Vec<&Pattern>], types: &[Type], budget: &StepBudget) -> Uncovered {
        budget.spend(1 + rows.len() * types.len())?;
        if rows.iter().any(|row| row.iter().all(|pattern| takes_any(pattern))) {
            return Ok(None);
        }
        let Some((first, rest)) = types.split_first() else { return Ok(Some(Vec::new())) };
        let first = self.infer.shallow(first);
        if let Type::Tuple(parts) = &first {
            return self.uncovered_tuple(rows, parts, rest, budget);
        }
        let named = |row: &Vec<&Pattern>| matches!(row[0], Pattern::Message(..));
        if first == Type::Message && rows.iter().any(named) {
            return self.uncovered_message(rows, rest, budget);
        }
        let named = rows.iter().filter(|row| matches!(row[0], Pattern::Const(_))).count();
        budget.spend(named * (rows.len() - named))?;
        for (value, matching) in self.split(rows, &first) {
            if let Some(mut missing) = self.uncovered(&matching, rest, budget)? {
                missing.insert(
                    0,
                    value.map_or_else(|| "_".to_owned(), |value| self.show_constant(&value)),
                );
                return Ok(Some(missing));
            }
        }
        Ok(None)
    }

    /// Groups the rows by their first value. For each value that is named in some row: the rows
    /// that match it, without their first pattern. Then the rows that match any other value, if
    /// there is one, with an example of such a value if it has a name.
    fn split<'p>(
        &self,
        rows: &[Vec<&'p Pattern>],
        first: &Type,
    ) -> Vec<(Option<Value>, Vec<Vec<&'p Pattern>>)> {
        let mut places: FxHashMap<&Value, usize> = FxHashMap::default();
        let mut parts: Vec<(Option<Value>, Vec<Vec<&Pattern>>)> = Vec::new();
        let mut others: Vec<Vec<&Pattern>> = Vec::new();
        for row in rows {
            let behind = row[1..].to_vec();
            match row[0] {
                Pattern::Const(value) => {
                    let place = *places.entry(value).or_insert_with(|| {
                        // Patterns that match every value come before, in the order of the arms.
                        parts.push((Some(value.clone()), others.clone()));
                        parts.len() - 1
                    });
                    parts[place].1.push(behind);
                }
                _ => {
                    parts.iter_mut().for_each(|(_, matching)| matching.push(behind.clone()));
                    others.push(behind);
                }
            }
        }
        let unnamed = match first {
            _ if places.is_empty() => Some(None),
            Type::Bool => [false, true]
                .map(Value::Bool)
                .into_iter()
                .find(|b| !places.contains_key(b))
                .map(Some),
            Type::Enum(of) => {
                let count = self.out.enums[*of as usize].variants.len() as u32;
                let mut variants = (0..count).map(|index| Value::Variant { of: *of, index });
                variants.find(|variant| !places.contains_key(variant)).map(Some)
            }
            _ => Some(None),
        };
        parts.extend(unnamed.map(|value| (value, others)));
        parts.sort_by_key(|(value, _)| order(value.as_ref()));
        parts
    }

    fn uncovered_tuple(
        &self,
        rows: &[Vec<&Pattern>],
        parts: &[Type],
        rest: &[Type],
        budget: &StepBudget,
    ) -> Uncovered {
        budget.spend(rows.len() * (parts.len() + rest.len()))?;
        const WILD: Pattern = Pattern::Wild;
        let rows: Vec<Vec<&Pattern>> = rows
            .iter()
            .map(|row| {
                let mut flat: Vec<&Pattern> = match row[0] {
                    // A pattern of another length is a mistake that was already reported.
                    Pattern::Tuple(patterns) if patterns.len() == parts.len() => {
                        patterns.iter().collect()
                    }
                    _ => vec![&WILD; parts.len()],
                };
                flat.extend(&row[1..]);
                flat
            })
            .collect();
        let found = self.uncovered(&rows, &[parts, rest].concat(), budget)?;
        Ok(found.map(|mut missing| {
            let tuple: Vec<_> = missing.drain(..parts.len()).collect();
            missing.insert(0, format!("({})", tuple.join(", ")));
            missing
        }))
    }

    /// [`uncovered`](Checker::uncovered) for rows that start with a message: tries each message,
    /// with the values that it carries as further columns.
    fn uncovered_message(
        &self,
        rows: &[Vec<&Pattern>],
        rest: &[Type],
        budget: &StepBudget,
    ) -> Uncovered {
        for (message, signature) in self.messages.iter().enumerate() {
            let carried = signature.params.len();
            budget.spend(1 + rows.len() * (carried + rest.len()))?;
            let matching: Vec<Vec<&Pattern>> = rows
                .iter()
                .filter_map(|row| {
                    let parts = parts_of(row[0], message, carried)?;
                    Some([&parts[..], &row[1..]].concat())
                })
                .collect();
            let types = [&signature.params[..], rest].concat();
            if let Some(mut missing) = self.uncovered(&matching, &types, budget)? {
                let parts: Vec<_> = missing.drain(..carried).collect();
                missing.insert(0, format!("{}({})", signature.name, parts.join(", ")));
                return Ok(Some(missing));
            }
        }
        Ok(None)
    }

    fn show_constant(&self, value: &Value) -> String {
        match value {
            Value::Variant { of, index } => {
                self.out.enums[*of as usize].variants[*index as usize].clone()
            }
            other => other.to_string(),
        }
    }
}

/// The patterns for the values that a message carries; `None` if the pattern does not match the
/// message.
fn parts_of(pattern: &Pattern, message: usize, carried: usize) -> Option<Vec<&Pattern>> {
    const WILD: Pattern = Pattern::Wild;
    match pattern {
        Pattern::Message(other, _) if *other as usize != message => None,
        // A pattern of another length is a mistake that was already reported.
        Pattern::Message(_, parts) if parts.len() == carried => Some(parts.iter().collect()),
        _ => Some(vec![&WILD; carried]),
    }
}

/// Does the pattern match every value of its type?
fn takes_any(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Wild | Pattern::Bind(_) => true,
        Pattern::Const(_) | Pattern::Message(..) => false,
        Pattern::Tuple(parts) => parts.iter().all(takes_any),
    }
}

/// The order in which values are tried: variants and bools, then other values in the patterns, then
/// the rest. The first uncovered value is shown.
fn order(value: Option<&Value>) -> (u8, u32) {
    match value {
        Some(Value::Bool(b)) => (0, u32::from(*b)),
        Some(Value::Variant { index, .. }) => (0, *index),
        Some(_) => (1, 0),
        None => (2, 0),
    }
}
