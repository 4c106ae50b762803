//! Programs of ranks as MPI programs in C.

use std::fmt::Write;

use mazurka::model::{Call, CollectiveKind};

use super::is_blocking;
use crate::random_models::{Body, Comparison, Condition, Program, Statement, Variable};
use Statement::*;

/// These programs as one C program, whose argument is the number of one of them.
pub fn text<'p>(programs: impl IntoIterator<Item = &'p Program>) -> String {
    let mut out = String::from(HEAD);
    let mut cases = String::new();
    for (number, program) in programs.into_iter().enumerate() {
        for (rank, body) in program.processes.iter().enumerate() {
            writeln!(out, "static void program{number}_{rank}(void) {{").expect(FITS);
            declare(&mut out, body);
            block(&mut out, 1, body);
            writeln!(out, "}}").expect(FITS);
            let number = number * MOST_RANKS + rank;
            writeln!(cases, "    case {number}: program{}_{rank}(); break;", number / MOST_RANKS)
                .expect(FITS);
        }
    }
    write!(
        out,
        "int main(int argc, char **argv) {{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  switch ({MOST_RANKS} * atoi(argv[1]) + rank) {{
{cases}  }}
  MPI_Finalize();
  return 0;
}}
"
    )
    .expect(FITS);
    out
}

const MOST_RANKS: usize = 8;
const FITS: &str = "a string takes everything";
const HEAD: &str = "#include <assert.h>\n#include <mpi.h>\n#include <stdlib.h>\n";

/// Its variables, those of branches included.
fn declare(out: &mut String, body: &Body) {
    for statement in body {
        match statement {
            Isend { comm, .. } | Issend { comm, .. } | Irecv { comm, .. } | Enter { comm, .. } => {
                let both = format!("s{comm}[{MOST_RANKS}] = {{0}}, r{comm}[{MOST_RANKS}] = {{-1}}");
                writeln!(out, "  int {both}; MPI_Request c{comm};").expect(FITS);
            }
            If { then, otherwise, .. } => {
                declare(out, then);
                declare(out, otherwise);
            }
            Test { into, .. } | Cancel { into, .. } => {
                writeln!(out, "  int b{into};").expect(FITS);
            }
            Wait { into: Some(into), .. }
            | WaitAny { into, .. }
            | TestAny { into, .. }
            | Probe { into, .. }
            | Iprobe { into, .. } => writeln!(out, "  int v{into};").expect(FITS),
            _ => {}
        }
    }
}

fn block(out: &mut String, depth: usize, body: &Body) {
    let indent = "  ".repeat(depth);
    let mut awaited = false;
    for (at, statement) in body.iter().enumerate() {
        let blocks = is_blocking(&body[at..]);
        match statement {
            Wait { comm, into } if std::mem::take(&mut awaited) => {
                writeln!(out, "{indent}{}", received(*comm, *into)).expect(FITS);
            }
            Isend { .. } | Issend { .. } | Irecv { .. } | Enter { .. } => {
                awaited = blocks;
                writeln!(out, "{indent}{}", post(statement, blocks)).expect(FITS);
            }
            If { condition, then, otherwise } => {
                writeln!(out, "{indent}if ({}) {{", holds(condition)).expect(FITS);
                block(out, depth + 1, then);
                writeln!(out, "{indent}}} else {{").expect(FITS);
                block(out, depth + 1, otherwise);
                writeln!(out, "{indent}}}").expect(FITS);
            }
            other => writeln!(out, "{indent}{}", line(other)).expect(FITS),
        }
    }
}

fn holds(condition: &Condition) -> String {
    let of = match condition.of {
        Variable::Int(v) => format!("v{v}"),
        Variable::Bool(b) => format!("b{b}"),
    };
    match condition.test {
        Comparison::Equals(n) => format!("{of} == {n}"),
        Comparison::Differs(n) => format!("{of} != {n}"),
    }
}

fn pattern(src: Option<i64>, tag: Option<i64>) -> String {
    let or = |part: Option<i64>, any: &str| part.map_or(any.to_owned(), |n| n.to_string());
    format!("{}, {}, MPI_COMM_WORLD", or(src, "MPI_ANY_SOURCE"), or(tag, "MPI_ANY_TAG"))
}

/// An any-form, which updates the list of requests.
fn any_form(comms: &[usize], call: &str) -> String {
    let all: Vec<_> = comms.iter().map(|comm| format!("c{comm}")).collect();
    let back: String =
        all.iter().enumerate().map(|(at, comm)| format!(" {comm} = q[{at}];")).collect();
    format!("{{ MPI_Request q[] = {{{}}}; {call}{back} }}", all.join(", "))
}

