//! Faults, compared with programs in which they are written out by hand as choices.

mod causes;
mod crashes;
mod specs;
mod strikes;
mod stuck;

use std::collections::BTreeSet;
use std::fmt::Write;

use mazurka::explore::{
    Budget, End, Explorer, FinitePrefix, NoObserver, Observer, StopReason, Udpor, Verdict, explore,
};
use mazurka::lang::{self, Choices};
use mazurka::model::{FaultKinds, Faults, Value};
use mazurka::property::Position;

use super::{fails, holds, violations};
use crate::judge::{METHODS, is_refused};
use crate::random_models::{Rng, asked};

/// What the cells whose names begin with `o` or `x` hold at the ends of executions, and whether the
/// end is a deadlock. Executions in which the cell `vain` is not 0 do not count.
#[derive(Default)]
struct Ends(BTreeSet<(Vec<String>, bool)>);

impl Observer for Ends {
    fn trace(&mut self, at: Position<'_>, end: End) {
        self.add(&at.cells(), end.is_deadlocked);
    }
}

impl Ends {
    fn add(&mut self, cells: &[(String, Value)], is_deadlocked: bool) {
        if cells.iter().any(|(name, value)| name == "vain" && *value != Value::Int(0)) {
            return;
        }
        let seen = cells.iter().filter(|(name, _)| name.starts_with(['o', 'x']));
        let seen = seen.map(|(name, value)| format!("{name} = {value}")).collect();
        self.0.insert((seen, is_deadlocked));
    }
}

/// Programs with more executions than this are left out.
const MOST: u64 = 5_000;

fn compile(text: &str, faults: Faults) -> lang::Program {
    let choices = Choices { faults, ..Choices::default() };
    lang::compile_with("faults.maz", text, &[], choices)
        .unwrap_or_else(|d| panic!("{text}\n{}", d.render(false)))
}

/// The ends of all executions; `None` if there are too many.
fn ends<E: Explorer>(text: &str, faults: Faults, explorer: E) -> Option<Ends> {
    let budget = Budget { all: true, max_traces: Some(MOST), ..Budget::default() };
    let mut ends = Ends::default();
    let outcome = explore(&compile(text, faults), explorer, budget, &mut ends);
    let is_cut = outcome.stopped_by == Some(StopReason::MaxTraces);
    assert!(is_cut || outcome.is_complete(), "{text}");
    (!is_cut).then_some(ends)
}

/// How often a fault may happen, for each process or for all together.
#[derive(Clone, Copy)]
struct Limit {
    most: i64,
    in_all: bool,
}

impl Limit {
    fn any(rng: &mut Rng) -> Option<Limit> {
        let most = rng.below(3) as i64;
        (most > 0).then(|| Limit { most, in_all: rng.below(3) == 0 })
    }

    fn text(limit: Option<Limit>, word: &str) -> String {
        limit.map_or(String::new(), |Limit { most, in_all }| {
            format!(" {word} up to {most}{}", if in_all { " in all" } else { "" })
        })
    }
}

/// A statement of a random process.
#[derive(Clone, Copy)]
enum Act {
    /// To this process.
    Send(usize),
    Receive,
    /// A receive that may run into a timeout.
    Try,
    Add,
    Choose,
    /// Counts in a durable variable.
    Count,
}

/// A random program with faults.
struct Faulty {
    delivery: &'static str,
    lossy: Option<Limit>,
    duplicating: Option<Limit>,
    /// Does the network heal, if it can be cut?
    cut: Option<bool>,
    crashes: Vec<Option<(Limit, bool)>>,
    bodies: Vec<Vec<Act>>,
}

impl Faulty {
    fn any(rng: &mut Rng) -> Faulty {
        let delivery = ["", "p2p ", "bag "][rng.below(3)];
        let of = 2 + usize::from(rng.below(3) == 0);
        let faults = rng.below(4);
        let [lossy, duplicating] = [0, 1].map(|_| if faults > 0 { Limit::any(rng) } else { None });
        let cut = (faults > 1 && rng.below(3) == 0).then(|| rng.below(2) == 0);
        let mut crashes = Vec::new();
        let mut bodies = Vec::new();
        for _ in 0..of {
            let limit = if rng.below(2) == 0 { Limit::any(rng) } else { None };
            let restarts = rng.below(2) == 0;
            crashes.push(limit.map(|limit| (limit, restarts)));
            let length = 1 + rng.below(5 - of);
            let act = |rng: &mut Rng| match rng.below(6) {
                0 | 1 => Act::Send(rng.below(of)),
                2 if delivery.is_empty() => Act::Receive,
                2 => Act::Try,
                3 => Act::Receive,
                4 if restarts => Act::Count,
                4 => Act::Choose,
                _ => Act::Add,
            };
            bodies.push((0..length).map(|_| act(rng)).collect());
        }
        Faulty { delivery, lossy, duplicating, cut, crashes, bodies }
    }

