//! The closures of a program as a [`Runner`].

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::invariants::All;
use super::making::Making;
use super::panics;
use super::process::Place;
use super::process::{self, Live, Step, Wanted};
use super::spawning::Start;
use super::text::{Spot, Text};
use crate::model::{Invariants, Objects, Site, Value};
use crate::systems::history::{Asked, Judge, Local, Past, Reply, Runner, Told};

/// Async closures that are run as the processes of a program.
pub struct Closures {
    objects: Objects,
    processes: Vec<Start>,
    finally: Option<Box<Judge>>,
    step_timeout: Duration,
    making: Arc<Making>,
    invariants: Option<All>,
    /// The sites of all operations so far.
    sites: Mutex<FxHashMap<Spot, Arc<Site>>>,
}

impl Closures {
    pub(super) fn new(
        objects: Objects,
        processes: Vec<Start>,
        finally: Option<Box<Judge>>,
        step_timeout: Duration,
        making: Arc<Making>,
        invariants: Option<All>,
    ) -> Closures {
        let sites = Mutex::default();
        Closures { objects, processes, finally, step_timeout, making, invariants, sites }
    }

    fn reply(&self, live: &mut Live) -> Reply<Start> {
        let (mut stamp, mut again) = (0, None);
        let (asked, site) = match live.advance() {
            Step::Wants(wanted) => {
                stamp = wanted.stamp();
                let Wanted { asked, text, place, is_again, .. } = wanted;
                again = is_again;
                (asked, Some(self.site(text, place)))
            }
            Step::Done(Value::Unit) => (Asked::Done, None),
            Step::Done(value) => (Asked::Returned(value), None),
            Step::Failed(failure) => {
                let site = failure.site.clone().map(Arc::new);
                (Asked::Failed(failure), site)
            }
        };
        let (back, may_return) = (u32::from(again == Some(true)), again.is_some());
        Reply { printed: live.printed(), back, may_return, stamp, ..Reply::new(asked, site) }
    }

    fn site(&self, text: Text, place: Place) -> Arc<Site> {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let site = sites.entry(Spot::new(text, place)).or_insert_with(|| {
            Arc::new(Site {
                file: Some(place.file().into()),
                line: place.line(),
                column: place.column(),
                text: text.shown(),
            })
        });
        site.clone()
    }
}

impl Runner for Closures {
    type Start = Start;
    type Live = Live;

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn processes(&self) -> Vec<Start> {
        self.processes.clone()
    }

    fn name(&self, start: &Start) -> String {
        start.name.to_string()
    }

    fn is_daemon(&self, start: &Start) -> bool {
        start.is_daemon
    }

    fn start(&self, start: &Start, told: &[Told], replies: &mut Vec<Reply<Start>>) -> Live {
        let mut live = Live::new(start, &self.making);
        replies.push(self.reply(&mut live));
        self.tell(&mut live, told, replies);
        live
    }

    fn tell(&self, live: &mut Live, told: &[Told], replies: &mut Vec<Reply<Start>>) {
        for told in told {
            if !live.take(told) {
                return;
            }
            replies.push(self.reply(live));
        }
    }

    fn retrace(
        &self,
        start: &Start,
        past: impl FnOnce() -> Past,
        replies: &mut Vec<Reply<Start>>,
    ) -> Option<(Live, Past)> {
        if process::has_withdrawn() {
            return None;
        }
        let mut live = Live::with_past(start, &self.making, past());
        replies.push(self.reply(&mut live));
        let past = live.take_past();
        Some((live, past))
    }

    fn patience(&self) -> Option<Duration> {
        Some(self.step_timeout)
    }

    fn waits(&self) -> bool {
        true
    }

    fn site(&self, start: &Start) -> Option<Arc<Site>> {
        Some(Arc::new(panics::site(start.place)))
    }

    fn repeats(&self) -> bool {
        true
    }

    fn invariants(&self) -> Option<&dyn Invariants<Local>> {
        self.invariants.as_ref().map(|all| all as &dyn Invariants<Local>)
    }

    fn searches_again(&self) -> bool {
        self.invariants.as_ref().is_some_and(All::have_learnt)
    }

    fn judge(&self) -> Option<&Judge> {
        self.finally.as_deref()
    }

    /// Only a process with a guard unlocks a mutex, so it owns the mutex.
    fn may_cancel(&self) -> bool {
        false
    }
}
