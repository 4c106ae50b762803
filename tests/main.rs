//! The test suite, as one binary: `cargo test --test suite`.
//!
//! | module | what it tests |
//! |---|---|
//! | `naive` | the oracle: event structures of small systems by the definitions |
//! | `random_models` | random programs, and their coverage of what matters |
//! | `laws` | the parts against the oracle, on random programs |
//! | `agreement` | every spec on every explorer, judged by what the explorer guarantees |
//! | `audit` | certificates: those of searches pass, other lists of classes and damaged ones do not |
//! | `auto` | the default explorer: the answers of searches that take turns, limits and panics in them |
//! | `lang` | the language, operation by operation, on the exhaustive explorer |
//! | `fmt` | the formatter: its form, what it keeps, and what the command does to files |
//! | `golden` | diagnostics, to the letter |
//! | `depth` | searches up to a depth, of every explorer, against the definitions |
//! | `observers` | what observers are notified of, compared with replays |
//! | `own_property` | properties written in Rust, checked by every explorer |
//! | `own_explorer` | an explorer of another crate, checked by the judge and in a comparison |
//! | `daemons` | processes that may wait for ever, as people see them |
//! | `known` | programs of actors whose numbers of classes are known |
//! | `help` | every example of a `--help` runs |
//! | `liveness` | what must happen in the end: against all fair sets of states, and as users see it |
//! | `invariants` | invariants by every explorer, against a walk through all states |
//! | `owners` | inboxes and ranks that two processes use: detected by every explorer |
//! | `judge` | what tests of explorers share: classes of traces, replay of counterexamples |
//! | `state_graph` | shared code for searches that store states: their graphs, and the ends and classes in them |
//! | `stateful` | searches that store states: published figures, what the printed algorithms lose, cycles |
//! | `step` | sessions of `mazurka step`, beside replays; what `why` says, beside all continuations |
//! | `spin` | programs that wait in loops: every explorer against the exhaustive one, and against the state graph |
//! | `published` | figures that papers print, to the digit |
//! | `check` | systems made in Rust, and checking them in a test |
//! | `options` | what a check in a test may be asked for: explorers as values, threads, memory |
//! | `cli` | the program as its users meet it |
//! | `servers` | results for servers that build and test software: JUnit XML and SARIF |
//! | `shells` | completions, as shells read them, and manual pages |
//! | `limits` | limits on time and memory are kept, whatever a search is doing |
//! | `machines` | searches by the ranks of an MPI job, some of which are killed; only with the feature `mpi` |
//! | `many_machines` | the simulation of a search by many machines |
//! | `mpi` | MPI programs in C, right and wrong, of every kind of mistake; what `mpicc` and `mpirun` do |
//! | `lint` | what executions leave behind, by every explorer against replays; what is denied |
//! | `sampling` | executions by chance: the classes they count, what they find, what they never claim |
//! | `reserved` | messages that probes only reserve, in random programs, by every explorer |
//! | `sparse` | objects that are declared but not used cost nothing and change nothing |
//! | `hostile` | hostile texts and command lines; a few trials of the fuzzer |
//! | `estimate` | the estimated number of classes beside the real one, and what the command advises |
//! | `prefix` | verdicts of the complete finite prefix, and the prefix by definition |
//! | `program` | programs in Rust, compared with equal models; their reports |
//! | `threads` | threads of Rust code as they are: right and wrong programs, and random ones beside all interleavings |
//! | `history` | processes that receive outcomes, compared with equal systems |
//! | `ranks` | random MPI programs in C, compared with equal specs and systems |
//! | `client` | data structures, and clients made for them |
//! | `combs` | the search for an alternative, and where SAT takes over |
//! | `branches` | searches in parts: on random programs, and as files on a command line |
//! | `checkpoints` | searches that are saved, stopped or killed, and resumed; damaged checkpoints |
//! | `forged` | forged branches and results: damaged, lost, or of another search |
//! | `count` | the number of executions: on the graph, and one by one |
//! | `compare` | comparisons of explorers, as users see them |
//! | `foresight` | explorers that use the static analysis, compared with one that has none |
//! | `versions` | files that another version has written: refused, or replayed |
//! | `files` | what commands read and write: links, odd names, nothing overwritten, one log for many |
//! | `replay` | every counterexample replays |
//! | `reports` | what reports say about a failure: processes that could help, what `final` has read, the shortest counterexample |
//! | `draw` | pictures: to the letter, well-formed, without overlaps, for every spec |
//! | `lsp` | the language server, driven by messages as an editor sends them |
//! | `editors` | the grammar and the extension for editors |
//! | `package` | what `cargo package` puts together is what the crate is built of |
//! | `gallery` | the pictures of the book are what the command makes |
//! | `documents` | the README and the book: examples, links, sizes |
//! | `viewer` | the page of `draw -o x.html`, in a browser |
//! | `reproduce` | tables of papers come out as reviewed |
//! | `study` | what a study writes, and does not run twice |
//! | `tidy` | the rules of the code base |
//!
//! Some tests are not run every time. They count as ignored, with the reason:
//!
//! | attribute | which tests | run them with |
//! |---|---|---|
//! | `#[ignore = "slow"]` | more than 10 s of processor time | `cargo test --test suite -- --ignored` |
//! | `#[ignore = "needs a browser"]` | what the page of `draw` does | the same; they fail where there is no browser |
//! | `#[ignore = "needs Graphviz"]` | whether `dot` takes our graphs | likewise |
//! | `#[ignore = "needs MPI"]` | searches by ranks | `cargo test --features mpi --test suite machines -- --ignored` |
//! | `#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]`, and `has_cxx` | MPI programs in C and C++ | nothing: they are ignored only where `build.rs` has found no `cc` or `c++` |
//! | `#[cfg_attr(not(has_bash), ignore = "needs Bash")]`, and `has_zsh`, `has_fish` | completions | likewise |
//!
//! `.ci/run` runs all but `viewer_latency`, those whose names end in `at_length`, and the agreement
//! on small specs, which that on larger ones includes. A test must not end early because something
//! is missing, since this would not be noticed. A test that gets slow is split: some of its cases,
//! of every kind, are in the ordinary run, and all of them in an ignored test, which ends in
//! `at_length` if it shows nothing of another kind. `tidy` checks that there are no other reasons.
//!
//! Larger runs: `MAZURKA_PROGRAMS=3000 cargo test --test suite laws` tests that number of random
//! programs of each family. `MAZURKA_PROGRAMS=500 cargo test --test suite ranks` writes that number
//! of random MPI programs in C, as specs and as systems, and compares their classes.

mod agreement;
mod alike;
mod audit;
mod auto;
mod branches;
mod check;
mod checkpoints;
mod cli;
mod client;
mod combs;
mod compare;
mod count;
mod daemons;
mod dependence;
mod depth;
mod documents;
mod draw;
mod editors;
mod estimate;
mod files;
mod fmt;
mod foresight;
mod forged;
mod gallery;
mod golden;
mod help;
mod history;
mod hostile;
mod invariants;
mod judge;
mod known;
mod lang;
mod laws;
mod limits;
mod lint;
mod liveness;
mod lsp;
#[cfg(feature = "mpi")]
mod machines;
mod many_machines;
mod matching;
#[cfg(unix)]
mod mpi;
mod naive;
mod observers;
mod options;
mod own_explorer;
mod own_property;
mod owners;
mod package;
mod pieces;
mod prefix;
mod program;
mod published;
mod random_models;
mod ranks;
mod replay;
mod reports;
mod reproduce;
mod reserved;
mod sampling;
mod servers;
mod shells;
mod sparse;
mod spin;
mod split;
mod standstill;
mod state_graph;
mod stateful;
mod step;
mod study;
mod symmetry;
mod threads;
mod tidy;
mod versions;
mod viewer;
