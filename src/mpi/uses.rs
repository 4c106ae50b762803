//! What ranks do with files, and whether one rank could notice another one by that.
//!
//! Each rank sees its own changes to files, and otherwise the files as they were at the start
//! (`c/files.c`). This equals a real execution, unless a rank changes a file that another one looks
//! at: then the order of the two matters. Such communication without messages is not explored. So
//! every use of a file is recorded with its rank, and [`Uses::add`] reports two uses that conflict.
//! They need not be in one execution: so the report may be a false alarm, but no conflict is
//! missed.
//!
//! | one rank | another one |
//! |---|---|
//! | changes, makes, removes a file or folder | does anything with it, or with what is in it |
//! | appends to it | does anything with it but append |
//! | lists a folder | makes, changes or removes something in it |
//! | uses it by MPI (`c/io.h`) | does anything with it without MPI, but has not used it by MPI |
//!
//! Ranks that use a file by MPI and without it compare these uses themselves (`c/io_own.c`). Before
//! a rank that has used a file without MPI meets those with which it opens it, it reports that it
//! [joins](Use::Joins) them. Whether it uses it by MPI in each of its runs is known only when they
//! end, so [`Uses::apart`] is for the end of a search.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// How a rank uses a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Use {
    /// Reads its content, or checks that it exists.
    Reads,
    /// Reads the names in a folder.
    Lists,
    /// Writes at its end, wherever that is.
    Appends,
    /// Any other change.
    Changes,
    /// By MPI, which orders what ranks do with it.
    Shares,
    /// Is about to use it by MPI, and has used it without.
    Joins,
}

impl Use {
    /// The use that `c/calls.h` writes as this letter.
    pub(super) fn of(letter: u8) -> Option<Use> {
        Some(match letter {
            b'r' => Use::Reads,
            b'l' => Use::Lists,
            b'a' => Use::Appends,
            b'w' => Use::Changes,
            b'i' => Use::Shares,
            b'j' => Use::Joins,
            _ => return None,
        })
    }

    fn is_looking(self) -> bool {
        matches!(self, Use::Reads | Use::Lists)
    }

    fn is_by_mpi(self) -> bool {
        matches!(self, Use::Shares | Use::Joins)
    }

    fn verb(self) -> &'static str {
        match self {
            Use::Reads => "reads",
            Use::Lists => "lists",
            Use::Appends => "appends to",
            Use::Changes => "changes",
            Use::Shares | Use::Joins => "uses by MPI",
        }
    }

    /// Whether two ranks may use one file in these ways, without MPI.
    fn bears(self, other: Use) -> bool {
        (self.is_looking() && other.is_looking()) || (self == Use::Appends && other == Use::Appends)
    }

    /// Whether one rank may use a folder in this way, and another one something in it: directly
    /// (`is_direct`), or further down.
    fn bears_below(self, below: Use, is_direct: bool) -> bool {
        self != Use::Changes && !(self == Use::Lists && is_direct && !below.is_looking())
    }
}

/// A process that uses files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct User {
    /// Its number, and that of the first process that was started with it.
    pub(super) number: u32,
    pub(super) world: u32,
    /// What reports call it.
    pub(super) name: String,
}

/// A use by a rank, and its place in the program.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Used {
    user: User,
    what: Use,
    place: Option<String>,
    clash: Option<String>,
}

/// The uses of files by ranks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Uses {
    by_path: BTreeMap<String, Vec<Used>>,
    /// The paths that a process has used without MPI, and not by MPI, in one of its runs.
    apart: BTreeSet<(String, u32)>,
}

/// The files that one run of a process has used in no other way than without MPI.
#[derive(Debug, Default)]
pub(super) struct Alone {
    alone: BTreeSet<String>,
    shared: BTreeSet<String>,
}

impl Alone {
    /// Records a use.
    pub(super) fn add(&mut self, path: &str, what: Use) {
        let uses = if what.is_by_mpi() { &mut self.shared } else { &mut self.alone };
        uses.insert(path.into());
    }
}

impl Uses {
    /// Records that a rank uses the file with this canonical name; `place` is the place in its
    /// program. Returns the conflict, in a sentence, which is the same each time.
    pub(super) fn add(
        &mut self,
        path: &str,
        user: &User,
        what: Use,
        place: Option<String>,
    ) -> Option<String> {
        let own = self.by_path.get(path).into_iter().flatten();
        let mut own = own.filter(|used| used.user.number == user.number && used.what == what);
        if let Some(known) = own.next() {
            return known.clash.clone();
        }
        let mut used = Used { user: user.clone(), what, place, clash: None };
        used.clash = self.clash(path, &used);
        let clash = used.clash.clone();
        self.by_path.entry(path.into()).or_default().push(used);
        clash
    }

