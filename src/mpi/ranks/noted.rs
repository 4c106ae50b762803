//! What ranks note beside their questions: how they use files and threads.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use super::{Ranks, Trouble, Unexplored, place};
use crate::model::Failure;
use crate::mpi::uses::{Alone, Use, Uses};
use crate::mpi::wire::Parts;

/// What ranks have done in a search so far.
#[derive(Serialize, Deserialize)]
struct Noted {
    have_called: bool,
    unexplored: Unexplored,
    uses: Uses,
}

impl Ranks {
    /// What the ranks have done that no part of a search shows, for
    /// [`take_notes`](Ranks::take_notes).
    pub(super) fn notes(&self) -> String {
        let (unexplored, uses) = (self.unexplored().clone(), self.uses().clone());
        let noted = Noted { have_called: self.have_called(), unexplored, uses };
        serde_json::to_string(&noted).expect("notes are serialisable")
    }

    /// Takes up what ranks have done in another process.
    ///
    /// # Errors
    /// If these are not notes.
    pub(super) fn take_notes(&self, notes: &str) -> serde_json::Result<()> {
        let Noted { have_called, unexplored, uses } = serde_json::from_str(notes)?;
        self.calls.fetch_or(have_called, Ordering::Relaxed);
        *self.unexplored() = unexplored;
        *self.uses() = uses;
        Ok(())
    }

    pub(super) fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().expect("no thread panics while it has the uses")
    }

    /// Records what a rank has done with files and threads, and the files that its places are in.
    /// Returns the failure, if this is one.
    pub(super) fn note_uses(
        &self,
        rank: u32,
        parts: &mut Parts<'_>,
        run: &mut Alone,
    ) -> Result<Option<Failure>, Trouble> {
        let mut clash = None;
        for _ in 0..parts.u32()? {
            let (letter, path) = (parts.u8()?, parts.text()?);
            if letter == b'n' {
                self.code.source.learn(&path);
                parts.u64s()?;
                continue;
            }
            let site = self.site(rank, &parts.u64s()?, "");
            let at = place(&site);
            if letter == b't' {
                self.unexplored().threads.insert(rank);
                continue;
            }
            if letter == b'g' {
                self.unexplored().loops.entry(rank).or_insert(at);
                continue;
            }
            if letter == b'p' {
                self.unexplored().waits.entry(rank).or_insert(at);
                continue;
            }
            if letter == b's' {
                self.unexplored().sharers.insert(rank);
                continue;
            }
            if letter == b'h' {
                self.unexplored().late_locks.entry(path).or_default().entry(rank).or_insert(at);
                continue;
            }
            if letter == b'x' {
                self.unexplored().exclusive_locks.entry(path).or_default().insert(rank);
                continue;
            }
            let what = Use::of(letter).ok_or(Trouble::Protocol)?;
            run.add(&path, what);
            let found = self.uses().add(&path, &self.user(rank), what, at);
            clash = clash.or(found.map(|found| self.unsupported(rank, &found, Some(site))));
        }
        Ok(clash)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::mpi::Launch;

    fn unstarted() -> Ranks {
        Ranks::unstarted(Launch::new(Path::new(""), 2))
    }

    #[test]
    fn what_ranks_have_done_is_known_in_another_process() {
        let user = |number: u32| crate::mpi::uses::User {
            number,
            world: 0,
            name: format!("rank {number}"),
        };
        let (first, mut run) = (unstarted(), Alone::default());
        assert_eq!(first.uses().add("/a", &user(0), Use::Changes, None), None);
        run.add("/a", Use::Changes);
        first.uses().end(&user(0), &mut run);
        first.unexplored().sharers.insert(1);
        first.calls.store(true, Ordering::Relaxed);
        let second = unstarted();
        second.take_notes(&first.notes()).expect("notes");
        assert!(second.have_called() && second.unexplored().sharers.contains(&1));
        assert!(second.uses().add("/a", &user(1), Use::Reads, None).is_some(), "rank 0 changes it");
        first.unexplored().loops.insert(1, Some("a.c:7".into()));
        assert_eq!(second.reservation(), None);
        second.take_notes(&first.notes()).expect("notes");
        assert_eq!(second.reservation(), first.reservation());
        assert!(second.reservation().is_some_and(|why| why.contains("a.c:7")));
        assert!(second.take_notes("{}").is_err());
    }
}
