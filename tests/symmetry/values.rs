//! Random programs that compute with indices within tuples, lists, sets and maps.

use crate::random_models::rng::Rng;

/// What all of these programs have.
const OBJECTS: &str = "const N = 3;\nshared last: int = -1;\nshared first: int = @;\nshared count: int = 0;\n\
    shared flag: [bool; N] = false;\nshared heard: {int} = {};\nshared pair: (int, bool) = (-1, false);\n\
    shared pairs: {(int, bool)} = {};\nshared table: {int: int} = {};\nshared marks: [bool] = [false, false, false];\n\
    mutex own[N];\n";

/// A program. Most of them treat all indices alike.
pub fn random(rng: &mut Rng) -> String {
    let first = if rng.chance(20) { 1 } else { -1 };
    let mut out = OBJECTS.replace('@', &first.to_string());
    let breaks = if rng.chance(50) { 0 } else { 15 };
    let mut values = Values { rng, breaks, names: vec!["i"], may_choose: true, depth: 0 };
    out += "process W[i in 0..N] {\n    var k = i;\n";
    values.names.push("k");
    for _ in 0..values.rng.range(1, 3) {
        out += &format!("    {}\n", values.statement());
    }
    out += "}\n";
    (values.names, values.may_choose) = (vec!["last", "first"], false);
    if values.rng.chance(50) {
        let place = *values.rng.pick(&["final", "invariant"]);
        out += &format!("{place} {{ assert({}); }}\n", values.truth());
    }
    out
}

struct Values<'r> {
    rng: &'r mut Rng,
    /// How many expressions of a hundred are not the same for all indices.
    breaks: usize,
    /// The numbers in scope.
    names: Vec<&'static str>,
    may_choose: bool,
    depth: u32,
}

