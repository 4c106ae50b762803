//! Random programs, each written twice: in C, and as a spec with p2p mailboxes. Both must have the
//! same number of classes, and of classes with a violation.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mazurka::explore::{Budget, NoObserver, explore};
use mazurka::model::{Buffering, Leaving, Semantics};
use mazurka::mpi::{Compiler, Files, Launch, Ranks, TICK};
use mazurka::random::SplitMix64;
use mazurka::study::Case;
use mazurka::systems::history::History;

/// A statement of a rank. Each has a variable `x`; a request has the number of its statement.
enum Statement {
    Send { to: usize, tag: usize, add: usize, form: Form },
    Receive { from: Option<usize>, tag: Option<usize>, is_posted: bool },
    Probe { from: Option<usize>, is_waiting: bool },
    Wait(usize),
    Test(usize),
    WaitAny(usize, usize),
    Barrier,
    Sum,
    If(Box<Statement>),
    Assert(usize),
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Send,
    Ssend,
    Isend,
}

/// The statements of each rank.
struct Program(Vec<Vec<Statement>>);

/// The number of different tags.
const TAGS: usize = 2;
/// Messages are less than this.
const VALUES: usize = 4;
/// A program with more classes than this is left out.
const MOST: u64 = 400;

impl Program {
    fn random(random: &mut SplitMix64) -> Program {
        let ranks = 2 + random.below(3);
        let collectives: Vec<bool> = (0..random.below(2)).map(|_| random.below(2) == 0).collect();
        Program((0..ranks).map(|rank| Program::rank(rank, ranks, &collectives, random)).collect())
    }

    fn rank(
        rank: usize,
        ranks: usize,
        collectives: &[bool],
        random: &mut SplitMix64,
    ) -> Vec<Statement> {
        let mut statements = Vec::new();
        for _ in 0..1 + random.below(4) {
            let requests = requests(&statements);
            let one = match random.below(12) {
                0 if !requests.is_empty() => {
                    Statement::Wait(requests[random.below(requests.len())])
                }
                1 if !requests.is_empty() => {
                    Statement::Test(requests[random.below(requests.len())])
                }
                2 if requests.len() > 1 && !statements.iter().any(Statement::is_ending) => {
                    Statement::WaitAny(requests[0], requests[1])
                }
                3 => Statement::Probe {
                    from: source(rank, ranks, random),
                    is_waiting: random.below(2) == 0,
                },
                4 => Statement::If(Box::new(Statement::exchange(rank, ranks, false, random))),
                5 => Statement::Assert(random.below(2 * VALUES)),
                _ => Statement::exchange(rank, ranks, true, random),
            };
            statements.push(one);
        }
        for &is_sum in collectives {
            let at = random.below(statements.len() + 1);
            // Requests have the numbers of their statements, so statements between them must not
            // move.
            let at = if requests(&statements).is_empty() { at } else { statements.len() };
            statements.insert(at, if is_sum { Statement::Sum } else { Statement::Barrier });
        }
        statements
    }

    /// The rank's code in one of the languages.
    fn code(&self, language: Language) -> String {
        let mut text = String::new();
        for (rank, statements) in self.0.iter().enumerate() {
            let _ = match language {
                Language::C => writeln!(text, "case {rank}: {{"),
                Language::Spec => writeln!(text, "{rank} => {{"),
            };
            for (number, statement) in statements.iter().enumerate() {
                statement.write(rank, number, language, &mut text);
            }
            for request in requests(statements) {
                Statement::Wait(request).write(rank, 0, language, &mut text);
            }
            text += if language == Language::C { "break; }\n" } else { "}\n" };
        }
        text
    }

    fn spec(&self) -> String {
        let ranks = self.0.len();
        format!(
            "p2p mailbox inbox[{ranks}];\ncollective world({ranks});\nprocess Rank[i in 0..{ranks}] {{\nvar x = 0;\n\
             match i {{\n{}_ => {{}}\n}}\nbarrier(world);\n}}\n",
            self.code(Language::Spec)
        )
    }
}

