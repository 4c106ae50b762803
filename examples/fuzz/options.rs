//! Command lines: every command, with any of its options, sensible ones and others.

use mazurka::explore::{EXPLORERS, Listed, OPTIONS};

use super::random::Random;

const ORDERS: [&str; 9] =
    ["fifo", "lifo", "eca", "lca", "sequential", "random", "visited", "2,0,1", "9,9"];
const SWITCHES: [&str; 5] = ["safe-sets", "once", "last-successor", "visited-successors", "bogus"];
const COUNTS: [&str; 14] =
    ["1", "1", "2", "2", "3", "3", "5", "5", "8", "12", "30", "4294967295", "0", "x"];

/// A command line for a spec, which is the file `spec.maz` in the folder at hand, without its limits.
pub fn command(random: &mut Random, tokens: &[String]) -> Vec<String> {
    let mut args = Args(Vec::new());
    match random.below(18) {
        0..8 => check(&mut args, random),
        8..10 => run(&mut args, random),
        10..13 => draw(&mut args, random),
        13 => compare(&mut args, random),
        14 => match random.once_in(4) {
            true => client(&mut args, random),
            false => check(&mut args, random),
        },
        15 => count(&mut args, random),
        _ => replay(&mut args, random),
    }
    if random.once_in(4)
        && let Some(define) = define(random, tokens)
    {
        args.push("-D", &define);
    }
    if random.once_in(12) && args.0[0] != "client" {
        args.push("--granularity", "statement");
    }
    if random.once_in(8) && args.0[0] != "client" {
        args.flag("--allow-pending");
    }
    args.0
}

/// The limits that every command gets that takes them.
pub fn limits(args: &[String], timeout: &str) -> Vec<String> {
    let limits = match args.first().map(String::as_str) {
        Some("check" | "compare" | "count") => {
            vec!["--timeout", timeout, "--max-memory", "400M"]
        }
        Some("run") => vec!["--depth", "300", "--timeout", timeout],
        Some("draw") => {
            vec!["--max-events", "60", "--max-nodes", "60", "--timeout", timeout]
        }
        Some("client") => vec!["--timeout", timeout],
        _ => vec![],
    };
    limits.into_iter().map(str::to_owned).collect()
}

struct Args(Vec<String>);

impl Args {
    fn flag(&mut self, flag: &str) {
        self.0.push(flag.to_owned());
    }

    fn push(&mut self, option: &str, value: &str) {
        self.0.extend([option.to_owned(), value.to_owned()]);
    }

    /// An option with a value, once in a few times.
    fn maybe<T: AsRef<str>>(&mut self, random: &mut Random, option: &str, values: &[T]) {
        if random.once_in(4) {
            let value = random.pick(values).as_ref().to_owned();
            self.push(option, &value);
        }
    }

    fn maybe_flag(&mut self, random: &mut Random, flag: &str) {
        if random.once_in(5) {
            self.flag(flag);
        }
    }
}

/// The options of an explorer: mostly those that it takes.
fn explorer(args: &mut Args, random: &mut Random, explorer: &Listed) {
    let any = random.once_in(8);
    for option in
        OPTIONS.iter().filter(|option| any || explorer.profile().takes.contain(option.name))
    {
        let flag = option.flag();
        match option.name {
            "k" => args.maybe(random, &flag, &["1", "2", "3", "4", "optimal"]),
            "order" => args.maybe(random, &flag, &ORDERS),
            "seed" if !any && args.0.last().is_none_or(|last| last != "random") => {}
            "without" => args.maybe(random, &flag, &SWITCHES),
            "jobs" => args.maybe(random, &flag, &["1", "2", "3", "0", "x"]),
            _ if option.value.is_some() => args.maybe(random, &flag, &COUNTS),
            _ => args.maybe_flag(random, &flag),
        }
    }
    args.maybe(random, "--depth", &COUNTS);
    args.maybe(random, "--max-traces", &COUNTS);
}