impl Values<'_> {
    /// One of these, with its parts; a simple one where expressions are deep.
    fn choice(&mut self, simple: usize, all: usize) -> usize {
        let choice = self.rng.below(if self.depth > 2 { simple } else { all });
        self.depth += 1;
        choice
    }

    fn done(&mut self, text: String) -> String {
        self.depth -= 1;
        text
    }

    fn number(&mut self) -> String {
        if self.rng.chance(self.breaks) {
            let pick = self.rng.below(5);
            return match pick {
                0 => self.rng.below(3).to_string(),
                1 if self.depth < 3 => {
                    self.depth += 1;
                    let text = format!("({} + 1)", self.number());
                    self.done(text)
                }
                2 if self.depth < 3 => {
                    self.depth += 1;
                    let text = format!("len({})", self.set());
                    self.done(text)
                }
                3 if self.may_choose => "choose(0..2)".into(),
                _ => "values({i: 5, k: 6})[0]"
                    .replace("i:", &format!("{}:", self.name()))
                    .replace("k:", "7:"),
            };
        }
        let text = match self.choice(3, 10) {
            0 | 1 => self.name().into(),
            2 => (*self.rng.pick(&["-1", "5", "last", "first"])).into(),
            3 => format!("{}.0", self.pair()),
            4 if self.may_choose => "choose(0..N)".into(),
            5 if self.may_choose => format!("choose({})", self.set()),
            6 => format!("{}[{}]", self.list(), self.name()),
            7 => format!("{}[{}]", self.map(), self.name()),
            8 => {
                format!("if {} {{ {} }} else {{ {} }}", self.truth(), self.number(), self.number())
            }
            9 if self.may_choose => format!("choose(keys({}))", self.map()),
            _ => self.name().into(),
        };
        self.done(text)
    }

    /// Within a loop, where nothing is chosen: there would be too many executions.
    fn repeated(&mut self, part: fn(&mut Self) -> String) -> String {
        let may_choose = std::mem::take(&mut self.may_choose);
        let text = part(self);
        self.may_choose = may_choose;
        text
    }

    fn name(&mut self) -> &'static str {
        self.names[self.rng.below(self.names.len())]
    }

    fn truth(&mut self) -> String {
        if self.rng.chance(self.breaks) {
            let (a, b) = (self.name(), self.name());
            return match self.rng.below(3) {
                0 => format!("{a} < {b}"),
                1 => format!("{a} in 0..2"),
                _ => format!("flag[{}]", self.rng.below(3)),
            };
        }
        let text = match self.choice(2, 9) {
            0 => format!("{} == {}", self.name(), self.number()),
            1 => format!("{} != last", self.name()),
            2 => format!("{} in {}", self.number(), self.set()),
            3 => format!("{} in {}", self.number(), self.map()),
            4 => format!("{} in {}", self.pair(), self.pairs()),
            5 => format!("{} == {}", self.set(), self.set()),
            6 => format!("{} subset {}", self.set(), self.set()),
            7 => self.repeated(|this| {
                format!("exists j in 0..N: j == {} && {}[j]", this.number(), this.truths())
            }),
            _ => format!("exists x in {}: x == {}", self.set(), self.repeated(Self::number)),
        };
        self.done(text)
    }

    fn pair(&mut self) -> String {
        let text = match self.choice(2, 3) {
            0 => "pair".into(),
            1 => format!("({}, {})", self.name(), self.rng.chance(50)),
            _ => format!("({}, {})", self.number(), self.truth()),
        };
        self.done(text)
    }

    fn set(&mut self) -> String {
        let text = match self.choice(2, 9) {
            0 => "heard".into(),
            1 => format!("{{{}}}", self.name()),
            2 => format!("{{{}, {}}}", self.number(), self.number()),
            3 => format!("({} union {})", self.set(), self.set()),
            4 => format!("({} minus {})", self.set(), self.set()),
            5 => format!("({} intersect {})", self.set(), self.set()),
            6 => format!("keys({})", self.map()),
            7 => format!("{{x for x in {} if x != {}}}", self.set(), self.repeated(Self::number)),
            _ => format!("{{x.0 for x in {}}}", self.pairs()),
        };
        self.done(text)
    }

    fn pairs(&mut self) -> String {
        let text = match self.choice(2, 3) {
            0 => "pairs".into(),
            1 => format!("{{({}, true)}}", self.name()),
            _ => format!("({} union {{{}}})", self.pairs(), self.pair()),
        };
        self.done(text)
    }

    fn map(&mut self) -> String {
        let text = match self.choice(2, 5) {
            0 => "table".into(),
            1 => format!("{{{}: {}}}", self.name(), self.name()),
            2 => format!("{{{}: {}, {}: 5}}", self.number(), self.number(), self.name()),
            3 => format!("({} minus {})", self.map(), self.set()),
            _ => format!("{{j: {} for j in 0..N}}", self.repeated(Self::number)),
        };
        self.done(text)
    }

    fn list(&mut self) -> String {
        let text = match self.choice(1, 4) {
            0 => format!("[{}; N]", self.name()),
            1 => format!("[{} for j in 0..N]", self.repeated(Self::number)),
            2 if self.rng.chance(self.breaks) => format!("[{}, {}, 5]", self.name(), self.number()),
            2 => "[j for j in 0..N]".into(),
            _ if self.rng.chance(self.breaks) => format!("values({})", self.map()),
            _ => "[5; 3]".into(),
        };
        self.done(text)
    }

    fn truths(&mut self) -> String {
        let text = match self.choice(2, 4) {
            0 => "marks".into(),
            1 => "[true; N]".into(),
            2 => format!("[{} for j in 0..N]", self.repeated(Self::truth)),
            _ if self.rng.chance(self.breaks) => format!("[true, {}, true]", self.truth()),
            _ => "[j == k for j in 0..N]".replace("k", self.name()),
        };
        self.done(text)
    }

    fn statement(&mut self) -> String {
        match self.rng.below(13) {
            0 => format!("last = {};", self.number()),
            1 => format!("k = {};", self.number()),
            2 => format!("if {} {{ flag[{}] = true; }}", self.truth(), self.name()),
            3 => format!("heard = {};", self.set()),
            4 => format!("pair = {};", self.pair()),
            5 => format!("pairs = {};", self.pairs()),
            6 => format!("table = {};", self.map()),
            7 => format!("marks = {};", self.truths()),
            8 => format!("if {} {{ count = 1; }}", self.truth()),
            9 => format!(
                "if {} {{ k = {}; }} else {{ last = {}; }}",
                self.truth(),
                self.number(),
                self.name()
            ),
            10 => format!("count = {};", self.number()),
            11 => format!(
                "var c = 0; for j in 0..N {{ if {}[j] {{ c += 1; }} }} count = c;",
                self.repeated(Self::truths)
            ),
            _ => format!("lock(own[{}]); unlock(own[i]);", self.name()),
        }
    }
}
