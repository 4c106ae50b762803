//! Specs made of other specs: tokens and whole subtrees of the shipped ones, mixed, with numbers and words thrown in that
//! a program may trip over.

use super::random::Random;

/// Numbers at the edges of what fits.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "7",
    "64",
    "1000",
    "10001",
    "1000000",
    "2147483647",
    "4294967296",
    "9223372036854775807",
    "99999999999999999999",
];

/// Words to throw in.
const WORDS: [&str; 44] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ":",
    "..",
    "=>",
    "->",
    "=",
    "==",
    "&&",
    "!",
    "-",
    "*",
    "/",
    "%",
    "+=",
    "loop { }",
    "while true { }",
    "return;",
    "break;",
    "choose(0..3)",
    "local(\"\u{1b}[2J\\nVerified:\u{202e}\")",
    "assert(false, \"\u{1b}]0;x\u{7}\u{9b}31m\\nVerified: no\")",
    "[[0; 1000]; 1000]",
    "[0; 1000000]",
    "shared zz: [int] = [];",
    "mutex mm[100000];",
    "process QQ[i in 0..3] { local(\"q\"); }",
    "spawn",
    "actor",
    "init",
    "message",
    "self",
    "?",
    "'x'",
    "é",
    "/*",
    "\"",
    "\\q",
];

/// A text in pieces: names, numbers, texts, comments, signs, and the space between them.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if c.is_whitespace() => run(rest, char::is_whitespace),
            c if c.is_alphanumeric() || c == '_' => run(rest, |c| c.is_alphanumeric() || c == '_'),
            '"' => rest[1..].find(['"', '\n']).map_or(rest.len(), |end| end + 2),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ => ["::", "..", "->", "=>", "==", "!=", "<=", ">=", "+=", "-=", "&&", "||"]
                .iter()
                .find(|sign| rest.starts_with(**sign))
                .map_or(first.len_utf8(), |sign| sign.len()),
        };
        let (token, behind) = rest.split_at(length);
        tokens.push(token.to_owned());
        rest = behind;
    }
    tokens
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// A spec of the corpus, changed in a few places or in none. Most changes are such that what comes of them is
/// often a program: statements put elsewhere, left out, repeated, and small numbers.
pub fn spec(random: &mut Random, corpus: &[Vec<String>]) -> Vec<String> {
    let mut tokens = random.pick(corpus).clone();
    let is_gentle = !random.once_in(3);
    for _ in 0..random.below(5) {
        match is_gentle {
            true => mutate_gently(&mut tokens, random),
            false => mutate(&mut tokens, random, corpus),
        }
    }
    tokens
}

fn mutate_gently(tokens: &mut Vec<String>, random: &mut Random) {
    let statements = statements(tokens);
    if statements.is_empty() || random.once_in(4) {
        let is_number = |token: &str| token.starts_with(|c: char| c.is_ascii_digit());
        return replace_alike(tokens, random, is_number, &["0", "1", "2", "3"]);
    }
    let moved = random.pick(&statements).clone();
    let text = tokens[moved.clone()].to_vec();
    let to = random.pick(&statements).start;
    match random.below(3) {
        0 => drop(tokens.drain(moved)),
        1 => drop(tokens.splice(to..to, text)),
        _ => {
            tokens.splice(to..to, text.iter().cloned());
            let behind = if to <= moved.start { text.len() } else { 0 };
            tokens.drain(moved.start + behind..moved.end + behind);
        }
    }
}

/// The statements without blocks, each with its semicolon.
fn statements(tokens: &[String]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "{" | "}" => start = at + 1,
            ";" if depth == 0 => {
                found.push(start..at + 1);
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

fn mutate(tokens: &mut Vec<String>, random: &mut Random, corpus: &[Vec<String>]) {
    if tokens.is_empty() {
        return;
    }
    let at = random.below(tokens.len());
    let end = tokens.len().min(at + 1 + random.below(6));
    match random.below(10) {
        0 => drop(tokens.drain(at..end)),
        1 => {
            let again = tokens[at..end].to_vec();
            tokens.splice(at..at, again);
        }
        2 => tokens.swap(at, end - 1),
        3 => tokens.insert(at, format!(" {} ", random.pick(&WORDS))),
        4 | 5 => replace_alike(
            tokens,
            random,
            |token| token.starts_with(|c: char| c.is_ascii_digit()),
            &NUMBERS,
        ),
        6 => {
            let names: Vec<String> =
                tokens.iter().filter(|token| is_name(token)).cloned().collect();
            replace_alike(tokens, random, is_name, &names);
        }
        7 => {
            // Another declaration, or several.
            let other = random.pick(corpus);
            tokens.push("\n".to_owned());
            tokens.extend(other.iter().cloned());
        }
        _ => {
            let other = random.pick(corpus);
            if let (Some(here), Some(there)) = (subtree(tokens, random), subtree(other, random)) {
                tokens.splice(here, other[there].to_vec());
            }
        }
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Puts one of `with` in the place of a token that `is` of some kind.
fn replace_alike<T: ToString>(
    tokens: &mut [String],
    random: &mut Random,
    is: impl Fn(&str) -> bool,
    with: &[T],
) {
    let places: Vec<usize> = (0..tokens.len()).filter(|&at| is(&tokens[at])).collect();
    if !places.is_empty() && !with.is_empty() {
        tokens[*random.pick(&places)] = random.pick(with).to_string();
    }
}

/// From some opening bracket to its closing one.
fn subtree(tokens: &[String], random: &mut Random) -> Option<std::ops::Range<usize>> {
    let opens = |token: &String| matches!(token.as_str(), "(" | "[" | "{");
    let places: Vec<usize> = (0..tokens.len()).filter(|&at| opens(&tokens[at])).collect();
    let start = *places.get(random.below(places.len().max(1)))?;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(start..at + 1);
        }
    }
    None
}
