//! Executions as short strings: `0,0,1,2:1,0x3`.
//!
//! One item per action, separated by commas: the number of the process that moves (in order of
//! declaration, then of spawning in this very execution), `:choice` where the operation had several
//! outcomes and it was not the first (`:-1` for a test that found nothing), `xN` for N times in a row.
//! Nothing in it needs quoting in a shell.

use std::fmt::Write;

use crate::model::{Action, Choice, ProcessId};

/// The longest execution that [`parse`] accepts: a repetition must not fill the memory.
const MAX_LENGTH: usize = 50_000_000;

/// The string for an execution.
pub fn format(schedule: &[Action]) -> String {
    let mut text = String::new();
    let mut rest = schedule;
    while let Some(&action) = rest.first() {
        let times = rest.iter().take_while(|&&other| other == action).count();
        rest = &rest[times..];
        if !text.is_empty() {
            text.push(',');
        }
        let _ = write!(text, "{}", action.process.0);
        if action.choice != Choice::ONLY {
            let _ = write!(text, ":{}", action.choice.0);
        }
        if times > 1 {
            let _ = write!(text, "x{times}");
        }
    }
    text
}

/// The execution that a string describes; an error says which item is wrong and why.
///
/// Space around items is ignored, and the empty string is the empty execution.
pub fn parse(text: &str) -> Result<Vec<Action>, String> {
    let mut schedule = Vec::new();
    if text.trim().is_empty() {
        return Ok(schedule);
    }
    for (index, item) in text.split(',').enumerate() {
        let (action, times) = parse_item(item.trim()).map_err(|why| {
            format!("item {} of the schedule, `{}`: {why}", index + 1, item.trim())
        })?;
        if times > MAX_LENGTH - schedule.len() {
            return Err(format!("the schedule has more than {MAX_LENGTH} actions"));
        }
        schedule.extend(std::iter::repeat_n(action, times));
    }
    Ok(schedule)
}

fn parse_item(item: &str) -> Result<(Action, usize), String> {
    if item.is_empty() {
        return Err("expected the number of a process".into());
    }
    let (item, times) = match item.split_once('x') {
        Some((item, times)) => match times.parse() {
            Ok(times) if times > 0 => (item, times),
            _ => return Err(format!("`{times}` is not a number of repetitions")),
        },
        None => (item, 1),
    };
    let (process, choice) = match item.split_once(':') {
        Some((process, choice)) => {
            (process, choice.parse().map_err(|_| format!("`{choice}` is not a choice"))?)
        }
        None => (item, Choice::ONLY.0),
    };
    let process = process.parse().map_err(|_| format!("`{process}` is not a process number"))?;
    Ok((Action { process: ProcessId(process), choice: Choice(choice) }, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(process: u32, choice: i32) -> Action {
        Action { process: ProcessId(process), choice: Choice(choice) }
    }

    #[test]
    fn repetitions_and_choices_are_short() {
        let schedule = [
            action(0, 0),
            action(0, 0),
            action(1, 0),
            action(2, 1),
            action(2, 1),
            action(0, -1),
            action(12, 0),
        ];
        assert_eq!(format(&schedule), "0x2,1,2:1x2,0:-1,12");
        assert_eq!(parse(&format(&schedule)).unwrap(), schedule);
    }

    #[test]
    fn the_empty_execution_is_the_empty_string() {
        assert_eq!(format(&[]), "");
        assert_eq!(parse(" ").unwrap(), []);
    }

    #[test]
    fn errors_name_the_item() {
        for (text, fragment) in [
            ("0,,1", "item 2"),
            ("a", "`a` is not a process number"),
            ("0:", "`` is not a choice"),
            ("0x0", "`0` is not a number of repetitions"),
            ("0x99999999999", "more than"),
            ("-1", "not a process number"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(fragment), "{text}: {error}");
        }
    }
}
