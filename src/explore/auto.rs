//! The default: UDPOR, and if it takes long, the prefix and explorers of states beside it.
//!
//! UDPOR visits every class. Where many executions meet in few states, explorers of states are a
//! hundred times faster; where there are few classes and many states, they never end. Where choices
//! are independent, there are many of both, and the finite prefix is small. Which is the case is
//! not known beforehand. So UDPOR starts alone. If it has no answer after
//! [`first`](Auto::first) steps, several searches take turns, until one of them has an answer
//! ([`turns`](super::turns)).
//!
//! An **answer** is a complete search, or a violation if one is enough. So is what every search
//! would say: that something is not supported, or is cut on the way. A search that a limit has
//! ended is never an answer. It is out, and the others go on. So each verdict is that of one search
//! by one explorer, and is as sound as that explorer.
//!
//! **Who takes part** depends on the system and the budget: explorers that do not refuse them, and
//! judge all properties; the prefix only where processes do not really run, as it has as many
//! events as UDPOR there; `stateful` where it need not execute each transition on the model, and
//! `fused` elsewhere. Only explorers of classes take part if executions are counted, or if the
//! shortest counterexample is to be found. A depth has to mean the same to all. If the system
//! demands that something happens in the end, `fair` is alone: no other explorer judges that. If
//! it has timeouts that fire when nothing else can happen, `fused` is alone.
//!
//! The result is that of the search that answers, with its figures. An observer receives the
//! executions of the search that starts, and no others.

use std::num::NonZeroU32;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use super::budget::{Budget, Depth};
use super::driver::Driver;
use super::explorer::{Explorer, Guarantee, Profile, judges_all, refusal_by, run};
use super::observer::{NoObserver, Observer};
use super::prefix::search::FinitePrefix;
use super::result::{Outcome, Stats, StopReason};
use super::settings::options::{Options, Takes};
use super::states::every_state::EveryState;
use super::states::fair::search::Fair;
use super::states::fused::Fused;
use super::states::s_por::SPor;
use super::states::settings::Stateful;
use super::turns::{Guard, Seat, Turns};
use super::udpor::search::Udpor;
use super::watchdog::Alarm;
use crate::model::System;

/// The default of [`Auto::first`]: most programs need fewer steps.
const FIRST: u64 = 1 << 17;

/// The rounds after which [`Auto::favourite`] decides: about three times as long as the start.
const ROUNDS: u32 = 3;

/// Runs the explorers of a list by turns; the first answer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auto {
    /// The number of steps after which the search that starts is not alone any more.
    pub first: u64,
    /// The number of searches that go on at once. It makes no difference to the result.
    pub jobs: NonZeroU32,
}

impl Default for Auto {
    fn default() -> Self {
        Auto { first: FIRST, jobs: NonZeroU32::MIN }
    }
}

macro_rules! entrants {
    ($($explorer:ident: $made:expr, weight $weight:expr;)*) => {
        /// An explorer that may take part.
        #[derive(Clone, Copy, Debug)]
        enum Entrant {
            $($explorer($explorer)),*
        }

        impl Entrant {
            /// All of them, in the order of their turns. The last one starts.
            fn all() -> Vec<Entrant> {
                vec![$(Entrant::$explorer($made)),*]
            }

            /// The steps of its shares, in proportion to those of the others: about as many as each
            /// takes in the same time.
            fn weight(&self) -> u64 {
                match self {
                    $(Entrant::$explorer(_) => $weight),*
                }
            }
        }

        impl Explorer for Entrant {
            fn profile(&self) -> Profile {
                match self {
                    $(Entrant::$explorer(explorer) => explorer.profile()),*
                }
            }

            fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
                match self {
                    $(Entrant::$explorer(explorer) => refusal_by(explorer, system, budget)),*
                }
            }

            fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
                match self {
                    $(Entrant::$explorer(explorer) => explorer.explore(system, driver)),*
                }
            }
        }
    };
}

entrants! {
    FinitePrefix: FinitePrefix::default(), weight 96;
    SPor: SPor::lazy(Stateful::default()), weight 2;
    EveryState: EveryState::default(), weight 24;
    Fused: Fused::default(), weight 2;
    Fair: Fair, weight 2;
    Udpor: Udpor::default(), weight 4;
}

