//! Certificates of searches: what `check --certificate` writes and `audit` reads.

use std::path::Path;

use super::log::hash;
use super::output::Output;
use super::progress::Progress;
use super::spec::Spec;
use super::{Failure, files};
use crate::audit::{self, Certificate, Claim};
use crate::explore::{Budget, Collected, End, Explorer, Guarantee, Outcome, Setting, explore};
use crate::report::Subject;
use crate::report::text::shown;
use crate::study::Limits;

/// Refuses what cannot have a certificate, before the search.
pub(super) fn may_be_written(
    file: &Path,
    spec: &Path,
    (setting, limits): (&Setting, &Limits),
    variants: &[Spec],
) -> Result<(), Failure> {
    let why = match (setting.profile(), variants) {
        _ if limits.depth.is_some() => "--depth cuts executions".into(),
        _ if setting.options().jobs.is_some() => "--jobs is for searches without one".into(),
        (profile, _) if profile.guarantee < Guarantee::EveryClass => {
            format!("`{}` does not complete every class; `udpor` does", profile.name)
        }
        (_, [only]) => match audit::refusal(&only.program) {
            None => return files::keep(file, [spec]),
            Some(why) => why.into(),
        },
        _ => "`both` means several searches".into(),
    };
    Err(Failure::Usage(format!("no certificate: {why}")))
}

/// Searches everything. Returns the result, and the certificate or why there is none.
pub(super) fn search(
    spec: &Spec,
    setting: Setting,
    budget: Budget,
    progress: &mut Progress,
) -> (Outcome, Result<Certificate, &'static str>) {
    let mut collected = Collected::new(progress);
    let outcome = explore(&spec.program, setting, budget, &mut collected);
    let certificate = match () {
        _ if !outcome.is_complete() => Err("the search is not complete"),
        _ if outcome.stats.given_up > 0 => Err("executions wait in loops"),
        _ => collected.classes(&spec.program).and_then(|(classes, may_wait)| {
            if may_wait {
                return Err("the program has loops that may wait");
            }
            let count =
                |is: fn(&End) -> bool| classes.values().filter(|end| is(end)).count() as u64;
            let claim = Claim {
                classes: classes.len() as u64,
                deadlocked: count(|end| end.is_deadlocked),
                violating: count(|end| end.is_violating),
            };
            let classes = classes.into_keys().collect();
            Ok(Certificate { program: program(&spec.subject), claim, classes })
        }),
    };
    (outcome, certificate)
}

/// Writes the certificate, or says why there is none.
pub(super) fn write(
    file: &Path,
    certificate: Result<Certificate, &'static str>,
    output: &mut Output,
) -> Result<(), Failure> {
    let name = shown(file);
    match certificate {
        Ok(certificate) => {
            files::write(file, &certificate.to_string())?;
            output.remark(format!("Certificate: {name}\n"));
        }
        Err(why) => output.remark(format!("No certificate, and {name} is not written: {why}.\n")),
    }
    Ok(())
}

/// What program a certificate is about: a hash of the text, and the constants and options that
/// matter. (The hash only tells texts apart that were mixed up: the audit is about the text that it
/// is given.)
pub(super) fn program(subject: &Subject) -> String {
    let mut options = serde_json::to_value(subject).expect("it can be written");
    if let Some(options) = options.as_object_mut() {
        options.remove("mazurka");
        options.remove("spec");
    }
    format!("{} {options}", hash(&subject.source))
}
