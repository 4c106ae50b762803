//! The kind and place of the mistake behind a violation. The search only knows that no rank can
//! move, or that calls disagree.

use std::collections::BTreeSet;

use super::ranks::Ranks;
use super::slip::Slip;
use crate::explore::Violation;
use crate::model::{
    AnySystem, LocalId, MailboxId, Op, Posted, ProcessId, RemarkKind, Site, State, System,
};
use crate::property::{Leak, LeakKind, Replay};
use crate::systems::history::{History, Local};

/// A mistake, in the terms of MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The kind of mistake.
    pub slip: Slip,
    /// A sentence, without the kind.
    pub(crate) message: String,
    /// The calls involved, as files with lines.
    pub places: BTreeSet<String>,
}

/// Determines the mistake behind a violation.
///
/// # Panics
/// If it is not a violation of this system.
pub(crate) fn diagnose(system: &History<Ranks>, violation: &Violation) -> Diagnosis {
    let any = AnySystem::of(system);
    let mut replay = Replay::new(&any);
    replay.follow(&violation.schedule).expect("the schedule of a violation");
    let scene = Scene { system, replay: &replay };
    match &violation.failure {
        Some(failure) => match Slip::of(&failure.message) {
            Some((slip, message)) => {
                let mut places = places_in(message);
                places.extend(scene.unreceived(slip));
                places.extend(failure.site.as_ref().and_then(place));
                Diagnosis { slip, message: message.into(), places }
            }
            None => scene.discord().unwrap_or_else(|| Diagnosis {
                slip: Slip::Nondeterminism,
                message: failure.message.clone(),
                places: failure.site.as_ref().and_then(place).into_iter().collect(),
            }),
        },
        None => scene.deadlock(),
    }
}

/// The mistake that a rank remarks of itself: an object that is never freed, its exit code, or
/// threads.
pub(super) fn remarked(leak: &Leak) -> Option<Diagnosis> {
    let places = || leak.site.as_ref().and_then(place).into_iter().collect();
    if leak.kind == LeakKind::Remarked(RemarkKind::Threads) {
        let message = format!("{} has several threads, but {}", leak.process, leak.object);
        return Some(Diagnosis { slip: Slip::Threads, message, places: places() });
    }
    if leak.kind == LeakKind::Remarked(RemarkKind::Status) {
        let message = format!("{} ends with {}", leak.process, leak.object);
        return Some(Diagnosis { slip: Slip::Exit, message, places: BTreeSet::new() });
    }
    let is_it = |slip: &&Slip| {
        leak.kind == LeakKind::Remarked(RemarkKind::Unfreed) && slip.unfreed() == Some(&leak.object)
    };
    let slip = *Slip::ALL.iter().find(is_it)?;
    let message = format!("{} never frees the {} that it makes here", leak.process, leak.object);
    Some(Diagnosis { slip, message, places: places() })
}

/// A place without its folders: `file.c:12`.
pub(super) fn place(site: &Site) -> Option<String> {
    let file = site.file.as_deref()?;
    let name = file.rsplit('/').next().unwrap_or(file);
    Some(format!("{name}:{}", site.line))
}

/// The function that is called in a line of C, as far as the text shows it.
pub(super) fn call_name(text: &str) -> &str {
    let start = text.find("MPI_").unwrap_or(0);
    text[start..].split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(text)
}

/// The places that a message names.
fn places_in(message: &str) -> BTreeSet<String> {
    let is_place = |word: &&str| {
        word.rsplit_once(':')
            .is_some_and(|(file, line)| file.contains('.') && line.parse::<u32>().is_ok())
    };
    let words = message.split(|c: char| c.is_whitespace() || ",;()".contains(c));
    let name = |place: &str| place.rsplit('/').next().unwrap_or(place).to_owned();
    words.filter(is_place).map(name).collect()
}

/// Calls in words, where many that are made at one place are told together.
fn calls_of(all: &[Made]) -> Vec<String> {
    const MANY: usize = 8;
    let call = |made: &Made| {
        made.site.as_ref().map_or("a call".into(), |site| call_name(&site.text).to_owned())
    };
    let place_of = |made: &Made| made.site.as_ref().and_then(place);
    let is_alike =
        |one: &Made, other: &Made| (call(one), place_of(one)) == (call(other), place_of(other));
    let words = all.iter().enumerate().filter_map(|(index, made)| {
        let alike: Vec<usize> = (0..all.len()).filter(|&n| is_alike(made, &all[n])).collect();
        match alike.len() >= MANY {
            false => Some(made.words(&call(made))),
            true if alike[0] == index => {
                let others = alike.len() - 1;
                Some(format!("{}, and of {others} other ranks there", made.words(&call(made))))
            }
            true => None,
        }
    });
    words.collect()
}

/// A state with a violation.
struct Scene<'a, 's> {
    system: &'s History<Ranks>,
    replay: &'a Replay<'s, AnySystem<'s>>,
}

