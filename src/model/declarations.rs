//! The shared objects of a system as declared: their names and initial values.
//!
//! An array of a million objects is one entry. The name of an element is made only on request.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::Object;
use super::objects::{ObjectId, all_kinds};
use super::op::*;
macro_rules! define_objects {
    ($($(#[$doc:meta])* $kind:ident($id:ident) $all:ident [$($log:ty)?],)*) => {
        /// The shared objects of a system.
        #[derive(Clone, Debug, Default)]
        pub struct Objects {
            $($(#[$doc])* pub $all: Declarations<<$id as ObjectId>::Declared>,)*
            /// Maximum number of consecutive unsuccessful polls of the network before a process
            /// blocks.
            pub max_polls: Polls,
            /// May a communication end early or late
            /// ([`Completion::Either`](super::Completion::Either))?
            pub may_end_late: bool,
            /// May a process be at a probe that finds nothing only when nothing else can happen
            /// ([`Probing::WhenStuck`](super::Probing::WhenStuck))?
            pub may_time_out_when_stuck: bool,
            /// What objects are called that were not declared one by one.
            pub called: Called,
        }

        impl Objects {
            /// The number of objects of all kinds.
            pub fn len(&self) -> usize {
                0 $(+ self.$all.len())*
            }

            /// Are there no objects?
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The name of a declared object.
            pub fn name(&self, object: Object) -> String {
                if let Some(name) = self.called.0.as_ref().and_then(|called| called(object)) {
                    return name;
                }
                match object {
                    $(Object::$kind(id) => self.$all.name(id.0),)*
                }
            }
        }
    };
}
all_kinds!(define_objects);

/// What objects are called that are made while a program runs: see [`Objects::called`].
#[derive(Clone, Default)]
pub struct Called(pub Option<Arc<dyn Fn(Object) -> Option<String> + Send + Sync>>);

impl fmt::Debug for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Called")
    }
}

/// A number of consecutive unsuccessful polls: see [`Objects::max_polls`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polls(pub u8);

impl Default for Polls {
    fn default() -> Self {
        Polls(2)
    }
}

/// How processes ask for a mutex. This determines which actions on it commute ([`super::Effect`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Asking {
    /// Processes queue, and wait or test until it is their turn.
    #[default]
    Queues,
    /// Some `try_lock` may ask for the mutex, so processes observe whether its queue is empty. Such
    /// a mutex must not be tested.
    Tries,
}

/// The objects of one kind, numbered in order of declaration, each with an initial value.
#[derive(Clone, Debug)]
pub struct Declarations<T> {
    groups: Vec<Group<T>>,
    count: u32,
}

/// What one declaration declares.
#[derive(Clone, Debug)]
struct Group<T> {
    name: String,
    /// The number of its first object.
    first: u32,
    is_array: bool,
    start: Start<T>,
}

#[derive(Clone, Debug)]
enum Start<T> {
    Same(T),
    Each(Vec<T>),
}

impl<T> Default for Declarations<T> {
    fn default() -> Self {
        Declarations { groups: Vec::new(), count: 0 }
    }
}

impl<T> Declarations<T> {
    /// The number of objects.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Are there no objects?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Declares one object.
    pub fn push(&mut self, name: impl Into<String>, start: T) {
        self.add(name.into(), false, 1, Start::Same(start));
    }

    /// Declares an array `name[0]`, `name[1]`, .. of `count` objects that start alike.
    pub fn push_array(&mut self, name: impl Into<String>, count: u32, start: T) {
        self.add(name.into(), true, count, Start::Same(start));
    }

    /// Declares an array with one object for each of these initial values.
    pub fn push_each(&mut self, name: impl Into<String>, starts: Vec<T>) {
        self.add(name.into(), true, starts.len() as u32, Start::Each(starts));
    }

    /// Changes the initial value of all objects in the declaration that object `number` belongs to.
    ///
    /// # Panics
    /// If there is no such object.
    pub fn restart(&mut self, number: u32, start: T) {
        let index = self.index(number);
        self.groups[index].start = Start::Same(start);
    }

    fn add(&mut self, name: String, is_array: bool, count: u32, start: Start<T>) {
        self.groups.push(Group { name, first: self.count, is_array, start });
        self.count += count;
    }

    /// The name of the object with this number, as the author of the program would say it.
    pub fn name(&self, number: u32) -> String {
        let group = self.group(number);
        match group.is_array {
            true => format!("{}[{}]", group.name, number - group.first),
            false => group.name.clone(),
        }
    }

    /// The initial value of the object with this number.
    pub fn start(&self, number: u32) -> &T {
        let group = self.group(number);
        match &group.start {
            Start::Same(start) => start,
            Start::Each(starts) => &starts[(number - group.first) as usize],
        }
    }

    /// Does any object start like this? O(the number of declarations) if all arrays start alike.
    pub(crate) fn any(&self, is_it: impl Fn(&T) -> bool) -> bool {
        self.groups.iter().any(|group| match &group.start {
            Start::Same(start) => is_it(start),
            Start::Each(starts) => starts.iter().any(&is_it),
        })
    }

    /// The name of each declaration, and the numbers of its objects.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (&str, Range<u32>)> {
        let ends = self.groups.iter().skip(1).map(|group| group.first).chain([self.count]);
        let each = self.groups.iter().zip(ends);
        each.map(|(group, end)| (group.name.as_str(), group.first..end))
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = String> {
        (0..self.count).map(|number| self.name(number))
    }

    /// The declaration of this object. O(log n).
    ///
    /// # Panics
    /// If there is no such object.
    fn group(&self, number: u32) -> &Group<T> {
        &self.groups[self.index(number)]
    }

    fn index(&self, number: u32) -> usize {
        assert!(number < self.count, "object {number} of {}", self.count);
        // An empty array begins where the next declaration does.
        let behind = self.groups.partition_point(|group| group.first <= number);
        behind - 1
    }
}

impl<T: Default> FromIterator<String> for Declarations<T> {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        names.into_iter().map(|name| (name, T::default())).collect()
    }
}

impl<T> FromIterator<(String, T)> for Declarations<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(objects: I) -> Self {
        let mut all = Declarations::default();
        objects.into_iter().for_each(|(name, start)| all.push(name, start));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_numbered_across_declarations() {
        let mut all = Declarations::default();
        all.push("a", 7);
        all.push_array("none", 0, 9);
        all.push_array("b", 3, 1);
        all.push_each("c", vec![4, 5]);
        all.push_array("d", 1_000_000, 0);
        assert_eq!(all.len(), 1_000_006);
        let named: Vec<_> = all.names().take(6).collect();
        assert_eq!(named, ["a", "b[0]", "b[1]", "b[2]", "c[0]", "c[1]"]);
        assert_eq!([0, 1, 3, 4, 5].map(|number| *all.start(number)), [7, 1, 1, 4, 5]);
        assert_eq!(all.name(1_000_005), "d[999999]");
        all.restart(2, 8);
        assert_eq!([0, 1, 3, 4].map(|number| *all.start(number)), [7, 8, 8, 4]);
    }
}
