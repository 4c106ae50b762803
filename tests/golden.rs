//! Golden files: what the program says, compared to the letter.
//!
//! Each `tests/golden/diagnostics/*.maz` is a wrong program; the `.txt` beside it is what compiling it must
//! say. With `MAZURKA_BLESS=1` in the environment the texts are written instead of compared.

use std::fs;
use std::path::{Path, PathBuf};

use mazurka::lang;

fn specs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/diagnostics");
    let entries = fs::read_dir(folder).expect("the folder of golden diagnostics");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "maz"));
    paths.sort();
    paths
}

/// `// -D N=4` on the first line sets constants.
fn overrides(source: &str) -> Vec<(String, String)> {
    let first = source.lines().next().unwrap_or("");
    let words: Vec<_> = first.trim_start_matches("//").split_whitespace().collect();
    let settings = words.windows(2).filter(|pair| pair[0] == "-D");
    settings
        .filter_map(|pair| pair[1].split_once('='))
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .collect()
}

fn diagnose(path: &Path) -> String {
    let source = fs::read_to_string(path).expect("a readable spec");
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
    match lang::compile(name, &source, &overrides(&source)) {
        Ok(program) => format!("no errors\n\n{}", program.warnings().render(false)),
        Err(diagnostics) => diagnostics.render(false),
    }
}

#[test]
fn diagnostics() {
    let bless = std::env::var("MAZURKA_BLESS").is_ok_and(|value| value == "1");
    let mut differing = Vec::new();
    let specs = specs();
    assert!(specs.len() >= 15, "only {} golden specs", specs.len());
    for path in specs {
        let found = diagnose(&path);
        let golden = path.with_extension("txt");
        if bless {
            fs::write(&golden, &found).expect("a writable golden file");
        } else if fs::read_to_string(&golden).unwrap_or_default() != found {
            differing.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(
        differing.is_empty(),
        "run with MAZURKA_BLESS=1 if this is right:\n{}",
        differing.join("\n")
    );
}
