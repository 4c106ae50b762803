//! What `cargo package` puts together: all that the crate is built of, and no more.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::tidy::files;

/// What cargo makes, and what is there for the people who unpack it.
const BESIDE: [&str; 9] = [
    ".cargo_vcs_info.json",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "build.rs",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The path below the root, without `..`, as cargo writes it.
fn name(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.strip_prefix(root()).expect("a file of the project").components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            part => parts.push(part.as_os_str().to_str().expect("a plain name")),
        }
    }
    parts.join("/")
}

/// The files that this source includes. A macro may name them by the ends of their paths.
fn included(source: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(source).expect("a source file");
    let folder = source.parent().expect("a folder");
    let mut found = Vec::new();
    for rest in ["include_str!(", "include_bytes!(", "include!("]
        .into_iter()
        .flat_map(|word| text.split(word).skip(1))
    {
        let rest = rest.trim_start();
        let literal = |rest: &str| rest.split('"').nth(1).expect("a name").to_owned();
        match rest.strip_prefix("concat!(") {
            None => {
                assert!(rest.starts_with('"'), "{}: which file is included?", source.display());
                found.push(folder.join(literal(rest)));
            }
            Some(rest) => {
                let start = literal(rest);
                let ends = text.split('"').filter(|word| word.ends_with(".maz"));
                found.extend(ends.map(|end| folder.join(format!("{start}{end}"))));
            }
        }
    }
    found
}

#[test]
fn the_package_has_what_it_is_built_of_and_no_more() {
    let sources = files("src", "rs");
    let mut needed: BTreeSet<String> = sources.iter().map(|path| name(path)).collect();
    needed.extend(sources.iter().flat_map(|path| included(path)).map(|path| name(&path)));
    let has = |end: &str| needed.iter().filter(|name| name.ends_with(end)).count();
    assert!(has(".c") > 50 && has(".maz") > 30 && has(".js") > 5 && has(".md") == 3, "{needed:?}");
    needed.extend(BESIDE.map(String::from));

    let listed = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["package", "--list", "--offline", "--locked", "--allow-dirty"])
        .current_dir(root())
        .output()
        .expect("cargo");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).expect("plain names");
    let mut listed: BTreeSet<String> = listed.lines().map(|line| line.replace('\\', "/")).collect();
    // It is there only in a checkout of git.
    listed.insert(BESIDE[0].to_owned());
    let missing: Vec<_> = needed.difference(&listed).collect();
    let more: Vec<_> = listed.difference(&needed).collect();
    assert!(missing.is_empty() && more.is_empty(), "missing: {missing:#?}, too many: {more:#?}");
}
