//! Random programs with loops, and demands on them. They have few states.

use std::fmt::Write;

use mazurka::random::SplitMix64;

/// What a proposition compares with a number.
#[derive(Clone, Debug)]
pub enum Read {
    Cell(u32),
    /// The variable `v` of this process.
    Variable(usize),
}

/// A proposition: all of these comparisons hold.
#[derive(Clone, Debug)]
pub struct Proposition(pub Vec<(Read, i64)>);

/// A demand: `eventually`, `always eventually`, or `leadsto` with a trigger.
#[derive(Clone, Debug)]
pub enum Wanted {
    Eventually(Proposition),
    AlwaysEventually(Proposition),
    LeadsTo(Proposition, Proposition),
}

/// How a declaration begins: `unfair`, `strong`, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Unfair,
    Strong,
    Nothing,
}

/// A random program.
#[derive(Clone, Debug)]
pub struct Random {
    pub text: String,
    pub processes: Vec<Word>,
    pub strong_cells: Vec<bool>,
    pub is_mutex_strong: bool,
    pub is_mailbox_strong: bool,
    pub is_unfair: bool,
    pub wanted: Vec<Wanted>,
}

impl Word {
    fn text(self) -> &'static str {
        match self {
            Word::Unfair => "unfair ",
            Word::Strong => "strong ",
            Word::Nothing => "",
        }
    }
}

impl Proposition {
    fn random(random: &mut SplitMix64, processes: usize) -> Proposition {
        let count = 1 + random.below(5) / 4;
        let one = |random: &mut SplitMix64| {
            let read = match random.below(2) {
                0 => Read::Cell(random.below(2) as u32),
                _ => Read::Variable(random.below(processes)),
            };
            (read, random.below(2) as i64)
        };
        Proposition((0..count).map(|_| one(random)).collect())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (read, number) in &self.0 {
            match read {
                Read::Cell(cell) => write!(text, "assert(x{cell} == {number}); "),
                Read::Variable(process) => write!(text, "assert(P{process}.v == {number}); "),
            }
            .unwrap();
        }
        text
    }
}

impl Wanted {
    fn random(random: &mut SplitMix64, processes: usize) -> Wanted {
        let mut one = || Proposition::random(random, processes);
        let (first, second) = (one(), one());
        match random.below(3) {
            0 => Wanted::Eventually(first),
            1 => Wanted::AlwaysEventually(first),
            _ => Wanted::LeadsTo(first, second),
        }
    }

    fn text(&self) -> String {
        match self {
            Wanted::Eventually(goal) => format!("eventually {{ {}}}\n", goal.text()),
            Wanted::AlwaysEventually(goal) => format!("always eventually {{ {}}}\n", goal.text()),
            Wanted::LeadsTo(trigger, goal) => {
                format!("whenever {{ {}}} leadsto {{ {}}}\n", trigger.text(), goal.text())
            }
        }
    }
}

/// A statement of a process.
fn statement(random: &mut SplitMix64, has_mailbox: bool, me: usize) -> String {
    let (cell, value) = (random.below(2), random.below(2));
    match random.below(if has_mailbox { 17 } else { 15 }) {
        0 | 1 => format!("x{cell} = {value};"),
        2 => format!("v = x{cell};"),
        3 => format!("while x{cell} == {value} {{ }}"),
        4 => format!("if cas(x{cell}, {value}, {}) {{ v = {value}; }}", 1 - value),
        5 => format!("while !cas(x{cell}, {value}, {}) {{ }}", 1 - value),
        6 => format!("if x{cell} == {value} {{ v = 1 - v; }}"),
        7 => "lock(m); unlock(m);".into(),
        8 => format!("lock(m); v = {value}; unlock(m);"),
        9 => format!("if try_lock(m) {{ v = {value}; unlock(m); }}"),
        10 => "while !try_lock(m) { } v = 1; unlock(m); v = 0;".into(),
        11 => "v = choose(0..2);".into(),
        12 => "if choose(0..2) == 0 { break; }".into(),
        13 => format!("swap(x{cell}, {value});"),
        14 => format!("local(\"l\"); v = {value};"),
        _ if me == 0 => "v = recv(b);".into(),
        _ => format!("ssend(b, {value});"),
    }
}

