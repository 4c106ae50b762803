//! The kinds of shared objects: all that the language knows of one kind is in one file.
//!
//! | file | operations |
//! |---|---|
//! | `mutex` | lock, unlock, try_lock, async_lock, mutex_wait, mutex_test and the like |
//! | `rwlock` | read_lock, write_lock, unlock |
//! | `condvar` | cond_wait, notify_one, notify_all |
//! | `semaphore` | acquire, release, async_acquire, acquire_wait |
//! | `barrier` | barrier, async_barrier, barrier_wait |
//! | `latch` | count_down, wait |
//! | `cell` | cas, fetch_add, swap; reads and writes are syntax: `check::place` |
//! | `mailbox` | checked by hand: `check::operation`, `check::network` |
//! | `collective` | checked by hand: `check::network` |
//!
//! A file has three layers, from the text of a program to the model:
//!
//! - its [`Description`]: the keyword, names in messages, the form of a declaration, advice to
//!   newcomers;
//! - a [`Word`] is an operation as programs call it: its arguments, and the acts that it stands for
//!   (`acquire` is a request and a wait);
//! - an [`Act`] is one visible operation: the [`Op`] that it becomes or what is wrong with it, what
//!   its process remembers of it afterwards, what it may touch.
//!
//! Parser, checker, compiler, interpreter and static analysis know only these three. So a new kind
//! of object is a new file and two lines here (`mod`, and the list of kinds), if its operations are
//! called as `name(object, argument, ..)`. Another syntax needs code in the parser and the checker.
//! The keyword of a kind that comes later should be soft, so that no program loses a name.

mod barrier;
pub(crate) mod cell;
pub(crate) mod collective;
pub(crate) mod condvar;
pub(crate) mod latch;
mod mailbox;
pub(crate) mod mutex;
mod rwlock;
mod semaphore;

use super::books::Books;
use super::diagnostic::{Diagnostic, Span};
use crate::model::{Declarations, Handle, Objects, Op, Response, Touch, Value, ValueId, Values};

/// Declares the kinds, each with the file that has its [`Description`].
macro_rules! kinds {
    ($($kind:ident: $file:ident,)*) => {
        /// Which kind of object something is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ObjectKind {
            $($kind,)*
        }

        impl ObjectKind {
            /// Every kind.
            pub const ALL: &[ObjectKind] = &[$(ObjectKind::$kind,)*];

            /// What there is to know of objects of this kind.
            pub fn about(self) -> &'static Description {
                match self {
                    $(ObjectKind::$kind => &$file::DESCRIPTION,)*
                }
            }
        }
    };
}

// Of two kinds with the same word, a call that names no object means the first one.
kinds! {
    Mailbox: mailbox,
    Mutex: mutex,
    RwLock: rwlock,
    Condvar: condvar,
    Semaphore: semaphore,
    Barrier: barrier,
    Collective: collective,
    Cell: cell,
    Latch: latch,
}

/// Wrong words, separated by spaces, each time with advice for those who write one of them.
type Slips = &'static [(&'static str, &'static str)];

/// A kind of object.
pub(crate) struct Description {
    /// The word that its declarations start with.
    pub(crate) keyword: &'static str,
    /// May programs use the keyword and the words as names of their own?
    pub(crate) is_soft: bool,
    /// What messages call one such object, and several.
    pub(crate) names: (&'static str, &'static str),
    /// What a message calls it that asks for the name of one.
    pub(crate) short: &'static str,
    /// How it is used, for messages.
    pub(crate) usage: &'static str,
    /// What else a declaration says.
    pub(crate) number: Option<Number>,
    /// Declares such objects to the model; `None` if the checker does that by hand.
    pub(crate) declare: Option<fn(&mut Objects, &Declared<'_>)>,
    /// How many the program declares.
    pub(crate) count: fn(&Objects) -> usize,
    /// Its operations, but for those that are checked by hand.
    pub(crate) words: &'static [Word],
    /// Looks at a declaration when all its uses are known.
    pub(crate) finish: fn(&mut Objects, &Uses<'_>) -> Option<Diagnostic>,
    /// What newcomers write in place of the keyword.
    pub(crate) keyword_slips: Slips,
    /// What newcomers write in place of the words.
    pub(crate) slips: Slips,
}

impl Description {
    /// A reserved keyword, and objects of which there is nothing else to say. The other fields say
    /// more.
    const fn new(
        keyword: &'static str,
        names: (&'static str, &'static str),
        count: fn(&Objects) -> usize,
    ) -> Description {
        Description {
            keyword,
            is_soft: false,
            names,
            short: names.0,
            usage: "",
            number: None,
            declare: None,
            count,
            words: &[],
            finish: |_, _| None,
            keyword_slips: &[],
            slips: &[],
        }
    }
}

/// A number that a declaration gives to the objects.
pub(crate) struct Number {
    pub(crate) form: Form,
    /// A declaration that shows the form.
    pub(crate) example: &'static str,
    /// What is counted, for messages.
    pub(crate) what: &'static str,
    /// The least and the greatest one. A wrong or missing number counts as the least.
    pub(crate) bounds: (i64, i64),
}

/// Where the number is in a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `semaphore s = 1;`
    Equals,
    /// `barrier b(2);`
    Parentheses,
    /// `condvar c spurious 1;`, and it may be missing.
    After(&'static str),
}

/// A declaration of one object or an array of them.
pub(crate) struct Declared<'d> {
    pub(crate) name: &'d str,
    /// The length, if it is an array.
    pub(crate) array: Option<u32>,
    /// The number in the declaration; 0 if there is none.
    pub(crate) number: u32,
}

impl Declared<'_> {
    /// Declares the objects, which all start with this.
    pub(crate) fn add_to<T>(&self, declared: &mut Declarations<T>, start: T) {
        match self.array {
            Some(count) => declared.push_array(self.name, count, start),
            None => declared.push(self.name, start),
        }
    }
}

