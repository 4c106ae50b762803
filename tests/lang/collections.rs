//! Sets and maps, compared with those of the standard library, and with sets of bits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};

use mazurka::explore::{Budget, NoObserver, explore};
use mazurka::model::{Map, Set, Value};

use super::{fails, holds, program};
use crate::judge::{LONG, METHODS, STATEFUL, is_refused, storing};
use crate::random_models::{Rng, asked};

/// The lengths are on both sides of the one from which on lists are trees.
#[test]
fn sets_and_maps_are_those_of_the_standard_library() {
    let mut rng = Rng::new(6);
    let hasher = RandomState::new();
    for round in 0..300 {
        let (most, length) = ([5, 40, 400][round % 3], [4, 30, 200][round / 100]);
        let mut draw = |length| Vec::from_iter((0..length).map(|_| rng.below(most) as i64));
        let (one, other) = (draw(length), draw(length / (1 + round % 7)));
        let set = |of: &[i64]| Set::from_iter(of.iter().map(|&n| Value::Int(n)));
        let tree = |of: &[i64]| BTreeSet::from_iter(of.iter().copied());
        let (a, b, x, y) = (set(&one), set(&other), tree(&one), tree(&other));
        let same = |set: &Set, tree: BTreeSet<i64>| {
            assert!(set.items().iter().map(Value::int).eq(tree.iter().copied()));
            let again = Set::from_iter(tree.into_iter().rev().map(Value::Int));
            assert_eq!(hasher.hash_one(set), hasher.hash_one(&again));
            assert_eq!(*set, again);
        };
        same(&a, x.clone());
        same(&a.union(&b), &x | &y);
        same(&a.intersection(&b), &x & &y);
        same(&a.difference(&b), &x - &y);
        assert_eq!(a.is_subset(&b), x.is_subset(&y));
        assert!(a.intersection(&b).is_subset(&b) && a.is_subset(&a.union(&b)));
        assert!((0..most as i64).all(|n| a.contains(&Value::Int(n)) == x.contains(&n)));

        let entries = |of: &[i64]| Vec::from_iter(of.iter().copied().zip(0..));
        let entry = |(key, value)| (Value::Int(key), Value::Int(value));
        let map = |of: &[i64]| Map::from_iter(entries(of).into_iter().map(entry));
        let (mut m, n) = (map(&one), map(&other));
        let mut p = BTreeMap::<i64, i64>::from_iter(entries(&one));
        let q = BTreeMap::<i64, i64>::from_iter(entries(&other));
        let same = |map: &Map, tree: &BTreeMap<i64, i64>| {
            let found = map.iter().map(|(key, value)| (key.int(), value.int()));
            assert!(found.eq(tree.iter().map(|(&key, &value)| (key, value))));
            let again = Map::from_iter(tree.iter().map(|(&key, &value)| entry((key, value))));
            assert_eq!(hasher.hash_one(map), hasher.hash_one(&again));
            assert_eq!((map, map.len()), (&again, tree.len()));
        };
        same(&m, &p);
        let mut both = p.clone();
        both.extend(q.clone());
        same(&m.union(&n), &both);
        let mut rest = p.clone();
        rest.retain(|key, _| !y.contains(key));
        same(&m.without(&b), &rest);
        for (&key, &value) in &q {
            assert_eq!(m.get(&Value::Int(key)).map(Value::int), p.get(&key).copied());
            m.insert(Value::Int(key), Value::Int(value));
            p.insert(key, value);
            same(&m, &p);
        }
    }
}

/// A value, computed without the language.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    Int(i64),
    Bool(bool),
    List(Vec<Known>),
    Set(BTreeSet<Known>),
    Map(BTreeMap<Known, Known>),
    Tuple(Vec<Known>),
}

use Known::{Bool, Int};

