//! The identities of processes, as paths from their ancestors.
//!
//! The path of a spawned process extends that of its parent, so it is as long as the chain of
//! spawns. Each path is stored once, and shared by all local states of the process and by the paths
//! of its children. So starting a process takes constant time and memory.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::Program;
use crate::lang::check::Instantiation;

/// A declaration and the index of an instance; for a spawned process, a template and the number of
/// the spawn.
pub(super) type Link = (u32, i64);

/// The identity of a process: the links from its oldest ancestor to itself.
#[derive(Clone, Debug)]
pub(super) struct Path(Arc<Name>);

#[derive(Debug)]
struct Name {
    parent: Option<Path>,
    last: Link,
    /// The hash of all links.
    hash: u64,
}

impl Path {
    /// The path of a child of `parent`; without a parent, of a process that exists from the start.
    pub(super) fn new(parent: Option<&Path>, last: Link) -> Path {
        let mut hasher = FxHasher::default();
        (parent.map(|parent| parent.0.hash), last).hash(&mut hasher);
        Path(Arc::new(Name { parent: parent.cloned(), last, hash: hasher.finish() }))
    }

    /// The last link, which distinguishes the process from its siblings.
    pub(super) fn last(&self) -> Link {
        self.0.last
    }

    /// The only link; `None` if the process was spawned.
    pub(super) fn only(&self) -> Option<Link> {
        self.0.parent.is_none().then_some(self.0.last)
    }

    /// All links, the last one first.
    pub(super) fn upwards(&self) -> impl Iterator<Item = Link> {
        let names = std::iter::successors(Some(self), |path| path.0.parent.as_ref());
        names.map(Path::last)
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Path) -> bool {
        let (mut one, mut other) = (Some(self), Some(other));
        while let (Some(Path(a)), Some(Path(b))) = (one, other) {
            if Arc::ptr_eq(a, b) {
                return true;
            }
            if (a.hash, a.last) != (b.hash, b.last) {
                return false;
            }
            (one, other) = (a.parent.as_ref(), b.parent.as_ref());
        }
        one.is_none() && other.is_none()
    }
}

impl Eq for Path {}

impl Hash for Path {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl Drop for Name {
    /// Drops unshared ancestors in a loop: recursion would overflow the stack for a long chain.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(Path(name)) = next {
            next = Arc::into_inner(name).and_then(|mut name| name.parent.take());
        }
    }
}

impl Program {
    /// The name of an instance of a declaration.
    pub(super) fn link_name(&self, (declaration, number): Link) -> String {
        let template = &self.processes[declaration as usize];
        match template.kind {
            Instantiation::Single => template.name.clone(),
            Instantiation::Family { .. } => format!("{}[{number}]", template.name),
            Instantiation::Template => format!("{}#{number}", template.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(links: &[Link]) -> Path {
        let (first, rest) = links.split_first().expect("a link");
        rest.iter().fold(Path::new(None, *first), |path, &link| Path::new(Some(&path), link))
    }

    fn hash_of(path: &Path) -> u64 {
        let mut hasher = FxHasher::default();
        path.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn names_are_their_links() {
        let links = [(0, 0), (1, 2), (1, 1)];
        let path = chain(&links);
        assert!(path.upwards().eq([(1, 1), (1, 2), (0, 0)]));
        assert_eq!((path.last(), path.only()), ((1, 1), None));
        assert_eq!(chain(&links[..1]).only(), Some((0, 0)));
        assert_eq!((&path, hash_of(&path)), (&chain(&links), hash_of(&chain(&links))));
        for other in
            [&[(0, 0), (1, 1), (1, 1)][..], &[(0, 0), (1, 2)], &[(1, 1)], &[(1, 2), (1, 1)]]
        {
            assert_ne!(path, chain(other));
        }
    }

    #[test]
    fn a_long_chain_is_dropped() {
        let path = chain(&vec![(0, 1); 1_000_000]);
        drop((path.clone(), path));
    }
}
