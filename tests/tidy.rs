//! The rules of the code base that a compiler does not check (design: layers, silence, sizes).

mod circles;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::agreement::expectations;

/// What each part of the crate may import, besides itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("audit", &["model"]),
    ("trace", &["model"]),
    ("random", &[]),
    ("unfolding", &["random", "model"]),
    ("property", &["trace", "model"]),
    ("lang", &["model"]),
    ("alternatives", &["unfolding", "model"]),
    ("explore", &["trace", "unfolding", "alternatives", "property", "random", "model"]),
    ("study", &["explore", "lang", "random", "model"]),
    ("systems", &["lang", "model"]),
    ("mpi", &["systems", "explore", "property", "model"]),
    ("program", &["systems", "model"]),
    ("threads", &["check", "program", "systems", "explore", "random", "model"]),
    ("check", &["report", "study", "explore", "property", "model"]),
    ("report", &["study", "explore", "unfolding", "alternatives", "trace", "property", "model"]),
    ("workshop", &["report", "study", "lang", "explore", "random", "model"]),
    (
        "cli",
        &[
            "workshop",
            "audit",
            "mpi",
            "systems",
            "report",
            "study",
            "lang",
            "explore",
            "unfolding",
            "alternatives",
            "trace",
            "property",
            "random",
            "model",
        ],
    ),
];

/// What one file may import besides: a name that others expect there.
const NAMES: &[(&str, &str)] = &[("src/model.rs", "threads")];

