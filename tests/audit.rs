//! Certificates: those of searches pass, and nothing else does.
//!
//! The judge is the definition: a list of classes with correct claims passes iff it is the list of
//! all classes. So every other subset of them must be refused.

mod events;
mod states;

use std::collections::BTreeMap;

use mazurka::audit::{Certificate, Claim, Items, Refused, audit};
use mazurka::explore::{
    Budget, Collected, End, Exhaustive, Explorer, NoObserver, Source, Udpor, explore,
};
use mazurka::lang::{Program, compile};
use mazurka::model::{Action, Choice, ProcessId, Schedule, System};

use crate::cli::{code, run, stderr, stdout};
use crate::random_models::{Erased, Rng, Sample, actors, later, p2p, processes};
use crate::tidy::{some_of, specs_without_demands};

type Classes = BTreeMap<Schedule, End>;

/// Larger programs are left out.
const MAX_CLASSES: u64 = 60;

/// All classes of the system, if the explorer completes all of them, and whether it may have loops
/// that wait.
fn classes_by<S: System>(
    system: &S,
    explorer: impl Explorer,
    most: u64,
) -> Option<(Classes, bool)> {
    let budget = Budget { all: true, max_traces: Some(most), ..Budget::default() };
    if mazurka::audit::refusal(system, Items::Classes).is_some()
        || explorer.refusal(system, &budget).is_some()
    {
        return None;
    }
    let mut none = NoObserver;
    let mut collected = Collected::new(&mut none);
    let outcome = explore(system, explorer, budget, &mut collected);
    let is_whole = outcome.is_complete() && outcome.stats.given_up == 0;
    is_whole.then(|| collected.classes(system).ok()).flatten()
}

fn classes_of<S: System>(system: &S) -> Option<Classes> {
    classes_by(system, Udpor::default(), MAX_CLASSES).map(|(classes, _)| classes)
}

/// A certificate of these classes that says nothing wrong about them.
fn certificate<'c>(classes: impl IntoIterator<Item = (&'c Schedule, &'c End)>) -> Certificate {
    let (mut claim, mut list) = (Claim::default(), Vec::new());
    for (class, end) in classes {
        claim.count += 1;
        claim.deadlocked += u64::from(end.is_deadlocked);
        claim.violating += u64::from(end.is_violating);
        list.push(class.clone());
    }
    Certificate { program: "a program".into(), items: Items::Classes, claim, list }
}

