//! Liveness by definition: all fair sets of states, one by one.
//!
//! An infinite execution of a finite graph visits some states infinitely often. That set is
//! strongly connected, and if any fair execution has this set, one that takes all steps within it
//! is fair. So a demand is violated if and only if some set of states is strongly connected, fair,
//! reached in the way that the demand says, and has no state where the goal holds. All subsets of
//! the states are tried.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use mazurka::lang::Program;
use mazurka::model::{
    Access, Action, CellId, Handled, LocalId, Locals, Op, Parts, Schedule, State, Value,
};
use mazurka::property::Position;

use super::programs::{Proposition, Random, Read, Wanted, Word};

/// An action that is strongly fair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strong {
    Process(u32),
    Cell(u32, u32),
    Mutex(u32),
    /// The match of a message of this sender.
    Match(u32),
}

#[derive(Clone, Debug)]
pub struct Step {
    pub process: u32,
    pub to: usize,
    pub strong: Vec<Strong>,
}

/// The whole graph of states.
pub struct Oracle<'p> {
    random: &'p Random,
    pub locals: Locals<'p, Program>,
    parts: Parts,
    known: HashMap<Vec<u32>, usize>,
    pub steps: Vec<Vec<Step>>,
    /// For each state whether each comparison target holds: the cells and variables.
    values: Vec<(Vec<i64>, Vec<i64>)>,
    most: usize,
}

impl<'p> Oracle<'p> {
    /// The graph, unless it has more states than `most`.
    pub fn new(program: &'p Program, random: &'p Random, most: usize) -> Option<Self> {
        let mut locals = Locals::new(program);
        let mut state = State::initial(&mut locals);
        let mut oracle = Oracle {
            random,
            locals,
            parts: Parts::default(),
            known: HashMap::new(),
            steps: Vec::new(),
            values: Vec::new(),
            most,
        };
        oracle.visit(&mut state).map(|_| oracle)
    }

    fn portrait(&mut self, state: &State) -> Vec<u32> {
        let mut portrait = Vec::new();
        state.portrait(&mut self.locals, &mut self.parts, &mut portrait);
        portrait
    }

    /// The number of a state.
    pub fn number(&mut self, state: &State) -> usize {
        // On other ways to equal states, carriers may have other names: then it is new.
        self.most = usize::MAX;
        self.visit(&mut state.clone()).expect("there is no limit")
    }

    fn visit(&mut self, state: &mut State) -> Option<usize> {
        let portrait = self.portrait(state);
        if let Some(&known) = self.known.get(&portrait) {
            return Some(known);
        }
        let number = self.steps.len();
        if number == self.most {
            return None;
        }
        self.known.insert(portrait, number);
        self.steps.push(Vec::new());
        let at = Position::new(&self.locals, state);
        let number_of = |value: Value| match value {
            Value::Int(n) => n,
            other => panic!("{other:?} where only numbers are"),
        };
        let cells = (0..2).map(|cell| number_of(at.cell(CellId(cell)))).collect();
        let variables = at.processes().map(|process| {
            let known = at.variables(process);
            known.iter().rev().find(|(name, _)| name == "v").map_or(-1, |v| v.1.parse().unwrap())
        });
        self.values.push((cells, variables.collect()));
        let mut enabled = Vec::new();
        state.enabled(&self.locals, &mut enabled);
        for action in enabled {
            let strong = self.strong(state, action);
            state.step(&mut self.locals, action);
            let to = self.visit(state);
            state.undo(&self.locals);
            self.steps[number].push(Step { process: action.process.0, to: to?, strong });
        }
        Some(number)
    }

    /// The strongly fair actions that this step is, by its operation.
    fn strong(&self, state: &State, action: Action) -> Vec<Strong> {
        let (locals, process) = (&self.locals, action.process);
        let mut all = Vec::new();
        if self.random.is_unfair {
            return all;
        }
        let local = state.local(process);
        if local == LocalId::CARRIER {
            let Handled::Message(message) = action.choice.handled() else { return all };
            let sent = state.network().sends().iter().find(|sent| sent.id == message);
            let sender = sent.expect("a message that was sent").process.0;
            all.extend(self.random.is_mailbox_strong.then_some(Strong::Match(sender)));
            return all;
        }
        if self.random.processes[process.index()] == Word::Strong {
            all.push(Strong::Process(process.0));
        }
        match locals.op(local).expect("a process that can move") {
            Op::Access(cell, access) if self.random.strong_cells[cell.index()] => {
                let content = Position::new(locals, state).cell(*cell);
                let changes = match *access {
                    Access::Write(_) => true,
                    Access::CompareAndSwap { old, .. } => *locals.values.get(old) == content,
                    Access::Swap(new) => *locals.values.get(new) != content,
                    _ => false,
                };
                all.extend(changes.then_some(Strong::Cell(process.0, cell.0)));
            }
            Op::AsyncLock(_) | Op::Unlock(_) if self.random.is_mutex_strong => {
                all.push(Strong::Mutex(process.0));
            }
            Op::TryLock(mutex) if self.random.is_mutex_strong => {
                let is_free = state.mutex(*mutex).owner().is_none();
                all.extend(is_free.then_some(Strong::Mutex(process.0)));
            }
            _ => {}
        }
        all
    }