/// Objects of other kinds. None of them is strong.
const OTHERS: &str = "semaphore s = 1;\nrwlock r;\ncondvar w;\nmailbox c: int;\nbarrier a(2);\n";

/// A statement about one of these objects.
fn about_others(random: &mut SplitMix64) -> String {
    let (cell, value) = (random.below(2), random.below(2));
    match random.below(10) {
        0 => format!("acquire(s); v = {value}; release(s);"),
        1 => "acquire(s);".into(),
        2 => "release(s);".into(),
        3 => format!("write_lock(r); x{cell} = {value}; unlock(r);"),
        4 => format!("read_lock(r); v = x{cell}; unlock(r);"),
        5 => "lock(m); cond_wait(w, m); unlock(m);".into(),
        6 => "notify_one(w);".into(),
        7 => format!("send(c, {value});"),
        8 => "v = recv(c);".into(),
        _ => "barrier(a);".into(),
    }
}

/// Which statements a program has.
#[derive(Clone, Copy)]
struct Has {
    mailbox: bool,
    others: bool,
    crashes: bool,
}

fn body(random: &mut SplitMix64, has: Has, me: usize, durable: &str) -> String {
    let mut text = format!("    {durable}var v = 0;\n");
    let line = |text: &mut String, random: &mut SplitMix64| {
        let line = match has.others && random.below(2) == 0 {
            true => about_others(random),
            false => statement(random, has.mailbox, me),
        };
        writeln!(text, "        {line}").unwrap();
    };
    let loops = random.below(5) > 0;
    if loops {
        text += "    loop {\n";
    } else {
        text += "    while v < 2 {\n";
    }
    for _ in 0..1 + random.below(2) {
        line(&mut text, random);
    }
    if !loops {
        text += "        v = 2;\n";
    }
    text + "    }\n"
}

/// The random program with this seed.
pub fn random_program(seed: u64) -> Random {
    let random = &mut SplitMix64::new(seed);
    let has_mailbox = random.below(4) == 0;
    let (others, crashes) = (random.below(3) == 0, random.below(6) == 0);
    let has = Has { mailbox: has_mailbox, others, crashes };
    let count = if has_mailbox { 2 + random.below(2) } else { 1 + random.below(5) / 2 };
    let words = [Word::Unfair, Word::Strong, Word::Nothing, Word::Nothing, Word::Nothing];
    let processes: Vec<Word> = (0..count).map(|_| words[random.below(words.len())]).collect();
    let strong_cells: Vec<bool> = (0..2).map(|_| random.below(3) == 0).collect();
    let [is_mutex_strong, is_mailbox_strong] = [(); 2].map(|()| random.below(2) == 0);
    let strong = |is_strong: bool| if is_strong { "strong " } else { "" };
    let mut text = String::new();
    for (cell, &is_strong) in strong_cells.iter().enumerate() {
        writeln!(text, "{}shared x{cell}: int = 0;", strong(is_strong)).unwrap();
    }
    writeln!(text, "{}mutex m;", strong(is_mutex_strong)).unwrap();
    if others {
        text += OTHERS;
    }
    if has_mailbox {
        let kind = ["bag", "p2p"][random.below(2)];
        writeln!(text, "{}{kind} mailbox b: int;", strong(is_mailbox_strong)).unwrap();
    }
    for (number, word) in processes.iter().enumerate() {
        let crashes = match has.crashes && random.below(2) == 0 {
            true => [" crashes up to 1", " crashes up to 1, restarts"][random.below(2)],
            false => "",
        };
        let is_durable = crashes.ends_with("restarts") && random.below(2) == 0;
        let durable = if is_durable { "durable " } else { "" };
        let daemon = if random.below(6) == 0 { "daemon " } else { "" };
        writeln!(text, "{}{daemon}process P{number}{crashes} {{", word.text()).unwrap();
        text += &body(random, has, number, durable);
        text += "}\n";
    }
    let wanted: Vec<_> = (0..4).map(|_| Wanted::random(random, count)).collect();
    wanted.iter().for_each(|wanted| text += &wanted.text());
    let is_unfair = random.below(5) == 0;
    Random {
        text,
        processes,
        strong_cells,
        is_mutex_strong,
        is_mailbox_strong: is_mailbox_strong && has_mailbox,
        is_unfair,
        wanted,
    }
}
