//! The program as a user meets it: exit codes, JSON, texts, limits, signals, mistakes.
//!
//! The specs and the golden texts are in `tests/golden/cli`; with `MAZURKA_BLESS=1` in the
//! environment the texts are written instead of compared.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A program with so many interleavings that no test waits for the end of the search.
pub const ENDLESS_SEARCH: &str = "\
    mailbox box;\n\
    process Sender[i in 0..12] { isend(box, i); local(\"a\"); local(\"b\"); }\n\
    process Receiver { for j in 0..12 { irecv(box); } }\n";

/// The program, to be run in the folder of the golden files.
pub fn mazurka(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(args).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cli"));
    command.env("COLUMNS", "80");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program with `stdin` as input.
pub fn run_with(args: &[&str], stdin: &str) -> Output {
    let mut child = mazurka(args).stdin(Stdio::piped()).spawn().unwrap();
    match child.stdin.take().unwrap().write_all(stdin.as_bytes()) {
        // It refuses its arguments, and reads nothing.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        written => written.unwrap(),
    }
    child.wait_with_output().unwrap()
}

/// Runs the program.
pub fn run(args: &[&str]) -> Output {
    mazurka(args).output().unwrap()
}

/// The JSON object on standard output.
pub fn json(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {error}"))
}

/// Its exit code.
pub fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit, not a signal")
}