    /// Is there a fault at all?
    fn has_faults(&self) -> bool {
        self.lossy.is_some()
            || self.duplicating.is_some()
            || self.cut.is_some()
            || self.crashes.iter().any(Option::is_some)
    }

    /// Do messages fail? Then a send does not wait.
    fn is_unreliable(&self) -> bool {
        self.lossy.is_some() || self.duplicating.is_some() || self.cut.is_some()
    }

    fn cells(&self) -> String {
        let mut out = String::from("shared x: int = 0;\n");
        for p in 0..self.bodies.len() {
            writeln!(out, "shared o{p}: int = 0;").unwrap();
        }
        out
    }

    /// With the faults declared.
    fn declared(&self) -> String {
        let cut =
            self.cut.map_or("", |heals| if heals { " partitioned, heals" } else { " partitioned" });
        let mut out = format!(
            "{}mailbox m[{}]: int{}{}{cut};\n{}",
            self.delivery,
            self.bodies.len(),
            Limit::text(self.lossy, "lossy"),
            Limit::text(self.duplicating, "duplicating"),
            self.cells(),
        );
        for (p, body) in self.bodies.iter().enumerate() {
            let crashes = self.crashes[p].map(|(limit, restarts)| {
                Limit::text(Some(limit), "crashes") + if restarts { ", restarts" } else { "" }
            });
            writeln!(out, "process P{p}{} {{", crashes.unwrap_or_default()).unwrap();
            let durable = if self.counts(p) { "durable " } else { "" };
            writeln!(out, "    {durable}var d = 0;").unwrap();
            for (n, act) in body.iter().enumerate() {
                let log = |value: &str| format!("o{p} = o{p} * 10 + {value};");
                let text = match act {
                    Act::Send(to) => format!("send(m[{to}], {n}, src: {p});"),
                    Act::Receive => format!("let v{n} = recv(m[{p}]); {}", log(&format!("v{n}"))),
                    Act::Try => {
                        format!(
                            "let v{n} = recv(m[{p}]) timeout {{ 9 }}; {}",
                            log(&format!("v{n}"))
                        )
                    }
                    Act::Add => "fetch_add(x, 1);".to_owned(),
                    Act::Choose => format!("let v{n} = choose(6..8); {}", log(&format!("v{n}"))),
                    Act::Count => format!("d += 1; {}", log("d")),
                };
                writeln!(out, "    {text}").unwrap();
            }
            out += "}\n";
        }
        out
    }

    /// Does the process count in a durable variable?
    fn counts(&self, p: usize) -> bool {
        matches!(self.crashes[p], Some((_, true)))
    }

    /// With the faults as choices.
    fn by_hand(&self) -> String {
        let of = self.bodies.len();
        let budget = |limit: Option<Limit>| limit.map_or(0, |limit| limit.most);
        let mut out = format!(
            "{}mailbox m[{of}]: int;\n{}shared vain: int = 0;\nshared losses: int = {};\n\
             shared doubles: int = {};\nshared cut: int = 0;\n",
            self.delivery,
            self.cells(),
            budget(self.lossy),
            budget(self.duplicating),
        );
        for (p, crashes) in self.crashes.iter().enumerate() {
            writeln!(out, "shared lives{p}: int = {};", budget(crashes.map(|one| one.0))).unwrap();
        }
        if let Some(heals) = self.cut {
            let heal = if heals { " cut = 0;" } else { "" };
            let cuts = 1 << (of - 1);
            writeln!(
                out,
                "process Cut {{ let k = choose(0..{cuts}); if k != 0 {{ cut = k;{heal} }} }}"
            )
            .unwrap();
        }
        for (p, body) in self.bodies.iter().enumerate() {
            let crash = self.crash_by_hand(p);
            writeln!(
                out,
                "process P{p} {{\n    var crashed = 0; var lost = 0; var doubled = 0; var d = 0;"
            )
            .unwrap();
            out += "    loop {\n";
            for (n, act) in body.iter().enumerate() {
                let log = |value: &str| {
                    format!("{crash} let t{n} = o{p}; {crash} o{p} = t{n} * 10 + {value};")
                };
                let text = match act {
                    Act::Send(to) => self.send_by_hand(n, p, *to, &crash),
                    Act::Receive => format!(
                        "{crash} let c{n} = irecv(m[{p}]); {crash} let v{n} = wait(c{n}); {}",
                        log(&format!("v{n}"))
                    ),
                    // The poll is another one than that of the declared fault.
                    Act::Try => format!(
                        "{crash} var v{n} = 9; let c{n} = irecv(m[{p}]); if test(c{n}) {{ v{n} = \
                         value(c{n}); }} else if !cancel(c{n}) {{ v{n} = wait(c{n}); }} {}",
                        log(&format!("v{n}"))
                    ),
                    Act::Add => format!("{crash} fetch_add(x, 1);"),
                    Act::Choose => format!("let v{n} = choose(6..8); {}", log(&format!("v{n}"))),
                    Act::Count => format!("d += 1; {}", log("d")),
                };
                writeln!(out, "        {text}").unwrap();
            }
            out += "        break;\n    }\n}\n";
        }
        out
    }

