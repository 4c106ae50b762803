//! A discrete-event simulation of a search by many workers.
//!
//! Rank 0 is the real one: the [`Dispatcher`] of `mpirun mazurka check`, called with the time of
//! the simulation. It takes the messages one after another. Each costs the time that reading,
//! checking and answering take, and, if wanted, the time that the dispatcher takes for it here and
//! now. Simulated are the messages, which are under way for some time, failures, and the workers
//! ([`Workers`]): they go through a recorded tree, or search for real, one at a time.
//!
//! There are two clocks. If more workers are busy than there are cores, all of them get slower. So
//! the end of a step of work is a time on the clock of work, which then runs slower than the clock
//! of messages. A worker of its own machine has a core of its own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

use mazurka::explore::crew::{Assignment, Report, Worker};
use mazurka::explore::dispatcher::{Answer, Answers, Dispatcher, HEARTBEAT, Message};
use mazurka::explore::{Budget, Part, Stats};

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub workers: u32,
    /// The cores that they share; 0 if each has one of its own.
    pub cores: u32,
    /// How long a message is under way.
    pub latency: Duration,
    /// How long a message lies there before rank 0 or a worker looks, if it has nothing else to do.
    pub poll: Duration,
    /// What rank 0 needs to take or send any message, besides reading and writing it.
    pub service: Duration,
    /// Does the time count that the dispatcher takes here? Otherwise the result is always the same.
    pub is_measured: bool,
    /// Failures of each worker per hour.
    pub failures: f64,
    pub seed: u64,
}

/// The result of a simulation.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Until all is done.
    pub time: Duration,
    /// What the workers did, all together.
    pub work: Duration,
    /// Messages to rank 0.
    pub messages: u64,
    /// Pieces that workers were given.
    pub pieces: u64,
    /// How long rank 0 was busy.
    pub busy: Duration,
    pub longest_queue: usize,
    /// The workers that failed.
    pub failed: u32,
    /// The figures of all finished pieces.
    pub done: Stats,
}

/// Those who search.
pub trait Workers {
    /// A piece that a worker searches.
    type Search;

    /// Begins with a piece.
    fn begin(&mut self, piece: Assignment) -> Self::Search;

    /// Searches up to the next look whether to split, or to the end. First, if it has begun
    /// already, it splits: as often as it was asked to, and has anything to give.
    fn go_on(&mut self, search: &mut Self::Search, asked: u32) -> Stretch;

    /// The figures of a search so far.
    fn stats(search: &Self::Search) -> Stats;

    /// The seconds in which rank 0 reads and checks a report.
    fn reading(&mut self, report: &Report) -> f64;

    /// The seconds in which rank 0 writes an answer.
    fn writing(&mut self, answer: &Answer) -> f64;
}

/// A stretch of a search between two looks.
pub struct Stretch {
    pub seconds: f64,
    /// What is reported at its beginning.
    pub reports: Vec<Report>,
    /// What is reported at its end, if the piece is done then.
    pub done: Option<Report>,
}

/// A time in nanoseconds.
type Nanos = u64;

fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}

/// What happens at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A message arrives at rank 0, or at a worker.
    Arrival(usize),
    /// Rank 0 takes the next message.
    Service,
    /// Rank 0 looks for workers that are silent.
    Glance,
    /// A step of a worker's work is done. The second number is that of its piece.
    Step(Worker, u64),
    /// A worker that waits tells that it is alive.
    Beat(Worker, u64),
    Failure(Worker),
}

enum Post {
    Up(Worker, Message),
    Down(Worker, Answer),
}

/// A worker that is alive.
struct Hand<S> {
    /// The number of pieces that it has had: what was planned for earlier ones does not happen.
    round: u64,
    search: Option<S>,
    /// What it will report at the end of this stretch, if the piece is done then.
    done: Option<Report>,
    /// The number of branches that it is to give away.
    asked: u32,
    /// When it last sent something.
    told: Nanos,
}

/// Simulates the search by these workers. If all of them fail, it ends there.
pub fn simulate<W: Workers>(workers: W, setup: &Setup) -> Figures {
    Simulation::new(workers, *setup).run()
}

