//! Values whose `Eq` or `Debug` is not as it should be.

use std::fmt;
use std::hash::{Hash, Hasher};

use mazurka::program::{Program, choose, spawn};

/// A number with a remark that does not count.
#[derive(Clone, Debug)]
struct Remarked(i64, &'static str);

impl PartialEq for Remarked {
    fn eq(&self, other: &Remarked) -> bool {
        self.0 == other.0
    }
}

impl Eq for Remarked {}

impl Hash for Remarked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Only debug builds compare the texts.
#[test]
fn equal_values_that_are_not_the_same_are_reported() {
    let reported = |program: Program, line: u32| {
        let told = mazurka::check(&program.build()).all().run().to_string();
        if !cfg!(debug_assertions) {
            return;
        }
        let expected = r#"the values Remarked(1, "a") and Remarked(1, "b") are equal, but `Debug`"#;
        let mirrored = r#"the values Remarked(1, "b") and Remarked(1, "a") are equal, but `Debug`"#;
        assert!(told.contains(expected) || told.contains(mirrored), "{told}");
        assert!(line == 0 || told.contains(&format!("program/values.rs:{line})")), "{told}");
    };
    let mut program = Program::new();
    let inbox = program.mailbox("inbox");
    program.process("P", async move || inbox.send(Remarked(1, "a")).await);
    let line = line!() + 3;
    program.process("Q", async move || {
        inbox.recv().await;
        inbox.send(Remarked(1, "b")).await;
        assert_eq!(inbox.recv().await.1, "b");
    });
    reported(program, line);
    let mut program = Program::new();
    let cell = program.cell("cell", Remarked(1, "a"));
    let line = line!() + 1;
    program.process("P", async move || _ = cell.update(|it| Remarked(it.0, "b")).await);
    reported(program, line);
    let mut program = Program::new();
    let lock = program.mutex("lock", Remarked(1, "a"));
    let line = line!() + 1;
    program.process("P", async move || lock.lock().await.1 = "b");
    reported(program, line);
    let mut program = Program::new();
    program.process("P", async move || {
        let child = async || Remarked(1, if choose(0..2).await == 0 { "a" } else { "b" });
        spawn("child", child).await.join().await;
    });
    reported(program, 0);
}

#[test]
fn equal_values_that_are_the_same_are_fine() {
    let mut program = Program::new();
    let inbox = program.mailbox("inbox");
    for name in ["P", "Q"] {
        program.process(name, async move || inbox.send(Remarked(1, "a")).await);
    }
    program.process("R", async move || assert_eq!(inbox.recv().await, inbox.recv().await));
    mazurka::check(&program.build()).assert_ok();
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Unseen;

impl fmt::Debug for Unseen {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("it cannot be shown")
    }
}

#[test]
fn a_value_that_cannot_be_shown_does_not_hide_what_was_found() {
    let mut program = Program::new();
    let inbox = program.mailbox("inbox");
    program.process("P", async move || {
        inbox.send(Unseen).await;
        inbox.send(Unseen).await;
        inbox.recv().await;
        assert_eq!(choose(1..2).await, 2, "this is found");
    });
    let told = mazurka::check(&program.build()).run().to_string();
    assert!(told.contains("this is found"), "{told}");
    assert!(told.contains("sends <a value whose Debug panics> to inbox"), "{told}");
}