    /// The choice whether process `p` crashes.
    fn crash_by_hand(&self, p: usize) -> String {
        let Some((limit, restarts)) = self.crashes[p] else { return String::new() };
        let then = if restarts { "continue" } else { "return" };
        taken(limit, ("crashed", &format!("lives{p}")), &format!("{then};"))
    }

    fn send_by_hand(&self, n: usize, p: usize, to: usize, crash: &str) -> String {
        let post = match (self.delivery, self.is_unreliable()) {
            (_, false) => format!("send(m[{to}], {n}, src: {p});"),
            ("", _) => format!("isend(m[{to}], {n}, src: {p});"),
            _ => format!("ibsend(m[{to}], {n}, src: {p});"),
        };
        if !self.is_unreliable() {
            let (send, wait) = (format!("isend(m[{to}], {n}, src: {p})"), "wait");
            return format!("{crash} let c{n} = {send}; {crash} {wait}(c{n});");
        }
        let mut text = format!("{crash} var goes{n} = true;");
        if self.cut.is_some() {
            let side = |node: usize| format!("now{n} / {} % 2", 1 << node);
            write!(
                text,
                " let now{n} = cut; if {} != {} {{ goes{n} = false; }}",
                side(p),
                side(to)
            )
            .unwrap();
        }
        write!(text, " if goes{n} {{").unwrap();
        if let Some(limit) = self.lossy {
            text += &taken(limit, ("lost", "losses"), &format!("goes{n} = false;"));
        }
        text += " }";
        write!(text, " if goes{n} {{").unwrap();
        if let Some(limit) = self.duplicating {
            text += &taken(limit, ("doubled", "doubles"), &format!("{crash} {post}"));
        }
        write!(text, " {crash} {post} }}").unwrap();
        text
    }
}

/// The choice of a fault, counted in a variable of the process, or in a cell.
fn taken(limit: Limit, (own, cell): (&str, &str), then: &str) -> String {
    match limit.in_all {
        false => {
            format!(" if {own} < {} && choose(0..2) == 1 {{ {own} += 1; {then} }}", limit.most)
        }
        true => format!(
            " if choose(0..2) == 1 {{ if fetch_add({cell}, -1) <= 0 {{ vain = 1; return; }} {then} }}"
        ),
    }
}

#[test]
fn faults_have_the_outcomes_of_choices_written_by_hand() {
    let mut rng = Rng::new(35);
    let (mut compared, mut with) = (0, [0; 5]);
    while compared < asked(60) {
        let faulty = Faulty::any(&mut rng);
        if !faulty.has_faults() {
            continue;
        }
        let (declared, by_hand) = (faulty.declared(), faulty.by_hand());
        let found = ends(&declared, Faults::default(), Udpor::default());
        let expected = ends(&by_hand, Faults::default(), Udpor::default());
        let (Some(found), Some(expected)) = (found, expected) else { continue };
        compared += 1;
        assert_eq!(found.0, expected.0, "{declared}\n{by_hand}");
        let crashes = faulty.crashes.iter().flatten();
        let has = [
            faulty.lossy.is_some(),
            faulty.duplicating.is_some(),
            faulty.cut.is_some(),
            crashes.clone().any(|one| one.1),
            crashes.clone().any(|one| one.0.in_all),
        ];
        with.iter_mut().zip(has).for_each(|(count, has)| *count += usize::from(has));
        if compared % 6 == 0 {
            agree(&declared, &found);
            prefix_agrees(&declared, &found);
        }
    }
    assert!(with.iter().all(|&count| count > compared / 20), "{with:?}");
}

