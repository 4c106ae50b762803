//! Labels of public suites that the MPI standard contradicts, each with the section that does.
//!
//! An answer that agrees with a label in this list is wrong. For a program labelled as correct,
//! only the mistake that the section implies may be reported; any other report is a false alarm.

use std::path::Path;

use super::{Expected, Mark};
use crate::mpi::{Answer, Slip};

/// Labels that the standard contradicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dispute {
    /// Paths of programs; `*` stands for any text.
    programs: &'static [&'static str],
    /// The mistake, for programs that are labelled as correct; `None` for correct programs that are
    /// labelled as wrong.
    slip: Option<Slip>,
    /// The section of MPI 4.1.
    pub(crate) section: &'static str,
    /// The rule of that section, applied to the programs.
    pub(crate) reason: &'static str,
}

const DISPUTES: &[Dispute] = &[
    Dispute {
        programs: &[
            "*/Correct-fence-*rput*",
            "*/Correct-fence-*rget*",
            "*/Correct-fence-*raccumulate*",
            "*/*-MPI-sync-request-local-no.c",
        ],
        slip: Some(Slip::MissingEpoch),
        section: "12.3.5 Request-based RMA Communication Operations",
        reason: "request-based operations are valid only within a passive target epoch, not between fences",
    },
    Dispute {
        programs: &["*/*-MPI-conflict-put-put-same-array-remote-no.c"],
        slip: Some(Slip::MissingEpoch),
        section: "12.5 Synchronization Calls",
        reason: "an operation on a window has to be within an access epoch, and barriers begin none",
    },
    Dispute {
        programs: &[
            "*/0-level/correct/coll/opmax.c",
            "*/0-level/correct/coll/opmin.c",
            "*/0-level/correct/coll/opprod.c",
            "*/0-level/correct/coll/opsum.c",
        ],
        slip: Some(Slip::InvalidOperator),
        section: "6.9.3 Signed Characters and Reductions",
        reason: "MPI_CHAR is for printable characters, and cannot be reduced",
    },
    Dispute {
        programs: &["*/0-level/correct/coll/nonblocking.c"],
        slip: Some(Slip::DatatypeMismatch),
        section: "3.3.1 Type Matching Rules",
        reason: "MPI_Ialltoallw takes displacements in bytes: here they lead to the middle of an integer",
    },
    Dispute {
        programs: &[
            "*/0-level/correct/pt2pt/dtype_send.c",
            "*/0-level/correct/pt2pt/inactivereq.c",
            "*/0-level/correct/pt2pt/patterns.c",
            "*/0-level/correct/pt2pt/sendrecv3.c",
        ],
        slip: Some(Slip::LocalConcurrency),
        section: "3.7.2 Communication Initiation",
        reason: "a buffer is not to be used, here by another receive, before the operation is complete",
    },
    Dispute {
        programs: &["*/0-level/correct/rma/fetch_and_op.c", "*/0-level/correct/rma/manyget.c"],
        slip: Some(Slip::LocalConcurrency),
        section: "12.3 Communication Calls",
        reason: "a local buffer is not to be updated, nor that of a get accessed, before the operation is complete",
    },
    Dispute {
        programs: &[
            "*/0-level/correct/rma/accfence2.c",
            "*/0-level/correct/rma/contig_displ.c",
            "*/0-level/correct/rma/test2_am.c",
            "*/0-level/correct/rma/test3.c",
            "*/0-level/correct/rma/test3_am.c",
            "*/0-level/correct/rma/winname.c",
        ],
        slip: Some(Slip::InvalidBuffer),
        section: "12.2.5 Window Destruction",
        reason: "the memory of a window may be freed after MPI_Win_free, not before it",
    },
    Dispute {
        programs: &["*/0-level/correct/rma/put_base.c"],
        slip: Some(Slip::InvalidBuffer),
        section: "5.1.12 Correct Use of Addresses",
        reason: "displacements may not lead from one allocated piece of memory to another one",
    },
    Dispute {
        programs: &["*/0-level/correct/rma/reqops.c"],
        slip: Some(Slip::GlobalConcurrency),
        section: "12.3.5 Request-based RMA Communication Operations",
        reason: "MPI_Wait completes MPI_Rget_accumulate at the origin, not at the target, which writes there",
    },
    Dispute {
        programs: &[
            "*/0-level/pt2pt/MissingCall-MPIWait.c",
            "*/0-level/conflo/pt2pt/MissingCall-MPIWait.c",
            "*/ReqLifecycle_MissingWait_Isend_*_nok.c",
            "*/ReqLifecycle_MissingWait_Send_init_*_nok.c",
        ],
        slip: None,
        section: "11.2.2 Finalizing MPI",
        reason: "before MPI_Finalize, a request may be freed instead of waited for",
    },
    Dispute {
        programs: &[
            "*/0-level/rma/ArgError-MPIWinCreate-overlap.c",
            "*/0-level/conflo/rma/ArgError-MPIWinCreate-overlap.c",
        ],
        slip: None,
        section: "12.2.1 Window Creation",
        reason: "memory may be in several windows, only concurrent communication there is a mistake (and here there is none)",
    },
    Dispute {
        programs: &["*/0-level/rma/ArgError-MPIWinFence-assert.c"],
        slip: None,
        section: "12.5.5 Assertions",
        reason: "the assertion 0 is always valid",
    },
    Dispute {
        programs: &[
            "*/0-level/conflo/usertypes/ArgError-MPITypeCreateStruct-Count-1.c",
            "*/0-level/usertypes/ArgError-MPITypeCreateStruct-Count-3.c",
            "*/0-level/usertypes/ArgMismatch-MPIRecv-Type-2.c",
        ],
        slip: None,
        section: "3.3.1 Type Matching Rules",
        reason: "the types of what is sent, received and in memory agree, however they were made; a type may leave out members",
    },
    Dispute {
        programs: &[
            "*/0-level/conflo/usertypes/ArgMismatch-MPIRecv-Type-4.c",
            "*/0-level/usertypes/ArgMismatch-MPIRecv-Type-3.c",
            "*/0-level/usertypes/ArgMismatch-MPIRecv-Type-6.c",
        ],
        slip: None,
        section: "3.2.4 Blocking Receive",
        reason: "a message may be shorter than the buffer",
    },
    Dispute {
        programs: &["*/0-level/openmp/data_race/correct/data_race_isend.c"],
        slip: Some(Slip::LocalConcurrency),
        section: "3.7.2 Communication Initiation",
        reason: "another thread writes what is sent, and the master construct has no barrier",
    },
    Dispute {
        programs: &["*/0-level/openmp/data_race/correct/data_race_isend_3.c"],
        slip: Some(Slip::LocalConcurrency),
        section: "3.7.2 Communication Initiation",
        reason: "the buffer of a receive is not to be filled before the receive is complete",
    },
    Dispute {
        programs: &[
            "*/0-level/openmp/data_race/data_race_bcast.c",
            "*/0-level/openmp/data_race/data_race_ibcast.c",
        ],
        slip: None,
        section: "6.4 Broadcast",
        reason: "only what the count covers is sent, and that is the part that the same thread has written",
    },
    Dispute {
        programs: &["*/0-level/openmp/ordering/correct/dependant/deadlock_probe.c"],
        slip: Some(Slip::CallOrder),
        section: "3.8.2 Matching Probe",
        reason: "a matched probe waits for a message: here for one that is sent when another thread, which waits for the lock, has answered",
    },
    Dispute {
        programs: &["*/0-level/openmp/ordering/correct/request_reuse.c"],
        slip: Some(Slip::MissingInit),
        section: "11.2.2 Finalizing MPI",
        reason: "after MPI_Finalize, the rank in a communicator cannot be asked for",
    },
    Dispute {
        programs: &["*/0-level/openmp/ordering/correct/two_collectives_4.c"],
        slip: Some(Slip::Threads),
        section: "6.14 Correctness",
        reason: "two threads must not be in collectives of one communicator at the same time",
    },
    Dispute {
        programs: &["*/0-level/openmp/ordering/correct/two_collectives_5.c"],
        slip: Some(Slip::CallOrder),
        section: "6.14 Correctness",
        reason: "each thread makes both tasks, so one rank broadcasts more often than the other",
    },
    Dispute {
        programs: &["*/0-level/openmp/ordering/correct/two_collectives_7.c"],
        slip: Some(Slip::DatatypeMismatch),
        section: "3.3.1 Type Matching Rules",
        reason: "integers are sent as MPI_FLOAT",
    },
    Dispute {
        programs: &["*/mpi/errors/comm/manysplit"],
        slip: None,
        section: "7.4.2 Communicator Constructors",
        reason: "communicators are made and freed, in any number",
    },
    Dispute {
        programs: &["*/mpi/errors/comm/userdup"],
        slip: None,
        section: "7.7.2 Communicators",
        reason: "a function that copies an attribute may return an error, which MPI_Comm_dup then returns",
    },
    Dispute {
        programs: &["*/mpi/errors/io/file_errhdl"],
        slip: None,
        section: "9.3 Error Handling",
        reason: "the error handler of a file may be set and called",
    },
    Dispute {
        programs: &["*/mpi/errors/io/fileerrret"],
        slip: None,
        section: "14.7 I/O Error Handling",
        reason: "the error handler of files that are not open may be set, and a file may be absent",
    },
    Dispute {
        programs: &["*/mpi/errors/session/sessioninit"],
        slip: None,
        section: "11.3.1 Session Creation and Destruction Methods",
        reason: "an unknown level of threads may be asked for: the session is not made, or with another level",
    },
    Dispute {
        programs: &["*/mpi/errors/spawn/badport"],
        slip: None,
        section: "11.9.3 Client Routines",
        reason: "the port of a server may be closed: MPI_Comm_connect then returns an error",
    },
];

