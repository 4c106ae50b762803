//! The requests of a state that are not answered yet: posts without a partner, places in the queue
//! of a mutex or of a reader-writer lock, units of a semaphore that were not granted.

use super::State;
use crate::model::{
    End, Handle, LocalId, Locals, MailboxId, ObjectTable, Posted, ProcessId, System,
};

impl State {
    /// Is there a request that is not answered? O(1) for each object, except where patterns matter.
    pub(crate) fn has_open_requests(&self, table: &ObjectTable) -> bool {
        self.network().has_open_posts()
            || table.order()[..self.known].iter().any(|&object| self.has_open_requests_of(object))
    }

    /// The number of messages at a declared mailbox that are sent and not paired.
    pub fn length_of_declared<S: System>(
        &self,
        locals: &Locals<'_, S>,
        mailbox: MailboxId,
    ) -> usize {
        let index = locals.objects().mailboxes.index(mailbox.0);
        // It may be in the table because of another branch of the search: then it has no log here.
        let known = index.and_then(|index| self.mailboxes.get(index as usize));
        let under_way =
            index.filter(|&it| (it as usize) < self.mailboxes.len()).map_or(0, |index| {
                let sends = self.network().ends(MailboxId(index)).sends.iter();
                let is_free =
                    |send: &&u32| self.network().sends()[**send as usize].receive().is_none();
                sends.filter(is_free).count()
            });
        under_way + known.map_or(0, |mailbox| mailbox.unpaired(End::Send).count())
    }

    /// The requests that are not answered, with the processes that made them, process by process.
    /// The request of the owner of a mutex is in its queue, so it is among them.
    pub(crate) fn open_requests(&self) -> impl Iterator<Item = (ProcessId, Handle, Posted)> {
        let of = |(process, posted): (usize, &Posted), handle: usize| {
            (ProcessId(process as u32), Handle(handle as u32), *posted)
        };
        let made = self.processes.iter().enumerate();
        let made = made.filter(|(_, process)| process.local != LocalId::CARRIER);
        let all = made.flat_map(move |(process, known)| {
            let requests = known.posted.iter().enumerate();
            requests.map(move |(handle, posted)| of((process, posted), handle))
        });
        all.filter(|&(_, _, posted)| self.is_open(posted))
    }

    fn is_open(&self, posted: Posted) -> bool {
        match posted {
            Posted::At(mailbox, end, position) => {
                self.mailbox(mailbox).posts(end)[position as usize].partner().is_none()
            }
            Posted::Sent(send) => self.network().sends()[send as usize].receive().is_none(),
            Posted::Receive(receive) => self.network().receives()[receive as usize].is_open(),
            Posted::Entry(entry) => {
                self.collectives().entries()[entry as usize].ended_at().is_none()
            }
            Posted::Mutex(mutex, position) => self.mutex(mutex).released_at(position).is_none(),
            Posted::RwLock(lock, position) => {
                !self.rwlock(lock).requests()[position as usize].is_over
            }
            // See `has_open_requests` of a condition variable.
            Posted::Enrolment(..) | Posted::Notification(..) => false,
            Posted::Semaphore(semaphore, position) => {
                !self.semaphore(semaphore).is_granted(position)
            }
        }
    }
}
