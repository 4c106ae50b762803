//! A program in the modelling language.

use std::fmt::Write as _;

use mazurka::model::{Call, CollectiveKind, Delivery};

use super::{Body, Comparison, Condition, Program, Sent, Statement, Variable, ranks};
use Statement::*;

impl Program {
    /// The text of a `.maz` file.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for m in 0..self.mailboxes {
            let delivery = match self.deliveries.get(m) {
                Some(Delivery::P2p) => "p2p ",
                Some(Delivery::Bag) => "bag ",
                _ => "",
            };
            line(&mut out, 0, format!("{delivery}mailbox m{m}: int;"));
        }
        for l in 0..self.mutexes {
            line(&mut out, 0, format!("mutex l{l};"));
        }
        for r in 0..self.rwlocks {
            line(&mut out, 0, format!("rwlock r{r};"));
        }
        for w in 0..self.condvars {
            line(&mut out, 0, format!("condvar w{w};"));
        }
        for (s, units) in self.semaphores.iter().enumerate() {
            line(&mut out, 0, format!("semaphore s{s} = {units};"));
        }
        for (b, size) in self.barriers.iter().enumerate() {
            line(&mut out, 0, format!("barrier a{b}({size});"));
        }
        for (h, counts) in self.latches.iter().enumerate() {
            line(&mut out, 0, format!("latch z{h}({counts});"));
        }
        for (g, ranks) in self.collectives.iter().enumerate() {
            line(&mut out, 0, format!("collective g{g}({ranks});"));
        }
        for (x, content) in self.cells.iter().enumerate() {
            line(&mut out, 0, format!("shared x{x}: int = {content};"));
        }
        for (p, body) in self.processes.iter().enumerate() {
            let daemon = if self.daemons.contains(&p) { "daemon " } else { "" };
            line(&mut out, 0, format!("{daemon}process P{p} {{"));
            self.block(&mut out, 1, (p, body));
            line(&mut out, 0, "}".into());
        }
        for (t, body) in self.templates.iter().enumerate() {
            let daemon = if self.spawns_daemons { "daemon " } else { "" };
            line(&mut out, 0, format!("{daemon}process T{t}(v0: int) {{"));
            self.block(&mut out, 1, (0, body));
            line(&mut out, 0, "}".into());
        }
        if let Some((cell, content)) = self.finally {
            line(&mut out, 0, format!("final {{ assert(x{cell} == {content}); }}"));
        }
        out
    }

    /// The statements of this process.
    fn block(&self, out: &mut String, depth: usize, (process, body): (usize, &Body)) {
        let mut awaited = None;
        for (at, statement) in body.iter().enumerate() {
            let text = match statement {
                If { condition, then, otherwise } => {
                    line(out, depth, format!("if {} {{", condition_text(condition)));
                    self.block(out, depth + 1, (process, then));
                    if !otherwise.is_empty() {
                        line(out, depth, "} else {".into());
                        self.block(out, depth + 1, (process, otherwise));
                    }
                    "}".into()
                }
                Enter { comm, collective, call, value, .. } => {
                    let ranks = self.collectives[*collective];
                    let arguments = entering(*call, value, ranks);
                    let name = call.kind.name();
                    format!("let c{comm} = i{name}(g{collective}{arguments}, as: {process});")
                }
                other => simple(other),
            };
            if !self.deliveries.is_empty() && ranks::is_blocking(&body[at..]) {
                awaited = text.split_once(" = i").map(|(_, call)| call.to_owned());
                continue;
            }
            let text = match (awaited.take(), statement) {
                (Some(call), Wait { into: Some(into), .. }) => format!("let v{into} = {call}"),
                (Some(call), _) => call,
                (None, _) => text,
            };
            line(out, depth, text);
        }
    }
}

/// The arguments of the call after the collective.
fn entering(call: Call, value: &Sent, ranks: u32) -> String {
    use CollectiveKind::*;
    let root = call.root.map_or(String::new(), |root| format!(", {root}"));
    let mut values = format!("{value}");
    match call.kind {
        Barrier => return String::new(),
        Scatter | Alltoall => {
            values = format!("[{values}{}]", ", 0".repeat(ranks as usize - 1));
        }
        Reduce | Allreduce | Scan | Exscan => values = format!("sum, {values}"),
        _ => {}
    }
    format!("{root}, {values}")
}

fn line(out: &mut String, depth: usize, text: String) {
    writeln!(out, "{:width$}{text}", "", width = 4 * depth).expect("a string takes everything");
}

fn condition_text(condition: &Condition) -> String {
    match (condition.of, condition.test) {
        (Variable::Int(v), Comparison::Equals(n)) => format!("v{v} == {n}"),
        (Variable::Int(v), Comparison::Differs(n)) => format!("v{v} != {n}"),
        (Variable::Bool(v), Comparison::Equals(0) | Comparison::Differs(1)) => format!("!b{v}"),
        (Variable::Bool(v), _) => format!("b{v}"),
    }
}

fn envelope(src: Option<i64>, tag: Option<i64>) -> String {
    let part = |name, part: Option<i64>| part.map_or(String::new(), |n| format!(", {name}: {n}"));
    part("src", src) + &part("tag", tag)
}

