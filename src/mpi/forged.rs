//! Ranks that write anything to their wires: the model never gets an operation that it cannot carry
//! out.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::Path;

use super::ledger::Ledger;
use super::ranks::{Launch, Ranks, failure};
use super::wire::Put;
use crate::explore::{Budget, Exhaustive, NoObserver, Outcome, explore};
use crate::model::{Objects, Op};
use crate::systems::history::{Asked, History, Reply, Runner, Told};

const KEY: u64 = 0x5eed;
/// The number of attempts of a liar to send a question that is understood. Most are not, and end
/// the execution.
const TRIES: u32 = 8;
const KINDS: &[u8] = b"SRPEWTOCcDFXxZV\xd7";

/// Numbers that follow from the previous draws.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        // The constants of Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// A number of a rank, a request or a tag: in most cases of an existing one.
    fn number(&mut self) -> u32 {
        let odd = [3, 7, 4096, i32::MAX as u32, u32::MAX];
        if self.below(12) == 0 { self.pick(&odd) } else { self.below(3) as u32 }
    }
}

/// A question of the library with wrong numbers, sometimes with a damaged byte.
fn question(dice: &mut Dice, key: u64) -> Vec<u8> {
    let mut to = key.to_ne_bytes().to_vec();
    let kind = dice.pick(KINDS);
    to.push(kind);
    to.put_block(b"MPI_Send");
    to.put_u32(0);
    to.put_block(b"");
    to.put_u32(0);
    if b"SRPE".contains(&kind) {
        to.put_block(dice.pick(&[&b"MPI_COMM_WORLD"[..], b"other"]));
    }
    match kind {
        b'S' => {
            (0..4).for_each(|_| to.put_u32(dice.number()));
            to.push(dice.below(3) as u8);
            to.put_u32(dice.number());
            to.put_block(b"7");
            let mut message = vec![0; 16];
            message.put_u32(0);
            message.put_u32(dice.number());
            to.put_block(&message);
        }
        b'E' => {
            to.put_u32(dice.pick(&[2, 2, 2, 1, 0, 3, u32::MAX]));
            to.put_u32(dice.number());
            to.push(dice.below(14) as u8);
            to.put_u32(dice.pick(&[u32::MAX, 0, 1, 2]));
            for _partners in 0..2 {
                let count = dice.pick(&[0, 0, 0, 1, 2, u32::MAX]);
                to.put_u32(count);
                (0..count.min(2)).for_each(|_| to.put_u32(dice.pick(&[0, 1, 2, u32::MAX])));
            }
            to.put_block(b"MPI_Barrier");
            to.put_u32(dice.number());
            to.put_block(b"7");
            to.put_block(b"given");
        }
        b'R' | b'P' => {
            (0..3).for_each(|_| to.put_u32(dice.number()));
            to.push(dice.pick(b"wtx"));
            to.put_u32(dice.pick(&[0, 0, 1, 2, u32::MAX]));
        }
        b'X' => {
            (0..4).for_each(|_| to.put_u32(dice.number()));
            (0..2).for_each(|_| to.put_block(dice.pick(&[&b"/"[..], b"other", b""])));
            let count = dice.number();
            to.put_u32(count);
            (0..count.min(4)).for_each(|_| to.put_block(b"argument"));
            to.put_block(b"told");
        }
        b'O' => {
            let form = dice.pick(b"wrslmuqQWx?");
            to.push(form);
            to.put_block(dice.pick(&[&b"window"[..], b"other"]));
            match form {
                b'w' => to.put_block(dice.pick(&[&b"one"[..], b"two"])),
                b's' => (0..2).for_each(|_| {
                    to.push(dice.below(2) as u8);
                    to.put_block(dice.pick(&[&b"one"[..], b"two"]));
                }),
                _ => to.put_u32(dice.number()),
            }
        }
        _ => {
            let count = dice.number();
            to.put_u32(count);
            (0..count.min(4)).for_each(|_| to.put_u32(dice.number()));
            to.put_u32(dice.pick(&[0, 0, 1, 2, u32::MAX]));
        }
    }
    if dice.below(6) == 0 {
        let at = 8 + dice.below(to.len() as u64 - 8) as usize;
        to[at] = dice.below(256) as u8;
    }
    if dice.below(12) == 0 {
        to.truncate(dice.below(to.len() as u64) as usize);
    }
    to
}