/// What belongs to the command line.
const EDGES: &[&str] = &[
    "println!",
    "eprintln!",
    "print!(",
    "eprint!(",
    "dbg!",
    "std::env",
    "std::fs",
    "std::process",
    "io::stdout",
    "io::stderr",
    "io::stdin",
    "File::open",
    "File::create",
    "env!(",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The specs without demands on endless executions. On the others, searches that look only for what
/// goes wrong at some time need not end.
pub fn specs_without_demands() -> Vec<PathBuf> {
    let mut specs = files("specs", "maz");
    specs.retain(|path| {
        let text = fs::read_to_string(path).expect("a spec");
        !["eventually", "leadsto"].iter().any(|word| text.contains(word))
    });
    specs
}

/// About one of `share` of these files. Which ones depends on their names alone: so with a new file,
/// what is tried of the others is the same.
pub fn some_of(files: Vec<PathBuf>, share: usize) -> impl Iterator<Item = PathBuf> {
    files.into_iter().filter(move |path| {
        let name = path.strip_prefix(root()).expect("a file of the project").as_os_str();
        // FNV-1a.
        let number = name.as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |number, &byte| {
            (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (number >> 32).is_multiple_of(share as u64)
    })
}

/// The files below `folder` that end in `extension`, sorted.
pub fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![root().join(folder)];
    while let Some(folder) = pending.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for entry in entries.map(|entry| entry.expect("a directory entry").path()) {
            // Build output of other projects is not checked.
            if entry.is_dir() && !entry.ends_with("target") {
                pending.push(entry);
            } else if entry.extension().is_some_and(|found| found == extension) {
                found.push(entry);
            }
        }
    }
    found.sort();
    found
}

/// All that is written in Rust.
fn sources() -> impl Iterator<Item = PathBuf> {
    ["src", "tests", "benches", "examples"].into_iter().flat_map(|folder| files(folder, "rs"))
}

/// The name of a file below the root, for messages.
fn name(path: &Path) -> String {
    path.strip_prefix(root()).expect("a file of the project").display().to_string()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Known at compile time, so not an access to the environment.
const VERSION: &str = "env!(\"CARGO_PKG_VERSION\")";

/// The code of a file without comments and unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().expect("there is always a first part");
    text.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect()
}

/// The part of the crate that a file belongs to.
fn part(path: &Path) -> String {
    let below = path.strip_prefix(root().join("src")).expect("a source file");
    let first = below.components().next().expect("a name").as_os_str();
    first.to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// The parts of the crate that this code names: `crate::part` and `use crate::{part, other}`.
fn imports(code: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let names: Vec<&str> = match rest.strip_prefix('{') {
            None => vec![rest],
            Some(list) => top_level(list),
        };
        let word = |name: &str| {
            name.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().map(String::from)
        };
        parts.extend(names.into_iter().filter_map(word).filter(|word| !word.is_empty()));
    }
    parts
}

/// The items of a list up to its closing brace.
fn top_level(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut items) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                items.push(&list[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    items
}

#[test]
fn imports_are_found() {
    let code = "use crate::model::{State, System};\nuse crate::{\n    explore::{Driver, Budget}, lang,\n};\nlet x = crate::trace::y();";
    assert_eq!(imports(code), ["model", "explore", "lang", "trace"]);
}

/// The checker of certificates is small: 1,000 lines of code, without comments, for classes and
/// states, and 1,200 more for events. It knows the model only by what is public.
#[test]
fn the_audit_is_small() {
    let mut paths = files("src/audit", "rs");
    paths.push(root().join("src/audit.rs"));
    let is_code = |line: &&str| !matches!(line.trim_start().get(..2), None | Some("//"));
    let lines = |path: &PathBuf| {
        read(path).lines().filter(|line| line.trim() == "}" || is_code(line)).count()
    };
    let is_of_events = |path: &&PathBuf| {
        ["cutoffs", "events", "pieces", "rest"]
            .map(|name| format!("src/audit/{name}.rs"))
            .contains(&name(path))
    };
    let (events, others): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(is_of_events);
    for (files, most) in [(others, 1_000), (events, 1_200)] {
        let lines: usize = files.into_iter().map(lines).sum();
        assert!(lines <= most, "{lines} lines");
    }
    let texts: Vec<String> = paths.iter().map(|path| read(path)).collect();
    let mut imported: Vec<String> = texts.iter().flat_map(|text| imports(&code(text))).collect();
    imported.sort();
    imported.dedup();
    assert_eq!(imported, ["model"]);
}

#[test]
fn imports_go_one_way() {
    let layers: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let mut offences = Vec::new();
    for path in files("src", "rs") {
        let part = part(&path);
        if part == "lib" || part == "main" {
            continue;
        }
        let Some(allowed) = layers.get(part.as_str()) else {
            offences.push(format!("{}: {part} has no place among the layers", name(&path)));
            continue;
        };
        for import in imports(&code(&read(&path))) {
            let known = layers.contains_key(import.as_str());
            if NAMES.contains(&(name(&path).as_str(), import.as_str())) {
                continue;
            }
            if known && import != part && !allowed.contains(&import.as_str()) {
                offences.push(format!("{}: {part} imports {import}", name(&path)));
            }
        }
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

#[test]
fn only_the_command_line_prints_reads_and_asks() {
    let mut offences = Vec::new();
    for path in files("src", "rs")
        .into_iter()
        .filter(|path| !["cli", "main", "mpi"].contains(&part(path).as_str()))
        .filter(|path| {
            !["again.rs", "memory.rs", "saved.rs"]
                .iter()
                .any(|f| path.ends_with(format!("src/check/{f}")))
        })
    {
        for (number, line) in code(&read(&path)).lines().enumerate() {
            offences.extend(
                EDGES
                    .iter()
                    .filter(|edge| line.replace(VERSION, "").contains(**edge))
                    .map(|edge| format!("{}:{}: {edge}", name(&path), number + 1)),
            );
        }
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

#[test]
fn files_are_of_a_size_to_be_read() {
    let mut offences = Vec::new();
    for path in sources() {
        let lines = read(&path).lines().count();
        let limit = if path == root().join("src/main.rs") { 29 } else { 600 };
        offences.extend((lines > limit).then(|| format!("{}: {lines} lines", name(&path))));
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

/// As wide as the code is (`max_width`). A row of a table cannot be broken, nor can a drawing.
#[test]
fn comments_are_as_wide_as_code() {
    let mut offences = Vec::new();
    for path in files("src", "rs") {
        for (number, line) in read(&path).lines().enumerate() {
            let text = line.trim_start();
            let is_row = text.get(3..).is_some_and(|text| text.trim_start().starts_with('|'));
            let is_drawing = text.contains('─');
            if text.starts_with("//") && !(is_row || is_drawing) && line.chars().count() > 100 {
                offences.push(format!("{}:{}", name(&path), number + 1));
            }
        }
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

/// Names that would fit many things. Only one type may have such a name.
const GENERAL_NAMES: [&str; 6] = ["Outcome", "Verdict", "Kind", "Frame", "Search", "Rule"];

#[test]
fn general_names_mean_one_thing() {
    let mut declared: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for path in files("src", "rs") {
        let code = code(&read(&path));
        let words: Vec<&str> = code
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|w| !w.is_empty())
            .collect();
        for pair in words.windows(2) {
            let is_declaration = ["enum", "struct", "trait", "type"].contains(&pair[0]);
            let known = GENERAL_NAMES.iter().find(|known| **known == pair[1]);
            if let Some(known) = known.filter(|_| is_declaration) {
                declared.entry(known).or_default().push(name(&path));
            }
        }
    }
    assert!(declared.contains_key("Outcome"), "declarations are found: {declared:?}");
    declared.retain(|_, files| files.len() > 1);
    assert!(declared.is_empty(), "{declared:#?}");
}

#[test]
fn nothing_is_left_to_be_done() {
    let markers = ["todo!", "unimplemented!"].map(|marker| format!("{marker}("));
    let mut offences = Vec::new();
    for path in sources() {
        let code = code(&read(&path));
        offences.extend(
            markers.iter().filter(|m| code.contains(*m)).map(|m| format!("{}: {m}", name(&path))),
        );
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

/// The reasons for leaving a test out of the ordinary run; see `tests/main.rs`.
const REASONS: [&str; 4] = ["slow", "needs a browser", "needs Graphviz", "needs MPI"];

/// What `build.rs` looks for, and the reason to ignore a test if it is missing.
const COMPILERS: [(&str, &str); 7] = [
    ("has_cc", "needs a C compiler"),
    ("has_cxx", "needs a C++ compiler"),
    ("has_fortran", "needs a Fortran compiler"),
    ("has_python", "needs Python"),
    ("has_bash", "needs Bash"),
    ("has_zsh", "needs zsh"),
    ("has_fish", "needs fish"),
];

#[test]
fn tests_are_ignored_for_known_reasons() {
    let always = REASONS.map(|reason| format!("#[ignore = \"{reason}\"]"));
    let at_times =
        COMPILERS.map(|(name, reason)| format!("#[cfg_attr(not({name}), ignore = \"{reason}\")]"));
    let mut offences = Vec::new();
    for path in sources() {
        for (number, line) in read(&path).lines().enumerate() {
            let line = line.trim();
            let is_ignored = line.starts_with("#[")
                && line.split(|c: char| !c.is_alphanumeric()).any(|word| word == "ignore");
            if is_ignored && !always.iter().chain(&at_times).any(|known| known == line) {
                offences.push(format!("{}:{}: {}", name(&path), number + 1, line));
            }
        }
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

#[test]
fn every_spec_says_what_to_expect() {
    let specs = files("specs", "maz");
    assert!(!specs.is_empty(), "there are specs");
    for path in specs {
        let read =
            expectations(&read(&path)).unwrap_or_else(|what| panic!("{}: {what}", name(&path)));
        assert!(read[0].verdict.is_some(), "{} expects no verdict", name(&path));
    }
}

/// The modules of `explore`, each after those that it may import.
const EXPLORE: &[&str] = &[
    "tree",
    "symptom",
    "result",
    "few_switches",
    "observer",
    "collected",
    "reached",
    "budget",
    "watchdog",
    "parallel::ahead",
    "course",
    "turns",
    "unvisited",
    "saved",
    "news",
    "driver",
    "findings",
    "helped",
    "ends",
    "order",
    "parallel::start",
    "parallel::demands",
    "walk",
    "pieces",
    "states::settings",
    "udpor::k",
    "over",
    "settings::options",
    "explorer",
    "kept",
    "sampling",
    "configurations",
    "dpor",
    "udpor",
    "states",
    "prefix::transitions",
    "prefix::replies",
    "prefix::kept",
    "prefix::unkept",
    "prefix::net",
    "prefix::branches",
    "prefix::learned",
    "prefix::locks",
    "prefix::aside",
    "prefix::question",
    "prefix::fewest",
    "prefix::answers",
    "prefix::ends",
    "prefix::search",
    "prefix::occurrence",
    "prefix::shown",
    "prefix::graph",
    "estimate",
    "auto",
    "parallel::place",
    "parallel::joined",
    "parallel::part",
    "parallel::cut",
    "parallel::crew",
    "parallel::dispatcher",
    "parallel::helpers",
    "parallel::threads",
    "parallel::kept",
    "auto",
    "settings::table",
    "settings::setting",
];

/// The path of a file's module below `explore`.
fn module(path: &Path) -> Option<String> {
    let below = path.strip_prefix(root().join("src/explore")).ok()?;
    Some(below.with_extension("").to_string_lossy().replace(['/', '\\'], "::"))
}

/// The modules of `explore` that a file imports, of all that there are.
fn imported(text: &str, module: &str, all: &[String]) -> Vec<String> {
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut found = Vec::new();
    for (prefix, folder) in [("use crate::explore::", ""), ("use super::", parent)] {
        for rest in code(text).split(prefix).skip(1) {
            let path: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
            let path = if folder.is_empty() { path } else { format!("{folder}::{path}") };
            let named = all.iter().filter(|m| path == **m || path.starts_with(&format!("{m}::")));
            found.extend(named.max_by_key(|m| m.len()).cloned());
        }
    }
    found
}

#[test]
fn imports_within_explore_go_one_way_and_never_round() {
    let files = files("src/explore", "rs");
    let all: Vec<String> = files.iter().filter_map(|path| module(path)).collect();
    let place = |module: &str| {
        let above = |m: &&&str| {
            let m: &str = m;
            module == m || module.starts_with(&format!("{m}::"))
        };
        let best = EXPLORE.iter().filter(above).max_by_key(|m| m.len());
        best.and_then(|best| EXPLORE.iter().position(|m| m == best))
    };
    let is_root = |m: &str| all.iter().any(|other| other.starts_with(&format!("{m}::")));
    let mut imports: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut offences = Vec::new();
    for (path, module) in files.iter().zip(&all).filter(|(_, module)| !is_root(module)) {
        let Some(here) = place(module) else {
            offences.push(format!("{module} has no place within explore"));
            continue;
        };
        for import in imported(&read(path), module, &all) {
            if is_root(&import) {
                offences.push(format!("{module} imports {import}: name the file below it"));
            } else if place(&import).is_none_or(|there| there > here) {
                offences.push(format!("{module} imports {import}, which is above it"));
            }
            imports.entry(module.clone()).or_default().push(import);
        }
    }
    assert!(imports.values().map(Vec::len).sum::<usize>() > 100, "imports are found: {imports:#?}");
    // Modules that import none of the rest, or are imported by none, are removed. What cannot be
    // removed is on a cycle.
    let mut rest: Vec<&String> = all.iter().collect();
    loop {
        let others = rest.clone();
        let has = |from: &String, to: &String| imports.get(from).is_some_and(|i| i.contains(to));
        rest.retain(|m| others.iter().any(|o| has(m, o)) && others.iter().any(|o| has(o, m)));
        if rest.len() == others.len() {
            break;
        }
    }
    if !rest.is_empty() {
        offences.push(format!("files import one another: {rest:?}"));
    }
    assert!(offences.is_empty(), "{offences:#?}");
}

/// `benches/peers/tools` lists rows of a spec, its constants, a model for SPIN and its options; those of programs in C have
/// small constants, too.
#[test]
fn what_other_tools_run_is_there() {
    let text = read(&root().join("benches/peers/tools"));
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("    (\""))
        .map(|line| line.split('"').skip(1).step_by(2).collect())
        .collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let program = match row.len() {
            4 => format!("promela/{}.pml", row[2]),
            5 => format!("c/{}.c", row[2]),
            _ => panic!("{row:?}"),
        };
        for file in [format!("specs/{}.maz", row[0]), format!("benches/peers/{program}")] {
            assert!(root().join(&file).is_file(), "{file} is not there");
        }
    }
}

/// `benches/peers/protocols` lists protocols by their spec and their module of TLA+; each has a model
/// for every tool.
#[test]
fn protocols_are_there_for_every_tool() {
    let text = read(&root().join("benches/peers/protocols"));
    let listed: Vec<&str> = text.split("\n    Protocol(\n").skip(1).collect();
    assert!(listed.len() > 5, "{} protocols", listed.len());
    for protocol in listed {
        let end = protocol.find("\n    ),").expect("the end of a protocol");
        let strings: Vec<&str> = protocol[..end]
            .lines()
            .filter_map(|line| line.strip_prefix("        \"")?.strip_suffix("\","))
            .collect();
        let [spec, module] = strings[..] else { panic!("{strings:?}") };
        for file in [
            format!("specs/faults/{spec}.maz"),
            format!("benches/peers/promela/{spec}.pml"),
            format!("benches/peers/tla/{module}.tla"),
            format!("benches/peers/tla/{module}.cfg"),
        ] {
            assert!(root().join(&file).is_file(), "{file} is not there");
        }
    }
}
