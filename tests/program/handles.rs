//! Handles: whose they are, where they may be, and objects that processes make.

use mazurka::explore::Verdict;
use mazurka::program::{
    Barrier, Cell, Channel, Collective, Condvar, Guard, Latch, Mailbox, Mutex, Program, RwLock,
    Semaphore, spawn,
};

use super::{EXPLORERS, all, ends};

/// Handles of all kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct All {
    mailbox: Mailbox<i64>,
    mutex: Mutex<u8>,
    rwlock: RwLock<u8>,
    condvar: Condvar,
    semaphore: Semaphore,
    latch: Latch,
    barrier: Barrier,
    collective: Collective,
    cell: Cell<Vec<u8>>,
    channel: Channel<String>,
}

impl All {
    fn of(program: &mut Program) -> All {
        All {
            mailbox: program.mailbox("mailbox"),
            mutex: program.mutex("mutex", 1),
            rwlock: program.rwlock("rwlock", 1),
            condvar: program.condvar("condvar"),
            semaphore: program.semaphore("semaphore", 1),
            latch: program.latch("latch", 1),
            barrier: program.barrier("barrier", 1),
            collective: program.collective("collective", 1),
            cell: program.cell("cell", Vec::new()),
            channel: program.channel("channel", 1),
        }
    }

    /// Uses the n-th of them.
    async fn act(self, n: usize) {
        match n {
            0 => self.mailbox.send(1).await,
            1 => drop(self.mailbox.recv().await),
            2 => drop(self.mutex.lock().await),
            3 => drop(self.rwlock.read().await),
            4 => drop(self.rwlock.write().await),
            5 => self.condvar.notify_one().await,
            6 => self.semaphore.acquire().await,
            7 => self.semaphore.release().await,
            8 => self.latch.count_down().await,
            9 => self.latch.wait().await,
            10 => self.barrier.wait().await,
            11 => self.collective.rank(0).barrier().await,
            12 => drop(self.cell.read().await),
            13 => drop(self.cell.update(|list| list).await),
            14 => self.channel.send(String::new()).await.expect("it is open"),
            15 => drop(self.channel.recv().await),
            16 => self.channel.close().await,
            _ => unreachable!("there are {ACTS}"),
        }
    }
}

const ACTS: usize = 17;

/// The first line of this file that begins like this.
fn line_of(beginning: &str) -> usize {
    let mut lines = include_str!("handles.rs").lines();
    lines.position(|line| line.starts_with(beginning)).expect("a line") + 1
}

#[test]
fn an_object_of_another_program_is_refused() {
    for n in 0..ACTS {
        // The objects have the same numbers in both programs.
        let (mut one, mut other) = (Program::new(), Program::new());
        let (foreign, _own) = (All::of(&mut one), All::of(&mut other));
        let line = line_of(&format!("            {n} => "));
        other.process("P", async move || foreign.act(n).await);
        let told = mazurka::check(&other.build()).run().to_string();
        let name = told.strip_prefix("Error: ").and_then(|rest| rest.split(' ').next()).unwrap();
        let expected = format!(
            "Error: {name} is an object of another program (P, tests/program/handles.rs:{line})."
        );
        assert!(told.starts_with(&expected), "{n}: {told}\n{expected}");
    }
}

#[test]
fn who_judges_reads_the_own_program() {
    let mut one = Program::new();
    let (cell, mailbox) = (one.cell("cell", 0), one.mailbox::<i64>("mailbox"));
    let lock = one.mutex("lock", 0);
    for n in 0..4 {
        let mut other = Program::new();
        let _own = (other.cell("own", 0), other.mailbox::<i64>("own"), other.mutex("lock", 0));
        other.process("P", async move || ());
        match n {
            0 => other.finally(move |end| assert_eq!(end.read(cell), 0)),
            1 => other.finally(move |end| assert_eq!(end.inside(lock), 0)),
            2 => other.invariant("nothing", move |state| assert_eq!(state.read(cell), 0)),
            _ => other.invariant("nothing", move |state| assert_eq!(state.len(mailbox), 0)),
        }
        let told = mazurka::check(&other.build()).run().to_string();
        assert!(told.contains(" is an object of another program"), "{n}: {told}");
    }
}

