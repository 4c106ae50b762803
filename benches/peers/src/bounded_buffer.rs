//! A bounded buffer as a process: two producers wait for a place, then put an item; a consumer asks
//! for items. must-mc has neither mutexes nor condition variables, so this one is made of messages.

use mazurka::program::{Closures, Mailbox, Program};
use mazurka::systems::history::History;
use must::event::Model;
use must::{Ctx, System};
use traceforge::thread::{self, ThreadId};

const PRODUCERS: usize = 2;
const ITEMS: usize = 2;
const SIZE: usize = 1;

/// A request to the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Ask {
    /// From a producer: is there a free place?
    Place(usize),
    Item(usize),
    /// From the consumer: wants an item.
    Take,
}

/// The state of the buffer, with the waiting requests.
#[derive(Default)]
struct Buffer {
    items: Vec<usize>,
    promised: usize,
    waiting: Vec<usize>,
    is_wanted: bool,
}

/// The receiver of an answer.
enum Tell {
    Place(usize),
    Item(usize),
}

impl Buffer {
    fn ask(&mut self, ask: Ask) -> Vec<Tell> {
        match ask {
            Ask::Place(producer) => self.waiting.push(producer),
            Ask::Item(item) => self.items.push(item),
            Ask::Take => self.is_wanted = true,
        }
        let mut tell = Vec::new();
        if self.is_wanted && !self.items.is_empty() {
            self.is_wanted = false;
            self.promised -= 1;
            tell.push(Tell::Item(self.items.remove(0)));
        }
        if self.promised < SIZE && !self.waiting.is_empty() {
            self.promised += 1;
            tell.push(Tell::Place(self.waiting.remove(0)));
        }
        assert!(self.items.len() <= SIZE);
        tell
    }
}

/// The number of requests to the buffer.
const ASKED: usize = 3 * PRODUCERS * ITEMS;

pub fn mazurka() -> History<Closures> {
    let mut program = Program::new();
    let asks: Mailbox<Ask> = program.p2p_mailbox("asks");
    let items: Mailbox<usize> = program.p2p_mailbox("items");
    let places: Vec<Mailbox<()>> =
        (0..PRODUCERS).map(|i| program.p2p_mailbox(format!("place for {i}"))).collect();
    for (i, &place) in places.iter().enumerate() {
        program.process(format!("producer {i}"), async move || {
            for _ in 0..ITEMS {
                asks.send(Ask::Place(i)).await;
                place.recv().await;
                asks.send(Ask::Item(i)).await;
            }
        });
    }
    program.process("consumer", async move || {
        for _ in 0..PRODUCERS * ITEMS {
            asks.send(Ask::Take).await;
            items.recv().await;
        }
    });
    program.process("buffer", async move || {
        let mut buffer = Buffer::default();
        for _ in 0..ASKED {
            for tell in buffer.ask(asks.recv().await) {
                match tell {
                    Tell::Place(producer) => places[producer].send(()).await,
                    Tell::Item(item) => items.send(item).await,
                }
            }
        }
    });
    program.build()
}

pub fn must() -> System {
    let mut system = System::new();
    let (consumer, buffer) = (PRODUCERS, PRODUCERS + 1);
    for i in 0..PRODUCERS {
        system.add(move |c: Ctx| async move {
            for _ in 0..ITEMS {
                c.send(buffer, format!("place {i}"), Model::P2p);
                c.recv(|_| true).await;
                c.send(buffer, format!("item {i}"), Model::P2p);
            }
        });
    }
    system.add(move |c: Ctx| async move {
        for _ in 0..PRODUCERS * ITEMS {
            c.send(buffer, "take", Model::P2p);
            c.recv(|_| true).await;
        }
    });
    system.add(move |c: Ctx| async move {
        let mut buffer = Buffer::default();
        for _ in 0..ASKED {
            let ask = c.recv(|_| true).await;
            let ask = match ask.as_str().split_once(' ') {
                Some(("place", i)) => Ask::Place(i.parse().expect("a number")),
                Some((_, i)) => Ask::Item(i.parse().expect("a number")),
                None => Ask::Take,
            };
            for tell in buffer.ask(ask) {
                match tell {
                    Tell::Place(producer) => c.send(producer, "", Model::P2p),
                    Tell::Item(item) => c.send(consumer, item.to_string(), Model::P2p),
                }
            }
        }
    });
    system
}

/// The first message to the others: the address of the buffer.
const BEGIN: Option<u32> = Some(0);
const GO_ON: Option<u32> = Some(1);

pub fn traceforge() {
    let begin = || -> ThreadId { traceforge::recv_tagged_msg_block(|_, tag| tag == BEGIN) };
    let ask = |buffer, ask: Ask| traceforge::send_tagged_msg(buffer, 1, ask);
    let told = || -> usize { traceforge::recv_tagged_msg_block(|_, tag| tag == GO_ON) };
    let producers = (0..PRODUCERS).map(|i| {
        thread::spawn(move || {
            let buffer = begin();
            for _ in 0..ITEMS {
                ask(buffer, Ask::Place(i));
                told();
                ask(buffer, Ask::Item(i));
            }
        })
    });
    let producers: Vec<_> = producers.map(|one| one.thread().id()).collect();
    let consumer = thread::spawn(move || {
        let buffer = begin();
        for _ in 0..PRODUCERS * ITEMS {
            ask(buffer, Ask::Take);
            told();
        }
    });
    let consumer = consumer.thread().id();
    let to = producers.clone();
    let buffer = thread::spawn(move || {
        let mut buffer = Buffer::default();
        for _ in 0..ASKED {
            let ask: Ask = traceforge::recv_tagged_msg_block(|_, tag| tag == GO_ON);
            for tell in buffer.ask(ask) {
                match tell {
                    Tell::Place(producer) => traceforge::send_tagged_msg(to[producer], 1, 0_usize),
                    Tell::Item(item) => traceforge::send_tagged_msg(consumer, 1, item),
                }
            }
        }
    });
    for other in producers.into_iter().chain([consumer]) {
        traceforge::send_tagged_msg(other, 0, buffer.thread().id());
    }
}
