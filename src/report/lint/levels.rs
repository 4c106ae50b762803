//! The levels of lints: `--allow`, `--warn` and `--deny`, each with a list of names.

use std::fmt;
use std::str::FromStr;

use super::{Level, Lint, NAMES, UNREACHED, Warning};

/// The lints that share a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named(&'static str);

impl Named {
    /// How specific the name is for this lint, 0 being the most specific; `None` if it is not one
    /// of its names.
    fn rank(self, lint: Lint) -> Option<usize> {
        lint.names().iter().position(|&name| name == self.0)
    }
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = known_names();
        let found = names.iter().find(|&&name| name == text);
        found.map(|&name| Named(name)).ok_or_else(|| format!("the lints are {}", names.join(", ")))
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// All names, the most specific ones first.
fn known_names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for rank in 0..3 {
        for (_, of_one) in NAMES {
            if !names.contains(&of_one[rank]) {
                names.push(of_one[rank]);
            }
        }
    }
    names
}

impl Lint {
    /// Whether the lint is about all executions.
    pub(crate) fn is_about_all(self) -> bool {
        self.names()[1] == UNREACHED
    }
}

/// The level of each lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Levels([Level; NAMES.len()]);

impl Default for Levels {
    fn default() -> Self {
        Levels(NAMES.map(|(lint, _)| match lint.is_about_all() {
            true => Level::Allow,
            false => Level::Warn,
        }))
    }
}

impl Levels {
    /// The levels that result from these lists of names. For each lint its most specific name
    /// counts.
    ///
    /// # Errors
    /// If a name is in two of the lists.
    pub(crate) fn new(allow: &[Named], warn: &[Named], deny: &[Named]) -> Result<Levels, String> {
        let asked = [(Level::Allow, allow), (Level::Warn, warn), (Level::Deny, deny)];
        let asked =
            || asked.iter().flat_map(|&(level, names)| names.iter().map(move |&n| (n, level)));
        for (name, level) in asked() {
            if let Some((_, other)) = asked().find(|&(same, other)| same == name && other != level)
            {
                let option = |level: Level| format!("{level:?}").to_lowercase();
                return Err(format!(
                    "`{name}` is in the list of --{} and in that of --{}",
                    option(level),
                    option(other)
                ));
            }
        }
        let mut levels = Levels::default();
        for (lint, _) in NAMES {
            let named = asked().filter_map(|(name, level)| Some((name.rank(lint)?, level)));
            if let Some((_, level)) = named.min_by_key(|&(rank, _)| rank) {
                levels.0[lint as usize] = level;
            }
        }
        Ok(levels)
    }

    /// The level of this lint.
    pub(crate) fn of(&self, lint: Lint) -> Level {
        self.0[lint as usize]
    }

    /// Whether a lint about all executions is not allowed: then the search must record what it
    /// reaches.
    pub(crate) fn ask_about_all(&self) -> bool {
        NAMES.iter().any(|&(lint, _)| lint.is_about_all() && self.of(lint) != Level::Allow)
    }

    /// Drops the warnings of allowed lints, and sets the levels of the others.
    pub(crate) fn applied(&self, warnings: Vec<Warning>) -> Vec<Warning> {
        let reported = warnings.into_iter().filter(|warning| self.of(warning.lint) != Level::Allow);
        reported.map(|warning| Warning { level: self.of(warning.lint), ..warning }).collect()
    }
}

/// The warning for an MPI program that calls no function of MPI: nothing was verified.
#[cfg(unix)]
pub(crate) fn of_no_calls(subject: &crate::report::Subject) -> Warning {
    Warning {
        lint: Lint::Calls,
        level: Level::Warn,
        message: "no rank calls MPI_Init, so there is nothing to verify".into(),
        file: subject.spec.clone(),
        has_files: false,
        line: None,
        column: None,
        process: None,
        object: None,
        replay: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<Named> {
        names.iter().map(|name| name.parse().expect("a lint")).collect()
    }

    #[test]
    fn the_most_particular_name_counts() {
        let levels = Levels::new(&named(&["messages"]), &[], &named(&["all"])).unwrap();
        assert_eq!(levels.of(Lint::Messages), Level::Allow);
        assert_eq!(levels.of(Lint::Locks), Level::Deny);
        let levels = Levels::new(&named(&["leaks"]), &named(&["locks"]), &named(&["all"])).unwrap();
        assert_eq!(levels.of(Lint::Requests), Level::Allow);
        assert_eq!(levels.of(Lint::Locks), Level::Warn);
    }

    #[test]
    fn one_name_cannot_be_asked_two_things_of() {
        let refused = Levels::new(&named(&["leaks"]), &[], &named(&["leaks"])).unwrap_err();
        assert_eq!(refused, "`leaks` is in the list of --allow and in that of --deny");
        assert!("leak".parse::<Named>().unwrap_err().starts_with("the lints are messages, "));
    }
}
