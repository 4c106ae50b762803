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

    /// Records what a rank has done with files, threads and locks of windows, and the files that
    /// its places are in.
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
            if let Some(what) = Use::of(letter) {
                run.add(&path, what);
                let found = self.uses().add(&path, &self.user(rank), what, at);
                clash = clash.or(found.map(|found| self.unsupported(rank, &found, Some(site))));
            } else {
                self.unexplored().note(letter, rank, path, at)?;
            }
        }
        Ok(clash)
    }
}

impl Unexplored {
    /// A rank that may take a shared lock behind the exclusive lock of another one, where it needs
    /// it, and that other rank (`c/locks.c`).
    pub(super) fn late_lock(&self) -> Option<(u32, &Option<String>, u32)> {
        self.late_locks.iter().find_map(|(part, late)| {
            let others = self.exclusive_locks.get(part)?;
            let other_than = |rank: u32| others.iter().copied().find(|&other| other != rank);
            late.iter().find_map(|(&rank, place)| Some((rank, place, other_than(rank)?)))
        })
    }

    /// Records what the library writes as this letter (`c/calls.h`). `part` is that of a window, if
    /// it is about one.
    fn note(
        &mut self,
        letter: u8,
        rank: u32,
        part: String,
        at: Option<String>,
    ) -> Result<(), Trouble> {
        match letter {
            b't' => {
                self.threads.insert(rank);
            }
            b's' => {
                self.sharers.insert(rank);
            }
            b'x' => {
                self.exclusive_locks.entry(part).or_default().insert(rank);
            }
            b'g' => {
                self.loops.entry(rank).or_insert(at);
            }
            b'p' => {
                self.waits.entry(rank).or_insert(at);
            }
            b'h' => {
                self.late_locks.entry(part).or_default().entry(rank).or_insert(at);
            }
            _ => return Err(Trouble::Protocol),
        }
        Ok(())
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
