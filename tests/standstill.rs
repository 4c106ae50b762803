//! What implementations of MPI need not do (`--buffering any`, `--collectives any`): every
//! standstill that is possible without some of it is found.
//!
//! Random programs, whose sends and entries may complete early or late, are judged in two ways that
//! do not use classes. One visits all states. The other does not use optional actions either: each
//! send and each entry first chooses whether it completes early or late.

mod choices;
mod registers;
mod waits;

use std::collections::HashSet;

use mazurka::explore::{
    AnyExplorer, Budget, EXPLORERS, Explorer, FinitePrefix, Guarantee, NoObserver, Outcome,
    StopReason, Udpor, explore,
};
use mazurka::lang::compile;
use mazurka::model::{
    Action, Buffering, Choice, Completion, Delivery, Locals, ProcessId, Semantics, State, System,
};
use mazurka::property::{Replay, explain_deadlock};
use mazurka::systems::history::History;

use crate::cli::{code, run_with, stderr};
use crate::history::interpreted::Interpreted;
use crate::random_models::{self, Erased, Rng};
use choices::{Chosen, Open};

/// The system in which everything that completes early completes like this.
fn opened<S: System>(system: &S, completion: Completion) -> Erased<'_> {
    Erased::new(Open::new(system, completion))
}

fn all() -> Budget {
    Budget { all: true, endless: Some(10_000), ..Budget::default() }
}

fn is_stuck(outcome: &Outcome) -> bool {
    outcome.violations.iter().any(|violation| violation.kind.is_standstill())
}

/// By definition: whether there is a state in which only optional actions are enabled, and some
/// process that is not a daemon has not ended. Visits all states, which are distinguished by what
/// each process has done. If an ordinary mailbox has an order that this does not determine, visits
/// all executions.
fn stands_still<S: System>(system: &S) -> bool {
    fn visit<S: System>(
        locals: &mut Locals<'_, S>,
        state: &mut State,
        seen: &mut HashSet<Ways>,
    ) -> bool {
        let mut enabled = Vec::new();
        state.enabled(locals, &mut enabled);
        let all: Vec<_> = state.processes().collect();
        if all.into_iter().all(|process| waits(locals, state, process))
            && state.stuck(locals).next().is_some()
        {
            return true;
        }
        let objects = locals.system().objects();
        let mut deliveries =
            (0..objects.mailboxes.len()).map(|at| *objects.mailboxes.start(at as u32));
        if deliveries.all(|delivery| delivery != Delivery::Ordered) && !seen.insert(ways(state)) {
            return false;
        }
        for action in enabled {
            state.step(locals, action);
            let found = visit(locals, state, seen);
            state.undo(locals);
            if found {
                return true;
            }
        }
        false
    }
    let mut locals = Locals::new(system);
    let mut state = State::initial(&mut locals);
    visit(&mut locals, &mut state, &mut HashSet::new())
}

/// Need the process do nothing any more? If it polls in vain until it is back in an earlier local
/// state, it can go on with that for ever.
fn waits<S: System>(locals: &mut Locals<'_, S>, state: &mut State, process: ProcessId) -> bool {
    let depth = state.depth();
    let mut seen = HashSet::from([state.local(process)]);
    let waits = loop {
        let mut must = Vec::new();
        state.choices(locals, process, |choice| must.push(Action { process, choice }));
        must.retain(|&action| !state.is_optional(locals, action));
        match must[..] {
            [] => {
                let round = state.round_of_polls(locals, process);
                break !round.is_some_and(|round| state.polls_on(locals, process, &round))
                    && !state.is_cut_at_poll(locals, process);
            }
            [action] if action.choice == Choice::NOTHING => state.step(locals, action),
            _ => break false,
        }
        if !seen.insert(state.local(process)) {
            break true;
        }
    };
    while state.depth() > depth {
        state.undo(locals);
    }
    waits
}

/// The actions of each process so far.
type Ways = Vec<Vec<i32>>;

fn ways(state: &State) -> Ways {
    let mut ways = Ways::new();
    for Action { process, choice } in state.schedule() {
        if ways.len() <= process.index() {
            ways.resize(process.index() + 1, Vec::new());
        }
        ways[process.index()].push(choice.0);
    }
    ways
}

