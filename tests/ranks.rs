//! Random MPI programs in C, each equal to a system built in Rust: equal classes, equal ends.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use mazurka::explore::{Budget, NoObserver, Outcome, Setting, explore};
use mazurka::model::{Buffering, Leaving, Semantics, System};
use mazurka::mpi::{Compiler, Files, Launch, Ranks, TICK};
use mazurka::systems::history::History;

use crate::random_models::{Script, p2p, ranks};

/// The number of programs in an ordinary run.
const ORDINARY: usize = 100;

/// The maximum number of executions of one program.
const MAX_TRACES: u64 = 300;

fn all<S: System>(system: &S, explorer: Setting) -> Outcome {
    let budget = Budget { all: true, max_traces: Some(MAX_TRACES), ..Budget::default() };
    explore(system, explorer, budget, &mut NoObserver)
}

/// What two searches must agree on. Operations that stay open when a rank has failed are another
/// deadlock in C: the other ranks wait in `MPI_Finalize`.
fn ends(outcome: &Outcome) -> (u64, Option<u64>, bool) {
    let stats = &outcome.stats;
    let has_failed = outcome.violations.iter().any(|found| found.process.is_some());
    assert_eq!(stats.livelocked_traces, 0, "these programs have no loops");
    (stats.traces, (!has_failed).then_some(stats.deadlocked_traces), has_failed)
}

fn compiled(text: &str, folder: &Path) -> std::path::PathBuf {
    let (source, program) = (folder.join("programs.c"), folder.join("programs"));
    std::fs::write(&source, text).expect("a file is written");
    let cache = folder.join("cache");
    std::fs::create_dir_all(&cache).expect("a folder is made");
    let compiler = Compiler::new("cc", cache, folder.into());
    let arguments = [source.as_os_str(), "-o".as_ref(), program.as_os_str()];
    let is_compiled = compiler.run(&arguments.map(OsString::from)).expect("a C compiler");
    assert!(is_compiled, "{text}");
    program
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn random_programs_in_c_are_what_they_are_in_rust() {
    let asked = std::env::var("MAZURKA_PROGRAMS").ok();
    let count = asked.map_or(ORDINARY, |count| count.parse().expect("a number"));
    let udpor: Setting = "udpor".parse().expect("an explorer");
    let systems = (0..).filter_map(|seed| {
        let program = ranks::completed(p2p::generate(seed))?;
        let script = Script::new(program.clone());
        let outcome = all(&script, udpor);
        // Most programs get stuck in all executions: these should be a part only.
        let is_stuck = outcome.stats.deadlocked_traces == outcome.stats.traces;
        let is_taken = outcome.is_complete() && (!is_stuck || seed % 8 == 0);
        is_taken.then_some((seed, program, outcome))
    });
    let systems: Vec<_> = systems.take(count).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let text = ranks::text(systems.iter().map(|(_, program, _)| program));
    let program = compiled(&text, folder.path());
    let (mut several, mut deadlocked, mut failed) = (0, 0, 0);
    for (number, (seed, tree, expected)) in systems.iter().enumerate() {
        let leaving = match ranks::is_synchronizing(tree) {
            true => Leaving::Synchronizing,
            false => Leaving::Early,
        };
        let max_polls = tree.polls.unwrap_or(Semantics::default().max_polls);
        let semantics = Semantics { buffering: Buffering::Infinite, leaving, max_polls };
        let launch = Launch {
            program: program.clone(),
            arguments: vec![number.to_string().into()],
            size: tree.processes.len() as u32,
            semantics,
            step_timeout: Duration::from_secs(60),
            tick: TICK,
            files: Files::Own,
            base: folder.path().into(),
        };
        let system = History::new(Ranks::new(launch).expect("the ranks start"));
        let outcome = all(&system, udpor);
        let told = || {
            let text = ranks::text([tree]);
            let polls = tree.polls;
            format!("seed {seed}, {leaving:?}, polls {polls:?}: {:?}\n{text}", outcome.violations)
        };
        assert_eq!(ends(&outcome), ends(expected), "{}", told());
        several += u32::from(expected.stats.traces > 1);
        deadlocked += u32::from(expected.stats.deadlocked_traces > 0);
        failed += u32::from(ends(expected).2);
    }
    println!("{several} {deadlocked} {failed} of {count}");
    assert!(several > 20 && deadlocked > 20 && failed > 0);
}
