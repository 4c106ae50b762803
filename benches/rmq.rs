//! N - 1 senders, one receiver that receives from any sender: (N - 1)! classes, the worst case of
//! message passing, and the program for which most checkers have published figures.

use mazurka::report::text::thousands;

use crate::measure::{Bench, Job};
use crate::table::{memory, memory_ratio, or_dash, print, rate, ratio, table, time, title};

const ABOUT: &str = "\
N processes, of which N - 1 send to the remaining one; each send waits for its receive ('blocking') or does not
('buffered'). Left: events that are no longer needed are discarded (the default). Right: all are kept, so
that 'events' is the size of the unfolding; 'time' and 'memory' there are ratios to the left side.";

const QUOTED: &str = "\
The same job elsewhere, quoted: N - 1 sends that do not wait (but in the prototype), one receiver. Ratio: their
time by ours. 'Classes' are what the tool explores; all explore one execution for each.
";

struct Quoted {
    tool: &'static str,
    /// Processes, the receiver included.
    n: u32,
    classes: u64,
    seconds: f64,
    memory: &'static str,
    buffered: u32,
}

const PEERS: &[Quoted] = &[
    Quoted {
        tool: "must-mc",
        n: 9,
        classes: 40_320,
        seconds: 0.13,
        memory: "2 to 4 MB",
        buffered: 1,
    },
    Quoted {
        tool: "TraceForge",
        n: 9,
        classes: 40_320,
        seconds: 0.78,
        memory: "2 to 4 MB",
        buffered: 1,
    },
    Quoted { tool: "interweave", n: 8, classes: 5_040, seconds: 0.27, memory: "-", buffered: 1 },
    Quoted {
        tool: "Concuerror, optimal",
        n: 8,
        classes: 5_040,
        seconds: 6.0,
        memory: "110 MB",
        buffered: 1,
    },
    Quoted {
        tool: "SimGrid, ODPOR",
        n: 7,
        classes: 720,
        seconds: 3.4,
        memory: "10 to 35 MB",
        buffered: 1,
    },
    Quoted {
        tool: "SimGrid, UDPOR",
        n: 6,
        classes: 120,
        seconds: 54.0,
        memory: "10 to 35 MB",
        buffered: 1,
    },
    Quoted {
        tool: "FORTE 2019 prototype",
        n: 5,
        classes: 24,
        seconds: 2.52,
        memory: "-",
        buffered: 0,
    },
];

fn job(n: u32, buffered: u32) -> Job {
    Job::new("mailbox/rmq-receiving", &[("N", n), ("BUFFERED", buffered)])
}

/// The section.
pub fn run(bench: &Bench) {
    title(bench, "RMQ-receiving", ABOUT);
    bench.print(format!("A process that does next to nothing takes {}.\n", memory(bench.idle())));
    ours(bench);
    quoted(bench);
}

fn ours(bench: &Bench) {
    let mut table = table([
        "sends",
        "N",
        "traces",
        "time",
        "traces/s",
        "peak",
        "keeping:\nevents",
        "\ntime",
        "\nmemory",
        "\npeak",
    ]);
    let largest = if bench.full { 10 } else { 9 };
    for (buffered, sends) in [(0, "blocking"), (1, "buffered")] {
        for n in 7..=largest {
            let job = job(n, buffered);
            let (forgets, keeps) = (bench.run(&job), bench.run(&job.keeping_events()));
            table.add_row([
                sends.to_owned(),
                n.to_string(),
                forgets.traces(Some((1..u64::from(n)).product())),
                forgets.time(),
                rate(forgets.traces, forgets.seconds),
                memory(forgets.peak),
                keeps.events(),
                ratio(keeps.seconds / forgets.seconds),
                memory_ratio(keeps.peak, forgets.peak),
                memory(keeps.peak),
            ]);
        }
    }
    print(bench, table, 1);
}

fn quoted(bench: &Bench) {
    bench.print(QUOTED);
    let mut table = table([
        "tool",
        "N",
        "classes",
        "time",
        "classes/s",
        "peak",
        "ours:\ntime",
        "\npeak",
        "\nratio",
    ]);
    for peer in PEERS {
        let ours = bench.run(&job(peer.n, peer.buffered));
        table.add_row([
            peer.tool.to_owned(),
            peer.n.to_string(),
            thousands(peer.classes),
            time(peer.seconds),
            rate(peer.classes, peer.seconds),
            peer.memory.to_owned(),
            ours.time(),
            memory(ours.peak),
            or_dash(ours.is_complete.then_some(ours.seconds), |s| ratio(peer.seconds / s)),
        ]);
    }
    print(bench, table, 1);
}