/// The explorers that visit every class, and the finite prefix.
fn visitors() -> impl Iterator<Item = AnyExplorer> {
    let covers = |explorer: &AnyExplorer| explorer.profile().guarantee >= Guarantee::EveryClass;
    EXPLORERS
        .iter()
        .map(|listed| listed.plain())
        .filter(covers)
        .chain([FinitePrefix::default().into()])
}

/// The maximum number of executions that an explorer visits.
const MOST_TRACES: u64 = 200;

/// Compares what is found in a program with both judges. Does it stand still, and does it only if
/// some sends are buffered and others are not?
fn compare<S: System>(system: &S, text: impl Fn() -> String) -> [bool; 2] {
    let open = opened(system, Completion::Either);
    let expected = stands_still(&open);
    [expected, is_found(system, &open, expected, text)]
}

/// Checks that the program stands still iff that is `expected`. Does it so only if some sends are
/// buffered and others are not?
fn is_found<S: System>(
    system: &S,
    open: &Erased<'_>,
    expected: bool,
    text: impl Fn() -> String,
) -> bool {
    let chosen = explore(&Erased::new(Chosen(system)), Udpor::default(), all(), &mut NoObserver);
    assert_eq!(is_stuck(&chosen), expected, "by choices: {}", text());
    let early = explore(system, Udpor::default(), all(), &mut NoObserver);
    let found = explore(open, Udpor::default(), all(), &mut NoObserver);
    // Where nothing is known of a program before it runs, an execution can end in front of the loop
    // in which a daemon waits for ever, and is not given up.
    let classes = |outcome: &Outcome| outcome.stats.traces + outcome.stats.given_up;
    assert_eq!(classes(&found), classes(&early), "classes: {}", text());
    for explorer in visitors().filter(|explorer| explorer.refusal(open, &all()).is_none()) {
        let name = explorer.profile().name;
        let budget = Budget { max_traces: Some(MOST_TRACES), ..all() };
        let outcome = explore(open, explorer, budget, &mut NoObserver);
        // Some explorers visit every execution, which may be too many.
        let is_whole = matches!(outcome.stopped_by, None | Some(StopReason::Polls));
        assert!(is_whole || outcome.stats.traces == MOST_TRACES, "{name}: {}", text());
        assert!(!is_whole || is_stuck(&outcome) == expected, "{name}: {}", text());
    }
    for violation in &found.violations {
        if violation.kind.is_standstill() {
            let mut replay = Replay::new(open);
            replay.follow(&violation.schedule).expect("the schedule of a violation");
            replay.look_for_livelock();
            let explained = explain_deadlock(&replay);
            assert!(explained.is_some(), "{}: {}", violation.schedule, text());
        }
    }
    let late = opened(system, Completion::Late);
    let late = explore(&late, Udpor::default(), all(), &mut NoObserver);
    expected && !is_stuck(&early) && !is_stuck(&late)
}

#[test]
fn random_programs_that_stand_still_without_some_buffers_are_found() {
    for sample in random_models::p2p().iter().take(random_models::asked(100)) {
        compare(&sample.script, || sample.describe());
    }
}

/// One of the two is enough for standstills without buffers, which explorers of ends would miss.
#[test]
fn explorers_of_ends_refuse_either_choice() {
    let text = "p2p mailbox m: int; process A { send(m, 1); } process B { recv(m); }";
    let by = |options: &[&str]| {
        run_with(&[&["check", "-", "--explorer", "s-por"], options].concat(), text)
    };
    assert_eq!(code(&by(&[])), 0);
    for options in [["--buffering", "any"], ["--collectives", "any"]] {
        let refused = by(&options);
        assert_eq!(code(&refused), 2, "{options:?}");
        assert!(stderr(&refused).contains("may miss standstills without buffers"), "{options:?}");
    }
}

