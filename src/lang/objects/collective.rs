//! Collectives. Their operations have operators and named arguments, so the checker has code for them.

use super::{Form, Kind, Number};

/// More ranks than this are regarded as a mistake.
const MAX_RANKS: i64 = 10_000;

pub static KIND: Kind = Kind {
    keyword: "collective",
    is_soft: true,
    names: ("collective", "collectives"),
    short: "collective",
    usage: "it is used by `barrier(c)`, `bcast(c, root, value)` and others",
    number: Some(Number {
        form: Form::Parentheses,
        example: "collective c(4);",
        what: "the number of ranks",
        bounds: (1, MAX_RANKS),
    }),
    declare: Some(|all, new| new.add_to(&mut all.collectives, new.number)),
    count: |all| all.collectives.len(),
    words: &[],
    finish: |_, _| None,
    keyword_slips: ("", ""),
    slips: &[],
};
