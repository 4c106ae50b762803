//! `mazurka lsp`: a language server for editors, on standard input and output.
//!
//! It has the whole text of each open file, and forgets it when the file is closed. All answers
//! come from the text as it is: mistakes, where a name is declared and what it is, the usual form.
//! A search runs in a process of its own (`check -`), so it can neither stop nor break the server.

use std::collections::HashMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use clap::Args as ClapArgs;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde_json::{Value, json};

use super::output::Output;
use super::{Exit, Failure};
use crate::lang::{self, Declared, Diagnostic, Diagnostics, Names, Severity, Span};
use crate::report::text::plural;

/// Serve an editor, by the language server protocol on standard input and output
///
/// Mistakes appear while a spec is written. The server says what a name is and where it is
/// declared, what an operation does, and what is declared in a file; it formats; and it offers to
/// check a spec, for ten seconds. Editors start it; `mazurka lsp` is all that they need to know.
#[derive(ClapArgs)]
pub(super) struct Args {}

/// The limits of a search that an editor asks for.
const LIMITS: [&str; 4] = ["--timeout", "10s", "--max-memory", "2G"];
/// The command of the lens.
const CHECK: &str = "mazurka.check";
/// What the operations do, in tables.
const REFERENCE: &str = include_str!("../lang/reference.md");

pub(super) fn run(_: Args, _: &mut Output) -> Result<Exit, Failure> {
    let (connection, threads) = Connection::stdio();
    serve(&connection).map_err(|error| Failure::Usage(format!("the editor: {error}")))?;
    drop(connection);
    threads.join()?;
    Ok(Exit::Fine)
}

fn serve(connection: &Connection) -> Result<(), lsp_server::ProtocolError> {
    connection.initialize(json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": {"openClose": true, "change": 1},
        "hoverProvider": true,
        "definitionProvider": true,
        "documentSymbolProvider": true,
        "documentFormattingProvider": true,
        "codeLensProvider": {},
        "executeCommandProvider": {"commands": [CHECK]},
    }))?;
    let texts = Texts::default();
    // Between `shutdown` and `exit` editors still send notes (as `$/setTrace`).
    let mut is_shut_down = false;
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                let answer = if is_shut_down {
                    let message = "the server is shut down".to_owned();
                    Response::new_err(request.id, ErrorCode::InvalidRequest as i32, message)
                } else if request.method == "shutdown" {
                    is_shut_down = true;
                    Response::new_ok(request.id, Value::Null)
                } else {
                    answer(connection, &texts, request)
                };
                // The editor is gone if nobody takes the answer, and then the loop ends, too.
                let _ = connection.sender.send(answer.into());
            }
            Message::Notification(note) if note.method == "exit" => return Ok(()),
            Message::Notification(_) if is_shut_down => {}
            Message::Notification(notification) => note(connection, &texts, notification),
            Message::Response(_) => {}
        }
    }
    Ok(())
}

/// The texts of the open files, by their addresses. Searches in other threads look whether theirs
/// is still the same.
#[derive(Clone, Default)]
struct Texts(Arc<Mutex<HashMap<String, String>>>);