/// All explorers that visit every class, or every state, find the same ends.
fn agree(text: &str, expected: &Ends) {
    let program = compile(text, Faults::default());
    for (name, explorer, _) in METHODS.iter() {
        if is_refused(&program, *explorer) {
            continue;
        }
        if let Some(found) = ends(text, Faults::default(), *explorer) {
            assert_eq!(found.0, expected.0, "{name}\n{text}");
        }
    }
}

/// The complete prefix finds a deadlock if there is one.
fn prefix_agrees(text: &str, expected: &Ends) {
    let program = compile(text, Faults::default());
    let outcome = explore(&program, FinitePrefix::default(), Budget::default(), &mut NoObserver);
    let is_deadlocked = expected.0.iter().any(|end| end.1);
    assert!(outcome.stopped_by.is_none_or(|by| by == StopReason::Violation), "{text}");
    assert_eq!(outcome.verdict() == Verdict::Deadlock, is_deadlocked, "{text}");
}

/// The smallest number that the cell `x` has at the end of an execution.
fn least(text: &str, kinds: FaultKinds, max_crashes: Option<u32>) -> u32 {
    let found = ends(text, Faults { kinds, max_crashes }, Udpor::default()).expect("few ends");
    let content = |cells: &Vec<String>| {
        let x = cells.iter().find_map(|cell| cell.strip_prefix("x = ")).expect("the cell");
        x.parse().expect("a number")
    };
    found.0.iter().map(|(cells, _)| content(cells)).min().expect("an execution")
}

#[test]
fn options_allow_fewer_faults() {
    let crashing = "
        shared x: int = 0;
        process P[i in 0..3] crashes up to 1 { fetch_add(x, 1); }
    ";
    assert_eq!(least(crashing, FaultKinds::All, None), 0);
    assert_eq!(least(crashing, FaultKinds::Crash, None), 0);
    assert_eq!(least(crashing, FaultKinds::Loss, None), 3);
    assert_eq!(least(crashing, FaultKinds::None, None), 3);
    for most in 0..=3 {
        assert_eq!(least(crashing, FaultKinds::All, Some(most)), 3 - most);
    }
    let groups = "
        shared x: int = 0;
        process P[i in 0..2] crashes up to 1 in all { fetch_add(x, 1); }
        process Q[i in 0..2] crashes up to 1 { fetch_add(x, 1); }
    ";
    assert_eq!(least(groups, FaultKinds::All, None), 1);
    assert_eq!(least(groups, FaultKinds::All, Some(2)), 2);
    let losing = "
        p2p mailbox m: int lossy up to 1;
        shared x: int = 0;
        process Sender { send(m, 1); send(m, 2); }
        process Receiver {
            fetch_add(x, recv(m) timeout { 0 });
            fetch_add(x, recv(m) timeout { 0 });
        }
    ";
    assert_eq!(least(losing, FaultKinds::All, None), 0);
    // Without timeouts the receiver waits, so a lost message is a deadlock.
    assert_eq!(least(losing, FaultKinds::None, None), 3);
    assert_eq!(least(&losing.replace("timeout { 0 }", ""), FaultKinds::All, None), 1);
}

#[test]
fn a_timeout_that_changes_nothing_waits() {
    let polls =
        "process P { loop { let v = recv(m) timeout { continue; }; assert(v == 1); break; } }";
    holds(&format!("p2p mailbox m: int; process Q {{ bsend(m, 1); }} {polls}"));
    fails(
        &format!(
            "p2p mailbox m: int; process Q {{ if m_is_unused() {{ bsend(m, 1); }} }} fn m_is_unused() -> bool {{ false }} {polls}"
        ),
        "Livelock",
    );
}

