//! Finds out which compilers, interpreters and shells the tests can use. A test cannot
//! ignore itself while it runs, so this must be known when the test is compiled. Users of the
//! library do not have these tests (they need the feature `cli`), so nothing is looked for then.
//! Cargo runs this file again only when it changes: `touch build.rs` after installing a compiler.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let has_tests = env::var_os("CARGO_FEATURE_CLI").is_some();
    for (name, command) in [
        ("has_cc", &["cc", "--version"][..]),
        ("has_cxx", &["c++", "--version"]),
        ("has_fortran", &["gfortran", "--version"]),
        ("has_python", &["python3", "-c", "import ctypes"]),
        ("has_bash", &["bash", "--version"]),
        ("has_zsh", &["zsh", "--version"]),
        ("has_fish", &["fish", "--version"]),
    ] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        let is_there = || Command::new(command[0]).args(&command[1..]).output();
        if has_tests && is_there().is_ok_and(|answer| answer.status.success()) {
            println!("cargo::rustc-cfg={name}");
        }
    }
}
