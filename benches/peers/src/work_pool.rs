//! A work pool: workers ask the master for tasks until no task is left.

#[path = "../../../examples/programs/work_pool.rs"]
pub mod mazurka;

use must::event::Model;
use must::{Ctx, System};
use traceforge::thread::{self, ThreadId};

use mazurka::Report;

pub fn must(processes: usize, tasks: u32) -> System {
    let mut system = System::new();
    let master = processes - 1;
    for worker in 0..master {
        system.add(move |c: Ctx| async move {
            c.send(master, format!("{worker} -"), Model::P2p);
            while let Ok(task) = c.recv(|_| true).await.as_str().parse::<u32>() {
                c.send(master, format!("{worker} {}", 2 * task), Model::P2p);
            }
        });
    }
    system.add(move |c: Ctx| async move {
        let (mut next, mut sum, mut working) = (0, 0, master);
        while working > 0 {
            let report = c.recv(|_| true).await;
            let (worker, result) = report.as_str().split_once(' ').expect("a report");
            let worker = worker.parse().expect("a number");
            sum += result.parse().unwrap_or(0);
            if next < tasks {
                c.send(worker, next.to_string(), Model::P2p);
                next += 1;
            } else {
                c.send(worker, "-", Model::P2p);
                working -= 1;
            }
        }
        c.assert_that(sum == tasks * (tasks - 1), "every task is done once");
    });
    system
}

pub fn traceforge(processes: usize, tasks: u32) {
    let workers = (1..processes).map(|worker| {
        thread::spawn(move || {
            let master: ThreadId = traceforge::recv_tagged_msg_block(|_, tag| tag == Some(0));
            traceforge::send_msg(master, Report::Ready(worker - 1));
            loop {
                let task: Option<u32> = traceforge::recv_tagged_msg_block(|_, tag| tag == Some(1));
                let Some(task) = task else { break };
                traceforge::send_msg(master, Report::Result(worker - 1, 2 * task));
            }
        })
    });
    let workers: Vec<_> = workers.map(|worker| worker.thread().id()).collect();
    let to = workers.clone();
    let master = thread::spawn(move || {
        let (mut next, mut sum, mut working) = (0, 0, to.len());
        while working > 0 {
            let worker = match traceforge::recv_msg_block() {
                Report::Ready(worker) => worker,
                Report::Result(worker, result) => {
                    sum += result;
                    worker
                }
            };
            if next < tasks {
                traceforge::send_tagged_msg(to[worker], 1, Some(next));
                next += 1;
            } else {
                traceforge::send_tagged_msg(to[worker], 1, None::<u32>);
                working -= 1;
            }
        }
        assert_eq!(sum, tasks * (tasks - 1));
    });
    for worker in workers {
        traceforge::send_tagged_msg(worker, 0, master.thread().id());
    }
}
