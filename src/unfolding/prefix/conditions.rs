//! Conditions: the trees of the lines, with jump pointers (see `skip_tree`), and who read what.

use super::{Code, Condition, Line, PrefixEvent};

/// No condition, no event, no slot.
pub(crate) const NONE: u32 = u32::MAX;

/// A condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) line: Line,
    pub(crate) code: Code,
    /// The event that made it.
    pub(crate) event: PrefixEvent,
    /// The condition that it replaced; a root is its own parent.
    pub parent: Condition,
    jump: Condition,
    pub depth: u32,
    /// The first of the conditions that replace it, and the next of those that replace its parent.
    pub(crate) child: Condition,
    pub(crate) sibling: Condition,
    /// For the line of a process: the number of its events so far.
    pub(crate) steps: u32,
    /// The first slot of a consumer (see `build`).
    pub(crate) consumer: u32,
    /// The index of the list of events that read it.
    reads: u32,
}

/// A condition that was read: what a cut has for a line, if it is not a condition.
#[derive(Clone, Debug)]
struct Seen {
    base: Condition,
    by: Vec<Read>,
}

/// The last read of a condition by a process: the line of the process, and its condition after the
/// read.
pub(crate) type Read = (Line, Condition);

/// What a cut has for a line: 0 for the root, a condition, or a [`Seen`].
pub(crate) type Entry = u32;

/// Marks an entry that is a [`Seen`].
const SEEN: u32 = 1 << 31;

/// All conditions. The one with number 0 stands for no root in particular.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) nodes: Vec<Node>,
    roots: Vec<Condition>,
    seen: Vec<Seen>,
    lists: Vec<Vec<PrefixEvent>>,
}

impl Conditions {
    pub(crate) fn new() -> Self {
        let dummy = Node {
            line: NONE,
            code: 0,
            event: 0,
            parent: 0,
            jump: 0,
            depth: 0,
            child: NONE,
            sibling: NONE,
            steps: 0,
            consumer: NONE,
            reads: NONE,
        };
        Conditions { nodes: vec![dummy], ..Conditions::default() }
    }

    /// The number of lines.
    pub(crate) fn lines(&self) -> usize {
        self.roots.len()
    }

    /// Adds the next line, with this code at the start.
    pub(crate) fn add_line(&mut self, code: Code) {
        let (line, root) = (self.roots.len() as Line, self.nodes.len() as Condition);
        self.nodes.push(Node { line, code, parent: root, jump: root, ..self.nodes[0] });
        self.roots.push(root);
    }

    /// The condition of a line at the start.
    pub(crate) fn root(&self, line: Line) -> Condition {
        self.roots[line as usize]
    }

    pub(crate) fn node(&self, condition: Condition) -> &Node {
        &self.nodes[condition as usize]
    }

    /// Adds a condition that replaces `parent`.
    pub(crate) fn add(
        &mut self,
        parent: Condition,
        code: Code,
        event: PrefixEvent,
        steps: u32,
    ) -> Condition {
        let id = self.nodes.len() as Condition;
        let above = self.nodes[parent as usize];
        let jump = self.nodes[above.jump as usize];
        let is_same = above.depth - jump.depth == jump.depth - self.nodes[jump.jump as usize].depth;
        self.nodes.push(Node {
            line: above.line,
            code,
            event,
            parent,
            jump: if is_same { jump.jump } else { parent },
            depth: above.depth + 1,
            child: NONE,
            sibling: above.child,
            steps,
            consumer: NONE,
            reads: NONE,
        });
        self.nodes[parent as usize].child = id;
        id
    }

    /// The condition of an entry for this line.
    #[inline]
    pub(crate) fn base(&self, line: Line, entry: Entry) -> Condition {
        match entry {
            0 => self.roots[line as usize],
            entry if entry & SEEN != 0 => self.seen[(entry & !SEEN) as usize].base,
            entry => entry,
        }
    }

    /// The entry for a condition that nobody has read.
    pub(crate) fn entry(&self, condition: Condition) -> Entry {
        if self.nodes[condition as usize].depth == 0 { 0 } else { condition }
    }

    /// The reads of an entry.
    #[inline]
    pub(crate) fn reads_of(&self, entry: Entry) -> &[Read] {
        match entry & SEEN {
            0 => &[],
            _ => &self.seen[(entry & !SEEN) as usize].by,
        }
    }

    /// The entry for a condition with these reads, in the order of lines.
    pub(crate) fn seen(&mut self, base: Condition, by: Vec<Read>) -> Entry {
        if by.is_empty() {
            return self.entry(base);
        }
        self.seen.push(Seen { base, by });
        SEEN | (self.seen.len() as u32 - 1)
    }

    /// Is `condition` at or above `below` in the tree of their line? O(log n).
    #[inline]
    pub(crate) fn is_at_or_above(&self, condition: Condition, below: Condition) -> bool {
        let depth = self.nodes[condition as usize].depth;
        let mut at = below;
        loop {
            let node = &self.nodes[at as usize];
            if node.depth <= depth {
                return at == condition;
            }
            let is_far = self.nodes[node.jump as usize].depth >= depth;
            at = if is_far { node.jump } else { node.parent };
        }
    }

    /// Has nothing replaced a condition so far?
    pub(crate) fn is_leaf(&self, condition: Condition) -> bool {
        self.nodes[condition as usize].child == NONE
    }

    /// The events that read a condition, in the order in which they were added.
    pub(crate) fn readers(&self, condition: Condition) -> &[PrefixEvent] {
        self.lists.get(self.nodes[condition as usize].reads as usize).map_or(&[], |list| list)
    }

    /// Adds an event that reads a condition.
    pub(crate) fn add_reader(&mut self, condition: Condition, event: PrefixEvent) {
        let node = &mut self.nodes[condition as usize];
        if node.reads == NONE {
            node.reads = self.lists.len() as u32;
            self.lists.push(Vec::new());
        }
        self.lists[node.reads as usize].push(event);
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        let seen: usize = self.seen.iter().map(|seen| seen.by.capacity() * 8).sum();
        let lists: usize = self.lists.iter().map(|list| list.capacity() * 4 + 24).sum();
        self.nodes.capacity() * size_of::<Node>()
            + self.seen.capacity() * size_of::<Seen>()
            + seen
            + lists
    }
}
