//! The formatter of the language: its form, what it keeps, and what the command does to files.
//! That it keeps the syntax tree of every spec is tested beside it, where trees can be seen.

use std::fs;
use std::path::{Path, PathBuf};

use mazurka::explore::{Budget, Exhaustive, NoObserver, explore};
use mazurka::lang::{compile, format};

use crate::cli::{code, run, run_with, stderr, stdout};
use crate::random_models::{generate, language};

const BEFORE: &str = "

//@ verdict ok
//   A comment.


const N=2 ; // aligned
const  LIMIT : int=- 1;   // as written
mutex m [N];
shared seen:{ int }={ };
fn add ( a:int,b:int )->int{ a+b }
process P[i in 0 .. N]
{
  /* two
       lines */
lock( m[ i ] ); unlock(m[i]);

  if i==0&&!(N<2)
      || add( i,-1 )>LIMIT { seen={ i,i+1 };
  }
  else
  {
      match (i,N) { (0,_)=>{ local( \"x\" ) },
      _ => {} }

  }
  let all = [
     i, i + 1, // first
     add(
     i,
     2)
  ];
  while seen == {}
  { }
}
final{assert(len(seen)-1<=N,\"seen\");}";

const AFTER: &str = "\
//@ verdict ok
//   A comment.

const N = 2; // aligned
const LIMIT: int = -1;   // as written
mutex m[N];
shared seen: {int} = {};
fn add(a: int, b: int) -> int { a + b }
process P[i in 0..N] {
    /* two
       lines */
    lock(m[i]); unlock(m[i]);

    if i == 0 && !(N < 2)
        || add(i, -1) > LIMIT {
        seen = {i, i + 1};
    } else {
        match (i, N) {
            (0, _) => { local(\"x\") },
            _ => {}
        }
    }
    let all = [
        i, i + 1, // first
        add(
            i,
            2)
    ];
    while seen == {} {}
}
final { assert(len(seen) - 1 <= N, \"seen\"); }
";

#[test]
fn the_form_is_this() {
    let after = format("test.maz", BEFORE).unwrap();
    assert_eq!(after, AFTER);
    assert_eq!(format("test.maz", &after).unwrap(), after);
    assert_eq!(format("test.maz", "\u{feff}").unwrap(), "");
}

#[test]
fn random_programs_stay_what_they_are() {
    let processes = (0..100).map(|seed| generate(seed).text());
    let texts: Vec<String> = processes.chain((0..100).map(language::generate)).collect();
    for (index, text) in texts.iter().enumerate() {
        let once = format("random.maz", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(format("random.maz", &once).unwrap(), once);
        // All in one line, where no comment ends one.
        let flat = format("random.maz", &text.replace('\n', " ")).unwrap();
        assert_eq!(format("random.maz", &flat).unwrap(), flat);
        if index >= 100 && index % 10 == 0 {
            let figures = |text: &str| {
                let program = compile("random.maz", text, &[]).unwrap();
                let budget = Budget { max_traces: Some(100), ..Budget::default() };
                let outcome = explore(&program, Exhaustive, budget, &mut NoObserver);
                (outcome.stats.traces, outcome.stats.transitions, outcome.verdict())
            };
            assert_eq!(figures(text), figures(&once), "{text}");
            assert_eq!(figures(text), figures(&flat), "{text}");
        }
    }
}

fn folder(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-fmt-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("below")).unwrap();
    folder
}

const WRONG: &str = "process P { lock( m; }\n";

#[test]
fn files_and_folders_are_formatted_and_wrong_ones_are_not() {
    let folder = folder("files");
    let (good, wrong) = (folder.join("good.maz"), folder.join("below/wrong.maz"));
    let again = folder.join("again.maz");
    fs::write(&good, BEFORE).unwrap();
    fs::write(&again, AFTER).unwrap();
    let place = folder.to_str().unwrap();
    let first = run(&["fmt", place]);
    assert_eq!((code(&first), stdout(&first)), (0, String::new()));
    assert!(stderr(&first).contains("good.maz") && !stderr(&first).contains("again.maz"));
    assert_eq!(fs::read_to_string(&good).unwrap(), AFTER);
    assert_eq!(stderr(&run(&["fmt", place])), "");

    // A mistake in one file: it is reported with its place, and the other is formatted.
    fs::write(&wrong, WRONG).unwrap();
    fs::write(&good, BEFORE).unwrap();
    let second = run(&["fmt", place]);
    assert_eq!(code(&second), 2);
    assert!(stderr(&second).contains("wrong.maz:1:20"), "{}", stderr(&second));
    assert_eq!(fs::read_to_string(&wrong).unwrap(), WRONG);
    assert_eq!(fs::read_to_string(&good).unwrap(), AFTER);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_check_prints_what_would_change_and_changes_nothing() {
    let folder = folder("check");
    let (file, same) = (folder.join("a.maz"), folder.join("same.maz"));
    let source = "mutex m;\nprocess P {\n  lock(m);\n\n\n    unlock(m);\n}\n";
    fs::write(&file, source).unwrap();
    fs::write(&same, AFTER).unwrap();
    let (file, same) = (file.to_str().unwrap(), same.to_str().unwrap());
    let check = run(&["fmt", "--check", file, same]);
    assert_eq!(code(&check), 1);
    let shown = stdout(&check);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].ends_with("a.maz:3"), "{shown}");
    assert_eq!(lines[1..3], ["-  lock(m);", "+    lock(m);"], "{shown}");
    assert!(lines[3].ends_with("a.maz:5") && lines[4..] == ["-"], "{shown}");
    assert_eq!(fs::read_to_string(file).unwrap(), source);
    let quiet = run(&["fmt", "--check", "-q", file, same]);
    assert!(stdout(&quiet).ends_with("a.maz\n") && stdout(&quiet).lines().count() == 1);
    assert_eq!(code(&run(&["fmt", "--check", same])), 0);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let formatted = run_with(&["fmt", "-"], BEFORE);
    assert_eq!((code(&formatted), stdout(&formatted)), (0, AFTER.to_owned()));
    assert_eq!(code(&run_with(&["fmt", "-", "--check"], BEFORE)), 1);
    assert_eq!(code(&run_with(&["fmt", "-", "--check"], AFTER)), 0);
    let wrong = run_with(&["fmt", "-"], WRONG);
    assert_eq!((code(&wrong), stdout(&wrong)), (2, String::new()));
}
