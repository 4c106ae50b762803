//! The computations between operations.

use super::Writer;

/// The depth from which on values are composed.
const DEEP: usize = 2;

impl Writer<'_> {
    /// A few statements that only compute.
    pub(super) fn compute(&mut self) {
        for _ in 0..*self.rng.pick(&[0, 1, 1, 2, 3]) {
            self.computation();
        }
    }

    fn computation(&mut self) {
        match self.rng.below(14) {
            0 => self.declare(),
            1..5 => self.declare_large(),
            5 => self.destructure(),
            6..11 => self.assign(),
            11 => {
                let (condition, e) = (self.condition(), self.int(1));
                let name = self.name("v");
                self.line(format!("var {name} = {e};"));
                self.scope.changing.push(name.clone());
                self.scope.ints.push(name.clone());
                self.block(format!("if {condition}"), "", |w| {
                    let e = w.int(1);
                    w.line(format!("{name} += {e};"));
                    w.assign();
                });
            }
            12 => self.loop_that_computes(),
            _ => {
                let (of, name) = (self.int(1), self.name("v"));
                let (a, b) = (self.int(1), self.int(1));
                self.line(format!("let {name} = match {of} % 3 {{ 0 => {a}, 1 => 2, _ => {b} }};"));
                self.scope.ints.push(name);
            }
        }
    }

    fn declare(&mut self) {
        match self.rng.below(4) {
            0 => {
                let (condition, name) = (self.condition(), self.name("b"));
                self.line(format!("let {name} = {condition};"));
                self.scope.bools.push(name);
            }
            1 => {
                let (color, name) = (self.color(), self.name("c"));
                self.line(format!("let {name} = {color};"));
                self.scope.colors.push(name);
            }
            _ => {
                let (e, name) = (self.int(DEEP), self.name("v"));
                self.line(format!("var {name} = {e};"));
                self.scope.changing.push(name.clone());
                self.scope.ints.push(name);
            }
        }
    }

    fn declare_large(&mut self) {
        let e: Vec<String> = (0..4).map(|_| self.int(1)).collect();
        let name = self.name("t");
        match self.rng.below(9) {
            0..3 => {
                self.line(format!("var {name} = [{}, {}];", e[0], e[1]));
                self.scope.lists.push(name);
            }
            3 => {
                self.line(format!("var {name} = [[{}, {}], [{}, {}]];", e[0], e[1], e[2], e[3]));
                self.scope.tables.push(name);
            }
            4 => {
                self.line(format!("var {name} = ({}, [{}, {}]);", e[0], e[1], e[2]));
                self.scope.pairs.push(name);
            }
            5 => {
                self.line(format!("var {name} = turned(({}, [{}, {}]));", e[0], e[1], e[2]));
                self.scope.pairs.push(name);
            }
            6 => {
                self.line(format!("var {name} = {{{}, {}, {}}};", e[0], e[1], e[2]));
                self.scope.sets.push(name);
            }
            7 => {
                let set = self.set();
                self.line(format!("var {name} = {set};"));
                self.scope.sets.push(name);
            }
            _ => {
                self.line(format!("var {name} = {{1: {}, 0: {}}};", e[0], e[1]));
                self.scope.maps.push(name);
            }
        }
    }

    /// A set made of another one, if there is one.
    fn set(&mut self) -> String {
        let (a, b) = (self.int(1), self.int(1));
        let Some(set) = self.some(|scope| &scope.sets) else {
            return format!("{{x % 3 for x in {a}..{a} + {b} if x != {b}}}");
        };
        match self.rng.below(6) {
            0 => format!("{set} union {{{a}}}"),
            1 => format!("{set} minus {{{a}, {b}}}"),
            2 => format!("{set} intersect {{{a}, {b}}}"),
            3 => format!("{{x * {a} for x in {set} if x <= {b}}}"),
            4 => match self.some(|scope| &scope.maps) {
                Some(map) => format!("{set} union keys({map} minus {{{a}}})"),
                None => format!("{{y for x in {set} for y in [x, {a}]}}"),
            },
            _ => format!("(if {a} in {set} {{ {set} }} else {{ ({{{b}}}) }})"),
        }
    }

    fn destructure(&mut self) {
        let (a, b, c) = (self.int(1), self.int(1), self.int(1));
        let (first, second) = (self.name("v"), self.name("v"));
        self.line(format!("let ({first}, (_, {second})) = ({a}, ({b}, {c}));"));
        self.scope.ints.extend([first, second]);
    }

    /// Changes some variable, or a part of it.
    fn assign(&mut self) {
        let (of, e) = (self.rng.below(11), self.int(1));
        if of > 8
            && let Some(name) = self.some(|scope| &scope.sets)
        {
            let set = self.set();
            return self.line(format!("{name} = {set};"));
        }
        let op = *self.rng.pick(&["=", "=", "+=", "+=", "+=", "+=", "+=", "-="]);
        let (i, j) = (self.index(2), self.index(2));
        let changed = match of {
            0 | 1 => self.some(|scope| &scope.changing),
            2..5 => self.some(|scope| &scope.lists).map(|t| format!("{t}[{i}]")),
            5 => self.some(|scope| &scope.tables).map(|t| format!("{t}[{i}][{j}]")),
            6 => self.some(|scope| &scope.pairs).map(|t| format!("{t}.0")),
            7 => self.some(|scope| &scope.maps).map(|t| format!("{t}[{i}]")),
            _ => self.some(|scope| &scope.pairs).map(|t| format!("{t}.1[{i}]")),
        };
        match changed {
            Some(place) => self.line(format!("{place} {op} {e};")),
            None => self.declare_large(),
        }
    }

    fn loop_that_computes(&mut self) {
        let all = self.name("v");
        self.line(format!("var {all} = 0;"));
        let of = if self.rng.chance(60) { self.some(|scope| &scope.lists) } else { None };
        let of = of.or_else(|| self.some(|scope| &scope.sets));
        match (self.rng.below(3), of) {
            (0, Some(list)) => {
                let each = self.name("e");
                self.line(format!(
                    "for {each} in {list} {{ if {each} == 2 {{ continue; }} {all} += {each}; }}"
                ));
            }
            (1, Some(list)) if self.scope.lists.contains(&list) => {
                let at = self.name("k");
                self.block(format!("for {at} in 0..2"), "", |w| {
                    w.line(format!(
                        "for inner in 0..{at} + 1 {{ {list}[inner] += 1; {all} += inner; }}"
                    ));
                });
            }
            _ => self.line(format!("loop {{ {all} += 1; if {all} > 1 {{ break; }} }}")),
        }
        self.scope.changing.push(all.clone());
        self.scope.ints.push(all);
    }

    pub(super) fn some(&mut self, of: impl Fn(&super::Scope) -> &Vec<String>) -> Option<String> {
        let names = of(&self.scope);
        (!names.is_empty()).then(|| self.rng.pick(names).clone())
    }

    fn color(&mut self) -> String {
        let known = self.some(|scope| &scope.colors).filter(|_| self.rng.chance(40));
        known.unwrap_or_else(|| (*self.rng.pick(&["Red", "Green", "Color::Blue"])).to_owned())
    }

    /// A truth value.
    pub(super) fn condition(&mut self) -> String {
        let (a, b) = (self.int(1), self.rng.below(3));
        if self.rng.chance(25)
            && let Some(set) = self.some(|scope| &scope.sets)
        {
            return match self.rng.below(5) {
                0 => format!("{a} in {set}"),
                1 => format!("{a} not in {set} && {} in 0..{b}", self.int(1)),
                2 => format!("(exists x in {set}: x == {a}) && {a} < 2"),
                3 => format!("forall x in {set}, y in [{a}]: x != y"),
                _ => format!("{set} subset {}", self.set()),
            };
        }
        match self.rng.below(6) {
            0 => self.some(|scope| &scope.bools).unwrap_or_else(|| format!("{a} == {b}")),
            1 => format!("{a} == {b} && {} < 2", self.int(1)),
            2 => format!("{} == {}", self.color(), self.color()),
            3 => format!("!({a} > {b})"),
            4 => format!("{a} != {b} || {} == 0", self.int(1)),
            _ => format!("{a} == {b}"),
        }
    }

    /// A number below `bound`, if all inputs are non-negative.
    pub(super) fn index(&mut self, bound: usize) -> String {
        match self.rng.below(8) {
            0 | 1 => self.rng.below(bound).to_string(),
            2 => format!("{} % {bound}", self.int(DEEP)),
            _ => {
                let e = self.int(1);
                match e.parse::<usize>() {
                    Ok(n) if n < bound => e,
                    _ => format!("{e} % {bound}"),
                }
            }
        }
    }

    /// An integer, not negative.
    pub(super) fn int(&mut self, depth: usize) -> String {
        let known = self.some(|scope| &scope.ints);
        let number = self.rng.below(3).to_string();
        if depth == 0 || self.rng.chance(25) {
            return known.filter(|_| self.rng.chance(70)).unwrap_or(number);
        }
        let depth = depth - 1;
        let found = match self.rng.below(17) {
            0 | 1 => known,
            2..4 => self.some(|scope| &scope.lists).map(|t| format!("{t}[{}]", self.index(2))),
            4 => self
                .some(|scope| &scope.tables)
                .map(|t| format!("{t}[{}][{}]", self.index(2), self.index(2))),
            5 => self.some(|scope| &scope.pairs).map(|t| format!("{t}.0")),
            6 => self.some(|scope| &scope.pairs).map(|t| format!("{t}.1[{}]", self.index(2))),
            7 => self.some(|scope| &scope.lists).map(|t| format!("total({t})")),
            8 => self.some(|scope| &scope.lists).map(|t| {
                let e = self.int(depth);
                format!("push({t}, {e})[2]")
            }),
            9 => Some(format!("weight({}, {})", self.color(), self.int(depth))),
            10 => Some(format!("power({} % 3)", self.int(depth))),
            13 => self.some(|scope| &scope.maps).map(|t| format!("{t}[{}]", self.index(2))),
            14 => self.some(|scope| &scope.sets).map(|t| format!("len({t})")),
            15 => self.some(|scope| &scope.sets).map(|t| {
                let e = self.int(depth);
                format!("total([x % 3 for x in {t} if x > {e}])")
            }),
            16 => self.some(|scope| &scope.maps).map(|t| format!("total(values({t}))")),
            11 => Some(format!(
                "(if {} == 0 {{ {} }} else {{ {} }})",
                self.int(depth),
                self.int(depth),
                self.int(depth)
            )),
            _ => Some(format!("({} + {})", self.int(depth), self.int(depth))),
        };
        found.unwrap_or(number)
    }
}
