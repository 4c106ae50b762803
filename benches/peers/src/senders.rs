//! `n` senders to one receiver: `n!` executions.

use mazurka::program::{Closures, Program};
use mazurka::systems::history::History;
use must::event::Model;
use must::{Ctx, System};
use traceforge::thread;

pub fn mazurka(n: usize) -> History<Closures> {
    let mut program = Program::new();
    let inbox = program.p2p_mailbox("inbox");
    for i in 0..n {
        program.process(format!("sender {i}"), async move || inbox.send(i).await);
    }
    program.process("receiver", async move || {
        for _ in 0..n {
            inbox.recv().await;
        }
    });
    program.build()
}

pub fn must(n: usize) -> System {
    let mut system = System::new();
    for i in 0..n {
        system.add(move |c: Ctx| async move { c.send(n, i.to_string(), Model::P2p) });
    }
    system.add(move |c: Ctx| async move {
        for _ in 0..n {
            c.recv(|_| true).await;
        }
    });
    system
}

pub fn traceforge(n: usize) {
    let receiver = thread::spawn(move || {
        for _ in 0..n {
            let _: usize = traceforge::recv_msg_block();
        }
    });
    let id = receiver.thread().id();
    for i in 0..n {
        thread::spawn(move || traceforge::send_msg(id, i));
    }
}
