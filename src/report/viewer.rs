//! Everything that the page of `mazurka draw -o x.html` shows, as plain data.
//!
//! A page is about one program: its unfolding, or a piece of it, how UDPOR searches it, and some executions to
//! step through. An
//! execution ([`Run`]) is a space-time diagram with two things more: which event of the unfolding each step
//! is, so that both pictures light up together, and the state after each step. States are kept as
//! differences ([`Run::changes`]): a step changes a few facts, and a page that goes back undoes them.
//!
//! Which executions: those asked for, then one of each maximal configuration that ends badly, up to
//! [`MOST_RUNS`], and the first configuration, to compare with.
//! Executions of one configuration count as the same, and the one asked for stays.
//!
//! The page holds this model as JSON beside the drawings of its pictures ([`super::html`]).

mod run;

use serde::Serialize;

use super::Subject;
use super::picture::{PartialOrder, SearchTree};
use crate::explore::{Outcome, Prefix, Verdict};
use crate::model::{Action, System};
use crate::property::{FactKind, Refusal};
use crate::unfolding::EventId;

pub use super::picture::SpaceTime;

/// So many executions are in a page at most, unless more are asked for.
pub const MOST_RUNS: usize = 20;

/// What a page shows.
#[derive(Clone, Debug, Serialize)]
pub struct Viewer {
    /// Of what.
    #[serde(flatten)]
    pub subject: Subject,
    /// The text of the spec.
    pub source: String,
    /// Which picture to show first.
    pub start: View,
    /// The events.
    pub unfolding: PartialOrder,
    /// How UDPOR goes through them; its events have the same numbers.
    pub search: SearchTree,
    /// The executions, the one to show first before the others.
    pub runs: Vec<Run>,
    /// What is missing, in sentences: of the unfolding, and of the executions.
    pub left_out: Vec<String>,
}

/// The pictures of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// All executions.
    Unfolding,
    /// One of them.
    SpaceTime,
    /// The calls of UDPOR.
    Search,
}

/// An execution to step through.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// How the list of executions calls it.
    pub name: String,
    /// The maximal configuration that it is of, by number, if it is one of the unfolding's.
    pub configuration: Option<usize>,
    /// The execution.
    pub chart: SpaceTime,
    /// By step, the steps that it needs directly: those before it with nothing in between.
    pub causes: Vec<Vec<usize>>,
    /// By step, the event of the unfolding that it is, if that one is drawn.
    pub events: Vec<Option<usize>>,
    /// The events of the steps that the chart leaves out at its beginning.
    pub before: Vec<usize>,
    /// What there is to say about its states: each entry of `start` and `changes` is about one of these.
    pub topics: Vec<Topic>,
    /// What is so before the first step, by topic; `None` if there is nothing to say yet.
    pub start: Vec<Option<String>>,
    /// By step, the topics that it changes and what is so after it.
    pub changes: Vec<Vec<(usize, Option<String>)>>,
}

/// Something that a state may say something about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Topic {
    /// What kind of thing.
    pub kind: FactKind,
    /// The process, by the number of its lane, if it is about one.
    pub lane: Option<usize>,
    /// The variable or object; empty where the kind says it all.
    pub name: String,
}

/// An execution that is to be in a page.
#[derive(Clone, Debug)]
pub struct Asked {
    /// How to call it.
    pub name: String,
    /// Its actions, as a replay numbers processes and messages.
    pub schedule: Vec<Action>,
}

impl Viewer {
    /// A page about what was met by a search with full alternatives, the calls of that or another search, and the
    /// executions asked for; `limit` events, and as many steps of each execution. An execution that cannot be
    /// followed is refused.
    pub fn new<S: System>(
        subject: Subject,
        system: &S,
        (mut prefix, outcome): (Prefix<'_, S>, Outcome),
        search: SearchTree,
        asked: Vec<Asked>,
        limit: usize,
    ) -> Result<Self, Refusal> {
        let order =
            PartialOrder::of_unfolding(subject.clone(), system, &mut prefix, &outcome, limit);
        let mut album =
            Album { subject, system, prefix, limit, classes: Vec::new(), runs: Vec::new() };
        for Asked { name, schedule } in asked {
            album.add(name, &schedule)?;
        }
        let bad = bad(&order);
        let room = MOST_RUNS.saturating_sub(album.runs.len());
        for &number in bad.iter().take(room).chain(order.configurations.first().map(|_| &1)) {
            album.add_configuration(number)?;
        }
        let mut left_out = order.left_out.clone();
        let of_search = search.left_out.iter().filter(|note| !order.left_out.contains(note));
        left_out.extend(of_search.map(|note| format!("of the search tree, {note}")));
        if let Some(more @ 1..) = bad.len().checked_sub(room) {
            left_out.push(format!(
                "{more} more maximal configurations that end badly, to step through"
            ));
        }
        Ok(Viewer {
            source: album.subject.source.clone(),
            start: View::Unfolding,
            unfolding: order,
            search,
            runs: album.runs,
            left_out,
            subject: album.subject,
        })
    }
}

/// The numbers of the configurations that end badly.
fn bad(order: &PartialOrder) -> Vec<usize> {
    let is_good = |verdict| matches!(verdict, Verdict::Ok | Verdict::Incomplete);
    let bad = order.configurations.iter().filter(|one| !is_good(one.verdict));
    bad.map(|one| one.number).collect()
}

/// The executions of a page in the making.
struct Album<'a, S: System> {
    subject: Subject,
    system: &'a S,
    prefix: Prefix<'a, S>,
    limit: usize,
    /// The events of each of `runs`, ascending.
    classes: Vec<Vec<EventId>>,
    runs: Vec<Run>,
}

impl<S: System> Album<'_, S> {
    /// Adds an execution, unless one of the same events is there.
    fn add(&mut self, name: String, schedule: &[Action]) -> Result<(), Refusal> {
        let chart =
            SpaceTime::of_execution(self.subject.clone(), self.system, schedule, self.limit)?;
        let events = self.prefix.events(schedule);
        let class = sorted(&events);
        if events.len() == schedule.len() && self.classes.contains(&class) {
            return Ok(());
        }
        let configuration = self.prefix.maximal.iter().position(|own| sorted(own) == class);
        let is_drawn = |event: &EventId| event.index() < self.limit;
        let drawn = |at| events.get(at).filter(|e| is_drawn(e)).map(|e| e.index());
        let drawn: Vec<_> = (0..schedule.len()).map(drawn).collect();
        let allow_pending = self.subject.allow_pending;
        let run = run::tell(self.system, allow_pending, chart, schedule, &drawn)?;
        self.runs.push(Run { name, configuration: configuration.map(|index| index + 1), ..run });
        self.classes.push(class);
        Ok(())
    }

    fn add_configuration(&mut self, number: usize) -> Result<(), Refusal> {
        let events = self.prefix.maximal[number - 1].clone();
        let schedule = self.prefix.schedule(&events);
        self.add(format!("Trace {number}"), &schedule)
    }
}

fn sorted(events: &[EventId]) -> Vec<EventId> {
    let mut sorted = events.to_vec();
    sorted.sort_unstable();
    sorted
}
