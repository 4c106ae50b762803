//! `mazurka audit`: checks a certificate.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::options::SpecArgs;
use super::output::Output;
use super::spec::Spec;
use super::{Exit, Failure, certificate, files};
use crate::audit::{Certificate, Claim, Refused, audit};
use crate::model::masked;
use crate::report::text::{plural, shown};

/// Check a certificate that `check --certificate` has written
///
/// A certificate lists all classes of executions. The audit replays each of them on the model,
/// judges it anew, and checks that none is missing. It shares no code with any search but the model
/// itself: how a state steps, and which steps depend on each other. Give it the same constants and
/// options of the program as the search; the certificate says which they were.
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
    let text = files::read(&args.certificate)?;
    let spec = Spec::load(&args.spec, output)?;
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
    let Claim { classes, violating, .. } = certificate.claim;
    let (upshot, exit) = match violating {
        0 => {
            let text = "no execution deadlocks, fails an assertion or runs into an error";
            (text.to_owned(), Exit::Fine)
        }
        _ => (format!("the program is violated: {}", wrong(&certificate.claim)), Exit::Violation),
    };
    output.print(format!("Certified: {upshot}.\n"))?;
    if !output.is_quiet() {
        let classes = classes_of(classes);
        output.print(format!("{classes}, replayed and judged; none is missing.\n"))?;
    }
    Ok(exit)
}

fn classes_of(count: u64) -> String {
    plural(count, "class", "classes")
}

/// How many classes end in a deadlock, and how many others are violated.
fn wrong(claim: &Claim) -> String {
    let verb = |count: u64, one, several| if count == 1 { one } else { several };
    let Claim { deadlocked, violating, .. } = *claim;
    let others = violating - deadlocked;
    let standing = verb(deadlocked, "ends in a deadlock", "end in a deadlock");
    let failing = verb(others, "fails an assertion or runs", "fail an assertion or run");
    match (deadlocked, others) {
        (_, 0) => format!("{} {standing}", classes_of(deadlocked)),
        (0, _) => format!("{} {failing} into an error", classes_of(others)),
        _ => format!(
            "{} {standing}, {} {failing} into an error",
            classes_of(deadlocked),
            classes_of(others)
        ),
    }
}