    fn clash(&self, path: &str, new: &Used) -> Option<String> {
        let (found, other) = self
            .above(path, new)
            .or_else(|| self.at(path, new))
            .or_else(|| self.below(path, new))?;
        if other.what == Use::Shares && new.what == Use::Shares {
            return Some(format!(
                "{}, and {}: a file that processes share with those that they have spawned is not explored",
                other.words(found),
                new.words(path)
            ));
        }
        Some(order_matters(&other.words(found), &new.words(path)))
    }

    fn others<'u>(&'u self, path: &str, new: &Used) -> impl Iterator<Item = &'u Used> {
        let number = new.user.number;
        self.by_path.get(path).into_iter().flatten().filter(move |used| used.user.number != number)
    }

    fn at<'p>(&'p self, path: &'p str, new: &Used) -> Option<(&'p str, &'p Used)> {
        let mut others = self.others(path, new);
        // Those that were started apart do not compare what they do with files of MPI.
        let bears = |used: &Used| match (used.what, new.what) {
            (Use::Joins, _) | (_, Use::Joins) => true,
            (Use::Shares, Use::Shares) => used.user.world == new.user.world,
            (Use::Shares, _) => self.shares(path, &new.user),
            (_, Use::Shares) => self.shares(path, &used.user),
            (one, other) => one.bears(other),
        };
        Some((path, others.find(|used| !bears(used))?))
    }

    /// Whether this process has used the file by MPI in some run.
    fn shares(&self, path: &str, user: &User) -> bool {
        let mut own = self.by_path.get(path).into_iter().flatten();
        own.any(|used| used.what.is_by_mpi() && used.user.number == user.number)
    }

    /// Records that a run of a process is over.
    pub(super) fn end(&mut self, user: &User, run: &mut Alone) {
        let alone = std::mem::take(&mut run.alone);
        let apart = alone.into_iter().filter(|path| !run.shared.contains(path));
        self.apart.extend(apart.map(|path| (path, user.number)));
    }

    /// A file that one process uses by MPI, and another one only without MPI: a sentence.
    pub(super) fn apart(&self) -> Option<String> {
        self.apart.iter().find_map(|(path, number)| {
            let uses = self.by_path.get(path)?;
            let by_mpi = |used: &&Used| used.what == Use::Shares && used.user.number != *number;
            let without = |used: &&Used| !used.what.is_by_mpi() && used.user.number == *number;
            let (one, other) = (uses.iter().find(by_mpi)?, uses.iter().find(without)?);
            Some(order_matters(&one.words(path), &other.words(path)))
        })
    }

    /// The use, by another rank, of a folder that contains this.
    fn above<'p>(&'p self, path: &'p str, new: &Used) -> Option<(&'p str, &'p Used)> {
        let ends = path.char_indices().skip(1).filter(|(_, c)| *c == '/').map(|(at, _)| at);
        let folders = ends.map(|at| &path[..at]).chain((path != "/").then_some("/"));
        for folder in folders {
            let is_direct = is_directly_in(path, folder);
            let mut others = self.others(folder, new);
            if let Some(found) = others.find(|used| !used.what.bears_below(new.what, is_direct)) {
                return Some((folder, found));
            }
        }
        None
    }

    /// The use, by another rank, of something in this folder.
    fn below<'p>(&'p self, path: &str, new: &Used) -> Option<(&'p str, &'p Used)> {
        if new.what.bears_below(Use::Changes, true) {
            return None;
        }
        let inside = format!("{}/", path.trim_end_matches('/'));
        let inner =
            self.by_path.range(inside.clone()..).take_while(|(name, _)| name.starts_with(&inside));
        for (name, all) in inner.filter(|(name, _)| *name != path) {
            let is_direct = is_directly_in(name, path);
            let mut others = all.iter().filter(|used| used.user.number != new.user.number);
            if let Some(found) = others.find(|used| !new.what.bears_below(used.what, is_direct)) {
                return Some((name, found));
            }
        }
        None
    }
}

fn order_matters(one: &str, other: &str) -> String {
    format!(
        "{one}, and {other}: what they see there depends on which of them is first, and no message says that \
         (`--files real` leaves that to you)"
    )
}

fn is_directly_in(path: &str, folder: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(above, _)| above == folder.trim_end_matches('/'))
}

