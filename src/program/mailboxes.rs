//! Mailboxes, and requests to send or receive.

use std::marker::PhantomData;
use std::panic::Location;

use super::data::{Data, pack, unpack};
use super::process::{Place, ask};
use super::text::Text;
use crate::model::{Completion, Delivery, Envelope, Handle, MailboxId, Object, Op, Value};
use crate::systems::history::{Asked, Told};

/// A mailbox of messages of one type. Every process may send. At a p2p or bag mailbox only one
/// process may receive; at other mailboxes every process may.
///
/// A message may say from where it comes and carry a tag, and a receive may ask for these:
///
/// ```
/// use mazurka::program::Program;
///
/// let mut program = Program::new();
/// let inbox = program.mailbox("inbox");
/// for (me, text) in [(0, "a"), (1, "b")] {
///     program.process(text, async move || inbox.from(me).send(text).await);
/// }
/// program.process("reader", async move || {
///     assert_eq!(inbox.from(1).recv().await, "b");
///     assert_eq!(inbox.recv().await, "a");
/// });
/// mazurka::check(&program.build()).assert_ok();
/// ```
pub struct Mailbox<T> {
    pub(super) id: MailboxId,
    pub(super) delivery: Delivery,
    envelope: Envelope,
    of: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Mailbox<T> {}

impl<T: Data> Mailbox<T> {
    pub(super) fn new(id: MailboxId, delivery: Delivery) -> Self {
        Mailbox { id, delivery, envelope: Envelope::default(), of: PhantomData }
    }

    /// The same mailbox, for messages from `source`: a message that is sent says that it comes from
    /// there; a receive accepts only such messages.
    pub fn from(self, source: i64) -> Self {
        Mailbox { envelope: Envelope { src: Some(source), ..self.envelope }, ..self }
    }

    /// The same mailbox, for messages with this tag: a message that is sent carries it; a receive
    /// accepts only such messages.
    pub fn tagged(self, tag: i64) -> Self {
        Mailbox { envelope: Envelope { tag: Some(tag), ..self.envelope }, ..self }
    }

    /// Sends a message, and goes on at once.
    #[track_caller]
    pub fn send(self, message: T) -> impl Future<Output = ()> {
        let posting = self.post(message, Completion::Early, "send", Location::caller());
        async move {
            posting.await;
        }
    }

    /// Sends a message, and waits until a receive has got it.
    #[track_caller]
    pub fn send_and_wait(self, message: T) -> impl Future<Output = ()> {
        let place = Location::caller();
        let posting = self.post(message, Completion::Late, "send_and_wait", place);
        async move { posting.await.complete("send_and_wait", place).await }
    }

    /// Begins to send a message. The request is complete when a receive has got it.
    #[track_caller]
    pub fn isend(self, message: T) -> impl Future<Output = Request<()>> {
        self.post(message, Completion::Late, "isend", Location::caller())
    }

    /// Waits for a message.
    #[track_caller]
    pub fn recv(self) -> impl Future<Output = T> {
        let place = Location::caller();
        let posting = self.begin("recv", place);
        async move { posting.await.complete("recv", place).await }
    }

    /// Begins to receive a message. The request is complete when there is one.
    #[track_caller]
    pub fn irecv(self) -> impl Future<Output = Request<T>> {
        self.begin("irecv", Location::caller())
    }

    /// A message; or `None`, because it took too long. Time is not modelled, so any message may be
    /// too late.
    ///
    /// # Panics
    /// If the mailbox is neither p2p nor bag.
    #[track_caller]
    pub fn recv_or_timeout(self) -> impl Future<Output = Option<T>> {
        let (verb, place) = ("recv_or_timeout", Location::caller());
        assert_ne!(self.delivery, Delivery::Ordered, "only p2p and bag mailboxes have timeouts");
        let posting = self.begin(verb, place);
        async move {
            let request = posting.await;
            match request.give_up(verb, place).await {
                true => None,
                false => Some(request.complete(verb, place).await),
            }
        }
    }

    fn text(self, verb: &'static str) -> Text {
        Text { on: Some(Object::Mailbox(self.id)), verb }
    }

