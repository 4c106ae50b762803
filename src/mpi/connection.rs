//! A connection to a process that may behave in any way: stop, send a part of a frame, or send
//! nothing at all.
//!
//! Each frame must arrive completely within a time limit. While waiting, this side also checks the
//! signal that ends the search ([`StopSignal::is_raised_here`]), every [`GLANCE`]: so the search
//! ends in time, whatever the process does.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::wire;
use crate::model::StopSignal;

/// The time between two checks of the clock and the signal.
pub(super) const GLANCE: Duration = Duration::from_millis(10);

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

    /// Receives a frame. After an error the connection cannot be used any more.
    pub(super) fn receive(&mut self, patience: Duration) -> io::Result<Vec<u8>> {
        wire::receive(&mut Patient::new(&mut self.0, patience))
    }

    /// Closes both directions of the connection.
    pub(super) fn close(&mut self) {
        // It may be closed already.
        let _ = self.0.get_ref().shutdown(std::net::Shutdown::Both);
    }
}

/// A stream with a time limit, which the end of the search cuts short. Both give the error
/// [`ErrorKind::TimedOut`].
struct Patient<'s, S> {
    stream: &'s mut S,
    /// The time limit; `None` for one that is beyond the range of the clock.
    end: Option<Instant>,
}

impl<'s, S> Patient<'s, S> {
    fn new(stream: &'s mut S, patience: Duration) -> Self {
        Patient { stream, end: Instant::now().checked_add(patience) }
    }

    /// Repeats a step until it succeeds, fails, or the time is over.
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
