//! Violations that are the same but for who plays which role.
//!
//! If two workers can each be the one that is left over, a search finds two deadlocks, and a reader
//! learns no more from the second. Two violations are alike if the processes of one can be renamed
//! to those of the other so that
//!
//! - a process becomes one of its kind: of the same name but for its index;
//! - it has carried out the same operations at the same places, and ends in the same way: waits
//!   there, has ended, failed;
//! - what it waits for is told in the same words, with processes and indexed objects (`fork[2]`)
//!   renamed, each to one other;
//! - the index of an object stays, or becomes what that of a process becomes;
//! - who could help whom, who is in the circle, and who has failed with which message is the same.
//!
//! So a different line, operation, tag or number of rounds is a different mistake. A renaming is
//! looked for by trying, role by role. After [`TRIALS`] trials two violations count as different.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ViolationReport;
use crate::property::{Blocked, Ending};

const TRIALS: usize = 10_000;

/// Notes of each violation which one before it is like it, if one is.
pub(super) fn mark(violations: &mut [ViolationReport]) {
    let told: Vec<Told<'_>> = violations.iter().map(Told::new).collect();
    let mut first: Vec<usize> = Vec::new();
    let mut like = Vec::new();
    for (at, one) in told.iter().enumerate() {
        let before = first.iter().copied().find(|&before| are_alike(&told[before], one));
        like.push(before.map(|before| before + 1));
        if before.is_none() {
            first.push(at);
        }
    }
    violations.iter_mut().zip(like).for_each(|(violation, like)| violation.like = like);
}

/// A text without the indices of names, and those, each with the name that it belongs to.
type Template = (String, Vec<(String, String)>);

/// An operation, with its file, line and column, and whether the process ended then.
type Step<'v> = (String, Option<&'v str>, Option<u32>, Option<u32>, Option<Ending>);

/// What a process did and how it ended, without the indices of names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Role<'v> {
    kind: String,
    finish: Finish,
    steps: Vec<Step<'v>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Finish {
    Blocked,
    Spinning,
    Ended,
    Idle,
    Failed,
    Open,
}

/// A process of an execution that goes wrong.
struct Player<'v> {
    name: &'v str,
    role: Role<'v>,
    /// Its name, its operations and its waiting, in an order.
    texts: Vec<Template>,
    helpers: BTreeSet<&'v str>,
}

/// A violation with its processes by role.
struct Told<'v> {
    violation: &'v ViolationReport,
    message: Template,
    players: Vec<Player<'v>>,
}

impl<'v> Told<'v> {
    fn new(violation: &'v ViolationReport) -> Self {
        let blocked = violation.blocked.iter().map(|blocked| &blocked.process);
        let steps = violation.schedule.iter().map(|step| &step.process);
        let ended = violation.ended.iter().chain(&violation.idle).chain(&violation.failed);
        let names: BTreeSet<&str> = blocked.chain(steps).chain(ended).map(String::as_str).collect();
        let kinds: BTreeSet<&str> = names.iter().filter_map(|name| numbered(name)).collect();
        let mut players: Vec<_> =
            names.iter().map(|name| Player::new(violation, name, &kinds)).collect();
        players.sort_by(|a, b| a.role.cmp(&b.role));
        // Where somebody waits, the message tells whom it is about by name, which need not come in
        // the order of roles.
        let message = match violation.kind.is_standstill() {
            true => (String::new(), Vec::new()),
            false => template(&violation.message, &kinds),
        };
        Told { violation, message, players }
    }
}

impl<'v> Player<'v> {
    fn new(violation: &'v ViolationReport, name: &'v str, kinds: &BTreeSet<&str>) -> Self {
        let own = || violation.schedule.iter().filter(|step| step.process == name);
        let has = |list: &[String]| list.iter().any(|listed| listed == name);
        let wait = violation.blocked.iter().find(|blocked| blocked.process == name);
        let finish = match wait {
            Some(_) if has(&violation.spinning) => Finish::Spinning,
            Some(_) => Finish::Blocked,
            None if has(&violation.ended) => Finish::Ended,
            None if has(&violation.idle) => Finish::Idle,
            None if has(&violation.failed) || violation.process.as_deref() == Some(name) => {
                Finish::Failed
            }
            None => Finish::Open,
        };
        let named = template(name, kinds);
        let mut role = Role { kind: named.0.clone(), finish, steps: Vec::new() };
        let mut texts = vec![named];
        let mut note = |text: &str, file: &'v Option<Arc<str>>, line, column, ended| {
            let text = template(text, kinds);
            role.steps.push((text.0.clone(), file.as_deref(), line, column, ended));
            texts.push(text);
        };
        own().for_each(|s| note(&s.action, &s.file, s.line, s.column, s.ended));
        if let Some(Blocked { action, waits_for, hopeless, file, line, column, .. }) = wait {
            note(action, file, *line, *column, None);
            note(waits_for, file, *line, *column, None);
            note(hopeless.as_deref().unwrap_or_default(), file, *line, *column, None);
        }
        let helpers = wait.into_iter().flat_map(|wait| &wait.helpers).map(String::as_str);
        Player { name, role, texts, helpers: helpers.collect() }
    }
}

impl Player<'_> {
    /// The name that its index belongs to, if it has one.
    fn kind(&self) -> Option<&str> {
        self.texts[0].1.first().map(|(kind, _)| kind.as_str())
    }
}

/// The name of a process without its number: `rank` of `rank 2`.
fn numbered(name: &str) -> Option<&str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let kind = stem.strip_suffix([' ', '#']).filter(|_| stem.len() < name.len())?;
    (!kind.is_empty()).then_some(kind)
}

