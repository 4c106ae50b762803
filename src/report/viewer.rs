//! Everything that the page of `mazurka draw -o x.html` shows, as plain data.
//!
//! A page is about one program: its unfolding, or a part of it; the search of UDPOR; and some
//! executions to step through. An execution ([`Run`]) is a space-time diagram with two additions:
//! for each step its event in the unfolding, so that both pictures highlight it together, and the
//! state after each step. States are stored as differences ([`Run::changes`]): a step changes a few
//! facts, and the page undoes these when it steps back.
//!
//! The executions are those that were asked for, and one of each maximal configuration that the
//! search visited, up to `MOST_STEPS` steps in total. If an execution that was asked for belongs
//! to such a configuration, it represents this configuration. Otherwise it comes before all others.
//!
//! A page of a finite prefix has the picture of the prefix in the place of the unfolding, and no
//! search. Its executions are the local configurations of the last events.
//!
//! The page holds this model as JSON, and beside it the drawings of its pictures. The executions
//! are compressed and opened one by one ([`super::html`]).

mod run;

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;

use super::picture::{End, PartialOrder, SearchTree};
use super::{Subject, plural};
use crate::explore::{Outcome, Recording, ShownPrefix};
use crate::model::{Refusal, Schedule, System};
use crate::property::FactKind;
use crate::unfolding::{EventId, EventSet};

pub(crate) use super::picture::SpaceTime;

/// The maximum number of steps of all executions of a page together. Executions that were asked for
/// may exceed it.
pub(crate) const MOST_STEPS: usize = 150_000;

/// The contents of a page.
#[derive(Clone, Debug, Serialize)]
pub struct Viewer {
    /// The program.
    #[serde(flatten)]
    pub(crate) subject: Subject,
    /// The text of the spec, or the files of the program.
    pub(crate) sources: Vec<Source>,
    /// Which picture to show first.
    pub(crate) start: View,
    /// The picture of the unfolding, or of the finite prefix.
    pub unfolding: PartialOrder,
    /// The search tree of UDPOR; its events have the same numbers as in `unfolding`. `None` for a
    /// finite prefix.
    pub(crate) search: Option<SearchTree>,
    /// The executions: first those that belong to no visited configuration, then one of each
    /// configuration, in the order of their numbers.
    #[serde(skip)]
    pub runs: Vec<Run>,
    /// The index of the execution that is shown first.
    pub(crate) first: usize,
    /// What is missing, in sentences: of the unfolding, the search tree, and the executions.
    pub(crate) left_out: Vec<String>,
}

/// A source text that steps refer to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Source {
    /// The file, if the program has several.
    pub(crate) file: Option<Arc<str>>,
    /// The text; `None` if it has not been read yet.
    pub(crate) text: Option<String>,
}

/// The pictures of a page.
#[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "the command line chooses them"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum View {
    /// The unfolding: all executions at once.
    Unfolding,
    /// The space-time diagram of one execution.
    SpaceTime,
    /// The search tree of UDPOR.
    Search,
}

/// An execution to step through.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The name, if it was asked for by a name.
    pub(crate) name: Option<String>,
    /// The number of the maximal configuration that it belongs to, if the search visited that
    /// configuration.
    pub(crate) configuration: Option<usize>,
    /// The space-time diagram.
    pub chart: SpaceTime,
    /// For each step, the steps that it directly depends on.
    pub(crate) causes: Vec<Vec<usize>>,
    /// For each step, its event in the unfolding, if that event is drawn. In a finite prefix an
    /// event may have two steps.
    pub events: Vec<Option<usize>>,
    /// The events of the initial steps that the chart leaves out.
    pub before: Vec<usize>,
    /// The topics of facts: entries of `start` and `changes` refer to these by index.
    pub topics: Vec<Topic>,
    /// For each topic, its fact before the first step; `None` if there is none yet.
    pub start: Vec<Option<String>>,
    /// For each step, the topics that it changes, with the facts after the step.
    pub changes: Vec<Vec<(usize, Option<String>)>>,
}

