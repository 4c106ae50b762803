//! Every spec on every explorer, judged by what the explorer guarantees.

mod expectation;

pub use expectation::{Expectation, expectations};