impl Used {
    /// The use in words: `rank 0 (a.c:7) changes /log`.
    fn words(&self, path: &str) -> String {
        let place = self.place.as_ref().map_or(String::new(), |place| format!(" ({place})"));
        format!("{}{place} {} {path}", self.user.name, self.what.verb())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Use::*;

    fn user(number: u32) -> User {
        User { number, world: 0, name: format!("rank {number}") }
    }

    /// Whether a use by rank 0 and then one by rank 1 are compatible. The other order must agree.
    fn bear(one: (&str, Use), other: (&str, Use)) -> bool {
        let clashes = |first: (&str, Use), second: (&str, Use)| {
            let mut uses = Uses::default();
            assert_eq!(uses.add(first.0, &user(0), first.1, None), None);
            uses.add(second.0, &user(1), second.1, None).is_some()
        };
        assert_eq!(clashes(one, other), clashes(other, one), "{one:?} {other:?}");
        !clashes(one, other)
    }

    #[test]
    fn what_one_rank_changes_no_other_one_may_look_at() {
        assert!(bear(("/a/b", Reads), ("/a/b", Reads)));
        assert!(bear(("/a", Lists), ("/a/b", Reads)));
        assert!(bear(("/a/b", Appends), ("/a/b", Appends)));
        assert!(bear(("/a/b", Changes), ("/a/bc", Changes)));
        assert!(bear(("/a/b", Changes), ("/a/c", Reads)));
        assert!(bear(("/a", Lists), ("/a/b/c", Changes)));
        assert!(bear(("/a", Reads), ("/a/b", Changes)));
        assert!(!bear(("/a/b", Changes), ("/a/b", Reads)));
        assert!(!bear(("/a/b", Changes), ("/a/b", Changes)));
        assert!(!bear(("/a/b", Changes), ("/a/b", Appends)));
        assert!(!bear(("/a/b", Appends), ("/a/b", Reads)));
        assert!(!bear(("/a", Changes), ("/a/b/c", Reads)));
        assert!(!bear(("/a", Lists), ("/a/b", Changes)));
        assert!(!bear(("/a", Lists), ("/a/b", Appends)));
        assert!(!bear(("/", Lists), ("/a", Changes)));
        assert!(bear(("/", Lists), ("/a/b", Changes)));
    }

    #[test]
    fn a_rank_may_do_with_its_own_files_what_it_likes() {
        let mut uses = Uses::default();
        for what in [Changes, Reads, Appends, Lists] {
            assert_eq!(uses.add("/a/b", &user(0), what, None), None);
            assert_eq!(uses.add("/a", &user(0), what, None), None);
        }
    }

    #[test]
    fn files_of_mpi_are_not_shared_with_those_who_were_started_apart() {
        let apart = |world| User { world, ..user(7) };
        let mut uses = Uses::default();
        assert_eq!(uses.add("/a", &user(0), Shares, None), None);
        assert_eq!(uses.add("/a", &user(1), Shares, None), None);
        assert!(
            uses.add("/a", &apart(7), Shares, None).is_some_and(|said| said.contains("spawned"))
        );
        assert_eq!(uses.add("/b", &apart(7), Shares, None), None);
        assert_eq!(uses.add("/c", &apart(7), Reads, None), None);
        assert_eq!(uses.add("/c", &user(1), Reads, None), None);
    }

    #[test]
    fn who_uses_a_file_of_mpi_without_mpi_has_to_use_it_by_mpi_too() {
        let mut uses = Uses::default();
        let mut run = |number: u32, all: &[Use]| {
            let mut run = Alone::default();
            for &what in all {
                assert_eq!(uses.add("/a", &user(number), what, None), None, "{number} {what:?}");
                run.add("/a", what);
            }
            uses.end(&user(number), &mut run);
            uses.apart()
        };
        assert_eq!(run(0, &[Changes, Joins]), None);
        assert_eq!(run(1, &[Shares]), None);
        assert_eq!(run(0, &[Shares]), None);
        assert!(run(0, &[Changes]).is_some_and(|said| said.contains("rank 1 uses by MPI /a")));
        assert!(!bear(("/a", Changes), ("/a", Shares)), "rank 0 never does by MPI");
        assert!(!bear(("/a", Shares), ("/a", Reads)));
    }

    #[test]
    fn the_same_is_said_each_time_and_of_who_came_second() {
        let mut uses = Uses::default();
        assert_eq!(uses.add("/log", &user(0), Changes, Some("a.c:7".into())), None);
        let said = uses.add("/log", &user(1), Reads, Some("a.c:9".into())).expect("a clash");
        let start = "rank 0 (a.c:7) changes /log, and rank 1 (a.c:9) reads /log: ";
        assert!(said.starts_with(start), "{said}");
        assert_eq!(uses.add("/log", &user(0), Changes, None), None);
        assert_eq!(uses.add("/log", &user(1), Reads, None), Some(said));
    }
}
