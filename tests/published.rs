//! Figures that papers print, exactly; and claims about an algorithm that do not hold.

use std::fs;
use std::path::Path;

use mazurka::explore::{
    Budget, Dpor, DporDs, End, Explorer, NoObserver, Observer, Order, Stats, TransDpor, Way,
    explore,
};
use mazurka::lang::{Program, compile};
use mazurka::model::Action;
use mazurka::property::Position;

/// Complete executions, and actions executed.
type Figures = (u64, u64);

/// A subject of Tasharofi et al. (FORTE 2012).
struct Subject {
    /// A spec of `specs/actor`, and a constant of it.
    spec: &'static str,
    constant: Option<(&'static str, &'static str)>,
    /// The number of classes of executions.
    classes: u64,
    /// Table 1: for the orders fifo, eca and lca, the figures of DPOR (`None` where the paper's run
    /// was stopped) and of TransDPOR, as its tool computes them.
    table: [(Option<Figures>, Figures); 3],
    /// Table 2: the actions that DPOR with sleep sets executes.
    asleep: [u64; 3],
}

const ORDERS: [Order; 3] = [Order::Fifo, Order::Eca, Order::Lca];

const SUBJECTS: &[Subject] = &[
    Subject {
        spec: "registry",
        constant: None,
        classes: 6,
        table: [(Some((24, 71)), (10, 30)), (Some((27, 80)), (12, 36)), (Some((6, 17)), (6, 17))],
        asleep: [24, 25, 17],
    },
    Subject {
        spec: "fib",
        constant: Some(("N", "5")),
        classes: 16,
        table: [
            (Some((40, 203)), (40, 203)),
            (Some((327, 1650)), (203, 1051)),
            (Some((16, 91)), (16, 91)),
        ],
        asleep: [101, 139, 91],
    },
    Subject {
        spec: "quicksort",
        constant: Some(("SIZE", "6")),
        classes: 32,
        table: [
            (Some((368, 1586)), (368, 1586)),
            (Some((3822, 16766)), (1519, 6992)),
            (Some((32, 156)), (32, 156)),
        ],
        asleep: [179, 272, 156],
    },
    Subject {
        spec: "pi",
        constant: Some(("N", "5")),
        classes: 120,
        table: [
            (Some((120, 931)), (120, 931)),
            (Some((120, 931)), (120, 931)),
            (Some((19845, 156070)), (312, 2452)),
        ],
        asleep: [931, 931, 1236],
    },
    Subject {
        spec: "pipesort",
        constant: Some(("N", "4")),
        classes: 288,
        table: [
            (Some((1791, 8562)), (755, 3541)),
            (Some((288, 1293)), (288, 1293)),
            (Some((5970, 32385)), (2221, 11999)),
        ],
        asleep: [1448, 1293, 1944],
    },
    Subject {
        spec: "chameneos",
        constant: Some(("N", "2")),
        classes: 216,
        table: [
            (Some((3240, 19459)), (600, 3673)),
            (Some((19683, 118197)), (1728, 10554)),
            (Some((216, 1231)), (216, 1231)),
        ],
        asleep: [1681, 1826, 1231],
    },
    Subject {
        spec: "leader",
        constant: Some(("N", "4")),
        classes: 492,
        table: [
            (Some((18098, 107780)), (14984, 86889)),
            (Some((11957, 68373)), (11909, 68125)),
            (Some((39238, 236330)), (27287, 163030)),
        ],
        asleep: [3125, 3267, 3311],
    },
    Subject {
        spec: "shortpath4",
        constant: None,
        classes: 126,
        table: [
            (Some((238, 910)), (238, 910)),
            (Some((392, 1464)), (392, 1464)),
            (Some((640, 2158)), (370, 1337)),
        ],
        asleep: [473, 489, 522],
    },
    Subject {
        spec: "shortpath5",
        constant: None,
        classes: 296,
        table: [
            (Some((528, 2443)), (528, 2443)),
            (Some((2658, 8476)), (1170, 3737)),
            (Some((1865, 7076)), (1272, 4704)),
        ],
        asleep: [1408, 1031, 1228],
    },
    Subject {
        spec: "regsim",
        constant: Some(("N", "6")),
        classes: 720,
        table: [(None, (1320, 3607)), (None, (1950, 5434)), (Some((720, 1962)), (720, 1962))],
        asleep: [3453, 4054, 1962],
    },
];

