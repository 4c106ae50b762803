//! The calls of an execution: each process with its calls, their results, and when they were made.

use std::fmt::{self, Display, Formatter};

use super::{FAINT, HEADING, Styled};
use crate::property::Call;

/// The calls of procedures, process by process; empty if there are none.
pub(crate) struct CallTable<'c>(pub(crate) &'c [Call]);

impl Display for CallTable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let CallTable(calls) = self;
        if calls.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{}", Styled(HEADING, "Calls and what they returned:"))?;
        let mut processes: Vec<&str> = Vec::new();
        for call in *calls {
            if !processes.contains(&call.process.as_str()) {
                processes.push(&call.process);
            }
        }
        let widest = |of: &dyn Fn(&Call) -> String| {
            calls.iter().map(|call| of(call).chars().count()).max().unwrap_or(0)
        };
        let (who, what) = (widest(&|call| call.process.clone()), widest(&words));
        for process in processes {
            let own = calls.iter().filter(|call| call.process == process);
            for (place, call) in own.enumerate() {
                let name = if place == 0 { process } else { "" };
                let when = Styled(FAINT, steps(call));
                writeln!(f, "  {name:<who$}  {:<what$}  {when}", words(call))?;
            }
        }
        Ok(())
    }
}

/// `add(1) = true`
fn words(call: &Call) -> String {
    let Call { procedure, arguments, result, ended, .. } = call;
    let arguments = arguments.join(", ");
    match result {
        Some(result) => format!("{procedure}({arguments}) = {result}"),
        None if *ended => format!("{procedure}({arguments})"),
        None => format!("{procedure}({arguments}) does not return"),
    }
}

fn steps(call: &Call) -> String {
    match (call.first_step, call.last_step) {
        (Some(first), Some(last)) if first < last => format!("steps {first}-{last}"),
        (Some(step), _) => format!("step {step}"),
        (None, _) => "no step".into(),
    }
}
