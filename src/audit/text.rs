//! Certificates as text.
//!
//! ```text
//! mazurka certificate 1
//! program 84f0f8003ef73dfa {"constants":{"N":2}}
//! classes 3
//! deadlocked 1
//! violating 1
//! 0 0x6,1x6
//! 2 1,0,1x2
//! 0 1x3,0,1x2,0x2,1,0x3
//! ```
//!
//! A line for each class: how many of its first actions are those of the class before, and the
//! others, as a [`Schedule`]. With `states` instead of `classes` there is a line for each state: a
//! way to it; with `events` one for each event: its local configuration. A certificate has one
//! text: a text with the same meaning is refused.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use super::{Certificate, Claim, Items, Refused};
use crate::model::{Action, Schedule};

const FIRST_LINE: &str = "mazurka certificate 1";
/// The longest execution that is read: a repetition must not fill the memory.
const MAX_LENGTH: usize = 1 << 20;
/// The longest execution of a class: to find the causes of its steps takes quadratic time.
const MAX_LENGTH_OF_CLASS: usize = 1 << 15;
/// The most steps that are read, of all executions together.
const MAX_STEPS: usize = 1 << 28;
/// The most steps for each byte of the text, beside those of one execution.
const MAX_STEPS_PER_BYTE: usize = 1 << 10;

impl Display for Certificate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Claim { count, deadlocked, violating } = self.claim;
        writeln!(f, "{FIRST_LINE}\nprogram {}\n{} {count}", self.program, self.items.several())?;
        writeln!(f, "deadlocked {deadlocked}\nviolating {violating}")?;
        let mut previous: &[Action] = &[];
        for way in &self.list {
            let kept = kept(previous, way);
            let rest: Schedule = way[kept..].iter().copied().collect();
            writeln!(f, "{kept} {rest}")?;
            previous = way;
        }
        Ok(())
    }
}

/// The number of first actions that two executions share.
pub(super) fn kept(one: &[Action], other: &[Action]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

impl FromStr for Certificate {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Certificate, Refused> {
        let mut lines = text.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err(Refused::new(format!("it does not begin with `{FIRST_LINE}`")));
        }
        let mut fields = lines.by_ref().map(|line| line.split_once(' ').unwrap_or((line, "")));
        let mut field = |name: &str| match fields.next() {
            Some((found, text)) if found == name => Ok(text),
            _ => Err(Refused::new(format!("the line `{name} ..` is missing"))),
        };
        let number = |text: &str| {
            text.parse().map_err(|_| Refused::new(format!("`{text}` is not a number")))
        };
        let program = field("program")?.to_owned();
        let listed = text.lines().nth(2).and_then(|line| line.split(' ').next());
        let is_listed = |items: &Items| listed == Some(items.several());
        let all = [Items::Classes, Items::States, Items::Events];
        let items = all.into_iter().find(is_listed).unwrap_or_default();
        let claim = Claim {
            count: number(field(items.several())?)?,
            deadlocked: number(field("deadlocked")?)?,
            violating: number(field("violating")?)?,
        };
        let mut list: Vec<Schedule> = Vec::new();
        let longest = match items {
            Items::Classes => MAX_LENGTH_OF_CLASS,
            Items::States | Items::Events => MAX_LENGTH,
        };
        let mut left = MAX_STEPS.min(MAX_LENGTH + text.len() * MAX_STEPS_PER_BYTE);
        for line in lines {
            let previous: &[Action] = list.last().map_or(&[], |last| last);
            let way = way(previous, line, [longest, left])
                .map_err(|why| why.about(list.len()).of(items))?;
            left -= way.len();
            list.push(way);
        }
        let certificate = Certificate { program, items, claim, list };
        match certificate.to_string() == text {
            true => Ok(certificate),
            false => Err(Refused::new("it is not written as certificates are")),
        }
    }
}

/// The execution of this line. It may have `longest` steps, and no more than are `left` for all.
fn way(previous: &[Action], line: &str, [longest, left]: [usize; 2]) -> Result<Schedule, Refused> {
    let (kept, rest) = line.split_once(' ').ok_or(Refused::new("the line has one part only"))?;
    let kept: usize = kept.parse().map_err(|_| Refused::new("the line begins with no number"))?;
    let Some(kept) = previous.get(..kept) else {
        return Err(Refused::new("the one before it is shorter"));
    };
    let rest: Schedule = rest.parse().map_err(|why| Refused::new(format!("{why}")))?;
    let length = kept.len() + rest.len();
    if length > longest || rest.loop_from().is_some() {
        return Err(Refused::new("it is no execution that ends"));
    }
    if length > left {
        return Err(Refused::new("the executions are too long"));
    }
    Ok(kept.iter().chain(rest.iter()).copied().collect())
}