fn list(prefix: &str, numbers: &[usize]) -> String {
    let items: Vec<_> = numbers.iter().map(|n| format!("{prefix}{n}")).collect();
    format!("[{}]", items.join(", "))
}

/// An empty list is legal only as a value that is not written there.
fn any_form(name: &str, comms: &[usize], into: usize) -> String {
    match comms {
        [] => format!("let none{into}: [comm] = []; let v{into} = {name}(none{into});"),
        _ => format!("let v{into} = {name}({});", list("c", comms)),
    }
}

fn simple(statement: &Statement) -> String {
    match statement {
        Isend { comm, mailbox, value, src, tag } => {
            format!("let c{comm} = isend(m{mailbox}, {value}{});", envelope(*src, *tag))
        }
        Irecv { comm, mailbox, src, tag } => {
            format!("let c{comm} = irecv(m{mailbox}{});", envelope(*src, *tag))
        }
        Issend { comm, mailbox, value, src, tag } => {
            format!("let c{comm} = issend(m{mailbox}, {value}{});", envelope(*src, *tag))
        }
        Probe { mailbox, src, tag, into } => {
            format!("let (v{into}, t{into}) = probe(m{mailbox}{});", envelope(*src, *tag))
        }
        Iprobe { mailbox, src, tag, into } => {
            let envelope = envelope(*src, *tag);
            format!("let (f{into}, v{into}, t{into}) = iprobe(m{mailbox}{envelope});")
        }
        Mprobe { comm, mailbox, src, tag, into } => {
            let envelope = envelope(*src, *tag);
            format!("let (c{comm}, v{into}, t{into}) = mprobe(m{mailbox}{envelope});")
        }
        Cancel { comm, into } => format!("let b{into} = cancel(c{comm});"),
        Send { mailbox, value } => format!("send(m{mailbox}, {value});"),
        Recv { mailbox, into } => format!("let v{into} = recv(m{mailbox});"),
        Wait { comm, into: Some(v) } => format!("let v{v} = wait(c{comm});"),
        Wait { comm, into: None } => format!("wait(c{comm});"),
        Test { comm, into } => format!("let b{into} = test(c{comm});"),
        WaitAny { comms, into } => any_form("waitany", comms, *into),
        TestAny { comms, into } => any_form("testany", comms, *into),
        WaitAll { comms } => format!("waitall({});", list("c", comms)),
        ValueOf { comm, into } => format!("let v{into} = value(c{comm});"),
        AsyncLock(m) => format!("async_lock(l{m});"),
        MutexWait(m) => format!("mutex_wait(l{m});"),
        MutexTest { mutex, into } => format!("let b{into} = mutex_test(l{mutex});"),
        MutexWaitAny { mutexes, into } => {
            format!("let v{into} = mutex_waitany({});", list("l", mutexes))
        }
        MutexTestAny { mutexes, into } => {
            format!("let v{into} = mutex_testany({});", list("l", mutexes))
        }
        TryLock { mutex, into } => format!("let b{into} = try_lock(l{mutex});"),
        Unlock(m) => format!("unlock(l{m});"),
        Lock(m) => format!("lock(l{m});"),
        ReadLock(r) => format!("read_lock(r{r});"),
        WriteLock(r) => format!("write_lock(r{r});"),
        RwUnlock(r) => format!("unlock(r{r});"),
        CondWait { condvar, mutex } => format!("cond_wait(w{condvar}, l{mutex});"),
        NotifyOne(w) => format!("notify_one(w{w});"),
        NotifyAll(w) => format!("notify_all(w{w});"),
        AsyncAcquire(s) => format!("async_acquire(s{s});"),
        AcquireWait(s) => format!("acquire_wait(s{s});"),
        Acquire(s) => format!("acquire(s{s});"),
        Release(s) => format!("release(s{s});"),
        AsyncBarrier(b) => format!("async_barrier(a{b});"),
        BarrierWait(b) => format!("barrier_wait(a{b});"),
        Barrier(b) => format!("barrier(a{b});"),
        CountDown(h) => format!("count_down(z{h});"),
        LatchWait(h) => format!("wait(z{h});"),
        Read { cell, into } => format!("let v{into} = x{cell};"),
        Write { cell, value } => format!("x{cell} = {value};"),
        Cas { cell, old, new, into } => format!("let b{into} = cas(x{cell}, {old}, {new});"),
        FetchAdd { cell, addend, into } => format!("let v{into} = fetch_add(x{cell}, {addend});"),
        Swap { cell, value, into } => format!("let v{into} = swap(x{cell}, {value});"),
        Choose { lo, hi, into } => format!("let v{into} = choose({lo}..{hi});"),
        Local => "local(\"step\");".into(),
        Spawn { handle, template, argument } => {
            format!("let h{handle} = spawn T{template}({argument});")
        }
        Join { handle } => format!("join(h{handle});"),
        Assert(condition) => format!("assert({});", condition_text(condition)),
        If { .. } | Enter { .. } => unreachable!("they need more than the statement"),
    }
}
