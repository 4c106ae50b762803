//! What a SAT solver has answered, in the order of the questions. So that no question that was
//! answered has to be asked again when a search goes on in another process.
//!
//! A reply is noted with a hash of all that the solver had been told, so it cannot be taken for
//! that of another question. A model is compared with all clauses before it is used. That there is
//! no model is believed.

use std::cell::RefCell;
#[cfg(feature = "json")]
use std::io::{self, Read, Write};
use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::alternatives::Literal;
#[cfg(feature = "json")]
use crate::explore::saved::{read_number, read_words, stray, write_number, write_words};

/// A hash of clauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told(pub(super) u64);

impl Told {
    /// With this clause, or these assumptions, at the end.
    pub(super) fn and(self, literals: &[Literal]) -> Told {
        let numbers = literals.iter().map(|literal| literal.0).chain([0]);
        let add = |hash: u64, number: i32| {
            (hash.rotate_left(5) ^ u64::from(number as u32)).wrapping_mul(0x517c_c1b7_2722_0a95)
        };
        Told(numbers.fold(self.0, add))
    }
}

/// The reply to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    told: Told,
    /// A bit for each variable, the first ones first; `None` if there is no model.
    model: Option<Vec<u64>>,
}

/// The replies of a search that is saved. Clones are the same list.
#[derive(Clone, Debug, Default)]
pub(super) struct Replies(Option<Rc<RefCell<List>>>);

#[derive(Debug, Default)]
struct List {
    all: Vec<Reply>,
    /// The place of the next reply, if the search goes again; `None` if it does not.
    next: Option<usize>,
    is_stray: bool,
}

/// What is known of a question.
pub(super) enum Known {
    /// Nothing: it has to be asked.
    Nothing,
    /// This is the model; `None` if there is none.
    Reply(Option<FxHashSet<Literal>>),
    /// The replies are not those of this search.
    Stray,
}

impl Replies {
    /// Are replies noted?
    pub(super) fn are_kept(&self) -> bool {
        self.0.is_some()
    }

    /// What is known of the next question, where the solver has this number of variables.
    pub(super) fn next(&self, told: Told, variables: i32) -> Known {
        let Some(list) = &self.0 else { return Known::Nothing };
        let list = &mut *list.borrow_mut();
        let Some(next) = &mut list.next else { return Known::Nothing };
        let words = (variables as usize).div_ceil(64);
        let is_fit = |reply: &&Reply| {
            let has_size = |model: &Vec<u64>| model.len() == words;
            reply.told == told && reply.model.as_ref().is_none_or(has_size)
        };
        let Some(reply) = list.all.get(*next).filter(is_fit) else {
            list.is_stray = true;
            return Known::Stray;
        };
        *next += 1;
        Known::Reply(reply.model.as_ref().map(|model| literals(model, variables).collect()))
    }

    /// Notes what the solver has answered.
    pub(super) fn note(&self, told: Told, variables: i32, model: Option<&FxHashSet<Literal>>) {
        if let Some(list) = &self.0 {
            let model = model.map(|model| bits(model, variables));
            list.borrow_mut().all.push(Reply { told, model });
        }
    }

    /// The last reply cannot be that to the question.
    pub(super) fn is_wrong(&self) {
        if let Some(list) = &self.0 {
            list.borrow_mut().is_stray = true;
        }
    }
}

#[cfg(feature = "json")]
impl Replies {
    /// None so far; they are noted.
    pub(super) fn kept() -> Replies {
        Replies(Some(Rc::default()))
    }

    /// Is this the list of another search?
    pub(super) fn are_stray(&self) -> bool {
        self.0.as_ref().is_some_and(|list| list.borrow().is_stray)
    }

    /// From now on questions are asked. Returns whether all replies were used.
    pub(super) fn go_on(&self) -> bool {
        let Some(list) = &self.0 else { return true };
        let list = &mut *list.borrow_mut();
        list.next.take() == Some(list.all.len()) && !list.is_stray
    }

    pub(super) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let Some(list) = &self.0 else { return write_number(to, 0) };
        let all = &list.borrow().all;
        write_number(to, all.len() as u64)?;
        for Reply { told, model } in all {
            write_words(to, &[told.0, u64::from(model.is_some())])?;
            write_words(to, model.as_deref().unwrap_or_default())?;
        }
        Ok(())
    }

    /// Replies that are given again.
    pub(super) fn read(from: &mut dyn Read) -> io::Result<Replies> {
        let mut all = Vec::new();
        for _ in 0..read_number(from)? {
            let (head, model) = (read_words(from)?, read_words(from)?);
            let [told, is_some] = head[..] else { return Err(stray()) };
            all.push(Reply { told: Told(told), model: (is_some == 1).then_some(model) });
        }
        let list = List { all, next: Some(0), is_stray: false };
        Ok(Replies(Some(Rc::new(RefCell::new(list)))))
    }
}

fn bits(model: &FxHashSet<Literal>, variables: i32) -> Vec<u64> {
    let mut bits = vec![0; (variables as usize).div_ceil(64)];
    let set = (0..variables).filter(|at| model.contains(&Literal(at + 1)));
    set.for_each(|at| bits[at as usize / 64] |= 1 << (at % 64));
    bits
}

fn literals(bits: &[u64], variables: i32) -> impl Iterator<Item = Literal> {
    (0..variables).map(move |at| {
        let is_set = bits[at as usize / 64] >> (at % 64) & 1 == 1;
        Literal(if is_set { at + 1 } else { -at - 1 })
    })
}
