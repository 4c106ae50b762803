//! Daemons: a state in which only daemons wait is not a deadlock. How explorers treat them is
//! tested in `specs/daemon` and on the random programs; here is what people and other programs see.

use mazurka::explore::{ViolationKind, explore};
use mazurka::lang::compile;
use mazurka::program::{Program, spawn_daemon};
use mazurka::systems::{Builder, lock, recv, repeat_while, send, unlock};

use crate::cli::{code, json, run_with, stderr, stdout};
use crate::judge::METHODS;

/// A server that is not a daemon, and a client.
const SERVER: &str = "mailbox m: int;
    process Server { loop { let _n = recv(m); } }
    process Client { send(m, 1); }";

/// `P` needs the mutex that one daemon keeps. Another daemon waits, but cannot help any process.
const KEEPER: &str = "mutex m; mailbox box: int;
    daemon process Keeper { lock(m); let _v = recv(box); unlock(m); }
    daemon process Idle { loop { let _v = recv(box); } }
    process P { lock(m); unlock(m); send(box, 1); }";

#[test]
fn processes_may_be_allowed_to_wait_for_ever() {
    assert_eq!(code(&run_with(&["check", "-"], SERVER)), 1);
    for command in ["check", "run", "count"] {
        let output = run_with(&[command, "-", "--allow", "daemons=Server"], SERVER);
        assert_eq!(code(&output), 0, "{command}: {}{}", stdout(&output), stderr(&output));
    }
    let args = ["check", "-", "--allow", "daemons=Server", "--format", "json"];
    let result = json(&run_with(&args, SERVER));
    assert_eq!(result["daemons"], serde_json::json!(["Server"]));
    assert_eq!((&result["verdict"], &result["complete"]), (&"ok".into(), &true.into()));
    let silent = run_with(&["check", "-", "--allow", "daemons=Server,leaks"], SERVER);
    assert_eq!(code(&silent), 0);
}

#[test]
fn the_command_of_a_counterexample_says_who_may_wait() {
    let args = ["check", "-", "--allow", "daemons=Server"];
    let wrong = SERVER.replace("send(m, 1)", "send(m, 1); assert(false)");
    let text = stdout(&run_with(&args, &wrong));
    assert!(text.contains("mazurka replay - --allow daemons=Server --schedule"), "{text}");
}

#[test]
fn what_is_no_process_cannot_be_allowed_to_wait() {
    let refused = |allowed: &str, spec: &str| {
        let output = run_with(&["check", "-", "--allow", allowed], spec);
        assert_eq!(code(&output), 2, "{allowed}");
        stderr(&output)
    };
    let text = refused("daemons=Serve", SERVER);
    assert!(text.contains("the file has no process `Serve`"), "{text}");
    assert!(text.contains("did you mean `Server`?"), "{text}");
    let text = refused("daemons=X", "actor A { on Go() {} } process Quux { local(\"q\"); }");
    assert!(text.contains("its processes are Quux"), "{text}");
    let text = refused("daemons=Node", "actor Node { on Go() {} } init { send(Node, Go()); }");
    assert!(text.contains("the file declares no processes"), "{text}");
    assert!(refused("daemons", SERVER).contains("write daemons=NAME"));
    assert!(refused("nonsense", SERVER).contains("or write daemons=NAME"));
    let output = run_with(&["run", "-", "--allow", "leaks"], SERVER);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("lints are for `check` and `mpirun`"));
}

#[test]
fn a_deadlock_tells_of_the_daemons_that_could_help() {
    let output = run_with(&["check", "-"], KEEPER);
    let text = stdout(&output);
    assert_eq!(code(&output), 1);
    assert!(text.starts_with("Deadlock: Keeper and P wait for one another."), "{text}");
    assert!(text.contains("  Idle waits, as a daemon may.\n"), "{text}");
    let result = json(&run_with(&["check", "-", "--format", "json"], KEEPER));
    let violation = &result["violations"][0];
    let blocked: Vec<_> =
        violation["blocked"].as_array().unwrap().iter().map(|b| &b["process"]).collect();
    assert_eq!(blocked, ["Keeper", "P"]);
    assert_eq!(violation["daemons"], serde_json::json!(["Idle"]));
}

