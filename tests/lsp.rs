//! The language server, driven as an editor does: by messages on its standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::cli::mazurka;

/// An editor with one open file.
struct Editor {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
    /// What the server said on its own since it was last asked for.
    notes: Vec<Value>,
}

const FILE: &str = "file:///spec.maz";

impl Editor {
    fn new() -> Editor {
        let mut command = mazurka(&["lsp"]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().unwrap());
        let mut editor = Editor { server, input, output, requests: 0, notes: Vec::new() };
        let about = editor.ask("initialize", json!({"processId": null, "capabilities": {}}));
        assert_eq!(about["capabilities"]["hoverProvider"], true);
        editor.say(json!({"method": "initialized", "params": {}}));
        editor
    }

    fn say(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn hear(&mut self) -> Value {
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server has ended");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().unwrap(),
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// The answer to a request.
    fn answer(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.say(json!({"id": id, "method": method, "params": params}));
        loop {
            let message = self.hear();
            if message["id"] == id {
                return message;
            }
            self.notes.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Asks about a place in the file: a line and a column, from 0.
    fn ask_at(&mut self, what: &str, (line, character): (u32, u32)) -> Value {
        let at = json!({"line": line, "character": character});
        let params = json!({"textDocument": {"uri": FILE}, "position": at});
        self.ask(&format!("textDocument/{what}"), params)
    }

    fn ask_about(&mut self, what: &str) -> Value {
        self.ask(&format!("textDocument/{what}"), json!({"textDocument": {"uri": FILE}}))
    }

    /// The next message of this kind that the server sends on its own.
    fn told(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.notes.iter().position(|note| note["method"] == method) {
                return self.notes.remove(at)["params"].take();
            }
            let message = self.hear();
            self.notes.push(message);
        }
    }

    fn open(&mut self, text: &str) -> Value {
        let document = json!({"uri": FILE, "languageId": "mazurka", "version": 1, "text": text});
        let params = json!({"textDocument": document});
        self.say(json!({"method": "textDocument/didOpen", "params": params}));
        self.told("textDocument/publishDiagnostics")["diagnostics"].take()
    }

    fn change(&mut self, text: &str) -> Value {
        let params = json!({"textDocument": {"uri": FILE}, "contentChanges": [{"text": text}]});
        self.say(json!({"method": "textDocument/didChange", "params": params}));
        self.told("textDocument/publishDiagnostics")["diagnostics"].take()
    }

    fn close(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        // The client of Visual Studio Code says that, too.
        self.say(json!({"method": "$/setTrace", "params": {"value": "off"}}));
        let late = self.answer("textDocument/hover", json!({"textDocument": {"uri": FILE}}));
        assert_eq!(late["error"]["code"], -32600, "{late}");
        self.say(json!({"method": "exit", "params": null}));
        self.input = None;
        assert!(self.server.wait().unwrap().success());
    }
}

fn starts(range: &Value) -> (u64, u64) {
    let start = &range["start"];
    (start["line"].as_u64().unwrap(), start["character"].as_u64().unwrap())
}

const TEXT: &str = "mailbox m: int;
process A { send(m, 1); }
process B { let x = recv(m); assert(x == 2, \"𝄞\"); }
";

#[test]
fn mistakes_appear_while_one_writes_and_go_away() {
    let mut editor = Editor::new();
    let found = editor.open("mailbox m: int;\n/* 𝄞 */ process A { send(n, 1); }\n");
    let [one, ..] = &found.as_array().unwrap()[..] else { panic!("{found}") };
    // The sign before it has two units of UTF-16, and four bytes.
    assert_eq!((starts(&one["range"]), &one["severity"]), ((1, 26), &json!(1)), "{one}");
    assert!(one["message"].as_str().unwrap().contains("`n`"), "{one}");
    assert_eq!(editor.change(TEXT), json!([]));
    editor.close();
}

#[test]
fn names_and_operations_are_explained() {
    let mut editor = Editor::new();
    editor.open(TEXT);
    let told = |hover: Value| hover["contents"]["value"].as_str().unwrap().to_owned();
    assert!(told(editor.ask_at("hover", (1, 17))).contains("mailbox m: int"));
    assert!(told(editor.ask_at("hover", (2, 37))).contains("let x = recv(m)"));
    assert!(told(editor.ask_at("hover", (1, 13))).contains("send(m"));
    assert_eq!(editor.ask_at("hover", (1, 8)), editor.ask_at("hover", (1, 9)));
    assert_eq!(editor.ask_at("hover", (0, 11)), Value::Null, "a type");
    let of_x = editor.ask_at("definition", (2, 37));
    assert_eq!((of_x["uri"].as_str(), starts(&of_x["range"])), (Some(FILE), (2, 16)));
    let all = editor.ask_about("documentSymbol");
    let names: Vec<_> = all.as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["m", "A", "B"]);
    editor.close();
}

/// What an operation depends on, at the kind of object that it is used with.
#[test]
fn operations_say_what_they_depend_on() {
    let text = "p2p mailbox p: int;
mailbox m;
mutex k;
process A { isend(p, 1); isend(m, 1); lock(k); }
process B { let c = irecv(m); wait(c); fetch_add(x, 1); local(\"a\"); }
";
    let mut editor = Editor::new();
    editor.open(text);
    let mut told = |word: &str, start: &str| {
        let line = text.lines().position(|line| line.contains(word)).unwrap();
        let column = text.lines().nth(line).unwrap().find(word).unwrap();
        let hover = editor.ask_at("hover", (line as u32, column as u32 + 1));
        let told = hover["contents"]["value"].as_str().unwrap().to_owned();
        let of_dependence = told.lines().filter(|line| line.contains("epends on"));
        let lines: Vec<&str> = of_dependence.collect();
        assert!(lines[0].starts_with(start), "{told}");
        lines.len()
    };
    assert_eq!(told("isend(p", "Depends on the match of its message"), 1);
    assert_eq!(told("isend(m", "Depends on every other `isend` to the mailbox"), 1);
    assert_eq!(told("lock(k", "`async_lock` depends on every other `async_lock`"), 2);
    assert_eq!(told("wait(c", "At a mailbox, `wait` depends on the `isend`"), 3);
    assert_eq!(told("fetch_add(x", "Depends on every other access to the cell"), 1);
    assert_eq!(told("local(", "Depends on nothing"), 1);
    let text = "actor A { on Go(from: A) { send(from, Go(self)); } }\ninit { send(A, Go(A)); }\n";
    editor.change(text);
    for at in [(0, 28), (1, 8)] {
        let hover = editor.ask_at("hover", at);
        let told = hover["contents"]["value"].as_str().unwrap();
        assert!(told.contains("\n\nDepends on nothing: it is part of a handler"), "{told}");
        assert!(!told.contains("isend` depends"), "{told}");
    }
    editor.close();
}

/// Also in a text with a mistake, which is no program.
#[test]
fn names_have_the_types_that_are_inferred() {
    let text = "const N = 3;
mailbox m;
fn f(y: int) -> int { y }
process P { var s = {1}; for k in s { send(m, (f(k), true)); } }
process Q { let (a, b) = recv(m); assert(b); let l = [[N]]; let z = unknown(l); }
";
    let mut editor = Editor::new();
    assert_ne!(editor.open(text), json!([]), "`unknown` is a mistake");
    let mut told = |word: &str| {
        let is_there = |line: &&str| line.contains(word);
        let line = text.lines().position(|line| is_there(&line)).unwrap();
        let column = text.lines().find(is_there).unwrap().find(word).unwrap();
        let hover = editor.ask_at("hover", (line as u32, column as u32 + 1));
        hover["contents"]["value"].as_str().unwrap().to_owned()
    };
    for (word, ty) in [
        (" N ", "// N: int"),
        (" m;", "// messages: (int, bool)"),
        (" s =", "// s: {int}"),
        (" k in", "// k: int"),
        ("(a,", "// a: int"),
        (" b)", "// b: bool"),
        (" l =", "// l: [[int]]"),
    ] {
        let told = told(word);
        assert!(told.contains(ty), "{word}: {told}");
    }
    // The declaration says it, or it is not known.
    for word in ["(y:", " z ="] {
        let told = told(word);
        assert!(!told.contains("//"), "{word}: {told}");
    }
    editor.close();
}

#[test]
fn files_are_formatted_and_checked() {
    let mut editor = Editor::new();
    editor.open(&TEXT.replace("{ send", "{send"));
    let edits = editor.ask_about("formatting");
    assert_eq!(edits[0]["newText"], TEXT);
    editor.change(TEXT);
    assert_eq!(editor.ask_about("formatting"), json!([]));

    let lens = editor.ask_about("codeLens");
    let command = &lens[0]["command"];
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    editor.ask("workspace/executeCommand", params.clone());
    let found = editor.told("textDocument/publishDiagnostics");
    let found = &found["diagnostics"][0];
    assert_eq!((starts(&found["range"]), &found["source"]), ((2, 0), &json!("mazurka check")));
    let told = found["message"].as_str().unwrap();
    assert_eq!(told, "assertion failed: 𝄞\nmazurka replay spec.maz --schedule 0,1x2");
    let message = editor.told("window/showMessage");
    assert_eq!(message["type"], 1, "{message}");
    assert_eq!(editor.change(&TEXT.replace("x == 2", "x == 1")), json!([]));
    editor.ask("workspace/executeCommand", params);
    let message = editor.told("window/showMessage")["message"].take();
    assert!(message.as_str().unwrap().starts_with("Verified"), "{message}");
    editor.close();
}

/// What a search finds in a text that was changed meanwhile is told, but not marked in the new text.
#[test]
fn a_search_of_an_earlier_text_marks_nothing() {
    let mut editor = Editor::new();
    // It takes longer than the editor needs for the change.
    let long = "shared x: int = 0;
process P[i in 0..3] { x = x + 1; x = x + 1; x = 1; }
final { assert(x >= 0); }
";
    editor.open(long);
    let lens = editor.ask_about("codeLens");
    let command = &lens[0]["command"];
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    editor.ask("workspace/executeCommand", params);
    assert_eq!(editor.change("process P {\n}\n"), json!([]));
    let message = editor.told("window/showMessage")["message"].take();
    assert!(message.as_str().unwrap().starts_with("Before the last change: "), "{message}");
    let is_mark = |note: &Value| note["method"] == "textDocument/publishDiagnostics";
    assert!(!editor.notes.iter().any(is_mark), "{:?}", editor.notes);
    editor.close();
}

#[test]
fn wrong_requests_are_answered_with_errors() {
    let mut editor = Editor::new();
    let about = json!({"textDocument": {"uri": "file:///other.maz"}});
    let answer = editor.answer("textDocument/hover", about);
    assert!(answer["error"]["message"].as_str().unwrap().contains("is not open"), "{answer}");
    editor.open("process");
    assert_eq!(editor.ask_about("formatting"), Value::Null, "it has mistakes");
    assert_eq!(editor.ask_at("hover", (u32::MAX, 7)), Value::Null);
    let answer = editor.answer("textDocument/rename", json!({"textDocument": {"uri": FILE}}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    // Every beginning of a text is answered.
    for length in (0..TEXT.len()).step_by(7).filter(|&length| TEXT.is_char_boundary(length)) {
        editor.change(&TEXT[..length]);
        editor.ask_at("hover", (2, 20));
        editor.ask_at("definition", (1, 14));
        editor.ask_about("documentSymbol");
    }
    editor.close();
}