/// The numbers of the requests that statements make.
fn requests(statements: &[Statement]) -> Vec<usize> {
    let is_request = |statement: &Statement| {
        matches!(
            statement,
            Statement::Send { form: Form::Isend, .. } | Statement::Receive { is_posted: true, .. }
        )
    };
    statements
        .iter()
        .enumerate()
        .filter(|(_, one)| is_request(one))
        .map(|(number, _)| number)
        .collect()
}

fn source(rank: usize, ranks: usize, random: &mut SplitMix64) -> Option<usize> {
    (random.below(2) == 0).then(|| (rank + 1 + random.below(ranks - 1)) % ranks)
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    C,
    Spec,
}

impl Statement {
    /// Whether it may end a request. In C the request is gone then, but a spec may name it again.
    fn is_ending(&self) -> bool {
        matches!(self, Statement::Wait(_) | Statement::Test(_) | Statement::WaitAny(..))
    }

    /// A send or a receive.
    fn exchange(rank: usize, ranks: usize, may_post: bool, random: &mut SplitMix64) -> Statement {
        if random.below(2) == 0 {
            let form = match random.below(if may_post { 3 } else { 2 }) {
                0 => Form::Send,
                1 => Form::Ssend,
                _ => Form::Isend,
            };
            let to = (rank + 1 + random.below(ranks - 1)) % ranks;
            return Statement::Send {
                to,
                tag: random.below(TAGS),
                add: random.below(VALUES),
                form,
            };
        }
        let tag = (random.below(2) == 0).then(|| random.below(TAGS));
        let is_posted = may_post && random.below(2) == 0;
        Statement::Receive { from: source(rank, ranks, random), tag, is_posted }
    }

    fn write(&self, rank: usize, number: usize, language: Language, to: &mut String) {
        let _ = match language {
            Language::C => self.write_c(number, to),
            Language::Spec => self.write_spec(rank, number, to),
        };
    }

    fn write_c(&self, n: usize, text: &mut String) -> std::fmt::Result {
        let from_of =
            |from: Option<usize>| from.map_or("MPI_ANY_SOURCE".into(), |from| from.to_string());
        match self {
            Statement::Send { to, tag, add, form } => {
                let (call, request) = match form {
                    Form::Send => ("MPI_Send", ""),
                    Form::Ssend => ("MPI_Ssend", ""),
                    Form::Isend => ("MPI_Isend", ", &request["),
                };
                let request =
                    if request.is_empty() { String::new() } else { format!("{request}{n}]") };
                writeln!(text, "value[{n}] = (x + {add}) % {VALUES};")?;
                writeln!(
                    text,
                    "{call}(&value[{n}], 1, MPI_INT, {to}, {tag}, MPI_COMM_WORLD{request});"
                )
            }
            Statement::Receive { from, tag, is_posted } => {
                let from = from_of(*from);
                let tag = tag.map_or("MPI_ANY_TAG".into(), |tag| tag.to_string());
                match is_posted {
                    true => writeln!(
                        text,
                        "MPI_Irecv(&value[{n}], 1, MPI_INT, {from}, {tag}, MPI_COMM_WORLD, &request[{n}]); is_receive[{n}] = 1;"
                    ),
                    false => writeln!(
                        text,
                        "MPI_Recv(&x, 1, MPI_INT, {from}, {tag}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
                    ),
                }
            }
            Statement::Probe { from, is_waiting: true } => {
                let from = from_of(*from);
                writeln!(
                    text,
                    "MPI_Probe({from}, MPI_ANY_TAG, MPI_COMM_WORLD, &status); x = status.MPI_SOURCE;"
                )
            }
            Statement::Probe { from, is_waiting: false } => {
                let from = from_of(*from);
                writeln!(
                    text,
                    "MPI_Iprobe({from}, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status); if (flag) x = status.MPI_SOURCE;"
                )
            }
            Statement::Wait(k) => writeln!(
                text,
                "MPI_Wait(&request[{k}], MPI_STATUS_IGNORE); if (is_receive[{k}]) x = value[{k}];"
            ),
            Statement::Test(k) => {
                writeln!(
                    text,
                    "MPI_Test(&request[{k}], &flag, MPI_STATUS_IGNORE); if (flag) x = x + 1;"
                )
            }
            Statement::WaitAny(j, k) => writeln!(
                text,
                "{{ MPI_Request two[] = {{request[{j}], request[{k}]}}; MPI_Waitany(2, two, &flag, MPI_STATUS_IGNORE); \
                 request[{j}] = two[0]; request[{k}] = two[1]; if (flag != MPI_UNDEFINED) x = x + flag; }}"
            ),
            Statement::Barrier => writeln!(text, "MPI_Barrier(MPI_COMM_WORLD);"),
            Statement::Sum => writeln!(
                text,
                "value[{n}] = x; MPI_Allreduce(&value[{n}], &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);"
            ),
            Statement::If(then) => {
                writeln!(text, "if (x % 2 == 1) {{")?;
                then.write_c(n, text)?;
                writeln!(text, "}}")
            }
            Statement::Assert(limit) => writeln!(text, "assert(x != {limit});"),
        }
    }

