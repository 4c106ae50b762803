//! What may go wrong in a program, and who may wait for ever.

use std::fmt::Write;

use super::super::Rng;
use super::{FITS, Writer};

/// What the program declares of it.
#[derive(Default)]
pub(super) struct Perils {
    /// Declarations of unreliable mailboxes, `u` and `v`: for each process one of `v`.
    pub(super) objects: String,
    /// The processes may crash, and some are daemons.
    crashes: bool,
    daemons: bool,
    /// Receives may give up, at any time or when nothing else can happen.
    timeouts: Option<&'static str>,
    /// Processes wait in loops.
    loops: bool,
}

impl Perils {
    /// One or two of them, in a program that spawns processes or does not.
    pub(super) fn any(rng: &mut Rng, spawns: bool) -> Perils {
        let mut perils = Perils::default();
        for _ in 0..*rng.pick(&[1, 1, 2]) {
            match rng.below(5) {
                0 => perils.objects = unreliable(rng, spawns),
                1 => perils.crashes = true,
                2 => perils.daemons = true,
                3 => perils.timeouts = Some(*rng.pick(&["", "", " when stuck"])),
                _ => perils.loops = true,
            }
        }
        perils
    }

    /// Are there operations of theirs?
    pub(super) fn has_operations(&self) -> bool {
        !self.objects.is_empty() || self.timeouts.is_some() || self.loops
    }

    /// The words around the name of a process, and what its body begins with.
    pub(super) fn head(&self, rng: &mut Rng, name: &str, is_template: bool) -> Head {
        let daemon = if self.daemons && rng.chance(45) { "daemon " } else { "" };
        let mut head = Head { text: format!("{daemon}process {name}"), ..Head::default() };
        if self.crashes && rng.chance(60) {
            let together = if !is_template && rng.chance(25) { " in all" } else { "" };
            head.text += &format!(" crashes up to 1{together}");
            head.crashes = true;
            if rng.chance(60) {
                head.text += ", restarts";
                head.restarts = true;
            }
        }
        head
    }
}

/// The head of a process.
#[derive(Default)]
pub(super) struct Head {
    pub(super) text: String,
    crashes: bool,
    restarts: bool,
}

/// Only processes that exist from the start share a number of faults.
fn unreliable(rng: &mut Rng, spawns: bool) -> String {
    let limits = [" up to 1", " up to 1", "", " up to 1 in all"];
    let limits = if spawns { &limits[..3] } else { &limits };
    let mut out = String::new();
    for (name, deliveries) in [("u[2]", &["", ""]), ("v[3]", &["p2p ", "bag "])] {
        let delivery = *rng.pick(deliveries);
        let mut faults = Vec::new();
        for fault in ["lossy", "duplicating"] {
            let limit = *rng.pick(limits);
            if rng.chance(40) {
                faults.push(format!("{fault}{limit}"));
            }
        }
        if rng.chance(20) || faults.is_empty() {
            faults.push("partitioned up to 1".to_owned());
            if rng.chance(50) {
                faults.push("heals".to_owned());
            }
        }
        writeln!(out, "{delivery}mailbox {name}: int {};", faults.join(", ")).expect(FITS);
    }
    out
}

