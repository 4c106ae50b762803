//! A session: carries out commands and prints what comes of them.

use std::sync::atomic::Ordering;

use super::super::execution::Execution;
use super::super::interrupt::Work;
use super::super::known::Known;
use super::super::output::Output;
use super::super::progress::{Progress, classes};
use super::super::spec::{Spec, refusal};
use super::super::{Failure, bounds::Bounds, memory};
use super::command::{Command, HELP};
use super::walk::{Choice, Walk};
use crate::explore::{
    Branch, Budget, ENDLESS, Explorer, Guarantee, Outcome, Setting, Splitter, Verdict, Violation,
    explore, explore_branch,
};
use crate::lang::Program;
use crate::model::{Action, ProcessId, Schedule};
use crate::property::{Properties, Standing, Why, list};
use crate::random::SplitMix64;
use crate::report::text::{
    self, ChangeRows, FAINT, HEADING, RestText, StateText, StepTable, Styled, WhyText, plural,
    thousands,
};
use crate::report::{CheckReport, ExecutionReport};
use crate::study::Limits;

/// The explorer of searches that begin in the middle of an execution.
const FROM_HERE: &str = "parsimonious";

/// A refusal to go further than this number of steps.
fn only(which: &str, steps: usize) -> String {
    match steps {
        0 => format!("there are no steps {which}"),
        1 => format!("there is only 1 step {which}"),
        n => format!("there are only {} steps {which}", thousands(n as u64)),
    }
}

/// The most actions that are shown after each step.
const MOST_LISTED: usize = 40;

/// The most actions of which all pairs are compared.
const MOST_COMPARED: usize = 500;

/// What came of a command: done, or why it could not be carried out.
type Done = Result<(), String>;

pub(super) struct Session<'s> {
    spec: &'s Spec,
    walk: Walk<'s, Program>,
    search: (Setting, Limits),
    random: SplitMix64,
    work: Work,
    /// What can happen next.
    choices: Vec<Choice>,
    /// Where the execution stood when this was last told.
    told: Standing,
}

impl<'s> Session<'s> {
    pub(super) fn new(
        spec: &'s Spec,
        search: (Setting, Limits),
        seed: u64,
    ) -> Result<Self, Failure> {
        Ok(Session {
            spec,
            walk: Walk::new(&spec.program, spec.subject.allow_pending),
            search,
            random: SplitMix64::new(seed),
            work: Work::watch()?,
            choices: Vec::new(),
            told: Standing::Open,
        })
    }

    /// What stands before a command: the number of steps so far.
    pub(super) fn prompt(&self) -> String {
        format!("{}> ", self.walk.position())
    }

    /// Prints the start. The steps of a known execution lie ahead.
    pub(super) fn begin(
        &mut self,
        known: Option<Known>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if let Some(known) = known {
            known.note_change(&self.spec.subject, output);
            let allow_pending = self.spec.subject.allow_pending;
            let mut execution = Execution::new(&self.spec.program, allow_pending);
            let divergence =
                execution.follow_recorded(&known.schedule, &known.recorded, &Bounds::none())?;
            let path = match &divergence {
                Some(_) => Schedule::of(execution.replay.state()),
                None => known.schedule,
            };
            if path.loop_from().is_some() {
                let mut report = execution.report(self.spec.subject.clone(), None);
                execution.judge_loop(&path, &mut report)?;
            }
            if let Some(divergence) = divergence {
                output.note(divergence);
            }
            self.walk.load(path);
        }
        let title = format!("{}:", self.spec.subject.title());
        output.print(format!("{}\n", Styled(HEADING, title)))?;
        self.arrive(output)
    }