/// A call that was made: by whom, its text and its place.
struct Made {
    /// The name of the rank.
    name: String,
    site: Option<Site>,
}

impl Made {
    fn is_at_port(&self) -> bool {
        let call = self.site.as_ref().map(|site| call_name(&site.text));
        matches!(call, Some("MPI_Comm_accept" | "MPI_Comm_connect"))
    }

    /// The call in words: `MPI_Recv (rank 1, a.c:7)`.
    fn words(&self, call: &str) -> String {
        let place =
            self.site.as_ref().and_then(place).map_or(String::new(), |place| format!(", {place}"));
        format!("{call} ({}{place})", self.name)
    }
}

impl Scene<'_, '_> {
    fn state(&self) -> &State {
        self.replay.state()
    }

    fn site(&self, local: LocalId) -> Option<Site> {
        self.replay.locals().system().describe().site(self.replay.locals().get(local))
    }

    fn by(&self, rank: ProcessId, site: Option<Site>) -> Made {
        Made { name: self.replay.name(rank).to_owned(), site }
    }

    /// The number of a process, by which other ranks know it.
    fn number(&self, process: ProcessId) -> u32 {
        let local = self.state().local(process);
        let local = self.replay.locals().get(local).get::<Local>().expect("a state of a rank");
        self.system.start_of(local)
    }

    /// The call that was made by this step of the execution.
    fn made(&self, rank: ProcessId, at: usize) -> Made {
        self.by(rank, self.site(self.state().before(at)))
    }

    fn call_of(&self, entry: u32) -> (Made, Call) {
        let entry = &self.state().collectives().entries()[entry as usize];
        let made = self.made(entry.process, entry.at());
        (
            made,
            Call::of(
                &self.system.runner().description(entry.call.operator.unwrap_or(0)),
                entry.call.root,
            ),
        )
    }

    /// The mistake if calls of one collective disagree.
    fn discord(&self) -> Option<Diagnosis> {
        let [(one, a), (other, b)] = self.state().discord()?.map(|entry| self.call_of(entry));
        let (slip, what) = a.difference(&b);
        let shown = |made: &Made, call: &Call| made.words(&call.function);
        let message = format!("{what}: {} and {}", shown(&one, &a), shown(&other, &b));
        let places = [one, other].iter().filter_map(|made| place(made.site.as_ref()?)).collect();
        Some(Diagnosis { slip, message, places })
    }

    /// If the mistake is a message that is never received: the places of these messages.
    fn unreceived(&self, slip: Slip) -> Vec<String> {
        if slip != Slip::CallOrder {
            return Vec::new();
        }
        let network = self.state().network();
        let left = network.sends().iter().filter(|sent| network.begun_at(sent).is_none());
        left.filter_map(|sent| place(self.made(sent.process, sent.at()).site.as_ref()?)).collect()
    }

    fn deadlock(&self) -> Diagnosis {
        let blocked: Vec<Made> = self.blocked().collect();
        let mut places: BTreeSet<String> =
            blocked.iter().filter_map(|made| place(made.site.as_ref()?)).collect();
        places.extend(self.awaited());
        let found = self.strays().or_else(|| self.communicators());
        let (slip, message, others) = found.unwrap_or_else(|| {
            let waiting = calls_of(&blocked).join(", ");
            (Slip::CallOrder, format!("no call can end: {waiting}"), Vec::new())
        });
        places.extend(others.iter().filter_map(|made| place(made.site.as_ref()?)));
        Diagnosis { slip, message, places }
    }

    /// The calls in which ranks are blocked.
    fn blocked(&self) -> impl Iterator<Item = Made> {
        let state = self.state();
        state
            .unfinished(self.replay.locals())
            .map(|rank| self.by(rank, self.site(state.local(rank))))
    }

    /// The places of the operations that blocked ranks wait for, if they began them in another
    /// call.
    fn awaited(&self) -> Vec<String> {
        let state = self.state();
        let stuck = state.unfinished(self.replay.locals());
        let requests = stuck.flat_map(|rank| {
            let handles = match self.replay.locals().op(state.local(rank)) {
                Some(Op::WaitAny(handles)) => &handles[..],
                _ => &[],
            };
            handles.iter().map(move |&handle| (rank, state.posted(rank, handle)))
        });
        let made = requests.filter_map(|(rank, posted)| {
            let at = match posted {
                Posted::Sent(sent) => state.network().sends()[sent as usize].at(),
                Posted::Receive(receive) => state.network().receives()[receive as usize].at(),
                Posted::Entry(entry) => state.collectives().entries()[entry as usize].at(),
                _ => return None,
            };
            place(self.made(rank, at).site.as_ref()?)
        });
        made.collect()
    }

