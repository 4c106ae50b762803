//! Paxos for one decision: two proposers, each with a ballot and a value of its own, and three acceptors.
//!
//! A majority of acceptors promises a proposer to ignore lower ballots, and tells which value it has accepted already. The
//! proposer has to adopt the one with the highest ballot. The wrong one does not listen, and two values are decided.

use mazurka::program::{Closures, Mailbox, Program};
use mazurka::systems::history::History;

const PROPOSERS: usize = 2;
const ACCEPTORS: usize = 3;
const MAJORITY: usize = ACCEPTORS / 2 + 1;

/// What a proposer asks; its ballot is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    Prepare(u32),
    Accept(u32, char),
    Nothing,
}

/// What an acceptor answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// With the ballot and the value that it has accepted last.
    Promise(Option<(u32, char)>),
    Accepted,
    Refused,
}

/// Each proposer asks one majority of the acceptors: the first the first two, the second the last two.
pub fn program(listens: bool) -> History<Closures> {
    let mut program = Program::new();
    let decided: Vec<_> =
        (0..PROPOSERS).map(|i| program.cell(format!("decided by {i}"), None)).collect();
    let answers: Vec<Mailbox<Answer>> =
        (0..PROPOSERS).map(|i| program.bag_mailbox(format!("answers to {i}"))).collect();
    let inboxes: Vec<Mailbox<Ask>> =
        (0..ACCEPTORS).map(|i| program.bag_mailbox(format!("inbox {i}"))).collect();
    for (i, value) in ['x', 'y'].into_iter().enumerate() {
        let (ballot, answers, decided) = (i as u32, answers[i], decided[i]);
        let majority = inboxes[i..][..MAJORITY].to_vec();
        program.process(format!("proposer {i}"), async move || {
            for inbox in &majority {
                inbox.send(Ask::Prepare(ballot)).await;
            }
            let mut promises = Vec::new();
            for _ in &majority {
                if let Answer::Promise(accepted) = answers.recv().await {
                    promises.push(accepted);
                }
            }
            if promises.len() < MAJORITY {
                for inbox in &majority {
                    inbox.send(Ask::Nothing).await;
                }
                return;
            }
            let highest = promises.into_iter().flatten().max().filter(|_| listens);
            let value = highest.map_or(value, |(_, accepted)| accepted);
            for inbox in &majority {
                inbox.send(Ask::Accept(ballot, value)).await;
            }
            let mut accepted = 0;
            for _ in &majority {
                accepted += usize::from(answers.recv().await == Answer::Accepted);
            }
            if accepted == MAJORITY {
                decided.write(Some(value)).await;
            }
        });
    }
    for (number, inbox) in inboxes.into_iter().enumerate() {
        let answers = answers.clone();
        // Those who ask it send it two messages each.
        let asked = 2 * (0..PROPOSERS).filter(|&i| (i..i + MAJORITY).contains(&number)).count();
        program.process(format!("acceptor {number}"), async move || {
            let (mut promised, mut accepted) = (0, None);
            for _ in 0..asked {
                match inbox.recv().await {
                    Ask::Prepare(ballot) if ballot >= promised => {
                        promised = ballot;
                        answers[ballot as usize].send(Answer::Promise(accepted)).await;
                    }
                    Ask::Accept(ballot, value) if ballot >= promised => {
                        accepted = Some((ballot, value));
                        answers[ballot as usize].send(Answer::Accepted).await;
                    }
                    Ask::Prepare(ballot) | Ask::Accept(ballot, _) => {
                        answers[ballot as usize].send(Answer::Refused).await;
                    }
                    Ask::Nothing => {}
                }
            }
        });
    }
    program.finally(move |end| {
        let values: Vec<char> = decided.iter().filter_map(|&decided| end.read(decided)).collect();
        assert!(values.windows(2).all(|two| two[0] == two[1]), "one value is decided");
    });
    program.build()
}