struct Simulation<W: Workers> {
    workers: W,
    setup: Setup,
    dispatcher: Dispatcher,
    now: Nanos,
    /// How far each busy worker has come.
    work: Nanos,
    busy_workers: u64,
    events: BinaryHeap<Reverse<(Nanos, Event)>>,
    steps: BinaryHeap<Reverse<(Nanos, Event)>>,
    posts: Vec<Option<Post>>,
    queue: VecDeque<(Worker, Message)>,
    is_serving: bool,
    hands: BTreeMap<Worker, Hand<W::Search>>,
    figures: Figures,
}

impl<W: Workers> Simulation<W> {
    fn new(workers: W, setup: Setup) -> Simulation<W> {
        let figures = Figures {
            time: Duration::ZERO,
            work: Duration::ZERO,
            messages: 0,
            pieces: 0,
            busy: Duration::ZERO,
            longest_queue: 0,
            failed: 0,
            done: Stats::default(),
        };
        let ranks = 1..=setup.workers;
        let budget = Budget { all: true, ..Budget::default() };
        let hand = || Hand { round: 0, search: None, done: None, asked: 0, told: 0 };
        let mut simulation = Simulation {
            workers,
            setup,
            dispatcher: Dispatcher::new(Part::whole(), &budget, ranks.clone()),
            now: 0,
            work: 0,
            busy_workers: 0,
            events: BinaryHeap::new(),
            steps: BinaryHeap::new(),
            posts: Vec::new(),
            queue: VecDeque::new(),
            is_serving: false,
            hands: ranks.clone().map(|rank| (rank, hand())).collect(),
            figures,
        };
        let mut random = Random(setup.seed);
        for worker in ranks {
            simulation.send(0, Post::Up(worker, Message::Idle));
            simulation.plan(HEARTBEAT.as_nanos() as Nanos, Event::Beat(worker, 0));
            let life = -random.next().ln() * 3600.0 / setup.failures;
            if life.is_finite() {
                simulation.plan(nanos(life), Event::Failure(worker));
            }
        }
        simulation.plan(GLANCE, Event::Glance);
        simulation
    }

    fn run(mut self) -> Figures {
        while !self.dispatcher.is_over() && self.dispatcher.alive().next().is_some() {
            let event = self.next();
            self.handle(event);
        }
        let part = self.dispatcher.settled();
        self.figures.done = part.outcome(&Budget { all: true, ..Budget::default() }).stats;
        self.figures.time = Duration::from_nanos(self.now);
        self.figures
    }

    fn plan(&mut self, at: Nanos, event: Event) {
        self.events.push(Reverse((at, event)));
    }

    /// Sends a message after `delay`.
    fn send(&mut self, delay: Nanos, post: Post) {
        let at = self.now + delay + self.setup.latency.as_nanos() as Nanos;
        self.posts.push(Some(post));
        self.plan(at, Event::Arrival(self.posts.len() - 1));
    }

