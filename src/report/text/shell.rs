//! Words for a shell: a printed command must name the same file when it is typed in.

use std::ffi::OsStr;
use std::path::Path;

use crate::model::is_deceptive;
#[cfg(feature = "cli")]
use crate::model::printable;
use crate::report::Subject;

/// The number of bytes up to which a schedule is printed as a part of a command.
const LONGEST_SCHEDULE: usize = 4000;

/// A word, quoted for a shell if necessary: in single quotes; or, if it has control characters or
/// is not UTF-8, as `$'…'` with these as octal numbers. Bash, zsh, ksh and POSIX 2024 understand
/// that.
pub(crate) fn quoted(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(is_plain) => text.into(),
        Some(text) if !text.chars().any(is_deceptive) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => escaped(word),
    }
}

/// A path as an argument: it must not be taken for an option if it begins with a dash.
pub(crate) fn quoted_path(path: &Path) -> String {
    let begins_with_dash = path.as_os_str().as_encoded_bytes().first() == Some(&b'-');
    match begins_with_dash && path != Path::new("-") {
        true => quoted(Path::new(".").join(path)),
        false => quoted(path),
    }
}

/// A path for people: with `\xNN` for bytes that are not UTF-8, and without characters that a
/// terminal acts on.
#[cfg(feature = "cli")]
pub(crate) fn shown(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text += &printable(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
    }
    text
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c)
}

fn escaped(word: &OsStr) -> String {
    let mut text = String::from("$'");
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' | '\\' => text.extend(['\\', c]),
                c if is_deceptive(c) => {
                    push_bytes(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes())
                }
                c => text.push(c),
            }
        }
        push_bytes(&mut text, chunk.invalid());
    }
    text + "'"
}

/// Appends bytes as octal numbers of three digits each, so that a following digit is not taken for
/// a part of them.
fn push_bytes(text: &mut String, bytes: &[u8]) {
    bytes.iter().for_each(|byte| *text += &format!("\\{byte:03o}"));
}

/// Whether a schedule is too long for a command.
pub(super) fn is_long(schedule: &str) -> bool {
    schedule.len() > LONGEST_SCHEDULE
}

/// The command that shows an execution step by step. If its schedule is long, that is the first
/// violation of a result.
pub(crate) fn replay_command(subject: &Subject, schedule: &str) -> String {
    const WHAT: &str = "(RESULT.json being what --format json prints)";
    if let Some([before, after]) = &subject.command {
        return match schedule {
            "" => format!("{before} --schedule '' {after}"),
            long if is_long(long) => format!("{before} --schedule RESULT.json {after}   {WHAT}"),
            short => format!("{before} --schedule {short} {after}"),
        };
    }
    match is_long(schedule) {
        true => format!("{} RESULT.json   {WHAT}", replay_of(subject)),
        false => full_replay_command(subject, schedule),
    }
}

/// The command that shows an execution of a spec step by step, however long it is.
pub(crate) fn full_replay_command(subject: &Subject, schedule: &str) -> String {
    let schedule = if schedule.is_empty() { "''" } else { schedule };
    format!("{} --schedule {schedule}", replay_of(subject))
}

/// The command that replays an execution of a spec, without the execution.
fn replay_of(subject: &Subject) -> String {
    let mut command = format!("mazurka replay {}", quoted_path(&subject.path));
    for define in &subject.defines {
        command += &format!(" -D {}", quoted(define));
    }
    if let Some(granularity) = subject.granularity {
        command += &format!(" --granularity {granularity}");
    }
    if subject.allow_pending {
        command += " --allow-pending";
    }
    if subject.unfair {
        command += " --unfair";
    }
    for daemon in &subject.daemons {
        command += &format!(" --allow daemons={}", quoted(daemon));
    }
    command += &subject.semantics.map_or(String::new(), |semantics| semantics.options());
    command + &subject.faults.options()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_if_need_be() {
        for (word, expected) in [
            ("specs/a-b_1.maz", "specs/a-b_1.maz"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(x);*", "'$(x);*'"),
            ("é", "'é'"),
            ("a\nb'\\", r"$'a\012b\'\\'"),
            ("\u{202e}", r"$'\342\200\256'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn a_dash_makes_no_option_of_a_path() {
        assert_eq!(quoted_path(Path::new("-")), "-");
        assert_eq!(quoted_path(Path::new("-x.maz")), "./-x.maz");
        assert_eq!(quoted_path(Path::new("-x y")), "'./-x y'");
        assert_eq!(quoted_path(Path::new("a/-x")), "a/-x");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_utf_8_is_told_by_its_bytes() {
        use std::os::unix::ffi::OsStrExt;

        let path = Path::new(OsStr::from_bytes(b"a\xff'b"));
        assert_eq!(quoted_path(path), r"$'a\377\'b'");
        assert_eq!(shown(path), r"a\xff'b");
    }
}
