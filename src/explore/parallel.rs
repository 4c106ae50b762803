//! One search by several workers: threads here, or programs on other machines.
//!
//! | file | idea |
//! |---|---|
//! | [`start`] | the open work where a search began, and whether there is any |
//! | [`place`] | the position of a piece among all pieces of a search |
//! | [`joined`] | the result of a search in pieces |
//! | [`part`] | checkpoints: finished and open pieces of a search, in portable form |
//! | [`cut`] | splits a search into parts for many machines |
//! | [`crew`] | assigns pieces to workers, which may die |
//! | [`dispatcher`] | the messages of workers, and the answers that they get |
//! | [`threads`] | threads as workers |
//! | [`kept`] | a search that is saved now and then |
//! | [`ahead`] | pieces that threads explore before the search gets there |
//! | [`demands`] | how the races of such a piece reach the search |
//! | [`helpers`] | the threads that explore them |

pub(crate) mod ahead;
pub mod crew;
mod cut;
pub(crate) mod demands;
pub mod dispatcher;
mod helpers;
mod joined;
pub(crate) mod kept;
pub(crate) mod part;
pub(crate) mod place;
pub(crate) mod start;
pub(crate) mod threads;
