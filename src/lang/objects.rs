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
pub mod cell;
pub mod collective;
mod condvar;
mod latch;
mod mailbox;
pub mod mutex;
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
pub struct Description {
    /// The word that its declarations start with.
    pub keyword: &'static str,
    /// May programs use the keyword and the words as names of their own?
    pub is_soft: bool,
    /// What messages call one such object, and several.
    pub names: (&'static str, &'static str),
    /// What a message calls it that asks for the name of one.
    pub short: &'static str,
    /// How it is used, for messages.
    pub usage: &'static str,
    /// What else a declaration says.
    pub number: Option<Number>,
    /// Declares such objects to the model; `None` if the checker does that by hand.
    pub declare: Option<fn(&mut Objects, &Declared<'_>)>,
    /// How many the program declares.
    pub count: fn(&Objects) -> usize,
    /// Its operations, but for those that are checked by hand.
    pub words: &'static [Word],
    /// Looks at a declaration when all its uses are known.
    pub finish: fn(&mut Objects, &Uses<'_>) -> Option<Diagnostic>,
    /// What newcomers write in place of the keyword.
    pub keyword_slips: Slips,
    /// What newcomers write in place of the words.
    pub slips: Slips,
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
pub struct Number {
    pub form: Form,
    /// A declaration that shows the form.
    pub example: &'static str,
    /// What is counted, for messages.
    pub what: &'static str,
    /// The least and the greatest one. A wrong or missing number counts as the least.
    pub bounds: (i64, i64),
}

/// Where the number is in a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `semaphore s = 1;`
    Equals,
    /// `barrier b(2);`
    Parentheses,
    /// `condvar c spurious 1;`, and it may be missing.
    After(&'static str),
}

/// A declaration of one object or an array of them.
pub struct Declared<'d> {
    pub name: &'d str,
    /// The length, if it is an array.
    pub array: Option<u32>,
    /// The number in the declaration; 0 if there is none.
    pub number: u32,
}

impl Declared<'_> {
    /// Declares the objects, which all start with this.
    pub fn add_to<T>(&self, declared: &mut Declarations<T>, start: T) {
        match self.array {
            Some(count) => declared.push_array(self.name, count, start),
            None => declared.push(self.name, start),
        }
    }
}

/// How a program uses the objects of one declaration.
pub struct Uses<'u> {
    pub name: &'u str,
    /// The number of the first object.
    pub base: u32,
    /// The first call of each word, by its name.
    pub calls: &'u [(&'static str, Span)],
}

impl Uses<'_> {
    /// The first call of one of these words.
    pub fn first_of(&self, words: &[&str]) -> Option<Span> {
        self.calls.iter().find(|(name, _)| words.contains(name)).map(|&(_, span)| span)
    }
}

/// An operation as programs call it.
#[derive(Debug)]
pub struct Word {
    /// How it is called, with the word itself in front: `acquire(semaphore)`.
    pub usage: &'static str,
    pub takes: Takes,
    pub does: Does,
}

/// The arguments of a word.
#[derive(Debug)]
pub enum Takes {
    /// An object and these.
    Object(&'static [Param]),
    /// A list of objects, at least one.
    Objects,
}

/// An argument behind the object.
#[derive(Debug)]
pub enum Param {
    /// A value of the type that the object holds.
    Content,
    /// An integer. If the object holds a value, that must be an integer, too.
    Int,
    /// Another object.
    Object(ObjectKind),
}

/// The acts that a word stands for. Its value is that of the last one.
#[derive(Debug)]
pub enum Does {
    /// Only this, with all arguments.
    Act(&'static Act),
    /// A request for the object, and the wait for what was requested.
    RequestAndWait(&'static Act, &'static Act),
    /// These, of which the last one is an act.
    Steps(&'static [Step]),
}

/// A step of a word that stands for several acts.
#[derive(Debug)]
pub enum Step {
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
    pub fn name(&self) -> &'static str {
        name_of(self.usage)
    }

    /// The type of its value.
    pub fn gives(&self) -> Gives {
        match self.does {
            Does::Act(act) | Does::RequestAndWait(_, act) => act.gives,
            Does::Steps([.., Step::Do(act, _)]) => act.gives,
            Does::Steps(_) => unreachable!("the last step of `{}` is no act", self.usage),
        }
    }
}

/// The type of the value of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
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
pub struct Act {
    /// The kind of its object, which is its first argument.
    pub kind: ObjectKind,
    /// The number of arguments; `None` if they are any number of objects.
    pub arity: Option<usize>,
    pub gives: Gives,
    /// The operation of the model, or what is wrong.
    pub op: fn(&mut Caller<'_>) -> Result<Op, String>,
    /// Notes in the books of the process what it must remember of the response.
    pub learn: fn(&mut Answer<'_>),
    /// What it may touch, of the object with this number. See [`Touch`].
    pub touches: &'static [fn(u32) -> Touch],
    /// Does it always change the object? See [`spin`](super::spin).
    pub always_changes: bool,
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
    pub fn value(&self, response: Response, values: &Values) -> Value {
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
pub struct Caller<'c> {
    pub kind: ObjectKind,
    pub args: &'c [Value],
    pub books: &'c Books,
    pub objects: &'c Objects,
    pub values: &'c mut Values,
    /// The number in the declaration of the object.
    pub declared: u32,
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
pub struct Answer<'a> {
    pub kind: ObjectKind,
    pub args: &'a [Value],
    pub response: Response,
    pub books: &'a mut Books,
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
pub fn number(value: &Value) -> u32 {
    value.int() as u32
}

/// The word in front of a usage.
pub fn name_of(usage: &'static str) -> &'static str {
    usage.split('(').next().unwrap_or(usage)
}

/// Is it a usage of this word?
pub fn is_of(usage: &str, word: &str) -> bool {
    usage.strip_prefix(word).is_some_and(|rest| rest.starts_with('('))
}

/// All words with the kinds that have them.
pub fn words() -> impl Iterator<Item = (ObjectKind, &'static Word)> + Clone {
    ObjectKind::ALL.iter().flat_map(|&kind| kind.about().words.iter().map(move |word| (kind, word)))
}

/// The words of this name.
pub fn words_called(name: &str) -> impl Iterator<Item = (ObjectKind, &'static Word)> + Clone {
    words().filter(move |(_, word)| is_of(word.usage, name))
}

/// The kind that this keyword declares.
pub fn declared_by(keyword: &str) -> Option<ObjectKind> {
    ObjectKind::ALL.iter().copied().find(|kind| kind.about().keyword == keyword)
}

/// Advice for an operation that does not exist.
pub fn slip(name: &str) -> Option<&'static str> {
    advice(name, |kind| kind.slips)
}

/// Advice for a keyword that does not exist.
pub fn keyword_slip(name: &str) -> Option<&'static str> {
    advice(name, |kind| kind.keyword_slips)
}

fn advice(name: &str, of: fn(&Description) -> Slips) -> Option<&'static str> {
    let mut slips = ObjectKind::ALL.iter().flat_map(|kind| of(kind.about()));
    slips.find(|(words, _)| words.split(' ').any(|word| word == name)).map(|&(_, advice)| advice)
}
