use mazurka::program::*;
use std::time::Instant;
fn endless(kind: u32) -> mazurka::systems::history::History<Closures> {
    let mut program = Program::new();
    let other = program.mailbox("other");
    let x = program.cell("x", 0);
    program.daemon("ticker", async move || {
        loop {
            match kind {
                0 => other.send(1).await,
                1 => {
                    x.update(|x: i32| x ^ 1).await;
                }
                _ => {
                    x.update(|x: i32| x + 1).await;
                }
            }
        }
    });
    let (a, b) = (program.cell("a", 0), program.cell("b", 0));
    for name in ["P", "Q"] {
        program.process(name, async move || {
            for _ in 0..3 {
                let seen = a.read().await;
                a.write(seen + 1).await;
            }
            b.update(|b: i32| b + 1).await;
            if name == "P" {
                let all = a.read().await;
                let done = b.read().await;
                assert!(done < 2 || all == 6, "lost");
                if kind > 2 {
                    x.read().await;
                }
            }
        });
    }
    program.build()
}
fn main() {
    let which = std::env::args().nth(1).unwrap_or_default();
    match &*which {
        "endless" => {
            for kind in 0..4 {
                let begun = Instant::now();
                let checked = mazurka::check(&endless(kind))
                    .timeout(std::time::Duration::from_secs(60))
                    .run();
                println!("{kind}: {checked}\n{:?}", begun.elapsed());
            }
        }
        "depth" => {
            for kind in 0..4 {
                for depth in [8, 16, 32, 64] {
                    let begun = Instant::now();
                    let checked = mazurka::check(&endless(kind))
                        .depth(depth)
                        .timeout(std::time::Duration::from_secs(20))
                        .run();
                    println!(
                        "{kind} {depth}: {:?} {:?} {:?} {:?}",
                        checked.verdict(),
                        checked.outcome.stopped_by,
                        checked.stats(),
                        begun.elapsed()
                    );
                }
            }
        }
        "channel" => {
            let mut program = Program::new();
            let c = program.channel("jobs", 1);
            for i in 0..2 {
                program.process(format!("P{i}"), async move || {
                    c.send(i).await.unwrap();
                    c.send(i + 10).await.unwrap();
                });
            }
            program.process("R", async move || {
                for _ in 0..3 {
                    c.recv().await.unwrap();
                }
            });
            println!("{}", mazurka::check(&program.build()).run());
            let mut program = Program::new();
            let c = program.channel("jobs", 1);
            program.process("P", async move || {
                c.send(1).await.unwrap();
            });
            program.daemon("R", async move || {
                loop {
                    c.recv().await.unwrap();
                }
            });
            println!("{}", mazurka::check(&program.build()).run());
            let mut program = Program::new();
            let c = program.channel::<i32>("jobs", 1);
            program.process("R", async move || {
                loop {
                    c.recv().await.unwrap();
                }
            });
            program.process("Q", async move || {
                let m = Mutex::new("m", 5);
                let r = Mailbox::new("reply");
                r.send(m).await;
                let m2 = r.recv().await;
                *m2.lock().await += 1;
                Mailbox::<i32>::new("reply").recv().await;
            });
            println!("{}", mazurka::check(&program.build()).run());
        }
        _ => {
            let mut program = Program::new();
            let x = program.cell("x", 0);
            let y = program.cell("y", 0);
            program.process("P", async move || {
                while x.read().await == 0 {}
                assert_eq!(y.read().await, 1);
            });
            program.process("Q", async move || {
                y.write(1).await;
                x.write(1).await;
            });
            println!("{}", mazurka::check(&program.build()).run());
            let mut program = Program::new();
            let x = program.cell("x", 0);
            for i in 0..2 {
                program.process(format!("P{i}"), async move || {
                    while !x.compare_and_swap(0, 1).await {}
                    x.write(0).await;
                });
            }
            println!("{}", mazurka::check(&program.build()).run());
            let mut program = Program::new();
            let x = program.cell("x", 0);
            program.process("P", async move || while x.read().await == 0 {});
            println!("{}", mazurka::check(&program.build()).run());
        }
    }
}
