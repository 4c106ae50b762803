//! Actors beside the processes of a program, and few messages between them.

use std::fmt::Write;

use super::super::Rng;
use super::FITS;

/// Two actors, perhaps a template of actors, and the first messages. Every program ends: a message
/// is sent with a smaller number only.
pub(super) fn actors(rng: &mut Rng) -> String {
    let mut out = String::new();
    let is_rich = rng.chance(50);
    if is_rich && rng.chance(20) {
        let faults = *rng.pick(&["lossy", "lossy, duplicating"]);
        writeln!(out, "network {faults};").expect(FITS);
    }
    let has_template = is_rich && rng.chance(50);
    if has_template {
        let asserted = rng.below(3);
        write!(
            out,
            "actor B(n: int) {{\n    var b = n;\n    on M(n: int) {{\n        b += n;\n        \
             assert(b != {asserted});\n    }}\n    on K(from: actor, n: int) {{\n        \
             if n > 0 {{ send(from, M(n - 1)); }}\n    }}\n}}\n"
        )
        .expect(FITS);
    }
    for actor in 0..2 {
        let mut crashes = "";
        if is_rich && rng.chance(20) {
            crashes = *rng.pick(&[" crashes up to 1", " crashes up to 1, restarts"]);
        }
        let durable = if crashes.ends_with("restarts") && rng.chance(50) { "durable " } else { "" };
        let guard = if rng.chance(20) { " when s < 2" } else { "" };
        let (to, told) = (rng.below(2), *rng.pick(&["n - 1", "0"]));
        write!(
            out,
            "actor A{actor}{crashes} {{\n    {durable}var s = 0;\n    var done: [int] = [];\n    \
             on M(n: int){guard} {{\n        s = n;\n        \
             if n > 0 {{ send(A{to}, M({told})); }}\n    }}\n"
        )
        .expect(FITS);
        if is_rich {
            if rng.chance(40) {
                let other = rng.below(2);
                let begun = match has_template && rng.chance(50) {
                    true => "let b = spawn B(s); send(b, K(self, 1));".to_owned(),
                    false => format!("send(A{other}, M({}));", rng.below(2)),
                };
                writeln!(
                    out,
                    "    internal Begin when s == {} && done == [] {{ done = [s]; {begun} }}",
                    rng.below(2)
                )
                .expect(FITS);
            }
            if rng.chance(50) {
                let kept = *rng.pick(&["done = push(done, n);", "s += n;", ""]);
                writeln!(
                    out,
                    "    on K(from: actor, n: int) {{ {kept} if from != self && n > 0 {{ send(from, M(n - 1)); }} }}"
                )
                .expect(FITS);
            }
        }
        out += "}\n";
    }
    let first = (rng.below(2), rng.below(3));
    write!(out, "init {{ send(A{}, M({}));", first.0, first.1).expect(FITS);
    if rng.chance(50) {
        write!(out, " send(A{}, M(1));", rng.below(2)).expect(FITS);
    }
    if has_template && rng.chance(50) {
        write!(out, " send(spawn B({}), K(A0, 1));", rng.below(2)).expect(FITS);
    }
    out + " }\n"
}