impl Known {
    /// As it is written in the language.
    fn text(&self) -> String {
        let all = |items: &mut dyn Iterator<Item = &Known>| {
            items.map(Known::text).collect::<Vec<_>>().join(", ")
        };
        match self {
            Int(n) => n.to_string(),
            Bool(b) => b.to_string(),
            Known::List(items) => format!("[{}]", all(&mut items.iter())),
            Known::Set(items) => format!("({{{}}})", all(&mut items.iter())),
            Known::Map(map) => {
                let entry =
                    |(key, value): (&Known, &Known)| format!("{}: {}", key.text(), value.text());
                format!("({{{}}})", map.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
            Known::Tuple(parts) => format!("({})", all(&mut parts.iter())),
        }
    }

    fn set(&self) -> &BTreeSet<Known> {
        let Known::Set(items) = self else { panic!("{self:?}") };
        items
    }

    fn map(&self) -> &BTreeMap<Known, Known> {
        let Known::Map(map) = self else { panic!("{self:?}") };
        map
    }

    fn int(&self) -> i64 {
        let Int(n) = self else { panic!("{self:?}") };
        *n
    }
}

/// The elements of the sets of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Pair,
    /// Sets of integers.
    Set,
    /// Lists of integers.
    List,
}

const KINDS: [Kind; 4] = [Kind::Int, Kind::Pair, Kind::Set, Kind::List];

const FITS: &str = "a string takes everything";

type Found = (String, Known);

/// Random expressions with their values.
struct Expressions<'r> {
    rng: &'r mut Rng,
    /// Declarations of the variables so far.
    variables: String,
    names: usize,
    /// May the expressions use variables? Otherwise they are constant.
    is_open: bool,
}

