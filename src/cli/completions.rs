//! `mazurka completions`: a script that completes commands, options and files in a shell.

use clap::{Args as ClapArgs, CommandFactory};
use clap_complete::{Shell, generate};

use super::output::Output;
use super::{Cli, Exit, Failure};

/// Print a script that completes commands, options, explorers and files in a shell
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  mazurka completions bash > mazurka.bash
  mazurka completions zsh > _mazurka
  mazurka completions fish > mazurka.fish

Bash reads ~/.local/share/bash-completion/completions/mazurka, fish reads
~/.config/fish/completions/mazurka.fish, and zsh reads the file _mazurka in a folder of $fpath.";

/// The script for Bash offers options where nothing is typed yet, so that no file would be offered
/// there. This drops them; they are offered after a `-`.
const BASH: &str = r#"
_mazurka_words() {
    _mazurka "$@"
    [[ -z $2 ]] || return 0
    local word words=()
    for word in ${COMPREPLY[@]+"${COMPREPLY[@]}"}; do
        [[ $word == -* ]] || words+=("$word")
    done
    COMPREPLY=(${words[@]+"${words[@]}"})
}
complete -F _mazurka_words -o bashdefault -o default mazurka
"#;

pub(super) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "mazurka", &mut script);
    if args.shell == Shell::Bash {
        script.extend_from_slice(BASH.as_bytes());
    }
    output.print_bytes(&script)?;
    Ok(Exit::Fine)
}