fn check(args: &mut Args, random: &mut Random) {
    args.flag("check");
    args.flag("spec.maz");
    let chosen = random.pick(EXPLORERS);
    if !random.once_in(3) {
        args.push("--explorer", chosen.profile().name);
        if random.once_in(2) {
            explorer(args, random, chosen);
        }
    } else if random.once_in(2) {
        explorer(args, random, Listed::named("udpor").expect("an explorer"));
    }
    args.maybe_flag(random, "--all");
    args.maybe_flag(random, "--shortest");
    args.maybe_flag(random, "--quiet");
    args.maybe(random, "--draw", &["out.html", "out.svg", "out.dot", "out.json"]);
    args.maybe(random, "--format", &["json", "text"]);
}

fn count(args: &mut Args, random: &mut Random) {
    args.flag("count");
    args.flag("spec.maz");
    args.maybe(random, "--format", &["json", "text"]);
}

fn run(args: &mut Args, random: &mut Random) {
    args.flag("run");
    args.flag("spec.maz");
    args.push("--seed", &random.below(1000).to_string());
    if random.once_in(4) {
        args.push("--schedule", &schedule(random));
    }
    args.maybe(random, "--format", &["json", "text"]);
}

fn replay(args: &mut Args, random: &mut Random) {
    args.flag("replay");
    args.flag("spec.maz");
    args.push("--schedule", &schedule(random));
    args.maybe_flag(random, "--step");
    args.maybe(random, "--format", &["json", "text"]);
}

fn draw(args: &mut Args, random: &mut Random) {
    args.flag("draw");
    args.flag("spec.maz");
    let what = ["unfolding", "configuration", "space-time", "steps", "processes"];
    let what = *random.pick(&what);
    args.push("--what", what);
    let files = ["out.svg", "out.dot", "out.json", "out.html"];
    let file = *random.pick(if what == "processes" { &files[..3] } else { &files });
    args.push("-o", file);
    if file == "out.html" || matches!(what, "configuration" | "space-time") {
        match random.below(6) {
            0 => args.push("--schedule", &schedule(random)),
            1 | 2 => args.push("--trace", COUNTS[random.below(COUNTS.len())]),
            _ => {}
        }
    }
}

fn compare(args: &mut Args, random: &mut Random) {
    args.flag("compare");
    args.flag("spec.maz");
    let chosen: Vec<&str> =
        (0..1 + random.below(3)).map(|_| random.pick(EXPLORERS).profile().name).collect();
    args.push("--explorers", &chosen.join(","));
    args.maybe(random, "--depth", &COUNTS);
    args.maybe(random, "--max-traces", &COUNTS);
    args.maybe(random, "--format", &["json", "csv", "markdown", "text"]);
}

fn client(args: &mut Args, random: &mut Random) {
    args.flag("client");
    args.flag("spec.maz");
    args.maybe(random, "--threads", &["1", "2", "8", "9"]);
    args.maybe(random, "--calls", &["1", "3", "20", "21"]);
    args.maybe(random, "--keys", &COUNTS);
}

fn schedule(random: &mut Random) -> String {
    let step = |random: &mut Random| match random.below(40) {
        0 => format!("{}x{}", random.below(4), random.below(20)),
        1 => format!("{}:{}", random.below(4), random.below(3)),
        2 => {
            random.pick(&["-1", "x", "0x4294967295", "99999999999", "0:4294967295", ""]).to_string()
        }
        _ => random.below(2).to_string(),
    };
    let steps: Vec<String> = (0..random.below(6)).map(|_| step(random)).collect();
    steps.join(",")
}

/// Some constant of the spec, if it has one, set to something.
fn define(random: &mut Random, tokens: &[String]) -> Option<String> {
    let words: Vec<&String> = tokens.iter().filter(|token| !token.trim().is_empty()).collect();
    let declared = words.windows(2).filter(|pair| *pair[0] == "const").map(|pair| pair[1].as_str());
    let mut names: Vec<&str> = declared.collect();
    if random.once_in(20) {
        names.push("N");
    }
    let values = ["-1", "1000000", "9223372036854775807", "true", "x", "\u{1b}[2J"];
    let value = match random.once_in(4) {
        true => random.pick(&values).to_string(),
        false => random.below(5).to_string(),
    };
    (!names.is_empty()).then(|| format!("{}={value}", random.pick(&names)))
}
