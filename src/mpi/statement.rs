//! Statements of Fortran in the lines of a file.

use std::path::Path;

/// How the lines of a file form statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A line that ends with `&` is continued.
    Free,
    /// A line with a character in column 6 continues the one before.
    Fixed,
}

impl Form {
    /// The form of a file in Fortran with these lines; `None` if it is in another language. An
    /// option of the compiler may say otherwise than the name: then there are letters where fixed
    /// form has labels.
    pub(super) fn of(file: &str, lines: &[String]) -> Option<Form> {
        let ending = Path::new(file).extension()?.to_str()?.to_lowercase();
        let has_no_labels = |line: &String| {
            let is_code = !line.starts_with('#') && !Form::Fixed.code(line).is_empty();
            let start = || line.chars().take(6);
            is_code && !start().any(|c| c == '\t') && start().take(5).any(char::is_alphabetic)
        };
        match &*ending {
            "f" | "for" | "ftn" | "f77" | "fpp" if lines.iter().any(has_no_labels) => {
                Some(Form::Free)
            }
            "f" | "for" | "ftn" | "f77" | "fpp" => Some(Form::Fixed),
            "f90" | "f95" | "f03" | "f08" | "f18" => Some(Form::Free),
            _ => None,
        }
    }

    /// A line without its comment and without blanks at its ends.
    fn code(self, line: &str) -> &str {
        let is_comment = |line: &str| line.starts_with(['c', 'C', '*', '!', 'd', 'D']);
        if self == Form::Fixed && is_comment(line) {
            return "";
        }
        let mut quote = None;
        for (at, letter) in line.char_indices() {
            match (quote, letter) {
                (None, '\'' | '"') => quote = Some(letter),
                (Some(open), _) if open == letter => quote = None,
                // In column 6 it marks a line that continues another one.
                (None, '!') if self == Form::Free || at != 5 => return line[..at].trim(),
                _ => {}
            }
        }
        line.trim()
    }

    /// Whether this line continues the one before.
    fn continues(self, before: &str, line: &str) -> bool {
        match self {
            Form::Free => self.code(before).ends_with('&'),
            Form::Fixed => {
                let mark = line.as_bytes().get(5).copied().unwrap_or(b' ');
                line.get(..5).is_some_and(|label| label.trim().is_empty()) && !b" 0".contains(&mark)
            }
        }
    }

    /// The part of a line that belongs to the statement, if the line is not its first one.
    fn part(self, line: &str) -> &str {
        match self {
            Form::Free => self.code(line).trim_start_matches('&'),
            Form::Fixed => self.code(line).get(1..).unwrap_or(""),
        }
    }
}

/// The statement that this line, counted from 1, belongs to: the number of its first line, and its
/// text in one line. Compilers give the last line of a statement as the line of a call.
pub(super) fn statement(lines: &[String], line: u32, form: Form) -> Option<(u32, String)> {
    let is_empty = |at: &usize| form.code(&lines[*at]).is_empty();
    let mut first = (line as usize).checked_sub(1)?;
    lines.get(first)?;
    while let Some(before) = (0..first).rev().find(|at| !is_empty(at))
        && form.continues(&lines[before], &lines[first])
    {
        first = before;
    }
    let mut last = first;
    let mut text = form.code(&lines[first]).to_owned();
    while let Some(next) = (last + 1..lines.len()).find(|at| !is_empty(at))
        && form.continues(&lines[last], &lines[next])
    {
        let whole = text.trim_end_matches('&').trim_end().len();
        text.truncate(whole);
        text += " ";
        text += form.part(&lines[next]).trim();
        last = next;
    }
    let text = text.trim_end_matches('&').trim_end().to_owned();
    Some((u32::try_from(first + 1).ok()?, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, line: u32, form: Form) -> (u32, String) {
        let lines: Vec<String> = text.lines().map(String::from).collect();
        statement(&lines, line, form).unwrap()
    }

    const FREE: &str = "\
x = 1
  call MPI_Send(text, & ! the text
     ! nothing

     &  3, MPI_COMM_WORLD, &
     'a & b ! c')  ! sent
if (x == 1) call MPI_Barrier(MPI_COMM_WORLD)
";

    #[test]
    fn a_statement_in_free_form_is_continued_by_its_lines() {
        let sent = (2, "call MPI_Send(text, 3, MPI_COMM_WORLD, 'a & b ! c')".to_owned());
        for line in [2, 5, 6] {
            assert_eq!(found(FREE, line, Form::Free), sent);
        }
        assert_eq!(found(FREE, 1, Form::Free), (1, "x = 1".into()));
        let barrier = "if (x == 1) call MPI_Barrier(MPI_COMM_WORLD)";
        assert_eq!(found(FREE, 7, Form::Free), (7, barrier.into()));
        assert_eq!(statement(&[], 1, Form::Free), None);
    }

    const FIXED: &str = "\
c     sends it
      x = 1
  10  call MPI_Send(text,
c     nothing
     &                3,
     !                4) ! sent
      y = 2
";

    #[test]
    fn a_statement_in_fixed_form_is_continued_by_column_6() {
        let sent = (3, "10  call MPI_Send(text, 3, 4)".to_owned());
        for line in [3, 5, 6] {
            assert_eq!(found(FIXED, line, Form::Fixed), sent);
        }
        assert_eq!(found(FIXED, 7, Form::Fixed), (7, "y = 2".into()));
    }

    #[test]
    fn the_name_of_a_file_tells_its_form() {
        let forms = ["a.f", "a.F", "a.f90", "a.F08", "a.c", "a"].map(|name| Form::of(name, &[]));
        let (fixed, free) = (Some(Form::Fixed), Some(Form::Free));
        assert_eq!(forms, [fixed, fixed, free, free, None, None]);
        let form = |text: &str| Form::of("a.f", &[text.to_owned()]);
        assert_eq!(form("program a"), free);
        let others = ["c comment", "\tcall x", " 100  continue", "      end", "     & x", "#if X"];
        assert!(others.iter().all(|line| form(line) == fixed));
    }
}
