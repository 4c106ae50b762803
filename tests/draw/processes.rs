//! Control flow, compared with the text and with executions.

use std::collections::BTreeSet;
use std::fs;

use mazurka::lang::compile;
use mazurka::model::flow::{Act, Arm, Step, Turn};
use mazurka::property::Replay;

use crate::cli::{json as parsed, run};
use crate::tidy::files;

/// All steps, including nested ones, in the order of the text.
fn all(steps: &[Step]) -> Vec<&Step> {
    let mut found = Vec::new();
    for step in steps {
        found.push(step);
        match &step.turn {
            Turn::Loop { body, .. } => found.extend(all(body)),
            Turn::Branch { arms } | Turn::Rest { arms } => {
                arms.iter().for_each(|arm| found.extend(all(&arm.steps)));
            }
            _ => {}
        }
    }
    found
}

/// The maximum number of steps of an execution that are checked.
const STEPS: usize = 200;

/// Every action of an execution is a step on its line that other processes can see.
#[test]
fn what_is_executed_is_in_the_picture() {
    let mut seen = 0;
    for path in files("specs", "maz") {
        let source = fs::read_to_string(&path).unwrap();
        let program = compile("spec.maz", &source, &[]).unwrap();
        let steps: Vec<&Step> = program.flows().iter().flat_map(|flow| all(&flow.steps)).collect();
        assert!(steps.iter().map(|step| step.id).eq(0..steps.len()), "{}", path.display());
        let is_visible = |step: &&Step| step.act != Act::Local || step.text.contains("local(");
        let lines: BTreeSet<u32> =
            steps.into_iter().filter(is_visible).map(|step| step.line).collect();
        let mut replay = Replay::new(&program);
        for number in 0..STEPS {
            let enabled = replay.enabled();
            // Not always the same process, which may go round a loop.
            let Some(&action) = enabled.get(number % enabled.len().max(1)) else { break };
            let step = replay.step(action).unwrap();
            let line = step.line.expect("programs know their lines");
            // A statement of several lines begins above its operation.
            let is_step = lines.range(line.saturating_sub(3)..=line).next().is_some();
            let is_internal = step.action.contains("internal");
            // Steps of hidden processes stand for words of declarations.
            let words = ["crashes up to", "lossy", "duplicating", "partitioned", "network"];
            let is_hidden = words.iter().any(|word| step.action.starts_with(word));
            assert!(
                is_step || is_internal || is_hidden,
                "{}:{line}: {}",
                path.display(),
                step.action
            );
            seen += 1;
        }
    }
    assert!(seen > 1_000, "{seen} actions");
}

const PROGRAM: &str = "\
    mutex m; shared x: int = 0; mailbox box;\n\
    process P[i in 0..3] {\n\
        var n = choose(0..2); // which\n\
        while n < 3 {\n\
            if x == /* seen */\n\
                i { break; } else if n == 1 { continue; }\n\
            lock(m); n += 1; unlock(m);\n\
        }\n\
        match n { 0 => { x = 1; } k if k > 2 => { send(box, k); } _ => {} }\n\
    }\n\
    process Q(a: int) { return; }\n";

fn turn(step: &Step) -> (&str, Act, &'static str) {
    let turn = match step.turn {
        Turn::Next => "next",
        Turn::Branch { .. } => "branch",
        Turn::Loop { .. } => "loop",
        Turn::Rest { .. } => "rest",
        Turn::Break => "break",
        Turn::Continue => "continue",
        Turn::Return => "return",
    };
    (&step.text, step.act, turn)
}

#[test]
fn the_flow_is_that_of_the_text() {
    let program = compile("flow.maz", PROGRAM, &[]).unwrap();
    let [family, template] = program.flows() else { panic!("two processes") };
    assert_eq!(
        (family.title.as_str(), family.instances, family.line),
        ("P[i in 0..3]", Some(3), 2)
    );
    assert_eq!((template.title.as_str(), template.instances), ("Q(a: int)", None));
    let found: Vec<_> = all(&family.steps).into_iter().map(turn).collect();
    let expected = [
        ("var n = choose(0..2)", Act::Choice, "next"),
        ("while n < 3", Act::Local, "loop"),
        ("if x == i", Act::Shared, "branch"),
        ("break", Act::Local, "break"),
        ("if n == 1", Act::Local, "branch"),
        ("continue", Act::Local, "continue"),
        ("lock(m)", Act::Shared, "next"),
        ("n += 1", Act::Local, "next"),
        ("unlock(m)", Act::Shared, "next"),
        ("match n", Act::Local, "branch"),
        ("x = 1", Act::Shared, "next"),
        ("send(box, k)", Act::Shared, "next"),
    ];
    assert_eq!(found, expected);
    let Turn::Branch { arms } = &family.steps[2].turn else { panic!("{:?}", family.steps[2]) };
    let label = |arm: &Arm| (arm.label.clone(), arm.guard.clone());
    let labels: Vec<_> = arms.iter().map(label).collect();
    let expected = [("0", None), ("k", Some("k > 2")), ("_", None)];
    assert_eq!(labels, expected.map(|(a, b)| (a.to_owned(), b.map(str::to_owned))));
    assert!(!template.steps[0].goes_on() && family.steps[1].goes_on());
}

#[test]
fn actors_are_at_rest_between_handlers() {
    let model =
        parsed(&run(&["draw", "philosophers.maz", "--what", "processes", "--format", "json"]));
    assert_eq!(
        (&model["what"], &model["processes"][0]["noun"]),
        (&"processes".into(), &"process".into())
    );
    assert_eq!(model["processes"][0]["steps"][0]["text"], "lock(fork[i])");
    let source = fs::read_to_string("specs/actor/registry.maz").unwrap();
    let program = compile("registry.maz", &source, &[]).unwrap();
    for flow in program.flows().iter().filter(|flow| flow.noun == "actor") {
        let Some(Turn::Rest { arms }) = flow.steps.last().map(|step| &step.turn) else {
            panic!("{flow:?}");
        };
        assert!(arms.iter().all(|arm| arm.steps[0].text.starts_with("on ")), "{arms:?}");
    }
    let init = program.flows().iter().find(|flow| flow.noun == "init").unwrap();
    assert_eq!((init.title.as_str(), init.census().as_str()), ("init", "once, before all else"));
}
