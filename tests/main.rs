//! One test binary for everything that goes beyond a module.

mod golden;
mod lang;