impl Dispute {
    /// The dispute about the label of a program, given by its whole path.
    pub(crate) fn of(program: &Path, expected: &Expected) -> Option<&'static Dispute> {
        let path = program.to_string_lossy();
        DISPUTES.iter().find(|dispute| {
            let is_said = match dispute.slip {
                Some(_) => *expected == Expected::Right,
                None => matches!(expected, Expected::Wrong(_)),
            };
            is_said && dispute.programs.iter().any(|pattern| is_like(&path, pattern))
        })
    }

    /// The mark for an answer according to the standard.
    pub(super) fn mark(&self, answer: &Answer) -> Mark {
        match (answer, self.slip) {
            (Answer::Unsure(doubt), _) => doubt.into(),
            (Answer::Right | Answer::Odd(_), None) => Mark::Disputed,
            (Answer::Right | Answer::Odd(_), Some(_)) => Mark::Missed,
            (Answer::Wrong(found), slip) if Some(found.slip) == slip => Mark::Disputed,
            (Answer::Wrong(_), _) => Mark::FalseAlarm,
        }
    }
}

/// Whether a path matches a pattern in which `*` stands for any text.
fn is_like(path: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => path == pattern,
        Some((before, after)) => path.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| is_like(&rest[at..], after))
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::mpi::Diagnosis;

    #[test]
    fn patterns_stand_for_paths() {
        assert!(is_like("Correct-fence-rput_x.c", "Correct-fence-*rput*"));
        assert!(is_like("001-a-no.c", "*-a-no.c"));
        assert!(!is_like("001-a-no.cc", "*-a-no.c"));
        assert!(!is_like("a", "b"));
    }

    #[test]
    fn only_the_answer_of_the_standard_is_disputed() {
        let wrong = |slip| {
            Answer::Wrong(Diagnosis { slip, message: String::new(), places: BTreeSet::new() })
        };
        let program = Path::new("/level2/RMA/Correct-fence-bufread_rput-001.c");
        assert_eq!(Dispute::of(program, &Expected::Wrong(None)), None);
        let dispute = Dispute::of(program, &Expected::Right).unwrap();
        assert_eq!(dispute.mark(&wrong(Slip::MissingEpoch)), Mark::Disputed);
        assert_eq!(dispute.mark(&wrong(Slip::CallOrder)), Mark::FalseAlarm);
        assert_eq!(dispute.mark(&Answer::Right), Mark::Missed);
        let program = Path::new("/0-level/pt2pt/MissingCall-MPIWait.c");
        assert_eq!(Dispute::of(program, &Expected::Right), None);
        let dispute = Dispute::of(program, &Expected::Wrong(None)).unwrap();
        assert_eq!(dispute.mark(&Answer::Right), Mark::Disputed);
        assert_eq!(dispute.mark(&wrong(Slip::MissingWait)), Mark::FalseAlarm);
    }
}