/// Something that a state has a fact about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Topic {
    /// The kind of fact.
    pub kind: FactKind,
    /// The lane of the process, if the topic is about a process.
    pub lane: Option<usize>,
    /// The variable or object; empty if the kind says enough.
    pub name: String,
}

/// An execution that was asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// Its actions, with processes and messages numbered as in a replay.
    pub schedule: Schedule,
}

impl Viewer {
    /// A page about what a search with full alternatives visited (`prefix`, `outcome`), the calls
    /// of this or another search (`search`), and the executions asked for, the first of which is
    /// shown first. It shows at most `limit` events, and at most `limit` steps of each execution.
    ///
    /// # Errors
    /// If an execution cannot be followed.
    pub fn new<S: System>(
        subject: Subject,
        system: &S,
        (mut prefix, outcome): (Recording<'_, S>, Outcome),
        search: SearchTree,
        asked: Vec<Asked>,
        limit: usize,
    ) -> Result<Self, Refusal> {
        let order =
            PartialOrder::of_unfolding(subject.clone(), system, &mut prefix, &outcome, limit);
        let mut album = Album { subject, system, prefix, limit };
        let asked = album.placed(asked);
        let (runs, first) = album.runs(&asked)?;
        let mut left_out = order.left_out.clone();
        let of_search = search.left_out.iter().filter(|note| !order.left_out.contains(note));
        left_out.extend(of_search.map(|note| format!("of the search tree, {note}")));
        let shown = runs.iter().filter(|run| run.configuration.is_some()).count();
        if let more @ 1.. = order.configurations.len() - shown {
            let more = plural(more, "more maximal configuration");
            left_out.push(format!("{more}, to step through"));
        }
        Ok(Viewer {
            sources: sources(&album.subject, &order, &runs),
            start: View::Unfolding,
            unfolding: order,
            search: Some(search),
            runs,
            first,
            left_out,
            subject: album.subject,
        })
    }

    /// A page about a finite prefix, with an execution for each event that is no cause of another
    /// one, up to `MOST_STEPS` steps in total. It shows at most `limit` steps of each.
    ///
    /// # Errors
    /// If an execution cannot be followed.
    pub fn of_prefix<S: System>(
        subject: Subject,
        system: &S,
        prefix: &ShownPrefix,
        limit: usize,
    ) -> Result<Self, Refusal> {
        let order = PartialOrder::of_prefix(subject.clone(), prefix);
        let causes: HashSet<usize> = order.events.iter().flat_map(|e| &e.causes).copied().collect();
        let last: Vec<usize> =
            (0..order.events.len()).filter(|event| !causes.contains(event)).collect();
        let (mut runs, mut steps) = (Vec::new(), 0);
        for &event in &last {
            if steps >= MOST_STEPS {
                break;
            }
            let schedule = &prefix.events[event].schedule;
            let chart = SpaceTime::of_execution(subject.clone(), system, schedule, limit)?;
            let drawn: Vec<_> = prefix.events[event].steps.iter().copied().map(Some).collect();
            let run = run::with_states(system, subject.allow_pending, chart, schedule, &drawn)?;
            steps += run.chart.steps.len();
            let name = match order.events[event].cutoff_of {
                Some(_) => format!("To cutoff {event}"),
                None => format!("To event {event}"),
            };
            runs.push(Run { name: Some(name), ..run });
        }
        let mut left_out = order.left_out.clone();
        if let more @ 1.. = last.len() - runs.len() {
            left_out.push(format!("{}, to step through", plural(more, "more last event")));
        }
        Ok(Viewer {
            sources: sources(&subject, &order, &runs),
            start: View::Unfolding,
            unfolding: order,
            search: None,
            runs,
            first: 0,
            left_out,
            subject,
        })
    }
}

/// An execution with its place in the unfolding.
struct Placed {
    name: Option<String>,
    schedule: Schedule,
    /// Its events, as far as the unfolding contains them.
    events: Vec<EventId>,
    configuration: Option<usize>,
}

/// The executions of an unfinished page.
struct Album<'a, S: System> {
    subject: Subject,
    system: &'a S,
    prefix: Recording<'a, S>,
    limit: usize,
}

