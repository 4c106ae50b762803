//! The README and the book in `docs`: their examples and claims are true.
//!
//! Each block of code has a word after its fence:
//!
//! | word | what is tested |
//! |---|---|
//! | `console` | each command runs, and prints what is shown below it; `..` stands for the rest. `MAZURKA_BLESS=1` writes what is printed |
//! | `maz` | verified; or, if its first line is `// NAME.maz`, a file that the commands of the page use |
//! | `rust` | a doctest, by an item of `src/lib.rs` |
//! | `text` | what a test of the suite prints: see `check` and `program` |

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mazurka::explore::{Auto, Budget, Listed, NoObserver, Verdict, explore};
use mazurka::lang::compile;

use crate::tidy::files;

/// The pages whose examples are tested: the README, what stands beside it, and the chapters.
fn pages() -> Vec<Page> {
    let beside = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(|name| root().join(name));
    beside.into_iter().chain(files("docs/src", "md")).map(Page::read).collect()
}

/// The text of the README and of all chapters.
pub fn everything() -> String {
    pages().into_iter().map(|page| page.text).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file of the documentation.
struct Page {
    path: PathBuf,
    text: String,
}

/// A block of code, without its fences.
struct Block<'p> {
    word: &'p str,
    text: &'p str,
}

impl Page {
    fn read(path: PathBuf) -> Page {
        let text =
            fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        Page { path, text }
    }

    /// Its path below the root.
    fn name(&self) -> String {
        self.path.strip_prefix(root()).expect("a file of the project").display().to_string()
    }

    fn folder(&self) -> &Path {
        self.path.parent().expect("a folder")
    }

    /// The page with the files that it includes.
    fn expanded(&self) -> Page {
        let mut text = String::new();
        for line in self.text.lines() {
            let included = line.strip_prefix("{{#include ").and_then(|l| l.strip_suffix("}}"));
            match included {
                Some(file) => text += &Page::read(self.folder().join(file)).text,
                None => text += line,
            }
            text.push('\n');
        }
        Page { path: self.path.clone(), text }
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut parts = self.text.split("```");
        let mut blocks = Vec::new();
        while let (Some(_), Some(block)) = (parts.next(), parts.next()) {
            let (word, text) = block.split_once('\n').expect("a fence on a line of its own");
            blocks.push(Block { word, text });
        }
        blocks
    }

    /// Its text outside of blocks of code.
    fn prose(&self) -> String {
        self.text.split("```").step_by(2).collect()
    }

    /// The targets of its links and pictures.
    fn links(&self) -> Vec<String> {
        let prose = self.prose();
        let ends = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        ends.map(|(target, _)| target.to_owned()).collect()
    }

    /// The names by which its headings are linked to.
    fn anchors(&self) -> BTreeSet<String> {
        let prose = self.prose();
        let headings = prose.lines().filter(|line| line.starts_with('#'));
        let anchor = |heading: &str| {
            let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            words.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
        };
        headings.map(anchor).collect()
    }
}

impl Block<'_> {
    /// The name of the file that it is, if it is one.
    fn file(&self) -> Option<&str> {
        self.text.lines().next()?.strip_prefix("// ").filter(|name| name.ends_with(".maz"))
    }
}

#[test]
fn blocks_are_of_known_kinds() {
    let doctests = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    for page in pages() {
        for block in page.blocks() {
            let name = page.name();
            match block.word {
                "console" | "maz" | "text" => {}
                "rust" | "rust,should_panic" => {
                    let item = format!("include_str!(\"../{name}\")");
                    assert!(doctests.contains(&item), "{name} has Rust, and is no doctest");
                }
                word => panic!("{name}: a block of `{word}` is not tested"),
            }
        }
    }
}

/// By the default explorer: a page may show a protocol with very many interleavings.
fn assert_verified(text: &str) {
    let program = compile("page.maz", text, &[])
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors.render(false)));
    let outcome = explore(&program, Auto::default(), Budget::default(), &mut NoObserver);
    assert_eq!(outcome.verdict(), Verdict::Ok, "{text}");
}

#[test]
fn specs_are_verified() {
    let mut verified = 0;
    for page in pages() {
        for block in page.expanded().blocks().iter().filter(|block| block.word == "maz") {
            match block.file() {
                None => assert_verified(block.text),
                Some(file) => drop(compile(file, block.text, &[]).expect(file)),
            }
            verified += 1;
        }
    }
    assert!(verified > 20, "{verified} specs are found");
}