    fn write_spec(&self, rank: usize, n: usize, text: &mut String) -> std::fmt::Result {
        let part = |name: &str, part: &Option<usize>| {
            part.map_or(String::new(), |part| format!(", {name}: {part}"))
        };
        match self {
            Statement::Send { to, tag, add, form } => {
                let message = format!("inbox[{to}], (x + {add}) % {VALUES}, tag: {tag}");
                match form {
                    Form::Send => writeln!(text, "send({message});"),
                    Form::Ssend => writeln!(text, "wait(issend({message}));"),
                    Form::Isend => writeln!(text, "let c{n} = isend({message});"),
                }
            }
            Statement::Receive { from, tag, is_posted } => {
                let pattern = format!("inbox[{rank}]{}{}", part("src", from), part("tag", tag));
                match is_posted {
                    true => writeln!(text, "let c{n} = irecv({pattern});"),
                    false => writeln!(text, "x = recv({pattern});"),
                }
            }
            Statement::Probe { from, is_waiting: true } => {
                writeln!(
                    text,
                    "let (s{n}, _t{n}) = probe(inbox[{rank}]{}); x = s{n};",
                    part("src", from)
                )
            }
            Statement::Probe { from, is_waiting: false } => writeln!(
                text,
                "let (f{n}, s{n}, _t{n}) = iprobe(inbox[{rank}]{}); if f{n} {{ x = s{n}; }}",
                part("src", from)
            ),
            Statement::Wait(k) => writeln!(text, "WAIT{k};"),
            Statement::Test(k) => writeln!(text, "if test(c{k}) {{ x = x + 1; }}"),
            Statement::WaitAny(j, k) => writeln!(text, "x = x + waitany([c{j}, c{k}]);"),
            Statement::Barrier => writeln!(text, "barrier(world);"),
            Statement::Sum => writeln!(text, "x = allreduce(world, sum, x);"),
            Statement::If(then) => {
                writeln!(text, "if x % 2 == 1 {{")?;
                then.write_spec(rank, n, text)?;
                writeln!(text, "}}")
            }
            Statement::Assert(limit) => writeln!(text, "assert(x != {limit});"),
        }
    }
}

/// The number of executions, and of those with a violation; `None` if there are too many.
type Counts = Option<(u64, u64)>;

fn counts(outcome: &mazurka::explore::Outcome) -> Counts {
    outcome.is_complete().then_some((outcome.stats.traces, outcome.stats.violating_traces))
}

fn budget() -> Budget {
    Budget { all: true, max_traces: Some(MOST), ..Budget::default() }
}

fn of_spec(source: &str, semantics: Semantics) -> Counts {
    let case = Case {
        name: "twin.maz".into(),
        source: source.into(),
        defines: Vec::new(),
        by_statement: false,
        allow_pending: false,
        daemons: Vec::new(),
        semantics,
    };
    let program =
        case.compile().unwrap_or_else(|errors| panic!("{}\n{source}", errors.render(false)));
    let setting: mazurka::explore::Setting = "udpor".parse().unwrap();
    counts(&explore(&program, setting, budget(), &mut NoObserver))
}

