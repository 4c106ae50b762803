//! The clients, and the explorers that search them.
//!
//! | structure | calls a thread | also with `full` | keys | seeds |
//! |---|---|---|---|---|
//! | coarse-list | 3, 4 | 5 | 1, 2, 4 | 0, 1 |
//! | lazy-list | 2, 3 | 4 | 1, 2, 4 | 0, 1 |
//! | tree-set | 4, 5 | | 1, 2, 4 | 0, 1 |
//! | coarse-map | 3, 4 | | 1, 2, 4 | 0, 1 |
//! | striped-map | 4, 5 | | 2, 4, 8 | 0, 1 |
//! | queue, stack | 2, 3 | 4 | none | 0 to 5 |
//!
//! Each client has three threads. As in the paper, it calls only operations that change the
//! structure: `add` and `remove`, or their counterparts. With few keys the threads contend, with
//! many they do not. There are 84 clients, 108 with `full`.
//!
//! A buggy structure has a misplaced lock for one key. Its clients have three threads with three
//! calls each, and three keys. For each [class](Buggy) of calls that run into the bug there are the
//! seeds 0 to 4 (0 to 9 with `full`): 80 clients, 160 with `full`. The seeds were not selected, so
//! in some clients the bug has no consequence.

use crate::study::Case;
use crate::workshop::client::{Buggy, Unmade, Wish, client};
use crate::workshop::specs;

use super::Contender;

/// The number of threads of every client.
pub(crate) const THREADS: usize = 3;

struct Structure {
    name: &'static str,
    operations: [&'static str; 2],
    /// The numbers of calls of a thread.
    calls: &'static [usize],
    /// Further numbers of calls, with `full`.
    full_calls: &'static [usize],
    keys: &'static [usize],
    seeds: u64,
}

const SET: [&str; 2] = ["add", "remove"];
const MAP: [&str; 2] = ["put", "take"];

const fn set(
    name: &'static str,
    calls: &'static [usize],
    full_calls: &'static [usize],
) -> Structure {
    Structure { name, operations: SET, calls, full_calls, keys: &[1, 2, 4], seeds: 2 }
}

const fn map(name: &'static str, calls: &'static [usize], keys: &'static [usize]) -> Structure {
    Structure { name, operations: MAP, calls, full_calls: &[], keys, seeds: 2 }
}

const fn keyless(name: &'static str, operations: [&'static str; 2]) -> Structure {
    Structure { name, operations, calls: &[2, 3], full_calls: &[4], keys: &[1], seeds: 6 }
}

const STRUCTURES: [Structure; 7] = [
    set("coarse-list", &[3, 4], &[5]),
    set("lazy-list", &[2, 3], &[4]),
    set("tree-set", &[4, 5], &[]),
    map("coarse-map", &[3, 4], &[1, 2, 4]),
    map("striped-map", &[4, 5], &[2, 4, 8]),
    keyless("queue", ["enqueue", "dequeue"]),
    keyless("stack", ["push", "pop"]),
];

/// The structures whose bug is a misplaced lock.
const WRONG: [(&str, [&str; 2]); 4] =
    [("coarse-list", SET), ("lazy-list", SET), ("coarse-map", MAP), ("striped-map", MAP)];
const WRONG_CALLS: usize = 3;
const WRONG_KEYS: usize = 3;

/// The classes of buggy clients, from those where the error is easiest to find.
pub(crate) const CLASSES: [Buggy; 4] = [Buggy::All, Buggy::Half, Buggy::One, Buggy::None];

/// A client that can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounded {
    /// The structure, by the name of its file.
    pub structure: &'static str,
    /// The operations that are called.
    pub operations: [&'static str; 2],
    /// The number of calls of each thread.
    pub calls: usize,
    /// The number of keys.
    pub keys: usize,
    /// The seed of the client.
    pub seed: u64,
    /// The number of calls that run into the bug; `None` if the structure is correct.
    pub buggy: Option<Buggy>,
}

impl Bounded {
    /// The name of the client: `lazy-list, calls 3, keys 2, seed 0`.
    pub(crate) fn name(&self) -> String {
        let Bounded { structure, calls, keys, seed, .. } = self;
        let class = self.buggy.map_or(String::new(), |buggy| format!(", buggy {}", buggy.word()));
        format!("{structure}, calls {calls}, keys {keys}, seed {seed}{class}")
    }

    /// The command that makes the client.
    pub(crate) fn command(&self) -> String {
        let Bounded { structure, operations, calls, keys, seed, .. } = self;
        let class = self.buggy.map_or(String::new(), |buggy| format!(" --buggy {}", buggy.word()));
        format!(
            "mazurka client specs/structures/{structure}.maz --threads {THREADS} --calls {calls} \
             --keys {keys} --seed {seed} --operations {}{class}",
            operations.join(",")
        )
    }

    /// The client as a program in which each statement is an action.
    ///
    /// # Errors
    /// If the structure does not allow such a client.
    ///
    /// # Panics
    /// If the structure is not built in, which a test excludes.
    pub(crate) fn case(&self) -> Result<Case, Unmade> {
        let file = format!("structures/{}.maz", self.structure);
        let source = specs::source(&file).expect("a structure that is built in");
        let wish = Wish {
            timeout: None,
            threads: THREADS,
            calls: self.calls,
            operations: self.operations.map(str::to_owned).to_vec(),
            keys: self.keys,
            seed: self.seed,
            buggy: self.buggy,
            defines: Vec::new(),
        };
        let made = client(&file, source, &wish, &self.command())?;
        Ok(Case {
            name: self.name(),
            source: made.text,
            defines: Vec::new(),
            by_statement: true,
            allow_pending: false,
            daemons: Vec::new(),
            unfair: false,
            semantics: Default::default(),
            faults: Default::default(),
        })
    }
}

