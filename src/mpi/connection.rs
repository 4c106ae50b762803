//! A connection to a process that may do anything: stop, say half of a sentence, or say no word at
//! all.
//!
//! So each frame has a time by which it is there as a whole. And whoever waits looks at the signal
//! that ends the search ([`StopSignal::is_raised_here`]): it is kept within a glance, whatever the
//! process does.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::wire;
use crate::model::StopSignal;

/// Time between two looks at the clock and the signal.
const GLANCE: Duration = Duration::from_millis(10);

/// A connection on which frames are sent and received.
pub(super) struct Connection(BufReader<UnixStream>);

impl Connection {
    pub(super) fn new(stream: UnixStream) -> io::Result<Connection> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(GLANCE))?;
        stream.set_write_timeout(Some(GLANCE))?;
        Ok(Connection(BufReader::new(stream)))
    }

    /// Sends a frame.
    pub(super) fn send(&mut self, body: &[u8], patience: Duration) -> io::Result<()> {
        wire::send(&mut Patient::new(self.0.get_mut(), patience), body)
    }

    /// Receives a frame. After an error it is of no use any more.
    pub(super) fn receive(&mut self, patience: Duration) -> io::Result<Vec<u8>> {
        wire::receive(&mut Patient::new(&mut self.0, patience))
    }

    /// Tells the other side that nothing more will come.
    pub(super) fn close(&mut self) {
        // If it is closed already, that was told.
        let _ = self.0.get_ref().shutdown(std::net::Shutdown::Both);
    }
}

/// A stream that is waited for until a time, or until the search is to end. Both are the error
/// [`ErrorKind::TimedOut`].
struct Patient<'s, S> {
    stream: &'s mut S,
    /// A time beyond what a clock can tell is no limit.
    end: Option<Instant>,
}

impl<'s, S> Patient<'s, S> {
    fn new(stream: &'s mut S, patience: Duration) -> Self {
        Patient { stream, end: Instant::now().checked_add(patience) }
    }

    /// Does this until it is done, and not in vain.
    fn try_on<T>(&mut self, mut step: impl FnMut(&mut S) -> io::Result<T>) -> io::Result<T> {
        loop {
            if StopSignal::is_raised_here() || self.end.is_some_and(|end| Instant::now() >= end) {
                return Err(ErrorKind::TimedOut.into());
            }
            match step(self.stream) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
    }
}

impl<S: Read> Read for Patient<'_, S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.try_on(|stream| stream.read(into))
    }
}

impl<S: Write> Write for Patient<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.try_on(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(60);

    fn pair() -> (Connection, UnixStream) {
        let (one, other) = UnixStream::pair().unwrap();
        (Connection::new(one).unwrap(), other)
    }

    #[test]
    fn frames_arrive_whole() {
        let (mut one, other) = pair();
        let mut other = Connection::new(other).unwrap();
        one.send(b"hello", LONG).unwrap();
        assert_eq!(other.receive(LONG).unwrap(), b"hello");
        one.close();
        assert_eq!(other.receive(LONG).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn who_says_half_of_it_or_does_not_listen_is_not_waited_for() {
        let (mut one, mut other) = pair();
        other.write_all(&[9, 0, 0, 0, 1]).unwrap();
        assert_eq!(one.receive(SHORT).unwrap_err().kind(), ErrorKind::TimedOut);
        let much = vec![0; 1 << 24];
        assert_eq!(one.send(&much, SHORT).unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn a_byte_at_a_time_is_no_frame_in_time() {
        let (mut one, mut other) = pair();
        let drips = std::thread::spawn(move || {
            other.write_all(&100u32.to_ne_bytes()).unwrap();
            while other.write_all(&[0]).is_ok() {
                std::thread::sleep(SHORT / 4);
            }
        });
        assert_eq!(one.receive(SHORT).unwrap_err().kind(), ErrorKind::TimedOut);
        drop(one);
        drips.join().unwrap();
    }

    #[test]
    fn a_search_that_is_to_end_waits_no_longer() {
        let (mut one, _other) = pair();
        let signal = StopSignal::default();
        let _counts = signal.counts_here();
        signal.raise();
        assert_eq!(one.receive(LONG).unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
