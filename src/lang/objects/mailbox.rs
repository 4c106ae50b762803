//! Mailboxes. What is sent there has a type and a pattern, so the parser and the checker have code
//! for them.

use super::Description;

pub(crate) static DESCRIPTION: Description = Description {
    usage: "it is used by `send(mailbox, value)` and `recv(mailbox)`",
    keyword_slips: &[(
        "channel chan queue port",
        "messages go through a mailbox: `mailbox m: int;`",
    )],
    slips: &[(
        "receive read get",
        "a message is received with `recv(mailbox)`; a shared cell is read by its name",
    )],
    ..Description::new("mailbox", ("mailbox", "mailboxes"), |all| all.mailboxes.len())
};