fn program(spec: &str, constant: Option<(&str, &str)>) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("specs/actor/{spec}.maz"));
    let text = fs::read_to_string(&path).expect("a readable spec");
    let constants: Vec<_> =
        constant.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    compile(spec, &text, &constants).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn run(program: &Program, method: impl Explorer, depth: Option<u32>) -> Stats {
    let budget = Budget { all: true, depth, ..Budget::default() };
    explore(program, method, budget, &mut NoObserver).stats
}

fn figures(program: &Program, method: impl Explorer) -> Figures {
    let stats = run(program, method, None);
    (stats.traces, stats.transitions)
}

#[test]
fn dpor_and_transdpor_visit_what_the_paper_says() {
    for subject in SUBJECTS {
        let program = program(subject.spec, subject.constant);
        for (index, order) in ORDERS.into_iter().enumerate() {
            let context = format!("{} by {order:?}", subject.spec);
            let (dpor, trans_dpor) = subject.table[index];
            if let Some(dpor) = dpor {
                assert_eq!(
                    figures(&program, Dpor { order, sleep_sets: false, ..Dpor::default() }),
                    dpor,
                    "dpor, {context}"
                );
            }
            let found =
                figures(&program, TransDpor { order, of_tool: true, ..TransDpor::default() });
            assert_eq!(found, trans_dpor, "transdpor-tool, {context}");
            let found = figures(&program, Dpor { order, sleep_sets: true, ..Dpor::default() });
            let expected = (subject.classes, subject.asleep[index]);
            assert_eq!(found, expected, "dpor with sleep sets, {context}");
        }
    }
}

/// Figure 2 as printed, where it differs from the tool.
#[test]
fn transdpor_as_printed_visits_more_than_the_paper_says() {
    for (spec, constant, order, expected) in [
        ("registry", None, Order::Fifo, (13, 39)),
        ("pi", Some(("N", "5")), Order::Lca, (945, 7469)),
        ("chameneos", Some(("N", "2")), Order::Fifo, (972, 5923)),
        ("regsim", Some(("N", "6")), Order::Fifo, (5643, 15782)),
    ] {
        let method = TransDpor { order, of_tool: false, ..TransDpor::default() };
        assert_eq!(figures(&program(spec, constant), method), expected, "{spec}");
    }
}

/// DPOR-DS as published, up to a depth: of two classes, one is a path in which the other's message
/// never occurs.
#[test]
fn the_bound_hides_what_dpor_ds_has_to_reorder() {
    let registry = program("registry", Some(("W", "1")));
    let visited = |method, depth| {
        let stats = run(&registry, method, Some(depth));
        stats.traces + stats.truncated
    };
    let order = Order::Fifo;
    let [naive, force, ds] =
        [Way::Naive, Way::Force, Way::Completed].map(|way| DporDs { way, order });
    assert_eq!([naive, force, ds].map(|method| visited(method, 2)), [1, 1, 2]);
    // With room for all three messages, the two classes are visited; one of them twice, except with
    // sleep sets.
    assert_eq!([naive, force, ds].map(|method| visited(method, 3)), [3, 3, 2]);
}

/// The paths of a search.
#[derive(Default)]
struct Paths(Vec<Vec<Action>>);

impl Observer for Paths {
    fn trace(&mut self, at: Position<'_>, _: End) {
        self.0.push(at.state().schedule().collect());
    }
}

/// Figure 3: r0 is taken first, and r1 can come before it. Naive begins with w1, which sends r1, and
/// goes on anyhow: with r0. Force goes on with r1 at once. In the end both have all three paths.
#[test]
fn force_follows_the_order_that_a_race_asks_for() {
    let registry = program("registry", Some(("W", "1")));
    let places_of_r0 = |way| {
        let method = DporDs { way, order: Order::Fifo };
        let budget = Budget { all: true, depth: Some(3), ..Budget::default() };
        let mut paths = Paths::default();
        explore(&registry, method, budget, &mut paths);
        let r0 = paths.0[0][0];
        let place = |path: &Vec<Action>| path.iter().position(|&action| action == r0);
        paths.0.iter().map(|path| place(path).expect("it is taken")).collect::<Vec<_>>()
    };
    assert_eq!(places_of_r0(Way::Naive), [0, 1, 2]);
    assert_eq!(places_of_r0(Way::Force), [0, 2, 1]);
}