impl Texts {
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<String, String>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the editor says: a file was opened, changed or closed.
fn note(connection: &Connection, texts: &Texts, Notification { method, params }: Notification) {
    let document = &params["textDocument"];
    let Some(uri) = document["uri"].as_str() else { return };
    let text = match method.as_str() {
        "textDocument/didOpen" => document["text"].as_str(),
        // All of it, as the server has asked for.
        "textDocument/didChange" => {
            let changes = params["contentChanges"].as_array();
            changes.and_then(|all| all.last()).and_then(|last| last["text"].as_str())
        }
        "textDocument/didClose" => {
            texts.with(|texts| texts.remove(uri));
            return publish(connection, uri, &[]);
        }
        _ => return,
    };
    let Some(text) = text else { return };
    texts.with(|texts| texts.insert(uri.into(), text.into()));
    publish(connection, uri, &mistakes(text));
}

fn publish(connection: &Connection, uri: &str, mistakes: &[Value]) {
    notify(
        connection,
        "textDocument/publishDiagnostics",
        json!({"uri": uri, "diagnostics": mistakes}),
    );
}

fn notify(connection: &Connection, method: &str, params: Value) {
    let _ = connection.sender.send(Notification::new(method.into(), params).into());
}

/// The answer to a request.
fn answer(connection: &Connection, texts: &Texts, request: Request) -> Response {
    let Request { id, method, params } = request;
    let uri = match method.as_str() {
        "workspace/executeCommand" => &params["arguments"][0],
        _ => &params["textDocument"]["uri"],
    };
    let uri = uri.as_str().unwrap_or_default();
    let Some(text) = &texts.with(|texts| texts.get(uri).cloned()) else {
        let message = format!("the file {uri} is not open");
        return Response::new_err(id, ErrorCode::InvalidParams as i32, message);
    };
    let result = match method.as_str() {
        "textDocument/hover" => hover(text, &params["position"]),
        "textDocument/definition" => definition(uri, text, &params["position"]),
        "textDocument/documentSymbol" => symbols(text),
        "textDocument/formatting" => formatted(text),
        "textDocument/codeLens" => json!([{
            "range": range(text, Span::new(0, 0)),
            "command": {"title": "Check this spec", "command": CHECK, "arguments": [uri]},
        }]),
        "workspace/executeCommand" if params["command"] == CHECK => {
            check(connection, texts.clone(), uri.into(), text.clone());
            Value::Null
        }
        _ => {
            let message = format!("there is no {method} here");
            return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
        }
    };
    Response::new_ok(id, result)
}

/// The mistakes and warnings of a text.
fn mistakes(text: &str) -> Vec<Value> {
    let found = |all: &Diagnostics| all.iter().map(|one| mistake(text, one)).collect();
    match lang::compile("", text, &[]) {
        Ok(program) => found(program.warnings()),
        Err(mistakes) => found(&mistakes),
    }
}

fn mistake(text: &str, found: &Diagnostic) -> Value {
    let mut message = found.message.clone();
    if !found.label.is_empty() && !found.message.contains(&found.label) {
        message += &format!("\n{}", found.label);
    }
    for (span, label) in &found.secondary {
        let line = position(text, span.start as usize)["line"].as_u64().unwrap_or(0) + 1;
        message += &format!("\nline {line}: {label}");
    }
    for hint in &found.hints {
        message += &format!("\nhelp: {hint}");
    }
    let severity = match found.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
    };
    let span = found.span.unwrap_or(Span::new(0, 0));
    json!({"range": range(text, span), "severity": severity, "source": "mazurka", "message": message})
}

/// What a name is, or what a built-in operation does.
fn hover(text: &str, at: &Value) -> Value {
    let (names, byte) = (Names::of(text), byte(text, at));
    let Some(span) = names.at(byte) else { return Value::Null };
    let told = match names.declaration(text, byte) {
        Some(declared) => Some(declaration(text, declared)),
        None => operation(&text[span.range()]).map(|told| told + &dependence(text, &names, span)),
    };
    told.map_or(
        Value::Null,
        |told| json!({"contents": {"kind": "markdown", "value": told}, "range": range(text, span)}),
    )
}

/// The declaration of a name, and its type, unless the declaration says it.
fn declaration(text: &str, Declared { name, what, span, head, .. }: &Declared) -> String {
    let mut told = format!("```maz\n{}\n", &text[head.range()]);
    let says_type = text[span.end as usize..].trim_start().starts_with(':');
    let types = if says_type { Vec::new() } else { lang::types(text) };
    if let Some((_, ty)) = types.iter().find(|(at, _)| at == span) {
        told += &match what.as_str() {
            "mailbox" => format!("// messages: {ty}\n"),
            _ => format!("// {name}: {ty}\n"),
        };
    }
    told += "```";
    match what.as_str() {
        "pattern" | "parameter" => told + "\n" + what,
        _ => told,
    }
}

/// What the reference says of this operation: rows of its tables.
fn operation(name: &str) -> Option<String> {
    let call = format!("`{name}(");
    let is_about = |line: &&str| {
        let first = line.strip_prefix("| ").and_then(|line| line.split(" | ").next());
        first.is_some_and(|cell| cell.starts_with(&call) || cell.contains(&format!(", {call}")))
    };
    let rows: Vec<String> = REFERENCE.lines().filter(is_about).map(row).collect();
    (!rows.is_empty()).then(|| rows.join("\n\n"))
}

