//! Mailboxes. What is sent there has a type and a pattern, so the parser and the checker have code for them.

use super::Kind;

pub static KIND: Kind = Kind {
    keyword: "mailbox",
    is_soft: false,
    names: ("mailbox", "mailboxes"),
    short: "mailbox",
    usage: "it is used by `send(mailbox, value)` and `recv(mailbox)`",
    number: None,
    declare: None,
    count: |all| all.mailboxes.len(),
    words: &[],
    finish: |_, _| None,
    keyword_slips: ("channel chan queue port", "messages go through a mailbox: `mailbox m: int;`"),
    slips: &[(
        "receive read get",
        "a message is received with `recv(mailbox)`; a shared cell is read by its name",
    )],
};