#[test]
fn a_request_is_for_the_process_that_has_begun_it() {
    let mut program = Program::new();
    let inbox = program.mailbox::<i64>("inbox");
    program.process("P", async move || {
        let request = inbox.irecv().await;
        let child = async move || {
            // It has begun a request with the same number.
            inbox.isend(1).await;
            request.wait().await
        };
        spawn("child", child).await.join().await;
    });
    let told = mazurka::check(&program.build()).run().to_string();
    let expected = "Error: a request is for the process that has begun it (child, tests/program/h";
    assert!(told.starts_with(expected), "{told}");
}

/// A message that says where such messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Parcel(All, Mailbox<Parcel>);

#[test]
fn handles_are_sent_stored_and_guarded() {
    let mut program = Program::new();
    let all = All::of(&mut program);
    let (inbox, shelf) = (program.mailbox("inbox"), program.cell("shelf", None));
    let guarded = program.mutex("guarded", vec![all]);
    program.process("P", async move || {
        inbox.send(Parcel(all, inbox)).await;
        shelf.write(Some(all)).await;
    });
    program.process("Q", async move || {
        let Parcel(got, again) = inbox.recv().await;
        assert_eq!((got, again), (all, inbox));
        again.send(Parcel(got, inbox)).await;
        let lists = guarded.lock().await.clone();
        assert_eq!(lists, [got]);
        for n in [0, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14] {
            got.act(n).await;
        }
    });
    program.finally(move |end| assert_eq!(end.read(shelf), Some(all)));
    let checked = mazurka::check(&program.build()).all().run();
    assert_eq!((checked.verdict(), checked.stats().traces), (Verdict::Ok, 1), "{checked}");
    assert_eq!(
        format!("{:?} {:?}", all.mailbox.from(3).tagged(4), all.cell),
        "mailbox.from(3).tagged(4) cell"
    );
    assert_ne!(all.mailbox.from(3), all.mailbox);
}

/// Clients that ask a server. Their mailboxes for replies are declared, or made by them.
fn serving(made: bool) -> Program {
    let mut program = Program::new();
    let requests = program.mailbox("requests");
    program.daemon("server", async move || {
        let mut sum = 0;
        loop {
            let (number, reply): (i64, Mailbox<i64>) = requests.recv().await;
            sum += number;
            reply.send(sum).await;
        }
    });
    for n in 1..4 {
        let declared = program.mailbox("declared");
        program.process(format!("client {n}"), async move || {
            let reply = if made { Mailbox::new("reply") } else { declared };
            requests.send((n, reply)).await;
            let sum = reply.recv().await;
            assert!(sum >= n && sum <= 6);
        });
    }
    program
}

#[test]
fn made_objects_are_as_declared_ones() {
    for explorer in EXPLORERS {
        let [made, declared] = [true, false].map(|made| all(&serving(made).build(), explorer));
        assert_eq!(made.verdict(), Verdict::Ok, "{made}");
        assert_eq!(ends(&made.outcome), ends(&declared.outcome), "{explorer}: {made}");
        assert_eq!(made.stats().events, declared.stats().events);
    }
}