/// The text with its indices taken out: those in square brackets, and the numbers of processes of
/// these kinds. A rank is also the source of its messages.
fn template(text: &str, kinds: &BTreeSet<&str>) -> Template {
    let (mut skeleton, mut names) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[start..].find(|c: char| !c.is_ascii_digit());
        let end = length.map_or(rest.len(), |length| start + length);
        skeleton += &rest[..start];
        match owner(&skeleton, &rest[end..], kinds) {
            Some(owner) => names.push((owner, rest[start..end].to_owned())),
            None => skeleton += &rest[start..end],
        }
        rest = &rest[end..];
    }
    (skeleton + rest, names)
}

/// The name that an index between these texts belongs to, if it is one.
fn owner(before: &str, after: &str, kinds: &BTreeSet<&str>) -> Option<String> {
    let is_of_name = |c: char| c.is_alphanumeric() || "_[]".contains(c);
    if let Some(before) = before.strip_suffix('[').filter(|_| after.starts_with(']')) {
        let name = before.trim_end_matches(is_of_name).len();
        return Some(before[name..].to_owned()).filter(|name| !name.is_empty());
    }
    let before = before.strip_suffix([' ', '#'])?;
    let kind = kinds.iter().find(|&&kind| before.ends_with(kind));
    let is_source = before.ends_with("source") && kinds.contains("rank");
    kind.map(|kind| (*kind).to_owned()).or_else(|| is_source.then(|| "rank".into()))
}

/// Which index of a name becomes which, each one of its own.
#[derive(Clone, Default)]
struct Renaming {
    there: BTreeMap<(String, String), String>,
    back: BTreeMap<(String, String), String>,
}

impl Renaming {
    /// Adds what one text asks for to become the other; `false` if that is not possible.
    fn add(&mut self, one: &Template, other: &Template) -> bool {
        let are_same = |(a, b): (&(String, String), &(String, String))| {
            let there = self.there.entry(a.clone()).or_insert_with(|| b.1.clone());
            let back = self.back.entry(b.clone()).or_insert_with(|| a.1.clone());
            a.0 == b.0 && *there == b.1 && *back == a.1
        };
        one.0 == other.0 && one.1.len() == other.1.len() && one.1.iter().zip(&other.1).all(are_same)
    }
}

fn are_alike(one: &Told<'_>, other: &Told<'_>) -> bool {
    let (a, b) = (one.violation, other.violation);
    let place = |v: &ViolationReport| (v.invariant, v.file.clone(), v.line, v.column);
    let mut renaming = Renaming::default();
    let are_similar = (a.kind, a.slip) == (b.kind, b.slip)
        && (a.kind.is_standstill() || place(a) == place(b))
        && one.players.len() == other.players.len()
        && one.players.iter().zip(&other.players).all(|(p, q)| p.role == q.role)
        && renaming.add(&one.message, &other.message);
    let mut assignment =
        Assignment { one, other, taken: vec![false; other.players.len()], trials: TRIALS };
    are_similar && assignment.go_on(&mut Vec::new(), &renaming)
}

/// A search for a renaming: who becomes whom.
struct Assignment<'s, 'v> {
    one: &'s Told<'v>,
    other: &'s Told<'v>,
    taken: Vec<bool>,
    trials: usize,
}

impl Assignment<'_, '_> {
    /// Finds the counterparts of the players after those that have one.
    fn go_on(&mut self, counterparts: &mut Vec<usize>, renaming: &Renaming) -> bool {
        let Some(player) = self.one.players.get(counterparts.len()) else {
            return self.follows(renaming) && self.fits(counterparts);
        };
        for at in 0..self.other.players.len() {
            let candidate = &self.other.players[at];
            if self.taken[at] || candidate.role != player.role {
                continue;
            }
            if self.trials == 0 {
                return false;
            }
            self.trials -= 1;
            let mut renaming = renaming.clone();
            if player.texts.iter().zip(&candidate.texts).all(|(a, b)| renaming.add(a, b)) {
                self.taken[at] = true;
                counterparts.push(at);
                if self.go_on(counterparts, &renaming) {
                    return true;
                }
                counterparts.pop();
                self.taken[at] = false;
            }
        }
        false
    }

    /// Do the indices of objects go with those of processes?
    fn follows(&self, renaming: &Renaming) -> bool {
        let kinds: BTreeSet<&str> = self.one.players.iter().flat_map(Player::kind).collect();
        let becomes = |kind: &str, index: &str| {
            renaming.there.get(&(kind.to_owned(), index.to_owned())).map(String::as_str)
        };
        renaming.there.iter().all(|((name, index), new)| {
            index == new
                || kinds.contains(name.as_str())
                || kinds.iter().any(|kind| becomes(kind, index) == Some(new))
        })
    }

    /// Are helpers, the circle and who failed the same under this renaming?
    fn fits(&self, counterparts: &[usize]) -> bool {
        let pairs = self.one.players.iter().zip(counterparts);
        let pairs: Vec<_> = pairs.map(|(player, &at)| (player, &self.other.players[at])).collect();
        let names: BTreeMap<&str, &str> = pairs.iter().map(|(p, q)| (p.name, q.name)).collect();
        let renamed = |name: &str| names.get(name).copied();
        let circle = |told: &Told<'_>| {
            let links = told.violation.cycle.iter().flatten();
            links.map(|link| link.process.clone()).collect::<BTreeSet<_>>()
        };
        let round =
            circle(self.one).iter().filter_map(|name| renamed(name).map(str::to_owned)).collect();
        let who = self.one.violation.process.as_deref().and_then(renamed);
        circle(self.other) == round
            && who == self.other.violation.process.as_deref()
            && pairs.iter().all(|(player, counterpart)| {
                let helpers: BTreeSet<_> =
                    player.helpers.iter().filter_map(|name| renamed(name)).collect();
                helpers == counterpart.helpers
            })
    }
}
