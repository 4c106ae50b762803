//! What a process may still do to the objects, from its present local state on.
//!
//! [`Foresight::may_touch`](super::Foresight::may_touch) speaks of a process in general, whatever
//! it has done; a [`Reach`] speaks of one local state. Both over-approximate: no execution from
//! this local state does anything outside its reach.

use rustc_hash::FxHashSet;

use super::{End, Envelope, Lane, MailboxId, May, Part, Touch};

/// The touches that a process, or one that it spawns, may still make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    spans: FxHashSet<Span>,
    posts: FxHashSet<Posts>,
}

/// A touch of `count` neighbouring objects, the first of which is the object of `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Span {
    first: Touch,
    count: u32,
}

/// Posts at one end of neighbouring mailboxes, with the sources and tags that they may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Posts {
    at: Span,
    src: Guess,
    tag: Guess,
}

/// What is known about a number that a post may carry: its source or its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guess {
    /// The post carries exactly this number, or none.
    Exactly(Option<i64>),
    /// The post carries some number, and any is possible.
    Some,
}

impl Guess {
    fn may_be(self, wanted: Option<i64>) -> bool {
        match self {
            Guess::Exactly(number) => number == wanted,
            Guess::Some => wanted.is_some(),
        }
    }

    /// May a pattern that carries this accept `number`?
    fn may_accept(self, number: Option<i64>) -> bool {
        self.may_be(None) || self.may_be(number)
    }
}

impl Reach {
    /// Adds this touch of `count` neighbouring objects, the first of which is the object of
    /// `first`.
    pub fn add(&mut self, first: Touch, count: u32) {
        self.spans.insert(Span { first, count });
    }

    /// Adds posts and probes at one end of `count` neighbouring mailboxes, which may carry this
    /// source and this tag.
    pub fn add_posts(
        &mut self,
        first: MailboxId,
        count: u32,
        end: End,
        (src, tag): (Guess, Guess),
    ) {
        let at = Span { first: Touch::new(first.posts(end), May::Change), count };
        self.posts.insert(Posts { at, src, tag });
    }

    /// May the process still do this? Always `true` for messages to actors, since their receivers
    /// are references, which are values.
    pub fn contains(&self, touch: Touch) -> bool {
        (touch.lane.part() == Part::Inbox && touch.may == May::Add)
            || self.spans.iter().any(|span| span.contains(touch))
    }

    /// All touches, one by one; `None` if some entry covers more than `most` neighbouring objects.
    pub fn touches(&self, most: u32) -> Option<impl Iterator<Item = Touch>> {
        let is_narrow = self.spans.iter().all(|span| span.count <= most);
        let of_span = |&Span { first, count }: &Span| (0..count).map(move |by| first.shifted(by));
        is_narrow.then(|| self.spans.iter().flat_map(of_span))
    }

    /// May the process still make this post, with something that can be paired with a post of
    /// `envelope` at the other end?
    ///
    /// # Panics
    /// If `post` is not a post.
    pub fn may_meet(&self, post: Touch, envelope: Envelope) -> bool {
        let of_mailbox = |posts: &&Posts| posts.at.contains(post);
        let end = post.lane.part();
        self.posts.iter().filter(of_mailbox).any(|&Posts { src, tag, .. }| match end {
            Part::Sends => {
                (envelope.src.is_none() || src.may_be(envelope.src))
                    && (envelope.tag.is_none() || tag.may_be(envelope.tag))
            }
            Part::Receives => src.may_accept(envelope.src) && tag.may_accept(envelope.tag),
            _ => panic!("{post:?} is not a post"),
        })
    }
}

impl Span {
    fn contains(self, touch: Touch) -> bool {
        let (first, other) = (in_any_test(self.first), in_any_test(touch));
        let (lane, id) = (other.lane, other.lane.object());
        (first.may, first.lane.part()) == (other.may, lane.part())
            && first.lane.object() <= id
            && id - first.lane.object() < self.count
    }
}

/// Communications are values, so it is not known before a run which one a test is about: all tests
/// count as one touch.
fn in_any_test(touch: Touch) -> Touch {
    match (touch.may, touch.lane.part()) {
        (May::NotYet, Part::Sends | Part::Receives) => Touch::ANY_TEST,
        (May::Open, Part::Matches | Part::Ends) => Touch::ANY_TEST,
        _ => touch,
    }
}

impl Touch {
    /// Any test of a communication.
    pub const ANY_TEST: Touch = Touch { lane: Lane::new(Part::Sends, 0), may: May::NotYet };

    /// The same touch of the object whose number is greater by `by`.
    fn shifted(self, by: u32) -> Touch {
        Touch { lane: Lane::new(self.lane.part(), self.lane.object() + by), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MutexId;

    fn locks(mutex: u32) -> Touch {
        Touch::new(MutexId(mutex).requests(), May::Change)
    }

    #[test]
    fn neighbours_are_distinguished() {
        let mut reach = Reach::default();
        reach.add(locks(3), 2);
        let contains = |id| reach.contains(locks(id));
        assert_eq!([2, 3, 4, 5].map(contains), [false, true, true, false]);
        assert!(!reach.contains(Touch::new(MutexId(3).queue(), May::Turn)));
        let mut all: Vec<_> = reach.touches(2).unwrap().collect();
        all.sort_unstable();
        assert_eq!(all, [3, 4].map(locks));
        assert!(reach.touches(1).is_none());
    }

    #[test]
    fn posts_meet_what_they_match() {
        let mailbox = MailboxId(0);
        let envelope = |src, tag| Envelope { src, tag };
        let mut reach = Reach::default();
        let known = |number| Guess::Exactly(number);
        reach.add_posts(mailbox, 1, End::Send, (Guess::Some, known(Some(7))));
        let sends = |src, tag| {
            reach.may_meet(Touch::new(mailbox.posts(End::Send), May::Change), envelope(src, tag))
        };
        assert!(sends(None, None) && sends(Some(1), Some(7)));
        assert!(!sends(None, Some(8)));
        assert!(
            !reach.may_meet(
                Touch::new(mailbox.posts(End::Receive), May::Change),
                envelope(None, None)
            )
        );
        let mut reach = Reach::default();
        reach.add_posts(mailbox, 1, End::Receive, (known(None), known(Some(7))));
        let receives = |src, tag| {
            reach.may_meet(Touch::new(mailbox.posts(End::Receive), May::Change), envelope(src, tag))
        };
        assert!(receives(Some(1), Some(7)) && !receives(None, None) && !receives(None, Some(8)));
    }
}
