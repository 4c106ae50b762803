//! The number of states at each depth, in lines that fit a terminal.

use super::thousands;

/// The width of a line without its heading.
const WIDTH: usize = 70;

/// `1, 3, 6 states first visited after 0, 1, 2 steps`
pub(super) fn levels(counts: &[u64]) -> String {
    let last = counts.len() - 1;
    let what = if counts == [1] { "state" } else { "states" };
    let numbers = counts.iter().enumerate().map(|(depth, &count)| match depth == last {
        true => thousands(count),
        false => thousands(count) + ",",
    });
    let rest = format!("{what} first visited after {} steps", first_depths(last));
    let words = numbers.chain(rest.split(' ').map(str::to_owned));
    let mut lines = vec![String::new()];
    for word in words {
        let line = lines.last_mut().expect("a line");
        if line.is_empty() {
            *line = word;
        } else if line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(word);
        } else {
            *line += " ";
            *line += &word;
        }
    }
    lines.join("\n")
}

/// The depths, as the beginning of a series.
fn first_depths(last: usize) -> String {
    match last {
        0 => "0".into(),
        1 => "0, 1".into(),
        2 => "0, 1, 2".into(),
        _ => "0, 1, 2, …".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::levels;

    #[test]
    fn depths_are_counted_from_the_initial_state() {
        assert_eq!(levels(&[1]), "1 state first visited after 0 steps");
        assert_eq!(levels(&[1, 1_200]), "1, 1,200 states first visited after 0, 1 steps");
        let text = levels(&[123; 30]);
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|line| line.len() <= 72), "{text}");
        assert!(text.ends_with("123 states first visited after 0, 1, 2, … steps"), "{text}");
    }
}
