//! Operations on objects with computed indices.

use super::{Theme, Writer};

/// The number of kinds of collective calls.
pub(super) const CALLS: usize = 11;

impl Writer<'_> {
    /// Something that acts, perhaps inside a branch or a loop.
    pub(super) fn act(&mut self) {
        let is_wide = self.left > self.times && self.depth < 3;
        match self.rng.below(if is_wide { 12 } else { 7 }) {
            0..7 => self.gesture(),
            7 | 8 => self.branch(),
            9 => self.match_on_something(),
            10 => {
                let (k, list) = (self.name("k"), self.some(|scope| &scope.lists));
                let head = match list {
                    Some(list) if self.rng.chance(40) => format!("for {k} in {list}"),
                    _ => format!("for {k} in 0..2"),
                };
                self.repeat(head, 2, |w| {
                    w.scope.ints.push(k);
                    w.compute();
                    w.gesture();
                });
            }
            _ => self.while_loop(),
        }
    }

    fn branch(&mut self) {
        let condition = self.condition();
        self.block(format!("if {condition}"), "", |w| {
            w.compute();
            w.gesture();
        });
        if self.rng.chance(50) {
            // It is another side of the same `if`.
            self.out.pop();
            self.out.push_str(" else {\n");
            let outer = self.scope.clone();
            self.depth += 1;
            self.gesture();
            self.depth -= 1;
            self.scope = outer;
            self.line("}");
        }
    }

    fn match_on_something(&mut self) {
        let (a, b) = (self.int(1), self.int(1));
        let head = format!("match ({a} % 2, {b})");
        self.block(head, "", |w| {
            for pattern in ["(0, 0)", "(1, n) if n < 2", "_"] {
                w.block(format!("{pattern} =>"), "", |w| {
                    w.compute();
                    w.gesture();
                });
            }
        });
    }

    fn while_loop(&mut self) {
        let k = self.name("k");
        self.line(format!("var {k} = 0;"));
        self.repeat(format!("while {k} < 2"), 2, |w| {
            w.line(format!("{k} += 1;"));
            if w.rng.chance(30) {
                let condition = w.condition();
                w.line(format!("if {condition} {{ continue; }}"));
            }
            w.scope.ints.push(k);
            w.gesture();
        });
    }

    fn gesture(&mut self) {
        if self.shape.has_procedure && self.rng.chance(15) {
            let (n, by, v) = (self.int(1), self.int(1), self.name("v"));
            self.line(format!("let {v} = act({n}, {by});"));
            self.scope.ints.push(v);
            return self.spend(1);
        }
        match *self.rng.pick(self.shape.themes) {
            _ if self.rng.chance(10) => self.of_process(),
            _ if self.is_process && self.rng.chance(3) => {
                let condition = self.condition();
                self.line(format!("if {condition} {{ return; }}"));
            }
            _ if self.rng.chance(5) => self.act_on_what_was_read(),
            Theme::Cell => self.cell(),
            Theme::Mailbox => self.mailbox(),
            Theme::Mutex => self.mutex(),
            Theme::Try => self.try_lock(),
            Theme::ReadWrite => self.read_write(),
            Theme::Condition => self.condition_variable(),
            Theme::Semaphore => self.semaphore(),
            Theme::Barrier => self.barrier(),
            Theme::Network if self.is_process => self.network(),
            Theme::Process => self.of_process(),
            Theme::Peril => self.peril(),
            Theme::Network => self.cell(),
        }
    }

    /// Declares an integer that is the result of an operation.
    pub(super) fn let_int(&mut self, e: String) {
        let v = self.name("v");
        self.line(format!("let {v} = {e};"));
        if self.rng.chance(25) {
            let n = self.rng.below(3);
            self.line(format!("assert({v} != {n});"));
        }
        self.scope.ints.push(v);
    }

    fn let_bool(&mut self, e: String) {
        let b = self.name("b");
        self.line(format!("let {b} = {e};"));
        self.scope.bools.push(b);
    }

    /// The number of an object that several operations use.
    pub(super) fn object(&mut self) -> String {
        let (k, i) = (self.name("k"), self.index(2));
        self.line(format!("let {k} = {i};"));
        k
    }

    pub(super) fn cell(&mut self) {
        let (i, e) = (self.index(3), self.int(1));
        let place = if self.rng.chance(15) { "y".to_owned() } else { format!("x[{i}]") };
        match self.rng.below(12) {
            10 => self.line(format!("past = push(past, {e});")),
            11 if self.rng.chance(50) => self.let_int("len(past)".to_owned()),
            11 => {
                self.line(format!("if {e} not in seen {{ seen = seen union {{{e}}}; }}"));
                self.spend(1);
            }
            0..2 => self.line(format!("{place} = {e};")),
            2 => self.line(format!("{place} += {e};")),
            3..6 => self.let_int(place.to_string()),
            6 => self.let_bool(format!("cas({place}, {}, {e})", self.names % 2)),
            7 => self.let_int(format!("fetch_add({place}, {e})")),
            8 => self.let_int(format!("swap({place}, {e})")),
            _ => self.let_int(place),
        }
        self.spend(1);
    }

    /// An operation on an object that depends on what was read: the analysis must treat it as
    /// unknown.
    fn act_on_what_was_read(&mut self) {
        let (u, t) = (self.name("v"), self.name("t"));
        self.line(format!("let {u} = y;"));
        match self.rng.below(3) {
            0 => {
                self.line(format!("var {t} = [0, 1];"));
                self.line(format!("{t}[0] = {u};"));
                self.line(format!("x[{t}[0] % 3] = {u};"));
            }
            1 => {
                self.line(format!("var {t} = [0, 1];"));
                self.line(format!("{t}[{u} % 2] = 0;"));
                self.line(format!("x[{t}[1]] = {u};"));
            }
            // There are more paths through this than the analysis distinguishes.
            _ => self.repeat(format!("for {t} in 0..2"), 2, |w| {
                let (k, n) = (w.name("k"), w.name("k"));
                w.line(format!("var {k} = 0;"));
                w.line(format!("for {n} in 0..40 {{ if {u} == {n} {{ {k} = {n} % 2; }} }}"));
                w.line(format!("x[2 * {t}] = {k};"));
            }),
        }
        self.spend(3);
    }

    pub(super) fn envelope(&mut self, is_send: bool) -> String {
        let mut parts = String::new();
        if self.rng.chance(25) {
            let src = if is_send { self.own.to_owned() } else { self.index(2) };
            parts += &format!(", src: {src}");
        }
        if self.rng.chance(30) {
            parts += &format!(", tag: {}", self.index(2));
        }
        parts
    }

    /// Receives several messages, in the order in which they come.
    fn receive_all(&mut self, at: [String; 2]) {
        let (list, k, v) = (self.name("c"), self.name("k"), self.name("v"));
        let [one, other] = at;
        self.line(format!("var {list}: [comm] = [irecv({one}), irecv({other})];"));
        self.line(format!("var {v} = 0;"));
        // A test is about mailboxes with the same delivery.
        let is_alike = one.split('[').next() == other.split('[').next();
        let how = if is_alike && self.rng.chance(20) { "testany" } else { "waitany" };
        self.block(format!("while len({list}) > 0"), "", |w| {
            w.line(format!("let {k} = {how}({list});"));
            w.line(format!("if {k} < 0 {{ break; }}"));
            w.line(format!("{v} = 2 * {v} + value({list}[{k}]);"));
            w.line(format!("{list} = remove({list}, {k});"));
        });
        self.scope.ints.push(v);
        self.spend(2);
    }

    fn mailbox(&mut self) {
        self.spend(1);
        if self.rng.chance(5) {
            let at = [self.index(2), self.index(2)].map(|i| format!("m[{i}]"));
            return self.receive_all(at);
        }
        let open = self.scope.receives.len() + self.scope.sends.len();
        if open > 0 && self.rng.chance(55) {
            return self.complete();
        }
        let (i, e) = (self.index(2), self.int(1));
        match self.rng.below(8) {
            0..3 => {
                let (c, envelope) = (self.name("c"), self.envelope(true));
                self.line(format!("let {c} = isend(m[{i}], {e}{envelope});"));
                self.scope.sends.push(c);
            }
            3 => self.line(format!("send(m[{i}], {e});")),
            4 => self.let_int(format!("recv(m[{i}])")),
            _ => {
                let (c, envelope) = (self.name("c"), self.envelope(false));
                self.line(format!("let {c} = irecv(m[{i}]{envelope});"));
                self.scope.receives.push(c);
            }
        }
    }

    /// Waits for what was posted, or tests whether it is complete.
    fn complete(&mut self) {
        let receive = self.some(|scope| &scope.receives);
        let all = [self.scope.receives.clone(), self.scope.sends.clone()].concat();
        let one = self.rng.pick(&all).clone();
        match (self.rng.below(8), receive) {
            (0..2, Some(c)) => self.let_int(format!("wait({c})")),
            (2, Some(c)) => {
                let v = self.name("v");
                self.line(format!("var {v} = 0;"));
                self.line(format!("if test({c}) {{ {v} = value({c}); }}"));
                self.scope.ints.push(v);
            }
            (3, _) => self.let_bool(format!("test({one})")),
            (4, _) => {
                let g = self.name("v");
                self.line(format!("let {g} = testany([{}]);", all.join(", ")));
                self.line(format!("if {g} == 0 {{ local(\"the first\"); }}"));
                self.line(format!("if {g} > 9 {{ }}"));
            }
            (5, _) => self.let_int(format!("waitany([{}])", all.join(", "))),
            (6, _) => self.line(format!("waitall([{}]);", all.join(", "))),
            _ => self.line(format!("wait({one});")),
        }
    }

    fn mutex(&mut self) {
        let k = self.object();
        match self.rng.below(8) {
            0..3 => {
                self.line(format!("lock(l[{k}]);"));
                if self.rng.chance(40) {
                    self.cell();
                }
            }
            3 => {
                self.line(format!("async_lock(l[{k}]);"));
                self.let_bool(format!("mutex_test(l[{k}])"));
            }
            4 => {
                self.line(format!("async_lock(l[{k}]);"));
                self.line(format!("mutex_wait(l[{k}]);"));
            }
            5 => self.line(format!("async_lock(l[{k}]);")),
            form => {
                self.line(format!("async_lock(l[{k}]);"));
                self.line(format!("async_lock(l[1 - {k}]);"));
                let how = if form == 6 { "mutex_waitany" } else { "mutex_testany" };
                let g = self.name("v");
                self.line(format!("let {g} = {how}([l[{k}], l[1 - {k}]]);"));
                self.line(format!("if {g} == 0 {{ x[{k}] = 1; }}"));
                self.line(format!("unlock(l[1 - {k}]);"));
                self.spend(3);
            }
        }
        if self.rng.chance(90) {
            self.line(format!("unlock(l[{k}]);"));
        }
        self.spend(3);
    }

    fn try_lock(&mut self) {
        let k = self.object();
        if self.rng.chance(30) {
            self.line(format!("lock(q[{k}]);"));
            self.line(format!("unlock(q[{k}]);"));
        } else {
            self.block(format!("if try_lock(q[{k}])"), "", |w| {
                if w.rng.chance(50) {
                    w.cell();
                }
                if w.rng.chance(80) {
                    w.line(format!("unlock(q[{k}]);"));
                }
            });
        }
        self.spend(2);
    }

    fn read_write(&mut self) {
        let (k, how) = (self.object(), *self.rng.pick(&["read", "write"]));
        self.line(format!("{how}_lock(r[{k}]);"));
        if self.rng.chance(40) {
            self.cell();
        }
        self.line(format!("unlock(r[{k}]);"));
        self.spend(2);
    }

    fn condition_variable(&mut self) {
        let k = self.object();
        match self.rng.below(6) {
            0..2 => {
                let j = self.object();
                self.line(format!("lock(l[{j}]);"));
                self.line(format!("cond_wait(w[{k}], l[{j}]);"));
                self.line(format!("unlock(l[{j}]);"));
                self.spend(3);
            }
            2..5 => self.line(format!("notify_one(w[{k}]);")),
            _ => self.line(format!("notify_all(w[{k}]);")),
        }
        self.spend(2);
    }

    fn semaphore(&mut self) {
        let k = self.object();
        match self.rng.below(5) {
            0 | 1 => self.line(format!("acquire(s[{k}]);")),
            2 => {
                self.line(format!("async_acquire(s[{k}]);"));
                self.compute();
                if self.rng.chance(80) {
                    self.line(format!("acquire_wait(s[{k}]);"));
                }
            }
            _ => self.line(format!("release(s[{k}]);")),
        }
        self.spend(2);
    }

    fn barrier(&mut self) {
        let k = self.object();
        if self.rng.chance(30) {
            let word = if self.rng.chance(65) { "count_down" } else { "wait" };
            self.line(format!("{word}(z[{k}]);"));
        } else if self.rng.chance(50) {
            self.line(format!("barrier(a[{k}]);"));
        } else {
            self.line(format!("async_barrier(a[{k}]);"));
            self.compute();
            self.line(format!("barrier_wait(a[{k}]);"));
        }
        self.spend(2);
    }

    fn of_process(&mut self) {
        let (e, h) = (self.int(1), self.name("h"));
        match (self.rng.below(6), self.some(|scope| &scope.children)) {
            (0, _) => self.let_int("choose(0..2)".to_owned()),
            (1, _) => self.line("local(\"here\");"),
            (2..4, Some(child)) => self.line(format!("join({child});")),
            _ if self.shape.has_template && self.is_process && self.scope.children.len() < 2 => {
                self.line(format!("let {h} = spawn T({e});"));
                self.scope.children.push(h);
                self.spend(2);
            }
            _ => self.let_int("choose(0..2)".to_owned()),
        }
        self.spend(1);
    }

    /// Operations at p2p and bag mailboxes: a process receives only at its own.
    fn network(&mut self) {
        self.spend(1);
        let at = *self.rng.pick(&["inbox", "inbox", "bag"]);
        let own = format!("{at}[{}]", self.own);
        if self.rng.chance(5) {
            let other = format!("m[{}]", self.index(2));
            let second = if self.rng.chance(70) { own.clone() } else { other };
            return self.receive_all([own, second]);
        }
        let (i, e) = (self.index(2), self.int(1));
        match (self.rng.below(14), self.some(|scope| &scope.network)) {
            (0..2, Some(c)) => self.let_int(format!("wait({c})")),
            (2, Some(c)) => self.let_bool(format!("test({c})")),
            (3, Some(c)) => {
                self.let_bool(format!("cancel({c})"));
                self.scope.network.retain(|open| *open != c);
                self.spend(2);
            }
            (4..6, _) => {
                let (src, tag, envelope) = (self.name("v"), self.name("v"), self.envelope(false));
                self.line(format!("let ({src}, {tag}) = probe({own}{envelope});"));
                self.scope.ints.extend([src, tag]);
            }
            (6..8, _) => {
                let (b, c, v) = (self.name("b"), self.name("c"), self.name("v"));
                match self.rng.chance(50) {
                    true => self.line(format!("let ({b}, _, _) = iprobe({own});")),
                    false => {
                        self.line(format!("let ({c}, _, _) = mprobe({own});"));
                        self.line(format!("let {v} = mrecv({c});"));
                        self.line(format!("let {b} = {v} > 0;"));
                    }
                }
                self.scope.bools.push(b);
            }
            (8..11, _) => {
                let (c, envelope) = (self.name("c"), self.envelope(false));
                self.line(format!("let {c} = irecv({own}{envelope});"));
                match self.rng.chance(25) {
                    true => self.let_bool(format!("cancel({c})")),
                    false => self.scope.network.push(c),
                }
            }
            (11, Some(_)) => {
                let all = [self.scope.network.clone(), self.scope.synchronous.clone()].concat();
                let how = self.rng.pick(&["waitany", "testany"]);
                self.let_int(format!("{how}([{}])", all.join(", ")));
            }
            _ => {
                let how = *self.rng.pick(&["isend", "issend", "ibsend"]);
                let (c, envelope) = (self.name("c"), self.envelope(true));
                self.line(format!("let {c} = {how}({at}[{i}], {e}{envelope});"));
                match how {
                    "issend" if self.rng.chance(50) => self.let_bool(format!("test({c})")),
                    "issend" => self.scope.synchronous.push(c),
                    _ => {}
                }
            }
        }
    }

    /// What all ranks do together in one round.
    pub(super) fn collective(&mut self, kind: usize) {
        let (own, e) = (self.own.to_owned(), self.int(1));
        let call = match kind {
            0 => format!("barrier(g, as: {own});"),
            1 => format!("bcast(g, 0, {e}, as: {own});"),
            2 => format!("scatter(g, 1, [{e}, {e}], as: {own});"),
            3 => format!("gather(g, 0, {e}, as: {own});"),
            4 => format!("reduce(g, 1, sum, {e}, as: {own});"),
            5 => format!("allreduce(g, max, {e}, as: {own});"),
            6 => format!("allgather(g, {e}, as: {own});"),
            7 => format!("alltoall(g, [{e}, {e}], as: {own});"),
            8 => format!("scan(g, sum, {e}, as: {own});"),
            9 => format!("exscan(g, min, {e}, as: {own});"),
            _ => format!("reduce_scatter(g, sum, [{e}, {e}], as: {own});"),
        };
        match self.rng.chance(30) {
            // Nobody asks for its result.
            true if self.rng.chance(30) => self.line(format!("i{call}")),
            true => {
                let c = self.name("c");
                self.line(format!("let {c} = i{call}"));
                if self.rng.chance(50) {
                    self.let_bool(format!("test({c})"));
                }
                self.line(format!("wait({c});"));
            }
            false => self.line(call),
        }
    }
}
