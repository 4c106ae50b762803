//! [`std::hint`].

/// Says that the thread waits for something that others do. It has no effect: others may do
/// anything in between in any case, and loops that wait are recognised by what they do.
pub fn spin_loop() {}
