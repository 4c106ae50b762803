//! `mazurka audit`: checks a certificate.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::options::SpecArgs;
use super::output::Output;
use super::spec::Spec;
use super::{Exit, Failure, certificate, files};
use crate::audit::{Certificate, Claim, Items, Refused, audit};
use crate::model::{audit_everything, masked};
use crate::report::text::{plural, shown};

/// Check a certificate that `check --certificate` has written
///
/// A certificate lists all classes of executions, all states, or all events of a prefix. The audit
/// replays each of them on the model, judges it anew, and checks that none is missing. It shares no
/// code with any search but the model itself: how a state steps, which steps depend on each other,
/// and which states are the same. Give it the same constants and options of the program as the
/// search; the certificate says which they were.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    spec: SpecArgs,
    /// The certificate
    #[arg(value_name = "FILE")]
    certificate: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  mazurka check philosophers.maz --certificate philosophers.cert
  mazurka audit philosophers.maz philosophers.cert

Exit codes: 0 certified that nothing is violated; 1 certified that something is; 2 the certificate
is refused, or the command line or the spec is wrong.";

pub(super) fn run(args: Args, output: &mut Output) -> Result<Exit, Failure> {
    let file = shown(&args.certificate);
    let refused = |why: String| Failure::Usage(format!("{file} is refused: {why}"));
    let text = files::read_of_search(&args.certificate)?;
    let spec = Spec::load(&args.spec, output)?;
    audit_everything();
    let certificate: Certificate = text.parse().map_err(|why: Refused| refused(why.to_string()))?;
    let program = certificate::program(&spec.subject);
    if certificate.program != program {
        let said = masked(&certificate.program);
        return Err(refused(format!(
            "it is about another text, or other constants or options: {said}, and not {program}"
        )));
    }
    audit(&spec.program, spec.subject.allow_pending, &certificate)
        .map_err(|why| refused(why.to_string()))?;
    let Certificate { items, claim, .. } = certificate;
    let (upshot, exit) = match claim.violating {
        0 => {
            let text = "no execution deadlocks, fails an assertion or runs into an error";
            (text.to_owned(), Exit::Fine)
        }
        _ => (format!("the program is violated: {}", wrong(items, claim)), Exit::Violation),
    };
    output.print(format!("Certified: {upshot}.\n"))?;
    if !output.is_quiet() {
        let all = plural(claim.count, items.one(), items.several());
        output.print(format!("{all}, replayed and judged; none is missing.\n"))?;
    }
    Ok(exit)
}

/// How many classes or states end in a deadlock, and how many others are violated. Of events:
/// whether an execution is.
fn wrong(items: Items, claim: Claim) -> String {
    let Claim { deadlocked, violating, .. } = claim;
    if items == Items::Events {
        let what = if deadlocked > 0 {
            "an execution deadlocks"
        } else {
            "an execution violates a property"
        };
        return what.into();
    }
    let others = violating - deadlocked;
    let of = |count, one: &str, several: &str| {
        let verb = if count == 1 { one } else { several };
        format!("{} {verb}", plural(count, items.one(), items.several()))
    };
    let standing = || match items {
        Items::Classes => of(deadlocked, "ends in a deadlock", "end in a deadlock"),
        _ => of(deadlocked, "is a deadlock", "are deadlocks"),
    };
    let failing = || match items {
        Items::Classes => of(
            others,
            "fails an assertion or runs into an error",
            "fail an assertion or run into an error",
        ),
        _ => of(others, "violates a property", "violate a property"),
    };
    match (deadlocked, others) {
        (_, 0) => standing(),
        (0, _) => failing(),
        _ => format!("{}, {}", standing(), failing()),
    }
}