impl Entrant {
    /// Can it give the answer?
    fn is_fit<S: System>(&self, system: &S, budget: &Budget) -> bool {
        let profile = self.profile();
        let follows_classes = profile.guarantee >= Guarantee::EveryClass;
        let measures = |depth| budget.depth.is_none() || profile.depth == depth;
        if self.refusal(system, budget).is_some() {
            return false;
        }
        if self.is_only(system) {
            return true;
        }
        let gains = match self {
            // Where states are histories, a prefix has as many events as UDPOR.
            Entrant::FinitePrefix(_) => !system.foresight().remembers_all(),
            // One of these two: both visit all states up to steps that concern one process.
            Entrant::EveryState(explorer) => !explorer.is_on_the_model(system),
            Entrant::Fused(_) => EveryState::default().is_on_the_model(system),
            // Without demands it is a slow `stateful`.
            Entrant::Fair(_) => false,
            _ => true,
        };
        gains
            && judges_all(&profile, system, budget)
            && (follows_classes || budget.max_traces.is_none() && !budget.shortest)
            && measures(budget.measure.unwrap_or(Depth::Causal))
    }

    /// Can no other explorer answer for this system?
    fn is_only<S: System>(&self, system: &S) -> bool {
        match self {
            Entrant::Fair(_) => system.liveness().is_some(),
            Entrant::Fused(_) => {
                system.objects().may_time_out_when_stuck && system.liveness().is_none()
            }
            _ => false,
        }
    }
}

impl Auto {
    /// The explorer with these options.
    pub fn new(options: &Options) -> Self {
        let one = Auto::default();
        Auto { jobs: options.jobs.unwrap_or(one.jobs), ..one }
    }

    /// The explorers that take part. If none is fit, the only one that could answer, or the last
    /// one of the list.
    fn entrants<S: System>(system: &S, budget: &Budget) -> Vec<Entrant> {
        let mut all = Entrant::all();
        let only = all.iter().find(|entrant| entrant.is_only(system));
        let last = only.or(all.last()).copied();
        all.retain(|entrant| entrant.is_fit(system, budget));
        if all.is_empty() { last.into_iter().collect() } else { all }
    }

    /// The searches of these explorers.
    fn race<'r, S: System>(
        &self,
        system: &'r S,
        (entrants, budget): (&'r [Entrant], Budget),
        driver: &Driver<'_>,
    ) -> Race<'r, S> {
        let weights = entrants.iter().map(Entrant::weight).collect();
        let turns = Turns::new(weights, self.first, self.jobs.get() as usize);
        Race { system, entrants, turns, budget, alarm: driver.alarm() }
    }

    /// The name of the explorer that answers within a few rounds (seconds, mostly) or, if none
    /// does, expects to be done first. For a search that is saved: there is no turn to take when it
    /// goes on. `None` if a limit or a signal ends the rounds.
    pub fn favourite<S: System>(&self, system: &S, budget: &Budget) -> Option<&'static str> {
        let entrants = Auto::entrants(system, budget);
        let mut nobody = NoObserver;
        let mut driver = Driver::new(system, budget.clone(), &mut nobody);
        let inside = Budget { timeout: None, max_memory: None, ..budget.clone() };
        let mut race = self.race(system, (&entrants, inside), &driver);
        race.turns = race.turns.limited(Some(ROUNDS));
        let number = match &entrants[..] {
            [_] => Some(0),
            _ => {
                let (number, outcome) = race.run(self.first, &mut driver);
                is_answer(&outcome).then_some(number).or(race.turns.least())
            }
        };
        number.map(|number| entrants[number].profile().name)
    }
}

impl Explorer for Auto {
    fn profile(&self) -> Profile {
        Profile {
            name: "auto",
            summary: "udpor; if it takes long, the prefix and explorers of states take turns with it",
            guarantee: Guarantee::EveryViolation,
            takes: Takes { options: &["jobs"], ..Takes::NOTHING },
            both_depths: true,
            chooses: true,
            ..Profile::default()
        }
    }

    fn refusal<S: System>(&self, system: &S, budget: &Budget) -> Option<String> {
        match *Auto::entrants(system, budget) {
            [only] => only.refusal(system, budget),
            _ => None,
        }
    }