    fn word(&self, process: u32) -> Word {
        self.random.processes.get(process as usize).copied().unwrap_or(Word::Nothing)
    }

    /// Is a fair execution obliged to let this process move, if it always can?
    fn is_fair_to(&self, process: u32) -> bool {
        !self.random.is_unfair && self.word(process) != Word::Unfair
    }

    pub fn holds(&self, proposition: &Proposition, state: usize) -> bool {
        let (cells, variables) = &self.values[state];
        proposition.0.iter().all(|(read, number)| match read {
            Read::Cell(cell) => cells[*cell as usize] == *number,
            Read::Variable(process) => variables[*process] == *number,
        })
    }

    /// May an execution that visits these states again and again, and takes these steps, be fair?
    /// `steps` are empty if it stays in one state.
    pub fn is_fair(&self, states: &[usize], steps: &[&Step]) -> bool {
        let enabled = |state: usize| -> BTreeSet<u32> {
            self.steps[state].iter().map(|step| step.process).collect()
        };
        let mut always = enabled(states[0]);
        for &state in states {
            let here = enabled(state);
            always.retain(|process| here.contains(process));
        }
        let moves = |process: u32| steps.iter().any(|step| step.process == process);
        let is_weak = always.iter().all(|&process| match steps.is_empty() {
            true => self.word(process) == Word::Unfair,
            false => moves(process) || !self.is_fair_to(process),
        });
        let possible = states.iter().flat_map(|&state| &self.steps[state]);
        let taken = |strong: &Strong| steps.iter().any(|step| step.strong.contains(strong));
        is_weak && possible.flat_map(|step| &step.strong).all(taken)
    }

    /// All sets of states that a fair execution may visit for ever.
    pub fn fair_sets(&self) -> Vec<Vec<usize>> {
        let count = self.steps.len();
        let (mut after, mut before) = (vec![0_u32; count], vec![0_u32; count]);
        for (from, steps) in self.steps.iter().enumerate() {
            for step in steps {
                after[from] |= 1 << step.to;
                before[step.to] |= 1 << from;
            }
        }
        let reach = |edges: &[u32], set: u32| {
            let mut reached = set & set.wrapping_neg();
            loop {
                let next = (0..count).filter(|&state| reached >> state & 1 == 1);
                let next = next.fold(reached, |all, state| all | edges[state] & set);
                if next == reached {
                    return reached;
                }
                reached = next;
            }
        };
        let mut found = Vec::new();
        for set in 1_u32..1 << count {
            if reach(&after, set) != set || reach(&before, set) != set {
                continue;
            }
            let states: Vec<_> = (0..count).filter(|&state| set >> state & 1 == 1).collect();
            let steps = states.iter().flat_map(|&state| &self.steps[state]);
            let steps: Vec<_> = steps.filter(|step| set >> step.to & 1 == 1).collect();
            let stays = states.len() == 1 && self.is_fair(&states, &[]);
            if stays || !steps.is_empty() && self.is_fair(&states, &steps) {
                found.push(states);
            }
        }
        found
    }

    /// Is the demand violated?
    pub fn is_violated(&self, wanted: &Wanted, fair_sets: &[Vec<usize>]) -> bool {
        let stems = self.stems(wanted);
        let goal = wanted.goal();
        let violates = |set: &&Vec<usize>| {
            set.iter().all(|&state| !self.holds(goal, state) && stems[state].is_some())
        };
        fair_sets.iter().any(|set| violates(&set))
    }

    /// For each state the length of the shortest way to it after which the goal is still to come.
    pub fn stems(&self, wanted: &Wanted) -> Vec<Option<usize>> {
        let count = self.steps.len();
        let from_start = self.distances(&[(0, 0)], |_| true);
        let is_open = |state: usize| !self.holds(wanted.goal(), state);
        let sources: Vec<(usize, usize)> = (0..count)
            .filter(|&state| match wanted {
                Wanted::Eventually(_) => state == 0,
                Wanted::AlwaysEventually(_) => true,
                Wanted::LeadsTo(trigger, _) => self.holds(trigger, state),
            })
            .filter(|&state| is_open(state))
            .map(|state| (state, from_start[state].expect("a state that is reached")))
            .collect();
        self.distances(&sources, is_open)
    }

