//! The commands of a session, as they are typed.

use std::num::NonZeroUsize;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// An empty line: the next of the steps ahead, or else the first action of the list.
    Next,
    /// The action with this number in the list, or of the process with this name.
    Take(String),
    List,
    /// The state: all of it, or what has this in its name.
    State(Option<String>),
    /// Why these cannot move: one process, or all.
    Why(Option<String>),
    /// Which actions of the list depend on each other: on one of them, or all pairs.
    Depends(Option<String>),
    Back(usize),
    Forward(usize),
    /// To the place after this number of steps; `None` for the last one.
    Goto(Option<usize>),
    Trace,
    /// To a violation: of the program, or of what can still happen.
    Jump {
        from_here: bool,
    },
    /// On at random, for at most this number of steps.
    Run(Option<usize>),
    Help,
    Quit,
}

/// The names of the commands, each with its short form.
const NAMES: [(&str, &str); 13] = [
    ("take", "t"),
    ("list", "l"),
    ("state", "s"),
    ("why", "w"),
    ("depends", "d"),
    ("back", "b"),
    ("forward", "f"),
    ("goto", "g"),
    ("trace", "tr"),
    ("jump", "j"),
    ("run", "r"),
    ("help", "h"),
    ("quit", "q"),
];

/// What `help` prints.
pub(super) const HELP: &str = "\
Commands:
  Enter          take the next of the steps ahead, or else the first action of the list
  N, NAME        take the action with this number, or the only action of this process;
                 take NAME also takes that of a process that is named like a command
  list           what can happen now
  state [TEXT]   all variables and objects, or those that have TEXT in their names
  why [PROCESS]  why a process cannot move, and who could help it; of all that wait
  depends [N]    which actions of the list depend on each other, so that their order matters;
                 which ones depend on the action with this number
  back [N]       undo the last step, or N steps
  forward [N]    take the next step ahead again, or N steps
  goto N         go to the place after N steps; goto end: to the last of the steps ahead
  trace          the steps so far, and the command that replays them
  run [N]        go on at random: to a violation, to the end, or for N steps
  jump           search for a violation, as `mazurka check` does, and go to it
  jump here      the same, but only among the executions that begin with the steps so far
  quit           leave, as does the end of the input
The first letter of a command is enough (tr for trace). A line that begins with # is a comment.
";

impl Command {
    /// The command in a line; `None` for a comment.
    ///
    /// # Errors
    /// If it is not one. Says why.
    pub(super) fn parse(line: &str) -> Result<Option<Command>, String> {
        let line = line.trim();
        if line.starts_with('#') {
            return Ok(None);
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let known = NAMES.iter().find(|(name, short)| word == *name || word == *short);
        let name = match (word, known) {
            ("", _) => return Ok(Some(Command::Next)),
            ("?", _) => "help",
            ("exit", _) => "quit",
            (_, Some((name, _))) => name,
            (_, None) => return Ok(Some(Command::Take(line.into()))),
        };
        let text = (!rest.is_empty()).then(|| rest.to_owned());
        let count = || match rest {
            "" => Ok(None),
            digits => digits
                .parse::<NonZeroUsize>()
                .map(|number| Some(number.get()))
                .map_err(|_| format!("{name} takes a number of steps, from 1")),
        };
        let alone = |command| match rest {
            "" => Ok(Some(command)),
            _ => Err(format!("{name} stands alone")),
        };
        match name {
            "take" => match text {
                Some(which) => Ok(Some(Command::Take(which))),
                None => Err("take what? A number of the list, or the name of a process".into()),
            },
            "state" => Ok(Some(Command::State(text))),
            "why" => Ok(Some(Command::Why(text))),
            "depends" => Ok(Some(Command::Depends(text))),
            "back" => Ok(Some(Command::Back(count()?.unwrap_or(1)))),
            "forward" => Ok(Some(Command::Forward(count()?.unwrap_or(1)))),
            "run" => Ok(Some(Command::Run(count()?))),
            "goto" => match rest {
                "end" => Ok(Some(Command::Goto(None))),
                "start" => Ok(Some(Command::Goto(Some(0)))),
                number => match number.parse() {
                    Ok(place) => Ok(Some(Command::Goto(Some(place)))),
                    Err(_) => Err("goto takes a number of steps, start or end".into()),
                },
            },
            "jump" => match rest {
                "" => Ok(Some(Command::Jump { from_here: false })),
                "here" => Ok(Some(Command::Jump { from_here: true })),
                _ => Err("write jump, or jump here".into()),
            },
            "list" => alone(Command::List),
            "trace" => alone(Command::Trace),
            "help" => alone(Command::Help),
            _ => alone(Command::Quit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        let read = |line| Command::parse(line).unwrap();
        assert_eq!(read("  "), Some(Command::Next));
        assert_eq!(read("# a remark"), None);
        assert_eq!(read("3"), Some(Command::Take("3".into())));
        assert_eq!(read("P[0]"), Some(Command::Take("P[0]".into())));
        assert_eq!(read("take b"), Some(Command::Take("b".into())));
        assert_eq!(read("b 3"), Some(Command::Back(3)));
        assert_eq!(read("back"), Some(Command::Back(1)));
        assert_eq!(read("g end"), Some(Command::Goto(None)));
        assert_eq!(read("w P 1"), Some(Command::Why(Some("P 1".into()))));
        assert_eq!(read("d 2"), Some(Command::Depends(Some("2".into()))));
        assert_eq!(read("j here"), Some(Command::Jump { from_here: true }));
        for wrong in ["back x", "back 0", "goto", "jump on", "list all", "take", "quit now"] {
            assert!(Command::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_help_has_every_command() {
        for (name, _) in NAMES {
            assert!(HELP.contains(&format!(" {name}")), "{name}");
        }
    }

    #[test]
    fn short_forms_differ() {
        let mut all: Vec<_> = NAMES.iter().flat_map(|(name, short)| [*name, *short]).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * NAMES.len());
    }
}