/// A row of a table as a paragraph.
fn row(line: &str) -> String {
    let cells = line.trim_matches('|').split(" | ").map(str::trim).filter(|cell| !cell.is_empty());
    cells.map(|cell| cell.replace("\\|", "|")).collect::<Vec<_>>().join(" — ")
}

/// What the operation at this place depends on, of other processes.
fn dependence(text: &str, names: &Names, operation: Span) -> String {
    let all = lang::dependences(&text[operation.range()]);
    let object = object(text, names, operation.end as usize);
    let is_tried = text.contains("try_lock(");
    let fits = |at: &str| match object {
        Some("mutex") => at == "mutex" || is_tried && at == "mutex that is tried",
        Some(object) => at == object,
        None => false,
    };
    let has_fitting = all.iter().any(|(_, row)| fits(row.at));
    let rows: Vec<_> = all.iter().filter(|(_, row)| !has_fitting || fits(row.at)).collect();
    let is_of_one_kind = rows.iter().all(|(_, row)| row.at == rows[0].1.at);
    let sentence = |(name, row): &&(&str, &lang::Dependence)| match row.at {
        _ if rows.len() == 1 => format!("\n\nDepends on {}.", row.on),
        _ if is_of_one_kind => format!("\n\n`{name}` depends on {}.", row.on),
        "actor" => format!("\n\nTo an actor, `{name}` depends on {}.", row.on),
        at => format!("\n\nAt a {at}, `{name}` depends on {}.", row.on),
    };
    rows.iter().map(sentence).collect()
}

/// What kind of object the first argument of this call is. If it is none by its declaration, it is
/// an actor in a text that has actors and no mailboxes.
fn object<'n>(text: &str, names: &'n Names, name_end: usize) -> Option<&'n str> {
    let rest = &text[name_end..];
    let argument = rest.trim_start().strip_prefix('(')?.trim_start();
    let declared = names.declaration(text, name_end + rest.len() - argument.len());
    let Some(declared) = declared.filter(|declared| declared.is_global) else {
        let has = |what: &str| names.global().any(|one| one.what == what);
        return (has("actor") && !has("mailbox")).then_some("actor");
    };
    let before = text[..declared.head.start as usize].trim_end();
    match declared.what.as_str() {
        "mailbox" if before.ends_with("p2p") || before.ends_with("bag") => {
            Some("p2p or bag mailbox")
        }
        what => Some(what),
    }
}

fn definition(uri: &str, text: &str, at: &Value) -> Value {
    let names = Names::of(text);
    let found = names.declaration(text, byte(text, at));
    found.map_or(Value::Null, |found| json!({"uri": uri, "range": range(text, found.span)}))
}

fn symbols(text: &str) -> Value {
    let names = Names::of(text);
    let symbol = |one: &Declared| {
        // The numbers of the protocol: 5 class, 10 enum, 12 function, 14 constant, 19 object.
        let kind = match one.what.as_str() {
            "process" | "actor" => 5,
            "enum" => 10,
            "fn" | "proc" => 12,
            "const" => 14,
            _ => 19,
        };
        json!({
            "name": one.name,
            "detail": one.what,
            "kind": kind,
            "range": range(text, one.span.to(one.head)),
            "selectionRange": range(text, one.span),
        })
    };
    names.global().map(symbol).collect()
}

/// One edit of the whole text; none if it has mistakes of syntax.
fn formatted(text: &str) -> Value {
    match lang::format("", text) {
        Ok(formatted) if formatted == text => json!([]),
        Ok(formatted) => {
            json!([{"range": range(text, Span::new(0, text.len())), "newText": formatted}])
        }
        Err(_) => Value::Null,
    }
}

