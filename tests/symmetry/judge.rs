//! The orbits of a program by the definition.

use std::collections::HashMap;

use mazurka::lang::Program;
use mazurka::model::{
    Action, Choice, Group, Locals, Op, Parts, ProcessId, State, Symmetry, System, Value,
};

/// What the judge has counted: the states, and the orbits of each symmetry of the program.
pub struct Orbits {
    pub states: u64,
    pub orbits: Vec<u64>,
}

/// A permutation of the indices of one group.
struct Permutation<'g> {
    number: u32,
    group: &'g Group,
    images: Vec<i64>,
}

impl Permutation<'_> {
    fn index(&self, index: i64) -> i64 {
        self.group.place(index).map_or(index, |place| self.images[place as usize])
    }
}

/// The permutations that generate all of a group.
fn generators(groups: &[Group]) -> Vec<Permutation<'_>> {
    let mut all = Vec::new();
    for (number, group) in (0..).zip(groups) {
        let range = group.range.clone();
        let same: Vec<i64> = range.clone().collect();
        if group.is_ring {
            let mut images = same.clone();
            images.rotate_left(1);
            all.push(Permutation { number, group, images });
            continue;
        }
        for place in 1..same.len() {
            let mut images = same.clone();
            images.swap(place - 1, place);
            all.push(Permutation { number, group, images });
        }
    }
    all
}

/// The members of sets of the union-find.
struct Union(Vec<usize>);

impl Union {
    fn root(&mut self, of: usize) -> usize {
        match self.0[of] {
            up if up == of => of,
            up => {
                let root = self.root(up);
                self.0[of] = root;
                root
            }
        }
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one] = other;
    }
}

/// Visits all states, and puts those together that permuted executions lead to. Which choices from
/// a range are choices of an index, the judge does not know. So it tries all combinations: if with
/// one of them each execution has its image, then the program is symmetric in this way. There may be
/// several such ways: to rename a choice whose value nobody compares with an index makes no
/// difference, or a symmetry more.
pub fn orbits(program: &Program, text: &str) -> Orbits {
    let (mut sites, mut wrong) = (Vec::new(), String::new());
    let mut all = Orbits { states: 0, orbits: Vec::new() };
    for mask in 0_u32.. {
        match with_choices(program, mask, &mut sites) {
            Ok((states, orbits)) => {
                all.states = states;
                all.orbits.push(orbits);
            }
            Err(why) => wrong = why,
        }
        if mask + 1 >= 1 << sites.len() {
            break;
        }
    }
    assert!(!all.orbits.is_empty(), "{wrong}\n{text}");
    all
}

/// The same; a choice from a range at site number n stays as it is if bit n of `mask` is set. Adds
/// new sites.
fn with_choices(program: &Program, mask: u32, sites: &mut Vec<u32>) -> Result<(u64, u64), String> {
    let symmetry = program.foresight().symmetry().expect("a symmetric program");
    let mut locals = Locals::new(program);
    let (mut parts, mut portrait) = (Parts::default(), Vec::new());
    let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut paths: Vec<Vec<Action>> = vec![Vec::new()];
    State::initial(&mut locals).portrait(&mut locals, &mut parts, &mut portrait);
    known.insert(portrait.clone(), 0);
    let mut at = 0;
    while at < paths.len() {
        let mut state = State::initial(&mut locals);
        paths[at].iter().for_each(|&action| state.step(&mut locals, action));
        let mut enabled = Vec::new();
        if !state.is_crowded() {
            state.enabled(&locals, &mut enabled);
        }
        for action in enabled {
            state.step(&mut locals, action);
            state.portrait(&mut locals, &mut parts, &mut portrait);
            let next = known.len();
            if *known.entry(portrait.clone()).or_insert(next) == next {
                let path = paths[at].iter().copied().chain([action]).collect();
                paths.push(path);
            }
            state.undo(&locals);
        }
        at += 1;
    }
    let mut union = Union((0..paths.len()).collect());
    for permutation in generators(symmetry.groups()) {
        for (number, path) in paths.iter().enumerate() {
            let renamed = renamed(&mut locals, symmetry, path, &permutation, (mask, sites))?;
            renamed.portrait(&mut locals, &mut parts, &mut portrait);
            let other = known.get(&portrait);
            let other = other.ok_or_else(|| format!("{path:?} renamed is new"))?;
            union.join(number, *other);
        }
    }
    let roots = (0..paths.len()).filter(|&number| union.root(number) == number).count();
    Ok((paths.len() as u64, roots as u64))
}