fn of_c(program: &Path, number: usize, ranks: usize, semantics: Semantics) -> Counts {
    let launch = Launch {
        program: program.to_owned(),
        arguments: vec![number.to_string().into()],
        size: ranks as u32,
        semantics,
        step_timeout: Duration::from_secs(10),
        tick: TICK,
        files: Files::Own,
        base: PathBuf::new(),
    };
    let setting: mazurka::explore::Setting = "udpor".parse().unwrap();
    counts(&explore(&History::new(Ranks::new(launch).unwrap()), setting, budget(), &mut NoObserver))
}

/// All programs as one C program, whose argument is the number of one of them.
fn in_c(programs: &[Program]) -> String {
    let mut text = String::from(
        "#include <assert.h>\n#include <mpi.h>\n#include <stdlib.h>\n\
         static int rank, flag, x, value[16], is_receive[16];\nstatic MPI_Status status;\nstatic MPI_Request request[16];\n",
    );
    for (number, program) in programs.iter().enumerate() {
        let code = program.code(Language::C);
        let _ = write!(text, "static void p{number}(void) {{\nswitch (rank) {{\n{code}}}\n}}\n");
    }
    text += "int main(int argc, char **argv) {\nMPI_Init(&argc, &argv);\nMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
             for (int i = 0; i < 16; i++) request[i] = MPI_REQUEST_NULL;\nswitch (atoi(argv[1])) {\n";
    for number in 0..programs.len() {
        let _ = writeln!(text, "case {number}: p{number}(); break;");
    }
    text + "}\nMPI_Finalize();\nreturn 0;\n}\n"
}

/// A wait for a receive has a value in a spec, one for a send has none.
fn with_waits(program: &Program) -> String {
    let mut text = String::new();
    let mut posted: Vec<bool> = Vec::new();
    for line in program.spec().lines() {
        if let Some((name, call)) =
            line.strip_prefix("let c").and_then(|rest| rest.split_once(" = i"))
        {
            let number: usize = name.parse().expect("a number");
            posted.resize(posted.len().max(number + 1), false);
            posted[number] = call.starts_with("recv");
        }
        let _ = match line.strip_prefix("WAIT").and_then(|rest| rest.strip_suffix(';')) {
            Some(number) if posted[number.parse::<usize>().expect("a number")] => {
                writeln!(text, "x = wait(c{number});")
            }
            Some(number) => writeln!(text, "wait(c{number});"),
            None => writeln!(text, "{line}"),
        };
    }
    text
}

#[test]
#[cfg_attr(not(has_cc), ignore = "needs a C compiler")]
fn programs_in_c_have_the_classes_of_their_specs() {
    let count =
        std::env::var("MAZURKA_PROGRAMS").map_or(60, |count| count.parse().expect("a number"));
    let mut random = SplitMix64::new(13);
    let programs: Vec<Program> = (0..count).map(|_| Program::random(&mut random)).collect();
    let folder = super::folder("mpi-twins");
    let (source, made) = (folder.join("twins.c"), folder.join("twins"));
    std::fs::write(&source, in_c(&programs)).unwrap();
    let compiler = Compiler::new("cc", folder.join("cache"), folder.clone());
    assert!(compiler.run(&["-w".into(), source.into(), "-o".into(), made.clone().into()]).unwrap());
    let (mut several, mut violating, mut compared) = (0, 0, 0);
    for (number, program) in programs.iter().enumerate() {
        let spec = with_waits(program);
        for (buffering, leaving) in
            [(Buffering::Infinite, Leaving::Early), (Buffering::Zero, Leaving::Synchronizing)]
        {
            let semantics = Semantics { buffering, leaving, ..Semantics::default() };
            let expected = of_spec(&spec, semantics);
            let found = of_c(&made, number, program.0.len(), semantics);
            assert_eq!(
                found,
                expected,
                "program {number}, {semantics:?}\n{spec}\n{}",
                program.code(Language::C)
            );
            let Some((traces, bad)) = expected else { continue };
            compared += 1;
            several += usize::from(traces > 1);
            violating += usize::from(bad > 0);
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(compared > count, "{compared} of {count} twice");
    assert!(
        several > count / 5 && violating > count / 5,
        "{several} with choices, {violating} wrong, of {compared}"
    );
}
