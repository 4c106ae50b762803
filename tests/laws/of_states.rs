//! What searches that store states must do: end where all executions end, and keep a path for every class.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use mazurka::explore::{
    Budget, Method, Observer, Order, Outcome, Permutation, Stateful, Switch, Switches, explore,
};
use mazurka::lang::compile;
use mazurka::model::{Action, CellId, Locals, PaperRelation, ProcessId, State, System};
use mazurka::trace::{Classes, NormalForm};

use crate::judge::{STATEFUL, check_counterexample, replay};
use crate::random_models::{self, Sample, Script, Subject, actors, processes};

fn without(switches: &[Switch]) -> Stateful {
    let without = switches.iter().fold(Switches::NONE, |all, &switch| all.and(switch));
    Stateful { without, ..STATEFUL }
}

/// The reductions in all their variants.
fn reductions() -> Vec<Method> {
    let mut all = vec![Method::SPor(STATEFUL)];
    let reversed = Permutation::new(&[3, 2, 1, 0].map(ProcessId)).expect("a permutation");
    let orders = [Order::Sequential(reversed), Order::Random(1), Order::Random(2)];
    for order in orders {
        all.extend(
            [Method::SPor, Method::DeSPor, Method::DlSPor]
                .map(|of| of(Stateful { order, ..STATEFUL })),
        );
    }
    for switches in [
        &[][..],
        &[Switch::SafeSets],
        &[Switch::Summaries],
        &[Switch::VisitedFirst],
        &[Switch::Summaries, Switch::Once],
        &[Switch::Summaries, Switch::SafeSets, Switch::VisitedFirst],
    ] {
        all.extend([Method::DeSPor, Method::DlSPor].map(|of| of(without(switches))));
    }
    for switches in [
        &[Switch::LastSuccessor][..],
        &[Switch::VisitedSuccessors],
        &[Switch::Summaries, Switch::CompleteSet],
        &[Switch::Summaries, Switch::DisabledProcess],
        &[Switch::Summaries, Switch::LastSuccessor, Switch::VisitedSuccessors],
    ] {
        all.push(Method::DlSPor(without(switches)));
    }
    all
}

/// Watches searches of one system one after the other, so that what it tells of them can be compared.
struct Watcher<'s, S: System> {
    system: &'s S,
    locals: Locals<'s, S>,
    classes: Classes<PaperRelation>,
    /// The state graph that the last search went through, and the ends that it met.
    edges: BTreeMap<u32, Vec<(Vec<Action>, u32)>>,
    ends: BTreeSet<String>,
}

impl<S: System> Observer for Watcher<'_, S> {
    fn trace(&mut self, state: &State) {
        let schedule = state.portable_schedule();
        let end = replay(&mut self.locals, &schedule, |_, _, _| {}).expect("an execution");
        let end = describe(&self.locals, &end);
        self.ends.insert(end);
    }

    fn transition(&mut self, from: u32, actions: &[Action], to: u32) {
        self.edges.entry(from).or_default().push((actions.to_vec(), to));
    }
}

/// A terminal state: the local states and the cells.
fn describe<S: System>(locals: &Locals<'_, S>, state: &State) -> String {
    let of = |p: ProcessId| format!("{p:?} {:?}", locals.get(state.local(p)));
    let processes: Vec<_> = state.processes().map(of).collect();
    let cells = 0..locals.system().objects().cells.len() as u32;
    let cells: Vec<_> = cells.map(|cell| locals.values.get(state.content(CellId(cell)))).collect();
    format!("{processes:?} {cells:?}")
}

impl<'s, S: System> Watcher<'s, S> {
    fn of(system: &'s S) -> Self {
        Watcher {
            system,
            locals: Locals::new(system),
            classes: Classes::new(PaperRelation),
            edges: BTreeMap::new(),
            ends: BTreeSet::new(),
        }
    }