    /// The next event. Sets both clocks to its time.
    fn next(&mut self) -> Event {
        let (busy, cores) = (self.busy_workers, u64::from(self.setup.cores));
        let is_slow = cores > 0 && busy > cores;
        let (fast, slow) = if is_slow { (cores, busy) } else { (1, 1) };
        let step =
            self.steps.peek().map(|Reverse((at, _))| self.now + (at - self.work) * slow / fast);
        let other = self.events.peek().map(|Reverse((at, _))| *at).expect("a glance");
        if let Some(at) = step.filter(|step| *step <= other) {
            let Reverse((work, event)) = self.steps.pop().expect("it was there");
            (self.now, self.work) = (at, work);
            return event;
        }
        let Reverse((at, event)) = self.events.pop().expect("it was there");
        let work = self.work + (at - self.now) * fast / slow;
        self.work = self.steps.peek().map_or(work, |Reverse((first, _))| work.min(*first));
        self.now = at;
        event
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrival(index) => match self.posts[index].take().expect("it arrives once") {
                Post::Up(worker, message) => self.come_in(worker, message),
                Post::Down(worker, answer) => self.answered(worker, answer),
            },
            Event::Service => self.serve(),
            Event::Glance => {
                let (_, answers) = self.dispatcher.lose_silent(Duration::from_nanos(self.now));
                self.answer(0, answers);
                self.plan(self.now + GLANCE, Event::Glance);
            }
            Event::Step(worker, round) => self.step(worker, round),
            Event::Beat(worker, round) => {
                if self.hands.get(&worker).is_some_and(|hand| hand.round == round) {
                    self.send(0, Post::Up(worker, Message::Waiting));
                    self.plan(self.now + HEARTBEAT.as_nanos() as Nanos, event);
                }
            }
            Event::Failure(worker) => {
                let hand = self.hands.remove(&worker).expect("it fails once");
                self.busy_workers -= u64::from(hand.search.is_some());
                self.figures.failed += 1;
            }
        }
    }

    /// A message has arrived at rank 0.
    fn come_in(&mut self, worker: Worker, message: Message) {
        self.queue.push_back((worker, message));
        self.figures.messages += 1;
        self.figures.longest_queue = self.figures.longest_queue.max(self.queue.len());
        if !self.is_serving {
            self.is_serving = true;
            self.plan(self.now + self.setup.poll.as_nanos() as Nanos, Event::Service);
        }
    }

    /// Rank 0 takes a message.
    fn serve(&mut self) {
        let Some((worker, message)) = self.queue.pop_front() else {
            self.is_serving = false;
            return;
        };
        let mut seconds = match &message {
            Message::Report(report) => self.workers.reading(report),
            Message::Idle | Message::Waiting => 0.0,
        };
        let start = Instant::now();
        let answers = self.dispatcher.hear(Duration::from_nanos(self.now), worker, message);
        let _ = self.dispatcher.is_over();
        let own = if self.setup.is_measured { start.elapsed() } else { Duration::ZERO };
        for (_, answer) in &answers {
            seconds += self.workers.writing(answer);
        }
        let service = self.setup.service * (1 + answers.len() as u32);
        let cost = nanos(seconds) + (own + service).as_nanos() as Nanos;
        self.figures.busy += Duration::from_nanos(cost);
        self.answer(cost, answers);
        self.plan(self.now + cost, Event::Service);
    }

    fn answer(&mut self, delay: Nanos, answers: Answers) {
        for (worker, answer) in answers {
            self.send(delay, Post::Down(worker, answer));
        }
    }

    /// An answer has arrived at a worker.
    fn answered(&mut self, worker: Worker, answer: Answer) {
        let Some(hand) = self.hands.get_mut(&worker) else { return };
        let piece = match answer {
            Answer::Search(piece) => piece,
            Answer::Split(count) => return hand.asked = count,
            Answer::Drop | Answer::Wait => return,
        };
        hand.search = Some(self.workers.begin(piece));
        hand.round += 1;
        (hand.asked, hand.told) = (0, self.now);
        self.busy_workers += 1;
        self.figures.pieces += 1;
        self.stretch(worker, self.setup.poll.as_nanos() as Nanos);
    }

    /// A stretch of a worker's search is over.
    fn step(&mut self, worker: Worker, round: u64) {
        let is_current = |hand: &&mut Hand<_>| hand.round == round;
        let Some(hand) = self.hands.get_mut(&worker).filter(is_current) else { return };
        let Some(done) = hand.done.take() else { return self.stretch(worker, 0) };
        hand.search = None;
        self.busy_workers -= 1;
        self.plan(self.now + HEARTBEAT.as_nanos() as Nanos, Event::Beat(worker, round));
        self.send(0, Post::Up(worker, Message::Report(Box::new(done))));
    }

    /// The next stretch of a worker's search begins.
    fn stretch(&mut self, worker: Worker, delay: Nanos) {
        let hand = self.hands.get_mut(&worker).expect("it is alive");
        let search = hand.search.as_mut().expect("it has a piece");
        let Stretch { seconds, mut reports, done } = self.workers.go_on(search, hand.asked);
        hand.asked = hand.asked.saturating_sub(reports.len() as u32);
        if reports.is_empty() && self.now - hand.told >= HEARTBEAT.as_nanos() as Nanos {
            reports.push(Report::Beat(W::stats(search)));
        }
        if !reports.is_empty() {
            hand.told = self.now;
        }
        hand.done = done;
        let event = Event::Step(worker, hand.round);
        self.figures.work += Duration::from_secs_f64(seconds);
        self.steps.push(Reverse((self.work + nanos(seconds) + delay, event)));
        for report in reports {
            self.send(0, Post::Up(worker, Message::Report(Box::new(report))));
        }
    }
}

/// Time between two looks for silent workers.
const GLANCE: Nanos = 100_000_000;

/// Numbers that look random (xorshift64*).
struct Random(u64);

impl Random {
    /// A number in (0, 1].
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        (bits + 1) as f64 / (1_u64 << 53) as f64
    }
}
