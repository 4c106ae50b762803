//! A prefix as an `.mci` file: the format of unfolders of Petri nets (PUNF, Mole) and of the
//! programs that check their prefixes. It is described in `mci_format.txt`, which comes with PUNF
//! (V. Khomenko, Newcastle).
//!
//! ```text
//! conditions, events                                         their numbers
//! for each event:     transition
//! for each condition: place, event before it or 0, events after it .., 0
//! for each cutoff:    cutoff, event with the same state, 0 for the start
//! 0, 0                                                       no list of configurations
//! places, transitions, length of the longest name
//! the names of places, each ended by a zero byte; a zero byte; those of transitions; a zero byte
//! ```
//!
//! A number is four bytes, the lowest first. Conditions, events, places and transitions are
//! numbered from 1, causes before effects.
//!
//! A place is called `x=0` for the first value of x, whatever it is, `x=1` for the second, and
//! `x=0 for P` if P reads x. A transition is called by its process and its operation, and gets a
//! number if there was one of this name: operations with different results are different
//! transitions.

use rustc_hash::FxHashMap;

use super::picture::Lanes;
use crate::explore::{Holder, NetPlace, ShownPrefix};
use crate::model::masked;

/// The file. It has no means to say that events are missing, so the prefix should be whole.
pub fn render(prefix: &ShownPrefix) -> Vec<u8> {
    let (net, mut file) = (&prefix.net, File::default());
    file.count(net.conditions.len());
    file.count(prefix.events.len());
    net.transitions.iter().for_each(|&transition| file.number(transition));
    for condition in &net.conditions {
        file.number(condition.place);
        file.number_or_none(condition.made_by);
        condition.taken_by.iter().for_each(|&event| file.number(event));
        file.count(0);
    }
    for (event, shown) in prefix.events.iter().enumerate() {
        if let Some(of) = shown.cutoff_of {
            file.number(event);
            file.number_or_none(of);
        }
    }
    file.count(0);
    file.count(0);
    let lanes = Lanes::new(prefix.processes.clone());
    let places: Vec<String> = net.places.iter().map(|place| name(place, &lanes)).collect();
    let transitions = transitions(prefix, &lanes);
    let longest = places.iter().chain(&transitions).map(String::len).max();
    file.count(places.len());
    file.count(transitions.len());
    file.count(longest.unwrap_or(0));
    file.names(&places);
    file.names(&transitions);
    file.bytes
}

#[derive(Default)]
struct File {
    bytes: Vec<u8>,
}

impl File {
    fn count(&mut self, count: usize) {
        let count = u32::try_from(count).expect("a prefix has fewer than 2^32 parts");
        self.bytes.extend(count.to_le_bytes());
    }

    /// What is counted from 0 here is counted from 1 there,
    fn number(&mut self, number: usize) {
        self.count(number + 1);
    }

    /// and 0 stands for none.
    fn number_or_none(&mut self, number: Option<usize>) {
        self.count(number.map_or(0, |number| number + 1));
    }

    fn names(&mut self, names: &[String]) {
        for name in names {
            self.bytes.extend(name.bytes());
            self.bytes.push(0);
        }
        self.bytes.push(0);
    }
}

fn name(place: &NetPlace, lanes: &Lanes) -> String {
    let reader = place.reader.as_ref().map(|reader| format!(" for {}", holder(reader, lanes)));
    let value = place.value;
    printable(format!("{}={value}{}", holder(&place.holder, lanes), reader.unwrap_or_default()))
}

fn holder(holder: &Holder, lanes: &Lanes) -> String {
    match holder {
        Holder::Object(name) => name.clone(),
        Holder::Process(process) => lanes.name(*process),
        Holder::Carrier(process, number) => format!("{}'s request {number}", lanes.name(*process)),
        Holder::Messages(mailbox, Some(process)) => {
            format!("{mailbox} from {}", lanes.name(*process))
        }
        Holder::Messages(mailbox, None) => format!("{mailbox} from others"),
        Holder::Message { mailbox, from, number, is_taken } => {
            let received = if *is_taken { " received" } else { "" };
            format!("{mailbox} from {} #{number}{received}", lanes.name(*from))
        }
        Holder::Receive(mailbox, number) => format!("receive #{number} at {mailbox}"),
        Holder::Entry { collective, rank, round, is_end } => {
            let end = if *is_end { "end of " } else { "" };
            format!("{end}{collective} #{round} of rank {rank}")
        }
    }
}

/// The names of the transitions, all different.
fn transitions(prefix: &ShownPrefix, lanes: &Lanes) -> Vec<String> {
    let (mut names, mut seen) = (Vec::new(), FxHashMap::<String, usize>::default());
    for (event, &transition) in prefix.events.iter().zip(&prefix.net.transitions) {
        // Transitions are numbered as they occur.
        if transition == names.len() {
            let name = printable(format!("{}: {}", lanes.name(event.process), event.step.action));
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            names.push(if *count > 1 { format!("{name} #{count}") } else { name });
        }
    }
    names
}

/// On one line, and without characters that end a name.
fn printable(name: String) -> String {
    masked(&name).replace(['\n', '\t'], " ")
}
