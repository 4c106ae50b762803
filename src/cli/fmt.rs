//! `mazurka fmt`: brings specs into their usual form.

use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use clap::Args as ClapArgs;

use super::output::Output;
use super::{Exit, Failure, files, folders};
use crate::lang::format;
use crate::report::text::shown;

/// Format specs: indentation, spaces and blank lines
///
/// Where lines end is left to their author, but a block of several lines begins and ends with a
/// line break. Comments stay as they are. A file with mistakes of syntax is not changed.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Specs, and folders: all .maz files in a folder and below; `-` formats standard input, and
    /// prints the result
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Change no file: print what would change
    #[arg(long)]
    check: bool,
}

const EXAMPLES: &str = "\
Examples:
  mazurka fmt philosophers.maz
  mazurka fmt --check .
  mazurka fmt - < philosophers.maz

Exit codes: 0 all files have this form now; 1 with --check: some would be changed; 2 the command
line is wrong, or some file has mistakes of syntax or cannot be written. The others are formatted.";

pub(super) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let paths = folders::specs(&args.files, output)?;
    let (mut changed, mut failed) = (0, false);
    for path in &paths {
        let source = files::read(path)?;
        let name = super::spec::name(path);
        let formatted = match format(&name, &source) {
            Ok(formatted) => formatted,
            Err(mistakes) => {
                output.note(mistakes.render(true));
                failed = true;
                continue;
            }
        };
        let is_changed = formatted != source;
        changed += usize::from(is_changed);
        if args.check && is_changed {
            output.print(difference(&name, &source, &formatted, output.is_quiet()))?;
        } else if !args.check && files::is_stdin(path) {
            output.print_bytes(formatted.as_bytes())?;
        } else if !args.check && is_changed {
            files::write(path, &formatted)?;
            output.remark(format!("Formatted: {}\n", shown(Path::new(path))));
        }
    }
    match (failed, args.check && changed > 0) {
        (true, _) => Err(Failure::Reported),
        (false, true) => Ok(Exit::Violation),
        (false, false) => Ok(Exit::Fine),
    }
}

const HEADING: Style = Style::new().bold();
const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

/// The name of a file, and the lines that change in it. As a formatter only moves words, lines are
/// compared one after another, and where they differ, up to where the same words have passed.
fn difference(name: &str, source: &str, formatted: &str, quiet: bool) -> String {
    if quiet {
        return format!("{name}\n");
    }
    let mut text = String::new();
    let old: Vec<&str> = source.lines().collect();
    let new: Vec<&str> = formatted.lines().collect();
    let (mut at, mut to) = (0, 0);
    while at < old.len() || to < new.len() {
        let (from, begin) = (at, to);
        if old.get(at) == new.get(to) {
            (at, to) = (at + 1, to + 1);
            continue;
        }
        // The letters that were passed in both texts; the one that is behind goes on.
        let (mut left, mut right) = (0, 0);
        loop {
            if left <= right && at < old.len() {
                left += letters(old[at]);
                at += 1;
            } else if to < new.len() {
                right += letters(new[to]);
                to += 1;
            } else if at < old.len() {
                at += 1;
            } else {
                break;
            }
            if left == right && old.get(at) == new.get(to) {
                break;
            }
        }
        text += &format!("{HEADING}{name}:{}{HEADING:#}\n", from + 1);
        for line in &old[from..at] {
            text += &format!("{REMOVED}-{line}{REMOVED:#}\n");
        }
        for line in &new[begin..to] {
            text += &format!("{ADDED}+{line}{ADDED:#}\n");
        }
    }
    text
}

fn letters(line: &str) -> usize {
    line.chars().filter(|c| !c.is_whitespace()).count()
}