impl<S: System> Album<'_, S> {
    /// The executions asked for, one of each class.
    fn placed(&mut self, asked: Vec<Asked>) -> Vec<Placed> {
        let set = |events: &Vec<EventId>| events.iter().copied().collect::<EventSet>();
        let maximal: Vec<EventSet> = self.prefix.maximal.iter().map(set).collect();
        let mut classes = Vec::new();
        let mut placed = Vec::new();
        for Asked { name, schedule } in asked {
            let events = self.prefix.events(&schedule);
            let is_whole = events.len() == schedule.len();
            let class = set(&events);
            let number = maximal.iter().position(|known| *known == class).map(|place| place + 1);
            let configuration = number.filter(|_| is_whole);
            let is_new = !classes.contains(&class);
            classes.push(class);
            if is_new || !is_whole {
                placed.push(Placed { name: Some(name), schedule, events, configuration });
            }
        }
        placed
    }

    /// An execution of a configuration for which none was asked for.
    fn of_configuration(&mut self, number: usize) -> Placed {
        let events = self.prefix.maximal[number - 1].clone();
        let schedule = self.prefix.schedule(&events);
        Placed { name: None, schedule, events, configuration: Some(number) }
    }

    /// All executions in order, and the index of the first one asked for.
    fn runs(&mut self, asked: &[Placed]) -> Result<(Vec<Run>, usize), Refusal> {
        let others = asked.iter().filter(|one| one.configuration.is_none());
        let mut runs = others.map(|one| self.run(one)).collect::<Result<Vec<_>, _>>()?;
        let before = runs.len();
        let last_asked = asked.iter().filter_map(|one| one.configuration).max().unwrap_or(0);
        let mut steps = 0;
        for number in 1..=self.prefix.maximal.len() {
            if number > last_asked && steps >= MOST_STEPS {
                break;
            }
            let own = asked.iter().find(|one| one.configuration == Some(number));
            let run = match own {
                Some(own) => self.run(own)?,
                None => {
                    let one = self.of_configuration(number);
                    self.run(&one)?
                }
            };
            steps += run.chart.steps.len();
            runs.push(run);
        }
        let first = asked.first().and_then(|one| one.configuration);
        Ok((runs, first.map_or(0, |number| before + number - 1)))
    }

    fn run(&self, one: &Placed) -> Result<Run, Refusal> {
        let Placed { name, schedule, events, configuration } = one;
        let chart =
            SpaceTime::of_execution(self.subject.clone(), self.system, schedule, self.limit)?;
        let is_drawn = |event: &EventId| event.index() < self.limit;
        let drawn = |at| events.get(at).filter(|e| is_drawn(e)).map(|e| e.index());
        let drawn: Vec<_> = (0..schedule.len()).map(drawn).collect();
        let allow_pending = self.subject.allow_pending;
        let run = run::with_states(self.system, allow_pending, chart, schedule, &drawn)?;
        Ok(Run { name: name.clone(), configuration: *configuration, ..run })
    }
}

/// The files of all places, in order of appearance and without their texts; if there are none, the
/// spec.
fn sources(subject: &Subject, unfolding: &PartialOrder, runs: &[Run]) -> Vec<Source> {
    let of_events = unfolding.events.iter().filter_map(|event| event.file.as_ref());
    let of_steps = runs.iter().flat_map(|run| &run.chart.steps).filter_map(|s| s.file.as_ref());
    let of_ends = runs.iter().flat_map(|run| &run.chart.lanes).filter_map(|lane| match &lane.end {
        End::Blocked { file, .. } => file.as_ref(),
        _ => None,
    });
    let mut seen = HashSet::new();
    let files = of_events.chain(of_steps).chain(of_ends).filter(|&file| seen.insert(file));
    let files: Vec<_> = files.map(|file| Source { file: Some(file.clone()), text: None }).collect();
    match files.is_empty() {
        true => vec![Source { file: None, text: Some(subject.source.clone()) }],
        false => files,
    }
}
