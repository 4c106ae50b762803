//! Random programs in the modelling language, with all kinds of computations before operations.
//!
//! The static analysis follows the code of a process with partial knowledge. So the objects of
//! these programs are arrays, and the index of an operation is computed: from variables, lists,
//! nested lists, tuples, sets and maps that were changed in part, by functions and procedures, in branches,
//! matches and nested loops, from the index of a process, from received values.
//!
//! A program is text. It has no twin without the front end, unlike a `Script`; its judge is a
//! search of the same program without the static analysis (`unforeseen`).

// The fuzzer includes this file; from there, too, they are found here.
#[path = "language/compute.rs"]
mod compute;
#[path = "language/operate.rs"]
mod operate;

use std::fmt::Write;

use super::Rng;

/// The objects that the processes of a program act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    Cell,
    Mailbox,
    Mutex,
    Try,
    ReadWrite,
    Condition,
    Semaphore,
    Barrier,
    Network,
    Process,
}

const THEMES: [Theme; 10] = [
    Theme::Cell,
    Theme::Mailbox,
    Theme::Mutex,
    Theme::Try,
    Theme::ReadWrite,
    Theme::Condition,
    Theme::Semaphore,
    Theme::Barrier,
    Theme::Network,
    Theme::Process,
];

/// Two of each object. The last ones are tried, or of the network.
const OBJECTS: &str = "\
enum Color { Red, Green, Blue }
shared x: [int; 3] = 0;
shared y: int = 1;
mailbox m[2]: int;
p2p mailbox inbox[3]: int;
bag mailbox bag[3]: int;
mutex l[2];
mutex q[2];
rwlock r[2];
condvar w[2];
semaphore s[2] = 1;
barrier a[2](2);
latch z[2](2);
";

const FUNCTIONS: &str = "\
fn total(of: [int]) -> int {
    var all = 0;
    for v in of { all += v; }
    all
}
fn weight(c: Color, n: int) -> int {
    match (c, n) {
        (Red, 0) => 1,
        (Green, m) if m > 1 => m % 3,
        _ => 2,
    }
}
fn turned(p: (int, [int])) -> (int, [int]) {
    var t = p;
    t.1[0] += t.0;
    t.0 = len(t.1) - 1;
    t
}
fn power(n: int) -> int {
    if n <= 0 { return 1; }
    var table = [[1, 2], [2, 1]];
    table[n % 2][0] += n % 3;
    (table[n % 2][0] + power(n - 1)) % 7
}
";

/// The text of the program of `seed`.
pub fn generate(seed: u64) -> String {
    let mut rng = Rng::new(seed ^ 0x1a_6a_00);
    let themes: Vec<Theme> = (0..*rng.pick(&[1, 1, 2, 2, 3])).map(|_| *rng.pick(&THEMES)).collect();
    let count = *rng.pick(&[2, 2, 2, 3]);
    let mut out = format!("{OBJECTS}collective g({count});\n{FUNCTIONS}");
    let has_procedure = rng.chance(50);
    let mut shape = Shape { themes: &themes, has_procedure: false, has_template: false };
    if has_procedure {
        let body = Writer::new(&mut rng, shape, &["n", "by"], "0").body(1);
        write!(out, "proc act(n: int, by: int) -> int {{\n{body}    n + by\n}}\n").expect(FITS);
    }
    shape.has_procedure = has_procedure;
    if themes.contains(&Theme::Process) || rng.chance(20) {
        let body = Writer::new(&mut rng, shape, &["n"], "0").body(2);
        write!(out, "process T(n: int) {{\n{body}}}\n").expect(FITS);
        shape.has_template = true;
    }
    let length = if count == 2 { rng.range(2, 6) } else { rng.range(2, 4) };
    let calls = if rng.chance(15) { rng.range(1, 3) } else { 0 };
    let kinds: Vec<usize> = (0..calls).map(|_| rng.below(operate::CALLS)).collect();
    if rng.chance(50) {
        let mut writer = Writer::new(&mut rng, shape, &["i"], "i");
        let body = writer.whole(length, &kinds);
        write!(out, "process P[i in 0..{count}] {{\n{body}}}\n").expect(FITS);
    } else {
        let is_watched = rng.chance(20);
        for process in 0..count {
            let own = process.to_string();
            let mut writer = Writer::new(&mut rng, shape, &[], &own);
            if is_watched {
                writer.line("var mark = 0;");
                writer.scope.changing.push("mark".to_owned());
            }
            let body = writer.whole(length, &kinds);
            write!(out, "process P{process} {{\n{body}}}\n").expect(FITS);
        }
        if is_watched {
            let (one, other) = (rng.value(), rng.value());
            writeln!(out, "invariant {{ assert(P0.mark != {one} || P1.mark != {other}); }}")
                .expect(FITS);
        }
    }
    if rng.chance(20) {
        let (cell, value) = (rng.below(3), rng.value());
        writeln!(out, "final {{ assert(x[{cell}] != {value} || y > 1); }}").expect(FITS);
    }
    if rng.chance(12) {
        out += &actors(&mut rng);
    }
    out
}

