//! Messages between the ranks of an MPI job.
//!
//! Nobody may wait for one who is dead. So sends are buffered ones, which wait for nobody. And a
//! message goes in small packets: MPI passes these on as a whole, so a receive never waits for the
//! rest of one. A packet is a byte that tells whether it is the last of its message, and a part of
//! its text.

use std::collections::BTreeMap;
use std::env;
use std::thread;
use std::time::{Duration, Instant};

use ::mpi::environment::Universe;
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, Destination, Source};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The most bytes of a packet: less than what implementations of MPI send without asking the
/// receiver.
const PACKET: usize = 1000;
/// Room for packets that have not been received.
const BUFFER: usize = 32 << 20;
/// Time between two looks for messages.
const GLANCE: Duration = Duration::from_millis(1);
/// What launchers tell the processes that they start.
const LAUNCHED: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"];

/// This process as a rank among several.
pub(super) struct Post {
    universe: Universe,
    world: SimpleCommunicator,
    /// The packets that have come from each rank, of messages that are not complete.
    halves: BTreeMap<i32, Vec<u8>>,
}

impl Post {
    /// `None` if this process was not started together with others.
    pub(super) fn open() -> Option<Post> {
        if !LAUNCHED.iter().any(|name| env::var_os(name).is_some()) {
            return None;
        }
        let mut universe = ::mpi::initialize()?;
        universe.set_buffer_size(BUFFER);
        let world = universe.world();
        let post = Post { universe, world, halves: BTreeMap::new() };
        (post.size() > 1).then_some(post)
    }

    pub(super) fn rank(&self) -> i32 {
        self.world.rank()
    }

    pub(super) fn size(&self) -> i32 {
        self.world.size()
    }

    /// Sends a message.
    pub(super) fn send(&self, to: i32, message: &impl Serialize) {
        let text = serde_json::to_vec(message).expect("messages are serialisable");
        let count = text.chunks(PACKET).len();
        for (index, part) in text.chunks(PACKET).enumerate() {
            let is_last = u8::from(index + 1 == count);
            let packet: Vec<u8> = [is_last].into_iter().chain(part.iter().copied()).collect();
            self.world.process_at_rank(to).buffered_send(&packet[..]);
        }
    }

    /// The next message that has come, and from whom; `None` if there is none now. What nobody can
    /// read is as if it had not come.
    pub(super) fn receive<M: DeserializeOwned>(&mut self) -> Option<(i32, M)> {
        while let Some(status) = self.world.any_process().immediate_probe() {
            let from = status.source_rank();
            let (packet, _) = self.world.process_at_rank(from).receive_vec::<u8>();
            let half = self.halves.entry(from).or_default();
            let Some((is_last, part)) = packet.split_first() else { continue };
            half.extend(part);
            if *is_last == 1
                && let Ok(message) = serde_json::from_slice(&std::mem::take(half))
            {
                return Some((from, message));
            }
        }
        None
    }

    /// The same; waits for it, but not for longer than this.
    pub(super) fn wait<M: DeserializeOwned>(&mut self, patience: Duration) -> Option<(i32, M)> {
        let start = Instant::now();
        loop {
            let message = self.receive();
            if message.is_some() || start.elapsed() >= patience {
                return message;
            }
            thread::sleep(GLANCE);
        }
    }

    /// Ends it. If some rank is lost the others must not wait for it, as MPI does at the end.
    pub(super) fn close(self, is_whole: bool) {
        if !is_whole {
            std::mem::forget(self.universe);
        }
    }
}
