//! The random calls of a client.
//!
//! All random numbers come from one SplitMix64 generator, so a seed always makes the same client.
//! Thread by thread and call by call, first the procedure is drawn, with equal probabilities, then
//! its arguments in order. An argument depends on the type of the parameter, and for integers on
//! its name:
//!
//! | parameter | argument |
//! |---|---|
//! | `key: int` | a key, 1 to the number of keys, with equal probabilities |
//! | any other `int` | the number of the call in the client, from 1: different in all calls |
//! | `bool` | `true` or `false`, with equal probabilities |
//! | of an enumeration | a variant, with equal probabilities |
//!
//! Since these values are all different, a result shows which call it came from. And a structure
//! that allocates can use such a parameter as a memory location of its own. Then an allocation is
//! not an action, and does not make two calls dependent.
//!
//! If the number of calls that run into a bug is given, these calls are drawn beforehand (Fisher
//! and Yates). They get the key that the structure names; all others get another key.

use super::{Invocation, Unmade, Wish};
use crate::lang::{Domain, Offer, Structure};
use crate::random::SplitMix64;

/// The name of parameters that are keys.
const KEY: &str = "key";

/// Draws the calls of each thread.
pub(crate) fn choose(
    structure: &Structure,
    wish: &Wish,
    buggy_key: Option<usize>,
) -> Result<Vec<Vec<Invocation>>, Unmade> {
    let operations = operations(structure, wish)?;
    let mut random = SplitMix64::new(wish.seed);
    let keys = keys(&operations, wish, buggy_key, &mut random)?;
    let mut chosen = Vec::new();
    for (number, keys) in keys.iter().enumerate() {
        let fits = |offer: &&&Offer| wish.buggy.is_none() || has_key(offer);
        let fitting: Vec<&&Offer> = operations.iter().filter(fits).collect();
        let offer = fitting[random.below(fitting.len())];
        chosen.push(invocation(offer, keys, number + 1, &mut random));
    }
    Ok(chosen.chunks(wish.calls).map(<[_]>::to_vec).collect())
}

/// The procedures that may be called.
fn operations<'s>(structure: &'s Structure, wish: &Wish) -> Result<Vec<&'s Offer>, Unmade> {
    let offers = &structure.offers;
    let operations: Vec<&Offer> = match &wish.operations[..] {
        [] => offers.iter().filter(|offer| !offer.is_part).collect(),
        names => names.iter().map(|name| named(offers, name)).collect::<Result<_, _>>()?,
    };
    if operations.is_empty() {
        let example = "proc add(key: int) -> bool { … }";
        return Err(format!("the file has no procedure to call, such as `{example}`").into());
    }
    for offer in &operations {
        if let Some(param) = offer.params.iter().find(|param| param.domain == Domain::Other) {
            return Err(format!(
                "`{}` cannot be called: its parameter `{}` is no int, bool or enumeration (--operations names \
                 those to call)",
                offer.name, param.name
            )
            .into());
        }
    }
    Ok(operations)
}

fn named<'s>(offers: &'s [Offer], name: &str) -> Result<&'s Offer, Unmade> {
    offers.iter().find(|offer| offer.name == name).ok_or_else(|| {
        let known: Vec<_> = offers.iter().map(|offer| offer.name.as_str()).collect();
        Unmade::Unfit(match known[..] {
            [] => "the file has no procedure to call".to_owned(),
            _ => format!("the file has no procedure `{name}`, only {}", known.join(", ")),
        })
    })
}

fn has_key(offer: &Offer) -> bool {
    offer.params.iter().any(|param| param.name == KEY && param.domain == Domain::Int)
}

/// For each call: the keys to choose from.
fn keys(
    operations: &[&Offer],
    wish: &Wish,
    buggy_key: Option<usize>,
    random: &mut SplitMix64,
) -> Result<Vec<Vec<usize>>, Unmade> {
    let count = wish.threads * wish.calls;
    let all: Vec<usize> = (1..=wish.keys).collect();
    let (Some(buggy), Some(buggy_key)) = (wish.buggy, buggy_key) else {
        return Ok(vec![all; count]);
    };
    if !operations.iter().any(|offer| has_key(offer)) {
        let why = format!("no procedure to call has a parameter `{KEY}: int`, to run into a bug");
        return Err(why.into());
    }
    let others: Vec<usize> = all.into_iter().filter(|&key| key != buggy_key).collect();
    let buggy = buggy.count(count);
    if buggy < count && others.is_empty() {
        return Err("calls that do not run into a bug need another key: --keys 2"
            .to_owned()
            .into());
    }
    let mut keys: Vec<_> =
        (0..count).map(|at| if at < buggy { vec![buggy_key] } else { others.clone() }).collect();
    for last in (1..count).rev() {
        keys.swap(last, random.below(last + 1));
    }
    Ok(keys)
}

fn invocation(offer: &Offer, keys: &[usize], number: usize, random: &mut SplitMix64) -> Invocation {
    let argument = |param: &crate::lang::Param| match &param.domain {
        Domain::Int if param.name == KEY => keys[random.below(keys.len())].to_string(),
        Domain::Int => number.to_string(),
        Domain::Bool => (random.below(2) == 1).to_string(),
        Domain::Enum(variants) => variants[random.below(variants.len())].clone(),
        Domain::Other => unreachable!("such a procedure is not called"),
    };
    let arguments: Vec<String> = offer.params.iter().map(argument).collect();
    format!("{}({})", offer.name, arguments.join(", "))
}
