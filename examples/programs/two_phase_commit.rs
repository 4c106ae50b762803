//! Two-phase commit: a coordinator asks for votes and commits if all say yes before it loses patience.
//!
//! A participant that has said yes is bound: it has to wait for the decision, as long as that takes. The wrong one loses
//! patience, too, and aborts what others commit.

use mazurka::program::{Closures, Mailbox, Program, choose};
use mazurka::systems::history::History;

const PARTICIPANTS: usize = 2;

/// What a participant did in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    Open,
    Commit,
    Abort,
}

/// A coordinator and two participants.
pub fn program(is_patient: bool) -> History<Closures> {
    let mut program = Program::new();
    let votes = program.p2p_mailbox("votes");
    let decisions: Vec<Mailbox<Ending>> =
        (0..PARTICIPANTS).map(|i| program.p2p_mailbox(format!("decision for {i}"))).collect();
    let endings: Vec<_> =
        (0..PARTICIPANTS).map(|i| program.cell(format!("ending {i}"), Ending::Open)).collect();
    for (i, (&decision, &ending)) in decisions.iter().zip(&endings).enumerate() {
        program.process(format!("participant {i}"), async move || {
            let agrees = choose(0..2).await == 1;
            votes.send(agrees).await;
            let decided = match (agrees, is_patient) {
                (false, _) => Ending::Abort,
                (true, true) => decision.recv().await,
                (true, false) => decision.recv_or_timeout().await.unwrap_or(Ending::Abort),
            };
            ending.write(decided).await;
        });
    }
    program.process("coordinator", async move || {
        let mut decided = Ending::Commit;
        for _ in 0..PARTICIPANTS {
            if votes.recv_or_timeout().await != Some(true) {
                decided = Ending::Abort;
                break;
            }
        }
        for decision in &decisions {
            decision.send(decided).await;
        }
    });
    program.finally(move |end| {
        let did = |what| endings.iter().any(|&ending| end.read(ending) == what);
        assert!(!(did(Ending::Commit) && did(Ending::Abort)), "all do the same");
    });
    program.build()
}
