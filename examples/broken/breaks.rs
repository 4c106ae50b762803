//! What is broken, and where: the list in `breaks.txt`.
//!
//! Each break is a title after `#`, a file, the lines of it that are replaced, each after `- `, and those that take
//! their place, each after `+ `. The text that is replaced has to be there exactly once; it may begin and end within
//! a line. A test sees to it that the list keeps up with the code.

use std::fs;
use std::path::Path;

/// One place of the analysis, and what is written there instead.
#[derive(Clone, Debug, Default)]
pub struct Break {
    pub title: String,
    pub file: String,
    pub old: String,
    pub new: String,
}

/// All that are listed.
pub fn breaks() -> Vec<Break> {
    let mut all: Vec<Break> = Vec::new();
    for line in include_str!("breaks.txt").lines().filter(|line| !line.is_empty()) {
        if let Some(title) = line.strip_prefix("# ") {
            all.push(Break { title: title.to_owned(), ..Break::default() });
            continue;
        }
        let last = all.last_mut().expect("a title comes first");
        match line.split_at_checked(2) {
            Some(("- ", old)) => add(&mut last.old, old),
            Some(("+ ", new)) => add(&mut last.new, new),
            _ => line.clone_into(&mut last.file),
        }
    }
    all
}

fn add(lines: &mut String, line: &str) {
    if !lines.is_empty() {
        lines.push('\n');
    }
    lines.push_str(line);
}

impl Break {
    /// The file below this folder with the break in it.
    pub fn applied(&self, root: &Path) -> Result<String, String> {
        let path = root.join(&self.file);
        let text = fs::read_to_string(&path).map_err(|how| format!("{}: {how}", path.display()))?;
        match text.matches(&self.old).count() {
            1 => Ok(text.replacen(&self.old, &self.new, 1)),
            count => Err(format!("{}: {:?} is there {count} times", self.title, self.old)),
        }
    }
}