impl Writer<'_> {
    /// An operation in which something may go wrong, or that may be repeated for ever.
    pub(super) fn peril(&mut self) {
        let perils = self.shape.perils;
        match self.rng.below(3) {
            0 if perils.loops => self.wait_in_a_loop(),
            1 if perils.timeouts.is_some() && self.is_process => self.timeout(),
            _ if !perils.objects.is_empty() => self.unreliable(),
            _ if perils.loops => self.wait_in_a_loop(),
            _ if self.is_process => self.timeout(),
            _ => self.cell(),
        }
    }

    /// The body begins with what its head makes possible.
    pub(super) fn begin(&mut self, head: &Head) {
        if head.restarts {
            let e = self.rng.below(3);
            self.line(format!("durable var d = {e};"));
            self.scope.changing.push("d".to_owned());
            self.scope.ints.push("d".to_owned());
        }
        if head.crashes {
            self.scope.ints.push("crashes".to_owned());
        }
    }

    /// A message at an unreliable mailbox.
    fn unreliable(&mut self) {
        self.spend(2);
        let (i, e, own) = (self.index(2), self.int(1), self.own.to_owned());
        match self.rng.below(if self.is_process { 9 } else { 3 }) {
            0 | 1 => {
                let envelope = self.envelope(true);
                self.line(format!("send(u[{i}], {e}{envelope});"));
            }
            2 => self.let_int(format!("recv(u[{i}])")),
            3..6 => {
                let envelope = self.envelope(true);
                self.line(format!("send(v[{i}], {e}{envelope});"));
            }
            6 => self.let_int(format!("recv(v[{own}])")),
            7 => {
                let when = self.shape.perils.timeouts.unwrap_or_default();
                self.let_int(format!("recv(v[{own}]) timeout{when} {{ {e} }}"));
            }
            _ => {
                let (c, envelope) = (self.name("c"), self.envelope(false));
                self.line(format!("let {c} = irecv(v[{own}]{envelope});"));
                self.scope.network.push(c);
            }
        }
    }

    /// A receive that may give up.
    fn timeout(&mut self) {
        let (at, own, e) = (*self.rng.pick(&["inbox", "bag"]), self.own.to_owned(), self.int(1));
        let envelope = self.envelope(false);
        let then = match self.rng.below(3) {
            0 => format!("local(\"none\"); {e}"),
            1 => format!("fetch_add(y, 1); {e}"),
            _ => e,
        };
        let when = self.shape.perils.timeouts.unwrap_or_default();
        match self.rng.below(4) {
            0 => {
                let (r, i, n) = (self.name("r"), self.index(3), self.rng.below(3));
                let receive = format!("recv({at}[{own}]) timeout{when} {{ 9 }}");
                self.line(format!(
                    "loop {{ let {r} = {receive}; if {r} != 9 || x[{i}] != {n} {{ break; }} }}"
                ));
                self.spend(2);
            }
            _ => {
                self.let_int(format!("recv({at}[{own}]{envelope}) timeout{when} {{ {then} }}"));
                self.spend(1);
            }
        }
    }

    /// A loop that waits for what another process does.
    fn wait_in_a_loop(&mut self) {
        let (i, n) = (self.index(3), self.rng.below(3));
        let (c, own) = (self.name("c"), self.own.to_owned());
        match self.rng.below(if self.is_process { 12 } else { 5 }) {
            0 => self.line(format!("while x[{i}] == {n} {{}}")),
            1 => self.line(format!("while x[{i}] == {n} && y != {n} {{}}")),
            2 => self.line(format!("while !cas(x[{i}], {n}, 1) {{}}")),
            3 => {
                let k = self.object();
                self.line(format!("while !try_lock(q[{k}]) {{}}"));
                self.cell();
                self.line(format!("unlock(q[{k}]);"));
            }
            4 => {
                self.line(format!("var {c} = 0;"));
                self.line(format!("while x[{i}] == {n} && {c} < 2 {{ {c} += 1; }}"));
            }
            5 => {
                self.line(format!("let {c} = irecv(m[{i} % 2]);"));
                self.line(format!("while !test({c}) {{}}"));
                self.scope.receives.push(c);
            }
            6 => {
                self.line(format!("let {c} = irecv(inbox[{own}]);"));
                self.line(format!("while !test({c}) && x[{i}] != {n} {{}}"));
                self.scope.network.push(c);
            }
            7 => {
                let from =
                    if self.rng.chance(50) { "m[0]".into() } else { format!("inbox[{own}]") };
                self.line(format!("let {c} = irecv({from});"));
                self.line(format!("while test({c}) {{}}"));
            }
            8 => self.line(format!("while !iprobe(inbox[{own}]).0 && !iprobe(bag[{own}]).0 {{}}")),
            9 => self.line(format!("while !iprobe(bag[{own}]).0 && !iprobe(bag[{own}]).0 {{}}")),
            10 => self.line(format!(
                "loop {{ let (f, _, _) = iprobe(inbox[{own}]); if f {{ break; }} }}"
            )),
            _ => {
                self.line(format!("let {c} = irecv(bag[{own}]);"));
                self.line(format!(
                    "loop {{ if test({c}) {{ break; }} if x[{i}] == {n} {{ break; }} }}"
                ));
                self.scope.network.push(c);
            }
        }
        self.spend(2);
    }
}
