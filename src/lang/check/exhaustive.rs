//! Do the arms of a `match` cover every value? After Maranget, "Warnings for pattern matching" (JFP 2007),
//! section 3: a row of wildcards is useful after the rows at hand exactly if some value is not covered, and
//! the recursion that decides it also builds such a value, to show to the author.

use super::Checker;
use crate::lang::diagnostic::{Diagnostic, Span};
use crate::lang::hir::{Arm, Pattern};
use crate::lang::types::Type;
use crate::model::Value;

impl Checker<'_> {
    /// Reports a value that no arm matches.
    pub(super) fn must_be_exhaustive(&mut self, arms: &[Arm], ty: &Type, value: Span, whole: Span) {
        let rows: Vec<Vec<&Pattern>> =
            arms.iter().filter(|arm| arm.guard.is_none()).map(|arm| vec![&arm.pattern]).collect();
        let ty = self.infer.shallow(ty);
        if matches!(ty, Type::Error | Type::Never) {
            return;
        }
        if let Some(missing) = self.uncovered(&rows, std::slice::from_ref(&ty)) {
            let message = format!("the match does not cover `{}`", missing.join(", "));
            let span = if arms.is_empty() { whole } else { value };
            let diagnostic = Diagnostic::error(span, message).label("this value may match no arm");
            self.report(diagnostic.hint("add an arm `_ => …` for the rest"));
        }
    }

    /// A row of values of these types that no row of patterns matches, in words.
    fn uncovered(&self, rows: &[Vec<&Pattern>], types: &[Type]) -> Option<Vec<String>> {
        let Some((first, rest)) = types.split_first() else {
            return rows.is_empty().then(Vec::new);
        };
        let first = self.infer.shallow(first);
        if let Type::Tuple(parts) = &first {
            return self.uncovered_tuple(rows, parts, rest);
        }
        let named = |row: &Vec<&Pattern>| matches!(row[0], Pattern::Message(..));
        if first == Type::Message && rows.iter().any(named) {
            return self.uncovered_message(rows, rest);
        }
        let mut constants: Vec<&Value> = Vec::new();
        for row in rows {
            if let Pattern::Const(value) = row[0]
                && !constants.contains(&value)
            {
                constants.push(value);
            }
        }
        for value in self.values_of(&first, &constants) {
            let matching: Vec<Vec<&Pattern>> = rows
                .iter()
                .filter(|row| match (row[0], &value) {
                    (Pattern::Const(known), Some(value)) => known == value,
                    (Pattern::Const(_), None) => false,
                    _ => true,
                })
                .map(|row| row[1..].to_vec())
                .collect();
            if let Some(mut missing) = self.uncovered(&matching, rest) {
                missing.insert(
                    0,
                    value.map_or_else(|| "_".to_owned(), |value| self.show_constant(&value)),
                );
                return Some(missing);
            }
        }
        None
    }

    fn uncovered_tuple(
        &self,
        rows: &[Vec<&Pattern>],
        parts: &[Type],
        rest: &[Type],
    ) -> Option<Vec<String>> {
        const WILD: Pattern = Pattern::Wild;
        let rows: Vec<Vec<&Pattern>> = rows
            .iter()
            .map(|row| {
                let mut flat: Vec<&Pattern> = match row[0] {
                    // One of another length is a mistake that has been reported.
                    Pattern::Tuple(patterns) if patterns.len() == parts.len() => {
                        patterns.iter().collect()
                    }
                    _ => vec![&WILD; parts.len()],
                };
                flat.extend(&row[1..]);
                flat
            })
            .collect();
        let mut missing = self.uncovered(&rows, &[parts, rest].concat())?;
        let tuple: Vec<_> = missing.drain(..parts.len()).collect();
        missing.insert(0, format!("({})", tuple.join(", ")));
        Some(missing)
    }

    /// Each message is tried: the rows that match it, with what it carries laid open.
    fn uncovered_message(&self, rows: &[Vec<&Pattern>], rest: &[Type]) -> Option<Vec<String>> {
        for (message, signature) in self.messages.iter().enumerate() {
            let carried = signature.params.len();
            let matching: Vec<Vec<&Pattern>> = rows
                .iter()
                .filter_map(|row| {
                    let parts = parts_of(row[0], message, carried)?;
                    Some([&parts[..], &row[1..]].concat())
                })
                .collect();
            let types = [&signature.params[..], rest].concat();
            if let Some(mut missing) = self.uncovered(&matching, &types) {
                let parts: Vec<_> = missing.drain(..carried).collect();
                missing.insert(0, format!("{}({})", signature.name, parts.join(", ")));
                return Some(missing);
            }
        }
        None
    }

    /// The values to try: all of a small type; else those named, and `None` for any other.
    fn values_of(&self, ty: &Type, constants: &[&Value]) -> Vec<Option<Value>> {
        match ty {
            // Without a constant no value is different from another.
            _ if constants.is_empty() => vec![None],
            Type::Bool => [false, true].map(|b| Some(Value::Bool(b))).to_vec(),
            Type::Enum(of) => {
                let count = self.out.enums[*of as usize].variants.len() as u32;
                (0..count).map(|index| Some(Value::Variant { of: *of, index })).collect()
            }
            _ => constants.iter().map(|&value| Some(value.clone())).chain([None]).collect(),
        }
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

/// The patterns for what a message carries, if the pattern may match it.
fn parts_of(pattern: &Pattern, message: usize, carried: usize) -> Option<Vec<&Pattern>> {
    const WILD: Pattern = Pattern::Wild;
    match pattern {
        Pattern::Message(other, _) if *other as usize != message => None,
        // One of another length is a mistake that has been reported.
        Pattern::Message(_, parts) if parts.len() == carried => Some(parts.iter().collect()),
        _ => Some(vec![&WILD; carried]),
    }
}
