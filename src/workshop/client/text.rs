//! Clients as text.
//!
//! The assertion is a `match` on what the first thread returned. Each arm is a `match` on what the
//! second thread returned, and so on. So it can be read thread by thread, it lists no result of a
//! thread twice in one `match`, and each arm contains only outcomes that agree with the arms around
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Invocation;
use super::outcomes::Found;

/// The message of the assertion.
pub(crate) const MESSAGE: &str = "no sequential execution of these calls has these results";

/// The program for sequential executions: the calls, without their results.
pub(crate) fn sequential(declarations: &str, threads: &[Vec<Invocation>]) -> String {
    let mut text = declarations.to_owned();
    for (thread, calls) in threads.iter().enumerate() {
        let calls: Vec<_> = calls.iter().map(|call| format!("{call};")).collect();
        text += &format!("process T{thread} {{ {} }}\n", calls.join(" "));
    }
    text
}

/// The client. `command` is the command that made it.
pub(crate) fn client(
    declarations: &str,
    threads: &[Vec<Invocation>],
    found: &Found,
    command: &str,
) -> String {
    let mut text = format!("// A client, made by\n//   {command}\n// of this structure:\n");
    if declarations.starts_with("//") {
        text += "//\n";
    }
    text += declarations;
    text.push('\n');
    for (thread, (calls, returns)) in threads.iter().zip(&found.returns).enumerate() {
        text += &format!("process T{thread} {{\n");
        for (place, (call, &returns)) in calls.iter().zip(returns).enumerate() {
            let binding = if returns { format!("let r{place} = ") } else { String::new() };
            text += &format!("    {binding}{call};\n");
        }
        text += "}\n\n";
    }
    text + &judgement(found)
}

/// The `final` block.
fn judgement(found: &Found) -> String {
    let count = match found.outcomes.len() {
        1 => "The one outcome".to_owned(),
        n => format!("The {n} outcomes"),
    };
    let mut text =
        format!("// {count} of the sequential executions.\nfinal {{\n    let admitted = ");
    let outcomes: Vec<&[Vec<String>]> = found.outcomes.iter().map(Vec::as_slice).collect();
    tree(&mut text, &observed(found), &outcomes, 1);
    text += ";\n";
    text += &format!("    assert(admitted, \"{MESSAGE}\");\n}}\n");
    text
}

/// For each thread: the variables with the results of its calls.
fn observed(found: &Found) -> Vec<Vec<String>> {
    let of_thread = |(thread, returns): (usize, &Vec<bool>)| {
        let places = returns.iter().enumerate().filter(|(_, returns)| **returns);
        places.map(|(place, _)| format!("T{thread}.r{place}")).collect()
    };
    found.returns.iter().enumerate().map(of_thread).collect()
}

/// Appends an expression that is true exactly for these outcomes of the threads.
fn tree(text: &mut String, threads: &[Vec<String>], outcomes: &[&[Vec<String>]], indent: usize) {
    let Some((variables, others)) = threads.split_first() else {
        *text += "true";
        return;
    };
    let mut arms: BTreeMap<&[String], BTreeSet<&[Vec<String>]>> = BTreeMap::new();
    for outcome in outcomes {
        arms.entry(&outcome[0]).or_default().insert(&outcome[1..]);
    }
    if variables.is_empty() {
        let rest: Vec<_> = arms.into_values().flatten().collect();
        return tree(text, others, &rest, indent);
    }
    let margin = "    ".repeat(indent);
    *text += &format!("match {} {{\n", tuple(variables));
    for (results, rest) in arms {
        let rest: Vec<_> = rest.into_iter().collect();
        write!(text, "{margin}    {} => ", tuple(results)).expect("a string takes everything");
        tree(text, others, &rest, indent + 1);
        *text += ",\n";
    }
    *text += &format!("{margin}    _ => false,\n{margin}}}");
}

/// A tuple `(a, b)`, or just `a` if there is only one part.
fn tuple(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}