    /// A blocked receive and a message for it that is not received, because the tag or the
    /// communicator differs.
    fn strays(&self) -> Option<(Slip, String, Vec<Made>)> {
        let network = self.state().network();
        let open = network.receives().iter().filter(|receive| receive.is_open());
        for receive in open {
            let unmatched = network.sends().iter().filter(|sent| sent.receive().is_none());
            for sent in unmatched {
                let (sent_in, taken_in) =
                    (self.address(sent.mailbox), self.address(receive.mailbox));
                let source = receive
                    .pattern
                    .src
                    .and_then(|src| self.system.runner().world_rank(taken_in.0, src as u32));
                let source_fits = source.is_none_or(|source| source == self.number(sent.process));
                let tag_fits = receive.pattern.tag.is_none_or(|tag| Some(tag) == sent.envelope.tag);
                let (slip, what) = match (sent_in.0 == taken_in.0, tag_fits) {
                    (true, false) if sent_in.1 == taken_in.1 => (Slip::TagMismatch, "tags"),
                    (false, true) => (Slip::CommunicatorMismatch, "communicators"),
                    _ => continue,
                };
                if !source_fits || sent.process == receive.process {
                    continue;
                }
                let made =
                    [self.made(sent.process, sent.at()), self.made(receive.process, receive.at())];
                // What waits at a port is no message of the program.
                if made.iter().any(Made::is_at_port) {
                    continue;
                }
                let [send, take] = &made;
                let message = format!(
                    "the {what} of a send and a receive differ: {} and {}",
                    send.words("the send"),
                    take.words("the receive")
                );
                return Some((slip, message, made.into()));
            }
        }
        None
    }

    /// The communicator of a mailbox, and the rank in it.
    fn address(&self, mailbox: MailboxId) -> (u32, u32) {
        let declared = self.replay.locals().objects().mailboxes.declared(mailbox.0);
        self.system.runner().address(MailboxId(declared))
    }

    /// Ranks that are blocked in the same call on different communicators.
    fn communicators(&self) -> Option<(Slip, String, Vec<Made>)> {
        let stuck =
            self.state().unfinished(self.replay.locals()).filter_map(|rank| self.stuck_entry(rank));
        let stuck: Vec<u32> = stuck.collect();
        let entries = self.state().collectives().entries();
        for (place, &one) in stuck.iter().enumerate() {
            for &other in &stuck[place + 1..] {
                let ((a, call), (b, same)) = (self.call_of(one), self.call_of(other));
                let apart = entries[one as usize].collective != entries[other as usize].collective;
                if apart && call.function == same.function {
                    let message = format!(
                        "{} is called on different communicators: {} and {}",
                        call.function,
                        a.words("one call"),
                        b.words("the other")
                    );
                    return Some((Slip::CommunicatorMismatch, message, vec![a, b]));
                }
            }
        }
        None
    }

    /// The entry of a collective whose end a rank waits for.
    fn stuck_entry(&self, rank: ProcessId) -> Option<u32> {
        let Op::WaitAny(handles) = self.replay.locals().op(self.state().local(rank))? else {
            return None;
        };
        handles.iter().find_map(|&handle| match self.state().posted(rank, handle) {
            Posted::Entry(entry) => Some(entry),
            _ => None,
        })
    }
}

/// What a rank passes as it enters a collective: see `describe` in `c/collectives.c`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    function: String,
    operator: String,
    signature: String,
    root: Option<u32>,
}

impl Call {
    fn of(description: &str, root: Option<u32>) -> Call {
        let mut parts = description.split('\t').map(String::from);
        let mut next = || parts.next().unwrap_or_default();
        Call { function: next(), operator: next(), signature: next(), root }
    }

    /// The difference between two calls.
    fn difference(&self, other: &Call) -> (Slip, String) {
        let shown = |root: Option<u32>| root.map_or("none".into(), |root| root.to_string());
        let is_fence = |call: &Call| call.function == "MPI_Win_fence";
        if self.function != other.function && (is_fence(self) || is_fence(other)) {
            return (Slip::DoubleEpoch, "not all ranks call the fence".into());
        }
        if self.function != other.function {
            return (Slip::CallOrder, "different collectives meet".into());
        }
        if is_fence(self) {
            let what =
                "either all ranks assert MPI_MODE_NOPRECEDE, or none (MPI_MODE_NOSUCCEED likewise)";
            return (Slip::InvalidArgument, what.into());
        }
        if self.root != other.root {
            let what = format!("roots {} and {} meet", shown(self.root), shown(other.root));
            return (Slip::RootMismatch, what);
        }
        if self.operator != other.operator {
            let what = format!("{} and {} meet", self.operator, other.operator);
            return (Slip::OperatorMismatch, what);
        }
        if self.signature == other.signature {
            let what = "one of these ranks gives the other data that it does not expect";
            return (Slip::CountMismatch, what.into());
        }
        let types = |signature: &str| -> Vec<String> {
            let parts = signature.split(", ");
            parts.map(|part| part.rsplit(' ').next().unwrap_or_default().to_owned()).collect()
        };
        let slip = match types(&self.signature) == types(&other.signature) {
            true => Slip::CountMismatch,
            false => Slip::DatatypeMismatch,
        };
        (slip, format!("{} and {} meet", self.signature, other.signature))
    }
}