/// The state to which the renamed execution leads.
fn renamed(
    locals: &mut Locals<'_, Program>,
    symmetry: &dyn Symmetry<<Program as System>::Local>,
    path: &[Action],
    by: &Permutation<'_>,
    (mask, sites): (u32, &mut Vec<u32>),
) -> Result<State, String> {
    let mut one = State::initial(locals);
    let mut other = State::initial(locals);
    let process = |process: ProcessId| match symmetry.process(process) {
        Some(member) if member.group == by.number => {
            let index = by.group.range.start + i64::from(member.place);
            let image = by.index(index) - by.group.range.start;
            ProcessId((i64::from(process.0) + image - i64::from(member.place)) as u32)
        }
        _ => process,
    };
    for &action in path {
        let acting = process(action.process);
        let local = locals.get(one.local(action.process));
        let point = locals.system().foresight().point(local).map_or(0, |point| point.instruction);
        let is_range = matches!(locals.op(one.local(action.process)), Some(Op::Choose { .. }));
        if is_range && !sites.contains(&point) {
            sites.push(point);
        }
        let site = sites.iter().position(|&known| known == point).filter(|_| is_range);
        let stays = site.is_some_and(|site| mask >> site & 1 == 1);
        let choice = match stays {
            true => action.choice,
            false => choice(locals, (&one, action), (&other, acting), by),
        };
        let mut is_enabled = false;
        other.choices(locals, acting, |possible| is_enabled |= possible == choice);
        if !is_enabled {
            return Err(format!("{path:?}: {action:?} renamed is {acting:?} {choice:?}"));
        }
        other.step(locals, Action { process: acting, choice });
        one.step(locals, action);
    }
    let counts = |state: &State| {
        let failed = state.processes().filter(|&process| {
            locals.op(state.local(process)).is_none()
                && format!("{:?}", locals.status(state.local(process))).starts_with("Failed")
        });
        (failed.count(), state.is_terminal(locals), state.stuck(locals).count())
    };
    match (counts(&one), counts(&other)) {
        (one, other) if one != other => Err(format!("{path:?}: {one:?} renamed is {other:?}")),
        _ => Ok(other),
    }
}

/// The renamed choice: another number of a range of indices, or the place of the renamed element.
fn choice(
    locals: &Locals<'_, Program>,
    (one, action): (&State, Action),
    (other, acting): (&State, ProcessId),
    by: &Permutation<'_>,
) -> Choice {
    let local = one.local(action.process);
    let Some(&Op::Choose { lo, hi }) = locals.op(local) else { return action.choice };
    let describe = locals.system().describe();
    let mut chosen = Vec::new();
    other.choices(locals, acting, |choice| chosen.push(choice));
    let mut own = Vec::new();
    one.choices(locals, action.process, |choice| own.push(choice));
    let place = own.iter().position(|&choice| choice == action.choice).expect("a choice");
    let element = |local, place: usize| describe.chosen(locals.get(local), place as i64);
    match element(local, place) {
        Some(Value::Int(index)) => {
            let wanted = Some(Value::Int(by.index(index)));
            let image = (0..chosen.len()).find(|&at| element(other.local(acting), at) == wanted);
            image.map_or(action.choice, |at| chosen[at])
        }
        Some(_) => action.choice,
        None if (lo..hi) == by.group.range => chosen[(by.index(lo + place as i64) - lo) as usize],
        None => action.choice,
    }
}
