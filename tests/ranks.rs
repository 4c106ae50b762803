//! Random MPI programs, each written three times: in C, as a spec, and as a system built in Rust.
//! All have equal numbers of classes, and equal ends.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use mazurka::explore::{Budget, NoObserver, Outcome, Setting, StopReason, explore};
use mazurka::model::{Buffering, Leaving, Semantics, System};
use mazurka::mpi::{Compiler, Launch, Ranks};
use mazurka::study::Case;
use mazurka::systems::history::History;

use crate::random_models::{Erased, Program, Script, asked, ranks};

/// The number of programs in an ordinary run.
const ORDINARY: usize = 40;

/// The maximum number of executions of one program.
const MAX_TRACES: u64 = 300;

/// The executions of a system: all, those in a deadlock, and those with a violation; and whether a
/// process fails. `None` if there are too many.
type Ends = Option<(u64, u64, u64, bool)>;

fn ends<S: System>(system: &S) -> Ends {
    let budget = Budget { all: true, max_traces: Some(MAX_TRACES), ..Budget::default() };
    let udpor: Setting = "udpor".parse().expect("an explorer");
    let Outcome { stats, stopped_by, violations, .. } =
        explore(system, udpor, budget, &mut NoObserver);
    assert_eq!(stats.livelocked_traces, 0, "these programs have no loops");
    let fails = violations.iter().any(|found| found.process.is_some());
    let ends = (stats.traces, stats.deadlocked_traces, stats.violating_traces, fails);
    (stopped_by != Some(StopReason::MaxTraces)).then_some(ends)
}

fn ends_of_spec(source: &str, semantics: Semantics) -> Ends {
    let case = Case {
        name: "ranks.maz".into(),
        source: source.into(),
        defines: Vec::new(),
        by_statement: false,
        allow_pending: false,
        daemons: Vec::new(),
        faults: Default::default(),
        unfair: false,
        semantics,
    };
    let compiled = case.compile();
    ends(&compiled.unwrap_or_else(|errors| panic!("{}\n{source}", errors.render(false))))
}

fn ends_of_c(program: &Path, number: usize, size: usize, semantics: Semantics) -> Ends {
    let launch = Launch {
        arguments: vec![number.to_string().into()],
        semantics,
        step_timeout: Duration::from_secs(60),
        base: program.parent().expect("a folder").into(),
        ..Launch::new(program, size as u32)
    };
    ends(&History::new(Ranks::new(launch).expect("the ranks start")))
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

/// The program of a seed, if MPI can express it and it is small enough, with its ends as a system.
fn program(seed: u64) -> Option<(u64, Program, Ends)> {
    let program = ranks::completed(ranks::generate(seed))?;
    let ends = ends(&Erased::new(Script::new(ranks::finalized(program.clone()))));
    let (traces, deadlocked, ..) = ends?;
    // Most programs get stuck in all executions: these should be a part only.
    (deadlocked < traces || seed.is_multiple_of(64)).then_some((seed, program, ends))
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn random_programs_in_c_are_what_they_are_as_specs_and_systems() {
    let count = asked(ORDINARY);
    let programs: Vec<_> = (0..).filter_map(program).take(count).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let text = ranks::c::text(programs.iter().map(|(_, program, _)| program));
    let in_c = compiled(&text, folder.path());
    let (mut several, mut deadlocked, mut failed, mut unbuffered) = (0, 0, 0, 0);
    for (number, (seed, program, as_system)) in programs.iter().enumerate() {
        let spec = ranks::finalized(program.clone()).text();
        let max_polls = program.polls.unwrap_or(Semantics::default().max_polls);
        let leaving = match ranks::is_synchronizing(program) {
            true => Leaving::Synchronizing,
            false => Leaving::Early,
        };
        let buffered = Semantics { buffering: Buffering::Infinite, leaving, max_polls };
        let (buffering, leaving) = (Buffering::Zero, Leaving::Synchronizing);
        for semantics in [buffered, Semantics { buffering, leaving, max_polls }] {
            let as_spec = ends_of_spec(&spec, semantics);
            let told = || {
                let text = ranks::c::text([program]);
                format!("seed {seed}, {semantics:?}\n{spec}\n{text}")
            };
            if semantics == buffered {
                assert_eq!(as_spec, *as_system, "{}", told());
            }
            let as_c = ends_of_c(&in_c, number, program.processes.len(), semantics);
            assert_eq!(as_c, as_spec, "{}", told());
            let Some((traces, stuck, _, fails)) = as_c else { continue };
            unbuffered += usize::from(semantics != buffered && stuck < traces);
            several += usize::from(traces > 1);
            deadlocked += usize::from(stuck > 0);
            failed += usize::from(fails);
        }
    }
    println!("{several} {deadlocked} {failed} {unbuffered} of {count}");
    let few = count / 10;
    assert!(several > few && deadlocked > few && failed > 2 && unbuffered > few);
}
