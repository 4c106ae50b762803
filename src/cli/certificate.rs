//! Certificates of searches: what `check --certificate` writes and `audit` reads.

use std::path::Path;

use super::output::Output;
use super::progress::Progress;
use super::spec::Spec;
use super::{Failure, files};
use crate::audit::{self, Certificate, Claim, Items};
use crate::explore::{
    Budget, Collected, Explorer, Guarantee, Outcome, Profile, Reached, Setting, StopReason,
    ViolationKind, explore, listed_prefix,
};
use crate::report::Subject;
use crate::report::text::shown;
use crate::study::{Limits, hash};

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
        (profile, variants) => match (listed(&profile), variants) {
            (None, _) => format!(
                "`{}` neither completes every class, as `udpor` does, nor stores every state, as \
                 `stateful` does, nor builds a prefix, as `prefix` does",
                profile.name
            ),
            (Some(items), [only]) => match audit::refusal(&only.program, items) {
                None => return files::keep(file, [spec]),
                Some(why) => why.into(),
            },
            _ => "`both` means several searches".into(),
        },
    };
    Err(Failure::Usage(format!("no certificate: {why}")))
}

/// What the certificate of a complete search lists, if it has one.
fn listed(profile: &Profile) -> Option<Items> {
    if profile.guarantee >= Guarantee::EveryClass {
        return Some(Items::Classes);
    }
    match profile.name {
        "prefix" => Some(Items::Events),
        _ => profile.visits_every_state().then_some(Items::States),
    }
}

/// Why there is no list of these items for a program with loops that wait, or that runs for ever.
fn no_end(items: Items) -> &'static str {
    match items {
        Items::Classes => "executions may have no end (`--explorer prefix` lists events instead)",
        Items::States | Items::Events => "executions wait in loops",
    }
}

/// Searches everything, to the end of executions. Returns the result, and the certificate or why
/// there is none.
pub(super) fn search(
    spec: &Spec,
    setting: Setting,
    budget: Budget,
    progress: &mut Progress,
) -> (Outcome, Result<Certificate, String>) {
    let system = &spec.program;
    let items = listed(&setting.profile()).expect("it may be written");
    let (outcome, found) = match items {
        Items::Classes => {
            let mut collected = Collected::new(progress);
            let outcome = explore(system, setting, budget, &mut collected);
            let found = collected.classes(system).and_then(|(classes, may_wait)| match may_wait {
                true => Err(no_end(items)),
                false => Ok(classes),
            });
            (outcome, found)
        }
        Items::States => {
            let mut reached = Reached::new(system, progress);
            let outcome = explore(system, setting, budget, &mut reached);
            let found = reached.states(&outcome);
            (outcome, found)
        }
        Items::Events => return of_prefix(spec, setting, budget, progress),
    };
    let is_done = is_done(&outcome, items);
    let certificate = is_done.and(found).map(|list| {
        let mut claim = Claim::default();
        list.values().for_each(|end| claim.add(end.is_deadlocked, end.is_violating));
        let list = list.into_keys().collect();
        Certificate { program: program(&spec.subject), items, claim, list }
    });
    (outcome, certificate.map_err(str::to_owned))
}

/// Builds the prefix, asks it, and lists its events.
fn of_prefix(
    spec: &Spec,
    setting: Setting,
    budget: Budget,
    progress: &mut Progress,
) -> (Outcome, Result<Certificate, String>) {
    let items = Items::Events;
    let outcome = explore(&spec.program, setting, budget.clone(), progress);
    let is_of = |kind| outcome.violations.iter().any(|one| one.kind == kind);
    let is_done = match is_of(ViolationKind::Livelock) {
        true => Err(no_end(items)),
        false => is_done(&outcome, items),
    };
    let list = is_done.map_err(str::to_owned);
    let list = list.and_then(|()| listed_prefix(&spec.program, budget));
    let certificate = list.map(|list| {
        let deadlocked = u64::from(is_of(ViolationKind::Deadlock));
        let violating = u64::from(!outcome.violations.is_empty());
        let claim = Claim { count: list.len() as u64, deadlocked, violating };
        Certificate { program: program(&spec.subject), items, claim, list }
    });
    (outcome, certificate)
}

/// Why a search has no certificate after it.
fn is_done(outcome: &Outcome, items: Items) -> Result<(), &'static str> {
    match outcome.stopped_by {
        Some(StopReason::Endless) => Err(no_end(items)),
        _ if !outcome.is_complete() => Err("the search is not complete"),
        _ if outcome.stats.given_up > 0 => Err(no_end(items)),
        _ => Ok(()),
    }
}

/// Writes the certificate, or says why there is none.
pub(super) fn write(
    file: &Path,
    certificate: Result<Certificate, String>,
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