    /// Posts a send.
    fn post(
        self,
        message: T,
        completion: Completion,
        verb: &'static str,
        place: Place,
    ) -> impl Future<Output = Request<()>> {
        let Mailbox { id: mailbox, envelope, .. } = self;
        let asked = Asked::with(pack(message), |value| match self.delivery {
            Delivery::Ordered => Op::Isend { mailbox, envelope, value },
            _ => Op::Send { mailbox, envelope, value, completion },
        });
        let asking = ask(asked, self.text(verb), place);
        async move { Request::new(mailbox, asking.await) }
    }

    /// Posts a receive.
    fn begin(self, verb: &'static str, place: Place) -> impl Future<Output = Request<T>> {
        let Mailbox { id: mailbox, envelope: pattern, .. } = self;
        let op = match self.delivery {
            Delivery::Ordered => Op::Irecv { mailbox, pattern },
            _ => Op::Receive { mailbox, pattern },
        };
        let asking = ask(Asked::op(op), self.text(verb), place);
        async move { Request::new(mailbox, asking.await) }
    }
}

/// A send or receive that was begun. When it is complete, it gives a `T`.
pub struct Request<T> {
    mailbox: MailboxId,
    handle: Handle,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Request<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Request<T> {}

impl<T: Data> Request<T> {
    fn new(mailbox: MailboxId, told: Told) -> Self {
        let Told::Posted(handle) = told else { unreachable!("{told:?} is no answer to a post") };
        Request { mailbox, handle, of: PhantomData }
    }

    /// Waits until it is complete.
    #[track_caller]
    pub fn wait(self) -> impl Future<Output = T> {
        self.complete("wait", Location::caller())
    }

    /// The message, if the request is complete.
    #[track_caller]
    pub fn test(self) -> impl Future<Output = Option<T>> {
        let asked = Asked::op(Op::TestAny([self.handle].into()));
        let asking = ask(asked, self.text("test"), Location::caller());
        async move {
            match asking.await {
                Told::Incomplete => None,
                told => Some(completed(&told).1),
            }
        }
    }

    /// Gives up a receive, unless a message comes first. Returns whether the receive was given up.
    /// Only for p2p and bag mailboxes. If a message came first, the receive can still be waited
    /// for.
    #[track_caller]
    pub fn cancel(self) -> impl Future<Output = bool> {
        self.give_up("cancel", Location::caller())
    }

    fn give_up(self, verb: &'static str, place: Place) -> impl Future<Output = bool> {
        let (text, handle) = (self.text(verb), self.handle);
        async move {
            ask(Asked::op(Op::Cancel(handle)), text, place).await;
            let outcome = ask(Asked::op(Op::CancelOutcome(handle)), text, place).await;
            outcome == Told::Value(Value::Bool(true))
        }
    }

    fn complete(self, verb: &'static str, place: Place) -> impl Future<Output = T> {
        let asked = Asked::op(Op::WaitAny([self.handle].into()));
        let asking = ask(asked, self.text(verb), place);
        async move { completed(&asking.await).1 }
    }

    fn text(self, verb: &'static str) -> Text {
        Text { on: Some(Object::Mailbox(self.mailbox)), verb }
    }
}

/// Waits until one of these requests is complete. Returns its index in the list and its message. If
/// several are complete, it may be any of them.
///
/// # Panics
/// If there are no requests.
#[track_caller]
pub fn wait_any<T: Data>(requests: &[Request<T>]) -> impl Future<Output = (usize, T)> + use<T> {
    let handles: Box<[Handle]> = requests.iter().map(|request| request.handle).collect();
    assert!(!handles.is_empty(), "there is nothing to wait for");
    let text = Text { on: None, verb: "wait_any" };
    let asking = ask(Asked::op(Op::WaitAny(handles)), text, Location::caller());
    async move { completed(&asking.await) }
}

fn completed<T: Data>(told: &Told) -> (usize, T) {
    match told {
        Told::Completed { index, value } => (*index as usize, unpack(value)),
        told => unreachable!("{told:?} is no answer to a wait"),
    }
}