impl Expressions<'_> {
    /// Perhaps in a variable.
    fn named(&mut self, (text, value): Found) -> Found {
        if !self.is_open || self.rng.chance(70) {
            return (text, value);
        }
        self.names += 1;
        writeln!(self.variables, "    let v{} = {text};", self.names).expect(FITS);
        (format!("v{}", self.names), value)
    }

    fn int(&mut self) -> Found {
        let n = self.rng.below(5) as i64;
        self.named((n.to_string(), Int(n)))
    }

    fn element(&mut self, kind: Kind) -> Found {
        let (a, b) = (self.int(), self.int());
        let found = match kind {
            Kind::Int => a,
            Kind::Pair => (format!("({}, {})", a.0, b.0), Known::Tuple(vec![a.1, b.1])),
            Kind::Set => (format!("{{{}, {}}}", a.0, b.0), Known::Set([a.1, b.1].into())),
            Kind::List if self.rng.chance(50) => (format!("[{}]", a.0), Known::List(vec![a.1])),
            Kind::List => (format!("[{}, {}]", a.0, b.0), Known::List(vec![a.1, b.1])),
        };
        self.named(found)
    }

    fn set(&mut self, kind: Kind, depth: usize) -> Found {
        if depth == 0 {
            let count = self.rng.range(1, 4);
            let items: Vec<Found> = (0..count).map(|_| self.element(kind)).collect();
            let texts: Vec<&str> = items.iter().map(|(text, _)| text.as_str()).collect();
            let text = format!("({{{}}})", texts.join(", "));
            let value = items.iter().map(|(_, value)| value.clone()).collect();
            return self.named((text, Known::Set(value)));
        }
        let (s, t) = (self.set(kind, depth - 1), self.set(kind, depth - 1));
        let (x, y) = (s.1.set().clone(), t.1.set().clone());
        let (text, value) = match self.rng.below(6) {
            0 => (format!("({} union {})", s.0, t.0), &x | &y),
            1 => (format!("({} minus {})", s.0, t.0), &x - &y),
            2 => (format!("({} intersect {})", s.0, t.0), &x & &y),
            3 => {
                let text = format!("({{x for x in {} if x not in {}}})", s.0, t.0);
                (text, x.into_iter().filter(|x| !y.contains(x)).collect())
            }
            4 => {
                let (m, known) = self.map(kind, depth - 1);
                let text = format!("(keys({m}) union {})", s.0);
                (text, &BTreeSet::from_iter(known.map().keys().cloned()) | &x)
            }
            _ => {
                let text = format!("({{y for x in {} for y in {} if x != y}})", s.0, t.0);
                (text, y.into_iter().filter(|y| x.iter().any(|x| x != y)).collect())
            }
        };
        self.named((text, Known::Set(value)))
    }

    fn map(&mut self, kind: Kind, depth: usize) -> Found {
        let (text, value) = match self.rng.below(4) {
            _ if depth == 0 => {
                let count = self.rng.range(1, 4);
                let keys: BTreeMap<Known, String> = (0..count)
                    .map(|_| self.element(kind))
                    .map(|(key, value)| (value, key))
                    .collect();
                let (mut texts, mut map) = (Vec::new(), BTreeMap::new());
                for (key, text) in keys.into_iter().rev() {
                    let (of, value) = self.int();
                    texts.push(format!("{text}: {of}"));
                    map.insert(key, value);
                }
                (format!("({{{}}})", texts.join(", ")), map)
            }
            0 => {
                let (s, known) = self.set(kind, depth - 1);
                let map = known.set().iter().map(|x| (x.clone(), Int(7))).collect();
                (format!("({{x: 7 for x in {s}}})"), map)
            }
            1 => {
                let ((m, known), (s, keys)) =
                    (self.map(kind, depth - 1), self.set(kind, depth - 1));
                let mut map = known.map().clone();
                map.retain(|key, _| !keys.set().contains(key));
                (format!("({m} minus {s})"), map)
            }
            2 => {
                let (m, known) = self.map(kind, depth - 1);
                let more = known.map().iter();
                let more = more.map(|(key, value)| (key.clone(), Int(value.int() + 1))).collect();
                (format!("({{k: {m}[k] + 1 for k in {m}}})"), more)
            }
            _ => {
                let (m, n) = (self.map(kind, depth - 1), self.map(kind, depth - 1));
                let mut map = m.1.map().clone();
                map.extend(n.1.map().clone());
                (format!("({} union {})", m.0, n.0), map)
            }
        };
        self.named((text, Known::Map(value)))
    }

    /// What is computed of sets and maps.
    fn answer(&mut self) -> Found {
        let kind = *self.rng.pick(&KINDS);
        let (one, other) = (self.rng.below(3), self.rng.below(3));
        let ((s, x), (t, y)) = (self.set(kind, one), self.set(kind, other));
        let (x, y) = (x.set().clone(), y.set().clone());
        let (m, known) = self.map(kind, other);
        let map = known.map();
        let (e, element) = self.element(kind);
        match self.rng.below(12) {
            0 => (format!("{e} in {s}"), Bool(x.contains(&element))),
            1 => (format!("{s} subset {t}"), Bool(x.is_subset(&y))),
            2 => (format!("{s} == {t}"), Bool(x == y)),
            3 => (format!("len({s})"), Int(x.len() as i64)),
            4 => (format!("[x for x in {s}]"), Known::List(x.into_iter().collect())),
            5 => (format!("exists x in {s}: x == {e}"), Bool(x.contains(&element))),
            6 => (
                format!("forall x in {s}, y in {t}: x != y || x == {e}"),
                Bool(x.intersection(&y).all(|x| *x == element)),
            ),
            7 => {
                let found = map.get(&element).cloned().unwrap_or(Int(-1));
                (format!("if {e} in {m} {{ {m}[{e}] }} else {{ -1 }}"), found)
            }
            8 => (format!("values({m})"), Known::List(map.values().cloned().collect())),
            9 => {
                let holds = map.iter().all(|(key, value)| x.contains(key) || value.int() > 2);
                (format!("forall k in {m}: k in {s} || {m}[k] > 2"), Bool(holds))
            }
            10 if kind == Kind::Int => {
                let last = x.iter().map(|x| (Int(x.int() % 2), x.clone())).collect();
                (format!("{{x % 2: x for x in {s}}}"), Known::Map(last))
            }
            11 if kind == Kind::Int => {
                let (lo, hi) = (self.int(), self.int());
                let range = lo.1.int()..hi.1.int();
                let holds = x.iter().any(|x| range.contains(&x.int()));
                (format!("exists x in {s}: x in {}..{}", lo.0, hi.0), Bool(holds))
            }
            10 => (m, known),
            _ => (s, Known::Set(x)),
        }
    }
}

