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
#[path = "language/actors.rs"]
mod actors;
#[path = "language/compute.rs"]
mod compute;
#[path = "language/operate.rs"]
mod operate;
#[path = "language/perils.rs"]
mod perils;

use std::fmt::Write;

use super::Rng;
use perils::{Head, Perils};

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
    /// Messages that may be lost, or receives that give up, or loops that wait.
    Peril,
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
shared past: [int] = [];
shared seen: {int} = {0};
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
    let mut themes: Vec<Theme> =
        (0..*rng.pick(&[1, 1, 2, 2, 3])).map(|_| *rng.pick(&THEMES)).collect();
    let count = *rng.pick(&[2, 2, 2, 3]);
    let spawns = themes.contains(&Theme::Process) || rng.chance(20);
    let perils = if rng.chance(30) { Perils::any(&mut rng, spawns) } else { Perils::default() };
    if perils.has_operations() {
        themes.truncate(2);
        themes.push(Theme::Peril);
    }
    let objects = match rng.chance(10) {
        true => OBJECTS.replace("condvar w[2]", "condvar w[2] spurious 1"),
        false => OBJECTS.to_owned(),
    };
    let mut out = format!("{objects}{}collective g({count});\n{FUNCTIONS}", perils.objects);
    let has_procedure = rng.chance(50);
    let mut shape =
        Shape { themes: &themes, perils: &perils, has_procedure: false, has_template: false };
    if has_procedure {
        let body = Writer::new(&mut rng, shape, &["n", "by"], "0").body(1);
        write!(out, "proc act(n: int, by: int) -> int {{\n{body}    n + by\n}}\n").expect(FITS);
    }
    shape.has_procedure = has_procedure;
    if spawns {
        let head = perils.head(&mut rng, "T(n: int)", true);
        let mut writer = Writer::new(&mut rng, shape, &["n"], "0");
        writer.begin(&head);
        let mut body = writer.body(2);
        if rng.chance(15) {
            body += "    if n > 0 { join(spawn T(0)); }\n";
        }
        write!(out, "{} {{\n{body}}}\n", head.text).expect(FITS);
        shape.has_template = true;
    }
    let length = if count == 2 { rng.range(2, 6) } else { rng.range(2, 4) };
    let calls = if rng.chance(15) { rng.range(1, 3) } else { 0 };
    let kinds: Vec<usize> = (0..calls).map(|_| rng.below(operate::CALLS)).collect();
    if rng.chance(50) {
        let head = perils.head(&mut rng, &format!("P[i in 0..{count}]"), false);
        let mut writer = Writer::new(&mut rng, shape, &["i"], "i");
        let body = writer.whole(&head, length, &kinds);
        write!(out, "{} {{\n{body}}}\n", head.text).expect(FITS);
    } else {
        let is_watched = rng.chance(20);
        for process in 0..count {
            let own = process.to_string();
            let head = perils.head(&mut rng, &format!("P{process}"), false);
            let mut writer = Writer::new(&mut rng, shape, &[], &own);
            writer.is_watched = is_watched;
            let body = writer.whole(&head, length, &kinds);
            write!(out, "{} {{\n{body}}}\n", head.text).expect(FITS);
        }
        if is_watched {
            let (one, other) = (rng.value(), rng.value());
            let when = *rng.pick(&["invariant", "invariant", "final"]);
            writeln!(out, "{when} {{ assert(P0.mark != {one} || P1.mark != {other}); }}")
                .expect(FITS);
        }
    }
    if rng.chance(20) {
        let (cell, value) = (rng.below(3), rng.value());
        writeln!(out, "final {{ assert(x[{cell}] != {value} || y > 1); }}").expect(FITS);
    }
    if rng.chance(8) {
        let (cell, value) = (rng.below(3), rng.value());
        let of = *rng.pick(&["m[0]", "m[1]", "inbox[0]", "bag[1]"]);
        writeln!(out, "invariant {{ assert(x[{cell}] != {value} || len({of}) < 1); }}")
            .expect(FITS);
    }
    if rng.chance(12) {
        out += &actors::actors(&mut rng);
    }
    out
}

const FITS: &str = "a string takes everything";

/// What the bodies of a program share.
#[derive(Clone, Copy)]
struct Shape<'t> {
    themes: &'t [Theme],
    perils: &'t Perils,
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
    /// Does an invariant or `final` read the variable `mark`?
    is_watched: bool,
}

impl<'r> Writer<'r> {
    fn new(rng: &'r mut Rng, shape: Shape<'r>, ints: &[&str], own: &'r str) -> Self {
        let ints = ints.iter().map(|name| (*name).to_owned()).collect();
        let scope = Scope { ints, ..Scope::default() };
        Writer {
            rng,
            shape,
            own,
            scope,
            names: 0,
            out: String::new(),
            depth: 1,
            left: 0,
            times: 1,
            is_process: false,
            is_watched: false,
        }
    }

    /// The body of a process that takes part in these collectives.
    fn whole(&mut self, head: &Head, length: usize, calls: &[usize]) -> String {
        self.is_process = true;
        self.begin(head);
        if self.is_watched {
            self.line("var mark = 0;");
            self.scope.changing.push("mark".to_owned());
        }
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
