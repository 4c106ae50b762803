//! What ranks note beside their questions: how they use files and threads.

use std::sync::MutexGuard;

use super::{Ranks, Trouble, place};
use crate::model::Failure;
use crate::mpi::uses::{Alone, Use, Uses};
use crate::mpi::wire::Parts;

impl Ranks {
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
            let what = Use::of(letter).ok_or(Trouble::Protocol)?;
            run.add(&path, what);
            let found = self.uses().add(&path, &self.user(rank), what, at);
            clash = clash.or(found.map(|found| self.unsupported(rank, &found, Some(site))));
        }
        Ok(clash)
    }
}
