//! Workers that search for real, one at a time, each in a thread of its own. A stretch of search
//! takes the time of the processor that it took, whatever else the machine does meanwhile. So the
//! simulation of a recorded tree can be compared with searches by more workers than there are
//! cores, and on a machine that is busy.

use std::cell::{Cell, RefCell};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use cpu_time::ThreadTime;
use mazurka::explore::crew::{self, Assignment, Report};
use mazurka::explore::dispatcher::{Answer, Message, SPLIT_AFTER, pace};
use mazurka::explore::{AnyExplorer, Budget, Stats};
use mazurka::lang::Program;

use super::simulation::{Stretch, Workers};

/// The search, and where its threads live.
pub struct Turns<'s, 'e> {
    pub program: &'e Program,
    pub explorer: AnyExplorer,
    pub scope: &'s Scope<'s, 'e>,
}

/// The other side of a worker's thread.
pub struct Thread {
    /// Lets it search up to the next look. The number is how often it is to split before.
    start: Sender<u32>,
    stretches: Receiver<Stretch>,
}

impl<'s, 'e: 's> Workers for Turns<'s, 'e> {
    type Search = Thread;

    fn begin(&mut self, piece: Assignment) -> Thread {
        let (start, starts) = channel();
        let (to_us, stretches) = channel();
        let (program, explorer) = (self.program, self.explorer);
        self.scope.spawn(move || search(program, explorer, &piece, &starts, &to_us));
        Thread { start, stretches }
    }

    fn go_on(&mut self, search: &mut Thread, asked: u32) -> Stretch {
        search.start.send(asked).expect("the thread waits");
        search.stretches.recv().expect("the thread goes on")
    }

    fn stats(_: &Thread) -> Stats {
        Stats::default()
    }

    fn reading(&mut self, report: &Report) -> f64 {
        let text = serde_json::to_vec(report).expect("reports can be written");
        let start = ThreadTime::now();
        let read: Report = serde_json::from_slice(&text).expect("and read");
        if let Report::Given(_, branch, _) = read {
            assert!(branch.refusal(self.program).is_none(), "a branch of this search");
        }
        start.elapsed().as_secs_f64()
    }

    fn writing(&mut self, answer: &Answer) -> f64 {
        let start = ThreadTime::now();
        serde_json::to_vec(answer).expect("answers can be written");
        start.elapsed().as_secs_f64()
    }
}

/// A worker's search of a piece.
fn search(
    program: &Program,
    explorer: AnyExplorer,
    piece: &Assignment,
    starts: &Receiver<u32>,
    to_us: &Sender<Stretch>,
) {
    let Ok(asked) = starts.recv() else { return };
    let (asked, time) = (Cell::new(asked), Cell::new(ThreadTime::now()));
    let (reports, done) = (RefCell::new(Vec::new()), RefCell::new(None));
    let pause = || {
        let seconds = time.get().elapsed().as_secs_f64();
        let (reports, done) = (reports.take(), done.take());
        // If nobody waits any more, this worker has failed, or the search is over.
        let _ = to_us.send(Stretch { seconds, reports, done });
    };
    let mut tell = |report: Report| {
        if matches!(report, Report::Beat(_)) {
            return;
        }
        let message = Message::Report(Box::new(report));
        serde_json::to_vec(&message).expect("messages can be written");
        let Message::Report(report) = message else { return };
        match *report {
            Report::Done(..) => *done.borrow_mut() = Some(*report),
            report => {
                asked.set(asked.get().saturating_sub(1));
                reports.borrow_mut().push(report);
            }
        }
    };
    let mut is_asked = |steps| {
        if steps > 0 {
            pause();
            asked.set(starts.recv().unwrap_or(0));
            time.set(ThreadTime::now());
        }
        asked.get() > 0 || steps >= SPLIT_AFTER
    };
    let budget = Budget { all: true, ..Budget::default() };
    crew::search((program, explorer), piece, (pace(), &mut is_asked), budget, &mut tell);
    pause();
}
