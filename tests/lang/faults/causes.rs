//! Reports begin with the faults that have happened.

use crate::cli::{json, run_with, stdout};

#[test]
fn the_faults_before_a_violation_are_told() {
    for (text, causes) in [
        (
            "p2p mailbox m: int;\nprocess A crashes up to 1 { send(m, 1); }\nprocess B { recv(m); }",
            "A crashed at line 2.",
        ),
        (
            "p2p mailbox m: int lossy;\nprocess A { send(m, 1); }\nprocess B { recv(m); }",
            "a message of A was lost at line 2.",
        ),
        (
            "p2p mailbox m: int duplicating up to 1;\nshared n: int = 0;\n\
             process A { for i in 0..3 { send(m, i); } }\n\
             daemon process B { loop { recv(m); n += 1; } }\ninvariant { assert(n < 4); }",
            "a message of A was sent twice at line 3.",
        ),
        (
            "p2p mailbox m[2]: int partitioned;\nprocess A { send(m[1], 1); }\n\
             process B { recv(m[1]); }",
            "the network m was cut at line 1.",
        ),
        (
            "p2p mailbox m: int lossy;\nprocess A { for i in 0..5 { send(m, i); } }\n\
             process B { let i = recv(m) timeout { 9 }; assert(i == 9 || i < 4); }",
            "4 faults happened: first a message of A was lost at line 2, a message of A was lost \
             at line 2 and a message of A was lost at line 2.",
        ),
        (
            "actor A crashes up to 1, restarts { on M() {} }\nfinal { assert(A.crashes == 0); }",
            "A crashed and started again at line 1.",
        ),
        (
            "network lossy;\nactor A { var n = 0; internal Go when n == 0 { n = 1; send(B, M()); } }\n\
             actor B { var n = 0; on M() { n = 1; } }\nfinal { assert(B.n == 1); }",
            "a message of network#1 was lost at line 1.",
        ),
    ] {
        let output = run_with(&["check", "-"], text);
        let told = stdout(&output);
        let said = told.lines().nth(1).and_then(|line| line.strip_prefix("Before that, "));
        assert_eq!(said, Some(causes), "{text}\n{told}");
        let found = json(&run_with(&["check", "-", "--format", "json"], text));
        let steps = found["violations"][0]["schedule"].as_array().unwrap();
        let first = steps.iter().find_map(|step| step["fault"].as_str()).unwrap();
        assert!(causes.contains(first), "{first}");
    }
}
