//! JUnit XML, as most servers read it: a suite for each program, with a test case for each search.

use std::fmt::Write as _;

use crate::report::svg::escaped;

/// A test case.
pub(crate) struct Case {
    /// The program.
    pub(crate) class: String,
    /// The search.
    pub(crate) name: String,
    /// The time that it took.
    pub(crate) seconds: f64,
    /// Its result.
    pub(crate) judged: Judged,
}

/// The result of a test case.
pub(crate) enum Judged {
    /// Everything was explored, and nothing is wrong.
    Passed,
    /// Something is wrong.
    Failed { kind: &'static str, message: String, text: String },
    /// Nothing was found, and not everything was explored. This is an error in JUnit.
    Undecided { reason: String, message: String, text: String },
    /// It was not run, or says nothing that another case does not say.
    Skipped(String),
}

/// The document of these cases, in their order, those of one program together.
pub(crate) fn junit(cases: &[Case]) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all: Vec<&Case> = cases.iter().collect();
    text += &format!("<testsuites name=\"mazurka\" {}>\n", counts(&all));
    let mut done: Vec<&str> = Vec::new();
    for case in cases {
        if done.contains(&case.class.as_str()) {
            continue;
        }
        done.push(&case.class);
        let suite: Vec<&Case> = cases.iter().filter(|other| other.class == case.class).collect();
        text += &format!("  <testsuite name=\"{}\" {}>\n", escaped(&case.class), counts(&suite));
        suite.iter().for_each(|case| write_case(&mut text, case));
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

fn counts(cases: &[&Case]) -> String {
    let count = |is_it: fn(&Judged) -> bool| cases.iter().filter(|c| is_it(&c.judged)).count();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\"",
        cases.len(),
        count(|judged| matches!(judged, Judged::Failed { .. })),
        count(|judged| matches!(judged, Judged::Undecided { .. })),
        count(|judged| matches!(judged, Judged::Skipped(_))),
        cases.iter().map(|case| case.seconds).sum::<f64>(),
    )
}

fn write_case(text: &mut String, case: &Case) {
    let (class, name) = (escaped(&case.class), escaped(&case.name));
    let head = format!(
        "    <testcase classname=\"{class}\" name=\"{name}\" file=\"{class}\" time=\"{:.3}\"",
        case.seconds
    );
    let (tag, kind, message, body) = match &case.judged {
        Judged::Passed => {
            *text += &format!("{head}/>\n");
            return;
        }
        Judged::Failed { kind, message, text } => ("failure", *kind, message, text.as_str()),
        Judged::Undecided { reason, message, text } => ("error", reason.as_str(), message, &**text),
        Judged::Skipped(message) => ("skipped", "", message, ""),
    };
    *text += &format!("{head}>\n      <{tag} message=\"{}\"", escaped(message));
    if !kind.is_empty() {
        write!(text, " type=\"{}\"", escaped(kind)).expect("a text takes all");
    }
    match body {
        "" => *text += "/>\n",
        // Lines stay lines; other control characters cannot be written in XML.
        body => {
            let lines: Vec<String> = body.lines().map(escaped).collect();
            *text += &format!(">{}\n</{tag}>\n", lines.join("\n"));
        }
    }
    *text += "    </testcase>\n";
}
