//! Leader election by votes, in one term: a candidate that a majority votes for is the leader.
//!
//! A voter may crash after each answer, and starts again. The right one has written its vote down; the wrong one has forgotten it and
//! may vote for the other candidate as well, so that there are two leaders.

use mazurka::program::{Closures, Mailbox, Program, choose};
use mazurka::systems::history::History;

const CANDIDATES: usize = 2;
const VOTERS: usize = 3;

/// Two candidates and three voters.
pub fn program(writes_votes_down: bool) -> History<Closures> {
    let mut program = Program::new();
    let elected: Vec<_> =
        (0..CANDIDATES).map(|i| program.cell(format!("elected {i}"), false)).collect();
    let votes: Vec<Mailbox<bool>> =
        (0..CANDIDATES).map(|i| program.bag_mailbox(format!("votes for {i}"))).collect();
    let inboxes: Vec<Mailbox<usize>> =
        (0..VOTERS).map(|i| program.bag_mailbox(format!("inbox {i}"))).collect();
    for (voter, &inbox) in inboxes.iter().enumerate() {
        let votes = votes.clone();
        program.process(format!("voter {voter}"), async move || {
            let mut vote = None;
            for _ in 0..CANDIDATES {
                let candidate = inbox.recv().await;
                let agrees = *vote.get_or_insert(candidate) == candidate;
                votes[candidate].send(agrees).await;
                // Crashes of one voter are enough to see what they can do.
                let has_crashed = voter == 0 && choose(0..2).await == 1;
                if has_crashed && !writes_votes_down {
                    vote = None;
                }
            }
        });
    }
    for (candidate, votes) in votes.into_iter().enumerate() {
        let (inboxes, elected) = (inboxes.clone(), elected[candidate]);
        program.process(format!("candidate {candidate}"), async move || {
            for inbox in &inboxes {
                inbox.send(candidate).await;
            }
            let mut agree = 0;
            for _ in 0..VOTERS {
                agree += usize::from(votes.recv().await);
            }
            if agree > VOTERS / 2 {
                elected.write(true).await;
            }
        });
    }
    program.finally(move |end| {
        let leaders = elected.iter().filter(|&&elected| end.read(elected)).count();
        assert!(leaders <= 1, "there is one leader at most");
    });
    program.build()
}
