//! An execution with the state after each step.
//!
//! The execution is replayed once more. After each step all facts are collected and compared with
//! the facts before. That is slow for large states, but obviously right.

use rustc_hash::FxHashMap;

use super::{Run, Topic};
use crate::model::{Refusal, Schedule, System};
use crate::property::{Fact, Replay};
use crate::report::picture::SpaceTime;
use crate::trace::Execution;

/// The execution behind a chart, without a name. `drawn` has for each action its event, if the
/// picture of the unfolding shows it.
pub(super) fn with_states<S: System>(
    system: &S,
    allow_pending: bool,
    chart: SpaceTime,
    schedule: &Schedule,
    drawn: &[Option<usize>],
) -> Result<Run, Refusal> {
    let first = schedule.len() - chart.steps.len();
    let mut replay = Replay::new(system);
    replay.allow_pending(allow_pending);
    replay.follow(&schedule[..first])?;
    let mut ledger = Ledger::default();
    ledger.update(replay.facts());
    let start = ledger.now.clone();
    let mut changes = Vec::new();
    for &action in &schedule[first..] {
        replay.step(action)?;
        changes.push(ledger.update(replay.facts()));
    }
    Ok(Run {
        name: None,
        configuration: None,
        causes: causes(system, schedule, first),
        before: drawn[..first].iter().flatten().copied().collect(),
        events: drawn[first..].to_vec(),
        topics: ledger.topics,
        start,
        changes,
        chart,
    })
}

/// For each step from `first` on, the steps that it directly depends on, numbered from `first`.
fn causes<S: System>(system: &S, schedule: &Schedule, first: usize) -> Vec<Vec<usize>> {
    let mut execution = Execution::new(system);
    schedule.iter().for_each(|&action| execution.push(action));
    let of_one = |at| {
        let direct = execution.order().direct_predecessors(at).iter();
        direct.filter_map(|&cause| (cause as usize).checked_sub(first)).collect()
    };
    (first..schedule.len()).map(of_one).collect()
}

/// The present facts by topic. A name may stand for several variables, for example if one hides
/// another: the k-th variable of that name in a state is one topic.
#[derive(Default)]
struct Ledger {
    topics: Vec<Topic>,
    numbers: FxHashMap<(Topic, usize), usize>,
    now: Vec<Option<String>>,
}

impl Ledger {
    /// Records a state, and returns the topics whose facts have changed, ascending.
    fn update(&mut self, facts: Vec<Fact>) -> Vec<(usize, Option<String>)> {
        let mut after = vec![None; self.topics.len()];
        let mut seen: FxHashMap<Topic, usize> = FxHashMap::default();
        for Fact { kind, process, name, value } in facts {
            let topic = Topic { kind, lane: process.map(|process| process.index()), name };
            let count = seen.entry(topic.clone()).or_default();
            let number = self.number((topic, *count));
            *count += 1;
            after.resize(self.topics.len(), None);
            after[number] = Some(value);
        }
        self.now.resize(after.len(), None);
        let pairs = self.now.iter().zip(&after).enumerate();
        let changed = pairs.filter(|(_, (before, after))| before != after);
        let changed = changed.map(|(number, (_, after))| (number, after.clone())).collect();
        self.now = after;
        changed
    }

    fn number(&mut self, named: (Topic, usize)) -> usize {
        *self.numbers.entry(named).or_insert_with_key(|(topic, _)| {
            self.topics.push(topic.clone());
            self.topics.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ProcessId;
    use crate::property::FactKind;

    fn variable(name: &str, value: &str) -> Fact {
        let (name, value) = (name.into(), value.into());
        Fact { kind: FactKind::Variable, process: Some(ProcessId(0)), name, value }
    }

    #[test]
    fn only_what_changes_is_kept() {
        let mut ledger = Ledger::default();
        ledger.update(vec![variable("a", "1"), variable("b", "1")]);
        assert_eq!(ledger.now, [Some("1".into()), Some("1".into())]);
        let changes = ledger.update(vec![variable("b", "2"), variable("c", "1")]);
        assert_eq!(changes, [(0, None), (1, Some("2".into())), (2, Some("1".into()))]);
        assert_eq!(ledger.update(vec![variable("b", "2"), variable("c", "1")]), []);
    }
}
