//! Two-phase commit with a coordinator that may lose patience.

#[path = "../../../examples/programs/two_phase_commit.rs"]
pub mod mazurka;

use must::event::Model;
use must::{Ctx, System};
use traceforge::thread::{self, ThreadId};

const PARTICIPANTS: usize = 2;

pub fn must() -> System {
    let mut system = System::new();
    for _ in 0..PARTICIPANTS {
        system.add(|c: Ctx| async move {
            let agrees = c.nondet(["no", "yes"]).await;
            let is_bound = agrees.as_str() == "yes";
            c.send(PARTICIPANTS, agrees, Model::P2p);
            if is_bound {
                c.recv(|_| true).await;
            }
        });
    }
    system.add(|c: Ctx| async move {
        let mut decided = "commit";
        for _ in 0..PARTICIPANTS {
            let vote = c.recv_timeout(|_| true).await;
            if vote.is_none_or(|vote| vote.as_str() == "no") {
                decided = "abort";
                break;
            }
        }
        for participant in 0..PARTICIPANTS {
            c.send(participant, decided, Model::P2p);
        }
    });
    system
}

pub fn traceforge() {
    let participants = (0..PARTICIPANTS).map(|_| {
        thread::spawn(|| {
            let coordinator: ThreadId = traceforge::recv_tagged_msg_block(|_, tag| tag == Some(0));
            let agrees = traceforge::nondet();
            traceforge::send_msg(coordinator, agrees);
            if agrees {
                let _: bool = traceforge::recv_tagged_msg_block(|_, tag| tag == Some(1));
            }
        })
    });
    let participants: Vec<_> = participants.map(|one| one.thread().id()).collect();
    let to = participants.clone();
    let coordinator = thread::spawn(move || {
        let mut decided = true;
        for _ in 0..PARTICIPANTS {
            if traceforge::recv_msg() != Some(true) {
                decided = false;
                break;
            }
        }
        for &participant in &to {
            traceforge::send_tagged_msg(participant, 1, decided);
        }
    });
    for participant in participants {
        traceforge::send_tagged_msg(participant, 0, coordinator.thread().id());
    }
}
