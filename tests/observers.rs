//! What observers are notified of, compared with replays, on random programs and on one in the
//! language.

use std::fmt::Debug;

use mazurka::explore::{
    AnyExplorer, Budget, End, EveryState, Explorer, Observer, Optimal, Udpor, explore,
};
use mazurka::lang::compile;
use mazurka::model::{Action, CellId, Locals, ProcessId, Schedule, State, Status, System, Values};
use mazurka::property::Position;

use crate::judge::{LONG, METHODS, STATEFUL, bound, is_refused};
use crate::random_models::{Sample, Subject, actors, processes};

/// Names with values.
type Named = Vec<(String, String)>;

/// A process: its name, whether it has ended, its variables, and its local state as it is printed.
type Told = (String, bool, Named, String);

/// The ends of a search in its own terms.
#[derive(Default)]
struct Diary {
    ends: Vec<(Schedule, Vec<Told>, Named)>,
}

impl Observer for Diary {
    fn trace(&mut self, at: Position<'_>, _: End) {
        let told = |process| {
            let has_ended = at.status(process).has_ended();
            let local = format!("{:?}", at.local(process));
            (at.name(process), has_ended, at.variables(process), local)
        };
        // Spawned processes have other numbers in other searches, so they are listed in the order
        // of their spawns.
        let processes = at.state().by_birth().into_iter().map(told).collect();
        let cells = at.cells().into_iter().map(|(name, value)| (name, value.to_string()));
        self.ends.push((at.schedule(), processes, cells.collect()));
    }
}

/// The end of a schedule according to a replay on the bare model.
fn replayed<S: System>(system: &S, schedule: &Schedule) -> (Vec<Told>, Named) {
    let mut locals = Locals::new(system);
    let end = schedule.replay(&mut locals).expect("an execution");
    let describe = system.describe();
    let told = |process: ProcessId| {
        let local = locals.get(end.local(process));
        let known = |other: ProcessId| {
            let is_there = end.exists(other);
            is_there.then(|| describe.process_name(locals.get(end.local(other))))
        };
        let has_ended = !matches!(locals.status(end.local(process)), Status::At(_));
        let variables = describe.variables(local, &known);
        (describe.process_name(local), has_ended, variables, format!("{local:?}"))
    };
    let processes = end.by_birth().into_iter().map(told).collect();
    let cells = system.objects().cells.names().enumerate().map(|(cell, name)| {
        let content = end.content_of_declared(&locals, CellId(cell as u32));
        (name, content.to_string())
    });
    (processes, cells.collect())
}

/// Local states contain process numbers, which have the same meaning only if no process is spawned.
fn check<S: Subject>(samples: &[Sample<S>]) {
    let mut traces = 0;
    for sample in samples {
        let initial = sample.script.initial(&mut Values::default()).len();
        for &(name, method, _) in METHODS.iter().filter(|m| !is_refused(&sample.script, m.1)) {
            let mut diary = Diary::default();
            let budget = Budget { all: true, depth: bound(&method, LONG), ..Budget::default() };
            let stats = explore(&sample.script, method, budget, &mut diary).stats;
            assert_eq!(diary.ends.len() as u64, stats.traces, "{name} on {}", sample.describe());
            for (schedule, mut told, cells) in diary.ends {
                let (mut processes, contents) = replayed(&sample.script, &schedule);
                let spawns = told.len() > initial;
                if spawns {
                    let forget = |told: &mut Told| (told.2, told.3) = Default::default();
                    told.iter_mut().for_each(forget);
                    processes.iter_mut().for_each(forget);
                }
                assert_eq!(told, processes, "{name} at {schedule} of {}", sample.describe());
                let is_same = cells == contents || spawns;
                assert!(is_same, "{name} at {schedule} of {}", sample.describe());
                traces += 1;
            }
        }
    }
    assert!(traces > 500, "{traces} traces");
}

#[test]
fn what_observers_learn_of_an_end_is_what_a_replay_says() {
    check(&processes()[..40]);
    check(&actors()[..40]);
}

