//! Straight chains, each in one box: they shorten a picture that would be too high.
//!
//! In a partial order a chain consists of events of one process. Each has the previous one as its
//! only cause and is the only effect of it, and none is in conflict with anything. In a space-time
//! diagram it consists of consecutive steps of one process; arrows lead only to the first and only
//! from the last, and no mutex is taken or released in between. In a search tree it consists of
//! calls that make one call each.
//!
//! The picture is made anew with one event or step for each chain, under new numbers. The box shows
//! the first and last of the old numbers, `3…9`; a script finds the old numbers in the names of
//! parts.

use std::ops::Deref;

use super::canvas::clipped;
use crate::report::picture::{Event, Moment, Node, PartialOrder, SearchTree, SpaceTime, Turn};
use crate::report::plural;

/// The length of the shortest chain: a box for fewer would not be shorter to read.
const SHORTEST: usize = 3;

/// The maximum number of characters for the first and for the last operation.
const NAMED: usize = 14;

/// A picture, and the parts of the original picture that each of its boxes stands for.
pub(super) struct Chained<P> {
    picture: P,
    chains: Vec<Vec<usize>>,
    /// The number that is printed for the first box.
    start: usize,
}

impl<P> Deref for Chained<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.picture
    }
}

impl<P> Chained<P> {
    /// The number that is printed for an event or a step.
    pub(super) fn number(&self, id: usize) -> String {
        let (first, last) = (self.first(id) + self.start, self.last(id) + self.start);
        if self.is_chain(id) { format!("{first}…{last}") } else { first.to_string() }
    }

    /// Whether this box stands for a chain.
    pub(super) fn is_chain(&self, id: usize) -> bool {
        self.chains[id].len() > 1
    }

    /// The first part that a box stands for: lines lead to this part.
    pub(super) fn first(&self, id: usize) -> usize {
        self.chains[id][0]
    }

    /// The last part that a box stands for: lines begin at this part.
    pub(super) fn last(&self, id: usize) -> usize {
        self.chains[id][self.chains[id].len() - 1]
    }

    /// The attribute of a box, and for a chain also the list of its parts.
    pub(super) fn named(&self, name: &str, id: usize) -> String {
        let own = format!("{name}=\"{}\"", self.first(id));
        let parts: Vec<_> = self.chains[id].iter().map(usize::to_string).collect();
        match self.is_chain(id) {
            true => format!("{own} data-parts=\"{}\"", parts.join(" ")),
            false => own,
        }
    }

    /// The name of a line from one box to another.
    pub(super) fn between(&self, what: &str, from: usize, to: usize) -> String {
        let (from, to) = (self.last(from), self.first(to));
        format!("class=\"{what}\" data-from=\"{from}\" data-to=\"{to}\"")
    }

    /// Whether some box stands for a chain.
    pub(super) fn is_short(&self) -> bool {
        (0..self.chains.len()).any(|id| self.is_chain(id))
    }
}

/// The label of a chain.
fn label(first: &str, last: &str) -> String {
    format!("{} … {}", clipped(first, NAMED), clipped(last, NAMED))
}

/// For each part, the index of its chain. Chains are in the order of their first parts.
fn places(chains: &[Vec<usize>], count: usize) -> Vec<usize> {
    let mut places = vec![0; count];
    for (place, chain) in chains.iter().enumerate() {
        chain.iter().for_each(|&part| places[part] = place);
    }
    places
}

/// The chains that are drawn. If the picture is not too high, each part is one by itself; so is
/// each part of a chain shorter than `SHORTEST`.
fn chosen(chains: Vec<Vec<usize>>, is_high: bool) -> Vec<Vec<usize>> {
    let apart = |chain: Vec<usize>| match is_high && chain.len() >= SHORTEST {
        true => vec![chain],
        false => chain.into_iter().map(|part| vec![part]).collect(),
    };
    let mut chains: Vec<_> = chains.into_iter().flat_map(apart).collect();
    chains.sort_by_key(|chain| chain[0]);
    chains
}

