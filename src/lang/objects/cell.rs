//! Shared cells. They are declared with a type and a content, read by their names and written by
//! assignments, so the parser and the checker have code for that.

use super::{Act, Caller, Description, Does, Gives, ObjectKind, Param, Takes, Word};
use crate::model::{Access, CellId, May, Op, Touch};

pub(crate) static DESCRIPTION: Description = Description {
    short: "cell",
    usage: "it is read by its name",
    words: &[
        Word {
            usage: "cas(cell, old, new)",
            takes: Takes::Object(&[Param::Content, Param::Content]),
            does: Does::Act(&COMPARE_AND_SWAP),
        },
        Word {
            usage: "fetch_add(cell, amount)",
            takes: Takes::Object(&[Param::Int]),
            does: Does::Act(&FETCH_ADD),
        },
        Word {
            usage: "swap(cell, value)",
            takes: Takes::Object(&[Param::Content]),
            does: Does::Act(&SWAP),
        },
    ],
    keyword_slips: &[(
        "let var int bool global static atomic volatile mut",
        "what processes share is declared `shared x: int = 0;`, what never changes `const N = 3;`",
    )],
    slips: &[
        (
            "compare_and_swap compare_exchange CAS",
            "this is `cas(cell, old, new)`, which returns whether it changed the cell",
        ),
        ("fetch_sub", "add the negative number: `fetch_add(cell, -1)`"),
        ("exchange", "this is `swap(cell, value)`, which returns the old content"),
    ],
    ..Description::new("shared", ("shared cell", "shared cells"), |all| all.cells.len())
};

pub(crate) static READ: Act = Act {
    gives: Gives::Content,
    touches: &[|id| Touch::new(CellId(id).lane(), May::Look)],
    ..Act::new(ObjectKind::Cell, |by| access(by, Access::Read))
};

pub(crate) static WRITE: Act = Act {
    arity: Some(2),
    touches: &[|id| Touch::new(CellId(id).lane(), May::Change)],
    always_changes: true,
    ..Act::new(ObjectKind::Cell, |by| {
        let new = by.intern(1);
        access(by, Access::Write(new))
    })
};

static COMPARE_AND_SWAP: Act = Act {
    arity: Some(3),
    gives: Gives::Bool,
    touches: CHANGE,
    ..Act::new(ObjectKind::Cell, |by| {
        let (old, new) = (by.intern(1), by.intern(2));
        access(by, Access::CompareAndSwap { old, new })
    })
};

pub(crate) static FETCH_ADD: Act = Act {
    arity: Some(2),
    gives: Gives::Content,
    touches: CHANGE,
    ..Act::new(ObjectKind::Cell, |by| access(by, Access::FetchAdd(by.args[1].int())))
};

static SWAP: Act = Act {
    arity: Some(2),
    gives: Gives::Content,
    touches: CHANGE,
    ..Act::new(ObjectKind::Cell, |by| {
        let new = by.intern(1);
        access(by, Access::Swap(new))
    })
};

/// They look at the content, and may change it.
const CHANGE: &[fn(u32) -> Touch] = &[
    |id| Touch::new(CellId(id).lane(), May::Look),
    |id| Touch::new(CellId(id).lane(), May::Change),
];

fn access(by: &Caller<'_>, how: Access) -> Result<Op, String> {
    Ok(Op::Access(CellId(by.object()), how))
}
