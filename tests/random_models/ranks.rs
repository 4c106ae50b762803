//! Random programs of ranks as MPI programs in C.

use std::fmt::Write;

use mazurka::model::{Call, CollectiveKind, Delivery};

use super::{Body, Comparison, Condition, Program, Statement, Variable};
use Statement::*;

/// The program with waits for everything that it leaves open, if MPI can express it: in MPI a
/// completed request is gone, so no later any-form or cancel may name it, and all ranks must enter
/// the same collectives before `MPI_Finalize`.
pub fn completed(mut program: Program) -> Option<Program> {
    program.deliveries = vec![Delivery::P2p; program.mailboxes];
    // No rank is a daemon.
    program.daemons.clear();
    let mut calls = Vec::new();
    for (rank, body) in program.processes.iter_mut().enumerate() {
        complete(body, rank)?;
        calls.push(entered(body));
    }
    let agree = calls.windows(2).all(|two| format!("{:?}", two[0]) == format!("{:?}", two[1]));
    let leave_alike = calls.concat().windows(2).all(|two| two[0].1 == two[1].1);
    (agree && leave_alike && program.cells.is_empty()).then_some(program)
}

/// Whether ranks leave collectives only when all have entered.
pub fn is_synchronizing(program: &Program) -> bool {
    program.processes.iter().flat_map(entered).any(|(_, synchronizing)| synchronizing)
}

fn entered(body: &Body) -> Vec<(Call, bool)> {
    let call = |statement: &Statement| match statement {
        Enter { call, synchronizing, .. } => Some((*call, *synchronizing)),
        _ => None,
    };
    body.iter().filter_map(call).collect()
}

fn complete(body: &mut Body, rank: usize) -> Option<()> {
    let (mut open, mut asked) = (Vec::new(), Vec::new());
    for statement in body.iter_mut() {
        match statement {
            Isend { comm, .. } | Issend { comm, .. } | Enter { comm, .. } => open.push(*comm),
            Irecv { comm, mailbox, .. } if *mailbox == rank => open.push(*comm),
            Cancel { comm, .. } if asked.contains(comm) => return None,
            Wait { comm, .. } | Cancel { comm, .. } => {
                open.retain(|other| other != comm);
                asked.push(*comm);
            }
            Test { comm, .. } => asked.push(*comm),
            WaitAll { comms } => {
                open.retain(|other| !comms.contains(other));
                asked.extend_from_slice(comms);
            }
            WaitAny { comms, .. } | TestAny { comms, .. } => {
                if comms.is_empty() || comms.iter().any(|comm| asked.contains(comm)) {
                    return None;
                }
                asked.extend_from_slice(comms);
            }
            If { then, otherwise, .. } => {
                complete(then, rank)?;
                complete(otherwise, rank)?;
            }
            Probe { .. } | Iprobe { .. } | Assert(_) => {}
            _ => return None,
        }
    }
    body.extend(open.into_iter().map(|comm| Wait { comm, into: None }));
    Some(())
}

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
            Isend { comm, value, .. } | Issend { comm, value, .. } => {
                writeln!(out, "  int s{comm} = {value}; MPI_Request c{comm};").expect(FITS);
            }
            Irecv { comm, .. } => {
                writeln!(out, "  int r{comm} = -1; MPI_Request c{comm};").expect(FITS);
            }
            Enter { comm, value, .. } => {
                let all = format!("s{comm}[{MOST_RANKS}] = {{{value}}}, r{comm}[{MOST_RANKS}]");
                writeln!(out, "  int {all}; MPI_Request c{comm};").expect(FITS);
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
    for statement in body {
        match statement {
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
    let world = "MPI_COMM_WORLD";
    match statement {
        Isend { comm, mailbox, tag, .. } | Issend { comm, mailbox, tag, .. } => {
            let how = if matches!(statement, Isend { .. }) { "Isend" } else { "Issend" };
            let tag = tag.expect("a tag");
            format!("MPI_{how}(&s{comm}, 1, MPI_INT, {mailbox}, {tag}, {world}, &c{comm});")
        }
        Irecv { comm, src, tag, .. } => {
            format!("MPI_Irecv(&r{comm}, 1, MPI_INT, {}, &c{comm});", pattern(*src, *tag))
        }
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
            let value = into.map_or(String::new(), |into| format!(" v{into} = r{comm};"));
            format!("MPI_Wait(&c{comm}, MPI_STATUS_IGNORE);{value}")
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
        Enter { comm, call, .. } => enter(*comm, *call),
        Assert(condition) => format!("assert({});", holds(condition)),
        other => unreachable!("{other:?} has no form in MPI"),
    }
}

fn enter(comm: usize, call: Call) -> String {
    use CollectiveKind::*;
    let (from, to) = (format!("s{comm}, 1, MPI_INT"), format!("r{comm}, 1, MPI_INT"));
    let reduced = format!("s{comm}, r{comm}, 1, MPI_INT, MPI_SUM");
    let root = call.root.unwrap_or(0);
    let (name, arguments) = match call.kind {
        Barrier => ("Ibarrier", String::new()),
        Bcast => ("Ibcast", format!("{from}, {root}, ")),
        Scatter => ("Iscatter", format!("{from}, {to}, {root}, ")),
        Gather => ("Igather", format!("{from}, {to}, {root}, ")),
        Reduce => ("Ireduce", format!("{reduced}, {root}, ")),
        Allreduce => ("Iallreduce", format!("{reduced}, ")),
        Scan => ("Iscan", format!("{reduced}, ")),
        Exscan => ("Iexscan", format!("{reduced}, ")),
        Alltoall => ("Ialltoall", format!("{from}, {to}, ")),
        other => unreachable!("{other:?} is not among the random ones"),
    };
    format!("MPI_{name}({arguments}MPI_COMM_WORLD, &c{comm});")
}
