//! Modules of a folder that import one another. A module stands here for all that is below it.

use std::collections::{BTreeMap, BTreeSet};

use super::{code, files, read, root, top_level};

/// The circles that there are: a folder, its modules that import one another, and why. None may
/// come; one that is gone is deleted here. `explore` is not among the folders, because
/// [`super::EXPLORE`] orders its files.
const CIRCLES: &[(&str, &str, &str)] = &[
    (
        "lang",
        "books objects",
        "An operation notes in the books what its kind of object has to remember.",
    ),
    (
        "lang",
        "check code constant coverage hir interpret program prospect symmetry walk",
        "The checker runs constants by the interpreter, and a program answers what it may do.",
    ),
    (
        "model",
        "actors audit declarations describe effect foresight invariants list liveness locals map \
         object_table objects op opaque reach set state symmetry system touch value",
        "A system names operations and values, whose meaning is said on states of systems.",
    ),
    (
        "model::objects",
        "mailbox posted",
        "What is posted at a mailbox is kept apart from its rules, and a request names both.",
    ),
    (
        "mpi",
        "compiler library",
        "The library is compiled by the compiler, which links programs with it.",
    ),
    (
        "mpi",
        "ranks servers",
        "Ranks start servers, by what is launched, which is part of the face of ranks.",
    ),
    (
        "program",
        "panics process spawning text",
        "A process spawns others, and a panic in one is a text of the process that failed.",
    ),
    (
        "property",
        "arrows changes deadlock leaks objects replay snapshot suppliers",
        "A kind of object says all that reports tell of it, in the terms of these reports.",
    ),
    (
        "property::objects",
        "mailbox network",
        "Both modes of mailboxes show what is open in one way.",
    ),
    (
        "trace",
        "execution race spin",
        "Fruitless rounds end at completions, which races find; executions leave them out.",
    ),
    (
        "threads",
        "alloc ask locals scope statics sync system thread token unwind waiting watch world",
        "The code of a thread asks the system that runs it, by the interfaces of objects.",
    ),
    (
        "unfolding",
        "configuration cut structure",
        "The structure keeps the cuts of its events, and conflicts are asked of configurations.",
    ),
];

/// The paths that a tree of imports names: `a::{b, c::d}` names `a::b` and `a::c::d`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((before, list)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or("").split_whitespace().collect()];
    };
    let items = top_level(list).into_iter().filter(|item| !item.trim().is_empty());
    items.flat_map(leaves).map(|leaf| format!("{}{leaf}", before.trim())).collect()
}

/// The modules of the crate by their paths below it, each with its code and what it imports.
struct Modules {
    code: BTreeMap<String, String>,
    imports: BTreeMap<String, Vec<Vec<String>>>,
}

impl Modules {
    fn read() -> Modules {
        let mut modules = Modules { code: BTreeMap::new(), imports: BTreeMap::new() };
        for path in files("src", "rs") {
            let below = path.strip_prefix(root().join("src")).expect("a source file");
            let module = below.with_extension("").to_string_lossy().replace(['/', '\\'], "::");
            modules.code.insert(module, code(&read(&path)));
        }
        for (module, code) in &modules.code {
            let trees = code.split("use ").skip(1).filter_map(|rest| rest.split(';').next());
            let paths = trees.flat_map(leaves);
            let paths = paths.filter_map(|path| modules.absolute(module, &path)).collect();
            modules.imports.insert(module.clone(), paths);
        }
        modules
    }

    /// A path that is named in a module, from the root of the crate. `None` if it leads out.
    fn absolute(&self, module: &str, path: &str) -> Option<Vec<String>> {
        let mut names: Vec<&str> = path.split("::").collect();
        let mut from: Vec<&str> = module.split("::").collect();
        match names[0] {
            "crate" => from.clear(),
            "self" => {}
            "super" => {
                from.pop();
            }
            child => self.code.get(&format!("{module}::{child}")).map(|_| names.insert(0, ""))?,
        }
        names.remove(0);
        while names.first() == Some(&"super") {
            from.pop();
            names.remove(0);
        }
        Some(from.into_iter().chain(names).map(String::from).collect())
    }

    /// The module that defines what a path names, through what modules hand on of others.
    fn home(&self, path: &[String]) -> Option<String> {
        let mut path = path.to_vec();
        for _ in 0..8 {
            let known = |&n: &usize| self.code.contains_key(&path[..n].join("::"));
            let length = (1..=path.len()).rev().find(known)?;
            let module = path[..length].join("::");
            let handed_on = path.get(length).and_then(|name| {
                self.imports[&module].iter().find(|import| import.last() == Some(name))
            });
            match handed_on {
                Some(import) if *import != path => path = import.clone(),
                _ => return Some(module),
            }
        }
        None
    }

    /// The modules whose items a module names.
    fn named(&self, module: &str) -> BTreeSet<String> {
        let paths = ["crate::", "super::"].into_iter().flat_map(|start| {
            self.code[module].split(start).skip(1).map(move |rest| {
                let name = |c: &char| c.is_alphanumeric() || "_:".contains(*c);
                format!("{start}{}", rest.chars().take_while(name).collect::<String>())
            })
        });
        let paths = paths.filter(|path| !path.ends_with(':'));
        let inline = paths.filter_map(|path| self.absolute(module, &path));
        let all = self.imports[module].iter().cloned().chain(inline);
        all.filter_map(|path| self.home(&path)).filter(|home| home != module).collect()
    }

    /// The circles within a folder: sets of its modules, sorted.
    fn circles(&self, folder: &str) -> BTreeSet<Vec<String>> {
        let child = |module: &str| {
            let below = module.strip_prefix(folder)?.strip_prefix("::")?;
            below.split("::").next().map(String::from)
        };
        let mut reached: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for module in self.code.keys() {
            let Some(from) = child(module) else { continue };
            let named = self.named(module).into_iter().filter_map(|named| child(&named));
            reached.entry(from).or_default().extend(named);
        }
        loop {
            let before = reached.clone();
            for all in reached.values_mut() {
                let further = all.iter().filter_map(|m| before.get(m)).flatten();
                let further: Vec<String> = further.cloned().collect();
                all.extend(further);
            }
            if reached == before {
                break;
            }
        }
        let circle = |module: &String| -> Vec<String> {
            let both = |m: &&String| reached[module].contains(*m) && reached[*m].contains(module);
            reached.keys().filter(both).cloned().collect()
        };
        reached.keys().map(circle).filter(|circle| circle.len() > 1).collect()
    }
}

#[test]
fn trees_of_imports_are_read() {
    assert_eq!(leaves("a::{self, b::{c, d as e}, f}"), ["a::self", "a::b::c", "a::b::d", "a::f"]);
}

#[test]
fn modules_of_a_folder_import_one_another_only_where_listed() {
    let modules = Modules::read();
    let folders: BTreeSet<&str> =
        modules.code.keys().filter_map(|m| m.rsplit_once("::")).map(|(folder, _)| folder).collect();
    let found: BTreeSet<(&str, String)> = folders
        .into_iter()
        .filter(|folder| *folder != "explore")
        .flat_map(|f| modules.circles(f).into_iter().map(move |circle| (f, circle.join(" "))))
        .collect();
    let listed: BTreeSet<(&str, String)> =
        CIRCLES.iter().map(|(folder, circle, _)| (*folder, circle.to_string())).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(new.is_empty(), "files import one another: {new:#?}");
    assert!(gone.is_empty(), "no circle any more, so delete them from the list: {gone:#?}");
}
