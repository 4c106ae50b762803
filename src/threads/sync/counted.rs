//! [`std::sync::Arc`] with handles that are counted: which thread drops the last one is explored.
//!
//! With the `Arc` of the standard library, the thread that drops the last handle is the one that
//! did so in one run. So what a destructor does there must not be seen by others. Here it may.
//! Handles are counted only where that matters: if the destructor of a content does something that
//! others can see, or a handle is weak, the search is repeated, and each drop of a handle that was
//! made there is an operation.
//!
//! A drop tells only which drops came before it. That suffices: a handle is made from another one,
//! and a thread that drops the last one knows that all others were dropped, and how they were made.
//!
//! As in loom, a handle of a sized type is not converted to one of `dyn Trait` by itself:
//! [`Arc::from_std`] takes the handle of the standard library that was.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc as Plain;

use super::turns::Turns;
use crate::threads::ask::{Place, Running};
use crate::threads::mode::Counting;

/// A handle of a content that several have: see [`std::sync::Arc`].
pub struct Arc<T: ?Sized> {
    /// `None` once it is dropped.
    content: Option<Plain<T>>,
    drops: Plain<Drops>,
}

/// A handle that does not keep the content: see [`std::sync::Weak`].
pub struct Weak<T: ?Sized> {
    content: std::sync::Weak<T>,
    drops: Option<Plain<Drops>>,
}

/// The handles of a content that were dropped.
#[derive(Debug)]
pub(in crate::threads) struct Drops {
    /// Where the first handle was made.
    place: Place,
    /// Each drop takes one. `None` if they are not counted.
    turns: Option<Turns>,
}

impl Drops {
    fn new(place: Place) -> Plain<Drops> {
        let running = Running::try_current();
        let counted = running.filter(|running| running.shared.mode.counting(place).is_some());
        let turns = counted.map(|_| Turns::new("drops of Arc", place));
        Plain::new(Drops { place, turns })
    }

    /// Takes a turn, if handles are counted.
    fn join_in(&self, text: &'static str, place: Place) {
        if let Some(turns) = &self.turns {
            turns.take(text, place);
        }
    }

    /// From now on it matters who drops the last handle; or how many handles there are.
    fn count(&self, counting: Counting) {
        if let Some(running) = Running::try_current() {
            running.shared.counts(self.place, counting);
        }
    }
}

impl<T> Arc<T> {
    /// A handle of this content.
    #[track_caller]
    pub fn new(content: T) -> Arc<T> {
        Arc::made(content, Location::caller())
    }

    /// As if it were made there.
    pub(in crate::threads) fn made(content: T, place: Place) -> Arc<T> {
        Arc::of_std(Plain::new(content), place)
    }

    /// The content, if this is its only handle.
    ///
    /// # Errors
    /// With the handle, if there are others.
    #[track_caller]
    pub fn try_unwrap(mut this: Arc<T>) -> Result<T, Arc<T>> {
        let place = Location::caller();
        this.drops.count(Counting::Drops);
        this.drops.join_in("try_unwrap", place);
        let drops = this.drops.clone();
        let content = this.content.take().expect("a handle that is not dropped");
        Plain::try_unwrap(content).map_err(|content| Arc { content: Some(content), drops })
    }

    /// The content, if this is its last handle.
    #[track_caller]
    pub fn into_inner(mut this: Arc<T>) -> Option<T> {
        let place = Location::caller();
        this.drops.count(Counting::Drops);
        this.drops.join_in("into_inner", place);
        Plain::into_inner(this.content.take()?)
    }
}

impl<T: ?Sized> Arc<T> {
    /// The handle of the standard library, counted from now on. It should be the only one.
    #[track_caller]
    pub fn from_std(content: Plain<T>) -> Arc<T> {
        Arc::of_std(content, Location::caller())
    }

    fn of_std(content: Plain<T>, place: Place) -> Arc<T> {
        Arc { content: Some(content), drops: Drops::new(place) }
    }

    fn content(&self) -> &Plain<T> {
        self.content.as_ref().expect("a handle that is not dropped")
    }

