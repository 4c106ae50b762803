//! Compares Mazurka and its peers on the same programs: the numbers of executions or states, and
//! the times.
//!
//! `cargo run --release` in this folder prints a table and writes `peers.svg`. It ends with an
//! error if counts differ that should be equal.

mod at_least_once;
mod bounded_buffer;
mod engines;
mod leader_election;
mod measure;
mod paxos;
mod philosophers;
mod plot;
mod senders;
mod threads;
mod two_phase_commit;
mod work_pool;

use std::process::ExitCode;

use engines::{hashed_states, loom, mazurka, model, must, shuttle, stateright, states, traceforge};
use measure::{Comparison, Engine, Search, compare};
use threads::loom::programs as on_loom;
use threads::mazurka as on_mazurka;
use threads::shuttle::programs as on_shuttle;

fn main() -> ExitCode {
    println!("{}", Comparison::HEADER);
    let mut rows = Vec::new();
    for (program, searches) in messages().into_iter().chain(of_threads()).chain(of_states()) {
        let row = compare(&program, searches);
        println!("{row}");
        rows.push(row);
    }
    let picture = concat!(env!("CARGO_MANIFEST_DIR"), "/peers.svg");
    if let Err(error) = plot::write(picture, &rows) {
        eprintln!("error: {picture}: {error}");
        return ExitCode::FAILURE;
    }
    let differ = rows.iter().filter(|row| !row.agrees()).count();
    if differ > 0 {
        println!("{differ} programs with different counts");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

type Programs = Vec<(String, Vec<Search>)>;

fn messages() -> Programs {
    let mut programs = Vec::new();
    for n in 5..=8 {
        let searches = vec![
            mazurka(move || senders::mazurka(n)),
            model("mailbox/rmq-receiving", &[("N", n + 1), ("BUFFERED", 1)]),
            must(move || senders::must(n)),
            traceforge(move || senders::traceforge(n)),
        ];
        programs.push((format!("{n} senders"), searches));
    }
    let searches = vec![
        mazurka(bounded_buffer::mazurka),
        must(bounded_buffer::must),
        traceforge(bounded_buffer::traceforge),
    ];
    programs.push(("bounded buffer".into(), searches));
    let searches = vec![
        mazurka(|| leader_election::mazurka::program(true)),
        must(leader_election::must),
        traceforge(leader_election::traceforge),
    ];
    programs.push(("leader election".into(), searches));
    let searches = vec![
        mazurka(|| paxos::mazurka::program(true)),
        must(paxos::must),
        traceforge(paxos::traceforge),
    ];
    programs.push(("Paxos".into(), searches));
    let searches = vec![
        mazurka(|| two_phase_commit::mazurka::program(true)),
        must(two_phase_commit::must),
        traceforge(two_phase_commit::traceforge),
    ];
    programs.push(("two-phase commit".into(), searches));
    for (processes, tasks) in [(3, 2), (4, 3), (5, 2)] {
        let searches = vec![
            mazurka(move || work_pool::mazurka::program(processes, tasks, true)),
            must(move || work_pool::must(processes, tasks)),
            traceforge(move || work_pool::traceforge(processes, tasks)),
        ];
        programs.push((format!("work pool {processes}, {tasks}"), searches));
    }
    programs
}

fn of_threads() -> Programs {
    let mut programs = Vec::new();
    for n in [3, 4] {
        let searches = vec![
            mazurka(move || on_mazurka::mutex(n)),
            model("mutex/mutex", &[("N", n)]),
            loom(move || on_loom::mutex(n)),
            shuttle(move || on_shuttle::mutex(n)),
        ];
        programs.push((format!("mutex {n}"), searches));
    }
    for n in [3, 4] {
        let searches = vec![
            mazurka(move || on_mazurka::writers(n)),
            model("memory/writers", &[("N", n)]),
            loom(move || on_loom::writers(n)),
            shuttle(move || on_shuttle::writers(n)),
        ];
        programs.push((format!("writers {n}"), searches));
    }
    for n in [2, 3] {
        let searches = vec![
            mazurka(move || on_mazurka::last_zero(n)),
            model("memory/lastzero", &[("N", n)]),
            loom(move || on_loom::last_zero(n)),
            shuttle(move || on_shuttle::last_zero(n)),
        ];
        programs.push((format!("last zero {n}"), searches));
    }
    for n in [2, 3, 4] {
        let searches = vec![
            mazurka(move || on_mazurka::philosophers(n)),
            model("mutex/philosophers-ordered", &[("N", n)]),
            loom(move || on_loom::philosophers(n)),
            shuttle(move || on_shuttle::philosophers(n)),
        ];
        programs.push((format!("philosophers {n}"), searches));
    }
    for requests in [1, 2] {
        let searches = vec![
            mazurka(move || on_mazurka::dispatcher(2, requests)),
            model("mutex/dispatcher", &[("S", 2), ("R", requests)]),
            loom(move || on_loom::dispatcher(2, requests)),
            shuttle(move || on_shuttle::dispatcher(2, requests)),
        ];
        programs.push((format!("dispatcher 2, {requests}"), searches));
    }
    programs
}

fn of_states() -> Programs {
    let of = |n: usize, depth_first: fn() -> u64, breadth_first: fn() -> u64| {
        let (spec, constants) = ("mutex/philosophers-eating", [("N", n)]);
        let searches = vec![
            states(spec, &constants),
            hashed_states(spec, &constants),
            stateright(Engine::StaterightDepth, depth_first),
            stateright(Engine::StaterightBreadth, breadth_first),
        ];
        (format!("{n} philosophers"), searches)
    };
    // Mazurka's processes have finer steps, so its numbers of states are others.
    let delivery = |n: u8, depth_first: fn() -> u64, breadth_first: fn() -> u64| {
        let searches = vec![
            stateright(Engine::StaterightDepth, depth_first),
            stateright(Engine::StaterightBreadth, breadth_first),
        ];
        (format!("at-least-once {n}"), searches)
    };
    vec![
        delivery(3, at_least_once::depth_first::<3>, at_least_once::breadth_first::<3>),
        of(5, philosophers::depth_first::<5>, philosophers::breadth_first::<5>),
        of(6, philosophers::depth_first::<6>, philosophers::breadth_first::<6>),
        of(7, philosophers::depth_first::<7>, philosophers::breadth_first::<7>),
    ]
}
