//! Programs whose names say whether they are wrong, as in RMARaceBench
//! (`002-MPI-put-store-local-yes.c`), or whose folders do, as in MPI-CorrBench (`correct/pt2pt/a.c`
//! and `pt2pt/a.c`).

use std::path::{Component, Path};

use super::{Expected, Program, Suite, Test, places};

/// The comment above a line that takes part in a race.
const CONFLICT: &str = "// CONFLICT";

/// Definitions that the scripts of MPI-CorrBench pass to the compiler.
const DEFINED: [&str; 2] = ["-DNUM_THREADS=2", "-DBUFFER_LENGTH_INT=10"];

/// The folder of correct programs.
const CORRECT: &str = "correct";

/// The test of a program whose name ends in whether there is a race: `local-yes`, `remote-no`. Its
/// text gives the number of ranks. `None` if the name does not end like that.
pub(super) fn by_ending(file: &Path, text: &str) -> Option<Result<Test, String>> {
    let stem = file.file_stem()?.to_str()?;
    let (rest, answer) = stem.rsplit_once('-')?;
    let kind = match rest.rsplit_once('-')?.1 {
        "local" => "LocalConcurrency",
        "remote" => "GlobalConcurrency",
        _ => return None,
    };
    let expected = match answer {
        "yes" => Expected::Wrong(Some(kind.into())),
        "no" => Expected::Right,
        _ => return None,
    };
    let is_marked =
        |line: &str| expected != Expected::Right && line.trim_start().starts_with(CONFLICT);
    let marked = text.lines().enumerate().filter(|(_, line)| is_marked(line));
    // Lines count from 1, and the comment is above its line.
    let places = places(file, marked.map(|(index, _)| index + 2));
    let ranks = text.lines().find_map(|line| line.trim().strip_prefix("#define PROC_NUM"));
    let ranks = ranks.and_then(|number| number.trim().parse().ok());
    Some(ranks.ok_or_else(|| "no line `#define PROC_NUM`".to_owned()).map(|ranks| Test {
        ranks,
        buffering: None,
        arguments: Vec::new(),
        expected,
        places,
    }))
}

impl Suite {
    /// The program in a file that is sorted by folder: it is correct in a folder `correct`; it is
    /// wrong outside of one that exists beside it or further up. `None` if there is no such folder.
    pub(super) fn by_folder(&self, file: &Path) -> Option<Program> {
        let is_correct = |folder: Component<'_>| folder.as_os_str() == CORRECT;
        let expected = if file.components().any(is_correct) {
            Expected::Right
        } else if file.ancestors().skip(1).any(|folder| self.has(&folder.join(CORRECT))) {
            Expected::Wrong(None)
        } else {
            return None;
        };
        let options = DEFINED.map(str::to_owned).into();
        Some(Program { options, ..Program::of(file, vec![self.test(expected)]) })
    }

    /// Whether there is a file in this folder.
    fn has(&self, folder: &Path) -> bool {
        self.files.range(folder.to_owned()..).next().is_some_and(|file| file.starts_with(folder))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const RACE: &str = "#define PROC_NUM 3
int main() {
    // CONFLICT
    MPI_Put(..);
}
";

    #[test]
    fn names_say_whether_there_is_a_race() {
        let read = |name: &str| by_ending(Path::new(name), RACE).map(Result::unwrap);
        let test = read("sync/001-MPI-sync-fence-local-yes.c").unwrap();
        assert_eq!(test.ranks, 3);
        assert_eq!(test.expected, Expected::Wrong(Some("LocalConcurrency".into())));
        assert!(test.places.contains("001-MPI-sync-fence-local-yes.c:4"), "{:?}", test.places);
        let test = read("001-MPI-sync-fence-remote-no.c").unwrap();
        assert_eq!((test.expected, test.places.len()), (Expected::Right, 0));
        let expected = read("001-MPI-sync-fence-remote-yes.c").unwrap().expected;
        assert_eq!(expected, Expected::Wrong(Some("GlobalConcurrency".into())));
        assert_eq!(read("oh-no.c"), None);
        assert_eq!(read("a-local-maybe.c"), None);
        assert!(by_ending(Path::new("a-local-no.c"), "int main;").unwrap().is_err());
    }

    #[test]
    fn folders_say_what_is_right() {
        let files = ["coll/a.c", "correct/coll/a.c", "hybrid/b.c", "hybrid/correct/b.c"];
        let suite = Suite::new(files.map(PathBuf::from));
        let expected = |file: &str| {
            let program = suite.by_folder(Path::new(file))?;
            Some(program.tests[0].expected.clone())
        };
        for right in ["correct/coll/a.c", "hybrid/correct/b.c"] {
            assert_eq!(expected(right), Some(Expected::Right), "{right}");
        }
        for wrong in ["coll/a.c", "hybrid/b.c"] {
            assert_eq!(expected(wrong), Some(Expected::Wrong(None)), "{wrong}");
        }
        let alone = Suite::new(["coll/a.c", "correctness/a.c"].map(PathBuf::from));
        assert_eq!(alone.by_folder(Path::new("coll/a.c")), None);
    }
}
