//! Smaller trials that go wrong in the same way.

use super::trial::Trial;

/// So many runs may be spent on one finding.
const MAX_RUNS: usize = 400;

/// Two findings are the same if they differ in numbers only.
pub fn kind(finding: &str) -> String {
    finding.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Leaves out pieces of the spec and options, larger ones first, as long as `judge` finds the same.
pub fn shrink(trial: Trial, finding: &str, judge: &dyn Fn(&Trial) -> Result<i32, String>) -> Trial {
    let wanted = kind(finding);
    let mut runs = 0;
    let mut is_same = |candidate: &Trial| {
        runs += 1;
        runs <= MAX_RUNS && judge(candidate).is_err_and(|found| kind(&found) == wanted)
    };
    let mut best = trial;
    let mut size = best.tokens.len().next_power_of_two();
    while size > 0 {
        let mut at = 0;
        while at < best.tokens.len() {
            let mut candidate = best.clone();
            candidate.tokens.drain(at..(at + size).min(best.tokens.len()));
            match is_same(&candidate) {
                true => best = candidate,
                false => at += size,
            }
        }
        size /= 2;
    }
    // The command and its spec stay.
    let mut at = 2;
    while at < best.args.len() {
        let is_option = best.args[at].starts_with('-');
        let has_value = best.args.get(at + 1).is_some_and(|next| !next.starts_with('-'));
        let end = at + 1 + usize::from(is_option && has_value);
        let mut candidate = best.clone();
        candidate.args.drain(at..end);
        match is_same(&candidate) {
            true => best = candidate,
            false => at = end,
        }
    }
    best
}
