//! `mazurka man`: manual pages, made of the texts of `--help`.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Command, CommandFactory};
use clap_mangen::Man;

use super::output::Output;
use super::{Cli, Exit, Failure, files};
use crate::report::text::shown;

/// Write manual pages for `man`, one for each command
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The folder for the pages, which is made if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  mazurka man man1
  man ./man1/mazurka-check.1

For all users, write them to a folder man1 in which `man` looks, such as /usr/local/share/man/man1.";

pub(super) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Args { folder } = args;
    fs::create_dir_all(folder).map_err(|error| files::cannot_write(folder, error))?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let pages: Vec<Command> = [&command].into_iter().chain(commands).cloned().collect();
    let count = pages.len();
    for command in pages {
        let (name, text) = page(command)?;
        files::write(&folder.join(name), &text)?;
    }
    output.print(format!("Wrote {count} pages to {}.\n", shown(folder)))?;
    Ok(Exit::Fine)
}

/// The name of a page, and its text.
fn page(command: Command) -> io::Result<(String, Vec<u8>)> {
    let notes = command.get_after_help().map(|notes| notes.to_string());
    // The program itself has commands, and they have options.
    let has_commands = command.has_subcommands();
    let man = Man::new(command).manual("Mazurka");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if has_commands {
        man.render_subcommands_section(&mut text)?;
    }
    text.extend(notes.map(|notes| verbatim(&notes)).unwrap_or_default().into_bytes());
    Ok((man.get_filename(), text))
}

/// The notes at the end of a help. Their lines are kept: most of them are commands.
fn verbatim(notes: &str) -> String {
    let mut text = ".SH NOTES\n.nf\n".to_owned();
    for line in notes.lines() {
        // At the beginning of a line `.` and `'` would be a command of roff.
        text += if line.starts_with(['.', '\'']) { "\\&" } else { "" };
        text += &line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
        text.push('\n');
    }
    text + ".fi\n"
}