/// The same expressions are computed as constants, in a process and in `final`.
#[test]
fn expressions_have_the_values_of_the_standard_library() {
    for seed in 0..asked(60) as u64 {
        let rng = &mut Rng::new(0x5e75 ^ seed);
        for is_open in [false, true] {
            let mut of =
                Expressions { rng: &mut *rng, variables: String::new(), names: 0, is_open };
            let (mut constants, mut asserts) = (String::new(), String::new());
            for at in 0..12 {
                let (text, value) = of.answer();
                let (text, value) = match value {
                    // An empty collection does not say of what it is.
                    Known::Set(set) if set.is_empty() => (format!("len({text})"), "0".into()),
                    Known::Map(map) if map.is_empty() => (format!("len({text})"), "0".into()),
                    Known::List(list) if list.is_empty() => (format!("len({text})"), "0".into()),
                    value => (text, value.text()),
                };
                if !is_open {
                    writeln!(constants, "const C{at} = {text};\nconst D{at} = {value};")
                        .expect(FITS);
                    writeln!(asserts, "    assert(C{at} == D{at});").expect(FITS);
                }
                writeln!(asserts, "    assert(({text}) == {value});").expect(FITS);
            }
            let body = format!("{}{asserts}", of.variables);
            let source = format!("{constants}process P {{\n{body}}}\nfinal {{\n{body}}}\n");
            let found = super::violations(&source);
            assert!(found.is_empty(), "seed {seed}: {found:?}\n{source}");
        }
    }
}

/// Functions of sets of numbers below 4.
const SETS: &str = "\
const NONE: {int} = {};
fn one(x: int) -> {int} { ({x}) }
fn add(s: {int}, x: int) -> {int} { s union {x} }
fn drop(s: {int}, x: int) -> {int} { s minus {x} }
fn all(s: {int}, t: {int}) -> {int} { s union t }
fn both(s: {int}, t: {int}) -> {int} { s intersect t }
fn rest(s: {int}, t: {int}) -> {int} { s minus t }
fn has(s: {int}, x: int) -> bool { x in s }
fn within(s: {int}, t: {int}) -> bool { s subset t }
fn size(s: {int}) -> int { len(s) }
fn sum(s: {int}) -> int { var n = 0; for x in s { n += x; } n }
fn above(s: {int}, n: int) -> {int} { {x for x in s if x > n} }
fn moved(s: {int}) -> {int} { {(x + 1) % 4 for x in s} }
fn some(s: {int}, n: int) -> bool { exists x in s: x > n }
fn none(s: {int}, n: int) -> bool { forall x in s: x <= n }
";

