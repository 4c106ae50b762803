//! The lines of what guards do.

use mazurka::program::{Closures, Guard, Program, ReadGuard, WriteGuard, choose};
use mazurka::systems::history::History;

/// The lines of the steps whose operation is this, in the counterexample of a program that fails.
fn lines(program: &History<Closures>, operation: &str) -> Vec<u32> {
    let told = mazurka::check(program).run().to_string();
    let steps = told.lines().take_while(|line| !line.starts_with("Search"));
    let words = steps.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let lines = words.filter(|words| words.get(3) == Some(&operation));
    lines.map(|words| words[2].parse().expect("a line")).collect()
}

#[test]
fn a_guard_writes_where_it_was_changed_and_unlocks_where_it_was_used_last() {
    let mut program = Program::new();
    let queue = program.mutex("queue", vec![1]);
    let line = line!() + 2;
    program.process("P", async move || {
        let mut queue = queue.lock().await;
        if queue.len() == 1 {
            queue.push(2);
            queue.push(3);
        }
        let last = queue.last().copied();
        drop(queue);
        choose(0..1).await;
        assert_eq!(last, None);
    });
    let program = program.build();
    assert_eq!(lines(&program, "queue.lock()"), [line; 3]);
    assert_eq!(lines(&program, "queue.write()"), [line + 3]);
    assert_eq!(lines(&program, "queue.unlock()"), [line + 5]);
}

#[test]
fn a_guard_that_is_not_used_unlocks_where_it_was_locked() {
    let mut program = Program::new();
    let queue = program.mutex("queue", 0);
    let line = line!() + 2;
    program.process("P", async move || {
        let guard = queue.lock().await;
        drop(guard);
        choose(0..1).await;
        panic!("as it should be");
    });
    let program = program.build();
    assert_eq!(lines(&program, "queue.unlock()"), [line]);
    assert!(lines(&program, "queue.write()").is_empty());
}

#[test]
fn a_guard_may_be_unlocked_by_a_call() {
    let mut program = Program::new();
    let (queue, table) = (program.mutex("queue", 0), program.rwlock("table", 0));
    let line = line!() + 2;
    program.process("P", async move || {
        let mut guard = queue.lock().await;
        *guard += 1;
        let mut writer = table.write().await;
        *writer += 1;
        Guard::unlock(guard);
        WriteGuard::unlock(writer);
        let reader = table.read().await;
        ReadGuard::unlock(reader);
        choose(0..1).await;
        panic!("as it should be");
    });
    let program = program.build();
    assert_eq!(lines(&program, "queue.write()"), [line + 1]);
    assert_eq!(lines(&program, "queue.unlock()"), [line + 4]);
    assert_eq!(lines(&program, "table.write()").last(), Some(&(line + 3)));
    assert_eq!(lines(&program, "table.unlock()"), [line + 5, line + 7]);
}

#[test]
fn who_waits_to_be_notified_unlocks_in_that_line() {
    let mut program = Program::new();
    let (ready, news) = (program.mutex("ready", false), program.condvar("news"));
    let line = line!() + 2;
    program.process("P", async move || {
        let mut guard = ready.lock().await;
        *guard = true;
        news.wait(guard).await;
    });
    let program = program.build();
    assert_eq!(lines(&program, "ready.write()"), [line + 1]);
    assert_eq!(lines(&program, "ready.unlock()"), [line + 2]);
}
