//! Mailboxes, and requests to send or receive.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use super::data::{Data, pack, unpack};
use super::handle::{Named, handles};
use super::making::{Made, Maker};
use super::panics::blame;
use super::process::{Place, Wire, ask};
use super::text::Text;
use crate::model::{Completion, Delivery, Envelope, Handle, MailboxId, Op, Value};
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
///
/// It can be sent, so a request may say where the reply is to go:
///
/// ```
/// use mazurka::program::{Mailbox, Program};
///
/// let mut program = Program::new();
/// let requests = program.mailbox("requests");
/// program.daemon("server", async move || {
///     loop {
///         let (number, reply): (i64, Mailbox<i64>) = requests.recv().await;
///         reply.send(2 * number).await;
///     }
/// });
/// for number in [1, 2] {
///     program.process(format!("client {number}"), async move || {
///         let reply = Mailbox::new("reply");
///         requests.send((number, reply)).await;
///         assert_eq!(reply.recv().await, 2 * number);
///     });
/// }
/// mazurka::check(&program.build()).assert_ok();
/// ```
pub struct Mailbox<T> {
    named: Named<MailboxId>,
    delivery: Delivery,
    envelope: Envelope,
    of: PhantomData<fn(T) -> T>,
}

handles! { Mailbox { named, envelope } }

impl<T> fmt::Debug for Mailbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Envelope { src, tag } = self.envelope;
        write!(f, "{:?}", self.named)?;
        src.map_or(Ok(()), |source| write!(f, ".from({source})"))?;
        tag.map_or(Ok(()), |tag| write!(f, ".tagged({tag})"))
    }
}

impl<T: Data> Mailbox<T> {
    /// A mailbox that the running process makes. Messages are received in the order in which they
    /// were sent.
    ///
    /// # Panics
    /// If no process is running on this thread: a program declares a
    /// [`mailbox`](super::Program::mailbox).
    pub fn new(name: impl AsRef<str>) -> Self {
        Mailbox::made(name.as_ref(), Delivery::Ordered)
    }

    /// A mailbox that the running process makes, as [`Mailbox::new`] does. The messages of one
    /// sender are received in their order, and messages of different senders in any order.
    pub fn p2p(name: impl AsRef<str>) -> Self {
        Mailbox::made(name.as_ref(), Delivery::P2p)
    }

    /// A mailbox that the running process makes, as [`Mailbox::new`] does. Messages are received in
    /// any order.
    pub fn bag(name: impl AsRef<str>) -> Self {
        Mailbox::made(name.as_ref(), Delivery::Bag)
    }

    fn made(name: &str, delivery: Delivery) -> Self {
        Mailbox::of(Wire::current().make(Made::Mailbox(delivery), name, MailboxId), delivery)
    }

    pub(super) fn of(named: Named<MailboxId>, delivery: Delivery) -> Self {
        Mailbox { named, delivery, envelope: Envelope::default(), of: PhantomData }
    }

    pub(super) fn named(self) -> Named<MailboxId> {
        self.named
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
        Text::on(self.named, verb)
    }

    /// Posts a send.
    fn post(
        self,
        message: T,
        completion: Completion,
        verb: &'static str,
        place: Place,
    ) -> impl Future<Output = Request<()>> {
        let Mailbox { named, envelope, .. } = self;
        let mailbox = named.id;
        let asked = Asked::with(pack(message), |value| match self.delivery {
            Delivery::Ordered => Op::Isend { mailbox, envelope, value },
            _ => Op::Send { mailbox, envelope, value, completion },
        });
        let asking = ask(asked, self.text(verb), place);
        async move { Request::new(named, asking.await) }
    }

    /// Posts a receive.
    fn begin(self, verb: &'static str, place: Place) -> impl Future<Output = Request<T>> {
        let Mailbox { named, envelope: pattern, .. } = self;
        let mailbox = named.id;
        let op = match self.delivery {
            Delivery::Ordered => Op::Irecv { mailbox, pattern },
            _ => Op::Receive { mailbox, pattern },
        };
        let asking = ask(Asked::op(op), self.text(verb), place);
        async move { Request::new(named, asking.await) }
    }
}

/// A send or receive that was begun. When it is complete, it gives a `T` to the process that has
/// begun it.
pub struct Request<T> {
    mailbox: Named<MailboxId>,
    handle: Handle,
    owner: Maker,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Request<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Request<T> {}

impl<T: Data> Request<T> {
    fn new(mailbox: Named<MailboxId>, told: Told) -> Self {
        let Told::Posted(handle) = told else { unreachable!("{told:?} is no answer to a post") };
        Request { mailbox, handle, owner: Wire::current().maker, of: PhantomData }
    }

    /// The number of the request in the running process.
    fn own(self, place: Place) -> Handle {
        let wire = Wire::current();
        if (wire.program(), wire.maker) != (self.mailbox.program, self.owner) {
            blame("a request is for the process that has begun it", place);
        }
        self.handle
    }

    /// Waits until it is complete.
    #[track_caller]
    pub fn wait(self) -> impl Future<Output = T> {
        self.complete("wait", Location::caller())
    }

    /// The message, if the request is complete.
    #[track_caller]
    pub fn test(self) -> impl Future<Output = Option<T>> {
        let (text, place) = (self.text("test"), Location::caller());
        async move {
            let asked = Asked::op(Op::TestAny([self.own(place)].into()));
            match ask(asked, text, place).await {
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
        let text = self.text(verb);
        async move {
            let handle = self.own(place);
            ask(Asked::op(Op::Cancel(handle)), text, place).await;
            let outcome = ask(Asked::op(Op::CancelOutcome(handle)), text, place).await;
            outcome == Told::Value(Value::Bool(true))
        }
    }

    fn complete(self, verb: &'static str, place: Place) -> impl Future<Output = T> {
        let text = self.text(verb);
        async move {
            let asked = Asked::op(Op::WaitAny([self.own(place)].into()));
            completed(&ask(asked, text, place).await).1
        }
    }

    fn text(self, verb: &'static str) -> Text {
        Text::on(self.mailbox, verb)
    }
}

/// Waits until one of these requests is complete. Returns its index in the list and its message. If
/// several are complete, it may be any of them.
///
/// # Panics
/// If there are no requests.
#[track_caller]
pub fn wait_any<T: Data>(requests: &[Request<T>]) -> impl Future<Output = (usize, T)> + use<T> {
    let (requests, place) = (requests.to_vec(), Location::caller());
    assert!(!requests.is_empty(), "there is nothing to wait for");
    async move {
        let handles = requests.iter().map(|request| request.own(place)).collect();
        let text = Text { on: None, verb: "wait_any" };
        completed(&ask(Asked::op(Op::WaitAny(handles)), text, place).await)
    }
}

fn completed<T: Data>(told: &Told) -> (usize, T) {
    match told {
        Told::Completed { index, value } => (*index as usize, unpack(value)),
        told => unreachable!("{told:?} is no answer to a wait"),
    }
}
