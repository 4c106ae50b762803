//! What editors know of the language: the words of the lexer are those of the grammars.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What stands between these two texts, wherever they are.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Vec<&'t str> {
    let found = text.split(before).skip(1);
    found.filter_map(|rest| rest.split_once(after).map(|(word, _)| word)).collect()
}

/// All regular expressions of the grammar.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let (true, Some(text)) = (name == "match", value.as_str()) {
                    found.push(text.into());
                }
                expressions(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| expressions(item, found)),
        _ => {}
    }
}

/// The words that mean something in the language, as the sources have them.
fn words() -> BTreeSet<String> {
    let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase()) && !word.is_empty();
    let lexer = read("src/lang/token.rs");
    let mut words: BTreeSet<String> = between(&lexer, "#[token(\"", "\")")
        .into_iter()
        .filter(is_word)
        .map(str::to_owned)
        .collect();
    let folder = root().join("src/lang/objects");
    let files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    for file in files.iter().filter(|file| file.is_file()) {
        let text = fs::read_to_string(file).unwrap();
        words.extend(between(&text, "..Description::new(\"", "\"").into_iter().map(str::to_owned));
    }
    // Words that are names elsewhere. (`fair` and `weak` are refused with advice.)
    for file in ["faults", "liveness", "actor"] {
        let text = read(&format!("src/lang/parser/{file}.rs"));
        let literals = text.split('"').skip(1).step_by(2);
        words.extend(literals.filter(is_word).map(str::to_owned));
    }
    words.retain(|word| word != "fair" && word != "weak");
    assert!(words.len() > 50 && words.contains("mailbox") && words.contains("stuck"), "{words:?}");
    words
}

#[test]
fn the_grammar_has_every_word_of_the_language() {
    let words = words();
    let grammar = read("editors/vscode/syntaxes/mazurka.tmLanguage.json");
    let grammar: Value = serde_json::from_str(&grammar).unwrap();
    let mut found = Vec::new();
    expressions(&grammar, &mut found);
    // `\b` before a word is no letter of it.
    let text = found.join(" ").replace("\\b", " ").replace("\\s", " ");
    let known: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let missing: Vec<_> = words.iter().filter(|word| !known.contains(word.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The files that the extension names are there, and the rules that the grammar includes.
#[test]
fn the_extension_is_whole() {
    let extension: Value = serde_json::from_str(&read("editors/vscode/package.json")).unwrap();
    let given = &extension["contributes"];
    let language = &given["languages"][0];
    assert_eq!(language["id"], given["grammars"][0]["language"]);
    assert_eq!(language["extensions"][0], ".maz");
    let configuration = language["configuration"].as_str().unwrap();
    let path = given["grammars"][0]["path"].as_str().unwrap();
    let code = read(&format!("editors/vscode/{}", extension["main"].as_str().unwrap()));
    // The names of the settings and of the command are those in the code.
    assert!(given["configuration"]["properties"]["mazurka.path"].is_object());
    let restricted = &extension["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"];
    assert_eq!(restricted[0], "mazurka.path");
    let command = given["commands"][0]["command"].as_str().unwrap();
    let server = read("src/cli/lsp.rs");
    assert!(code.contains(&format!("registerCommand(\"{command}\"")), "{command}");
    assert!(code.contains("getConfiguration(\"mazurka\").get(\"path\")"));
    let checks = between(&code, "const CHECK = ", ";");
    assert!(server.contains(&format!("const CHECK: &str = {};", checks[0])), "{checks:?}");
    for file in [configuration, path] {
        let text = read(&format!("editors/vscode/{file}"));
        serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    let text = read(&format!("editors/vscode/{path}"));
    let grammar: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(grammar["scopeName"], given["grammars"][0]["scopeName"]);
    let included = between(&text, "\"include\": \"#", "\"");
    assert!(!included.is_empty());
    for rule in included {
        assert!(grammar["repository"][rule].is_object(), "{rule}");
    }
}

/// The grammar for tree-sitter has each word and a colour for it, and the parser was generated since:
/// it has all texts and rules of the grammar. Whether it parses all specs is asked by hand: see
/// `docs/src/editors.md`.
#[test]
fn the_grammar_for_tree_sitter_has_every_word_and_is_generated() {
    let grammar = read("editors/tree-sitter/grammar.js");
    // The last rule is that of texts, with quotes of its own.
    let (rules, _) = grammar.split_once("string: (_)").expect("the rule of texts");
    let code: String = rules.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let texts: BTreeSet<&str> = code.split('"').skip(1).step_by(2).collect();
    let colours = read("editors/tree-sitter/queries/highlights.scm");
    let mut words = words();
    words.extend(["subset", "union", "minus", "intersect", "exists", "forall"].map(String::from));
    for word in &words {
        assert!(texts.contains(word.as_str()), "{word} is not in the grammar");
        let has_rule = ["true", "false"].contains(&word.as_str());
        assert!(has_rule || colours.contains(&format!("\"{word}\"")), "{word} has no colour");
    }
    let parser = read("editors/tree-sitter/src/parser.c");
    for text in texts.iter().filter(|text| **text != "mazurka") {
        let name = format!("] = \"{text}\",");
        assert!(parser.contains(&name), "generate the parser again: `{text}`");
    }
    for rule in between(&grammar, "\n    ", ": (").iter().filter(|rule| !rule.starts_with('_')) {
        let is_rule = rule.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let name = format!("sym_{rule}] = \"{rule}\",");
        assert!(!is_rule || parser.contains(&name), "generate the parser again: {rule}");
    }
}