    /// The lengths of shortest ways through states where `is_open`, from these states with these
    /// lengths.
    fn distances(
        &self,
        sources: &[(usize, usize)],
        is_open: impl Fn(usize) -> bool,
    ) -> Vec<Option<usize>> {
        let mut lengths: Vec<Option<usize>> = vec![None; self.steps.len()];
        for &(state, length) in sources {
            lengths[state] = Some(length);
        }
        loop {
            let before = lengths.clone();
            for (state, steps) in self.steps.iter().enumerate() {
                let Some(length) = lengths[state] else { continue };
                for step in steps.iter().filter(|step| is_open(step.to)) {
                    if lengths[step.to].is_none_or(|known| known > length + 1) {
                        lengths[step.to] = Some(length + 1);
                    }
                }
            }
            if before == lengths {
                return lengths;
            }
        }
    }

    /// Is the schedule a fair lasso that violates the demand?
    pub fn judge(&mut self, schedule: &Schedule, wanted: &Wanted) -> Result<(), String> {
        let from = schedule.loop_from().ok_or("no loop")?;
        let mut state = State::initial(&mut self.locals);
        let mut states = vec![self.number(&state)];
        let mut taken = Vec::new();
        for &action in schedule.iter() {
            let action = state.action_named(&self.locals, action).ok_or("not enabled")?;
            let strong = self.strong(&state, action);
            state.step(&mut self.locals, action);
            let to = self.number(&state);
            taken.push(Step { process: action.process.0, to, strong });
            states.push(to);
        }
        if states[from] != states[schedule.len()] {
            return Err("the loop is open".into());
        }
        let steps: Vec<&Step> = taken[from..].iter().collect();
        if !self.is_fair(&states[from..], &steps) {
            return Err("the loop is unfair".into());
        }
        // Twice round, all that the demand can see is there.
        let around = &states[from + 1..];
        let whole: Vec<usize> = states.iter().chain(around).chain(around).copied().collect();
        let goal_after = |at: usize| whole[at..].iter().any(|&s| self.holds(wanted.goal(), s));
        let is_violated = match wanted {
            Wanted::Eventually(_) => !goal_after(0),
            Wanted::AlwaysEventually(_) => !goal_after(from),
            Wanted::LeadsTo(trigger, _) => {
                (0..states.len()).any(|at| self.holds(trigger, whole[at]) && !goal_after(at))
            }
        };
        if is_violated { Ok(()) } else { Err("the demand is fulfilled".into()) }
    }

    /// The length of the shortest lasso that violates the demand, if it is at most `most`; found by
    /// trying all loops. None also if there are too many.
    pub fn shortest(&self, wanted: &Wanted, most: usize) -> Option<usize> {
        let stems = self.stems(wanted);
        let mut best = None;
        for (start, stem) in stems.into_iter().enumerate() {
            let Some(stem) = stem.filter(|&stem| stem <= most) else { continue };
            let longest = best.unwrap_or(most + 1) - 1;
            if stem <= longest && self.is_fair(&[start], &[]) {
                best = Some(stem);
            } else if let Some(round) = self.round(wanted, start, longest.checked_sub(stem)?) {
                best = Some(stem + round);
            }
        }
        best
    }

    /// The length of the shortest fair loop from `start`, where the goal never holds.
    fn round(&self, wanted: &Wanted, start: usize, longest: usize) -> Option<usize> {
        type Seen = (usize, BTreeSet<usize>, BTreeSet<(u32, Vec<Strong>)>);
        let first: Seen = (start, BTreeSet::from([start]), BTreeSet::new());
        let mut known = HashSet::from([first.clone()]);
        let mut queue = VecDeque::from([(first, 0)]);
        while let Some(((at, states, taken), length)) = queue.pop_front() {
            if length >= longest || known.len() > 20_000 {
                return None;
            }
            for step in self.steps[at].iter().filter(|s| !self.holds(wanted.goal(), s.to)) {
                let (mut states, mut taken) = (states.clone(), taken.clone());
                states.insert(step.to);
                taken.insert((step.process, step.strong.clone()));
                if step.to == start {
                    let states: Vec<_> = states.iter().copied().collect();
                    let steps = taken.iter().map(|(process, strong)| Step {
                        process: *process,
                        to: start,
                        strong: strong.clone(),
                    });
                    let steps: Vec<_> = steps.collect();
                    if self.is_fair(&states, &steps.iter().collect::<Vec<_>>()) {
                        return Some(length + 1);
                    }
                }
                let next: Seen = (step.to, states, taken);
                if known.insert(next.clone()) {
                    queue.push_back((next, length + 1));
                }
            }
        }
        None
    }
}

impl Wanted {
    pub fn goal(&self) -> &Proposition {
        match self {
            Wanted::Eventually(goal)
            | Wanted::AlwaysEventually(goal)
            | Wanted::LeadsTo(_, goal) => goal,
        }
    }
}
