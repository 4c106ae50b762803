//! Paxos for one decision: two proposers and three acceptors.

#[path = "../../../examples/programs/paxos.rs"]
pub mod mazurka;

use must::event::Model;
use must::{Ctx, System};
use traceforge::thread::{self, ThreadId};

use mazurka::{Answer, Ask};

const PROPOSERS: usize = 2;
const ACCEPTORS: usize = 3;
const MAJORITY: usize = 2;
const VALUES: [char; PROPOSERS] = ['x', 'y'];

/// The state of an acceptor.
#[derive(Default)]
struct Acceptor {
    promised: u32,
    accepted: Option<(u32, char)>,
}

impl Acceptor {
    /// The proposer to answer, and the answer to a message.
    fn answer(&mut self, ask: Ask) -> Option<(usize, Answer)> {
        match ask {
            Ask::Prepare(ballot) if ballot >= self.promised => {
                self.promised = ballot;
                Some((ballot as usize, Answer::Promise(self.accepted)))
            }
            Ask::Accept(ballot, value) if ballot >= self.promised => {
                self.accepted = Some((ballot, value));
                Some((ballot as usize, Answer::Accepted))
            }
            Ask::Prepare(ballot) | Ask::Accept(ballot, _) => {
                Some((ballot as usize, Answer::Refused))
            }
            Ask::Nothing => None,
        }
    }

    /// The number of messages that the acceptor with this number receives.
    fn asked(number: usize) -> usize {
        2 * (0..PROPOSERS).filter(|&i| (i..i + MAJORITY).contains(&number)).count()
    }
}

/// The second request of a proposer, given the answers to its first.
fn second(ballot: u32, answers: &[Answer]) -> Ask {
    let promises = answers.iter().filter_map(|answer| match answer {
        Answer::Promise(accepted) => Some(*accepted),
        _ => None,
    });
    let promises: Vec<_> = promises.collect();
    if promises.len() < MAJORITY {
        return Ask::Nothing;
    }
    let highest = promises.into_iter().flatten().max();
    Ask::Accept(ballot, highest.map_or(VALUES[ballot as usize], |(_, value)| value))
}

/// Messages of must-mc are texts.
fn written(ask: Ask) -> String {
    match ask {
        Ask::Prepare(ballot) => format!("prepare {ballot}"),
        Ask::Accept(ballot, value) => format!("accept {ballot} {value}"),
        Ask::Nothing => "nothing".into(),
    }
}

fn read(text: &str) -> Ask {
    let words: Vec<&str> = text.split(' ').collect();
    match words[..] {
        ["prepare", ballot] => Ask::Prepare(ballot.parse().expect("a ballot")),
        ["accept", ballot, value] => {
            Ask::Accept(ballot.parse().expect("a ballot"), value.parse().expect("a value"))
        }
        _ => Ask::Nothing,
    }
}

fn written_answer(answer: Answer) -> String {
    match answer {
        Answer::Promise(None) => "promise".into(),
        Answer::Promise(Some((ballot, value))) => format!("promise {ballot} {value}"),
        Answer::Accepted => "accepted".into(),
        Answer::Refused => "refused".into(),
    }
}

fn read_answer(text: &str) -> Answer {
    let words: Vec<&str> = text.split(' ').collect();
    match words[..] {
        ["promise"] => Answer::Promise(None),
        ["promise", ballot, value] => Answer::Promise(Some((
            ballot.parse().expect("a ballot"),
            value.parse().expect("a value"),
        ))),
        ["accepted"] => Answer::Accepted,
        _ => Answer::Refused,
    }
}

pub fn must() -> System {
    let mut system = System::new();
    for i in 0..PROPOSERS {
        let majority = move || (i..i + MAJORITY).map(|number| PROPOSERS + number);
        system.add(move |c: Ctx| async move {
            let ballot = i as u32;
            majority().for_each(|to| c.send(to, written(Ask::Prepare(ballot)), Model::Asyn));
            let mut answers = Vec::new();
            for _ in 0..MAJORITY {
                answers.push(read_answer(c.recv(|_| true).await.as_str()));
            }
            let ask = second(ballot, &answers);
            majority().for_each(|to| c.send(to, written(ask), Model::Asyn));
            if ask != Ask::Nothing {
                for _ in 0..MAJORITY {
                    c.recv(|_| true).await;
                }
            }
        });
    }
    for number in 0..ACCEPTORS {
        system.add(move |c: Ctx| async move {
            let mut acceptor = Acceptor::default();
            for _ in 0..Acceptor::asked(number) {
                let ask = read(c.recv(|_| true).await.as_str());
                if let Some((to, answer)) = acceptor.answer(ask) {
                    c.send(to, written_answer(answer), Model::Asyn);
                }
            }
        });
    }
    system
}

pub fn traceforge() {
    let acceptors = (0..ACCEPTORS).map(|number| {
        thread::spawn(move || {
            let proposers: Vec<ThreadId> =
                traceforge::recv_tagged_msg_block(|_, tag| tag == Some(0));
            let mut acceptor = Acceptor::default();
            for _ in 0..Acceptor::asked(number) {
                let ask: Ask = traceforge::recv_tagged_msg_block(|_, tag| tag == Some(1));
                if let Some((to, answer)) = acceptor.answer(ask) {
                    traceforge::send_msg(proposers[to], answer);
                }
            }
        })
    });
    let acceptors: Vec<_> = acceptors.map(|acceptor| acceptor.thread().id()).collect();
    let proposers = (0..PROPOSERS).map(|i| {
        let majority = acceptors[i..][..MAJORITY].to_vec();
        thread::spawn(move || {
            let ballot = i as u32;
            let ask = |ask: Ask| {
                majority.iter().for_each(|&to| traceforge::send_tagged_msg(to, 1, ask));
            };
            ask(Ask::Prepare(ballot));
            let answers: Vec<Answer> =
                (0..MAJORITY).map(|_| traceforge::recv_msg_block()).collect();
            let next = second(ballot, &answers);
            ask(next);
            if next != Ask::Nothing {
                for _ in 0..MAJORITY {
                    let _: Answer = traceforge::recv_msg_block();
                }
            }
        })
    });
    let proposers: Vec<_> = proposers.map(|proposer| proposer.thread().id()).collect();
    for acceptor in acceptors {
        traceforge::send_tagged_msg(acceptor, 0, proposers.clone());
    }
}
