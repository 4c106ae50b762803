//! Leader election by votes, in one term.

#[path = "../../../examples/programs/leader_election.rs"]
pub mod mazurka;

use must::event::Model;
use must::{Ctx, System};
use traceforge::thread::{self, ThreadId};

const CANDIDATES: usize = 2;
const VOTERS: usize = 3;

pub fn must() -> System {
    let mut system = System::new();
    for voter in 0..VOTERS {
        system.add(move |c: Ctx| async move {
            let mut vote = None;
            for _ in 0..CANDIDATES {
                let candidate = c.recv(|_| true).await.as_str().parse::<usize>().expect("a number");
                let agrees = *vote.get_or_insert(candidate) == candidate;
                c.send(VOTERS + candidate, agrees.to_string(), Model::Asyn);
                if voter == 0 {
                    c.nondet(["0", "1"]).await;
                }
            }
        });
    }
    for candidate in 0..CANDIDATES {
        system.add(move |c: Ctx| async move {
            for voter in 0..VOTERS {
                c.send(voter, candidate.to_string(), Model::Asyn);
            }
            for _ in 0..VOTERS {
                c.recv(|_| true).await;
            }
        });
    }
    system
}

pub fn traceforge() {
    let voters = (0..VOTERS).map(|voter| {
        thread::spawn(move || {
            let candidates: Vec<ThreadId> =
                traceforge::recv_tagged_msg_block(|_, tag| tag == Some(0));
            let mut vote = None;
            for _ in 0..CANDIDATES {
                let candidate: usize = traceforge::recv_tagged_msg_block(|_, tag| tag == Some(1));
                let agrees = *vote.get_or_insert(candidate) == candidate;
                traceforge::send_msg(candidates[candidate], agrees);
                if voter == 0 {
                    traceforge::nondet();
                }
            }
        })
    });
    let voters: Vec<_> = voters.map(|voter| voter.thread().id()).collect();
    let candidates = (0..CANDIDATES).map(|candidate| {
        let voters = voters.clone();
        thread::spawn(move || {
            for &voter in &voters {
                traceforge::send_tagged_msg(voter, 1, candidate);
            }
            for _ in 0..VOTERS {
                let _: bool = traceforge::recv_msg_block();
            }
        })
    });
    let candidates: Vec<_> = candidates.map(|candidate| candidate.thread().id()).collect();
    for voter in voters {
        traceforge::send_tagged_msg(voter, 0, candidates.clone());
    }
}
