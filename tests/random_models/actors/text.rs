//! A program of actors in words, for messages of failed tests.

use std::fmt::Write;

use super::{ActorProgram, Guard, Handler, Initial, Statement, Whom};

impl ActorProgram {
    /// The program, class by class.
    pub fn text(&self) -> String {
        let mut out = format!("guards: {:?}; states: 0..{}\n", self.guards, self.states);
        for (c, class) in self.classes.iter().enumerate() {
            let forbidden =
                class.forbidden.map_or(String::new(), |n| format!(", never in state {n}"));
            line(&mut out, 0, format!("class C{c}{forbidden}:"));
            for (name, handler) in class.handlers.iter().enumerate() {
                write_handler(&mut out, format!("on m{name}(number, told)"), handler);
            }
            for (index, handler) in class.internals.iter().enumerate() {
                write_handler(&mut out, format!("internal {index}"), handler);
            }
        }
        for (actor, class) in self.actors.iter().enumerate() {
            line(&mut out, 0, format!("actor {actor}: C{class}"));
        }
        for Initial { to, name, number, fuel } in &self.initial {
            line(&mut out, 0, format!("initially {to} ! m{name}({number}), fuel {fuel}"));
        }
        if let Some((actor, state)) = self.finally {
            line(&mut out, 0, format!("final: actor {actor} not in state {state}"));
        }
        out
    }
}

fn line(out: &mut String, depth: usize, text: String) {
    writeln!(out, "{:width$}{text}", "", width = 4 * depth).expect("a string takes everything");
}

fn write_handler(out: &mut String, head: String, handler: &Handler) {
    let guard = handler.guard.map_or(String::new(), |guard| format!(" if {}", guard_text(guard)));
    line(out, 1, format!("{head}{guard}:"));
    write_body(out, 2, &handler.body);
}

fn guard_text(guard: Guard) -> String {
    match guard {
        Guard::AtLeast(n) => format!("state >= {n}"),
        Guard::AtLeastNumber => "state >= number".into(),
        Guard::Below(n) => format!("state < {n}"),
        Guard::Equals(n) => format!("state == {n}"),
    }
}

fn whom_text(whom: Whom) -> String {
    match whom {
        Whom::Static(actor) => format!("{actor}"),
        Whom::Own => "self".into(),
        Whom::Friend => "friend".into(),
        Whom::Told => "told".into(),
    }
}

fn write_body(out: &mut String, depth: usize, body: &[Statement]) {
    for statement in body {
        let text = match statement {
            Statement::Add(n) => format!("state += {n}"),
            Statement::Store => "state = number".into(),
            Statement::Remember => "friend = told".into(),
            Statement::Spawn { class, state } => {
                let state = state.map_or("state".into(), |n| n.to_string());
                format!("friend = spawn C{class}({state})")
            }
            Statement::Send { to, name, number, tells, times } => {
                let number = number.map_or("state".into(), |n| n.to_string());
                let tells = tells.map_or(String::new(), |whom| format!(", {}", whom_text(whom)));
                let often = if *times > 1 { format!(", {times} times") } else { String::new() };
                format!("{} ! m{name}({number}{tells}){often}", whom_text(*to))
            }
            Statement::If { at_least, then, otherwise } => {
                line(out, depth, format!("if state >= {at_least}:"));
                write_body(out, depth + 1, then);
                if !otherwise.is_empty() {
                    line(out, depth, "else:".into());
                    write_body(out, depth + 1, otherwise);
                }
                continue;
            }
        };
        line(out, depth, text);
    }
}
