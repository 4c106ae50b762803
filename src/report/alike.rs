//! Violations that differ only in which process plays which role.
//!
//! If each of two workers can be the one that is left over, a search finds two deadlocks, and a
//! reader learns nothing from the second. Two violations are alike if the processes of one can be
//! renamed to the processes of the other such that
//!
//! - each process is mapped to one of its kind: the names differ at most in the index;
//! - the two have carried out the same operations at the same places, and end in the same way: they
//!   wait at the same place, have ended, or have failed;
//! - the texts that say what they wait for are the same, once processes and indexed objects
//!   (`fork[2]`) are renamed one to one;
//! - the index of an object is kept, or changes as the index of a process changes;
//! - helpers, the cycle of waiting, and the messages of failed processes correspond.
//!
//! So violations with a different line, operation, tag or number of iterations are different
//! mistakes. A renaming is searched for by backtracking, role by role. After [`TRIALS`] trials two
//! violations count as different.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ViolationReport;
use crate::property::{Blocked, Ending};

const TRIALS: usize = 10_000;

/// Sets [`ViolationReport::like`] of each violation that is like an earlier one.
pub(super) fn mark(violations: &mut [ViolationReport]) {
    let casts: Vec<Cast<'_>> = violations.iter().map(Cast::new).collect();
    let mut first: Vec<usize> = Vec::new();
    let mut like = Vec::new();
    for (at, one) in casts.iter().enumerate() {
        let before = first.iter().copied().find(|&before| are_alike(&casts[before], one));
        like.push(before.map(|before| before + 1));
        if before.is_none() {
            first.push(at);
        }
    }
    violations.iter_mut().zip(like).for_each(|(violation, like)| violation.like = like);
}

/// A text with the indices of names taken out, and the indices, each with the name that it belongs
/// to.
type Template = (String, Vec<(String, String)>);

/// An operation, with its file, line and column, and how its process ended, if this was its last
/// step.
type Step<'v> = (String, Option<&'v str>, Option<u32>, Option<u32>, Option<Ending>);

/// What a process did and how it ended, with the indices of names taken out.
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
    /// The texts of its name, operations and waiting, in a fixed order.
    texts: Vec<Template>,
    helpers: BTreeSet<&'v str>,
}

/// A violation with its processes by role.
struct Cast<'v> {
    violation: &'v ViolationReport,
    message: Template,
    players: Vec<Player<'v>>,
}

impl<'v> Cast<'v> {
    fn new(violation: &'v ViolationReport) -> Self {
        let blocked = violation.blocked.iter().map(|blocked| &blocked.process);
        let steps = violation.schedule.iter().map(|step| &step.process);
        let ended = violation.ended.iter().chain(&violation.idle).chain(&violation.failed);
        let names: BTreeSet<&str> = blocked.chain(steps).chain(ended).map(String::as_str).collect();
        let kinds: BTreeSet<&str> = names.iter().filter_map(|name| numbered(name)).collect();
        let mut players: Vec<_> =
            names.iter().map(|name| Player::new(violation, name, &kinds)).collect();
        players.sort_by(|a, b| a.role.cmp(&b.role));
        // The message of a standstill lists the blocked processes by name, in an order that a
        // renaming need not keep.
        let message = match violation.kind.is_standstill() {
            true => (String::new(), Vec::new()),
            false => template(&violation.message, &kinds),
        };
        Cast { violation, message, players }
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
    /// The name that the index of the process belongs to, if it has an index.
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

/// Takes the indices out of a text: numbers in square brackets, and the numbers of processes of
/// these kinds. The source of an MPI message is a rank, too.
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

/// If the number between these two texts is an index: the name that it belongs to.
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

/// An injective renaming of the indices of each name.
#[derive(Clone, Default)]
struct Renaming {
    there: BTreeMap<(String, String), String>,
    back: BTreeMap<(String, String), String>,
}

impl Renaming {
    /// Adds the pairs of indices that turn one text into the other. Returns `false` if these
    /// contradict the renaming.
    fn add(&mut self, one: &Template, other: &Template) -> bool {
        let are_same = |(a, b): (&(String, String), &(String, String))| {
            let there = self.there.entry(a.clone()).or_insert_with(|| b.1.clone());
            let back = self.back.entry(b.clone()).or_insert_with(|| a.1.clone());
            a.0 == b.0 && *there == b.1 && *back == a.1
        };
        one.0 == other.0 && one.1.len() == other.1.len() && one.1.iter().zip(&other.1).all(are_same)
    }
}

fn are_alike(one: &Cast<'_>, other: &Cast<'_>) -> bool {
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

/// A search for a renaming: which process corresponds to which.
struct Assignment<'s, 'v> {
    one: &'s Cast<'v>,
    other: &'s Cast<'v>,
    taken: Vec<bool>,
    trials: usize,
}

impl Assignment<'_, '_> {
    /// Finds counterparts for the players that have none yet. Returns `false` if there are none.
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

    /// Whether the indices of objects change together with the indices of processes.
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

    /// Whether this renaming preserves helpers, the cycle, and which processes failed.
    fn fits(&self, counterparts: &[usize]) -> bool {
        let pairs = self.one.players.iter().zip(counterparts);
        let pairs: Vec<_> = pairs.map(|(player, &at)| (player, &self.other.players[at])).collect();
        let names: BTreeMap<&str, &str> = pairs.iter().map(|(p, q)| (p.name, q.name)).collect();
        let renamed = |name: &str| names.get(name).copied();
        let circle = |cast: &Cast<'_>| {
            let links = cast.violation.cycle.iter().flatten();
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