/// The same, of sums of powers of 2.
const BITS: &str = "\
const NONE = 0;
fn power(x: int) -> int { if x == 0 { 1 } else { 2 * power(x - 1) } }
fn has(s: int, x: int) -> bool { s / power(x) % 2 == 1 }
fn one(x: int) -> int { power(x) }
fn add(s: int, x: int) -> int { if has(s, x) { s } else { s + power(x) } }
fn drop(s: int, x: int) -> int { if has(s, x) { s - power(x) } else { s } }
fn all(s: int, t: int) -> int { var r = s; for x in 0..4 { if has(t, x) { r = add(r, x); } } r }
fn rest(s: int, t: int) -> int { var r = s; for x in 0..4 { if has(t, x) { r = drop(r, x); } } r }
fn both(s: int, t: int) -> int { rest(s, rest(s, t)) }
fn within(s: int, t: int) -> bool { rest(s, t) == 0 }
fn size(s: int) -> int { var n = 0; for x in 0..4 { if has(s, x) { n += 1; } } n }
fn sum(s: int) -> int { var n = 0; for x in 0..4 { if has(s, x) { n += x; } } n }
fn above(s: int, n: int) -> int {
    var r = 0;
    for x in n + 1..4 { if has(s, x) { r = add(r, x); } }
    r
}
fn moved(s: int) -> int {
    var r = 0;
    for x in 0..4 { if has(s, x) { r = add(r, (x + 1) % 4); } }
    r
}
fn some(s: int, n: int) -> bool { above(s, n) != 0 }
fn none(s: int, n: int) -> bool { above(s, n) == 0 }
fn place(s: int, k: int) -> int {
    var left = k;
    for x in 0..4 { if has(s, x) { if left == 0 { return x; } left -= 1; } }
    -1
}
";

/// The body of a process that computes with sets in local variables, cells and messages.
fn body(rng: &mut Rng, as_bits: bool) -> String {
    let mut body = String::from("    var s = NONE; var n = 0;\n");
    for _ in 0..rng.range(2, 5) {
        let x = *rng.pick(&["i", "n", "0", "2", "3"]);
        let cell = *rng.pick(&["a", "b[i]", "b[n % 2]"]);
        let (set, least) = (*rng.pick(&["s", "all(s, one(1))", "moved(s)"]), rng.below(3));
        let line = match rng.below(12) {
            0 => format!("s = {cell};"),
            1 => format!("{cell} = {set};"),
            2 => format!("{cell} = add({cell}, {x});"),
            3 => format!("s = both({cell}, add({set}, {x}));"),
            4 => "isend(m, s);".to_owned(),
            5 => "if i == 0 { s = recv(m); }".to_owned(),
            6 => format!("s = rest({set}, {cell}); n = size(s) % 4;"),
            7 => format!("if has({cell}, {x}) {{ {cell} = drop(s, {x}); }}"),
            8 => format!("if some({cell}, {least}) {{ s = above({set}, {least}); }}"),
            9 => format!("if within({cell}, s) || none(s, {least}) {{ n = sum({set}) % 4; }}"),
            10 if as_bits => "if s != NONE { n = place(s, choose(0..size(s))); }".to_owned(),
            10 => "if s != NONE { n = choose(s); }".to_owned(),
            _ => format!("s = moved(add(s, {x}));"),
        };
        writeln!(body, "    {line}").expect(FITS);
    }
    body
}

/// The program of a seed, with sets or with bits.
fn twin(seed: u64, as_bits: bool) -> String {
    let rng = &mut Rng::new(seed ^ 0x7717);
    let (prelude, ty) = if as_bits { (BITS, "int") } else { (SETS, "{int}") };
    let objects =
        format!("shared a: {ty} = NONE;\nshared b: [{ty}; 2] = NONE;\nmailbox m: {ty};\n");
    let (first, second) = (body(rng, as_bits), body(rng, as_bits));
    let processes =
        format!("process P[i in 0..2] {{\n{first}}}\nprocess Q {{\n    let i = 1;\n{second}}}\n");
    let (x, n) = (rng.below(4), rng.below(5));
    let end = format!("final {{ assert(!has(a, {x}) || size(b[1]) != {n}); }}\n");
    format!("{prelude}{objects}{processes}{end}")
}

