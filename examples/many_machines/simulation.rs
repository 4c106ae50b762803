//! A discrete-event simulation of a search by many workers.
//!
//! Rank 0 is the real one: the [`Dispatcher`] of `mpirun mazurka check`, called with the time of
//! the simulation. It takes the messages one after another. Each costs the time that reading,
//! checking and answering were measured to take, and, if wanted, the time that the dispatcher takes
//! for it here and now. Simulated are the workers, which go through a recorded [`Tree`], the
//! messages, which are under way for some time, and failures.
//!
//! There are two clocks. If more workers are busy than there are cores, all of them get slower. So
//! the end of a step of work is a time on the clock of work, which then runs slower than the clock
//! of messages. A worker of its own machine has a core of its own.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::{Duration, Instant};

use mazurka::explore::crew::{Report, Worker};
use mazurka::explore::dispatcher::{Answer, Answers, Dispatcher, HEARTBEAT, Message};
use mazurka::explore::{Branch, Budget, Outcome, Part, Place, Stats};

use crate::running::Running;
use crate::tree::{Costs, Tree};

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
    /// What each transition takes, relative to what was measured.
    pub slowness: f64,
    pub seed: u64,
}

/// The result of a simulation.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Until all is done.
    pub time: Duration,
    /// What one worker would need without any messages.
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
    /// The finished pieces. `traces` counts recorded pieces here.
    pub done: Stats,
    /// The transitions that were left when all workers had failed. Rank 0 makes them.
    pub left: u64,
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
#[derive(Default)]
struct Hand {
    /// The number of pieces that it has had: what was planned for earlier ones does not happen.
    round: u64,
    running: Option<Running>,
    /// The number of branches that it is to give away.
    asked: u32,
    /// When it last sent something.
    told: Nanos,
}

/// Simulates the search.
pub fn simulate(tree: &Tree, setup: &Setup) -> Figures {
    Simulation::new(tree, *setup).run()
}

struct Simulation<'t> {
    tree: &'t Tree,
    setup: Setup,
    costs: Costs,
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
    hands: HashMap<Worker, Hand>,
    /// The recorded pieces at each place.
    pieces: HashMap<Place, Vec<u32>>,
    figures: Figures,
}

impl<'t> Simulation<'t> {
    fn new(tree: &'t Tree, setup: Setup) -> Simulation<'t> {
        let mut costs = tree.costs;
        costs.transition *= setup.slowness;
        costs.begin *= setup.slowness;
        let figures = Figures {
            time: Duration::ZERO,
            work: Duration::from_secs_f64(tree.transitions() as f64 * costs.transition),
            messages: 0,
            pieces: 0,
            busy: Duration::ZERO,
            longest_queue: 0,
            failed: 0,
            done: Stats::default(),
            left: 0,
        };
        let workers = 1..=setup.workers;
        let budget = Budget { all: true, ..Budget::default() };
        let dispatcher = Dispatcher::new(Part::whole(), &budget, workers.clone());
        let mut simulation = Simulation {
            tree,
            setup,
            costs,
            dispatcher,
            now: 0,
            work: 0,
            busy_workers: 0,
            events: BinaryHeap::new(),
            steps: BinaryHeap::new(),
            posts: Vec::new(),
            queue: VecDeque::new(),
            is_serving: false,
            hands: workers.clone().map(|worker| (worker, Hand::default())).collect(),
            pieces: HashMap::from([(Place::default(), vec![0])]),
            figures,
        };
        let mut random = Random(setup.seed);
        for worker in workers {
            simulation.send(0, Post::Up(worker, Message::Idle));
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
        self.figures.left = self.tree.transitions() - self.figures.done.transitions;
        self.now += nanos(self.figures.left as f64 * self.costs.transition);
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
                self.busy_workers -= u64::from(hand.running.is_some());
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
        let is_branch =
            matches!(&message, Message::Report(report) if matches!(**report, Report::Given(..)));
        let start = Instant::now();
        let answers = self.dispatcher.hear(Duration::from_nanos(self.now), worker, message);
        let _ = self.dispatcher.is_over();
        let own = if self.setup.is_measured { start.elapsed() } else { Duration::ZERO };
        let mut cost = (own + self.setup.service).as_nanos() as Nanos;
        cost += nanos(if is_branch { self.costs.read } else { 0.0 });
        for answer in &answers {
            let is_piece = matches!(answer.1, Answer::Search(..));
            cost += self.setup.service.as_nanos() as Nanos;
            cost += nanos(if is_piece { self.costs.write } else { 0.0 });
        }
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
        let ids = &self.pieces[&piece.place];
        hand.round += 1;
        hand.asked = 0;
        hand.told = self.now;
        let running = hand.running.insert(Running::new(self.tree, piece, ids));
        let work = running.go_on(self.tree) as f64 * self.costs.transition + self.costs.begin;
        let event = Event::Step(worker, hand.round);
        self.busy_workers += 1;
        self.figures.pieces += 1;
        let poll = self.setup.poll.as_nanos() as Nanos;
        self.steps.push(Reverse((self.work + nanos(work) + poll, event)));
    }

    /// A step of a worker's work is done: it tells what came of it, and begins the next one.
    fn step(&mut self, worker: Worker, round: u64) {
        let is_current = |hand: &&mut Hand| hand.round == round;
        let Some(hand) = self.hands.get_mut(&worker).filter(is_current) else { return };
        let running = hand.running.as_mut().expect("it has a piece");
        let (place, now, heartbeat) =
            (running.piece.place.clone(), self.now, HEARTBEAT.as_nanos() as Nanos);
        if running.is_done {
            let report = Report::Done(place, running.given, outcome(&running.stats));
            hand.running = None;
            self.busy_workers -= 1;
            self.plan(now + heartbeat, Event::Beat(worker, round));
            return self.send(0, Post::Up(worker, Message::Report(Box::new(report))));
        }
        let mut write = 0;
        let report = if let Some(ids) = running.look(self.tree, hand.asked) {
            hand.asked = hand.asked.saturating_sub(1);
            write = nanos(self.costs.write);
            let place = place.given(running.given - 1);
            self.pieces.insert(place.clone(), ids);
            Some(Report::Given(place, Branch::default(), running.now()))
        } else {
            (now - hand.told >= heartbeat).then(|| Report::Beat(running.stats.clone()))
        };
        let time = nanos(running.go_on(self.tree) as f64 * self.costs.transition) + write;
        self.steps.push(Reverse((self.work + time, Event::Step(worker, round))));
        if let Some(report) = report {
            hand.told = now;
            self.send(write, Post::Up(worker, Message::Report(Box::new(report))));
        }
    }
}

/// Time between two looks for silent workers.
const GLANCE: Nanos = 100_000_000;

/// The result of a piece with these figures, in which nothing is wrong.
fn outcome(stats: &Stats) -> Outcome {
    Outcome {
        stats: stats.clone(),
        violations: Vec::new(),
        leaks: Vec::new(),
        stopped_by: None,
        cut_poll: None,
        elapsed: Duration::ZERO,
        classes: None,
        answered_by: None,
    }
}

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
