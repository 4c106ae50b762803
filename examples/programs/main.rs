//! Programs in Rust, verified as they are: `cargo run --example programs`.
//!
//! Each is in its right form, of which all executions are explored, and in a wrong one, of which the first counterexample is
//! shown. The tests check them, too.

mod bounded_buffer;
mod leader_election;
mod paxos;
mod two_phase_commit;
mod work_pool;

use mazurka::model::System;

fn show(name: &str, system: &impl System) {
    println!("== {name}\n\n{}\n", mazurka::check(system).run());
}

fn main() {
    show("a bounded buffer", &bounded_buffer::program(true));
    show("a bounded buffer that looks only once", &bounded_buffer::program(false));
    show("leader election", &leader_election::program(true));
    show("leader election by voters that forget", &leader_election::program(false));
    show("Paxos", &paxos::program(true));
    show("Paxos with proposers that do not listen", &paxos::program(false));
    show("two-phase commit", &two_phase_commit::program(true));
    show("two-phase commit with impatient participants", &two_phase_commit::program(false));
    show("a work pool", &work_pool::program(3, 2, true));
    show("a work pool whose master ends too early", &work_pool::program(3, 2, false));
}