/// Ranks that send any question; it depends on the seed and on their observations.
struct Liars {
    ranks: Ranks,
    seed: u64,
}

impl Liars {
    fn ask(&self, live: &mut (u32, Vec<Told>, Ledger)) -> Reply<u32> {
        let (rank, told, ledger) = live;
        let seen = format!("{} {rank} {told:?}", self.seed);
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut dice = Dice(hasher.hash_one(seen));
        let mut ask = || self.ranks.understood((*rank, KEY), &question(&mut dice, KEY), ledger);
        let understood = (0..TRIES).find_map(|_| ask().ok());
        understood.unwrap_or_else(|| {
            Reply::new(Asked::Failed(failure("it cannot be understood", None)), None)
        })
    }
}

impl Runner for Liars {
    type Start = u32;
    type Live = (u32, Vec<Told>, Ledger);

    fn objects(&self) -> &Objects {
        self.ranks.objects()
    }

    fn processes(&self) -> Vec<u32> {
        vec![0, 1]
    }

    fn name(&self, rank: &u32) -> String {
        format!("rank {rank}")
    }

    fn may_return(&self, op: Option<&Op>) -> bool {
        self.ranks.may_return(op)
    }

    fn start(&self, &rank: &u32, told: &[Told], replies: &mut Vec<Reply<u32>>) -> Self::Live {
        let mut live = (rank, Vec::new(), Ledger::default());
        replies.push(self.ask(&mut live));
        self.tell(&mut live, told, replies);
        live
    }

    fn tell(&self, live: &mut Self::Live, told: &[Told], replies: &mut Vec<Reply<u32>>) {
        for told in told {
            if replies.last().is_some_and(|reply| reply.asked.is_end()) {
                return;
            }
            live.2.observes(told);
            live.1.push(told.clone());
            replies.push(self.ask(live));
        }
    }
}

fn ranks() -> Ranks {
    Ranks::unstarted(Launch::new(Path::new(""), 2))
}

#[test]
fn no_question_breaks_the_model() {
    let (mut steps, mut ends) = (0, 0);
    for seed in 0..600 {
        let system = History::new(Liars { ranks: ranks(), seed });
        let budget =
            Budget { all: true, depth: Some(8), max_traces: Some(40), ..Budget::default() };
        let Outcome { stats, .. } = explore(&system, Exhaustive, budget, &mut NoObserver);
        steps += stats.transitions;
        ends += stats.traces;
    }
    assert!(steps > 2000 && ends > 600, "{steps} steps, {ends} executions");
}

#[test]
fn without_the_key_nothing_is_believed() {
    let ranks = ranks();
    let mut believed = 0;
    for seed in 0..2000 {
        let frame = |key| question(&mut Dice(seed), key);
        let understood =
            |key| ranks.understood((0, KEY), &frame(key), &mut Ledger::default()).is_ok();
        assert!(!understood(KEY + 1));
        believed += usize::from(understood(KEY));
    }
    assert!(believed > 200, "{believed} of them are right but for the key");
}

/// Too many objects are not a mistake of the program: the report says where the limit was reached.
#[test]
fn a_search_that_meets_too_much_ends() {
    let ranks = ranks();
    let enter = |number: u32| {
        let mut frame = KEY.to_ne_bytes().to_vec();
        frame.push(b'E');
        frame.put_block(b"MPI_Barrier");
        (0..3).for_each(|_| frame.put_u32(0));
        frame.put_block(format!("communicator {number}").as_bytes());
        (1..3).rev().for_each(|number| frame.put_u32(number));
        frame.push(0);
        frame.put_u32(u32::MAX);
        (0..2).for_each(|_| frame.put_u32(0));
        frame.put_block(b"MPI_Barrier");
        frame.put_u32(0);
        frame.put_block(b"");
        frame.put_block(b"");
        let reply = ranks.understood((1, KEY), &frame, &mut Ledger::default());
        reply.unwrap_or_else(|_| panic!("a question")).asked
    };
    for number in 1..4096 {
        assert!(matches!(enter(number), Asked::Op { .. }), "{number}");
    }
    assert_eq!(ranks.reservation(), None);
    let Asked::Failed(failure) = enter(4096) else { panic!("there is no room") };
    assert!(failure.is_unsupported());
    let said = "there are more than 4096 communicators (rank 1)";
    assert_eq!(ranks.reservation().as_deref(), Some(said));
}