/// Two actors beside the processes, and few messages between them.
fn actors(rng: &mut Rng) -> String {
    let mut out = String::new();
    for actor in 0..2 {
        let guard = if rng.chance(20) { " when s < 2" } else { "" };
        let (to, told) = (rng.below(2), *rng.pick(&["n - 1", "0"]));
        write!(
            out,
            "actor A{actor} {{\n    var s = 0;\n    on M(n: int){guard} {{\n        s = n;\n        \
             if n > 0 {{ send(A{to}, M({told})); }}\n    }}\n}}\n"
        )
        .expect(FITS);
    }
    let first = (rng.below(2), rng.below(3));
    let second =
        if rng.chance(50) { format!(" send(A{}, M(1));", rng.below(2)) } else { String::new() };
    writeln!(out, "init {{ send(A{}, M({}));{second} }}", first.0, first.1).expect(FITS);
    out
}

const FITS: &str = "a string takes everything";

/// What the bodies of a program share.
#[derive(Clone, Copy)]
struct Shape<'t> {
    themes: &'t [Theme],
    has_procedure: bool,
    has_template: bool,
}

/// The variables in scope, by type.
#[derive(Clone, Default)]
struct Scope {
    /// Integers, and those that can be assigned to.
    ints: Vec<String>,
    changing: Vec<String>,
    bools: Vec<String>,
    colors: Vec<String>,
    /// `[int; 2]`
    lists: Vec<String>,
    /// `[[int; 2]; 2]`
    tables: Vec<String>,
    /// `(int, [int; 2])`
    pairs: Vec<String>,
    /// `{int}`
    sets: Vec<String>,
    /// `{int: int}`, with the keys 0 and 1.
    maps: Vec<String>,
    /// Communications of receives, of sends, and of receives that can be cancelled.
    receives: Vec<String>,
    sends: Vec<String>,
    network: Vec<String>,
    /// Of synchronous sends at p2p and bag mailboxes.
    synchronous: Vec<String>,
    children: Vec<String>,
}

/// Writes a body.
struct Writer<'r> {
    rng: &'r mut Rng,
    shape: Shape<'r>,
    /// The number of the process, as an expression.
    own: &'r str,
    scope: Scope,
    names: usize,
    out: String,
    depth: usize,
    /// The number of operations that may still be written, counting loops; and the factor of an
    /// operation here.
    left: usize,
    times: usize,
    /// Whether it is a process, not a procedure or template, which may run several times.
    is_process: bool,
}

impl<'r> Writer<'r> {
    fn new(rng: &'r mut Rng, shape: Shape<'r>, ints: &[&str], own: &'r str) -> Self {
        let ints = ints.iter().map(|name| (*name).to_owned()).collect();
        let scope = Scope { ints, ..Scope::default() };
        let (out, is_process) = (String::new(), false);
        Writer { rng, shape, own, scope, names: 0, out, depth: 1, left: 0, times: 1, is_process }
    }

    /// The body of a process that takes part in these collectives.
    fn whole(&mut self, length: usize, calls: &[usize]) -> String {
        self.is_process = true;
        let mut body = self.body(length);
        for &call in calls {
            self.collective(call);
        }
        // A rank that enters once more, whether or not the others come, and does not wait.
        if !calls.is_empty() && self.rng.chance(30) {
            let own = self.own.to_owned();
            self.line(format!("let _last = ibarrier(g, as: {own});"));
        }
        body += &std::mem::take(&mut self.out);
        body
    }

    /// About `length` operations, and what is computed for them.
    fn body(&mut self, length: usize) -> String {
        self.left = length;
        while self.left > 0 {
            self.compute();
            self.act();
        }
        std::mem::take(&mut self.out)
    }

    fn line(&mut self, text: impl AsRef<str>) {
        writeln!(self.out, "{:width$}{}", "", text.as_ref(), width = 4 * self.depth).expect(FITS);
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// A block behind `head`; its variables end with it.
    fn block(&mut self, head: String, tail: &str, inside: impl FnOnce(&mut Self)) {
        self.line(format!("{head} {{"));
        let outer = self.scope.clone();
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.scope = outer;
        self.line(format!("}}{tail}"));
    }

    /// A loop whose body runs `times` times.
    fn repeat(&mut self, head: String, times: usize, inside: impl FnOnce(&mut Self)) {
        self.times *= times;
        self.block(head, "", inside);
        self.times /= times;
    }

    /// Subtracts the cost of operations here from what may still be written.
    fn spend(&mut self, operations: usize) {
        self.left = self.left.saturating_sub(operations * self.times);
    }
}
