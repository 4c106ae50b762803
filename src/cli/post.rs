//! Messages between the ranks of an MPI job.
//!
//! No rank may block because another rank has died. So all sends are buffered, which never block.
//! And a message is split into small packets: MPI delivers each of them as a whole, so a receive
//! never waits for the rest of one. A packet consists of a byte (1 in the last packet of a message,
//! otherwise 0) and a part of the message's JSON text.

use std::collections::BTreeMap;
use std::env;
use std::thread;
use std::time::{Duration, Instant};

use ::mpi::environment::Universe;
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, Destination, Source};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The most bytes of text in a packet: below the size that MPI implementations send eagerly.
const PACKET: usize = 1000;
/// The size of the buffer for packets that have not been received, in bytes.
const BUFFER: usize = 32 << 20;
/// Time between two checks for messages.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Environment variables that launchers of MPI set.
const LAUNCHED: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"];

/// The connection of this process to the other ranks.
pub(super) struct Post {
    universe: Universe,
    world: SimpleCommunicator,
    /// For each rank, the text received so far of an incomplete message.
    halves: BTreeMap<i32, Vec<u8>>,
}

impl Post {
    /// Initialises MPI. `None` if this process was not started by a launcher, or is the only rank.
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

    /// Sends a message, without waiting.
    pub(super) fn send(&self, to: i32, message: &impl Serialize) {
        let text = serde_json::to_vec(message).expect("messages are serialisable");
        let count = text.chunks(PACKET).len();
        for (index, part) in text.chunks(PACKET).enumerate() {
            let is_last = u8::from(index + 1 == count);
            let packet: Vec<u8> = [is_last].into_iter().chain(part.iter().copied()).collect();
            self.world.process_at_rank(to).buffered_send(&packet[..]);
        }
    }

    /// The next complete message and its sender; `None` if there is none at the moment. A message
    /// that cannot be parsed is dropped.
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

    /// Waits for the next complete message, at most for the time `patience`.
    pub(super) fn wait<M: DeserializeOwned>(&mut self, patience: Duration) -> Option<(i32, M)> {
        let start = Instant::now();
        loop {
            let message = self.receive();
            if message.is_some() || start.elapsed() >= patience {
                return message;
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Finalises MPI if all ranks are alive (`is_whole`). Otherwise MPI is not finalised, because
    /// that would wait for the lost rank.
    pub(super) fn close(self, is_whole: bool) {
        if !is_whole {
            std::mem::forget(self.universe);
        }
    }
}