/// What it printed.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it said on the side.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A text without the time and memory that it cost.
fn without_cost(text: &str) -> String {
    let lines =
        text.lines().map(|line| if line.starts_with("Took ") { "Took      .." } else { line });
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// Compares standard output with a golden file, except for time and memory. `MAZURKA_BLESS=1`
/// writes it anew.
fn assert_golden(name: &str, output: &Output) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cli").join(name);
    let actual = without_cost(&stdout(output));
    if std::env::var_os("MAZURKA_BLESS").is_some() {
        std::fs::write(&path, &actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(actual == expected, "{name} is\n{expected}\nbut this was printed:\n{actual}");
}

#[test]
fn exit_codes_tell_the_result() {
    assert_eq!(code(&run(&["check", "ok.maz"])), 0);
    assert_eq!(code(&run(&["check", "rendezvous.maz"])), 1);
    assert_eq!(code(&run(&["check", "assertion.maz"])), 1);
    assert_eq!(code(&run(&["check", "no-such-file.maz"])), 2);
    assert_eq!(code(&run(&["check", "endless.maz", "--depth", "50"])), 3);
    let all = run(&["check", "endless.maz", "--depth", "50", "--explorer", "exhaustive"]);
    assert_eq!(code(&all), 3);
}

#[test]
fn texts_are_as_reviewed() {
    for (name, args) in [
        ("client.txt", &["check", "client.maz"][..]),
        ("rendezvous.txt", &["check", "rendezvous.maz"]),
        ("philosophers.txt", &["check", "philosophers.maz", "-D", "N=4"]),
        ("counter.txt", &["check", "counter.maz"]),
        ("assertion.txt", &["check", "assertion.maz", "--explorer", "exhaustive", "--all"]),
        ("ok.txt", &["check", "ok.maz"]),
        ("endless.txt", &["check", "endless.maz", "--depth", "6", "--explorer", "exhaustive"]),
        ("run.txt", &["run", "counter.maz", "--seed", "1"]),
        ("replay.txt", &["replay", "rendezvous.maz", "--schedule", "0,1,0x2,2"]),
    ] {
        assert_golden(name, &run(args));
    }
}

/// What was covered within a depth bound depends on the explorer.
#[test]
fn a_cut_search_claims_only_what_its_explorer_covers() {
    let says = |explorer| {
        let args =
            ["check", "../../../specs/actor/registry.maz", "--depth", "2", "--explorer", explorer];
        let output = run(&args);
        assert_eq!(code(&output), 3, "{explorer}");
        stdout(&output).contains("Covered: every execution up to")
    };
    let covering = ["exhaustive", "udpor", "sleep", "source", "optimal", "dpor", "transdpor"];
    assert!(covering.into_iter().chain(["dpor-ds"]).all(says));
    assert!(!["dpor-naive", "dpor-force", "transdpor-tool"].into_iter().any(says));
}

/// Searches that store states know the distance of each state from the start, if they have a depth.
#[test]
fn states_are_reported_by_depth() {
    let levels = "1, 1, 3, 6, 7, 6, 12, 31, 45, 46, 33, 15, 4 states first visited";
    for explorer in ["stateful", "s-por", "de-s-por", "dl-s-por"] {
        let args =
            ["check", "../../../specs/nodes/paxos.maz", "--explorer", explorer, "--depth", "13"];
        let output = run(&args);
        assert_eq!(code(&output), 0, "{explorer}");
        let text = stdout(&output);
        assert!(text.contains(&format!("\nBy depth  {levels}")), "{text}");
        let cut = run(&[&args[..5], &["4", "--format", "json"]].concat());
        assert_eq!(code(&cut), 3, "{explorer}");
        let result = json(&cut);
        assert_eq!(result["stats"]["states_by_depth"], serde_json::json!([1, 1, 3, 6, 7]));
        assert_eq!((&result["stopped_by"], &result["complete"]), (&"depth".into(), &false.into()));
        let unbounded = run(&["check", "ok.maz", "--explorer", explorer, "--format", "json"]);
        assert_eq!(json(&unbounded)["stats"]["states_by_depth"], Value::Null);
    }
}

/// An explorer that may miss executions never claims, in any form, that there is nothing to be
/// found.
#[test]
fn what_may_miss_executions_verifies_nothing() {
    let guarded = "actor A { var x = 0; on N() { x = 1; } internal T when x == 0 { assert(false); } } \
                   init { send(A, N()); }";
    let lock_order = "../../../specs/mutex/lock-order.maz";
    let forced = ["check", "-", "--explorer", "dpor-force", "--depth", "9"];
    let printed = ["check", lock_order, "--explorer", "de-s-por", "--as-printed"];
    for (args, stdin) in [(&forced[..], guarded), (&printed, "")] {
        let output = run_with(args, stdin);
        assert_eq!(code(&output), 3, "{args:?}");
        let text = stdout(&output);
        assert!(text.starts_with("Incomplete: nothing wrong was found, but exec"), "{text}");
        assert!(text.contains(" may miss executions.\n"), "{text}");
        let output = run_with(&[args, &["--format", "json"]].concat(), stdin);
        assert_eq!(code(&output), 3, "{args:?}");
        let result = json(&output);
        assert_eq!(
            (&result["verdict"], &result["complete"], &result["stopped_by"]),
            (&"incomplete".into(), &false.into(), &"no-guarantee".into())
        );
    }
    let compared = |explorers: &str| {
        run(&["compare", "ok.maz", "--explorers", explorers, "--as-printed", "--format", "json"])
    };
    let alone = compared("s-por");
    assert_eq!(code(&alone), 3);
    assert_eq!(json(&alone)["rows"][0]["stopped_by"], "no-guarantee");
    assert_eq!(json(&alone)["rows"][0]["complete"], false);
    assert_eq!(code(&compared("s-por,udpor")), 0, "another row verifies it");
    let hashed = ["compare", "ok.maz", "--explorers", "s-por", "--hash-compaction"];
    assert_eq!(code(&run(&hashed)), 3);
}

/// No explorer starts on a program that runs for ever, unless it gets a depth.
#[test]
fn an_endless_program_wants_a_depth() {
    let spec = "actor A { on Go() { send(A, Go()); } } init { send(A, Go()); send(A, Go()); }";
    for explorer in ["exhaustive", "udpor", "sleep", "dpor", "transdpor", "source", "optimal"] {
        let endless = run_with(&["check", "-", "--explorer", explorer], spec);
        assert_eq!(code(&endless), 3, "{explorer}");
        assert!(stdout(&endless).contains("may never end. If it comes back to states"));
        let cut = run_with(&["check", "-", "--explorer", explorer, "--depth", "4"], spec);
        assert_eq!(code(&cut), 3, "{explorer}");
        assert!(stdout(&cut).contains("cut at"), "{explorer}");
    }
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let result = json(&run(&["check", "philosophers.maz", "--all", "--format", "json"]));
    assert_eq!(result["mazurka"], env!("CARGO_PKG_VERSION"));
    assert_eq!(result["spec"], "philosophers.maz");
    assert_eq!(result["constants"]["N"], 3);
    assert_eq!(result["explorer"], "auto");
    assert_eq!(result["answered_by"], "udpor");
    assert_eq!(result["k"], "optimal");
    assert_eq!(result["verdict"], "deadlock");
    assert_eq!(result["complete"], true);
    assert_eq!(result["stopped_by"], Value::Null);
    let stats = &result["stats"];
    assert_eq!(stats["traces"], 7);
    assert_eq!(stats["deadlocked_traces"], 1);
    assert_eq!(stats["blocked"], 0);
    assert_eq!(stats["states"], Value::Null);
    for figure in ["transitions", "events", "max_depth", "sat_calls", "peak_memory_bytes"] {
        assert!(stats[figure].is_u64(), "{figure}: {}", stats[figure]);
    }
    assert!(stats["wall_seconds"].is_f64());
    let violation = &result["violations"][0];
    assert_eq!(violation["kind"], "deadlock");
    assert_eq!(violation["file"], "philosophers.maz");
    assert_eq!(violation["line"], 7);
    let step = &violation["schedule"][0];
    assert_eq!((&step["process"], &step["line"]), (&"Philosopher[0]".into(), &6.into()));
    assert_eq!(step["action"], "lock(fork[i])");
    let blocked = &violation["blocked"][0];
    assert_eq!(blocked["process"], "Philosopher[0]");
    assert_eq!(blocked["waits_for"], "mutex fork[1], held by Philosopher[1]");
    assert_eq!(violation["cycle"].as_array().unwrap().len(), 3);
}

#[test]
fn the_order_is_a_free_choice() {
    let check = |options: &[&str]| {
        let output = run(&[&["check", "philosophers.maz", "--all"], options].concat());
        stdout(&output)
    };
    for order in ["fifo", "eca", "lca", "lifo"] {
        let text = check(&["--order", order]);
        assert!(text.contains(&format!("k = optimal, order {order}; complete")), "{text}");
        assert!(text.contains("7 traces (1 deadlocked)"), "{text}");
    }
    let random = |seed| check(&["--order", "random", "--seed", seed, "--format", "json"]);
    let result: Value = serde_json::from_str(&random("7")).unwrap();
    assert_eq!((&result["order"], &result["seed"]), (&"random".into(), &7.into()));
    let steps = |text: String| serde_json::from_str::<Value>(&text).unwrap()["violations"].clone();
    assert_eq!(steps(random("7")), steps(random("7")));
}

/// One message that is never taken.
const PENDING: &str = "\
    actor Box { on Put(n: int) when n > 0 { } }\n\
    init { send(Box, Put(0)); }\n";

#[test]
fn pending_messages_may_be_allowed() {
    let output = run_with(&["check", "-"], PENDING);
    assert_eq!(code(&output), 1, "{}{}", stdout(&output), stderr(&output));
    for explorer in ["udpor", "exhaustive"] {
        let args = ["check", "-", "--allow-pending", "--explorer", explorer];
        assert_eq!(code(&run_with(&args, PENDING)), 0);
    }
    assert_eq!(code(&run_with(&["run", "-", "--allow-pending"], PENDING)), 0);
    let both = format!("{PENDING}mutex m; process P {{ lock(m); lock(m); }}");
    assert_eq!(code(&run_with(&["check", "-", "--allow-pending"], &both)), 1);
    let args = ["check", "-", "--allow-pending"];
    let fails = format!("{PENDING}process P {{ local(\"x\"); }} final {{ assert(false); }}");
    let output = run_with(&args, &fails);
    assert!(stdout(&output).contains("mazurka replay - --allow-pending --schedule"));
    assert!(stdout(&output).starts_with("Assertion failed"), "{}", stdout(&output));
    let args = ["replay", "-", "--allow-pending", "--schedule", "1"];
    assert!(stdout(&run_with(&args, &fails)).contains("Assertion failed"));
}

/// Nobody takes them any more, as if a guard kept them out.
#[test]
fn messages_to_a_failed_actor_stay_pending() {
    let spec = "actor A { on Go() { assert(false); } on Put(n: int) {} } \
        init { send(A, Go()); send(A, Put(1)); }";
    for explorer in ["udpor", "exhaustive", "source", "stateful", "dl-s-por"] {
        let args = ["check", "-", "--all", "--explorer", explorer, "--format", "json"];
        let result = json(&run_with(&args, spec));
        let kinds: Vec<_> =
            result["violations"].as_array().unwrap().iter().map(|v| &v["kind"]).collect();
        assert_eq!(kinds.len(), 2, "{explorer}: {kinds:?}");
        assert!(kinds.contains(&&"assertion".into()) && kinds.contains(&&"deadlock".into()));
        assert_eq!(result["stats"]["deadlocked_traces"], 1, "{explorer}");
        let result = json(&run_with(&[&args[..], &["--allow-pending"]].concat(), spec));
        assert_eq!(result["stats"]["deadlocked_traces"], 0, "{explorer}");
        assert_eq!(result["violations"].as_array().unwrap().len(), 1, "{explorer}");
    }
    let text = stdout(&run_with(&["check", "-", "--all"], spec));
    assert!(text.contains("waits for someone to take Put(1)"), "{text}");
    assert!(text.contains("it has failed"), "{text}");
}

#[test]
fn a_figure_that_an_explorer_has_not_is_null() {
    let args = ["check", "ok.maz", "--explorer", "exhaustive", "--format", "json"];
    let result = json(&run(&args));
    assert_eq!(result["k"], Value::Null);
    assert_eq!(result["stats"]["events"], Value::Null);
    assert_eq!(result["verdict"], "ok");
    assert_eq!(result["violations"], Value::Array(vec![]));
}

#[test]
fn wrong_command_lines_are_refused_with_a_reason() {
    for (args, fragment) in [
        (&["check"][..], "<SPEC>"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["check", "ok.maz", "--explorer", "magic"], "there is no explorer `magic`"),
        (&["check", "ok.maz", "--explorer", "exhaustive", "-k", "2"], "`exhaustive` has none"),
        (
            &["check", "ok.maz", "--explorer", "exhaustive", "--order", "lca"],
            "no difference to `exh",
        ),
        (&["check", "ok.maz", "--sleep-sets"], "`udpor` cannot have any"),
        (
            &["check", "ok.maz", "--order", "best"],
            "there are: fifo, eca, lca, lifo, sequential, visited, random",
        ),
        (&["check", "ok.maz", "--seed", "7"], "--seed is for --order random"),
        (&["draw", "ok.maz", "-o", "x.svg", "--k", "1"], "-k is for --what steps and pages"),
        (&["check", "ok.maz", "-k", "0"], "k is a number from 1 on"),
        (&["check", "ok.maz", "--timeout", "soon"], "write a time like 30s"),
        (&["check", "ok.maz", "--max-memory", "lots"], "write a size like 512M"),
        (&["check", "ok.maz", "--format", "yaml"], "invalid value 'yaml'"),
        (&["check", "philosophers.maz", "-D", "N"], "NAME=VALUE"),
        (&["check", "philosophers.maz", "-D", "M=3"], "M"),
        (&["check", "no-such-file.maz"], "cannot read no-such-file.maz"),
        (&["replay", "ok.maz"], "Give the execution: `--schedule 0,1x2`"),
        (
            &["check", "ok.maz", "--explorer", "source", "--order", "2,0,7"],
            "--order 2,0,7: there is no process",
        ),
        (&["replay", "ok.maz", "--schedule", "0,x"], "item 2 of the schedule"),
        (&["replay", "ok.maz", "--schedule", "7"], "there is no process 7"),
        (&["replay", "ok.maz", "--schedule", "0x2"], "Client (process 0) waits at"),
        (&["replay", "ok.maz", "ok.maz"], "not a JSON result"),
    ] {
        let output = run(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(fragment), "{args:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
    }
}

#[test]
fn mistakes_in_a_spec_are_shown_on_standard_error() {
    let output = run_with(&["check", "-", "--format", "json"], "process P { send(nowhere, 1); }");
    assert_eq!(code(&output), 2);
    let report = json(&output);
    assert_eq!(report["verdict"], "usage-error");
    assert_eq!(report["diagnostics"][0]["message"], "there is no mailbox `nowhere`");
    let output = run_with(&["check", "-"], "process P { send(nowhere, 1); }");
    assert_eq!((code(&output), stdout(&output)), (2, String::new()));
    assert!(stderr(&output).contains("nowhere"), "{}", stderr(&output));
}

#[test]
fn a_spec_may_come_from_standard_input() {
    let output = run_with(&["check", "-", "--format", "json"], "process P { local(\"a\"); }");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(json(&output)["spec"], "-");
}

#[test]
fn constants_can_be_set() {
    let args = ["check", "philosophers.maz", "-D", "N=4", "--all", "--format", "json"];
    let result = json(&run(&args));
    assert_eq!(result["constants"]["N"], 4);
    assert_eq!(result["stats"]["traces"], 15);
}

#[test]
fn of_several_settings_of_a_constant_the_last_counts() {
    let output = run(&["check", "counter.maz", "-D", "N=2", "-D", "N=3", "--format", "json"]);
    assert_eq!(json(&output)["constants"]["N"], 3);
    let text = stdout(&run(&["check", "counter.maz", "-D", "N=2", "-D", "N=3"]));
    assert!(text.contains("with N=3") && !text.contains("N=2"), "{text}");
}

#[test]
fn a_holder_that_failed_is_distinguished_from_one_that_ended() {
    let spec =
        "mutex m; process A { lock(m); assert(false); } process B { lock(m); } process C { }";
    let text = stdout(&run_with(&["check", "-", "--all"], spec));
    assert!(text.contains("A has failed without unlocking m"), "{text}");
    assert!(text.contains("  C has ended.\n  A has failed.\n"), "{text}");
    let result = json(&run_with(&["check", "-", "--all", "--format", "json"], spec));
    let violations = result["violations"].as_array().unwrap();
    let deadlock = violations.iter().find(|violation| violation["kind"] == "deadlock").unwrap();
    assert_eq!((&deadlock["ended"][0], &deadlock["failed"][0]), (&"C".into(), &"A".into()));
}

#[test]
fn statements_can_be_actions() {
    let spec = "process P { var n = 0; n += 1; local(\"x\"); n += 1; assert(n == 3); }";
    let output = run_with(&["check", "-", "--granularity", "statement", "--format", "json"], spec);
    let result = json(&output);
    assert_eq!((code(&output), &result["granularity"]), (1, &Value::from("statement")));
    assert_eq!(result["violations"][0]["replay"], "0x5");
    let output = run_with(&["check", "-", "--granularity", "statement"], spec);
    assert!(stdout(&output).ends_with("mazurka replay - --granularity statement --schedule 0x5\n"));
    let output =
        run_with(&["replay", "-", "--granularity", "statement", "--schedule", "0x5"], spec);
    assert_eq!(code(&output), 1);
    assert_eq!(
        json(&run_with(&["check", "-", "--format", "json"], spec))["granularity"],
        Value::Null
    );
}

#[test]
fn a_result_replays_with_its_constants_and_granularity() {
    let folder = std::env::temp_dir().join(format!("mazurka-replay-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (spec, result) = (folder.join("modes.maz"), folder.join("result.json"));
    let (spec, result) = (spec.to_str().unwrap(), result.to_str().unwrap());
    let source = "\u{feff}enum Mode { Fast, Slow } const MODE = Fast;
        process P { var n = 1; if MODE == Slow { n = 0; } local(\"x\"); assert(n == 1); }";
    std::fs::write(spec, source).unwrap();
    let options = ["-D", "MODE=Slow", "--granularity", "statement", "--format", "json"];
    let output = run(&[&["check", spec], &options[..]].concat());
    assert_eq!(json(&output)["constants"]["MODE"], "Slow");
    std::fs::write(result, &output.stdout).unwrap();
    assert_eq!(code(&run(&["replay", spec, result])), 1);
    std::fs::write(spec, b"\xff").unwrap();
    let output = run(&["check", spec]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("is not a text in UTF-8"), "{}", stderr(&output));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn quiet_prints_the_verdict_only() {
    let output = run(&["check", "rendezvous.maz", "-q"]);
    assert_eq!(stdout(&output).lines().count(), 1);
    assert!(stdout(&output).starts_with("Deadlock: "));
    let replayed = run(&["-q", "replay", "rendezvous.maz", "--schedule", "0,1,0x2,2"]);
    assert_eq!(stdout(&replayed).lines().count(), 1);
    assert!(stdout(&replayed).starts_with("The execution is cut here"), "{}", stdout(&replayed));
    assert_eq!(stdout(&run(&["run", "ok.maz", "--quiet"])).lines().count(), 1);
}

/// Processes that are spawned later may have any number.
#[test]
fn an_order_may_name_processes_to_come() {
    let spec = "process Q(n: int) { local(\"a\"); } process P { spawn Q(1); }";
    let args = ["check", "-", "--explorer", "source", "--order", "1,0"];
    assert_eq!(code(&run_with(&args, spec)), 0);
    assert_eq!(code(&run_with(&args, "process P { local(\"a\"); }")), 2);
}

/// What `replay --help` says of the numbers in the schedule of actors.
#[test]
fn schedules_of_actors_are_as_documented() {
    let spec = "actor A { var t = 0; on Put(k: int) {} \
        internal Tick when t == 0 { t = 1; } internal Tock when t == 1 { t = 2; } } \
        actor B { on Go() { send(A, Put(3)); } } \
        init { send(A, Put(1)); send(B, Go()); send(A, Put(2)); }";
    let schedule = "1:1,0:3,0:-2,0,0:-3,0:2";
    let output = run_with(&["replay", "-", "--schedule", schedule, "--format", "json"], spec);
    let result = json(&output);
    let steps = result["schedule"].as_array().unwrap();
    let actions: Vec<_> = steps.iter().map(|step| step["action"].as_str().unwrap()).collect();
    let expected = ["Go()", "Put(3)", "internal Tick", "Put(1)", "internal Tock", "Put(2)"];
    assert_eq!(actions, expected);
}

#[test]
fn pipes_get_neither_colours_nor_progress() {
    let args = ["check", "-", "--explorer", "exhaustive", "--timeout", "300ms"];
    let output = run_with(&args, ENDLESS_SEARCH);
    assert_eq!(stderr(&output), "");
    assert!(!stdout(&output).contains('\x1b'));
    let output = run(&["check", "rendezvous.maz", "--color", "always"]);
    assert!(stdout(&output).contains('\x1b'));
}

#[test]
fn limits_end_the_search_and_say_so() {
    for (limit, value, reason, words) in [
        ("--timeout", "200ms", "timeout", "stopped after 200ms (--timeout)"),
        ("--max-traces", "1000", "max-traces", "stopped after 1,000 executions (--max-traces)"),
        ("--max-memory", "1K", "max-memory", "(--max-memory)"),
    ] {
        let mut args = vec!["check", "-", "--explorer", "exhaustive", limit, value];
        let output = run_with(&args, ENDLESS_SEARCH);
        assert_eq!(code(&output), 3, "{limit}: {}", stderr(&output));
        assert!(stdout(&output).starts_with("Incomplete: "), "{}", stdout(&output));
        assert!(stdout(&output).contains(words), "{}", stdout(&output));
        args.extend(["--format", "json"]);
        let result = json(&run_with(&args, ENDLESS_SEARCH));
        assert_eq!(result["verdict"], "incomplete");
        assert_eq!(result["complete"], false);
        assert_eq!(result["stopped_by"], reason);
    }
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let mut child = mazurka(&["check", "rendezvous.maz"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 1);
    assert_eq!(stderr(&output), "");
}

#[cfg(unix)]
#[test]
fn an_interrupt_gives_what_was_found_so_far() {
    let args = ["check", "-", "--explorer", "exhaustive", "--format", "json"];
    let mut child = mazurka(&args).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(ENDLESS_SEARCH.as_bytes()).unwrap();
    // The handler is not there from the first instant; an interrupt before it would just kill.
    std::thread::sleep(Duration::from_millis(700));
    let start = Instant::now();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(code(&output), 3);
    let result = json(&output);
    assert_eq!(result["stopped_by"], "interrupted");
    assert_eq!(result["verdict"], "incomplete");
    assert!(result["stats"]["traces"].as_u64().unwrap() > 0);
}

#[test]
fn random_executions_depend_on_the_seed_alone() {
    let seeds: Vec<_> = (0..8).map(|seed| seed.to_string()).collect();
    let text = |seed: &str| stdout(&run(&["run", "rendezvous.maz", "--seed", seed]));
    let texts: Vec<_> = seeds.iter().map(|seed| text(seed)).collect();
    assert_eq!(texts[3], text("3"));
    assert_eq!(text("0"), stdout(&run(&["run", "rendezvous.maz"])));
    assert!(texts.iter().any(|text| text.contains("Deadlock")));
    assert!(texts.iter().any(|text| text.contains("nothing is wrong")));
}

#[test]
fn a_run_is_cut_at_the_depth() {
    let output = run(&["run", "endless.maz", "--depth", "5"]);
    assert_eq!(code(&output), 3);
    assert!(stdout(&output).contains("cut here, after 5 steps. Blinker can still move"));
}

#[test]
fn explorers_are_listed() {
    let text = stdout(&run(&["explorers"]));
    assert!(text.contains("udpor") && text.contains("exhaustive"));
    let list = json(&run(&["explorers", "--format", "json"]));
    assert_eq!(list[0]["name"], "auto");
    assert!(list[0]["guarantee"].is_string());
}

#[test]
fn help_has_examples_and_exit_codes() {
    for command in [&[][..], &["check"], &["compare"], &["reproduce"], &["run"]] {
        let text = stdout(&run(&[command, &["--help"]].concat()));
        assert!(text.contains("Examples:") && text.contains("Exit codes:"), "{text}");
    }
    assert!(stdout(&run(&["--version"])).starts_with("mazurka "));
}