/// The prefix finds the standstills of processes that really run: its net has a place for each of their messages there.
fn compare_histories<S: System>(system: &'static S, text: impl Fn() -> String) -> bool
where
    S::Local: Send + Sync,
{
    let open = Open::new(system, Completion::Either);
    let expected = stands_still(&open);
    let history = History::new(Interpreted::new(open));
    let found = explore(&Erased::of(&history), FinitePrefix::default(), all(), &mut NoObserver);
    let is_whole = matches!(found.stopped_by, None | Some(StopReason::Polls));
    assert!(is_whole, "{:?}: {}", found.stopped_by, text());
    assert_eq!(is_stuck(&found), expected, "{}", text());
    expected
}

#[test]
fn prefixes_of_histories_stand_still_where_their_programs_do() {
    let samples = random_models::p2p().iter().take(random_models::asked(100));
    let still = samples.filter(|one| compare_histories(&one.script, || one.describe())).count();
    let programs = (0..random_models::asked(100) as u64).map(exchanges).filter(|text| {
        let program = compile("exchanges.maz", text, &[]).expect("a program");
        compare_histories(Box::leak(Box::new(program)), || text.clone())
    });
    let exchanged = programs.count();
    assert!(still > 5 && exchanged > 10, "{still} {exchanged}");
}

/// Messages in an order that needs no buffers, then some of them out of order, and some of them
/// only if a send was observed to be complete.
fn exchanges(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let ranks = if rng.chance(80) { 2 } else { 3 };
    let mut lines = vec![Vec::new(); ranks];
    for step in 0..2 {
        let from = rng.below(ranks);
        let to = (from + 1 + rng.below(ranks - 1)) % ranks;
        let source = if rng.chance(80) { format!(", src: {from}") } else { String::new() };
        let receive = format!("recv(inbox[{to}]{source});");
        let back = format!("recv(inbox[{from}], src: {to});");
        let [send, answer] = [format!("send(inbox[{to}], 0);"), format!("send(inbox[{from}], 0);")];
        let meeting = |rng: &mut Rng| match rng.chance(40) {
            true => [format!("{send} {back}"), format!("{answer} {receive}")],
            false => [format!("{send} {back}"), format!("{receive} {answer}")],
        };
        match step + usize::from(ranks == 3) {
            // Whether the send was seen complete decides how they go on.
            0 | 1 => {
                let ([one, other], [two, rest]) = (meeting(&mut rng), meeting(&mut rng));
                lines[from].push(format!(
                    "let c = isend(inbox[{to}], 0); let f = test(c); if f {{ send(inbox[{to}], 1, tag: 1); {one} }} \
                     else {{ send(inbox[{to}], 0, tag: 1); {two} }} wait(c);"
                ));
                // If the message is received late, it can be seen complete only because it is
                // buffered.
                let mut taken = [
                    format!("recv(inbox[{to}], src: {from}, tag: 0);"),
                    format!("let g = recv(inbox[{to}], src: {from}, tag: 1);"),
                ];
                if rng.chance(70) {
                    taken.reverse();
                }
                let [first, second] = taken;
                lines[to]
                    .push(format!("{first} {second} if g == 1 {{ {other} }} else {{ {rest} }}"));
            }
            _ if rng.chance(30) => {
                lines.iter_mut().for_each(|own| own.push(format!("bcast(world, {from}, 0);")));
            }
            _ => {
                lines[from].push(send);
                lines[to].push(receive);
            }
        }
    }
    for own in &mut lines {
        if own.len() > 1 && rng.chance(30) {
            let at = rng.below(own.len() - 1);
            own.swap(at, at + 1);
        }
    }
    let mut text = format!("p2p mailbox inbox[{ranks}];\ncollective world({ranks});\n");
    text += &format!("process Rank[i in 0..{ranks}] {{\n    match i {{\n");
    for (rank, own) in lines.iter().enumerate() {
        let pattern = if rank + 1 == ranks { "_".into() } else { rank.to_string() };
        text += &format!("        {pattern} => {{ {} }}\n", own.join(" "));
    }
    text + "    }\n}\n"
}

#[test]
fn a_spec_is_right_with_each_buffering_but_any() {
    let file = "specs/mpi/some-buffers.maz";
    let text = std::fs::read_to_string(file).expect("a spec");
    let mut program = compile(file, &text, &[]).expect("a program");
    for (buffering, expected) in
        [(Buffering::Zero, false), (Buffering::Infinite, false), (Buffering::Any, true)]
    {
        program.set_semantics(Semantics { buffering, ..Semantics::default() });
        let outcome = explore(&program, Udpor::default(), all(), &mut NoObserver);
        assert_eq!(is_stuck(&outcome), expected, "{buffering}");
    }
}

#[test]
fn programs_right_with_all_buffers_and_with_none_are_found() {
    let (mut still, mut in_between, mut right) = (0, 0, 0);
    for seed in 0..random_models::asked(100) as u64 {
        let text = exchanges(seed);
        let program = compile("exchanges.maz", &text, &[]).unwrap_or_else(|errors| {
            panic!("{}\n{text}", errors.render(false));
        });
        let [expected, is_between] = compare(&program, || format!("seed {seed}\n{text}"));
        still += usize::from(expected);
        right += usize::from(!expected);
        in_between += usize::from(is_between);
    }
    assert!(still > 10 && right > 10 && in_between > 3, "{still} {right} {in_between}");
}

/// Messages in an order that needs no buffers, then some out of order. Ranks wait for some of them
/// in loops that poll, for one thing or for two.
fn loops(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let ranks = 2 + usize::from(rng.chance(20));
    let mut lines = vec![Vec::new(); ranks];
    for tag in 0..3 {
        let from = rng.below(ranks);
        let to = (from + 1 + rng.below(ranks - 1)) % ranks;
        let waits = |rng: &mut Rng, rank: usize, what: String| {
            let also = match rng.chance(50) {
                true => {
                    format!("let (_, _, _) = iprobe(inbox[{rank}], tag: {});", 3 + rng.below(2))
                }
                false => String::new(),
            };
            match rng.chance(50) {
                true => format!("loop {{ {also} {what} }}"),
                false => format!("loop {{ {what} {also} }}"),
            }
        };
        lines[from].push(match rng.below(3) {
            0 => format!("send(inbox[{to}], 0, tag: {tag});"),
            1 => format!("isend(inbox[{to}], 0, tag: {tag});"),
            _ => {
                let polls = waits(&mut rng, from, format!("if test(s{tag}) {{ break; }}"));
                format!("let s{tag} = isend(inbox[{to}], 0, tag: {tag}); {polls}")
            }
        });
        lines[to].push(match rng.below(3) {
            0 => format!("recv(inbox[{to}], tag: {tag});"),
            1 => {
                let probe = format!("let (f, _, _) = iprobe(inbox[{to}], tag: {tag});");
                let polls = waits(&mut rng, to, format!("{probe} if f {{ break; }}"));
                format!("{polls} recv(inbox[{to}], tag: {tag});")
            }
            _ => {
                let polls = waits(&mut rng, to, format!("if test(r{tag}) {{ break; }}"));
                format!("let r{tag} = irecv(inbox[{to}], tag: {tag}); {polls}")
            }
        });
    }
    for own in &mut lines {
        if own.len() > 1 && rng.chance(40) {
            let at = rng.below(own.len() - 1);
            own.swap(at, at + 1);
        }
    }
    let mut text =
        format!("p2p mailbox inbox[{ranks}];\nprocess Rank[i in 0..{ranks}] {{\n    match i {{\n");
    for (rank, own) in lines.iter().enumerate() {
        let pattern = if rank + 1 == ranks { "_".into() } else { rank.to_string() };
        text += &format!("        {pattern} => {{ {} }}\n", own.join(" "));
    }
    text + "    }\n}\n"
}

#[test]
fn a_rank_that_polls_in_vain_stands_still() {
    let (mut still, mut in_between, mut right) = (0, 0, 0);
    for seed in 0..random_models::asked(40) as u64 {
        let text = loops(seed);
        let program = compile("loops.maz", &text, &[]).unwrap_or_else(|errors| {
            panic!("{}\n{text}", errors.render(false));
        });
        let [expected, is_between] = compare(&program, || format!("seed {seed}\n{text}"));
        still += usize::from(expected);
        right += usize::from(!expected);
        in_between += usize::from(is_between);
    }
    assert!(still > 10 && right > 10, "{still} {right} {in_between}");
}
