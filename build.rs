//! Which compilers are there for the tests of MPI programs? A test cannot ignore itself while it runs, so this is known
//! when it is compiled. Cargo asks again only when this file changes: `touch build.rs` after a compiler was installed.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for (name, compiler) in [("has_cc", "cc"), ("has_cxx", "c++")] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        let asked = Command::new(compiler).arg("--version").output();
        if asked.is_ok_and(|answer| answer.status.success()) {
            println!("cargo::rustc-cfg={name}");
        }
    }
}