/// Searches beside the server, and says what was found. If the text has changed meanwhile, no place
/// is marked: it would be one of the earlier text.
fn check(connection: &Connection, texts: Texts, uri: String, text: String) {
    let sender = connection.sender.clone();
    thread::spawn(move || {
        let (kind, message, found) = match searched(&text) {
            Ok(report) => result(&uri, &text, &report),
            Err(error) => (1, format!("the search could not run: {error}"), Vec::new()),
        };
        let mut all = mistakes(&text);
        all.extend(found);
        let say = |method: &str, params| {
            let _ = sender.send(Notification::new(method.into(), params).into());
        };
        let is_same = texts.with(|texts| {
            let is_same = texts.get(&uri) == Some(&text);
            if is_same {
                say("textDocument/publishDiagnostics", json!({"uri": uri, "diagnostics": all}));
            }
            is_same
        });
        let message = match is_same {
            true => message,
            false => format!("Before the last change: {message}"),
        };
        say("window/showMessage", json!({"type": kind, "message": message}));
    });
}

/// The report of a search of this text.
fn searched(text: &str) -> std::io::Result<Value> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["check", "-", "--format", "json", "--quiet"])
        .args(LIMITS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    child.stdin.take().expect("it is a pipe").write_all(text.as_bytes())?;
    Ok(serde_json::from_slice(&child.wait_with_output()?.stdout)?)
}

/// The kind of the message (1 error, 2 warning, 3 information), the message, and the violations.
fn result(uri: &str, text: &str, report: &Value) -> (u32, String, Vec<Value>) {
    let violations = report["violations"].as_array().map_or(&[][..], Vec::as_slice);
    let found: Vec<Value> = violations.iter().map(|one| violation(uri, text, one)).collect();
    let count = |field: &str| report["stats"][field].as_u64().unwrap_or(0);
    let (kind, message) = match report["verdict"].as_str().unwrap_or_default() {
        "ok" => {
            let seen = match report["stats"]["states"].as_u64() {
                Some(states) => plural(states, "state", "states"),
                None => plural(count("traces"), "execution", "executions"),
            };
            (
                3,
                format!(
                    "Verified: no execution deadlocks, fails an assertion or runs into an error ({seen})."
                ),
            )
        }
        "incomplete" => {
            let why = report["stopped_by"].as_str().unwrap_or("stopped");
            (
                2,
                format!(
                    "Incomplete: nothing wrong was found, but not everything was explored ({why})."
                ),
            )
        }
        "usage-error" => (1, "The spec has mistakes.".into()),
        _ => {
            let first = violations.first().and_then(|one| one["message"].as_str());
            (1, first.unwrap_or("A violation was found.").to_owned())
        }
    };
    (kind, message, found)
}

fn violation(uri: &str, text: &str, found: &Value) -> Value {
    let line = found["line"].as_u64().unwrap_or(1).max(1) as usize - 1;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let length = text[start.min(text.len())..].lines().next().unwrap_or_default().len();
    let message = found["message"].as_str().unwrap_or("a violation");
    let replay = found["replay"].as_str().unwrap_or_default();
    json!({
        "range": range(text, Span::new(start, start + length)),
        "severity": 1,
        "source": "mazurka check",
        "message": format!("{message}\nmazurka replay {} --schedule {replay}", file(uri)),
    })
}

/// The file with this address, in a command that is run in its folder.
fn file(uri: &str) -> &str {
    let name = uri.rsplit('/').next().unwrap_or_default();
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if is_plain && name.ends_with(".maz") { name } else { "SPEC" }
}

/// A span as the protocol says it: lines, and 16-bit units of UTF-16 in a line.
fn range(text: &str, span: Span) -> Value {
    json!({"start": position(text, span.start as usize), "end": position(text, span.end as usize)})
}

fn position(text: &str, byte: usize) -> Value {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    let start = before.rfind('\n').map_or(0, |line| line + 1);
    json!({
        "line": before.matches('\n').count(),
        "character": before[start..].encode_utf16().count(),
    })
}

/// The byte at a position; the end of the line, or of the text, if there is no such position.
fn byte(text: &str, at: &Value) -> usize {
    let number = |field: &str| at[field].as_u64().unwrap_or(0) as usize;
    let mut lines = text.split_inclusive('\n');
    let start: usize = lines.by_ref().take(number("line")).map(str::len).sum();
    let line = lines.next().unwrap_or_default().trim_end_matches(['\n', '\r']);
    let mut left = number("character");
    for (at, c) in line.char_indices() {
        if left < c.len_utf16() {
            return start + at;
        }
        left -= c.len_utf16();
    }
    start + line.len()
}
