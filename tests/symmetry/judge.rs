//! The orbits of a program by the definition.

use std::collections::HashMap;

use mazurka::lang::Program;
use mazurka::model::{
    Action, Choice, Group, Handled, Locals, Op, Parts, ProcessId, State, Symmetry, System, Value,
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
        if is_carrier(&one, action) || is_probe(locals, &one, action) {
            step_network(locals, (&mut one, action), &mut other, &process)
                .map_err(|why| format!("{path:?}: {why}"))?;
            continue;
        }
        let acting = process(action.process);
        let local = locals.get(one.local(action.process));
        let point = locals.system().foresight().point(local).map_or(0, |point| point.instruction);
        let mut choice = choice(locals, (&one, action), (&other, acting), by);
        if choice != action.choice {
            if !sites.contains(&point) {
                sites.push(point);
            }
            let site = sites.iter().position(|&known| known == point).expect("a site");
            if mask >> site & 1 == 1 {
                choice = action.choice;
            }
        }
        let mut is_enabled = false;
        other.choices(locals, acting, |possible| is_enabled |= possible == choice);
        if !is_enabled {
            return Err(format!("{path:?}: {action:?} renamed is {acting:?} {choice:?}"));
        }
        other.step(locals, Action { process: acting, choice });
        one.step(locals, action);
    }
    let counts = |state: &State| {
        let failed = state.program_processes().filter(|&process| {
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

fn is_carrier(state: &State, action: Action) -> bool {
    !state.program_processes().any(|process| process == action.process)
}

fn is_probe(locals: &Locals<'_, Program>, state: &State, action: Action) -> bool {
    matches!(locals.op(state.local(action.process)), Some(Op::Probe { .. }))
}

/// A step of a carrier or a probe in the execution, and its image: a carrier of the renamed process
/// with the same number, and the message that the renamed sender has sent in its action with the
/// same number.
fn step_network(
    locals: &mut Locals<'_, Program>,
    (one, action): (&mut State, Action),
    other: &mut State,
    process: &impl Fn(ProcessId) -> ProcessId,
) -> Result<(), String> {
    let acting = match is_carrier(one, action) {
        false => process(action.process),
        true => {
            let mut owners = one
                .program_processes()
                .flat_map(|owner| (0..16).map(move |number| (owner, number)));
            let is_it = |&(owner, number): &(ProcessId, u32)| {
                one.carrier_of(owner, number) == Some(action.process)
            };
            let (owner, number) = owners.find(is_it).expect("a carrier is of a process");
            let image = other.carrier_of(process(owner), number);
            image.ok_or_else(|| format!("{action:?} renamed has no carrier"))?
        }
    };
    let choice = match action.choice.handled() {
        Handled::Message(id) => {
            let (sender, place) = locals.posting(id);
            let sender = sender.map(|(sender, number)| (process(sender), number));
            Choice::message(locals.message(sender, place))
        }
        Handled::Internal(_) => action.choice,
    };
    let mut is_enabled = false;
    other.choices(locals, acting, |possible| is_enabled |= possible == choice);
    if !is_enabled {
        return Err(format!("{action:?} renamed is {acting:?} {choice:?}"));
    }
    other.step(locals, Action { process: acting, choice });
    one.step(locals, action);
    Ok(())
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
        // Positions may be indices.
        Some(Value::List(items)) if items.len() as i64 >= by.group.range.end => {
            let mut renamed: Vec<Value> = items.iter().cloned().collect();
            for index in by.group.range.clone() {
                renamed[by.index(index) as usize] = items[index as usize].clone();
            }
            let wanted = Some(Value::List(renamed.into_iter().collect()));
            let image = (0..chosen.len()).find(|&at| element(other.local(acting), at) == wanted);
            image.map_or(action.choice, |at| chosen[at])
        }
        Some(_) => action.choice,
        None if describe.incident(locals.get(local), action.choice).is_some() => action.choice,
        None if (lo..hi) == by.group.range => {
            let image = (by.index(lo + place as i64) - lo) as usize;
            // It is at another operation if an earlier choice was none of an index.
            chosen.get(image).copied().unwrap_or(action.choice)
        }
        None => action.choice,
    }
}