/// How a program uses the objects of one declaration.
pub(crate) struct Uses<'u> {
    pub(crate) name: &'u str,
    /// The number of the first object.
    pub(crate) base: u32,
    /// The first call of each word, by its name.
    pub(crate) calls: &'u [(&'static str, Span)],
}

impl Uses<'_> {
    /// The first call of one of these words.
    pub(crate) fn first_of(&self, words: &[&str]) -> Option<Span> {
        self.calls.iter().find(|(name, _)| words.contains(name)).map(|&(_, span)| span)
    }
}

/// An operation as programs call it.
#[derive(Debug)]
pub(crate) struct Word {
    /// How it is called, with the word itself in front: `acquire(semaphore)`.
    pub(crate) usage: &'static str,
    pub(crate) takes: Takes,
    pub(crate) does: Does,
}

/// The arguments of a word.
#[derive(Debug)]
pub(crate) enum Takes {
    /// An object and these.
    Object(&'static [Param]),
    /// A list of objects, at least one.
    Objects,
}

/// An argument behind the object.
#[derive(Debug)]
pub(crate) enum Param {
    /// A value of the type that the object holds.
    Content,
    /// An integer. If the object holds a value, that must be an integer, too.
    Int,
    /// Another object.
    Object(ObjectKind),
}

/// The acts that a word stands for. Its value is that of the last one.
#[derive(Debug)]
pub(crate) enum Does {
    /// Only this, with all arguments.
    Act(&'static Act),
    /// A request for the object, and the wait for what was requested.
    RequestAndWait(&'static Act, &'static Act),
    /// These, of which the last one is an act.
    Steps(&'static [Step]),
}

/// A step of a word that stands for several acts.
#[derive(Debug)]
pub(crate) enum Step {
    /// The act, with the arguments of the word at these places.
    Do(&'static Act, &'static [u32]),
    /// If the act, which is about the object, answers yes, these steps; if not, those. If the
    /// number in the declaration of the object is 0, it is not asked, and the answer is no.
    If(&'static Act, &'static [Step], &'static [Step]),
}

impl Word {
    /// A word for this act on one object.
    const fn new(usage: &'static str, act: &'static Act) -> Word {
        Word { usage, takes: Takes::Object(&[]), does: Does::Act(act) }
    }

    /// A word for a request and a wait.
    const fn both(usage: &'static str, request: &'static Act, wait: &'static Act) -> Word {
        Word { usage, takes: Takes::Object(&[]), does: Does::RequestAndWait(request, wait) }
    }

    /// The word itself.
    pub(crate) fn name(&self) -> &'static str {
        name_of(self.usage)
    }

    /// The type of its value.
    pub(crate) fn gives(&self) -> Gives {
        match self.does {
            Does::Act(act) | Does::RequestAndWait(_, act) => act.gives,
            Does::Steps([.., Step::Do(act, _)]) => act.gives,
            Does::Steps(_) => unreachable!("the last step of `{}` is no act", self.usage),
        }
    }
}

/// The type of the value of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    Unit,
    /// Has it succeeded?
    Bool,
    /// The place of the object among the arguments, -1 for none.
    Place,
    /// What the model answers, of the type of what the object holds.
    Content,
}

/// A visible operation on an object. Two are equal if they are the same one.
#[derive(Debug)]
pub(crate) struct Act {
    /// The kind of its object, which is its first argument.
    pub(crate) kind: ObjectKind,
    /// The number of arguments; `None` if they are any number of objects.
    pub(crate) arity: Option<usize>,
    pub(crate) gives: Gives,
    /// The operation of the model, or what is wrong.
    pub(crate) op: fn(&mut Caller<'_>) -> Result<Op, String>,
    /// Notes in the books of the process what it must remember of the response.
    pub(crate) learn: fn(&mut Answer<'_>),
    /// What it may touch, of the object with this number. See [`Touch`].
    pub(crate) touches: &'static [fn(u32) -> Touch],
    /// Does it always change the object? See [`spin`](super::spin).
    pub(crate) always_changes: bool,
}

impl PartialEq for Act {
    fn eq(&self, other: &Act) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Act {}

impl Act {
    /// An act on one object, without a value, that leaves no traces. The other fields say more.
    const fn new(kind: ObjectKind, op: fn(&mut Caller<'_>) -> Result<Op, String>) -> Act {
        Act {
            kind,
            arity: Some(1),
            gives: Gives::Unit,
            op,
            learn: nothing,
            touches: &[],
            always_changes: false,
        }
    }

    /// Its value after this response.
    pub(crate) fn value(&self, response: Response, values: &Values) -> Value {
        match (self.gives, response) {
            (Gives::Unit, _) => Value::Unit,
            (_, Response::Value(value)) => values.get(value).clone(),
            (Gives::Bool, Response::Chosen(n)) => Value::Bool(n == 1),
            (Gives::Bool, response) => Value::Bool(response != Response::Incomplete),
            (_, Response::Completed { index, .. }) => Value::Int(i64::from(index)),
            _ => Value::Int(-1),
        }
    }
}

/// A process that is at an act.
pub(crate) struct Caller<'c> {
    pub(crate) kind: ObjectKind,
    pub(crate) args: &'c [Value],
    pub(crate) books: &'c Books,
    pub(crate) objects: &'c Objects,
    pub(crate) values: &'c mut Values,
    /// The number in the declaration of the object.
    pub(crate) declared: u32,
}

impl Caller<'_> {
    /// The number of its object.
    fn object(&self) -> u32 {
        number(&self.args[0])
    }

    /// The oldest request for its object that it has not ended.
    fn request(&self) -> Option<Handle> {
        self.books.request(self.kind, self.object())
    }

    /// The argument at this place, as the model knows it.
    fn intern(&mut self, place: usize) -> ValueId {
        self.values.intern(self.args[place].clone())
    }
}

/// The response to an act.
pub(crate) struct Answer<'a> {
    pub(crate) kind: ObjectKind,
    pub(crate) args: &'a [Value],
    pub(crate) response: Response,
    pub(crate) books: &'a mut Books,
}

impl Answer<'_> {
    fn object(&self) -> u32 {
        number(&self.args[0])
    }
}

/// There is nothing to remember.
fn nothing(_: &mut Answer<'_>) {}

/// If a request was posted: it is remembered.
fn requested(answer: &mut Answer<'_>) {
    if let Response::Posted(handle) = answer.response {
        answer.books.requested(answer.kind, answer.object(), handle);
    }
}

/// If a request was granted: its process knows that.
fn granted(answer: &mut Answer<'_>) {
    if let Response::Completed { index, .. } = answer.response {
        answer.books.granted(answer.kind, number(&answer.args[index as usize]));
    }
}

/// The oldest request has ended.
fn ended(answer: &mut Answer<'_>) {
    answer.books.ended(answer.kind, answer.object());
}

/// The number of an object.
pub(crate) fn number(value: &Value) -> u32 {
    value.int() as u32
}

/// The word in front of a usage.
pub(crate) fn name_of(usage: &'static str) -> &'static str {
    usage.split('(').next().unwrap_or(usage)
}

/// Is it a usage of this word?
pub(crate) fn is_of(usage: &str, word: &str) -> bool {
    usage.strip_prefix(word).is_some_and(|rest| rest.starts_with('('))
}

/// All words with the kinds that have them.
pub(crate) fn words() -> impl Iterator<Item = (ObjectKind, &'static Word)> + Clone {
    ObjectKind::ALL.iter().flat_map(|&kind| kind.about().words.iter().map(move |word| (kind, word)))
}

/// The words of this name.
pub(crate) fn words_called(
    name: &str,
) -> impl Iterator<Item = (ObjectKind, &'static Word)> + Clone {
    words().filter(move |(_, word)| is_of(word.usage, name))
}

/// The kind that this keyword declares.
pub(crate) fn declared_by(keyword: &str) -> Option<ObjectKind> {
    ObjectKind::ALL.iter().copied().find(|kind| kind.about().keyword == keyword)
}

/// Advice for an operation that does not exist.
pub(crate) fn slip(name: &str) -> Option<&'static str> {
    advice(name, |kind| kind.slips)
}

/// Advice for a keyword that does not exist.
pub(crate) fn keyword_slip(name: &str) -> Option<&'static str> {
    advice(name, |kind| kind.keyword_slips)
}

fn advice(name: &str, of: fn(&Description) -> Slips) -> Option<&'static str> {
    let mut slips = ObjectKind::ALL.iter().flat_map(|kind| of(kind.about()));
    slips.find(|(words, _)| words.split(' ').any(|word| word == name)).map(|&(_, advice)| advice)
}
