//! Collectives. Their operations have operators and named arguments, so the checker has code for
//! them.

use super::{Description, Form, Number};

/// More ranks than this are regarded as a mistake.
const MAX_RANKS: i64 = 10_000;

pub(crate) static DESCRIPTION: Description = Description {
    is_soft: true,
    usage: "it is used by `barrier(c)`, `bcast(c, root, value)` and others",
    number: Some(Number {
        form: Form::Parentheses,
        example: "collective c(4);",
        what: "the number of ranks",
        bounds: (1, MAX_RANKS),
    }),
    declare: Some(|all, new| new.add_to(&mut all.collectives, new.number)),
    slips: &[],
    ..Description::new("collective", ("collective", "collectives"), |all| all.collectives.len())
};

/// The operations, as those are called that do not wait. Without the `i` in front they wait.
const OPERATIONS: &[&str] = &[
    "ibarrier(collective)",
    "ibcast(collective, root, value)",
    "iscatter(collective, root, list)",
    "igather(collective, root, value)",
    "ireduce(collective, root, operator, value)",
    "iallreduce(collective, operator, value)",
    "iallgather(collective, value)",
    "ialltoall(collective, list)",
    "iscan(collective, operator, value)",
    "iexscan(collective, operator, value)",
    "ireduce_scatter(collective, operator, list)",
];

/// How all operations are called.
pub(crate) fn usages() -> impl Iterator<Item = &'static str> {
    OPERATIONS.iter().flat_map(|usage| [usage, &usage[1..]])
}