#[test]
fn sets_are_sets_of_bits_to_every_explorer() {
    let (mut compared, mut violating) = (0, 0);
    for seed in 0..asked(30) as u64 {
        let [sets, bits] = [false, true].map(|as_bits| twin(seed, as_bits));
        let [one, other] = [&sets, &bits].map(|source| program(source));
        let methods = METHODS.iter().map(|&(_, method, _)| method).chain(storing(STATEFUL));
        for method in methods {
            if is_refused(&one, method) {
                assert!(is_refused(&other, method), "{method:?} for seed {seed}");
                continue;
            }
            let [found, expected] = [&one, &other].map(|program| {
                let budget = Budget {
                    all: true,
                    endless: Some(LONG),
                    max_traces: Some(1_000),
                    ..Budget::default()
                };
                let outcome = explore(program, method, budget, &mut NoObserver);
                let stats = &outcome.stats;
                let figures = [stats.traces, stats.deadlocked_traces, stats.transitions];
                (figures, stats.states, stats.events, outcome.verdict(), outcome.violations.len())
            });
            assert_eq!(found, expected, "{method:?} for seed {seed}:\n{sets}\n{bits}");
            compared += 1;
            violating += u32::from(found.4 > 0);
        }
    }
    assert!(compared > 300 && violating > 30, "{violating} of {compared} are violating");
}

#[test]
fn the_order_of_elements_is_that_of_their_kinds() {
    holds(
        "enum Color { Red, Green, Blue }
        process P {
            assert([x for x in {3, -1, 0}] == [-1, 0, 3]);
            assert([x for x in {true, false}] == [false, true]);
            assert([x for x in {Blue, Red, Green}] == [Red, Green, Blue]);
            assert([x for x in {(2, 1), (1, 5), (1, 2)}] == [(1, 2), (1, 5), (2, 1)]);
            assert([x for x in {[2], [1, 9], [1], []}] == [[], [1], [1, 9], [2]]);
            assert([x for x in {{2}, {1, 9}, {1}, {9, 2}}] == [{1}, {1, 9}, {2}, {2, 9}]);
            assert([m for m in {{1: 5}, {1: 4, 2: 0}, {1: 4}}] == [{1: 4}, {1: 5}, {1: 4, 2: 0}]);
            let units = {(), ()};
            assert(len(units) == 1);
        }",
    );
}

#[test]
fn what_cannot_be_computed_fails_where_it_is() {
    for (body, message) in [
        ("let m = {1: 2}; let x = m[3];", "the map does not have the key 3: its keys are 1"),
        ("var m: {int: int} = {}; m[1] += 1;", "the map does not have the key 1: it is empty"),
        ("var m = {1: [2]}; m[2][0] = 1;", "the map does not have the key 2: its keys are 1"),
        ("var m = {1: [2]}; m[1][1] = 1;", "index 1 is out of range: the list has 1 element"),
        ("var m = {Red: 1}; m[Blue] += 1;", "the map does not have this key"),
        ("let s: {int} = {}; let x = choose(s);", "chooses from an empty collection"),
        ("let x = choose([x for x in 0..10001]);", "chooses from 10001 elements"),
        ("let s = {1 / x for x in {1, 0}};", "division by zero"),
        ("var s = {0}; loop { s = s union {len(s)}; }", "too much local computation"),
        ("var m = {0: 0}; loop { m[len(m)] = 0; }", "too much local computation"),
        ("let s = {x for x in 0..2000000};", "endless local computation"),
        ("assert(forall x in {1, 2}: x > 1);", "assertion failed"),
    ] {
        fails(&format!("enum Color {{ Red, Blue }} process P {{ {body} }}"), message);
    }
}

/// Each condition is evaluated only as far as it is needed, and only for elements that come first.
#[test]
fn quantifiers_stop_at_the_first_that_decides() {
    holds(
        "process P {
            assert(exists x in [1, 0]: 1 / x == 1);
            assert(!(forall x in {0, 1}: x != 0 && 1 / x == 1));
            assert(exists x in 0..10000000000: x == 3);
            assert(!(exists x in {1, 2}, y in {x}: x != y));
            assert(forall x in [0; 1], y in 0..x: false);
            assert(!(exists x in {y for y in {1} if y > 1}: true));
        }",
    );
}