/// A receive that may give up gets what a receive without a timeout gets there, or gives up.
#[test]
fn a_receive_with_a_timeout_gets_what_a_receive_gets() {
    let mut rng = Rng::new(41);
    let (mut compared, mut busy) = (0, 0);
    while compared < asked(120) {
        let delivery = *rng.pick(&["p2p", "p2p", "bag"]);
        let names_sources = rng.chance(30);
        let mut text = format!("{delivery} mailbox m: int; shared o: int = 0;\n");
        for sender in 0..rng.range(2, 4) {
            write!(text, "process S{sender} {{ ").expect("a string takes everything");
            for nth in 0..rng.range(1, 3) {
                let src = if names_sources && rng.chance(60) { ", src: 1" } else { "" };
                let tag = if rng.chance(50) { ", tag: 1" } else { "" };
                write!(text, "bsend(m, {sender}{nth}{src}{tag}); ")
                    .expect("a string takes everything");
            }
            text += "}\n";
        }
        text += "process R { ";
        for _ in 0..rng.range(1, 3) {
            let src = *rng.pick(&["", "", ", src: 0", ", src: 1"]);
            let tag = *rng.pick(&["", "", ", tag: 0", ", tag: 1"]);
            write!(text, "o = 100 * o + (RECV(m{src}{tag})END); ")
                .expect("a string takes everything");
        }
        text += "}";
        let with = |begin: &str, end: &str| {
            let text = text.replace("RECV", begin).replace("END", end);
            ends(&text, Faults::default(), Udpor::default())
        };
        let timed = with("recv", " timeout { 99 }");
        let chosen = with("if choose(0..2) == 0 { 99 } else { recv", " }");
        let (Some(timed), Some(mut chosen)) = (timed, chosen) else { continue };
        chosen.0.retain(|(_, is_deadlocked)| !is_deadlocked);
        assert_eq!(timed.0, chosen.0, "{text}");
        compared += 1;
        busy += usize::from(timed.0.len() > 3);
    }
    assert!(busy > compared / 3, "{busy} of {compared}");
}

#[test]
fn messages_between_actors_are_lost_and_doubled() {
    let text = |network: &str| {
        format!(
            "{network}
            actor Server {{ on Ask(from: actor) {{ send(from, Answer()); }} }}
            actor Client {{
                var asked = false;
                var answers = 0;
                internal Begin when !asked {{ asked = true; send(Server, Ask(self)); }}
                on Answer() {{ answers += 1; }}
            }}
            "
        )
    };
    let ends = |network: &str| {
        let most = |most: i64| {
            let all = format!("{}final {{ assert(Client.answers <= {most}); }}", text(network));
            violations(&all).is_empty()
        };
        let least = format!("{}final {{ assert(Client.answers >= 1); }}", text(network));
        ((0..=4).find(|&n| most(n)), violations(&least).is_empty())
    };
    assert_eq!(ends(""), (Some(1), true));
    assert_eq!(ends("network lossy;"), (Some(1), false));
    assert_eq!(ends("network duplicating;"), (Some(4), true));
    assert_eq!(ends("network lossy, duplicating;"), (Some(4), false));
}

#[test]
fn actors_crash_and_start_again() {
    let text = |crashes: &str, durable: &str| {
        format!(
            "actor Server {crashes} {{
                {durable} var done = 0;
                var seen = 0;
                on Ask() {{ done += 1; seen += 1; }}
            }}
            init {{ send(Server, Ask()); send(Server, Ask()); }}
            "
        )
    };
    let of = |crashes: &str, durable: &str, end: &str| {
        violations(&format!("{}final {{ assert({end}); }}", text(crashes, durable)))
    };
    assert!(of("", "", "Server.done == 2").is_empty());
    // Messages to an actor that has crashed are no deadlock.
    assert!(of("crashes up to 1", "", "Server.done <= 2").is_empty());
    assert!(!of("crashes up to 1", "", "Server.done >= 1").is_empty());
    assert!(of("crashes up to 2, restarts", "durable", "Server.done == 2").is_empty());
    assert!(!of("crashes up to 2, restarts", "", "Server.done == 2").is_empty());
    assert!(!of("crashes up to 2, restarts", "durable", "Server.seen > 0").is_empty());
    assert!(of("crashes up to 1", "", "Server.crashes <= 1").is_empty());
}

/// Also executions without a crash have an end, where `final` is checked.
#[test]
fn an_actor_need_not_crash() {
    let text = |end: &str| {
        format!(
            "actor A[i in 0..2] crashes up to 2, restarts {{ on M() {{ }} }}
            final {{ assert({end}); }}"
        )
    };
    for never in ["A[0].crashes > 0", "A[0].crashes != 1", "A[1].crashes < 2"] {
        fails(&text(never), "assertion failed");
    }
    holds(&text("A[0].crashes <= 2"));
}

/// It is node 0 of a network that is cut, whatever it is given.
#[test]
fn a_spawned_process_has_no_index() {
    fails(
        "p2p mailbox net[2]: int partitioned;
        process T(n: int) { send(net[n], 1); }
        process Main { join(spawn T(1)); }
        process R { let v = recv(net[1]); assert(v == 1); }",
        "Deadlock",
    );
}