#[test]
fn an_execution_that_ends_with_daemons_says_who_waits() {
    let spec = SERVER.replace("process Server", "daemon process Server");
    let text = stdout(&run_with(&["run", "-"], &spec));
    assert!(
        text.contains("All processes but daemons have ended after 5 steps, and Server may wait"),
        "{text}"
    );
    let result = json(&run_with(&["run", "-", "--format", "json"], &spec));
    assert_eq!(result["daemons"], serde_json::json!(["Server"]));
    assert_eq!((&result["verdict"], &result["complete"]), (&"ok".into(), &true.into()));
}

/// A daemon that waits in a loop and messages that no actor takes: the messages are a deadlock, if
/// they are not allowed.
#[test]
fn messages_that_stay_pending_are_judged_as_without_daemons() {
    let spec = "shared x: int = 0;
        daemon process Watcher { while x == 0 {} }
        actor A { on Never() when false {} }
        init { send(A, Never()); }";
    let program = compile("pending", spec, &[]).unwrap();
    for (name, method, _) in METHODS.iter() {
        let outcome =
            explore(&program, *method, Default::default(), &mut mazurka::explore::NoObserver);
        let kinds: Vec<_> = outcome.violations.iter().map(|violation| violation.kind).collect();
        let is_refused = kinds.is_empty() && !outcome.is_complete();
        assert!(is_refused || kinds == [ViolationKind::Deadlock], "{name}: {kinds:?}");
    }
    let output = run_with(&["check", "-"], spec);
    assert!(stdout(&output).starts_with("Deadlock: "), "{}", stdout(&output));
    assert_eq!(code(&run_with(&["check", "-", "--allow-pending"], spec)), 0);
}

#[test]
fn a_request_of_a_daemon_is_no_leak_and_a_message_to_it_is_one() {
    let asks = "semaphore s = 0; daemon process D { acquire(s); }";
    let output = run_with(&["check", "-", "--deny", "leaks"], asks);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let ignores = "mailbox m: int; semaphore s = 0;
        daemon process D { acquire(s); let _v = recv(m); }
        process P { isend(m, 1); }";
    let output = run_with(&["check", "-", "--deny", "messages"], ignores);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
}

#[test]
fn closures_may_be_daemons() {
    let program = |waits: bool| {
        let mut program = Program::new();
        let (requests, replies) = (program.mailbox("requests"), program.mailbox("replies"));
        let logged = program.cell("logged", 0);
        let lines = program.mailbox("lines");
        program.daemon("server", async move || {
            let logger = async move || loop {
                logged.write(lines.recv().await).await;
            };
            spawn_daemon::<(), _>("logger", logger).await;
            loop {
                let number: i64 = requests.recv().await;
                lines.send(number).await;
                replies.send(number + 1).await;
            }
        });
        program.process("client", async move || {
            requests.send(1).await;
            assert_eq!(replies.recv().await, 2);
            if waits {
                replies.recv().await;
            }
        });
        program.finally(move |end| assert_eq!(end.read(logged), 1));
        mazurka::check(&program.build()).run()
    };
    program(false).assert_ok();
    let told = program(true).to_string();
    assert!(told.starts_with("Deadlock: "), "{told}");
}

#[test]
fn built_processes_may_be_daemons() {
    let system = |wants: bool| {
        let mut system = Builder::new();
        let (mutex, mailbox) = (system.mutex("m"), system.mailbox("box"));
        system.daemon("Keeper", [lock(mutex), repeat_while(|_| true, [recv(mailbox)])]);
        let visit = if wants { vec![lock(mutex), unlock(mutex)] } else { vec![send(mailbox, 1)] };
        system.process("Visitor", visit);
        mazurka::check(&system.build()).run()
    };
    system(false).assert_ok();
    let told = system(true).to_string();
    assert!(told.starts_with("Deadlock: Visitor waits for mutex m"), "{told}");
}

/// If no send is buffered, the daemon waits with its own, which it may; if both are, no process
/// waits. If only that of the daemon is, it starts a process that is not a daemon, and waits for
/// ever.
#[test]
fn who_is_started_behind_an_optional_send_may_wait_for_ever() {
    let text = "p2p mailbox a: int, b: int; daemon process Starter { send(a, 1); spawn Child(); } \
                process Child() { send(b, 1); }";
    for (buffering, expected) in [("zero", 0), ("infinite", 0), ("any", 1)] {
        let output = run_with(&["check", "-", "--buffering", buffering], text);
        assert_eq!(output.status.code(), Some(expected), "{buffering}: {output:?}");
    }
}