#[test]
fn links_lead_somewhere() {
    let others = ["specs/README.md", "benches/peers/README.md"].map(|name| root().join(name));
    let mut offences = Vec::new();
    for page in pages().into_iter().chain(others.map(Page::read)) {
        for link in page.links().into_iter().filter(|link| !link.starts_with("https://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.path.clone() } else { page.folder().join(file) };
            let is_there = target.exists()
                && (anchor.is_empty() || Page::read(target).expanded().anchors().contains(anchor));
            offences.extend((!is_there).then(|| format!("{}: {link}", page.name())));
        }
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

/// A path in a sentence denotes an existing file, also after files are moved.
#[test]
fn files_that_are_named_are_there() {
    let mut offences = Vec::new();
    let mut named = 0;
    for page in pages() {
        let prose = page.prose();
        for span in prose.split('`').skip(1).step_by(2) {
            let is_path = span.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
            let is_ours = ["src/", "tests/", "docs/", "examples/", "benches/", "visuals/"];
            if is_path && is_ours.iter().any(|folder| span.starts_with(folder)) {
                named += 1;
                let is_there = root().join(span).exists();
                offences.extend((!is_there).then(|| format!("{}: {span}", page.name())));
            }
        }
    }
    assert!(offences.is_empty(), "{offences:#?}");
    assert!(named > 30, "{named} files are named");
}

#[test]
fn every_chapter_is_in_the_summary() {
    let summary = Page::read(root().join("docs/src/SUMMARY.md"));
    let mut listed = summary.links();
    listed.push("SUMMARY.md".to_owned());
    listed.sort();
    let names = files("docs/src", "md").into_iter();
    let mut chapters: Vec<_> =
        names.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    chapters.sort();
    assert_eq!(listed, chapters);
}

#[test]
fn the_readme_is_short() {
    let readme = Page::read(root().join("README.md"));
    assert!(readme.text.lines().count() <= 250, "what is longer belongs into docs");
}

/// Measurements get old: they are in one place, with their date.
#[test]
fn measurements_have_a_chapter_of_their_own() {
    for page in pages() {
        let may_have_dates = ["CHANGELOG.md", "docs/src/performance.md"].contains(&&*page.name());
        let dates = page.text.matches("November 2026").count();
        assert_eq!(dates > 0, may_have_dates, "{}", page.name());
    }
}

/// The chapter on algorithms has a row for each explorer.
#[test]
fn every_explorer_has_its_row() {
    let page = Page::read(root().join("docs/src/algorithms.md"));
    for listed in Listed::all() {
        let name = format!("`{}`", listed.profile().name);
        let rows = page.text.lines().filter(|line| line.starts_with('|'));
        let mut firsts = rows.filter_map(|row| row.split('|').nth(1));
        assert!(firsts.any(|first| first.contains(&name)), "{name}");
    }
}

#[cfg(unix)]
mod commands {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use super::{Page, pages, root};
    use crate::cli::{code, stderr, stdout};

    /// Commands that are not run here, by their beginnings, with the reason. Their output is not
    /// shown.
    const LEFT_OUT: [(&str, &str); 19] = [
        ("mazurka check specs/memory/lastzero.maz -D N=12 --checkpoint", "takes long"),
        ("mazurka resume", "goes on with that"),
        (".ci/", "runs this test"),
        ("MPICC=", "takes minutes"),
        ("cargo bench", "takes minutes"),
        ("cargo install", "takes minutes"),
        ("cargo run --features tools", "takes an hour"),
        ("cargo run --release --features tools", "takes minutes"),
        ("cargo test", "runs this test"),
        ("mazurka check specs/mutex/dispatcher.maz -D S=5 -D R=5", "takes minutes in debug builds"),
        ("mazurka compare specs/mutex ", "takes minutes"),
        ("mazurka compare specs/structures", "takes minutes"),
        ("mazurka draw specs/actor/registry.maz", "needs Graphviz"),
        ("make -C NPB3.3-MPI", "needs benchmarks of NAS"),
        ("mazurka mpirun -n 4 NPB3.3-MPI", "needs benchmarks of NAS"),
        ("mazurka reproduce", "takes minutes"),
        ("mazurka study", "takes minutes"),
        ("mkdir NPB3.3-MPI", "needs benchmarks of NAS"),
        ("mpirun", "needs MPI"),
    ];

    fn is_left_out(command: &str) -> bool {
        LEFT_OUT.iter().any(|(start, _)| command.starts_with(start))
    }

    /// A folder with everything that the commands of the page need: the program, the folders that
    /// they name, and the page's own files.
    fn workplace(page: &Page) -> PathBuf {
        let name = page.name().replace('/', "-");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{}-docs-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        symlink(env!("CARGO_BIN_EXE_mazurka"), folder.join("mazurka")).unwrap();
        for part in ["specs", "examples", "tests"] {
            symlink(root().join(part), folder.join(part)).unwrap();
        }
        for block in page.blocks() {
            if let Some(file) = block.file() {
                fs::write(folder.join(file), block.text).unwrap();
            }
        }
        folder
    }

    /// The words of a line, without the figures of time and memory.
    fn without_cost(line: &str) -> Vec<&str> {
        if line.starts_with("Took ") {
            return vec!["Took"];
        }
        let mut words: Vec<&str> = Vec::new();
        for word in line.split_whitespace() {
            match word {
                "µs" | "ms" | "s" | "MiB" => drop(words.pop()),
                _ => words.push(word),
            }
        }
        words
    }

    /// The output of a command, given what is shown below it in the page.
    fn output(command: &str, shown: Vec<String>, folder: &Path) -> Vec<String> {
        if is_left_out(command) {
            assert!(shown.is_empty(), "nobody compares what `{command}` prints");
            return shown;
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-c", &command.replace("cargo run --release --", "mazurka")])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", folder.display()))
            .env("COLUMNS", "80")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!([0, 1, 3].contains(&code(&output)), "{command}: {}", stderr(&output));
        let printed = stdout(&output);
        let mut printed: Vec<String> = printed.trim_end().lines().map(String::from).collect();
        if shown.last().is_some_and(|last| last == "..") {
            printed.truncate(shown.len() - 1);
            printed.push("..".to_owned());
        }
        let is_same = |(line, other): (&String, &String)| without_cost(line) == without_cost(other);
        let are_same = shown.len() == printed.len() && shown.iter().zip(&printed).all(is_same);
        if shown.is_empty() || are_same { shown } else { printed }
    }

    /// The page with the actual output of its commands.
    fn replayed(page: &Page) -> String {
        let folder = workplace(page);
        let mut text = String::new();
        let mut is_console = false;
        let mut lines = page.text.lines().peekable();
        while let Some(line) = lines.next() {
            text += &format!("{line}\n");
            if line.starts_with("```") {
                is_console = line == "```console";
            }
            let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) else { continue };
            let mut shown = Vec::new();
            while let Some(next) = lines.next_if(|l| !l.starts_with("$ ") && *l != "```") {
                shown.push(next.to_owned());
            }
            text.extend(output(command, shown, &folder).into_iter().map(|line| line + "\n"));
        }
        fs::remove_dir_all(&folder).unwrap();
        text
    }

    /// Runs the commands of these pages.
    fn replay(pages: &[Page]) {
        let replayed: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                pages.iter().map(|page| scope.spawn(move || replayed(page))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a page")).collect()
        });
        for (page, text) in pages.iter().zip(replayed) {
            if std::env::var_os("MAZURKA_BLESS").is_some() {
                fs::write(&page.path, &text).unwrap();
                continue;
            }
            for (line, (shown, printed)) in page.text.lines().zip(text.lines()).enumerate() {
                assert_eq!(shown, printed, "{}:{}", page.name(), line + 1);
            }
            assert_eq!(page.text, text, "{}", page.name());
        }
    }

    fn needs_python(page: &Page) -> bool {
        page.text
            .lines()
            .any(|line| line.starts_with("$ mazurka mpirun") && line.contains("python3"))
    }

    fn needs(page: &Page, command: &str) -> bool {
        page.text.lines().any(|line| line.starts_with(command))
    }

    fn needs_compiler(page: &Page) -> bool {
        needs(page, "$ mazurka mpic") || needs_fortran(page)
    }

    fn needs_fortran(page: &Page) -> bool {
        needs(page, "$ mazurka mpif")
    }

    #[test]
    fn commands_print_what_is_shown() {
        let is_plain = |page: &Page| !needs_compiler(page) && !needs_python(page);
        let pages: Vec<Page> = pages().into_iter().filter(is_plain).collect();
        assert!(pages.len() > 10, "{} pages are compared", pages.len());
        replay(&pages);
    }

    #[test]
    #[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
    fn commands_for_programs_in_c_print_what_is_shown() {
        let is_meant = |page: &Page| needs_compiler(page) && !needs_fortran(page);
        let pages: Vec<Page> = pages().into_iter().filter(is_meant).collect();
        assert!(pages.len() > 1, "{} pages are compared", pages.len());
        replay(&pages);
    }

    #[test]
    #[cfg_attr(not(has_python), ignore = "needs Python")]
    fn commands_for_programs_in_python_print_what_is_shown() {
        let pages: Vec<Page> = pages().into_iter().filter(needs_python).collect();
        assert_eq!(pages.len(), 1, "pages are compared");
        replay(&pages);
    }

    #[test]
    #[cfg_attr(not(has_fortran), ignore = "needs a Fortran compiler")]
    fn commands_for_programs_in_fortran_print_what_is_shown() {
        let pages: Vec<Page> = pages().into_iter().filter(needs_fortran).collect();
        assert_eq!(pages.len(), 1, "pages are compared");
        replay(&pages);
    }

    #[test]
    fn what_is_left_out_is_there() {
        let text = super::everything();
        for (start, _) in LEFT_OUT {
            assert!(text.contains(&format!("$ {start}")), "no command begins with `{start}`");
        }
    }
}