/// The partial order; if it is too high, with one box for each chain.
pub(super) fn of_order(order: &PartialOrder, is_high: bool) -> Chained<PartialOrder> {
    let events = &order.events;
    let mut effects = vec![0; events.len()];
    events.iter().flat_map(|event| &event.causes).for_each(|&cause| effects[cause] += 1);
    let mut is_disputed = vec![false; events.len()];
    for &(a, b) in &order.conflicts {
        (is_disputed[a], is_disputed[b]) = (true, true);
    }
    let follows = |before: &Event, event: &Event| {
        event.causes == [before.id]
            && effects[before.id] == 1
            && (event.lane, event.fate) == (before.lane, before.fate)
            && event.cutoff_of.is_none()
            && !is_disputed[before.id]
            && !is_disputed[event.id]
    };
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut chain_of = vec![0; events.len()];
    for event in events {
        let before = event.causes.first().map(|&cause| &events[cause]);
        let before = before.filter(|before| follows(before, event));
        chain_of[event.id] = before.map_or(chains.len(), |before| chain_of[before.id]);
        match before {
            Some(_) => chains[chain_of[event.id]].push(event.id),
            None => chains.push(vec![event.id]),
        }
    }
    let chains = chosen(chains, is_high);
    let places = places(&chains, events.len());
    let mut drawn: Vec<Event> = Vec::new();
    for chain in &chains {
        let (first, last) = (&events[chain[0]], &events[chain[chain.len() - 1]]);
        let causes: Vec<usize> = first.causes.iter().map(|&cause| places[cause]).collect();
        let depth = causes.iter().map(|&cause| drawn[cause].depth).max().unwrap_or(0) + 1;
        let short = (chain.len() > 1).then(|| label(&first.label, &last.label));
        drawn.push(Event {
            id: drawn.len(),
            depth,
            causes,
            outcome: match short {
                Some(_) => Some(format!("{} in a chain", plural(chain.len(), "event"))),
                None => first.outcome.clone(),
            },
            label: short.unwrap_or_else(|| first.label.clone()),
            ..first.clone()
        });
    }
    let mut configurations = order.configurations.clone();
    for configuration in &mut configurations {
        configuration.last.iter_mut().for_each(|event| *event = places[*event]);
    }
    let conflicts = order.conflicts.iter().map(|&(a, b)| (places[a], places[b])).collect();
    let picture = PartialOrder { events: drawn, conflicts, configurations, ..order.clone() };
    Chained { picture, chains, start: 0 }
}

/// The chart; if it is too high, with one box for each chain.
pub(super) fn of_chart(chart: &SpaceTime, is_high: bool) -> Chained<SpaceTime> {
    let steps = &chart.steps;
    let (mut has_arrow_to, mut has_arrow_from) =
        (vec![false; steps.len()], vec![false; steps.len()]);
    let holds = || chart.holds.iter().flat_map(|hold| std::iter::once(hold.from).chain(hold.to));
    let sent = chart.pending.iter().filter_map(|message| message.from);
    let started = chart.lanes.iter().filter_map(|lane| lane.started_by);
    let from = chart.arrows.iter().map(|arrow| arrow.from).chain(sent).chain(started);
    from.chain(holds()).for_each(|step| has_arrow_from[step] = true);
    let to = chart.arrows.iter().map(|arrow| arrow.to);
    to.chain(holds()).for_each(|step| has_arrow_to[step] = true);
    let follows = |a: &Moment, b: &Moment| {
        let is_apart = has_arrow_from[a.id] || has_arrow_to[b.id] || chart.loop_from == Some(b.id);
        a.lane == b.lane && !is_apart
    };
    let runs = steps.chunk_by(follows).map(|run| run.iter().map(|step| step.id).collect());
    let chains = chosen(runs.collect(), is_high);
    let places = places(&chains, steps.len());
    let drawn = chains.iter().enumerate().map(|(id, chain)| {
        let (first, last) = (&steps[chain[0]], &steps[chain[chain.len() - 1]]);
        if chain.len() == 1 {
            return Moment { id, ..first.clone() };
        }
        let outcome = Some(format!("{} in a row", plural(chain.len(), "step")));
        Moment { id, label: label(&first.label, &last.label), outcome, ..first.clone() }
    });
    let mut picture = SpaceTime { steps: drawn.collect(), ..chart.clone() };
    for arrow in &mut picture.arrows {
        (arrow.from, arrow.to) = (places[arrow.from], places[arrow.to]);
    }
    picture.loop_from = picture.loop_from.map(|step| places[step]);
    for hold in &mut picture.holds {
        (hold.from, hold.to) = (places[hold.from], hold.to.map(|to| places[to]));
    }
    for message in &mut picture.pending {
        message.from = message.from.map(|from| places[from]);
    }
    for lane in &mut picture.lanes {
        lane.started_by = lane.started_by.map(|step| places[step]);
    }
    Chained { picture, chains, start: 1 }
}

/// The search tree; if it is too high, with one box for each chain.
pub(super) fn of_tree(tree: &SearchTree, is_high: bool) -> Chained<SearchTree> {
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut chain_of = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let before = node.parent.filter(|&parent| is_straight(&tree.nodes[parent]));
        let before = before.filter(|_| is_straight(node));
        chain_of.push(before.map_or(chains.len(), |before| chain_of[before]));
        match before {
            Some(_) => chains[chain_of[node.id]].push(node.id),
            None => chains.push(vec![node.id]),
        }
    }
    let chains = chosen(chains, is_high);
    let places = places(&chains, tree.nodes.len());
    let nodes = chains.iter().enumerate().map(|(id, chain)| {
        let (first, last) = (&tree.nodes[chain[0]], &tree.nodes[chain[chain.len() - 1]]);
        let mut turn = first.turn.clone();
        if let (Turn::Chose { left, right, .. }, Turn::Chose { left: next, .. }) =
            (&mut turn, &last.turn)
        {
            *left = next.map(|next| places[next]);
            *right = right.map(|right| places[right]);
        }
        Node { id, parent: first.parent.map(|parent| places[parent]), turn, ..first.clone() }
    });
    let picture = SearchTree { nodes: nodes.collect(), ..tree.clone() };
    Chained { picture, chains, start: 1 }
}

/// Whether this call makes exactly one other call, by which the search continues.
fn is_straight(node: &Node) -> bool {
    matches!(node.turn, Turn::Chose { left: Some(_), right: None, alternative: None, .. })
}
