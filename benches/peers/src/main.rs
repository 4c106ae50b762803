//! The same programs for Mazurka, must-mc and TraceForge: do they count the same executions, and how fast?
//!
//! `cargo run --release` in this folder prints a table. It ends with an error if the counts differ.

mod bounded_buffer;
mod leader_election;
mod measure;
mod paxos;
mod senders;
mod two_phase_commit;
mod work_pool;

use std::process::ExitCode;

use measure::{Row, mazurka, must, row, traceforge};

fn main() -> ExitCode {
    println!("{}", Row::HEADER);
    let mut rows = Vec::new();
    let mut show = |row: Row| {
        println!("{row}");
        rows.push(row);
    };
    for n in 5..=8 {
        show(row(
            &format!("{n} senders"),
            mazurka(|| senders::mazurka(n)),
            must(move || senders::must(n)),
            traceforge(move || senders::traceforge(n)),
        ));
    }
    show(row(
        "bounded buffer",
        mazurka(bounded_buffer::mazurka),
        must(bounded_buffer::must),
        traceforge(bounded_buffer::traceforge),
    ));
    show(row(
        "leader election",
        mazurka(|| leader_election::mazurka::program(true)),
        must(leader_election::must),
        traceforge(leader_election::traceforge),
    ));
    show(row(
        "Paxos",
        mazurka(|| paxos::mazurka::program(true)),
        must(paxos::must),
        traceforge(paxos::traceforge),
    ));
    show(row(
        "two-phase commit",
        mazurka(|| two_phase_commit::mazurka::program(true)),
        must(two_phase_commit::must),
        traceforge(two_phase_commit::traceforge),
    ));
    for (processes, tasks) in [(3, 2), (4, 3), (5, 2)] {
        show(row(
            &format!("work pool {processes}, {tasks}"),
            mazurka(|| work_pool::mazurka::program(processes, tasks, true)),
            must(move || work_pool::must(processes, tasks)),
            traceforge(move || work_pool::traceforge(processes, tasks)),
        ));
    }
    let differ = rows.iter().filter(|row| !row.agrees()).count();
    if differ > 0 {
        println!("{differ} rows with different counts");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
