//! The constants of MPI, read from `mpi.h`, so that they have the same values in Fortran.

/// The header for programs in C.
const HEADER: &str = include_str!("../c/mpi.h");

/// A constant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) name: &'static str,
    /// The kind of handle; `None` if it is a number.
    pub(super) handle: Option<&'static str>,
    pub(super) number: i64,
}

/// A number in C.
fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The constants of handles, and numbers. Those for tools, and pointers, are left out.
pub(super) fn values() -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    let mut add = |name: &'static str, text: &'static str| {
        let is_pointer = text.contains('*');
        let is_other = ["MPI_T_", "MPI_F_", "MPI_F08_"].iter().any(|start| name.starts_with(start));
        if is_pointer || is_other {
            return;
        }
        let same = found.iter().find(|known| known.name == text);
        if let Some(Value { handle, number, .. }) = same {
            let value = Value { name, handle: *handle, number: *number };
            found.push(value);
            return;
        }
        let cast = text.strip_prefix("((").and_then(|text| text.strip_suffix(')'));
        let (handle, text) = match cast.and_then(|text| text.split_once(')')) {
            Some((kind, text)) => (kind.strip_prefix("MPI_"), text),
            None => (None, text),
        };
        let handle = handle.filter(|kind| super::HANDLES.contains(kind));
        if let Some(number) = number(text) {
            // The lengths of texts do not count the 0 that ends them in C.
            let is_length = name.starts_with("MPI_MAX_");
            found.push(Value { name, handle, number: number - i64::from(is_length) });
        }
    };
    let mut rest = HEADER;
    while let Some(line) = rest.lines().next() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("#define") => {
                if let Some(name) = words.next().filter(|name| name.starts_with("MPI_"))
                    && let Some(at) = line.find(name)
                {
                    add(name, line[at + name.len()..].trim());
                }
            }
            Some("enum") if let Some((head, _)) = rest.split_once('}') => {
                let members = head.split_once('{').map_or("", |(_, members)| members);
                for member in members.split(',') {
                    if let Some((name, number)) = member.split_once('=') {
                        add(name.trim(), number.trim());
                    }
                }
                rest = &rest[head.len()..];
            }
            _ => {}
        }
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_those_of_the_header() {
        let all = values();
        let value = |name| all.iter().find(|value| value.name == name).unwrap();
        let known = |name, handle, number| assert_eq!(value(name), &Value { name, handle, number });
        known("MPI_COMM_WORLD", Some("Comm"), 257);
        known("MPI_LONG_LONG_INT", Some("Datatype"), 0x20b);
        known("MPI_ANY_SOURCE", None, -1);
        known("MPI_ERR_BUFFER", None, 1);
        known("MPI_MAX_ERROR_STRING", None, 511);
        known("MPI_DISPLACEMENT_CURRENT", None, -1);
        known("MPI_TYPECLASS_COMPLEX", None, 194);
        assert!(all.iter().all(|value| !value.name.starts_with("MPI_T_")));
    }

    /// Each name of a constant in the header is one, but for pointers and the members of a status.
    #[test]
    fn no_constant_is_forgotten() {
        let all = values();
        let others = ["MPI_T_", "MPI_F_", "MPI_F08_", "MPI_ARGV", "MPI_ERRCODES", "MPI_STATUS"];
        let pointers = ["BOTTOM", "IN_PLACE", "BUFFER_AUTOMATIC", "UNWEIGHTED", "WEIGHTS_EMPTY"];
        let members = ["SOURCE", "TAG", "ERROR"];
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let is_constant = |word: &&str| {
            let name = word.strip_prefix("MPI_").unwrap_or_default();
            name.len() > 1
                && !name.contains(|letter: char| letter.is_ascii_lowercase())
                && !others.iter().any(|start| word.starts_with(start))
                && !pointers.contains(&name)
                && !members.contains(&name)
                && !name.contains("_FN")
        };
        let words: Vec<_> = HEADER.split(|c| !is_part(c)).filter(is_constant).collect();
        assert!(words.len() > 260, "{}", words.len());
        for word in words {
            assert!(all.iter().any(|value| value.name == word), "{word}");
        }
    }
}