    fn watch(&mut self, method: Method) -> Outcome {
        self.edges.clear();
        self.ends.clear();
        let budget = Budget { all: true, ..Budget::default() };
        let outcome = explore(self.system, method, budget, self);
        assert!(outcome.is_complete(), "{method:?} stopped by {:?}", outcome.stopped_by);
        outcome
    }

    /// The ends that the search met.
    fn ends(&mut self, method: Method) -> (BTreeSet<String>, Outcome) {
        let outcome = self.watch(method);
        (std::mem::take(&mut self.ends), outcome)
    }

    /// The classes of the executions along the paths of the graph.
    fn classes(&mut self, method: Method) -> HashSet<NormalForm> {
        self.watch(method);
        let mut found = HashSet::new();
        let mut state = State::initial(&mut self.locals);
        self.descend(0, &mut state, &mut found);
        found
    }

    fn descend(&mut self, from: u32, state: &mut State, found: &mut HashSet<NormalForm>) {
        let Some(edges) = self.edges.get(&from).cloned() else {
            found.insert(self.classes.normal_form());
            return;
        };
        for (actions, to) in edges {
            for &action in &actions {
                state.step(&mut self.locals, action);
                self.classes.push(action, state.footprint(&self.locals));
            }
            self.descend(to, state, found);
            for _ in actions {
                state.undo(&self.locals);
                self.classes.pop();
            }
        }
    }
}

fn ends_and_states_are_as_in_the_full_graph<S: Subject>(samples: &[Sample<S>]) {
    let (mut full_states, mut reduced_states) = (0, vec![0; reductions().len()]);
    for sample in samples {
        let mut watcher = Watcher::of(&sample.script);
        let (all, judged) = watcher.ends(Method::Exhaustive);
        let (full, outcome) = watcher.ends(Method::Stateful(STATEFUL));
        assert_eq!(full, all, "stateful on {}", sample.describe());
        assert_eq!(kinds(&outcome), kinds(&judged), "stateful on {}", sample.describe());
        let states = outcome.stats.states.expect("states are stored");
        let ends = (outcome.stats.traces, outcome.stats.deadlocked_traces);
        full_states += states;
        for (index, method) in reductions().into_iter().enumerate() {
            let (reduced, found) = watcher.ends(method);
            let context = || format!("{method:?} on {}", sample.describe());
            assert_eq!(reduced, full, "ends of {}", context());
            assert_eq!(kinds(&found), kinds(&judged), "violations by {}", context());
            let stats = &found.stats;
            assert_eq!((stats.traces, stats.deadlocked_traces), ends, "{}", context());
            assert!(stats.states <= Some(states), "more states by {}", context());
            reduced_states[index] += stats.states.expect("states are stored");
            for violation in &found.violations {
                check_counterexample(&sample.script, violation)
                    .unwrap_or_else(|how| panic!("{how}: {}", context()));
            }
        }
    }
    println!("stateful: {full_states} states");
    for (method, states) in reductions().into_iter().zip(reduced_states) {
        println!("{method:?}: {states}");
    }
}

fn kinds(outcome: &Outcome) -> BTreeSet<String> {
    outcome.violations.iter().map(|v| format!("{:?} {:?}", v.kind, v.failure)).collect()
}

#[test]
fn processes_end_as_in_the_full_graph() {
    ends_and_states_are_as_in_the_full_graph(processes());
}

#[test]
fn actors_end_as_in_the_full_graph() {
    ends_and_states_are_as_in_the_full_graph(actors());
}

/// Where states are merged that differ in the history of a spawning process, what it spawns has another name along
/// each path, so programs that spawn are left out.
fn with_fixed_processes() -> impl Iterator<Item = &'static Sample<Script>> {
    processes().iter().filter(|sample| sample.script.program.templates.is_empty())
}

#[test]
fn every_class_has_a_path() {
    let mut programs = 0;
    for sample in with_fixed_processes() {
        let mut watcher = Watcher::of(&sample.script);
        let all = watcher.classes(Method::Stateful(STATEFUL));
        assert_eq!(all.len() as u64, sample.classes, "stateful on {}", sample.describe());
        for method in reductions() {
            let found = watcher.classes(method);
            assert_eq!(found, all, "{method:?} on {}", sample.describe());
        }
        programs += 1;
    }
    assert!(programs > random_models::processes().len() / 3, "{programs} programs");
}