fn program(text: &str) -> Program {
    compile("program.maz", text, &[]).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

/// The classes of a program that has a certificate.
fn certified(text: &str) -> (Program, Classes) {
    let program = program(text);
    let classes = classes_of(&program).expect("a small program");
    assert_eq!(audit(&program, false, &certificate(&classes)), Ok(()), "{text}");
    (program, classes)
}

/// Refuses the subsets of the classes, but for the whole: all if there are few, else some.
fn assert_only_all_pass<S: System>(system: &S, classes: &Classes, what: &dyn Fn() -> String) {
    let passes = |is_in: &dyn Fn(usize) -> bool| {
        let some = classes.iter().enumerate().filter(|(at, _)| is_in(*at)).map(|(_, class)| class);
        audit(system, false, &certificate(some))
    };
    assert_eq!(passes(&|_| true), Ok(()), "{}", what());
    let count = classes.len();
    if count <= 6 {
        for subset in 0..(1u32 << count) - 1 {
            assert!(passes(&|at| subset >> at & 1 == 1).is_err(), "{subset:b} of {}", what());
        }
        return;
    }
    let mut rng = Rng::new(count as u64);
    for missing in 0..count {
        assert!(passes(&|at| at != missing).is_err(), "all but {missing} of {}", what());
        let others: Vec<bool> = (0..count).map(|at| at != missing && rng.chance(80)).collect();
        assert!(passes(&|at| others[at]).is_err(), "{others:?} of {}", what());
    }
}

/// Checks the first programs that have a certificate and at most this number of classes. Returns how
/// many there are.
fn sound(samples: &[Sample<Erased<'_>>], programs: usize, most: u64) -> usize {
    let small = samples.iter().filter(|sample| (2..=most).contains(&sample.classes));
    let certified = small.filter_map(|sample| Some((sample, classes_of(&sample.script)?)));
    let check = |(sample, classes): (&Sample<_>, Classes)| {
        assert_eq!(classes.len() as u64, sample.classes, "{}", sample.describe());
        assert_only_all_pass(&sample.script, &classes, &|| sample.describe());
    };
    certified.take(programs).map(check).count()
}

/// A certificate has one text.
#[test]
fn a_text_with_the_same_meaning_is_refused() {
    let (_, classes) = certified("shared x: int = 0; process P[i in 0..2] { x = i; x = i; }");
    let text = certificate(&classes).to_string();
    assert!(text.parse::<Certificate>().is_ok(), "{text}");
    let others = [
        format!("{text}\n"),
        text.trim_end().to_owned(),
        text.replacen("\nclasses ", "\nclasses +", 1),
        text.replacen("x2", "x02", 1),
    ];
    for other in others {
        assert!(other != text && other.parse::<Certificate>().is_err(), "{other}");
    }
}

#[test]
fn only_all_classes_of_random_programs_pass() {
    for family in [processes(), later(), actors(), p2p()] {
        assert_eq!(sound(family, 4, 12), 4);
    }
}

#[test]
#[ignore = "slow"]
fn only_all_classes_of_random_programs_pass_at_length() {
    for family in [processes(), later(), actors(), p2p()] {
        assert!(sound(family, usize::MAX, MAX_CLASSES) > 10);
    }
}

/// Checks the certificates of about one of `each` specs, if it has at most this number of classes.
fn assert_specs_are_certified(each: usize, most: u64) {
    let mut tried = 0;
    for path in some_of(specs_without_demands(), each) {
        let text = std::fs::read_to_string(&path).expect("a spec");
        let Ok(program) = compile("spec.maz", &text, &[]) else { continue };
        if let Some((classes, false)) = classes_by(&program, Udpor::default(), most) {
            let made = certificate(&classes);
            assert_eq!(audit(&program, false, &made), Ok(()), "{}", path.display());
            assert_eq!(made.to_string().parse(), Ok(made), "{}", path.display());
            tried += 1;
        }
    }
    assert!(tried * each > 200, "only {tried} specs");
}

#[test]
fn specs_are_certified() {
    assert_specs_are_certified(20, 12);
}

#[test]
#[ignore = "slow"]
fn specs_are_certified_at_length() {
    assert_specs_are_certified(1, 2_000);
}

/// All explorers that complete every class give the same certificate.
#[test]
fn the_certificate_does_not_depend_on_the_explorer() {
    let program = program(
        "mutex a; mutex b; process P { lock(a); lock(b); } process Q { lock(b); lock(a); }",
    );
    let one = certificate(&classes_of(&program).unwrap()).to_string();
    for other in [
        classes_by(&program, Source::default(), MAX_CLASSES),
        classes_by(&program, Exhaustive, 10_000),
    ] {
        assert_eq!(certificate(&other.unwrap().0).to_string(), one);
    }
    assert_eq!(
        one,
        "mazurka certificate 1\nprogram a program\nclasses 3\ndeadlocked 3\nviolating 3\n\
         0 0x4,1\n2 1,0,1x2\n0 1x3,0,1\n"
    );
}

/// A test of two requests fails only as long as both messages are missing: to find that, both sends
/// have to be taken out at once.
#[test]
fn a_test_that_fails_is_not_forgotten() {
    let (program, classes) = certified(
        "mailbox a: int; mailbox b: int;
         process P { let x = irecv(a); let y = irecv(b); let r = testany([x, y]); }
         process Q { isend(a, 1); } process R { isend(b, 2); }",
    );
    assert_eq!(classes.len(), 3);
    let failing = |class: &Schedule| class.iter().any(|action| action.choice == Choice::NOTHING);
    let rest = classes.iter().filter(|(class, _)| !failing(class));
    let why = audit(&program, false, &certificate(rest)).expect_err("a class is missing");
    assert!(why.to_string().contains("another class is missing"), "{why}");
}

/// Each of these is true of a program, but not of this one, or not the whole truth.
/// Changes a certificate.
type Change<'c> = &'c dyn Fn(&mut Certificate);

#[test]
fn false_statements_are_refused() {
    let (program, classes) = certified(
        "shared x: int = 0; process P { x = 1; } process Q { x = 2; }
         final { assert(x == 1, \"one\"); }",
    );
    let good = certificate(&classes);
    assert_eq!(good.claim, Claim { count: 2, deadlocked: 0, violating: 1 });
    let refusal = |change: &dyn Fn(&mut Certificate)| {
        let mut bad = good.clone();
        change(&mut bad);
        audit(&program, false, &bad).expect_err("it is wrong").to_string()
    };
    let cases: [(Change<'_>, &str); 8] = [
        (&|bad| bad.claim.violating = 0, "it says 2 classes, 0 deadlocked, 0 violating, but"),
        (&|bad| bad.claim.deadlocked = 1, "it says 2 classes, 1 deadlocked, 1 violating, but"),
        (&|bad| bad.claim.count = 3, "it says 3 classes"),
        (&|bad| bad.list.clear(), "it has no class"),
        (&|bad| bad.list.swap(0, 1), "class 2: it is not in order"),
        (&|bad| bad.list[1] = bad.list[0].clone(), "class 2: it is not in order"),
        (&|bad| bad.list[0].truncate(1), "class 1: it does not end"),
        (&|bad| bad.list[0] = "0,2".parse().unwrap(), "class 1: its step 2 is not possible"),
    ];
    for (change, expected) in cases {
        let why = refusal(change);
        assert!(why.starts_with(expected), "{why}");
    }
}

#[test]
fn a_class_has_one_normal_form() {
    let (program, classes) = certified("process P { local(\"p\"); } process Q { local(\"q\"); }");
    let mut bad = certificate(&classes);
    assert_eq!(bad.list[0].to_string(), "0,1");
    bad.list[0] = "1,0".parse().unwrap();
    let why = audit(&program, false, &bad).expect_err("not in normal form").to_string();
    assert_eq!(why, "class 1: it is not in normal form");
}

/// An invariant may fail in a state between the steps of the normal form.
#[test]
fn invariants_are_judged_in_all_states() {
    let text = "shared x: int = 0; shared y: int = 0;
        process P { x = 1; x = 0; } process Q { y = 1; y = 0; }
        invariant { assert(x + y < 2, \"not both\"); }";
    let (program, classes) = certified(text);
    let mut bad = certificate(&classes);
    assert_eq!(bad.claim, Claim { count: 1, deadlocked: 0, violating: 1 });
    bad.claim.violating = 0;
    assert!(audit(&program, false, &bad).is_err());
}

#[test]
fn pending_messages_are_judged_as_asked() {
    let program = program(
        &std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/specs/language/actor-starved.maz"
        ))
        .expect("a spec"),
    );
    let good = certificate(&classes_of(&program).expect("a small program"));
    assert!(good.claim.deadlocked > 0);
    assert_eq!(audit(&program, false, &good), Ok(()));
    assert!(audit(&program, true, &good).is_err());
}

/// Programs whose certificates are mutated: of every kind of choice.
const MUTATED: [&str; 5] = [
    "mutex a; mutex b; process P { lock(a); lock(b); } process Q { lock(b); lock(a); }",
    "shared x: int = 0; process P[i in 0..3] { let y = x; x = y + 1; }",
    "p2p mailbox m: int; process P[i in 0..3] { send(m, i); } process R { let a = recv(m); let b = recv(m); }",
    "mailbox a: int; process P { let x = irecv(a); let t = test(x); let c = choose(0..3); } process Q { isend(a, 1); }",
    "process Main { let p = spawn W(1); let q = spawn W(2); join(p); join(q); assert(x > 1); }
     shared x: int = 0; process W(n: int) { x = n; }",
];

/// Damages a certificate as a value.
fn damage(rng: &mut Rng, it: &mut Certificate) {
    let class = rng.below(it.list.len());
    let mut actions: Vec<Action> = it.list[class].to_vec();
    let step = rng.below(actions.len().max(1));
    match rng.below(11) {
        0 => drop(it.list.remove(class)),
        1 => it.list.insert(class, it.list[class].clone()),
        2 => {
            let other = rng.below(it.list.len());
            it.list.swap(class, other);
        }
        3..=7 if actions.is_empty() => {
            let process = ProcessId(rng.below(5) as u32);
            actions.push(Action { process, choice: Choice(0) });
        }
        3 => drop(actions.remove(step)),
        4 => actions.insert(step, actions[step]),
        5 => {
            let other = rng.below(actions.len());
            actions.swap(step, other);
        }
        6 => actions[step].process = ProcessId(rng.below(5) as u32),
        7 => actions[step].choice = Choice(rng.below(6) as i32 - 2),
        8 => it.claim.violating += 1,
        9 => it.claim.deadlocked = rng.below(3) as u64,
        _ => it.claim.count = rng.below(9) as u64,
    }
    if !it.list.is_empty() && class < it.list.len() && it.list[class].to_vec() != actions {
        // Its place in the list is not to give it away.
        if !rng.chance(50) {
            it.list[class] = actions.into();
        } else if it.list.len() > class {
            it.list[class] = actions.into();
            it.list.sort();
        }
    }
    // Nor is the number of classes.
    if rng.chance(70) {
        it.claim.count = it.list.len() as u64;
    }
}

/// Damages a certificate as a text.
fn scratch(rng: &mut Rng, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = rng.below(bytes.len());
    match rng.below(4) {
        0 => bytes[at] = *rng.pick(b"0123456789:,x -\n"),
        1 => drop(bytes.remove(at)),
        2 => bytes.insert(at, *rng.pick(b"0123456789:,x -\n")),
        _ => bytes.truncate(at),
    }
    String::from_utf8(bytes).expect("ASCII")
}

/// A certificate that is damaged as a value, in this number of places, or as a text; and what the
/// audit says about it.
fn damaged<S: System>(
    rng: &mut Rng,
    system: &S,
    good: &Certificate,
    places: impl FnOnce(&mut Rng) -> usize,
) -> (Certificate, Result<(), Refused>) {
    let mut bad = good.clone();
    if rng.chance(50) {
        (0..places(rng)).for_each(|_| match bad.list.is_empty() {
            true => {}
            false => damage(rng, &mut bad),
        });
        let verdict = audit(system, false, &bad);
        return (bad, verdict);
    }
    match scratch(rng, &good.to_string()).parse::<Certificate>() {
        Err(why) => (bad, Err(why)),
        Ok(read) => {
            let verdict = audit(system, false, &read);
            (read, verdict)
        }
    }
}

/// Refuses 10,000 certificates that are damaged in one place or two.
#[test]
fn damaged_certificates_are_refused() {
    let mut rng = Rng::new(7);
    let all: Vec<_> = MUTATED.iter().map(|text| certified(text)).collect();
    let mut refused = 0;
    while refused < 10_000 {
        let (program, classes) = rng.pick(&all);
        let good = certificate(classes);
        let (bad, verdict) = damaged(&mut rng, program, &good, |rng| rng.range(1, 3));
        // The name of the program is compared by the command.
        let is_same = bad.claim == good.claim && bad.list == good.list;
        match verdict {
            Ok(()) => assert!(is_same, "{bad}\n\n{good}"),
            Err(Refused { .. }) => refused += 1,
        }
    }
}

/// What `check` writes, `audit` reads; and what it says, and its exit codes.
#[test]
fn certificates_on_the_command_line() {
    let root = env!("CARGO_MANIFEST_DIR");
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}-certificate", std::process::id()));
    let file = file.to_str().expect("a path in UTF-8");
    let spec = |name: &str| format!("{root}/specs/{name}.maz");
    let (dining, mailbox) = (spec("mutex/philosophers"), spec("mailbox/basic-deadlock"));

    let made = run(&["check", &dining, "--certificate", file, "-D", "N=3"]);
    assert_eq!(code(&made), 1, "{}", stderr(&made));
    assert!(stderr(&made).contains("Certificate: "), "{}", stderr(&made));
    let good = run(&["audit", &dining, file, "-D", "N=3"]);
    let lines = "Certified: the program is violated: 1 class ends in a deadlock.\n7 classes, replayed and judged; none is missing.\n";
    assert_eq!((code(&good), stdout(&good).as_str()), (1, lines), "{}", stderr(&good));

    // Other constants, another program, a damaged file.
    for args in [vec!["audit", &dining, file, "-D", "N=4"], vec!["audit", &mailbox, file]] {
        let other = run(&args);
        assert_eq!(code(&other), 2);
        assert!(stderr(&other).contains("it is about another text"), "{}", stderr(&other));
    }
    let text = std::fs::read_to_string(file).unwrap();
    let (shorter, _) = text.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(file, format!("{}\n", shorter.replace("classes 7", "classes 6"))).unwrap();
    let bad = run(&["audit", &dining, file, "-D", "N=3"]);
    assert_eq!((code(&bad), stdout(&bad).as_str()), (2, ""));
    assert!(stderr(&bad).contains("another class is missing"), "{}", stderr(&bad));
    std::fs::remove_file(file).unwrap();

    // Nothing is written where there is no certificate.
    for (args, why) in [
        (vec!["--depth", "5"], "--depth cuts executions"),
        (vec!["--explorer", "fused"], "`fused` neither completes every class"),
        (vec!["--jobs", "2"], "--jobs"),
    ] {
        let mut all = vec!["check", &dining, "--certificate", file];
        all.extend(args);
        let refused = run(&all);
        assert_eq!(code(&refused), 2, "{all:?}");
        assert!(stderr(&refused).contains(why), "{}", stderr(&refused));
    }
    let polling = run(&["check", &spec("mailbox/polling"), "--certificate", file]);
    assert!(stderr(&polling).contains("No certificate, and"), "{}", stderr(&polling));
    assert!(!std::path::Path::new(file).exists());
}

/// Each line repeats the one before: a short text must not fill the memory.
#[test]
fn executions_in_a_text_have_a_length() {
    let read = |items: &str, lines: &str| {
        let head =
            format!("mazurka certificate 1\nprogram p\n{items} 2\ndeadlocked 0\nviolating 0\n");
        format!("{head}{lines}").parse::<Certificate>().map(|_| ())
    };
    let why = |items: &str, lines: &str| read(items, lines).expect_err("too long").to_string();
    assert_eq!(why("states", "0 0x1048577\n"), "state 1: it is no execution that ends");
    assert_eq!(why("states", "0 0x1048576\n1048576 0\n"), "state 2: it is no execution that ends");
    assert_eq!(read("states", "0 0x1048576\n"), Ok(()));
    // To find the causes of the steps of a class takes quadratic time.
    assert_eq!(why("classes", "0 0x32769\n"), "class 1: it is no execution that ends");
    assert_eq!(read("classes", "0 0x32768\n"), Ok(()));
    // Many long executions in a short text.
    let lines: String = (0..64).map(|choice| format!("0 {choice}x1048576\n")).collect();
    assert!(why("events", &lines).ends_with("the executions are too long"));
}