    /// The number of handles.
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        this.drops.count(Counting::All);
        this.drops.join_in("strong_count", Location::caller());
        Plain::strong_count(this.content())
    }

    /// Are these handles of the same content?
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        Plain::ptr_eq(this.content(), other.content())
    }

    /// A pointer to the content.
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        Plain::as_ptr(this.content())
    }

    /// The content, if this is its only handle.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        this.drops.count(Counting::Drops);
        this.drops.join_in("get_mut", Location::caller());
        Plain::get_mut(this.content.as_mut()?)
    }

    /// A weak handle of the content.
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        this.drops.count(Counting::Drops);
        Weak { content: Plain::downgrade(this.content()), drops: Some(this.drops.clone()) }
    }
}

/// Handles as pointers. They are not counted while they are pointers.
#[expect(unsafe_code, reason = "the signatures of the standard library")]
impl<T> Arc<T> {
    /// The handle as a pointer to the content.
    pub fn into_raw(mut this: Arc<T>) -> *const T {
        let content = this.content.take().expect("a handle that is not dropped");
        let pointer = Plain::into_raw(content);
        let Some(running) = Running::try_current() else { return pointer };
        running.raw.borrow_mut().entry(pointer.addr()).or_default().push(this.drops.clone());
        pointer
    }

    /// The handle that was made a pointer.
    ///
    /// # Safety
    /// As for [`std::sync::Arc::from_raw`].
    #[track_caller]
    pub unsafe fn from_raw(pointer: *const T) -> Arc<T> {
        let running = Running::try_current();
        let pop = |running: &Running| running.raw.borrow_mut().get_mut(&pointer.addr())?.pop();
        let drops = running.and_then(|running| pop(&running));
        let drops = drops.unwrap_or_else(|| Drops::new(Location::caller()));
        // SAFETY: promised by the caller.
        Arc { content: Some(unsafe { Plain::from_raw(pointer) }), drops }
    }

    /// One handle more of a content with a handle that is a pointer.
    ///
    /// # Safety
    /// As for [`std::sync::Arc::increment_strong_count`].
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: promised by the caller.
        let handle = unsafe { Arc::from_raw(pointer) };
        let (one, other) = (handle.clone(), handle);
        let _pointers = (Arc::into_raw(one), Arc::into_raw(other));
    }

    /// One handle less.
    ///
    /// # Safety
    /// As for [`std::sync::Arc::decrement_strong_count`].
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: promised by the caller.
        drop(unsafe { Arc::from_raw(pointer) });
    }
}

impl<T: Clone> Arc<T> {
    /// The content to be changed: a copy, if there are other handles.
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        let place = Location::caller();
        if Arc::get_mut(this).is_none() {
            *this = Arc::made((**this).clone(), place);
        }
        Plain::get_mut(this.content.as_mut().expect("a handle that is not dropped"))
            .expect("the only handle")
    }

    /// The content, or a copy of it if there are other handles.
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T {
        Arc::try_unwrap(this).unwrap_or_else(|handle| (*handle).clone())
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        let Some(content) = self.content.take() else { return };
        let Some(running) = Running::try_current().filter(|running| !running.is_ending.get())
        else {
            return;
        };
        if self.drops.turns.is_some() {
            drop(running);
            self.drops.join_in("drop", self.drops.place);
            return drop(content);
        }
        // What the destructor does that others see shows that handles have to be counted.
        let _uncounted = running.drops_uncounted(self.drops.place);
        drop(content);
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        let running = Running::try_current();
        let counting = running.and_then(|running| running.shared.mode.counting(self.drops.place));
        if counting == Some(Counting::All) {
            self.drops.join_in("clone", Location::caller());
        }
        Arc { content: self.content.clone(), drops: self.drops.clone() }
    }
}

impl<T> Weak<T> {
    /// A weak handle of nothing.
    pub fn new() -> Weak<T> {
        Weak { content: std::sync::Weak::new(), drops: None }
    }
}

impl<T: ?Sized> Weak<T> {
    /// A handle of the content, unless the last one was dropped.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let drops = self.drops.clone()?;
        drops.join_in("upgrade", Location::caller());
        Some(Arc { content: Some(self.content.upgrade()?), drops })
    }

    /// The number of handles that are not weak.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        let Some(drops) = &self.drops else { return 0 };
        drops.count(Counting::All);
        drops.join_in("strong_count", Location::caller());
        self.content.strong_count()
    }

    /// Are these handles of the same content?
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        self.content.ptr_eq(&other.content)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    fn clone(&self) -> Self {
        Weak { content: self.content.clone(), drops: self.drops.clone() }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.content()
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(content: T) -> Self {
        Arc::new(content)
    }
}
