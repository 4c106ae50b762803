//! A work pool: workers ask the master for tasks until there are none left.
//!
//! The wrong master ends when the last task is given away, and not when its result has come back.

use mazurka::program::{Closures, Mailbox, Program};
use mazurka::systems::history::History;

/// What a worker tells the master, with its number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Report {
    Ready(usize),
    Result(usize, u32),
}

/// So many processes, the master included, and so many tasks.
pub fn program(processes: usize, tasks: u32, waits_for_results: bool) -> History<Closures> {
    let mut program = Program::new();
    let reports: Mailbox<Report> = program.p2p_mailbox("reports");
    let inboxes: Vec<Mailbox<Option<u32>>> =
        (1..processes).map(|worker| program.p2p_mailbox(format!("inbox {worker}"))).collect();
    for (worker, &inbox) in inboxes.iter().enumerate() {
        program.process(format!("worker {}", worker + 1), async move || {
            reports.send(Report::Ready(worker)).await;
            while let Some(task) = inbox.recv().await {
                reports.send(Report::Result(worker, 2 * task)).await;
            }
        });
    }
    program.process("master", async move || {
        let (mut next, mut sum, mut working) = (0, 0, inboxes.len());
        while working > 0 {
            let worker = match reports.recv().await {
                Report::Ready(worker) => worker,
                Report::Result(worker, result) => {
                    sum += result;
                    worker
                }
            };
            if next < tasks {
                inboxes[worker].send(Some(next)).await;
                next += 1;
            } else if waits_for_results {
                inboxes[worker].send(None).await;
                working -= 1;
            } else {
                for inbox in &inboxes {
                    inbox.send(None).await;
                }
                break;
            }
        }
        assert_eq!(sum, tasks * (tasks - 1));
    });
    program.build()
}
