//! Laws that hold on every program, tested on random ones against the oracle.

mod of_trace;