    fn explore<S: System>(&self, system: &S, driver: &mut Driver<'_>) {
        // The driver of the whole search enforces these limits.
        let budget = Budget { timeout: None, max_memory: None, ..driver.budget().clone() };
        let entrants = Auto::entrants(system, &budget);
        let race = self.race(system, (&entrants, budget), driver);
        let (number, mut outcome) = race.run(self.first, driver);
        if outcome.stopped_by == Some(StopReason::Interrupted) {
            outcome.stopped_by = driver.limit_reached().or(outcome.stopped_by);
        }
        let answered_by = Some(entrants[number].profile().name.into());
        driver.adopt(Outcome { answered_by, ..outcome });
    }
}

/// The searches of one system.
struct Race<'r, S> {
    system: &'r S,
    entrants: &'r [Entrant],
    turns: Turns,
    budget: Budget,
    /// What ends all searches.
    alarm: Alarm,
}

impl<S: System> Race<'_, S> {
    /// Runs the searches until one has an answer, or none can have one. Returns the result with the
    /// number of its search.
    fn run(&self, first: u64, driver: &mut Driver<'_>) -> (usize, Outcome) {
        let others = self.entrants.len() - 1;
        let mut outcomes: Vec<Option<Outcome>> = thread::scope(|scope| {
            let _guard = Guard(&self.turns);
            let mut threads = Vec::new();
            let mut start_others = || {
                if threads.is_empty() {
                    threads.extend((0..others).map(|n| scope.spawn(move || self.follow(n))));
                }
            };
            let seat = Seat::first(&self.turns, &mut start_others);
            let started = self.search(others, seat, first, driver.observer);
            let answers = is_answer(&started);
            self.turns.end(others, answers);
            if !answers {
                start_others();
            }
            let signal = driver.signal().clone();
            self.turns.wait(&signal, &mut |stats| driver.progress(stats));
            let join = |thread: ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            let mut outcomes: Vec<_> = threads.into_iter().map(join).collect();
            outcomes.resize_with(others, || None);
            outcomes.push(Some(started));
            outcomes
        });
        let best = best(&outcomes);
        (best, outcomes[best].take().expect("a result"))
    }

    /// Runs a search that does not start; `None` if it never gets a turn.
    fn follow(&self, number: usize) -> Option<Outcome> {
        let _guard = Guard(&self.turns);
        let mut latest = Latest(&self.turns);
        let seat = Seat::new(&self.turns, number);
        let steps = seat.wait_for_turn(self.alarm.signal(), &mut |_| {});
        let outcome = steps.map(|steps| self.search(number, seat, steps, &mut latest));
        self.turns.end(number, outcome.as_ref().is_some_and(is_answer));
        outcome
    }

    fn search<'d>(
        &self,
        number: usize,
        seat: Seat<'d>,
        steps: u64,
        observer: &'d mut dyn Observer,
    ) -> Outcome {
        let (entrant, budget) = (self.entrants[number], self.budget.clone());
        let refusal = entrant.refusal(self.system, &budget);
        let driver =
            Driver::new(self.system, budget, observer).by_turns(seat, steps, self.alarm.clone());
        run(self.system, entrant, refusal, driver)
    }
}

/// The number of the result that counts: the first answer; else the first with a violation; else
/// that of the search that started.
fn best(outcomes: &[Option<Outcome>]) -> usize {
    let first = |is_it: fn(&Outcome) -> bool| {
        outcomes.iter().position(|outcome| outcome.as_ref().is_some_and(is_it))
    };
    first(is_answer)
        .or_else(|| first(|outcome| !outcome.violations.is_empty()))
        .unwrap_or(outcomes.len() - 1)
}

/// Is this outcome an answer?
fn is_answer(outcome: &Outcome) -> bool {
    use StopReason::{Depth, LongLoop, Oversubscribed, Polls, Unsupported, Violation};
    match outcome.stopped_by {
        None | Some(Violation) => true,
        // Another search would meet the same.
        Some(Depth | LongLoop | Oversubscribed | Polls | Unsupported) => true,
        Some(_) => false,
    }
}

/// Stores the latest figures of a search.
struct Latest<'t>(&'t Turns);

impl Observer for Latest<'_> {
    fn follows_transitions(&self) -> bool {
        false
    }

    fn progress(&mut self, stats: &Stats, _: Duration) {
        self.0.note(stats);
    }
}
