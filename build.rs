//! Which compilers are there for the tests of MPI programs? A test cannot ignore itself while it
//! runs, so this is known when it is compiled. A library user has none of these tests, so nothing
//! is looked for then. Cargo asks again only when this file changes: `touch build.rs` after a
//! compiler was installed.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let has_tests = env::var_os("CARGO_FEATURE_CLI").is_some();
    for (name, compiler) in [("has_cc", "cc"), ("has_cxx", "c++")] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        let is_there = || Command::new(compiler).arg("--version").output();
        if has_tests && is_there().is_ok_and(|answer| answer.status.success()) {
            println!("cargo::rustc-cfg={name}");
        }
    }
}