const PROGRAM: &str = "
    shared x: int = 0;
    process P[i in 0..2] { let seen = fetch_add(x, i + 1); local(\"end\"); }
";

/// Values of variables and cells, and the schedule, at every end.
#[derive(Default)]
struct Ends(Vec<String>);

impl Observer for Ends {
    fn trace(&mut self, at: Position<'_>, _: End) {
        let variables = at.processes().map(|process| {
            let all = at.variables(process).into_iter();
            let all = all.map(|(name, value)| format!("{name} = {value}"));
            format!("{}: {}", at.name(process), all.collect::<Vec<_>>().join(", "))
        });
        let variables = variables.collect::<Vec<_>>().join("; ");
        self.0.push(format!("{} | x = {} | {variables}", at.schedule(), at.cell(CellId(0))));
    }
}

#[test]
fn an_observer_tells_values_and_schedules() {
    let program = compile("add.maz", PROGRAM, &[]).expect("a valid program");
    for explorer in [AnyExplorer::from(Udpor::default()), Optimal::default().into()] {
        let mut ends = Ends::default();
        let budget = Budget { all: true, ..Budget::default() };
        explore(&program, explorer, budget, &mut ends);
        ends.0.sort_unstable();
        let told: Vec<_> = ends.0.iter().filter_map(|end| end.split_once(" | ")).collect();
        let values: Vec<_> = told.iter().map(|told| told.1).collect();
        let expected = [
            "x = 3 | P[0]: i = 0, seen = 0; P[1]: i = 1, seen = 1",
            "x = 3 | P[0]: i = 0, seen = 2; P[1]: i = 1, seen = 0",
        ];
        assert_eq!(values, expected, "{explorer:?}");
        assert!(told[0].0.starts_with('0') && told[1].0.starts_with('1'), "{told:?}");
        for (schedule, _) in told {
            let schedule: Schedule = schedule.parse().expect("a schedule");
            let mut locals = Locals::new(&program);
            assert!(schedule.replay(&mut locals).expect("an execution").is_terminal(&locals));
        }
    }
}

/// The states that a search stores, each with the content of x.
#[derive(Default)]
struct Contents(Vec<(u32, String)>);

impl Observer for Contents {
    fn transition(&mut self, _: u32, _: &[Action], to: u32, at: Position<'_>) {
        self.0.push((to, at.cell(CellId(0)).to_string()));
    }
}

#[test]
fn observers_learn_where_a_transition_leads() {
    let program = compile("add.maz", PROGRAM, &[]).expect("a valid program");
    let mut contents = Contents::default();
    let budget = Budget { all: true, ..Budget::default() };
    let outcome = explore(&program, EveryState::of(STATEFUL), budget, &mut contents);
    contents.0.sort_unstable();
    let transitions = contents.0.len();
    contents.0.dedup();
    // One entry for each state but the initial one: all ways to a state find the same there.
    assert_eq!(Some(contents.0.len() as u64 + 1), outcome.stats.states);
    assert!(transitions > contents.0.len());
    let values = |n: &str| contents.0.iter().filter(|(_, value)| value == n).count();
    assert!(["1", "2", "3"].iter().all(|n| values(n) > 0) && values("0") == 0);
}

/// What an observer that knows the type of the system is given of a local state.
struct Typed<L> {
    seen: Vec<L>,
    others: usize,
}

impl<L: Clone + Debug + 'static> Observer for Typed<L> {
    fn trace(&mut self, at: Position<'_>, _: End) {
        for process in at.processes() {
            self.seen.extend(at.local_as::<L>(process).cloned());
            self.others += usize::from(at.local_as::<State>(process).is_some());
        }
    }
}

#[test]
fn who_knows_the_type_of_local_states_sees_them() {
    fn search<S: System>(system: &S, explorer: impl Explorer) -> Typed<S::Local> {
        let mut typed = Typed { seen: Vec::new(), others: 0 };
        explore(system, explorer, Budget { all: true, ..Budget::default() }, &mut typed);
        typed
    }
    let program = compile("add.maz", PROGRAM, &[]).expect("a valid program");
    let typed = search(&program, Udpor::default());
    assert_eq!((typed.seen.len(), typed.others), (4, 0), "two processes at two ends");
}