    /// Carries out a command other than `quit`.
    pub(super) fn carry_out(
        &mut self,
        command: Command,
        output: &mut Output,
    ) -> Result<Done, Failure> {
        match command {
            Command::Next => {
                let first = self.choices.first().map(|choice| choice.action);
                match self.walk.next().or(first) {
                    Some(action) => self.take(action, output)?,
                    None => return Ok(Err("nothing can move any more".into())),
                }
            }
            Command::Take(which) => match self.chosen(&which) {
                Ok(action) => self.take(action, output)?,
                Err(why) => return Ok(Err(why)),
            },
            Command::List => self.list(usize::MAX, output)?,
            Command::State(part) => return self.state(part.as_deref(), output),
            Command::Why(which) => return self.why(which.as_deref(), output),
            Command::Depends(which) => return self.depends(which.as_deref(), output),
            Command::Back(steps) => match self.walk.position().checked_sub(steps) {
                Some(place) => self.go_to(place, output)?,
                None => return Ok(Err(only("so far", self.walk.position()))),
            },
            Command::Forward(steps) => {
                let ahead = self.walk.length() - self.walk.position();
                if steps > ahead {
                    return Ok(Err(only("ahead", ahead)));
                }
                self.forward(steps, output)?;
            }
            Command::Goto(place) => match place.unwrap_or(self.walk.length()) {
                place if place > self.walk.length() => {
                    return Ok(Err(only("so far and ahead", self.walk.length())));
                }
                place => self.go_to(place, output)?,
            },
            Command::Trace => self.trace(output)?,
            Command::Run(steps) => return self.run(steps, output),
            Command::Jump { from_here } => return self.jump(from_here, output),
            Command::Help => output.print(HELP)?,
            Command::Quit => {}
        }
        Ok(Ok(()))
    }

    /// The action with this number in the list, or the only one of the process with this name.
    fn chosen(&self, which: &str) -> Result<Action, String> {
        if let Ok(number) = which.parse::<usize>() {
            let choice = number.checked_sub(1).and_then(|index| self.choices.get(index));
            return choice.map(|choice| choice.action).ok_or(match self.choices.len() {
                0 => "nothing can move any more".into(),
                1 => format!("there is no action {number} here, only 1"),
                last => format!("there is no action {number} here, only 1 to {last}"),
            });
        }
        let Some(process) = self.walk.execution.replay.process_named(which) else {
            return Err(format!(
                "`{which}` is neither a command nor a process that exists here; help lists the commands"
            ));
        };
        match self.numbers(process).as_slice() {
            [only] => Ok(self.choices[only - 1].action),
            [] => Err(format!("{which} cannot move; `why {which}` says why")),
            several => {
                let numbers: Vec<_> = several.iter().map(usize::to_string).collect();
                let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
                let numbers = list(&numbers);
                Err(format!("{which} can do several things: give one of the numbers {numbers}"))
            }
        }
    }

    /// The numbers in the list of what the process can do, and the network for it.
    fn numbers(&self, process: ProcessId) -> Vec<usize> {
        let own = self.choices.iter().zip(1..).filter(|(choice, _)| choice.process == process);
        own.map(|(_, number)| number).collect()
    }
}

