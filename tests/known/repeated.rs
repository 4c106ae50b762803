//! Lists that name one thing twice: each element of the list is a separate result, and these share
//! their cause.

use mazurka::explore::{
    AnyExplorer, Budget, Exhaustive, Explorer, Guarantee, NoObserver, ViolationKind, explore,
};
use mazurka::lang::compile;

use crate::judge::{METHODS, check_counterexample, is_refused};

/// Programs that fail only where the second of two places that name one thing is returned, each
/// with its number of classes.
const PROGRAMS: &[(&str, u64)] = &[
    (
        "mailbox m: int;
         process P { let c = irecv(m); let k = waitany([c, c]); assert(k == 0); }
         process Q { isend(m, 1); }",
        2,
    ),
    (
        "mailbox m: int;
         process P { let c = isend(m, 1); let k = waitany([c, c]); assert(k == 0); }
         process Q { irecv(m); }",
        2,
    ),
    (
        "mailbox m: int;
         process P { let c = irecv(m); let k = testany([c, c]); assert(k != 1); }
         process Q { isend(m, 1); }",
        3,
    ),
    (
        "mutex m;
         process P { async_lock(m); let k = mutex_waitany([m, m]); unlock(m); assert(k == 0); }
         process Q { lock(m); unlock(m); }",
        4,
    ),
    (
        "mutex m;
         process P { async_lock(m); let k = mutex_testany([m, m]); unlock(m); assert(k != 1); }
         process Q { lock(m); unlock(m); }",
        6,
    ),
    // The choice is open when what completes the other one comes.
    (
        "mailbox m: int; mailbox n: int;
         process P { let c = irecv(m); let d = irecv(n); let k = waitany([c, d, d]); assert(k != 2); }
         process Q { isend(m, 1); }
         process R { isend(n, 1); }",
        3,
    ),
];

#[test]
fn each_place_of_a_list_is_a_result() {
    for &(text, classes) in PROGRAMS {
        let program = compile("repeated.maz", text, &[])
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let search = |method: AnyExplorer| {
            let budget = Budget { all: true, ..Budget::default() };
            explore(&program, method, budget, &mut NoObserver)
        };
        assert_eq!(search(Exhaustive.into()).stats.classes, Some(classes), "{text}");
        for &(_, method, _) in METHODS.iter().filter(|entry| !is_refused(&program, entry.1)) {
            let outcome = search(method);
            if method.profile().guarantee == Guarantee::EveryClassOnce {
                assert_eq!(outcome.stats.traces, classes, "{method:?} on\n{text}");
            }
            let mut kinds = outcome.violations.iter().map(|violation| violation.kind);
            assert!(kinds.any(|kind| kind == ViolationKind::Assertion), "{method:?} on\n{text}");
            for violation in &outcome.violations {
                check_counterexample(&program, violation)
                    .unwrap_or_else(|how| panic!("{how}: {method:?} on\n{text}"));
            }
        }
    }
}
