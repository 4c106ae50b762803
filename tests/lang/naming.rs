//! What people see of a program: names, places, variables, expectations.

use mazurka::explore::{self, Budget, Exhaustive, NoObserver, Observer, Udpor};
use mazurka::lang::{self, ExpectedVerdict, Granularity};
use mazurka::model::{
    Action, BarrierId, Choice, End, Locals, MailboxId, May, ProcessId, SemaphoreId, State, System,
    Touch, Value, Values,
};

use super::{program, program_with};

#[test]
fn names_of_processes() {
    let program = program(
        "process Worker(n: int) { if n > 0 { spawn Worker(n - 1); } }
         process Leaf(n: int) { local(\"leaf\"); }
         process Main { spawn Worker(1); spawn Leaf(0); spawn Leaf(1); }
         process P[i in 2..4] { }",
    );
    let mut locals = Locals::new(&program);
    let mut state = State::initial(&mut locals);
    let only = |process| Action { process, choice: Choice::ONLY };
    for _ in 0..3 {
        state.step(&mut locals, only(ProcessId(0)));
    }
    state.step(&mut locals, only(ProcessId(3)));
    let names: Vec<_> = state
        .processes()
        .map(|p| program.describe().process_name(locals.get(state.local(p))))
        .collect();
    assert_eq!(
        names,
        ["Main", "P[2]", "P[3]", "Main/Worker#1", "Leaf#1", "Leaf#2", "Main/Worker#1/Worker#1"]
    );
}

#[test]
fn sites_and_variables() {
    let program = program(
        "enum Color { Red, Blue }
         mailbox m;
         process P[i in 1..2] {
             let color = Blue;
             if i == 1 { let inner = [(1, Red)]; isend( m,
                 2); let _ = inner; }
             let late = 1;
         }
         process Q { wait(irecv(m)); }",
    );
    let locals = Locals::new(&program);
    let local = locals.get(locals.initial()[0]);
    let site = program.describe().site(local).expect("a site");
    assert_eq!((site.line, site.column, site.text.as_str()), (5, 50, "isend( m, 2)"));
    let shown: Vec<_> = program
        .describe()
        .variables(local, &|_| None)
        .into_iter()
        .map(|(n, v)| format!("{n} = {v}"))
        .collect();
    assert_eq!(shown, ["i = 1", "color = Blue", "inner = [(1, Red)]"]);
    assert_eq!(
        program.describe().show_value(&Value::Variant { of: 0, index: 1 }, &|_| None),
        "Blue"
    );
    assert!(program.objects().mailboxes.names().eq(["m"]));
}

#[test]
fn equal_situations_are_equal() {
    // What a finished block or a finished loop has left behind is forgotten.
    let program = program(
        "process P { for i in 0..3 { let x = choose(0..2); } local(\"end\"); }
         process Q { if choose(0..2) == 0 { let a = choose(0..2); } else { let b = [choose(0..2)]; } local(\"end\"); }",
    );
    let mut locals = Locals::new(&program);
    let mut ends = std::collections::BTreeSet::new();
    for process in 0..2 {
        for choices in 0..8 {
            let mut state = State::initial(&mut locals);
            for at in 0..if process == 0 { 3 } else { 2 } {
                let choice = Choice((choices >> at) & 1);
                state.step(&mut locals, Action { process: ProcessId(process), choice });
            }
            ends.insert((process, state.local(ProcessId(process))));
        }
    }
    assert_eq!(ends.len(), 2);
}

#[test]
fn statements_as_actions() {
    let source = "process P { let x = 1; var y = choose(0..1); if x == 1 { y = 2; } } process Q { local(\"a\"); }";
    let coarse = lang::compile("a.maz", source, &[]).expect("a program");
    let fine = lang::compile_with("a.maz", source, &[], Granularity::Statement).expect("a program");
    // P has the choice, and with every statement an action, the two assignments as well.
    assert_eq!(super::explore(&coarse).stats.traces, 2);
    assert_eq!(super::explore(&fine).stats.traces, 4);
}

#[test]
fn statements_as_actions_make_no_new_classes() {
    let specs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/language");
    let classes = |name: &str, source: &str, granularity| {
        let program = lang::compile_with(name, source, &[], granularity).expect("a program");
        let budget = Budget { all: true, ..Budget::default() };
        let outcome = explore::explore(&program, Udpor::default(), budget, &mut NoObserver);
        (outcome.verdict(), outcome.stats.traces)
    };
    let mut compared = 0;
    for entry in std::fs::read_dir(specs).expect("the specs") {
        let path = entry.expect("an entry").path();
        let source = std::fs::read_to_string(&path).expect("a text");
        // Demands speak of executions without an end.
        if ["eventually", "leadsto"].iter().any(|word| source.contains(word)) {
            continue;
        }
        let name = path.display().to_string();
        let coarse = classes(&name, &source, Granularity::Operation);
        // What fails may fail earlier or later, which is another class.
        if matches!(coarse.0, explore::Verdict::Ok | explore::Verdict::Deadlock) {
            assert_eq!(classes(&name, &source, Granularity::Statement), coarse, "{name}");
            compared += 1;
        }
    }
    assert!(compared > 60, "only {compared} specs");
}

#[test]
fn constants_may_be_variants() {
    let source = "enum Mode { Fast, Slow } const MODE: Mode = Fast; const OTHER = MODE == Slow;
         process P { if OTHER { local(\"slow\"); } }";
    for (text, other) in [("Slow", "true"), ("Mode::Slow", "true"), ("Fast", "false")] {
        let program = program_with(source, &[("MODE", text)]);
        let constants: Vec<_> = program
            .constants()
            .map(|(name, value)| {
                format!("{name}={}", program.describe().show_value(value, &|_| None))
            })
            .collect();
        let variant = text.trim_start_matches("Mode::");
        assert_eq!(constants, [format!("MODE={variant}"), format!("OTHER={other}")]);
    }
    let wrong = [("MODE".to_owned(), "Mood::Slow".to_owned())];
    assert!(lang::compile("a.maz", source, &wrong).is_err());
}

#[test]
fn long_files_and_long_lines_take_linear_time() {
    let started = std::time::Instant::now();
    let lines = "    local(\"x\");\n".repeat(20_000);
    let table = "1, ".repeat(50_000);
    let source = format!("process P {{\n{lines} let t = [{table}]; assert(len(t) == 50_000); }}");
    program(&source);
    // A second in a debug build; a minute if every place is counted from the start of the file.
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn who_may_touch_what() {
    let program = program_with(
        "const N = 2;
         mailbox inbox[N], any[2], dynamic;
         semaphore slots = 1;
         barrier meet[N](2);
         process P[i in 0..N] { send(inbox[(i + 1) % N], 1); recv(inbox[i]); barrier(meet[i]); }
         process Q { let k = choose(0..2); recv(any[k]); recv(dynamic); acquire(slots); release(slots); }
         process R { send(any[0], 1); send(any[1], 1); spawn W(1); }
         process W(n: int) { send(dynamic, n); }",
        &[("N", "3")],
    );
    let mut values = Values::default();
    let locals = program.initial(&mut values);
    let suppliers = |touch| {
        let may = |&index: &usize| program.foresight().may_touch(&locals[index], touch);
        (0..locals.len()).filter(may).collect::<Vec<_>>()
    };
    let sends = |mailbox| suppliers(Touch::new(MailboxId(mailbox).posts(End::Send), May::Change));
    let receives =
        |mailbox| suppliers(Touch::new(MailboxId(mailbox).posts(End::Receive), May::Change));
    assert_eq!(sends(0), [2]);
    assert_eq!(sends(1), [0]);
    assert_eq!(receives(1), [1]);
    assert_eq!(receives(3), [3]);
    assert_eq!(sends(4), [4]);
    assert_eq!(sends(5), [4], "through its child");
    assert_eq!(receives(5), [3]);
    assert_eq!(suppliers(Touch::new(SemaphoreId(0).releases(), May::Change)), [3]);
    assert_eq!(suppliers(Touch::new(BarrierId(1).lane(), May::Add)), [1]);
}

#[test]
fn constants_and_expectations() {
    let source = "//@ traces 2 deadlocked 0 states 1,3,1_000
//@ allow-pending depth 12 verdict ok
//@ with N=4 M=-2 slow traces 6 deadlocked 1 verdict deadlock interleavings 1_000
const N = 3;
const M = -N;
const YES = N > M;
const LIST = [1, 2];
process P { }";
    let program = program_with(source, &[("N", "5")]);
    let constants: Vec<_> =
        program.constants().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(constants, ["N=5", "M=-5", "YES=true"]);
    let [first, bounded, second] = program.expectations() else { panic!("three expectations") };
    assert_eq!((&first.states, first.depth), (&Some(vec![1, 3, 1000]), None));
    assert_eq!((bounded.allow_pending, bounded.depth), (true, Some(12)));
    assert_eq!(
        (first.traces, first.deadlocked, first.verdict, first.slow),
        (Some(2), Some(0), None, false)
    );
    assert_eq!(second.with, [("N".to_owned(), "4".to_owned()), ("M".to_owned(), "-2".to_owned())]);
    assert_eq!((second.traces, second.deadlocked), (Some(6), Some(1)));
    assert_eq!((second.interleavings, second.slow, second.line), (Some(1000), true, 3));
    assert_eq!(second.verdict.map(ExpectedVerdict::name), Some("deadlock"));
}

#[test]
fn violations_have_places() {
    struct Nothing;
    impl Observer for Nothing {}
    let program = program(
        "fn half(n: int) -> int { 1 / n }\nprocess P {\n    let top = 4;\n    let x = half(0);\n}",
    );
    let outcome = explore::explore(&program, Exhaustive, Budget::default(), &mut Nothing);
    let failure = outcome.violations[0].failure.as_ref().expect("a failure");
    let site = failure.site.as_ref().expect("a site");
    assert_eq!((site.line, site.column, site.text.as_str()), (1, 26, "1 / n"));
    let locals = Locals::new(&program);
    let shown = program.describe().variables(locals.get(locals.initial()[0]), &|_| None);
    assert_eq!(shown, [("top".to_owned(), "4".to_owned())]);
}

#[test]
fn diagnostics_are_data() {
    let diagnostics =
        lang::compile("a.maz", "process P {\n  let é = 1; x = 2;\n}", &[]).expect_err("wrong");
    let unknown = diagnostics.iter().find(|d| d.message.contains("`x`")).expect("an unknown name");
    let (line, column) = diagnostics.position(unknown.span.expect("a place"));
    assert_eq!((line, column), (2, 14));
    assert!(diagnostics.render(true).contains("\u{1b}["));
    assert!(!diagnostics.render(false).contains("\u{1b}["));
}