/// What is printed.
impl Session<'_> {
    /// Takes an action, which is enabled.
    fn take(&mut self, action: Action, output: &mut Output) -> Result<(), Failure> {
        self.walk.take(action)?;
        self.last_step(output)?;
        self.tell(false, output)
    }

    /// Takes steps that lie ahead.
    fn forward(&mut self, steps: usize, output: &mut Output) -> Result<(), Failure> {
        let from = self.walk.position();
        if steps == 1
            && let Some(action) = self.walk.next()
        {
            return self.take(action, output);
        }
        self.walk.go_to(from + steps)?;
        self.steps_since(from, output)?;
        self.tell(true, output)
    }

    fn go_to(&mut self, place: usize, output: &mut Output) -> Result<(), Failure> {
        self.walk.go_to(place)?;
        self.arrive(output)
    }

    /// Prints where the walk has come to.
    fn arrive(&mut self, output: &mut Output) -> Result<(), Failure> {
        self.last_step(output)?;
        self.tell(true, output)
    }

    /// Prints the last step with its changes.
    fn last_step(&self, output: &mut Output) -> Result<(), Failure> {
        let Execution { steps, changes, .. } = &self.walk.execution;
        let Some(last) = steps.len().checked_sub(1) else { return Ok(()) };
        let table = StepTable::new(steps, output.room());
        let rows = ChangeRows(&changes[last], output.room());
        output.print(format!("{}\n{rows}", table.row(last)))?;
        Ok(())
    }

    /// Prints the steps from this number on.
    fn steps_since(&self, from: usize, output: &mut Output) -> Result<(), Failure> {
        let table = StepTable::new(&self.walk.execution.steps, output.room());
        output.print(table.beginning_at(from))?;
        Ok(())
    }

    /// Prints what is wrong or has ended here, if it was not told before, or `always`; then the
    /// list.
    fn tell(&mut self, always: bool, output: &mut Output) -> Result<(), Failure> {
        let standing = self.walk.standing();
        let is_new = always || standing != self.told || self.walk.lasso().is_some();
        self.told = standing;
        let report = self.report()?;
        let is_told = is_new && (!report.violations.is_empty() || report.complete);
        if is_told {
            output.print(format!("\n{}", text::EndInFull(&report, output.room())))?;
        }
        let length = report.schedule.len();
        if let Some(from) = report.loop_from().filter(|&from| from < length) {
            let again = match length - from {
                1 => format!("Step {length} happens"),
                _ => format!("Steps {} to {length} happen", from + 1),
            };
            output.print(format!("{again} again and again.\n"))?;
        }
        self.choices = self.walk.choices()?;
        match output.is_quiet() || is_told && self.choices.is_empty() {
            true => Ok(()),
            false => self.list(MOST_LISTED, output),
        }
    }

    /// The execution so far, as a report.
    fn report(&mut self) -> Result<ExecutionReport, Failure> {
        let mut report = self.walk.execution.report(self.spec.subject.clone(), None);
        if let Some(schedule) = self.walk.lasso() {
            self.walk.execution.judge_loop(schedule, &mut report)?;
        }
        Ok(report)
    }

    /// Prints what can happen next, in at most this number of rows.
    fn list(&self, most: usize, output: &mut Output) -> Result<(), Failure> {
        let steps: Vec<_> = self.choices.iter().map(|choice| choice.step.clone()).collect();
        let mut text = String::new();
        let mut add = |line: &str| text += &format!("{line}\n");
        match steps.is_empty() {
            true => add("\n  Nothing can move any more."),
            false => {
                let table = StepTable::new(&steps, output.room());
                add(&format!("\n{}", table.headed("Next:")));
                (0..steps.len().min(most)).for_each(|index| add(&table.row(index)));
                if let more @ 1.. = steps.len().saturating_sub(most) {
                    add(&format!("  ... {} more: list shows all ...", thousands(more as u64)));
                }
            }
        }
        text += &RestText(&self.walk.execution.replay.at_rest()).to_string();
        let (position, length) = (self.walk.position(), self.walk.length());
        if let Some(next) = self.walk.next() {
            let number = self.choices.iter().position(|choice| choice.action == next);
            let number = number.map_or(0, |index| index + 1);
            let ahead = plural((length - position) as u64, "step lies", "steps lie");
            let note = format!("  {ahead} ahead: Enter takes number {number}.");
            text += &format!("{}\n", Styled(FAINT, note));
        }
        output.print(text)?;
        Ok(())
    }

    /// Prints the state, or what has this in its name.
    fn state(&self, part: Option<&str>, output: &mut Output) -> Result<Done, Failure> {
        let replay = &self.walk.execution.replay;
        let name = |process: ProcessId| replay.name(process).to_owned();
        let mut facts = replay.facts();
        if let Some(part) = part {
            let is_part = |process: Option<ProcessId>, fact: &str| {
                fact.contains(part) || process.is_some_and(|process| name(process).contains(part))
            };
            facts.retain(|fact| is_part(fact.process, &fact.name));
            if facts.is_empty() {
                return Ok(Err(format!("nothing here has {part} in its name")));
            }
        }
        output.print(StateText { facts: &facts, name: &name, room: output.room() })?;
        Ok(Ok(()))
    }

    /// Prints why a process cannot move, or all that wait.
    fn why(&self, which: Option<&str>, output: &mut Output) -> Result<Done, Failure> {
        let replay = &self.walk.execution.replay;
        let processes = match which {
            None => replay.state().program_processes().collect(),
            Some(which) => match self.meant(which) {
                Ok(process) => vec![process],
                Err(why) => return Ok(Err(why)),
            },
        };
        let mut text = String::new();
        for process in processes {
            let name = replay.name(process);
            let why = replay.why(process);
            let can_move = self.numbers(process);
            let waits = matches!(why, Some(Why::Waits(_)));
            let moves = self.choices.iter().any(|choice| choice.action.process == process);
            if which.is_none() && (!waits || !can_move.is_empty() && !moves) {
                continue;
            }
            if let Some(why) = &why {
                text += &WhyText(name, why, output.room()).to_string();
            }
            let numbers: Vec<_> = can_move.iter().map(usize::to_string).collect();
            let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
            let numbers = list(&numbers);
            match (why.is_some(), moves) {
                _ if can_move.is_empty() => {}
                (false, _) => {
                    text += &format!("{} can move: {numbers}.\n", Styled(HEADING, name));
                }
                (true, true) => text += &format!("  It goes round its loop: {numbers}.\n"),
                (true, false) => text += &format!("  The network can act for it: {numbers}.\n"),
            }
        }
        if text.is_empty() {
            text += "  No process waits.\n";
        }
        output.print(text)?;
        Ok(Ok(()))
    }

    /// Prints which actions of the list depend on each other, or on this one.
    fn depends(&self, which: Option<&str>, output: &mut Output) -> Result<Done, Failure> {
        let all = self.choices.len();
        let only = match which.map(|which| self.chosen(which)) {
            None if all > MOST_COMPARED => {
                let all = thousands(all as u64);
                return Ok(Err(format!(
                    "there are {all} actions here: depends N compares one of them"
                )));
            }
            None => None,
            Some(Err(why)) => return Ok(Err(why)),
            Some(Ok(action)) => Some(action),
        };
        let is_asked = |at: usize| only.is_none_or(|only| self.choices[at].action == only);
        let step = |at: usize| {
            let step = &self.choices[at].step;
            format!("{} {}", step.process, step.action)
        };
        let mut judge = self.walk.judge();
        let (mut text, mut pairs) = (String::new(), 0);
        for (i, a) in self.choices.iter().enumerate() {
            for (j, b) in self.choices.iter().enumerate().skip(i + 1) {
                if !is_asked(i) && !is_asked(j) {
                    continue;
                }
                let Some(depend) = judge.depend(a.action, b.action) else { continue };
                pairs += 1;
                if depend {
                    let (first, second) = (step(i), step(j));
                    text += &format!("  {} and {}: {first}, and {second}\n", i + 1, j + 1);
                }
            }
        }
        text += match (text.is_empty(), pairs) {
            (_, 0) => "  There are no two actions that can both happen.\n",
            (true, _) => "  No action depends on another: their order makes no difference.\n",
            (false, _) => {
                "  These pairs depend on each other. The order of others makes no difference.\n"
            }
        };
        output.print(text)?;
        Ok(Ok(()))
    }

    /// The process with this name, or that of the action with this number.
    fn meant(&self, which: &str) -> Result<ProcessId, String> {
        let number = which.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let listed = number.and_then(|index| self.choices.get(index));
        let known = listed.map(|choice| choice.process);
        known
            .or_else(|| self.walk.execution.replay.process_named(which))
            .ok_or_else(|| format!("there is no process {which} here"))
    }

    /// Prints the steps so far, and the command that replays them.
    fn trace(&mut self, output: &mut Output) -> Result<(), Failure> {
        self.steps_since(0, output)?;
        let report = self.report()?;
        let command = text::full_replay_command(&report.subject, &report.replay);
        output.print(format!("\n{}\n  {command}\n", Styled(HEADING, "Replay step by step:")))?;
        Ok(())
    }

    /// Goes on at random.
    fn run(&mut self, steps: Option<usize>, output: &mut Output) -> Result<Done, Failure> {
        if self.choices.is_empty() {
            return Ok(Err("nothing can move any more".into()));
        }
        let from = self.walk.position();
        let stop = self.work.begin();
        let steps = steps.unwrap_or(ENDLESS as usize);
        let done = self.walk.at_random(&mut self.random, steps, &|| stop.load(Ordering::Relaxed));
        self.work.end();
        done?;
        if self.walk.position() == from && !stop.load(Ordering::Relaxed) {
            let why = "nothing would change any more: only loops that wait can go on";
            return Ok(Err(why.into()));
        }
        self.steps_since(from, output)?;
        self.tell(false, output)?;
        Ok(Ok(()))
    }

    /// Searches for a violation, of the program or after the steps so far, and goes to it.
    fn jump(&mut self, from_here: bool, output: &mut Output) -> Result<Done, Failure> {
        let (asked, limits) = self.search.clone();
        let setting = match from_here {
            true => FROM_HERE.parse().expect("an explorer"),
            false => asked,
        };
        let program = &self.spec.program;
        if from_here && !matches!(self.told, Standing::Open) {
            return Ok(Err("the execution has ended or gone wrong already: go back first".into()));
        }
        if let Some(refusal) = refusal(&setting, program, &limits) {
            return Ok(Err(refusal));
        }
        let properties = Properties::default().allow_pending(self.spec.subject.allow_pending);
        let (judged, cancel) = ((limits.clone(), properties.clone()), self.work.begin());
        let budget = Budget { properties, cancel, ..limits.budget(memory::in_use) };
        let mut progress = Progress::new(!output.is_quiet());
        let outcome = self.searched((setting, from_here), budget, &mut progress);
        progress.finish();
        self.work.end();
        let subject = self.spec.subject.clone();
        let report = CheckReport::new(subject, program, setting, judged, &outcome, memory::peak());
        match outcome.violations.first() {
            Some(Violation { schedule, .. }) => {
                // A counterexample leaves out the steps that it does not need.
                let path = if from_here { self.walk.joined(schedule) } else { schedule.clone() };
                let length = path.len();
                self.walk.load(path);
                self.walk.go_to(length)?;
                self.steps_since(0, output)?;
                self.tell(true, output)?;
            }
            None if !from_here => {
                output.print(text::Check { report: &report, quiet: true, room: output.room() })?;
            }
            None => {
                let which = match self.walk.position() {
                    0 => "execution".to_owned(),
                    1 => "execution that begins with this step".to_owned(),
                    n => format!("execution that begins with these {} steps", thousands(n as u64)),
                };
                let text = match outcome.verdict() {
                    Verdict::Ok => format!("No {which} goes wrong."),
                    _ => format!("Nothing wrong was found, but not every {which} was explored."),
                };
                output.print(format!("{text}\n"))?;
            }
        }
        Ok(Ok(()))
    }

    fn searched(
        &self,
        (setting, from_here): (Setting, bool),
        budget: Budget,
        progress: &mut Progress,
    ) -> Outcome {
        let program = &self.spec.program;
        if from_here {
            let prefix = Schedule::of(self.walk.execution.replay.state());
            let branch = Branch { prefix, ..Branch::default() };
            return explore_branch(program, setting, &branch, &mut Whole, budget, progress);
        }
        let profile = setting.profile();
        let counts_classes = profile.chooses || profile.guarantee >= Guarantee::EveryClass;
        let guess = |budget: &Budget, time| {
            counts_classes.then(|| classes(program, budget, time)).flatten()
        };
        progress.beside(guess, &budget, |progress| {
            explore(program, setting.on_all_processors(), budget.clone(), progress)
        })
    }
}

/// Gives nothing away.
struct Whole;

impl Splitter for Whole {
    fn wants_branch(&mut self) -> bool {
        false
    }

    fn take(&mut self, branch: Branch) {
        unreachable!("{branch} was not wanted");
    }
}
