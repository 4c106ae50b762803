//! The senders of a channel.
//!
//! They are counted apart from the messages. So a sender can be made or dropped while another one
//! sends: neither depends on the other. Only the last one to be dropped acts on the channel.

use crate::threads::sync::section::{Named, Section, is_over};

/// The number of senders of a channel.
pub(super) struct Senders(Section<Count>);

struct Count {
    strong: usize,
    /// Those that do not keep the channel open.
    weak: usize,
}

impl Senders {
    /// One sender.
    #[track_caller]
    pub(super) fn new() -> Senders {
        Senders(Section::new("channel", Count { strong: 1, weak: 0 }))
    }

    pub(super) fn strong(&self, named: Named) -> usize {
        self.0.enter(named, |count| count.strong)
    }

    pub(super) fn weak(&self, named: Named) -> usize {
        self.0.enter(named, |count| count.weak)
    }

    pub(super) fn add(&self, named: Named) {
        self.0.enter(named, |count| count.strong += 1);
    }

    pub(super) fn add_weak(&self, named: Named) {
        self.0.enter(named, |count| count.weak += 1);
    }

    /// Makes a sender of a weak one, if there is a sender.
    pub(super) fn upgrade(&self, named: Named) -> bool {
        self.0.enter(named, |count| {
            let is_any = count.strong > 0;
            count.strong += usize::from(is_any);
            is_any
        })
    }

    /// A sender is dropped. Returns whether it was the last one.
    pub(super) fn remove(&self, named: Named) -> bool {
        !is_over()
            && self.0.enter(named, |count| {
                count.strong -= 1;
                count.strong == 0
            })
    }

    pub(super) fn remove_weak(&self, named: Named) {
        if !is_over() {
            self.0.enter(named, |count| count.weak -= 1);
        }
    }
}

/// A sender that is counted, and a weak one. The channel has `senders`, and is told by `abandon`
/// when there are none any more.
macro_rules! counted {
    ($sender:ident, $weak:ident, $channel:ident) => {
        impl<T> $sender<T> {
            /// A sender that does not keep the channel open.
            #[track_caller]
            pub fn downgrade(&self) -> $weak<T> {
                self.channel.senders.add_weak(Named::here("downgrade"));
                $weak { channel: self.channel.clone(), made: self.made }
            }

            /// Do both send to the same channel?
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.channel, &other.channel)
            }

            /// The number of senders.
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                self.channel.senders.strong(Named::here("strong_count"))
            }

            /// The number of senders that do not keep the channel open.
            #[track_caller]
            pub fn weak_count(&self) -> usize {
                self.channel.senders.weak(Named::here("weak_count"))
            }
        }

        impl<T> Clone for $sender<T> {
            #[track_caller]
            fn clone(&self) -> Self {
                self.channel.senders.add(Named::here("clone"));
                $sender { channel: self.channel.clone(), made: self.made }
            }
        }

        impl<T> Drop for $sender<T> {
            fn drop(&mut self) {
                let named = Named { text: "drop of the sender", ..self.made };
                if self.channel.senders.remove(named) {
                    self.channel.abandon(named);
                }
            }
        }

        impl<T> fmt::Debug for $sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($sender)).finish_non_exhaustive()
            }
        }

        /// A sender that does not keep the channel open.
        pub struct $weak<T> {
            channel: Arc<$channel<T>>,
            made: Named,
        }

        impl<T> $weak<T> {
            /// A sender, if there is one still.
            #[track_caller]
            pub fn upgrade(&self) -> Option<$sender<T>> {
                let is_any = self.channel.senders.upgrade(Named::here("upgrade"));
                is_any.then(|| $sender { channel: self.channel.clone(), made: self.made })
            }

            /// The number of senders.
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                self.channel.senders.strong(Named::here("strong_count"))
            }

            /// The number of senders that do not keep the channel open.
            #[track_caller]
            pub fn weak_count(&self) -> usize {
                self.channel.senders.weak(Named::here("weak_count"))
            }
        }

        impl<T> Clone for $weak<T> {
            #[track_caller]
            fn clone(&self) -> Self {
                self.channel.senders.add_weak(Named::here("clone"));
                $weak { channel: self.channel.clone(), made: self.made }
            }
        }

        impl<T> Drop for $weak<T> {
            fn drop(&mut self) {
                let named = Named { text: "drop of the sender", ..self.made };
                self.channel.senders.remove_weak(named);
            }
        }

        impl<T> fmt::Debug for $weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($weak)).finish_non_exhaustive()
            }
        }
    };
}

pub(super) use counted;
