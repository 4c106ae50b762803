//! Choices of one process that depend on different pieces of a state, so that each is learned for
//! itself: what an actor reacts to, and the message that a receive or a probe takes.
//!
//! A receive may take the first message of each sender that it accepts. Whether it can depends on
//! the messages of that sender at the mailbox, and on the earlier open receives there; messages of
//! other senders make no difference. So there is a branch for each sender.

use smallvec::{SmallVec, smallvec};

use super::net::{ModelNet, Place};
use super::transitions::{Branch, How, Step, What};
use crate::model::{Choice, Handled, Object, Offer, Op, Piece, ProcessId, Stimulus, System};
use crate::unfolding::prefix::{Line, Next, Transition};

impl<S: System> ModelNet<'_, S> {
    /// The branches of a process in the state of the model, if it is a process that has branches.
    pub(super) fn branches_here(&mut self, line: Line) -> Option<Next> {
        let process = self.process(line)?;
        let all: Vec<What> = match self.locals.op(self.state.local(process))? {
            Op::Handle { .. } => {
                let mut stimuli: Vec<Stimulus> = Vec::new();
                self.state.choices(&self.locals, process, |choice| {
                    let stimulus = self.state.stimulus(choice);
                    if !stimuli.contains(&stimulus) {
                        stimuli.push(stimulus);
                    }
                });
                stimuli.into_iter().map(What::Reaction).collect()
            }
            Op::WaitAny(comms) | Op::TestAny(comms)
                if self.is_fine && self.state.is_of_network(process, comms[0]) =>
            {
                (0..comms.len()).map(What::Complete).chain([What::InVain]).collect()
            }
            _ => {
                let (mailbox, pattern) = self.state.takes(&self.locals, process)?;
                let initial = (0..).map(ProcessId).zip(self.locals.initial());
                let may_send = initial
                    .filter(|&(_, &local)| self.locals.may_send(local, mailbox, pattern))
                    .map(|(sender, _)| sender);
                match self.is_fine {
                    true => may_send.map(What::Offer).chain([What::InVain]).collect(),
                    false => {
                        let late = [What::Message(mailbox, None), What::Nothing(mailbox)];
                        let initial = may_send.map(|sender| What::Message(mailbox, Some(sender)));
                        initial.chain(late).collect()
                    }
                }
            }
        };
        if all.is_empty() {
            return Some(Next::Transitions(0, 0));
        }
        let from = self.branches.len() as u32;
        self.branches.extend(all.into_iter().map(|what| Branch { line, what, next: None }));
        Some(Next::Each(from, self.branches.len() as u32))
    }

    /// Learns what a process does at a branch, in the state of the model.
    pub(super) fn learn_branch(&mut self, number: u32) {
        let Branch { line, what, .. } = self.branches[number as usize];
        let mut looked_at: SmallVec<[Line; 4]> = smallvec![line];
        let place = self.follow(Place::Part(number), &mut looked_at);
        if self.at(place).is_none() {
            let answer = self.answer_at(line, what, &looked_at);
            self.note(place, answer);
        }
    }

    fn answer_at(&mut self, line: Line, what: What, looked_at: &[Line]) -> Next {
        let pieces: SmallVec<[Piece; 2]> = match what {
            What::Reaction(_) | What::InVain => SmallVec::new(),
            What::Offer(sender) => match self.offer(line, sender, looked_at) {
                Some(Offer::Look(piece)) => smallvec![piece],
                Some(Offer::Message(_)) => SmallVec::new(),
                None => return Next::Transitions(0, 0),
            },
            What::Complete(index) => {
                let process = self.mover(line);
                let comm = match self.locals.op(self.state.local(process)) {
                    Some(Op::WaitAny(comms) | Op::TestAny(comms)) => comms[index],
                    other => unreachable!("{other:?} observes nothing"),
                };
                self.state.completion_of(process, comm).into_iter().collect()
            }
            What::Message(mailbox, sender) => {
                let messages = Piece::Messages(mailbox, sender);
                let at = self.line_of(messages);
                let code = self.before.get(at as usize).copied().unwrap_or(0);
                if looked_at.contains(&at) && code == 0 {
                    return Next::Transitions(0, 0);
                }
                smallvec![messages, Piece::Object(Object::Mailbox(mailbox))]
            }
            What::Nothing(mailbox) => smallvec![Piece::Object(Object::Mailbox(mailbox))],
        };
        if let Some(look) = self.look_at(pieces, looked_at) {
            return look;
        }
        let mut found: Vec<(Transition, Step)> = Vec::new();
        for how in self.ways_of(line, what, looked_at) {
            let (made, step) = self.learn_step(line, how);
            let is_same = |(other, _): &(Transition, _)| {
                other.own == made.own && other.changes == made.changes
            };
            // Messages that are equal are one choice.
            if !found.iter().any(is_same) {
                found.push((made, step));
            }
        }
        self.learned(found, looked_at)
    }

    /// The ways to go on at a branch, in the state of the model.
    fn ways_of(&self, line: Line, what: What, looked_at: &[Line]) -> Vec<How> {
        let process = self.mover(line);
        let mut ways = Vec::new();
        match what {
            What::Reaction(stimulus) => ways.push(How::Reaction(stimulus)),
            What::Message(mailbox, sender) => {
                let unmatched = self.state.unmatched(&self.locals, mailbox, sender);
                self.state.choices(&self.locals, process, |choice| {
                    let Handled::Message(id) = choice.handled() else { return };
                    let send = self.state.network().position(id).expect("a message that was sent");
                    let place = unmatched.iter().position(|&one| one == send);
                    ways.extend(place.map(|at| How::Message(mailbox, sender, at)));
                });
            }
            What::Offer(sender) => {
                let taken = self.state.takes(&self.locals, process);
                if let (Some((mailbox, _)), Some(Offer::Message(number))) =
                    (taken, self.offer(line, sender, looked_at))
                {
                    ways.push(How::Numbered(mailbox, sender, number));
                }
            }
            What::Complete(_) | What::Nothing(_) | What::InVain => {
                self.state.choices(&self.locals, process, |choice| {
                    let is_one = match what {
                        What::Complete(index) => choice == Choice(index as i32),
                        _ => matches!(choice.handled(), Handled::Internal(_)),
                    };
                    ways.extend(is_one.then(|| How::Choices(smallvec![choice])));
                });
            }
        }
        ways
    }

    /// The message of a sender that a receive or a probe can get, or the next piece to look at.
    fn offer(&self, line: Line, sender: ProcessId, looked_at: &[Line]) -> Option<Offer> {
        let is_seen = |piece| self.find_line(piece).is_some_and(|line| looked_at.contains(&line));
        self.state.offer(&self.locals, self.mover(line), sender, is_seen)
    }
}
