//! A bounded buffer: producers wait while it is full, consumers while it is empty.
//!
//! Who was notified has to look again, because somebody who did not wait may have come first. The wrong form does not.

use mazurka::program::{Closures, Program};
use mazurka::systems::history::History;

const SIZE: usize = 1;
const ITEMS: u32 = 2;

/// One producer and two consumers.
pub fn program(looks_again: bool) -> History<Closures> {
    let mut program = Program::new();
    let buffer = program.mutex("buffer", Vec::new());
    let (not_full, not_empty) = (program.condvar("not full"), program.condvar("not empty"));
    program.process("producer", async move || {
        for item in 0..ITEMS {
            let mut items = buffer.lock().await;
            while items.len() == SIZE {
                items = not_full.wait(items).await;
                if !looks_again {
                    break;
                }
            }
            items.push(item);
            assert!(items.len() <= SIZE);
            not_empty.notify_one().await;
        }
    });
    for name in ["A", "B"] {
        program.process(format!("consumer {name}"), async move || {
            let mut items = buffer.lock().await;
            while items.is_empty() {
                items = not_empty.wait(items).await;
                if !looks_again {
                    break;
                }
            }
            items.pop().expect("an item");
            not_full.notify_one().await;
        });
    }
    program.build()
}