/// Compiled programs tell which requests still matter, scripts do not: the former merge more, and end alike.
#[test]
fn what_no_longer_matters_is_no_part_of_a_state() {
    let (mut all, mut compiled) = (0, 0);
    for sample in with_fixed_processes() {
        let text = sample.script.text();
        let program =
            compile("random.maz", &text, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let states = |outcome: &Outcome| outcome.stats.states.expect("states are stored");
        let script = Watcher::of(&sample.script).watch(Method::Stateful(STATEFUL));
        let mut watcher = Watcher::of(&program);
        let outcome = watcher.watch(Method::Stateful(STATEFUL));
        assert!(states(&outcome) <= states(&script), "{}", sample.describe());
        assert_eq!(outcome.verdict(), script.verdict(), "{}", sample.describe());
        let classes = watcher.classes(Method::Stateful(STATEFUL));
        assert_eq!(classes.len() as u64, sample.classes, "{}", sample.describe());
        all += states(&script);
        compiled += states(&outcome);
    }
    assert!(compiled < all, "{compiled} of {all} states");
}

#[test]
fn last_only() {
    let text = "shared x: int = 0; shared y: int = 0;
        process P0 { let a = x; y = 1; } process P1 { if y == 1 { x = 1; } } process P2 { let b = x; }";
    let program = compile("x.maz", text, &[]).unwrap();
    let mut watcher = Watcher::of(&program);
    let order = Order::Sequential(Permutation::new(&[2, 0, 1].map(ProcessId)).unwrap());
    for m in [
        Method::Stateful(STATEFUL),
        Method::SPor(STATEFUL),
        Method::DeSPor(Stateful { order, ..STATEFUL }),
        Method::DeSPor(Stateful { order, as_printed: true, ..STATEFUL }),
        Method::DlSPor(Stateful { order, as_printed: true, ..STATEFUL }),
        Method::DeSPor(Stateful {
            order,
            as_printed: true,
            without: Switches::NONE.and(Switch::Summaries).and(Switch::Once),
            ..STATEFUL
        }),
    ] {
        println!("{m:?} {}", watcher.classes(m).len());
    }
}

#[test]
#[ignore]
fn hunt_printed() {
    let printed = Stateful { as_printed: true, ..STATEFUL };
    let mut losses: Vec<(usize, String)> = Vec::new();
    let (mut programs, mut lost, mut lost_ends) = (0, [0; 3], [0; 3]);
    for sample in with_fixed_processes() {
        programs += 1;
        let mut watcher = Watcher::of(&sample.script);
        let all = watcher.classes(Method::Stateful(STATEFUL));
        let ends = watcher.ends(Method::Stateful(STATEFUL)).0;
        for (i, method) in [Method::SPor(printed), Method::DeSPor(printed), Method::DlSPor(printed)]
            .into_iter()
            .enumerate()
        {
            let found = watcher.classes(method);
            let found_ends = watcher.ends(method).0;
            lost_ends[i] += u64::from(!ends.is_subset(&found_ends));
            if found.len() < all.len() {
                lost[i] += 1;
                losses.push((
                    sample.script.text().len(),
                    format!(
                        "{method:?} {} of {} ends {} of {}\n{}",
                        found.len(),
                        all.len(),
                        found_ends.len(),
                        ends.len(),
                        sample.script.text()
                    ),
                ));
            }
        }
    }
    losses.sort();
    println!("{programs} programs, lost {lost:?} ends {lost_ends:?}");
    let nolocks: Vec<_> = losses.iter().filter(|l| !l.1.contains("mutex")).collect();
    println!("without mutexes: {}", nolocks.len());
    for (_, l) in nolocks.iter().take(6) {
        println!("-----\n{l}");
    }
    for (_, l) in losses.iter().take(3) {
        println!("=====\n{l}");
    }
}