/// What acts may stand within a comprehension or a quantifier, too.
#[test]
fn operations_in_comprehensions_are_in_order() {
    holds(
        "mailbox m[2]: int;
        shared x: int = 1;
        process P {
            let all = {i: irecv(m[i]) for i in 0..2};
            let k = waitany(values(all));
            assert(value(all[k]) == [1, 2][k]);
            assert({wait(all[i]) for i in all} == {1, 2});
            let doubled = [{ let before = x; x = 2 * before; before } for _ in 0..3];
            assert(doubled == [1, 2, 4]);
            assert(exists i in 0..9: fetch_add(x, 1) == 9 && i == 1);
            assert(x == 10);
        }
        process Q[i in 0..2] { isend(m[i], {0: 1, 1: 2}[i]); }",
    );
}

/// Searches that store states give requests new numbers, also those in maps, and forget the values
/// of others.
#[test]
fn requests_in_maps_are_known_to_every_explorer() {
    let program = program(
        "mailbox m[2]: int;
        process P {
            for round in 0..2 {
                let open = {i: irecv(m[i]) for i in 0..2};
                let k = waitany(values(open));
                let first = value(open[k]);
                local(\"between\");
                assert(value(open[k]) == first && first == 10 * round + k);
                for i in open { let got = wait(open[i]); assert(got == 10 * round + i); }
            }
        }
        process Q[i in 0..2] { for round in 0..2 { isend(m[i], 10 * round + i); } }",
    );
    let methods = METHODS.iter().map(|&(_, method, _)| method).chain(storing(STATEFUL));
    for method in methods.filter(|method| !is_refused(&program, *method)) {
        let budget = Budget { all: true, endless: Some(LONG), ..Budget::default() };
        let outcome = explore(&program, method, budget, &mut NoObserver);
        assert!(outcome.violations.is_empty() && outcome.is_complete(), "{method:?}: {outcome:?}");
    }
}

/// Requests in a map are renumbered like those in a list, so that rounds come back to one state.
#[test]
fn requests_in_maps_come_back_to_the_same_states() {
    let states = |open: &str, all: &str| {
        let program = program(&format!(
            "mailbox m[2]: int;
            process P {{
                var open = {open};
                loop {{ let k = waitany({all}); open[k] = irecv(m[k]); }}
            }}
            process Q[i in 0..2] {{ loop {{ send(m[i], i); }} }}"
        ));
        let budget = Budget { all: true, depth: Some(60), ..Budget::default() };
        let [full, ..] = storing(STATEFUL);
        let outcome = explore(&program, full, budget, &mut NoObserver);
        (outcome.stats.states.expect("it stores states"), outcome.is_complete())
    };
    let (listed, is_all) = states("[irecv(m[i]) for i in 0..2]", "open");
    assert_eq!(states("{i: irecv(m[i]) for i in 0..2}", "values(open)"), (listed, is_all));
    assert!(is_all && listed > 20, "{listed}, complete: {is_all}");
}

/// Words of collections are names elsewhere, and braces are blocks where they were.
#[test]
fn nothing_is_taken_away_from_other_programs() {
    holds(
        "fn keys(union: int) -> int { union }
        fn exists(subset: int) -> bool { subset == 1 }
        proc values() { }
        enum E { A, B }
        process P {
            let minus = 3; let not = true; let forall = 2; var intersect = 1;
            intersect = minus - forall;
            assert(not && exists(intersect) && keys(minus) == 3);
            values();
            { let x = 1; assert(x == 1); }
            { if not { local(\"a\"); } for x in 0..1 { local(\"b\"); } }
            let block = { let y = minus; y * y };
            let by_match = match A { A => { 1 } B => { local(\"c\"); 2 } };
            match B { A => {} B => { } }
            if block == 9 { { local(\"d\") } }
            let set = match A { A => {1, 2}, B => ({1}) };
            assert(by_match == 1 && set == {1, 2} minus {3});
        }",
    );
}
