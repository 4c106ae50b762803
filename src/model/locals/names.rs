//! The names of what executions bring about: processes that are started, and messages.

use rustc_hash::FxHashMap;

use super::ProcessId;
use crate::model::MessageId;

/// How a process came into being: its name, since it is the same on every branch of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Birth {
    /// The process that started it.
    pub parent: ProcessId,
    /// Its index among the processes that `parent` starts, from 0; of a carrier, its index among
    /// the carriers of `parent`.
    pub place: u32,
    /// Is it a carrier of the network?
    pub is_carrier: bool,
}

impl Birth {
    /// The birth of the `place`-th process that this one starts, but for carriers.
    pub(crate) fn of_child(parent: ProcessId, place: u32) -> Birth {
        Birth { parent, place, is_carrier: false }
    }

    /// The birth of the carrier of this process with this index.
    pub(in crate::model) fn of_carrier(parent: ProcessId, place: u32) -> Birth {
        Birth { parent, place, is_carrier: true }
    }
}

/// The sending process and its action, if any; and the index among the messages sent there.
type Posting = (Option<(ProcessId, u32)>, u32);

/// The names of messages: between actors, and at p2p and bag mailboxes.
#[derive(Default)]
pub(in crate::model) struct MessageNames {
    names: FxHashMap<Posting, MessageId>,
    pub(super) postings: Vec<Posting>,
}

impl MessageNames {
    /// The id of a message: see `Locals::message`.
    pub(in crate::model) fn name(
        &mut self,
        sender: Option<(ProcessId, u32)>,
        place: u32,
    ) -> MessageId {
        let postings = &mut self.postings;
        *self.names.entry((sender, place)).or_insert_with(|| {
            postings.push((sender, place));
            MessageId(postings.len() as u32 - 1)
        })
    }
}

/// The processes found so far, and how they came into being.
pub(in crate::model) struct Births {
    /// `None` for processes that exist from the start.
    pub(super) parents: Vec<Option<Birth>>,
    children: FxHashMap<Birth, ProcessId>,
}

impl Births {
    /// Of this number of processes, all of which exist from the start.
    pub(super) fn of(processes: usize) -> Births {
        Births { parents: vec![None; processes], children: FxHashMap::default() }
    }

    /// The process with this birth, a new one if need be.
    pub(in crate::model) fn child(&mut self, birth: Birth) -> ProcessId {
        let parents = &mut self.parents;
        *self.children.entry(birth).or_insert_with(|| {
            parents.push(Some(birth));
            ProcessId(parents.len() as u32 - 1)
        })
    }

    /// The process with this birth, if any execution has started it.
    pub(in crate::model) fn known(&self, birth: Birth) -> Option<ProcessId> {
        self.children.get(&birth).copied()
    }
}
