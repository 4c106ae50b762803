//! What is known of a net after its prefix was built, for the questions that are asked then.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::FxHashSet;

use super::net::{Look, ModelNet};
use super::transitions::{Branch, Delay};
use crate::model::{LocalId, System};
use crate::unfolding::prefix::{Code, Line, Net, Next};

impl<S: System> ModelNet<'_, S> {
    /// The local state of a process with this code; `None` if it does not exist.
    pub fn local(&self, line: Line, code: Code) -> Option<LocalId> {
        self.local.get(&(line, code)).map(|&(local, _)| local)
    }

    /// Can a process with this code never move?
    pub(crate) fn is_idle(&self, line: Line, code: Code) -> bool {
        let next = self.first.get(&(line, code));
        next.is_none_or(|next| matches!(next, Next::Transitions(from, to) if from == to))
    }

    /// Has a process with this code ended, or may it rest for ever?
    pub fn has_ended(&self, line: Line, code: Code) -> bool {
        self.local.get(&(line, code)).is_none_or(|&(_, is_open)| !is_open)
    }

    /// The situations in which a process with this code is blocked, or has ended: for each, the
    /// codes that it has seen at other lines.
    pub(crate) fn rests(&self, line: Line, code: Code) -> Vec<Vec<(Line, Code)>> {
        let mut found = Vec::new();
        if let Some(&next) = self.first.get(&(line, code)) {
            self.add_rests(next, &mut Vec::new(), &mut found);
        }
        found
    }

    fn add_rests(
        &self,
        next: Next,
        seen: &mut Vec<(Line, Code)>,
        found: &mut Vec<Vec<(Line, Code)>>,
    ) {
        match next {
            Next::Transitions(from, to) => {
                let all = &self.steps[from as usize..to as usize];
                let is_rest = all.iter().all(|step| step.delay != Delay::Never);
                found.extend(is_rest.then(|| seen.clone()));
            }
            // What each of its choices looks at is not distinguished.
            Next::Each(from, to) => {
                let may_rest = |branch: &Branch| {
                    let mut rests = Vec::new();
                    branch.next.iter().for_each(|&next| {
                        self.add_rests(next, &mut Vec::new(), &mut rests);
                    });
                    branch.next.is_none() || !rests.is_empty()
                };
                let all = &self.branches[from as usize..to as usize];
                found.extend(all.iter().all(may_rest).then(|| seen.clone()));
            }
            Next::Look(look) => {
                let Look { at, ref answers } = self.looks[look as usize];
                for (&code, &next) in answers {
                    seen.push((at, code));
                    self.add_rests(next, seen, found);
                    seen.pop();
                }
            }
        }
    }

    /// The codes of processes from which they can come back to them by transitions that change no
    /// other line.
    pub fn codes_on_circles(&self) -> FxHashSet<(Line, Code)> {
        let mut steps: DiGraphMap<(Line, Code), ()> = DiGraphMap::new();
        for (&(line, code), &next) in &self.first {
            self.each_after(next, |next| {
                if let Next::Transitions(from, to) = next {
                    let made = self.transitions[from as usize..to as usize].iter();
                    for made in made.filter(|made| made.changes.is_empty()) {
                        steps.add_edge((line, code), (line, made.own), ());
                    }
                }
            });
        }
        let components = tarjan_scc(&steps).into_iter();
        let is_circle = |all: &Vec<(Line, Code)>| {
            all.len() > 1 || all.iter().any(|&one| steps.contains_edge(one, one))
        };
        components.filter(is_circle).flatten().collect()
    }

    /// The lines that a process with this code may look at.
    pub(crate) fn lines_seen(&self, line: Line, code: Code) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(next) = self.first(line, code) {
            self.each_after(next, |next| {
                if let Next::Look(look) = next {
                    lines.push(self.looks[look as usize].at);
                }
            });
        }
        lines
    }

    /// Calls `each` with this answer and all that are known to follow it.
    fn each_after(&self, next: Next, mut each: impl FnMut(Next)) {
        let mut open = vec![next];
        while let Some(next) = open.pop() {
            each(next);
            match next {
                Next::Transitions(..) => {}
                Next::Look(look) => open.extend(self.looks[look as usize].answers.values()),
                Next::Each(from, to) => {
                    let all = &self.branches[from as usize..to as usize];
                    open.extend(all.iter().filter_map(|branch| branch.next));
                }
            }
        }
    }
}
