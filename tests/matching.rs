//! Matching at p2p and bag mailboxes, compared with an independent twin of the model.
//!
//! The twin visits all states of a straight-line program: posts, and waits for them. It follows
//! MPI's rules as in the standard: a receive takes a message only if no earlier open receive would
//! take it, and there is no earlier message of the same sender that the receive would take. In such
//! a program a class of executions is determined by which receive got which message. So the classes
//! are the distinct ends of the twin.

use std::collections::{BTreeSet, HashSet};

use mazurka::explore::{
    Budget, End, Exhaustive, Explorer, NoObserver, Observer, Optimal, Source, Udpor, explore,
};
use mazurka::model::{Delivery, Envelope, Settlement};
use mazurka::property::Position;
use mazurka::systems::{self, Builder, Communication, Step};

use crate::random_models::{Erased, Rng};

/// The number of programs: `MAZURKA_PROGRAMS`, or as many as an ordinary run has time for.
fn count() -> u64 {
    std::env::var("MAZURKA_PROGRAMS").map_or(400, |count| count.parse().expect("a number"))
}

#[derive(Clone, Copy, Debug)]
enum Line {
    Send {
        to: usize,
        tag: i64,
        is_synchronous: bool,
    },
    Receive {
        from: Option<i64>,
        tag: Option<i64>,
    },
    /// For the post in this line.
    Wait(usize),
}

#[derive(Clone, Debug)]
struct Lines {
    delivery: Delivery,
    ranks: Vec<Vec<Line>>,
}

/// A post, by rank and line.
type Place = (usize, usize);

fn generate(seed: u64) -> Lines {
    let mut rng = Rng::new(seed ^ 0x6d61_7463);
    let delivery = *rng.pick(&[Delivery::P2p, Delivery::P2p, Delivery::Bag]);
    let count = rng.range(2, 4);
    let ranks = (0..count).map(|rank| {
        let mut lines: Vec<Line> = Vec::new();
        let mut open = Vec::new();
        for _ in 0..rng.range(2, if count == 2 { 7 } else { 5 }) {
            if !open.is_empty() && rng.chance(30) {
                lines.push(Line::Wait(open.remove(rng.below(open.len()))));
                continue;
            }
            open.push(lines.len());
            lines.push(if rng.chance(if rank == 0 { 70 } else { 30 }) {
                Line::Receive {
                    from: rng.chance(40).then(|| rng.below(count) as i64),
                    tag: rng.chance(40).then(|| rng.below(2) as i64),
                }
            } else {
                let to = if rng.chance(60) { 0 } else { rng.below(count) };
                let (tag, is_synchronous) = (rng.below(2) as i64, rng.chance(30));
                Line::Send { to, tag, is_synchronous }
            });
        }
        lines
    });
    Lines { delivery, ranks: ranks.collect() }
}

/// A state of the twin: the progress of each rank, and the pairs of receives and sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Standing {
    at: Vec<usize>,
    pairs: BTreeSet<(Place, Place)>,
}

impl Lines {
    fn posted<'s>(&'s self, state: &'s Standing) -> impl Iterator<Item = (Place, Line)> + 's {
        self.ranks.iter().enumerate().flat_map(|(rank, lines)| {
            let done = lines[..state.at[rank]].iter().enumerate();
            done.map(move |(line, &what)| ((rank, line), what))
        })
    }

    /// Whether the receive would take the message, if there were nothing else.
    fn takes(&self, receive: Place, send: Place) -> bool {
        match (self.ranks[receive.0][receive.1], self.ranks[send.0][send.1]) {
            (Line::Receive { from, tag }, Line::Send { to, tag: sent, .. }) => {
                to == receive.0
                    && from.is_none_or(|from| from == send.0 as i64)
                    && tag.is_none_or(|tag| tag == sent)
            }
            _ => false,
        }
    }

    /// Whether the two may be paired now.
    fn may_pair(&self, state: &Standing, receive: Place, send: Place) -> bool {
        let is_free = |post: Place| state.pairs.iter().all(|&(r, s)| r != post && s != post);
        let earlier_receive =
            (0..receive.1).map(|line| (receive.0, line)).any(|r| is_free(r) && self.takes(r, send));
        let earlier_send =
            (0..send.1).map(|line| (send.0, line)).any(|s| is_free(s) && self.takes(receive, s));
        self.takes(receive, send)
            && is_free(receive)
            && is_free(send)
            && !earlier_receive
            && !(self.delivery == Delivery::P2p && earlier_send)
    }

    fn is_over(&self, state: &Standing, (rank, line): Place) -> bool {
        match self.ranks[rank][line] {
            Line::Send { is_synchronous: false, .. } => true,
            _ => state.pairs.iter().any(|&(r, s)| r == (rank, line) || s == (rank, line)),
        }
    }

    fn next(&self, state: &Standing) -> Vec<Standing> {
        let mut all = Vec::new();
        for (rank, lines) in self.ranks.iter().enumerate() {
            let may_go = match lines.get(state.at[rank]) {
                None => false,
                Some(&Line::Wait(post)) => self.is_over(state, (rank, post)),
                Some(_) => true,
            };
            if may_go {
                let mut next = state.clone();
                next.at[rank] += 1;
                all.push(next);
            }
        }
        let posted: Vec<Place> = self.posted(state).map(|(place, _)| place).collect();
        for &receive in &posted {
            for &send in posted.iter().filter(|&&send| self.may_pair(state, receive, send)) {
                let mut next = state.clone();
                next.pairs.insert((receive, send));
                all.push(next);
            }
        }
        all
    }

