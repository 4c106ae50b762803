//! One search by several workers: threads here, or programs on other machines.
//!
//! | file | idea |
//! |---|---|
//! | [`scout`] | what is left to do where a search began, and whether it is anything |
//! | [`place`] | where a piece of a search stands among all |
//! | [`joined`] | the result of a search in pieces |
//! | [`part`] | the pieces of a search that are done, and those that are left, in portable form |
//! | [`cut`] | a search is cut into parts for many machines |
//! | [`crew`] | who does what; workers may die |
//! | [`threads`] | threads as workers |

pub mod crew;
mod cut;
mod joined;
pub mod part;
pub mod place;
pub mod scout;
pub mod threads;