/// The clients of correct structures.
pub fn clients(full: bool) -> Vec<Bounded> {
    let mut clients = Vec::new();
    for structure in &STRUCTURES {
        let Structure { name, operations, keys, seeds, .. } = *structure;
        let more = structure.full_calls.iter().filter(|_| full);
        for &calls in structure.calls.iter().chain(more) {
            for &keys in keys {
                clients.extend((0..seeds).map(|seed| Bounded {
                    structure: name,
                    operations,
                    calls,
                    keys,
                    seed,
                    buggy: None,
                }));
            }
        }
    }
    clients
}

/// The clients of buggy structures, class by class.
pub fn buggy_clients(full: bool) -> Vec<Bounded> {
    let seeds = if full { 10 } else { 5 };
    let mut clients = Vec::new();
    for class in CLASSES {
        for (structure, operations) in WRONG {
            clients.extend((0..seeds).map(|seed| Bounded {
                structure,
                operations,
                calls: WRONG_CALLS,
                keys: WRONG_KEYS,
                seed,
                buggy: Some(class),
            }));
        }
    }
    clients
}

/// The full search.
pub(crate) const FULL: &str = "stateful";
/// Safe sets only.
pub(crate) const S_POR: &str = "s-por";
/// Source sets found eagerly, as in the paper.
pub(crate) const EAGER: &str = "de-s-por:without=summaries";
/// Source sets found lazily, as in the paper.
pub(crate) const LAZY: &str = "dl-s-por:without=summaries";
/// Source sets found eagerly, without safe sets.
pub(crate) const EAGER_ALONE: &str = "de-s-por:without=safe-sets+without=summaries";
/// Source sets found lazily, without safe sets.
pub(crate) const LAZY_ALONE: &str = "dl-s-por:without=safe-sets+without=summaries";
/// Source sets found eagerly, with summaries.
pub(crate) const EAGER_SUMMARIES: &str = "de-s-por";
/// Source sets found lazily, with summaries.
pub(crate) const LAZY_SUMMARIES: &str = "dl-s-por";

/// The explorers that search clients of correct structures; names in capitals are those of the
/// paper.
pub(crate) const ALGORITHMS: [(&str, &str); 8] = [
    ("JPF", FULL),
    ("S-POR", S_POR),
    ("DE-S-POR", EAGER),
    ("DL-S-POR", LAZY),
    ("DE-JPF", EAGER_ALONE),
    ("DL-JPF", LAZY_ALONE),
    ("DE-S-POR, summaries", EAGER_SUMMARIES),
    ("DL-S-POR, summaries", LAZY_SUMMARIES),
];

/// The contenders with these explorers.
pub(crate) fn algorithms() -> Vec<Contender> {
    let contender =
        |(name, setting): (&str, &str)| Contender { name: name.into(), setting: setting.into() };
    ALGORITHMS.map(contender).to_vec()
}

/// The algorithms that search for errors, with their names.
pub(crate) const SEEKERS: [(&str, &str); 2] = [("S-POR", S_POR), ("DL-S-POR", LAZY)];
/// The orders of three threads.
pub(crate) const SEQUENTIAL: [&str; 6] = ["0.1.2", "0.2.1", "1.0.2", "1.2.0", "2.0.1", "2.1.0"];
/// The seeds of random orders.
pub const RANDOM: [u64; 3] = [1, 2, 3];
/// The contenders that search for errors: each of `SEEKERS` in all orders and with all seeds.
pub fn hunters() -> Vec<Contender> {
    let mut hunters = Vec::new();
    for (name, setting) in SEEKERS {
        let join = if setting.contains(':') { '+' } else { ':' };
        let sequential = SEQUENTIAL.map(|order| (order.to_owned(), format!("order={order}")));
        let random =
            RANDOM.map(|seed| (format!("seed {seed}"), format!("order=random+seed={seed}")));
        hunters.extend(sequential.into_iter().chain(random).map(|(order, option)| Contender {
            name: format!("{name}, {order}"),
            setting: format!("{setting}{join}{option}"),
        }));
    }
    hunters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Setting;

    #[test]
    fn there_are_as_many_clients_as_is_said() {
        let sizes = |full| (clients(full).len(), buggy_clients(full).len());
        assert_eq!((sizes(false), sizes(true)), ((84, 80), (108, 160)));
    }

    #[test]
    fn all_that_takes_part_is_known() {
        for Contender { setting, .. } in [algorithms(), hunters()].concat() {
            setting.parse::<Setting>().unwrap_or_else(|why| panic!("{setting}: {why}"));
        }
        assert_eq!(hunters().len(), 2 * (6 + 3));
    }

    #[test]
    fn every_structure_makes_clients() {
        for client in clients(true).into_iter().chain(buggy_clients(true)) {
            if client.seed == 0 && client.keys != 2 {
                let case = Bounded { calls: 1, ..client.clone() }.case().unwrap();
                assert!(case.source.contains(&client.structure[..3]), "{}", case.source);
                case.compile().unwrap_or_else(|why| panic!("{}", why.render(false)));
            }
        }
    }
}
