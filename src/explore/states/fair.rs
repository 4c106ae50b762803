//! What must happen in the end, judged on the graph of all states.
//!
//! A program with finitely many states violates a demand on endless executions
//! ([`Liveness`](crate::model::Liveness)) if and only if it has a *lasso* that does: a path to a
//! loop, and the loop for ever. So this explorer
//!
//! 1. builds the graph of all reachable states, breadth-first, with every step as an edge, and
//!    judges everything else on the way, as `stateful` does;
//! 2. for each demand looks for a fair loop through states in which the goal never holds
//!    ([`demands`], [`components`]);
//! 3. makes a short lasso of it ([`rounds`]), which is replayed before it is shown.
//!
//! **No reduction.** A loop may consist of steps that are invisible, or that commute with all
//! others, and a step may be fair only because of a process that a reduction postpones. Of the
//! other explorers none keeps that:
//!
//! - Explorers of classes, and `prefix`, leave out the iterations of loops that wait
//!   ([`crate::trace::spin`]), or cut at states that they know: an execution that goes round for
//!   ever has no class there.
//! - `s-por`, `de-s-por`, `dl-s-por` keep every terminal state. Their proviso for cycles explores
//!   *some* state of each cycle in full. That keeps what is reachable, but not which processes move
//!   along a cycle, and not the values of propositions on it.
//! - `stateful` visits all states, but forgets the edges.
//!
//! So they all refuse such a program. The same holds for a quotient of the graph by symmetry: a
//! loop of orbits need not be a loop of states, and who moves on it has no fixed name. An explorer
//! of orbits must refuse, too; the graph here is of states as they are ([`growth`] makes them).
//!
//! **Loops that wait** (`while x == 0 {}`) are loops of this graph: each iteration is a step. A
//! process that iterates is not neglected; that others are not neglected is what lets it end. At
//! p2p and bag mailboxes a process may poll only a bounded number of times in a row
//! ([`Semantics::max_polls`](crate::model::Semantics::max_polls)); then it waits. If the poll leads
//! to where it was, waiting is the same as polling on. Otherwise iterations are missing in the
//! graph, and the search ends undecided.
//!
//! **Memory.** An edge takes 12 bytes: who moves, where to, and which strongly fair actions that
//! is. Its choice is found again when a lasso is made.

mod components;
mod demands;
mod graph;
mod growth;
mod rounds;
pub(crate) mod search;
