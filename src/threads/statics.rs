//! [`lazy_static!`](crate::lazy_static): variables of a program that are made when they are first
//! used, anew in each execution.

use std::any::Any;
use std::ops::Deref;

use super::ask::Running;
use super::sync::OnceLock;

/// A variable that is made when it is first used.
#[derive(Debug)]
pub struct Static<T: 'static> {
    make: fn() -> T,
}

impl<T: 'static> Static<T> {
    /// A variable that this will make.
    pub const fn new(make: fn() -> T) -> Static<T> {
        Static { make }
    }
}

impl<T: 'static> Deref for Static<T> {
    type Target = T;

    /// The variable of the execution. As that of a `static`, its memory is never given back.
    #[track_caller]
    fn deref(&self) -> &T {
        let running = Running::current();
        let address = std::ptr::from_ref(self).addr();
        let known = running.statics.borrow().get(&address).copied();
        let variable = known.unwrap_or_else(|| {
            let index = running.shared.static_at(address);
            let variable: &'static OnceLock<T> =
                running.make_static(index, || Box::leak(Box::new(OnceLock::new())));
            running.statics.borrow_mut().insert(address, variable);
            variable
        });
        drop(running);
        let variable: &'static OnceLock<T> =
            variable.downcast_ref().expect("a variable of this type");
        variable.get_or_init(self.make)
    }
}

/// A variable of a program, which a world has made.
pub(super) type Variable = &'static dyn Any;

/// Variables that are made when they are first used: as the macro of the crate `lazy_static`.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static ref $name:ident: $type:ty = $make:expr; $($others:tt)*) => {
        $(#[$attribute])* $visible static $name: $crate::threads::Static<$type> =
            $crate::threads::Static::new(|| $make);
        $crate::lazy_static!($($others)*);
    };
}
