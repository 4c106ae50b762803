//! A send in ready mode must find its receive posted, in whatever order the ranks run.

use super::slip::Slip;
use super::wire::Data;
use crate::model::Value;
use crate::property::Position;

/// Is it a message that is sent in ready mode?
pub(super) fn is_ready(value: &Value) -> bool {
    match value {
        Value::Opaque(message) => message.get::<Data>().is_some_and(Data::is_ready),
        _ => false,
    }
}

/// A ready send may be started only if the matching receive is posted already (MPI 4.1, 3.4). This
/// is certain if the receive happens before the send. Otherwise there is an execution of the same
/// class in which the send comes first. This holds if standard sends are buffered and ranks leave
/// collectives early; other semantics add to happens-before.
pub(super) fn objection(at: Position<'_>) -> Option<String> {
    let network = at.state().network();
    let ready = network.sends().iter().filter(|sent| is_ready(at.values().get(sent.value)));
    let receive_of = |place: u32| &network.receives()[place as usize];
    let matched = ready.filter_map(|sent| Some((sent, receive_of(sent.receive()?))));
    // Most programs have no ready sends, and need no happens-before.
    let mut matched = matched.peekable();
    matched.peek()?;
    let order = at.order();
    let (sent, receive) = matched.find(|(sent, receive)| !order.before(receive.at(), sent.at()))?;
    let made = |process, place| {
        let site = at.site_of_action(place);
        let file = site.as_ref().and_then(|site| Some((site.file.as_deref()?, site.line)));
        let place = file.map_or(String::new(), |(file, line)| format!(" at {file}:{line}"));
        format!("{}{place}", at.name(process))
    };
    Some(format!(
        "{}: the send of {} may be started before the receive of {} is posted",
        Slip::ReadyMode,
        made(sent.process, sent.at()),
        made(receive.process, receive.at())
    ))
}