/// Workers of one name, each with objects of one name: none is taken for another.
#[test]
fn made_objects_of_all_kinds_belong_to_their_makers() {
    for explorer in EXPLORERS {
        let mut program = Program::new();
        let total = program.cell("total", 0);
        program.process("main", async move || {
            let mut children = Vec::new();
            for n in 0..2_i64 {
                let work = async move || {
                    let (sum, own) = (Cell::new("own", n), Mutex::new("own", vec![n]));
                    let (table, news) = (RwLock::new("own", n), Condvar::new("own"));
                    let (units, jobs) = (Semaphore::new("own", 1), Channel::new("own", 1));
                    let (other, tried) = (Cell::new("own", 10), Mutex::tried("own", ()));
                    let bag = Mailbox::bag("own");
                    bag.send(n).await;
                    assert_eq!((bag.recv().await, Mailbox::<i64>::p2p("own") == bag), (n, false));
                    units.acquire().await;
                    units.release().await;
                    jobs.send(n).await.expect("it is open");
                    assert_eq!(jobs.recv().await, Ok(n));
                    let mut guard = own.lock().await;
                    assert_eq!(*guard, [n]);
                    guard.push(sum.fetch_add(1).await + other.read().await);
                    Guard::unlock(guard);
                    news.notify_all().await;
                    *table.write().await += 1;
                    assert!(tried.try_lock().await.is_some());
                    let table = *table.read().await;
                    let seen = (sum.read().await, own.lock().await.clone(), table);
                    assert_eq!(seen, (n + 1, vec![n, n + 10], n + 1));
                    total.fetch_add(n).await;
                };
                children.push(spawn("worker", work).await);
            }
            for child in children {
                child.join().await;
            }
            assert_eq!(total.read().await, 1);
        });
        let checked = all(&program.build(), explorer);
        let seen = (checked.verdict(), checked.stats().traces);
        assert_eq!(seen, (Verdict::Ok, 2), "only the order at `total` differs: {checked}");
    }
}

/// A barrier, a latch and a collective of two that a process makes, and sends to another.
#[test]
fn what_is_for_many_is_made_too() {
    for explorer in EXPLORERS {
        let mut program = Program::new();
        let link = program.mailbox("link");
        program.process("maker", async move || {
            for round in 0..2_u32 {
                let (barrier, latch) = (Barrier::new("both", 2), Latch::new("both", 1 + round));
                let world = Collective::new("both", 2);
                link.send((barrier, latch, world)).await;
                barrier.wait().await;
                for _ in 0..=round {
                    latch.count_down().await;
                }
                assert_eq!(world.rank(0).allreduce(round, |a, b| a + b).await, 10 + round);
            }
        });
        program.process("guest", async move || {
            for _ in 0..2 {
                let (barrier, latch, world): (Barrier, Latch, Collective) = link.recv().await;
                barrier.wait().await;
                latch.wait().await;
                world.rank(1).allreduce(10_u32, |a, b| a + b).await;
            }
        });
        let checked = all(&program.build(), explorer);
        assert_eq!((checked.verdict(), checked.stats().traces), (Verdict::Ok, 1), "{checked}");
    }
    let told = |closure: fn(&mut Program)| {
        let mut program = Program::new();
        closure(&mut program);
        mazurka::check(&program.build()).run().to_string()
    };
    let waits = told(|program| {
        program.process("P", async move || Barrier::new("end", 2).wait().await);
    });
    assert!(waits.starts_with("Deadlock: P waits for barrier end of P"), "{waits}");
    let large = told(|program| {
        program.process("P", async move || Latch::new("end", 65).wait().await);
    });
    assert!(large.contains("at most 64; a program declares larger ones"), "{large}");
}

#[test]
fn made_objects_have_names() {
    let mut program = Program::new();
    program.process("P", async move || {
        let one = Mailbox::new("reply");
        let two = Mailbox::new("reply");
        one.send(two).await;
        one.recv().await.recv().await;
        let unreached: i64 = two.recv().await;
        assert_eq!(unreached, 0);
    });
    let told = mazurka::check(&program.build()).run().to_string();
    assert!(told.starts_with("Deadlock: P waits for a message at reply 2 of P"), "{told}");
    assert!(told.contains("sends reply 2 of P to reply of P"), "{told}");
    assert!(std::panic::catch_unwind(|| Mailbox::<i64>::new("reply")).is_err(), "who makes it?");
}