    /// All ends, or `None` if there are too many states.
    fn ends(&self) -> Option<BTreeSet<Standing>> {
        let start = Standing { at: vec![0; self.ranks.len()], pairs: BTreeSet::new() };
        let (mut seen, mut pending) = (HashSet::from([start.clone()]), vec![start]);
        let mut ends = BTreeSet::new();
        while let Some(state) = pending.pop() {
            if seen.len() > 20_000 {
                return None;
            }
            let next = self.next(&state);
            if next.is_empty() {
                ends.insert(state);
                continue;
            }
            pending.extend(next.into_iter().filter(|next| seen.insert(next.clone())));
        }
        Some(ends)
    }

    /// The same program for the library.
    fn system(&self) -> Erased<'static> {
        let mut builder = Builder::new();
        let inboxes: Vec<_> = (0..self.ranks.len())
            .map(|rank| match self.delivery {
                Delivery::Bag => builder.bag_mailbox(format!("m{rank}")),
                _ => builder.p2p_mailbox(format!("m{rank}")),
            })
            .collect();
        let most = self.ranks.iter().map(Vec::len).max().unwrap_or(0);
        let comms: Vec<Communication> = (0..most).map(|_| builder.communication()).collect();
        for (rank, lines) in self.ranks.iter().enumerate() {
            let steps = lines.iter().enumerate().map(|(line, what)| -> Step {
                match *what {
                    Line::Send { to, tag, is_synchronous } => {
                        let envelope = Envelope { src: None, tag: Some(tag) };
                        let send =
                            if is_synchronous { systems::issend_with } else { systems::isend_with };
                        send(comms[line], inboxes[to], line as i64, envelope)
                    }
                    Line::Receive { from, tag } => {
                        let pattern = Envelope { src: from, tag };
                        systems::irecv_with(comms[line], inboxes[rank], pattern)
                    }
                    Line::Wait(post) => systems::wait(comms[post]),
                }
            });
            builder.process(format!("P{rank}"), steps.collect::<Vec<_>>());
        }
        Erased::new(builder.build())
    }
}

/// The ends that a search visits, in the form of the twin, each with the number of its visits.
struct Ends<'l> {
    lines: &'l Lines,
    met: Vec<Standing>,
}

impl Observer for Ends<'_> {
    fn trace(&mut self, at: Position<'_>, _: End) {
        let state = at.state();
        // The posts of each rank, in their order: sends and receives alike.
        let places: Vec<Vec<usize>> = self
            .lines
            .ranks
            .iter()
            .map(|lines| {
                let posts = lines.iter().enumerate();
                posts.filter(|(_, line)| !matches!(line, Line::Wait(_))).map(|(at, _)| at).collect()
            })
            .collect();
        let network = state.network();
        let place = |process: usize, position: usize| {
            let before = (0..position).filter(|&at| {
                let (by, op) = (state.action(at).process.index(), state.before(at));
                by == process && self.is_post(process, op, at, state)
            });
            (process, places[process][before.count()])
        };
        let pairs = network.receives().iter().filter_map(|receive| match receive.outcome() {
            Settlement::Matched(send) => {
                let send = &network.sends()[send as usize];
                let to = place(receive.process.index(), receive.at());
                Some((to, place(send.process.index(), send.at())))
            }
            _ => None,
        });
        let pairs = pairs.collect();
        let acted = |rank: usize| {
            let by = state.schedule().filter(|action| action.process.index() == rank);
            by.count()
        };
        let at = (0..self.lines.ranks.len()).map(acted).collect();
        self.met.push(Standing { at, pairs });
    }
}

impl Ends<'_> {
    /// Whether the action of this rank at `position` was a post.
    fn is_post(
        &self,
        rank: usize,
        _: mazurka::model::LocalId,
        position: usize,
        state: &mazurka::model::State,
    ) -> bool {
        let before = (0..position).filter(|&at| state.action(at).process.index() == rank).count();
        !matches!(self.lines.ranks[rank][before], Line::Wait(_))
    }
}

fn check(lines: &Lines, expected: &BTreeSet<Standing>, method: impl Explorer) -> Vec<Standing> {
    let system = lines.system();
    let mut found = Ends { lines, met: Vec::new() };
    let budget = Budget { all: true, ..Budget::default() };
    let outcome = explore(&system, method, budget, &mut found);
    assert!(outcome.stopped_by.is_none(), "{:?} on {lines:?}", outcome.stopped_by);
    let distinct: BTreeSet<Standing> = found.met.iter().cloned().collect();
    assert_eq!(&distinct, expected, "{method:?} on {lines:#?}");
    found.met
}

#[test]
fn who_gets_which_message_is_as_mpi_says() {
    let (mut tried, mut wide) = (0, 0);
    for seed in 0..count() {
        let lines = generate(seed);
        let Some(ends) = lines.ends() else { continue };
        let budget = Budget { all: true, max_traces: Some(3_000), ..Budget::default() };
        let size = explore(&lines.system(), Exhaustive, budget, &mut NoObserver);
        if size.stopped_by.is_none() {
            check(&lines, &ends, Exhaustive);
            assert_eq!(size.stats.classes, Some(ends.len() as u64), "classes of {lines:#?}");
        }
        // Each class once.
        for met in [
            check(&lines, &ends, Udpor::default()),
            check(&lines, &ends, Optimal::default()),
            check(&lines, &ends, Source::default()),
        ] {
            assert_eq!(met.len(), ends.len(), "{lines:#?}");
        }
        tried += 1;
        wide += usize::from(ends.len() > 1);
    }
    println!("{tried} programs, {wide} with several ends");
    assert!(4 * wide > tried, "{wide} of {tried} programs have several ends");
}