fn line(statement: &Statement) -> String {
    match statement {
        Probe { src, tag, into, .. } => {
            let pattern = pattern(*src, *tag);
            format!("{{ MPI_Status s; MPI_Probe({pattern}, &s); v{into} = s.MPI_SOURCE; }}")
        }
        Iprobe { src, tag, into, .. } => {
            let pattern = pattern(*src, *tag);
            let call = format!("MPI_Iprobe({pattern}, &f, &s);");
            format!("{{ MPI_Status s; int f; {call} v{into} = f ? s.MPI_SOURCE : -1; }}")
        }
        Wait { comm, into } => {
            format!("MPI_Wait(&c{comm}, MPI_STATUS_IGNORE); {}", received(*comm, *into))
        }
        Test { comm, into } => format!("MPI_Test(&c{comm}, &b{into}, MPI_STATUS_IGNORE);"),
        Cancel { comm, into } => {
            let wait = format!("MPI_Cancel(&c{comm}); MPI_Wait(&c{comm}, &s);");
            format!("{{ MPI_Status s; {wait} MPI_Test_cancelled(&s, &b{into}); }}")
        }
        WaitAll { comms } => {
            let call = format!("MPI_Waitall({}, q, MPI_STATUSES_IGNORE);", comms.len());
            any_form(comms, &call)
        }
        WaitAny { comms, into } => {
            let count = comms.len();
            any_form(comms, &format!("MPI_Waitany({count}, q, &v{into}, MPI_STATUS_IGNORE);"))
        }
        TestAny { comms, into } => {
            let call = format!("MPI_Testany({}, q, &v{into}, &f, MPI_STATUS_IGNORE);", comms.len());
            any_form(comms, &format!("int f; {call} if (!f) v{into} = -1;"))
        }
        Assert(condition) => format!("assert({});", holds(condition)),
        other => unreachable!("{other:?} has no form in MPI"),
    }
}

fn received(comm: usize, into: Option<usize>) -> String {
    into.map_or(String::new(), |into| format!("v{into} = r{comm}[0];"))
}

/// The call that begins a communication, or the call that blocks until it is complete.
fn post(statement: &Statement, blocks: bool) -> String {
    let (comm, begin, name, arguments) = match statement {
        Isend { comm, mailbox, value, tag, .. } | Issend { comm, mailbox, value, tag, .. } => {
            let name = if matches!(statement, Isend { .. }) { "send" } else { "ssend" };
            let tag = tag.expect("a tag");
            let arguments = format!("s{comm}, 1, MPI_INT, {mailbox}, {tag}, MPI_COMM_WORLD");
            (comm, format!("s{comm}[0] = {value}; "), name, arguments)
        }
        Irecv { comm, src, tag, .. } => {
            let status = if blocks { ", MPI_STATUS_IGNORE" } else { "" };
            let arguments = format!("r{comm}, 1, MPI_INT, {}{status}", pattern(*src, *tag));
            (comm, String::new(), "recv", arguments)
        }
        Enter { comm, call, value, .. } => {
            let arguments = format!("{}MPI_COMM_WORLD", entering(*comm, *call));
            (comm, format!("s{comm}[0] = {value}; "), call.kind.name(), arguments)
        }
        other => unreachable!("{other:?} begins nothing"),
    };
    match blocks {
        true => format!("{begin}MPI_{}{}({arguments});", name[..1].to_uppercase(), &name[1..]),
        false => format!("{begin}MPI_I{name}({arguments}, &c{comm});"),
    }
}

/// The arguments of a collective before the communicator.
fn entering(comm: usize, call: Call) -> String {
    use CollectiveKind::*;
    let (from, to) = (format!("s{comm}, 1, MPI_INT"), format!("r{comm}, 1, MPI_INT"));
    let reduced = format!("s{comm}, r{comm}, 1, MPI_INT, MPI_SUM");
    let root = call.root.unwrap_or(0);
    match call.kind {
        Barrier => String::new(),
        Bcast => format!("{from}, {root}, "),
        Scatter | Gather => format!("{from}, {to}, {root}, "),
        Reduce => format!("{reduced}, {root}, "),
        Allreduce | Scan | Exscan => format!("{reduced}, "),
        Alltoall => format!("{from}, {to}, "),
        other => unreachable!("{other:?} is not among the random ones"),
    }
}
